"""Lift on tables in which a variable is several columns: the same search, over scores of groups of columns.

Orders (:mod:`lmarvel.search.orders`) and ancestral graphs (:mod:`lmarvel.search.lifting`) are searched in Python.
Hidden nodes are not looked for: a latent cause of a variable with levels would act on all its indicators at once, and
the models of ``engine/lift/hidden`` have no such node. Latent causes still show as <->, and selection as ---.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from lmarvel.data.moments import determining
from lmarvel.errors import DataError, DeterminedVariable, OutOfTime, ParameterError
from lmarvel.graph.kinds import maximal
from lmarvel.knowledge.closure import Known
from lmarvel.search.ancestral import AncestralGraph, Marks, direct_chordal, pag_of
from lmarvel.search.constants import LIFT
from lmarvel.search.kinds.grouped import (
    GroupedBlocks,
    GroupedLocal,
    Groups,
    given_rest,
    predictability,
    smallest_boundary_last,
    thin,
)
from lmarvel.search.kinds.spouses import PValue, by_tests
from lmarvel.search.lift import (
    LATE,
    Candidate,
    HiddenNode,
    LiftResult,
    Stage,
    checked_start,
    member_of,
    random_orders,
)
from lmarvel.search.lifting import Lifting, Pairs
from lmarvel.search.limits import Limits
from lmarvel.search.orders import Order, Regressions, forward, from_orders
from lmarvel.search.record import Progress, Record, edges_of_dag
from lmarvel.search.scores import minus_two_log_likelihood

See = Callable[[Order], None]


class Stages(Protocol):
    """What the search asks of a table."""

    price: float

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""


class LiftSearch:
    """The stages, and what each ended with. Its compiled twin, with hidden nodes, is ``engine/lift/lift.cpp``."""

    def __init__(
        self, stages: Stages, selection: bool, latents: bool, record: Record, limits: Limits | None = None
    ) -> None:
        self.stages, self.record, self.limits = stages, record, limits
        self.selection, self.latents = selection, latents
        self.more: list[list[int]] = []  # orders to begin with beside the fixed ones
        self.others: list[tuple[Stage, Marks]] = []  # MAGs that further stages begin with
        self.found: list[Candidate] = []
        self.ended: str | None = None

    def run(self, start: Marks | None) -> None:
        """Take all stages, as far as time allows; ``start`` is a MAG."""
        try:
            self._take(start)
        except OutOfTime:
            self.ended = LATE
            if start is not None and not self.found:  # no order was finished: the graph to start from is all there is
                graph = AncestralGraph.of_marks(start)
                self._keep(graph, self.stages.score(graph), "start")

    # --- the stages -------------------------------------------------------------------------------------

    def _take(self, start: Marks | None) -> Order:
        order = self._orders()
        self._lift(self._begun(order), "lift")
        if start is not None:
            self._from_start(AncestralGraph.of_marks(start), "start")
        for stage, marks in self.others:
            self._from_start(AncestralGraph.of_marks(marks), stage)
        return order

    def _orders(self) -> Order:
        self.record.report("order", 0, 1)
        met: list[Order] = []

        def see(order: Order) -> None:
            if self.limits is not None and not self.limits.fits(AncestralGraph.of_parents(order.parents)):
                return
            met.append(order)
            self.record.see_edges([(order.score, edges_of_dag(order.parents))])

        try:
            order = self.stages.orders(self.more, see)
        except OutOfTime:
            if met:
                best = min(met, key=lambda settled: settled.score)
                self._keep(AncestralGraph.of_parents(best.parents), best.score, "order")
            raise
        begun = self._begun(order)
        self._keep(begun, order.score if self.limits is None else self.stages.score(begun), "order")
        return order

    def _begun(self, order: Order) -> AncestralGraph:
        """Return the DAG of an order, changed where it breaks what is known."""
        graph = AncestralGraph.of_parents(order.parents)
        return graph if self.limits is None else self.limits.repaired(graph)

    def _lift(self, graph: AncestralGraph, stage: Stage) -> None:
        """Climb from a graph; where the answer needs selection, climb without it too, for comparison."""
        self.record.report("lift", len(self.found), 3)
        self._keep(*self.stages.climb(graph, self.selection, self.latents), stage)
        if self.found[-1].needs_selection:
            directed = direct_chordal(graph)
            if not directed.has_selection():
                self._keep(*self.stages.climb(directed, False, self.latents), stage)

    def _from_start(self, graph: AncestralGraph, stage: Stage) -> None:
        """Climb from a graph that was given, if it is allowed, and not far behind.

        In the limit it is the truth, and none is better. One that is many edges behind is not worth the time.
        """
        if any(graph.spouses) and not self.latents:
            return
        graph = direct_chordal(graph)
        if any(graph.neighbors) and not self.selection:
            return
        if self.limits is not None:
            graph = self.limits.repaired(graph)
        best = min(found.score for found in self.found)
        if self.stages.score(graph) < best + LIFT.far_behind * self.stages.price:
            self._lift(graph, stage)

    # --- answers ----------------------------------------------------------------------------------------

    def _keep(self, graph: AncestralGraph, score: float, stage: Stage) -> None:
        names = tuple(f"X{v}" for v in range(len(graph)))
        mag = np.asarray(maximal(names, direct_chordal(graph).marks())[0].marks)
        if not self.found or self._fits(mag):  # an edge that makes a graph maximal may be one too many
            self.found.append(Candidate(stage, score, mag, pag_of(mag, self.selection)))

    def _fits(self, mag: Marks) -> bool:
        return self.limits is None or self.limits.fits(AncestralGraph.of_marks(mag))

    def choose(self) -> tuple[Candidate, float]:
        """Return the answer, and by how much it is better than all that need no selection (0 if it needs none)."""
        margin, noise = LIFT.margin * self.stages.price, self.record.noise

        def pick(found: list[Candidate]) -> Candidate | None:
            best: Candidate | None = None
            for candidate in sorted(found, key=lambda f: f.used == "hidden"):
                step = margin if candidate.used == "hidden" and (best is None or best.used != "hidden") else noise
                if best is None or candidate.score < best.score - step:
                    best = candidate
            return best

        plain = pick([f for f in self.found if not f.needs_selection])
        selected = pick([f for f in self.found if f.needs_selection])
        if selected is None:
            assert plain is not None
            return plain, 0.0
        gain = math.inf if plain is None else plain.score - selected.score
        if plain is not None and gain < margin:
            return plain, 0.0
        return selected, gain

    def answer(self) -> tuple[Candidate, float, list[HiddenNode]]:
        """Return the answer, what selection gains, and the hidden nodes that the answer rests on."""
        return *self.choose(), []

    def learned(self, columns: Sequence[int], start: Marks | None, restarts: int, seed: int) -> LiftResult:
        """Search from the fixed orders, random ones and the marks that are given, which are in the caller's order."""
        self.more = random_orders(len(columns), restarts, seed)
        given = None if start is None else checked_start(start, len(columns))[np.ix_(columns, columns)]
        self.run(None if given is None else member_of(given))
        return self.result(columns)

    def result(self, columns: Sequence[int]) -> LiftResult:
        """Return the answer in the caller's order of columns; raise where there is none yet."""
        if not self.found:
            raise OutOfTime
        chosen, gain, hidden = self.answer()
        return LiftResult.of(columns, chosen, gain, hidden, self.record, self.found, self.ended, self.stages.converged)


class GroupedStages:
    """What Lift does with graphs, over groups of columns."""

    def __init__(self, groups: Groups, record: Record, allowed: Sequence[int] = ()) -> None:
        self.groups, self.record, self.allowed = groups, record, allowed
        self.price = groups.price
        self.scores = GroupedBlocks(groups)

    @property
    def converged(self) -> bool:
        """Whether all fits so far came to their end."""
        return self.scores.converged

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""
        groups, record = self.groups, self.record
        best = Regressions(GroupedLocal(groups), len(groups), self.allowed)
        predicted = np.argsort(predictability(groups), kind="stable").tolist()
        last = smallest_boundary_last(groups)
        starts = (last, forward(best, record.check), predicted, predicted[::-1], last[::-1], *more)
        return from_orders(best, starts, record.noise, record.check, see)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return minus_two_log_likelihood(self.scores, graph) + self.price * graph.n_edges

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph that steps over ancestral graphs lead to, and its score."""

        def thinned(nodes: list[int], joined: Pairs) -> Pairs:
            return thin(self.groups, nodes, joined)

        return Lifting(self.scores, self._near, thinned, self.price, self.record, selection, latents).climb(graph)

    @cached_property
    def _near(self) -> Pairs:
        return np.asarray(given_rest(self.groups) > self.groups.prices)


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
    pvalue: PValue | None = None,
    among: Collection[int] | None = None,
) -> LiftResult:
    """Learn a PAG by score from a table whose variables are groups of columns.

    With many rows what is not straight in indicators of categories earns edges that no test confirms.

    Parameters
    ----------
    groups : Groups
        The correlations of all columns, the columns of each variable, rows and penalty.
    selection, latents, start, restarts, seed, deadline, progress, known
        As for :func:`lmarvel.search.lift.lift`.
    pvalue : callable, optional
        A test (x, y, given) -> p-value, that may take edges away.
    among : collection of int, optional
        Variables with categories: edges in triangles without one of them stay.

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
    ordered = Groups(groups.correlation, tuple(groups.columns[v] for v in columns), groups.n, groups.penalty)
    record = Record(int(groups.n), deadline, progress)
    limits = None if known is None else Limits(known.moved(columns))
    stages = GroupedStages(ordered, record, () if limits is None else limits.allowed())
    search = LiftSearch(stages, selection, latents, record, limits)
    return by_tests(search.learned(columns, start, restarts, seed), pvalue, selection, latents, known, record, among)


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
            others = determining(groups.correlation[np.ix_(determined, determined)], len(determined) - 1)
            owners = [u for u in range(v + 1) for _ in groups.columns[u]]
            raise DeterminedVariable(v, sorted({owners[c] for c in others} - {v}))


def _pivots(R: np.ndarray) -> np.ndarray:
    """Return the variance that is left of each column given those before it."""
    try:
        return np.asarray(np.linalg.cholesky(R).diagonal() ** 2)
    except np.linalg.LinAlgError:
        return np.zeros(len(R))
