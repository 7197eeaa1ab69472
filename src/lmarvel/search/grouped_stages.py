"""Lift on tables in which a variable is several columns: the same search, over scores of groups of columns.

Orders and ancestral graphs are searched as in :mod:`lmarvel.search.stages`, in Python. Hidden nodes are not looked for:
a latent cause of a variable with levels would act on all its indicators at once, and the model of
:mod:`lmarvel.search.hidden_model` has no such node. Latent causes still show as <->, and selection as ---.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lmarvel.errors import DataError, ParameterError
from lmarvel.graph.kinds import maximal
from lmarvel.graph.paths import members
from lmarvel.knowledge.known import Known
from lmarvel.search.ancestral import NO_EDGE, AncestralGraph, Marks, direct_chordal
from lmarvel.search.grouped import (
    GroupedBlocks,
    GroupedLocal,
    Groups,
    given_rest,
    predictability,
    smallest_boundary_last,
    thin,
)
from lmarvel.search.inputs import checked_start
from lmarvel.search.lift import LiftResult, LiftSearch
from lmarvel.search.lifting import Lifting
from lmarvel.search.limits import Limit, Limits, unlimited
from lmarvel.search.orders import forward, from_orders
from lmarvel.search.record import Progress, Record
from lmarvel.search.regressions import Regressions
from lmarvel.search.stages import See
from lmarvel.search.sweeper import Order


class GroupedLifting(Lifting):
    """The search over ancestral graphs whose variables are groups of columns."""

    def __init__(
        self, groups: Groups, scores: GroupedBlocks, record: Record, selection: bool = True, latents: bool = True
    ) -> None:
        self.groups = groups
        self.scores = scores
        self.price = groups.price
        self.record = record
        self.selection = selection
        self.latents = latents
        self._thinned = {}
        self._near = given_rest(groups) > groups.prices

    def _thin(self, graph: AncestralGraph, nodes: int) -> None:
        """Take the undirected edges among nodes off that are not worth their price."""
        order = list(members(nodes))
        joined = np.array([[bool(graph.neighbors[v] >> u & 1) for u in order] for v in order])
        key = nodes, joined.tobytes()
        if key not in self._thinned:
            self._thinned[key] = thin(self.groups, order, joined)
        for i, j in np.argwhere(np.triu(joined & ~self._thinned[key])).tolist():
            graph.set_edge(order[i], order[j], NO_EDGE)


class GroupedStages:
    """What Lift does with graphs, over groups of columns."""

    def __init__(self, groups: Groups, record: Record, limit: Limit = unlimited) -> None:
        self.groups, self.record, self.limit = groups, record, limit
        self.scores = GroupedBlocks(groups)

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return self.scores.converged

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""
        groups, record = self.groups, self.record
        best = self.limit(Regressions(GroupedLocal(groups), len(groups)))
        predicted = np.argsort(predictability(groups), kind="stable").tolist()
        last = smallest_boundary_last(groups)
        starts = (last, forward(best, record.check), predicted, predicted[::-1], last[::-1], *more)
        return from_orders(best, starts, record.noise, record.check, see)

    def _lifting(self, selection: bool = True, latents: bool = True) -> GroupedLifting:
        return GroupedLifting(self.groups, self.scores, self.record, selection, latents)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return self._lifting().score(graph)

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""
        return self._lifting(selection, latents).climb(graph)

    def directed(self, graph: AncestralGraph) -> AncestralGraph:
        """Return a graph of the same class in which chordal undirected components are directed."""
        return direct_chordal(graph)

    def mag(self, graph: AncestralGraph) -> Marks:
        """Return the marks of the same graph, made maximal."""
        names = tuple(f"X{v}" for v in range(len(graph)))
        return np.asarray(maximal(names, direct_chordal(graph).marks())[0].marks)


def lift_groups(
    groups: Groups,
    *,
    selection: bool = True,
    latents: bool = True,
    start: Marks | None = None,
    restarts: int = 0,
    seed: int = 0,
    deadline: float = math.inf,
    progress: Progress | None = None,
    known: Known | None = None,
) -> LiftResult:
    """Learn a PAG by score from a table whose variables are groups of columns.

    Parameters
    ----------
    groups : Groups
        The correlations of all columns, the columns of each variable, rows and penalty.
    selection, latents, start, restarts, seed, deadline, progress, known
        As for :func:`lmarvel.search.lift.lift`.

    Examples
    --------
    >>> R = np.eye(5)
    >>> R[[0, 1], 2] = R[2, [0, 1]] = 0.5                       # 0 and 1 are causes of a variable of two columns
    >>> R[1, 3] = R[3, 1] = R[2, 3] = R[3, 2] = 0.3
    >>> found = lift_groups(Groups(R, ((0,), (1,), (2, 3), (4,)), n=500, penalty=2.0))
    >>> found.pag.tolist()
    [[0, 0, 2, 0], [0, 0, 2, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    """
    _check(groups)
    columns = canonical_order(groups)
    back = np.argsort(columns)
    ordered = Groups(groups.correlation, tuple(groups.columns[v] for v in columns), groups.n, groups.penalty)
    record = Record(int(groups.n), deadline, progress)
    limits = None if known is None else Limits(known.moved(columns))
    stages = GroupedStages(ordered, record, unlimited if limits is None else limits.families)
    search = LiftSearch(stages, int(groups.n), groups.penalty, selection, latents, record)
    search.limits = limits
    rng = np.random.default_rng(seed)
    search.more = [rng.permutation(len(groups)).tolist() for _ in range(restarts)]
    search.run(None if start is None else checked_start(start, len(groups))[np.ix_(columns, columns)])
    return search.result(back)


def canonical_order(groups: Groups) -> list[int]:
    """Return an order of the variables that depends on their content: by how well others predict each."""
    rounded = [float(f"{value:.8e}") for value in predictability(groups)]
    return sorted(range(len(groups)), key=lambda v: (rounded[v], v))


def _check(groups: Groups) -> None:
    """Refuse what no graph can be scored on."""
    q = len(groups.correlation)
    if not groups.penalty > 0:
        raise ParameterError(f"penalty must be above 0, not {groups.penalty!r}; 2 is a usual choice")
    if groups.n <= q + 1:
        raise DataError(f"{groups.n:g} rows are too few for {q} columns: a score needs at least {q + 2} rows")
    for v in range(len(groups)):
        determined = [c for u in range(v + 1) for c in groups.columns[u]]
        pivots = _pivots(groups.correlation[np.ix_(determined, determined)])
        if (pivots[-len(groups.columns[v]) :] < 1e-10).any():
            raise DataError(f"the variable number {v} is determined by those before it: drop one of them")


def _pivots(R: np.ndarray) -> np.ndarray:
    """Return the variance that is left of each column given those before it."""
    try:
        return np.asarray(np.linalg.cholesky(R).diagonal() ** 2)
    except np.linalg.LinAlgError:
        return np.zeros(len(R))
