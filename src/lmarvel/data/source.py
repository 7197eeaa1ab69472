"""What every kind of table is made into first: all its columns as they stand there, and a way to the rows of some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Column, Levels, Wish

Batches = Callable[[int], Iterator[NDArray[np.float64]]]
"""From a number of rows to all rows in batches of about that many; each call starts at the first row again."""


@dataclass(frozen=True)
class Rows:
    """The rows of chosen columns: batches of numbers, codes where a column has levels, NaN where a value is missing.

    ``levels`` is None where all columns are numbers, or are to be taken for such until one turns out not to be. Then
    ``load`` reads the rows into memory, with levels.
    """

    batches: Batches
    levels: tuple[Levels | None, ...] | None = None
    load: Callable[[], Rows] | None = None


@dataclass(frozen=True)
class Source:
    """The names of all columns, and a function from chosen positions to their rows.

    Making a source reads no rows, nor does choosing from a file: what is wrong with the rows shows when batches are
    taken.
    """

    names: list[str]
    choose: Callable[[Sequence[int], Wish], Rows]
    in_memory: bool


def rows_of(columns: Sequence[Column]) -> Rows:
    """Return rows of columns that are in memory."""

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        for start in range(0, len(columns[0].numbers) if columns else 0, rows):
            yield np.column_stack([column.numbers[start : start + rows] for column in columns])

    levels = tuple(column.levels for column in columns)
    return Rows(batches, None if all(level is None for level in levels) else levels)
