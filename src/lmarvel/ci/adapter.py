"""One contract for tests: whatever a user passes becomes an :class:`IndependenceTest`.

A test of one's own needs only ``names`` and ``pvalue`` (:class:`~lmarvel.CITest`). What else a method may ask for is
an *ability*. Those of a test are found here, once, and nowhere else is a test looked at for what it can do; for each
that it lacks there is a readable default.

=============================  =====================================================================================
ability                        without it
=============================  =====================================================================================
``n``                          the number of rows is not known
``largest_set``                sets of any size can be answered
``columns``                    a variable is one column
``has_table``                  a score needs its moments
``shortage``                   which sets had too few rows is told by ``largest_set``
``find_sepset(query)``         the readable search, each question asked at most once
``growth(target)``             single tests, one a variable
``total_conditioning``         boundaries are found by total conditioning where rows allow it
``dependent_given_rest(a)``    single tests, one a pair
``pvalue_given_rest(x, y)``    how close a pair came in total conditioning is not known
``summary()``                  the result does not say what the table was
``moments``                    no score can be computed
``for_engine()``               the compiled engine is not used
``canonical_order()``          variables are taken in the order of their names
``reordered(order)``           positions are translated at each question
``search``                     the search is the readable one
``rows_for(x, y, given)``      every test uses all rows
``rest_rows``                  all rows have all variables
=============================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.growth import Growth, PairwiseGrowth
from lmarvel.ci.search import readable_search
from lmarvel.ci.test import CITest, ColumnsInput, GaussianInput, SepsetAnswer, SepsetQuery, checked_pvalue
from lmarvel.data.moments import Moments
from lmarvel.errors import CITestError


class IndependenceTest:
    """A test of conditional independence with all its abilities declared.

    Parameters
    ----------
    test : CITest
        The test.
    name : str, optional
        What to call it in a result.
    why : str, optional
        Why it was chosen for the table, where the user left that open.

    Attributes
    ----------
    names : tuple of str
        The variables.
    rows : int or None
        The number of observations behind it.
    largest_set : int
        The largest conditioning set that it can answer.
    columns : int
        The number of columns behind its variables.
    has_table : bool
        It stands for a table that can be scored.
    shortage : str or None
        What to say where rows were too few for some sets.
    searches : bool
        It has a search of its own, which may run in threads.
    tests_all_pairs : bool
        It can test every pair given all other variables at once.
    total_conditioning : bool
        False where that would take so long that boundaries are searched for instead, unless the user says otherwise.
    collinear : bool
        Some of its columns determine others, so that a set of all others leaves nothing to test.

    Examples
    --------
    >>> from lmarvel import FunctionTest
    >>> test = IndependenceTest(FunctionTest(lambda x, y, given: 0.5, ["A", "B", "C"]))
    >>> test.rows, test.largest_set, test.find_sepset(SepsetQuery(0, 1, pool=(2,))).sepset
    (None, 3, frozenset())
    """

    def __init__(self, test: CITest, name: str | None = None, why: str | None = None) -> None:
        self.test = test
        self.why = why
        self.name = name or type(test).__name__
        self.names: tuple[str, ...] = tuple(test.names)
        self._known: dict[tuple[int, int, tuple[int, ...]], float] = {}
        self.rows: int | None = getattr(test, "n", None)
        self.largest_set: int = getattr(test, "largest_set", len(self.names))
        self.columns: int = getattr(test, "columns", len(self.names))
        self.has_table: bool = getattr(test, "has_table", False) or getattr(test, "moments", None) is not None
        self.shortage: str | None = getattr(test, "shortage", None)
        self.search_name: str = getattr(test, "search", "readable")
        self._search: Callable[[SepsetQuery], SepsetAnswer] | None = getattr(test, "find_sepset", None)
        self._growth: Callable[[int], Growth] | None = getattr(test, "growth", None)
        self.collinear: bool = getattr(test, "collinear", False)
        all_pairs: Callable[[float], NDArray[np.bool_]] | None = getattr(test, "dependent_given_rest", None)
        self._all_pairs = None if self.collinear else all_pairs
        self._given_rest: Callable[[int, int], float | None] = getattr(test, "pvalue_given_rest", lambda x, y: None)
        self._summary: Callable[[], dict[str, Any] | None] = getattr(test, "summary", lambda: None)
        self._for_engine: Callable[[], GaussianInput | ColumnsInput | None] = getattr(test, "for_engine", lambda: None)
        self._order: Callable[[], list[int]] | None = getattr(test, "canonical_order", None)
        self._reordered: Callable[[Sequence[int]], CITest] | None = getattr(test, "reordered", None)
        self.rows_for: Callable[[int, int, Sequence[int]], int | None] | None = getattr(test, "rows_for", None)
        self.apart: int = getattr(test, "apart", 0)  # pairs that too few rows have both variables of
        self.rest_rows: int | None = getattr(test, "rest_rows", self.rows)
        self.searches = self._search is not None
        self.total_conditioning: bool = getattr(test, "total_conditioning", True)
        self.tests_all_pairs = self._all_pairs is not None

    @property
    def moments(self) -> Moments | None:
        """The moments of the table behind the test, in the order of its variables."""
        found: Moments | None = getattr(self.test, "moments", None)
        return found

    # --- single tests -----------------------------------------------------------------------------------

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of a pair given a set; a test without a search of its own is asked each question once."""
        if self.searches:
            return checked_pvalue(self.test, x, y, given)
        key = (min(x, y), max(x, y), tuple(given))
        if key not in self._known:
            self._known[key] = checked_pvalue(self.test, *key)
        return self._known[key]

    # --- many tests -------------------------------------------------------------------------------------

    def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
        """Search for a separating set."""
        return readable_search(self, query) if self._search is None else self._search(query)

    def growth(self, target: int) -> Growth:
        """Return the growing conditioning set of a target."""
        if self._growth is None:
            return PairwiseGrowth(self.pvalue, len(self.names), target)
        return self._growth(target)

    def dependent_given_rest(self, alpha: float, tick: Callable[[], None] = lambda: None) -> NDArray[np.bool_]:
        """Return which pairs depend on each other given all other variables; ``tick`` may raise between tests."""
        if self._all_pairs is not None:
            return self._all_pairs(alpha)
        n = len(self.names)
        dependent = np.zeros((n, n), dtype=bool)
        for x in range(n):
            for y in range(x + 1, n):
                tick()
                rest = [z for z in range(n) if z not in (x, y)]
                dependent[x, y] = dependent[y, x] = self.pvalue(x, y, rest) <= alpha
        return dependent

    def pvalue_given_rest(self, x: int, y: int) -> float | None:
        """Return the p-value that total conditioning saw for a pair; None where that is not known."""
        return self._given_rest(x, y)

    def for_engine(self) -> GaussianInput | ColumnsInput | None:
        """Return what the compiled engine needs to make the same tests itself; None where it cannot."""
        return self._for_engine()

    # --- what it is -------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any] | None:
        """Return what the table was, where the test has one."""
        return self._summary()

    def canonical_order(self) -> list[int]:
        """Return the positions in an order that does not depend on how the variables came."""
        if self._order is not None:
            return self._order()
        if self.searches and self._reordered is None:  # a search of its own speaks of its own positions
            return list(range(len(self.names)))
        return sorted(range(len(self.names)), key=lambda v: self.names[v])

    def reordered(self, order: Sequence[int]) -> IndependenceTest:
        """Return the same test with its variables in another order."""
        if list(order) == list(range(len(self.names))):
            return self
        inner = Reordered(self, order) if self._reordered is None else self._reordered(order)
        return IndependenceTest(inner, self.name, self.why)


def find_sepset(test: CITest, query: SepsetQuery) -> SepsetAnswer:
    """Search with the test's own search if it has one, else with the readable one.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation, SepsetQuery, find_sepset
    >>> oracle = MSeparation(MAG.from_edges("A --> B", "B --> C"))
    >>> find_sepset(oracle, SepsetQuery(0, 2, pool=(1,))).sepset
    frozenset({1})
    """
    return IndependenceTest(test).find_sepset(query)


class Reordered:
    """A test with its variables in another order; positions are translated at each question.

    Examples
    --------
    >>> from lmarvel import FunctionTest
    >>> test = IndependenceTest(FunctionTest(lambda x, y, given: print(x, y, given) or 0.5, ["A", "B", "C"]))
    >>> asked = Reordered(test, [2, 0, 1])
    >>> asked.names, asked.pvalue(0, 1, [2])
    A C ('B',)
    (('C', 'A', 'B'), 0.5)
    """

    def __init__(self, test: IndependenceTest, order: Sequence[int]) -> None:
        self.test = test
        self.order = tuple(order)
        self.names = tuple(test.names[v] for v in order)
        self.n, self.largest_set, self.summary = test.rows, test.largest_set, test.summary
        self.moments = None if test.moments is None else test.moments.take(order)
        if test.tests_all_pairs:
            at = np.ix_(self.order, self.order)
            self.dependent_given_rest = lambda alpha: test.dependent_given_rest(alpha)[at]

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Ask the test about the positions that it knows."""
        return self.test.pvalue(self.order[x], self.order[y], sorted(self.order[z] for z in given))


def check_names(test: CITest) -> None:
    """Refuse a test whose variables are not distinct, non-empty strings."""
    if not all(isinstance(v, str) and v for v in test.names):
        raise CITestError(f"variable names must be non-empty strings, not {tuple(test.names)!r}")
    if len(set(test.names)) < len(test.names):
        seen: set[str] = set()
        twice = sorted({v for v in test.names if v in seen or seen.add(v)})  # type: ignore[func-returns-value]
        raise CITestError(f"duplicate variable name {', '.join(twice)}: names must differ")
