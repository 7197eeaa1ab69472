"""Several methods on one table: what they hand on loads back."""

import json

import numpy as np
import pytest

from lmarvel import FCI, RFCI, DataError, ParameterError
from lmarvel.datasets import CARS
from lmarvel.estimators import METHODS
from lmarvel.estimators.compare import compare
from lmarvel.result.discovery import Discovery


@pytest.fixture(scope="module")
def compared():
    return compare(CARS)


@pytest.mark.parametrize("name", METHODS)
def test_each_result_loads_back_equal(compared, name):
    entry = json.loads(json.dumps(compared.to_dict()))["methods"][name]
    found = compared.results[name]
    loaded = Discovery.from_dict(entry["result"])
    assert loaded.pag == found.pag
    assert loaded.trace == found.trace
    assert loaded.to_dict() == found.to_dict()
    assert entry["bic"] == compared.bic[name]
    assert entry["n_tests"] == found.stats.n_tests
    assert (found.stats.n_tests > 0) is (name != "lift")  # which scores curves, and needs no boundaries for that
    assert entry["legal"] == (found.why_illegal is None)


def test_a_result_that_a_budget_cut_short_is_neither_legal_nor_illegal():
    entry = compare(CARS, ["fci"], max_tests=1).to_dict()["methods"]["fci"]
    assert entry["legal"] is None
    assert entry["bic"] is None
    assert Discovery.from_dict(entry["result"]).undecided


def with_categories(rows=300):
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "green", "blue"], rows)
    size = rng.normal(size=rows) + (colour == "red")
    return {"colour": colour, "size": size, "price": size + rng.normal(size=rows)}


def test_a_method_that_cannot_take_the_table_is_skipped_and_says_why():
    compared = compare(with_categories(), ["lmarvel", "m3hc", "fci"])
    assert list(compared.results) == ["lmarvel", "fci"]
    assert list(compared.skipped) == ["m3hc"]
    assert "'colour' has categories" in compared.skipped["m3hc"]
    assert compared.to_dict()["skipped"] == dict(compared.skipped)
    assert all(len(edges) == 2 for _, edges in compared.differences())


def test_a_table_that_no_method_can_take_is_refused(monkeypatch):
    with pytest.raises(DataError, match=r"^this method scores numbers, and 'colour' has categories"):
        compare(with_categories(), ["m3hc"])

    def refuse(*_args, **_more):
        raise DataError("there are too few rows")

    for method in (FCI, RFCI):
        monkeypatch.setattr(method, "fit", refuse)
    told = r"^no method can take this table: fci, rfci: there are too few rows; m3hc: this method scores numbers"
    with pytest.raises(DataError, match=told):
        compare(with_categories(), ["fci", "m3hc", "rfci"])
    with pytest.raises(DataError, match="constant"):
        compare({"a": [1.0, 2.0, 4.0, 3.0, 9.0], "b": [1.0] * 5, "c": [2.0, 1.0, 1.5, 7.0, 3.0]})


def test_a_wrong_parameter_is_no_matter_of_the_table():
    with pytest.raises(ParameterError, match="alpha"):
        compare(with_categories(), ["lmarvel", "m3hc"], alpha=7)
