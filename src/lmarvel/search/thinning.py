"""Which edges of an undirected Gaussian graph are worth their price: backward elimination.

Of a fitted concentration graph (:mod:`lmarvel.score.concentration`) the edge with the smallest partial correlation r
is taken off, as long as its likelihood ratio, about -n log(1 - r^2), is below the price; then the graph is fitted
again. In one round other edges go along with it, if they share no node with it and with each other and are next to
nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmarvel.score.concentration import newton_selection
from lmarvel.score.district import Matrix

_NEXT_TO_NOTHING = 1 / 8  # of the price


def thin(R: Matrix, joined: NDArray[np.bool_], n: float, price: float) -> NDArray[np.bool_]:
    """Take edges off an undirected graph while the score falls; return which are left.

    Parameters
    ----------
    R : array of shape (k, k)
        Correlation matrix.
    joined : boolean array of shape (k, k)
        The edges to begin with.
    n, price : float
        Rows, and what an edge costs.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])     # 0 --- 1 --- 2
    >>> thin(R, ~np.eye(3, dtype=bool), n=200, price=10.6).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    joined = joined.copy()
    k = len(joined)
    K: Matrix = np.asarray(np.linalg.inv(R), dtype=np.float64)
    while True:
        K = newton_selection(R, joined, K, tolerance=1e-8).K
        scale = np.sqrt(K.diagonal())
        partial = K / np.outer(scale, scale)
        ratio = np.where(np.triu(joined), -n * np.log(np.maximum(1 - partial * partial, 1e-12)), np.inf)
        used: set[int] = set()
        for place in np.argsort(ratio, axis=None, kind="stable")[:k].tolist():
            x, y = divmod(place, k)
            if not ratio[x, y] < (price * _NEXT_TO_NOTHING if used else price):
                break
            if x not in used and y not in used:
                joined[x, y] = joined[y, x] = False
                used |= {x, y}
        if not used:
            return joined
