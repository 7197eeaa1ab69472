"""L-MARVEL and its orientation by the compiled engine: the same results as the readable code, records made when read.

:func:`compiled_lmarvel` is :func:`lmarvel.skeleton.lmarvel.lmarvel` and :func:`lmarvel.orient.engine.orient` in one. It
takes a test that the engine can make itself (those of :mod:`lmarvel.ci.registry`); any other gives None, and the
readable code runs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.boundary.compiled import as_boundaries, flat_boundaries
from lmarvel.boundary.total_conditioning import check_affordable, total_conditioning
from lmarvel.ci.base import ColumnsInput, GaussianInput
from lmarvel.ci.ledger import Ledger
from lmarvel.engine.boundaries import FlatBoundaries
from lmarvel.engine.run import REST, Flat, Task, from_lists, from_precision, from_sets, is_built
from lmarvel.errors import LMarvelWarning
from lmarvel.orient.draft import RuleApplication
from lmarvel.sepsets import Sepsets
from lmarvel.skeleton.lmarvel import Levels
from lmarvel.skeleton.state import Progress
from lmarvel.trace import (
    Adjacent,
    BudgetEnded,
    Doubtful,
    Event,
    Kept,
    LeftBoundary,
    NoneRemovable,
    Removed,
    Separated,
)

PHASES = ("adjacency", "removability", "update", "completion", "chordless", "gaps", "contested")
"""The engine's phases by number."""


@dataclass(frozen=True)
class Swift:
    """What the engine found, with all that is needed to make records of it.

    Attributes
    ----------
    flat : Flat
        The arrays, on positions of the test that the engine was given.
    method : str
        How the boundaries were found.
    level : float
        Their level.
    given : Boundaries, FlatBoundaries or None
        The boundaries, where they were not those of total conditioning.
    endings : tuple of str
        What ended the skeleton early, if anything did, and what ended the orientation early.
    """

    flat: Flat
    method: str
    level: float
    given: Boundaries | FlatBoundaries | None
    endings: tuple[str | None, str | None]

    @cached_property
    def boundaries(self) -> Boundaries:
        """The Markov boundaries."""
        if isinstance(self.given, FlatBoundaries):
            return as_boundaries(self.given, self.method, self.level)
        if self.given is not None:
            return self.given
        members = self.flat.sets.tolist()
        sets = (members[at : at + n] for at, n in self.flat.boundaries.tolist())
        return Boundaries.of(sets, self.method, self.level)

    @property
    def sepsets(self) -> Sepsets:
        """The separating sets."""
        members = self.flat.sets.tolist()
        found = {(x, y): frozenset(members[at : at + n]) for x, y, at, n in self.flat.found.tolist()}
        return Sepsets(self.boundaries, found)

    def trace(self, place: Sequence[int]) -> tuple[Event, ...]:
        """Return the records of the run where variable v stands at ``place[v]``."""
        skeleton, orientation = ([] if why is None else [BudgetEnded(why)] for why in self.endings)
        return (*_events(self.flat, place), *skeleton, *orientation, *_uses(self.flat, place))


def compiled_lmarvel(
    ledger: Ledger,
    levels: Levels,
    boundaries: Callable[[], Boundaries] | str | None,
    selection: bool,
    grace: float,
    progress: Progress | None = None,
) -> Swift | None:
    """Learn skeleton and marks, or return None where the engine cannot.

    Parameters
    ----------
    ledger : Ledger
        The test, and the budgets; tests are counted there.
    levels : Levels
        Levels of the tests, and switches.
    boundaries : callable, str or None
        How the Markov boundaries are found: by a search of the engine, by its name; None is total conditioning.
    selection : bool
        False asserts that the sample was not selected.
    grace : float
        Seconds that orientation has in any case.
    progress : callable, optional
        Called with ("skeleton", variables removed, variables in all).
    """
    known = ledger.test.for_engine()
    if known is None:
        return None
    if not is_built():
        say_that_it_is_slow()
        return None
    p, meter = len(ledger.names), ledger.meter
    given: Boundaries | FlatBoundaries | None
    report = None if progress is None else lambda removed: progress("skeleton", removed, p)
    if boundaries is None and not isinstance(known, ColumnsInput):
        check_affordable(ledger)
        precision, limit = known.total(levels.boundary)
        meter.count("boundary", max(p - 2, 0), p * (p - 1) // 2)
        method, given = "tc", None
        flat = from_precision(
            _task(ledger, levels, selection, grace, known), precision, limit, known.keeps_precision, report
        )
    elif isinstance(boundaries, str):
        method, given = boundaries, flat_boundaries(ledger, boundaries, levels.boundary)
        assert given is not None
        task = _task(ledger, levels, selection, grace, known)
        flat = from_lists(task, given.sets, given.truncated, given.asked, report)
    else:
        found = given = total_conditioning(ledger, levels.boundary) if boundaries is None else boundaries()
        method = found.method
        cut = [(v, had, kept) for v, (had, kept) in found.truncated.items()]
        task = _task(ledger, levels, selection, grace, known)
        rest = _given_rest(ledger, p) if found.method == "tc" else None
        flat = from_sets(task, found.sets, cut, ledger.memory.asked(), report, rest)
    for phase, size, tests in flat.counts:
        meter.count(PHASES[phase], size, tests)
    late = "time ran out before all edges were oriented" if flat.late else None
    return Swift(flat, method, levels.boundary, given, (_ending(flat, ledger), late))


@lru_cache(maxsize=1)
def say_that_it_is_slow() -> None:
    """Say once that the engine is missing."""
    warnings.warn(
        "the compiled engine was not built, and readable code takes its place: the same results, many times slower."
        " Install a C++ compiler and lmarvel again",
        LMarvelWarning,
        stacklevel=5,
    )


def _given_rest(ledger: Ledger, p: int) -> NDArray[np.float64]:
    """Return what total conditioning saw for each pair, -1 where that is not known."""
    found = np.full((p, p), -1.0)
    for x in range(p):
        for y in range(x + 1, p):
            seen = ledger.test.pvalue_given_rest(x, y)
            found[x, y] = found[y, x] = -1.0 if seen is None else seen
    return found


def _task(ledger: Ledger, levels: Levels, selection: bool, grace: float, known: GaussianInput | ColumnsInput) -> Task:
    meter, largest = ledger.meter, min(ledger.largest_set, len(ledger.names))
    gaussian = None if isinstance(known, ColumnsInput) else known
    columns = known if isinstance(known, ColumnsInput) else None
    return Task(
        correlation=known.correlation,
        n=known.n,
        alpha=levels.alpha,
        boundary_alpha=levels.boundary,
        threshold=levels.threshold,
        assume_chordal=levels.assume_chordal,
        faithful=levels.faithful,
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
    )


def _ending(flat: Flat, ledger: Ledger) -> str | None:
    """Return in words what ended the skeleton early."""
    if flat.reason:
        return {
            1: f"max_tests={ledger.meter.max_tests} is used up",
            2: "max_seconds is used up",
            3: f"a conditioning set of {flat.size} is over the limit of {ledger.largest_set:g}",
        }[flat.reason]
    return ledger.limit if len(flat.undecided) else None


# --- records ----------------------------------------------------------------------------------------------


def _events(flat: Flat, place: Sequence[int]) -> list[Event]:
    """Return the events as records."""
    moved = np.asarray(place, dtype=np.int64)
    members, everyone = _placed(flat.sets, moved), frozenset(place)
    records = []
    for (kind, x, y, z, phase, at, n, at2, n2), p in zip(flat.events.tolist(), flat.pvalues.tolist(), strict=True):
        x, y, z = (place[v] if v >= 0 else v for v in (x, y, z))
        if n >= 0:
            chosen: frozenset[int] | None = frozenset(members[at : at + n])
        else:
            chosen = everyone - {x, y} if n == REST else None
        more = frozenset(members[at2 : at2 + n2]) if n2 > 0 else frozenset()
        records.append(_MAKERS[kind](x, y, z, chosen, more, p, PHASES[phase]))
    return records


def _placed(positions: NDArray[np.int32], place: NDArray[np.int64]) -> list[int]:
    found: list[int] = place[positions].tolist()
    return found


_MAKERS: tuple[Callable[..., Event], ...] = (
    lambda x, y, z, s, more, p, phase: Separated(x, y, s, p, phase),
    lambda x, y, z, s, more, p, phase: Adjacent(x, y, s, p, phase),
    lambda x, y, z, s, more, p, phase: Doubtful(x, y, s, p, phase),
    lambda x, y, z, s, more, p, phase: Kept(x, y, z, s, p),
    lambda x, y, z, s, more, p, phase: Removed(x, s, more),
    lambda x, y, z, s, more, p, phase: LeftBoundary(x, y, z, s, p),
    lambda x, y, z, s, more, p, phase: NoneRemovable(s),
)
"""How to make the record of each kind of event, by number."""


def _uses(flat: Flat, place: Sequence[int]) -> list[RuleApplication]:
    """Return the uses of rules as records."""
    parts = flat.uses.tolist()

    def marks(at: int, n: int) -> tuple[tuple[int, int, int], ...]:
        ends = (parts[i : i + 3] for i in range(at, at + 3 * n, 3))
        return tuple((place[x], place[y], mark) for x, y, mark in ends)

    return [
        RuleApplication(f"R{rule}", tuple(place[v] for v in parts[at : at + n]), marks(*written), marks(*refused))
        for rule, at, n, *rest in flat.rules.tolist()
        for written, refused in [(rest[:2], rest[2:])]
    ]
