"""Several methods on one table: what they hand on loads back."""

import json

import pytest

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
    assert entry["n_tests"] == found.stats.n_tests > 0
    assert entry["legal"] == (found.why_illegal is None)


def test_a_result_that_a_budget_cut_short_is_neither_legal_nor_illegal():
    entry = compare(CARS, ["fci"], max_tests=1).to_dict()["methods"]["fci"]
    assert entry["legal"] is None
    assert entry["bic"] is None
    assert Discovery.from_dict(entry["result"]).undecided
