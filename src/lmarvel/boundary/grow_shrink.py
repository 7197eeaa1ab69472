"""Markov boundaries by grow-shrink (Margaritis & Thrun, 1999).

Grow: go through the candidates in order of their marginal dependence, take in the first that depends on the
target given what was taken, and start over, until none does. Shrink: take out what is independent given the rest.
"""

from __future__ import annotations

import numpy as np

from lmarvel.boundary.growth import shrink
from lmarvel.ci.growth import Growth


def grow_shrink(growth: Growth, alpha: float, most: int) -> bool:
    """Find the boundary of the growth's target, which ends as ``growth.members``; tell whether growing came to its end.

    Parameters
    ----------
    growth : Growth
        The target with an empty set.
    alpha : float
        The level.
    most : int
        The set never gets larger than this.
    """
    evidence, critical = growth.candidates(alpha)
    order = np.argsort(-evidence, kind="stable")
    complete = False
    while not complete and len(growth.members) < most:
        first = next((int(v) for v in order if evidence[v] > critical), None)
        complete = first is None
        if first is not None:
            growth.add(first)
            evidence, critical = growth.candidates(alpha)
    shrink(growth, alpha)
    return complete
