"""How far unequal noise, bends and interactions inflate the evidence for hidden nodes.

A latent or selection node stands for correlations among residuals. Their likelihood ratio follows its chi-square
distribution where residuals are Gaussian and effects are straight. Three things make it larger though nothing is
hidden:

*Unequal noise*: residuals a and b that are large in the same rows. The variance of their product is then larger than
Gaussian theory says, by

    K = (E[a² b²] - r²) / (1 + r²),    r = E[a b],    E[a²] = E[b²] = 1,

the scale by which Satorra & Bentler (1994) divide the likelihood ratio of a covariance. Independent residuals have
K = 1 however heavy their tails are.

*Bends*: a variable whose square predicts another one's residual, or whose residual is predicted by a square. What two
variables owe to the square of a third one looks like a common cause. The robust score statistic z² says how much
that is, in units of the likelihood ratio.

*Interactions*: two variables that owe something to the product of two others, or are among the two. What several
variables owe to one product looks like a common cause as well. The smaller z² of the two counts, if it exceeds what
the pair bends.

The factor of a pair is K + z² / penalty. A hidden node costs the penalty once more for each unit by which the mean
factor of its pairs exceeds 1, because what it gains over other graphs varies as much more. Residuals are those of each
variable given all others, and for products given the two of the product; they need no graph. Each part counts only
where chance does not explain it, so that Gaussian tables have exactly 1 everywhere. Edges keep their penalty: see
docs/decisions/0021.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from lmarvel.score.district import Matrix

_DEVIATIONS = 6.0  # by which a K must exceed 1: the largest of 190 Gaussian pairs never did, with 200 rows and more
_BENT = 4.8  # a score statistic beyond it is a bend: by chance in one of 1,600 tables of 20 Gaussian variables
_CHANCE = 1 / 1600  # of tables of Gaussian variables, in which one product passes for an interaction
_SHARED = 2.0  # a score statistic beyond it counts for a product that is an interaction with another variable
MOST_INTERACTING = 100  # variables, whose products are all looked at
_MOST_WORK = 500_000_000  # rows times variables cubed, for these products
_DIGITS = 6  # of a factor; those behind them differ with the order in which a machine adds rows up


def inflation(rows: Matrix, price: float, weights: Matrix | None = None, *, interactions: bool = True) -> Matrix | None:
    """Return the factor of each pair of columns by which evidence for hidden nodes is inflated; None if all are 1.

    Parameters
    ----------
    rows : array
        Rows and columns of numbers, without gaps.
    price : float
        The penalty of a parameter, in units of twice the log-likelihood.
    weights : array, optional
        Of the rows.
    interactions : bool
        Whether products of two variables are looked at, which takes longest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 2000))
    >>> inflation(np.column_stack([a, b, c]), price=15.2) is None
    True
    >>> scale = np.exp(rng.normal(size=2000) / 2)                       # of the noise of a and b, in the same rows
    >>> inflation(np.column_stack([scale * a, scale * b, c]), price=15.2).round(1).tolist()
    [[1.0, 2.8, 1.0], [2.8, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    return Inflation(rows, price, weights).factors(interactions)


class Inflation:
    """The factors of one table: those without interactions are worked out at once, the others when they are asked for.

    Examples
    --------
    >>> a, b, c, d = np.random.default_rng(0).normal(size=(4, 2000))
    >>> table = Inflation(np.column_stack([a * b + c, a * b + d, a, b]), price=15.2)
    >>> [round(float(table.factors(interactions)[0, 1]), 1) for interactions in (False, True)]
    [1.0, 15.0]
    """

    def __init__(self, rows: Matrix, price: float, weights: Matrix | None = None) -> None:
        self._price = price
        self._unequal: Matrix | None = None  # where nothing can be said
        share = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not share.any():
            return
        self._share = share = share / share.sum()
        told = 1 / float(share @ share)  # rows of equal weight that tell as much
        if told <= 2 * rows.shape[1]:
            return
        X = rows - share @ rows
        spread = share @ (X * X)
        if not (spread > 0).all():
            return
        self._rows = X = X / np.sqrt(spread)
        try:
            residuals = X @ np.linalg.inv(X.T @ (X * share[:, None]))
        except np.linalg.LinAlgError:
            return
        residuals /= np.sqrt(share @ (residuals * residuals))
        self._bends = _bends(X, residuals, share, told)
        self._unequal = _unequal(residuals, share, told)

    def factors(self, interactions: bool) -> Matrix | None:
        """Return the factor of each pair; None if all are 1."""
        if self._unequal is None:
            return None
        bent = self._bends
        if interactions:
            bent = np.maximum(bent, _interactions(self._rows, self._share))
        factor = self._unequal + bent / self._price
        factor = np.round((factor + factor.T) / 2, _DIGITS)
        np.fill_diagonal(factor, 1.0)
        return factor if (factor > 1).any() else None


def _unequal(residuals: Matrix, share: Matrix, told: float) -> Matrix:
    """Return how much larger the variance of the products of residuals is than that of Gaussian ones, at least 1."""
    squares = residuals * residuals
    both = (residuals.T @ (residuals * share[:, None])) ** 2
    ratio = (squares.T @ (squares * share[:, None]) - both) / (1 + both)
    least = 1 + _DEVIATIONS * 2 / math.sqrt(told)  # Gaussian ones vary by 2 / sqrt(n)
    found: Matrix = np.where(ratio > least, ratio, 1.0)
    return found


def _bends(X: Matrix, residuals: Matrix, share: Matrix, told: float) -> Matrix:
    """Return what the two variables of a pair bend with anything, on average, in units of the likelihood ratio."""
    squares = X * X
    squares = squares - 1 - X * (share @ (squares * X))  # a power takes a hundred times as long as a product
    score = squares.T @ (residuals * share[:, None])
    spread = (squares * squares).T @ (residuals * residuals * share[:, None])
    z = np.sqrt(told / np.maximum(spread, 1e-300)) * np.abs(score)
    np.fill_diagonal(z, 0.0)
    most = np.maximum(z.max(axis=0), z.max(axis=1))
    own = np.where(most > _BENT, most**2, 0.0)
    found: Matrix = (own[:, None] + own[None, :]) / 2
    return found


def _interactions(X: Matrix, share: Matrix) -> Matrix:
    """Return what both variables of a pair have to do with one product, as its effects or in it, in the same units.

    Effects of one product explain each other, so what is left of a variable given all others would hide it. Here it is
    what is left given the two of the product. Rows are thinned where there are many variables, and what these rows say
    is scaled up to all.
    """
    p = X.shape[1]
    most = np.zeros((p, p))
    if not 3 <= p <= MOST_INTERACTING:
        return most
    whole = 1 / float(share @ share)
    every = -(-len(X) * p**3 // _MOST_WORK)
    X, share = X[::every], share[::every] / share[::every].sum()
    told, tries = 1 / float(share @ share), p * (p - 1) * (p - 2) / 2
    least = -NormalDist().inv_cdf(_CHANCE / (2 * tries))
    weighed = X * share[:, None]
    moments = weighed.T @ X
    for u in range(p - 1):
        z = _of_products(X, weighed, moments, u, share, told)
        for at in np.flatnonzero(z.max(axis=1) > least):
            of = np.where(z[at] > _SHARED, z[at], 0.0)
            of[[u, u + 1 + at]] = of.max()
            most = np.maximum(most, np.minimum(of[:, None], of[None, :]))
    return most**2 * whole / told


def _of_products(X: Matrix, weighed: Matrix, moments: Matrix, u: int, share: Matrix, told: float) -> Matrix:
    """Return the statistics of the products of u with each variable behind it, for all variables, given the two."""
    x, others, k = X[:, u], X[:, u + 1 :], np.arange(X.shape[1] - u - 1)
    between = moments[u, u + 1 :]
    slack = np.maximum(1 - between**2, 1e-12)[:, None]
    a = (moments[u] - between[:, None] * moments[u + 1 :]) / slack  # of x, and b of the other one, in each variable
    b = (moments[u + 1 :] - between[:, None] * moments[u]) / slack
    products = x[:, None] * others - between
    one, other = (share * x) @ products, share @ (others * products)
    products -= x[:, None] * ((one - between * other) / slack[:, 0]) + others * ((other - between * one) / slack[:, 0])
    score = products.T @ weighed  # of what is left as well: a product has no line of its two in it
    squares = products * products * share[:, None]
    with_x, with_other = squares.T @ (x[:, None] * X), (squares * others).T @ X
    spread = squares.T @ (X * X) - 2 * (a * with_x + b * with_other)
    spread += a**2 * with_x[:, [u]] + b**2 * with_other[k, u + 1 + k][:, None] + 2 * a * b * with_other[:, [u]]
    z: Matrix = np.sqrt(told / np.maximum(spread, 1e-300)) * np.abs(score)
    z[:, u] = z[k, u + 1 + k] = 0.0
    return z
