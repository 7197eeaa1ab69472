"""Moments of a table with gaps: the maximum of the Gaussian likelihood of what was observed, by EM.

With o the observed and m the missing columns of a row, the E step fills x_m with its expectation given x_o and adds the
conditional covariance of x_m to the scatter; the M step takes mean and covariance of the filled rows (Dempster, Laird &
Rubin 1977; Little & Rubin 2019, section 11.2). In terms of the inverse covariance K the two are

    E(x_m | x_o) = mean_m - K_mm⁻¹ K_mo (x_o - mean_o),    cov(x_m | x_o) = K_mm⁻¹,

so that only blocks of missing columns are inverted, all patterns of as many gaps in one call. Values have to be missing
at random: whether one is missing may depend on what was observed, not on the value itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import UnusableError
from lmarvel.text import listing

Matrix = NDArray[np.float64]
_ENOUGH = 1e-8  # change of a correlation, or of a mean in deviations, in one step
_MOST_STEPS = 2000
_RIDGE = 1e-12  # so that combinations of columns do not end the search; they are refused by name afterwards


class _Gaps(NamedTuple):
    """The rows with a number of gaps: their patterns (the missing columns of each), and which row has which."""

    rows: NDArray[np.intp]
    patterns: NDArray[np.intp]
    which: NDArray[np.intp]
    weight: Matrix  # of each pattern


def em_moments(
    rows: Matrix, names: tuple[str, ...], weights: NDArray[np.float64] | NDArray[np.int64] | None = None
) -> tuple[Matrix, Matrix]:
    """Return mean and covariance (divided by n) that make what was observed most likely.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 6.0], [np.nan, 1.0]])
    >>> mean, covariance = em_moments(rows, ("a", "b"))
    >>> mean.round(2).tolist()
    [2.02, 3.57]
    """
    centre, scale = _standard(rows, names)
    weighing = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = (weighing > 0) & ~np.isnan(rows).all(axis=1)  # a row without values says nothing
    standard, share = (rows[kept] - centre) / scale, weighing[kept] / weighing[kept].sum()
    gaps = _by_number(standard, share)
    mean, covariance = np.zeros(rows.shape[1]), np.eye(rows.shape[1])  # as if columns were independent
    for _ in range(_MOST_STEPS):
        new_mean, new_covariance = _step(standard, share, gaps, mean, covariance)
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
        raise UnusableError(f"column {', '.join(map(repr, empty[:20]))} has no values at all: leave it out")
    if np.isinf(rows).any():
        culprit = names[int(np.argmax(np.isinf(rows).any(axis=0)))]
        raise UnusableError(f"infinite values in {culprit!r}: replace them or drop those rows")
    centre, scale = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    flat = [name for i, name in enumerate(names) if not scale[i] > 0]
    if flat:
        one = len(flat) == 1
        raise UnusableError(
            f"column{'s' * (not one)} {listing(map(repr, flat), 20)} {'is' if one else 'are'} constant: drop"
            f" {'it' if one else 'them'}"
        )
    return centre, scale


def _by_number(rows: Matrix, share: Matrix) -> list[_Gaps]:
    """Put rows with as many gaps together, and find the patterns among them."""
    gaps = np.isnan(rows)
    numbers = gaps.sum(axis=1)
    found = []
    for k in np.unique(numbers[numbers > 0]).tolist():
        at = np.flatnonzero(numbers == k)
        missing = np.nonzero(gaps[at])[1].reshape(-1, k)
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        weight = np.asarray(np.bincount(which.reshape(-1), share[at], minlength=len(patterns)), dtype=np.float64)
        found.append(_Gaps(at, patterns, which.reshape(-1), weight))
    return found


def _step(rows: Matrix, share: Matrix, gaps: list[_Gaps], mean: Matrix, covariance: Matrix) -> tuple[Matrix, Matrix]:
    """Fill the gaps as expected under the present moments, and take the moments of the filled rows."""
    precision = np.linalg.inv(covariance + _RIDGE * np.eye(len(mean)))
    filled = np.nan_to_num(rows - mean)
    left = np.zeros_like(covariance)
    for at, patterns, which, weight in gaps:
        blocks = np.linalg.inv(precision[patterns[:, :, None], patterns[:, None, :]])
        np.add.at(left, (patterns[:, :, None], patterns[:, None, :]), weight[:, None, None] * blocks)
        pull = np.take_along_axis(filled[at] @ precision, patterns[which], axis=1)
        filled[at[:, None], patterns[which]] = -np.einsum("rij,rj->ri", blocks[which], pull)
    shift = share @ filled
    centred = (filled - shift) * np.sqrt(share)[:, None]
    return mean + shift, centred.T @ centred + left
