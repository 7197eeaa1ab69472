"""Numbers for an effect by the way in which it is identified: the best adjustment set, or a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from lmarvel.effects.adjustment import Pair, pair_of
from lmarvel.effects.classify import Identified
from lmarvel.effects.formula import Density
from lmarvel.effects.numbers.best_set import smallest_variance
from lmarvel.effects.numbers.estimate import Estimate, Estimation
from lmarvel.effects.numbers.estimating import adjusted_estimates, formula_estimates
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.pag_index import Prepared


def identified_estimates(ready: Prepared, identified: Identified, table: Columns, how: Estimation) -> list[Estimate]:
    """Estimate an effect by adjusting for the set of smallest variance, or by its formula; [] if there is none."""
    x, y = identified.x, identified.y
    if identified.status == "adjustment":
        pair = pair_of(ready, ready.graph.index(x), ready.graph.index(y))
        return adjusted_estimates(table, x, y, ready.named(best_set(ready, pair, table)), how)
    formula = identified.formula
    if identified.status != "formula" or formula is None:
        return []
    if isinstance(formula, Density):  # P(y | x, z): a regression
        z = ready.named(formula.given & ~(1 << ready.graph.index(x)))
        return adjusted_estimates(table, x, y, z, how)
    return formula_estimates(table, formula, ready.graph.names, x, y, how)


def best_set(ready: Prepared, pair: Pair, table: Columns, climb: bool = True) -> int:
    """Return the valid set of smallest variance of an effect that adjustment identifies."""
    best = smallest_variance(ready, pair, ordered_covariance(ready, table), climb)
    assert best is not None
    return best


def ordered_covariance(ready: Prepared, table: Columns) -> Any:
    """Return the covariance of a table, in the order of the graph."""
    at = [table.names.index(name) for name in ready.graph.names]
    return table.covariance[np.ix_(at, at)]
