"""MMPC: which pairs the search may join."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given

from lmarvel import DAG, MAG, FisherZ, MSeparation
from lmarvel.ci.ledger import Ledger
from lmarvel.search.restriction import Restrict, restrict
from tests.generators import mags, random_dag


def silent(phase: str, done: int, total: int) -> None:
    assert phase == "restriction"
    assert 0 < done <= total


def oracle_boundaries(mag: MAG) -> list[set[int]]:
    return [{mag.index(v) for v in mag.markov_boundary(name)} for name in mag.names]


def adjacent_pairs(mag: MAG) -> set[tuple[int, int]]:
    return {(x, y) for x, y in combinations(range(len(mag)), 2) if mag.has_edge(x, y)}


def sample(seed: int, dag: DAG, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = len(dag)
    weights = np.zeros((n, n))
    for v, mask in enumerate(dag.masks.parents):
        for u in range(n):
            if mask >> u & 1:
                weights[v, u] = rng.uniform(0.4, 0.9) * rng.choice([-1, 1])
    return rng.normal(size=(rows, n)) @ np.linalg.inv(np.eye(n) - weights).T


@given(mags(5, 9))
def test_with_an_oracle_every_adjacent_pair_is_kept(mag: MAG) -> None:
    for boundaries in (None, oracle_boundaries(mag)):
        ledger = Ledger(MSeparation(mag))
        found = restrict(ledger, boundaries, np.eye(len(mag)), 0.01, 10, silent)
        assert adjacent_pairs(mag) <= set(found.pairs)
        assert found.undecided == []
        assert found.ended is None
        assert ledger.meter.phases == ("restriction",)


@given(mags(5, 9))
def test_pairs_outside_the_boundaries_are_left_out(mag: MAG) -> None:
    boundaries = oracle_boundaries(mag)
    found = restrict(Ledger(MSeparation(mag)), boundaries, np.eye(len(mag)), 0.01, 10, silent)
    assert all(y in boundaries[x] for x, y in found.pairs)


@given(mags(5, 8))
def test_what_was_kept_no_subset_of_the_kept_separates(mag: MAG) -> None:
    oracle = MSeparation(mag)
    found = Restrict(Ledger(oracle), np.eye(len(mag)), 0.01, 10).parents_and_children(0, range(1, len(mag)))
    for v in found:
        rest = sorted(found - {v})
        subsets = chain.from_iterable(combinations(rest, k) for k in range(len(rest) + 1))
        assert all(oracle.pvalue(0, v, subset) == 0 for subset in subsets)


@pytest.mark.parametrize("seed", range(5))
def test_the_neighbours_in_a_tree_are_found_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"V{i}" for i in range(12)]
    tree = DAG.from_edges(*(f"V{rng.integers(i)} --> V{i}" for i in range(1, 12)), nodes=names)
    found = restrict(Ledger(MSeparation(tree)), None, np.eye(12), 0.01, 10, silent)
    assert set(found.pairs) == adjacent_pairs(tree)


def test_the_strongest_comes_first_even_where_p_values_underflow() -> None:
    # A --> B --> C, so strong that all p-values are 0. B must enter before A for C, else A stays.
    rng = np.random.default_rng(0)
    a = rng.normal(size=20_000)
    b = a + 0.3 * rng.normal(size=20_000)
    c = b + 0.3 * rng.normal(size=20_000)
    test = FisherZ(np.column_stack([a, b, c]))
    assert test.pvalue(0, 2, ()) == test.pvalue(1, 2, ()) == 0
    search = Restrict(Ledger(test), test.correlation, 0.01, 10)
    for v in (0, 1):
        assert not search._separated(2, v)
    assert search._strongest(2, [0, 1]) == 1
    assert restrict(Ledger(test), None, test.correlation, 0.01, 10, silent).pairs == [(0, 1), (1, 2)]


def test_association_is_the_largest_p_value_over_subsets() -> None:
    def pvalue(x: int, y: int, given: tuple[int, ...]) -> float:
        table = {(0, 1): 0.001, (0, 2): 0.002, (0, 3): 0.003}
        return 0.009 if (x, y) == (0, 2) and given == (1,) else table.get((x, y), 0.0)

    asked: list[tuple[int, int, tuple[int, ...]]] = []

    class Table:
        names = tuple("ABCD")

        def pvalue(self, x: int, y: int, given: tuple[int, ...]) -> float:
            asked.append((x, y, tuple(given)))
            return pvalue(x, y, tuple(given))

    search = Restrict(Ledger(Table()), np.eye(4), 0.01, 10)
    assert search.parents_and_children(0, {1, 2, 3}) == {1, 2, 3}
    # 1 enters first; given 1 the pair (0, 2) looks weak, so 3 overtakes 2.
    assert asked.index((0, 2, (3,))) > asked.index((0, 3, (1,)))
    assert (0, 3, (2,)) not in asked[: asked.index((0, 2, (3,)))]
    assert search._evidence(0, 2).pvalue == 0.009
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("max_k", [0, 1, 2])
def test_max_k_limits_the_conditioning_sets(max_k: int) -> None:
    dag = random_dag(np.random.default_rng(3), 10, 3.0)
    test = FisherZ(sample(3, dag, 500))
    ledger = Ledger(test)
    found = restrict(ledger, None, test.correlation, 0.01, max_k, silent)
    assert max(ledger.meter.tests_by_size("restriction")) == max_k
    assert found.undecided == []


def test_the_compiled_and_the_readable_search_agree() -> None:
    data = sample(4, random_dag(np.random.default_rng(4), 12, 3.0), 400)
    found, tests = [], []
    for compiled in (True, False):
        test = FisherZ(data, compiled=compiled)
        ledger = Ledger(test)
        found.append(restrict(ledger, None, test.correlation, 0.05, 10, silent))
        tests.append(ledger.meter.tests_by_size())
    assert found[0] == found[1]
    assert tests[0] == tests[1]


# --- budgets ----------------------------------------------------------------------------------------------


def test_pairs_whose_turn_did_not_come_stay_in_and_are_listed() -> None:
    dag = random_dag(np.random.default_rng(5), 8, 2.0)
    test = FisherZ(sample(5, dag, 500))
    full = Ledger(test)
    free = restrict(full, None, test.correlation, 0.01, 10, silent)
    ledger = Ledger(test, max_tests=full.meter.n_tests // 2)
    found = restrict(ledger, None, test.correlation, 0.01, 10, silent)
    assert found.ended == f"max_tests={full.meter.n_tests // 2} is used up"
    assert ledger.meter.n_tests <= full.meter.n_tests // 2
    assert set(found.pairs) >= set(free.pairs)
    assert set(found.undecided) <= set(found.pairs)
    assert (6, 7) in found.undecided


def test_a_limit_on_the_conditioning_size_leaves_pairs_undecided() -> None:
    chain_ = DAG.from_edges("A --> B", "B --> C")
    found = restrict(Ledger(MSeparation(chain_), max_conditioning=0), None, np.eye(3), 0.01, 10, silent)
    assert found.pairs == [(0, 1), (0, 2), (1, 2)]
    assert found.undecided == found.pairs
    assert found.ended is None
