"""Linear Gaussian models, and exact samples from what is seen of them.

X = B X + e with independent Gaussian noise e gives the covariance S = (I - B)^-1 diag(sd^2) (I - B)^-T over all
variables. Given the selection variables, the observed ones are again Gaussian, with a covariance that does not depend
on the value at which the selection variables are held:

    S_{O|S} = S_OO - S_OS S_SS^-1 S_SO

So P(O | S) can be drawn exactly, without throwing rows away. Keeping the rows in which S falls into a region is
something else: that conditions on a child of S, and leaves paths through S open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import DAG
from lmarvel.orient.study import Study
from lmarvel.simulate.graphs import Seed, check_count

Interval = tuple[float, float]


class Ranges(NamedTuple):
    """Where the sizes of coefficients (their sign is random) and the standard deviations of noise are drawn from.

    Examples
    --------
    >>> RANGES["benchmark"].coefficients
    (0.5, 1.0)
    """

    coefficients: Interval
    deviations: Interval


RANGES: Mapping[str, Ranges] = {
    "benchmark": Ranges((0.5, 1.0), (math.sqrt(0.5), 1.0)),  # the paper's Table 1
    "random": Ranges((0.5, 2.0), (1.0, math.sqrt(3.0))),  # its random graphs
    "appendix": Ranges((1.0, 1.5), (1.0, math.sqrt(2.0))),  # the table in its appendix
}
"""The ranges that the paper draws from, by name."""


@dataclass(frozen=True)
class LinearSEM:
    """A linear model with Gaussian noise.

    Attributes
    ----------
    dag : DAG
        Its structure.
    weights : array
        ``weights[i, j]`` is the coefficient of j in the equation of i.
    deviations : array
        The standard deviation of each noise term.

    Examples
    --------
    >>> study = Study(DAG.from_edges("X --> S", "Y --> S"), selection=("S",))
    >>> model = LinearSEM.random(study.dag, seed=0)
    >>> model.covariance(study).round(2).tolist()                # X and Y are independent, but not in the sample
    [[0.39, 0.14], [0.14, 0.79]]
    >>> model.sample(study, rows=100, seed=1).shape
    (100, 2)
    """

    dag: DAG
    weights: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def random(cls, dag: DAG, ranges: Ranges | str = "benchmark", *, seed: Seed) -> LinearSEM:
        """Draw coefficients and deviations uniformly from ``ranges``; the sign of a coefficient is a coin toss."""
        rng = np.random.default_rng(seed)
        coefficients, deviations = named_ranges(ranges)
        n = len(dag)
        weights = np.zeros((n, n))
        for child, parents in enumerate(dag.masks.parents):
            for parent in members(parents):
                weights[child, parent] = rng.uniform(*coefficients) * rng.choice((-1.0, 1.0))
        return cls(dag, weights, rng.uniform(*deviations, n))

    def loadings(self) -> NDArray[np.float64]:
        """Return A with X = A e for standard noise e: what each noise term adds to each variable, in all ways."""
        matrix = np.diag(self.deviations)
        for child in causal_order(self.dag):
            parents = np.flatnonzero(self.weights[child])
            matrix[child] += self.weights[child, parents] @ matrix[parents]
        return matrix

    def covariance(self, study: Study) -> NDArray[np.float64]:
        """Return the covariance of the observed variables given the selection variables."""
        study.check_model(self.dag)
        seen, chosen = _places(study)
        loadings = self.loadings()
        basis = _basis(loadings[chosen])
        left = loadings[seen] - (loadings[seen] @ basis) @ basis.T
        covariance: NDArray[np.float64] = left @ left.T
        return covariance

    def sample(self, study: Study, rows: int, *, seed: Seed) -> NDArray[np.float64]:
        """Draw rows from P(O | S), exactly.

        Holding S = A_S e fixed fixes the noise e in the row space of A_S and leaves it free elsewhere. So the noise
        is drawn, its part in that space is taken off (S is then 0), and the variables follow from their equations.
        """
        check_count("rows", rows, 1)
        study.check_model(self.dag)
        seen, chosen = _places(study)
        drawn = np.random.default_rng(seed).standard_normal((rows, len(self.dag)))
        if chosen:
            basis = _basis(self.loadings()[chosen])
            drawn -= (drawn @ basis) @ basis.T
        drawn *= self.deviations
        for child in causal_order(self.dag):
            parents = np.flatnonzero(self.weights[child])
            drawn[:, child] += drawn[:, parents] @ self.weights[child, parents]
        return np.ascontiguousarray(drawn[:, seen])


def _basis(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the space that rows span, as columns."""
    scale = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.linalg.qr((rows / scale).T)[0]


def named_ranges(ranges: Ranges | str) -> Ranges:
    """Return ranges, given themselves or by name, checked."""
    if isinstance(ranges, str):
        if ranges not in RANGES:
            raise ParameterError(f"unknown parameter ranges {ranges!r}: choose from {', '.join(RANGES)}")
        return RANGES[ranges]
    for low, high in ranges:
        if not (0 <= low <= high < math.inf):
            raise ParameterError(f"a range needs 0 <= low <= high, not ({low}, {high})")
    if ranges.deviations[0] == 0:
        raise ParameterError("noise without deviation leaves no room for chance: give the deviations a range above 0")
    return ranges


def causal_order(dag: DAG) -> list[int]:
    """Return the positions of the nodes, causes before effects; among free ones the first comes first."""
    parents = dag.masks.parents
    order: list[int] = []
    done = 0
    waiting = list(range(len(dag)))
    while waiting:
        free = [v for v in waiting if not parents[v] & ~done]
        order += free
        for v in free:
            done |= 1 << v
        waiting = [v for v in waiting if not done >> v & 1]
    return order


def _places(study: Study) -> tuple[list[int], list[int]]:
    """Return the positions of the observed and of the selection variables."""
    index = study.dag.index
    return [index(v) for v in study.observed], [index(v) for v in study.selection]
