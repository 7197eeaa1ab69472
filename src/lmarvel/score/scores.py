"""District scores with a memory: what a local search needs to judge a move.

A move changes the parents or spouses of two nodes, hence the score of their districts only. Scores are kept by what
they depend on (the members with their parents and spouses), both for whole districts and for the pieces into which
they fall, so that no regression and no fit is made twice, however often the search comes by.
"""

from __future__ import annotations

import math

from lmarvel.errors import Degenerate
from lmarvel.graph.bitsets import members
from lmarvel.score.district import LOG_2PI, Matrix, fit_piece, residual_variance
from lmarvel.score.rewrite import rewrite, split

Key = tuple[int, ...]


class DistrictScores:
    """Minus two log-likelihood per row of districts, from a correlation matrix.

    Parameters
    ----------
    correlation : array
        Correlation matrix of the data.
    n : int
        Rows. A district with its parents must be smaller; a larger one scores infinity, as a degenerate one does.

    Attributes
    ----------
    fits : int
        Districts that needed an iterative fit so far.
    converged : bool
        Whether all of these came to their end.

    Examples
    --------
    >>> import numpy as np
    >>> scores = DistrictScores(np.array([[1.0, 0.6], [0.6, 1.0]]), n=100)
    >>> separate = scores.of(0b01, [0, 0], [0, 0]) + scores.of(0b10, [0, 0], [0, 0])
    >>> round(scores.of(0b11, [0, 0], [0b10, 0b01]) - separate, 12) == round(math.log(1 - 0.6**2), 12)
    True
    """

    def __init__(self, correlation: Matrix, n: int) -> None:
        self.correlation = correlation
        self.n = n
        self.fits = 0
        self.converged = True
        self._single: dict[tuple[int, int], float] = {}
        self._pieces: dict[Key, float] = {}
        self._districts: dict[Key, float] = {}

    def of(self, district: int, parents: list[int], spouses: list[int]) -> float:
        """Return the score of a district, given as a bit set, in a graph."""
        if not district & (district - 1):
            v = district.bit_length() - 1
            return self._of_single(v, parents[v])
        nodes = list(members(district))
        key = (district, *(parents[v] for v in nodes), *(spouses[v] for v in nodes))
        known = self._districts.get(key)
        if known is None:
            known = self._districts[key] = self._of_district(nodes, parents, spouses)
        return known

    def _of_single(self, v: int, parents: int) -> float:
        known = self._single.get((v, parents))
        if known is None:
            try:
                variance = residual_variance(self.correlation, v, list(members(parents)))
                known = LOG_2PI + math.log(variance) + 1.0 if self.n > parents.bit_count() + 1 else math.inf
            except Degenerate:
                known = math.inf
            self._single[v, parents] = known
        return known

    def _of_district(self, nodes: list[int], parents: list[int], spouses: list[int]) -> float:
        size = 0
        for v in nodes:
            size |= parents[v] | 1 << v
        if self.n <= size.bit_count():
            return math.inf
        above, beside = {v: parents[v] for v in nodes}, {v: spouses[v] for v in nodes}
        rewrite(above, beside)
        return sum(self._of_piece(piece, above, beside) for piece in split(beside))

    def _of_piece(self, piece: list[int], parents: dict[int, int], spouses: dict[int, int]) -> float:
        if len(piece) == 1:
            return self._of_single(piece[0], parents[piece[0]])
        key = (*piece, -1, *(parents[v] for v in piece), *(spouses[v] for v in piece))
        known = self._pieces.get(key)
        if known is None:
            try:
                fit = fit_piece(self.correlation, piece, parents, spouses)
                known = fit.score
                self.converged &= fit.converged
            except Degenerate:
                known = math.inf
            self.fits += 1
            self._pieces[key] = known
        return known
