"""Latent projection (Definition 2): the MAG over what is observed, given what selected the sample.

Two observed nodes are adjacent if an inducing path relative to <latent, selection> joins them; the mark at
X on the edge X-Y is a tail if X is an ancestor of Y or of a selection variable, else an arrowhead. The same
definition with *anterior* (through directed and undirected edges) in place of *ancestor* projects a MAG
further [1]_, so a projection can be made in steps.

For each X one search with the most generous rule for colliders gives the candidates, one with the
strictest gives those that are adjacent for sure; only the difference is looked at pair by pair.

References
----------
.. [1] Richardson & Spirtes, Ancestral graph Markov models, Annals of Statistics 30 (2002), section 4.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members, union
from lmarvel.graph.marks import ARROW, TAIL, Edge, Mark
from lmarvel.graph.separation import has_inducing_path, inducing_reach, require_marks
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.graph.mixed import MixedGraph, Node


def split_roles(graph: MixedGraph, latent: Iterable[Node], selection: Iterable[Node]) -> tuple[list[int], int, int]:
    """Check the roles; return the observed positions, and the latent and selection nodes as bit sets."""
    roles: list[int] = []
    for role, nodes in (("latent", latent), ("selection", selection)):
        listed = [nodes] if isinstance(nodes, str) else list(nodes)
        where = [graph.index(v) for v in listed]
        for v, count in Counter(where).items():
            if count > 1:
                raise GraphError(f"{readable(graph.names[v])} is listed twice among the {role} nodes")
        roles.append(bits(where))
    if roles[0] & roles[1]:
        both = ", ".join(readable(graph.names[v]) for v in members(roles[0] & roles[1]))
        raise GraphError(f"{both} cannot be both latent and selection: choose one role for each node")
    hidden = roles[0] | roles[1]
    return [v for v in range(len(graph)) if not hidden >> v & 1], roles[0], roles[1]


def project(
    graph: MixedGraph, latent: Iterable[Node], selection: Iterable[Node]
) -> tuple[tuple[str, ...], NDArray[np.int8]]:
    """Return the names and marks of the projected MAG."""
    require_marks(graph)
    observed, hidden, selected = split_roles(graph, latent, selection)
    parents = graph.masks.parents
    anterior = [up | side for up, side in zip(parents, graph.masks.neighbors, strict=True)]
    everywhere = closure(parents, bits(observed) | selected)
    causes_selection = closure(anterior, selected)
    place = {v: i for i, v in enumerate(observed)}
    seen = bits(observed)
    # For each x: its anterior set, the surely adjacent, and all candidates.
    ant = {x: closure(anterior, 1 << x) | causes_selection for x in observed}
    anc_selected = closure(parents, selected)
    sure = {x: inducing_reach(graph, x, hidden, closure(parents, 1 << x) | anc_selected) for x in observed}
    marks = np.zeros((len(observed), len(observed)), dtype=np.int8)
    for x in observed:
        later = seen >> (x + 1) << (x + 1)
        for y in members(inducing_reach(graph, x, hidden, everywhere) & later):
            if sure[x] >> y & 1 or sure[y] >> x & 1 or has_inducing_path(graph, x, y, hidden, selected):
                i, j = place[x], place[y]
                marks[j, i] = TAIL if ant[y] >> x & 1 else ARROW
                marks[i, j] = TAIL if ant[x] >> y & 1 else ARROW
    return tuple(graph.names[v] for v in observed), marks


def without_latent(dag: MixedGraph, latent: Iterable[Node]) -> tuple[tuple[str, ...], list[Edge]]:
    """Return names and edges of the ADMG over the other nodes of a DAG, which keeps what is an effect and what is not.

    A directed path through latent nodes becomes an arrow. Two nodes that such paths join to one latent node get
    ``<->``, beside an arrow that they may have.
    """
    observed, hidden, _ = split_roles(dag, latent, ())
    children = dag.masks.children

    def reached(v: int) -> list[int]:
        through = {w: children[w] & hidden for w in members(hidden)}
        passed = closure(through, children[v] & hidden)
        return list(members((union(children, passed) | children[v]) & ~hidden))

    names = dag.names
    arrows = [Edge(names[v], names[w], Mark.TAIL, Mark.ARROW) for v in observed for w in reached(v)]
    pairs = dict.fromkeys(pair for u in members(hidden) for pair in combinations(reached(u), 2))
    joined = [Edge(names[v], names[w], Mark.ARROW, Mark.ARROW) for v, w in pairs]
    return tuple(names[v] for v in observed), [*arrows, *joined]
