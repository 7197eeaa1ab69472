"""Random linear models with latent variables, and what setting a variable does in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel import DAG, PAG, mag_to_pag

Matrix = NDArray[np.float64]


class Model(NamedTuple):
    """A linear model: its PAG, the positions of what is observed, weights[child, parent] and noise variances."""

    pag: PAG
    observed: list[int]
    weights: Matrix
    noise: Matrix

    @property
    def covariance(self) -> Matrix:
        total = np.linalg.inv(np.eye(len(self.weights)) - self.weights)
        at = self.observed
        return (total @ np.diag(self.noise) @ total.T)[np.ix_(at, at)]

    def effect(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """The slope in x of E[y | do(x), given], by setting x in the equations."""
        cut, noise = self.weights.copy(), self.noise.copy()
        i, j = self.observed[x], self.observed[y]
        cut[i], noise[i] = 0, 0
        total = np.linalg.inv(np.eye(len(cut)) - cut)
        if not given:
            return float(total[j, i])
        z = [self.observed[v] for v in given]
        covariance = total @ np.diag(noise) @ total.T
        slopes = np.linalg.solve(covariance[np.ix_(z, z)], covariance[z, j])
        return float(total[j, i] - slopes @ total[z, i])


def model_of(dag: DAG, latent: Sequence[str], rng: np.random.Generator) -> Model:
    n = len(dag)
    arrows = (dag.marks.T == 2).astype(float)
    weights = arrows * rng.uniform(0.3, 1.0, (n, n)) * rng.choice((-1.0, 1.0), (n, n))
    pag = mag_to_pag(dag.project(latent))
    return Model(pag, [dag.index(name) for name in pag.names], weights, rng.uniform(0.5, 1.5, n))


def random_model(rng: np.random.Generator, most: int = 9) -> Model:
    n = int(rng.integers(4, most + 1))
    names = [f"V{i}" for i in range(n)]
    order, chance = rng.permutation(n), rng.uniform(0.2, 0.65)
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n) if rng.random() < chance]
    dag = DAG.from_edges(*(f"V{a} --> V{b}" for a, b in pairs), nodes=names)
    latent = [names[v] for v in rng.permutation(n)[: int(rng.integers(0, min(4, n - 2)))]]
    return model_of(dag, latent, rng)
