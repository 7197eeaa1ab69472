"""What Lift scores where rows are few: fewer than two per variable, or fewer than variables.

The correlations are then singular or nearly so, and of the many pairs some correlate strongly by chance. Two changes
make a score usable:

- Correlations are shrunk by 2 %, so that their matrix has an inverse. More is worse: shrinkage towards the identity
  makes variables dependent that a third one separates, and the optimal shrinkage for a covariance (Schäfer & Strimmer
  2005), 60 % on such tables, leaves hardly an edge.
- An edge costs log n + 2 log p where it would cost 2 log n: the extended BIC (Chen & Chen 2008), which allows for the
  number of pairs.

``benchmarks/wide.py`` measures both, and docs/wide.md shows the figures.
"""

from __future__ import annotations

import math

import numpy as np

from lmarvel.score.district import Matrix

ROWS_PER_VARIABLE = 2  # from so many rows on nothing changes
SHRINKAGE = 0.02


def are_few(n: float, p: int) -> bool:
    """Tell whether rows are few for so many variables.

    Examples
    --------
    >>> are_few(150, 198), are_few(392, 6)
    (True, False)
    """
    return n < ROWS_PER_VARIABLE * p


def price_of(n: float, p: int, penalty: float) -> float:
    """Return what an edge costs.

    Examples
    --------
    >>> round(price_of(392, 6, 2.0), 1), round(price_of(150, 198, 2.0), 1)
    (11.9, 15.6)
    """
    if not are_few(n, p):
        return penalty * math.log(n)
    return penalty * max(math.log(n), (math.log(n) + 2 * math.log(p)) / 2)


def usable(correlation: Matrix, n: float) -> Matrix:
    """Return correlations that a score can use: those of few rows shrunk.

    Examples
    --------
    >>> usable(np.array([[1.0, 0.5], [0.5, 1.0]]), 3).tolist()
    [[1.0, 0.49], [0.49, 1.0]]
    """
    if not are_few(n, len(correlation)):
        return correlation
    shrunk = (1 - SHRINKAGE) * np.asarray(correlation, dtype=np.float64)
    np.fill_diagonal(shrunk, 1.0)
    return shrunk
