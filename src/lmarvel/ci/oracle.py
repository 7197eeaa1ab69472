"""The oracle: a conditional-independence test that knows the true graph.

It answers by m-separation, with p-value 1 for independence and 0 for dependence. The truth may be a DAG
with latent and selection variables, a MAG, an ADMG, or any ancestral mixed graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import CITestError, GraphError
from lmarvel.graph.bitsets import bits, members
from lmarvel.graph.kinds import ADMG
from lmarvel.graph.mixed import MixedGraph, Node
from lmarvel.graph.projection import split_roles
from lmarvel.graph.separation import m_separated, require_marks, total_boundary


class MSeparation:
    """Answer conditional-independence questions from a known graph.

    Parameters
    ----------
    graph : DAG, MAG, ADMG or MixedGraph
        The truth; it has no circles.
    latent, selection : iterable of str
        Nodes of the graph that are not observed, and nodes on which the sample was selected. The
        selection nodes are conditioned on in every answer.

    Examples
    --------
    >>> from lmarvel import DAG, MSeparation
    >>> oracle = MSeparation(DAG.from_edges("A --> S", "B --> S"), selection=["S"])
    >>> oracle.names
    ('A', 'B')
    >>> oracle.pvalue(0, 1, [])   # selection makes A and B dependent
    0.0
    """

    def __init__(self, graph: MixedGraph | ADMG, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> None:
        if isinstance(graph, ADMG):
            graph, added = graph.canonical_dag()
            latent = [*([latent] if isinstance(latent, str) else latent), *added]
        if not isinstance(graph, MixedGraph):
            raise GraphError(f"the oracle needs a graph (DAG, MAG, ADMG), not {type(graph).__name__}")
        require_marks(graph)
        self.graph = graph
        self._observed, _, self._selected = split_roles(graph, latent, selection)
        self.names = tuple(graph.names[v] for v in self._observed)

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return 1.0 if ``given`` (with the selection variables) m-separates x and y, else 0.0."""
        place = self._observed
        try:
            if min(x, y, *given) < 0:
                raise IndexError
            zs = bits(place[z] for z in given) | self._selected
            xs, ys = 1 << place[x], 1 << place[y]
        except (IndexError, ValueError):
            worst = next(v for v in (x, y, *given) if not 0 <= v < len(place))
            raise CITestError(f"the oracle has {len(place)} variables; no variable has position {worst}") from None
        return float(m_separated(self.graph, xs, ys, zs))

    def dependent_given_rest(self, alpha: float = 0.5) -> NDArray[np.bool_]:
        """Return which pairs are dependent given all other observed variables: the Markov boundaries."""
        n = len(self.names)
        place = {v: i for i, v in enumerate(self._observed)}
        seen = bits(self._observed)
        matrix = np.zeros((n, n), dtype=bool)
        for i, v in enumerate(self._observed):
            matrix[i, [place[w] for w in members(total_boundary(self.graph, v, seen, self._selected))]] = True
        return matrix

    def canonical_order(self) -> list[int]:
        """Return the variables as they are: what a perfect test shows does not depend on their order."""
        return list(range(len(self.names)))
