"""What tables of people often hold without saying so: codes for missing values, and panels.

Nothing is changed here. What is found is reported, with the option that says it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Levels

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
_CODES = frozenset(
    {7, 8, 9, 66, 77, 88, 96, 97, 98, 99, 666, 777, 888, 996, 997, 998, 999, 7777, 8888, 9997, 9998, 9999}
)
_LARGE = frozenset({88888, 99998, 99999, 999999, 9999999})
_LONGEST_TAIL = 3
_SCALE = 7  # the highest grade of a scale from 0 or 1 on, above which 8 or 9 is a code
_MANY = 10
_WORDS = re.compile(
    r"refus(ed|e|al)|(don['’]?t|do not) know|dk(/ref)?|unk(nown)?|missing|undisclosed|unspecified|skipped|tbd|n\.a\.?"
    r"|not (known|applicable|answered|stated|available|reported|recorded|asked|sure)|no (answer|response|data)"
    r"|(prefer|rather) not( to)? (say|answer)|-{2,}|#(value!|div/0!|ref!|name\?|num!|null!)",
    re.IGNORECASE,
)
_ID = re.compile(
    r"(^|[_. ])(id|key|uuid|nr|no|subject|person|patient|firm|country|unit|household|school|state|pid|participant)$"
    r"|id$|code$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(^|[_. ])(year|yr|time|t|wave|period|month|week|day|date|visit|round|quarter|session|occasion)s?([_. ]|\d|$)",
    re.IGNORECASE,
)


def is_word_for_missing(text: str) -> bool:
    """Whether a text says that there is no value.

    Examples
    --------
    >>> is_word_for_missing("Refused"), is_word_for_missing("Don't know"), is_word_for_missing("red")
    (True, True, False)
    """
    return _WORDS.fullmatch(text.strip()) is not None


def missing_codes_among(distinct: Vector, counts: NDArray[np.intp]) -> list[float]:
    """Return numbers that look like codes for missing values.

    They lie at an end of the others, and far from them; or they repeat among measured numbers, which hardly do.

    Examples
    --------
    >>> ages = np.array([-9.0, 18, 25, 31, 44, 52, 67])
    >>> missing_codes_among(ages, np.array([4, 1, 2, 1, 1, 3, 1]))
    [-9.0]
    >>> missing_codes_among(np.array([1.0, 2, 3, 4, 5, 8, 9]), np.array([9, 8, 9, 7, 5, 3, 2]))
    [8.0, 9.0]
    >>> missing_codes_among(np.array([-20.5, -9.0, *np.arange(1.5, 90)]), np.array([1, 12, *[1] * 89]))
    [-9.0]
    """
    low = [-value for value in reversed(_tail(-distinct[::-1], counts[::-1], below=True))]
    high = _tail(distinct, counts, below=False)
    among = [value for value in _repeated(distinct, counts) if value not in low and value not in high]
    return [*low, *among, *high]


def _repeated(distinct: Vector, counts: NDArray[np.intp]) -> list[float]:
    """Return the codes that repeat among numbers which were measured, and so hardly do."""
    if len(distinct) < 5 * _MANY or float(np.quantile(counts, 0.95)) > 3:
        return []
    often = distinct[counts >= _MANY].tolist()
    return [float(value) for value in often if abs(value) in _CODES or abs(value) in _LARGE]


def _tail(distinct: Vector, counts: NDArray[np.intp], below: bool) -> list[float]:
    """Return the codes among the greatest values; where those are the least, signs are turned round."""
    for k in range(1, _LONGEST_TAIL + 1):
        rest, tail = distinct[:-k], distinct[-k:]
        if len(rest) < 3:
            return []
        if _are_codes(rest, tail, int(counts[-k:].sum()), below):
            return [float(value) for value in tail]
    return []


def _are_codes(rest: Vector, tail: Vector, rows: int, below: bool) -> bool:
    gap, spread = tail[0] - rest[-1], rest[-1] - rest[0]
    if tail.tolist() == [1.0] and below:  # -1 is an ordinary number unless counts or ages are above it
        return bool(rest[-1] <= 0 and spread > 20 and len(rest) > _MANY)
    if not all(value in _CODES or value in _LARGE for value in tail.tolist()):
        return bool(len(tail) == 1 and rows >= 3 and len(rest) > _MANY and gap > 5 * spread)
    if gap > max(spread, 1.0):
        return True
    if below:
        return bool(rest[-1] <= 0 and rows >= 2)
    steps = np.diff(rest)
    scale = rest[0] in (0, 1) and rest[-1] <= _SCALE and bool((steps == 1).all())
    return bool(scale and gap >= 2 and rows >= 2)


# --- panels -----------------------------------------------------------------------------------------------


class Panel(NamedTuple):
    """Units with several rows each, and the column that orders the rows of a unit."""

    unit: str
    time: str
    units: int
    rows: int


def panel_of(rows: Matrix, levels: Sequence[Levels | None], names: Sequence[str]) -> Panel | None:
    """Return the columns of units and of times where the rows of each unit have times of their own.

    Examples
    --------
    >>> unit, year = np.repeat(np.arange(10.0), 3), np.tile([2001.0, 2002, 2003], 10)
    >>> pay = np.sin(np.arange(30.0))
    >>> panel_of(np.column_stack([unit, year, pay]), (None,) * 3, ("firm", "year", "pay"))
    Panel(unit='firm', time='year', units=10, rows=30)
    """
    whole = [i for i in range(len(names)) if _is_whole(rows[:, i])]
    units = [i for i in whole if _ID.search(names[i]) or levels[i] is not None] or whole
    times = [j for j in whole if _TIME.search(names[j])]
    for i in units:
        named = _ID.search(names[i]) is not None
        for j in whole if named else times:
            if i != j and _orders(rows[:, i], rows[:, j], sorted_rows=not (named and j in times)):
                return Panel(names[i], names[j], len(np.unique(rows[:, i])), len(rows))
    return None


def _is_whole(values: Vector) -> bool:
    return bool(len(values) and np.isfinite(values).all() and (values == np.round(values)).all())


def _orders(unit: Vector, time: Vector, sorted_rows: bool) -> bool:
    """Whether there are many units of several rows, with times that differ in each of them and are shared by them.

    Times have to rise where nothing but ``sorted_rows`` tells a panel from any other table.
    """
    different, which, sizes = np.unique(unit, return_inverse=True, return_counts=True)
    if len(different) < 5 or np.mean(sizes > 1) < 0.8 or len(unit) < 20:
        return False
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable") if sorted_rows else np.lexsort((time, which))
    same = np.diff(which[order]) == 0
    rises = bool((np.diff(time[order])[same] > 0).all())
    return rises and 2 <= len(np.unique(time)) <= 2 * int(sizes.max())
