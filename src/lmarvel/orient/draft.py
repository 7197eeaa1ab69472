"""The graph while it is being oriented: the only graph of this package that changes.

A draft starts with a circle at every end. A mark is written once: a rule that wants an arrowhead where a
tail stands (or the reverse) is refused and the clash is kept, since with finite samples the tests can
contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL


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

    ``mark[x][y]`` is the mark at y on the edge x-y; nodes that are not adjacent have no entry. ``ambiguous`` holds
    unshielded triples (a, b, c), a < c, of which it is not known whether b is a collider; no rule uses them.
    """

    def __init__(self, n: int, edges: Iterable[tuple[int, int]]) -> None:
        self.mark: list[dict[int, int]] = [{} for _ in range(n)]
        self.log: list[RuleApplication] = []
        self.ambiguous: frozenset[tuple[int, int, int]] = frozenset()
        for x, y in edges:
            self.mark[x][y] = self.mark[y][x] = CIRCLE

    def adjacent(self, x: int, y: int) -> bool:
        """Tell whether two nodes share an edge."""
        return y in self.mark[x]

    def delete(self, x: int, y: int) -> None:
        """Remove an edge, with its marks."""
        del self.mark[x][y], self.mark[y][x]

    def gap(self, a: int, b: int, c: int) -> bool:
        """Tell whether the triple a, b, c is unshielded, and known to be a collider or not."""
        if c in self.mark[a]:
            return False
        return not self.ambiguous or (min(a, c), b, max(a, c)) not in self.ambiguous

    def directed(self, x: int, y: int) -> bool:
        """Tell whether x --> y."""
        return self.mark[x].get(y) == ARROW and self.mark[y][x] == TAIL

    def possibly_directed(self, x: int, y: int) -> bool:
        """Tell whether x -> y can be part of a potentially directed path: no arrowhead at x, no tail at y."""
        return self.mark[y][x] != ARROW and self.mark[x][y] != TAIL

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

    def matrix(self) -> NDArray[np.int8]:
        """Return the marks as the matrix of a :class:`~lmarvel.PAG`."""
        marks = np.zeros((len(self.mark), len(self.mark)), dtype=np.int8)
        ends = [(x, y, mark) for x, row in enumerate(self.mark) for y, mark in row.items()]
        if ends:
            x, y, values = zip(*ends, strict=True)
            marks[x, y] = values
        return marks
