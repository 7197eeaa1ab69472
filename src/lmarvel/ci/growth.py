"""The growing conditioning set of one target: what all boundary searches but total conditioning work on.

A :class:`Growth` answers two questions about a target T and a set M: how strongly does each candidate depend on T
given M, and how strongly each member given the rest of M. The Gaussian test brings an incremental one
(:class:`lmarvel.ci.gaussian_growth.GaussianGrowth`); for any other test each answer is a round of single tests.
A test that can tell more than a p-value, which is 0 for all strong dependences, has an :class:`EvidenceGrowth`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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


class PairwiseGrowth:
    """A growth that asks any test, one question at a time; the statistic is minus the p-value.

    Examples
    --------
    >>> growth = PairwiseGrowth(lambda x, y, given: 0.5 if given else 0.001, variables=3, target=0)
    >>> growth.candidates(0.01)[0].tolist()
    [-inf, -0.001, -0.001]
    """

    def __init__(self, pvalue: Callable[[int, int, Sequence[int]], float], variables: int, target: int) -> None:
        self.pvalue = pvalue
        self.variables = variables
        self.target = target
        self.members: list[int] = []

    def candidates(self, alpha: float) -> Evidence:
        """Test each variable outside the set."""
        return self._tested([v for v in range(self.variables) if v != self.target and v not in self.members], alpha)

    def inside(self, alpha: float) -> Evidence:
        """Test each member."""
        return self._tested(self.members, alpha)

    def _tested(self, variables: list[int], alpha: float) -> Evidence:
        evidence = np.full(self.variables, -np.inf)
        for v in variables:
            given = sorted(m for m in self.members if m != v)
            evidence[v] = -self.pvalue(self.target, v, given)
        return evidence, float(np.nextafter(-alpha, -np.inf))  # dependent if p <= alpha

    def add(self, v: int) -> None:
        """Take a variable into the set."""
        self.members.append(v)

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""
        self.members.remove(v)


class EvidenceGrowth(PairwiseGrowth):
    """A growth that asks for evidence, minus the logarithm of a p-value, given members in the order of their joining.

    So a test that lacks rows for all members can still be asked given the first of them, which depend most on the
    target.

    Examples
    --------
    >>> growth = EvidenceGrowth(lambda x, y, given: 5.0 - len(given), variables=3, target=0)
    >>> growth.add(2)
    >>> growth.candidates(0.01)[0].tolist()
    [-inf, 4.0, -inf]
    """

    def _tested(self, variables: list[int], alpha: float) -> Evidence:
        evidence = np.full(self.variables, -np.inf)
        for v in variables:
            evidence[v] = self.pvalue(self.target, v, [m for m in self.members if m != v])
        return evidence, float(np.nextafter(-math.log(alpha), -np.inf))  # dependent if p <= alpha
