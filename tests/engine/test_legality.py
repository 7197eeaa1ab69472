"""The compiled checks of graphs and separating sets, and their readable twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, PAG, MixedGraph, explain_invalid, mag_to_pag
from lmarvel.engine.legality import judge_mag, judge_pag, separating_sets
from lmarvel.engine.run import _engine, is_built
from lmarvel.graph.bitsets import bits
from lmarvel.graph.kinds import describe_fault, find_not_ancestral, find_not_maximal, inseparable
from lmarvel.graph.separation import has_inducing_path, m_separated
from lmarvel.orient.equivalence import find_member
from lmarvel.search.evidence import separating
from tests.generators import mags, random_mag
from tests.truth.make_truth import load, marks_matrix

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def named(marks: np.ndarray) -> tuple[str, ...]:
    return tuple(f"V{v}" for v in range(len(marks)))


def assert_the_same(pag: PAG) -> str | None:
    """Hold the two judgements of a PAG against each other; return what is wrong with it."""
    fault, mag, right = find_member(pag)
    judged = judge_pag(pag.marks)
    assert judged.fault == fault
    if fault is None:
        assert np.array_equal(judged.mag, mag)
        return None
    if fault[0] == "wrong mark":
        assert np.array_equal(judged.right, right)
    return fault[0]


def damaged(rng: np.random.Generator, marks: np.ndarray, changes: int) -> np.ndarray:
    """Return marks with some of them changed, and sometimes an edge less or more."""
    worse = np.array(marks)
    for _ in range(changes):
        i, j = rng.choice(len(marks), 2, replace=False)
        if not worse[i, j] or rng.random() < 0.2:
            worse[i, j], worse[j, i] = rng.integers(1, 4, 2) if not worse[i, j] else (0, 0)
        else:
            worse[i, j] = rng.integers(1, 4)
    return worse


def ancestral(rng: np.random.Generator, n: int, degree: float) -> MixedGraph:
    """Return a random ancestral graph, which need not be maximal: --> along an order, and <-> where it may be."""
    marks, below = np.zeros((n, n), np.int8), np.eye(n, dtype=bool)
    order, chance = rng.permutation(n), degree / max(n - 1, 1)
    for i, j in combinations(range(n), 2):
        a, b = order[i], order[j]
        if rng.random() < chance / 2:
            marks[a, b], marks[b, a] = 2, 3
    for _ in range(n):
        below |= (below.astype(int) @ ((marks == 2) & (marks.T == 3)).astype(int)) > 0
    for a, b in combinations(range(n), 2):
        if not marks[a, b] and not below[a, b] and not below[b, a] and rng.random() < chance:
            marks[a, b] = marks[b, a] = 2
    return MixedGraph(named(marks), marks)


# --- legality ---------------------------------------------------------------------------------------------


def test_every_class_on_four_nodes_and_what_is_near_it() -> None:
    rng, met = np.random.default_rng(0), set()
    for code in np.unique(load(4)["pag"], axis=0):
        marks = marks_matrix(code, 4)
        assert assert_the_same(PAG("ABCD", marks)) is None
        for i, j in np.argwhere(marks).tolist():
            for mark in {1, 2, 3} - {int(marks[i, j])}:
                worse = marks.copy()
                worse[i, j] = mark
                met.add(assert_the_same(PAG("ABCD", worse)))
        met.add(assert_the_same(PAG("ABCD", damaged(rng, marks, 2))))
    assert {"cycle", "undirected arrow", "almost cycle", "wrong mark", "circle cycle"} <= met


def test_many_classes_on_five_nodes_and_what_is_near_them() -> None:
    rng, pags = np.random.default_rng(1), load(5)["pag"]
    for k in rng.choice(len(pags), 1500, replace=False):
        marks = marks_matrix(pags[k], 5)
        assert assert_the_same(PAG("ABCDE", marks)) is None
        for changes in (1, 2, 4):
            assert_the_same(PAG("ABCDE", damaged(rng, marks, changes)))


@given(mags(6, 14), st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_pags_and_damaged_pags_are_judged_the_same(mag: MAG, seed: int, changes: int) -> None:
    marks = damaged(np.random.default_rng(seed), mag_to_pag(mag).marks, changes)
    found = assert_the_same(PAG(mag.names, marks))
    assert changes or found is None


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_graphs_of_any_marks_are_judged_the_same(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    marks = damaged(rng, np.zeros((n, n), np.int8), 2 * n)
    assert_the_same(PAG(LETTERS[:n], marks))
    graph = MixedGraph(LETTERS[:n], marks)
    assert judge_mag(marks) == (find_not_ancestral(graph) or find_not_maximal(graph))


@given(st.integers(0, 2**32 - 1), st.integers(4, 14), st.floats(1.0, 7.0))
def test_inducing_paths_of_ancestral_graphs_are_found(seed: int, n: int, degree: float) -> None:
    graph = ancestral(np.random.default_rng(seed), n, degree)
    literally = [
        (x, y) for x, y in combinations(range(n), 2) if not graph.marks[x, y] and has_inducing_path(graph, x, y, 0, 0)
    ]
    assert list(inseparable(graph)) == literally
    assert judge_mag(graph.marks) == find_not_maximal(graph)
    assert (judge_mag(graph.marks) is None) == (not literally)


def test_some_of_those_graphs_are_not_maximal_and_some_are() -> None:
    found = [judge_mag(ancestral(np.random.default_rng(seed), 12, 6.0).marks) for seed in range(100)]
    assert 10 < sum(fault is None for fault in found) < 90


def test_a_large_graph_is_judged_the_same() -> None:
    rng = np.random.default_rng(8)
    pag = mag_to_pag(random_mag(rng, 300, latent=40, selection=5, degree=2.5))
    assert assert_the_same(pag) is None
    kinds = {assert_the_same(PAG(pag.names, damaged(rng, pag.marks, changes))) for changes in (1, 3, 10, 30)}
    assert kinds - {None}


def test_every_fault_has_words() -> None:
    said = {
        "none",
        "circle cycle",
        "circle",
        "cycle",
        "undirected arrow",
        "almost cycle",
        "inducing path",
        "wrong mark",
    }
    assert set(_engine.FAULTS) == said
    graph = MixedGraph.from_edges("A o-> B", "B --> C")
    assert explain_invalid(graph) == describe_fault(graph, ("circle", (0, 1)))


def test_there_may_be_no_node() -> None:
    assert judge_mag(np.zeros((0, 0), np.int8)) is None
    assert judge_pag(np.zeros((0, 0), np.int8)).fault is None


# --- separating sets --------------------------------------------------------------------------------------


@given(mags(4, 14))
def test_separating_sets_are_the_same_and_separate(mag: MAG) -> None:
    x, y = np.nonzero(np.triu(np.asarray(mag.marks) == 0, 1))
    starts, members = separating_sets(mag.marks, x, y)
    anterior = [a | b for a, b in zip(mag.masks.parents, mag.masks.neighbors, strict=True)]
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        found = members[starts[i] : starts[i + 1]].tolist()
        assert found == separating(mag, anterior, a, b)
        assert m_separated(mag, 1 << a, 1 << b, bits(found))


# --- what comes in ----------------------------------------------------------------------------------------

PATH = np.array([[0, 2, 0], [3, 0, 2], [0, 3, 0]], np.int8)  # 0 --> 1 --> 2


@pytest.mark.parametrize(
    "judge", [judge_mag, judge_pag, lambda marks: separating_sets(marks, np.array([0]), np.array([1]))]
)
@pytest.mark.parametrize("marks", [[[0, 2]], [[0, 2], [0, 0]], [[0, 4], [3, 0]], [[0, -1], [3, 0]], [[1]]])
def test_what_is_no_graph_is_refused(judge, marks) -> None:
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        judge(np.array(marks, np.int8))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0], [3], "no variable at position 3"),
        ([-1], [2], "no variable at position -1"),
        ([0, 0], [2], "lengths"),
        ([0], [0], "without an edge"),
        ([0], [1], "without an edge"),
    ],
)
def test_pairs_that_cannot_be_separated_are_refused(x: list[int], y: list[int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        separating_sets(PATH, np.array(x), np.array(y))
    assert separating_sets(PATH, np.array([2]), np.array([0]))[1].tolist() == [1]
