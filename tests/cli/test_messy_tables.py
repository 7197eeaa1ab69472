"""Tables as people bring them: what describe and learn say of them, and whether what they propose runs."""

import csv
import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Outcome, run, run_apart, write_csv

N = 150
RNG = np.random.default_rng(1)
X = RNG.normal(size=N).round(3)
Y = (X + RNG.normal(size=N)).round(3)
Z = (Y + RNG.normal(size=N)).round(3)
GROUP = RNG.choice(["red", "green", "blue"], N).tolist()
BASE: dict[str, Sequence[object]] = {"x": X.tolist(), "y": Y.tolist(), "z": Z.tolist()}
AGE = [int(value) for value in 50 + 8 * RNG.normal(size=N)]


def write(folder: Path, columns: Mapping[str, Sequence[object]], above: str = "", header: bool = True) -> Path:
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(above)
        writer = csv.writer(file, lineterminator="\n")
        if header:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def every(column: Sequence[object], step: int, value: object) -> list[object]:
    """Return a column with a value in place of every so many of its own."""
    return [value if i % step == 0 else old for i, old in enumerate(column)]


def described(path: Path, *options: str) -> tuple[list[str], Outcome]:
    """Return the lines of a description, and what became of the command that it proposes."""
    done = run("describe", path, *options)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    command = shlex.split(lines[-1])
    assert command[:2] == ["lmarvel", "learn"]
    return lines, run(*command[1:], "--method", "lmarvel", "--format", "json")


def learned(done: Outcome) -> dict[str, object]:
    assert done.code == 0, done.err
    found: dict[str, object] = json.loads(done.out)
    return found


# --- what is proposed runs --------------------------------------------------------------------------------

TOTAL = (X + Y).round(3).tolist()
NAMED = {"red": 1.0, "green": 2.5, "blue": -1.0}
HALF = {
    "a": [None if i % 2 else v for i, v in enumerate(RNG.normal(size=N))],
    "b": [v if i % 2 else None for i, v in enumerate(RNG.normal(size=N))],
}
PROPOSED: dict[str, tuple[dict[str, Sequence[object]], list[str], list[str], str]] = {
    "a combination of columns": (
        {"total": TOTAL},
        [],
        ["  total: is determined by 'x' and 'y'; drop it with --drop total"],
        "--drop total",
    ),
    "a combination of categories and a column": (
        {"g": GROUP, "sum": [round(a + NAMED[g], 3) for a, g in zip(X, GROUP, strict=True)]},
        [],
        ["  the column 'sum' is determined by 'x', 'g': together they are collinear. Drop one of them"],
        "--drop sum",
    ),
    "columns that are never seen together": (
        HALF,
        [],
        [
            "  a (75), b (75): missing values; each test uses the rows that have its variables; or --missing em for"
            " estimated moments"
        ],
        "data.csv",
    ),
    "no complete row, with rows to be dropped": (HALF, ["--missing", "drop"], [], "--drop a --missing drop"),
    "constant columns": (
        {"B": [1] * N, "C": ["a"] * N},
        [],
        ["  B, C: constant; drop them with --drop B,C"],
        "--drop B,C",
    ),
    "a constant column": ({"B": [1] * N}, [], ["  B: constant; drop it with --drop B"], "--drop B"),
    "a column that is constant in complete rows": (
        {"B": [1] * (N - 40) + [2] * 40, "gap": [*RNG.normal(size=N - 40), *[None] * 40]},
        ["--missing", "drop"],
        ["  B: constant; drop it with --drop B"],
        "--drop B --missing drop",
    ),
    "a copy": ({"again": X.tolist()}, [], ["  again: is a copy of 'x'; drop it with --drop again"], "--drop again"),
    "ids": (
        {"n": range(1, N + 1), "name": [f"person {i}" for i in range(N)]},
        [],
        [
            "  n: row numbers; they mean nothing: drop it with --drop n",
            "  name: has 150 categories in 150 rows, as an id or free text has; drop it with --drop name",
        ],
        "--drop n,name",
    ),
    "codes": (
        {"age": every(AGE, 15, -9), "income": every((40 + 5 * Y).round(1).tolist(), 20, 999)},
        [],
        [
            "  age: -9 in 10 rows looks like a code for a missing value; --na -9 treats it as missing",
            "  income: 999 in 8 rows looks like a code for a missing value; --na 999 treats it as missing",
        ],
        "--na -9 --na 999",
    ),
    "a code that is a value elsewhere": (
        {"grade": every(RNG.integers(1, 6, N).tolist(), 15, 9), "count": RNG.integers(0, 40, N).tolist()},
        [],
        ["  grade: 9 in 10 rows looks like a code for a missing value; --na grade=9 treats it as missing"],
        "--na grade=9",
    ),
    "words": (
        {"age": every(every(AGE, 15, "Refused"), 31, "Don't know")},
        [],
        [],
        "--na 'Don'\"'\"'t know' --na Refused",
    ),
    "a typing error": (
        {"age": ["3o", *AGE[1:]]},
        [],
        ["  age: is numbers but for 1 value '3o'; mend the text, or --na 3o treats it as missing"],
        "--na 3o",
    ),
    "all at once": (
        {
            "id": [f"p{i}" for i in range(N)],
            "site": ["A"] * N,
            "total": TOTAL,
            "g": ["mauve", *GROUP[1:]],
            "age": every(AGE, 11, "Refused"),
            "income": every((40 + 5 * Y).round(1).tolist(), 13, -99),
            "empty": [None] * (N - 5) + [1.5, 2, 3, 4, 5],
        },
        [],
        [],
        "--na Refused --na -99 --drop id,site,empty,total",
    ),
}


@pytest.mark.parametrize("case", PROPOSED)
def test_what_is_proposed_runs(case: str, tmp_path: Path) -> None:
    more, options, lines, command = PROPOSED[case]
    path = write(tmp_path, BASE | more)
    shown, done = described(path, *options)
    for line in lines:
        assert line in shown, "\n".join(shown)
    assert shown[-1].endswith(command), shown[-1]
    assert learned(done)["nodes"]


@pytest.mark.parametrize("case", [name for name in PROPOSED if "code" not in name and "never seen" not in name])
def test_a_refusal_proposes_the_same(case: str, tmp_path: Path) -> None:
    more, options, _, command = PROPOSED[case]
    done = run("learn", write(tmp_path, BASE | more), *options)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    proposed = done.err.split("This would run: ")[1]
    assert all(word in shlex.split(proposed) for word in shlex.split(command))
    assert shlex.split(proposed).count("--missing") <= 1
    assert run(*shlex.split(proposed)[1:]).code == 0


def test_no_complete_row_is_the_cause_that_is_named(tmp_path: Path) -> None:
    done = run("learn", write(tmp_path, BASE | HALF), "--missing", "drop")
    cause = "none of the 150 rows is complete; most values are missing in 'a' (75) and 'b' (75)"
    assert (done.code, done.err.startswith(f"lmarvel: {cause}. This would run: ")) == (2, True)
    assert done.err.endswith("--method lmarvel --drop a --missing drop\n")


def test_constant_columns_are_refused_in_the_plural(tmp_path: Path) -> None:
    done = run("learn", write(tmp_path, BASE | {"B": [1] * N, "C": [2] * N}))
    assert done.err.startswith("lmarvel: columns 'B' and 'C' are constant: drop them. This would run: ")


def three_columns() -> dict[str, Sequence[object]]:
    """A category in three columns of yes and no, of which two determine the third."""
    which = RNG.integers(0, 3, 4000)
    columns = {name: [f"is {value == k}" for value in which] for k, name in enumerate("abc")}
    return columns | {"other": RNG.choice(["s", "t"], 4000)}


@pytest.mark.parametrize("more", [{}, {"q": RNG.choice(["s", "t", "u"], 4000)}])
def test_lift_takes_categories_that_others_determine(more: dict[str, Sequence[object]], tmp_path: Path) -> None:
    done = run("learn", write(tmp_path, three_columns() | more), "--method", "lift", "--format", "edges")
    assert (done.code, done.err) == (0, "")
    assert sum(f"{x} o-o {y}" in done.out for x, y in permutations("abc", 2)) >= 2


def test_lift_takes_them_beside_numbers_too(tmp_path: Path) -> None:
    path = write(tmp_path, three_columns() | {"x": [f"{v:.4f}" for v in RNG.normal(size=4000)]})
    done = run("learn", path, "--method", "lift", "--format", "edges")
    assert (done.code, done.err) == (0, "")
    joined = {frozenset(line.split()[::2]) for line in done.out.splitlines()}
    assert sum(pair in joined for pair in map(frozenset, ("ab", "ac", "bc"))) >= 2
    assert frozenset("ax") not in joined


# --- panels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "time"),
    [
        (np.repeat(range(30), 5).tolist(), np.tile(range(2001, 2006), 30).tolist()),
        ([f"person {i // 5}" for i in range(N)], [f"2001-0{i % 5 + 1}-01" for i in range(N)]),
    ],
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_panel_is_noticed(unit: list[object], time: list[object], shuffled: bool, tmp_path: Path) -> None:
    order = RNG.permutation(N) if shuffled else range(N)
    columns = {name: [list(values)[i] for i in order] for name, values in ({"id": unit, "year": time} | BASE).items()}
    lines, done = described(write(tmp_path, columns))
    panel = "a panel: 30 units with several rows each, ordered by 'year'. Rows are not independent"
    assert f"  id: {panel}; --panel id,year adds the columns of the time before" in lines
    assert "  year: the times of the panel of 'id'; --panel id,year takes them" in lines
    assert lines[-1].endswith("--panel id,year")
    assert lines[-2] == "This would run with 120 rows"
    assert learned(done)["nodes"] == ["x", "x_lag1", "y", "y_lag1", "z", "z_lag1"]


def test_a_panel_without_times_that_follow_each_other_has_clusters(tmp_path: Path) -> None:
    times = (np.arange(N) % 5 * 2 + np.arange(N) // 5 % 2).tolist()  # half of the units on even days, half on odd ones
    lines, done = described(write(tmp_path, {"id": np.repeat(range(30), 5).tolist(), "day": times} | BASE))
    assert lines[-1].endswith("--drop day --cluster id")
    assert learned(done)["nodes"] == ["x", "y", "z"]


def test_groups_and_grades_are_no_panel(tmp_path: Path) -> None:
    columns = {"school": RNG.integers(0, 10, N).tolist(), "grade": RNG.integers(1, 6, N).tolist()}
    assert "panel" not in run("describe", write(tmp_path, BASE | columns)).out


# --- matrices in place of observations --------------------------------------------------------------------


@pytest.mark.parametrize("index", ["", "variable", None])
@pytest.mark.parametrize("kind", ["correlation", "covariance"])
def test_a_matrix_is_no_table(kind: str, index: str | None, tmp_path: Path) -> None:
    rows = np.array([X, Y, Z, X + RNG.normal(size=N)])
    matrix = (np.corrcoef(rows) if kind == "correlation" else np.cov(rows)).round(4)
    columns: dict[str, Sequence[object]] = {} if index is None else {index: list("abcd")}
    path = write(tmp_path, columns | dict(zip("abcd", matrix.tolist(), strict=True)))
    said = f"this is a {kind} matrix, not a table with one row per observation: give the number of rows that it was"
    refused, shown = run_apart("learn", path), run_apart("describe", path)
    assert (refused.code, said in refused.err, f"--{kind} --rows N" in refused.err) == (2, True, True)
    assert (shown.code, said[1:] in shown.out, "lmarvel learn" in shown.out) == (0, True, False)


# --- options ----------------------------------------------------------------------------------------------


def test_values_are_taken_for_missing_in_all_columns_or_in_one(tmp_path: Path) -> None:
    path = write(
        tmp_path, BASE | {"age": every(AGE, 15, -9), "other": every(AGE[::-1], 30, -9), "g": every(GROUP, 50, "DK")}
    )

    def gaps(*options: str) -> list[int]:
        return [column["missing"] for column in json.loads(run("describe", path, "--json", *options).out)["columns"]]

    assert gaps() == [0] * 6
    assert gaps("--na", "-9") == [0, 0, 0, 10, 5, 0]
    assert gaps("--na", "-9,DK") == gaps("--na", "-9.0", "--na", "DK") == [0, 0, 0, 10, 5, 3]
    assert gaps("--na", "age=-9") == [0, 0, 0, 10, 0, 0]
    done = run("learn", path, "--na", "-9", "--na", "DK", "--missing", "drop", "--format", "json")
    assert learned(done)["data"]["rows"] == N - 12  # type: ignore[index]


def test_titles_headers_and_skipped_rows_on_the_command_line(tmp_path: Path) -> None:
    titled = write(tmp_path, BASE, above="Survey 2024, wave 2\n\n")
    shown = run_apart("describe", titled)
    assert shown.err == (
        "lmarvel: data.csv: 1 title row was skipped ('Survey 2024, wave 2'); --skip-rows 0 treats it as the header\n"
    )
    assert shown.out.splitlines()[0] == "data.csv: 150 rows, 3 columns, no missing values"
    assert run("describe", titled, "--skip-rows", "2").err == ""
    assert run("learn", titled, "--skip-rows", "0").code == 2
    assert "must not be negative" in run("learn", titled, "--skip-rows", "-1").err
    bare = write(tmp_path, BASE, header=False)
    assert "there is no header, since the first row is numbers" in run_apart("describe", bare).err
    assert learned(run("learn", bare, "--no-header", "--format", "json"))["nodes"] == ["column1", "column2", "column3"]
    assert learned(run("learn", bare, "--header", "--format", "json"))["data"]["rows"] == N - 1  # type: ignore[index]


def test_learning_points_out_columns_that_were_probably_not_measured(tmp_path: Path) -> None:
    path = write(tmp_path, BASE | {"nr": list(range(N)), "age": every(AGE, 15, -9)})
    done = run_apart("learn", path)
    assert done.err == (
        "lmarvel: 'nr' looks like row numbers, ids or dates (--drop nr); -9 in 'age' looks like a missing value"
        " (--na age=-9); 'lmarvel describe' shows more\n"
    )
    assert run_apart("learn", path, "--drop", "nr", "--na", "age=-9").err == ""


def test_the_columns_to_drop_are_named_as_they_can_be_typed(tmp_path: Path) -> None:
    path = write(tmp_path, BASE | {"nr, old": list(range(N)), "nr": [7 * row % N for row in range(N)]})
    told = run_apart("learn", path).err
    options = re.search(r"dates \((.*?)\);", told)
    assert options is not None, told
    words = shlex.split(options[1])
    assert words == ["--drop", "nr, old", "--drop", "nr"]
    assert run_apart("learn", path, *words).err == ""
    unknown = run_apart("learn", path, "--drop", "number, old")
    assert (unknown.code, unknown.err.count("\n")) == (2, 1)
    assert "--drop names 'number', but the table has no such column" in unknown.err


def test_a_table_that_there_was_no_time_to_read_is_not_read_to_point_out_columns(tmp_path: Path) -> None:
    path = write(tmp_path, BASE | {"nr": list(range(N))})
    assert "'nr' looks like row numbers" in run_apart("learn", path).err
    late = run_apart("learn", path, "--max-seconds", "1e-9")
    assert late.code == 3
    assert "'nr'" not in late.err


# --- many columns -----------------------------------------------------------------------------------------


def test_columns_that_are_too_many_to_compare_are_described_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their correlations would take gigabytes, and which of them others determine many minutes."""
    rng = np.random.default_rng(0)
    rows = {f"V{i}": rng.normal(size=30) for i in range(6)} | {"empty": np.full(30, np.nan)}
    write_csv(tmp_path / "table.csv", rows | {"copy": rows["V0"]})
    assert "copy of 'V0'" in run("describe", tmp_path / "table.csv").out
    for module in ("lmarvel.data.checks", "lmarvel.data.profile", "lmarvel.cli.tables"):
        monkeypatch.setattr(sys.modules[module], "MOST_COMPARED", 6)
    done = run("describe", tmp_path / "table.csv")
    assert "copy of" not in done.out
    assert "8 columns are too many to compare here: copies, and columns that others determine" in done.out
    assert "the command was not tried" in done.out
    assert "--drop empty" in done.out
    plain = json.loads(run("describe", tmp_path / "table.csv", "--json").out)
    assert plain["unexamined"].startswith("8 columns are too many")


def test_a_command_is_not_tried_where_categories_make_too_many_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    write_csv(tmp_path / "table.csv", {f"V{i}": rng.choice(list("abcd"), size=60) for i in range(3)})
    assert "was not tried" not in run("describe", tmp_path / "table.csv").out
    monkeypatch.setattr(sys.modules["lmarvel.cli.tables"], "MOST_COMPARED", 8)
    done = run("describe", tmp_path / "table.csv")
    assert "the command was not tried: with indicators of categories the table has 9 columns" in done.out
    assert "lmarvel learn" in done.out
