"""Fisher's z test of partial correlation, for data that are (near) jointly Gaussian.

With r the partial correlation of x and y given k variables and n rows, sqrt(n - k - 3) |atanh r| is compared with the
normal distribution. All that is needed of the data is their correlation matrix and n.

A conditioning variable that is a combination of the others adds nothing and is passed over. Where x or y itself
is determined by the conditioning set, the partial correlation is undefined; such a test never says
"independent", since that would let two near copies of a variable explain each other's edges away.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.growth import EvidenceGrowth, GaussianGrowth, pvalue_of, squared_partial_correlation
from lmarvel.ci.search import compiled_result, compiled_search, readable_search
from lmarvel.ci.test import SepsetAnswer, SepsetQuery, check_distinct
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import SMALL, Moments, inverse_of
from lmarvel.data.rows import ascending, correlation_of, permuted, strengths
from lmarvel.engine import load
from lmarvel.errors import CITestError, DataError, LMarvelWarning
from lmarvel.text import counted

_tests = load()  # None where it is not built: the readable code does the same, slower

_FAR = 1300.0  # a squared statistic whose p-value a number can just hold
_KEPT = 1000  # up to so many variables the inverse of total conditioning is kept, to tell how close a pair came


@lru_cache(maxsize=1)
def _say_that_it_is_slow() -> None:
    """Say once that the compiled search is missing."""
    warnings.warn(
        "the compiled search was not built, and the readable one takes its place: the same results, many times slower."
        " Install a C++ compiler and lmarvel again",
        LMarvelWarning,
        stacklevel=4,
    )


def kernel_name() -> str:
    """Return which search is active: "compiled" or "readable"."""
    return "readable" if _tests is None else "compiled"


class FisherZ:
    """Fisher's z test on a table.

    Parameters
    ----------
    data : array, frame, path, Dataset or Moments
        Rows are observations; see :class:`lmarvel.Dataset`.
    names : sequence of str, optional
        Variable names for an array.
    compiled : bool
        False forces the readable search, which gives the same answers.
    described : Dataset, optional
        The table that results describe, where ``data`` was made from it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> b = a + rng.normal(size=500)
    >>> c = b + rng.normal(size=500)
    >>> test = FisherZ(np.column_stack([a, b, c]), names=["A", "B", "C"])
    >>> test.pvalue(0, 2, []) < 0.01 < test.pvalue(0, 2, [1])
    True
    """

    has_table = True

    def __init__(
        self,
        data: object,
        names: Sequence[str] | None = None,
        compiled: bool = True,
        described: Dataset | None = None,
    ) -> None:
        self.dataset = Dataset.of(data, names)
        self._described = self.dataset if described is None else described
        self._moments: Moments | None = self.dataset.moments
        self._order: NDArray[np.intp] | None = None  # of our variables among those of the table
        self.names = self.moments.names
        self.n = self.moments.n
        self._correlation: NDArray[np.float64] | None = None  # in the order of our variables, made when it is needed
        self._strengths: NDArray[np.float64] | None = None
        self._asked: Any = None
        self.largest_set = self.n - 4
        if self.largest_set < 0:
            raise DataError(f"{self.n} rows are too few: even a test given nothing needs 4 rows")
        self.compiled = compiled and _tests is not None
        self.search = "compiled" if self.compiled else "readable"
        if compiled and not self.compiled:
            _say_that_it_is_slow()
        self._precision: NDArray[np.float64] | None = None
        # Where the columns were checked: a Cholesky factor, and the places of our variables in its order.
        self._factor: tuple[NDArray[np.float64], NDArray[np.intp] | None] | None = None

    @property
    def moments(self) -> Moments:
        """Number of rows, means and covariance, in the order of our variables."""
        if self._moments is None:
            assert self._order is not None
            self._moments = self.dataset.moments.take(self._order.tolist())
        return self._moments

    @property
    def correlation(self) -> NDArray[np.float64]:
        """The correlation matrix, in the order of our variables."""
        if self._correlation is None:
            self._correlation = correlation_of(self.dataset.moments.covariance, self._order)
        return self._correlation

    @property
    def _kernel(self) -> Any:
        """The compiled test, made when it is needed."""
        if self._asked is None:
            self._asked = _tests.Kernel(self.correlation, self.n)
        return self._asked

    def check_usable(self) -> None:
        """Refuse columns that are copies of each other, or that others determine; see :meth:`Moments.check_usable`."""
        moments, p = self.moments, len(self.names)
        self._strengths, copies = strengths(moments.covariance)
        if copies:
            moments.check_duplicates(self.correlation)
        if moments.n_effective > p:
            factor = moments.check_collinear()
            self._factor = (factor, None) if p <= SMALL or self.n > 2 * p else None  # total conditioning needs it

    # --- one test ---------------------------------------------------------------------------------------

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of x and y being independent given the variables ``given``."""
        if self.compiled:
            found = compiled_result(self._kernel.result, self.names, x, y, given)
            if found is not None:
                return float(found[0])
        check_distinct(self.names, x, y, given)
        df = self.n - len(given) - 3
        if df < 1:
            raise CITestError(
                f"{self.n} rows are too few to condition on {counted(len(given), 'variable')}:"
                f" {len(given) + 4} are needed"
            )
        return pvalue_of(squared_partial_correlation(self.correlation, x, y, given), df)

    # --- many tests -------------------------------------------------------------------------------------

    def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
        """Search for a separating set."""
        most = len(query.pool) if query.max_size is None else min(query.max_size, len(query.pool))
        top = min(most, self.largest_set - len(query.always))
        if self.compiled and top >= 0:  # else the rows do not even allow what every set has to hold
            critical = self.critical_up_to(query.alpha, len(query.always) + top)
            answer = compiled_search(self._kernel, self.names, query, top, critical)
        else:
            check_distinct(self.names, query.x, query.y, (*query.always, *query.pool))
            answer = readable_search(_Plain(self), query._replace(max_size=top))
        return answer if top == most or answer.sepset is not None else answer._replace(complete=False)

    def growth(self, target: int) -> GaussianGrowth:
        """Return the growing conditioning set of a target, for boundary searches."""
        return GaussianGrowth(self.correlation, self.critical_at, target)

    def critical(self, alpha: float) -> NDArray[np.float64]:
        """Return for each size of a conditioning set the squared partial correlation at which p = alpha."""
        return _critical(self.n, alpha, min(self.largest_set, 128))

    def critical_up_to(self, alpha: float, size: int) -> NDArray[np.float64]:
        """Return the same for at least the sizes up to ``size``."""
        return _critical(self.n, alpha, max(min(self.largest_set, 128), size))

    def critical_at(self, alpha: float, size: int) -> float:
        """Return the squared partial correlation at which p = alpha, given ``size`` variables."""
        r = math.tanh(self.quantile(alpha) / math.sqrt(self.n - size - 3))
        return r * r

    def quantile(self, alpha: float) -> float:
        """Return the quantile of the normal distribution, two-sided."""
        return _quantile(alpha)

    def dependent_given_rest(self, alpha: float) -> NDArray[np.bool_]:
        """Return which pairs depend on each other given all other variables, from one inverse."""
        p = len(self.names)
        precision, limit = self.total(alpha)
        scale = np.diag(precision).copy()
        dependent = np.empty((p, p), dtype=bool)
        for start in range(0, p, 256):  # in stripes: no second matrix of the same size
            stop = min(start + 256, p)
            stripe = precision[start:stop] ** 2
            np.greater_equal(stripe, limit * np.outer(scale[start:stop], scale), out=dependent[start:stop])
        np.fill_diagonal(dependent, False)
        return dependent

    def total(self, alpha: float) -> tuple[NDArray[np.float64], float]:
        """Return the precision matrix, and the squared partial correlation given all others at which p = alpha."""
        p = len(self.names)
        df = self.n - (p - 2) - 3
        if df < 1:
            raise CITestError(f"total conditioning on {p} variables needs at least {p + 2} rows, there are {self.n}")
        if self._factor is None:
            precision = self.moments.precision(self.correlation)
        else:
            factor, place = self._factor
            self._factor = self._factor if p <= SMALL else None  # a large one is overwritten
            precision = inverse_of(factor)
            precision = precision if place is None else permuted(precision, place)
        if p <= _KEPT:
            self._precision = precision
        return precision, self.critical_at(alpha, p - 2)

    def pvalue_given_rest(self, x: int, y: int) -> float | None:
        """Return the p-value that total conditioning saw for a pair; None where that is not known any more."""
        if self._precision is None:
            return None
        k = self._precision
        between = float(k[x, y])
        r2 = between * between / (float(k[x, x]) * float(k[y, y]))  # a power may round otherwise than a product
        return pvalue_of(min(r2, 1.0), self.n - len(self.names) - 1)

    def for_engine(self) -> FisherZ | None:
        """Return the test itself if the compiled engine makes the same tests; a subclass may make others."""
        return self if self.compiled and type(self) is FisherZ else None

    @property
    def keeps_precision(self) -> bool:
        """Whether total conditioning is kept, to show how close a pair came."""
        return self._precision is not None

    # --- what it is -------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self._described.summary() if self._order is None else Dataset.of(self.moments).summary()

    def canonical_order(self) -> list[int]:
        """Return the columns by content, the least correlated first, equals by name: no order of columns matters."""
        strength = strengths(self.moments.covariance)[0] if self._strengths is None else self._strengths
        order = ascending(strength, 1e-8)
        if order is not None:
            return order  # none are equal to ten digits: names do not matter
        return sorted(range(len(self.names)), key=lambda v: (float(f"{strength[v]:.9e}"), self.names[v]))

    def reordered(self, order: Sequence[int]) -> FisherZ:
        """Return the same test with its variables in another order."""
        if type(self) is not FisherZ:
            return FisherZ(self.moments.take(order), compiled=self.compiled)
        same, at = FisherZ.__new__(FisherZ), np.asarray(order, dtype=np.intp)
        vars(same).update(vars(self))  # the numbers themselves do not depend on the order
        same.names = tuple(map(self.names.__getitem__, order))
        same._order = at if self._order is None else self._order[at]
        same._moments = same._precision = same._correlation = same._strengths = same._asked = None
        if self._factor is not None:
            factor, place = self._factor
            same._factor = factor, at if place is None else place[at]
            if len(factor) > SMALL:
                self._factor = None  # whoever uses it overwrites it
        return same


class ClusteredZ:
    """Fisher's z test for rows that belong to clusters: each test counts its own number of independent rows.

    The partial correlation is a mean of products of residuals. The variance of this mean is that of their sums by
    cluster, so n rows count as n / d, where d is the sum of squares of these sums divided by that of the products, and
    at least 1.

    Parameters
    ----------
    data : Dataset
        A table of numbers without gaps and weights, whose rows have clusters.

    Examples
    --------
    >>> once = np.random.default_rng(0).normal(size=(60, 2))
    >>> again = Dataset.of(np.repeat(once, 3, axis=0), cluster=np.repeat(np.arange(60), 3))
    >>> round(ClusteredZ(again).pvalue(0, 1, ()) / FisherZ(once).pvalue(0, 1, ()), 9)
    1.0
    """

    has_table = True
    search = "readable"

    def __init__(self, data: Dataset, order: Sequence[int] | None = None, plain: FisherZ | None = None) -> None:
        self.dataset, clusters = data, data.clusters
        assert clusters is not None
        self.plain = FisherZ(data) if plain is None else plain
        self.names, self.n, self.moments = self.plain.names, self.plain.n, self.plain.moments
        self.largest_set, self.check_usable = self.plain.largest_set, self.plain.check_usable
        self.canonical_order = self.plain.canonical_order
        rows = data.rows() if order is None else data.rows()[:, list(order)]
        self._rows = np.ascontiguousarray((rows - self.moments.mean) / np.sqrt(self.moments.covariance.diagonal()))
        self._clusters, self._at = clusters, tuple(range(len(self.names)) if order is None else order)

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of x and y being independent given the variables ``given``."""
        found = self._statistic(x, y, given)
        return 0.0 if math.isinf(found) else math.erfc(math.sqrt(found / 2))

    def evidence(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return minus the logarithm of the p-value, also where that is too small for a number."""
        found = self._statistic(x, y, given)
        if found < _FAR:
            return -math.log(math.erfc(math.sqrt(found / 2)))
        return found / 2 + math.log(found * math.pi / 2) / 2  # to which the tail of the normal distribution tends

    def growth(self, target: int) -> EvidenceGrowth:
        """Return the growing conditioning set of a target, for boundary searches."""
        return EvidenceGrowth(self.evidence, len(self.names), target)

    def _statistic(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the square of the normal statistic."""
        check_distinct(self.names, x, y, given)
        R, on, pair = self.plain.correlation, list(given), [x, y]
        r2 = squared_partial_correlation(R, x, y, given)
        if r2 >= 1.0:
            return math.inf
        left = self._rows[:, pair]
        if on:
            left = left - self._rows[:, on] @ np.linalg.lstsq(R[np.ix_(on, on)], R[np.ix_(on, pair)], rcond=None)[0]
        products = left[:, 0] * left[:, 1]
        products -= products.mean()
        sums = np.bincount(self._clusters, products)
        design = max(float(sums @ sums) / float(products @ products), 1.0)
        return max(len(left) / design - len(on) - 3, 1.0) * math.atanh(math.sqrt(r2)) ** 2

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self.dataset.summary()

    def reordered(self, order: Sequence[int]) -> ClusteredZ:
        """Return the same test with its variables in another order."""
        return ClusteredZ(self.dataset, [self._at[v] for v in order], self.plain.reordered(order))


class _Plain:
    """The test without its search, so that the readable one is used."""

    def __init__(self, test: FisherZ) -> None:
        self.names = test.names
        self.pvalue = test.pvalue


@lru_cache(maxsize=64)
def _critical(n: int, alpha: float, size: int) -> NDArray[np.float64]:
    critical = np.tanh(_quantile(alpha) / np.sqrt(n - np.arange(size + 1) - 3)) ** 2
    critical.flags.writeable = False
    return np.asarray(critical)


@lru_cache(maxsize=64)
def _quantile(alpha: float) -> float:
    """Return z with a two-sided p-value of alpha."""
    return -NormalDist().inv_cdf(alpha / 2)
