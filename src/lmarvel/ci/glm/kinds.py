"""Scores that know the kinds of columns: categories by counts, numbers by lines, bends, products and their noise.

The score of a variable given parents (``engine/kinds``; its readable twin stands in ``tests/reference/kinds.py``):

* *categories given categories*: the length of the shortest code of their counts (quotient normalised maximum
  likelihood, Silander et al. 2018), which has no prior to choose and is the same for all DAGs of a class;
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.blocks import FAR_OUT, scaled
from lmarvel.ci.glm.basis import (
    MOST_CATEGORIES,
    by_frequency,
    frozen,
    natural_spline,
    row_weights,
)
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load

_engine = load()

BENDS = ((5_000, 4), (0, 2))  # of a number, from so many rows on: two follow a square of a square only so far
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
        return type(self)(
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
    bends: int | None = None,
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
    bends : int, optional
        How many bends a number has; by default 2, and 4 from 5,000 rows on.
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
    if bends is None:
        bends = next(many for least, many in BENDS if n >= least)
    weights, rows = row_weights(data)
    if every > 1:
        rows *= n / data.n
        weights = None if weights is None else frozen(weights[::every] * (rows / weights[::every].sum()))
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
