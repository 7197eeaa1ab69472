"""The growing conditioning set of one target: what all boundary searches but total conditioning work on.

A :class:`Growth` answers two questions about a target T and a set M: how strongly does each candidate depend on T
given M, and how strongly does each member given the rest of M. There are three kinds:

* :class:`PairwiseGrowth` works with any test: each answer is a round of single tests.
* :class:`EvidenceGrowth` is for tests that report more than a p-value, which is 0 for all strong dependences.
* :class:`GaussianGrowth` serves Fisher's z. A Cholesky factor grows by one row per member, so that the squared partial
  correlations of all variables come out of one pass.
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


class GaussianGrowth:
    """The conditioning set M of a target T, with every variable's covariance with T and variance given M.

    A variable taken in costs one pass over the variables for each member: the rows of a partial Cholesky factor,
    whose next row updates all covariances and variances at once. Sums are taken in a fixed order, one number at a time,
    as the engine takes them (``boundaries.cpp``): the two agree to the last bit.
    """

    def __init__(
        self, correlation: NDArray[np.float64], critical_at: Callable[[float, int], float], target: int
    ) -> None:
        self.correlation = correlation
        self.critical_at = critical_at  # of a level and a size of the conditioning set
        self.target = target
        self.members: list[int] = []
        self._start()

    def _start(self) -> None:
        p = len(self.correlation)
        self._rows = np.empty((4, p))
        self._with_target = self.correlation[self.target].copy()
        self._variance = np.ones(p)

    def candidates(self, alpha: float) -> tuple[NDArray[np.float64], float]:
        """Return the squared partial correlations with the target given M, and the critical value."""
        usable = self._variance > PIVOT
        own = self._variance[self.target]
        r2 = np.full(len(usable), -np.inf)
        if own > PIVOT:
            np.divide(self._with_target**2, self._variance * own, out=r2, where=usable)
        r2[self.members] = -np.inf
        r2[self.target] = -np.inf
        return r2, self.critical_at(alpha, len(self.members))

    def inside(self, alpha: float) -> tuple[NDArray[np.float64], float]:
        """Return the squared partial correlation of each member given the others."""
        r2 = np.full(len(self.correlation), -np.inf)
        if self._variance[self.target] > 1e-6:
            r2[self.members] = self._given_others()
        else:  # the members all but determine the target, and the inverse would be noise
            for v in self.members:
                others = [m for m in self.members if m != v]
                r2[v] = squared_partial_correlation(self.correlation, self.target, v, others)
        return r2, self.critical_at(alpha, len(self.members) - 1)

    def _given_others(self) -> NDArray[np.float64]:
        """Invert the triangular factor of members and target, a row at a time; see the squares of its columns.

        With N the inverse, the precision matrix is NᵀN. Its diagonal is the sums of the squares of N's columns, and its
        last row that of N times N's last number, which cancels in a partial correlation.
        """
        k, order = len(self.members), [*self.members, self.target]
        inverse, total = np.zeros((k + 1, k)), np.zeros(k)
        for j, v in enumerate(order):
            for m in range(j):
                inverse[j] -= self._rows[m, v] * inverse[m]
            if j < k:
                inverse[j, j] += 1.0
            inverse[j] /= self._rows[j, v] if j < k else math.sqrt(self._variance[v])
            total += inverse[j] * inverse[j]
        return np.asarray(inverse[k] * inverse[k] / total)

    def add(self, v: int) -> None:
        """Take a variable into M; one that M determines adds nothing, and is left out."""
        if self._variance[v] <= PIVOT:
            return
        k = len(self.members)
        if k == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        row = self.correlation[v].copy()
        for done in self._rows[:k]:
            row -= done[v] * done
        row /= math.sqrt(row[v])
        self._rows[k] = row
        self._with_target -= row[self.target] * row
        self._variance -= row * row
        self.members.append(v)

    def remove(self, v: int) -> None:
        """Take a variable out of M; the rows are built anew."""
        kept = [m for m in self.members if m != v]
        self.members.clear()
        self._start()
        for m in kept:
            self.add(m)


PIVOT = 1e-10
"""A variance below this share of a variable's own counts as none: the others determine it."""


def pvalue_of(r2: float, df: int) -> float:
    """Return the two-sided p-value of a squared partial correlation with n - k - 3 = df."""
    if r2 >= 1.0:
        return 0.0
    return math.erfc(math.sqrt(df * 0.5) * math.atanh(math.sqrt(r2)))


def squared_partial_correlation(R: NDArray[np.float64], x: int, y: int, given: Sequence[int]) -> float:
    """Return the squared partial correlation, 1 where it is undefined: a Cholesky factor a row at a time.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]])
    >>> abs(squared_partial_correlation(R, 0, 2, [1])) < 1e-12
    True
    """
    rows: list[NDArray[np.float64]] = []  # for each kept member: its row of the factor against all of (given, x, y)
    order = [*given, x, y]
    block = R[np.ix_(order, order)]
    for d in range(len(given)):
        against = block[d].copy()
        for row in rows:
            against -= row[d] * row
        if against[d] > PIVOT:
            rows.append(against / math.sqrt(against[d]))
    vx, vy, c = 1.0, 1.0, float(block[-2, -1])
    for row in rows:
        vx -= float(row[-2] * row[-2])
        vy -= float(row[-1] * row[-1])
        c -= float(row[-2] * row[-1])
    if vx <= PIVOT or vy <= PIVOT:
        return 1.0
    return min(c * c / (vx * vy), 1.0)
