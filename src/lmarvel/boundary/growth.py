"""The growing conditioning set of one target: what all boundary searches but total conditioning work on.

A :class:`Growth` answers two questions about a target T and a set M: how strongly does each candidate depend on T
given M, and how strongly each member given the rest of M. The Gaussian test brings an incremental one
(:class:`lmarvel.ci.gaussian.GaussianGrowth`); for any other test each answer is a round of single tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.ledger import BudgetSpent, Ledger

Evidence = tuple[NDArray[np.float64], float]
"""A statistic for each variable, larger is stronger and -inf where it does not apply, and the critical value above
which a variable is dependent."""


class Growth(Protocol):
    """A target's conditioning set with what can be asked about it."""

    members: list[int]

    def candidates(self, alpha: float) -> Evidence:
        """Return the evidence for each variable outside the set, given the set."""

    def inside(self, alpha: float) -> Evidence:
        """Return the evidence for each member, given the other members."""

    def add(self, v: int) -> None:
        """Take a variable into the set."""

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""


class TestedGrowth:
    """A growth that asks any test, one question at a time; the statistic is minus the p-value."""

    def __init__(self, ledger: Ledger, target: int) -> None:
        self.ledger = ledger
        self.target = target
        self.members: list[int] = []

    def candidates(self, alpha: float) -> Evidence:
        """Test each variable outside the set."""
        outside = [v for v in range(len(self.ledger.ci.names)) if v != self.target and v not in self.members]
        return self._tested(outside, alpha)

    def inside(self, alpha: float) -> Evidence:
        """Test each member."""
        return self._tested(self.members, alpha)

    def _tested(self, variables: list[int], alpha: float) -> Evidence:
        evidence = np.full(len(self.ledger.ci.names), -np.inf)
        for v in variables:
            given = [m for m in self.members if m != v]
            evidence[v] = -self.ledger.pvalue("boundary", self.target, v, given)
        return evidence, float(np.nextafter(-alpha, -np.inf))  # dependent if p <= alpha

    def add(self, v: int) -> None:
        """Take a variable into the set."""
        self.members.append(v)

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""
        self.members.remove(v)


class CountedGrowth:
    """A growth of a test's own, its answers counted and kept within budget."""

    def __init__(self, ledger: Ledger, growth: Growth) -> None:
        self.ledger = ledger
        self.growth = growth
        self.members = growth.members

    def candidates(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each variable outside."""
        self._count(len(self.members), len(self.ledger.ci.names) - 1 - len(self.members))
        return self.growth.candidates(alpha)

    def inside(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each member."""
        self._count(len(self.members) - 1, len(self.members))
        return self.growth.inside(alpha)

    def _count(self, size: int, tests: int) -> None:
        self.ledger.spend("boundary", size, tests)

    def add(self, v: int) -> None:
        """Take a variable into the set."""
        self.growth.add(v)

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""
        self.growth.remove(v)


def growth_for(ledger: Ledger, target: int) -> Growth:
    """Return the test's own growth if it has one, else one that asks single tests."""
    own: Callable[[int], Growth] | None = getattr(ledger.ci, "growth", None)
    return TestedGrowth(ledger, target) if own is None else CountedGrowth(ledger, own(target))


def _dependent(growth: Growth, alpha: float) -> set[int]:
    evidence, critical = growth.candidates(alpha)
    return set(np.flatnonzero(evidence > critical).tolist())


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


def every_boundary(
    ledger: Ledger, learn: Callable[[Growth], bool], alpha: float, union: bool = False
) -> list[set[int]]:
    """Run a boundary search for each target and make the result symmetric, by intersection or by union.

    Where a limit on the size of sets ended the growth of a target, what still depends on it given the members counts
    as boundary too: nothing is left out that was not shown to be independent.

    If a budget ends the work, the targets that were not reached raise, since no method can start without them.
    """
    n = len(ledger.ci.names)
    found: list[set[int]] = []
    for target in range(n):
        growth = growth_for(ledger, target)
        try:
            complete = learn(growth)
            left = set() if complete else _dependent(growth, alpha)
            if left:  # a set that grew up to its limit is whole all the same if nothing else depends on the target
                members = frozenset(growth.members)
                ledger.truncated[target] = (members, members | left)
        except BudgetSpent as spent:
            raise BudgetSpent(f"{spent}, with the boundaries of {target} of {n} variables found") from None
        found.append(set(growth.members) | left)
    if union:
        for x in range(n):
            for y in list(found[x]):
                found[y].add(x)
        return found
    return [{y for y in found[x] if x in found[y]} for x in range(n)]
