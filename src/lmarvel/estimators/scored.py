"""M3HC as an estimator: tests restrict the pairs, a score chooses the graph."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.deferred import LazyTuple
from lmarvel.errors import DataError, GraphError, OutOfTime, ParameterError
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.discover import Chosen
from lmarvel.estimators.lift import lmarvel_start
from lmarvel.estimators.scoring import table_of, what_statements_cost
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.knowledge import Known
from lmarvel.orient.equivalence import orient_mag, pag_to_mag
from lmarvel.result.trace import Began, BudgetEnded, Event, Moved, StatementCost
from lmarvel.search.ancestral import AncestralGraph, direct_chordal
from lmarvel.search.lift import lift
from lmarvel.search.m3hc import M3HCResult, check_limits, m3hc
from lmarvel.skeleton.state import Progress

STARTS = ("empty", "lmarvel", "lift")
_FOR_STATEMENTS = 2.0  # seconds to find out what statements cost
_FOR_START = 0.5  # of the seconds that are left, at most, for the graph to start from


def _statements_cost(moments: Moments, known: Known, selection: bool) -> Iterator[StatementCost]:
    """Iterate over what statements cost the score, by Lift: a climb that ends in a local optimum does not show it."""
    search = partial(lift, moments.correlation(), moments.n, selection=selection, latents=known.latents)
    begun = time.monotonic()
    try:
        score = search(known=known, deadline=begun + _FOR_STATEMENTS).score
    except (OutOfTime, DataError):
        return
    yield from what_statements_cost(search, known, score, time.monotonic() - begun, True)


@dataclass(kw_only=True, repr=False, eq=False)
class M3HC(PagEstimator):
    """Learn a MAG and its PAG with M3HC, hill climbing on BIC (Tsirlis, Lagani, Triantafillou & Tsamardinos 2018).

    A test restricts the pairs that may be adjacent (MMPC), then edges are added, turned and deleted greedily, with a
    tabu list. It always returns a legal PAG, and guarantees no more: a greedy search can end in a local optimum. As
    published it cannot represent selection (no undirected edges) and begins without edges; ``undirected`` and ``start``
    change that. The score is Gaussian, so it needs a table.

    Parameters
    ----------
    alpha, test, boundary_alpha, max_conditioning, max_tests, max_seconds, knowledge
        As for :class:`lmarvel.LMarvel`. Pairs that a budget leaves open, in the tests or in the climb, are listed in
        ``result_.undecided``.
    selection : bool
        False asserts that the sample was not selected. It rules undirected edges out and switches the rules R5-R7 off.
    boundary : {"auto", "none", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        Where pairs are chosen from: Markov boundaries, or all pairs with "none".
    max_k : int
        The largest conditioning set of MMPC.
    tabu : int
        How many of the last graphs not to go back to.
    patience : int
        How many moves without a better graph to make before giving up.
    max_iterations : int, optional
        The most moves to make.
    undirected : bool
        Whether the climb tries undirected edges too, which say that the sample was selected.
    start : {"empty", "lmarvel", "lift"}
        Where the climb begins: without edges, with a MAG of L-MARVEL's PAG, or with Lift's MAG. The edges of that graph
        are candidates beside those of MMPC. Where there is no such graph the climb begins without edges; the first
        record of the trace says so.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))
    >>> b, c = a + u + 0.5 * rng.normal(size=2000), d + u + 0.5 * rng.normal(size=2000)
    >>> table = {"A": a, "B": b, "C": c, "D": d}
    >>> print(M3HC().fit(table).pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    >>> M3HC(start="lmarvel").fit(table).result_.trace[0]
    Began(graph='lmarvel', reason="a MAG of L-MARVEL's PAG")
    """

    max_k: int = 10
    tabu: int = 100
    patience: int = 50
    max_iterations: int | None = None
    undirected: bool = False
    start: str = "empty"

    @classmethod
    def _starts_complete(cls) -> bool:
        return True

    def _check(self) -> None:
        check_limits(self.max_k, self.tabu, self.patience, self.max_iterations)
        if self.start not in STARTS:
            raise ParameterError(f"must be one of {', '.join(STARTS)}, not {self.start!r}", parameter="start")
        if self.start == "lmarvel" and self.boundary == "none":
            raise ParameterError('start="lmarvel" needs Markov boundaries: leave boundary="none" out')

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Chosen:
        """Run M3HC."""
        moments = table_of(ledger.test, data)
        start = self._start(ledger, boundaries, moments, report)
        found = m3hc(
            ledger,
            None if boundaries.method == "none" else [set(mb) for mb in boundaries.sets],
            moments,
            self.alpha,
            self.max_k,
            self.tabu,
            self.patience,
            self.max_iterations,
            report,
            self.selection,
            self.undirected,
            start.mag,
            ledger.known,
        )
        undecided = np.array(found.undecided, dtype=np.intp).reshape(-1, 2)
        trace: Sequence[Event] = (*self._began(start, found), *_trace(found, self.selection, ledger.known))
        known = ledger.known
        if known is None:
            return Chosen(found.mag.marks, found.pag.marks, found.bic, trace, undecided)
        if found.ended is None:
            before = trace
            trace = LazyTuple(lambda: (*before, *_statements_cost(moments, known, self.selection)))
        informed = orient_mag(found.mag, self.selection, ledger.known).marks
        return Chosen(found.mag.marks, informed, found.bic, trace, undecided, found.pag.marks)

    # --- where the climb begins -------------------------------------------------------------------------

    def _start(self, ledger: Ledger, boundaries: Boundaries, moments: Moments, report: Progress) -> _Start:
        if self.start == "empty":
            return _Start(None, "")
        if self.start == "lmarvel":
            return self._from_lmarvel(ledger, boundaries, report)
        now = time.monotonic()
        return self._from_lift(moments, now + _FOR_START * max(ledger.meter.deadline - now, 0.0), report)

    def _from_lmarvel(self, ledger: Ledger, boundaries: Boundaries, report: Progress) -> _Start:
        """Return a MAG of L-MARVEL's PAG, with directed edges where these say the same as undirected ones."""
        marks = lmarvel_start(ledger, boundaries, self.alpha, self.selection, report)
        if marks is None:
            return _Start(None, "L-MARVEL was cut short")
        try:
            member = pag_to_mag(PAG._trusted(ledger.names, marks))
        except GraphError as error:
            return _Start(None, f"L-MARVEL's PAG is not legal: {error}")
        graph = direct_chordal(AncestralGraph.of_marks(member.marks))
        return _Start(MAG._trusted(ledger.names, graph.marks()), "a MAG of L-MARVEL's PAG")

    def _from_lift(self, moments: Moments, deadline: float, report: Progress) -> _Start:
        """Return Lift's MAG; one without undirected edges, unless the climb knows them."""
        selection = self.selection and self.undirected
        try:
            found = lift(moments.correlation(), moments.n, selection=selection, deadline=deadline, progress=report)
        except DataError as error:
            return _Start(None, f"Lift has no graph: {error}")
        except OutOfTime:
            return _Start(None, "Lift had no graph when its share of the time limit was reached")
        told = "Lift's MAG" if found.ended is None else f"Lift's MAG, cut short: {found.ended}"
        return _Start(MAG._trusted(moments.names, found.mag), told)

    def _began(self, start: _Start, found: M3HCResult) -> tuple[Began, ...]:
        """Return the record of where the climb began; none where it was to begin without edges."""
        if self.start == "empty":
            return ()
        if start.mag is None:
            return (Began("empty", start.told),)
        if found.refused is not None:
            return (Began("empty", f"{start.told} was not taken: {found.refused}"),)
        return (Began(self.start, start.told),)


class _Start(NamedTuple):
    """A graph to start from, and what it is; or None, and why."""

    mag: MAG | None
    told: str


def _trace(found: M3HCResult, selection: bool, known: Known | None) -> tuple[Event, ...]:
    moves = tuple(Moved(*move) for move in found.moves)
    ended = () if found.ended is None else (BudgetEnded(found.ended),)
    return (*moves, *ended, *orient_mag(found.mag, selection, known).log)
