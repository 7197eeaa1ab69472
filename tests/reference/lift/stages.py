"""Orders and ancestral graphs of tables in which a variable is one column, readable: the twin of ``engine/lift``.

Local scores of Gaussian regressions, orders to begin with, and which edges of an undirected graph are worth their
price; the searches over these are those of the package, which serve groups of columns as well.

The fixed orders:

* smallest boundary last: take off, as last, the variable with the smallest Markov boundary among those left; its
  reverse;
* forward: append the variable that loses least by having only the earlier ones as parents;
* by the diagonal of the inverse covariance (how well a variable is predicted by all others), upwards and downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from lmarvel.graph.bitsets import members
from lmarvel.score.concentration import newton_selection
from lmarvel.score.district import LOG_2PI, Matrix
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.constants import LIFT
from lmarvel.search.kinds.grouped_lift import See
from lmarvel.search.lifting import Lifting, Pairs
from lmarvel.search.orders import Check, Order, Regressions, forward, from_orders, nothing
from lmarvel.search.record import Record
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood

_LEAST_VARIANCE = 1e-10  # a variable with less than this left is determined by the others


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
            _, slope, failed = lapack.dposv(rows.take(near, 1), beside)
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
            root, failed = lapack.dpotrf(rows.take(near, 1), lower=1)
            if failed:
                return math.inf, []
            # Covariances with uncorrelated combinations of the parents.
            scores, _ = lapack.dtrtrs(root, rows, lower=1)
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
        factor, failed = lapack.dpotrf(rows.take(near, 1))
        if failed:
            return 0
        inverse, _ = lapack.dpotri(factor)
        slope, _ = lapack.dpotrs(factor, rows[:, v])
        variance = max(float(self._own[v] - slope @ rows[:, v]), 1e-300)
        # Without u the variance left grows by slope_u^2 / (inverse)_uu.
        lost = slope * slope / (inverse.diagonal() * variance)
        worst = int(lost.argmin())
        return 1 << near[worst] if self.n * math.log1p(lost[worst]) < self.price - 1e-9 else 0


def smallest_boundary_last(covariance: Matrix, n: float, price: float) -> list[int]:
    """Take off, as last, the variable with the smallest Markov boundary; of equals the best predicted one.

    Two variables predict each other equally well, so when two are left rounding must not decide, which differs from
    machine to machine: of equals the first is taken.
    """
    left = list(range(len(covariance)))
    order = []
    precision = np.linalg.inv(covariance)
    while left:
        diagonal = precision.diagonal()
        partial = precision * precision / np.outer(diagonal, diagonal)
        sizes = (-n * np.log(np.maximum(1 - partial, 1e-12)) > price).sum(axis=1)
        last = 0
        for i in range(1, len(left)):
            better = diagonal[i] > diagonal[last] * (1 + LIFT.alike)
            if sizes[i] < sizes[last] or (sizes[i] == sizes[last] and better):
                last = i
        order.append(left.pop(last))
        column = np.delete(precision[:, last], last)
        precision = np.delete(np.delete(precision, last, 0), last, 1) - np.outer(column, column) / diagonal[last]
    return order[::-1]


def search_orders(
    best: Regressions,
    covariance: Matrix,
    n: float,
    noise: float = LIFT.noise,
    check: Check = nothing,
    report: Callable[[Order], None] | None = None,
    more: Iterable[Sequence[int]] = (),
) -> Order:
    """Return the best DAG that sweeps from the five fixed orders, and from ``more``, and then families, find."""
    by_precision = np.argsort(np.linalg.inv(covariance).diagonal(), kind="stable").tolist()
    last = smallest_boundary_last(covariance, n, best.price)
    starts = (last, forward(best, check), by_precision, by_precision[::-1], last[::-1], *more)
    return from_orders(best, starts, noise, check, report)


def near_pairs(precision: Matrix, n: float, price: float) -> NDArray[np.bool_]:
    """Tell which pairs depend on each other given all others so clearly that an edge would be worth its price.

    Examples
    --------
    >>> near_pairs(np.linalg.inv(np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])), 200, 10.6)[0]
    array([ True,  True, False])
    """
    scale = np.sqrt(precision.diagonal())
    partial = precision / np.outer(scale, scale)
    near: NDArray[np.bool_] = -n * np.log(np.maximum(1 - partial * partial, 1e-12)) > price
    return near


def thin(R: Matrix, joined: NDArray[np.bool_], n: float, price: float) -> NDArray[np.bool_]:
    """Take edges off an undirected graph while the score falls; return which are left.

    Parameters
    ----------
    R : array of shape (k, k)
        Correlation matrix.
    joined : boolean array of shape (k, k)
        The edges to begin with.
    n, price : float
        Rows, and what an edge costs.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])     # 0 --- 1 --- 2
    >>> thin(R, ~np.eye(3, dtype=bool), n=200, price=10.6).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    joined = joined.copy()
    k = len(joined)
    K: Matrix = np.asarray(np.linalg.inv(R), dtype=np.float64)
    while True:
        K = newton_selection(R, joined, K, tolerance=1e-8).K
        scale = np.sqrt(K.diagonal())
        partial = K / np.outer(scale, scale)
        ratio = np.where(np.triu(joined), -n * np.log(np.maximum(1 - partial * partial, 1e-12)), np.inf)
        used: set[int] = set()
        for place in np.argsort(ratio, axis=None, kind="stable")[:k].tolist():
            x, y = divmod(place, k)
            if not ratio[x, y] < (price * LIFT.next_to_nothing if used else price):
                break
            if x not in used and y not in used:
                joined[x, y] = joined[y, x] = False
                used |= {x, y}
        if not used:
            return joined


class ReadableStages:
    """What Lift does with graphs, in Python; orders take parents that are allowed."""

    def __init__(self, correlation: Matrix, n: int, price: float, record: Record, allowed: Sequence[int] = ()) -> None:
        self.correlation, self.n, self.price, self.record, self.allowed = correlation, n, price, record, allowed
        self.scores = GaussianBlocks(correlation, n)
        self._near = near_pairs(np.asarray(np.linalg.inv(correlation), dtype=np.float64), n, price)

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return self.scores.converged

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search."""
        local = GaussianLocal(self.correlation, self.n, self.price)
        best = Regressions(local, len(self.correlation), self.allowed)
        return search_orders(best, self.correlation, self.n, self.record.noise, self.record.check, see, more)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return minus_two_log_likelihood(self.scores, graph) + self.price * graph.n_edges

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""

        def thinned(nodes: list[int], joined: Pairs) -> Pairs:
            return thin(self.correlation[np.ix_(nodes, nodes)], joined, self.n, self.price)

        return Lifting(self.scores, self._near, thinned, self.price, self.record, selection, latents).climb(graph)
