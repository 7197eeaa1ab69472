"""Columns of text and of categories as codes of levels, and the one rule by which text is numbers or levels.

A column of text whose values are all numbers is a column of numbers. One that has no numbers, or fewer than text, has
levels. What lies between is a column of numbers with something in it that does not belong there, and is refused with
the first such value named, unless a user says that these are levels.

Levels stand in an order: numbers by value and text by code point where there is no other, so that codes do not depend
on the order of the rows; categories in the order that they were declared in.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import DataError

MIXED = "Mend the value, treat it as missing (na), drop the column, or name it in categorical"
OTHER = "drop it, or turn it into numbers or text"
Codes = NDArray[np.intp]
_COUNTED = 1000
COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_MONEY = "$€£¥₹"
_MARKED = re.compile(rf"([+-]?)\s*([{_MONEY}]?)\s*([+-]?[\d.,'\s]*\d[.,]?(?:[eE][+-]?\d+)?)\s*([%‰{_MONEY}]?)")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:([,'\s])\d{3})(?:\1\d{3})*(?:\.\d*)?")
_GROUPED_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(?:([.'\s])\d{3})(?:\1\d{3})*(?:,\d*)?")
_GROUPS = "thousands separators"
NO_CODES: frozenset[str] = frozenset()


class Levels(NamedTuple):
    """The levels of a column in their order, and whether that order means something."""

    names: tuple[str, ...]
    ordered: bool = False


class Column(NamedTuple):
    """A column: numbers, or codes of levels (0, 1, ...); NaN where a value is missing.

    ``marks`` names what was taken off its numbers: signs of money, percent signs, thousands separators.
    """

    numbers: NDArray[np.float64]
    levels: Levels | None = None
    marks: tuple[str, ...] = ()


class How(NamedTuple):
    """How the text of a column is to be taken: as levels in any case, as levels if mixed, and what is missing."""

    text: bool = False
    lenient: bool = False
    na: frozenset[str] = NO_CODES


class Wish(NamedTuple):
    """How text is to be taken: positions of columns that are levels in any case, and whether mixtures are, too.

    ``na`` has the values that stand for a missing one, by position.
    """

    text: frozenset[int] = frozenset()
    lenient: bool = False
    na: Mapping[int, frozenset[str]] = MappingProxyType({})

    def of(self, i: int) -> How:
        """Return how one column is to be taken."""
        return How(i in self.text, self.lenient, self.na.get(i, NO_CODES))

    def at(self, places: Sequence[int]) -> Wish:
        """Return the same wish of columns that stand at other places."""
        na = {places[i]: codes for i, codes in self.na.items()}
        return Wish(frozenset(places[i] for i in self.text), self.lenient, na)


class Mixture(Exception):
    """A column of numbers in which something is none: the row, from 0, and the value."""

    def __init__(self, row: int, value: str) -> None:
        super().__init__(row, value)
        self.row, self.value = row, value


PLAIN = How()


def column_of(values: Iterable[Any], how: How = PLAIN) -> Column:
    """Return a column of what its values show; None is missing.

    Examples
    --------
    >>> column_of(["b", "a", None, "b"])[:2]
    (array([ 1.,  0., nan,  1.]), Levels(names=('a', 'b'), ordered=False))
    >>> column_of(["10", "9.5"]).numbers.tolist(), column_of(["10", "9.5"], How(text=True)).levels.names
    ([10.0, 9.5], ('9.5', '10'))
    >>> column_of(["$1,250", "$980", "refused"], How(na=frozenset({"refused"})))
    Column(numbers=array([1250.,  980.,   nan]), levels=None, marks=('$ signs', 'thousands separators'))
    """
    return column_of_text([None if value is None else str(value) for value in values], how)


def column_of_text(values: list[Any], how: How = PLAIN) -> Column:
    """Return a column of values that are text, or None."""
    codes, distinct = coded(values)
    return column_of_codes(codes, distinct, how)


def coded(values: Iterable[Hashable]) -> tuple[Codes, list[Any]]:
    """Return codes in the order in which values first come, -1 for None, and the values."""
    listed = values if isinstance(values, list) else list(values)
    distinct = [value for value in dict.fromkeys(listed) if value is not None]
    known = {value: code for code, value in enumerate(distinct)} | {None: -1}
    return np.fromiter(map(known.__getitem__, listed), dtype=np.intp, count=len(listed)), distinct


def column_of_codes(codes: Codes, distinct: Sequence[str], how: How = PLAIN, decimal: str | None = None) -> Column:
    """Return the column whose values are ``distinct[codes]``, -1 where one is missing."""
    if how.na:
        codes, distinct = _without(codes, distinct, how.na)
    numbers, marks = numbers_of(distinct, decimal)
    if not how.text and not np.isnan(numbers).any():
        return Column(np.append(numbers, np.nan)[codes], None, marks)
    if not how.text and not how.lenient:
        _refuse_mixture(codes, distinct, np.isnan(numbers))
    by_value = not np.isnan(numbers).any()
    order = sorted(range(len(distinct)), key=lambda i: (numbers[i] if by_value else 0.0, distinct[i]))
    place = np.empty(len(distinct) + 1)
    place[order] = np.arange(len(distinct))
    place[-1] = np.nan
    return Column(place[codes], Levels(tuple(distinct[i] for i in order)))


def is_code(text: str, codes: frozenset[str]) -> bool:
    """Whether a text is one of those that stand for a missing value; numbers are compared as numbers.

    Examples
    --------
    >>> is_code("-9.0", frozenset({"-9", "Refused"})), is_code("refused", frozenset({"-9", "Refused"}))
    (True, False)
    """
    return text.strip() in codes or number(text) in {number(code) for code in codes}


def _without(codes: Codes, distinct: Sequence[str], na: frozenset[str]) -> tuple[Codes, list[str]]:
    """Return codes and values without those that stand for a missing one."""
    kept = [i for i, text in enumerate(distinct) if not is_code(text, na)]
    place = np.full(len(distinct) + 1, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return place[codes], [distinct[i] for i in kept]


def _refuse_mixture(codes: Codes, distinct: Sequence[str], strange: NDArray[np.bool_]) -> None:
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    if counts[~strange].sum() >= counts[strange].sum():
        row = int(np.argmax((codes >= 0) & np.append(strange, False)[codes]))
        raise Mixture(row, distinct[codes[row]])


def numbers_of(distinct: Sequence[str], decimal: str | None = None) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return texts as numbers, NaN for those that are none, and what was taken off: signs, and thousands separators.

    A comma is a decimal sign where that is said, or where no number has a point and some cannot be thousands.

    Examples
    --------
    >>> numbers_of(["12 %", "7.5%", "none"]), numbers_of(["1,25", "310"])
    ((array([12. ,  7.5,  nan]), ('% signs',)), (array([  1.25, 310.  ]), ()))
    >>> numbers_of(["1,250", "310"])
    (array([1250.,  310.]), ('thousands separators',))
    """
    plain = np.array([number(text) for text in distinct], dtype=np.float64)
    if not np.isnan(plain).any():
        return plain, ()
    parts = [_MARKED.fullmatch(text.strip()) for text in distinct]
    bodies = [part[3] for part in parts if part is not None]
    told = decimal is None and not any("." in body for body in bodies)
    comma = decimal == "," or (told and any(COMMA.fullmatch(b) and not _GROUPED.fullmatch(b) for b in bodies))
    found = [_marked(part, comma) for part in parts]
    values = np.where(np.isnan(plain), [value for value, _ in found], plain)
    used = [marks for old, (value, marks) in zip(plain, found, strict=True) if old != old and value == value]
    return values, tuple(sorted({mark for marks in used for mark in marks}, key=lambda mark: (mark == _GROUPS, mark)))


def is_number(text: str) -> bool:
    """Whether a text alone is a number, with signs around it or without.

    Examples
    --------
    >>> is_number(" -4e3 "), is_number("$1,250.50"), is_number("4 mm")
    (True, True, False)
    """
    if number(text) == number(text):
        return True
    part = _MARKED.fullmatch(text.strip())
    return part is not None and any(value == value for value in (_marked(part, comma)[0] for comma in (False, True)))


def _marked(part: re.Match[str] | None, comma: bool) -> tuple[float, list[str]]:
    """Return a number that has signs around it or separators in it, and what these are; NaN if it is none."""
    if part is None:
        return float("nan"), []
    sign, before, body, behind = part.groups()
    marks = [f"{mark} signs" for mark in (before, behind) if mark]
    grouped = (_GROUPED_POINT if comma else _GROUPED).fullmatch(body)
    if grouped:
        body, marks = body.replace(grouped[1], ""), [*marks, _GROUPS]
    return number(sign + (body.replace(",", ".") if comma else body)), marks


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
            f"the order of {name!r} names {twice!r} twice: name every category once, from the lowest to the highest"
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
