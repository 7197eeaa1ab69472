"""Commands that come after ``learn`` read the table as it was read then, unless they are told otherwise."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from lmarvel import Dataset, Discovery, Lift, Moments
from lmarvel.cli.tables import TableOptions
from tests.cli.running import run, run_apart

TAKEN = "lmarvel: reading the table as when the graph was learned: "


def survey(path: Path, separator: str = ";", weights: str = "w") -> Path:
    """Write a table with gaps, weights, an id, text, and grades that are numbers."""
    rng = np.random.default_rng(1)
    n = 400
    a, b, e, f = rng.normal(size=(4, n))
    x = a + b + e
    y = 0.5 * x + f
    weight, grade = rng.uniform(0.5, 2, n), 1 + (a > -0.5).astype(int) + (a > 0.5)
    lines = [["id", "A", "B", "X", "Y", weights, "grade", "note"]]
    for i in range(n):
        gap = "" if i % 40 == 0 else f"{x[i]:.4f}"
        numbers = (f"{a[i]:.4f}", f"{b[i]:.4f}", gap, f"{y[i]:.4f}", f"{weight[i]:.3f}", str(grade[i]))
        lines.append([str(i), *numbers, f"t{i}"])
    path.write_text("\n".join(separator.join(line) for line in lines) + "\n")
    return path


@pytest.fixture
def learned(tmp_path: Path) -> tuple[Path, Path]:
    data, result = survey(tmp_path / "survey.csv"), tmp_path / "result.json"
    said = ["--separator", ";", "--missing", "drop", "--weights", "w", "--drop", "id,note,grade"]
    assert run("learn", data, *said, "-o", result).code == 0
    return result, data


def test_a_result_file_keeps_how_the_table_was_read(learned: tuple[Path, Path]) -> None:
    reading = json.loads(learned[0].read_text())["data"]["reading"]
    assert reading == {"drop": ["id", "note", "grade"], "separator": ";", "missing": "drop", "weights": "w"}
    assert Discovery.load(learned[0]).data["reading"] == reading  # type: ignore[index]


def test_effect_check_and_report_read_the_table_in_the_same_way(learned: tuple[Path, Path], tmp_path: Path) -> None:
    result, data = learned
    effect = run("effect", result, data, "X", "Y")
    assert (effect.code, effect.err) == (0, f"{TAKEN}--missing drop --weights w --separator ';'\n")
    said = ["--separator", ";", "--missing", "drop", "--weights", "w"]
    typed = run("effect", result, data, "X", "Y", *said)
    assert (typed.out, typed.err) == (effect.out, "")
    assert "another table" not in effect.out
    check = run("check", result, data, "--format", "json")
    assert check.err.startswith(TAKEN)
    assert json.loads(check.out) == json.loads(result.read_text())["check"]
    report = run("report", result, tmp_path / "page.html", "--data", data)
    assert (report.code, report.err.startswith(TAKEN)) == (0, True)
    assert "No effect is estimated here" not in (tmp_path / "page.html").read_text()


def test_an_option_that_is_given_comes_first(learned: tuple[Path, Path]) -> None:
    result, data = learned
    refused = run("effect", result, data, "X", "Y", "--missing", "refuse")
    assert refused.code == 2
    assert refused.err.startswith(f"{TAKEN}--weights w --separator ';'\n")
    assert "missing" in refused.err.splitlines()[1]


@pytest.mark.parametrize("way", ["test-wise", "em"])
def test_missing_values_are_imputed_for_effects_unless_rows_are_dropped(way: str, tmp_path: Path) -> None:
    data, result = survey(tmp_path / "survey.csv", ","), tmp_path / "result.json"
    assert run("learn", data, "--missing", way, "--columns", "A,B,X,Y", "-o", result).code == 0
    filled = run("effect", result, data, "X", "Y", "--format", "json")
    assert (filled.code, f"--missing {way}" in filled.err) == (0, True)
    assert json.loads(filled.out)["estimates"][0]["method"].endswith("; 20 imputations")
    dropped = run("effect", result, data, "X", "Y", "--missing", "drop", "--format", "json")
    assert "imputations" not in json.loads(dropped.out)["estimates"][0]["method"]


def test_nothing_is_printed_where_nothing_was_said(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    run("learn", "cars", "-o", result, "--quiet")
    assert "reading" not in json.loads(result.read_text())["data"]
    assert TAKEN not in run("check", result, "cars").err


def test_a_table_without_the_column_of_weights_is_read_without_and_that_is_said(
    learned: tuple[Path, Path], tmp_path: Path
) -> None:
    other = survey(tmp_path / "other.csv", weights="other")
    done = run_apart("effect", learned[0], other, "X", "Y")
    assert done.code == 0
    taken, warned = done.err.splitlines()
    assert taken == f"{TAKEN}--missing drop --separator ';'"
    assert warned.endswith("weights from column w, which this table does not have: it is not weighted")


def test_kinds_are_remembered_and_one_that_is_given_anew_leaves_the_others(tmp_path: Path) -> None:
    data, result = survey(tmp_path / "survey.csv", ","), tmp_path / "result.json"
    said = ["--missing", "drop", "--columns", "A,Y,grade", "--ordinal", "grade=1<2<3"]
    assert run("learn", data, *said, "-o", result).code == 0
    assert "--ordinal 'grade=1<2<3'" in run("check", result, data).err
    anew = run("check", result, data, "--categorical", "grade")
    assert (anew.code, anew.err) == (0, f"{TAKEN}--missing drop\n")


def test_a_tab_that_was_typed_as_such_is_remembered(tmp_path: Path) -> None:
    data, result = survey(tmp_path / "survey.csv", "\t"), tmp_path / "result.json"
    said = ["--separator", "\\t", "--missing", "drop", "--columns", "A,B,X,Y"]
    assert run("learn", data, *said, "-o", result).code == 0
    assert run("effect", result, data, "X", "Y").code == 0
    assert Discovery.load(result).effect("X", "Y", data).estimates


def coded(path: Path, head: str = "") -> Path:
    """Write a table without names, with -9 for a missing value, and 99 for one in the first column."""
    rng = np.random.default_rng(3)
    a, b, e = rng.normal(size=(3, 300))
    rows = [[f"{value:.4f}" for value in row] for row in zip(a, b, a + b + e, strict=True)]
    for i in range(0, 300, 30):
        rows[i][0], rows[i + 1][0], rows[i + 2][1] = "-9", "99", "-9"
    path.write_text(head + "\n".join(map(",".join, rows)) + "\n")
    return path


@pytest.mark.parametrize(
    ("na", "kept", "shown"),
    [
        (["-9,99"], ["-9", "99"], "--na -9,99"),
        (["column1=-9,99", "column2=-9"], {"column1": ["-9", "99"], "column2": ["-9"]}, None),
        (["-9", "column1=99"], {"column1": ["-9", "99"], "column2": ["-9"], "column3": ["-9"]}, None),
    ],
)
def test_codes_for_missing_values_and_the_header_are_remembered(
    tmp_path: Path, na: list[str], kept: object, shown: str | None
) -> None:
    data, result = coded(tmp_path / "coded.csv", "a title\n"), tmp_path / "result.json"
    said = ["--no-header", "--skip-rows", "1", "--missing", "drop", *(word for one in na for word in ("--na", one))]
    assert run("learn", data, *said, "-o", result).code == 0
    found = Discovery.load(result)
    assert found.data is not None
    assert found.data["rows"] == 270
    assert found.data["reading"] == {"missing": "drop", "na": kept, "skip_rows": 1, "header": False}
    by_column = "--na column1=-9,99 --na column2=-9" + " --na column3=-9" * (len(kept) == 3)  # type: ignore[arg-type]
    taken = f"{TAKEN}--missing drop {shown or by_column} --skip-rows 1 --no-header\n"
    done = run("effect", result, data, "column1", "column3")
    assert (done.code, done.err) == (0, taken)
    assert "another table" not in done.out
    assert (
        found.effect("column1", "column3", data).to_dict()
        == found.effect(
            "column1", "column3", Dataset.of(data, header=False, skip_rows=1, missing="drop", na=kept)
        ).to_dict()
    )


def test_codes_that_were_said_in_python_are_values_as_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 200))
    kind = ["refused, or away" if i % 20 == 0 else "red" if a[i] > 0 else "blue" for i in range(200)]
    lines = [f'{a[i]:.4f},{a[i] + b[i]:.4f},"{kind[i]}"' for i in range(200)]
    data, result = tmp_path / "kinds.csv", tmp_path / "result.json"
    data.write_text("\n".join(["A,B,kind", *lines]) + "\n")
    Lift().fit(Dataset.of(data, missing="drop", na=["refused, or away"])).result_.save(result)
    done = run("effect", result, data, "A", "B")
    assert (done.code, done.err) == (0, f"{TAKEN}--missing drop --na 'refused, or away'\n")
    assert "another table" not in done.out


def test_every_option_of_a_table_can_be_said_in_python_by_the_same_name() -> None:
    """So that a result from the command line is read in the same way in Python, whatever options are added.

    A matrix is not a table that is read in another way, but moments: the next table may have rows.
    """
    said = {field.name for field in fields(TableOptions)} - {"covariance", "correlation", "rows"}
    assert said <= set(inspect.signature(Dataset.of).parameters)
    assert {"n", "correlation"} <= set(inspect.signature(Moments.of).parameters)


def test_a_file_of_a_stranger_is_refused_where_it_says_what_cannot_be(learned: tuple[Path, Path]) -> None:
    found = Discovery.load(learned[0])
    assert found.data is not None
    found.data["reading"]["missing"] = ["drop"]
    found.save(learned[0])
    done = run("effect", *learned, "X", "Y")
    assert done.code == 2
    assert "'data' makes no sense (a table cannot be read with missing = ['drop'])" in done.err
    assert len(done.err.splitlines()) == 1
