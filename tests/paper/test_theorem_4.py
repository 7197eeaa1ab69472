"""Theorem 4: in the worst case any constraint-based algorithm needs of the order of n^2 + n D 2^D tests, D = Delta+_in.

Two parts of it can be checked. No pair may be left unasked, for it could be the only edge. And a clique of k = D + 1
variables takes a question for each pair and each of the 2^(k-2) subsets of the others: were one not asked, a clique
without that edge, and with this subset as common parents, would be consistent with all the answers.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given

from lmarvel import DAG, LMarvel, MSeparation
from tests.generators import Study, studies


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
    between = comb(cliques * k, 2) - cliques * comb(k, 2)
    least = between + cliques * comb(k, 2) * 2 ** (k - 2)
    needed = LMarvel(test=MSeparation(dag), faithful=True).fit().n_ci_tests_
    assert needed == least if cliques == 1 else least <= needed <= least + cliques * comb(k - 1, 2)
