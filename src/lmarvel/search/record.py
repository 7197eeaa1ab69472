"""What a search has met on its way: the graphs of good score, and the time that is left.

The best graph is one of many that fit nearly as well. Those that the search comes by are kept, each once, as long as
they are within a distance of the best one: from them the support of a mark is read (:mod:`lmarvel.search.evidence`). A
graph is kept as it is met (its lists of edges); marks are made at the end, for those that are left.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import OutOfTime
from lmarvel.graph.bitsets import members
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.search.ancestral import BACK, BOTH, FORTH, NO_EDGE, UNDIRECTED, AncestralGraph, Marks
from lmarvel.search.constants import LIFT

_AT_FIRST = np.array([0, TAIL, ARROW, ARROW, TAIL], dtype=np.int8)  # by the kind of edge
_AT_SECOND = np.array([0, ARROW, TAIL, ARROW, TAIL], dtype=np.int8)
_TURNED = np.array([NO_EDGE, BACK, FORTH, BOTH, UNDIRECTED], dtype=np.uintc)
_KIND = np.zeros((TAIL + 1, TAIL + 1), dtype=np.uintc)  # by the marks at both ends
_KIND[_AT_FIRST[1:], _AT_SECOND[1:]] = (FORTH, BACK, BOTH, UNDIRECTED)

Progress = Callable[[str, int, int], None]


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
        self.noise = LIFT.noise_of(n)
        self.deadline = deadline
        self.best = math.inf
        self._progress = progress
        self._graphs: dict[bytes, float] = {}  # by their edges
        self._marks: dict[bytes, tuple[float, Marks]] = {}

    def check(self) -> None:
        """Raise if the time is up."""
        if self.deadline < math.inf and time.monotonic() > self.deadline:
            raise OutOfTime

    def seconds(self) -> float:
        """Return how many seconds are left."""
        return max(self.deadline - time.monotonic(), 0.0)

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell how far the search is."""
        self.check()
        if self._progress is not None:
            self._progress(stage, done, total)

    def see(self, score: float, graph: AncestralGraph) -> None:
        """Keep a graph, if it is good enough."""
        if not score > self.best + LIFT.near:
            self.see_edges([(score, edges_of(graph))])

    def see_edges(self, met: Iterable[tuple[float, bytes]]) -> None:
        """Keep graphs that are given by their edges, see :func:`edges_of`, if they are good enough."""
        for score, edges in met:
            if score > self.best + LIFT.near:
                continue
            self.best = min(self.best, score)
            self._graphs[edges] = score
            if len(self._graphs) > 4 * LIFT.most_seen:
                self._thin()

    def see_marks(self, score: float, marks: Marks) -> None:
        """Keep a graph that is given by its marks, with the best of its scores."""
        self.best = min(self.best, score)
        key = marks.tobytes()
        if key not in self._marks or score < self._marks[key][0]:
            self._marks[key] = (score, marks)

    def _thin(self) -> None:
        kept = sorted(self._graphs.items(), key=lambda item: item[1])[: LIFT.most_seen]
        self._graphs = {key: score for key, score in kept if score <= self.best + LIFT.near}

    def graphs(self) -> MetGraphs:
        """Return the graphs within reach of the best one, best first."""
        self._thin()
        found = [(score, edges_of_marks(marks)) for score, marks in self._marks.values()]
        found += [(score, edges) for edges, score in self._graphs.items()]
        found = [(score, edges) for score, edges in found if score <= self.best + LIFT.near]
        return MetGraphs(sorted(found, key=lambda item: item[0])[: LIFT.most_seen])


class MetGraphs(Sequence[tuple[float, Marks]]):
    """Graphs, each as score and marks; what is kept are their edges, for marks take the square of the variables.

    Examples
    --------
    >>> graphs = MetGraphs([(1.0, edges_of_dag([0, 0b01]))])
    >>> [(score, marks.tolist()) for score, marks in graphs.moved([1, 0])]
    [(1.0, [[0, 3], [2, 0]])]
    """

    def __init__(self, edges: Iterable[tuple[float, bytes]] = ()) -> None:
        self.edges = tuple(edges)

    def __len__(self) -> int:
        return len(self.edges)

    @overload
    def __getitem__(self, index: int) -> tuple[float, Marks]: ...
    @overload
    def __getitem__(self, index: slice) -> MetGraphs: ...
    def __getitem__(self, index: int | slice) -> tuple[float, Marks] | MetGraphs:
        if isinstance(index, slice):
            return MetGraphs(self.edges[index])
        score, edges = self.edges[index]
        return score, marks_of(edges)

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return sum(len(edges) for _, edges in self.edges) // int(np.uintc().itemsize)

    def moved(self, columns: Sequence[int]) -> MetGraphs:
        """Return the graphs over other positions: what was at i is at ``columns[i]``."""
        place = np.asarray(columns, dtype=np.uintc)
        return MetGraphs((score, _moved(edges, place)) for score, edges in self.edges)


def _moved(edges: bytes, place: NDArray[np.uintc]) -> bytes:
    codes = np.frombuffer(edges, dtype=np.uintc)
    p = codes[0]
    first, second = (place[end] for end in np.divmod(codes[1:] // 8, p))
    return _coded(int(p), first, second, _TURNED[codes[1:] % 8], codes[1:] % 8)


def _coded(p: int, first: Any, second: Any, turned: Any, kinds: Any) -> bytes:
    """Return edges with the smaller end first, ascending; ``turned`` are their kinds from the other end."""
    pairs = np.minimum(first, second) * p + np.maximum(first, second)
    codes = pairs * 8 + np.where(first < second, kinds, turned)
    return np.concatenate(([p], np.sort(codes))).astype(np.uintc).tobytes()


def edges_of_marks(marks: Marks) -> bytes:
    """Return a graph that is given by its marks as the list of its edges, see :func:`edges_of`.

    Examples
    --------
    >>> edges_of_marks(marks_of(edges_of_dag([0b100, 0b001, 0]))) == edges_of_dag([0b100, 0b001, 0])
    True
    """
    x, y = np.nonzero(np.triu(marks, 1))
    kinds = _KIND[marks[y, x], marks[x, y]]
    return _coded(len(marks), x, y, kinds, kinds)


def edges_of(graph: AncestralGraph) -> bytes:
    """Return a graph as the list of its edges: p, then for each pair x < y that is joined (x p + y) 8 + kind.

    Examples
    --------
    >>> list(memoryview(edges_of(AncestralGraph.of_parents([0, 0b001, 0b010]))).cast("I"))   # 0 --> 1 --> 2
    [3, 9, 41]
    """
    p = len(graph)
    pairs = ((x, y) for x in range(p) for y in members(graph.adjacent(x) >> x << x))
    return array("I", [p, *((x * p + y) * 8 + graph.edge(x, y) for x, y in pairs)]).tobytes()


def edges_of_dag(parents: Sequence[int]) -> bytes:
    """Return a DAG in the same form.

    Examples
    --------
    >>> edges_of_dag([0b100, 0b001, 0]) == edges_of(AncestralGraph.of_parents([0b100, 0b001, 0]))
    True
    """
    p = len(parents)
    edges = ((u, v) for v, mask in enumerate(parents) for u in members(mask))
    codes = sorted((u * p + v) * 8 + FORTH if u < v else (v * p + u) * 8 + BACK for u, v in edges)
    return array("I", [p, *codes]).tobytes()


def marks_of(edges: bytes) -> Marks:
    """Return the matrix of marks of a graph that is given by its edges.

    Examples
    --------
    >>> marks_of(edges_of(AncestralGraph.of_parents([0, 0b01]))).tolist()
    [[0, 2], [3, 0]]
    """
    codes = np.frombuffer(edges, dtype=np.uintc)
    p = int(codes[0])
    marks = np.zeros((p, p), dtype=np.int8)
    first, second = np.divmod(codes[1:] // 8, p)
    kinds = codes[1:] % 8
    marks[first, second] = _AT_SECOND[kinds]
    marks[second, first] = _AT_FIRST[kinds]
    return marks
