"""A table is read once in a command, and one that is too large to be kept as often as the manual says."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lmarvel.data import table
from lmarvel.data.sources import csv, csv_rows, csv_typed, parquet
from tests.cli.running import confounded, run


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count how often a text file is opened, its columns are parsed, and rows of a Parquet file are asked for."""
    counted: Counter[str] = Counter()
    ask = parquet._Reader.ask

    def counting(name: str, of: Any) -> Any:
        def call(*given: Any) -> Any:
            counted[name] += 1
            return of(*given)

        return call

    def asked(reader: Any, path: Path, kind: str, what: str, *more: Any) -> None:
        counted[what] += 1
        ask(reader, path, kind, what, *more)

    monkeypatch.setattr(csv_rows, "_open", counting("open", csv_rows._open))
    monkeypatch.setattr(csv, "pieces", counting("rows", csv.pieces))
    monkeypatch.setattr(csv_typed, "pieces", counting("load", csv_typed.pieces))
    monkeypatch.setattr(csv, "check_text", counting("check", csv.check_text))
    monkeypatch.setattr(parquet._Reader, "ask", asked)
    return counted


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    columns = pl.DataFrame({name: values[:300] for name, values in confounded().items()})
    weights, groups = pl.Series("w", rng.uniform(1, 2, 300)), pl.Series("g", [f"g{i % 20}" for i in range(300)])
    levels = pl.Series("sex", np.where(columns["A"] > 0, "f", "m"))
    gaps = columns["B"].scatter([7, 70], None).alias("gaps")
    return columns.with_columns(weights, groups, levels, gaps)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    whole = frame()
    numbers = whole.select("A", "B", "C", "D")
    numbers.write_csv(tmp_path / "numbers.csv")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress((tmp_path / "numbers.csv").read_bytes()))
    numbers.write_parquet(tmp_path / "numbers.parquet")
    whole.select("A", "B", "C", "sex").write_csv(tmp_path / "levels.csv")
    whole.select("A", "B", "C", "sex").write_parquet(tmp_path / "levels.parquet")
    whole.select("A", "C", "D", "gaps").write_csv(tmp_path / "gaps.csv")
    whole.select("A", "B", "C", "D", "w", "g").write_csv(tmp_path / "survey.csv")
    assert run("learn", tmp_path / "numbers.csv", "-o", tmp_path / "result.json").code == 0
    return tmp_path


COMMANDS = {
    "learn": "learn numbers.csv --report r.html -o x.json",
    "lift": "learn numbers.csv --method lift --report r.html",
    "packed": "learn packed.csv.gz --report r.html",
    "bootstrap": "learn numbers.csv --bootstrap 3 --report r.html",
    "lift bootstrap": "learn numbers.csv --method lift --bootstrap 2",
    "columns": "learn numbers.csv --columns A,B,C --report r.html",
    "test-wise": "learn gaps.csv --report r.html",
    "drop": "learn gaps.csv --missing drop --report r.html",
    "em": "learn gaps.csv --missing em --bootstrap 2",
    "describe": "describe numbers.csv",
    "describe gaps": "describe gaps.csv",
    "compare": "compare numbers.csv",
    "tune": "tune numbers.csv --method lmarvel --by stability --draws 2",
    "check": "check result.json numbers.csv",
    "effect": "effect result.json numbers.csv A B --bootstrap 5",
    "learned again": "effect result.json numbers.csv A B --learn-again 2",
    "report": "report result.json r.html --data numbers.csv",
}


def outcome(folder: Path, command: str) -> int:
    files = {path.name for path in folder.iterdir()} | {"r.html", "x.json"}
    return run(*(folder / word if word in files else word for word in command.split())).code


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_text_file_is_opened_once_and_read_once(folder: Path, count: Counter[str], command: str) -> None:
    count.clear()
    assert outcome(folder, command) == 0
    assert count == {"open": 1, "rows": 1}


@pytest.mark.parametrize("command", ["learn levels.csv --report r.html --bootstrap 2", "describe levels.csv"])
def test_text_is_read_once_where_the_numbers_end(folder: Path, count: Counter[str], command: str) -> None:
    count.clear()
    assert outcome(folder, command) == 0
    assert count == {"open": 1, "rows": 1, "load": 1}


def test_weights_and_clusters_are_parsed_once(folder: Path, count: Counter[str]) -> None:
    count.clear()
    assert outcome(folder, "learn survey.csv --weights w --cluster g --report r.html --bootstrap 2") == 0
    assert count == {"open": 1, "rows": 1, "load": 2}  # each of the two alone


def test_a_refusal_opens_the_file_once(folder: Path, count: Counter[str]) -> None:
    count.clear()
    assert outcome(folder, "learn gaps.csv --missing refuse") == 2
    assert count["open"] == 1


@pytest.mark.parametrize(("name", "what"), [("numbers", "rows"), ("levels", "load")])
@pytest.mark.parametrize("command", ["learn {} --report r.html --bootstrap 2", "describe {}"])
def test_a_parquet_file_is_read_once(folder: Path, count: Counter[str], command: str, name: str, what: str) -> None:
    count.clear()
    assert outcome(folder, command.format(f"{name}.parquet")) == 0
    assert count == {"header": 1, what: 1}


LARGE = {
    "learn numbers.csv -o x.json": 1,
    "compare numbers.csv": 1,
    "check result.json numbers.csv": 1,
    "learn numbers.csv --report r.html": 2,  # estimates of effects need rows
    "learn numbers.csv --bootstrap 3": 2,
    "learn numbers.csv --bootstrap 3 --report r.html": 3,
    "learn gaps.csv --missing drop": 2,
    "learn gaps.csv --missing em": 2,
    "describe numbers.csv": 2,
}


@pytest.mark.parametrize(("command", "passes"), LARGE.items())
def test_a_file_that_is_not_kept_is_read_as_often_as_the_manual_says(
    folder: Path, count: Counter[str], monkeypatch: pytest.MonkeyPatch, command: str, passes: int
) -> None:
    monkeypatch.setattr(csv_rows, "HELD", 0)
    monkeypatch.setattr(table, "KEPT", 0)
    count.clear()
    assert outcome(folder, command) == 0
    assert count == {"open": 1 + passes, "rows": passes}  # the header, and the rows
