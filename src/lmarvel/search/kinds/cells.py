"""Scores of numbers and categories that depend on combinations of others: on cells, in which several categories meet.

With indicators of categories, as :mod:`lmarvel.search.kinds.grouped` has them, effects add up. In a table where a drug
helps women and harms men, or where what a dose does to one category depends on another, additive effects miss edges.
Here the value of a variable given parents is that of the model, out of three, which explains most once its parameters
are paid with log n each:

* *means*: numbers have a mean in each cell of the categories, and the same covariance in all cells. So the lines of a
  number are parallel, and categories depend on numbers as in discriminant analysis;
* *thirds*: numbers count as low, middle and high, and all is the length of the code of counts, as for categories alone;
* *sums*: a number is a sum of lines and of effects of categories, by least squares. Of a category such a sum would not
  be a likelihood.

The first two are functions of sets, of which the value is a difference: explained by the parents and the variable
together, less explained by the parents. Within one model, all DAGs of a class have the same score.

A search that takes the best model of each *set* would not do: the sets of a family would then have different models,
and what one of them misses would look like an edge. A family has one model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.ci.glm.basis import GlmTable
from lmarvel.ci.glm.fits import GlmFits
from lmarvel.ci.glm.kinds import KindTable, kind_table
from lmarvel.ci.glm.looks import FEWEST_ROWS, MOST_NUMBERS, MOST_ROWS
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.graph.bitsets import bits, members
from lmarvel.search.orders import Check, Regressions, forward, nothing, settle

THIRDS = 3
_ROWS_A_CELL = 3  # on average, where each cell has means
_REMEMBERED = 200  # sets whose cells are kept, row by row
_NEAR_SINGULAR = 1e-9
_FEW_NUMBERS = 1 / 6  # of the columns
_MORE, _LEAST = 0.03, 30.0  # of what is explained: so much is missed by sums where combinations matter


class CellTable(KindTable):
    """The same columns, scored by cells."""

    def scores(self) -> CellScores:
        """Return the local scores of this table."""
        return CellScores(self)


def cell_table(data: Dataset, names: Sequence[str], penalty: float, every: int = 1) -> CellTable:
    """Make the columns of a table without gaps, its variables in the order of some names; take every so many-th row."""
    made = kind_table(data, names, penalty, bends=0, products=False, every=every)
    return CellTable(**{field.name: getattr(made, field.name) for field in fields(made)})


class _Cells(NamedTuple):
    """The cells of some categories: how many hold rows, and the covariance of numbers within them."""

    number: int
    within: NDArray[np.float64]


class CellScores:
    """Local scores for the order search.

    Examples
    --------
    A number that depends on two categories by their combination alone:

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 1000))
    >>> labels = np.array(["no", "yes"])
    >>> data = Dataset.of({"a": labels[a], "b": labels[b], "c": (a != b) + rng.normal(size=1000)})
    >>> local = cell_table(data, data.names, 2.0).scores()
    >>> local.value(2, 0b00) - local.value(2, 0b01) < 0 < local.value(2, 0b00) - local.value(2, 0b11)
    True
    """

    def __init__(self, table: KindTable) -> None:
        self.table, self.n = table, float(table.rows)
        self.check: Check = nothing  # called often, to raise where time is up
        self._log = math.log(self.n)
        self.price = (table.penalty - 1.0) * self._log  # an edge; values pay for its parameters
        p, rows = len(table), table.basis.shape[1]
        self._weights = np.full(rows, self.n / rows) if table.weights is None else table.weights
        self._columns = [list(range(table.starts[v], table.starts[v + 1])) for v in range(p)]
        self._numbers = [v for v in range(p) if table.categories[v] == 0]
        self._place = {v: i for i, v in enumerate(self._numbers)}
        self._levelled = bits(v for v in range(p) if table.categories[v] > 0)
        lines = table.basis[[self._columns[v][0] for v in self._numbers]]
        lines = lines - (lines @ self._weights / self.n)[:, None]
        self._lines = lines / np.sqrt(lines**2 @ self._weights / self.n)[:, None]
        self._correlation = self._correlations()
        self._codes, self._sizes = self._counted()
        self._keys: dict[int, NDArray[np.int64]] = {0: np.zeros(rows, dtype=np.int64)}
        self._cells: dict[int, _Cells] = {}
        self._explained: dict[int, tuple[float, float]] = {0: (0.0, 0.0)}
        self._known: dict[tuple[int, int], float] = {}
        self._alone = [self._code(1 << v) for v in range(p)]

    def _correlations(self) -> NDArray[np.float64]:
        basis = self.table.basis - (self.table.basis @ self._weights / self.n)[:, None]
        spread = np.sqrt(np.maximum(basis**2 @ self._weights, 1e-300))
        return np.asarray((basis * self._weights) @ basis.T / np.outer(spread, spread))

    def _counted(self) -> tuple[list[NDArray[np.int64]], list[int]]:
        """Return categories as they are, numbers as low, middle and high, and how many of them there are.

        Rows with the same number are in the same third, that of the middle of their ranks.
        """
        codes = [row.astype(np.int64) for row in self.table.codes[: len(self.table)]]
        for v in self._numbers:
            tied = np.unique(self.table.basis[self._columns[v][0]], return_inverse=True)[1].reshape(-1)
            rows = np.bincount(tied, self._weights)
            middle = (np.cumsum(rows) - rows / 2) / rows.sum()
            codes[v] = np.minimum((THIRDS * middle).astype(np.int64), THIRDS - 1)[tied]
        return codes, [int(column.max()) + 1 for column in codes]

    # --- what the order search asks -------------------------------------------------------------------------

    def value(self, v: int, parents: int) -> float:
        """Return minus what the best model of v given parents explains, its parameters paid."""
        known = self._known.get((v, parents))
        if known is None:
            known = self._known[v, parents] = min(self._values(v, parents), default=math.inf)
        return known

    def _values(self, v: int, parents: int) -> list[float]:
        """Return the values by thirds, by means and, of a number, by sums; without models that rows are too few for."""
        before, after = self._told(parents), self._told(parents | 1 << v)
        found = [one - two for one, two in zip(before, after, strict=True) if two > -math.inf]
        return found if self._levelled >> v & 1 else [*found, self._of_sum(v, parents)]

    def explained(self, v: int, parents: int) -> float:
        """Return what is explained by models that are likelihoods of v given parents; -inf where there is none.

        Means are none of a category: where the parents alone are not Gaussian, what that costs is saved with v.
        """
        if not self._levelled >> v & 1:
            return -min(self._values(v, parents))
        by_thirds = self._told(parents | 1 << v)[0]
        return by_thirds - self._told(parents)[0] if by_thirds > -math.inf else -math.inf

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""
        self.check()
        now, found = self.value(v, parents), []
        for u in range(len(self.table)):
            if u != v and not parents >> u & 1:
                gain = now - self.value(v, parents | 1 << u) - self.price
                if gain > 1e-9:
                    found.append((-gain, u))
        return now, [1 << u for _, u in sorted(found)]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""
        full, best, chosen = self.value(v, parents), -1e-9, 0
        for u in members(parents):
            change = self.value(v, parents & ~(1 << u)) - full - self.price
            if change < best:
                best, chosen = change, 1 << u
        return chosen

    # --- the three models -----------------------------------------------------------------------------------

    def _told(self, chosen: int) -> tuple[float, float]:
        """Return what thirds and means explain of some variables beyond each alone; -inf where rows are too few."""
        known = self._explained.get(chosen)
        if known is None:
            known = self._by_thirds(chosen), self._by_means(chosen)
            self._explained[chosen] = known
        return known

    def _by_means(self, chosen: int) -> float:
        levelled = chosen & self._levelled
        at = [self._place[v] for v in members(chosen & ~self._levelled)]
        explained = self._by_thirds(levelled)  # of categories alone
        if not at:
            return explained
        cells, m = self._cells_of(levelled), len(at)
        if cells.number * _ROWS_A_CELL > self.n:
            return -math.inf
        spread = self.n * _log_det(cells.within[np.ix_(at, at)])
        return explained - spread - self._log * ((cells.number - 2) * m + m * (m + 1) / 2)

    def _by_thirds(self, chosen: int) -> float:
        sizes = [self._sizes[v] for v in members(chosen)]
        if math.prod(sizes) >= self.n and chosen & ~self._levelled:
            return -math.inf
        return sum(self._alone[v] for v in members(chosen)) - self._code(chosen)

    def _of_sum(self, v: int, parents: int) -> float:
        columns = [c for u in members(parents) for c in self._columns[u]]
        at = [*columns, self._columns[v][0]]
        try:
            left = np.linalg.cholesky(self._correlation[np.ix_(at, at)])[-1, -1] ** 2
        except np.linalg.LinAlgError:
            return math.inf
        return float(self.n * math.log(left) + self._log * len(columns)) if left > _NEAR_SINGULAR else math.inf

    # --- counts and cells -----------------------------------------------------------------------------------

    def _key(self, chosen: int) -> NDArray[np.int64]:
        """Return a whole number for each row, equal where all chosen variables are."""
        known = self._keys.get(chosen)
        if known is None:
            last = chosen.bit_length() - 1
            before = self._key(chosen & ~(1 << last))
            known = before * self._sizes[last] + self._codes[last]
            if math.prod(self._sizes[v] for v in members(chosen)) > 4 * len(known):
                known = _renumbered(known)
            if len(self._keys) > _REMEMBERED:
                self._keys = {0: self._keys[0]}
            self._keys[chosen] = known
        return known

    def _code(self, chosen: int) -> float:
        """Return twice the length of the code of some variables as one (normalised maximum likelihood)."""
        if not chosen:
            return 0.0
        counts = np.bincount(self._key(chosen), self._weights)
        counts = counts[counts > 0]
        values = math.prod(self._sizes[v] for v in members(chosen))
        return 2.0 * (regret(self.n, values) + self.n * self._log - float(counts @ np.log(counts)))

    def _cells_of(self, chosen: int) -> _Cells:
        """Return the cells of some categories."""
        known = self._cells.get(chosen)
        if known is None:
            key = self._key(chosen)
            rows = np.bincount(key, self._weights)
            held = rows > 0
            sums = np.array([np.bincount(key, self._weights * line)[held] for line in self._lines])
            lines = [self._columns[v][0] for v in self._numbers]
            within = self._correlation[np.ix_(lines, lines)] - (sums / rows[held]) @ sums.T / self.n
            known = self._cells[chosen] = _Cells(int(held.sum()), np.asarray(within))
        return known


def _renumbered(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole numbers that are equal where those of a key are, without gaps."""
    held = np.zeros(int(key.max()) + 1, dtype=bool)
    held[key] = True
    return np.asarray((np.cumsum(held) - 1)[key])


def regret(n: float, k: float) -> float:
    """Return the log of the sum of the largest likelihoods of all samples of n rows of k values, approximately.

    References
    ----------
    Szpankowski & Weinberger, Minimax pointwise redundancy for memoryless models over large alphabets, IEEE Transactions
    on Information Theory 2012.

    Examples
    --------
    >>> round(regret(100, 1), 3), round(regret(100, 2), 3)
    (0.0, 2.667)
    """
    if k <= 1:
        return 0.0
    a = k / n
    c = 0.5 + 0.5 * math.sqrt(1 + 4 / a)
    return n * (math.log(a) + (a + 2) * math.log(c) - 1 / c) - 0.5 * math.log(c + 2 / a)


def _log_det(matrix: NDArray[np.float64]) -> float:
    """Return log det of a covariance; infinite where something is determined, so that it explains nothing."""
    if not len(matrix):
        return 0.0
    try:
        pivots = np.linalg.cholesky(matrix).diagonal()
    except np.linalg.LinAlgError:
        return math.inf
    return float(2 * np.log(pivots).sum()) if (pivots**2 > _NEAR_SINGULAR).all() else math.inf


# --- whether a table needs them -----------------------------------------------------------------------------


def fits_cells(data: Dataset) -> bool:
    """Tell whether cells fit a table of numbers and categories better than effects that add up.

    They do where there is at most one number beside five categories, for categories alone are scored by their counts.
    Else variables must depend on combinations of others: a rough search by cells finds a DAG, and each of its families
    with several parents is held against a model in which effects add up, with bends where they pay. That is least
    squares for a number, and logistic regression for categories.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 1000))
    >>> labels, noise = np.array(["no", "yes"]), rng.normal(size=1000)
    >>> [fits_cells(Dataset.of({"a": labels[a], "b": labels[b], "c": c + noise})) for c in (3 * a * b, a + b)]
    [True, False]
    """
    numbers = sum(kind is Kind.CONTINUOUS for kind in data.kinds)
    if not 0 < numbers < len(data.kinds) or any(data.missing) or not 3 <= len(data.names) <= MOST_NUMBERS:
        return False
    if data.n < FEWEST_ROWS:
        return False
    few = numbers <= _FEW_NUMBERS * len(data.kinds)
    return few or data.kept(("combinations",), lambda: _combinations_matter(data))


def _combinations_matter(data: Dataset) -> bool:
    every = -(-data.n // MOST_ROWS)
    local = cell_table(data, data.names, 2.0, every).scores()
    local.check = current().check
    best = Regressions(local, len(data.names))
    found = settle(best, forward(best), 1)
    added, explained, missed = _Added(data, every), 0.0, 0.0
    for v, parents in enumerate(found.parents):
        current().check()
        explained -= local.value(v, parents) + local.price * parents.bit_count()
        if parents.bit_count() > 1:
            by_cells = local.explained(v, parents) - local.price * parents.bit_count()
            missed += max(by_cells - added.explained(v, list(members(parents))), 0.0)
    return missed > _MORE * explained + _LEAST


class _Added:
    """Models of the variables of a table in which effects of parents add up."""

    def __init__(self, data: Dataset, every: int) -> None:
        self.table = kind_table(data, data.names, 2.0, products=False, every=every)
        self._scores = self.table.scores()
        parts = (self.table.basis, self.table.starts, self.table.categories, self.table.codes, self.table.weights)
        self._glm = GlmTable(data.names, *parts, self.table.rows, np.zeros(len(self.table)))
        self._fits = GlmFits(self._glm)

    def explained(self, v: int, parents: list[int]) -> float:
        """Return what parents explain of v, less log n for each edge and each parameter."""
        log = math.log(self.table.rows)
        if self.table.categories[v] == 0 or any(self.table.categories[u] == 0 for u in parents):
            alone, given = (self._scores.value(v, chosen)[0] for chosen in ((), parents))
            return float(alone - given) - 2.0 * log * len(parents)
        columns = [c for u in parents for c in self._glm.columns(u)]
        gain = 2.0 * (self._fits.fit(v, columns).loglik - self._fits.fit(v, []).loglik)
        return gain - log * (self._glm.responses(v) * len(columns) + len(parents))
