"""No mark rests on a pair that a budget left undecided."""

from __future__ import annotations

import time
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import FCI, MAG, MBCS, RFCI, LMarvel, MSeparation, mag_to_pag
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import Draft
from lmarvel.orient.rules import RULES
from lmarvel.orient.worklist import Verdict, orient
from tests.generators import mags, random_study
from tests.orient.naive import contradictory, fixpoint, skeleton_of, truth_of
from tests.orient.test_examples import EXAMPLES

Pairs = list[tuple[int, int]]


def some_pairs(n: int, random: Random, chance: float) -> Pairs:
    return [pair for pair in combinations(range(n), 2) if random.random() < chance]


# --- what a draft says of them ----------------------------------------------------------------------------


def test_an_undecided_pair_is_neither_an_edge_nor_a_gap() -> None:
    draft = Draft(4, [(0, 1), (1, 2), (0, 2)], undecided=[(2, 0)])
    assert 2 not in draft.mark[0]
    assert not draft.not_adjacent(0, 2)
    assert not draft.gap(0, 1, 2)
    assert draft.not_adjacent(0, 3)
    assert draft.matrix().tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    draft.delete(2, 0)
    assert draft.not_adjacent(0, 2)
    assert draft.gap(0, 1, 2)
    assert draft.matrix()[0, 2] == 0


@pytest.mark.parametrize("among_the_edges", [True, False])
def test_pairs_may_come_as_an_array(among_the_edges: bool) -> None:
    edges, undecided = [(0, 2), (1, 2), (2, 3), (3, 4)], [(3, 1), (4, 3)]
    kept = edges if among_the_edges else edges[:3]
    found = [
        orient(5, e, contradictory(2), undecided=u).marks.tolist()
        for e in (kept, np.array(kept), tuple(kept))
        for u in (undecided, set(undecided), np.array(undecided))
    ]
    assert all(marks == found[0] for marks in found)
    assert found[0][3][1] == found[0][1][3] == found[0][4][3] == CIRCLE


def test_a_million_undecided_pairs_take_no_time() -> None:
    x, y = np.triu_indices(1500, 1)
    pairs = np.column_stack([x, y])[:1_000_000]
    started = time.process_time()
    marks = orient(1500, pairs, lambda *_: True, undecided=pairs).marks
    assert time.process_time() - started < 3  # a quarter of a second; a loop over the pairs takes half a minute
    assert (marks == CIRCLE).sum() == 2_000_000


# --- marks are right, and none is missed ------------------------------------------------------------------


@given(mags(5, 10), st.randoms(use_true_random=False), st.sampled_from([0.05, 0.2, 0.5]))
def test_marks_found_in_spite_of_undecided_pairs_are_those_of_the_pag(mag: MAG, random: Random, chance: float) -> None:
    undecided = some_pairs(len(mag), random, chance)
    found = orient(len(mag), skeleton_of(mag), truth_of(mag), undecided=undecided)
    pag = mag_to_pag(mag)
    settled = found.marks > CIRCLE
    assert np.array_equal(found.marks[settled], pag.marks[settled])
    for x, y in undecided:
        assert found.marks[x, y] == found.marks[y, x] == CIRCLE
    twin = fixpoint(len(mag), skeleton_of(mag), truth_of(mag), undecided=undecided)
    assert np.array_equal(found.marks, twin.matrix())


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_each_rule_does_without_what_is_undecided(example) -> None:
    """Leave each pair open in turn: the marks that are left are right, and those that rested on the pair are gone."""
    mag = MAG.from_edges(*example.mag.split(", "))
    pag = mag_to_pag(mag)
    lost = 0
    for pair in combinations(range(len(mag)), 2):
        found = orient(len(mag), skeleton_of(mag), truth_of(mag), undecided=[pair])
        settled = found.marks > CIRCLE
        assert np.array_equal(found.marks[settled], pag.marks[settled])
        lost += example.rule not in {use.rule for use in found.log}
        marks = np.where(mag.marks != 0, CIRCLE, 0)
        marks[pair] = marks[pair[::-1]] = 0
        for use in found.log:
            ends, gaps = RULES[use.rule].premises(use, lambda end, now=marks: int(now[end]))
            used = {frozenset(p) for p in (*ends, *gaps, *((x, y) for x, y, _ in use.written))}
            assert frozenset(pair) not in used
            for x, y, mark in use.written:
                marks[x, y] = mark
    assert lost


def test_marks_do_not_rest_on_an_undecided_edge_even_if_the_answers_contradict_each_other() -> None:
    random = Random(3)
    for seed in range(200):
        n = random.randint(5, 9)
        edges, undecided = some_pairs(n, random, 0.5), some_pairs(n, random, 0.2)
        marks = orient(n, edges, contradictory(seed), undecided=undecided).marks
        kept = {*edges} | {*undecided}
        assert {(x, y) for x, y in combinations(range(n), 2) if marks[x, y]} == kept
        assert all(marks[x, y] == marks[y, x] == CIRCLE for x, y in undecided)


# --- through the estimators -------------------------------------------------------------------------------


# A budget of tests leaves the methods that prune all edges undecided or none, so they have few marks to judge.


@pytest.mark.parametrize(
    ("method", "boundary", "least"), [(LMarvel, "tc", 100), (FCI, "none", 20), (RFCI, "none", 20), (MBCS, "tc", 20)]
)
def test_with_an_oracle_a_budget_makes_no_mark_wrong(method, boundary: str, least: int) -> None:
    marks = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, heavy = int(rng.integers(5, 9)), seed % 3 == 0
        study = random_study(rng, n, int(rng.integers(3)), int(rng.integers(2)), float(rng.uniform(1.5, 3.5)), heavy)
        test = MSeparation(study.dag, study.latent, study.selection)
        tests = method(test=test, boundary=boundary).fit().n_ci_tests_
        truth = mag_to_pag(study.mag)
        for budget in ({"max_tests": int(rng.integers(tests // 3, tests + 1))}, {"max_conditioning": 1}):
            found = method(test=test, boundary=boundary, **budget).fit().result_
            right = truth.reordered(found.pag.names).marks
            settled = found.pag.marks > CIRCLE
            settled &= right > 0  # an edge that is too many, as RFCI can have, is not in the truth
            assert np.array_equal(found.pag.marks[settled], right[settled]), (seed, budget)
            marks += settled.sum()
            if method is not RFCI:  # which can run out of tests while it orients
                assert all(set(found.pag.edge(a, b)[2:]) == {CIRCLE} for a, b in found.undecided)
    assert marks >= least


# --- tests of discriminating paths ------------------------------------------------------------------------

# V *-> A <-* B, A --> C and B o-* C: the path V, A, B, C discriminates B.
PATH = MAG.from_edges("V --> A", "A <-> B", "A --> C", "B <-> C")


def checked(*verdicts: Verdict):
    """Orient with these verdicts on the paths that are asked about, the last of them for all further ones."""
    asked = []

    def check_path(path: tuple[int, ...]) -> Verdict:
        asked.append("".join(PATH.names[v] for v in path))
        return verdicts[min(len(asked), len(verdicts)) - 1]

    found = orient(len(PATH), skeleton_of(PATH), truth_of(PATH), check_path=check_path)
    return found, asked


def test_a_path_that_stands_is_used() -> None:
    found, asked = checked(Verdict(stands=True))
    assert asked == ["VABC"]
    assert np.array_equal(found.marks, orient(4, skeleton_of(PATH), truth_of(PATH)).marks)
    assert found.cuts == ()


def test_a_path_that_could_not_be_tested_is_not_used() -> None:
    found, _ = checked(Verdict(stands=False))
    assert "R4" not in {use.rule for use in found.log}
    assert found.cuts == ()


def test_the_engine_cuts_what_a_test_of_a_path_separated() -> None:
    a, b, c = (PATH.index(name) for name in "ABC")
    found, asked = checked(Verdict(False, cuts=((b, c),)))
    assert asked == ["VABC"]
    assert found.cuts == ((b, c),)
    assert found.marks[b, c] == found.marks[c, b] == 0
    assert found.marks[a, c] == ARROW
    assert found.marks[c, a] == TAIL


def test_colliders_over_a_cut_are_made_where_both_edges_are_decided() -> None:
    a, b, c = (PATH.index(name) for name in "ABC")
    triple = (min(a, b), c, max(a, b))
    for unchecked, collider in (((), True), ((triple,), False)):
        found, _ = checked(Verdict(False, cuts=((a, b),), colliders=(triple,), unchecked=unchecked))
        assert (found.marks[b, c] == ARROW) == collider
