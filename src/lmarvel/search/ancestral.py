"""The graph that searches walk over: directed, bidirected and undirected edges, always ancestral.

A graph is ancestral if no arrowhead points at an ancestor (no directed cycle, and no edge u <-> w where u is an
ancestor of w) and a node with an undirected edge has no arrowhead at it. So an undirected edge may be put only between
nodes without parents and spouses, and an arrowhead only at a node without neighbours. Ancestors and descendants are
kept as bit sets, so that a move is judged without making it.

Functions on undirected graphs stand here as well: simplicial nodes, the direction of a chordal graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine.run import is_built, orient_graph
from lmarvel.graph.bitsets import closure, members
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import orient_mag
from lmarvel.orient.stated import stated_for_engine

NO_EDGE, FORTH, BACK, BOTH, UNDIRECTED = range(5)  # x and y not adjacent, x --> y, x <-- y, x <-> y, x --- y
MOVES = (FORTH, BACK, BOTH, NO_EDGE)  # of a search without undirected edges
KINDS = (*MOVES, UNDIRECTED)
GLYPHS = {NO_EDGE: "   ", FORTH: "-->", BACK: "<--", BOTH: "<->", UNDIRECTED: "---"}

Marks = NDArray[np.int8]


class Allowed(Protocol):
    """What more a graph has to be than ancestral; see :mod:`lmarvel.search.limits`."""

    def allows(self, graph: AncestralGraph, x: int, y: int, kind: int) -> bool:
        """Tell whether this edge may take the place of the present one."""

    def fits(self, graph: AncestralGraph) -> bool:
        """Tell whether the graph is allowed."""


class AncestralGraph:
    """An ancestral graph that changes edge by edge.

    Examples
    --------
    >>> graph = AncestralGraph(4)
    >>> graph.apply(0, 1, UNDIRECTED)
    >>> graph.apply(1, 2, FORTH)
    >>> graph.is_legal(3, 1, FORTH), graph.is_legal(3, 2, FORTH), graph.is_legal(2, 3, UNDIRECTED)
    (False, True, False)
    >>> graph.apply(2, 3, FORTH)
    >>> graph.is_legal(1, 3, BOTH), graph.is_legal(1, 3, BACK), graph.is_legal(1, 3, FORTH)
    (False, False, True)
    """

    def __init__(self, n: int) -> None:
        self.parents = [0] * n
        self.children = [0] * n
        self.spouses = [0] * n
        self.neighbors = [0] * n
        self.ancestors = [1 << v for v in range(n)]  # each with itself
        self.descendants = [1 << v for v in range(n)]
        self.n_edges = 0
        self.limits: Allowed | None = None

    @classmethod
    def of_parents(cls, parents: Sequence[int]) -> AncestralGraph:
        """Return the DAG in which each node has these parents."""
        graph = cls(len(parents))
        for v, mask in enumerate(parents):
            for u in members(mask):
                graph.set_edge(u, v, FORTH)
        graph._close()
        return graph

    @classmethod
    def of_marks(cls, marks: Marks) -> AncestralGraph:
        """Return the graph of a matrix of marks, which must be that of an ancestral graph."""
        graph = cls(len(marks))
        kinds = {(TAIL, ARROW): FORTH, (ARROW, TAIL): BACK, (ARROW, ARROW): BOTH, (TAIL, TAIL): UNDIRECTED}
        for x, y in np.argwhere(np.triu(marks)).tolist():
            graph.set_edge(x, y, kinds[int(marks[y, x]), int(marks[x, y])])
        graph._close()
        return graph

    @classmethod
    def of_sets(
        cls,
        parents: list[int],
        children: list[int],
        spouses: list[int],
        neighbors: list[int],
        ancestors: list[int],
        descendants: list[int],
        n_edges: int,
    ) -> AncestralGraph:
        """Return the graph with these sets, which must belong together."""
        graph = cls.__new__(cls)
        graph.parents, graph.children, graph.spouses, graph.neighbors = parents, children, spouses, neighbors
        graph.ancestors, graph.descendants, graph.n_edges = ancestors, descendants, n_edges
        graph.limits = None
        return graph

    def copy(self) -> AncestralGraph:
        """Return a graph of its own with the same edges."""
        twin = AncestralGraph.__new__(AncestralGraph)
        twin.n_edges, twin.limits = self.n_edges, self.limits
        twin.parents, twin.children = self.parents.copy(), self.children.copy()
        twin.spouses, twin.neighbors = self.spouses.copy(), self.neighbors.copy()
        twin.ancestors, twin.descendants = self.ancestors.copy(), self.descendants.copy()
        return twin

    def __len__(self) -> int:
        return len(self.parents)

    # --- edges ------------------------------------------------------------------------------------------

    def edge(self, x: int, y: int) -> int:
        """Return which edge joins x and y."""
        if self.children[x] >> y & 1:
            return FORTH
        if self.parents[x] >> y & 1:
            return BACK
        if self.neighbors[x] >> y & 1:
            return UNDIRECTED
        return BOTH if self.spouses[x] >> y & 1 else NO_EDGE

    def set_edge(self, x: int, y: int, kind: int) -> None:
        """Put an edge in place of the present one, and leave ancestors as they are: for looking, not for moving."""
        at_x, at_y = 1 << x, 1 << y
        self.n_edges += (kind != NO_EDGE) - (self.edge(x, y) != NO_EDGE)
        for sets in (self.parents, self.children, self.spouses, self.neighbors):
            sets[x] &= ~at_y
            sets[y] &= ~at_x
        if kind == FORTH:
            self.children[x] |= at_y
            self.parents[y] |= at_x
        elif kind == BACK:
            self.children[y] |= at_x
            self.parents[x] |= at_y
        elif kind != NO_EDGE:
            sets = self.spouses if kind == BOTH else self.neighbors
            sets[x] |= at_y
            sets[y] |= at_x

    def apply(self, x: int, y: int, kind: int) -> None:
        """Make a legal move."""
        self.set_edge(x, y, kind)
        self._close()

    def adjacent(self, v: int) -> int:
        """Return all nodes that are joined to v."""
        return self.parents[v] | self.children[v] | self.spouses[v] | self.neighbors[v]

    def district(self, v: int) -> int:
        """Return the nodes that bidirected edges join to v, with v."""
        mask = 1 << v
        return closure(self.spouses, mask) if self.spouses[v] else mask

    def block(self, v: int) -> int:
        """Return the district of v, or its component of undirected edges where it has such."""
        return closure(self.neighbors, 1 << v) if self.neighbors[v] else self.district(v)

    def has_selection(self) -> bool:
        """Tell whether some undirected component is not chordal: no graph without selection has this class."""
        return bool(take_off_simplicial(self.neighbors, (1 << len(self)) - 1)[1])

    def _close(self) -> bool:
        """Find all ancestors and descendants: causes first, then effects first. Tell whether there is no cycle."""
        n = len(self.parents)
        missing = [mask.bit_count() for mask in self.parents]
        order = [v for v in range(n) if not missing[v]]
        for v in order:  # grows while it is read
            above = 1 << v
            for u in members(self.parents[v]):
                above |= self.ancestors[u]
            self.ancestors[v] = above
            for w in members(self.children[v]):
                missing[w] -= 1
                if not missing[w]:
                    order.append(w)
        for v in reversed(order):
            below = 1 << v
            for w in members(self.children[v]):
                below |= self.descendants[w]
            self.descendants[v] = below
        return len(order) == n

    # --- legality ---------------------------------------------------------------------------------------

    def is_legal(self, x: int, y: int, kind: int) -> bool:
        """Tell whether the graph stays ancestral, and within its limits, with this edge in place of the present one."""
        return self._stays_ancestral(x, y, kind) and (self.limits is None or self.limits.allows(self, x, y, kind))

    def _stays_ancestral(self, x: int, y: int, kind: int) -> bool:
        if kind == NO_EDGE:
            return True
        at_x, at_y = 1 << x, 1 << y
        if kind == UNDIRECTED:
            return not ((self.parents[x] | self.spouses[x]) & ~at_y or (self.parents[y] | self.spouses[y]) & ~at_x)
        if (kind != FORTH and self.neighbors[x] & ~at_y) or (kind != BACK and self.neighbors[y] & ~at_x):
            return False
        if kind == BOTH:
            return not (self._without(x, y) >> y & 1 or self._without(y, x) >> x & 1)
        if kind == BACK:
            x, y = y, x
        # x --> y makes everything above x an ancestor of everything below y.
        below = self._without(y, x)
        if below >> x & 1:
            return False
        above = self.ancestors[x]
        if self.parents[x] >> y & 1:
            above = 1 << x
            for u in members(self.parents[x] & ~(1 << y)):
                above |= self.ancestors[u]
        for w in members(below):
            joined = self.spouses[w] & above
            if joined and not (w == y and joined == 1 << x):  # x <-> y itself is what the move replaces
                return False
        return True

    def _without(self, v: int, w: int) -> int:
        """Return the descendants of v in the graph without the edge v-w."""
        if not self.children[v] >> w & 1:
            return self.descendants[v]
        below = 1 << v
        for u in members(self.children[v] & ~(1 << w)):
            below |= self.descendants[u]
        return below

    def settle(self) -> bool:
        """Find ancestors and descendants after several edges were set; tell whether the graph is one that may be."""
        ancestral = self._close() and not any(
            self.spouses[v] & (self.ancestors[v] | self.descendants[v])
            or (self.neighbors[v] and self.parents[v] | self.spouses[v])
            for v in range(len(self))
        )
        return ancestral and (self.limits is None or self.limits.fits(self))

    def marks(self) -> Marks:
        """Return the matrix of marks."""
        n = len(self.parents)
        marks = np.zeros((n, n), dtype=np.int8)
        for v in range(n):
            for u in members(self.parents[v]):
                marks[u, v], marks[v, u] = ARROW, TAIL
            for u in members(self.spouses[v]):
                marks[u, v] = ARROW
            for u in members(self.neighbors[v]):
                marks[u, v] = TAIL
        return marks


def direct_chordal(graph: AncestralGraph) -> AncestralGraph:
    """Return a graph of the same class in which the chordal undirected components are directed.

    Nothing points into an undirected component, so directing it without new colliders changes no separation; and an
    arrow may enter it again.

    Examples
    --------
    >>> graph = AncestralGraph(3)
    >>> graph.apply(0, 1, UNDIRECTED)
    >>> graph.apply(1, 2, UNDIRECTED)
    >>> direct_chordal(graph).parents == [0b010, 0b100, 0]
    True
    """
    twin = graph.copy()
    done = 0
    for v in range(len(graph)):
        if not graph.neighbors[v] or done >> v & 1:
            continue
        component = closure(graph.neighbors, 1 << v)
        done |= component
        taken, left = take_off_simplicial(graph.neighbors, component)
        if left:
            continue
        for w, clique in taken:
            for u in members(clique):
                twin.set_edge(u, w, FORTH)
    twin._close()
    return graph if twin.limits is not None and not twin.limits.fits(twin) else twin


def take_off_simplicial(adjacent: Sequence[int], nodes: int) -> tuple[list[tuple[int, int]], int]:
    """Take simplicial nodes off an undirected graph; return each with its clique, in order, and what is left.

    A node is simplicial if all that it is joined to is joined. A graph is chordal exactly if nothing is left
    (Fulkerson & Gross 1965).

    Examples
    --------
    >>> path, square = [0b010, 0b101, 0b010], [0b1010, 0b0101, 0b1010, 0b0101]
    >>> take_off_simplicial(path, 0b111), take_off_simplicial(square, 0b1111)
    (([(0, 2), (1, 4), (2, 0)], 0), ([], 15))
    """
    taken = []
    again = True
    while again:
        again = False
        for v in members(nodes):
            around = adjacent[v] & nodes
            if all(not around & ~adjacent[w] & ~(1 << w) for w in members(around)):
                taken.append((v, around))
                nodes &= ~(1 << v)
                again = True
    return taken, nodes


def pag_of(marks: Marks, selection: bool = True, known: Known | None = None) -> Marks:
    """Return the marks of the PAG of a maximal ancestral graph, with those that follow from what is known.

    Examples
    --------
    >>> pag_of(np.array([[0, 2], [3, 0]], np.int8)).tolist()
    [[0, 1], [1, 0]]
    """
    if is_built():
        return orient_graph(marks, selection, None if known is None else stated_for_engine(known))
    names = tuple(f"X{v}" for v in range(len(marks)))
    return np.asarray(orient_mag(MAG._trusted(names, marks), selection, known).marks)
