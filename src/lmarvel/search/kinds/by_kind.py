"""Lift by scores that know the kinds of columns: orders are searched, and tests look for hidden causes in the best DAG.

There is no likelihood of this kind for graphs with bidirected or undirected edges. What a hidden common cause adds to
the DAG is taken away by tests (:mod:`lmarvel.search.kinds.spouses`); selection is not looked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lmarvel.ci.glm.kinds import KindTable
from lmarvel.engine.run import CANCEL
from lmarvel.errors import DataError, OutOfTime
from lmarvel.graph.bitsets import bits, members
from lmarvel.knowledge.closure import Known
from lmarvel.search.ancestral import BACK, FORTH, NO_EDGE, AncestralGraph, Marks
from lmarvel.search.constants import LIFT
from lmarvel.search.kinds.cells import CellTable
from lmarvel.search.kinds.grouped_lift import LiftSearch, See
from lmarvel.search.kinds.spouses import PValue, by_tests
from lmarvel.search.lift import LiftResult, checked_start
from lmarvel.search.limits import Limits
from lmarvel.search.orders import Order, Regressions, forward, from_orders
from lmarvel.search.record import Progress, Record

MOST_CLIMBED = 30  # variables of a graph that is climbed from, where statements cost it edges


class KindStages:
    """What Lift does with graphs over columns of all kinds: orders, and nothing beyond DAGs."""

    converged = True

    def __init__(self, table: KindTable, record: Record, progress: Progress | None, limits: Limits | None) -> None:
        self.table, self.record, self.progress, self.limits = table, record, progress, limits
        self.local, self.price = table.scores(), table.prices["edge"]

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""
        late, met = self.local.search(
            self.record.noise,
            LIFT.max_sweeps,
            LIFT.family_rounds,
            LIFT.family_sweeps,
            LIFT.family_hope,
            more=more,
            limits=None if self.limits is None else self.limits.parts(),
            seconds=self.record.seconds(),
            progress=self.progress,
            cancel=CANCEL.get(),
        )
        found = [Order([], [bits(parents) for parents in dag], score) for score, dag in met]
        for order in found if late else found[:-1]:
            see(order)
        if late:
            raise OutOfTime
        return found[-1]

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a DAG; infinite where an edge is none of a DAG's."""
        if any(graph.spouses) or any(graph.neighbors):
            return math.inf
        values = (self._value(v, parents) for v, parents in enumerate(graph.parents))
        return float(sum(values) + self.price * graph.n_edges)

    def _value(self, v: int, parents: int) -> float:
        return float(self.local.value(v, list(members(parents)))[0])

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the best DAG of its class, as far as turning edges leads; one that a statement cost edges gets others.

        Beyond DAGs there is no score.
        """
        score = self.score(graph)
        if not math.isfinite(score):
            return graph, score
        graph = graph.copy()
        if self.limits is None:
            return graph, score - (0.0 if self.table.counted else self._turn(graph))
        if len(graph) > MOST_CLIMBED:
            return graph, score
        while (move := self._best_move(graph)) is not None:
            gain, x, y, kind = move
            graph.apply(x, y, kind)
            score -= gain
        return graph, score

    def _turn(self, graph: AncestralGraph) -> float:
        """Turn edges whose ends have the same other parents while that improves the score; return by how much.

        Such turns lead from each DAG of a class to every other one. By counts all of these score the same.
        """
        gained, turned = 0.0, True
        while turned:
            turned = False
            for y in range(len(graph)):
                self.record.check()
                for x in members(graph.parents[y]):
                    if graph.parents[y] != graph.parents[x] | 1 << x:
                        continue
                    gain = self._gain(graph, x, y, FORTH, BACK)
                    if gain > self.record.noise:
                        graph.apply(x, y, BACK)
                        gained, turned = gained + gain, True
        return gained

    def _best_move(self, graph: AncestralGraph) -> tuple[float, int, int, int] | None:
        """Return the legal change of one edge that improves the score most, if one does."""
        best: tuple[float, int, int, int] | None = None
        for x in range(len(graph)):
            self.record.check()
            for y in range(x + 1, len(graph)):
                now = graph.edge(x, y)
                for kind in (NO_EDGE, FORTH, BACK):
                    gain = self._gain(graph, x, y, now, kind) if kind != now else 0.0
                    better = gain > max(self.record.noise, 0.0 if best is None else best[0])
                    if better and graph.is_legal(x, y, kind):
                        best = gain, x, y, kind
        return best

    def _gain(self, graph: AncestralGraph, x: int, y: int, now: int, kind: int) -> float:
        gain = self.price * ((now != NO_EDGE) - (kind != NO_EDGE))
        for child, parent, there in ((y, x, FORTH), (x, y, BACK)):
            if (now == there) != (kind == there):
                parents = graph.parents[child]
                gain += self._value(child, parents) - self._value(child, parents ^ 1 << parent)
        return gain


class CellStages(KindStages):
    """The same by the scores of cells, whose orders are searched in Python."""

    def __init__(self, table: KindTable, record: Record, progress: Progress | None, limits: Limits | None) -> None:
        super().__init__(table, record, progress, limits)
        self.price, self.local.check = self.local.price, record.check

    def orders(self, more: Sequence[Sequence[int]], see: See) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""
        record = self.record
        best = Regressions(self.local, len(self.table), () if self.limits is None else self.limits.allowed())
        given = list(range(len(self.table)))
        return from_orders(best, (forward(best, record.check), given, *more), record.noise, record.check, see)

    def _value(self, v: int, parents: int) -> float:
        return float(self.local.value(v, parents))


def lift_kinds(
    table: KindTable,
    *,
    selection: bool = True,
    latents: bool = True,
    start: Marks | None = None,
    restarts: int = 0,
    seed: int = 0,
    deadline: float = math.inf,
    progress: Progress | None = None,
    known: Known | None = None,
    lines: Marks | None = None,
    pvalue: PValue | None = None,
) -> LiftResult:
    """Learn a PAG by score from columns of all kinds.

    Parameters
    ----------
    table : KindTable
        The columns, and the penalty.
    selection, latents, start, restarts, seed, deadline, progress, known
        As for :func:`lmarvel.search.lift.lift`.
    lines : array, optional
        Marks of the best DAG by correlations: another graph to start from.
    pvalue : callable, optional
        A test (x, y, given) -> p-value, that may take edges away which a hidden cause added.

    Examples
    --------
    >>> from lmarvel.ci.glm.kinds import kind_table
    >>> from lmarvel.data.dataset import Dataset
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> data = Dataset.of({"a": a, "b": b, "c": np.sin(2 * a) + b + 0.5 * rng.normal(size=1000)})
    >>> lift_kinds(kind_table(data, data.names, 2.0)).pag.tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    if table.rows < 2:
        raise DataError("a score needs two rows at least")
    columns = canonical_order(table)
    record = Record(table.rows, deadline, progress)
    limits = None if known is None else Limits(known.moved(columns))
    kind = CellStages if isinstance(table, CellTable) else KindStages
    search = LiftSearch(kind(table.taken(columns), record, progress, limits), selection, latents, record, limits)
    if lines is not None:
        search.others.append(("lines", checked_start(lines, len(table))[np.ix_(columns, columns)]))
    return by_tests(search.learned(columns, start, restarts, seed), pvalue, selection, latents, known, record)


def canonical_order(table: KindTable) -> list[int]:
    """Return an order of the variables that depends on their content alone: categories by how evenly each is spread."""
    share = np.full(table.basis.shape[1], 1.0) if table.weights is None else table.weights
    keys = []
    for v in range(len(table)):
        columns = table.basis[table.starts[v] : table.starts[v + 1]]
        if table.categories[v]:
            content = sorted(map(float, columns @ share), reverse=True)
        else:
            content = [float(share @ columns[0] ** 3), float(share @ abs(columns[0]))]
        keys.append((int(table.categories[v]), *(float(f"{value:.8e}") for value in content), v))
    return sorted(range(len(table)), key=keys.__getitem__)
