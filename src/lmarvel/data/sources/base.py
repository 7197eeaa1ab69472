"""What every kind of table is made into first: all its columns as they stand there, and a way to the rows of some."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Column, How, Levels, Wish, as_levels, column_of_codes, is_code, is_number, number
from lmarvel.errors import LMarvelWarning
from lmarvel.text import joined, listing

Batches = Callable[[int], Iterator[NDArray[np.float64]]]
"""From a number of rows to all rows in batches of about that many; each call starts at the first row again."""


class Layout(NamedTuple):
    """How a file is laid out, as far as a user says so; what is None is told from the file."""

    separator: str | None = None
    decimal: str | None = None
    skip_rows: int | None = None
    header: bool | None = None
    labels: bool = False  # whether names of rows are kept: a matrix has them


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


def tell_marks(names: Sequence[str], columns: Sequence[Column]) -> None:
    """Say of which columns signs or separators were taken off, so that their numbers are numbers."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, column in zip(names, columns, strict=True):
        if column.marks:
            found.setdefault(column.marks, []).append(repr(name))
    for marks, which in found.items():
        are = f"column {which[0]} is" if len(which) == 1 else f"columns {listing(which, 12)} are"
        warnings.warn(f"{are} read as numbers, without {joined(marks)}", LMarvelWarning, stacklevel=2)


def without_codes(source: Source, codes: Mapping[int, frozenset[str]]) -> Source:
    """Return a source in which values that stand for a missing one are missing; these are given by position."""

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        wish = wish._replace(na=codes)
        return _without(source.choose(columns, wish), [wish.of(i) for i in columns])

    return replace(source, choose=choose)


def _without(rows: Rows, how: Sequence[How]) -> Rows:
    numbers = [_numbers(one.na) for one in how]

    def batches(size: int) -> Iterator[NDArray[np.float64]]:
        for batch in rows.batches(size):
            kept = batch.copy()
            for i, values in enumerate(numbers):
                if values:
                    kept[np.isin(batch[:, i], values), i] = np.nan
            yield kept

    load = None if rows.load is None else lambda: _without(rows.load(), how)  # type: ignore[misc]
    if rows.levels is None:
        return Rows(batches, None, load)
    whole = np.concatenate([np.empty((0, len(how))), *rows.batches(1 << 62)])
    return rows_of([_column_without(whole[:, i], rows.levels[i], how[i]) for i in range(len(how))])


def _numbers(codes: frozenset[str]) -> list[float]:
    return [value for value in map(number, codes) if value == value]


def _column_without(values: NDArray[np.float64], levels: Levels | None, how: How) -> Column:
    """Return a column in memory without codes for missing values; one that is numbers but for these is numbers."""
    if levels is None:
        return Column(np.where(np.isin(values, _numbers(how.na)), np.nan, values))
    gone = [k for k, name in enumerate(levels.names) if is_code(name, how.na)]
    if not gone:
        return Column(values, levels)
    if not levels.ordered and not how.text and all(is_number(name) or is_code(name, how.na) for name in levels.names):
        return column_of_codes(np.where(np.isnan(values), -1, values).astype(np.intp), levels.names, how)
    return as_levels("", Column(np.where(np.isin(values, gone), np.nan, values), levels), ordered=levels.ordered)


def rows_beside(whole: NDArray[np.float64], levels: Sequence[Levels | None]) -> Rows:
    """Return rows that stand in one array, made for them, with the levels of their columns."""
    return Rows(lambda rows: pieces(whole, rows), _some_levels(levels), private=True)


def pieces(whole: NDArray[np.float64], rows: int) -> Iterator[NDArray[np.float64]]:
    """Return an iterator over all rows, so many at a time."""
    return (whole[start : start + rows] for start in range(0, len(whole), rows))


def _some_levels(levels: Sequence[Levels | None]) -> tuple[Levels | None, ...] | None:
    return None if all(level is None for level in levels) else tuple(levels)
