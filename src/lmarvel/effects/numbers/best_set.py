"""The valid adjustment set with the smallest variance, for linear models.

The variance of
the coefficient of x in the regression of y on x and Z is, for large n, Var(y | x, Z) / (n Var(x | Z)): what explains y
should be in Z, what explains x only should not. Without unmeasured variables a set that is best whatever the
coefficients can be read off the graph [1]_; with them there need not be one. So the variances themselves are compared,
with the covariance of the data or of a model: over all valid sets if these are few, else along single changes from the
best minimal set.

References
----------
.. [1] Henckel, Perković & Maathuis, Graphical criteria for efficient total effect estimation via adjustment in causal
   linear models, Journal of the Royal Statistical Society B 84 (2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lmarvel.effects.adjustment import (
    Pair,
    adjustment_set,
    all_sets,
    blocks,
    canonical_set,
    checked_pair,
    minimal_sets,
    pair_of,
)
from lmarvel.effects.pag_index import Prepared, prepare
from lmarvel.graph.bitsets import closure, members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.mixed import Node

FEW = 8  # allowed nodes: up to here all sets are looked at
STARTS = 16


def optimal_adjustment(
    graph: PAG | MAG | Prepared, x: Node, y: Node, covariance: NDArray[np.float64]
) -> frozenset[str] | None:
    """Return the valid adjustment set with the smallest asymptotic variance in a linear model; None if none is valid.

    Parameters
    ----------
    graph : PAG
        The graph; the covariance has its variables, in its order.
    x, y : str
        Cause and outcome.
    covariance : array
        Of the data, or of a model.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "C o-> Y", nodes=["A", "B", "X", "C", "Y"])
    >>> loadings = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1.0]])
    >>> sorted(optimal_adjustment(pag, "X", "Y", loadings @ loadings.T))
    ['C']
    """
    ready = prepare(graph)
    i, j = checked_pair(ready, x, y)
    if adjustment_set(ready, i, j) is None:
        return None
    z = smallest_variance(ready, pair_of(ready, i, j), covariance)
    return None if z is None else frozenset(ready.named(z))


def smallest_variance(ready: Prepared, pair: Pair, covariance: NDArray[np.float64], climb: bool = True) -> int | None:
    """Return the best set as a bit set; without ``climb``, that of the minimal ones and the largest."""
    largest = canonical_set(ready, pair)
    if largest is None:
        return None
    near = closure(ready.graph.masks.adjacent, 1 << pair.y)  # what no path joins to y explains it by chance only
    allowed = near & ~pair.forbidden & ~(1 << pair.x | 1 << pair.y)
    if climb and allowed.bit_count() <= FEW:
        return min(all_sets(ready, pair, allowed), key=lambda z: variance(covariance, pair.x, pair.y, z))
    starts = [*islice(minimal_sets(ready, pair), STARTS), largest]
    best = min(starts, key=lambda z: variance(covariance, pair.x, pair.y, z))
    at = variance(covariance, pair.x, pair.y, best)
    while climb:
        tried = [(variance(covariance, pair.x, pair.y, z), z) for z in _changes(best, allowed)]
        better = next((item for item in sorted(tried) if item[0] < at and blocks(ready, pair, item[1])), None)
        if better is None:
            return best
        at, best = better
    return best


def _changes(z: int, allowed: int) -> Iterator[int]:
    return (z ^ 1 << v for v in members(allowed))


def variance(covariance: NDArray[np.float64], x: int, y: int, z: int) -> float:
    """Return Var(y | x, Z) / Var(x | Z): n times the asymptotic variance of the coefficient."""
    at = list(members(z))
    block = covariance[np.ix_([x, y], [x, y])]
    if at:
        across = covariance[np.ix_(at, [x, y])]
        block = block - across.T @ np.linalg.solve(covariance[np.ix_(at, at)], across)
    return float((block[1, 1] - block[0, 1] ** 2 / block[0, 0]) / block[0, 0])
