"""What a search by score can begin with, checked."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from lmarvel.errors import DataError, ParameterError
from lmarvel.graph.marks import TAIL
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import Marks

_SINGULAR = 1e-10  # a variable with less than this share of its variance left is determined by the others
_DIGITS = 11  # of a correlation; those behind them differ with the order in which a machine adds rows up


def checked_start(start: Marks, p: int) -> Marks:
    """Refuse a graph to start from that is no matrix of marks."""
    marks = np.asarray(start, dtype=np.int8)
    if marks.shape != (p, p) or ((marks == 0) != (marks.T == 0)).any() or ((marks < 0) | (marks > TAIL)).any():
        raise ParameterError(
            f"must be a {p} x {p} matrix of the marks 0 to 3, with two marks for each edge", parameter="start"
        )
    return marks


def checked(correlation: Matrix, n: int, penalty: float) -> Matrix:
    """Refuse a correlation matrix, rows or a penalty that no score can use; return the matrix, rounded.

    Models of equal score are many, and fits of nearly degenerate ones swing with the last digit of their input. So
    that digit must not decide: without rounding, one table in a hundred had another graph on another processor.
    """
    R = np.asarray(correlation, dtype=np.float64)
    if R.ndim != 2 or R.shape[0] != R.shape[1] or not len(R):
        raise DataError(f"a correlation matrix is square, not of shape {R.shape}")
    if not np.isfinite(R).all():
        x, y = np.argwhere(~np.isfinite(R))[0]
        raise DataError(f"the correlation of the variables number {x} and {y} is not a finite number")
    if not np.allclose(R, R.T, atol=1e-8) or not np.allclose(R.diagonal(), 1.0, atol=1e-8):
        raise DataError("a correlation matrix is symmetric, with ones on the diagonal: this one is not")
    if not penalty > 0:
        raise ParameterError(f"must be above 0, not {penalty!r}; 2 is a usual choice", parameter="penalty")
    if n <= len(R) + 1:
        raise DataError(f"{n} rows are too few for {len(R)} variables: a score needs at least {len(R) + 2} rows")
    R = np.round(R, _DIGITS)
    _refuse_singular(R)
    return R


def _refuse_singular(R: Matrix) -> None:
    """Name the first variable that those before it determine."""
    with suppress(np.linalg.LinAlgError):
        if (np.linalg.cholesky(R).diagonal() ** 2 > 2 * _SINGULAR).all():
            return
    for k in range(1, len(R) + 1):
        try:
            pivot = float(np.linalg.cholesky(R[:k, :k])[-1, -1]) ** 2
        except np.linalg.LinAlgError:
            pivot = 0.0
        if pivot < _SINGULAR:
            raise DataError(f"the variable number {k - 1} is determined by those before it: drop one of them")
