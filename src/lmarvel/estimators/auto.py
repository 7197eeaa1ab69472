"""The method that fits the table: Lift where rows and columns allow it, else L-MARVEL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.lift import Lift
from lmarvel.estimators.methods import LMarvel
from lmarvel.search.lift import is_compiled

MOST_COLUMNS = 60  # that Lift searches in some seconds
ROWS_A_COLUMN = 2  # that a score needs, unless all columns are numbers: see lmarvel.search.few_rows
FEWEST_ROWS = 50  # with which that was measured to be worth more than tests


@dataclass(kw_only=True, repr=False, eq=False)
class Auto(PagEstimator):
    """Learn a PAG with the method that fits the table; the result says which, and why.

    Parameters
    ----------
    alpha, test, boundary, boundary_alpha, selection, max_conditioning, max_tests, max_seconds, knowledge
        As for :class:`LMarvel`.
    penalty, latents, restarts, seed
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
        if p > MOST_COLUMNS:
            return (
                self._as(LMarvel),
                f"lmarvel: {columns} are many for a search by score, which takes {MOST_COLUMNS}",
            )
        if not is_compiled():
            return self._as(LMarvel), "lmarvel: the compiled engine, which Lift needs, was not built"
        if rows < max(ROWS_A_COLUMN * p, test.columns + 2):
            if test.moments is None or test.columns > p or rows < FEWEST_ROWS:
                return self._as(LMarvel), f"lmarvel: {rows} rows are few for a search by score over {columns}"
            return self._as(Lift), f"lift: {rows} rows are few for {columns}, so each edge must improve the score more"
        return self._as(Lift), f"lift: {rows} rows and {columns} allow a search by score"

    def _as(self, method: type[PagEstimator]) -> PagEstimator:
        """Return a method with the parameters that it has."""
        known = method._defaults()
        return method(**{name: value for name, value in self.get_params().items() if name in known})
