"""m-separation, and the inducing paths that decide adjacency in a projection.

A path is m-connecting given Z if every non-collider on it is outside Z and every collider is an ancestor of
Z or of an end; for walks, which may turn round at a member of Z, it comes to the same if colliders are ancestors of
Z. The search walks over states *(node, did the last edge point into it?)*, of which there are
two per node: that makes it linear in the edges. In graphs where no arrowhead meets an undirected edge (all
ancestral graphs, all ADMGs) a connecting walk exists exactly if a connecting path does.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.graph.mixed import MixedGraph


def require_marks(graph: MixedGraph) -> None:
    """Refuse a graph on which m-separation is not defined."""
    if graph.__dict__.get("_separable"):
        return
    for v, links in enumerate(graph.links):
        arrows = [w for w, near, _ in links if near == ARROW]
        for w, near, far in links:
            a, b = readable(graph.names[v]), readable(graph.names[w])
            if CIRCLE in (near, far):
                raise GraphError(
                    f"the edge {a}-{b} has a circle: m-separation is defined on DAGs, MAGs and ADMGs;"
                    " turn a PAG into one of its MAGs with pag_to_mag first"
                )
            if arrows and near == TAIL and far == TAIL:
                c = readable(graph.names[arrows[0]])
                raise GraphError(
                    f"the undirected edge {a} --- {b} meets the arrowhead at {a} from {c}:"
                    " m-separation is defined on ancestral graphs and ADMGs"
                )
    graph.__dict__["_separable"] = True


def m_separated(graph: MixedGraph, xs: int, ys: int, zs: int) -> bool:
    """Tell whether the bit set zs separates xs from ys. Time: linear in the edges."""
    return not _reach(graph, xs, closed=zs, colliders=closure(graph.masks.parents, zs), stop=ys) & ys


def total_boundary(graph: MixedGraph, x: int, observed: int, selection: int) -> int:
    """Return every observed y that depends on x given all other observed nodes and the selection ones.

    This is the Markov boundary of x in the projected MAG, found with one search: conditioning on y itself
    only matters behind y, where nothing is looked for.
    """
    rest = (observed | selection) & ~(1 << x)
    opened = closure(graph.masks.parents, observed | selection)
    return _reach(graph, 1 << x, closed=rest, colliders=opened) & observed & ~(1 << x)


def _reach(graph: MixedGraph, sources: int, closed: int, colliders: int, stop: int = 0) -> int:
    """Return the nodes that a walk reaches whose non-colliders avoid ``closed`` and whose colliders are in
    ``colliders``; end early at the first node of ``stop``."""
    links = graph.links
    reached = 0
    seen = bytearray(2 * len(links))
    stack = []
    for x in members(sources):
        for w, _, far in links[x]:
            state = 2 * w + (far == ARROW)
            if not seen[state]:
                seen[state] = 1
                stack.append(state)
    while stack:
        state = stack.pop()
        v, into = state >> 1, state & 1
        reached |= 1 << v
        if reached & stop:
            return reached
        passes = not closed >> v & 1
        collides = colliders >> v & 1 if into else passes
        if not (passes or collides):
            continue
        for w, near, far in links[v]:
            if collides if near == ARROW else passes:
                state = 2 * w + (far == ARROW)
                if not seen[state]:
                    seen[state] = 1
                    stack.append(state)
    return reached


def inducing_reach(graph: MixedGraph, x: int, latent: int, colliders: int) -> int:
    """Return the ends of all walks from x whose non-colliders are latent and whose colliders are allowed."""
    everything = (1 << len(graph)) - 1
    return _reach(graph, 1 << x, closed=everything & ~latent, colliders=colliders)


def has_inducing_path(graph: MixedGraph, x: int, y: int, latent: int, selection: int) -> bool:
    """Tell whether x and y are adjacent in the projection relative to <latent, selection>."""
    allowed = closure(graph.masks.parents, bits((x, y)) | selection)
    everything = (1 << len(graph)) - 1
    return bool(_reach(graph, 1 << x, everything & ~latent, allowed, stop=1 << y) >> y & 1)


def inducing_path(graph: MixedGraph, x: int, y: int, latent: int, selection: int) -> list[int] | None:
    """Return a shortest inducing path, for messages and for the curious."""
    if not has_inducing_path(graph, x, y, latent, selection):
        return None
    allowed = closure(graph.masks.parents, bits((x, y)) | selection)
    queue: deque[list[int]] = deque([[x]])
    while queue:  # breadth first over simple paths; one exists, since a connecting walk does
        path = queue.popleft()
        v = path[-1]
        into = len(path) > 1 and graph.marks[path[-2], v] == ARROW
        for w, near, _ in graph.links[v]:
            if w in path:
                continue
            if len(path) > 1:
                collider = into and near == ARROW
                if not (allowed if collider else latent) >> v & 1:
                    continue
            if w == y:
                return [*path, w]
            queue.append([*path, w])
    return None
