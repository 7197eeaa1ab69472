"""Definitions taken at their word, with nothing clever: what the graph tests compare against.

Everything reads the mark matrix and enumerates simple paths, so it is for small graphs only. Nodes are positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from lmarvel import MixedGraph

ARROW, TAIL = 2, 3
Path = tuple[int, ...]

THOROUGH = settings(max_examples=5 * settings.default.max_examples)  # type: ignore[union-attr]
"""For properties that are cheap to check and at the heart of the matter."""


def subsets(items: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every subset, the empty one first."""
    pool = list(items)
    return chain.from_iterable(combinations(pool, size) for size in range(len(pool) + 1))


def simple_paths(graph: MixedGraph, a: int, b: int) -> Iterator[Path]:
    """Every path from a to b that visits no node twice."""

    def extend(path: Path) -> Iterator[Path]:
        for w in range(len(graph)):
            if graph.marks[path[-1], w] and w not in path:
                if w == b:
                    yield (*path, w)
                else:
                    yield from extend((*path, w))

    return extend((a,))


def colliders(graph: MixedGraph, path: Path) -> list[int]:
    """The inner nodes with two arrowheads of the path."""
    marks = graph.marks
    return [b for a, b, c in zip(path, path[1:], path[2:], strict=False) if marks[a, b] == marks[c, b] == ARROW]


def ancestors(graph: MixedGraph, nodes: Iterable[int]) -> set[int]:
    """The nodes with a directed path to one of ``nodes``, and these themselves."""
    found = set(nodes)
    while True:
        more = {u for u in range(len(graph)) for v in found if graph.marks[u, v] == ARROW and graph.marks[v, u] == TAIL}
        if more <= found:
            return found
        found |= more


def connected(graph: MixedGraph, x: int, y: int, given: Iterable[int], ends_open: bool = False) -> bool:
    """Tell whether some simple path m-connects x and y.

    Non-colliders are outside ``given``, colliders are ancestors of ``given`` (``ends_open``: or of x or y; a connecting
    path of one kind exists exactly if one of the other does).
    """
    zs = set(given)
    opened = ancestors(graph, zs | ({x, y} if ends_open else set()))
    for path in simple_paths(graph, x, y):
        into = colliders(graph, path)
        if set(into) <= opened and not zs & (set(path[1:-1]) - set(into)):
            return True
    return False


def separations(graph: MixedGraph) -> set[tuple[int, int, tuple[int, ...]]]:
    """All (x, y, Z) with x < y separated by Z."""
    n = len(graph)
    found = set()
    below = [sum(1 << w for w in range(n) if v in ancestors(graph, [w])) for v in range(n)]
    for x, y in combinations(range(n), 2):
        routes = []
        for path in simple_paths(graph, x, y):
            into = colliders(graph, path)
            routes.append((sum(1 << v for v in path[1:-1] if v not in into), [below[v] for v in into]))
        for zs in subsets(v for v in range(n) if v not in (x, y)):
            mask = sum(1 << z for z in zs)
            if not any(closed & mask == 0 and all(down & mask for down in opens) for closed, opens in routes):
                found.add((x, y, zs))
    return found


def is_inducing(graph: MixedGraph, path: Path, latent: Iterable[int], selection: Iterable[int]) -> bool:
    """Every inner node is latent or a collider; every collider is an ancestor of an end or of ``selection``."""
    into = set(colliders(graph, path))
    return set(path[1:-1]) - into <= set(latent) and into <= ancestors(graph, [path[0], path[-1], *selection])


def has_inducing_path(graph: MixedGraph, x: int, y: int, latent: Iterable[int], selection: Iterable[int]) -> bool:
    """Tell whether some simple path is inducing."""
    return any(is_inducing(graph, path, latent, selection) for path in simple_paths(graph, x, y))


def chordless_cycles(adjacent: list[int]) -> list[set[int]]:
    """The node sets of four or more that induce a cycle."""
    found = []
    for nodes in subsets(range(len(adjacent))):
        mask = sum(1 << v for v in nodes)
        if len(nodes) < 4 or any((adjacent[v] & mask).bit_count() != 2 for v in nodes):
            continue
        reached, frontier = 0, 1 << nodes[0]
        while frontier:
            reached |= frontier
            frontier = sum(1 << v for v in nodes if adjacent[v] & reached) & ~reached
        if reached == mask:
            found.append(set(nodes))
    return found


# --- strategies -------------------------------------------------------------------------------------------


@st.composite
def mixed_graphs(draw: st.DrawFn, min_nodes: int = 2, max_nodes: int = 6, circles: bool = True) -> MixedGraph:
    """Draw any mixed graph, cyclic ones and nonsense included."""
    n = draw(st.integers(min_nodes, max_nodes))
    kinds = [(a, b) for a in (1, 2, 3) for b in (1, 2, 3) if circles or 1 not in (a, b)]
    return _fill(draw, n, {pair: [(0, 0), *kinds] for pair in combinations(range(n), 2)})


@st.composite
def separable_graphs(draw: st.DrawFn, min_nodes: int = 2, max_nodes: int = 6) -> MixedGraph:
    """Draw an acyclic graph in which no arrowhead meets an undirected edge.

    The first few nodes may be joined by undirected edges and have no arrowheads; the others have directed edges along a
    random order and bidirected ones anywhere, so that almost directed cycles and non-maximal graphs occur.
    """
    n = draw(st.integers(min_nodes, max_nodes))
    roots = draw(st.integers(0, n))
    kinds = {}
    for i, j in combinations(range(n), 2):
        if j < roots:
            kinds[i, j] = [(0, 0), (TAIL, TAIL)]
        elif i < roots:
            kinds[i, j] = [(0, 0), (TAIL, ARROW)]
        else:
            kinds[i, j] = [(0, 0), (TAIL, ARROW), (ARROW, ARROW)]
    graph = _fill(draw, n, kinds)
    return graph.reordered(draw(st.permutations(graph.names)))


def _fill(draw: st.DrawFn, n: int, kinds: dict[tuple[int, int], list[tuple[int, int]]]) -> MixedGraph:
    marks = np.zeros((n, n), dtype=np.int8)
    for (i, j), choices in kinds.items():
        marks[j, i], marks[i, j] = draw(st.sampled_from(choices))
    return MixedGraph([f"V{i}" for i in range(n)], marks)
