"""What the tests on blocks and on counts share: one question, a search, the growth of a boundary, each compiled or not.

Such a test has a *cost* for each set, from the number of columns or of cells that it needs. A set that there are too
few rows for is not tried: no search counts it or calls it independent, a search that met one is not complete, and
asked for by itself its p-value is 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from lmarvel.ci.growth import EvidenceGrowth
from lmarvel.ci.search import compiled_result, compiled_search, readable_search
from lmarvel.ci.test import SepsetAnswer, SepsetQuery, check_distinct
from lmarvel.engine import load

_tests = load()  # None where it is not built: the readable code does the same, slower


class Result(NamedTuple):
    """A test: its p-value, the statistic, and its degrees of freedom."""

    pvalue: float
    statistic: float
    df: int


class TableTest(ABC):
    """A test that can tell what a set costs; subclasses say how, and make single tests.

    Attributes
    ----------
    names : tuple of str
        The variables.
    n : int
        The number of rows.
    largest_set : int
        The largest set that there may be rows enough for.
    shortage : str
        What is said where rows were too few.
    search : str
        "compiled" or "readable".
    """

    has_table = True

    names: tuple[str, ...]
    n: int
    largest_set: int
    shortage: str
    _sizes: Sequence[int]

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled and _tests is not None
        self.search = "compiled" if self.compiled else "readable"
        self._kernel: Any = self._compiled() if self.compiled else None

    # --- what subclasses say --------------------------------------------------------------------------------

    @abstractmethod
    def _compiled(self) -> Any:
        """Return the compiled test."""

    @abstractmethod
    def _readable(self, x: int, y: int, given: Sequence[int]) -> Result:
        """Make one test that there are rows enough for."""

    @abstractmethod
    def _cost(self, sizes: Sequence[int]) -> float:
        """Return what variables of these sizes cost together."""

    @abstractmethod
    def _budget(self, variables: Sequence[int]) -> float:
        """Return what a test of these variables may cost."""

    # --- one test -------------------------------------------------------------------------------------------

    def result(self, x: int, y: int, given: Sequence[int]) -> Result | None:
        """Return p-value, statistic and degrees of freedom, or None where the rows are too few for the set."""
        if self._kernel is not None:
            found = compiled_result(self._kernel.result, self.names, x, y, given)
            return None if found is None else Result._make(found)
        check_distinct(self.names, x, y, given)
        x, y = min(x, y), max(x, y)
        return self._readable(x, y, given) if self.affords(x, y, given) else None

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of x and y being independent given a set, 0 where the rows are too few for it."""
        found = self.result(x, y, given)
        return 0.0 if found is None else found.pvalue

    def affords(self, x: int, y: int, given: Sequence[int]) -> bool:
        """Tell whether there are rows enough for a test."""
        variables = (x, y, *given)
        return self._cost([self._sizes[v] for v in variables]) <= self._budget(variables)

    def evidence(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return minus the logarithm of the p-value given the longest beginning of ``given`` that rows allow.

        Below what a number can hold it goes on with the statistic, so that the stronger of two strong dependences is
        still told from the weaker.
        """
        found = self.result(x, y, given)
        return self.evidence(x, y, given[:-1]) if found is None and given else self.evidence_of(found)

    def evidence_of(self, found: Result | None) -> float:
        """Return minus the logarithm of a p-value, infinity where there is none."""
        if found is None:
            return math.inf
        if found.pvalue > 1e-290:
            return -math.log(found.pvalue)
        if found.df == 0 or math.isinf(found.statistic):
            return math.inf
        spread = 2 / (9 * found.df)  # Wilson & Hilferty: the cube root of a chi-square variable is nearly normal
        return 700.0 + (math.pow(found.statistic / found.df, 1 / 3) - 1 + spread) / math.sqrt(spread)

    # --- many tests -----------------------------------------------------------------------------------------

    def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
        """Search for a separating set among those that there are rows for."""
        most = len(query.pool) if query.max_size is None else min(query.max_size, len(query.pool))
        top = min(most, self.largest_set - len(query.always))
        if self._kernel is not None:
            answer = compiled_search(self._kernel, self.names, query, top)
        else:
            check_distinct(self.names, query.x, query.y, (*query.always, *query.pool))
            answer = self._search_readable(query, top)
        return answer if top == most or answer.sepset is not None else answer._replace(complete=False)

    def _search_readable(self, query: SepsetQuery, top: int) -> SepsetAnswer:
        reach = self._reach(query, top)
        answer = readable_search(_Plain(self), query._replace(max_size=reach), self.affords)
        counts = (*answer.tests_by_size, *[0] * (len(query.always) + max(top, 0) + 1 - len(answer.tests_by_size)))
        answer = answer._replace(tests_by_size=counts)
        return answer if reach == top or answer.sepset is not None else answer._replace(complete=False)

    def _reach(self, query: SepsetQuery, top: int) -> int:
        """Return the most members of the pool, up to ``top``, that there may be rows enough for; -1: not for none."""
        cheap = sorted(self._sizes[v] for v in query.pool)
        fixed = [self._sizes[v] for v in (query.x, query.y, *query.always)]
        budget = self._budget(())
        sizes = range(top, -1, -1)
        return next((k for k in sizes if self._cost([*fixed, *cheap[:k]]) <= budget), -1) if top >= 0 else top

    def growth(self, target: int) -> EvidenceGrowth:
        """Return the growing conditioning set of a target, for boundary searches."""
        return EvidenceGrowth(self.evidence, len(self.names), target)


class _Plain:
    """A test without its search, so that the readable one is used."""

    def __init__(self, test: TableTest) -> None:
        self.names = test.names
        self.pvalue = test.pvalue
