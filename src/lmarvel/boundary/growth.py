"""Boundary searches that go one target at a time: what they share.

A :class:`~lmarvel.ci.growth.Growth` holds the conditioning set of one target. Its answers are counted here and kept
within budget; :func:`shrink` ends every search, and :func:`every_boundary` makes one for each target and the whole
symmetric.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lmarvel.ci.growth import Evidence, Growth
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.meter import BudgetSpent


class CountedGrowth:
    """A growth whose answers are counted as distinct tests, and kept within budget."""

    def __init__(self, ledger: Ledger, target: int) -> None:
        self.ledger = ledger
        self.target = target
        self.growth = ledger.test.growth(target)
        self.members = self.growth.members

    def candidates(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each variable outside."""
        new = self.ledger.memory.note_round(self.target, frozenset(self.members), len(self.ledger.names))
        self.ledger.meter.spend("boundary", len(self.members), new)
        return self.growth.candidates(alpha)

    def inside(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each member."""
        new = self.ledger.memory.note_inside(self.target, frozenset(self.members))
        self.ledger.meter.spend("boundary", len(self.members) - 1, new)
        return self.growth.inside(alpha)

    def add(self, v: int) -> None:
        """Take a variable into the set."""
        self.growth.add(v)

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""
        self.growth.remove(v)


def shrink(growth: Growth, alpha: float) -> list[int]:
    """Remove members that are independent of the target given the others, weakest first; return them."""
    removed = []
    while growth.members:
        evidence, critical = growth.inside(alpha)
        weakest = min(growth.members, key=lambda v: (evidence[v], v))
        if evidence[weakest] > critical:
            break
        growth.remove(weakest)
        removed.append(weakest)
    return removed


Found = tuple[list[set[int]], dict[int, tuple[frozenset[int], frozenset[int]]]]
"""The boundaries, and for each target whose search was cut short what it had and what was kept."""


def every_boundary(ledger: Ledger, learn: Callable[[Growth], bool], alpha: float, union: bool = False) -> Found:
    """Run a boundary search for each target and make the result symmetric, by intersection or by union.

    Where a limit on the size of sets ended the growth of a target, what still depends on it given the members counts
    as boundary too: nothing is left out that was not shown to be independent.

    If a budget ends the work, the targets that were not reached raise, since no method can start without them.
    """
    n = len(ledger.names)
    found: list[set[int]] = []
    truncated = {}
    for target in range(n):
        growth = CountedGrowth(ledger, target)
        try:
            complete = learn(growth)
            left = set() if complete else _dependent(growth, alpha)
        except BudgetSpent as spent:
            raise BudgetSpent(f"{spent}, with the boundaries of {target} of {n} variables found") from None
        if left:
            members = frozenset(growth.members)
            truncated[target] = (members, members | left)
        found.append(set(growth.members) | left)
    if union:
        for x in range(n):
            for y in list(found[x]):
                found[y].add(x)
        return found, truncated
    return [{y for y in found[x] if x in found[y]} for x in range(n)], truncated


def _dependent(growth: Growth, alpha: float) -> set[int]:
    evidence, critical = growth.candidates(alpha)
    return set(np.flatnonzero(evidence > critical).tolist())
