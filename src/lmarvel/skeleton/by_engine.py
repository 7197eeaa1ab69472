"""A method and its orientation by the compiled engine: the same results as the readable code, records made when read.

:func:`learn_compiled` does in one what :mod:`lmarvel.skeleton.lmarvel`, :mod:`lmarvel.skeleton.fci`,
:mod:`lmarvel.skeleton.rfci` or :mod:`lmarvel.skeleton.mbcs` and :func:`lmarvel.orient.worklist.orient` do. It takes a
test that the engine can make itself (those of :mod:`lmarvel.ci.registry`); any other gives None, and the readable code
runs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.boundaries import Boundaries, check_affordable
from lmarvel.ci.boundary_searches import flat_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import ColumnsInput, GaussianInput
from lmarvel.deferred import without_collection
from lmarvel.engine import names
from lmarvel.engine.boundaries import SEARCHES, FlatBoundaries
from lmarvel.engine.run import REST, EngineProgress, RunArrays, Task, from_lists, from_precision, from_sets, is_built
from lmarvel.errors import LMarvelWarning
from lmarvel.graph.marks import positions
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import applications
from lmarvel.orient.stated import stated_for_engine
from lmarvel.result.sepsets import Sepsets, SetColumns
from lmarvel.result.trace import (
    Adjacent,
    BudgetEnded,
    Doubtful,
    Event,
    Kept,
    LeftBoundary,
    NoneRemovable,
    Overruled,
    Part,
    Removed,
    Separated,
    SeparatedRun,
)
from lmarvel.skeleton.lmarvel import Levels
from lmarvel.skeleton.state import Progress

PHASES = names("phases")
"""The engine's phases by number."""


class PruningOptions(NamedTuple):
    """How a method that cuts edges is to be run.

    Attributes
    ----------
    method : {"fci", "rfci", "mbcs"}
        The method.
    alpha : float
        The level.
    max_p : bool
        Keep the separating set with the largest p-value of its size.
    possible_d_sep : {"pruned", "classic", "none"}
        The sets of FCI's second search.
    colliders : {"standard", "conservative", "majority"}
        How colliders are read off.
    """

    method: str
    alpha: float
    max_p: bool = False
    possible_d_sep: str = "none"
    colliders: str = "standard"


@dataclass(frozen=True)
class EngineRun:
    """What the engine found, with all that is needed to make records of it.

    Attributes
    ----------
    arrays : RunArrays
        The arrays, on positions of the test that the engine was given.
    method : str
        How the boundaries were found.
    level : float
        Their level.
    given : Boundaries, FlatBoundaries or None
        The boundaries, where they were not those of total conditioning, nor all other variables.
    endings : tuple of str
        What ended the skeleton early, if anything did, and what ended the orientation early.
    """

    arrays: RunArrays
    method: str
    level: float
    given: Boundaries | FlatBoundaries | None
    endings: tuple[str | None, str | None]

    @cached_property
    def boundaries(self) -> Boundaries:
        """The Markov boundaries."""
        if isinstance(self.given, Boundaries):
            return self.given
        if self.method == "none":
            return Boundaries.complete(len(self.arrays.marks), self.level)
        members = self.arrays.sets.tolist()
        sets = (members[at : at + n] for at, n in self.arrays.boundaries.tolist())
        cut = () if self.given is None else self.given.each_truncated()
        return Boundaries.of(sets, self.method, self.level, {v: (had, kept) for v, had, kept in cut})

    def sepsets(self, place: Sequence[int]) -> Sepsets:
        """Return the separating sets where variable v stands at ``place[v]``."""
        moved = np.asarray(place, dtype=np.int64)
        members, spans = _placed(self.arrays.sets, moved), self.arrays.found.copy()
        spans[:, :2] = np.sort(moved[spans[:, :2]], axis=1)
        with without_collection():
            sets = {(x, y): frozenset(members[at : at + n]) for x, y, at, n in spans.tolist()}
        return Sepsets(self.boundaries.moved(place), sets)

    def parts(self, place: Sequence[int]) -> list[Part]:
        """Return the records of the run where variable v stands at ``place[v]``, separated pairs as columns."""
        with without_collection():
            early = (BudgetEnded(why) for why in self.endings if why is not None)
            return [*_parts(self.arrays, place), *early, *_uses(self.arrays, place)]

    def columns(self, place: Sequence[int]) -> SetColumns:
        """Return the separating sets as columns."""
        moved = np.asarray(place, dtype=np.int64)
        spans, p = self.arrays.found, len(place)
        ends = moved[spans[:, 0]], moved[spans[:, 1]]
        # By pair; the last set of a pair is the one that stands.
        last = np.full((p, p), -1, dtype=np.int32)
        last[np.minimum(*ends), np.maximum(*ends)] = np.arange(len(spans))
        x, y = positions(last >= 0).T
        chosen = last[x, y]
        members = _gathered(self.arrays.sets, spans[chosen, 2], spans[chosen, 3], moved)
        around = () if self.method == "none" else self.boundaries.moved(place).truncated
        return SetColumns(x, y, spans[chosen, 3], members, self.method, self.level, dict(around))


def learn_compiled(
    ledger: Ledger,
    options: Levels | PruningOptions,
    level: float,
    boundaries: str,
    find: Callable[[], Boundaries],
    selection: bool,
    grace: float,
    progress: Progress | None = None,
    counted: bool = False,
) -> EngineRun | None:
    """Learn skeleton and marks, or return None where the engine cannot.

    Parameters
    ----------
    ledger : Ledger
        The test, and the budgets; tests are counted there.
    options : Levels or PruningOptions
        Levels of the tests, and switches: of L-MARVEL, or of another method.
    level : float
        The level of the Markov boundaries.
    boundaries : str
        How they are found: "tc", the name of a search; "none", the graph begins complete; or in a user's own way.
    find : callable
        Finds them where the engine has no search for that.
    selection : bool
        False asserts that the sample was not selected.
    grace : float
        Seconds that orientation has in any case.
    progress : callable, optional
        Called with (what, done, of how many), in the words of the readable code.
    counted : bool
        Whether the tests of total conditioning were counted before.
    """
    known = ledger.test.for_engine()
    if known is None:
        return None
    if not is_built():
        say_that_it_is_slow()
        return None
    p, meter = len(ledger.names), ledger.meter
    given: Boundaries | FlatBoundaries | None
    report = None if progress is None else _in_words(progress, options)
    if boundaries == "tc" and not isinstance(known, ColumnsInput):
        if not counted:
            check_affordable(ledger)
        precision, limit = known.total(level)
        if not counted:
            meter.count("boundary", max(p - 2, 0), p * (p - 1) // 2)
        method, given = "tc", None
        task = _task(ledger, options, level, selection, grace, known)
        arrays = from_precision(task, precision, limit, known.keeps_precision, report)
    elif isinstance(boundaries, str) and boundaries in SEARCHES and not isinstance(known, ColumnsInput):
        method, given = boundaries, flat_boundaries(ledger, boundaries, level)
        assert given is not None
        task = _task(ledger, options, level, selection, grace, known)
        arrays = from_lists(task, given.sets, given.truncated, given.asked, report)
    else:
        meter.check_time()
        start = given = None if boundaries == "none" else find()
        method = "none" if start is None else start.method
        cut = [] if start is None else [(v, had, kept) for v, (had, kept) in start.truncated.items()]
        task = _task(ledger, options, level, selection, grace, known)
        rest = _given_rest(ledger, known, p) if method == "tc" else None
        arrays = from_sets(task, None if start is None else start.sets, cut, ledger.memory.asked(), report, rest)
    for phase, size, tests in arrays.counts:
        meter.count(PHASES[phase], size, tests)
    late = "time ran out before all edges were oriented" if arrays.late else None
    return EngineRun(arrays, method, level, given, (_ending(arrays, ledger), late))


def _in_words(progress: Progress, options: Levels | PruningOptions) -> EngineProgress:
    """Return what the engine calls to report progress."""

    def report(phase: int, done: int, total: int) -> None:
        if isinstance(options, Levels):
            progress("skeleton", done, total)
        else:
            sizes = "" if options.method == "mbcs" else f", sets of {done}"
            progress(f"{PHASES[phase]}{sizes}", done, total)

    return report


@lru_cache(maxsize=1)
def say_that_it_is_slow() -> None:
    """Say once that the engine is missing."""
    warnings.warn(
        "the compiled engine was not built, and readable code takes its place: the same results, many times slower."
        " Install a C++ compiler and lmarvel again",
        LMarvelWarning,
        stacklevel=5,
    )


def _given_rest(ledger: Ledger, known: GaussianInput | ColumnsInput, p: int) -> NDArray[np.float64]:
    """Return what total conditioning saw for each pair, -1 where that is not known."""
    if isinstance(known, ColumnsInput) and known.given_rest is not None:
        return known.given_rest()
    pvalues = np.full((p, p), -1.0)
    for x in range(p):
        for y in range(x + 1, p):
            pvalue = ledger.test.pvalue_given_rest(x, y)
            pvalues[x, y] = pvalues[y, x] = -1.0 if pvalue is None else pvalue
    return pvalues


def _task(
    ledger: Ledger,
    options: Levels | PruningOptions,
    level: float,
    selection: bool,
    grace: float,
    known: GaussianInput | ColumnsInput,
) -> Task:
    meter, largest = ledger.meter, min(ledger.largest_set, len(ledger.names))
    if isinstance(options, Levels):
        levels, cutting = options, PruningOptions("lmarvel", options.alpha)
    else:  # a search that keeps the largest p-value of all sets of a size is one at the level 1, which finds nothing
        levels, cutting = Levels(options.alpha, level, 1.0 if options.max_p else options.alpha), options
    gaussian = None if isinstance(known, ColumnsInput) else known
    columns = known if isinstance(known, ColumnsInput) else None
    return Task(
        correlation=known.correlation,
        n=known.n,
        method=cutting.method,
        alpha=levels.alpha,
        boundary_alpha=levels.boundary,
        threshold=levels.threshold,
        assume_chordal=levels.assume_chordal,
        faithful=levels.faithful,
        max_p=cutting.max_p,
        possible_d_sep=cutting.possible_d_sep,
        colliders=cutting.colliders,
        selection=selection,
        critical_alpha=None if gaussian is None else gaussian.critical_up_to(levels.alpha, largest),
        critical_threshold=None if gaussian is None else gaussian.critical_up_to(levels.threshold, largest),
        largest_set=ledger.largest_set,
        max_tests=meter.max_tests,
        tests=meter.n_tests,
        seconds=math.inf if meter.deadline == math.inf else meter.deadline - time.monotonic(),
        grace=grace,
        blocks=None if columns is None else columns.blocks,
        counts=None if columns is None else columns.counts,
        glm=None if columns is None else columns.glm,
        stated=None if ledger.known is None else stated_for_engine(ledger.known),
    )


def _ending(arrays: RunArrays, ledger: Ledger) -> str | None:
    """Return in words what ended the skeleton early."""
    match arrays.reason:
        case "tests":
            return f"max_tests={ledger.meter.max_tests} is used up"
        case "seconds":
            return "max_seconds is used up"
        case "too-large":
            return f"a conditioning set of {arrays.size} is over the limit of {ledger.largest_set:g}"
    return ledger.limit if len(arrays.undecided) else None


# --- records ----------------------------------------------------------------------------------------------


def _parts(arrays: RunArrays, place: Sequence[int]) -> Iterator[Part]:
    """Iterate over the events, those of pairs that one phase separated one after the other as columns."""
    if not len(arrays.events):
        return
    moved = np.asarray(place, dtype=np.int64)
    separated = arrays.events[:, 0] == _KINDS.index("Separated")
    phase = np.where(separated, arrays.events[:, 4], -1)
    others = iter(_events(arrays, place, ~separated))
    whole = (arrays.events[separated, 6] < 0).any()  # all other variables, in place of a list
    listed = iter(_events(arrays, place, separated) if whole else ())
    ends = [*(np.flatnonzero(np.diff(phase)) + 1).tolist(), len(phase)]
    for start, stop in zip([0, *ends], ends, strict=False):
        if phase[start] < 0:
            yield from islice(others, stop - start)
        elif whole:
            yield SeparatedRun.of([e for e in islice(listed, stop - start) if isinstance(e, Separated)])
        else:
            x, y, at, n = arrays.events[start:stop, [1, 2, 5, 6]].T
            members = _gathered(arrays.sets, at, n, moved)
            yield SeparatedRun(PHASES[phase[start]], moved[x], moved[y], n, members, arrays.pvalues[start:stop])


def _gathered(sets: NDArray[np.int32], at: NDArray[Any], n: NDArray[Any], moved: NDArray[np.int64]) -> NDArray[Any]:
    """Return the members of spans of the engine's sets at their new places, ascending in each, end to end."""
    which = np.repeat(np.arange(len(n)), n)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(n) - n, n)
    return np.asarray(np.sort(which * len(moved) + moved[sets[at[which] + inside]]) % len(moved))


def _events(arrays: RunArrays, place: Sequence[int], rows: NDArray[np.bool_]) -> list[Event]:
    """Return some of the events as records."""
    moved = np.asarray(place, dtype=np.int64)
    members, everyone = _placed(arrays.sets, moved), frozenset(place)
    records = []
    for (kind, x, y, z, phase, at, n, at2, n2), p in zip(
        arrays.events[rows].tolist(), arrays.pvalues[rows].tolist(), strict=True
    ):
        x, y, z = (place[v] if v >= 0 else v for v in (x, y, z))
        if n >= 0:
            chosen: frozenset[int] | None = frozenset(members[at : at + n])
        else:
            chosen = everyone - {x, y} if n == REST else None
        more = frozenset(members[at2 : at2 + n2]) if n2 > 0 else frozenset()
        records.append(MAKERS[_KINDS[kind]](x, y, z, chosen, more, p, PHASES[phase]))
    return records


def _placed(positions: NDArray[np.int32], place: NDArray[np.int64]) -> list[int]:
    placed: list[int] = place[positions].tolist()
    return placed


MAKERS: dict[str, Callable[..., Event]] = {
    "Separated": lambda x, y, z, s, more, p, phase: Separated(x, y, s, p, phase),
    "Adjacent": lambda x, y, z, s, more, p, phase: Adjacent(x, y, s, p, phase),
    "Doubtful": lambda x, y, z, s, more, p, phase: Doubtful(x, y, s, p, phase),
    "Kept": lambda x, y, z, s, more, p, phase: Kept(x, y, z, s, p),
    "Removed": lambda x, y, z, s, more, p, phase: Removed(x, s, more),
    "LeftBoundary": lambda x, y, z, s, more, p, phase: LeftBoundary(x, y, z, s, p),
    "NoneRemovable": lambda x, y, z, s, more, p, phase: NoneRemovable(s),
    "Overruled": lambda x, y, z, s, more, p, phase: Overruled(x, y, s, p, phase),
}
"""How to make the record of each kind of event."""
_KINDS = names("events")


def _uses(arrays: RunArrays, place: Sequence[int]) -> list[RuleApplication]:
    """Return the uses of rules as records."""
    return applications(arrays.rules, arrays.uses, place)
