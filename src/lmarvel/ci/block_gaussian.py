"""The block Gaussian test, for tables whose variables are blocks of columns: levels beside numbers.

Let S be the residual covariance of the columns of X and Y given those of Z, and n the number of rows. Wilks' statistic

    -(n - 1 - |Z| - (|X| + |Y| + 1) / 2) log Lambda,    Lambda = det S / (det S_X det S_Y),

is compared with the chi-square distribution on |X||Y| degrees of freedom (Bartlett, 1938). |X| and |Y| count the
columns that Z leaves something of, |Z| counts all. Two single columns are tested by Fisher's z, exactly as in
:mod:`lmarvel.ci.fisher_z`.

A variable that Z determines, or that determines the other, is never called independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.blocks import Blocks
from lmarvel.ci.growth import pvalue_of
from lmarvel.ci.table_test import Result, TableTest, _tests
from lmarvel.ci.test import ColumnsInput
from lmarvel.data.checks import dependent_columns
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import determining
from lmarvel.deferred import late
from lmarvel.errors import CITestError, DataError, Determined

special = late("scipy.special")


_PIVOT = 1e-10


class BlockGaussian(TableTest):
    """The block Gaussian test on a table.

    Parameters
    ----------
    data : Dataset
        The table, which results speak of.
    blocks : Blocks
        What its columns became.
    compiled : bool
        False forces the readable code, which gives the same answers.

    Examples
    --------
    >>> from lmarvel.ci.blocks import blocks_of
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 3, 600)
    >>> a, b = np.array([0.0, 2.0, 1.0])[group] + rng.normal(size=(2, 600))
    >>> data = Dataset.of({"a": a, "b": b, "group": [f"g{i}" for i in group]})
    >>> test = BlockGaussian(data, blocks_of(data))
    >>> test.pvalue(0, 1, []) < 0.01 < test.pvalue(0, 1, [2])
    True
    """

    def __init__(self, data: Dataset, blocks: Blocks, compiled: bool = True) -> None:
        self.dataset, self.blocks = data, blocks
        self.names, self.n = blocks.names, blocks.moments.n
        self.correlation: NDArray[np.float64] = np.ascontiguousarray(blocks.moments.correlation())
        self.columns = len(self.correlation)
        self._sizes: list[int] = np.diff(blocks.starts).tolist()
        self.largest_set = min(self.n - 4, len(self.names))
        self.shortage = f"{self.n} rows are too few for sets with more columns"
        if self.largest_set < 0:
            raise DataError(f"{self.n} rows are too few: even a test given nothing needs 4 rows")
        self._rest: NDArray[np.float64] | None = None
        super().__init__(compiled)

    def _compiled(self) -> Any:
        return _tests.Kernel(self.correlation, self.n, self.blocks.starts)

    def _cost(self, sizes: Sequence[int]) -> float:
        return sum(sizes)

    def _budget(self, variables: Sequence[int]) -> float:
        return self.n - 2  # so that n - |Z| - 3 is at least 1 with single columns

    def _readable(self, x: int, y: int, given: Sequence[int]) -> Result:
        on = [c for v in given for c in self.blocks.columns(v)]
        order = [*on, *self.blocks.columns(x), *self.blocks.columns(y)]
        S = self.correlation[np.ix_(order, order)].copy()
        for d in range(len(on)):
            if S[d, d] > _PIVOT:
                S -= np.outer(S[d], S[d]) / S[d, d]
        return self._judged(S[len(on) :, len(on) :], self._sizes[x], len(on))

    def _judged(self, S: NDArray[np.float64], of_x: int, given: int) -> Result:
        """Return the result of a residual covariance, whose first columns are of x, given so many columns."""
        one, two = _kept(S, range(of_x)), _kept(S, range(of_x, len(S)))
        if not one or not two:
            return Result(0.0, math.inf, 0)
        if len(one) == len(two) == 1:
            i, j = one[0], two[0]
            r2 = min(float(S[i, j] * S[i, j] / (S[i, i] * S[j, j])), 1.0)
            df = self.n - given - 3
            z = math.inf if r2 >= 1.0 else math.atanh(math.sqrt(r2))
            return Result(pvalue_of(r2, df), df * z * z, 1)
        log_lambda = _log_det(S, [*one, *two]) - _log_det(S, one) - _log_det(S, two)
        if math.isnan(log_lambda) or math.isinf(log_lambda):
            return Result(0.0, math.inf, 0)
        scale = self.n - 1 - given - (len(one) + len(two) + 1) / 2
        statistic, df = max(-scale * log_lambda, 0.0), len(one) * len(two)
        return Result(chi_square_tail(statistic, df), statistic, df)

    # --- all pairs ------------------------------------------------------------------------------------------

    def dependent_given_rest(self, alpha: float) -> NDArray[np.bool_]:
        """Return which pairs depend on each other given all other variables, from one inverse."""
        if self.n - self.columns - 1 < 1:
            raise CITestError(
                f"total conditioning on {self.columns} columns needs at least {self.columns + 2} rows,"
                f" there are {self.n}"
            )
        dependent: NDArray[np.bool_] = self.given_rest() <= alpha
        np.fill_diagonal(dependent, False)
        return dependent

    def given_rest(self) -> NDArray[np.float64]:
        """Return the p-value of each pair given all other variables; the matrix is kept."""
        if self._rest is None:
            precision = np.ascontiguousarray(self.blocks.moments.precision(self.correlation))
            self._rest = self._rest_of(precision) if self._kernel is None else self._kernel.given_rest(precision)
        return self._rest

    def _rest_of(self, precision: NDArray[np.float64]) -> NDArray[np.float64]:
        p = len(self.names)
        found = np.zeros((p, p))
        for x in range(p):
            for y in range(x + 1, p):
                asked = [*self.blocks.columns(x), *self.blocks.columns(y)]
                S = np.asarray(np.linalg.inv(precision[np.ix_(asked, asked)]), dtype=np.float64)
                found[x, y] = found[y, x] = self._judged(S, self._sizes[x], self.columns - len(asked)).pvalue
        return found

    def pvalue_given_rest(self, x: int, y: int) -> float | None:
        """Return the p-value that total conditioning saw for a pair; None where there was none."""
        return None if self._rest is None else float(self._rest[x, y])

    def for_engine(self) -> ColumnsInput | None:
        """Return what the compiled engine needs to make the same tests; a subclass may make others."""
        if not self.compiled or type(self) is not BlockGaussian:
            return None
        rest = None if self.collinear else self.given_rest
        return ColumnsInput(self.n, self.correlation, self.blocks.starts, None, rest)

    # --- what it is -----------------------------------------------------------------------------------------

    def check_usable(self) -> None:
        """Refuse columns of numbers that others determine, by name; categories may determine each other, and numbers.

        What a set determines is never called independent, so categories that do so hide no edge.
        """
        numbers = set(self.dataset.numbers())
        order = sorted(range(len(self.names)), key=lambda v: self.names[v] in numbers)
        at = [c for v in order for c in self.blocks.columns(v)]
        of_columns = tuple(self.names[v] for v in order for _ in self.blocks.columns(v))
        last = at[sum(name not in numbers for name in of_columns) :]
        names = tuple(name for name in of_columns if name in numbers)
        replace(self.blocks.moments.take(last), names=names).check_duplicates(self.correlation[np.ix_(last, last)])
        determined = dependent_columns(R := self.correlation[np.ix_(at, at)]) if self.collinear else []
        for k in determined:
            before = [*(j for j in range(k) if j not in determined), k]
            others = [of_columns[before[j]] for j in determining(R[np.ix_(before, before)], len(before) - 1)]
            if of_columns[k] in numbers and not numbers.isdisjoint(others):
                raise Determined(of_columns[k], others)

    @cached_property
    def collinear(self) -> bool:
        """Whether some columns determine others, though there are rows enough for all."""
        if self.n <= self.columns:
            return False
        try:
            return bool((np.linalg.cholesky(self.correlation).diagonal() ** 2 < _PIVOT).any())
        except np.linalg.LinAlgError:
            return True

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self.dataset.summary()

    @property
    def _first(self) -> NDArray[np.int32]:
        return self.blocks.starts[:-1]

    @cached_property
    def _between(self) -> NDArray[np.float64]:
        """The correlations after each block was made orthonormal: no choice of indicators or of codes matters."""
        white = np.eye(self.columns)
        widths = np.asarray(self._sizes)
        for width in set(self._sizes) - {1}:  # all blocks of one width at once
            own = self._first[widths == width][:, None] + np.arange(width)
            at = own[:, :, None], own[:, None, :]
            white[at] = np.linalg.inv(np.linalg.cholesky(self.correlation[at]))
        return np.asarray(white @ self.correlation @ white.T)

    def canonical_order(self) -> list[int]:
        """Return the variables by content, those that depend least on others first, equals by name."""
        by_column = np.einsum("ij,ij->i", self._between, self._between)
        strength = np.add.reduceat(by_column, self._first) / self._sizes
        return sorted(range(len(self.names)), key=lambda v: (float(f"{strength[v]:.9e}"), self.names[v]))

    def reordered(self, order: Sequence[int]) -> BlockGaussian:
        """Return the same test with its variables in another order."""
        return type(self)(self.dataset, self.blocks.take(order), self.compiled)


def _kept(S: NDArray[np.float64], columns: range) -> list[int]:
    """Return the columns that are no combinations of those before."""
    kept: list[int] = []
    for c in columns:
        left = S[c, c]
        if kept:
            left -= S[c, kept] @ np.linalg.solve(S[np.ix_(kept, kept)], S[kept, c])
        if left > _PIVOT:
            kept.append(c)
    return kept


def _log_det(S: NDArray[np.float64], columns: Sequence[int]) -> float:
    """Return the logarithm of a determinant, minus infinity where a pivot is zero."""
    try:
        pivots = np.diag(np.linalg.cholesky(S[np.ix_(columns, columns)])) ** 2
    except np.linalg.LinAlgError:
        return -math.inf
    return float(np.log(pivots).sum()) if (pivots > _PIVOT).all() else -math.inf


def chi_square_tail(statistic: float, df: int) -> float:
    """Return the probability that a chi-square variable is larger.

    Examples
    --------
    >>> round(chi_square_tail(3.84, 1), 3)
    0.05
    """
    if _tests is not None:
        return float(_tests.tail(statistic, df))
    return float(special.chdtrc(df, statistic))
