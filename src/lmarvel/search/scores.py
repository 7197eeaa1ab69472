"""The score of an ancestral graph: a sum over its blocks, and a price for each edge.

Minus two log-likelihood of an ancestral graph is a sum over its districts, each given its parents, and over its
components of undirected edges (Richardson & Spirtes 2002, section 8). A move changes one or two of these blocks, so
only these are fitted, and no block is fitted twice.

Districts are those of :mod:`lmarvel.score.scores`. An undirected component is taken apart: a simplicial node (all
that it is joined to is joined) is a regression on its clique, in closed form; only what is left when there are no
more such nodes, the part without which the component would be chordal, needs an iterative fit.

The score is

    -2 log L + price |edges|,

with price = penalty x log N, and a penalty of 2. That is twice BIC's: a search looks at very many graphs, and with
BIC's own price weak edges that are not there turn whole regions round.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.score.concentration import newton_selection
from lmarvel.score.district import LOG_2PI, Matrix
from lmarvel.score.scores import DistrictScores
from lmarvel.search.ancestral import AncestralGraph, take_off_simplicial


class BlockScores(Protocol):
    """What the search over graphs needs to know of a table: minus two log-likelihood per row of a block."""

    n: int

    def of_block(self, block: int, graph: AncestralGraph) -> float:
        """Return the score of a district given its parents, or of an undirected component, per row."""


class GaussianBlocks(DistrictScores):
    """Minus two log-likelihood per row of the blocks of Gaussian ancestral graphs, from a correlation matrix.

    Examples
    --------
    >>> from lmarvel.search.ancestral import UNDIRECTED
    >>> R = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.4], [0.1, 0.4, 1.0]])
    >>> scores, graph = GaussianBlocks(R, n=100), AncestralGraph(3)
    >>> graph.apply(0, 1, UNDIRECTED)
    >>> graph.apply(1, 2, UNDIRECTED)
    >>> undirected = scores.of_block(0b111, graph)
    >>> chain = AncestralGraph.of_parents([0, 0b001, 0b010])
    >>> abs(undirected - sum(scores.of_block(1 << v, chain) for v in range(3))) < 1e-12
    True
    """

    def __init__(self, correlation: Matrix, n: int) -> None:
        super().__init__(correlation, n)
        self._undirected: dict[tuple[int, ...], float] = {}
        self._cores: dict[tuple[int, ...], float] = {}

    def of_block(self, block: int, graph: AncestralGraph) -> float:
        """Return the score of a district given its parents, or of an undirected component, per row."""
        first = (block & -block).bit_length() - 1
        if not graph.neighbors[first]:
            return self.of(block, graph.parents, graph.spouses)
        key = (block, *(graph.neighbors[v] for v in members(block)))
        known = self._undirected.get(key)
        if known is None:
            known = self._undirected[key] = self._of_undirected(block, graph.neighbors)
        return known

    def _of_undirected(self, block: int, neighbors: list[int]) -> float:
        if self.n <= block.bit_count():
            return math.inf
        taken, core = take_off_simplicial(neighbors, block)
        score = math.fsum(self._of_single(v, clique) for v, clique in taken)
        return score + (self._of_core(core, neighbors) if core else 0.0)

    def _of_core(self, core: int, neighbors: list[int]) -> float:
        """Fit what no simplicial node is left in by covariance selection."""
        key = (core, *(neighbors[v] & core for v in members(core)))
        known = self._cores.get(key)
        if known is not None:
            return known
        nodes = list(members(core))
        joined = np.array([[bool(neighbors[v] >> u & 1) for u in nodes] for v in nodes])
        self.fits += 1
        try:
            fit = newton_selection(self.correlation[np.ix_(nodes, nodes)], joined)
            score = fit.value + len(nodes) * LOG_2PI
            self.converged &= fit.converged
        except np.linalg.LinAlgError:
            score = math.inf
        self._cores[key] = score
        return score


def minus_two_log_likelihood(scores: BlockScores, graph: AncestralGraph) -> float:
    """Return minus two log-likelihood of a graph, of all rows of standardised data.

    Examples
    --------
    >>> scores = GaussianBlocks(np.array([[1.0, 0.6], [0.6, 1.0]]), n=100)
    >>> joined, apart = AncestralGraph.of_parents([0, 0b01]), AncestralGraph(2)
    >>> gain = minus_two_log_likelihood(scores, joined) - minus_two_log_likelihood(scores, apart)
    >>> round(gain, 9) == round(100 * math.log(1 - 0.6**2), 9)
    True
    """
    done, parts = 0, []
    for v in range(len(graph)):
        if not done >> v & 1:
            block = graph.block(v)
            done |= block
            parts.append(scores.of_block(block, graph))
    return scores.n * math.fsum(parts)
