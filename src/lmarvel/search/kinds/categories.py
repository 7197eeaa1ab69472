"""Scores of tables of categories: the chance of the counts themselves, no numbers in place of values.

The local score of a variable given parents is that of Buntine and of Heckerman, Geiger & Chickering (BDeu): with equal
prior chances for all configurations z of the parents (q of them) and all values of the variable (r of them), and an
equivalent sample of one row, a = 1/q, b = a/r,

    log P = sum over z of [lgamma(a) - lgamma(a + N_z) + sum over values of (lgamma(b + N_zv) - lgamma(b))].

It pays for parameters by itself: a table of many cells that hold few rows has a small chance. What a search asks beyond
that (see :mod:`lmarvel.search.scores`) it asks once per edge.

Orders are searched as for numbers (:mod:`lmarvel.search.orders`). There is no likelihood of this kind for a graph with
bidirected or undirected edges, so the answer is the PAG of the best DAG: what it says holds whether there are hidden
causes or not, but a hidden common cause shows as an edge with circles, or as an edge too many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.deferred import late
from lmarvel.errors import DataError
from lmarvel.graph.bitsets import members
from lmarvel.knowledge.closure import Known
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.kinds.grouped_lift import LiftSearch
from lmarvel.search.lift import LiftResult
from lmarvel.search.limits import Limits
from lmarvel.search.orders import Order, Regressions, forward, from_orders
from lmarvel.search.record import Progress, Record

special = late("scipy.special")

Codes = NDArray[np.int64]
_ROWS_TO_CELLS = 4  # configurations of parents per row beyond which those without rows are left out
_KEPT = 4_000  # configurations of parents that are remembered, one number per row each


@dataclass(frozen=True)
class Categories:
    """The categories of each variable, by row.

    Parameters
    ----------
    codes : array of shape (rows, variables)
        The category of each variable in each row, counted from 0.
    penalty : float
        As for numbers. The score asks as much by itself as 2 does there; what goes beyond is asked per edge.
    weights : array, optional
        How much each row counts.

    Examples
    --------
    >>> table = Categories(np.array([[0, 0], [0, 1], [1, 1], [1, 2]]), penalty=2.5)
    >>> table.sizes.tolist(), round(table.price / math.log(4), 3)
    ([2, 3], 0.5)
    """

    codes: Codes
    penalty: float = 2.0
    weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.codes)

    @cached_property
    def sizes(self) -> Codes:
        """How many categories each variable has."""
        return np.asarray(self.codes.max(axis=0) + 1, dtype=np.int64)

    @property
    def price(self) -> float:
        """What an edge costs beyond the score."""
        return max(self.penalty - 2.0, 0.0) * math.log(self.n)

    def taken(self, columns: Sequence[int]) -> Categories:
        """Return the same with its variables in another order."""
        return replace(self, codes=np.ascontiguousarray(self.codes[:, list(columns)]))


class CategoricalLocal:
    """Local scores of categories given categories, for the order search; every score is computed once.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, 200)
    >>> local = CategoricalLocal(Categories(np.column_stack([a, a ^ (rng.random(200) < 0.1)]), 2.0))
    >>> local.value(1, 0b01) < local.value(1, 0b00), local.additions(1, 0)[1]
    (True, [1])
    """

    def __init__(self, table: Categories) -> None:
        self.table, self.price = table, table.price
        self._columns = [np.ascontiguousarray(column) for column in table.codes.T]
        self._sizes: list[int] = table.sizes.tolist()
        self._values: dict[tuple[int, int], float] = {}
        self._configured: dict[int, tuple[Codes, int]] = {}

    def value(self, v: int, parents: int) -> float:
        """Return minus two log of the chance of the counts of v given parents."""
        known = self._values.get((v, parents))
        if known is None:
            known = self._values[v, parents] = self._scored(v, *self._configurations(parents), self._cells(parents))
        return known

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""
        now = self.value(v, parents)
        rows, count = self._configurations(parents)
        gains = []
        for u in range(len(self._columns)):
            bit = 1 << u
            if u == v or parents & bit:
                continue
            value = self._values.get((v, parents | bit))
            if value is None:
                joint = self._joined(rows, count, u)
                value = self._values[v, parents | bit] = self._scored(v, *joint, self._cells(parents | bit))
            if now - value - self.price > 1e-9:
                gains.append((value, u))
        return now, [1 << u for _, u in sorted(gains)]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""
        full, best, chosen = self.value(v, parents), -1e-9, 0
        for u in members(parents):
            change = self.value(v, parents & ~(1 << u)) - full - self.price
            if change < best:
                best, chosen = change, 1 << u
        return chosen

    def _cells(self, parents: int) -> int:
        return math.prod(self._sizes[u] for u in members(parents))

    def _configurations(self, parents: int) -> tuple[Codes, int]:
        """Return for each row the number of the configuration of its parents, and how many numbers there are."""
        if not parents:
            return np.zeros(self.table.n, dtype=np.int64), 1
        known = self._configured.get(parents)
        if known is None:
            u = parents.bit_length() - 1
            known = self._joined(*self._configurations(parents & ~(1 << u)), u)
            if len(self._configured) >= _KEPT:
                self._configured.clear()
            self._configured[parents] = known
        return known

    def _joined(self, rows: Codes, count: int, u: int) -> tuple[Codes, int]:
        joint, cells = rows * self._sizes[u] + self._columns[u], count * self._sizes[u]
        if cells > _ROWS_TO_CELLS * self.table.n:  # most have no row
            found, joint = np.unique(joint, return_inverse=True)
            joint, cells = joint.reshape(-1), len(found)
        return joint, cells

    def _scored(self, v: int, rows: Codes, count: int, cells: int) -> float:
        r = self._sizes[v]
        cell, weights = rows * r + self._columns[v], self.table.weights
        counts = np.bincount(cell, weights, minlength=count * r).reshape(count, r)
        totals = counts.sum(axis=1)
        held = totals > 0
        a = 1.0 / cells
        gammaln = special.gammaln
        chance = float(np.sum(gammaln(a) - gammaln(a + totals[held])))
        chance += float(np.sum(gammaln(a / r + counts[held]) - gammaln(a / r)))
        return -2.0 * chance


class CategoricalStages:
    """What Lift does with graphs over categories: orders, and nothing beyond DAGs."""

    converged = True

    def __init__(self, table: Categories, record: Record, allowed: Sequence[int] = ()) -> None:
        self.local, self.record, self.allowed = CategoricalLocal(table), record, allowed
        self.price, self.size = table.price, len(table)

    def orders(self, more: Sequence[Sequence[int]], see: Callable[[Order], None]) -> Order:
        """Return the best DAG of the order search; ``see`` is called with what each start led to."""
        best = Regressions(self.local, self.size, self.allowed)
        as_is = list(range(self.size))
        starts = (forward(best, self.record.check), as_is, as_is[::-1], *more)
        return from_orders(best, starts, self.record.noise, self.record.check, see)

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a DAG; infinite where an edge is none of a DAG's."""
        if any(graph.spouses) or any(graph.neighbors):
            return math.inf
        values = (self.local.value(v, parents) for v, parents in enumerate(graph.parents))
        return sum(values) + self.price * graph.n_edges

    def climb(self, graph: AncestralGraph, selection: bool, latents: bool) -> tuple[AncestralGraph, float]:
        """Return the graph itself: beyond DAGs there is no score."""
        return graph, self.score(graph)


def lift_categories(
    table: Categories,
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
    """Learn a PAG by score from a table of categories.

    Parameters
    ----------
    table : Categories
        The categories by row, and the penalty.
    selection, latents, start, restarts, seed, deadline, progress, known
        As for :func:`lmarvel.search.lift.lift`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 1000))
    >>> c = (a | b) ^ (rng.random(1000) < 0.1)
    >>> lift_categories(Categories(np.column_stack([a, b, c]))).pag.tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    if table.n < 2 or (table.sizes < 2).any():
        raise DataError("a score of categories needs two rows at least, and two categories per variable")
    columns = canonical_order(table)
    record = Record(table.n, deadline, progress)
    limits = None if known is None else Limits(known.moved(columns))
    stages = CategoricalStages(table.taken(columns), record, () if limits is None else limits.allowed())
    search = LiftSearch(stages, selection, latents, record, limits)
    return search.learned(columns, start, restarts, seed)


def canonical_order(table: Categories) -> list[int]:
    """Return an order of the variables that depends on their content: by how evenly each is spread."""
    keys = []
    for v, column in enumerate(table.codes.T):
        shares = np.sort(np.bincount(column, table.weights))[::-1]
        keys.append((*(float(f"{share:.8e}") for share in shares), v))
    return sorted(range(len(table)), key=keys.__getitem__)
