"""Regressions on any set of predecessors, by growing and shrinking, with a memory.

An order of the variables fixes a DAG once it is said which of its predecessors each variable takes as parents. Here
they are chosen greedily by score: add the best one while the score falls, then drop the worst one while it falls (the
grow-shrink of GRaSP and BOSS [1]_). An order search asks for this with many sets of predecessors that differ by a
variable, and nearly always the way is the same, so each step is remembered: at a set of parents S the other variables
in the order of what they would add. The walk for predecessors A takes at each S the first one that is in A.

The walk also tells when it would be another one, without walking again:

* a variable *outside* A can change it only if it would have been taken somewhere: it stands in a list before the one
  that was taken (``tempting``);
* a variable *in* A can change it only if it was taken (``taken``).

A sweep over an order uses that to leave out most of its questions (:mod:`lmarvel.search.orders`).

References
----------
.. [1] Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld, Fast scalable and accurate discovery of DAGs using the
best order score search and grow-shrink trees, NeurIPS 2023.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.deferred import late
from lmarvel.engine import load
from lmarvel.graph.bitsets import members
from lmarvel.score.district import LOG_2PI
from lmarvel.search.sweeper import Family, ReadableSweeper, Sweeper

lapack = late("scipy.linalg.lapack")


Matrix = NDArray[np.float64]

_compiled = load()

_LEAST_VARIANCE = 1e-10  # a variable with less than this left is determined by the others


class Local(Protocol):
    """What the order search needs to know of a table: local scores, minus two log-likelihood of all rows.

    A table of another kind (blocks of columns for a variable) takes part by answering these three questions.
    """

    price: float

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents, without the price of edges."""

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""


class GaussianLocal:
    """Local scores of linear regressions with Gaussian noise, from a covariance matrix.

    Parameters
    ----------
    covariance : array
        Covariance matrix (divided by n), positive definite.
    n : float
        Rows.
    price : float
        What an edge costs.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])     # 0 - 1 - 2 is a chain
    >>> local = GaussianLocal(R, n=100, price=9.5)
    >>> local.additions(0, 0b000)[1], local.additions(0, 0b010)[1], local.removal(0, 0b110)
    ([2], [], 4)
    """

    def __init__(self, covariance: Matrix, n: float, price: float) -> None:
        self._lapack = lapack
        self.covariance = np.ascontiguousarray(covariance)
        self.n = n
        self.price = price
        self._own = self.covariance.diagonal().copy()
        # A parent pays if n log(1 - q) + price < 0, q the share of the variance left that it explains.
        self._pays = -math.expm1(-(price + 1e-9) / n)

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents, without the price of edges."""
        variance = float(self._own[v])
        if parents:
            near = list(members(parents))
            rows = self.covariance.take(near, 0)
            beside = rows[:, v]
            _, slope, failed = self._lapack.dposv(rows.take(near, 1), beside)
            variance = 0.0 if failed else variance - float(slope @ beside)
        return self._value(variance)

    def _value(self, variance: float) -> float:
        return math.inf if variance < _LEAST_VARIANCE else self.n * (math.log(variance) + 1.0 + LOG_2PI)

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""
        S = self.covariance
        if parents:
            near = list(members(parents))
            rows = S.take(near, 0)
            root, failed = self._lapack.dpotrf(rows.take(near, 1), lower=1)
            if failed:
                return math.inf, []
            scores, _ = self._lapack.dtrtrs(
                root, rows, lower=1
            )  # covariances with uncorrelated combinations of the parents
            shared = S[v] - scores[:, v] @ scores
            scores *= scores
            left = np.maximum(self._own - scores.sum(0), 1e-12)
            left.put(near, np.inf)
        else:
            shared, left = S[v].copy(), self._own.copy()
        variance = float(shared[v])
        left[v] = np.inf
        if variance < _LEAST_VARIANCE:
            return math.inf, []
        shared *= shared
        shared /= left  # what each of the others would take off the variance
        found = (shared > self._pays * variance).nonzero()[0]
        order = found[(-shared[found]).argsort(kind="stable")] if len(found) > 1 else found
        return self._value(variance), [1 << u for u in order.tolist()]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""
        near = list(members(parents))
        rows = self.covariance.take(near, 0)
        factor, failed = self._lapack.dpotrf(rows.take(near, 1))
        if failed:
            return 0
        inverse, _ = self._lapack.dpotri(factor)
        slope, _ = self._lapack.dpotrs(factor, rows[:, v])
        variance = max(float(self._own[v] - slope @ rows[:, v]), 1e-300)
        # Without u the variance left grows by slope_u^2 / (inverse)_uu.
        lost = slope * slope / (inverse.diagonal() * variance)
        worst = int(lost.argmin())
        return 1 << near[worst] if self.n * math.log1p(lost[worst]) < self.price - 1e-9 else 0


class Families(Protocol):
    """The choice of parents of every variable among any predecessors."""

    n_variables: int
    price: float

    def __call__(self, v: int, predecessors: int) -> Family:
        """Return the parents of v among its predecessors."""

    def sweeper(self, order: Iterable[int]) -> Sweeper:
        """Return an order in which variables can be moved."""


class Regressions:
    """Grow-shrink regressions of every variable on any set of predecessors; no step is computed twice.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> best = Regressions(GaussianLocal(R, n=100, price=9.5), 3)
    >>> best(0, 0b110).parents == 0b010, best(0, 0b100).parents == 0, best(0, 0).tempting == 0b010
    (True, True, True)
    """

    def __init__(self, local: Local, n: int) -> None:
        self.local = local
        self.price = local.price
        self.n_variables = n
        self._families: list[dict[int, Family]] = [{} for _ in range(n)]
        self._additions: list[dict[int, tuple[float, list[int]]]] = [{} for _ in range(n)]
        self._shrunk: list[dict[int, tuple[int, float]]] = [{} for _ in range(n)]

    def __call__(self, v: int, predecessors: int) -> Family:
        """Return the parents of v among its predecessors."""
        memory = self._families[v]
        family = memory.get(predecessors)
        if family is None:
            family = memory[predecessors] = self._walk(v, predecessors)
        return family

    def sweeper(self, order: Iterable[int]) -> Sweeper:
        """Return an order in which variables can be moved."""
        return ReadableSweeper(self, self.n_variables, order)

    def _walk(self, v: int, predecessors: int) -> Family:
        lists = self._additions[v]
        grown = tempting = 0
        while True:
            known = lists.get(grown)
            if known is None:
                known = lists[grown] = self.local.additions(v, grown)
            value, steps = known
            for step in steps:
                if step & predecessors:
                    grown |= step
                    break
                tempting |= step
            else:
                break
        shrunk = self._shrunk[v].get(grown)
        if shrunk is None:
            shrunk = self._shrunk[v][grown] = self._shrink(v, grown, value)
        parents, score = shrunk
        return Family(score, parents, grown, tempting)

    def _shrink(self, v: int, grown: int, value: float) -> tuple[int, float]:
        parents = grown
        while parents:
            step = self.local.removal(v, parents)
            if not step:
                break
            parents ^= step
        if parents != grown:
            value = self.local.value(v, parents)
        return parents, value + self.local.price * parents.bit_count()


class CompiledRegressions:
    """The same from a covariance matrix, compiled (``engine/lift/orders/orders.hpp``)."""

    def __init__(self, covariance: Matrix, n: float, price: float) -> None:
        self._engine = _compiled.Regressions(covariance, n, price)
        self.n_variables = len(covariance)
        self.price = price

    def __call__(self, v: int, predecessors: int) -> Family:
        """Return the parents of v among its predecessors."""
        return Family(*self._engine(v, predecessors))

    def sweeper(self, order: Iterable[int]) -> Sweeper:
        """Return an order in which variables can be moved."""
        sweeper: Sweeper = self._engine.sweeper(order)
        return sweeper


def is_compiled() -> bool:
    """Tell whether the compiled part of Lift was built."""
    return _compiled is not None


def gaussian_regressions(covariance: Matrix, n: float, price: float, compiled: bool = True) -> Families:
    """Return the regressions of a table: compiled, where that was built, is allowed, and holds so many variables.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> fast, readable = (gaussian_regressions(R, 100, 9.5, compiled) for compiled in (True, False))
    >>> fast(0, 0b110).parents == readable(0, 0b110).parents == 0b010
    True
    """
    if compiled and _compiled is not None and len(covariance) <= _compiled.MAX_VARIABLES:
        return CompiledRegressions(covariance, n, price)
    return Regressions(GaussianLocal(covariance, n, price), len(covariance))
