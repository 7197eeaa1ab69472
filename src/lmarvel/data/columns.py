"""What a column measures, and the one place where that is decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Levels
from lmarvel.errors import DataError
from lmarvel.text import counted, did_you_mean, listing

NAMED = 20  # columns, in a message


class Kind(str, Enum):
    """What the values of a column are: a test that knows it can be the right one for it.

    Examples
    --------
    >>> Kind("binary") is Kind.BINARY, Kind.BINARY == "binary", str(Kind.BINARY)
    (True, True, 'binary')
    """

    CONTINUOUS = "continuous"
    """Numbers whose differences mean something."""
    ORDINAL = "ordinal"
    """Levels in an order, at distances unknown."""
    BINARY = "binary"
    """Two values."""
    NOMINAL = "nominal"
    """Levels without an order."""

    def __str__(self) -> str:
        return self.value


def kinds_of(two_valued: NDArray[np.bool_], levels: Sequence[Levels | None] | None = None) -> tuple[Kind, ...]:
    """Decide the kind of each column. This is the only place where that is done.

    Kinds come from types, and from what a user says:

    1. a column of two values is binary, whatever its type;
    2. categories in an order (pandas' ordered categories, Polars' Enum, what a user calls ordinal) are ordinal;
    3. categories without one, text, and what a user calls categorical, are nominal;
    4. numbers are continuous. How many values a column of numbers may have before it is a measurement cannot be told
       from the numbers, so none of them is taken for levels: a count from 0 to 5 is continuous until somebody says
       otherwise.
    """
    kinds = [Kind.BINARY if two else Kind.CONTINUOUS for two in two_valued.tolist()]
    for i, found in enumerate(levels or ()):
        if found is not None and len(found.names) != 2:
            kinds[i] = Kind.ORDINAL if found.ordered else Kind.NOMINAL
    return tuple(kinds)


def by_kind(names: Sequence[str], kinds: Sequence[Kind]) -> str:
    """Return how many columns are continuous, and which are not, for people.

    Examples
    --------
    >>> by_kind(["a", "b", "c"], [Kind.NOMINAL, Kind.CONTINUOUS, Kind.CONTINUOUS])
    '2 continuous, 1 nominal: a'
    """
    parts = []
    for kind in Kind:
        which = [name for name, found in zip(names, kinds, strict=True) if found is kind]
        if which:
            named = "" if kind is Kind.CONTINUOUS else f": {listing(which, NAMED)}"
            parts.append(f"{len(which)} {kind}{named}")
    return "; ".join(parts) if len(parts) > 2 else ", ".join(parts)


def few_whole(rows: NDArray[np.float64]) -> tuple[int, ...]:
    """Return for each column how many different whole numbers its first rows hold: 0 where there are others, or many.

    Examples
    --------
    >>> few_whole(np.array([[1, 0.5], [2, 1], [3, 2], [1, 3], [2, 4], [3, 5], [3, 6], [1, 7], [1, 8], [2, 9.0]]))
    (3, 0)
    """
    rows, at = rows[:_LOOKED_AT], np.arange(rows.shape[1])
    for part in (rows[:_FEW], rows):  # most columns drop out at the first few rows
        chosen = part if len(at) == part.shape[1] else part[:, at]
        at = at[((chosen == np.round(chosen)) | np.isnan(chosen)).all(axis=0)]
    found = [0] * rows.shape[1]
    for i in at.tolist():
        different = len(np.unique(rows[~np.isnan(rows[:, i]), i]))
        found[i] = different if 2 < different <= min(FEW, len(rows) // 3) else 0
    return tuple(found)


class TwoValued:
    """Which columns have had at most two different values so far.

    Nearly all columns of measurements drop out at the first few rows, so that a pass over a large table pays for
    the others alone.
    """

    def __init__(self, p: int) -> None:
        self.still = np.ones(p, dtype=bool)
        self._low, self._high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, batch: NDArray[np.float64]) -> None:
        """Look at a batch of rows."""
        if len(batch) >= 3 and _all_differ(*batch[:3]):  # measurements do, at a glance
            self.still[:] = False
            return
        self._look(batch[:_FEW])
        if len(batch) > _FEW and self.still.any():
            self._look(batch[_FEW:])

    def _look(self, batch: NDArray[np.float64]) -> None:
        """Keep the columns whose values are all the least or the greatest of those seen."""
        at = np.flatnonzero(self.still)
        part = batch if len(at) == batch.shape[1] else batch[:, at]
        low = np.fmin(self._low[at], np.fmin.reduce(part, axis=0))
        high = np.fmax(self._high[at], np.fmax.reduce(part, axis=0))
        within = ((part == low) | (part == high) | np.isnan(part)).all(axis=0)
        seen = self._low[at] <= self._high[at]  # an older value that lies between the new bounds is a third one
        for old in (self._low[at], self._high[at]):
            within &= ~seen | (old == low) | (old == high)
        self._low[at], self._high[at] = low, high
        self.still[at] = within

    def told(self) -> NDArray[np.bool_]:
        """Return which columns have two values, no more and no less."""
        return np.asarray(self.still & (self._low < self._high))

    def values(self, column: int) -> tuple[float, float]:
        """Return the two values of a column that has two."""
        return float(self._low[column]), float(self._high[column])


def _all_differ(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> bool:
    """Tell whether the three values of every column differ, and none is missing."""
    return bool(((a != b) & (b != c) & (a != c) & ~np.isnan(a + b + c)).all())


_FEW = 64
FEW = 10  # different whole numbers that may well be codes of levels
_LOOKED_AT = 2000


def check_known(role: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that no column has, with those that come close."""
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        meant = did_you_mean(unknown[0], names)
        raise DataError(
            f"names {unknown[0]!r}, but the table has no such column: {listing(names, NAMED)}{meant}", parameter=role
        )


def not_one_a_row(role: str, given: int, rows: int) -> DataError:
    """Return what to raise where weights, or names of clusters, are not as many as rows.

    Examples
    --------
    >>> print(not_one_a_row("weights", 1, 3))
    there is 1 weight for 3 rows: give one per row
    """
    there = f"is {counted(given, role[:-1])}" if given == 1 else f"are {counted(given, role[:-1])}"
    return DataError(f"there {there} for {counted(rows, 'row')}: give one per row")
