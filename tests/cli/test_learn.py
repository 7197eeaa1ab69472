"""`lmarvel learn` on good tables: what is printed and written."""

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lmarvel import PAG, Auto, Discovery, LMarvel
from lmarvel.ci.fisher_z import kernel_name
from lmarvel.cli.tables import TableOptions
from lmarvel.datasets import CARS
from lmarvel.errors import BudgetSpent
from lmarvel.graph.marks import parse_edge
from tests.cli.running import confounded, endless, run, run_apart, write_csv
from tests.data.simulated import sample
from tests.generators import random_study

TRUTH = PAG.from_edges("A o-> B", "B <-> C", "D o-> C", nodes=["A", "B", "C", "D"])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "data.csv", confounded())


def strict_json(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def rebuilt(found: dict[str, Any]) -> PAG:
    return PAG.from_edges(*map(parse_edge, found["edges"]), nodes=found["nodes"])


# --- formats ----------------------------------------------------------------------------------------------


def test_text_shows_the_verdict_the_edges_and_their_meaning(table: Path) -> None:
    code, out, err = run("learn", table)
    assert code == 0
    assert err == ""
    assert out.splitlines()[:6] == [
        "3 associations among 4 variables (2,000 rows); all of them appear in at least 90 % of resamples.",
        "3 of 3 arrow directions are supported by the data.",
        "The graph fits: the data reject 0 of 3 implied independences (0.03 expected by chance).",
        "Next: ask why (explain), what causes a variable (causes), and by how much (effect).",
        "",
        "Supported marks: a circle replaces each mark that the data do not establish",
    ]
    for line in ("  A o-> B   firm; edge 100 %", "  B <-> C   firm; edge 100 %", "  D o-> C   firm; edge 100 %"):
        assert line in out.splitlines()
    assert "A <-> B   neither causes the other or affects who is in the sample; an unmeasured common cause" in out
    assert "A o-> B   B does not cause A." in out
    assert "A --- B" not in out  # only kinds that occur are explained
    assert "Tests " not in out


def test_the_cars_open_with_the_verdict_and_show_no_direction() -> None:
    verdict = list(Auto(test="fisher-z").fit(CARS).result_.verdict.lines)  # first: loading takes time
    lines = run("learn", "cars", "--method", "auto", "--test", "fisher-z").out.splitlines()
    assert lines[:3] == verdict[:3]
    assert lines[1] == "0 of 5 arrow directions are supported by the data."
    assert "do not read causes from this graph" in lines[2]
    arrows = ("-->", "<--", "<->", "o->", "<-o", "---", "o--", "--o")
    assert not any(f" {arrow} " in line for line in lines for arrow in arrows)
    assert sum(" o-o " in line for line in lines) == 8 + 1  # the edges, and what their marks say
    assert len(lines) < 25


def test_details_are_counts_times_settings_and_power(table: Path) -> None:
    code, out, err = run("learn", table, "--details")
    assert (code, err) == (0, "")
    assert "Tests " in out
    assert "boundary 6, adjacency" in out
    assert "Time     " in out
    assert "skeleton 0." in out
    assert f"alpha 0.01, boundaries by tc at 0.01, {kernel_name()} search" in out
    assert "Power    with 2,000 rows, correlations below 0.058 go unnoticed (level 0.01)" in out
    assert "  firm      the same mark in at least 97.5 % of resamples" in out


def test_edges_are_the_text_form_of_the_graph(table: Path) -> None:
    code, out, err = run("learn", table, "--format", "edges")
    assert (code, err) == (0, "")
    assert PAG.from_edges(out) == TRUTH


def test_json_rebuilds_the_graph(table: Path) -> None:
    code, out, err = run("learn", table, "--format", "json")
    assert (code, err) == (0, "")
    found = strict_json(out)
    assert rebuilt(found) == TRUTH
    assert found["undecided"] == []
    assert found["illegal"] is None
    assert found["settings"]["rows"] == 2000
    assert found["settings"]["boundary"] == "tc"
    assert {"pair": ["A", "D"], "sepset": []}.items() <= found["sepsets"]["found"][1].items()
    assert sum(found["tests"]["boundary"].values()) == 6
    assert set(found["seconds"]) == {"data", "boundary", "skeleton", "orientation"}
    assert sorted(found["removal_order"]) == ["A", "B", "C", "D"]


def test_json_has_no_infinite_numbers(table: Path) -> None:
    strict_json(run("learn", table, "--format", "json", "--max-seconds", "inf").out)


@pytest.mark.parametrize("form", ["text", "edges", "json"])
def test_names_with_blanks_commas_and_quotes_survive(form: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    names = ["blood pressure", 'the "B"', "height, cm", "größe"]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(np.column_stack(list(confounded().values())).tolist())
    code, out, _ = run("learn", path, "--format", form)
    expected = TRUTH.relabel(dict(zip("ABCD", names, strict=True)))
    assert code == 0
    if form == "json":
        assert rebuilt(strict_json(out)) == expected
    elif form == "edges":
        assert PAG.from_edges(out) == expected
    else:
        lines = [" ".join(line.strip().split("   ")[0].split()) for line in out.splitlines() if "; edge " in line]
        assert lines == ['blood pressure o-> the "B"', 'the "B" <-> height, cm', "größe o-> height, cm"]


def test_a_table_without_edges_is_told_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = write_csv(tmp_path / "data.csv", {"A": rng.normal(size=50), "B": rng.normal(size=50)})
    out = run("learn", path).out
    assert out.startswith("No association was found among 2 variables (50 rows).\n")
    assert "no edges: no association was found that others do not explain" in out


def test_a_graph_that_no_mag_has_is_noted(tmp_path: Path) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = sample(rng, random_study(rng, 20, latent=3, degree=4), 1000)
        if reason := LMarvel().fit(data).result_.why_illegal:
            out = run("learn", write_csv(tmp_path / "data.csv", data)).out
            assert f"no MAG has exactly this PAG ({reason})" in out
            return
    pytest.fail("no sample gave an illegal PAG")


def test_output_is_shown_where_the_terminal_cannot_show_every_letter(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "data.csv", confounded(200))
    path.write_text(path.read_text().replace("A", "é", 1), encoding="utf-8")
    done = run_apart("learn", path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in done.err
    assert done.code == 0
    assert "B <-> C" in done.out


# --- options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    [
        ["--columns", "A,B,C"],
        ["--columns", "A", "--columns", "B", "--columns", "C"],
        ["--columns", " C , B , A "],
        ["--drop", "D"],
        ["--columns", "A,B,C,D", "--drop", "D"],
    ],
)
def test_columns_can_be_chosen(table: Path, chosen: list[str]) -> None:
    found = strict_json(run("learn", table, "--format", "json", *chosen).out)
    assert found["nodes"] == ["A", "B", "C"]
    assert found["edges"] == ["A o-> B", "C o-> B"]


def test_a_column_whose_name_holds_a_comma_can_be_chosen(tmp_path: Path) -> None:
    data = confounded(200)
    path = write_csv(tmp_path / "data.csv", {**data, '"height, cm"': data["A"] + data["D"] ** 3})
    found = strict_json(run("learn", path, "--format", "json", "--drop", "height, cm").out)
    assert found["nodes"] == ["A", "B", "C", "D"]


@pytest.mark.parametrize(("separator", "argument"), [(";", ";"), ("\t", "\\t"), ("\t", "\t"), ("|", "|"), (" ", " ")])
def test_a_separator_can_be_given(table: Path, separator: str, argument: str) -> None:
    table.write_text(table.read_text().replace(",", separator))
    assert PAG.from_edges(run("learn", table, "--separator", argument, "--format", "edges").out) == TRUTH


@pytest.mark.parametrize("ending", ["parquet", "feather", "tsv"])
def test_other_formats_are_read(table: Path, ending: str) -> None:
    path = table.with_suffix(f".{ending}")
    frame = pl.read_csv(table)
    {
        "parquet": frame.write_parquet,
        "feather": frame.write_ipc,
        "tsv": lambda file: frame.write_csv(file, separator="\t"),
    }[ending](path)
    assert PAG.from_edges(run("learn", path, "--format", "edges").out) == TRUTH


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--alpha", "0.2"], {"alpha": 0.2}),
        (["--boundary", "iamb"], {"boundary": "iamb"}),
        (["--boundary-alpha", "0.003"], {"boundary_alpha": 0.003}),
        (["--removal-threshold", "0.5"], {"removal_threshold": 0.5}),
        (["--assume-chordal"], {"assume_chordal": True}),
        (["--no-selection"], {"selection": False}),
        (["--max-conditioning", "2"], {"max_conditioning": 2}),
        (["--max-tests", "1000"], {"max_tests": 1000}),
        (["--max-seconds", "60"], {"max_seconds": 60.0}),
    ],
)
def test_options_reach_the_run(table: Path, arguments: list[str], expected: dict[str, Any]) -> None:
    found = strict_json(run("learn", table, "--format", "json", *arguments).out)
    assert expected.items() <= found["settings"].items()


def test_the_result_is_that_of_the_library(table: Path) -> None:
    found = strict_json(run("learn", table, "--method", "lmarvel", "--format", "json", "--alpha", "0.05").out)
    expected = LMarvel(alpha=0.05).fit(table).result_.to_dict()
    for plain in (found, expected):
        del plain["seconds"], plain["checksum"]  # which covers the seconds
    assert found == json.loads(json.dumps(expected))


# --- output -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--output", "-o"])
def test_a_result_is_written_whole_and_alone(table: Path, tmp_path: Path, flag: str) -> None:
    target = tmp_path / "pag.json"
    code, out, err = run("learn", table, flag, target)
    assert (code, err) == (0, "")
    assert out.endswith(f"Written to {target}\n")
    assert rebuilt(strict_json(target.read_text())) == TRUTH
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "pag.json"}


def test_a_text_file_holds_the_edges(table: Path, tmp_path: Path) -> None:
    target = tmp_path / "pag.txt"
    target.write_text("something older")
    assert run("learn", table, "--output", target).code == 0
    assert PAG.from_edges(target.read_text()) == TRUTH


def test_a_file_is_written_beside_the_program(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("learn", "data.csv", "-o", "pag.json", "-q").code == 0
    assert (tmp_path / "pag.json").exists()


@pytest.mark.parametrize("form", ["edges", "json"])
def test_machine_readable_output_stays_so_when_a_file_is_written(table: Path, tmp_path: Path, form: str) -> None:
    out = run("learn", table, "--format", form, "-o", tmp_path / "pag.json").out
    assert (PAG.from_edges(out) if form == "edges" else rebuilt(strict_json(out))) == TRUTH


def test_quiet_prints_nothing(table: Path, tmp_path: Path) -> None:
    assert run("learn", table, "--quiet", "-o", tmp_path / "pag.json") == (0, "", "")
    assert rebuilt(strict_json((tmp_path / "pag.json").read_text())) == TRUTH


# --- budgets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 3, 8, 11])
def test_a_budget_of_tests_that_runs_out_gives_code_3_and_what_is_known(table: Path, tmp_path: Path, most: int) -> None:
    target = tmp_path / "pag.json"
    code, out, err = run("learn", table, "--max-tests", str(most), "-o", target)
    assert code == 3
    assert len(err.splitlines()) == 1
    assert "tests" in err
    assert "undecided" in err
    found = strict_json(target.read_text())
    if found["undecided"] == "all" or len(found["undecided"]) == 6:
        assert out.startswith("Nothing was learned about 4 variables (2,000 rows): the search ended before it decided")
    else:
        assert "Nothing was learned" not in out
        assert f"The search ended early: {len(found['undecided'])} pairs left undecided." in out
        undecided = "   undecided: the search ended before the edge was shown to be there\n"
        assert out.count(undecided) == len(found["undecided"]) > 0
    assert sum(map(sum, (sizes.values() for sizes in found["tests"].values()))) <= most


def test_a_budget_of_time_that_runs_out_gives_code_3_and_what_is_known(tmp_path: Path) -> None:
    code, out, err = run("learn", *endless(tmp_path / "data.csv"), "--max-seconds", "0.5", "--format", "json")
    assert code == 3
    assert "max_seconds" in err
    found = strict_json(out)
    assert len(found["undecided"]) > 100
    assert Discovery.from_dict(found).pag.n_edges >= len(found["undecided"])


def test_quiet_does_not_hide_that_a_budget_ran_out(table: Path) -> None:
    code, out, err = run("learn", table, "--max-tests", "3", "--quiet")
    assert (code, out) == (3, "")
    assert "undecided" in err


def test_one_pair_is_told_in_the_singular(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    rain, sprinkler = rng.normal(size=(2, 3000))
    wet = rain + sprinkler + rng.normal(size=3000)
    path = write_csv(tmp_path / "wet.csv", {"r": rain, "s": sprinkler, "w": wet, "x": wet + rng.normal(size=3000)})
    seen = {run("learn", path, "--method", "lmarvel", "--max-tests", str(most), "-q").err for most in range(6, 12)}
    assert any(re.fullmatch(r"lmarvel: max_tests=\d+ is used up; 1 pair is undecided\n", text) for text in seen)
    assert any("pairs are undecided" in text for text in seen)


# --- the demonstration ------------------------------------------------------------------------------------


def test_the_demonstration_finds_the_truth() -> None:
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert "Equal to the PAG of the true graph: yes." in out
    assert "L-MARVEL with a perfect test instead of data: yes." in out
    assert "cars" in out


def test_a_table_that_is_refused_when_the_time_is_up_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look for a way out takes time, too."""
    table = write_csv(tmp_path / "data.csv", {"A": [1.0, 1.0, 1.0, 1.0, 1.0], "B": [1.0, 2.0, 4.0, 3.0, 5.0]})

    def late(*_: object) -> None:
        raise BudgetSpent("max_seconds is used up")

    monkeypatch.setattr(TableOptions, "proposal", late)
    code, out, err = run("learn", table, "--max-seconds", "5")
    assert (code, out) == (2, "")
    assert err.startswith("lmarvel: ")
    assert "'A'" in err
    assert err.count("\n") == 1


def test_no_way_out_is_looked_for_where_the_table_is_not_to_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile of 3,000 columns took four seconds, and was not shown."""
    table = tmp_path / "table.csv"
    table.write_text("a,b,c\n" + "".join(f"{i % 7},{i % 5},{i * i % 11}\n" for i in range(50)))
    monkeypatch.setattr("lmarvel.search.lift.most_variables", lambda: 2)
    monkeypatch.setattr("lmarvel.cli.tables.TableOptions.proposal", lambda *_: pytest.fail("a way out was looked for"))
    refused = run("learn", table, "--method", "lift", "-q")
    assert refused.code == 2
    assert "at most 2 variables, not 3" in refused.err
