"""Test-wise deletion: every test of a table with missing values uses the rows that have its variables, and no others.

A test of x and y given Z is asked of the rows in which x, y and Z were all observed. To look at those rows is to
condition on "observed", a kind of sample selection, which the methods of this package allow for: so their answers stay
sound even where values are missing not at random, as long as no missingness causes another value to be missing
(Strobl, Visweswaran & Spirtes 2018).

Which rows these are depends on those variables alone that have gaps. So one test of a table (a *part*: the rows that
have some variables with gaps; these, and all that have none) serves every question with the same variables with gaps,
and questions without such variables are asked of all rows. Parts are remembered up to a number of bytes. For Fisher's z
a part is a table of correlations.

A set that fewer than 20 rows have beyond its size is not tried, and never called independent. A pair of which no set
can be tried stays undecided.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.fisher_z import FisherZ
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.ci.growth import EvidenceGrowth
from lmarvel.ci.search import readable_search
from lmarvel.ci.table_test import TableTest
from lmarvel.ci.test import CITest, SepsetAnswer, SepsetQuery, check_distinct
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.missing.gaps import FEWEST
from lmarvel.data.moments import Moments
from lmarvel.errors import LMarvelError

MOST_BYTES = 256 << 20  # of parts that are remembered

Make = Callable[[Dataset], CITest]


class Part(NamedTuple):
    """A test on the rows that have some variables, the place of each variable in it, and the number of rows."""

    test: CITest
    place: dict[int, int]
    rows: int
    size: int


class TestWise:
    """A test by test-wise deletion, made of any test of a table.

    Parameters
    ----------
    data : Dataset
        The table, with missing values.
    make : callable, optional
        Makes the test of a part of the table; Fisher's z by default.
    moments : callable, optional
        Returns the moments that a score rests on, where columns are as they are tested.
    memory : int
        The bytes of parts to remember at most.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=1000)
    >>> b, c = a + rng.normal(size=(2, 1000))
    >>> b[rng.random(1000) < 0.3] = np.nan
    >>> test = TestWise(Dataset.of({"a": a, "b": b, "c": c}))
    >>> test.pvalue(1, 2, []) < 0.01 < test.pvalue(1, 2, [0])
    True
    >>> test.rows_for(0, 2, []), 600 < test.rows_for(0, 1, []) < 800
    (1000, True)
    """

    __test__ = False  # no test case of pytest
    has_table = True
    search = "readable"

    def __init__(
        self,
        data: Dataset,
        make: Make | None = None,
        moments: Callable[[], Moments] | None = None,
        memory: int = MOST_BYTES,
    ) -> None:
        self.dataset, self.names, self.n = data, data.names, round(data.rows_told())
        self._make, self._moments, self._memory = make, moments, memory
        self._at = list(range(len(data.names)))  # of our variables among the columns of the table
        self._rows = data.rows()
        self._seen = ~np.isnan(self._rows)
        self._gapped = [not bool(column.all()) for column in self._seen.T]
        self._whole = [v for v, gapped in enumerate(self._gapped) if not gapped]
        self._parts: OrderedDict[tuple[int, ...], Part | None] = OrderedDict()
        self._taken = 0
        self._lock = Lock()
        self.apart = len(data.gaps().apart)
        self.rest_rows = int(self._seen.all(axis=1).sum())
        self.largest_set = min(len(self.names), max(self.n - FEWEST, 0))
        self.shortage = "sets that too few rows have all variables of were not tried"

    # --- parts ----------------------------------------------------------------------------------------------

    def _part(self, variables: Sequence[int]) -> Part | None:
        """Return the test of the rows that have some columns of the table; None where it cannot be made."""
        gapped = tuple(v for v in sorted(variables) if self._gapped[v])
        found = self._kept(gapped, [*self._whole, *gapped])
        if found is None or not found.place.keys() >= set(variables):  # something else stands in the way: leave it out
            exact = tuple(sorted(variables))
            found = self._kept((-1, *exact), list(exact))
        return None if found is None or not found.place.keys() >= set(variables) else found

    def _kept(self, key: tuple[int, ...], columns: list[int]) -> Part | None:
        with self._lock:
            if key in self._parts:
                self._parts.move_to_end(key)
                return self._parts[key]
        made = self._made([v for v in (key if key[:1] != (-1,) else columns) if self._gapped[v]], columns)
        with self._lock:
            if key not in self._parts:
                self._parts[key] = made
                self._taken += 0 if made is None else made.size
            while self._taken > self._memory and len(self._parts) > 1:
                _, old = self._parts.popitem(last=False)
                self._taken -= 0 if old is None else old.size
        return made

    def _made(self, needed: list[int], columns: list[int]) -> Part | None:
        rows: NDArray[np.bool_] = np.asarray(self._seen[:, needed].all(axis=1))
        values = self._rows[rows]
        if len(values) < FEWEST:
            return None
        columns = [v for v in columns if (values[:, v] != values[0, v]).any()]
        if len(columns) < 2:
            return None
        place = {v: i for i, v in enumerate(columns)}
        if self._make is None:
            weights = self.dataset.weights
            told = round(self.dataset.rows_told(rows))
            if told < 4:  # with weights or clusters
                return None
            moments = _moments(values[:, columns], None if weights is None else weights[rows], told)
            return Part(FisherZ(moments), place, len(values), 16 * len(columns) ** 2)
        try:
            some = self.dataset.part(needed, columns)
            test = self._make(some)
            width = len(test.table.basis) if isinstance(test, ResidualProducts) else len(columns)
            return Part(test, place, some.n, 16 * some.n * width)
        except LMarvelError:
            return None

    # --- one test -------------------------------------------------------------------------------------------

    def rows_for(self, x: int, y: int, given: Sequence[int]) -> int | None:
        """Return the number of rows that a test uses; None where they are too few for it."""
        found = self._affordable(x, y, given)
        return None if found is None else found[0].rows

    def _affordable(self, x: int, y: int, given: Sequence[int]) -> tuple[Part, int, int, list[int]] | None:
        asked = [self._at[v] for v in (x, y, *given)]
        part = self._part(asked)
        if part is None or part.rows < FEWEST + len(given):
            return None
        a, b, *rest = (part.place[v] for v in asked)
        rest.sort()
        if isinstance(part.test, FisherZ) and len(rest) > part.test.largest_set:
            return None
        if isinstance(part.test, TableTest) and not part.test.affords(a, b, rest):
            return None
        return part, a, b, rest

    def affords(self, x: int, y: int, given: Sequence[int]) -> bool:
        """Tell whether enough rows have all variables of a test."""
        return self._affordable(x, y, given) is not None

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of x and y being independent given a set, 0 where the rows are too few for it."""
        check_distinct(self.names, x, y, given)
        found = self._affordable(x, y, given)
        return 0.0 if found is None else found[0].test.pvalue(*found[1:])

    def evidence(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return minus the logarithm of the p-value given the longest beginning of ``given`` that rows allow."""
        found = self._affordable(x, y, given)
        if found is None:
            return self.evidence(x, y, given[:-1]) if given else math.inf
        part, a, b, rest = found
        ask = getattr(part.test, "evidence", None)
        if ask is not None:
            return float(ask(a, b, rest))
        p = part.test.pvalue(a, b, rest)
        return -math.log(p) if p > 1e-290 else 700.0 + self._strength(part, a, b, rest)

    @staticmethod
    def _strength(part: Part, a: int, b: int, rest: list[int]) -> float:
        """Tell the stronger of two dependences whose p-values are too small to be told apart."""
        if not isinstance(part.test, FisherZ):
            return 0.0
        block = part.test.correlation[np.ix_([a, b, *rest], [a, b, *rest])]
        K = np.linalg.pinv(block)
        r = min(abs(K[0, 1]) / math.sqrt(K[0, 0] * K[1, 1]), 1 - 1e-15)
        return math.sqrt(part.rows) * math.atanh(r)

    # --- many tests -----------------------------------------------------------------------------------------

    def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
        """Search for a separating set among those that there are rows for."""
        check_distinct(self.names, query.x, query.y, (*query.always, *query.pool))
        most = len(query.pool) if query.max_size is None else min(query.max_size, len(query.pool))
        top = min(most, self.largest_set - len(query.always))
        answer = readable_search(_Plain(self), query._replace(max_size=top), self.affords)
        if answer.stopped is None and not answer.complete:  # no set with a variable never seen with these two is tried
            answer = answer._replace(complete=self.affords(query.x, query.y, query.always))
        return answer if top == most or answer.sepset is not None else answer._replace(complete=False)

    def growth(self, target: int) -> EvidenceGrowth:
        """Return the growing conditioning set of a target, for boundary searches."""
        return EvidenceGrowth(self.evidence, len(self.names), target)

    # --- what it is -----------------------------------------------------------------------------------------

    @property
    def moments(self) -> Moments | None:
        """The moments that a score rests on, by EM; None where a score needs more than the columns themselves."""
        return None if self._moments is None else self._moments().take(self._at)

    def summary(self) -> dict[str, Any]:
        """Return what the table was."""
        return self.dataset.summary()

    def canonical_order(self) -> list[int]:
        """Return the variables by content, equals by name: no order of columns matters."""
        kinds = self.dataset.kinds
        keys = [(float(f"{_shape(self._rows[self._seen[:, v], v], kinds[v]):.9e}"), self.names[v]) for v in self._at]
        return sorted(range(len(self.names)), key=keys.__getitem__)

    def reordered(self, order: Sequence[int]) -> TestWise:
        """Return the same test with its variables in another order; parts are shared."""
        same = TestWise.__new__(TestWise)
        vars(same).update(vars(self))
        same.names = tuple(self.names[v] for v in order)
        same._at = [self._at[v] for v in order]
        return same


class _Plain:
    """The test without its search, so that the readable one is used."""

    def __init__(self, test: TestWise) -> None:
        self.names, self.pvalue = test.names, test.pvalue


def _moments(rows: NDArray[np.float64], weights: NDArray[Any] | None, n: int) -> Moments:
    """Return the moments of rows that have no gaps; weights are relative."""
    share = np.full(len(rows), 1 / len(rows)) if weights is None else weights / weights.sum()
    mean = share @ rows
    centred = (rows - mean) * np.sqrt(share)[:, None]
    names = tuple(map(str, range(rows.shape[1])))
    return Moments(names, n, mean, centred.T @ centred, float(n))


def _shape(values: NDArray[np.float64], kind: Kind) -> float:
    """Return a number that tells columns apart by their content: of numbers the kurtosis, else the entropy."""
    if kind is not Kind.CONTINUOUS:
        share = np.sort(np.unique(values, return_counts=True)[1]) / len(values)
        return float(-(share * np.log(share)).sum())
    standard = (values - values.mean()) / values.std()
    return float((standard**4).mean())
