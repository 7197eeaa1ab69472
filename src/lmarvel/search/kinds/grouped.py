"""Scores of tables in which a variable is several columns: levels without an order.

A variable with four levels is three indicator columns. All columns together are treated as jointly Gaussian (the
degenerate Gaussian score of Andrews, Ramsey & Cooper 2019), and a graph over the variables is a graph over their
columns: where x --> y, every column of x is a parent of every column of y, and the columns of one variable are joined
among themselves without constraint. So

* a variable given its parents is a multivariate regression: minus two log-likelihood per row is log det of the residual
  covariance, and a constant;
* a district or an undirected component is one over columns, fitted as in :mod:`lmarvel.search.scores`.

An edge between variables of a and b columns has a b parameters. BIC asks log N for each; what a search asks beyond BIC
(see :mod:`lmarvel.search.scores`) it asks once an edge, for it pays for the number of graphs that are looked at, and
that does not depend on the columns. So an edge costs log N (a b + penalty - 1). With one column a variable all of this
is the score of :mod:`lmarvel.search.scores`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.score.concentration import newton_selection
from lmarvel.score.district import LOG_2PI, Matrix
from lmarvel.score.scores import DistrictScores
from lmarvel.search.ancestral import AncestralGraph

_LEAST = 1e-10  # of the variance of a column: with less left it is determined by others


@dataclass(frozen=True)
class Groups:
    """The columns of each variable, and what edges cost.

    Parameters
    ----------
    correlation : array
        Correlation matrix of all columns, positive definite.
    columns : sequence of sequences of int
        The columns of each variable.
    n : float
        Rows.
    penalty : float
        What an edge between single columns costs, in units of log n.

    Examples
    --------
    >>> groups = Groups(np.eye(4), ((0,), (1, 2), (3,)), n=100, penalty=2.0)
    >>> (groups.prices / math.log(100)).round(9).tolist()
    [[2.0, 3.0, 2.0], [3.0, 5.0, 3.0], [2.0, 3.0, 2.0]]
    """

    correlation: Matrix
    columns: tuple[tuple[int, ...], ...]
    n: float
    penalty: float

    def __post_init__(self) -> None:
        q = len(self.correlation)
        if sorted(c for group in self.columns for c in group) != list(range(q)):
            raise ParameterError(f"each of the {q} columns must belong to exactly one variable")
        if not all(self.columns):
            raise ParameterError(f"the variable number {self.columns.index(())} has no columns")

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many columns each variable has."""
        return np.array([len(group) for group in self.columns])

    @property
    def price(self) -> float:
        """What an edge between single columns costs."""
        return self.penalty * math.log(self.n)

    @cached_property
    def prices(self) -> Matrix:
        """What the edge between any two variables costs."""
        return np.asarray(math.log(self.n) * (np.outer(self.sizes, self.sizes) + self.penalty - 1))

    @cached_property
    def surplus(self) -> Matrix:
        """What the edge between any two variables costs beyond one between single columns."""
        return self.prices - self.price

    @cached_property
    def by_size(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """The variables of each number of columns, and their columns, a row each."""
        found = []
        for size in np.unique(self.sizes):
            nodes = np.flatnonzero(self.sizes == size)
            found.append((nodes, np.array([self.columns[v] for v in nodes])))
        return tuple(found)

    def expand(self, nodes: int) -> int:
        """Return the columns of a set of variables, both as bit sets."""
        return sum(self._bits[v] for v in members(nodes))

    def columns_of(self, nodes: int) -> list[int]:
        """Return the columns of a set of variables, in the order of these."""
        return [c for v in members(nodes) for c in self.columns[v]]

    @cached_property
    def _bits(self) -> tuple[int, ...]:
        return tuple(sum(1 << c for c in group) for group in self.columns)


class GroupedLocal:
    """Local scores of multivariate regressions, for the order search.

    Prices beyond that of an edge between single columns are part of the value, so that the search can charge the same
    for every edge.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> local = GroupedLocal(Groups(R, ((0,), (1, 2)), n=100, penalty=2.0))
    >>> local.additions(0, 0b00)[1], local.value(0, 0b10) < local.value(0, 0b00)
    ([2], True)
    """

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.price = groups.price

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents: likelihood, and what its edges cost beyond the price of single ones."""
        groups = self.groups
        left = _residual(groups, v, groups.columns_of(parents))
        return self._value(v, parents, _log_det(left))

    def _value(self, v: int, parents: int, log_det: float) -> float:
        if not log_det > -math.inf:
            return math.inf
        groups = self.groups
        likelihood = groups.n * (log_det + groups.sizes[v] * (1.0 + LOG_2PI))
        return float(likelihood + sum(groups.surplus[u, v] for u in members(parents)))

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""
        groups = self.groups
        R, own = groups.correlation, list(groups.columns[v])
        near = groups.columns_of(parents)
        shared = R[own]
        scores: Matrix = np.empty((0, len(R)))
        if near:
            try:
                root = np.linalg.cholesky(R[np.ix_(near, near)])
            except np.linalg.LinAlgError:
                return math.inf, []
            scores = np.asarray(np.linalg.solve(root, R[near]))  # with uncorrelated combinations of the parents
            shared = shared - scores[:, own].T @ scores
        log_det = _log_det(shared[:, own])
        if not log_det > -math.inf:
            return math.inf, []
        gains = np.full(len(groups), -math.inf)
        white = np.linalg.solve(np.linalg.cholesky(shared[:, own]), shared)
        for nodes, columns in groups.by_size:
            block = R[columns[:, :, None], columns[:, None, :]]
            if near:
                part = scores[:, columns]  # parents x variables x columns
                block = block - np.einsum("kia,kib->iab", part, part)
            gains[nodes] = _explained(block, white[:, columns].transpose(1, 2, 0), groups.n) - groups.prices[nodes, v]
        gains[[v, *members(parents)]] = -math.inf
        found = np.flatnonzero(gains > 1e-9)
        order = found[np.argsort(-gains[found], kind="stable")]
        return self._value(v, parents, log_det), [1 << u for u in order.tolist()]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""
        groups = self.groups
        full = _log_det(_residual(groups, v, groups.columns_of(parents)))
        best, chosen = -1e-9, 0
        for u in members(parents):
            rest = _log_det(_residual(groups, v, groups.columns_of(parents & ~(1 << u))))
            change = groups.n * (rest - full) - float(groups.prices[u, v])
            if change < best:
                best, chosen = change, 1 << u
        return chosen


class GroupedBlocks:
    """Minus two log-likelihood per row of the blocks of an ancestral graph over variables of several columns.

    What edges cost beyond the price of one between single columns is added, so that the search can charge the same for
    every edge.

    Examples
    --------
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> groups = Groups(R, ((0,), (1, 2)), n=100, penalty=2.0)
    >>> forth, back = (AncestralGraph.of_parents(parents) for parents in ([0, 0b01], [0b10, 0]))
    >>> one, other = (sum(GroupedBlocks(groups).of_block(1 << v, g) for v in (0, 1)) for g in (forth, back))
    >>> abs(one - other) < 1e-12
    True
    """

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.n = int(groups.n)
        self._districts = DistrictScores(groups.correlation, self.n)
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return self._districts.converged

    def of_block(self, block: int, graph: AncestralGraph) -> float:
        """Return the score of a district given its parents, or of an undirected component, per row."""
        nodes = list(members(block))
        undirected = graph.neighbors[nodes[0]] != 0
        beside = graph.neighbors if undirected else graph.spouses
        key = (block, int(undirected), *(graph.parents[v] for v in nodes), *(beside[v] for v in nodes))
        known = self._known.get(key)
        if known is None:
            fit = self._undirected(nodes, beside) if undirected else self._district(nodes, graph)
            known = self._known[key] = fit + self._surplus(nodes, graph.parents, beside) / self.groups.n
        return known

    def _surplus(self, nodes: list[int], parents: list[int], beside: list[int]) -> float:
        """Return what the edges of a block cost beyond the price of edges between single columns."""
        surplus = self.groups.surplus
        above = sum(surplus[u, v] for v in nodes for u in members(parents[v]))
        return float(above + sum(surplus[u, v] for v in nodes for u in members(beside[v]) if u < v))

    def _district(self, nodes: list[int], graph: AncestralGraph) -> float:
        groups = self.groups
        if len(nodes) == 1:
            return self._single(nodes[0], graph.parents[nodes[0]])
        parents, spouses = [0] * len(groups.correlation), [0] * len(groups.correlation)
        district = 0
        for v in nodes:
            own, above, beside = groups.expand(1 << v), groups.expand(graph.parents[v]), groups.expand(graph.spouses[v])
            district |= own
            for c in groups.columns[v]:
                parents[c], spouses[c] = above, (own | beside) & ~(1 << c)
        return self._districts.of(district, parents, spouses)

    def _single(self, v: int, parents: int) -> float:
        """Return the score of a multivariate regression."""
        columns = self.groups.columns_of(parents)
        size = int(self.groups.sizes[v])
        if self.n <= len(columns) + size:
            return math.inf
        log_det = _log_det(_residual(self.groups, v, columns))
        return log_det + size * (1.0 + LOG_2PI) if log_det > -math.inf else math.inf

    def _undirected(self, nodes: list[int], neighbors: list[int]) -> float:
        columns = [c for v in nodes for c in self.groups.columns[v]]
        if self.n <= len(columns):
            return math.inf
        joined = _joined_columns(self.groups, nodes, neighbors)
        try:
            fit = newton_selection(self.groups.correlation[np.ix_(columns, columns)], joined)
        except np.linalg.LinAlgError:
            return math.inf
        return fit.value + len(columns) * LOG_2PI


def given_rest(groups: Groups, precision: Matrix | None = None) -> Matrix:
    """Return, for each pair, what the edge between them is worth given all others: twice the log-likelihood ratio.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])             # 0 --- 1 --- 2
    >>> given_rest(Groups(R, ((0,), (1,), (2,)), n=100, penalty=2.0)).round(1).tolist()
    [[0.0, 22.3, 0.0], [22.3, 0.0, 22.3], [0.0, 22.3, 0.0]]
    """
    K: Matrix = np.asarray(np.linalg.inv(groups.correlation) if precision is None else precision, dtype=np.float64)
    worth = np.zeros((len(groups), len(groups)))
    for v, own in enumerate(groups.columns):
        white = np.linalg.solve(np.linalg.cholesky(K[np.ix_(own, own)]), K[list(own)])
        for nodes, columns in groups.by_size:
            block = K[columns[:, :, None], columns[:, None, :]]
            worth[v, nodes] = _explained(block, white[:, columns].transpose(1, 2, 0), groups.n, v, nodes)
    return np.asarray(np.abs(worth + worth.T) / 2)


def predictability(groups: Groups) -> Matrix:
    """Return how well each variable is predicted by all others: log det of its precision, a column on average."""
    K: Matrix = np.asarray(np.linalg.inv(groups.correlation), dtype=np.float64)
    return np.array([_log_det(K[np.ix_(own, own)]) / len(own) for own in groups.columns])


def smallest_boundary_last(groups: Groups) -> list[int]:
    """Take off, as last, the variable with the smallest Markov boundary; of equals the best predicted one."""
    left, order = list(range(len(groups))), []
    K: Matrix = np.asarray(np.linalg.inv(groups.correlation))
    while left:
        at = [c for v in left for c in groups.columns[v]]
        place = {c: i for i, c in enumerate(at)}
        now = Groups(K, tuple(tuple(place[c] for c in groups.columns[v]) for v in left), groups.n, groups.penalty)
        sizes = (given_rest(now, K) > groups.prices[np.ix_(left, left)]).sum(axis=1)
        predicted = [_log_det(K[np.ix_(own, own)]) / len(own) for own in now.columns]
        last = min(range(len(left)), key=lambda i: (sizes[i], -round(predicted[i], 9)))
        own, rest = list(now.columns[last]), [c for i, g in enumerate(now.columns) if i != last for c in g]
        order.append(left.pop(last))
        K = K[np.ix_(rest, rest)] - K[np.ix_(rest, own)] @ np.linalg.solve(K[np.ix_(own, own)], K[np.ix_(own, rest)])
    return order[::-1]


def thin(groups: Groups, nodes: Sequence[int], joined: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Take edges off an undirected graph over some variables while the score falls; return which are left.

    Examples
    --------
    >>> R = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])             # 0 --- 1 --- 2
    >>> groups = Groups(R, ((0,), (1,), (2,)), n=200, penalty=2.0)
    >>> thin(groups, [0, 1, 2], ~np.eye(3, dtype=bool)).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    joined = joined.copy()
    columns = [c for v in nodes for c in groups.columns[v]]
    place = {c: i for i, c in enumerate(columns)}
    own = tuple(tuple(place[c] for c in groups.columns[v]) for v in nodes)
    R = groups.correlation[np.ix_(columns, columns)]
    inside = Groups(R, own, groups.n, groups.penalty)
    prices = groups.prices[np.ix_(nodes, nodes)]
    K: Matrix = np.asarray(np.linalg.inv(R))
    while joined.any():
        beside = [sum(1 << u for u in np.flatnonzero(row).tolist()) for row in joined]
        K = newton_selection(R, _joined_columns(inside, list(range(len(nodes))), beside), K, tolerance=1e-8).K
        lost = np.where(np.triu(joined), given_rest(inside, K) - prices, np.inf)
        x, y = np.unravel_index(int(lost.argmin()), lost.shape)
        if not lost[x, y] < 0:
            break
        joined[x, y] = joined[y, x] = False
    return joined


def _residual(groups: Groups, v: int, columns: list[int]) -> Matrix:
    """Return the covariance that is left of a variable by the regression on columns."""
    R, own = groups.correlation, list(groups.columns[v])
    left = R[np.ix_(own, own)]
    if columns:
        cross = R[np.ix_(columns, own)]
        try:
            root = np.linalg.cholesky(R[np.ix_(columns, columns)])
        except np.linalg.LinAlgError:
            return np.zeros_like(left)
        scores = np.linalg.solve(root, cross)
        left = left - scores.T @ scores
    return np.asarray(left)


def _log_det(matrix: Matrix) -> float:
    """Return log det of a covariance; minus infinity where something is determined."""
    try:
        pivots = np.linalg.cholesky(matrix).diagonal()
    except np.linalg.LinAlgError:
        return -math.inf
    return float(2 * np.log(pivots).sum()) if (pivots * pivots > _LEAST).all() else -math.inf


def _explained(
    blocks: Matrix, white: Matrix, n: float, v: int | None = None, nodes: NDArray[np.int64] | None = None
) -> Matrix:
    """Return -n log det(I - C' B^-1 C) for each block B of covariances and its covariances C with whitened columns."""
    if v is not None and nodes is not None and (nodes == v).any():  # a variable with itself: left out
        white = np.where((nodes == v)[:, None, None], 0.0, white)
    size = blocks.shape[-1]
    safe = blocks + (_LEAST * np.eye(size) if size else 0.0)
    taken = white.transpose(0, 2, 1) @ np.linalg.solve(safe, white)
    left = np.linalg.det(np.eye(white.shape[-1]) - taken)
    return np.asarray(-n * np.log(np.maximum(left, 1e-12)))


def _joined_columns(groups: Groups, nodes: list[int], neighbors: list[int]) -> NDArray[np.bool_]:
    """Return which columns of some variables are joined: those of one variable, and of neighbours."""
    near = np.array([[v == u or bool(neighbors[v] >> u & 1) for u in nodes] for v in nodes])
    sizes = groups.sizes[nodes]
    return np.asarray(np.repeat(np.repeat(near, sizes, axis=0), sizes, axis=1) & ~np.eye(int(sizes.sum()), dtype=bool))
