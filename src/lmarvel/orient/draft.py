"""The graph while it is being oriented: the only graph of this package that changes.

A draft starts with a circle at every end. A mark is written once: a rule that wants an arrowhead where a
tail stands (or the reverse) is refused and the clash is kept, since with finite samples the tests can
contradict each other.

A pair that a budget left *undecided* is neither an edge nor a gap: the rules do not see it. They ask a draft for the
edges that are known (``mark``) and for the pairs that are known to be no edge (:meth:`Draft.not_adjacent`), and an
undecided pair is in neither. It comes back as o-o in the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import OutOfTime
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge.closure import Known

Pairs = Collection[tuple[int, int]] | NDArray[np.integer]
"""Pairs of nodes, as tuples or as an array of two columns."""

IsCollider = Callable[[int, int, int, int], bool]
"""(v, a, b, c) -> is b a collider between a and c, where v is the end that a separating set with c is known of?

Under R0 v is a itself; under R4 v is the far end of the discriminating path.
"""

_TICKS = 64  # looks at the clock are this many steps apart: a step can take less time than a look


@dataclass(frozen=True, slots=True)
class RuleApplication:
    """One use of an orientation rule: which rule, on which nodes, and the marks that it wrote or wanted.

    Attributes
    ----------
    rule : str
        "R0" to "R10".
    nodes : tuple of int
        The nodes that triggered it, in the order of the rule's statement.
    written : tuple of (int, int, int)
        Triples (x, y, mark): the rule wrote this mark at y on the edge x-y.
    refused : tuple of (int, int, int)
        Marks that the rule asked for where another mark stood already.
    """

    rule: str
    nodes: tuple[int, ...]
    written: tuple[tuple[int, int, int], ...]
    refused: tuple[tuple[int, int, int], ...] = ()


class Draft:
    """A graph with marks that can be written, each once.

    Parameters
    ----------
    n : int
        The number of nodes.
    edges : pairs
        The skeleton. Those that are undecided too count as undecided.
    is_collider : callable
        See :data:`IsCollider`.
    ambiguous : collection of (int, int, int)
        Unshielded triples (a, b, c), a < c, of which it is not known whether b is a collider; no rule uses them.
    undecided : pairs
        Pairs that may be adjacent or not.
    deadline : float
        When :func:`time.monotonic` passes this, :meth:`tick` raises.
    known : Known, optional
        What is known beforehand; the rules of :mod:`lmarvel.orient.stated` read it.

    Attributes
    ----------
    mark : list of dict
        ``mark[x][y]`` is the mark at y on the edge x-y; nodes that are not adjacent have no entry.
    """

    def __init__(
        self,
        n: int,
        edges: Iterable[tuple[int, int]] | Pairs,
        is_collider: IsCollider = lambda v, a, b, c: False,
        ambiguous: Collection[tuple[int, int, int]] = (),
        undecided: Pairs = (),
        deadline: float = math.inf,
        known: Known | None = None,
    ) -> None:
        self.known = known
        self.of_mag = False  # whether all follows from the colliders of a MAG
        self.mark: list[dict[int, int]] = [{} for _ in range(n)]
        self.log: list[RuleApplication] = []
        self.is_collider = is_collider
        self.ambiguous = set(ambiguous)
        self.deadline = deadline
        self._ticks = 0
        self._undecided: NDArray[np.bool_] | None = None
        self._rows: list[memoryview] = []  # of the same memory: a single look-up in an array is slow
        if len(undecided):
            x, y = _as_array(undecided).T
            self._undecided = np.zeros((n, n), dtype=bool)
            self._undecided[x, y] = self._undecided[y, x] = True
            self._rows = [row.data for row in self._undecided]
            edges = _as_array(edges)
            edges = edges[~self._undecided[edges[:, 0], edges[:, 1]]]
        for x, y in edges.tolist() if isinstance(edges, np.ndarray) else edges:
            self.mark[x][y] = self.mark[y][x] = CIRCLE

    def tick(self) -> None:
        """Take notice of the clock, once in a number of calls; every loop that can be long calls this."""
        if self._ticks % _TICKS == 0 and self.deadline < math.inf and time.monotonic() > self.deadline:
            raise OutOfTime
        self._ticks += 1

    def not_adjacent(self, x: int, y: int) -> bool:
        """Tell whether two nodes are known to share no edge."""
        return y not in self.mark[x] and not (self._rows and self._rows[x][y])

    def gap(self, a: int, b: int, c: int) -> bool:
        """Tell whether the triple a, b, c, whose edges are there, is unshielded, and known to be a collider or not."""
        if not self.not_adjacent(a, c):
            return False
        return not self.ambiguous or (min(a, c), b, max(a, c)) not in self.ambiguous

    def unshielded(self, a: int, b: int, c: int) -> bool:
        """Tell whether a-b and b-c are edges and a-c is known to be none."""
        return a in self.mark[b] and c in self.mark[b] and self.not_adjacent(a, c)

    def directed(self, x: int, y: int) -> bool:
        """Tell whether x --> y."""
        return self.mark[x].get(y) == ARROW and self.mark[y][x] == TAIL

    def possibly_directed(self, x: int, y: int) -> bool:
        """Tell whether x -> y can be part of a potentially directed path: no arrowhead at x, no tail at y."""
        return self.mark[y][x] != ARROW and self.mark[x][y] != TAIL

    def delete(self, x: int, y: int) -> None:
        """Remove an edge with its marks, or an undecided pair: the two are known to share no edge."""
        self.mark[x].pop(y, None)
        self.mark[y].pop(x, None)
        if self._undecided is not None:
            self._undecided[x, y] = self._undecided[y, x] = False

    def apply(self, rule: str, nodes: Iterable[int], wanted: Iterable[tuple[int, int, int]]) -> RuleApplication | None:
        """Write what a rule asks for; return what was done, or None if it all stood there already."""
        written, refused = [], []
        for x, y, mark in wanted:
            if self.mark[x][y] == CIRCLE:
                self.mark[x][y] = mark
                written.append((x, y, mark))
            elif self.mark[x][y] != mark:
                refused.append((x, y, mark))
        if not written and not refused:
            return None
        application = RuleApplication(rule, tuple(nodes), tuple(written), tuple(refused))
        if written or application not in self.log[-1:]:
            self.log.append(application)
        return application

    def undecided(self) -> list[tuple[int, int]]:
        """Return the pairs that are undecided, each in both directions."""
        return [] if self._undecided is None else [(x, y) for x, y in np.argwhere(self._undecided).tolist()]

    def matrix(self) -> NDArray[np.int8]:
        """Return the marks as the matrix of a :class:`~lmarvel.PAG`, undecided pairs as o-o."""
        n = len(self.mark)
        marks = np.zeros((n, n), dtype=np.int8)
        if self._undecided is not None:
            marks[self._undecided] = CIRCLE
        x = np.repeat(np.arange(n), [len(row) for row in self.mark])
        y = np.fromiter(chain.from_iterable(self.mark), dtype=np.intp, count=len(x))
        marks[x, y] = np.fromiter(chain.from_iterable(row.values() for row in self.mark), dtype=np.int8, count=len(x))
        return marks


def _as_array(pairs: Iterable[tuple[int, int]] | Pairs) -> NDArray[np.integer]:
    """Return pairs as an array of two columns."""
    if isinstance(pairs, np.ndarray):
        return pairs.reshape(-1, 2)
    return np.fromiter(chain.from_iterable(pairs), dtype=np.intp).reshape(-1, 2)
