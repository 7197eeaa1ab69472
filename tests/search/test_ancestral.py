"""The graph of the search: every move is judged as brute force judges it, and what is derived follows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MixedGraph
from lmarvel.graph.bitsets import bits
from lmarvel.graph.kinds import explain_not_ancestral
from lmarvel.graph.separation import has_inducing_path
from lmarvel.search.ancestral import BACK, BOTH, FORTH, KINDS, NO_EDGE, UNDIRECTED, AncestralGraph

MARKS = {NO_EDGE: (0, 0), FORTH: (3, 2), BACK: (2, 3), BOTH: (2, 2), UNDIRECTED: (3, 3)}


def as_graph(state: AncestralGraph) -> MixedGraph:
    n = len(state.parents)
    return MixedGraph([f"V{i}" for i in range(n)], state.marks())


def with_edge(state: AncestralGraph, x: int, y: int, kind: int) -> MixedGraph:
    marks = state.marks()
    marks[y, x], marks[x, y] = MARKS[kind]
    return MixedGraph([f"V{i}" for i in range(len(marks))], marks)


def random_walk(seed: int, n: int, steps: int) -> AncestralGraph:
    """Return the state after random legal moves, most of which add edges."""
    rng = np.random.default_rng(seed)
    state = AncestralGraph(n)
    pairs = list(combinations(range(n), 2))
    for _ in range(steps):
        x, y = pairs[rng.integers(len(pairs))]
        kind = int(rng.choice([FORTH, BACK, BOTH, BOTH, UNDIRECTED, NO_EDGE]))
        if state.is_legal(x, y, kind):
            state.apply(x, y, kind)
    return state


walks = st.builds(random_walk, st.integers(0, 10**6), st.integers(3, 8), st.integers(0, 60))


@given(walks)
def test_a_move_is_legal_exactly_if_the_graph_stays_ancestral(state: AncestralGraph) -> None:
    for x, y in combinations(range(len(state.parents)), 2):
        for kind in KINDS:
            ancestral = explain_not_ancestral(with_edge(state, x, y, kind)) is None
            assert state.is_legal(x, y, kind) == ancestral, (x, y, kind)
            turned = {FORTH: BACK, BACK: FORTH}.get(kind, kind)
            assert state.is_legal(y, x, turned) == ancestral


def test_those_walks_meet_moves_of_every_fate() -> None:
    fates = set()
    for seed in range(30):
        state = random_walk(seed, 6, 40)
        for x, y in combinations(range(6), 2):
            fates |= {(state.edge(x, y), kind, state.is_legal(x, y, kind)) for kind in KINDS}
    # Anything may be legal or not, but deleting an edge and leaving it as it is always are.
    assert len(fates) == 5 * 4 * 2 - 4 + 5


@given(walks)
def test_ancestors_districts_and_edges_follow_the_moves(state: AncestralGraph) -> None:
    graph = as_graph(state)
    assert explain_not_ancestral(graph) is None
    assert state.n_edges == graph.n_edges
    for v, name in enumerate(graph.names):
        assert state.ancestors[v] == bits(graph.index(u) for u in graph.ancestors(name))
        assert state.descendants[v] == bits(graph.index(u) for u in graph.descendants(name))
        assert state.district(v) == bits(graph.index(u) for u in graph.district(name)) | 1 << v
        assert state.parents[v] == graph.masks.parents[v]
        assert state.children[v] == graph.masks.children[v]
        assert state.spouses[v] == graph.masks.spouses[v]
        assert state.neighbors[v] == graph.masks.neighbors[v]


@given(walks)
def test_no_inducing_path_joins_a_node_and_its_ancestor(state: AncestralGraph) -> None:
    """So the edge that makes a graph maximal is always bidirected."""
    graph = as_graph(state)
    for x, y in combinations(range(len(graph)), 2):
        related = state.ancestors[y] >> x & 1 or state.ancestors[x] >> y & 1
        if related and not graph.has_edge(x, y):
            assert not has_inducing_path(graph, x, y, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_edge_is_read_from_both_ends(kind: int) -> None:
    state = AncestralGraph(2)
    state.apply(0, 1, kind)
    assert state.edge(0, 1) == kind
    assert state.edge(1, 0) == {FORTH: BACK, BACK: FORTH}.get(kind, kind)
    assert state.n_edges == (kind != NO_EDGE)


def test_looking_at_an_edge_leaves_no_trace() -> None:
    state = random_walk(1, 6, 40)
    before = as_graph(state)
    for x, y in combinations(range(6), 2):
        present = state.edge(x, y)
        for kind in KINDS:
            state.set_edge(x, y, kind)
        state.set_edge(x, y, present)
    assert as_graph(state) == before
    assert state.n_edges == before.n_edges
