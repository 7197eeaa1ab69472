"""The test of conditional independence in tables of counts, for columns of levels.

In each stratum z, a combination of levels of Z, the counts of X and Y make a table. With n for counts and e_xyz =
n_xz n_yz / n_z for what is expected of a cell,

    X² = sum (n_xyz - e_xyz)² / e_xyz,    df = sum over z of (rows_z - 1)(columns_z - 1),

where rows_z and columns_z are the levels of X and of Y that hold a count in the stratum: an empty row tells nothing and
has no degrees of freedom. A set whose table would have fewer than 5 rows per cell on average is not tried.

This is Pearson's statistic. With many rows it is the likelihood ratio G², and where cells are expected to hold few rows
it has what G² lacks: three moments given all margins in closed form. The p-value is the tail of a distribution that
has these moments; with many rows that is the chi-square distribution.

**The moments.** Let n rows fall into r levels of X and k levels of Y, both counts fixed, and match them at random. The
statistic is then n tr(A B_σ), with A and B the projections on the levels less their mean, and σ a random order. Its
first moments over all orders are known in closed form: mean and variance from Haldane (1940), the third from Mielke &
Berry (1985) and, for any two matrices, from Kazi-Aoual et al. (1995). For each side they need

    t = r - 1,    s = n Σ 1/n_x - 2r + 1,    q = n² Σ 1/n_x² - 3n Σ 1/n_x + 3r - 1,

where n_x are the rows of a level. For projections the third cumulant is a bilinear form in (t, t², t³, s, ts, q) of
either side, whose coefficients are polynomials in n (``_THIRD``).

Strata are independent of each other, so their cumulants add up. The distribution with these three is one of Pearson's
system that begins at zero, as the statistic does: beta where it has a short tail, beta prime where it has a long one,
and gamma, which the chi-square distributions are, between the two.

**What is counted.** A level with one or two rows in a stratum adds little but noise: a single row in a cell that
expects 0.01 adds 100. So levels with fewer than 3 rows in a stratum are taken together there, and left out if they have
fewer than 3 together. The margins decide it, and given the margins the rest is as independent as before.

Rows with a missing value are left out of the tests that need that value, and of no others. Weights multiply counts,
scaled so that they sum up to the effective number of rows. Where Z determines X or Y nothing can be compared, and the
test does not say "independent".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.table_test import Result, TableTest, _tests
from lmarvel.ci.test import ColumnsInput
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.deferred import late
from lmarvel.errors import DataError

special = late("scipy.special")


ROWS_A_CELL = 5
"""How many rows a table needs on average for each of its cells."""
_MOST_LEVELS = 65_000
_FEWEST = 3  # rows of a stratum: with two nothing is left to chance, given the margins; and of a level in a stratum
_NOTHING = 1e-9
_MISSING = 65_535


class GSquare(TableTest):
    """G-square on a table of levels.

    Parameters
    ----------
    data : Dataset or anything that is a table
        Columns of levels: text, categories, two values, or numbers that were declared to be levels.
    compiled : bool
        False forces the readable code, which gives the same answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, 1000)
    >>> b, c = (a + (rng.random((2, 1000)) < 0.2)) % 2
    >>> test = GSquare({"a": a, "b": b, "c": c})
    >>> test.pvalue(1, 2, []) < 0.01 < test.pvalue(1, 2, [0])
    True
    """

    def __init__(self, data: Any, compiled: bool = True) -> None:
        self.dataset = Dataset.of(data)
        numbers = [n for n, kind in zip(self.dataset.names, self.dataset.kinds, strict=True) if kind is Kind.CONTINUOUS]
        if numbers:
            listed, have = ", ".join(map(repr, numbers[:20])), "has" if len(numbers) == 1 else "have"
            raise DataError(
                f"g-square is for categorical columns, and {listed} {have} numbers: declare categories (categorical=),"
                " cut the numbers into classes, or use test='mixed'"
            )
        codes, weights = self.dataset.codes(), self.dataset.weights
        self._codes, self._levels = _compact(self.dataset.names, codes)
        self._weights: NDArray[np.float64] | None = None
        self._rows = float(len(codes))
        if weights is not None or self.dataset.clusters is not None:
            all_alike = self._rows
            self._rows = min(self.dataset.rows_told(), all_alike)  # of which tests leave out those with gaps
            weights = np.ones(len(codes)) if weights is None else weights
            if self._rows < all_alike or self.dataset.weights is not None:
                self._weights = np.ascontiguousarray(weights * (self._rows / weights.sum()), dtype=np.float64)
        self._set_up(self.dataset.names, compiled)
        self._check_pairs()

    def _set_up(self, names: tuple[str, ...], compiled: bool) -> None:
        self.names, self.n = names, int(self._rows)
        self._sizes: list[int] = self._levels.tolist()
        self.columns = sum(self._sizes) - len(self._sizes)  # indicators, of which a score is made
        self._gaps = (self._codes == _MISSING).any(axis=1).astype(np.uint8)
        cheap = sorted(self._sizes)
        fitting = [k for k in range(len(cheap) - 1) if self._cost(cheap[: k + 2]) <= self._rows]
        self.largest_set = max(fitting, default=0)
        self.shortage = (
            f"sets whose table has fewer than {ROWS_A_CELL} rows per cell were not tried, and there are {self.n} rows"
        )
        super().__init__(compiled)

    def _check_pairs(self) -> None:
        """Refuse two columns that not even a test given nothing has rows for, unless values are missing."""
        if self.dataset.test_wise:
            self.apart, self.rows_for = len(self.dataset.gaps().apart), self._rows_for
            return
        order = np.argsort(self._sizes, kind="stable")[::-1].tolist()
        there = None
        if self._gaps.any():
            present = (self._codes != _MISSING) * (1.0 if self._weights is None else self._weights)
            there = present @ (self._codes != _MISSING).T.astype(float)
        for i, x in enumerate(order):
            for y in order[i + 1 :]:
                rows = self._rows if there is None else float(there[x, y])
                if self._sizes[x] * self._sizes[y] * ROWS_A_CELL > rows:
                    self._refuse(x, y, rows)
                if there is None:
                    break

    def _refuse(self, x: int, y: int, rows: float) -> None:
        one, two = (f"{self.names[v]!r} ({self._sizes[v]} categories)" for v in (x, y))
        needed = self._sizes[x] * self._sizes[y] * ROWS_A_CELL
        raise DataError(
            f"{rows:.0f} rows are too few to test {one} and {two} by g-square, which needs {needed}: merge categories,"
            " drop a column, or use test='mixed'"
        )

    def _compiled(self) -> Any:
        return _tests.Kernel(None, self._codes.shape[1], None, self._columns())

    def _columns(self) -> tuple[Any, ...]:
        return self._codes, self._levels, self._weights, self._gaps, self._rows, float(ROWS_A_CELL)

    def _cost(self, sizes: Sequence[int]) -> float:
        return math.prod(sizes) * ROWS_A_CELL

    def _budget(self, variables: Sequence[int]) -> float:
        there = [self._codes[v] != _MISSING for v in variables if self._gaps[v]]
        if not there:
            return self._rows
        complete = np.logical_and.reduce(there)
        return float(complete.sum() if self._weights is None else self._weights[complete].sum())

    def _rows_for(self, x: int, y: int, given: Sequence[int]) -> int | None:
        """Return the number of rows that a test uses; None where they are too few for it."""
        return int(self._budget((x, y, *given))) if self.affords(x, y, given) else None

    def _readable(self, x: int, y: int, given: Sequence[int]) -> Result:
        stratum = np.zeros(self._codes.shape[1], dtype=np.int64)
        complete = np.ones(len(stratum), dtype=bool)
        for v in (*given, x, y):
            stratum = stratum * self._sizes[v] + self._codes[v]
            complete &= self._codes[v] != _MISSING
        strata = math.prod(self._sizes[v] for v in given)
        cells = strata * self._sizes[x] * self._sizes[y]
        weights = None if self._weights is None else self._weights[complete]
        counts = np.bincount(stratum[complete], weights, minlength=cells)
        tables = counts.reshape(strata, self._sizes[x], self._sizes[y]).astype(np.float64)
        return _judged(tables)

    def for_engine(self) -> ColumnsInput | None:
        """Return what the compiled engine needs to make the same tests; a subclass may make others."""
        if not self.compiled or type(self) is not GSquare:
            return None
        return ColumnsInput(self._codes.shape[1], None, None, self._columns())

    # --- what it is -----------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self.dataset.summary()

    def canonical_order(self) -> list[int]:
        """Return the variables by content, the least entropy first, equals by name: no order or code matters."""

        def entropy(v: int) -> float:
            codes = self._codes[v]
            there = codes != _MISSING
            weights = None if self._weights is None else self._weights[there]
            counts = np.sort(np.bincount(codes[there], weights).astype(np.float64))
            return _entropy(counts)

        entropies = [entropy(v) for v in range(len(self.names))]
        return sorted(range(len(self.names)), key=lambda v: (float(f"{entropies[v]:.9e}"), self.names[v]))

    def reordered(self, order: Sequence[int]) -> GSquare:
        """Return the same test with its variables in another order."""
        same = type(self).__new__(type(self))
        vars(same).update(vars(self))
        same._codes, same._levels = np.ascontiguousarray(self._codes[list(order)]), self._levels[list(order)]
        same._set_up(tuple(self.names[v] for v in order), self.compiled)
        return same


def _compact(names: Sequence[str], codes: NDArray[np.int32]) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
    """Return codes of the levels that have rows, a row for each variable, and how many levels there are."""
    rows = np.empty(codes.shape[::-1], dtype=np.uint16)
    levels = np.empty(len(names), dtype=np.int32)
    for v, name in enumerate(names):
        column = codes[:, v]
        held = np.bincount(column[column >= 0]) > 0
        levels[v] = np.count_nonzero(held)
        if levels[v] < 2:
            raise DataError(f"the column {name!r} has one category in all rows: drop it")
        if levels[v] > _MOST_LEVELS:
            raise DataError(
                f"the column {name!r} has {levels[v]} categories, more than g-square takes: merge them, or drop it"
            )
        place = np.append(np.cumsum(held) - 1, _MISSING)  # behind all levels, where -1 looks: a gap
        rows[v] = place[column]
    return rows, levels


def _judged(tables: NDArray[np.float64]) -> Result:
    """Return the result of the tables of all strata."""
    found = _compared([_with_levels_taken_together(table) for table in tables])
    return found if found.df else _compared(tables)


def _compared(tables: Iterable[NDArray[np.float64]]) -> Result:
    statistic, df = 0.0, 0
    expected = np.zeros(3)
    for table in tables:
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        free = (table.shape[0] - 1) * (table.shape[1] - 1)
        if not table.size or free == 0:
            continue
        rows, columns, n = table.sum(axis=1), table.sum(axis=0), float(table.sum())
        found = n * float((table**2 / np.outer(rows, columns)).sum()) - n
        expected += cumulants_given_margins(rows, columns) if n >= _FEWEST else (found, 0.0, 0.0)
        statistic, df = statistic + found, df + free
    if df == 0:
        return Result(0.0, math.inf, 0)
    varies = float(expected[1]) > _NOTHING * df  # else the margins say all, and nothing more was found
    return Result(tail(statistic, Cumulants(*expected.tolist())) if varies else 1.0, max(statistic, 0.0), df)


def _with_levels_taken_together(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table whose levels have three rows or more, as far as its margins allow."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    return np.asarray(_together(rows) @ table @ _together(columns).T)


def _together(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix that takes levels with fewer than three rows together, or leaves them out.

    Examples
    --------
    >>> _together(np.array([2.0, 9.0, 1.0])).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    >>> _together(np.array([2.0, 9.0])).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    few = (counts > 0) & (counts < _FEWEST)
    matrix = np.diag((~few).astype(np.float64))
    if counts[few].sum() >= _FEWEST:
        matrix[np.argmax(few), few] = 1.0
    return matrix


def _entropy(counts: NDArray[np.float64]) -> float:
    held = counts[counts > 0]
    return float(np.log(held.sum()) - held @ np.log(held) / held.sum())


_FEWEST, _FOR_THIRD = 3, 6  # rows that there must be for a variance, and for the formula of the third cumulant
_NEARLY_GAMMA = 1e5

# Coefficients of products of (t, t², t³, s, ts, q), as polynomials in n, the highest power first, all over
# (n - 1)³ (n - 2) (n - 3) (n - 4) (n - 5). The line of a term has those with itself and with the terms before it.
_THIRD = (
    ((8, -84, 368, -856, 1144, -884, 368, -64),),
    ((60, -348, 780, -852, 456, -96), (18, -120, 228, 84, -606, 540, -144)),
    ((8, 0, -24, 16, 0), (6, -18, -30, 18, 24, 0), (4, -26, 24, 46, 0, 0)),
    (
        (-28, 184, -504, 720, -556, 216, -32),
        (-18, 108, -348, 624, -594, 276, -48),
        (-6, 18, -10, -10, 8, 0),
        (22, -40, -72, 268, -286, 124, -16),
    ),
    (
        (-60, 228, -324, 204, -48),
        (-24, 114, -66, -186, 234, -72),
        (-6, 36, -42, 0, 12, 0),
        (24, -102, 210, -234, 126, -24),
        (9, -36, 0, -36, 99, -36),
    ),
    (
        (20, -96, 184, -176, 84, -16),
        (18, -84, 168, -180, 102, -24),
        (2, -10, 18, -14, 4, 0),
        (-22, 40, 20, -80, 50, -8),
        (-3, 0, 30, -60, 45, -12),
        (1, 14, -20, -10, 19, -4),
    ),
)


class Cumulants(NamedTuple):
    """Mean, variance, and third cumulant, the mean third power of the deviation from the mean."""

    mean: float
    variance: float
    third: float


def cumulants_given_margins(rows: NDArray[Any], columns: NDArray[Any]) -> Cumulants:
    """Return the cumulants of the statistic of a table with these margins whose rows and columns are independent.

    The third is that of a gamma distribution where a table has fewer than six rows.

    Examples
    --------
    >>> cumulants_given_margins(np.array([2.0, 1.0]), np.array([2.0, 1.0]))[:2]   # 3 in one case of three, else 3 / 4
    (1.5, 1.125)
    """
    n, r, k = float(rows.sum()), len(rows), len(columns)
    mean = n * (r - 1) * (k - 1) / (n - 1)
    one, two = (n * (1 / rows).sum() - r * r) / (n - 2), (n * (1 / columns).sum() - k * k) / (n - 2)
    even = max((r - 1) * (n - r) / (n - 1) - one, 0.0) * max((k - 1) * (n - k) / (n - 1) - two, 0.0)
    variance = float(n * n / (n - 1) * one * two + (2 * n / (n - 3) * even if n > 3 else 0.0))
    if n < _FOR_THIRD:
        return Cumulants(mean, variance, 2 * variance**2 / mean)
    a, b = _terms(n, rows), _terms(n, columns)
    third = 0.0
    for i, line in enumerate(_THIRD):
        for j, polynomial in enumerate(line):
            products = a[i] * b[i] if i == j else a[i] * b[j] + a[j] * b[i]
            third += float(np.polyval(polynomial, n)) * products
    return Cumulants(mean, variance, third / ((n - 1) ** 3 * (n - 2) * (n - 3) * (n - 4) * (n - 5)))


def _terms(n: float, counts: NDArray[Any]) -> tuple[float, ...]:
    r, over, squared = len(counts), float((1 / counts).sum()), float((1 / counts**2).sum())
    t, s, q = r - 1.0, n * over - 2 * r + 1, n * n * squared - 3 * n * over + 3 * r - 1
    return t, t * t, t * t * t, s, t * s, q


def tail(statistic: float, expected: Cumulants) -> float:
    """Return the probability of a statistic at least as large, of the distribution from zero on with these cumulants.

    The quotients of successive moments about zero of beta and beta prime distributions are s (a + j) / (N + j) for
    j = 0, 1, 2; N is negative for the latter and infinite for gamma.

    Examples
    --------
    >>> round(tail(5.99, Cumulants(2.0, 4.0, 16.0)), 3)    # chi-square on 2 degrees of freedom
    0.05
    """
    mean, variance, third = expected
    if statistic <= 0.0:
        return 1.0
    second = variance + mean * mean
    one, two, three = mean, second / mean, (third + 3 * mean * variance + mean**3) / second
    bend = three - 2 * two + one
    if abs(bend) * _NEARLY_GAMMA > 2 * abs(two - three):
        N = 2 * (two - three) / bend
        scale = two * (N + 1) - one * N
        a = one * N / scale if scale != 0.0 else 0.0
        if N > 0.0 and 0.0 < a < N:
            share = statistic / scale
            return float(special.betainc(N - a, a, 1 - share)) if share < 1.0 else 0.0
        if N < -2.0 and a > 0.0:
            return float(special.betainc(1 - N, a, 1 / (1 - statistic / scale)))
    return float(special.gammaincc(mean * mean / variance, statistic * mean / variance))
