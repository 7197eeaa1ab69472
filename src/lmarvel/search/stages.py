"""What Lift does with graphs over the observed variables, readable and compiled: orders, climbs, maximal graphs.

The compiled twin (``engine/order_search.hpp``, ``engine/lifting.hpp``) takes each of these in one call, without
Python's lock: from a graph to the best one that its climb finds, with the graphs that were met on the way. It makes
the same steps in the same order, and keeps the scores of blocks from one climb to the next, as the readable one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from lmarvel.engine import load
from lmarvel.engine.run import CANCEL
from lmarvel.graph.kinds import maximal
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import AncestralGraph, Marks, direct_chordal
from lmarvel.search.lifting import Lifting, near_pairs
from lmarvel.search.limits import Limit, unlimited
from lmarvel.search.orders import FAMILY_ROUNDS, FAMILY_SWEEPS, MAX_SWEEPS, search_orders
from lmarvel.search.record import OutOfTime, Record
from lmarvel.search.regressions import gaussian_regressions
from lmarvel.search.scores import GaussianBlocks
from lmarvel.search.sweeper import Order

_compiled = load("_lifting")

See = Callable[[Order], None]


class Stages(Protocol):
    """What the search asks for."""

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""

    def directed(self, graph: AncestralGraph) -> AncestralGraph:
        """Return a graph of the same class in which chordal undirected components are directed."""

    def mag(self, graph: AncestralGraph) -> Marks:
        """Return the marks of the same graph, made maximal."""


class ReadableStages:
    """The stages in Python; orders keep within a limit, and their regressions may be compiled all the same."""

    def __init__(
        self,
        correlation: Matrix,
        n: int,
        price: float,
        record: Record,
        limit: Limit = unlimited,
        regressions: bool = False,
    ) -> None:
        self.correlation, self.n, self.price, self.record, self.limit = correlation, n, price, record, limit
        self.regressions = regressions
        self.scores = GaussianBlocks(correlation, n)

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return self.scores.converged

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search."""
        best = self.limit(gaussian_regressions(self.correlation, self.n, self.price, self.regressions))
        return search_orders(best, self.correlation, self.n, self.record.noise, self.record.check, see, more)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return Lifting(self.scores, self.correlation, self.price, self.record).score(graph)

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""
        return Lifting(self.scores, self.correlation, self.price, self.record, selection, latents).climb(graph)

    def directed(self, graph: AncestralGraph) -> AncestralGraph:
        """Return a graph of the same class in which chordal undirected components are directed."""
        return direct_chordal(graph)

    def mag(self, graph: AncestralGraph) -> Marks:
        """Return the marks of the same graph, made maximal."""
        names = tuple(f"X{v}" for v in range(len(graph)))
        return np.asarray(maximal(names, direct_chordal(graph).marks())[0].marks)


class CompiledStages:
    """The same, compiled."""

    def __init__(self, correlation: Matrix, n: int, price: float, record: Record) -> None:
        self.correlation, self.n, self.price, self.record = correlation, n, price, record
        self._precision: Matrix = np.asarray(np.linalg.inv(correlation), dtype=np.float64)
        self._engine = _compiled.Lifting(correlation, n, price, near_pairs(self._precision, n, price))

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return bool(self._engine.converged)

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search."""
        finished, settled, found = _compiled.search_orders(
            self.correlation,
            self._precision,
            self.n,
            self.price,
            self.record.noise,
            more,
            (MAX_SWEEPS, FAMILY_SWEEPS, FAMILY_ROUNDS),
            self.record.seconds(),
            CANCEL.get(),
        )
        for order in settled:
            see(Order(*order))
        if not finished:
            raise OutOfTime
        return Order(*found)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return float(self._engine.score(graph.parents, graph.spouses, graph.neighbors))

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""
        record = self.record
        finished, found, score, met = self._engine.climb(
            graph.parents,
            graph.spouses,
            graph.neighbors,
            record.noise,
            selection,
            latents,
            record.best,
            self.record.seconds(),
            CANCEL.get(),
        )
        record.see_edges(met)
        if not finished:
            raise OutOfTime
        return AncestralGraph.of_sets(*found), score

    def directed(self, graph: AncestralGraph) -> AncestralGraph:
        """Return a graph of the same class in which chordal undirected components are directed."""
        return AncestralGraph.of_sets(*self._engine.directed(graph.parents, graph.spouses, graph.neighbors))

    def mag(self, graph: AncestralGraph) -> Marks:
        """Return the marks of the same graph, made maximal."""
        found: Marks = self._engine.mag(graph.parents, graph.spouses, graph.neighbors)
        return found


def stages(
    correlation: Matrix, n: int, price: float, record: Record, compiled: bool = True, limit: Limit = unlimited
) -> Stages:
    """Return the stages of a table: compiled, where that was built, is allowed, and holds so many variables.

    Only the readable stages keep within a limit.

    Examples
    --------
    >>> R = np.eye(4) + 0.45 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> found = []
    >>> for compiled in (True, False):
    ...     steps = stages(R, 2000, 15.2, Record(), compiled)
    ...     dag = AncestralGraph.of_parents(steps.orders([], lambda order: None).parents)
    ...     found.append(steps.climb(dag, selection=True, latents=True)[0].marks())
    >>> bool((found[0] == found[1]).all())
    True
    """
    fits = _compiled is not None and len(correlation) <= _compiled.MAX_VARIABLES
    if compiled and fits and limit is unlimited:
        return CompiledStages(correlation, n, price, record)
    return ReadableStages(correlation, n, price, record, limit, compiled)
