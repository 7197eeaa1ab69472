"""A squared partial correlation, a Cholesky factor a row at a time, and its p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PIVOT = 1e-10
"""A variance below this share of a variable's own counts as none: the others determine it."""


def pvalue_of(r2: float, df: int) -> float:
    """Return the two-sided p-value of a squared partial correlation with n - k - 3 = df."""
    if r2 >= 1.0:
        return 0.0
    return math.erfc(math.sqrt(df * 0.5) * math.atanh(math.sqrt(r2)))


def squared_partial_correlation(R: NDArray[np.float64], x: int, y: int, given: Sequence[int]) -> float:
    """Return the squared partial correlation, 1 where it is undefined: a Cholesky factor a row at a time.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]])
    >>> abs(squared_partial_correlation(R, 0, 2, [1])) < 1e-12
    True
    """
    rows: list[NDArray[np.float64]] = []  # for each kept member: its row of the factor against all of (given, x, y)
    order = [*given, x, y]
    block = R[np.ix_(order, order)]
    for d in range(len(given)):
        against = block[d].copy()
        for row in rows:
            against -= row[d] * row
        if against[d] > PIVOT:
            rows.append(against / math.sqrt(against[d]))
    vx, vy, c = 1.0, 1.0, float(block[-2, -1])
    for row in rows:
        vx -= float(row[-2] * row[-2])
        vy -= float(row[-1] * row[-1])
        c -= float(row[-2] * row[-1])
    if vx <= PIVOT or vy <= PIVOT:
        return 1.0
    return min(c * c / (vx * vy), 1.0)
