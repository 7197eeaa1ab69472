"""From a table (or a test) and settings to a :class:`~lmarvel.Discovery`: the course that all methods share.

Variables are put into a canonical order first (by content, equals by name), so that no result depends on their order.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget import memory
from lmarvel.budget.clock import Clock
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.boundary_searches import Boundary, boundaries_for, choose_boundary
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.registry import as_ci_test, test_within
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.rows import placed
from lmarvel.deferred import Deferred, LazyMapping, LazyTuple
from lmarvel.errors import BudgetSpent, DataError
from lmarvel.estimators.check import later_check
from lmarvel.estimators.recording import (
    later_summary,
    moved_pairs,
    named_pairs,
    named_sets,
    nothing_learned,
    settings_of,
    statistics,
    versions,
)
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.contradictions import known_of
from lmarvel.knowledge.resolve import check_names
from lmarvel.orient.worklist import Oriented, orient
from lmarvel.result.discovery import Discovery
from lmarvel.result.sepsets import NamedSepsets, Sepsets
from lmarvel.result.trace import BudgetEnded, Event, Trace, moved
from lmarvel.skeleton.by_engine import EngineRun, PruningOptions, learn_compiled
from lmarvel.skeleton.lmarvel import Levels, default_boundary_alpha
from lmarvel.skeleton.state import Learned, Progress, silent

Marks = NDArray[np.int8]
_MATRICES = 4  # of a number for each pair, that a run holds at a time
_KEPT_BACK = 2e-7  # seconds for each x and y, for naming and writing what was found, at most a tenth of the budget
_FOR_A_START, _GRACE = 0.25, 0.4  # the time for boundaries that can be done without, seconds left for orientation


@dataclass(frozen=True)
class Chosen:
    """What a search by score chose: a MAG, its PAG, and what it rests on."""

    mag: Marks
    pag: Marks
    bic: float
    trace: Sequence[Event]
    undecided: NDArray[np.intp]
    unaided: Marks | None = None  # the PAG without what was known beforehand, where something was


class Settings(Protocol):
    """The parameters of a method, and the method itself."""

    alpha: float
    test: Any
    boundary: Boundary
    boundary_alpha: float | None
    selection: bool
    max_conditioning: int | None
    max_tests: int | None
    max_seconds: float | None
    knowledge: Knowledge | None

    def __init__(self, **parameters: Any) -> None:
        """Take parameters by name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def measures(self) -> bool:
        """Whether "auto" chooses a test by how the numbers of a table are related."""

    @classmethod
    def needs_boundaries(cls) -> bool:
        """Whether nothing can be learned without Markov boundaries."""

    def uses_boundaries(self, test: IndependenceTest, data: Any) -> bool:
        """Whether Markov boundaries are of use for this table."""

    def resolved(self, test: IndependenceTest) -> tuple[Settings, str | None]:
        """Return the method to run, which "auto" chooses by the test, and why."""

    def instead(self, tried: Any) -> tuple[Settings, str] | None:
        """Return what to run where a method found nothing in time, and why."""

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Any, report: Progress) -> Learned | Chosen:
        """Run the method on boundaries."""

    def for_engine(self, level: float) -> Levels | PruningOptions | None:
        """Return with what the compiled engine does the same; None where it cannot."""


def discover(
    data: Any,
    settings: Settings,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
    clock: Clock | None = None,
    **said: Any,
) -> Discovery:
    """Learn a PAG from a table.

    Parameters
    ----------
    data : array, mapping, frame, path, Dataset or Moments, optional
        The table; not needed where ``settings.test`` is a test that knows its variables.
    settings : an estimator
        The method with its parameters, such as ``LMarvel(alpha=0.05)``.
    names : sequence of str, optional
        Variable names for an array, or for a test that is a plain function.
    progress : callable, optional
        Called with (phase, done, of how many) as the work goes on.
    clock : Clock, optional
        The clock that runs already; by default one that counts the seconds of the settings from now.
    **said
        What is said of the table: categorical, ordinal, missing, weights, cluster, as for :meth:`lmarvel.Dataset.of`.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> discover(CARS, LMarvel()).pag
    <PAG: 6 nodes, 7 edges>
    """
    clock = Clock(settings.max_seconds) if clock is None else clock
    with clock.running():
        return _discovered(data, settings, names, progress, clock, said)


def _discovered(
    data: Any,
    settings: Settings,
    names: Sequence[str] | None,
    progress: Progress | None,
    clock: Clock,
    said: Mapping[str, Any],
) -> Discovery:
    (progress or silent)("data", 0, 1)
    table = None if data is None else Dataset.of(data, names, **said)
    if table is None and any(value is not None and len(value) for value in said.values()):
        raise DataError("there is no table to describe: pass one, or leave these out")
    try:
        if table is not None:
            columns = len(table.names)
            memory.check(_MATRICES * 8 * columns**2, f"correlations of {columns:,} columns")
            table.read(clock.check)
        with memory.enforced():
            test = test_within(clock, settings.test, table, names, settings.measures())
    except BudgetSpent as spent:
        assert table is not None
        clock.lap("data")
        unread = settings_of(settings, None, None, settings.boundary_alpha or settings.alpha, "none")
        return nothing_learned(table.names, str(spent), clock, unread)
    clock.begin_search()
    with memory.enforced():
        return _by_test(test, table, settings, clock, progress)


def _by_test(
    given: IndependenceTest,
    table: Dataset | None,
    asked: Settings,
    clock: Clock,
    progress: Progress | None = None,
    why: str | None = None,
) -> Discovery:
    """Learn a PAG by the answers of a test, with the method that was asked for or is chosen, and why it was."""
    report, order = progress or silent, given.canonical_order()
    settings, chosen = asked.resolved(given)
    why = why or chosen
    test, known = given.reordered(order), None
    if settings.knowledge is not None:
        check_names(settings.knowledge.statements, given.names)  # in the user's order, for the message
        known = known_of(settings.knowledge, test.names)
    clock.lap("data")
    report("boundary", 0, 1)
    limit = clock.part(settings.max_seconds, asked.max_seconds)
    seconds = limit and limit - min(_KEPT_BACK * len(order) ** 2, limit / 10)
    began = limit and min(clock.deadline - limit, time.monotonic())  # a method may have less time than the run
    ledger = Ledger(test, settings.max_conditioning, settings.max_tests, seconds, began, known)
    level = settings.boundary_alpha or default_boundary_alpha(len(test.names), settings.alpha)
    method = "none"
    try:
        run = _by_engine(settings, ledger, level, progress)
        if run is not None:
            clock.parts(boundary=None, skeleton=run.arrays.seconds[0], orientation=run.arrays.seconds[1])
            report("orientation", 0, 1)
            recorded = settings_of(settings, table, given, level, run.method, why)
            return _discovery_of_run(run, order, given, ledger, clock, recorded, settings.knowledge)
        boundaries = _boundaries(settings, ledger, level, table)
        method = boundaries.method
        clock.lap("boundary")
        outcome = settings.learn(ledger, boundaries, table, report)
    except BudgetSpent as spent:  # before anything was found
        if (other := asked.instead(settings)) is not None:
            clock.lap("score")  # which no resample of what is learned now repeats
            return _by_test(given, table, other[0], clock, progress, other[1])
        clock.lap("boundary" if method == "none" else "search")
        recorded = settings_of(settings, table, given, level, method, why)
        return nothing_learned(given.names, str(spent), clock, recorded, given, ledger)
    recorded = settings_of(settings, table, given, level, method, why)
    found = _graph_of(outcome, ledger, settings.selection, report, clock)
    found, boundaries = found.moved(order), boundaries.moved(order)
    sepsets = {} if found.sepsets is None else NamedSepsets(found.sepsets, given.names)
    by_name, data = named_sets(given.names, boundaries), later_summary(given)
    return _discovery(found, sepsets, by_name, data, given, ledger, clock, recorded, settings.knowledge)


def discover_marks(data: Dataset | Moments, settings: Settings) -> Marks:
    """Return the marks of ``discover(data, settings).pag`` in less time, for a bootstrap.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> discover_marks(Dataset.of(CARS), LMarvel()).shape
    (6, 6)
    """
    if settings.max_seconds is not None:
        return discover(data, settings).pag.marks
    clock, table = Clock(), Dataset.of(data)
    given = as_ci_test(settings.test, table, measured=settings.measures())
    method, _ = settings.resolved(given)
    level = method.boundary_alpha or default_boundary_alpha(len(given.names), method.alpha)
    run: EngineRun | None = None
    if method.for_engine(level) is not None:
        test = given.reordered(order := given.canonical_order())
        known = None if method.knowledge is None else known_of(method.knowledge, test.names)
        ledger = Ledger(test, method.max_conditioning, method.max_tests, known=known)
        with suppress(BudgetSpent):
            run = _by_engine(method, ledger, level, None)
    if run is None:
        table.read()  # refuses a table that nothing can be learned from
        return _by_test(given, table, settings, clock).pag.marks
    return placed(run.arrays.marks, np.asarray(order, dtype=np.intp))


def _by_engine(settings: Settings, ledger: Ledger, level: float, progress: Progress | None) -> EngineRun | None:
    """Learn with the compiled engine where it can do the same as the method; else nothing was done."""
    options = settings.for_engine(level)
    if options is None:
        return None
    boundary = settings.boundary
    if boundary == "auto":
        boundary = choose_boundary(ledger)
    find = partial(boundaries_for, boundary, ledger, level)
    named = boundary if isinstance(boundary, str) else "own"
    return learn_compiled(ledger, options, level, named, find, settings.selection, _GRACE, progress)


def _boundaries(settings: Settings, ledger: Ledger, level: float, table: Dataset | None) -> Boundaries:
    """Return the boundaries to start from; where a budget does not reach for them, a method may do without."""
    if not settings.uses_boundaries(ledger.test, table):
        return Boundaries.complete(len(ledger.names), level)
    try:
        ledger.meter.check_time()
        with ledger.meter.part(None, 1.0 if settings.needs_boundaries() else _FOR_A_START):
            return boundaries_for(settings.boundary, ledger, level)
    except BudgetSpent:
        if settings.needs_boundaries():
            raise
        return Boundaries.complete(len(ledger.names), level)


@dataclass(frozen=True)
class _Found:
    """What is known at the end, on positions."""

    pag: Marks
    trace: Sequence[Event]
    undecided: NDArray[np.intp]
    sepsets: Sepsets | None = None
    mag: Marks | None = None
    bic: float | None = None
    unaided: Marks | None = None

    def moved(self, place: Sequence[int]) -> _Found:
        """Return the same where variable v stands at ``place[v]``."""
        at = np.asarray(place, dtype=np.intp)
        trace = LazyTuple(lambda: tuple(moved(event, place) for event in self.trace))
        return replace(
            self,
            pag=placed(self.pag, at),
            trace=trace if isinstance(self.trace, LazyTuple) else trace.made,
            undecided=moved_pairs(self.undecided, at),
            sepsets=None if self.sepsets is None else self.sepsets.moved(place),
            mag=None if self.mag is None else placed(self.mag, at),
            unaided=None if self.unaided is None else placed(self.unaided, at),
        )


def _graph_of(outcome: Learned | Chosen, ledger: Ledger, selection: bool, report: Progress, clock: Clock) -> _Found:
    """Return the PAG of what a method found, oriented by rules where the method did not choose a graph itself."""
    if isinstance(outcome, Chosen):
        clock.lap("search")
        chosen = (outcome.mag, outcome.bic, outcome.unaided)
        return _Found(outcome.pag, outcome.trace, outcome.undecided, None, *chosen)
    clock.lap("skeleton")
    report("orientation", 0, 1)
    # A spent budget leaves a moment for what the tests have shown.
    deadline = max(ledger.meter.deadline, time.monotonic() + _GRACE)
    oriented = orient(
        len(ledger.names),
        outcome.decided,
        outcome.is_collider,
        selection,
        outcome.ambiguous,
        outcome.check_path,
        deadline,
        undecided=outcome.undecided,
        known=ledger.known,
    )
    clock.lap("orientation")
    after = outcome if outcome.after is None else outcome.after()
    late = () if oriented.ended is None else (BudgetEnded(oriented.ended),)
    unaided = None if ledger.known is None else _unaided(oriented, after, selection, deadline)
    trace = (*after.trace, *late, *oriented.log)
    return _Found(oriented.marks, trace, after.undecided, after.sepsets, unaided=unaided)


def _unaided(oriented: Oriented, learned: Learned, selection: bool, deadline: float) -> Marks:
    """Return the marks that the tests alone give on the skeleton that was learned."""
    edges = np.argwhere(np.triu(oriented.marks))
    ask = (learned.is_collider, selection, learned.ambiguous, None, deadline)
    return orient(len(oriented.marks), edges, *ask, undecided=learned.undecided).marks


def _discovery_of_run(
    run: EngineRun,
    order: Sequence[int],
    test: IndependenceTest,
    ledger: Ledger,
    clock: Clock,
    settings: Mapping[str, Any],
    knowledge: Knowledge | None,
) -> Discovery:
    """Put together what the engine found; sets and records are made when somebody reads them."""
    names, at, arrays = test.names, np.asarray(order, dtype=np.intp), run.arrays
    trace = Trace(lambda: run.parts(order))
    unaided = None if arrays.unaided is None else placed(arrays.unaided, at)
    found = _Found(placed(arrays.marks, at), trace, moved_pairs(arrays.undecided, at), unaided=unaided)
    sepsets = NamedSepsets(Deferred(lambda: run.sepsets(order)), names, Deferred(lambda: run.columns(order)))
    boundaries = {} if run.method == "none" else LazyMapping(lambda: named_sets(names, run.boundaries.moved(order)))
    return _discovery(found, sepsets, boundaries, later_summary(test), test, ledger, clock, settings, knowledge)


def _discovery(
    found: _Found,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
    boundaries: Mapping[str, frozenset[str]],
    data: Mapping[str, Any] | None,
    test: IndependenceTest,
    ledger: Ledger,
    clock: Clock,
    settings: Mapping[str, Any],
    knowledge: Knowledge | None,
) -> Discovery:
    """Put everything together under names."""
    names = test.names
    pag, mag = PAG._trusted(names, found.pag), None if found.mag is None else MAG._trusted(names, found.mag)
    return Discovery(
        pag=pag,
        sepsets=sepsets,
        boundaries=boundaries,
        stats=statistics(ledger, clock),
        trace=found.trace,
        settings=settings,
        undecided=named_pairs(names, found.undecided),
        mag=mag,
        bic=found.bic,
        data=data,
        versions=dict(versions(test.search_name)),
        knowledge=knowledge,
        unaided=None if found.unaided is None else PAG._trusted(names, found.unaided),
        later_check=later_check(test, pag, mag, settings["alpha"], sepsets, clock, len(found.undecided)),
    )
