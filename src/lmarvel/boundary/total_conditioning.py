"""Markov boundaries by total conditioning (TC).

X and Y are in each other's boundary exactly if they depend on each other given all other variables (Pellet
& Elisseeff, 2008). That is one test a pair; a test that can make all of them at once (the Gaussian one by
inverting the correlation matrix, the oracle by one search a variable) is asked to.
"""

from __future__ import annotations

import numpy as np

from lmarvel.ci.base import TestsAllPairs
from lmarvel.ci.ledger import BudgetSpent, Ledger

Boundaries = list[set[int]]


def total_conditioning(ledger: Ledger, alpha: float) -> Boundaries:
    """Return the boundary of each variable; symmetric by construction.

    Parameters
    ----------
    ledger : Ledger
        The tests are counted there, in phase "boundary".
    alpha : float
        A pair is kept if its p-value is at most this.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> oracle = MSeparation(MAG.from_edges("A --> C", "B --> C", "C --> D"))
    >>> total_conditioning(Ledger(oracle), alpha=0.01)
    [{1, 2}, {0, 2, 3}, {0, 1}, {1}]
    """
    ci, n = ledger.ci, len(ledger.ci.names)
    over = ledger.max_conditioning is not None and n - 2 > ledger.max_conditioning
    if over or (ledger.max_tests is not None and n * (n - 1) // 2 > ledger.max_tests - ledger.n_tests):
        raise BudgetSpent(f"total conditioning needs {n * (n - 1) // 2} tests given {n - 2} variables, over budget")
    ledger.check_time()
    inner = getattr(ci, "ci", ci)
    if isinstance(inner, TestsAllPairs):
        matrix = inner.dependent_given_rest(alpha)
        ledger.count_all_pairs("boundary")
        return [set(np.flatnonzero(row).tolist()) for row in matrix]
    boundaries: Boundaries = [set() for _ in range(n)]
    for x in range(n):
        for y in range(x + 1, n):
            if ledger.pvalue("boundary", x, y, (z for z in range(n) if z not in (x, y))) <= alpha:
                boundaries[x].add(y)
                boundaries[y].add(x)
    return boundaries
