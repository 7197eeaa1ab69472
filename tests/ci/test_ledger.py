"""The ledger: each distinct test is counted once, answers are those of a search without memory, budgets hold."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, MSeparation, ParameterError, SepsetQuery
from lmarvel.ci.boundaries import total_conditioning
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.search import readable_search
from lmarvel.errors import BudgetSpent
from tests.effort import examples

N = 6
PVALUES = (0.0, 0.001, 0.3, 0.9)
ALPHAS = (0.01, 0.8)


class Table:
    """A test whose p-values are any function of the question; it writes down what it was asked."""

    names = tuple("ABCDEF")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.asked: list[tuple[int, int, frozenset[int]]] = []

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        question = (min(x, y), max(x, y), frozenset(given))
        self.asked.append(question)
        code = sum(1 << v for v in (x, y)) << N | sum(1 << v for v in given)
        return random.Random(self.seed << 2 * N | code).choices(PVALUES, (11, 4, 3, 2))[0]


class Request(NamedTuple):
    """A search through the ledger, or a single test (``always`` then is its conditioning set, and the pool None)."""

    x: int
    y: int
    pool: tuple[int, ...] | None
    always: tuple[int, ...]
    alpha: float
    max_size: int | None
    min_size: int


@st.composite
def requests(draw: st.DrawFn) -> Request:
    # Few pairs, so that they come again.
    x, y = draw(st.sampled_from([(0, 1), (1, 0), (2, 3)]))
    rest = sorted(set(range(N)) - {x, y})
    always = tuple(sorted(draw(st.sets(st.sampled_from(rest), max_size=2))))
    if draw(st.integers(0, 4)) == 0:
        return Request(x, y, None, always, 0.01, None, 0)
    pool = tuple(sorted(draw(st.sets(st.sampled_from(rest))) - set(always)))
    sizes = draw(st.none() | st.integers(-1, 4)), draw(st.sampled_from([0, 0, 0, 1, 2]))
    return Request(x, y, pool, always, draw(st.sampled_from(ALPHAS)), *sizes)


def ask(ledger: Ledger, r: Request) -> tuple[frozenset[int] | None, float | None]:
    """Return the separating set and its p-value, or for a single test its p-value."""
    if r.pool is None:
        return None, ledger.pvalue("update", r.x, r.y, r.always)
    answer = ledger.find_sepset("adjacency", r.x, r.y, r.pool, r.alpha, r.always, r.max_size, r.min_size)
    assert answer.complete
    return answer.sepset, None if answer.sepset is None else answer.pvalue


def ask_without_memory(test: Table, r: Request) -> tuple[frozenset[int] | None, float | None]:
    if r.pool is None:
        return None, test.pvalue(r.x, r.y, r.always)
    query = SepsetQuery(r.x, r.y, r.pool, r.always, r.max_size, r.alpha, min_size=r.min_size)
    answer = readable_search(test, query)
    return answer.sepset, None if answer.sepset is None else answer.pvalue


# --- counting and memory ----------------------------------------------------------------------------------


@examples(100)
@given(st.lists(requests(), min_size=1, max_size=12), st.integers(0, 10_000))
def test_answers_are_those_without_memory_and_each_question_counts_once(rs: list[Request], seed: int) -> None:
    test = Table(seed)
    ledger = Ledger(test)
    for r in rs:
        assert ask(ledger, r) == ask_without_memory(Table(seed), r)
    assert set(Counter(test.asked).values()) <= {1}
    assert ledger.meter.n_tests == len(test.asked)
    assert ledger.meter.tests_by_size() == dict(sorted(Counter(len(z) for *_, z in test.asked).items()))


@examples(60)
@given(st.lists(requests(), min_size=1, max_size=12), st.integers(0, 10_000), st.integers(0, 40))
def test_max_tests_holds_and_ends_a_search_only_when_used_up(rs: list[Request], seed: int, limit: int) -> None:
    test = Table(seed)
    ledger = Ledger(test, max_tests=limit)
    try:
        for r in rs:
            assert ask(ledger, r) == ask_without_memory(Table(seed), r)
    except BudgetSpent:
        assert ledger.meter.n_tests == limit
    assert ledger.meter.n_tests == len(test.asked) <= limit


def test_a_test_that_is_known_costs_nothing() -> None:
    ledger = Ledger(Table(0), max_tests=1)
    first = ledger.pvalue("update", 0, 1, [3, 2])
    assert ledger.meter.n_tests == 1
    assert ledger.pvalue("update", 1, 0, [2, 3]) == first
    assert ledger.meter.n_tests == 1


def test_phases_are_counted_apart() -> None:
    ledger = Ledger(MSeparation(MAG.from_edges("A --> B", "B --> C")))
    ledger.pvalue("update", 0, 2, [])
    ledger.find_sepset("adjacency", 0, 2, [1], alpha=0.01)
    ledger.pvalue("removability", 0, 1, [2])
    assert ledger.meter.phases == ("adjacency", "removability", "update")
    assert ledger.meter.tests_by_size("update") == {0: 1}
    assert ledger.meter.tests_by_size("adjacency") == {1: 1}  # the empty set was asked before
    assert ledger.meter.tests_by_size() == {0: 1, 1: 2}
    assert ledger.meter.tests_by_size("completion") == {}


# --- after total conditioning -----------------------------------------------------------------------------


MAGS = {
    "chain": MAG.from_edges("A --> B", "B --> C", "C --> D"),
    "wheel": MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A", *(f"X --- {v}" for v in "ABCD")),
    "diamond": MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A", "B --- D"),
}


class OnePairAtATime:
    """The oracle without its way to test all pairs at once."""

    def __init__(self, mag: MAG) -> None:
        self.names, self.pvalue = mag.names, MSeparation(mag).pvalue


@pytest.mark.parametrize("mag", MAGS.values(), ids=MAGS)
def test_total_conditioning_is_counted_and_remembered_the_same_in_either_way(mag: MAG) -> None:
    at_once, one_by_one = Ledger(MSeparation(mag)), Ledger(OnePairAtATime(mag))
    assert total_conditioning(at_once, 0.01) == total_conditioning(one_by_one, 0.01)
    n = len(mag)
    assert at_once.meter.tests_by_size() == one_by_one.meter.tests_by_size() == {n - 2: n * (n - 1) // 2}


@pytest.mark.parametrize("test", [MSeparation, OnePairAtATime])
@pytest.mark.parametrize("mag", MAGS.values(), ids=MAGS)
def test_what_total_conditioning_separated_can_still_be_found_separated(mag: MAG, test: type) -> None:
    ledger = Ledger(test(mag))
    total_conditioning(ledger, 0.01)
    before = ledger.meter.n_tests
    for x in range(len(mag)):
        for y in range(x):
            rest = tuple(v for v in range(len(mag)) if v not in (x, y))
            found = ledger.find_sepset("adjacency", x, y, (), 0.01, always=rest).sepset
            assert found == (frozenset(rest) if mag.m_separated(x, y, rest) else None)
            assert ledger.pvalue("update", x, y, rest) == float(mag.m_separated(x, y, rest))
    assert ledger.meter.n_tests == before


# --- budgets ----------------------------------------------------------------------------------------------


def test_max_conditioning_limits_a_search_and_says_so() -> None:
    mag = MAG.from_edges("A --> C", "A --> D", "C --> B", "D --> B")
    ledger = Ledger(MSeparation(mag), max_conditioning=1)
    x, y, pool = mag.index("A"), mag.index("B"), (mag.index("C"), mag.index("D"))
    answer = ledger.find_sepset("adjacency", x, y, pool, alpha=0.01)
    assert (answer.sepset, answer.complete) == (None, False)
    assert ledger.meter.tests_by_size() == {0: 1, 1: 2}
    assert Ledger(MSeparation(mag)).find_sepset("adjacency", x, y, pool, alpha=0.01).sepset == set(pool)


def test_max_conditioning_counts_the_fixed_members() -> None:
    ledger = Ledger(Table(0), max_conditioning=1)
    answer = ledger.find_sepset("removability", 0, 1, (4,), alpha=0.99, always=(2, 3))
    assert (answer.sepset, answer.complete, ledger.meter.n_tests) == (None, False, 0)


def test_a_larger_limit_than_the_pool_is_no_limit() -> None:
    ledger = Ledger(Table(0), max_conditioning=4)
    assert ledger.find_sepset("adjacency", 0, 1, (2, 3, 4, 5), alpha=0.99).complete


def test_max_size_is_no_budget() -> None:
    assert Ledger(Table(0)).find_sepset("adjacency", 0, 1, (2, 3, 4), alpha=0.99, max_size=1).complete


def test_a_single_test_over_the_limit_raises() -> None:
    with pytest.raises(BudgetSpent, match="2"):
        Ledger(Table(0), max_conditioning=1).pvalue("update", 0, 1, [2, 3])


def test_max_seconds_ends_searches_and_single_tests() -> None:
    ledger = Ledger(Table(0), max_seconds=0.01)
    time.sleep(0.02)
    with pytest.raises(BudgetSpent, match="max_seconds"):
        ledger.pvalue("update", 0, 1, [2])
    with pytest.raises(BudgetSpent, match="max_seconds"):
        ledger.find_sepset("adjacency", 0, 1, (2, 3), alpha=0.01)
    assert ledger.meter.n_tests == 0


@pytest.mark.parametrize(
    "budget",
    [
        {"max_tests": -1},
        {"max_tests": 2.5},
        {"max_tests": True},
        {"max_conditioning": -1},
        {"max_conditioning": "3"},
        {"max_seconds": 0},
        {"max_seconds": -1.0},
        {"max_seconds": "1"},
        {"max_seconds": float("nan")},
    ],
)
def test_budgets_that_make_no_sense_are_refused(budget: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(budget))):
        Ledger(Table(0), **budget)
