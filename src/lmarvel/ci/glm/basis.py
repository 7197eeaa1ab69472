"""Basis columns of every variable of a table: what models of other variables are made of.

======================  ==============================================================================================
a variable              its basis columns
======================  ==============================================================================================
a number                the number, standardised; then the bends of a natural cubic spline, the smoothest first
categories              an indicator for each category but the commonest one
======================  ==============================================================================================

A natural cubic spline is a cubic between its knots and a straight line beyond them, so that no outlier bends it. Knots
are quantiles, and so the bends follow the rows wherever they are. A number with few distinct values has fewer bends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.blocks import is_count
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.errors import DataError

BENDS = 2
"""How many bends the spline of a number has beside its straight line."""
MOST_CATEGORIES = 40
"""How many categories a column has here; a model of many is many models."""
_OUTER = 10, 0.005, 0.05  # rows beyond the first and the last knot, each, and the least and largest share of all
_NOTHING = 1e-7  # a bend below this share of its length is a combination of those before it


@dataclass(frozen=True)
class GlmTable:
    """Basis columns of all variables, and the categories of those that have them.

    Attributes
    ----------
    names : tuple of str
        The variables.
    basis : array, shape (columns, n)
        The basis columns.
    starts : array of int32
        Where the columns of each variable begin, and the number of columns.
    categories : array of int32
        How many categories each variable has, 0 for numbers.
    codes : array of uint16, shape (variables, n)
        The category of each row; 0 is the commonest one, 1 the next. All 0 for numbers.
    weights : array or None
        What the rows count for; they sum up to ``rows``.
    rows : float
        The effective number of rows.
    shifts : array
        What the standardised column of a count is to be raised by to begin at its zero; 0 where it is not a count. A
        count has whole numbers from 0 on, three of them or more.

    Examples
    --------
    >>> table = glm_table(Dataset.of({"a": [1.0, 5.0, 2.0, 4.0, 3.0, 0.0], "b": ["x", "y", "z", "x", "z", "x"]}))
    >>> table.starts.tolist(), table.categories.tolist(), table.codes[1].tolist()
    ([0, 3, 5], [0, 3], [0, 2, 1, 0, 1, 0])
    """

    names: tuple[str, ...]
    basis: NDArray[np.float64]
    starts: NDArray[np.int32]
    categories: NDArray[np.int32]
    codes: NDArray[np.uint16]
    weights: NDArray[np.float64] | None
    rows: float
    shifts: NDArray[np.float64]

    def columns(self, v: int) -> range:
        """Return the basis columns of a variable: of a number the straight line first."""
        return range(int(self.starts[v]), int(self.starts[v + 1]))

    def responses(self, v: int) -> int:
        """Return how many columns the residual of a variable has."""
        return max(int(self.categories[v]) - 1, 1)

    def take(self, order: Sequence[int]) -> GlmTable:
        """Return the same with the variables in another order."""
        chosen = list(order)
        columns = [c for v in chosen for c in self.columns(v)]
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[chosen])]).astype(np.int32)
        names = tuple(self.names[v] for v in chosen)
        return GlmTable(
            names,
            frozen(self.basis[columns]),
            frozen(starts),
            frozen(self.categories[chosen]),
            frozen(self.codes[chosen]),
            self.weights,
            self.rows,
            frozen(self.shifts[chosen]),
        )


def glm_table(data: Dataset, bends: int = BENDS, most_categories: int = MOST_CATEGORIES) -> GlmTable:
    """Make the basis columns of a table without gaps.

    Parameters
    ----------
    data : Dataset
        The table.
    bends : int
        How many bends the spline of a number may have.
    most_categories : int
        Of a column with more of them the rarest are taken together.

    Examples
    --------
    >>> glm_table(Dataset.of({"a": [1.0, 5.0, 2.0, 4.0], "b": [0, 1, 1, 0]}), bends=0).basis.shape
    (2, 4)
    """
    return data.kept(("glm", bends, most_categories), lambda: _made(data, bends, most_categories))


def _made(data: Dataset, bends: int, most_categories: int) -> GlmTable:
    gaps = [f"{name!r} ({k})" for name, k in zip(data.names, data.missing, strict=True) if k]
    if gaps:
        raise DataError(
            f"missing values in {', '.join(gaps[:20])}: test='curved' needs whole rows, so let each test use those that"
            " have its variables (missing='test-wise'), or drop the others (missing='drop')"
        )
    values = data.values()
    n, p = values.shape
    weights, rows = row_weights(data)
    columns: list[NDArray[np.float64]] = []
    starts, categories = [0], []
    codes, shifts = np.zeros((p, n), dtype=np.uint16), np.zeros(p)
    for v, (name, kind) in enumerate(zip(data.names, data.kinds, strict=True)):
        if kind is Kind.CONTINUOUS:
            columns += natural_spline(values[:, v], bends, weights, name)
            categories.append(0)
            if is_count(values[:, v]):
                shifts[v] = _zero(values[:, v], columns[starts[-1]])
        else:
            codes[v] = by_frequency(values[:, v].astype(np.intp), weights, name, most_categories)
            categories.append(int(codes[v].max()) + 1)
            columns += [(codes[v] == a).astype(np.float64) for a in range(1, categories[-1])]
        starts.append(len(columns))
    return GlmTable(
        data.names,
        frozen(np.array(columns)),
        frozen(np.array(starts, dtype=np.int32)),
        frozen(np.array(categories, dtype=np.int32)),
        frozen(codes),
        None if weights is None else frozen(weights),
        rows,
        frozen(shifts),
    )


def row_weights(data: Dataset) -> tuple[NDArray[np.float64] | None, float]:
    """Return what the rows count for, None where each counts for one, and the effective number of rows, their sum.

    Examples
    --------
    >>> table = Dataset.of({"a": [1.0, 2.0, 4.0], "b": [2.0, 1.0, 1.0], "w": [1, 1, 2]}, weights="w")
    >>> weights, rows = row_weights(table)
    >>> weights.round(2).tolist(), round(rows, 2)
    ([0.67, 0.67, 1.33], 2.67)
    """
    n, rows = data.n, float(data.effective_rows)
    if data.weights is None and not rows < n:
        return None, float(n)
    weights = np.ones(n) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    return frozen(weights * (rows / weights.sum())), rows


def _zero(values: NDArray[np.float64], line: NDArray[np.float64]) -> float:
    """Return how far below zero the standardised column of a count has its zero."""
    low, high = int(np.argmin(values)), int(np.argmax(values))
    scale = (line[high] - line[low]) / (values[high] - values[low])
    return float(values[low] * scale - line[low])


def by_frequency(
    codes: NDArray[np.intp], weights: NDArray[np.float64] | None, name: str, most: int = MOST_CATEGORIES
) -> NDArray[np.uint16]:
    """Return codes of the categories that have rows, the commonest first; those that are as common in their order.

    Beyond so many the rarest are one category.

    Examples
    --------
    >>> by_frequency(np.array([2, 0, 5, 2, 5, 2]), None, "a").tolist()
    [0, 2, 1, 0, 1, 0]
    """
    counts = np.bincount(codes, weights)
    held = np.flatnonzero(counts > 0)
    if len(held) < 2:
        raise DataError(f"the column {name!r} has one category in all rows: drop it, since nothing can depend on it")
    place = np.zeros(len(counts), dtype=np.uint16)
    place[held[np.argsort(-counts[held], kind="stable")]] = np.minimum(np.arange(len(held)), most - 1)
    return place[codes]


def natural_spline(
    values: NDArray[np.float64], bends: int, weights: NDArray[np.float64] | None = None, name: str = "a column"
) -> list[NDArray[np.float64]]:
    """Return a column of numbers, standardised, and the bends of its natural cubic spline, orthonormal.

    Examples
    --------
    >>> line, bend = natural_spline(np.arange(9.0), 1)
    >>> bool(abs(line @ bend) < 1e-9), bool(abs(bend.sum()) < 1e-9), bend.round(1).tolist()[:5]
    (True, True, [1.5, 0.5, -0.4, -1.0, -1.2])
    """
    share = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    found: list[NDArray[np.float64]] = []
    line = values - share @ values
    size = float(np.sqrt(share @ line**2))
    for column in (line, *(_bends(values, bends, share, line / size) if bends > 0 and size > 0 else ())):
        left = column - share @ column
        whole = float(share @ left**2)
        for _ in range(2):  # the second time takes off what rounding left
            for before in found:
                left = left - (share @ (left * before)) * before
        size = float(share @ left**2)
        if size > _NOTHING**2 * whole and size > 0.0:
            found.append(left / np.sqrt(size))
        elif not found:
            raise DataError(f"the column {name!r} is constant: drop it, since nothing can depend on it")
    return found


def _bends(
    values: NDArray[np.float64], bends: int, share: NDArray[np.float64], line: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the natural cubic splines on bends + 2 knots, less the straight line, the smoothest first.

    Of functions of one variance the smoothest has the smallest integral of its squared second derivative, which is
    linear between knots (Demmler & Reinsch, 1975).
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(share[order])
    rows, least, most = _OUTER
    outer = min(max(rows / len(values), least), most)
    at = np.searchsorted(below, np.linspace(outer, 1 - outer, bends + 2) - 1e-12)
    knots = np.unique(values[order[np.minimum(at, len(values) - 1)]])
    width = knots[-1] - knots[0]
    if len(knots) < 3 or not width > 0:
        return []
    scaled, t = (values - knots[0]) / width, (knots - knots[0]) / width
    columns = _truncated(lambda at: np.clip(scaled - at, 0, None) ** 3, t)
    columns -= np.outer(columns @ share, np.ones(len(values)))
    columns -= np.outer(columns @ (share * line), line)
    second = _truncated(lambda at: 6 * np.clip(t - at, 0, None), t)
    gaps = np.diff(t)
    left, right = second[:, :-1], second[:, 1:]
    rough = ((left * gaps) @ (2 * left + right).T + (right * gaps) @ (left + 2 * right).T) / 6
    spread = (columns * share) @ columns.T
    size = np.sqrt(np.diag(spread))
    if not (size > _NOTHING).all():
        return []
    values_of, vectors = np.linalg.eigh(spread / np.outer(size, size))
    kept = values_of > _NOTHING
    white = (vectors[:, kept] / np.sqrt(values_of[kept])).T / size
    smooth = np.linalg.eigh(white @ rough @ white.T)[1].T @ white
    return list(smooth @ columns)


def _truncated(power: Callable[[float], NDArray[np.float64]], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return differences of truncated powers that are straight beyond the last knot, one for each bend."""
    tails = [(power(float(at)) - power(float(t[-1]))) / (t[-1] - at) for at in t[:-1]]
    return np.array([tail - tails[-1] for tail in tails[:-1]])


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody can change, so that the engine needs no copy of it."""
    kept = np.ascontiguousarray(array)
    kept.flags.writeable = False
    return kept
