"""The Gaussian likelihood of a DAG with latent and selection nodes.

Over observed and latent nodes X = BX + eps with independent errors of variances D, so the inverse covariance before
selection is (I - B)' D^-1 (I - B). A selection node is a child of some nodes that is held fixed; that adds v v' to
the inverse covariance, v its loadings. So

    K = (I - B)' D^-1 (I - B) + V V',

a column of V for each selection node, and the observed nodes have the covariance that is the observed part of K^-1. A
latent node has error variance 1, which fixes its scale.

**Blocks.** The likelihood is a product over blocks: the children of a latent node belong together, and so do all
ancestors of a selection node. A block C is fitted given its outside parents E, as a graph over C and E in which E has
no edges and unit variances: what that adds is known. A node that is no member of such a block is a regression. Blocks
are fitted once (:mod:`tests.reference.lift.hidden_block`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.score.district import LOG_2PI, Matrix
from lmarvel.search.constants import LIFT
from tests.reference.lift.hidden_block import BlockProblem


@dataclass(frozen=True)
class HiddenModel:
    """A DAG over observed nodes (the first p), latent nodes and selection nodes, with fitted parameters.

    Attributes
    ----------
    p : int
        Number of observed nodes.
    parents : tuple of int
        For each observed and latent node a bit set.
    selections : tuple of int
        For each selection node the bit set of its parents.
    order : tuple of int
        An order of observed and latent nodes, causes first.
    B, log_variance, V : arrays
        Coefficients (``B[v, u]`` of u in the equation of v), logarithms of error variances, loadings of selection
        nodes.
    score : float
        Minus two log-likelihood and the price of the parameters.
    outside : int
        Observed nodes that the model is given, whatever they hang on.
    beside : array
        The inverse of their covariance.
    """

    p: int
    parents: tuple[int, ...]
    selections: tuple[int, ...]
    order: tuple[int, ...]
    B: Matrix
    log_variance: Matrix
    V: Matrix
    score: float
    outside: int = 0
    beside: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def m(self) -> int:
        """Number of observed and latent nodes."""
        return len(self.parents)

    @property
    def has_hidden(self) -> bool:
        """Whether there is a latent or a selection node."""
        return self.m > self.p or bool(self.selections)

    @property
    def content(self) -> tuple[int, int, list[int], list[int]]:
        """What tells models of one graph and score apart, the simplest first: hidden nodes and whom they touch."""
        children = [bits(v for v, mask in enumerate(self.parents) if mask >> u & 1) for u in range(self.p, self.m)]
        touched = sum(mask.bit_count() for mask in (*children, *self.selections))
        return len(children) + len(self.selections), touched, sorted(children), sorted(self.selections)

    @property
    def degenerate(self) -> bool:
        """Whether the fit lies at the border of the model, where it says no more than a simpler one.

        A selection node can stand in for an edge if the error variance of one of its parents grows without bound, and
        a latent node for an observed one if that one's error vanishes. Such fits come as close to the simpler model as
        one likes, but their graphs claim more.
        """
        seen = self.log_variance[: self.p]
        return bool((seen > math.log(LIFT.large_variance)).any() or (seen < math.log(LIFT.small_variance)).any())

    @cached_property
    def covariance(self) -> Matrix:
        """The covariance of observed and latent nodes, given the selection."""
        return np.asarray(np.linalg.inv(self.precision))

    @property
    def precision(self) -> Matrix:
        """Its inverse."""
        A = np.eye(self.m) - self.B
        K = np.asarray(A.T @ (A * np.exp(-self.log_variance)[:, None]) + self.V @ self.V.T)
        given = list(members(self.outside))
        own = [v for v in range(self.m) if not self.outside >> v & 1]
        across = K[np.ix_(own, given)]
        K[np.ix_(given, given)] = self.beside + across.T @ np.linalg.solve(K[np.ix_(own, own)], across)
        return K


def n_parameters(parents: Sequence[int], selections: Sequence[int], p: int) -> int:
    """Count coefficients and loadings; a hidden node with two neighbours has one that is identified, not two.

    Examples
    --------
    >>> n_parameters([0b100, 0b100, 0], [], p=2), n_parameters([0, 0b01], [0b11], p=2)     # 0 <- L -> 1; 0 -> 1, S
    (1, 2)
    """
    count = sum(mask.bit_count() for mask in parents)
    count += sum(mask.bit_count() - (mask.bit_count() == 2) for mask in selections)
    return count - sum(
        not parents[latent] and sum(mask >> latent & 1 for mask in parents) == 2 for latent in range(p, len(parents))
    )


def surplus(parents: Sequence[int], selections: Sequence[int], p: int, inflation: Matrix) -> float:
    """Return how many parameters more hidden nodes pay for, because evidence for them is inflated.

    Examples
    --------
    >>> twofold = np.full((2, 2), 2.0)
    >>> surplus([0b100, 0b100, 0], [], 2, twofold), surplus([0, 0], [0b11], 2, twofold), surplus([0, 1], [], 2, twofold)
    (1.0, 1.0, 0.0)
    """
    tied = list(selections)
    for latent in range(p, len(parents)):
        tied.append(parents[latent] | bits(v for v, mask in enumerate(parents) if mask >> latent & 1))
    return math.fsum(mean_inflation(mask, p, inflation) - 1 for mask in tied)


def mean_inflation(nodes: int, p: int, inflation: Matrix) -> float:
    """Return the mean over the pairs of observed nodes in a set; 1 where there is none."""
    seen = list(members(nodes & (1 << p) - 1))
    pairs = [float(inflation[v, u]) for i, v in enumerate(seen) for u in seen[:i]]
    return sum(pairs) / len(pairs) if pairs else 1.0


def blocks(parents: Sequence[int], selections: Sequence[int], p: int, outside: int = 0) -> list[int]:
    """Return the sets of nodes, none outside, that latent and selection nodes tie together; others stand alone.

    Examples
    --------
    >>> blocks([0b10000, 0b10000, 0b0010, 0, 0], [], p=4) == [0b10011]     # 0 <- 4 -> 1 -> 2
    True
    >>> blocks([0, 0b0001, 0b0010, 0], [0b1010], p=4) == [0b1011]          # 0 -> 1 -> 2, 1 -> S <- 3
    True
    """
    tied = [closure(list(parents), mask) & ~outside for mask in selections]
    for latent in range(p, len(parents)):
        tied.append(1 << latent | sum(1 << v for v, mask in enumerate(parents) if mask >> latent & 1))
    merged: list[int] = []
    for group in tied:
        apart = []
        for other in merged:
            if other & group:
                group |= other
            else:
                apart.append(other)
        merged = [*apart, group]
    return merged


class HiddenFits:
    """Fits models to a correlation matrix; blocks and regressions are remembered.

    Parameters
    ----------
    correlation : array
        Correlation matrix of the observed nodes.
    n : float
        Rows.
    price : float
        What a parameter costs.
    inflation : array, optional
        How far evidence for hidden nodes is inflated, by pairs.
    outside : int
        Nodes that are given: they have no parents, and are no parents of selection nodes.

    Examples
    --------
    >>> R = np.array([[1.0, 0.42, 0.35], [0.42, 1.0, 0.3], [0.35, 0.3, 1.0]])
    >>> fits = HiddenFits(R, n=1000, price=13.8)
    >>> chain, full = fits.of_dag([0, 0b001, 0b010], [0, 1, 2]), fits.of_dag([0, 0b001, 0b011], [0, 1, 2])
    >>> full.score < chain.score
    True
    """

    def __init__(
        self, correlation: Matrix, n: float, price: float, inflation: Matrix | None = None, outside: int = 0
    ) -> None:
        self.correlation = correlation
        self.inflation = np.ones_like(correlation) if inflation is None else inflation
        self.outside = outside
        given = list(members(outside))
        self.beside: Matrix = np.linalg.inv(correlation[np.ix_(given, given)])
        self.n = n
        self.price = price
        self.p = len(correlation)
        self.fits = 0  # blocks fitted so far
        self._known: dict[tuple[int, ...], tuple[Matrix, float, bool]] = {}
        self._regressions: dict[tuple[int, int], tuple[Matrix, float]] = {}

    def of_dag(self, parents: Sequence[int], order: Sequence[int]) -> HiddenModel:
        """Return the model without hidden nodes."""
        p = self.p
        return self.fit(parents, (), order, np.zeros((p, p)), np.zeros(p), np.zeros((p, 0)))

    def fit(
        self,
        parents: Sequence[int],
        selections: Sequence[int],
        order: Sequence[int],
        B: Matrix,
        log_variance: Matrix,
        V: Matrix,
        moving: int = -1,
    ) -> HiddenModel:
        """Fit a structure, beginning with these parameters.

        Where only those of some nodes move, the fit is rough, and good enough to compare candidates.
        """
        m, p = len(parents), self.p
        start, B, log_variance, V = (B, log_variance, V), np.zeros((m, m)), np.zeros(m), np.zeros((m, len(selections)))
        value, tied = p * LOG_2PI, 0
        for block in blocks(parents, selections, p, self.outside):
            tied |= block
            if not block & ((1 << p) - 1):
                continue
            problem = BlockProblem(self.correlation, block, parents, selections, p)
            x, part = self._fit_block(block, problem, parents, selections, start, moving)
            problem.scatter(x, B, log_variance, V)
            value += part
        for v in range(p):
            if not tied >> v & 1:
                slope, variance = self._regression(v, parents[v])
                B[v, list(members(parents[v]))] = slope
                log_variance[v] = math.log(variance)
                value += log_variance[v] + 1.0
        score = self.n * value + self.price * n_parameters(parents, selections, p)
        score += self.price * surplus(parents, selections, p, self.inflation)
        sets = tuple(parents), tuple(selections), tuple(order)
        return HiddenModel(p, *sets, B, log_variance, V, float(score), self.outside, self.beside)

    def refit(self, model: HiddenModel) -> HiddenModel:
        """Fit a model again, from its own parameters."""
        return self.fit(model.parents, model.selections, model.order, model.B, model.log_variance, model.V)

    def _fit_block(
        self,
        block: int,
        problem: BlockProblem,
        parents: Sequence[int],
        selections: Sequence[int],
        start: tuple[Matrix, Matrix, Matrix],
        moving: int,
    ) -> tuple[Matrix, float]:
        rough = moving >= 0
        tied = (selections[s] for s in problem.selections)
        key = (block, *(parents[v] for v in members(block)), -1, *tied)
        known = self._known.get(key)
        x = problem.gather(*start)
        if known is not None and not problem.value(x) < known[1]:  # else another maximum may be near
            if rough or not known[2]:
                return known[:2]
            x = known[0]
        rough_fit, fit = (LIFT.rough_tolerance, LIFT.rough_steps), (LIFT.fit_tolerance, LIFT.fit_steps)
        tolerance, most = rough_fit if rough else fit
        x = problem.fit(x, tolerance / self.n, most, problem.moving(moving))
        self.fits += 1
        self._known[key] = x, problem.value(x), rough
        return self._known[key][:2]

    def _regression(self, v: int, parents: int) -> tuple[Matrix, float]:
        known = self._regressions.get((v, parents))
        if known is None:
            slope, variance = regression(self.correlation, v, parents)
            known = self._regressions[v, parents] = slope, max(variance, 1e-10)
        return known


def regression(S: Matrix, v: int, parents: int) -> tuple[Matrix, float]:
    """Return the coefficients of v on its parents, and the variance that is left.

    Examples
    --------
    >>> slope, variance = regression(np.array([[1.0, 0.6], [0.6, 1.0]]), 1, 0b01)
    >>> slope.round(12).tolist(), round(variance, 12)
    ([0.6], 0.64)
    """
    near = list(members(parents))
    if not near:
        return np.empty(0), float(S[v, v])
    slope = np.linalg.solve(S[np.ix_(near, near)], S[near, v])
    return np.asarray(slope, dtype=np.float64), float(S[v, v] - slope @ S[near, v])


def projected(model: HiddenModel) -> NDArray[np.int8]:
    """Return the marks of the MAG that a DAG with hidden nodes has over what is observed.

    Examples
    --------
    >>> fits = HiddenFits(np.eye(3), 100, 9.0)
    >>> start = np.zeros((4, 4)), np.zeros(4), np.zeros((4, 0))
    >>> model = fits.fit([0b1000, 0b1000, 0b0010, 0], [], [3, 0, 1, 2], *start)     # 0 <- 3 -> 1 -> 2
    >>> projected(model).tolist()                                                   # 0 <-> 1 --> 2
    [[0, 2, 0], [2, 0, 2], [0, 3, 0]]
    """
    parents = (*model.parents, *model.selections)
    names = tuple(f"X{v}" for v in range(len(parents)))
    marks = np.zeros((len(parents), len(parents)), dtype=np.int8)
    for v, mask in enumerate(parents):
        for u in members(mask):
            marks[u, v], marks[v, u] = ARROW, TAIL
    mag = DAG._trusted(names, marks).project(names[model.p : model.m], names[model.m :])
    return np.asarray(mag.marks)
