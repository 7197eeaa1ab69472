"""Truth for effects: every class of five nodes without undirected edges, its MAGs, and linear models of each of them.

A model of a MAG is its canonical DAG (a latent cause for each ``<->``) with random coefficients; and, because behind an
invisible arrow a confounder may stand, for each of these arrows the same DAG with one more latent cause, where its
projection is still that MAG. Visibility is decided here by projection, not by its definition.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel import ADMG, MAG, PAG, Edge, Mark, pag_to_mag
from lmarvel.effects.ranges import class_members
from tests.truth.make_truth import load, marks_matrix

Matrix = NDArray[np.float64]
NAMES = tuple("ABCDE")


class Models(NamedTuple):
    """Linear models: covariances of what is observed, and total effects[model, effect, cause]."""

    covariance: Matrix
    effects: Matrix
    mags: list[MAG]


@cache
def classes() -> list[PAG]:
    """One PAG for each class of five nodes without undirected edges, up to names."""
    codes = load(5)["pag"]
    at_i, at_j = codes >> 2, codes & 3
    tail, arrow = int(Mark.TAIL), int(Mark.ARROW)
    plain = ~(((at_i == tail) & (at_j != arrow)) | ((at_j == tail) & (at_i != arrow))).any(axis=1)
    orders = [np.array(order) for order in permutations(range(5))]
    found: dict[bytes, NDArray[np.int8]] = {}
    known: set[bytes] = set()
    for row in codes[plain]:
        marks = marks_matrix(row, 5)
        if marks.tobytes() not in known:
            known |= {marks[np.ix_(order, order)].tobytes() for order in orders}
            found[marks.tobytes()] = marks
    return [PAG(NAMES, marks) for marks in found.values()]


def total_effects(weights: Matrix) -> Matrix:
    return np.linalg.inv(np.eye(len(weights)) - weights)


def _graphs(mag: MAG) -> list[ADMG]:
    """The canonical ADMG of a MAG, and those with one arrow confounded that look the same."""
    edges = [edge if edge.at_b == Mark.ARROW else edge.reversed() for edge in mag.edges()]
    found = [ADMG(mag.names, edges)]
    for edge in edges:
        if edge.at_a == Mark.TAIL:
            confounded = ADMG(mag.names, [*edges, Edge(edge.a, edge.b, Mark.ARROW, Mark.ARROW)])
            dag, latent = confounded.canonical_dag()
            if dag.project(latent) == mag:
                found.append(confounded)
    return found


def models(pag: PAG, rng: np.random.Generator, most: int) -> Models:
    """A random linear model of each graph of each MAG of the class; of ``most`` MAGs, if it has more."""
    covariances, effects, mags = [], [], list(class_members(pag_to_mag(pag)))
    for mag in mags if len(mags) <= most else [mags[i] for i in rng.permutation(len(mags))[:most]]:
        for graph in _graphs(mag):
            dag, _ = graph.canonical_dag()
            n = len(dag)
            arrows = (dag.marks.T == Mark.ARROW).astype(float)  # [child, parent]
            weights = arrows * rng.uniform(0.4, 1.0, (n, n)) * rng.choice((-1.0, 1.0), (n, n))
            total = total_effects(weights)
            covariance = total @ np.diag(rng.uniform(0.5, 1.5, n)) @ total.T
            covariances.append(covariance[:5, :5])
            effects.append(total[:5, :5])
    return Models(np.array(covariances), np.array(effects), mags)


def regression(covariance: Matrix, x: int, y: int, z: tuple[int, ...]) -> Matrix:
    """The coefficient of x in the regression of y on x and z, in each model."""
    at = [x, *z]
    return np.linalg.solve(covariance[:, at][:, :, at], covariance[:, at, y][..., None])[:, 0, 0]
