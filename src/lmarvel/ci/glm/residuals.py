"""The test of products of residuals: the generalised covariance measure of Shah & Peters (2020), for mixed tables.

Each of X and Y is modelled given Z by a generalised linear model (:mod:`lmarvel.ci.glm.fits`) on the basis columns of
Z. A number leaves one residual column, categories leave one for each category but the commonest: indicator less chance.
The mean of a count is linear, or the exponential of a linear function, whichever leaves less. If X and Y are
independent given Z, the products of a residual of X with one of Y have mean zero. With m for the means of
the products, C for their covariance over the rows and n for the rows, Hotelling's

    T² = n m' C⁻¹ m

is compared with its distribution on d and n - |Z| - d - 1 degrees of freedom, where d counts the products and |Z| the
columns of Z. C is an empirical covariance, so no variance has to be modelled. An error of one model is forgiven if the
other is right: what is left is the *product* of both errors.

Of two variables with categories, rare ones make cells that hold hardly a row. C is too small there if they hold none.
The covariance that the chances of both models give the products is too small if they hold some: T² is worked out with
either, and the larger p-value stands.

Products of straight lines miss y = x². So the smoothest bends of a number, less what least squares on Z explains, are
held against the residuals of the other side in a second test. Lines get 0.8 of the level and bends 0.2: with m the
smaller of p_line / 0.8 and p_bend / 0.2 the p-value is m - 0.16 m², which is uniform if the two are independent.

A variable that Z determines is never called independent of another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.ci.block_gaussian import chi_square_tail
from lmarvel.ci.blocks import blocks_of
from lmarvel.ci.glm.basis import GlmTable, glm_table
from lmarvel.ci.glm.fits import readable_count, readable_fit
from lmarvel.ci.growth import EvidenceGrowth
from lmarvel.ci.search import compiled_result
from lmarvel.ci.table_test import Result, TableTest, _tests
from lmarvel.ci.test import ColumnsInput
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.deferred import late
from lmarvel.errors import DataError, Determined, UnusableError

special = late("scipy.special")

ROWS_A_COLUMN = 5
"""How many rows a test needs for each of its columns."""
_BENDS = ((4000, 14), (1000, 10), (0, 3))  # from so many rows on, splines have so many bends
_MODEL_BENDS, _TESTED_BENDS = 3, 2
_ROWS_A_PRODUCT = 10
_LINE = 0.8
_DETERMINED = 1e-5
_COLLINEAR = 1e-9

Columns = list[NDArray[np.float64]]


class ResidualProducts(TableTest):
    """The test of products of residuals on a table without gaps.

    Parameters
    ----------
    data : Dataset or anything that is a table
        Columns of any kind.
    compiled : bool
        False forces the readable code, which gives the same answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 3, 600)
    >>> a, b = np.array([0.0, 2.0, 1.0])[group] + rng.normal(size=(2, 600))
    >>> test = ResidualProducts({"a": a, "b": b, "group": [f"g{i}" for i in group]})
    >>> test.pvalue(0, 1, []) < 0.01 < test.pvalue(0, 1, [2])
    True
    """

    total_conditioning = False  # a model of each variable on all others but one, for each pair: boundaries are searched

    def __init__(self, data: Any, compiled: bool = True) -> None:
        self.dataset = Dataset.of(data)
        bends = next(bends for rows, bends in _BENDS if self.dataset.n >= rows)
        self._set_up(glm_table(self.dataset, bends), compiled)

    def _set_up(self, table: GlmTable, compiled: bool) -> None:
        self.table = table
        self.names, self.n = table.names, int(table.rows)
        self._sizes: list[int] = np.diff(table.starts).tolist()
        self.columns = sum(table.responses(v) for v in range(len(self._sizes)))
        cheap = sorted(self._sizes)
        fitting = [k for k in range(len(cheap) - 1) if self._cost(cheap[: k + 2]) <= table.rows]
        if not fitting:
            raise DataError(
                f"{self.n} rows are too few: a test needs {ROWS_A_COLUMN} for each of its columns, and there are"
                f" {sum(cheap[:2])} of them with nothing given"
            )
        whole = max(fitting) == len(cheap) - 2  # rows are no limit: no set is larger than all other variables
        self.largest_set = min(len(cheap) if whole else max(fitting), self.n - 4)
        self.shortage = f"{self.n} rows are too few for sets with more columns: a test needs {ROWS_A_COLUMN} for each"
        super().__init__(compiled)

    def _compiled(self) -> Any:
        return _tests.Kernel(None, self.table.basis.shape[1], None, None, self._parts)

    @property
    def _parts(self) -> tuple[Any, ...]:
        table = self.table
        return table.basis, table.starts, table.categories, table.codes, table.weights, table.shifts

    def _cost(self, sizes: Sequence[int]) -> float:
        return sum(sizes) * ROWS_A_COLUMN

    def _budget(self, variables: Sequence[int]) -> float:
        return self.table.rows

    # --- one test -------------------------------------------------------------------------------------------

    def _readable(self, x: int, y: int, given: Sequence[int]) -> Result:
        on = [c for v in given for c in self.table.columns(v)]
        one, two = self._residuals(x, given, on), self._residuals(y, given, on)
        if one is None or two is None:
            return Result(0.0, math.inf, 0)
        return self._judged((x, y), one, self._tails(x, on), two, self._tails(y, on), len(on))

    def _residuals(self, v: int, given: Sequence[int], on: Sequence[int], model: bool = True) -> Columns | None:
        """Return the residual columns of a variable; None where nothing is left of it."""
        own = self.table.columns(v)
        if self.table.categories[v] == 0:
            found = [self._projected(own[0], on)]
            if model and self.table.shifts[v] > 0.0:
                found = [self._counted(v, on)]
        elif model:
            fewer = [c for z in given for c in self._model_columns(z)]
            fit = readable_fit(self.table, v, sorted(fewer), residuals=True)
            assert fit.residuals is not None
            found = list(fit.residuals)
        else:
            found = [self._projected(c, on) for c in own]
        left = sum(float(self._weights @ column**2) for column in found)
        whole = sum(float(self._weights @ self._projected(c, []) ** 2) for c in own[: len(found)])
        return found if left > _DETERMINED * whole else None

    def _counted(self, v: int, on: Sequence[int]) -> NDArray[np.float64]:
        """Return the residual of a count, by least squares or by a log-linear model, whichever leaves less."""
        straight = self._projected(self.table.columns(v)[0], on)
        if not on:
            return straight
        return min(straight, readable_count(self.table, v, sorted(on)), key=lambda left: float(self._weights @ left**2))

    def _model_columns(self, v: int) -> range:
        own = self.table.columns(v)
        return own[: 1 + _MODEL_BENDS] if self.table.categories[v] == 0 else own

    def _tails(self, v: int, on: Sequence[int]) -> Columns:
        """Return what a set leaves of the smoothest bends of a number."""
        if self.table.categories[v] != 0:
            return []
        return [self._projected(c, on) for c in self.table.columns(v)[1 : 1 + _TESTED_BENDS]]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.ones(self.table.basis.shape[1]) if self.table.weights is None else self.table.weights

    def _projected(self, c: int, on: Sequence[int]) -> NDArray[np.float64]:
        """Return what columns leave of another one by least squares."""
        root = np.sqrt(self._weights)
        design = np.column_stack([np.ones(len(root)), *self.table.basis[sorted(on)]])
        column = self.table.basis[c]
        slopes = np.linalg.lstsq(design * root[:, None], column * root, rcond=1e-10)[0]
        return np.asarray(column - design @ slopes)

    def _judged(
        self, pair: tuple[int, int], x: Columns, tails_x: Columns, y: Columns, tails_y: Columns, given: int
    ) -> Result:
        most, of_x, of_y = max(self.table.rows / _ROWS_A_PRODUCT, 1.0), len(x), len(y)
        while of_x * of_y > most and of_x * of_y > 1:  # categories stand by frequency: the rarest are left out
            of_x, of_y = (of_x - 1, of_y) if of_x > of_y else (of_x, of_y - 1)
        lines = list(product(x[:of_x], y[:of_y]))
        bends = [*product(x[:of_x], tails_y), *product(y[:of_y], tails_x)]
        line = self._hotelling(lines, given)
        if all(self.table.categories[v] > 0 for v in pair):
            line = max(line, self._by_chances(pair, x[:of_x], y[:of_y], given), key=lambda found: found.pvalue)
        if not bends or len(bends) > most:
            return line
        bend = self._hotelling(bends, given)
        shares = line.pvalue / _LINE, bend.pvalue / (1 - _LINE)
        least = min(*shares, 1 / _LINE)
        pvalue = min(least * (1 - _LINE * (1 - _LINE) * least), 1.0)
        return (bend if shares[1] < shares[0] else line)._replace(pvalue=pvalue)

    def _by_chances(self, pair: tuple[int, int], x: Columns, y: Columns, given: int) -> Result:
        """Test the same with the covariance that the chances of both sides give the products."""

        def spread(v: int, left: Columns) -> NDArray[np.float64]:
            chance = np.clip(self.table.basis[self.table.columns(v)[: len(left)]] - np.array(left), 0.0, 1.0)
            return np.asarray(np.eye(len(left))[:, :, None] * chance - chance[:, None] * chance)

        d, rows = len(x) * len(y), self.table.rows
        means = np.array([float(self._weights @ (one * two)) for one, two in product(x, y)]) / rows
        expected = np.einsum("abn,cdn,n->acbd", spread(pair[0], x), spread(pair[1], y), self._weights) / rows
        total, rank = _length(means, expected.reshape(d, d), np.zeros(d))
        statistic = (rows - 1 - given) * total
        return Result(chi_square_tail(statistic, rank) if rank else 1.0, statistic, rank)

    def _hotelling(self, pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]], given: int) -> Result:
        """Test that products have mean zero; those that others determine are left out."""
        rows = self.table.rows
        products = np.array([one * two for one, two in pairs])
        means = products @ self._weights / rows
        spread = (products * self._weights) @ products.T / rows
        total, rank = _length(means, spread, means)
        if not rank:
            return Result(1.0, 0.0, 0)
        free = max(rows - 1 - given - rank, 1.0)
        return Result(float(special.betainc(free / 2, rank / 2, 1 / (1 + total))), rows * total, rank)

    # --- many tests -----------------------------------------------------------------------------------------

    def growth(self, target: int) -> EvidenceGrowth:
        """Return the growing conditioning set of a target, judged by the model of the target alone.

        The error of one model is forgiven if the other is right, so least squares does for the many candidates.
        """
        return EvidenceGrowth(self._by_target, len(self.names), target)

    def _by_target(self, target: int, other: int, given: Sequence[int]) -> float:
        while True:
            found = self.result_by_target(target, other, given)
            if found is not None or not given:
                return self.evidence_of(found)
            given = given[:-1]

    def result_by_target(self, target: int, other: int, given: Sequence[int]) -> Result | None:
        """Return the result by the model of the target and least squares for the other; None where rows are too few."""
        if self._kernel is not None:
            found = compiled_result(self._kernel.by_target, self.names, target, other, given)
            return None if found is None else Result._make(found)
        if not self.affords(target, other, given):
            return None
        on = [c for v in given for c in self.table.columns(v)]
        one, two = self._residuals(target, given, on), self._residuals(other, given, on, model=False)
        if one is None or two is None:
            return Result(0.0, math.inf, 0)
        return self._judged((target, other), one, [], two, self._tails(other, on), len(on))

    def for_engine(self) -> ColumnsInput | None:
        """Return what the compiled engine needs to make the same tests; a subclass may make others."""
        if not self.compiled or type(self) is not ResidualProducts:
            return None
        return ColumnsInput(self.table.basis.shape[1], None, None, None, glm=self._parts)

    # --- what it is -----------------------------------------------------------------------------------------

    def check_usable(self) -> None:
        """Refuse a number that another one determines, and numbers that others determine, by name."""
        table, shared = self.table, self._shared
        numbers = [v for v, kind in enumerate(self.dataset.kinds) if kind is Kind.CONTINUOUS]
        for x, y in permutations(numbers, 2):
            if y == numbers[0]:
                current().check()
            own, asked = (list(table.columns(v)[: table.responses(v)]) for v in (x, y))
            if shared[np.ix_(own, asked)].sum() > len(asked) - 1e-8:
                raise UnusableError(f"the column {self.names[x]!r} determines {self.names[y]!r}: drop one of them")
        self._check_collinear()

    def _check_collinear(self) -> None:
        """Refuse columns that are combinations of others; categories may be combinations of other categories."""
        blocks = blocks_of(self.dataset)
        of = [v for v in range(len(blocks.names)) for _ in blocks.columns(v)]
        if len(of) >= self.n:
            return
        numbers = {c for c, v in enumerate(of) if self.dataset.kinds[v] is Kind.CONTINUOUS}
        correlation = blocks.moments.correlation()
        kept: list[int] = []
        levels = np.array([c for c in range(len(of)) if c not in numbers], dtype=np.intp)
        left = correlation[np.ix_(levels, levels)].copy()  # what those that are kept leave of the others
        for i, c in enumerate(levels.tolist()):
            if left[i, i] > _COLLINEAR:
                kept.append(c)
                left -= np.outer(left[:, i], left[i] / left[i, i])
        current().check()
        order = sorted({*kept, *numbers})
        try:
            blocks.moments.take(order).check_collinear(
                correlation[np.ix_(order, order)], [blocks.names[of[c]] for c in order]
            )
        except Determined as error:  # a number of each category, such as its population, is learned with
            categories = {n for n, k in zip(self.names, self.dataset.kinds, strict=True) if k is not Kind.CONTINUOUS}
            if not categories.issuperset(error.others):
                raise

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self.dataset.summary()

    def canonical_order(self) -> list[int]:
        """Return the variables by content, those that depend least on others first, equals by name.

        How much a variable depends on another is told by the sum of the squared correlations of their columns.
        """
        strength = np.add.reduceat(self._shared.sum(axis=1), self.table.starts[:-1]) / self._sizes
        return sorted(range(len(self.names)), key=lambda v: (float(f"{strength[v]:.9e}"), self.names[v]))

    @cached_property
    def _shared(self) -> NDArray[np.float64]:
        """The squared correlations of all columns after each variable's were made orthonormal: no codes matter."""
        centred = self.table.basis - (self.table.basis @ self._weights / self.table.rows)[:, None]
        gram = (centred * self._weights) @ centred.T
        white = np.zeros_like(gram)
        for v in range(len(self.names)):
            own = slice(*self.table.starts[v : v + 2])
            white[own, own] = np.linalg.inv(np.linalg.cholesky(gram[own, own]))
        return np.asarray((white @ gram @ white.T) ** 2)

    def reordered(self, order: Sequence[int]) -> ResidualProducts:
        """Return the same test with its variables in another order."""
        same = type(self).__new__(type(self))
        vars(same).update(vars(self))
        same._set_up(self.table.take(order), self.compiled)
        return same


def _length(means: NDArray[np.float64], spread: NDArray[np.float64], centre: NDArray[np.float64]) -> tuple[float, int]:
    """Return m' C⁻¹ m with C the second moments about a centre, and its rank: what others determine is left out."""
    covariance = spread - np.outer(centre, centre)
    kept: list[int] = []
    for a in range(len(means)):
        left = covariance[a, a]
        if kept:
            across = covariance[a, kept]
            left -= across @ np.linalg.solve(covariance[np.ix_(kept, kept)], across)
        if left > 1e-8 * spread[a, a]:
            kept.append(a)
    if not kept:
        return 0.0, 0
    return float(means[kept] @ np.linalg.solve(covariance[np.ix_(kept, kept)], means[kept])), len(kept)
