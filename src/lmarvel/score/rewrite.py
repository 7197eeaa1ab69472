"""Bidirected edges that can be read as directed ones without changing the model.

In X = BX + eps let x <-> y be such that all parents of x are parents of y, and all spouses of x, but y, are spouses
of y. Write eps_y = g eps_x + eps'_y with eps'_y uncorrelated to eps_x. Then x <-> y may be replaced by x --> y with
the coefficient g: what eps_x = X_x - B_x X brings into the equation of y is absorbed by the parents and spouses that
y has anyway. With T = I + g e_y e_x' and A = I - B this is the row operation

    A = T A',    Omega = T Omega' T',    det T = 1,

a bijection between the parameters of the two graphs, so the maximum of the likelihood is the same. Where every
bidirected edge can be so replaced, the fit is a regression for each variable, in closed form; what is left after all
replacements falls into smaller districts, and only these need an iterative fit. For covariance graphs the idea is
due to Drton & Richardson [1]_.

The rewritten equations are a device for fitting, not a causal claim: the edges may even look cyclic. Since det A'
stays 1, the likelihood does not care.

References
----------
.. [1] Drton & Richardson, Graphical methods for efficient likelihood inference in Gaussian covariance models,
   Journal of Machine Learning Research 9 (2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.bitsets import members

Sets = dict[int, int]  # for each member of a district a bit set of nodes


def rewrite(parents: Sets, spouses: Sets) -> list[tuple[int, int]]:
    """Turn x <-> y into x --> y wherever that leaves the model as it is; change the sets, return the pairs in order.

    Examples
    --------
    >>> parents, spouses = {0: 0, 1: 0, 2: 0}, {0: 0b010, 1: 0b101, 2: 0b010}   # 0 <-> 1 <-> 2
    >>> rewrite(parents, spouses)                                                # 0 --> 1 <-- 2
    [(0, 1), (2, 1)]
    >>> parents[1] == 0b101, spouses[1] == 0
    (True, True)
    """
    steps = []
    changed = True
    while changed:
        changed = False
        # Nodes with few parents and spouses can be swallowed by most others: try these first.
        for x in sorted(spouses, key=lambda v: (spouses[v].bit_count() + parents[v].bit_count(), v)):
            for y in members(spouses[x]):
                if not parents[x] & ~parents[y] and not spouses[x] & ~spouses[y] & ~(1 << y):
                    spouses[x] ^= 1 << y
                    spouses[y] ^= 1 << x
                    parents[y] |= 1 << x
                    steps.append((x, y))
                    changed = True
    return steps


def undo(
    steps: Sequence[tuple[int, int]], place: Mapping[int, int], A: NDArray[np.float64], Omega: NDArray[np.float64]
) -> None:
    """Turn a fit (A', Omega') of the rewritten equations into one of the original graph, in place.

    ``place`` maps a node to its row, and its column of A.
    """
    for x, y in reversed(steps):
        i, j = place[x], place[y]
        g = -A[j, i]
        A[j] += g * A[i]
        A[j, i] = 0.0  # exactly, not up to rounding
        Omega[j] += g * Omega[i]
        Omega[:, j] += g * Omega[:, i]


def split(spouses: Sets) -> list[list[int]]:
    """Return the districts: sets of nodes that paths of bidirected edges join.

    Examples
    --------
    >>> split({0: 0b100, 1: 0, 2: 0b001})
    [[0, 2], [1]]
    """
    districts = []
    done = 0
    for v in spouses:
        if done >> v & 1:
            continue
        reached = frontier = 1 << v
        while frontier:
            joined = 0
            for u in members(frontier):
                joined |= spouses[u]
            frontier = joined & ~reached
            reached |= frontier
        done |= reached
        districts.append(list(members(reached)))
    return districts
