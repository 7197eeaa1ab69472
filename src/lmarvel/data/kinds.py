"""What a column measures, and the one place where that is decided."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray


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


def kinds_of(two_valued: NDArray[np.bool_]) -> tuple[Kind, ...]:
    """Decide the kind of each column. This is the only place where that is done.

    Columns are numbers here, so one of two values is binary and any other is continuous. How many values a column
    of numbers may have before it is a measurement cannot be told from the numbers, so none of them is taken for levels:
    a count from 0 to 5 is continuous until somebody says otherwise. Kinds come from types where there are types, in
    this order:

    1. what the user says of a column;
    2. categories in an order (pandas' ordered categories, Polars' Enum) are ordinal;
    3. categories without one, and text, are nominal;
    4. truth values, and all columns of two values whatever their type, are binary;
    5. numbers are continuous.

    Rules 2 and 3 need columns that are not numbers, which are refused when they are read.
    """
    return tuple(Kind.BINARY if two else Kind.CONTINUOUS for two in two_valued.tolist())


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


_FEW = 64
