"""Data for the benchmarks: linear Gaussian models with latent and selection variables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Observed, latent and selection variables of each structure in the paper's tables.
STRUCTURES = {
    "insurance": (22, 3, 2),
    "alarm": (31, 4, 2),
    "ecoli70": (40, 3, 3),
    "barley": (40, 5, 3),
    "hailfinder": (50, 3, 3),
    "carpo": (53, 4, 4),
    "arth150": (95, 6, 6),
    "mildew": (29, 3, 3),
    "water": (26, 3, 3),
}


class Sample(NamedTuple):
    data: np.ndarray
    names: list[str]
    weights: np.ndarray  # of the full model, weights[child, parent]
    latent: list[int]
    selection: list[int]


def read_structure(folder: Path, name: str) -> np.ndarray:
    """Return the adjacency of a structure, parent[i, j] = 1 if j is a parent of i, in the order of its node file."""
    with (folder / f"{name}.nodes.csv").open() as stream:
        nodes = [row[0] for row in csv.reader(stream)][1:]
    where = {node: i for i, node in enumerate(nodes)}
    parent = np.zeros((len(nodes), len(nodes)))
    with (folder / f"{name}.csv").open() as stream:
        for cause, effect in list(csv.reader(stream))[1:]:
            parent[where[effect], where[cause]] = 1
    return parent


def random_structure(rng: np.random.Generator, n: int, degree: float) -> np.ndarray:
    """Return a random DAG of the given mean degree, nodes in causal order."""
    parent = np.zeros((n, n))
    for i in range(1, n):
        parent[i, rng.choice(i, min(i, rng.poisson(degree / 2)), replace=False)] = 1
    return parent


def draw(rng: np.random.Generator, parent: np.ndarray, latent: int, selection: int, rows: int) -> Sample:
    """Draw from P(O | S): weights in ±(0.5, 1), noise in (sqrt 0.5, 1), exact conditioning on S."""
    n = len(parent)
    weights = parent * rng.uniform(0.5, 1.0, (n, n)) * rng.choice([-1, 1], (n, n))
    noise = rng.uniform(np.sqrt(0.5), 1.0, n)
    hidden = rng.permutation(n)[: latent + selection]
    chosen = sorted(hidden[latent:].tolist())
    sample = rng.standard_normal((rows, n)) * noise
    for i in causal_order(parent):
        causes = np.flatnonzero(parent[i])
        sample[:, i] += sample[:, causes] @ weights[i, causes]
    if chosen:
        mixing = np.linalg.inv(np.eye(n) - weights)
        covariance = (mixing * noise**2) @ mixing.T
        slope = np.linalg.solve(covariance[np.ix_(chosen, chosen)], covariance[chosen])
        sample -= sample[:, chosen] @ slope
    seen = sorted(set(range(n)) - set(hidden.tolist()))
    data = np.ascontiguousarray(sample[:, seen])
    return Sample(data, [f"X{i}" for i in seen], weights, sorted(hidden[:latent].tolist()), chosen)


def causal_order(parent: np.ndarray) -> list[int]:
    """Return the nodes, causes before effects."""
    waiting = parent.sum(axis=1).astype(int)
    free = [int(i) for i in np.flatnonzero(waiting == 0)]
    order = []
    while free:
        i = free.pop()
        order.append(i)
        for j in np.flatnonzero(parent[:, i]):
            waiting[j] -= 1
            if waiting[j] == 0:
                free.append(int(j))
    return order
