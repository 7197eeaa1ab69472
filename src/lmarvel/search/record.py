"""What a search has met on its way: the graphs of good score, and the time that is left.

The best graph is one of many that fit nearly as well. Those that the search comes by are kept, each once, as long as
they are within a distance of the best one: from them the support of a mark is read (:mod:`lmarvel.search.support`). A
graph is kept as it is met (its lists of edges); marks are made at the end, for those that are left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.paths import members
from lmarvel.search.ancestral import AncestralGraph, Marks

NEAR = 100.0  # in units of the score
MOST = 400
NOISE = 1e-6

Progress = Callable[[str, int, int], None]


class OutOfTime(Exception):
    """The deadline has passed."""


class Record:
    """The graphs of good score that a search met.

    Parameters
    ----------
    n : float
        Rows. Differences of scores below a share of it are rounding.
    deadline : float
        When :func:`time.monotonic` passes this, :meth:`check` raises :class:`OutOfTime`.
    progress : callable, optional
        Called with (stage, steps done, steps), as far as they are known.

    Examples
    --------
    >>> record = Record()
    >>> record.see(12.0, AncestralGraph(2))
    >>> record.see(11.0, AncestralGraph.of_parents([0, 1]))
    >>> [score for score, marks in record.graphs()]
    [11.0, 12.0]
    """

    def __init__(self, n: float = 1.0, deadline: float = math.inf, progress: Progress | None = None) -> None:
        # Fits end within 1e-12 of their maximum per row.
        self.noise = max(NOISE, 1e-11 * n)
        self.deadline = deadline
        self.best = math.inf
        self._progress = progress
        self._graphs: dict[tuple[int, ...], float] = {}
        self._marks: dict[bytes, tuple[float, Marks]] = {}

    def check(self) -> None:
        """Raise if the time is up."""
        if self.deadline < math.inf and time.monotonic() > self.deadline:
            raise OutOfTime

    @property
    def is_watched(self) -> bool:
        """Whether somebody is told how far the search is."""
        return self._progress is not None

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell how far the search is."""
        self.check()
        if self._progress is not None:
            self._progress(stage, done, total)

    def see(self, score: float, graph: AncestralGraph) -> None:
        """Keep a graph, if it is good enough."""
        if score > self.best + NEAR:
            return
        self.best = min(self.best, score)
        key = (*graph.parents, *graph.spouses, *graph.neighbors)
        self._graphs[key] = score
        if len(self._graphs) > 4 * MOST:
            self._thin()

    def see_marks(self, score: float, marks: Marks) -> None:
        """Keep a graph that is given by its marks, with the best of its scores."""
        self.best = min(self.best, score)
        key = marks.tobytes()
        if key not in self._marks or score < self._marks[key][0]:
            self._marks[key] = (score, marks)

    def _thin(self) -> None:
        kept = sorted(self._graphs.items(), key=lambda item: item[1])[:MOST]
        self._graphs = {key: score for key, score in kept if score <= self.best + NEAR}

    def graphs(self) -> list[tuple[float, Marks]]:
        """Return score and marks of the graphs within reach of the best one, best first."""
        self._thin()
        found = list(self._marks.values())
        found += [(score, _marks_of(key)) for key, score in self._graphs.items()]
        found = [(score, marks) for score, marks in found if score <= self.best + NEAR]
        return sorted(found, key=lambda item: item[0])[:MOST]


def _marks_of(key: tuple[int, ...]) -> Marks:
    n = len(key) // 3
    marks = np.zeros((n, n), dtype=np.int8)
    for v in range(n):
        for u in members(key[v]):
            marks[u, v], marks[v, u] = ARROW, TAIL
        marks[list(members(key[n + v])), v] = ARROW
        marks[list(members(key[2 * n + v])), v] = TAIL
    return marks
