"""Theorem 4: in the worst case any constraint-based algorithm needs of the order of n^2 + n D 2^D tests, D = Delta+_in.

The proof has two parts. No pair may be left unasked where there is no edge, for it could be the only one. And a clique
of k = D + 1 variables takes a question for each pair and each of the 2^(k-2) subsets of the others: were one not asked,
a clique without that edge, and with this subset as common parents, would be consistent with all the answers. Here that
second graph is built, as it stands in the paper with its bidirected edges, and compared with the clique test by test.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import pytest
from hypothesis import given

from lmarvel import DAG, MAG, LMarvel, MSeparation
from lmarvel.experiments.bounds import lower_bound
from tests.generators import Study, studies
from tests.paper.census import all_classes


@given(studies())
def test_every_pair_is_asked_about(study: Study) -> None:
    oracle = MSeparation(study.dag, study.latent, study.selection)
    asked = set()

    def record(x: str, y: str, given: tuple[str, ...]) -> float:
        asked.add(frozenset((x, y)))
        return oracle.pvalue(*(oracle.names.index(v) for v in (x, y)), [oracle.names.index(v) for v in given])

    model = LMarvel(test=record).fit(names=oracle.names)
    assert asked == {frozenset(pair) for pair in combinations(oracle.names, 2)}
    assert model.n_ci_tests_ >= comb(len(oracle.names), 2)


@pytest.mark.parametrize("cliques", [1, 2, 3])
@pytest.mark.parametrize("k", range(2, 7))
def test_cliques_take_a_test_for_each_pair_and_subset(k: int, cliques: int) -> None:
    dag = DAG.from_edges(*(f"V{c}{i} --> V{c}{j}" for c in range(cliques) for i, j in combinations(range(k), 2)))
    assert dag.project().delta_plus_in() == k - 1
    inside = lower_bound(cliques * k, k - 1).cliques
    least = comb(cliques * k, 2) - cliques * comb(k, 2) + inside  # L-MARVEL's boundaries ask about all pairs
    needed = LMarvel(test=MSeparation(dag), faithful=True).fit().n_ci_tests_
    assert needed == least if cliques == 1 else least <= needed <= least + cliques * comb(k - 1, 2)
    assert needed >= lower_bound(cliques * k, k - 1).total


# --- the cluster of bidirected edges ---------------------------------------------------------------------


def cluster(names: str, x: str, y: str, parents: tuple[str, ...]) -> tuple[MAG, MAG]:
    """Return the paper's cluster, and the one without the edge x-y: W --> x, W --> y, all other edges bidirected."""
    edges = [
        f"{a} --> {b}"
        if a in parents and b in (x, y)
        else f"{b} --> {a}"
        if b in parents and a in (x, y)
        else f"{a} <-> {b}"
        for a, b in combinations(names, 2)
    ]
    return MAG.from_edges(*edges), MAG.from_edges(*(e for e in edges if e != f"{x} <-> {y}"), nodes=list(names))


def differing(one: MAG, two: MAG) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Iterate over the tests that tell two graphs over the same nodes apart."""
    for a, b in combinations(one.names, 2):
        rest = [v for v in one.names if v not in (a, b)]
        for w in (w for size in range(len(rest) + 1) for w in combinations(rest, size)):
            if one.m_separated(a, b, w) != two.m_separated(a, b, w):
                yield a, b, w


@pytest.mark.parametrize("k", range(2, 6))
def test_one_test_only_tells_a_cluster_from_the_one_without_an_edge(k: int) -> None:
    names, seen = "ABCDE"[:k], set()
    for x, y in combinations(names, 2):
        rest = [v for v in names if v not in (x, y)]
        for parents in (w for size in range(k - 1) for w in combinations(rest, size)):
            whole, without = cluster(names, x, y, parents)
            assert list(differing(whole, without)) == [(x, y, parents)]
            assert whole.delta_plus_in() == k - 1 >= without.delta_plus_in()
            assert max(len(whole.parents(v)) for v in names) == len(parents)
            seen.add((x, y, parents))
    assert len(seen) == lower_bound(k, k - 1).cliques


def test_other_clusters_change_nothing() -> None:
    """Tests across clusters, and sets that reach into another cluster, answer alike."""
    whole, without = cluster("ABC", "A", "B", ("C",))
    other = ["P <-> Q", "Q <-> R", "P <-> R"]
    pair = [MAG.from_edges(*map(str, g.edges()), *other, nodes=[*"ABC", *"PQR"]) for g in (whole, without)]
    found = set(differing(*pair))
    assert {(a, b) for a, b, _ in found} == {("A", "B")}
    assert {frozenset(w) & set("ABC") for _, _, w in found} == {frozenset("C")}
    assert len(found) == 2**3  # any of them will do, and one is needed


def test_two_tests_settle_a_variable_against_a_clique() -> None:
    """So the two parts of the proof cannot be added: between cliques a test a pair is more than is needed."""
    for mag in all_classes().mags[::20]:
        for u in mag.names:
            for clique in combinations([v for v in mag.names if v != u], 3):
                if all(mag.has_edge(a, b) for a, b in combinations(clique, 2)):
                    a, *others = clique
                    if mag.m_separated(u, a) and mag.m_separated(u, a, others):
                        assert not any(mag.has_edge(u, v) for v in clique)
