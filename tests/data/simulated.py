"""Linear Gaussian data from a study: a DAG with latent and selection variables."""

import numpy as np

from lmarvel import DAG, Moments
from tests.generators import Study


def covariance(rng: np.random.Generator, dag: DAG, low: float, high: float) -> np.ndarray:
    """Return the covariance of all nodes, each the weighted sum of its parents and noise of variance 1."""
    n = len(dag)
    weights = np.zeros((n, n))
    for edge in dag.edges():
        weights[dag.index(edge.b), dag.index(edge.a)] = rng.uniform(low, high) * rng.choice([-1, 1])
    mixing = np.linalg.inv(np.eye(n) - weights)
    return mixing @ mixing.T


def population(rng: np.random.Generator, study: Study, n: int, low: float = 0.5, high: float = 1.0) -> Moments:
    """Return the true moments of the observed variables in the selected population, as if from n rows."""
    dag = study.dag
    full = covariance(rng, dag, low, high)
    seen = [dag.index(v) for v in dag.names if v not in (*study.latent, *study.selection)]
    chosen = [dag.index(v) for v in study.selection]
    explained = full[np.ix_(seen, chosen)] @ np.linalg.solve(full[np.ix_(chosen, chosen)], full[np.ix_(chosen, seen)])
    return Moments(tuple(dag.names[v] for v in seen), n, np.zeros(len(seen)), full[np.ix_(seen, seen)] - explained)


def sample(
    rng: np.random.Generator, study: Study, rows: int, low: float = 0.5, high: float = 1.0
) -> dict[str, np.ndarray]:
    """Draw rows of the observed variables in the selected population."""
    truth = population(rng, study, rows, low, high)
    table = rng.multivariate_normal(truth.mean, truth.covariance, size=rows, method="cholesky")
    return {name: table[:, i] for i, name in enumerate(truth.names)}
