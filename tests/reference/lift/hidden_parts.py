"""What the search over hidden nodes reads off a model: sets to tie together, starting values, and what is weak."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.score.district import Matrix
from lmarvel.search.constants import LIFT
from tests.reference.lift.hidden_model import HiddenModel, regression


def leading(matrix: Matrix) -> Matrix:
    """Return loadings that explain as much of a symmetric matrix as one vector can."""
    values, vectors = np.linalg.eigh(matrix)
    vector = vectors[:, -1]
    first = np.flatnonzero(np.abs(vector) > np.abs(vector).max() * (1 - 1e-9))[0]  # of equals, whatever their rounding
    vector = vector * (1.0 if vector[first] > 0 else -1.0)
    return np.asarray(LIFT.first_loading * vector * math.sqrt(max(values[-1], 0.05)))


def parameters(S: Matrix, parents: list[int], p: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return coefficients, logarithms of variances, and scales that give the latent nodes unit variances."""
    m = len(parents)
    B, variance = np.zeros((m, m)), np.ones(m)
    for v, mask in enumerate(parents):
        B[v, list(members(mask))], variance[v] = regression(S, v, mask)
    variance = np.maximum(variance, 1e-6)
    scale = np.ones(m)
    scale[p:] = np.sqrt(variance[p:])
    log_variance = np.log(variance)
    log_variance[p:] = 0.0
    return B * scale[None, :] / scale[:, None], log_variance, scale


def is_idle(model: HiddenModel, latent: int) -> bool:
    """Tell whether a latent node ties nothing together."""
    uses = sum(mask >> latent & 1 for mask in (*model.parents, *model.selections))
    return uses == 0 or (uses == 1 and not model.parents[latent])


def near(model: HiddenModel, nodes: int) -> int:
    """Return the nodes with their parents and children."""
    around = nodes
    for v, mask in enumerate(model.parents):
        if nodes >> v & 1:
            around |= mask
        elif mask & nodes:
            around |= 1 << v
    return around


def joined_sets(model: HiddenModel) -> list[int]:
    """Return the largest maximal cliques of observed nodes, then the triangles and the edges."""
    seen = (1 << model.p) - 1
    adjacent = [mask & seen for mask in model.parents[: model.p]]
    for v in range(model.p):
        for u in members(model.parents[v] & seen):
            adjacent[u] |= 1 << v
    cliques = [clique for clique in maximal_cliques(adjacent) if clique.bit_count() > 3]
    found = dict.fromkeys(
        sorted(cliques, key=lambda clique: -clique.bit_count())[: max(LIFT.largest_cliques, model.p // 2)]
    )
    edges = [(u, v) for v in range(model.p) for u in members(adjacent[v]) if u < v]
    for u, v in edges:
        found[1 << u | 1 << v] = None
    for u, v in edges:
        found.update(dict.fromkeys(1 << u | 1 << v | 1 << w for w in members(adjacent[u] & adjacent[v]) if w > v))
    return [nodes for nodes in found if nodes not in model.selections][: max(LIFT.most_sets, 10 * model.p)]


def weakest(model: HiddenModel, n: float) -> Iterator[tuple[float, int, int, bool]]:
    """Iterate over (what dropping it would lose, whose, which, of a selection node?) of edges and memberships."""
    Sigma = model.covariance
    alike: dict[int, list[int]] = {}  # nodes by their number of parents, for one inversion each
    for v, mask in enumerate(model.parents):
        alike.setdefault(mask.bit_count(), []).append(v)
    alike.pop(0, None)
    for nodes in alike.values():
        beside = np.array([list(members(model.parents[v])) for v in nodes])
        inverse = np.linalg.inv(Sigma[beside[:, :, None], beside[:, None, :]]).diagonal(axis1=1, axis2=2)
        slope, variance = model.B[np.array(nodes)[:, None], beside], np.exp(model.log_variance[nodes])
        lost = n * np.log1p(slope**2 / inverse / variance[:, None])
        for v, parents, each in zip(nodes, beside.tolist(), lost.tolist(), strict=True):
            yield from ((by, v, u, False) for by, u in zip(each, parents, strict=True))
    for index, mask in enumerate(model.selections):
        for v in members(mask):
            yield n * math.log1p(model.V[v, index] ** 2 * Sigma[v, v]) / 2, index, v, True


def maximal_cliques(adjacent: Sequence[int]) -> Iterator[int]:
    """Iterate over the maximal cliques of an undirected graph, as bit sets (Bron & Kerbosch 1973, with pivots).

    Examples
    --------
    >>> sorted(maximal_cliques([0b0110, 0b0101, 0b1011, 0b0100])) == [0b0111, 0b1100]
    True
    """

    def extend(clique: int, candidates: int, excluded: int) -> Iterator[int]:
        if not candidates | excluded:
            yield clique
            return
        pivot = max(members(candidates | excluded), key=lambda u: (adjacent[u] & candidates).bit_count())
        for v in members(candidates & ~adjacent[pivot]):
            yield from extend(clique | 1 << v, candidates & adjacent[v], excluded & adjacent[v])
            candidates &= ~(1 << v)
            excluded |= 1 << v

    return extend(0, (1 << len(adjacent)) - 1, 0)
