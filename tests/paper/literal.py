"""m-separation word for word: enumerate the paths, and look at each inner node.

A graph is a list of edges, so that a pair may have two of them (a bow in an ADMG). Nothing here comes from the package
but the graphs themselves and the names of the marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from lmarvel import ADMG, Edge, Mark, MixedGraph

ARROW, TAIL = Mark.ARROW, Mark.TAIL
Path = list[Edge]  # each edge read in the direction of travel


def both_ways(graph: MixedGraph | ADMG) -> list[Edge]:
    """Return every edge, read from either end."""
    edges = list(graph.edges() if isinstance(graph, MixedGraph) else graph.edges)
    return edges + [edge.reversed() for edge in edges]


def paths(graph: MixedGraph | ADMG, x: str, y: str) -> Iterator[Path]:
    """Iterate over the paths from x to y: no node twice, and each of two edges of a pair in its turn."""
    steps = both_ways(graph)

    def extend(path: Path, seen: set[str], at: str) -> Iterator[Path]:
        if at == y:
            yield path
            return
        for step in steps:
            if step.a == at and step.b not in seen:
                yield from extend([*path, step], seen | {step.b}, step.b)

    return extend([], {x}, x)


def inner(path: Path) -> list[tuple[str, bool]]:
    """Return each inner node with whether it is a collider."""
    return [(into.b, into.at_b == ARROW and out.at_a == ARROW) for into, out in pairwise(path)]


def ancestors(graph: MixedGraph | ADMG, nodes: Iterable[str]) -> set[str]:
    """Return the nodes with a directed path to one of these, and these."""
    found = set(nodes)
    while True:
        above = {a for a, b, at_a, at_b in both_ways(graph) if b in found and at_a == TAIL and at_b == ARROW}
        if above <= found:
            return found
        found |= above


def is_connecting(graph: MixedGraph | ADMG, path: Path, given: Iterable[str]) -> bool:
    """Tell whether non-colliders are outside ``given``, and colliders ancestors of it or of an end."""
    z = set(given)
    above = ancestors(graph, z | {path[0].a, path[-1].b})
    return all(v in above if collider else v not in z for v, collider in inner(path))


def m_separated(graph: MixedGraph | ADMG, x: str, y: str, given: Iterable[str]) -> bool:
    """Tell whether no path between x and y is m-connecting."""
    z = set(given)
    return not any(is_connecting(graph, path, z) for path in paths(graph, x, y))
