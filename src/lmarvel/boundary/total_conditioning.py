"""Markov boundaries by total conditioning (TC).

X and Y are in each other's boundary exactly if they depend on each other given all other variables (Pellet
& Elisseeff, 2008). That is one test a pair; a test that can make all of them at once (the Gaussian one by
inverting the correlation matrix, the oracle by one search a variable) is asked to.
"""

from __future__ import annotations

import numpy as np

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.meter import BudgetSpent


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
    >>> [sorted(mb) for mb in total_conditioning(Ledger(oracle), alpha=0.01).sets]
    [[1, 2], [0, 2, 3], [0, 1], [1]]
    """
    meter, n = ledger.meter, len(ledger.names)
    check_affordable(ledger)
    matrix = ledger.test.dependent_given_rest(alpha, meter.check_time)
    meter.count("boundary", max(n - 2, 0), n * (n - 1) // 2)
    ledger.memory.note_all_pairs(n)
    return Boundaries.of((np.flatnonzero(row).tolist() for row in matrix), "tc", alpha)


def check_affordable(ledger: Ledger) -> None:
    """Raise :class:`BudgetSpent` where the budgets do not allow a test of each pair given all other variables."""
    n, left = len(ledger.names), ledger.meter.left
    pairs = n * (n - 1) // 2
    over = ledger.max_conditioning is not None and n - 2 > ledger.max_conditioning
    if over or (left is not None and pairs > left):
        raise BudgetSpent(f"total conditioning needs {pairs} tests given {n - 2} variables, over budget")
    ledger.meter.check_time()
