"""What is peculiar about columns of categories: very many of them, those with one row, columns that determine others.

None of it is refused. Tests and scores can live with it, and people should know.

A column with more than 20 categories keeps those with at least 1 % of the rows, and the 19 commonest in any case, as
far as they have 5 rows. All others become one category. Categories in an order are cut into 20 classes of neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Levels
from lmarvel.data.sources.base import rows_beside
from lmarvel.data.table import Table
from lmarvel.data.view import all_rows

Matrix = NDArray[np.float64]
MANY = 20
"""Categories, above which the rare ones of a column are taken together."""
_SHARE, _FEWEST = 0.01, 5  # of the rows, and rows, that a category of such a column needs
_SMALLEST = 2  # categories, of which nothing is ever taken together
_LOOKED_AT = 256  # rows, in which most pairs of columns show that neither determines the other


class Determines(NamedTuple):
    """A column of categories that determines another column, by position; a copy if the other determines it, too."""

    one: int
    other: int
    copy: bool


def lone_levels(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the categories with one row that share an indicator, or have none; ``rows`` counts those of each.

    A single one is left as it is where there is but one category more.

    Examples
    --------
    >>> lone_levels(np.array([5, 1, 9, 1])).tolist(), lone_levels(np.array([5, 1])).tolist()
    ([1, 3], [])
    """
    alone = np.flatnonzero(rows == 1)
    others = np.count_nonzero(rows > 1)
    return alone if others > 1 or (others and len(alone) > 1) else alone[:0]


class Grouped(NamedTuple):
    """How the categories of a column were taken together: how many there were, how many are left, rows of "other"."""

    before: int
    left: int
    rows: int


def group_many(table: Table) -> tuple[Table, dict[str, Grouped]]:
    """Return a table whose columns have no very many categories, and what was done to which.

    A column of which no category has enough rows, as an id has, is left as it is.
    """
    wide = [i for i, known in enumerate(table.levels or ()) if known is not None and len(known.names) > _SMALLEST]
    if not wide:
        return table, {}
    done: dict[str, Grouped] = {}
    levels, whole = list(table.levels or ()), np.array(all_rows(table))
    for i in wide:
        known, seen = levels[i], ~np.isnan(whole[:, i])
        assert known is not None
        codes = whole[seen, i].astype(np.intp)
        place, names = groups_of(known, np.bincount(codes, minlength=len(known.names)))
        if len(names) < len(known.names):
            whole[seen, i], levels[i] = place[codes], Levels(names, known.ordered)
            other = 0 if known.ordered else int((place[codes] == len(names) - 1).sum())
            done[table.names[i]] = Grouped(len(np.unique(codes)), len(names), other)
    return (Table.of(table.names, rows_beside(whole, levels), in_memory=True) if done else table), done


def groups_of(known: Levels, counts: NDArray[np.intp]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the group of each category, and the names of the groups; ``counts`` has the rows of each category.

    Examples
    --------
    >>> towns = Levels(tuple(f"t{i:02d}" for i in range(40)))
    >>> place, names = groups_of(towns, np.array([30] * 15 + [4] * 25))
    >>> len(names), names[-1], place[[0, 14, 15, 39]].tolist()
    (16, 'other', [0, 14, 15, 15])
    >>> groups_of(Levels(("a", "b", "c")), np.array([9, 1, 1]))[1]
    ('a', 'b', 'c')
    """
    n, present, as_it_is = int(counts.sum()), int((counts > 0).sum()), np.arange(len(counts))
    if present <= MANY and present <= max(n // 2, 2):
        return as_it_is, known.names
    if known.ordered:
        return _classes(known, counts) if present > MANY else (as_it_is, known.names)
    common = np.argsort(-counts, kind="stable")[: MANY - 1]
    needed = max(_FEWEST, _SHARE * n)
    kept = np.flatnonzero((counts >= needed) | (np.isin(as_it_is, common) & (counts >= _FEWEST)))
    if not len(kept) or present - len(kept) < 2:
        return as_it_is, known.names
    place = np.full(len(counts), len(kept))
    place[kept] = np.arange(len(kept))
    names = [known.names[k] for k in kept]
    return place, (*names, "other" if "other" not in names else "(other)")


def _classes(known: Levels, counts: NDArray[np.intp]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return classes of neighbours with about equally many rows."""
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    _, place = np.unique(np.minimum((MANY * middle).astype(np.intp), MANY - 1), return_inverse=True)
    place = place.reshape(-1)
    ends = [np.flatnonzero(place == k) for k in range(int(place.max()) + 1)]
    return place, tuple(known.names[e[0]] + (f" to {known.names[e[-1]]}" if len(e) > 1 else "") for e in ends)


def determined(values: Matrix, categories: Sequence[bool]) -> Iterator[Determines]:
    """Iterate over pairs of columns of which the first determines the second; of copies the first comes first.

    Parameters
    ----------
    values : array of shape (rows, columns)
        Codes of categories, and numbers; NaN where a value is missing.
    categories : sequence of bool
        Which columns are categories: numbers, most of which differ, are not asked what they determine.

    Examples
    --------
    >>> city = np.array([0.0, 1, 2, 3, 0, 1, 2, 3])
    >>> table = np.column_stack([city // 2, city, 3 - city, [1, 0, 0, 1, 0, 1, 1, 0]])
    >>> [tuple(pair) for pair in determined(table, [True] * 4)]
    [(1, 0, False), (1, 2, True), (2, 0, False)]
    """
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    for i in np.flatnonzero(categories).tolist():
        for j in np.flatnonzero(_all_decided(some[:, i], some)).tolist():
            if j == i or not _decided(values[:, i], values[:, j]):
                continue
            copy = bool(categories[j]) and _decided(values[:, j], values[:, i])
            if i < j or not copy:
                yield Determines(i, j, copy)


def _decided(one: Matrix, other: Matrix) -> bool:
    seen = ~(np.isnan(one) | np.isnan(other))
    varies = seen.any() and np.ptp(other[seen]) > 0 and np.ptp(one[seen]) > 0
    return bool(varies and _all_decided(one[seen], other[seen, None])[0])


def _all_decided(one: Matrix, others: Matrix) -> NDArray[np.bool_]:
    """Return which columns have one value for each category of a column; a gap stands for any value."""
    seen = ~np.isnan(one)
    _, first, which = np.unique(one[seen], return_index=True, return_inverse=True)
    there = others[seen]
    of_category = there[first][which.reshape(-1)]
    return np.asarray(((of_category == there) | np.isnan(of_category) | np.isnan(there)).all(axis=0))


def peculiar(names: Sequence[str], values: Matrix, levels: Sequence[tuple[str, ...] | None]) -> list[dict[str, Any]]:
    """Return for each column, as plain data, its categories with one row, and what it determines or is a copy of.

    Examples
    --------
    >>> codes = np.array([[0.0, 1], [0, 1], [1, 0], [1, 0], [2, 2]])
    >>> peculiar(("a", "b"), codes, (("x", "y", "z"), ("p", "q", "r")))
    [{'lone': ['z']}, {'lone': ['r'], 'copy_of': 'a'}]
    """
    found: list[dict[str, Any]] = [{} for _ in names]
    for i, known in enumerate(levels):
        if known is not None and len(known) > 2:
            codes = values[~np.isnan(values[:, i]), i].astype(np.intp)
            lone = lone_levels(np.bincount(codes, minlength=len(known)))
            found[i] |= {"lone": [known[k] for k in lone]} if len(lone) else {}
    for one, other, copy in determined(values, [known is not None for known in levels]):
        if copy:
            found[other]["copy_of"] = found[other].get("copy_of", names[one])
        else:
            found[one].setdefault("determines", []).append(names[other])
    return found
