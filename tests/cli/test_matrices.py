"""Covariance and correlation matrices on the command line: every command that reads a table reads them, too."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import run

N = 2000
RNG = np.random.default_rng(0)
A, B, E, F = RNG.normal(size=(4, N))
TABLE = pd.DataFrame({"A": A, "B": B, "X": A + B + E, "Y": 0.5 * (A + B + E) + F})
EDGES = ["A o-> X", "B o-> X", "X --> Y"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    TABLE.cov().to_csv(tmp_path / "cov.csv")
    TABLE.corr().to_csv(tmp_path / "cor.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(("file", "kind"), [("cov.csv", "--covariance"), ("cor.csv", "--correlation")])
def test_commands_read_a_matrix(folder: Path, file: str, kind: str) -> None:
    path, said, result = folder / file, [kind, "--rows", str(N)], folder / "result.json"
    learned = run("learn", path, *said, "--output", result, "--format", "edges")
    assert (learned.code, learned.out.splitlines()[1:]) == (0, EDGES)
    effect = run("effect", result, path, "X", "Y", *said, "--format", "json")
    expected = 0.508 if kind == "--covariance" else 0.645
    assert json.loads(effect.out)["estimates"][0]["value"] == pytest.approx(expected, abs=1e-3)
    assert "reject 0 of 3" in run("check", result, path, *said).out
    assert run("report", result, folder / "report.html", "--data", path, *said).code == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert "All methods give the same PAG" in run("compare", path, *said).out
    drawn = run("learn", path, *said, "--bootstrap", "10", "--format", "json")
    assert json.loads(drawn.out)["stability"]["replicates"] == 10


def test_describe_shows_a_matrix_and_the_command(folder: Path) -> None:
    said = ["--covariance", "--rows", str(N)]
    shown = run("describe", folder / "cov.csv", *said)
    assert shown.out.startswith("cov.csv: matrix of 4 columns from 2,000 rows\n")
    assert "0.64 with X" in shown.out
    plain = json.loads(run("describe", folder / "cov.csv", *said, "--json").out)
    assert (plain["rows"], [column["name"] for column in plain["columns"]]) == (N, list("ABXY"))


def test_columns_that_are_left_out_may_be_wrong(folder: Path) -> None:
    wide = TABLE.assign(S=TABLE["A"] + TABLE["B"]).cov()
    wide.to_csv(folder / "wide.csv")
    refused = run("learn", folder / "wide.csv", "--covariance", "--rows", str(N))
    assert (refused.code, "the column 'S' is determined by 'A', 'B'" in refused.err) == (2, True)
    learned = run("learn", folder / "wide.csv", "--covariance", "--rows", str(N), "--drop", "S", "--format", "edges")
    assert learned.out.splitlines()[1:] == EDGES
    some = run("learn", folder / "cov.csv", "--covariance", "--rows", str(N), "--columns", "A,X", "--format", "edges")
    assert some.out.splitlines() == ["nodes: A X", "A o-o X"]


REFUSED = {
    "cov.csv --covariance": "--rows is missing: give the number of rows that the matrix was computed from",
    "cov.csv --covariance --rows 3": "--rows must be above 4, the number of columns, not 3",
    "cov.csv --covariance --rows 2.5": "'--rows'",
    "cov.csv": "this is a covariance matrix, not a table with one row per observation",
    "cor.csv": "--correlation --rows N",
    "cov.csv --correlation --rows 99": "here it is 2.88862 at 'X': use --covariance",
    "table.csv --covariance --rows 99": "this has 2,000 rows and 4 columns: leave --covariance",
    "table.csv --rows 99": "--rows belongs to --covariance or --correlation: add one",
    "cov.csv --covariance --correlation --rows 99": "--covariance and --correlation exclude each other",
    "cov.csv --covariance --rows 99 --weights A": "--weights needs the rows of a table, and a matrix has none",
    "cov.csv --covariance --rows 99 --drop Q": "--drop names 'Q'",
}


@pytest.mark.filterwarnings("ignore:cov.csv")
@pytest.mark.parametrize(("words", "says"), REFUSED.items())
def test_what_does_not_fit_together_is_refused(folder: Path, words: str, says: str) -> None:
    file, *options = words.split()
    refused = run("learn", folder / file, *options)
    assert (refused.code, refused.out) == (2, "")
    assert says in refused.err.splitlines()[-1]
