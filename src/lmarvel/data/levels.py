"""Columns of text and of categories as codes of levels, and the one rule by which text is numbers or levels.

A column of text whose values are all numbers is a column of numbers. One that has no numbers, or fewer than text, has
levels. What lies between is a column of numbers with something in it that does not belong there, and is refused with
the first such value named, unless a user says that these are levels.

Levels stand in an order: numbers by value and text by code point where there is no other, so that codes do not depend
on the order of the rows; categories in the order that they were declared in.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import DataError

MIXED = "Mend the value, drop the column, or name it in categorical if its values are levels"
OTHER = "drop it, or turn it into numbers or text"
Codes = NDArray[np.intp]
_COUNTED = 1000
COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")


class Levels(NamedTuple):
    """The levels of a column in their order, and whether that order means something."""

    names: tuple[str, ...]
    ordered: bool = False


class Column(NamedTuple):
    """A column: numbers, or codes of levels (0, 1, ...); NaN where a value is missing."""

    numbers: NDArray[np.float64]
    levels: Levels | None = None


class Wish(NamedTuple):
    """How text is to be taken: positions of columns that are levels in any case, and whether mixtures are, too."""

    text: frozenset[int] = frozenset()
    lenient: bool = False


class Mixture(Exception):
    """A column of numbers in which something is none: the row, from 0, and the value."""

    def __init__(self, row: int, value: str) -> None:
        super().__init__(row, value)
        self.row, self.value = row, value


def column_of(values: Iterable[Any], text: bool = False, lenient: bool = False) -> Column:
    """Return a column of what its values show; None is missing.

    Examples
    --------
    >>> column_of(["b", "a", None, "b"])
    Column(numbers=array([ 1.,  0., nan,  1.]), levels=Levels(names=('a', 'b'), ordered=False))
    >>> column_of(["10", "9.5"]).numbers.tolist(), column_of(["10", "9.5"], text=True).levels.names
    ([10.0, 9.5], ('9.5', '10'))
    """
    return column_of_text([None if value is None else str(value) for value in values], text, lenient)


def column_of_text(values: list[Any], text: bool = False, lenient: bool = False) -> Column:
    """Return a column of values that are text, or None."""
    codes, distinct = coded(values)
    return column_of_codes(codes, distinct, text, lenient)


def coded(values: Iterable[Hashable]) -> tuple[Codes, list[Any]]:
    """Return codes in the order in which values first come, -1 for None, and the values."""
    listed = values if isinstance(values, list) else list(values)
    distinct = [value for value in dict.fromkeys(listed) if value is not None]
    known = {value: code for code, value in enumerate(distinct)} | {None: -1}
    return np.fromiter(map(known.__getitem__, listed), dtype=np.intp, count=len(listed)), distinct


def column_of_codes(codes: Codes, distinct: Sequence[str], text: bool = False, lenient: bool = False) -> Column:
    """Return the column whose values are ``distinct[codes]``, -1 where one is missing."""
    numbers = numbers_of(distinct)
    if not text and not np.isnan(numbers).any():
        return Column(np.append(numbers, np.nan)[codes])
    if not text and not lenient:
        _refuse_mixture(codes, distinct, np.isnan(numbers))
    by_value = not np.isnan(numbers).any()
    order = sorted(range(len(distinct)), key=lambda i: (numbers[i] if by_value else 0.0, distinct[i]))
    place = np.empty(len(distinct) + 1)
    place[order] = np.arange(len(distinct))
    place[-1] = np.nan
    return Column(place[codes], Levels(tuple(distinct[i] for i in order)))


def _refuse_mixture(codes: Codes, distinct: Sequence[str], strange: NDArray[np.bool_]) -> None:
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    if counts[~strange].sum() >= counts[strange].sum():
        row = int(np.argmax((codes >= 0) & np.append(strange, False)[codes]))
        raise Mixture(row, distinct[codes[row]])


def numbers_of(distinct: Sequence[str]) -> NDArray[np.float64]:
    """Return texts as numbers, NaN for those that are none; with decimal commas if all that are numbers have them."""
    found = np.array([number(text) for text in distinct], dtype=np.float64)
    left = [text for text, value in zip(distinct, found.tolist(), strict=True) if value != value]
    if left and all(COMMA.fullmatch(text) for text in left) and not any("." in text for text in distinct):
        return np.array([number(text.replace(",", ".")) for text in distinct], dtype=np.float64)
    return found


def number(text: str) -> float:
    """Return a text as a number, NaN if it is none."""
    try:
        return float("nan") if "_" in text else float(text)
    except ValueError:
        return float("nan")


def written(value: float) -> str:
    """Return a number as the name of a level: whole ones without a point.

    Examples
    --------
    >>> written(3.0), written(0.5)
    ('3', '0.5')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _distinct(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the different values, sorted; small whole numbers are counted, which is quicker."""
    if values.size and values.min() >= 0 and values.max() < _COUNTED:
        whole = values.astype(np.intp)
        if (whole == values).all():
            return np.flatnonzero(np.bincount(whole)).astype(np.float64)
    return np.unique(values)


def as_levels(name: str, column: Column, order: Sequence[str] | None = None, ordered: bool = False) -> Column:
    """Return a column as codes of those levels that occur in it, in the order that a user gives, if any."""
    values = column.numbers
    gaps = np.isnan(values)
    present = _distinct(values[~gaps] if gaps.any() else values)
    if column.levels is None:
        names = tuple(map(written, present.tolist()))
    else:
        names = tuple(column.levels.names[int(i)] for i in present)
    codes = values
    if not np.array_equal(present, np.arange(len(present))):  # else they are codes already
        codes = np.where(gaps, np.nan, np.searchsorted(present, values))
    if order is None:
        return Column(codes, Levels(names, ordered))
    wanted = list(order)
    twice = next((level for i, level in enumerate(wanted) if level in wanted[:i]), None)
    if twice is not None:
        raise DataError(
            f"the order of {name!r} names {twice!r} twice: name every level once, from the lowest to the highest"
        )
    unknown = [level for level in names if level not in wanted]
    if unknown:
        raise DataError(
            f"the order of {name!r} leaves out {', '.join(map(repr, unknown[:10]))}: name every level, from the lowest"
            " to the highest"
        )
    kept = [level for level in wanted if level in names]
    place = np.array([*(kept.index(level) for level in names), np.nan], dtype=np.float64)
    at = np.where(np.isnan(codes), len(names), codes).astype(np.intp)
    return Column(place[at], Levels(tuple(kept), True))
