"""The Gaussian likelihood of a MAG, and its BIC.

A MAG stands for the linear model X = BX + eps. Its graph falls into parts that are fitted one by one, since the density
is a product over them and each has parameters of its own (Richardson & Spirtes 2002, section 8):

* the connected components of undirected edges, where eps has an inverse covariance with zeros
  (:mod:`lmarvel.score.concentration`);
* the districts, that is the sets of nodes that bidirected edges join, given their parents: B is free where there is a
  directed edge, Omega = cov(eps) where there is a bidirected one (:mod:`lmarvel.score.district`).

Then Sigma = (I - B)^-1 Omega (I - B)^-T. Markov equivalent MAGs stand for the same set of covariances, so they have
the same likelihood; they have the same number of edges too, hence the same BIC.

>>> from lmarvel import MAG
>>> chain, fork = MAG.from_edges("A --> B", "B --> C"), MAG.from_edges("B --> A", "B --> C", nodes=["A", "B", "C"])
>>> S = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 2.0]])
>>> abs(ricf(chain, S).minus_two_log_likelihood - ricf(fork, S).minus_two_log_likelihood) < 1e-12
True
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmarvel.ci.blocks import blocks_of
from lmarvel.ci.fisher_z import FisherZ
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset, moments_of
from lmarvel.data.moments import Moments
from lmarvel.errors import DataError, Degenerate, GraphError, LMarvelWarning
from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.kinds import DAG, MAG, PAG, explain_not_ancestral
from lmarvel.graph.mixed import MixedGraph
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.score.concentration import covariance_selection
from lmarvel.score.district import LOG_2PI, MAX_ITERATIONS, TOLERANCE, Matrix, fit_piece
from lmarvel.score.expanded import expanded
from lmarvel.score.rewrite import rewrite, split, undo


@dataclass(frozen=True)
class DistrictFit:
    """The maximum of the likelihood of one part of a graph.

    Attributes
    ----------
    members, outside : tuple of int
        The district, and its parents that do not belong to it.
    B : array
        Coefficients: one row per member, columns over members and outside.
    Omega : array
        Covariance of the errors of the members.
    score : float
        Minus two log-likelihood per row of data, of the members given the parents.
    iterations : int
        Steps of the iterative fit; 0 where there is a closed form.
    converged : bool
        Whether it came to its end.

    Examples
    --------
    >>> fit = fit_district([[4.0, 2.0], [2.0, 3.0]], [1], parents={1: [0]}, spouses={})
    >>> fit.outside, fit.B.round(9).tolist(), fit.Omega.round(9).tolist()
    ((0,), [[0.0, 0.5]], [[2.0]])
    """

    members: tuple[int, ...]
    outside: tuple[int, ...]
    B: Matrix
    Omega: Matrix
    score: float
    iterations: int
    converged: bool


@dataclass(frozen=True)
class Fit:
    """A MAG fitted to a covariance matrix: X = BX + eps, cov(eps) = Omega, cov(X) = Sigma.

    Over nodes with undirected edges it is the inverse of Omega that has zeros where there is no edge.

    Examples
    --------
    >>> from lmarvel import DAG
    >>> fit = ricf(DAG.from_edges("A --> B"), [[4.0, 2.0], [2.0, 3.0]])
    >>> fit.B.round(9).tolist(), fit.Omega.round(9).tolist()
    ([[0.0, 0.0], [0.5, 0.0]], [[4.0, 0.0], [0.0, 2.0]])
    """

    names: tuple[str, ...]
    B: Matrix
    Omega: Matrix
    Sigma: Matrix
    minus_two_log_likelihood: float
    iterations: int
    converged: bool


def fit_district(
    S: ArrayLike,
    district: Sequence[int],
    parents: Mapping[int, Collection[int]],
    spouses: Mapping[int, Collection[int]],
    names: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> DistrictFit:
    """Fit one district given its parents.

    Parameters
    ----------
    S : array
        Covariance matrix; nodes are positions in it.
    district : sequence of int
        The members.
    parents, spouses : mapping
        For each member its parents, anywhere, and its spouses, inside the district.
    names : sequence of str, optional
        Names for messages.
    tolerance : float
        How far from the maximum, in minus two log-likelihood per row, the fit may end.
    max_iterations : int
        The most steps of Newton's method.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 1.0]])
    >>> fit = fit_district(S, [1, 2], parents={1: [0]}, spouses={1: [2], 2: [1]})   # 0 --> 1 <-> 2
    >>> fit.members, fit.outside, fit.B.shape
    ((1, 2), (0,), (2, 3))
    """
    covariance = _checked(S)
    scale = np.sqrt(covariance.diagonal())
    above = {v: bits(parents.get(v, ())) for v in district}
    beside = {v: bits(spouses.get(v, ())) for v in district}
    return _fit_district(covariance / np.outer(scale, scale), scale, above, beside, names, tolerance, max_iterations)


def _fit_district(
    R: Matrix,
    scale: Matrix,
    above: dict[int, int],
    beside: dict[int, int],
    names: Sequence[str] | None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> DistrictFit:
    """Rewrite the district, fit its pieces, and translate back, from correlations to covariances too."""
    own = tuple(above)
    outside = 0
    for causes in above.values():
        outside |= causes
    order = (*own, *members(outside & ~bits(own)))
    place = {v: i for i, v in enumerate(order)}
    steps = rewrite(above, beside)
    A, Omega = np.eye(len(own), len(order)), np.zeros((len(own), len(own)))
    score, iterations, converged = float(2 * np.log(scale[list(own)]).sum()), 0, True
    for nodes in split(beside):
        try:
            piece = fit_piece(R, nodes, above, beside, tolerance, max_iterations)
        except Degenerate as error:
            raise Degenerate(error.variables, names) from None
        rows, columns = [place[v] for v in nodes], [place[v] for v in piece.order]
        A[np.ix_(rows, columns)] = piece.A
        Omega[np.ix_(rows, rows)] = piece.Omega
        score += piece.score
        iterations += piece.iterations
        converged &= piece.converged
    undo(steps, place, A, Omega)
    units, all_units = scale[list(own)], scale[list(order)]
    B = (np.eye(*A.shape) - A) * units[:, None] / all_units
    return DistrictFit(own, order[len(own) :], B, Omega * np.outer(units, units), score, iterations, converged)


def _fit_undirected(
    R: Matrix, scale: Matrix, nodes: list[int], neighbors: list[int], names: Sequence[str]
) -> DistrictFit:
    """Fit a connected component of undirected edges."""
    place = {v: i for i, v in enumerate(nodes)}
    joined = [[place[u] for u in members(neighbors[v])] for v in nodes]
    try:
        fit = covariance_selection(R[np.ix_(nodes, nodes)], joined)
    except np.linalg.LinAlgError:
        raise Degenerate(nodes, names) from None
    units = scale[nodes]
    score = len(nodes) * LOG_2PI + fit.value + float(2 * np.log(units).sum())
    nothing = np.zeros((len(nodes), len(nodes)))
    return DistrictFit(
        tuple(nodes), (), nothing, fit.Sigma * np.outer(units, units), score, fit.iterations, fit.converged
    )


def _fit_parts(graph: MixedGraph, S: Matrix, n: int | None = None) -> Iterator[DistrictFit]:
    """Fit the undirected components and the districts of an ancestral graph."""
    scale = np.sqrt(S.diagonal())
    R = S / np.outer(scale, scale)
    masks = graph.masks
    done = 0
    for v in range(len(graph)):
        if done >> v & 1:
            continue
        undirected = masks.neighbors[v] != 0
        mask = closure(masks.neighbors if undirected else masks.spouses, 1 << v)
        done |= mask
        nodes = list(members(mask))
        if n is not None:
            _check_rows(graph.names, nodes, masks.parents, n)
        if undirected:
            yield _fit_undirected(R, scale, nodes, masks.neighbors, graph.names)
        else:
            above, beside = {u: masks.parents[u] for u in nodes}, {u: masks.spouses[u] for u in nodes}
            yield _fit_district(R, scale, above, beside, graph.names)


def _check_rows(names: Sequence[str], nodes: Iterable[int], parents: list[int], n: int) -> None:
    together = 0
    for v in nodes:
        together |= parents[v] | 1 << v
    if n <= together.bit_count():
        shown = ", ".join(names[v] for v in members(together))
        raise DataError(
            f"{n} rows are too few to fit {together.bit_count()} variables at once, a district with parents: {shown}"
        )


def ricf(graph: MixedGraph, S: ArrayLike, n: int | None = None) -> Fit:
    """Fit a MAG (or DAG) to a covariance matrix by maximum likelihood.

    Parameters
    ----------
    graph : MAG or DAG
        A plain :class:`MixedGraph` does if it is ancestral.
    S : array
        The sample covariance (divided by the number of rows), in the order of the graph's nodes.
    n : int, optional
        The number of rows behind S. Where it is given, a district with its parents must have fewer variables.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> S = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 1.0]])
    >>> fit = ricf(MAG.from_edges("A --> B", "B <-> C"), S)
    >>> fit.Sigma.round(3).tolist()                      # A and C are uncorrelated
    [[1.0, 0.465, 0.0], [0.465, 0.967, 0.354], [0.0, 0.354, 1.0]]
    """
    _check_graph(graph)
    covariance = _checked(S)
    if len(covariance) != len(graph):
        raise DataError(f"a graph of {len(graph)} nodes needs a {len(graph)} x {len(graph)} covariance matrix")
    B, Omega = np.zeros_like(covariance), np.zeros_like(covariance)
    parts = list(_fit_parts(graph, covariance, n))
    for part in parts:
        own = list(part.members)
        B[np.ix_(own, [*own, *part.outside])] = part.B
        Omega[np.ix_(own, own)] = part.Omega
    spread = np.linalg.inv(np.eye(len(graph)) - B)
    return Fit(
        names=graph.names,
        B=B,
        Omega=Omega,
        Sigma=spread @ Omega @ spread.T,
        minus_two_log_likelihood=math.fsum(part.score for part in parts),
        iterations=sum(part.iterations for part in parts),
        converged=all(part.converged for part in parts),
    )


def bic(graph: MixedGraph, data: Any) -> float:
    """Return the BIC of a graph: ``-2 l + log N (|V| + |E|)``, the lower the better.

    Parameters
    ----------
    graph : DAG, MAG or PAG
        A PAG is scored by one of its MAGs, since all of them score the same; an illegal one has none, and raises.
    data : array, frame, path, Moments or FisherZ
        What :func:`lmarvel.moments_of` takes. Columns are matched with nodes by name, those of an array by position;
        columns that are no nodes are left out. A variable with levels counts as its indicators
        (:mod:`lmarvel.score.expanded`), with a parameter for each pair of columns.

    Examples
    --------
    >>> from lmarvel import DAG, PAG
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> data = {"A": a, "B": b, "C": a + b + rng.normal(size=500)}
    >>> collider, chain = DAG.from_edges("A --> C", "B --> C"), DAG.from_edges("A --> C", "C --> B")
    >>> bic(collider, data) < bic(chain, data)
    True
    >>> abs(bic(collider, data) - bic(PAG.from_edges("A o-> C", "B o-> C"), data)) < 1e-6
    True
    """
    if isinstance(graph, PAG):
        graph = pag_to_mag(graph)
    _check_graph(graph)
    graph, moments = _scored(graph, data)
    where = {name: i for i, name in enumerate(moments.names)}
    order = [where[name] for name in graph.names]
    parts = list(_fit_parts(graph, moments.covariance[np.ix_(order, order)], moments.n))
    for part in parts:
        if not part.converged:
            shown = ", ".join(graph.names[v] for v in part.members)
            warnings.warn(
                f"the fit of {shown} did not come to its end: the true BIC may be lower", LMarvelWarning, stacklevel=2
            )
    likelihood = moments.n * math.fsum(part.score for part in parts)
    return likelihood + math.log(moments.n) * (len(graph) + graph.n_edges)


def _scored(graph: MixedGraph, data: Any) -> tuple[MixedGraph, Moments]:
    """Return the graph and the moments to score; where variables have levels, both are over columns."""
    if isinstance(data, Moments | FisherZ | np.ndarray | list | tuple):
        return graph, _moments(graph, data)
    table = Dataset.of(data, columns=graph.names)
    if not any(kind in (Kind.NOMINAL, Kind.ORDINAL) for kind in table.kinds):
        return graph, table.moments
    blocks = blocks_of(table)
    where = {name: v for v, name in enumerate(blocks.names)}
    blocks = blocks.take([where[name] for name in graph.names])
    over = expanded(graph, [blocks.columns(v) for v in range(len(graph))])
    return over, replace(blocks.moments, names=over.names)


def _moments(graph: MixedGraph, data: Any) -> Moments:
    if isinstance(data, FisherZ):
        data = data.moments
    if isinstance(data, Moments):
        missing = [name for name in graph.names if name not in data.names]
        if missing:
            raise DataError(f"the data have no column {missing[0]!r}, which is a node of the graph")
        return data
    return moments_of(data, names=graph.names)


def _check_graph(graph: object) -> None:
    if isinstance(graph, PAG):
        raise GraphError("a PAG has no likelihood of its own: fit one of its MAGs, see pag_to_mag")
    if not isinstance(graph, MixedGraph):
        raise GraphError(f"a likelihood needs a DAG or MAG, not {type(graph).__name__}")
    reason = None if isinstance(graph, DAG | MAG) else explain_not_ancestral(graph)
    if reason:
        raise GraphError(f"a likelihood needs a DAG or MAG: {reason}")


def _checked(S: ArrayLike) -> Matrix:
    covariance = np.asarray(S, dtype=np.float64)
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise DataError(f"a covariance matrix is square, not of shape {covariance.shape}")
    if not np.isfinite(covariance).all():
        raise DataError("the covariance matrix holds values that are not finite")
    if (covariance.diagonal() <= 0).any():
        worst = int(np.argmin(covariance.diagonal()))
        raise DataError(f"the variance of variable number {worst} is {covariance[worst, worst]:g}: it must be positive")
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=1e-8 * covariance.diagonal().max(initial=0.0)):
        raise DataError("a covariance matrix is symmetric, this one is not")
    return covariance
