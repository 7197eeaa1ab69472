"""The method that fits the table: Lift where rows and columns allow it, else L-MARVEL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.data.dataset import Dataset
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.lift import Lift
from lmarvel.estimators.methods import LMarvel
from lmarvel.estimators.scoring import is_categorical
from lmarvel.result.discovery import Discovery
from lmarvel.search.lift import is_compiled, most_variables

BUDGET = 60.0  # seconds that a search by score may take where no budget is given
SMALL = 60  # columns of numbers: up to here no budget is set, so that what is learned does not depend on the clock
FOR_SCORES = 1 / 3  # of what reading left of the budget, where models of mixtures and curves may take long
LEAST_SHARED = 10.0  # seconds: shorter budgets are not shared
ROWS_A_COLUMN = 2  # that a score needs, unless all columns are numbers: see lmarvel.search.few_rows
FEWEST_ROWS = 50  # with which that was measured to be worth more than tests


def expected_seconds(p: int, numbers: bool) -> float:
    """Return about how long Lift searches among so many variables of a sparse graph (benchmarks/large.py).

    Scores of numbers alone are compiled over the whole length; those of groups of columns are not, and take longer.

    Examples
    --------
    >>> [round(expected_seconds(p, True), 1) for p in (100, 400, 1000)]
    [0.1, 1.7, 15.0]
    >>> [round(expected_seconds(p, False), 1) for p in (60, 120, 400)]
    [1.8, 7.0, 77.8]
    """
    return 15.0 * (p / 1_000) ** 2.4 if numbers else 7.0 * (p / 120) ** 2


@dataclass(kw_only=True, repr=False, eq=False)
class Auto(PagEstimator):
    """Learn a PAG with the method that fits the table; the result says which, and why.

    Parameters
    ----------
    alpha, test, boundary, boundary_alpha, selection, max_conditioning, max_tests, knowledge
        As for :class:`LMarvel`.
    max_seconds : float, optional
        Time limit in seconds; the result is what was learned by then. By default a search by score has no limit for up
        to 60 columns with linear relations or of categories alone, and a minute for other tables. One that is expected
        to take longer is left to L-MARVEL, without a limit. With 10 seconds or more, a search among mixtures and curves
        ends after a third of the time that reading left, with the best graph by then. Where there is none, L-MARVEL
        has the rest.
    penalty, latents, restarts, seed, n_jobs
        As for :class:`Lift`.
    removal_threshold, assume_chordal, faithful
        As for :class:`LMarvel`.

    Examples
    --------
    >>> from lmarvel.datasets import CARS
    >>> Auto().fit(CARS).result_.settings["chosen"]
    'lift: 392 rows and 6 columns allow a search by score'
    """

    penalty: Any = 2.0  # a number, or "auto"
    latents: bool = True
    restarts: int = 0
    seed: int = 0
    n_jobs: int = 1
    removal_threshold: float = 0.8
    assume_chordal: bool = False
    faithful: bool = False

    def _check(self) -> None:
        for method in (Lift, LMarvel):
            self._as(method)._check()

    @classmethod
    def measures(cls) -> bool:
        """Whether a test that is left to "auto" is chosen by how the numbers of a table are related."""
        return True

    def resolved(self, test: IndependenceTest) -> tuple[PagEstimator, str]:
        """Return the method for this test, and why it was chosen."""
        p, rows = len(test.names), test.rows
        if not test.has_table or rows is None:
            return self._as(LMarvel), "lmarvel: the test is one of your own, and a score needs a table"
        columns = f"{p} columns"
        if not is_compiled():
            return self._as(LMarvel), "lmarvel: the compiled engine, which Lift needs, was not built"
        budget, expected = self.max_seconds or BUDGET, expected_seconds(p, test.moments is not None)
        if p > SMALL and (p > most_variables() or expected > budget):
            within = f"about {expected:,.0f} s, and {budget:g} s are given"
            why = within if p <= most_variables() else f"which takes at most {most_variables():,}"
            return self._as(LMarvel), f"lmarvel: {columns} are many for a search by score: {why}"
        if rows < max(ROWS_A_COLUMN * p, test.columns + 2):
            if test.moments is None or test.columns > p or rows < FEWEST_ROWS:
                return self._as(LMarvel), f"lmarvel: {rows} rows are few for a search by score over {columns}"
            why = f"lift: {rows} rows are few for {columns}, so each edge must improve the score more"
            return self._lift(p, True), why
        return self._lift(p, _is_quick(test)), f"lift: {rows} rows and {columns} allow a search by score"

    def _lift(self, p: int, quick: bool) -> PagEstimator:
        """Return Lift, for many columns or slow models with a budget: it ends with the best graph it has by then."""
        method = self._as(Lift)
        if not quick and (budget := self.max_seconds or BUDGET) >= LEAST_SHARED:
            method.max_seconds = FOR_SCORES * budget
        elif p > SMALL and method.max_seconds is None:
            method.max_seconds = BUDGET
        return method

    def instead(self, tried: PagEstimator) -> tuple[PagEstimator, str] | None:
        """Return L-MARVEL for the time that is left, if a search by score found no graph in its part of it."""
        given, budget = tried.max_seconds, self.max_seconds or BUDGET
        if not isinstance(tried, Lift) or given is None or given >= budget:
            return None
        method = self._as(LMarvel)
        method.max_seconds = budget - given
        return method, f"lmarvel: a search by score, which may take {given:g} s, found no graph in time"

    def that_learned(self, found: Discovery) -> PagEstimator:
        """Return L-MARVEL where it learned: a search by score that found no graph in time finds none in resamples."""
        if found.settings["method"] != LMarvel.__name__:
            return self
        method = self._as(LMarvel)
        method.test = found.settings["test"]
        return method

    def _as(self, method: type[PagEstimator]) -> PagEstimator:
        """Return a method with the parameters that it has."""
        known = method._defaults()
        return method(**{name: value for name, value in self.get_params().items() if name in known})


def _is_quick(test: IndependenceTest) -> bool:
    """Tell whether first graphs come soon: correlations and counts do not need regressions that are fitted in steps."""
    table = getattr(test.test, "dataset", None)
    return test.moments is not None or (isinstance(table, Dataset) and is_categorical(table))
