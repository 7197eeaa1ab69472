"""Repeated measures: lagged columns, tiers, units as clusters, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, Auto, DataError, Dataset, Discovery, Knowledge, LMarvel
from lmarvel.effects import effect
from lmarvel.result.file.reading import read_as_before

UNITS, TIMES = 80, 6


def panel(seed: int = 0) -> dict[str, list[Any]]:
    """Return a table in which x has an effect on itself and, one step later, on y; units differ in sex."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(UNITS):
        x, y = rng.normal(size=2)
        for year in range(TIMES):
            x, y = 0.5 * x + rng.normal(), 0.4 * y + 0.8 * x + rng.normal()
            rows.append((f"p{unit}", 2001 + year, "mf"[unit % 2], x, y))
    return dict(zip(("id", "year", "sex", "x", "y"), map(list, zip(*rows, strict=True)), strict=True))


def moved(table: dict[str, list[Any]], order: Any) -> dict[str, list[Any]]:
    return {name: [values[i] for i in order] for name, values in table.items()}


def test_rows_have_the_columns_of_their_time_and_of_the_time_before() -> None:
    table = panel()
    data = Dataset.of(table, panel="id,year")
    assert data.names == ("sex", "x", "x_lag1", "y", "y_lag1")  # sex never changes, and has no lag
    assert data.n == UNITS * (TIMES - 1)
    later = [i for i, year in enumerate(table["year"]) if year > 2001]
    rows = data.rows()
    np.testing.assert_array_equal(rows[:, 1], [table["x"][i] for i in later])
    np.testing.assert_array_equal(rows[:, 2], [table["x"][i - 1] for i in later])
    assert data.tiers == (("sex", "x_lag1", "y_lag1"), ("x", "y"))
    assert data.clusters is not None
    assert np.bincount(data.clusters).tolist() == [TIMES - 1] * UNITS
    assert data.said()["panel"] == "id, year: 1 step back, 80 of 480 rows without the earlier time left out"


def test_the_order_of_the_rows_does_not_matter() -> None:
    table = panel()
    plain = Dataset.of(table, panel=("id", "year"))
    shuffled = Dataset.of(moved(table, np.random.default_rng(1).permutation(480)), panel=("id", "year"))
    np.testing.assert_array_equal(np.sort(plain.rows(), axis=0), np.sort(shuffled.rows(), axis=0))
    assert LMarvel().fit(plain).pag_ == LMarvel().fit(shuffled).pag_


def test_two_lags_and_a_gap() -> None:
    table = panel()
    assert Dataset.of(table, panel="id,year,2").n == UNITS * (TIMES - 2)
    assert Dataset.of(table, panel="id,year,2").tiers[:2] == (("sex", "x_lag2", "y_lag2"), ("x_lag1", "y_lag1"))
    without = moved(table, [i for i in range(480) if i != 3])  # the fourth year of the first unit
    assert Dataset.of(without, panel="id,year").n == UNITS * (TIMES - 1) - 2  # that row, and the one after it


@pytest.mark.parametrize(
    ("times", "rows"),
    [
        (["2001-01-01", "2001-02-01", "2001-03-01", "2001-04-01", "2001-05-01", "2001-06-01"], 5),
        ([2001, 2003, 2005, 2007, 2009, 2011], 5),
        ([2001, 2002, 2003, 2005, 2006, 2007], 4),  # 2004 is in no unit
        ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], 5),
    ],
)
def test_times_are_dates_or_numbers_with_the_smallest_step(times: list[Any], rows: int) -> None:
    table = panel() | {"year": times * UNITS}
    assert Dataset.of(table, panel="id,year").n == UNITS * rows


@pytest.mark.parametrize("method", [Auto, LMarvel, FCI])
def test_what_is_later_causes_nothing_earlier(method: Any, tmp_path: Path) -> None:
    found = method().fit(panel(), panel="id,year").result_
    assert found.knowledge.tiers == (("sex", "x_lag1", "y_lag1"), ("x", "y"))
    assert "x_lag1" in found.pag.adjacent("x")
    for early in ("x_lag1", "y_lag1"):
        assert not found.pag.parents(early) & {"x", "y"}
    assert "The panel assumes that no effect reaches back beyond its lags" in str(found.verdict)
    found.save(tmp_path / "r.json")
    again = Discovery.load(tmp_path / "r.json")
    assert again.verdict.panel
    assert again.data["reading"] == {"panel": "id,year"}


def test_a_result_reads_the_table_as_it_was_learned_from() -> None:
    found = LMarvel().fit(panel(), panel="id,year").result_
    again = read_as_before(panel(), found.data, found.pag.names)
    assert again.names == found.pag.names
    assert again.fingerprint == found.data["fingerprint"]
    some = read_as_before(panel() | {"note": ["7", "seven"] * 240}, found.data, ["x", "x_lag1"])
    assert some.names == ("x", "x_lag1")
    assert "x_lag1" in str(effect(found, "x_lag1", "x", panel()))


def test_kinds_weights_and_tiers_of_ones_own_hold_for_lags_too() -> None:
    rng = np.random.default_rng(2)
    table = panel() | {"mood": rng.integers(0, 3, 480).tolist(), "w": rng.uniform(1, 2, 480).tolist()}
    data = Dataset.of(table, panel="id,year", categorical=["mood"], weights="w", drop=["sex"])
    assert [str(kind) for kind in data.kinds].count("nominal") == 2
    assert "w" not in data.names
    assert data.weights is not None
    assert len(data.weights) == data.n
    own = Knowledge(tiers=[["x", "x_lag1"], ["y", "y_lag1"]])
    found = LMarvel(knowledge=own).fit(table, panel="id,year").result_
    assert found.known.never[found.pag.index("x"), found.pag.index("y_lag1")]
    assert len(found.knowledge.more_tiers) == 1
    assert found.knowledge.tiers == own.tiers


REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "a row twice": ({"year": [2001, 2001, *range(2003, 2007)] * UNITS}, "id,year", "2001.*one row per unit and time"),
    "words as times": ({"year": ["first", "b", "c", "d", "e", "f"] * UNITS}, "id,year", "neither numbers nor dates"),
    "one time": ({"year": [2001] * 480}, "id,year", "same time|one row per unit and time"),
    "times that nobody shares": ({"year": (np.arange(480) ** 2).tolist()}, "id,year", "so few"),
    "a missing unit": ({"id": [None, *["a"] * 479]}, "id,year", "'id' has 1 missing value"),
    "an unknown column": ({}, "person,year", "'person'"),
    "one column": ({}, "id", "must be two columns"),
    "no lag": ({}, "id,year,0", "must be two columns"),
    "a name that is taken": ({"x_lag1": [0.5] * 480}, "id,year", "'x_lag1' already"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_panel_is_refused_because_of(case: str) -> None:
    more, said, message = REFUSED[case]
    with pytest.raises(DataError, match=message):
        Dataset.of(panel() | more, panel=said).read()


def test_the_units_are_the_clusters() -> None:
    with pytest.raises(DataError, match="leave cluster out"):
        Dataset.of(panel(), panel="id,year", cluster="id")
