"""How far the graphs that a search met agree on a mark.

The best graph is rarely much better than the next ones, and a mark that all graphs within some units of the score share
is more likely right than one on which they differ. So the support of a mark is told as a distance: *how much worse is
the best graph that was met and has another mark there?* Markov equivalent graphs have the same PAG and score, so it is
PAGs that are compared.

A search meets what lies on its way, not all graphs, so the figure is an upper bound, and an infinite one says only
that no graph within its reach had another mark. :mod:`lmarvel.search.evidence` looks at neighbours of the chosen graph
too; the tests hold its figures against these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import Marks, pag_of


def support(pag: Marks, score: float, seen: Iterable[tuple[float, Marks]]) -> Matrix:
    """Return for each mark of a PAG how much worse the best graph with another mark there is.

    Parameters
    ----------
    pag : array
        The marks of the PAG; ``pag[i, j]`` is the mark at j.
    score : float
        Its score.
    seen : iterable of (score, marks)
        Scores and PAGs that were met, see :func:`pags_of`.

    Examples
    --------
    >>> apart, joined = np.zeros((2, 2), np.int8), np.array([[0, 1], [1, 0]], np.int8)
    >>> support(joined, 10.0, [(10.0, joined), (14.5, apart)]).tolist()
    [[inf, 4.5], [4.5, inf]]
    """
    found = np.full(pag.shape, math.inf)
    for other, marks in seen:
        differs = marks != pag
        found[differs] = np.minimum(found[differs], max(other - score, 0.0))
    return found


def pags_of(seen: Iterable[tuple[float, Marks]], selection: bool = True) -> list[tuple[float, Marks]]:
    """Return the distinct PAGs of maximal ancestral graphs, each with its best score, best first.

    Examples
    --------
    >>> forth, back = np.array([[0, 2], [3, 0]], np.int8), np.array([[0, 3], [2, 0]], np.int8)
    >>> [(score, marks.tolist()) for score, marks in pags_of([(3.0, forth), (3.0, back)])]
    [(3.0, [[0, 1], [1, 0]])]
    """
    best: dict[bytes, tuple[float, Marks]] = {}
    for score, marks in seen:
        pag = pag_of(marks, selection)
        known = best.get(pag.tobytes())
        if known is None or score < known[0]:
            best[pag.tobytes()] = score, pag
    return sorted(best.values(), key=lambda found: found[0])
