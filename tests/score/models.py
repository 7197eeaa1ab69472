"""Covariances to fit, and a likelihood and an optimiser that share nothing with the package.

The likelihood is that of the whole graph: Sigma = (I - B)^-1 Omega (I - B)^-T, with B, Omega and, over nodes with
undirected edges, the inverse of Omega free exactly where the graph has an edge. The optimiser is scipy's, on all
parameters at once.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy import optimize

from lmarvel import MixedGraph

ARROW, TAIL = 2, 3


def edges_of_kind(graph: MixedGraph, at_i: int, at_j: int) -> list[tuple[int, int]]:
    """Return the pairs (i, j), i < j, with these marks; directed edges as (tail, head)."""
    marks, n = graph.marks, len(graph)
    if at_i != at_j:
        return [(i, j) for i in range(n) for j in range(n) if marks[j, i] == TAIL and marks[i, j] == ARROW]
    return [(i, j) for i, j in combinations(range(n), 2) if marks[j, i] == at_i and marks[i, j] == at_j]


class Model:
    """All covariances of a graph, by a vector of free parameters."""

    def __init__(self, graph: MixedGraph) -> None:
        self.n = len(graph)
        self.directed = edges_of_kind(graph, TAIL, ARROW)
        self.bidirected = edges_of_kind(graph, ARROW, ARROW)
        self.undirected = edges_of_kind(graph, TAIL, TAIL)
        self.exogenous = sorted({v for pair in self.undirected for v in pair})
        self.size = self.n + len(self.directed) + len(self.bidirected) + len(self.undirected)

    def sigma(self, theta: np.ndarray) -> np.ndarray | None:
        """Return the covariance, None where the parameters give none. Variances are given by their logarithms."""
        n = self.n
        free = iter(theta[n:])
        B, Omega, K = np.zeros((n, n)), np.diag(np.exp(theta[:n])), np.diag(np.exp(theta[:n]))
        for tail, head in self.directed:
            B[head, tail] = next(free)
        for i, j in self.bidirected:
            Omega[i, j] = Omega[j, i] = next(free)
        for i, j in self.undirected:
            K[i, j] = K[j, i] = next(free)
        inside = np.ix_(self.exogenous, self.exogenous)
        if np.linalg.eigvalsh(Omega)[0] <= 0 or (self.exogenous and np.linalg.eigvalsh(K[inside])[0] <= 0):
            return None
        if self.exogenous:
            Omega[inside] = np.linalg.inv(K[inside])
        spread = np.linalg.inv(np.eye(n) - B)
        return spread @ Omega @ spread.T

    def random_sigma(self, rng: np.random.Generator) -> np.ndarray:
        """Return the covariance of random parameters."""
        while True:
            links = rng.uniform(0.2, 0.7, self.size - self.n) * rng.choice([-1, 1], self.size - self.n)
            sigma = self.sigma(np.concatenate([rng.uniform(-0.3, 0.3, self.n), links]))
            if sigma is not None:
                return sigma

    def optimum(self, S: np.ndarray, rng: np.random.Generator, starts: int = 3) -> float:
        """Return the best minus two log-likelihood per row that a general optimiser finds from random starts."""

        def value(theta: np.ndarray) -> float:
            sigma = self.sigma(theta)
            return 1e6 if sigma is None else minus_two_log_likelihood(sigma, S)

        best = math.inf
        for _ in range(starts):
            start = np.concatenate([np.log(S.diagonal()), rng.uniform(-0.1, 0.1, self.size - self.n)])
            if self.exogenous:
                start[self.exogenous] *= -1  # there the parameter is the inverse
            found = optimize.minimize(value, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
            best = min(best, float(found.fun))
        return best


def minus_two_log_likelihood(Sigma: np.ndarray, S: np.ndarray) -> float:
    """Return minus two times the Gaussian log-likelihood per row."""
    sign, logdet = np.linalg.slogdet(Sigma)
    assert sign > 0
    return float(len(S) * math.log(2 * math.pi) + logdet + np.trace(np.linalg.solve(Sigma, S)))


def sample_covariance(rng: np.random.Generator, Sigma: np.ndarray, rows: int) -> np.ndarray:
    """Return the covariance of a sample, divided by the number of rows."""
    data = rng.multivariate_normal(np.zeros(len(Sigma)), Sigma, size=rows)
    return np.cov(data.T, bias=True)


def any_covariance(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a covariance that no graph but the complete one fits, with variances from 0.1 to 10."""
    data = rng.normal(size=(10 * n, n)) + rng.normal(size=(10 * n, 1)) * rng.uniform(-1, 1, n)
    return np.cov((data * 10 ** rng.uniform(-0.5, 0.5, n)).T, bias=True)


def conforms(graph: MixedGraph, B: np.ndarray, Omega: np.ndarray) -> bool:
    """Tell whether parameters are zero wherever the graph has no edge of their kind."""
    n = len(graph)
    model = Model(graph)
    free_B, free_Omega = np.zeros((n, n), dtype=bool), np.eye(n, dtype=bool)
    for tail, head in model.directed:
        free_B[head, tail] = True
    for i, j in model.bidirected:
        free_Omega[i, j] = free_Omega[j, i] = True
    inside = np.ix_(model.exogenous, model.exogenous)
    free_Omega[inside] = True
    concentration = np.eye(len(model.exogenous), dtype=bool)
    place = {v: i for i, v in enumerate(model.exogenous)}
    for i, j in model.undirected:
        concentration[place[i], place[j]] = concentration[place[j], place[i]] = True
    K = np.linalg.inv(Omega[inside]) if model.exogenous else np.empty((0, 0))
    scale = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    return not (B[~free_B].any() or Omega[~free_Omega].any() or (np.abs(K / scale)[~concentration] > 1e-9).any())
