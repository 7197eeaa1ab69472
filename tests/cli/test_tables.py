"""Tables as people have them: described, learned from, or refused in one line with a command that would run."""

import json
import shlex
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Outcome, run, run_apart

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(3).tolist()
Y = (np.array(X) + RNG.normal(size=N)).round(3).tolist()
Z = (np.array(Y) + RNG.normal(size=N)).round(3).tolist()
GROUP = RNG.choice(["red", "green", "blue"], N).tolist()
BASE = {"x": X, "y": Y, "z": Z}


def table(folder: Path, columns: dict[str, list[object]], name: str = "data.csv", separator: str = ",") -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join("" if v is None else str(v) for v in row) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def learn(path: Path, *options: str) -> Outcome:
    return run("learn", path, "--method", "lmarvel", "--test", "fisher-z", "--format", "json", *options)


def settings(done: Outcome) -> dict[str, object]:
    assert done.code == 0, done.err
    found: dict[str, object] = json.loads(done.out)["settings"]
    return found


# --- refused ----------------------------------------------------------------------------------------------

REFUSED = {
    "a level a row": (BASE | {"id": [f"p{i}" for i in range(N)]}, [], ["'id' has 120 categories", "--drop id"]),
    "a weight of zero": (BASE | {"w": [1.0, 0.0, *X[2:]]}, ["--weights", "w"], ["row 2 in 'w' is 0"]),
    "a weight below zero": (BASE | {"w": [1, 2, -3, *[1] * (N - 3)]}, ["--weights", "w"], ["row 3 in 'w' is -3"]),
    "a weight that is missing": (BASE | {"w": [None, *[1] * (N - 1)]}, ["--weights", "w"], ["row 1 in 'w' is missing"]),
    "all weights zero": (BASE | {"w": [0] * N}, ["--weights", "w"], ["all weights in 'w' are zero"]),
    "weights of text": (BASE | {"g": GROUP}, ["--weights", "g"], ["'g' holds text"]),
    "clusters with gaps": (
        BASE | {"site": ["a", None, *["b"] * (N - 2)]},
        ["--cluster", "site"],
        ["'site' has 1 missing value, the first in row 2"],
    ),
    "one cluster": (BASE | {"site": ["a"] * N}, ["--cluster", "site"], ["'site' has 1 cluster"]),
    "text as ordinal": (BASE | {"g": GROUP}, ["--ordinal", "g"], ["'g' holds text", "g=blue<green<red"]),
    "more text as ordinal": (
        BASE | {"g": GROUP, "h": GROUP},
        ["--ordinal", "g,h"],
        ["'g', 'h' hold text", "g=blue<green<red, h=blue<green<red"],
    ),
    "an order that turns back": (
        BASE | {"g": GROUP},
        ["--ordinal", "g=red<green<red<blue"],
        ["the order of 'g' names 'red' twice"],
    ),
    "an order with a gap": (BASE | {"g": GROUP}, ["--ordinal", "g=red<green"], ["the order of 'g' leaves out 'blue'"]),
    "numbers as categories": (BASE, ["--categorical", "x"], ["column 'x' has", "categories in 120 rows"]),
    "an unknown column": (BASE | {"group": GROUP}, ["--categorical", "grup"], ["'grup'", "did you mean 'group'?"]),
    "an unknown column to drop": (BASE, ["--drop", "xx"], ["'xx'", "did you mean 'x'?"]),
    "an unknown column of weights": (BASE, ["--weights", "weight"], ["'weight'", "no such column: x, y, z"]),
    "a wrong decimal sign": (BASE, ["--decimal", ";"], ["the decimal sign is '.' or ','"]),
    "only text": ({"g": GROUP, "h": GROUP[::-1]}, ["--numeric-only"], ["0 of 2 columns are numbers"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_is_refused_in_one_line_because_of(case: str, tmp_path: Path) -> None:
    columns, options, words = REFUSED[case]
    done = learn(table(tmp_path, columns), *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


def test_ten_thousand_levels_are_refused(tmp_path: Path) -> None:
    columns = {"x": RNG.normal(size=20_000).round(3).tolist(), "g": [f"v{i % 10_000}" for i in range(20_000)]}
    done = learn(table(tmp_path, columns))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "'g' has 10000 categories in 20000 rows" in done.err


def test_everything_is_named_at_once_with_a_command_that_runs(tmp_path: Path) -> None:
    columns = BASE | {"id": [f"p{i}" for i in range(N)], "flat": [1] * N, "again": X, "gap": [None, *X[1:]]}
    columns["gap"] = [None, *RNG.normal(size=N - 1).tolist()]
    done = learn(table(tmp_path, columns, "my data.csv"), "--missing", "refuse")
    assert (done.code, done.err.count("\n")) == (2, 1)
    for word in ("'gap' (1)", "'id' has 120 categories", "'flat' is constant", "'again' is a copy of 'x'"):
        assert word in done.err
    command = shlex.split(done.err.split("This would run: ")[1])
    assert command[0] == "lmarvel"
    again = run(*command[1:])
    assert again.code == 0, again.err
    assert json.loads(again.out)["nodes"] == ["x", "y", "z", "gap"]


# --- read -------------------------------------------------------------------------------------------------


def test_weights_clusters_kinds_and_gaps_are_told_in_the_result(tmp_path: Path) -> None:
    columns = BASE | {"w": RNG.uniform(1, 3, N).tolist(), "site": GROUP, "level": RNG.integers(0, 4, N).tolist()}
    path = table(tmp_path, {**columns, "y": [None, *Y[1:]]})
    told = settings(learn(path, "--weights", "w", "--cluster", "site", "--ordinal", "level", "--missing", "drop"))
    assert (told["weights"], told["cluster"], told["missing"], told["dropped_rows"]) == ("w", "site", "drop", 1)
    assert told["kinds"] == "3 continuous, 1 ordinal: level"
    text = run("learn", path, "--drop", "site,w,level", "--missing", "em", "--details").out
    assert "Table    moments by EM around missing values" in text


def test_decimal_commas_are_told_or_said(tmp_path: Path) -> None:
    columns = {name: [str(v).replace(".", ",") for v in values] for name, values in BASE.items()}
    plain = json.loads(learn(table(tmp_path, BASE, "plain.csv")).out)
    for options in ([], ["--decimal", ","], ["--separator", ";"]):
        done = json.loads(learn(table(tmp_path, columns, separator=";"), *options).out)
        assert (done["edges"], done["data"]["fingerprint"]) == (plain["edges"], plain["data"]["fingerprint"])


def test_standard_input_is_a_table(tmp_path: Path) -> None:
    path = table(tmp_path, BASE)
    with path.open() as stream:
        piped = run_apart("learn", "-", "--format", "edges", stdin=stream)
    assert (piped.code, piped.out) == (0, run("learn", path, "--format", "edges").out)


def test_what_is_left_out_is_said_once_even_where_the_table_is_refused(tmp_path: Path) -> None:
    done = run_apart("learn", table(tmp_path, BASE | {"g": GROUP, "y": [1] * N}), "--numeric-only")
    assert done.code == 2
    assert done.err.count("left out, because they are not numbers: g") == 1


def test_the_ways_out_of_gaps_that_a_refusal_names_lead_out(tmp_path: Path) -> None:
    path = table(tmp_path, BASE | {"g": [None, *GROUP[1:]], "y": [*Y[:-1], None]})
    assert run("learn", path, "--quiet").code == 0
    refused = run("learn", path, "--missing", "refuse")
    assert refused.code == 2
    for way in ("test-wise", "drop", "em"):
        assert f"--missing {way}" in refused.err
        assert run("learn", path, "--missing", way, "--quiet").code == 0


def test_numeric_only_says_what_it_leaves_out(tmp_path: Path) -> None:
    done = run_apart("learn", table(tmp_path, BASE | {"g": GROUP}), "--numeric-only", "--format", "json")
    assert json.loads(done.out)["nodes"] == ["x", "y", "z"]
    assert "left out, because they are not numbers: g" in done.err


def test_compare_takes_the_same_options(tmp_path: Path) -> None:
    path = table(tmp_path, BASE | {"w": [1, 2] * (N // 2), "gap": [None, *RNG.normal(size=N - 1).tolist()]})
    options = ["--methods", "lmarvel,fci", "--format", "json", "--weights", "w", "--test", "fisher-z"]
    done = run("compare", path, *options, "--missing", "drop")
    assert done.code == 0, done.err
    assert json.loads(done.out)["methods"]["fci"]["result"]["settings"]["weights"] == "w"
    assert run("compare", path, *options).code == 0
    refused = run("compare", path, *options, "--missing", "refuse")
    assert (refused.code, "This would run: lmarvel compare" in refused.err) == (2, True)


def test_statistics_files_are_read_with_their_labels(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(BASE | {"grade": [float(i % 3 + 1) for i in range(N)]})
    labels = {"grade": {1.0: "low", 2.0: "middle", 3.0: "high"}}
    pyreadstat.write_sav(
        frame, tmp_path / "data.sav", variable_value_labels=labels, variable_measure={"grade": "ordinal"}
    )
    pyreadstat.write_dta(frame, tmp_path / "data.dta", variable_value_labels=labels)
    pyreadstat.write_xport(frame, tmp_path / "data.xpt")
    levels = {"data.sav": "ordinal", "data.dta": "nominal", "data.xpt": "continuous"}
    for name, kind in levels.items():
        done = run("describe", tmp_path / name, "--json")
        grade = json.loads(done.out)["columns"][3]
        assert grade["kind"] == kind
        if kind != "continuous":
            assert list(grade["levels"]) == ["low", "middle", "high"]
    (tmp_path / "bad.sav").write_bytes(b"$FL2 nothing")
    refused = run("learn", tmp_path / "bad.sav")
    assert (refused.code, refused.err.count("\n"), "bad.sav" in refused.err) == (2, 1, True)


def sheet(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write the least that is an Excel file."""

    def cell(value: object) -> str:
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml"'
        f' ContentType="{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml"'
        f' ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="one" sheetId="1"'
        ' r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


def test_a_spreadsheet_is_read(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    done = run("describe", sheet(tmp_path / "data.xlsx", BASE | {"g": ["NA", *GROUP[1:]]}), "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [column["kind"] for column in found["columns"]] == ["continuous"] * 3 + ["nominal"]
    assert (found["columns"][3]["missing"], found["rows"]) == (1, N)


# --- described --------------------------------------------------------------------------------------------


def strange() -> dict[str, list[object]]:
    return {
        "row": list(range(1, N + 1)),
        "patient_id": RNG.permutation(np.arange(1000, 1000 + N)).tolist(),
        "visit": [f"2024-01-{i % 28 + 1:02d}" for i in range(N)],
        "x": X,
        "y": [-99, -99, *Y[2:]],
        "near": (np.array(X) + 1e-3 * RNG.normal(size=N)).tolist(),
        "twice": (2 * np.array(X)).tolist(),
        "flat": [3] * N,
        "colour": [None, *GROUP[1:]],
        "grade": RNG.integers(1, 6, N).tolist(),
        "typo": ["1o", *RNG.normal(size=N - 1).tolist()],
    }


def test_a_table_is_described_with_what_is_strange_about_it(tmp_path: Path) -> None:
    done = run("describe", table(tmp_path, strange()))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "data.csv: 120 rows, 11 columns, 1 row with missing values"
    for line in (
        "  row: row numbers; they mean nothing: drop it with --drop row",
        "  patient_id: every row has a number of its own, as an id has; drop it with --drop patient_id",
        "  visit: dates; drop it with --drop visit, or turn it into a number of days",
        "  y: -99 in 2 rows looks like a code for a missing value; --na -99 treats it as missing",
        "  near: nearly a copy of 'x'; keep one of the two",
        "  twice: is a copy of 'x'; drop it with --drop twice",
        "  flat: constant; drop it with --drop flat",
        "  colour (1): missing values; each test uses the rows that have its variables; or --missing drop for the"
        " 119 complete rows, or --missing em for estimated moments",
        "  grade: few different whole numbers, taken as numbers; --ordinal or --categorical if these are categories",
        "  typo: is numbers but for 1 value '1o'; mend the text, or --na 1o treats it as missing",
    ):
        assert line in lines, line
    command = shlex.split(lines[-1])
    assert command[-2:] == ["--drop", "row,patient_id,visit,twice,flat"]
    assert command[3:7] == ["--na", "1o", "--na", "-99"]
    assert any(line.startswith("colour") and "3 categories: blue (" in line for line in lines)


def test_categories_that_say_the_same_and_those_with_one_row_are_described(tmp_path: Path) -> None:
    columns = {"g": GROUP, "warm": ["yes" if g == "red" else "no" for g in GROUP], "h": [g.upper() for g in GROUP]}
    lines = run("describe", table(tmp_path, BASE | columns)).out.splitlines()
    assert "  g, h: determines 'warm'; edges at these may belong to the other column" in lines
    assert "  h: a copy of 'g', category by category; keep one of the two" in lines
    assert "--drop" not in lines[-1]
    columns = {"g": ["mauve", *GROUP[1:]], "h": ["teal", "pink", *GROUP[2:]]}
    lines = run("describe", table(tmp_path, BASE | columns)).out.splitlines()
    assert "  g: the category 'mauve' has 1 row; tests take it together with others" in lines
    assert "  h: the categories 'pink', 'teal' have 1 row each; tests take them together with others" in lines


def test_a_description_as_json_has_all_of_it(tmp_path: Path) -> None:
    path = table(tmp_path, strange())
    found = json.loads(run("describe", path, "--json").out)
    assert [column["name"] for column in found["columns"]] == list(strange())
    assert found["columns"][0]["findings"] == [
        {"what": "row numbers", "advice": "they mean nothing: drop it with --drop row"}
    ]
    assert found["drop"] == ["row", "patient_id", "visit", "twice", "flat"]
    assert shlex.split(found["command"])[:3] == ["lmarvel", "learn", str(path)]


def test_a_wide_table_is_described_by_what_there_is_to_look_at(tmp_path: Path) -> None:
    wide = {f"v{i}": RNG.normal(size=60).round(4).tolist() for i in range(100)}
    done = run("describe", table(tmp_path, wide))
    assert "100 columns of numbers, none with anything unusual (--json shows all)" in done.out
    wide |= {f"flat{i}": [0] * 60 for i in range(30)}
    done = run("describe", table(tmp_path, wide))
    assert "... and 100 more columns (--json shows all)" in done.out
    assert "flat10, flat11, ... (30 in all): constant; drop them" in done.out
    assert max(map(len, done.out.splitlines()[:-1])) < 140


def test_a_table_that_nothing_can_be_learned_from_is_described(tmp_path: Path) -> None:
    done = run("describe", table(tmp_path, {"a": [1] * N, "b": X}))
    assert (done.code, done.out.splitlines()[-1]) == (0, "No part of this table can be learned from as it is.")


@pytest.mark.parametrize("number", [False, True])
def test_a_column_that_determines_another_is_named_and_learned_with(number: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"t{i % 6},{(i % 6) ** 2 if number else 'land' + str(i % 6 // 2)},{rng.normal():.3f}" for i in range(120)]
    path = tmp_path / "towns.csv"
    path.write_text("town,other,x\n" + "\n".join(rows), encoding="utf-8")
    for method in ("auto", "lmarvel", "fci"):
        done = run("learn", str(path), "--method", method)
        assert (done.code, done.err) == (0, "")
        assert "town determines other: edges at these may belong to the other column" in done.out


@pytest.mark.parametrize("options", [[], ["--ordinal", "rare=low<high<never again"]])
def test_a_category_with_one_row_is_learned_with(options: list[str], tmp_path: Path) -> None:
    rare = ["low", "high"] * (N // 2 - 1) + ["low", "never again"]
    path = table(tmp_path, {**BASE, "rare": rare})
    for method in ("auto", "lmarvel", "fci"):
        done = run("learn", path, *options, "--method", method)
        assert (done.code, done.err) == (0, "")
        assert "the category 'never again' of rare has 1 row: tests take it together with the commonest one" in done.out
