"""How the table of a result was read: what is kept, what is taken over in Python, and what is refused in a file."""

from __future__ import annotations

import json
import pickle
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import Dataset, Discovery, LMarvel, LMarvelWarning, effect
from lmarvel.data.opening import plain_options
from lmarvel.errors import ResultError
from lmarvel.estimators.check import checked_on
from lmarvel.report import write_report
from lmarvel.result.file.parts import sealed
from lmarvel.result.file.reading import checked_reading, read_as_before, still_to_say


def table(rows: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    a, b, e, f = rng.normal(size=(4, rows))
    x = a + b + e
    holes = np.where(np.arange(rows) % 30 == 0, np.nan, x)
    return {"A": a, "B": b, "X": holes, "Y": 0.5 * x + f, "w": rng.uniform(0.5, 2, rows)}


@pytest.fixture
def found() -> Discovery:
    return LMarvel(selection=False).fit(table(), missing="drop", weights="w").result_


def test_a_result_and_its_file_know_what_was_said(found: Discovery, tmp_path: Path) -> None:
    assert found.data is not None
    assert found.data["reading"] == {"missing": "drop", "weights": "w"}
    found.save(tmp_path / "result.json")
    assert Discovery.load(tmp_path / "result.json") == found


def test_python_functions_take_it_over(found: Discovery, tmp_path: Path) -> None:
    same = Dataset.of(table(), missing="drop", weights="w")
    assert found.effect("X", "Y", table()) == found.effect("X", "Y", same) == effect(found, "X", "Y", table())
    assert checked_on(found, table()) == found.check
    for name, data in (("plain.html", table()), ("said.html", same)):
        write_report(found, tmp_path / name, title="x", data=data)
    assert (tmp_path / "plain.html").read_text() == (tmp_path / "said.html").read_text()


def test_what_the_caller_says_comes_first(found: Discovery) -> None:
    ones = np.ones(300)
    given = read_as_before(Dataset.of(table(), weights=ones), found.data, found.pag.names)
    assert set(np.asarray(given.weights).tolist()) == {1.0}
    assert given.dropped == 10
    assert read_as_before(Dataset.of(table(), missing="em"), found.data, found.pag.names).dropped == 0


def test_weights_that_are_not_there_are_left_out_with_a_warning(found: Discovery) -> None:
    without = {name: column for name, column in table().items() if name != "w"}
    with pytest.warns(LMarvelWarning, match="weights from column w, which this table does not have"):
        assert read_as_before(without, found.data, found.pag.names).weights is None


def test_names_are_for_arrays_only() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 3))
    found = LMarvel().fit(rows, names=["a", "b", "c"]).result_
    assert checked_on(found, rows) == found.check
    turned = {"c": rows[:, 2], "a": rows[:, 0], "b": rows[:, 1]}
    assert read_as_before(turned, found.data, found.pag.names).names == ("c", "a", "b")


def test_arrays_of_weights_and_clusters_are_not_kept() -> None:
    data = Dataset.of(table(), missing="drop", weights=np.ones(300), cluster=["u", "v"] * 150)
    assert dict(data.read_as) == {"missing": "drop"}
    assert set(data.was_said) == {"missing", "weights", "cluster"}
    assert dict(pickle.loads(pickle.dumps(data)).read_as) == {"missing": "drop"}


def test_moments_have_nothing_to_be_read(found: Discovery) -> None:
    moments = Dataset.of(table(), missing="drop", columns=["A", "B", "X", "Y"]).moments
    for data in (moments, Dataset.of(moments)):
        assert checked_on(found, data).implied


def test_a_file_without_it_loads_as_before(found: Discovery) -> None:
    plain = found.to_dict()
    del plain["data"]["reading"], plain["checksum"]
    old = Discovery.from_dict(sealed(plain))
    assert old.data is not None
    assert "reading" not in old.data
    assert "imputations" in old.effect("X", "Y", table()).estimates[0].method
    assert "imputations" not in found.effect("X", "Y", table()).estimates[0].method


@pytest.mark.parametrize(
    "said",
    [
        {"columns": "ABY"},
        {"drop": "X"},
        {"columns": ("A", "B", "w"), "categorical": ["w"]},
        {"columns": ["A", "G"], "ordinal": {"G": (1, 2.0, np.int64(3))}},
        {"columns": ["A", "G"], "ordinal": "G"},
        {"columns": ["A", "D"], "ordinal": {"D": [date(2020, 1, 1), date(2021, 1, 1)]}},
        {"missing": "em", "numeric_only": True, "columns": ["A", "B", "X"]},
        {"drop": ["X"], "decimal": ".", "separator": ","},
    ],
)
def test_whatever_can_be_said_can_be_loaded_and_taken_over(said: dict[str, Any]) -> None:
    data = {**table(), "G": np.arange(300) % 3 + 1, "D": ["2020-01-01", "2021-01-01", "2021-01-01"] * 100}
    data["w"] = np.arange(300) % 4
    found = LMarvel().fit(Dataset.of(data, **said)).result_
    loaded = Discovery.from_dict(json.loads(found.to_json()))
    assert loaded.data == found.data
    assert read_as_before(data, loaded.data, found.pag.names).fingerprint == dict(found.data or {})["fingerprint"]


def test_what_is_not_the_default_is_kept_even_if_it_is_false() -> None:
    def opened(data: object, header: bool | None = None, skip_rows: int | None = None, quick: bool = False) -> None:
        """Stand for a function with such options."""

    assert plain_options({"header": False, "skip_rows": 0, "quick": False}, opened) == {"header": False, "skip_rows": 0}


@pytest.mark.parametrize(
    "reading",
    [
        ["missing", "drop"],
        {"missing": "perhaps"},
        {"missing": None},
        {"weights": 3},
        {"weights": ["w"]},
        {"cluster": {"a": 1}},
        {"categorical": 3},
        {"categorical": [["A"]]},
        {"ordinal": {"A": "abc"}},
        {"ordinal": {"A": [["x"]]}},
        {"ordinal": {"A": [float("nan")]}},
        {"separator": 1},
        {"numeric_only": "yes"},
        {"columns": "A"},
        {"names": [1]},
        {"of another version": {"deep": {"er": 1}}},
        {"weights": "\ud800"},
    ],
)
def test_what_cannot_have_been_said_is_refused(found: Discovery, reading: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot be read with|by name are needed"):
        checked_reading(reading)
    plain = found.to_dict()
    plain["data"]["reading"] = reading
    del plain["checksum"]
    with pytest.raises(ResultError, match="'data' makes no sense"):
        Discovery.from_dict(sealed(plain))


def test_an_option_of_another_version_is_passed_over(found: Discovery) -> None:
    assert found.data is not None
    before = {"reading": {**found.data["reading"], "colour": "red"}}
    assert checked_reading(before["reading"])["colour"] == "red"
    assert set(still_to_say(before, {}, table())) == {"missing", "weights"}
