"""The records of a trace: what happened in a run, in order, on positions of variables.

An orientation rule's record is :class:`~lmarvel.orient.draft.RuleApplication`.
"""

from __future__ import annotations

from dataclasses import dataclass

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


Event = Separated | Adjacent | Kept | Removed | LeftBoundary | NoneRemovable | Moved | BudgetEnded | RuleApplication
