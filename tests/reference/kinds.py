"""Scores that know the kinds of columns, in NumPy: the readable twin of ``engine/kinds``.

The value of a variable given parents is minus two log-likelihood of all rows, with what its model pays for parameters.
Three models stand behind it:

* counts (:func:`code_length`), of categories whose parents are categories, too;
* least squares (:meth:`KindTwin._of_number`), with bends and products where they pay, and with the shape of what is
  left (:func:`shape_gain`);
* logistic regressions (:meth:`KindTwin._of_category`), of categories with other parents.

What every edge pays (``price``) is not part of the value: the order search adds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lmarvel.ci.glm.fits import readable_fit
from lmarvel.ci.glm.kinds import KindTable
from lmarvel.graph.bitsets import bits, members
from lmarvel.search.kinds.cells import regret

NEAR_SINGULAR = 1e-9  # a variance below this share of a column's own counts as zero
LOOK = 0.3  # of its price: what promises less by least squares is not fitted
MOST_ROWS = 3000  # whose residuals are looked at for their shape
LOG_2PI = math.log(2 * math.pi)

Columns = list[int]


def code_length(codes: np.ndarray, sizes: Sequence[int], weights: np.ndarray) -> float:
    """Return twice the length of the code of the first variable given the others, one row for each (qNML).

    It is that of all of them as one variable, less that of the parents as one: minus the largest log-likelihood of the
    counts, and the regret of so many values. So all DAGs of a class have the same score. Values without rows cost, too.
    """
    n, parents, joint = float(weights.sum()), math.prod(sizes[1:]), math.prod(sizes)
    lengths = []
    for chosen, values in ((codes, joint), (codes[1:], parents)):
        _, z = np.unique(np.vstack([chosen, np.zeros_like(codes[:1])]), axis=1, return_inverse=True)
        counts = np.bincount(z.ravel(), weights)
        lengths.append(regret(n, values) - float((counts * np.log(counts)).sum()))
    return 2.0 * (lengths[0] - lengths[1])


# --- the shape of residuals -----------------------------------------------------------------------------------

GRID = np.linspace(-6.0, 6.0, 241)
WIDTH = GRID[1] - GRID[0]
BELL = np.exp(-0.5 * GRID**2)
STATISTICS = np.stack([GRID, GRID**2, np.tanh(1.5 * GRID), GRID * BELL, np.log(np.cosh(2 * GRID)), BELL])
GAUSS = -0.5 * GRID**2 - 0.5 * LOG_2PI


def density(a: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the log of the integral of exp(a'T) times the Gaussian density, and the chances of the bins."""
    log = GAUSS + a @ STATISTICS
    top = log.max()
    parts = np.exp(log - top)
    return float(top + math.log(parts.sum() * WIDTH)), parts / parts.sum()


def derivatives(seen: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of the log-likelihood per row, and minus its second derivatives."""
    mean = STATISTICS @ chances
    return seen - mean, (STATISTICS * chances) @ STATISTICS.T - np.outer(mean, mean) + 1e-8 * np.eye(len(mean))


def shape_gain(residuals: np.ndarray, weights: np.ndarray, rows: float, least: float) -> float:
    """Return twice the log-likelihood that a density with a shape gains over the Gaussian of the same variance.

    The density is exp(a'T(e)) times the Gaussian one; T sees skewness, peaks and tails. Residuals are counted in bins,
    those far out in the last ones. Where the first step of Newton's method promises less than ``least``, it is 0.
    """
    share = weights / weights.sum()
    mean = share @ residuals
    spread = math.sqrt(share @ residuals**2 - mean**2)
    place = np.clip(np.floor((residuals - mean) / (spread * WIDTH) + 120.5), 0, 240).astype(int)
    seen = STATISTICS @ np.bincount(place, share, minlength=241)

    a = np.zeros(len(STATISTICS))
    log, chances = density(a)
    best = gauss = -log
    gradient, information = derivatives(seen, chances)
    if rows * gradient @ np.linalg.solve(information, gradient) < least:
        return 0.0
    for _ in range(25):
        gradient, information = derivatives(seen, chances)
        step = np.linalg.solve(information, gradient)
        if step @ gradient < 1e-9:
            break
        for length in 0.5 ** np.arange(15):
            log, chances = density(a + length * step)
            if (a + length * step) @ seen - log > best:
                break
        else:
            break
        a = a + length * step
        best = a @ seen - log
    return float(2 * rows * (best - gauss))


# --- values ---------------------------------------------------------------------------------------------------


class KindTwin:
    """Local scores of a table; also what the readable order search asks for (:class:`lmarvel.search.orders.Local`).

    Parameters
    ----------
    table : KindTable
        Columns of variables and products.
    prices : dict, optional
        What is paid; by default what the table says.
    """

    def __init__(self, table: KindTable, prices: dict[str, float] | None = None) -> None:
        self.table, self.paid = table, table.prices if prices is None else prices
        self.price = self.paid["edge"]
        self.weights = np.ones(table.basis.shape[1]) if table.weights is None else table.weights
        self.rows = float(self.weights.sum())
        self.products = {frozenset(pair): len(table) + i for i, pair in enumerate(table.products)}
        self._known: dict[tuple[int, int], tuple[float, Columns]] = {}

    def value(self, v: int, parents: int) -> float:
        """Return the value of v given the bit set of its parents."""
        return self.modelled(v, parents)[0]

    def modelled(self, v: int, parents: int) -> tuple[float, Columns]:
        """Return the value, and the columns of bends and products that are taken."""
        key = v, parents
        if key not in self._known:
            of = self._of_number if self._is_number(v) else self._of_category
            self._known[key] = of(v, list(members(parents)))
        return self._known[key]

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay as one more parent, best first.

        Models are slow, so a variable whose columns promise too little by least squares is passed over.
        """
        now, held = self.value(v, parents), list(members(parents))
        gains = []
        for u in range(len(self.table)):
            if u == v or parents >> u & 1:
                continue
            counted = self._is_counted(v, [*held, u])
            if counted or self._promised(v, held, u) > LOOK * self._edge(v, u):
                gain = now - self.value(v, parents | 1 << u) - self.price
                if gain > 1e-9:
                    gains.append((-gain, u))
        return now, [1 << u for _, u in sorted(gains)]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent that is best left out since it does not pay; 0 if all pay."""
        full = self.value(v, parents)
        changes = {u: self.value(v, parents & ~(1 << u)) - full - self.price for u in members(parents)}
        chosen = min(changes, key=changes.__getitem__, default=-1)
        return 1 << chosen if chosen >= 0 and changes[chosen] < -1e-9 else 0

    # --- columns and what they cost

    def _is_number(self, v: int) -> bool:
        return bool(self.table.categories[v] == 0)

    def _is_counted(self, v: int, parents: Iterable[int]) -> bool:
        return not any(map(self._is_number, (v, *parents)))

    def _responses(self, v: int) -> int:
        return max(int(self.table.categories[v]) - 1, 1)

    def _all(self, u: int) -> Columns:
        return list(range(self.table.starts[u], self.table.starts[u + 1]))

    def _plain(self, u: int) -> Columns:
        """Return the columns that an edge from u always has: a line, or all indicators."""
        return self._all(u)[:1] if self._is_number(u) else self._all(u)

    def _bends(self, u: int) -> Columns:
        return self._all(u)[len(self._plain(u)) :]

    def _edge(self, v: int, u: int) -> float:
        return self.price + (self._responses(v) * len(self._plain(u)) - 1) * self.paid["parameter"]

    def _surplus(self, v: int, parents: Columns) -> float:
        """Return what edges pay for their parameters beyond the first."""
        return sum(self._edge(v, u) - self.price for u in parents)

    def _lines(self, parents: Columns) -> Columns:
        return [c for u in parents for c in self._plain(u)]

    def _products(self, pairs: Iterable[tuple[int, int]]) -> list[Columns]:
        return [self._all(self.products[both]) for pair in pairs if (both := frozenset(pair)) in self.products]

    # --- least squares

    def _left(self, v: int, columns: Columns) -> np.ndarray:
        """Return what columns leave of the number, or of the indicators, of v.

        A column that those before it determine is left out.
        """
        share = self.weights / self.rows
        basis = self.table.basis - (self.table.basis @ share)[:, None]
        root, kept, spanned = np.sqrt(self.weights), [], []
        for c in columns:
            left = whole = basis[c] * root
            for _ in range(2):  # the second time takes off what rounding left
                for before in spanned:
                    left = left - (left @ before) * before
            if left @ left > NEAR_SINGULAR * (whole @ whole) and left @ left > 0:
                kept.append(c)
                spanned.append(left / math.sqrt(left @ left))
        own = basis[self._all(v)[: self._responses(v)]]
        slopes = np.linalg.lstsq((basis[kept] * root).T, (own * root).T, rcond=None)[0]
        return own - slopes.T @ basis[kept]

    def _log_left(self, v: int, columns: Columns) -> float:
        """Return the log determinant of the covariance of what is left; no pivot counts as less than a tiny share."""
        whole, left = self._left(v, []), self._left(v, columns)
        matrix, total = (left * self.weights) @ left.T, 0.0
        for a, column in enumerate(whole):
            pivot = max(matrix[a, a], NEAR_SINGULAR * float(self.weights @ column**2))
            total += math.log(max(pivot / self.rows, 1e-300))
            if pivot > 0:
                matrix = matrix - np.outer(matrix[a], matrix[a]) / pivot
        return total

    def _gain(self, v: int, columns: Columns, more: Columns) -> float:
        return self.rows * (self._log_left(v, columns) - self._log_left(v, [*columns, *more]))

    def _promised(self, v: int, parents: Columns, u: int) -> float:
        """Return what all columns of u, bends and products included, would add by least squares."""
        columns = [*self._lines(parents), *self.modelled(v, bits(parents))[1]]
        more = self._all(u)
        if self._is_number(v):
            more += [c for block in self._products((u, w) for w in parents) for c in block]
        return self._gain(v, columns, more)

    # --- numbers

    def _of_number(self, v: int, parents: Columns) -> tuple[float, Columns]:
        """Take the block of columns that explains most beyond its price, until none pays.

        The model with all these blocks and that with none are compared by their whole likelihood: a line with noise
        that is not Gaussian looks bent from the wrong end, by variance alone.
        """
        lines, taken, paid = self._lines(parents), [], 0.0
        pairs = ((u, w) for i, u in enumerate(parents) for w in parents[i + 1 :])
        blocks = [(block, self.paid["bend"] * len(block)) for u in parents if (block := self._bends(u))]
        blocks += [(block, self.paid["product"] * len(block)) for block in self._products(pairs)]
        while blocks:
            gains = [self._gain(v, [*lines, *taken], block) - price for block, price in blocks]
            best = int(np.argmax(gains))
            if gains[best] <= 1e-9:
                break
            block, price = blocks.pop(best)
            taken, paid = [*taken, *block], paid + price
        straight, surplus = self._deviance(v, lines), self._surplus(v, parents)
        bent = self._deviance(v, [*lines, *taken]) + paid if taken else math.inf
        return (bent + surplus, taken) if bent < straight - 1e-9 else (straight + surplus, [])

    def _deviance(self, v: int, columns: Columns) -> float:
        """Return minus two log-likelihood of the residuals, by their variance and, where that pays, their shape."""
        value = self.rows * (self._log_left(v, columns) + 1 + LOG_2PI)
        if math.isinf(self.paid["shape"]):
            return value
        step = -(-len(self.weights) // MOST_ROWS)
        left = self._left(v, columns)[0]
        gain = shape_gain(left[::step], self.weights[::step], self.rows, self.paid["shape"])
        return value - max(gain - self.paid["shape"], 0.0)

    # --- categories

    def _of_category(self, v: int, parents: Columns) -> tuple[float, Columns]:
        """Return the better one of counts, where all parents are categories, and of logistic regressions.

        The bends of parents are tried one parent after the other, and stay where they pay.
        """
        counted = math.inf
        if self._is_counted(v, parents):
            chosen = [v, *parents]
            counted = code_length(self.table.codes[chosen], self.table.categories[chosen].tolist(), self.weights)
            counted += (self.paid["category"] - self.price) * len(parents)
            if not parents or not any(map(self._is_number, range(len(self.table)))):
                return counted, []
        # Counts pay for the shares of categories, and so do regressions: else any parent would save that.
        alone = code_length(self.table.codes[[v]], self.table.categories[[v]].tolist(), self.weights)
        fixed = alone - self._logistic(v, []) + self._surplus(v, parents)
        lines, taken = self._lines(parents), []
        now = self._logistic(v, lines) + fixed
        if counted < now:
            return counted, []
        for u in parents:
            more = self._bends(u)
            price = self.paid["bend"] * self._responses(v) * len(more)
            if not more or self._gain(v, [*lines, *taken], more) <= LOOK * price:
                continue
            held = self.paid["bend"] * self._responses(v) * len(taken)
            value = self._logistic(v, [*lines, *taken, *more]) + fixed + price + held
            if value < now - 1e-9:
                now, taken = value, [*taken, *more]
        return now, taken

    def _logistic(self, v: int, columns: Columns) -> float:
        table: Any = self.table  # it has the columns that a fit needs
        return -2.0 * readable_fit(table, v, sorted(columns)).loglik
