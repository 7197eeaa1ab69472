"""The compiled orientation of a maximal ancestral graph, and its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, Knowledge
from lmarvel.engine import run as engine
from lmarvel.engine.run import is_built, orient_graph
from lmarvel.graph.marks import ARROW
from lmarvel.knowledge.closure import Known
from lmarvel.orient import paths
from lmarvel.orient.equivalence import orient_mag, uses_of_rules
from lmarvel.orient.worklist import orient
from tests.generators import mags

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")


@given(mags(2, 12), st.booleans())
def test_the_pag_and_the_uses_of_rules_are_the_same(mag: MAG, selection: bool) -> None:
    readable = orient_mag(mag, selection)
    assert np.array_equal(orient_graph(np.asarray(mag.marks), selection), readable.marks)
    assert tuple(uses_of_rules(mag, selection)) == readable.log


def test_statements_are_left_to_the_readable_rules() -> None:
    mag = MAG.from_edges("A --> B", "B --> C")
    known = Known.of(Knowledge(tiers=[["A"], ["B", "C"]]).statements, mag.names)
    used = uses_of_rules(mag, True, known)
    assert used == orient_mag(mag, True, known).log
    assert len(used) > len(uses_of_rules(mag))


# --- R5 in a MAG: no search for simple paths ----------------------------------------------------------------


def searched_through(mag: MAG) -> np.ndarray:
    """Return the marks of the PAG with all searches, which nobody needs of a MAG."""
    marks = mag.marks
    edges = [(x, y) for x in range(len(mag)) for y in range(x + 1, len(mag)) if marks[x, y]]
    return orient(len(mag), edges, lambda v, a, b, c: bool(marks[a, b] == marks[c, b] == ARROW)).marks


def undirected(rng: np.random.Generator, k: int, share: float) -> MAG:
    """Return a random graph of undirected edges, and up to two nodes with arrows from some of its nodes."""
    joined = np.triu(rng.random((k, k)) < share, 1)
    size = k + int(rng.integers(0, 3))
    marks = np.zeros((size, size), np.int8)
    marks[:k, :k] = 3 * (joined | joined.T)
    for child in range(k, size):
        for parent in rng.permutation(k)[: int(rng.integers(1, 4))]:
            marks[parent, child], marks[child, parent] = 2, 3
    return MAG(tuple(f"X{i}" for i in range(size)), marks)


def test_cycles_of_circles_need_no_search_for_simple_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    simple = paths._uncovered_simple
    monkeypatch.setattr(paths, "_uncovered_simple", lambda *told: searched.append(1) or simple(*told))
    rng = np.random.default_rng(1)
    for _ in range(1500):
        mag = undirected(rng, int(rng.integers(7, 12)), float(rng.uniform(0.15, 0.6)))
        assert np.array_equal(orient_graph(np.asarray(mag.marks)), searched_through(mag))
    assert searched, "no walk visited a node twice: the test says nothing"


def with_blob(size: int) -> MAG:
    """Return a graph in which the shortest walk of R5 from E over F to G visits F twice.

    A search for a simple path first comes to what hangs on F: a complete bipartite graph, whose simple paths are many.
    """
    edges = ["AD", "AF", "BD", "BF", "CG", "CH", "DE", "DG", "EF", "EG", "EH", "FH"]
    left, right = ([f"{side}{i}" for i in range(size)] for side in "LR")
    edges_of_blob = [(one, other) for one in left for other in [*right, "F"]]
    return MAG.from_edges(*(f"{x} --- {y}" for x, y in [*edges_of_blob, *edges]), nodes=[*left, *right, *"ABCDEFGH"])


def test_a_cycle_behind_more_paths_than_can_be_searched() -> None:
    small, large = with_blob(2), with_blob(14)
    assert np.array_equal(orient_graph(np.asarray(small.marks)), searched_through(small))
    assert np.array_equal(orient_graph(np.asarray(large.marks)), large.marks)
    assert np.array_equal(orient_mag(large).marks, large.marks)


def test_there_may_be_no_node() -> None:
    assert orient_graph(np.zeros((0, 0), np.int8)).shape == (0, 0)
    assert [array.size for array in engine.uses_of_rules(np.zeros((0, 0), np.int8))] == [0, 0]


@pytest.mark.parametrize(
    "marks",
    [[[0, 2]], [[0, 2], [0, 0]], [[0, 4], [3, 0]], [[0, -1], [3, 0]], [[1]], [[0, 2, 0], [3, 0, 0]]],
)
def test_what_is_no_graph_is_refused(marks: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        orient_graph(np.array(marks, np.int8))
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        engine.uses_of_rules(np.array(marks, np.int8))
