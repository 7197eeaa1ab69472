"""The growing conditioning set: the incremental Gaussian one against single tests, and the guards of the searches."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import FisherZ, FunctionTest
from lmarvel.ci.boundary_searches import (
    CountedGrowth,
    every_boundary,
    fast_iamb,
    grow_shrink,
    iamb,
    inter_iamb,
    markov_boundaries,
    shrink,
)
from lmarvel.ci.fisher_z import pvalue_of
from lmarvel.ci.growth import Evidence, GaussianGrowth, Growth, PairwiseGrowth
from lmarvel.ci.ledger import Ledger

Search = Callable[[Growth, float, int], None]
SEARCHES: dict[str, Search] = {"gs": grow_shrink, "iamb": iamb, "inter-iamb": inter_iamb, "fast-iamb": fast_iamb}
every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)


def correlated(seed: int, n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))


class Singly:
    """Fisher's z test without its own growth."""

    def __init__(self, test: FisherZ) -> None:
        self.names, self.pvalue, self.n, self.largest_set = test.names, test.pvalue, test.n, test.largest_set


# --- the incremental growth -------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(st.integers(0, 9), max_size=14),
    target=st.integers(0, 9),
    n=st.sampled_from([14, 60, 1000]),
)
def test_evidence_is_that_of_single_tests_after_any_moves(seed: int, moves: list[int], target: int, n: int) -> None:
    """A move takes a variable in, or out if it is in."""
    test = FisherZ(correlated(seed, n, 10))
    growth = test.growth(target)
    for v in moves:
        if v in growth.members:
            growth.remove(v)
        elif v != target:
            growth.add(v)
    members = list(growth.members)
    for asked, (evidence, critical) in (
        ([v for v in range(10) if v != target and v not in members], growth.candidates(0.05)),
        (members, growth.inside(0.05) if members else (np.full(10, -np.inf), 0.0)),
    ):
        assert set(np.flatnonzero(evidence > -np.inf)) == set(asked)
        for v in asked:
            given_set = [m for m in members if m != v]
            p = test.pvalue(target, v, given_set)
            assert pvalue_of(min(evidence[v], 1.0), n - len(given_set) - 3) == pytest.approx(p, abs=1e-9)
            assert (evidence[v] > critical) == (p <= 0.05)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("seed", range(6))
def test_searches_find_the_same_with_either_growth(method: str, seed: int) -> None:
    test = FisherZ(correlated(seed, 200, 12))
    own, singly = (markov_boundaries(Ledger(ci), method, 0.01) for ci in (test, Singly(test)))
    assert own == singly


def test_a_growth_is_the_tests_own_where_it_has_one() -> None:
    test = FisherZ(correlated(0, 50, 4))
    own, singly = CountedGrowth(Ledger(test), 1), CountedGrowth(Ledger(Singly(test)), 1)
    assert isinstance(own.growth, GaussianGrowth)
    assert isinstance(singly.growth, PairwiseGrowth)
    for growth in (own, singly):
        growth.add(3)
        growth.add(0)
        growth.remove(3)
        assert growth.members == [0]


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("rows", [30, 300])
def test_a_variable_that_others_determine_does_no_harm(method: str, rows: int) -> None:
    table = np.random.default_rng(1).normal(size=(rows, 40))
    table[:, 38] = table[:, 0] + 2 * table[:, 1]
    table[:, 39] = table[:, 0] - table[:, 1]
    found = markov_boundaries(Ledger(FisherZ(table)), method, 0.01).sets
    assert {38, 39} & (found[0] | found[1])


@every_search
def test_boundaries_of_independent_variables_are_empty(search: Search) -> None:
    test = FisherZ(np.random.default_rng(2).normal(size=(100, 10)))
    for target in range(10):
        growth = test.growth(target)
        search(growth, 1e-4, 9)
        assert growth.members == []


@every_search
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_set_never_grows_larger_than_allowed(search: Search, most: int) -> None:
    class Watched(PairwiseGrowth):
        def add(self, v: int) -> None:
            super().add(v)
            assert len(self.members) <= most

    growth = Watched(FisherZ(correlated(3, 5000, 8)).pvalue, 8, 0)
    search(growth, 0.01, most)
    assert len(growth.members) == most


# --- guards -----------------------------------------------------------------------------------------------


def circular(x: str, y: str, given: tuple[str, ...]) -> float:
    """A shows alone, B shows once A is in, and then neither is needed: no set is stable under growing and shrinking."""
    pair = {x, y}
    if pair == {"T", "A"}:
        return 1.0 if "B" in given else 0.0
    if pair == {"T", "B"}:
        return 0.0 if "A" in given else 1.0
    return 1.0


@every_search
def test_a_test_that_contradicts_itself_does_not_trap_a_search(search: Search) -> None:
    class Patient(PairwiseGrowth):
        rounds = 0

        def candidates(self, alpha: float) -> Evidence:
            self.rounds += 1
            assert self.rounds < 20, "the search goes round in circles"
            return super().candidates(alpha)

    growth = Patient(FunctionTest(circular, ["T", "A", "B"]).pvalue, 3, 0)
    search(growth, 0.01, 2)
    assert set(growth.members) <= {1}


def test_shrinking_removes_the_weakest_first_and_says_what_it_removed() -> None:
    pvalues = {"A": 0.001, "B": 0.9, "C": 0.5}
    test = FunctionTest(lambda x, y, given: pvalues[max(x, y, key="TABC".index)], "TABC")
    growth = PairwiseGrowth(test.pvalue, 4, 0)
    for v in (1, 2, 3):
        growth.add(v)
    assert shrink(growth, 0.01) == [2, 3]
    assert growth.members == [1]


@pytest.mark.parametrize(("union", "expected"), [(False, [{1}, {0}, set()]), (True, [{1, 2}, {0, 2}, {0, 1}])])
def test_boundaries_that_disagree_are_made_symmetric(union: bool, expected: list[set[int]]) -> None:
    wanted = {0: [1, 2], 1: [0, 2], 2: []}
    ledger = Ledger(FunctionTest(lambda x, y, given: 0.5, "ABC"))

    def learn(growth: CountedGrowth) -> bool:
        for v in wanted[growth.target]:
            growth.add(v)
        return True

    assert every_boundary(ledger, learn, 0.01, union) == (expected, {})


# --- fewer rows than columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SEARCHES)
def test_searches_work_with_fewer_rows_than_columns(method: str) -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(60, 150))
    for child in range(0, 30, 3):
        table[:, child] = table[:, child + 1] + table[:, child + 2] + 0.5 * rng.normal(size=60)
    found = markov_boundaries(Ledger(FisherZ(table)), method, 2 / 150**2).sets
    assert sum({child + 1, child + 2} <= found[child] for child in range(0, 30, 3)) >= 8
    assert sum(map(len, found[30:])) <= 8
    assert all(x in found[y] for x in range(150) for y in found[x])


# --- distinct tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("seed", range(4))
def test_each_distinct_test_is_counted_once_with_either_growth(method: str, seed: int) -> None:
    test = FisherZ(correlated(seed, 200, 9))
    asked = set()

    class Recorder(Singly):
        def __init__(self) -> None:
            super().__init__(test)
            self.pvalue = self._record

        def _record(self, x: int, y: int, given: list[int]) -> float:
            asked.add((frozenset((x, y)), frozenset(given)))
            return test.pvalue(x, y, given)

    own, singly = Ledger(test), Ledger(Recorder())
    for ledger in (own, singly):
        markov_boundaries(ledger, method, 0.01)
    assert own.meter.tests_by_size() == singly.meter.tests_by_size()
    assert own.meter.n_tests == len(asked)


def test_a_boundary_that_holds_all_other_variables_is_complete() -> None:
    """25 rows and 3 columns that all depend on each other leave nothing open."""
    x = np.random.default_rng(0).normal(size=25)
    table = np.column_stack([x + 0.3 * np.random.default_rng(k).normal(size=25) for k in range(1, 4)])
    found = markov_boundaries(Ledger(FisherZ(table)), "iamb", 0.05)
    assert found.truncated == {}
