"""Sets of nodes as bit sets, and those that paths define: ancestors, districts, Markov boundaries; and removability.

Everything here works on positions, and a set of nodes is an ``int`` whose bit v shows whether node v is in it. Unions
and membership are single machine operations on small graphs, and fast on large ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lmarvel.graph.marks import ARROW, TAIL

if TYPE_CHECKING:
    from lmarvel.graph.mixed import MixedGraph


class Masks(NamedTuple):
    """For each node a bit set of its parents, children, spouses, neighbours, and all it is adjacent to."""

    parents: list[int]
    children: list[int]
    spouses: list[int]
    neighbors: list[int]
    adjacent: list[int]


def bits(nodes: Iterable[int]) -> int:
    """Return positions as a bit set."""
    mask = 0
    for v in nodes:
        mask |= 1 << v
    return mask


def members(mask: int) -> Iterator[int]:
    """Iterate over the positions in a bit set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def build_masks(graph: MixedGraph) -> Masks:
    """Collect the bit sets of a graph; use ``graph.masks``, which keeps them."""
    masks = Masks(*([0] * len(graph) for _ in Masks._fields))
    for v, links in enumerate(graph.links):
        for w, near, far in links:
            bit = 1 << w
            masks.adjacent[v] |= bit
            if near == ARROW and far == TAIL:
                masks.parents[v] |= bit
            elif near == TAIL and far == ARROW:
                masks.children[v] |= bit
            elif near == ARROW and far == ARROW:
                masks.spouses[v] |= bit
            elif near == TAIL and far == TAIL:
                masks.neighbors[v] |= bit
    return masks


def closure(step: Sequence[int] | Mapping[int, int], start: int) -> int:
    """Return every node that steps of the relation reach from ``start``, which is included."""
    reached = frontier = start
    while frontier:
        successors = 0
        for v in members(frontier):
            successors |= step[v]
        frontier = successors & ~reached
        reached |= frontier
    return reached


def union(sets: list[int], of: int) -> int:
    """Return the union of the sets of the nodes in ``of``."""
    result = 0
    for v in members(of):
        result |= sets[v]
    return result


def district(graph: MixedGraph, v: int) -> int:
    """Return Dis(v) with v."""
    return closure(graph.masks.spouses, 1 << v)


def pa_plus(graph: MixedGraph, v: int) -> int:
    """Return Pa+(v) = Pa(v) + Dis(v) + Pa(Dis(v)) + N(v), without v."""
    own = district(graph, v)
    return (own | union(graph.masks.parents, own) | graph.masks.neighbors[v]) & ~(1 << v)


def collider_connected(graph: MixedGraph, v: int) -> int:
    """Return the nodes that a collider path joins to v: its Markov boundary in a MAG.

    A collider path leaves v, enters a child or spouse of v, goes on inside that one's district, and ends
    in the district or at a parent of it.
    """
    masks = graph.masks
    entered = closure(masks.spouses, masks.children[v] | masks.spouses[v])
    return (masks.adjacent[v] | entered | union(masks.parents, entered)) & ~(1 << v)


def collider_paths(graph: MixedGraph, a: int, b: int) -> Iterator[list[int]]:
    """Iterate over the simple paths from a to b on which every inner node is a collider."""

    def extend(path: list[int]) -> Iterator[list[int]]:
        for w, near, far in graph.links[path[-1]]:
            if w in path or (len(path) > 1 and near != ARROW):
                continue
            if w == b:
                yield [*path, w]
            elif far == ARROW:
                yield from extend([*path, w])

    return extend([a]) if a != b else iter(())


def is_removable(graph: MixedGraph, x: int) -> bool:
    """Decide by Theorem 1 whether x is removable from a MAG."""
    masks = graph.masks
    around = masks.adjacent[x]
    # Condition 1: every Y in Adj(X) is adjacent to every Z in Ch(X) + N(X).
    for z in members(masks.children[x] | masks.neighbors[x]):
        if around & ~masks.adjacent[z] & ~(1 << z):
            return False
    # Condition 2: a collider path X, V1 .. Vm, Y with X, V1 .. Vm all parents of Z makes Y and Z adjacent.
    for z in members(masks.children[x]):
        inner = {v: masks.spouses[v] & masks.parents[z] for v in members(masks.parents[z])}
        reached = closure(inner, (masks.children[x] | masks.spouses[x]) & masks.parents[z])
        ends = union(masks.parents, reached) | union(masks.spouses, reached)
        if ends & ~masks.adjacent[z] & ~(1 << z) & ~(1 << x):
            return False
    return True
