"""What is peculiar about columns of categories: those with one row, and columns that determine others.

Neither is refused. Tests and scores can live with it, and people should know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
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
