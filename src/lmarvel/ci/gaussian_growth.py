"""The growing conditioning set of a target with Fisher's z test: what boundary searches ask, in few passes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.partial_correlation import PIVOT, squared_partial_correlation


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
