"""Generalised linear models of one variable on chosen basis columns, by maximum likelihood.

* A number y is Gaussian around a linear function of the columns: least squares. With n for the rows (the sum of their
  weights) and s² for the mean squared residual the log-likelihood is -n/2 (log 2πs² + 1). It needs the sums of products
  of columns only, which are worked out once for each pair, so no fit passes over the rows.
* Categories 0 to k - 1 have chances proportional to exp(η_a), with η_0 = 0 and the others linear functions of the
  columns: logistic regression, multinomial with more than two. Newton's method begins at the linear discriminant,
  halves a step that loses, and ends where a further step would gain less than 5e-6. A ridge of 1e-3 on the slopes
  keeps them finite where the columns separate the categories; the log-likelihood that is returned has no ridge in it.

The engine does both (``engine/glm``), with memory; :func:`readable_fit` is the same in a few lines.

>>> import numpy as np
>>> from lmarvel.ci.glm.basis import glm_table
>>> from lmarvel.data.dataset import Dataset
>>> rng = np.random.default_rng(0)
>>> dose = rng.normal(size=500)
>>> cured = rng.random(500) < 1 / (1 + np.exp(-2 * dose))
>>> fits = GlmFits(glm_table(Dataset.of({"dose": dose, "cured": cured})))
>>> dose_columns = fits.table.columns(0)
>>> line, bent = fits.fit(1, dose_columns[:1]), fits.fit(1, dose_columns)
>>> bool(line.loglik - fits.fit(1, []).loglik > 50), bool(bent.loglik - line.loglik < 5)
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.glm.basis import GlmTable
from lmarvel.engine import load
from lmarvel.engine.run import CANCEL

_engine = load()  # None where it is not built: the readable code does the same, slower

MOST_BYTES = 1 << 26
"""How much is remembered of fits."""
RIDGE = 1e-3
_NEAR_SINGULAR = 1e-9
_SETTLED = 1e-5
_MOST_STEPS = 25


class Fit(NamedTuple):
    """A model of one variable on some columns.

    Attributes
    ----------
    loglik : float
        The logarithm of the likelihood.
    converged : bool
        False if Newton's method did not come to its end.
    coefficients : array, shape (responses, 1 + columns)
        Intercept and slopes, by ascending column, for the number or for each category but 0.
    residuals : array, shape (responses, n), or None
        The number, or the indicator of each category but 0, less what the model expects.
    """

    loglik: float
    converged: bool
    coefficients: NDArray[np.float64]
    residuals: NDArray[np.float64] | None


class GlmFits:
    """Fits of the variables of a table, remembered by variable and set of columns.

    Parameters
    ----------
    table : GlmTable
        The variables as basis columns.
    compiled : bool
        False forces the readable code, which gives the same answers and remembers nothing.
    most_bytes : int
        How much is remembered; then everything is forgotten.
    """

    def __init__(self, table: GlmTable, compiled: bool = True, most_bytes: int = MOST_BYTES) -> None:
        self.table = table
        self._compiled: Any = None
        if compiled and _engine is not None:
            parts = (table.basis, table.starts, table.categories, table.codes, table.weights)
            self._compiled = _engine.GlmFits(*parts, most_bytes)

    def fit(self, v: int, columns: Iterable[int], residuals: bool = False) -> Fit:
        """Fit a variable on any set of basis columns of others."""
        if self._compiled is not None:
            return Fit._make(self._compiled.fit(v, columns, residuals, CANCEL.get()))
        return readable_fit(self.table, v, sorted(columns), residuals)


def readable_fit(table: GlmTable, v: int, columns: Sequence[int], residuals: bool = False) -> Fit:
    """Fit a variable on basis columns, in NumPy."""
    weights = np.ones(table.basis.shape[1]) if table.weights is None else table.weights
    design = np.column_stack([np.ones(len(weights)), *table.basis[list(columns)]])
    if table.categories[v] == 0:
        return _least_squares(table.basis[table.starts[v]], design, weights, residuals)
    indicators = (table.codes[v][:, None] == np.arange(1, table.categories[v])).astype(np.float64)
    return _logistic(indicators, design, weights, residuals)


def _least_squares(
    y: NDArray[np.float64], design: NDArray[np.float64], weights: NDArray[np.float64], residuals: bool
) -> Fit:
    kept = _independent(design, weights)
    gram = design[:, kept].T @ (design[:, kept] * weights[:, None])
    slopes = np.zeros(design.shape[1])
    slopes[kept] = np.linalg.solve(gram, design[:, kept].T @ (y * weights))
    left = y - design @ slopes
    n, mean = float(weights.sum()), float(weights @ y / weights.sum())
    whole = float(weights @ (y - mean) ** 2)
    spread = max(float(weights @ left**2), _NEAR_SINGULAR * whole) / n
    value = -0.5 * n * (math.log(2 * math.pi * spread) + 1)
    return Fit(value, True, slopes[None, :], left[None, :] if residuals else None)


def readable_count(table: GlmTable, v: int, columns: Sequence[int]) -> NDArray[np.float64]:
    """Return the residuals of a count whose mean is the exponential of a linear function of columns, in NumPy."""
    weights = np.ones(table.basis.shape[1]) if table.weights is None else table.weights
    design = np.column_stack([np.ones(len(weights)), *table.basis[list(columns)]])
    y = table.basis[table.starts[v]] + table.shifts[v]
    ridge = np.full(design.shape[1], RIDGE)
    ridge[0] = 0.0

    def value(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        eta = np.minimum(design @ at, 50.0)
        return float(weights @ (y * eta - np.exp(eta)) - 0.5 * ridge @ at**2), np.exp(eta)

    at = np.zeros(design.shape[1])
    at[0] = math.log(float(weights @ y / weights.sum()))
    now, mean = value(at)
    for _ in range(_MOST_STEPS):
        gradient = design.T @ (weights * (y - mean)) - ridge * at
        step = np.linalg.solve(design.T @ (design * (weights * mean)[:, None]) + np.diag(ridge + 1e-9), gradient)
        length = 1.0
        while value(at + length * step)[0] < now - 1e-9 and length >= 1e-3:
            length /= 2
        at = at + length * step
        now, mean = value(at)
        if step @ gradient < _SETTLED:
            break
    return np.asarray(y - mean)


def _independent(design: NDArray[np.float64], weights: NDArray[np.float64]) -> list[int]:
    """Return the columns that no columns before them determine."""
    kept: list[int] = []
    spanned: list[NDArray[np.float64]] = []
    for j, column in enumerate(design.T):
        left = column * np.sqrt(weights)
        whole = float(left @ left) if j == 0 else float(weights @ (column - weights @ column / weights.sum()) ** 2)
        for _ in range(2):
            for before in spanned:
                left = left - (left @ before) * before
        size = float(left @ left)
        if size > _NEAR_SINGULAR * whole and size > 0.0:
            kept.append(j)
            spanned.append(left / math.sqrt(size))
    return kept


def _logistic(
    indicators: NDArray[np.float64], design: NDArray[np.float64], weights: NDArray[np.float64], residuals: bool
) -> Fit:
    (_, m), q = indicators.shape, design.shape[1]
    ridge = np.full(q, RIDGE)
    ridge[0] = 0.0
    at = np.zeros((m, q))
    shares = np.maximum(weights @ indicators / weights.sum(), 1e-9)
    at[:, 0] = np.log(shares / max(1 - float(shares.sum()), 1e-9))
    value, chances = _value(indicators, design, weights, at, ridge)
    converged = False
    for _ in range(_MOST_STEPS):
        gradient = ((indicators - chances) * weights[:, None]).T @ design - ridge * at
        step = np.linalg.solve(_information(chances, design, weights, ridge), gradient.ravel()).reshape(m, q)
        gain, length = float((step * gradient).sum()), 1.0
        while True:
            after, then = _value(indicators, design, weights, at + length * step, ridge)
            if after >= value - 1e-9 or length < 1e-3:
                break
            length /= 2
        at, value, chances = at + length * step, after, then
        converged = gain < _SETTLED
        if converged:
            break
    loglik = value + 0.5 * float((ridge * at**2).sum())
    return Fit(loglik, converged, at, (indicators - chances).T if residuals else None)


def _value(
    indicators: NDArray[np.float64],
    design: NDArray[np.float64],
    weights: NDArray[np.float64],
    at: NDArray[np.float64],
    ridge: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Return the log-likelihood less what the ridge takes, and the chances of all categories but 0."""
    eta = design @ at.T
    top = np.maximum(eta.max(axis=1), 0)
    parts = np.exp(eta - top[:, None])
    whole = parts.sum(axis=1) + np.exp(-top)
    value = weights @ ((indicators * eta).sum(axis=1) - top - np.log(whole)) - 0.5 * (ridge * at**2).sum()
    return float(value), parts / whole[:, None]


def _information(
    chances: NDArray[np.float64], design: NDArray[np.float64], weights: NDArray[np.float64], ridge: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return minus the second derivatives."""
    m, q = chances.shape[1], design.shape[1]
    found = np.empty((m, q, m, q))
    for a in range(m):
        for b in range(m):
            spread = weights * chances[:, a] * ((a == b) - chances[:, b])
            found[a, :, b] = design.T @ (design * spread[:, None])
    whole = found.reshape(m * q, m * q)
    whole[np.diag_indices(m * q)] += np.tile(ridge, m) + 1e-9
    return whole
