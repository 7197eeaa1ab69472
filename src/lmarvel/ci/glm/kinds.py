"""Scores that know the kinds of columns: categories by counts, numbers by lines, bends, products and their noise.

The score of a variable given parents (``engine/kinds``; its readable twin stands in ``tests/reference/kinds.py``):

* *categories given categories*: the chance of their counts (BDeu with an equivalent sample of one row);
* *a number*: least squares on the lines of its parents and the indicators of their categories. Bends of a parent, and
  products of two parents, are taken where they pay for themselves. What is left counts by its variance and, where that
  pays, by its shape: with noise that is not Gaussian a straight line looks bent from the wrong end, and only the whole
  likelihood sees that;
* *categories given numbers*: logistic regressions on the same columns.

A parent pays ``penalty`` times log n for its edge and first parameter, log n for each further one and for each bend,
and twice that for a product, of which there are many more.

Columns with values far out are taken as normal scores, because a spline that is straight in its tails fits nothing
there. Everything is one search over orders (:mod:`lmarvel.search.orders`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.blocks import FAR_OUT, is_count, normal_scores, scaled
from lmarvel.ci.glm.basis import (
    MOST_CATEGORIES,
    GlmTable,
    by_frequency,
    frozen,
    natural_spline,
    row_weights,
)
from lmarvel.ci.glm.fits import GlmFits
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load

_engine = load()

BENDS = 2
MOST_PRODUCTS = 30  # variables, up to which products are looked for
MOST_COUNTED = 500  # categories of a column, in a table of categories alone; the rarest are taken together
PRODUCT, SHAPE = 2.0, 4.0  # prices in units of log n


@dataclass(frozen=True)
class KindTable:
    """The columns that scores rest on: those of each variable, then those of products.

    Attributes
    ----------
    basis, starts, categories, codes, weights
        As those of :class:`lmarvel.ci.glm.basis.GlmTable`; products stand behind the variables as further numbers.
    products : tuple of (int, int)
        Which variables each product is of.
    rows : float
        The effective number of rows.
    penalty : float
        What an edge costs, in units of log n.

    Examples
    --------
    >>> data = Dataset.of({"a": [1.0, 5.0, 2.0, 4.0, 3.0, 0.0], "b": ["x", "y", "z", "x", "z", "x"]})
    >>> table = kind_table(data, data.names, 2.0)
    >>> table.starts.tolist(), table.categories.tolist(), table.products
    ([0, 3, 5, 7], [0, 3, 0], ((0, 1),))
    """

    basis: NDArray[np.float64]
    starts: NDArray[np.int32]
    categories: NDArray[np.int32]
    codes: NDArray[np.uint16]
    weights: NDArray[np.float64] | None
    products: tuple[tuple[int, int], ...]
    rows: float
    penalty: float

    def __len__(self) -> int:
        return len(self.categories) - len(self.products)

    @property
    def counted(self) -> bool:
        """Whether all variables are categories."""
        return bool((self.categories > 0).all())

    @property
    def prices(self) -> dict[str, float]:
        """What is paid, in units of the score. Counts pay for their parameters themselves."""
        log = math.log(self.rows)
        category = max(self.penalty - 2.0, 0.0) * log
        edge = category if self.counted else self.penalty * log
        return {
            "edge": edge,
            "parameter": log,
            "bend": log,
            "product": PRODUCT * log,
            "shape": SHAPE * log if self._has_shapes else math.inf,
            "category": category,
        }

    @property
    def _has_shapes(self) -> bool:
        """Whether the shape of noise means something: numbers that are categories or counts have none."""
        lines = self.starts[: len(self)][self.categories[: len(self)] == 0]
        return all(len(np.unique(self.basis[c])) > self.basis.shape[1] // 10 for c in lines)

    def taken(self, order: Sequence[int]) -> KindTable:
        """Return the same with its variables in another order."""
        place = {v: i for i, v in enumerate(order)}
        whole = [*order, *range(len(self), len(self.categories))]
        columns = [c for v in whole for c in range(self.starts[v], self.starts[v + 1])]
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[whole])]).astype(np.int32)
        return KindTable(
            frozen(self.basis[columns]),
            frozen(starts),
            frozen(self.categories[whole]),
            frozen(self.codes[whole]),
            self.weights,
            tuple((place[u], place[w]) for u, w in self.products),
            self.rows,
            self.penalty,
        )

    def scores(self) -> Any:
        """Return the compiled local scores of this table."""
        return _engine.KindScores(
            self.basis, self.starts, self.categories, self.codes, self.weights, self.products, self.prices
        )


def kind_table(
    data: Dataset,
    names: Sequence[str],
    penalty: float,
    *,
    bends: int = BENDS,
    products: bool = True,
    far_out: float = FAR_OUT,
    every: int = 1,
) -> KindTable:
    """Make the columns of a table without gaps, its variables in the order of some names.

    Parameters
    ----------
    data : Dataset
        The table.
    names : sequence of str
        Its variables.
    penalty : float
        What an edge costs, in units of log n.
    bends : int
        How many bends a number has.
    products : bool
        Whether products of two variables are made, where there are not too many.
    far_out : float
        From which fourth moment on a number is taken as normal scores.
    every : int
        Take every so many-th row.
    """
    where = {name: i for i, name in enumerate(data.names)}
    chosen = [where[name] for name in names]
    values = data.values()[::every]
    n = len(values)
    weights, rows = row_weights(data)
    if every > 1:
        weights, rows = None if weights is None else frozen(weights[::every]), rows * n / data.n
    counted = all(data.kinds[v] is not Kind.CONTINUOUS for v in chosen)
    most = MOST_COUNTED if counted else MOST_CATEGORIES
    columns: list[list[NDArray[np.float64]]] = []
    codes, categories = [], []
    for v in chosen:
        if data.kinds[v] is Kind.CONTINUOUS:
            codes.append(np.zeros(n, dtype=np.uint16))
            columns.append(natural_spline(scaled(values[:, v], weights, far_out), bends, weights, data.names[v]))
            categories.append(0)
        else:
            codes.append(by_frequency(values[:, v].astype(np.intp), weights, data.names[v], most))
            categories.append(int(codes[-1].max()) + 1)
            columns.append([(codes[-1] == a).astype(np.float64) for a in range(1, categories[-1])])
    pairs = _products(columns, categories) if products and not counted and len(chosen) <= MOST_PRODUCTS else {}
    columns += pairs.values()
    return KindTable(
        frozen(np.array([column for block in columns for column in block])),
        frozen(np.concatenate([[0], np.cumsum([len(block) for block in columns])]).astype(np.int32)),
        frozen(np.array([*categories, *(0 for _ in pairs)], dtype=np.int32)),
        frozen(np.array([*codes, *(np.zeros(n, dtype=np.uint16) for _ in pairs)])),
        weights,
        tuple(pairs),
        rows,
        penalty,
    )


def _products(
    columns: list[list[NDArray[np.float64]]], categories: list[int]
) -> dict[tuple[int, int], list[NDArray[np.float64]]]:
    """Return the products of numbers with each other and with the indicators of categories, standardised."""
    found = {}
    for w in range(len(columns)):
        for u in range(w):
            if categories[u] and categories[w]:
                continue  # counts see these by themselves
            one, other = (columns[v] if categories[v] else columns[v][:1] for v in (u, w))
            made = [a * b for a in one for b in other]
            made = [column - column.mean() for column in made]
            kept = [column / size for column in made if (size := float(column.std())) > 0]
            if kept:
                found[u, w] = kept
    return found


# --- is a table curved? ---------------------------------------------------------------------------------------


class Curvature(NamedTuple):
    """What lines, and what bends and products beside them, explain of the numbers of a table, in units of the score."""

    lines: float
    bends: float

    @property
    def is_curved(self) -> bool:
        """Whether bends explain so much more that lines alone would mislead."""
        return self.bends > (1 + _MORE) * self.lines + _LEAST

    @property
    def share(self) -> float:
        """How much more bends explain, as a share."""
        return self.bends / self.lines - 1 if self.lines > 0 else math.inf


_MORE = 0.08  # of what lines explain (benchmarks/kinds.py)
_LEAST = 30.0
_CLOSER = 0.02  # by how much normal scores are more closely related: of Gaussian numbers either may be, by chance
MOST_NUMBERS = 60  # for the look: it is a search
FEWEST_ROWS, MOST_ROWS = 100, 3_000  # of more rows some are looked at
_NOISE, _SWEEPS = 1e-6, (1, 0, 0)  # a rough search: one sweep, and families are not turned


def curvature(data: Dataset) -> Curvature | None:
    """Return how much bends explain of the numbers of a table; None where that cannot be said.

    What is explained is the likelihood of the best DAG beyond that of no edges, less what its edges, bends and products
    cost. It is looked at for the numbers as they are and for their normal scores: where one of the two is straight,
    lines will do. Counts are left out, because those with a small mean bend by nature.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> curvature(Dataset.of({"a": a, "b": a + rng.normal(size=500)})).is_curved
    False
    >>> curvature(Dataset.of({"a": a, "b": a**2 + rng.normal(size=500)})).is_curved
    True
    """
    if _engine is None or any(data.missing) or data.n < FEWEST_ROWS:
        return None
    return data.kept(("curvature",), lambda: _curvature(data))


def _curvature(data: Dataset) -> Curvature | None:
    numbers = [name for name, kind in zip(data.names, data.kinds, strict=True) if kind is Kind.CONTINUOUS]
    if len(numbers) < len(data.names):
        values = data.values()
        numbers = [name for name in numbers if not is_count(values[:, data.names.index(name)])]
    if not 2 <= len(numbers) <= MOST_NUMBERS:
        return None
    every = -(-data.n // MOST_ROWS)
    least: Curvature | None = None
    for shapes in (False, True):
        for far_out in (math.inf, 0.0):
            line = kind_table(data, numbers, 2.0, bends=0, products=False, far_out=far_out, every=every)
            bent = kind_table(data, numbers, 2.0, far_out=far_out, every=every)
            found = Curvature(explained(line, shapes), explained(bent, shapes))
            if not found.is_curved:
                return found
            least = found if least is None or found.share < least.share else least
    return least


def explained(table: KindTable, shapes: bool = True) -> float:
    """Return by how much the best DAG is better than no edges."""
    prices = table.prices | ({} if shapes else {"shape": math.inf})
    scores = _engine.KindScores(
        table.basis, table.starts, table.categories, table.codes, table.weights, table.products, prices
    )
    _, met = scores.search(_NOISE, *_SWEEPS)
    return float(sum(scores.value(v, ())[0] for v in range(len(table))) - met[-1][0])


def interacts(data: Dataset) -> bool:
    """Tell whether categories depend on each other in ways that only counts see: one on a combination of others.

    The best DAG by counts is held against logistic regressions on the same parents, whose effects add up.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, chance = rng.integers(0, 3, (3, 1000))
    >>> words, by_chance = np.array(["low", "middle", "high"]), rng.random(1000) < 0.1
    >>> turned, larger = (np.where(by_chance, chance, c) for c in (np.where(b == 0, a, 2 - a), np.maximum(a, b)))
    >>> [interacts(Dataset.of({"a": words[a], "b": words[b], "c": words[c]})) for c in (turned, larger)]
    [True, False]
    """
    names = [name for name, kind in zip(data.names, data.kinds, strict=True) if kind is not Kind.CONTINUOUS]
    if _engine is None or any(data.missing) or data.n < FEWEST_ROWS or not 3 <= len(names) <= MOST_NUMBERS:
        return False
    return data.kept(("interacts",), lambda: _interacts(data, names))


def _interacts(data: Dataset, names: list[str]) -> bool:
    table = kind_table(data, names, 2.0, every=-(-data.n // MOST_ROWS))
    scores = table.scores()
    _, met = scores.search(_NOISE, *_SWEEPS)
    score, dag = met[-1]
    explained = sum(scores.value(v, ())[0] for v in range(len(table))) - score
    parts = (table.basis, table.starts, table.categories, table.codes, table.weights, table.rows)
    glm = GlmTable(tuple(names), *parts, np.zeros(len(names)))
    fits, more = GlmFits(glm), 0.0
    for v, parents in enumerate(dag):
        columns = [c for u in parents for c in glm.columns(u)]
        if len(parents) > 1:
            added = -2 * fits.fit(v, columns)[0] + math.log(table.rows) * glm.responses(v) * (len(columns) + 1)
            more += max(added - scores.value(v, parents)[0], 0.0)
    return bool(more > _MORE * explained + _LEAST)


def prefers_ranks(data: Dataset) -> bool:
    """Tell whether numbers are more closely related as normal scores than as they are.

    Relatedness is minus the log determinant of the correlation matrix: the information that Gaussian variables of these
    correlations have of each other.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=5000)
    >>> b = a + 0.5 * rng.normal(size=5000)
    >>> prefers_ranks(Dataset.of({"a": a, "b": b})), prefers_ranks(Dataset.of({"a": np.exp(2 * a), "b": b**3}))
    (False, True)
    """
    return data.kept(("ranks",), lambda: _prefers_ranks(data))


def _prefers_ranks(data: Dataset) -> bool:
    values = data.values()
    n, p = values.shape
    if p < 2 or n < 2 * p:
        return False
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    scores = np.column_stack([normal_scores(column, weights) for column in values.T])
    related = []
    for columns in (values, scores):
        with np.errstate(invalid="ignore", divide="ignore"):
            covariance = np.cov(columns.T, aweights=weights)
            spread = np.sqrt(covariance.diagonal())
            sign, log_det = np.linalg.slogdet(covariance / np.outer(spread, spread))
        related.append(-log_det if sign > 0 else math.inf)
    return bool(related[1] > (1 + _CLOSER) * related[0])
