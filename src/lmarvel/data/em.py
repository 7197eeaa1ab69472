"""Moments of a table with gaps: the maximum of the Gaussian likelihood of what was observed, by EM.

Rows are put together by their pattern of gaps. With o the observed columns of a pattern and m the missing ones, the E
step fills x_m with its expectation given x_o and adds the conditional covariance of x_m to the scatter; the M step
takes mean and covariance of the filled rows (Dempster, Laird & Rubin 1977; Little & Rubin 2019, section 11.2). Values
have to be missing at random: whether one is missing may depend on what was observed, not on the value itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import DataError

Matrix = NDArray[np.float64]
_ENOUGH = 1e-8  # change of a correlation, or of a mean in deviations, in one step
_MOST_STEPS = 2000


class _Pattern(NamedTuple):
    """Rows that lack the same columns."""

    observed: NDArray[np.intp]
    missing: NDArray[np.intp]
    weight: float
    mean: Matrix  # of the observed columns
    scatter: Matrix  # of the observed columns about that mean, divided by the weight


def em_moments(
    rows: Matrix, names: tuple[str, ...], weights: NDArray[np.float64] | NDArray[np.int64] | None = None
) -> tuple[Matrix, Matrix]:
    """Return mean and covariance (divided by n) that make what was observed most likely.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 6.0], [np.nan, 1.0]])
    >>> mean, covariance = em_moments(rows, ("a", "b"))
    >>> mean.round(2).tolist()
    [2.05, 3.62]
    """
    centre, scale = _standard(rows, names)
    weighing = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    patterns = _patterns((rows - centre) / scale, weighing)
    mean, covariance = np.zeros(rows.shape[1]), np.eye(rows.shape[1])  # as if columns were independent
    for _ in range(_MOST_STEPS):
        new_mean, new_covariance = _step(patterns, mean, covariance)
        change = max(np.abs(new_mean - mean).max(), np.abs(new_covariance - covariance).max())
        mean, covariance = new_mean, new_covariance
        if change < _ENOUGH:
            break
    return mean * scale + centre, covariance * np.outer(scale, scale)


def observed_pairs(rows: Matrix) -> float:
    """Return the mean share of rows in which both columns of a pair were observed.

    Examples
    --------
    >>> observed_pairs(np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 1.0], [np.nan, 1.0]]))
    0.5
    """
    seen = (~np.isnan(rows)).astype(np.float64)
    p = rows.shape[1]
    both = seen.T @ seen
    return float((both.sum() - np.trace(both)) / (p * (p - 1) * len(rows)))


def _standard(rows: Matrix, names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """Return mean and deviation of what was observed of each column, so that steps are in comparable units."""
    seen = ~np.isnan(rows)
    empty = [name for i, name in enumerate(names) if not seen[:, i].any()]
    if empty:
        raise DataError(f"column {', '.join(map(repr, empty[:20]))} has no values at all: leave it out")
    if np.isinf(rows).any():
        culprit = names[int(np.argmax(np.isinf(rows).any(axis=0)))]
        raise DataError(f"infinite values in {culprit!r}: replace them or drop those rows")
    centre, scale = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    flat = [name for i, name in enumerate(names) if not scale[i] > 0]
    if flat:
        raise DataError(
            f"constant column {', '.join(map(repr, flat[:20]))}: it can be neither cause nor effect here, drop it"
        )
    return centre, scale


def _patterns(rows: Matrix, weights: Matrix) -> list[_Pattern]:
    gaps = np.isnan(rows)
    distinct, which = np.unique(gaps, axis=0, return_inverse=True)
    found = []
    for k, pattern in enumerate(distinct):
        here = (which.reshape(-1) == k) & (weights > 0)
        observed, missing = np.flatnonzero(~pattern), np.flatnonzero(pattern)
        if not here.any() or not observed.size:
            continue  # a row without values says nothing
        part, w = rows[np.ix_(here, observed)], weights[here]
        mean = w @ part / w.sum()
        centred = (part - mean) * np.sqrt(w / w.sum())[:, None]
        found.append(_Pattern(observed, missing, float(w.sum()), mean, centred.T @ centred))
    return found


def _step(patterns: list[_Pattern], mean: Matrix, covariance: Matrix) -> tuple[Matrix, Matrix]:
    """Fill the gaps as expected under the present moments, and take the moments of the filled rows."""
    p, total = len(mean), sum(pattern.weight for pattern in patterns)
    first, second = np.zeros(p), np.zeros((p, p))
    for o, m, weight, here, scatter in patterns:
        fill = np.zeros((p, len(o)))  # from deviations of the observed columns to those of all
        fill[o, np.arange(len(o))] = 1.0
        left = np.zeros((p, p))
        if m.size:
            beta = np.linalg.lstsq(covariance[np.ix_(o, o)], covariance[np.ix_(o, m)], rcond=1e-12)[0].T
            fill[m] = beta
            left[np.ix_(m, m)] = covariance[np.ix_(m, m)] - beta @ covariance[np.ix_(o, m)]
        shift = fill @ (here - mean[o])
        first += weight / total * shift
        second += weight / total * (fill @ scatter @ fill.T + np.outer(shift, shift) + left)
    return mean + first, second - np.outer(first, first)
