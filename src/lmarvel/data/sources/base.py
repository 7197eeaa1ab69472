"""What every kind of table is made into first: all its columns as they stand there, and a way to the rows of some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Column, Levels, Wish

Batches = Callable[[int], Iterator[NDArray[np.float64]]]
"""From a number of rows to all rows in batches of about that many; each call starts at the first row again."""


class Rows(NamedTuple):
    """The rows of chosen columns: batches of numbers, codes where a column has levels, NaN where a value is missing.

    ``levels`` is None where all columns are numbers, or are to be taken for such until one turns out not to be. Then
    ``load`` reads the rows into memory, with levels. ``private`` rows were made here, and nobody else can change them.
    """

    batches: Batches
    levels: tuple[Levels | None, ...] | None = None
    load: Callable[[], Rows] | None = None
    private: bool = False


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
    whole: list[NDArray[np.float64]] = []

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        if not whole:  # side by side once, however often they are asked for
            whole.append(np.column_stack([column.numbers for column in columns]) if columns else np.empty((0, 0)))
        return pieces(whole[0], rows)

    return Rows(batches, _some_levels([column.levels for column in columns]), private=True)


def rows_beside(whole: NDArray[np.float64], levels: Sequence[Levels | None]) -> Rows:
    """Return rows that stand in one array, made for them, with the levels of their columns."""
    return Rows(lambda rows: pieces(whole, rows), _some_levels(levels), private=True)


def pieces(whole: NDArray[np.float64], rows: int) -> Iterator[NDArray[np.float64]]:
    """Return an iterator over all rows, so many at a time."""
    return (whole[start : start + rows] for start in range(0, len(whole), rows))


def _some_levels(levels: Sequence[Levels | None]) -> tuple[Levels | None, ...] | None:
    return None if all(level is None for level in levels) else tuple(levels)
