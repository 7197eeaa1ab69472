"""The Gaussian likelihood of undirected edges: covariance selection (Dempster 1972).

Nodes with undirected edges have no arrowheads, so they come first in any factorisation: their joint density has its
own parameters, the inverse covariance K with K_ij = 0 unless i = j or i --- j. At the maximum of the likelihood
Sigma equals S on the diagonal and on the edges, and its inverse is zero elsewhere.

Each row is fitted in turn by the regression of its variable on its neighbours, with the covariances of the others
as they stand [1]_. That solves the row's equations exactly, and the rows settle. Minus two log-likelihood per row
of data is k log 2 pi + log det Sigma + k, since tr(K S) = k at the maximum.

A search fits very many small graphs, each close to one that is fitted already. For it there is Newton's method: the
function -log det K + tr(K S) is self-concordant, so steps shortened to 1 / (1 + lambda), lambda Newton's decrement,
stay among the positive definite matrices and lead to the maximum from anywhere, and full steps near it double the
digits [2]_.

References
----------
.. [1] Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd edition, Algorithm 17.1.
.. [2] Nesterov & Nemirovskii, Interior-Point Polynomial Algorithms in Convex Programming, SIAM 1994, chapter 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_SWEEPS = 10_000
_SETTLED = 1e-12  # of standardised covariances


class Selection(NamedTuple):
    """A fitted concentration graph: Sigma and its inverse, minus two log-likelihood without k log 2 pi, and sweeps."""

    Sigma: NDArray[np.float64]
    K: NDArray[np.float64]
    value: float
    iterations: int
    converged: bool


def covariance_selection(
    R: NDArray[np.float64], neighbors: Sequence[Sequence[int]], max_sweeps: int = MAX_SWEEPS
) -> Selection:
    """Fit the covariance of variables whose conditional dependences are the edges of an undirected graph.

    Parameters
    ----------
    R : array of shape (k, k)
        Correlation matrix; one that is not positive definite raises :class:`numpy.linalg.LinAlgError`.
    neighbors : sequence of sequences of int
        For each variable those that it is joined to.
    max_sweeps : int
        Give up after so many rounds.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 1.0]])
    >>> fit = covariance_selection(R, [[1], [0, 2], [1]])          # 0 --- 1 --- 2
    >>> bool(abs(fit.Sigma[0, 2] - 0.5 * 0.4) < 1e-12), bool(fit.K[0, 2] == 0)
    (True, True)
    """
    k = len(R)
    np.linalg.cholesky(R)  # raises unless positive definite
    W = R.copy()
    rest = [[u for u in range(k) if u != v] for v in range(k)]
    sweep, change = 0, np.inf
    while change > _SETTLED and sweep < max_sweeps:
        sweep += 1
        change = 0.0
        for v in range(k):
            near, others = list(neighbors[v]), rest[v]
            slope = np.linalg.solve(W[np.ix_(near, near)], R[near, v]) if near else np.empty(0)
            row = W[np.ix_(others, near)] @ slope
            change = max(change, float(np.abs(row - W[v, others]).max(initial=0.0)))
            W[v, others] = W[others, v] = row
    # The zeros of K hold up to rounding: make them exact, so that what is reported is a member of the model.
    joined = np.eye(k, dtype=bool)
    for v in range(k):
        joined[v, list(neighbors[v])] = True
    K = np.where(joined, np.linalg.inv(W), 0.0)
    K = (K + K.T) / 2
    root = np.linalg.cholesky(K)
    Sigma = np.linalg.inv(K)
    value = float(np.vdot(K, R) - 2 * np.log(root.diagonal()).sum())
    return Selection((Sigma + Sigma.T) / 2, K, value, sweep, change <= _SETTLED)


def newton_selection(
    R: NDArray[np.float64],
    joined: NDArray[np.bool_],
    start: NDArray[np.float64] | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 100,
) -> Selection:
    """Fit a concentration graph by Newton's method, for graphs of few edges that are fitted one after the other.

    Parameters
    ----------
    R : array of shape (k, k)
        Correlation matrix; one that is not positive definite raises :class:`numpy.linalg.LinAlgError`.
    joined : boolean array of shape (k, k)
        Which variables are joined; the diagonal does not count.
    start : array, optional
        An inverse covariance to begin with, where it is positive definite after what is not joined is set to zero.
    tolerance : float
        How far from the minimum the value may end.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 1.0]])
    >>> joined = np.array([[False, True, False], [True, False, True], [False, True, False]])
    >>> fit = newton_selection(R, joined)
    >>> bool(abs(fit.value - covariance_selection(R, [[1], [0, 2], [1]]).value) < 1e-10), fit.converged
    (True, True)
    """
    k = len(R)
    first, second = np.nonzero(np.triu(joined, 1))
    first, second = np.concatenate([np.arange(k), first]), np.concatenate([np.arange(k), second])
    weight = np.where(first == second, 1.0, 2.0)  # an entry off the diagonal stands in K twice
    K = _usable(start, joined)
    step, decrement = 0, np.inf
    while step < max_steps:
        W = np.linalg.inv(K)
        gradient = weight * (R[first, second] - W[first, second])
        crossed = (
            W[np.ix_(first, first)] * W[np.ix_(second, second)] + W[np.ix_(first, second)] * W[np.ix_(second, first)]
        )
        hessian = 0.5 * crossed * np.outer(weight, weight)
        change = np.linalg.solve(hessian, gradient)
        decrement = max(float(gradient @ change), 0.0) ** 0.5
        if decrement * decrement < tolerance:
            break
        change /= 1.0 if decrement < 0.25 else 1.0 + decrement
        K[first, second] -= change
        K[second, first] = K[first, second]
        step += 1
    root = np.linalg.cholesky(K)
    value = float(np.vdot(K, R) - 2 * np.log(root.diagonal()).sum())
    return Selection(np.asarray(W, dtype=np.float64), K, value, step, decrement * decrement < tolerance)


def _usable(start: NDArray[np.float64] | None, joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return an inverse covariance of the graph to begin with."""
    k = len(joined)
    if start is not None:
        K: NDArray[np.float64] = np.where(joined | np.eye(k, dtype=bool), start, 0.0)
        try:
            np.linalg.cholesky(K)
            return K
        except np.linalg.LinAlgError:
            pass
    return np.eye(k)
