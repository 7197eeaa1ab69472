"""One effect over graphs learned from resamples: each with its own adjustment set, and the same estimator for all.

For numbers the covariance of a resample is enough: its regression is that of least squares. Columns with categories go
through the same estimates as the table itself, once per resample and without an interval.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from lmarvel.data import Dataset, Kind
from lmarvel.data.resampling import Resampling
from lmarvel.effects.adjustment import pair_of
from lmarvel.effects.classify import Identified, classify, classify_given
from lmarvel.effects.formula import Density, Formula, slope, variables
from lmarvel.effects.numbers.best_set import smallest_variance
from lmarvel.effects.numbers.estimate import DEFAULT, Estimation
from lmarvel.effects.numbers.estimating import step_of
from lmarvel.effects.numbers.identified import identified_estimates
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.effects.pag_index import Prepared, node_set
from lmarvel.errors import DataError
from lmarvel.graph.bitsets import members

FAILED = "not estimated"


class Tally:
    """What graphs of resamples say about one effect, counted, with the number of each.

    Parameters
    ----------
    table : Dataset
        The table.
    x, y : str
        Cause and outcome.
    given : sequence of str
        What is held.
    how : Estimation
        How numbers are estimated.
    source : Resampling or None
        What gives the moments of a resample in less time than its rows.
    seed : int
        That of the resamples.
    nominal : sequence of str
        Columns whose numbers are labels.
    """

    def __init__(
        self,
        table: Dataset,
        x: str,
        y: str,
        given: tuple[str, ...] = (),
        how: Estimation = DEFAULT,
        source: Resampling | None = None,
        seed: int = 0,
        nominal: tuple[str, ...] = (),
    ) -> None:
        self._table, self._x, self._y, self._given = table, x, y, given
        self._how, self._source, self._seed, self._nominal = replace(how, intervals=False), source, seed, nominal
        self._columns = Columns(table, nominal)
        self.statuses: Counter[str] = Counter()
        self.maybe_none = 0  # graphs that do not identify the effect, and leave open whether there is one
        self._values: dict[str, list[float]] = {}

    def add(self, ready: Prepared, number: int) -> None:
        """Count what the graph of a resample says, and estimate from that resample."""
        i, j, z = ready.graph.index(self._x), ready.graph.index(self._y), node_set(ready.graph, self._given)
        identified = classify_given(ready, i, j, z) if z else classify(ready, i, j)
        try:
            found = self._estimates(ready, identified, number)
        except DataError:  # a category may be too rare in a resample
            self.statuses[FAILED] += 1
            return
        self.statuses[identified.status] += 1
        self.maybe_none += identified.status == "not identified" and identified.cause != "definite"
        for contrast, value in found.items():
            self._values.setdefault(contrast, []).append(value)

    @property
    def values(self) -> dict[str, tuple[float, ...]]:
        """The values by what they compare, ascending, with a 0 for each graph that finds no effect."""
        zeros = [0.0] * self.statuses["none"]
        return {key: tuple(sorted([*values, *zeros])) for key, values in self._values.items()} or (
            {"": tuple(zeros)} if zeros else {}
        )

    def _estimates(self, ready: Prepared, identified: Identified, number: int) -> dict[str, float]:
        if identified.status not in ("adjustment", "formula"):
            return {}
        if self._columns.is_level(self._x) or self._columns.is_level(self._y):
            return self._from_rows(ready, identified, number)
        covariance = self._covariance(ready, number)
        formula = best_formula(ready, identified, covariance)
        used = ready.named(members(variables(formula)))
        if any(self._columns.kind(name) == Kind.NOMINAL for name in used):
            return self._from_rows(ready, identified, number)
        i, j = ready.graph.index(self._x), ready.graph.index(self._y)
        step, contrast = step_of(self._x, self._how, self._columns.contrasts(self._x)[0])
        return {contrast: step * slope(formula, covariance, i, j)}

    def _from_rows(self, ready: Prepared, identified: Identified, number: int) -> dict[str, float]:
        columns = Columns(self._table.resample([self._seed, number]), self._nominal)
        if columns.incomplete:  # another completed table per resample: their spread is that of Rubin's rules
            columns = next(columns.completed(self._seed + number))
        return {one.contrast: one.value for one in identified_estimates(ready, identified, columns, self._how)}

    def _covariance(self, ready: Prepared, number: int) -> Vector:
        source = self._source
        same = (
            self._table.resample([self._seed, number]).moments if source is None else source.moments(self._seed, number)
        )
        at = [self._columns.names.index(name) for name in ready.graph.names]
        return self._columns.in_units(same.covariance)[np.ix_(at, at)]


def best_formula(ready: Prepared, identified: Identified, covariance: Any) -> Formula:
    """Return the formula to evaluate: the regression of smallest variance where adjustment does."""
    assert identified.formula is not None
    x, y = ready.graph.index(identified.x), ready.graph.index(identified.y)
    z = smallest_variance(ready, pair_of(ready, x, y), covariance) if identified.status == "adjustment" else None
    return identified.formula if z is None else Density(1 << y, 1 << x | z)
