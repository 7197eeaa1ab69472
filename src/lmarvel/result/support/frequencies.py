"""How often each part of a graph recurs when the rows are drawn again: :class:`Stability`.

Each replicate of a bootstrap gives a PAG. Counted are, for every pair, the replicates in which the two are adjacent;
for each end of an edge, which mark it had; and two claims that follow from a whole PAG, in every MAG of its class:

* x *causes* y: a path of arrows x --> ... --> y leads from x to y;
* x *does not cause* y: no path leads from x to y along which no arrowhead points back.

Where the sample may be selected, both are claimed only of an x at which there is an arrowhead. Any other x may cause
being in the sample; then a tail at x can come from that alone, and what x does to y by way of it cannot be seen.

The claims are sound, and not all that can be said: a PAG may imply more than its single paths show.

What recurs is not thereby true. A method that errs in the same way on every resample errs with a frequency of 1.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW, CIRCLE, NONE, TAIL
from lmarvel.result.file.records import text, whole

Counts = NDArray[np.int32]
Marks = NDArray[np.int8]
_MATRICES = 6  # of counts, see Stability.counts


@dataclass(frozen=True, eq=False)
class Stability:
    """Frequencies over the replicates of a bootstrap.

    Attributes
    ----------
    names : tuple of str
        The variables.
    replicates : int
        How many graphs were learned.
    adjacent : array of shape (p, p)
        In how many of them the two are adjacent.
    marks : array of shape (3, p, p)
        In how many of them the mark at y on x-y is a circle, an arrowhead, a tail: ``marks[k, x, y]``.
    causes, not_causes : array of shape (p, p)
        In how many of them x causes y in all MAGs, and in none.
    drawn : int
        Number of resamples drawn. Those beyond ``replicates`` could not be learned from: a column became constant,
        say, or a copy of another.
    seed : int
        What they were drawn from.

    Examples
    --------
    >>> one, other = (PAG.from_edges(*edges, nodes=["A", "B", "C"]) for edges in (["A o-> C", "B o-> C"], ["A o-o C"]))
    >>> found = Stability.of([one, one, one, other])
    >>> found.edge("A", "C"), found.edge("B", "C"), found.mark("A", "C"), found.not_causes_share("C", "A")
    (1.0, 0.75, {'circle': 0.25, 'arrowhead': 0.75, 'tail': 0.0}, 0.75)
    """

    names: tuple[str, ...]
    replicates: int
    adjacent: Counts
    marks: Counts
    causes: Counts
    not_causes: Counts
    drawn: int = 0
    seed: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stability):
            return NotImplemented
        told = ((s.names, s.replicates, s.drawn, s.seed) for s in (self, other))
        return len(set(told)) == 1 and bool(np.array_equal(self.counts, other.counts))

    def __hash__(self) -> int:
        return hash((self.names, self.replicates, self.drawn, self.seed))

    @property
    def counts(self) -> Counts:
        """All counts in one array: adjacent, circles, arrowheads, tails, causes, and what does not cause."""
        return np.stack([self.adjacent, *self.marks, self.causes, self.not_causes])

    @classmethod
    def from_counts(cls, names: Sequence[str], counts: Counts, replicates: int, drawn: int, seed: int) -> Stability:
        """Return the frequencies of counts as :attr:`counts` has them; refuse those that no graphs can have."""
        adjacent, marks, causes, not_causes = counts[0], counts[1:4], counts[4], counts[5]
        within = bool((counts >= 0).all() and (counts <= replicates).all()) and 1 <= replicates <= drawn and seed >= 0
        symmetric = np.array_equal(adjacent, adjacent.T) and np.array_equal(marks.sum(axis=0), adjacent)
        loops = any(found.diagonal().any() for found in counts)
        if not within or not symmetric or loops or (causes + not_causes > replicates).any():
            raise ParameterError("no graphs have these counts")
        return cls(tuple(names), replicates, adjacent, marks, causes, not_causes, drawn, seed)

    @classmethod
    def of(cls, pags: Iterable[PAG], selection: bool = True) -> Stability:
        """Count over graphs of the same variables; without selection more can be claimed."""
        tally: Tally | None = None
        for pag in pags:
            tally = tally or Tally(pag.names, selection)
            if pag.names != tally.names:
                raise ParameterError("the graphs are not of the same variables in the same order")
            tally.add(pag.marks)
        if tally is None:
            raise ParameterError("there is no graph to count over")
        return tally.stability()

    def _at(self, x: str, y: str) -> tuple[int, int]:
        for name in (x, y):
            if name not in self.names:
                raise ParameterError(f"there is no variable {name!r}: the variables are {', '.join(self.names)}")
        return self.names.index(x), self.names.index(y)

    def edge(self, x: str, y: str) -> float:
        """Return in which share of the replicates x and y are adjacent."""
        return float(self.adjacent[self._at(x, y)] / self.replicates)

    def mark(self, x: str, y: str) -> dict[str, float]:
        """Return in which share of the replicates that have the edge x-y its mark at y is each of the three."""
        at = self._at(x, y)
        having = max(int(self.adjacent[at]), 1)
        return {word: float(self.marks[k][at] / having) for k, word in enumerate(("circle", "arrowhead", "tail"))}

    def causes_share(self, x: str, y: str) -> float:
        """Return in which share of the replicates x causes y, whichever MAG of the class is true."""
        return float(self.causes[self._at(x, y)] / self.replicates)

    def not_causes_share(self, x: str, y: str) -> float:
        """Return in which share of the replicates x does not cause y, whichever MAG of the class is true."""
        return float(self.not_causes[self._at(x, y)] / self.replicates)

    def of_marks(self, marks: Marks) -> NDArray[np.float64]:
        """Return, for a graph, in which share of the replicates with the same edge each of its marks is the same.

        Examples
        --------
        >>> pag, names = PAG.from_edges("A o-> C", "B o-> C", nodes=["A", "B", "C"]), ["A", "B", "C"]
        >>> Stability.of([pag, PAG.from_edges("A o-o C", nodes=names)]).of_marks(pag.marks).tolist()
        [[0.0, 0.0, 0.5], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
        """
        counts = np.zeros(marks.shape)
        for k, code in enumerate((CIRCLE, ARROW, TAIL)):
            counts = np.where(marks == code, self.marks[k], counts)
        return np.asarray(counts / np.maximum(self.adjacent, 1))

    def stable(self, pag: PAG, share: float = 0.8) -> PAG:
        """Return the edges and marks of a graph that at least this share of resamples has.

        A mark that fewer have is a circle. The result is a summary, to be read edge by edge. It need not be the PAG of
        any class, and two variables without an edge in it are not thereby independent given anything.

        Examples
        --------
        >>> pag, other = PAG.from_edges("A o-> C", "B o-> C"), PAG.from_edges("A o-o C", nodes=["A", "C", "B"])
        >>> print(Stability.of([pag, pag, other]).stable(pag, 0.8))
        nodes: A C B
        A o-o C
        """
        if not 0 <= share <= 1:
            raise ParameterError(f"must lie between 0 and 1, not {share!r}", parameter="share")
        if pag.names != self.names:
            raise ParameterError("the graph and the bootstrap are not of the same variables in the same order")
        recurs = self.of_marks(pag.marks) >= share
        marks = np.where(recurs | (pag.marks == NONE), pag.marks, CIRCLE)
        marks = np.where(self.adjacent >= share * self.replicates, marks, NONE)
        return PAG._trusted(pag.names, marks.astype(np.int8))


class Tally:
    """Counts that grow graph by graph; memory does not depend on how many there were.

    Examples
    --------
    >>> tally = Tally("AB", selection=False)
    >>> tally.add(PAG.from_edges("A --> B").marks)
    >>> tally.stability().causes_share("A", "B")
    1.0
    """

    def __init__(self, names: Sequence[str], selection: bool = True) -> None:
        p = len(names)
        self.selection = selection
        self.names = tuple(names)
        # Replaced as one, so that an interruption at any moment leaves no graph half counted.
        self._counted: tuple[int, int, Counts] = 0, 0, np.zeros((6, p, p), dtype=np.int32)

    @property
    def drawn(self) -> int:
        """How many resamples there were, those from which nothing was learned included."""
        return self._counted[0]

    @property
    def replicates(self) -> int:
        """How many graphs were counted."""
        return self._counted[1]

    def add(self, marks: Marks) -> None:
        """Count a graph."""
        known = (marks == ARROW).any(axis=0)[:, None] | (not self.selection)  # causes nothing of being selected
        causes = reachable((marks == ARROW) & (marks.T == TAIL))
        np.fill_diagonal(causes, False)  # of an illegal PAG, which may have cycles
        possible = reachable((marks != NONE) & (marks.T != ARROW))
        np.fill_diagonal(possible, True)
        of_marks = (marks == code for code in (CIRCLE, ARROW, TAIL))
        graph = np.stack([marks != NONE, *of_marks, causes & known, ~possible & known])
        drawn, replicates, counts = self._counted
        self._counted = drawn + 1, replicates + 1, counts + graph

    def skip(self) -> None:
        """Count a resample from which nothing was learned."""
        drawn, replicates, counts = self._counted
        self._counted = drawn + 1, replicates, counts

    def go_on_from(self, known: Stability) -> None:
        """Add what was counted before."""
        drawn, replicates, counts = self._counted
        self._counted = drawn + known.drawn, replicates + known.replicates, counts + known.counts

    def stability(self, seed: int = 0) -> Stability:
        """Return what was counted so far."""
        drawn, replicates, counts = self._counted
        counts = counts.copy()
        counts.setflags(write=False)
        return Stability(self.names, replicates, counts[0], counts[1:4], counts[4], counts[5], drawn, seed)


def reachable(step: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which nodes can be reached from which, by one step or more.

    Examples
    --------
    >>> reachable(np.array([[False, True, False], [False, False, True], [False, False, False]])).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    reach, pairs = step.astype(np.float32), -1  # products of numbers are quick, those of truth values are not
    while (found := int(np.count_nonzero(reach))) > pairs:
        pairs = found
        reach += reach @ reach
        np.minimum(reach, 1.0, out=reach)
    return np.asarray(reach > 0)


def percent(share: float) -> str:
    """Return a share in words; what is not all, or not nothing, does not look so.

    Examples
    --------
    >>> percent(0.868), percent(1.0), percent(0.996), percent(0.001)
    ('87 %', '100 %', '99.6 %', '0.1 %')
    """
    whole = round(100 * share)
    return f"{100 * share:.1f} %" if whole in (0, 100) and whole != 100 * share else f"{whole} %"


# --- files ------------------------------------------------------------------------------------------------


def encode_stability(counted: Stability) -> dict[str, Any]:
    """Return frequencies as plain data: the counts are packed, since there are six for each pair.

    Examples
    --------
    >>> counted = Stability.of([PAG.from_edges("A o-> B")])
    >>> decode_stability(encode_stability(counted), ("A", "B")) == counted
    True
    """
    packed = base64.b64encode(zlib.compress(counted.counts.astype("<i4").tobytes(), 9)).decode("ascii")
    return {"replicates": counted.replicates, "drawn": counted.drawn, "seed": counted.seed, "counts": packed}


def decode_stability(plain: Mapping[str, Any], names: tuple[str, ...]) -> Stability:
    """Return the frequencies of plain data, checked."""
    size = _MATRICES * len(names) ** 2 * 4
    unpacking = zlib.decompressobj()
    try:
        raw = unpacking.decompress(base64.b64decode(text(plain["counts"]), validate=True), size + 1)
    except zlib.error as error:
        raise ValueError(f"the counts cannot be unpacked: {error}") from None
    if len(raw) != size or not unpacking.eof:
        raise ValueError("the counts are not those of pairs of these variables")
    counts = np.frombuffer(raw, dtype="<i4").astype(np.int32).reshape(_MATRICES, len(names), len(names))
    counts.setflags(write=False)
    return Stability.from_counts(names, counts, *(whole(plain[part]) for part in ("replicates", "drawn", "seed")))
