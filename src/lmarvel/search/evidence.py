"""What speaks for each edge, each gap and each mark of the graph that Lift chose.

The answer of a search by score is one graph. How much each part of it is worth shows in the best graph that lacks this
part, refitted: how much worse is its score? Two sources give such graphs: those that the search met on its way, and
those that differ from the answer in one edge, so that the figures are no artefact of the way that the search took.
Beside the score stands a test: an edge is tested given a set that would separate its two variables if it were not
there, a gap given a set that separates them in the graph.

The figures are upper bounds: a better graph without the part may exist that nobody looked at. Where hidden nodes gave
the answer, a graph that differs in one edge is scored as an ancestral graph, which has more parameters; so the marks
and gaps are judged by what the change costs among ancestral graphs, like with like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine import load
from lmarvel.engine.run import CANCEL
from lmarvel.errors import OutOfTime
from lmarvel.graph.bitsets import bits, closure, collider_connected, members
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.separation import has_inducing_path, inducing_reach, m_separated
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, Supported, Weighed
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import (
    BACK,
    BOTH,
    FORTH,
    NO_EDGE,
    UNDIRECTED,
    AncestralGraph,
    Marks,
    direct_chordal,
    pag_of,
)
from lmarvel.search.climb import Climb
from lmarvel.search.few_rows import price_of, usable
from lmarvel.search.lift import LiftResult
from lmarvel.search.record import Record
from lmarvel.search.scores import BlockScores, GaussianBlocks

_engine = load()

NEAR = 4.0  # in prices of an edge (about 60 units of the score): changes of one edge whose marks are looked at
MOST_VARIABLES = 60  # up to so many, every gap has its record; beyond, those between neighbours of a variable

Change = tuple[float, int, int, int]
"""What is lost by a change of one edge, its ends and the new edge."""

PValue = Callable[[int, int, Sequence[int]], float]


def evidence(
    found: LiftResult,
    correlation: Matrix,
    n: int,
    pvalue: PValue,
    *,
    penalty: float = 2.0,
    selection: bool = True,
    latents: bool = True,
    deadline: float = math.inf,
    scores: BlockScores | None = None,
    threads: int = 1,
) -> tuple[Event, ...]:
    """Return the records that tell how much speaks for each part of the graph that Lift chose.

    Parameters
    ----------
    found : LiftResult
        What Lift found.
    correlation, n, penalty, selection, latents
        What it was given.
    pvalue : callable
        ``pvalue(x, y, given)``, the test.
    deadline : float
        When :func:`time.monotonic` passes this, what is missing is left out.
    scores : BlockScores, optional
        The scores of blocks, where a variable is more than a column; then the correlations are not needed.
    threads : int
        In how many threads the compiled engine works; the result does not depend on it.

    Examples
    --------
    >>> from lmarvel.search.lift import lift
    >>> R = np.eye(3) + 0.5 * np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])          # 0 o-> 2 <-o 1
    >>> for record in evidence(lift(R, 500), R, 500, lambda x, y, given: 0.5):
    ...     print(record)                                                          # doctest: +ELLIPSIS
    Chose(stage='order', score=..., price=12.4..., selection_gain=0.0)
    Weighed(x=0, y=2, loss=190.3..., given=frozenset(), pvalue=0.5)
    Weighed(x=1, y=2, loss=190.3..., given=frozenset(), pvalue=0.5)
    LeftOut(x=0, y=1, loss=12.4..., given=frozenset(), pvalue=0.5)
    Supported(x=0, y=2, distance=12.4...)
    Supported(x=1, y=2, distance=12.4...)
    """
    price = price_of(n, len(found.mag), penalty) if scores is None else penalty * math.log(n)
    records = list(chosen(found, price))
    record = Record(n, deadline)
    try:
        if scores is None and _engine is not None:
            records.extend(
                _by_engine(found, usable(correlation, n), n, pvalue, price, selection, latents, record, threads)
            )
        else:
            scores = GaussianBlocks(usable(correlation, n), n) if scores is None else scores
            records.extend(_Weighing(found, scores, pvalue, price, selection, latents, record).records())
    except OutOfTime:
        pass
    return tuple(records)


def _by_engine(
    found: LiftResult,
    correlation: Matrix,
    n: int,
    pvalue: PValue,
    price: float,
    selection: bool,
    latents: bool,
    record: Record,
    threads: int,
) -> Iterator[Event]:
    """Iterate over the same records as :class:`_Weighing`, with all but the p-values from the engine."""
    p = len(found.mag)
    late, edges, gaps, far_gaps, (xs, ys, distances) = _engine.weigh(
        correlation,
        n,
        price,
        record.noise,
        found.score,
        found.mag,
        found.pag,
        found.seen.edges,
        selection,
        latents,
        near=NEAR * price,
        all_gaps=p <= MOST_VARIABLES,
        seconds=record.seconds(),
        cancel=CANCEL.get(),
        threads=threads,
    )
    yield from _tested(Weighed, edges, pvalue, record)
    yield from _tested(LeftOut, gaps, pvalue, record)
    for x, y, distance in zip(xs.tolist(), ys.tolist(), distances.tolist(), strict=True):
        yield Supported(x, y, distance if distance < math.inf else None)
    yield from _tested(LeftOut, far_gaps, pvalue, record)
    if late:
        raise OutOfTime


def _tested(
    kind: type[Weighed] | type[LeftOut], pairs: Sequence[NDArray[Any]], pvalue: PValue, record: Record
) -> Iterator[Event]:
    """Iterate over records of pairs, each with the p-value of its set."""
    xs, ys, losses, starts, members = (part.tolist() for part in pairs)
    for i, (x, y, loss) in enumerate(zip(xs, ys, losses, strict=True)):
        record.check()
        given = members[starts[i] : starts[i + 1]]
        yield kind(x, y, loss, frozenset(given), pvalue(x, y, given))


def chosen(found: LiftResult, price: float) -> Iterator[Event]:
    """Iterate over what was chosen, and the hidden nodes that it rests on."""
    gain = found.selection_gain
    yield Chose(found.used, found.score, price, max(gain, 0.0) if gain < math.inf else None)
    for node in found.hidden:
        yield HiddenNode(node.kind, frozenset(node.members), max(node.gain, 0.0))


class _Weighing:
    """The graphs that the answer is compared with, and the best of them without each of its parts."""

    def __init__(
        self,
        found: LiftResult,
        scores: BlockScores,
        pvalue: PValue,
        price: float,
        selection: bool,
        latents: bool,
        record: Record,
    ) -> None:
        self.found, self.pvalue, self.selection, self.record = found, pvalue, selection, record
        p = len(found.mag)
        self.names = tuple(f"X{v}" for v in range(p))
        self.kinds = [FORTH, BACK, *([BOTH] if latents else []), *([UNDIRECTED] if selection else [])]
        self.mag = MAG._trusted(self.names, found.mag)
        self.anterior = [a | b for a, b in zip(self.mag.masks.parents, self.mag.masks.neighbors, strict=True)]
        # How much worse the best graph is in which a pair is not adjacent, is adjacent, or has another mark.
        # One edge more is never worse by more than its price.
        self.apart, self.joined, self.other = (np.full((p, p), most) for most in (math.inf, price, math.inf))
        base = found.mag
        for score, marks in found.seen:
            pag = self._see(max(score - found.score, 0.0), marks)
            if abs(score - found.score) <= record.noise and base is found.mag and np.array_equal(pag, found.pag):
                base = marks  # the same class, perhaps without the edges that make the MAG maximal
        graph = direct_chordal(AncestralGraph.of_marks(base))
        self.climb = Climb(scores, graph, price)

    # --- graphs to compare with -------------------------------------------------------------------------

    def _see(self, loss: float, marks: Marks) -> Marks:
        """Note in which parts a graph that is worse by so much differs from the answer; return its PAG."""
        self.record.check()
        pag = pag_of(self._maximal(marks), self.selection)
        for best, where in ((self.apart, pag == 0), (self.joined, pag != 0), (self.other, pag != self.found.pag)):
            best[where] = np.minimum(best[where], loss)
        return pag

    def _maximal(self, marks: Marks) -> Marks:
        """Return the marks of the maximal graph; only edges <-> can make one that is not."""
        if not ((marks == ARROW) & (marks.T == ARROW)).any():
            return marks
        graph, complete = MixedGraph._trusted(self.names, marks), np.array(marks)
        for x in range(len(graph)):
            near = collider_connected(graph, x) & ~graph.masks.adjacent[x]
            for y in members(near >> (x + 1) << (x + 1)):
                if has_inducing_path(graph, x, y, 0, 0):
                    complete[x, y] = complete[y, x] = ARROW
        return complete

    def _changes(self, x: int, y: int, kinds: Iterable[int]) -> Iterator[Change]:
        """Iterate over the graphs with another edge between x and y, or none, and note what they lose."""
        climb, graph = self.climb, self.climb.graph
        for kind in kinds:
            if kind == graph.edge(x, y) or not graph.is_legal(x, y, kind):
                continue
            self.record.check()
            gain = climb.gain(x, y, kind)
            if kind != NO_EDGE:
                self._note(self.joined, x, y, gain)
            elif not self._changed(x, y, kind)[x, y]:
                self._note(self.apart, x, y, climb.score + gain - self.found.score)
            yield max(gain, 0.0), x, y, kind

    def _changed(self, x: int, y: int, kind: int) -> Marks:
        """Return the marks of the maximal graph with another edge between x and y."""
        graph, present = self.climb.graph, self.climb.graph.edge(x, y)
        graph.set_edge(x, y, kind)
        marks = graph.marks()
        graph.set_edge(x, y, present)
        return self._maximal(marks)

    def _note(self, best: Matrix, x: int, y: int, loss: float) -> None:
        best[x, y] = best[y, x] = min(best[x, y], max(loss, 0.0))

    def _see_marks(self, changes: Iterable[Change]) -> None:
        """Note the marks of changed graphs, best first, until none can tell more."""
        told = self.found.pag > CIRCLE
        # Of the edges of a pair that fit equally well one is enough: they are of one class.
        distinct = {(x, y, round(loss, 5)): (loss, x, y, kind) for loss, x, y, kind in changes}
        for loss, x, y, kind in sorted(distinct.values()):
            if loss > NEAR * self.climb.price or not (self.other[told] > loss).any():
                break
            self._see(loss, self._changed(x, y, kind))

    def _isolated(self, v: int) -> float:
        """Return what the graph loses in which v has no edges."""
        graph = self.climb.graph.copy()
        for u in members(graph.adjacent(v)):
            graph.apply(u, v, NO_EDGE)
        return Climb(self.climb.scores, graph, self.climb.price).score - self.found.score

    # --- records ----------------------------------------------------------------------------------------

    def records(self) -> Iterator[Event]:
        """Iterate over the records: edges, gaps, marks."""
        marks = self.found.mag
        edges = [(x, y) for x, y in np.argwhere(np.triu(marks)).tolist()]
        gaps = [(x, y) for x, y in np.argwhere(np.triu(marks == 0, 1)).tolist()]
        adjacent = self.mag.masks.adjacent
        unshielded = [(x, y) for x, y in gaps if adjacent[x] & adjacent[y]]
        changes: list[Change] = []
        for x, y in edges:
            changes += self._changes(x, y, (*self.kinds, NO_EDGE))
            yield self._weighed(x, y)
        for x, y in unshielded:
            # A gap that is closed takes its colliders with it, whatever the edge: the best one is enough.
            changes += sorted(self._changes(x, y, self.kinds))[:1]
            yield self._left_out(x, y)
        self._see_marks(changes)
        for x, y in np.argwhere(self.found.pag > CIRCLE).tolist():
            distance = float(self.other[x, y])
            yield Supported(x, y, distance if distance < math.inf else None)
        if len(marks) <= MOST_VARIABLES:
            for x, y in gaps:
                if not adjacent[x] & adjacent[y]:
                    self._score_gap(x, y)
                    yield self._left_out(x, y)

    def _score_gap(self, x: int, y: int) -> None:
        """Look at the graphs with an edge between two variables that have no neighbour in common."""
        graph = self.climb.graph
        directed = [kind for kind in (FORTH, BACK) if graph.is_legal(x, y, kind)]
        for _ in self._changes(x, y, directed or self.kinds):
            pass

    def _weighed(self, x: int, y: int) -> Weighed:
        given = self._would_separate(x, y)
        if math.isinf(self.apart[x, y]):  # it would come back, for no set would separate the two
            self._note(self.apart, x, y, min(self._isolated(x), self._isolated(y)))
        return Weighed(x, y, float(self.apart[x, y]), frozenset(given), self.pvalue(x, y, given))

    def _left_out(self, x: int, y: int) -> LeftOut:
        given = separating(self.mag, self.anterior, x, y)
        return LeftOut(x, y, float(self.joined[x, y]), frozenset(given), self.pvalue(x, y, given))

    def _would_separate(self, x: int, y: int) -> list[int]:
        """Return a set that separates x and y in the graph without their edge; else the smaller of their neighbours."""
        marks = self.found.mag.copy()
        marks[x, y] = marks[y, x] = 0
        without = MAG._trusted(self.names, self._maximal(marks))
        if not without.marks[x, y]:
            masks = without.masks
            return separating(without, [a | b for a, b in zip(masks.parents, masks.neighbors, strict=True)], x, y)
        around = (self.mag.masks.adjacent[v] & ~bits((x, y)) for v in (x, y))
        return list(members(min(around, key=lambda mask: (mask.bit_count(), mask))))


def separating(mag: MixedGraph, anterior: Sequence[int], x: int, y: int) -> list[int]:
    """Return a small set that separates two variables of a MAG that are not adjacent.

    All anteriors of the two separate them (Richardson & Spirtes 2002, Theorem 4.2); of these, those that can be reached
    from x, and of those the ones that can be reached from y, are near a minimal set (van der Zander et al. 2019). What
    is still superfluous is taken off one by one.

    Examples
    --------
    >>> mag = MAG.from_edges("A --> B", "B --> C", "D --> B", "A --> E", "E --> C")
    >>> separating(mag, mag.masks.parents, 0, 2)                       # of A, B, C, D, E: B and E
    [1, 4]
    """
    ends = bits((x, y))
    everything = (1 << len(mag)) - 1
    found = closure(anterior, ends) & ~ends
    for end in (x, y):
        near = found & inducing_reach(mag, end, everything & ~found, closure(mag.masks.parents, found))
        if m_separated(mag, 1 << x, 1 << y, near):
            found = near
    for v in members(found):
        if m_separated(mag, 1 << x, 1 << y, found & ~(1 << v)):
            found &= ~(1 << v)
    return list(members(found))
