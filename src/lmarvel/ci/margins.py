"""Pearson's statistic of a table by chance: its mean, variance and skewness given the margins, and its tail.

Let n rows fall into r levels of X and k levels of Y, both counts fixed, and match them at random. The statistic is
then n tr(A B_σ), with A and B the projections on the levels less their mean, and σ a random order. Its first moments
over all orders are known in closed form: mean and variance from Haldane (1940), the third from Mielke & Berry (1985)
and, for any two matrices, from Kazi-Aoual et al. (1995). Of a side they need

    t = r - 1,    s = n Σ 1/n_x - 2r + 1,    q = n² Σ 1/n_x² - 3n Σ 1/n_x + 3r - 1,

where n_x are the rows of a level. For projections the third cumulant is a bilinear form in (t, t², t³, s, ts, q) of
either side, whose coefficients are polynomials in n (``_THIRD``).

Strata are independent of each other, so their cumulants add up. What has these three is looked for among the
distributions of Pearson's system that begin at zero, as the statistic does: beta where it has a short tail, beta prime
where it has a long one, and gamma, which the chi-square distributions are, between the two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_FEWEST, _FOR_THIRD = 3, 6  # rows that there must be for a variance, and for the formula of the third cumulant
_NEARLY_GAMMA = 1e5

# Coefficients of products of (t, t², t³, s, ts, q), as polynomials in n, the highest power first, all over
# (n - 1)³ (n - 2) (n - 3) (n - 4) (n - 5). The line of a term has those with itself and with the terms before it.
_THIRD = (
    ((8, -84, 368, -856, 1144, -884, 368, -64),),
    ((60, -348, 780, -852, 456, -96), (18, -120, 228, 84, -606, 540, -144)),
    ((8, 0, -24, 16, 0), (6, -18, -30, 18, 24, 0), (4, -26, 24, 46, 0, 0)),
    (
        (-28, 184, -504, 720, -556, 216, -32),
        (-18, 108, -348, 624, -594, 276, -48),
        (-6, 18, -10, -10, 8, 0),
        (22, -40, -72, 268, -286, 124, -16),
    ),
    (
        (-60, 228, -324, 204, -48),
        (-24, 114, -66, -186, 234, -72),
        (-6, 36, -42, 0, 12, 0),
        (24, -102, 210, -234, 126, -24),
        (9, -36, 0, -36, 99, -36),
    ),
    (
        (20, -96, 184, -176, 84, -16),
        (18, -84, 168, -180, 102, -24),
        (2, -10, 18, -14, 4, 0),
        (-22, 40, 20, -80, 50, -8),
        (-3, 0, 30, -60, 45, -12),
        (1, 14, -20, -10, 19, -4),
    ),
)


class Cumulants(NamedTuple):
    """Mean, variance, and third cumulant, the mean third power of the deviation from the mean."""

    mean: float
    variance: float
    third: float


def cumulants_given_margins(rows: NDArray[Any], columns: NDArray[Any]) -> Cumulants:
    """Return the cumulants of the statistic of a table with these margins whose rows and columns are independent.

    The third is that of a gamma distribution where a table has fewer than six rows.

    Examples
    --------
    >>> cumulants_given_margins(np.array([2.0, 1.0]), np.array([2.0, 1.0]))[:2]   # 3 in one case of three, else 3 / 4
    (1.5, 1.125)
    """
    n, r, k = float(rows.sum()), len(rows), len(columns)
    mean = n * (r - 1) * (k - 1) / (n - 1)
    one, two = (n * (1 / rows).sum() - r * r) / (n - 2), (n * (1 / columns).sum() - k * k) / (n - 2)
    even = max((r - 1) * (n - r) / (n - 1) - one, 0.0) * max((k - 1) * (n - k) / (n - 1) - two, 0.0)
    variance = float(n * n / (n - 1) * one * two + (2 * n / (n - 3) * even if n > 3 else 0.0))
    if n < _FOR_THIRD:
        return Cumulants(mean, variance, 2 * variance**2 / mean)
    a, b = _terms(n, rows), _terms(n, columns)
    third = 0.0
    for i, line in enumerate(_THIRD):
        for j, polynomial in enumerate(line):
            products = a[i] * b[i] if i == j else a[i] * b[j] + a[j] * b[i]
            third += float(np.polyval(polynomial, n)) * products
    return Cumulants(mean, variance, third / ((n - 1) ** 3 * (n - 2) * (n - 3) * (n - 4) * (n - 5)))


def _terms(n: float, counts: NDArray[Any]) -> tuple[float, ...]:
    r, over, squared = len(counts), float((1 / counts).sum()), float((1 / counts**2).sum())
    t, s, q = r - 1.0, n * over - 2 * r + 1, n * n * squared - 3 * n * over + 3 * r - 1
    return t, t * t, t * t * t, s, t * s, q


def tail(statistic: float, expected: Cumulants) -> float:
    """Return the probability of a statistic at least as large, of the distribution from zero on with these cumulants.

    The quotients of successive moments about zero of beta and beta prime distributions are s (a + j) / (N + j) for
    j = 0, 1, 2; N is negative for the latter and infinite for gamma.

    Examples
    --------
    >>> round(tail(5.99, Cumulants(2.0, 4.0, 16.0)), 3)    # chi-square on 2 degrees of freedom
    0.05
    """
    from scipy.special import betainc, gammaincc

    mean, variance, third = expected
    if statistic <= 0.0:
        return 1.0
    second = variance + mean * mean
    one, two, three = mean, second / mean, (third + 3 * mean * variance + mean**3) / second
    bend = three - 2 * two + one
    if abs(bend) * _NEARLY_GAMMA > 2 * abs(two - three):
        N = 2 * (two - three) / bend
        scale = two * (N + 1) - one * N
        a = one * N / scale if scale != 0.0 else 0.0
        if N > 0.0 and 0.0 < a < N:
            share = statistic / scale
            return float(betainc(N - a, a, 1 - share)) if share < 1.0 else 0.0
        if N < -2.0 and a > 0.0:
            return float(betainc(1 - N, a, 1 / (1 - statistic / scale)))
    return float(gammaincc(mean * mean / variance, statistic * mean / variance))
