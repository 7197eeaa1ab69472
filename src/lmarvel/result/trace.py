"""The records of a trace: what happened in a run, in order, on positions of variables.

An orientation rule's record is :class:`~lmarvel.orient.draft.RuleApplication`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, chain, groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lmarvel.deferred import Deferred, LazyTuple, without_collection
from lmarvel.orient.draft import RuleApplication


@dataclass(frozen=True, slots=True)
class Separated:
    """A separating set was found: x and y are not adjacent."""

    x: int
    y: int
    sepset: frozenset[int]
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Adjacent:
    """No set of the search separates x and y; ``strongest`` came closest, with this p-value."""

    x: int
    y: int
    strongest: frozenset[int] | None
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Doubtful:
    """x and y are outside each other's Markov boundary, yet no set that was tried separates them; see Adjacent."""

    x: int
    y: int
    strongest: frozenset[int] | None
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Overruled:
    """The tests say otherwise of x and y than a statement, which was kept; ``strongest`` is the set that speaks.

    x and y were said to be adjacent, and it separates them; or said not to be, and even it, which came closest, does
    not.
    """

    x: int
    y: int
    strongest: frozenset[int] | None
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Kept:
    """x was found not removable, because ``sepset``, which holds x, separates y and z and no set without x does."""

    x: int
    y: int
    z: int
    sepset: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class Removed:
    """x was removed, with this boundary and these adjacent variables among those that remained."""

    x: int
    boundary: frozenset[int]
    adjacent: frozenset[int]


@dataclass(frozen=True, slots=True)
class LeftBoundary:
    """The removal of x took y and z out of each other's Markov boundary."""

    x: int
    y: int
    z: int
    given: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class NoneRemovable:
    """No variable of the remaining set was removable; its undecided pairs were settled by plain search."""

    remaining: frozenset[int]


@dataclass(frozen=True, slots=True)
class Began:
    """A search by score began with this graph ("empty": no edges): what it is, or why it is not the one asked for."""

    graph: str
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A move of a search by score: the edge between x and y before and after, and the BIC that it led to."""

    x: int
    y: int
    before: str
    after: str
    bic: float


@dataclass(frozen=True, slots=True)
class BudgetEnded:
    """A budget or another limit (of rows, of conditioning sets) ended the search early, and left pairs undecided."""

    reason: str


@dataclass(frozen=True, slots=True)
class Chose:
    """Which stage of a search by score gave the graph, its score, and the price of an edge.

    ``selection_gain`` is by how much the best graph that was met without selection is worse: 0 where the graph itself
    needs none, None where no graph without selection was met.
    """

    stage: str
    score: float
    price: float
    selection_gain: float | None


@dataclass(frozen=True, slots=True)
class HiddenNode:
    """A hidden node that the graph rests on: "latent" or "selection", what it is tied to, and what it is worth."""

    kind: str
    members: frozenset[int]
    loss: float


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A hidden node that was not accepted, because unequal noise, bends or interactions can explain it."""

    kind: str
    members: frozenset[int]


@dataclass(frozen=True, slots=True)
class Weighed:
    """The edge between x and y: the best graph without it is worse by ``loss``, and its p-value given these."""

    x: int
    y: int
    loss: float
    given: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """x and y are not adjacent: the graph says that ``given`` separates them; the best graph with an edge is worse."""

    x: int
    y: int
    loss: float
    given: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class Supported:
    """The mark at y on the edge x-y: the best graph without it is worse by ``distance``, None if none was met."""

    x: int
    y: int
    distance: float | None


@dataclass(frozen=True, slots=True)
class StatementCost:
    """By how much a statement by itself, or all of them together (""), worsens the best score that is found."""

    statement: str
    loss: float


Event = (
    Separated
    | Adjacent
    | Doubtful
    | Overruled
    | Kept
    | Removed
    | LeftBoundary
    | NoneRemovable
    | Began
    | Moved
    | BudgetEnded
    | Chose
    | HiddenNode
    | RefusedNode
    | Weighed
    | LeftOut
    | Supported
    | StatementCost
    | RuleApplication
)


_NODES = frozenset({"x", "y", "z"})
_SETS = frozenset({"sepset", "strongest", "boundary", "adjacent", "given", "remaining", "members"})


def moved(event: Event, place: Sequence[int]) -> Event:
    """Return the same record where variable v stands at ``place[v]``.

    Examples
    --------
    >>> moved(Separated(0, 1, frozenset({2}), 0.5, "adjacency"), place=[2, 0, 1])
    Separated(x=2, y=0, sepset=frozenset({1}), pvalue=0.5, phase='adjacency')
    """
    if isinstance(event, RuleApplication):
        marks = (tuple((place[x], place[y], m) for x, y, m in part) for part in (event.written, event.refused))
        return RuleApplication(event.rule, tuple(place[v] for v in event.nodes), *marks)
    changes: dict[str, Any] = {}
    for part in fields(event):
        value = attrgetter(part.name)(event)
        if part.name in _NODES:
            changes[part.name] = place[value]
        elif part.name in _SETS and value is not None:
            changes[part.name] = frozenset(place[v] for v in value)
    same: Event = replace(event, **changes)
    return same


# --- very many records ------------------------------------------------------------------------------------


class SeparatedRun(NamedTuple):
    """Records of pairs that one phase separated, one after the other, as columns; sets ascending, end to end.

    Examples
    --------
    >>> run = SeparatedRun.of([Separated(0, 3, frozenset({2, 1}), 0.5, "adjacency")])
    >>> run.x.tolist(), run.y.tolist(), run.sizes.tolist(), run.members.tolist(), run.pvalues.tolist()
    ([0], [3], [2], [1, 2], [0.5])
    """

    phase: str
    x: NDArray[Any]
    y: NDArray[Any]
    sizes: NDArray[Any]
    members: NDArray[Any]
    pvalues: NDArray[np.float64]

    @classmethod
    def of(cls, events: Sequence[Separated]) -> SeparatedRun:
        """Return records as columns."""
        count = len(events)
        x, y = (np.fromiter((read(e) for e in events), np.int64, count) for read in (attrgetter("x"), attrgetter("y")))
        sizes = np.fromiter((len(e.sepset) for e in events), np.int64, count)
        members = np.fromiter(chain.from_iterable(sorted(e.sepset) for e in events), np.int64, int(sizes.sum()))
        pvalues = np.fromiter((e.pvalue for e in events), np.float64, count)
        return cls(events[0].phase, x, y, sizes, members, pvalues)

    def records(self) -> list[Separated]:
        """Return the columns as records."""
        listed, starts = self.members.tolist(), accumulate(self.sizes.tolist(), initial=0)
        sets = (frozenset(listed[at:end]) for at, end in pairwise(starts))
        rows = zip(self.x.tolist(), self.y.tolist(), sets, self.pvalues.tolist(), strict=True)
        return [Separated(x, y, sepset, pvalue, self.phase) for x, y, sepset, pvalue in rows]

    def of_pair(self, x: int, y: int) -> list[Separated]:
        """Return the records of one pair; the others are not made."""
        rows = np.flatnonzero((self.x == x) & (self.y == y) | (self.x == y) & (self.y == x))
        ends = np.cumsum(self.sizes) if len(rows) else rows
        sets = (frozenset(self.members[ends[k] - self.sizes[k] : ends[k]].tolist()) for k in rows)
        return [
            Separated(int(self.x[k]), int(self.y[k]), found, float(self.pvalues[k]), self.phase)
            for k, found in zip(rows, sets, strict=True)
        ]


Part = Event | SeparatedRun


class Trace(LazyTuple[Event]):
    """The records of a run, in order; separated pairs are kept as columns, and become records at the first look.

    Examples
    --------
    >>> trace = Trace.of((Separated(0, 1, frozenset(), 0.5, "adjacency"), BudgetEnded("late")))
    >>> [type(part).__name__ for part in trace.parts], len(trace), trace.is_made, trace[1]
    (['SeparatedRun', 'BudgetEnded'], 2, False, BudgetEnded(reason='late'))
    """

    def __init__(self, parts: Callable[[], Sequence[Part]]) -> None:
        self._parts = Deferred(parts)
        super().__init__(self._records)

    @classmethod
    def of(cls, events: Sequence[Event]) -> Trace:
        """Return the trace of records; those that are a trace already stay as they are."""
        return events if isinstance(events, Trace) else cls(lambda: _parts_of(events))

    @classmethod
    def from_parts(cls, parts: Sequence[Part]) -> Trace:
        """Return the trace of records, and of columns of separated pairs."""
        return cls(lambda: parts)

    @property
    def parts(self) -> Sequence[Part]:
        """The records, those of pairs that one phase separated one after the other as columns."""
        return self._parts.made

    @without_collection()
    def _records(self) -> tuple[Event, ...]:
        runs = (part.records() if isinstance(part, SeparatedRun) else (part,) for part in self.parts)
        return tuple(chain.from_iterable(runs))

    def __len__(self) -> int:
        return sum(len(part.x) if isinstance(part, SeparatedRun) else 1 for part in self.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace.from_parts, (list(self.parts),)


def _parts_of(events: Sequence[Event]) -> list[Part]:
    parts: list[Part] = []
    for phase, run in groupby(events, lambda event: event.phase if isinstance(event, Separated) else None):
        listed = list(run)
        parts += listed if phase is None else [SeparatedRun.of(cast("list[Separated]", listed))]
    return parts


def separations_of(trace: Sequence[Event], x: int, y: int) -> list[Separated]:
    """Return the records that separate a pair, in order.

    Examples
    --------
    >>> trace = Trace.of((Separated(0, 1, frozenset({2}), 0.5, "adjacency"), BudgetEnded("late")))
    >>> separations_of(trace, 1, 0), separations_of(trace, 0, 2)
    ([Separated(x=0, y=1, sepset=frozenset({2}), pvalue=0.5, phase='adjacency')], [])
    """
    found: list[Separated] = []
    for part in Trace.of(trace).parts:
        if isinstance(part, SeparatedRun):
            found += part.of_pair(x, y)
        elif isinstance(part, Separated) and {part.x, part.y} == {x, y}:
            found.append(part)
    return found


def but_separated(trace: Sequence[Event]) -> Iterator[Event]:
    """Iterate over the records of other things than separated pairs, of which there can be a million.

    Examples
    --------
    >>> list(but_separated((Separated(0, 1, frozenset(), 0.5, "adjacency"), BudgetEnded("late"))))
    [BudgetEnded(reason='late')]
    """
    parts = trace.parts if isinstance(trace, Trace) else trace
    return (e for e in parts if not isinstance(e, Separated | SeparatedRun))
