"""Boundary searches by the engine and by the readable code: the same sets, tests, rounds, and ends of budgets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import FCI, FisherZ, LMarvel, Moments
from lmarvel.ci.boundary_searches import flat_boundaries, markov_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.engine.boundaries import SEARCHES, search_boundaries
from lmarvel.engine.run import CANCEL, Cancel, is_built
from lmarvel.errors import BudgetSpent
from tests.effort import examples
from tests.engine.test_equal import tables
from tests.engine.twins import Readable, moments, population

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")


def outcome(test: FisherZ, method: str, alpha: float, union: bool, **budgets: Any) -> tuple[Any, ...]:
    """Return all that a search leaves behind: what was found or why not, the tests by size, and what was asked."""
    ledger = Ledger(test, **budgets)
    try:
        found = markov_boundaries(ledger, method, alpha, union)
        told: Any = (found.sets, dict(found.truncated), found.method, found.level)
    except BudgetSpent as spent:
        told = str(spent)
    asked = sorted((x, y, sorted(s)) for x, y, s in ledger.memory.asked())
    return told, ledger.meter.tests_by_size(), asked


def assert_twins(table: Moments, method: str, alpha: float, union: bool = False, **budgets: Any) -> tuple[Any, ...]:
    quick = outcome(FisherZ(table), method, alpha, union, **budgets)
    assert quick == outcome(Readable(table), method, alpha, union, **budgets)
    return quick


@examples(60)
@given(st.data())
def test_the_engine_finds_counts_and_asks_the_same(data: st.DataObject) -> None:
    table = data.draw(tables(most=14))
    budgets = {
        "max_conditioning": data.draw(st.sampled_from([None, None, 0, 1, 2, 5])),
        "max_tests": data.draw(st.sampled_from([None, None, 0, 7, 40, 200])),
    }
    method, alpha = data.draw(st.sampled_from(SEARCHES)), data.draw(st.sampled_from([0.0005, 0.01, 0.2, 0.6]))
    assert_twins(table, method, alpha, data.draw(st.booleans()), **budgets)


@pytest.mark.parametrize("method", SEARCHES)
def test_every_budget_of_tests_ends_both_at_the_same_test(method: str) -> None:
    rng = np.random.default_rng(8)
    table = moments(rng, population(rng, 6, 2, 1, 3.0, True), 150, exact=False)
    whole = sum(assert_twins(table, method, 0.1)[1].values())
    ends = [assert_twins(table, method, 0.1, max_tests=k)[0] for k in range(whole)]
    assert ends[0] == "max_tests=0 is used up, with the boundaries of 0 of 6 variables found"
    assert all(isinstance(end, str) for end in ends)
    assert not isinstance(assert_twins(table, method, 0.1, max_tests=whole)[0], str)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_target_that_its_members_all_but_determine_is_tested_member_by_member(method: str) -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(400, 5))
    rows[:, 4] = rows[:, 0] + rows[:, 1] + 1e-4 * rng.normal(size=400)
    table = FisherZ(rows).moments
    told = assert_twins(table, method, 0.01)[0]
    assert {0, 1} <= told[0][4]


def test_what_the_engine_cannot_do_is_left_to_the_readable_code() -> None:
    table = moments(np.random.default_rng(0), np.eye(3), 50, exact=False)
    assert flat_boundaries(Ledger(Readable(table)), "iamb", 0.01) is None
    assert flat_boundaries(Ledger(FisherZ(table)), "tc", 0.01) is None


def test_a_method_that_goes_on_in_python_does_not_count_a_test_twice() -> None:
    rng = np.random.default_rng(5)
    table = moments(rng, population(rng, 8, 2, 0, 2.5, False), 400, exact=False)
    quick, slow = (FCI(test=test(table), boundary="iamb").fit().result_ for test in (FisherZ, Readable))
    assert (quick.pag, quick.stats.tests, quick.sepsets) == (slow.pag, slow.stats.tests, slow.sepsets)


def test_seconds_that_are_used_up_end_it() -> None:
    table = moments(np.random.default_rng(1), np.eye(4), 50, exact=False)
    ledger = Ledger(FisherZ(table), max_seconds=1e-9)
    with pytest.raises(BudgetSpent, match="max_seconds is used up, with the boundaries of 0 of 4 variables found"):
        markov_boundaries(ledger, "iamb", 0.01)
    found = LMarvel(test=FisherZ(table), boundary="iamb", max_seconds=1e-9).fit().result_
    assert found.nothing_learned


def test_seconds_end_it_also_where_members_determine_the_target() -> None:
    rows = np.random.default_rng(4).normal(size=(300, 500))  # at this level sets grow until no row is left
    test, started = FisherZ(rows), time.process_time()
    with pytest.raises(BudgetSpent, match="max_seconds is used up"):
        markov_boundaries(Ledger(test, max_seconds=0.2), "iamb", 0.9)
    assert time.process_time() - started < 3.0


@pytest.mark.parametrize(
    "changes",
    [
        {"correlation": np.eye(3)[:2]},
        {"correlation": np.empty((0, 0))},
        {"n": 3},
        {"most": 47},
        {"most": -1},
        {"max_tests": -1},
        {"tests": -1},
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    task = {"correlation": np.eye(3), "n": 50, "quantile": 2.0, "search": "iamb", "most": 3, "max_tests": None}
    with pytest.raises(ValueError, match=r"square|rows|tests"):
        search_boundaries(**{**task, "tests": 0, "seconds": np.inf, **changes})


def test_a_flag_ends_it() -> None:
    stop = Cancel()
    stop.set()
    token = CANCEL.set(stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            search_boundaries(np.eye(200), 50, 2.0, "iamb", 40, None, 0, np.inf)
    finally:
        CANCEL.reset(token)
