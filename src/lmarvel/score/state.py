"""The graph that M3HC walks over: directed and bidirected edges, always ancestral.

A graph is ancestral if no arrowhead points at an ancestor: no directed cycle, and no edge u <-> w where u is an
ancestor of w. Ancestors and descendants are kept as bit sets, so that a move is judged without making it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.paths import closure, members

NO_EDGE, FORTH, BACK, BOTH = range(4)  # x and y not adjacent, x --> y, x <-- y, x <-> y
MOVES = (FORTH, BACK, BOTH, NO_EDGE)
GLYPHS = {NO_EDGE: "   ", FORTH: "-->", BACK: "<--", BOTH: "<->"}


class State:
    """An ancestral graph with directed and bidirected edges, and its ancestors.

    Examples
    --------
    >>> state = State(3)
    >>> state.apply(0, 1, FORTH)
    >>> state.apply(1, 2, FORTH)
    >>> state.is_legal(0, 2, BOTH), state.is_legal(0, 2, BACK), state.is_legal(0, 2, FORTH)
    (False, False, True)
    """

    def __init__(self, n: int) -> None:
        self.parents = [0] * n
        self.children = [0] * n
        self.spouses = [0] * n
        self.ancestors = [1 << v for v in range(n)]  # each with itself
        self.descendants = [1 << v for v in range(n)]
        self.n_edges = 0

    # --- edges ------------------------------------------------------------------------------------------

    def edge(self, x: int, y: int) -> int:
        """Return which edge joins x and y."""
        if self.children[x] >> y & 1:
            return FORTH
        if self.parents[x] >> y & 1:
            return BACK
        return BOTH if self.spouses[x] >> y & 1 else NO_EDGE

    def set_edge(self, x: int, y: int, kind: int) -> None:
        """Put an edge in place of the present one, and leave ancestors as they are: for looking, not for moving."""
        at_x, at_y = 1 << x, 1 << y
        self.n_edges += (kind != NO_EDGE) - (self.edge(x, y) != NO_EDGE)
        for sets in (self.parents, self.children, self.spouses):
            sets[x] &= ~at_y
            sets[y] &= ~at_x
        if kind == FORTH:
            self.children[x] |= at_y
            self.parents[y] |= at_x
        elif kind == BACK:
            self.children[y] |= at_x
            self.parents[x] |= at_y
        elif kind == BOTH:
            self.spouses[x] |= at_y
            self.spouses[y] |= at_x

    def apply(self, x: int, y: int, kind: int) -> None:
        """Make a legal move."""
        self.set_edge(x, y, kind)
        self._close()

    def district(self, v: int) -> int:
        """Return the nodes that bidirected edges join to v, with v."""
        mask = 1 << v
        return closure(self.spouses, mask) if self.spouses[v] else mask

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

    # --- moves ------------------------------------------------------------------------------------------

    def is_legal(self, x: int, y: int, kind: int) -> bool:
        """Tell whether the graph stays ancestral with this edge in place of the present one."""
        if kind == NO_EDGE:
            return True
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

    # --- out --------------------------------------------------------------------------------------------

    def marks(self) -> NDArray[np.int8]:
        """Return the matrix of marks."""
        n = len(self.parents)
        marks = np.zeros((n, n), dtype=np.int8)
        for v in range(n):
            for u in members(self.parents[v]):
                marks[u, v], marks[v, u] = ARROW, TAIL
            for u in members(self.spouses[v]):
                marks[u, v] = ARROW
        return marks
