"""All minimal sets that separate two nodes, one after another.

A set of ancestors of x and y separates them in an ancestral graph exactly if it cuts them apart in the *augmented*
graph of these ancestors, which joins every two nodes that a collider path joins [1]_; and a minimal one holds
ancestors only. So the minimal sets are the minimal cuts of an undirected graph. From the cut nearest to x, each
further one is found by pushing one of its nodes to the side of x [2]_, with a polynomial number of steps between one
and the next.

References
----------
.. [1] Richardson & Spirtes, Ancestral graph Markov models, Annals of Statistics 30 (2002), section 3.
.. [2] Shen & Liang, Efficient enumeration of all minimal separators in a graph, Theoretical Computer Science 180
   (1997); for ancestral graphs, van der Zander, Liśkiewicz & Textor (2014).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from lmarvel.graph.marks import ARROW
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.paths import closure, members, union


def augmented(graph: MixedGraph, within: int, x: int, cut: int) -> list[int]:
    """Return who is joined to whom in the augmented graph over ``within``, edges between x and ``cut`` left out."""

    def kept(v: int, w: int) -> bool:
        return bool(within >> w & 1) and not (v == x and cut >> w & 1) and not (w == x and cut >> v & 1)

    n = len(graph)
    near, arrows, spouses, into = [0] * n, [0] * n, [0] * n, [0] * n
    for v in members(within):
        for w, at_v, at_w in graph.links[v]:
            if kept(v, w):
                near[v] |= 1 << w
                arrows[v] |= (1 << w) * (at_w == ARROW)  # the nodes that an edge of v points at
                into[v] |= (1 << w) * (at_v == ARROW)
                spouses[v] |= (1 << w) * (at_v == at_w == ARROW)
    joined = [0] * n
    for v in members(within):
        colliders = closure(spouses, arrows[v])
        joined[v] = (near[v] | colliders | union(into, colliders)) & ~(1 << v)
    return joined


def minimal_separators(joined: list[int], x: int, y: int, allowed: int) -> Iterator[int]:
    """Iterate over the minimal sets inside ``allowed`` that cut x from y in an undirected graph.

    Examples
    --------
    >>> chain = [0b0010, 0b0101, 0b1010, 0b0100]  # 0 - 1 - 2 - 3
    >>> [bin(cut) for cut in minimal_separators(chain, 0, 3, 0b0110)]
    ['0b10', '0b100']
    """
    ends = 1 << x | 1 << y
    graph = _contracted(joined, allowed | ends)
    if graph[x] >> y & 1:
        return
    first = _boundary(graph, _component(graph, y, graph[x]))
    queue, seen = deque([first]), {first}
    while queue:
        cut = queue.popleft()
        yield cut
        side = _component(graph, x, cut)
        for v in members(cut & ~graph[y]):
            wall = _boundary(graph, side | 1 << v)
            following = _boundary(graph, _component(graph, y, wall))
            if following not in seen:
                seen.add(following)
                queue.append(following)


def _contracted(joined: list[int], kept: int) -> list[int]:
    """Return the graph over ``kept`` in which a path through the other nodes is an edge."""
    result = [0] * len(joined)
    for v in members(kept):
        through = {w: joined[w] & ~kept for w in members(~kept & ((1 << len(joined)) - 1))}
        passed = closure(through, joined[v] & ~kept)
        result[v] = (joined[v] | union(joined, passed)) & kept & ~(1 << v)
    return result


def _component(graph: list[int], of: int, without: int) -> int:
    """Return the nodes that a path outside ``without`` joins to a node, which is included."""
    reached = frontier = 1 << of
    while frontier:
        frontier = union(graph, frontier) & ~without & ~reached
        reached |= frontier
    return reached


def _boundary(graph: list[int], of: int) -> int:
    return union(graph, of) & ~of
