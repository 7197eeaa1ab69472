"""The Gaussian likelihood of undirected edges: covariance selection (Dempster 1972).

Nodes with undirected edges have no arrowheads, so they come first in any factorisation: their joint density has its
own parameters, the inverse covariance K with K_ij = 0 unless i = j or i --- j. At the maximum of the likelihood
Sigma equals S on the diagonal and on the edges, and its inverse is zero elsewhere.

Each row is fitted in turn by the regression of its variable on its neighbours, with the covariances of the others
as they stand [1]_. That solves the row's equations exactly, and the rows settle. Minus two log-likelihood per row
of data is k log 2 pi + log det Sigma + k, since tr(K S) = k at the maximum.

References
----------
.. [1] Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd edition, Algorithm 17.1.
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
