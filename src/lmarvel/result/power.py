"""What the rows of a run can show, and what goes unnoticed: the words for power."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

from lmarvel.result.wording import LEVEL, rounded
from lmarvel.text import counted

_CORRELATIONS = ("fisher-z", "FisherZ", "skewed")  # the tests that look at (partial) correlations
_PRODUCTS = "mixed"  # that looks at products of residuals, whose straight lines get a share of the level
_COUNTS = "g-square"
_SKEWED = "skewed"  # beside which the score sees the shape of noise
_LINE = 0.8


def smallest_noticed(rows: int, alpha: float) -> float:
    """Return the smallest correlation of two variables that Fisher's z test can notice with so many rows.

    Examples
    --------
    >>> round(smallest_noticed(392, 0.01), 2)
    0.13
    """
    if rows <= 3:
        return 1.0
    return math.tanh(-NormalDist().inv_cdf(max(alpha / 2, 5e-324)) / math.sqrt(rows - 3))


def power(settings: Mapping[str, Any]) -> str | None:
    """Return what goes unnoticed with the rows of a run; None where the test says nothing of correlations.

    Examples
    --------
    >>> power({"rows": 500, "test": "mixed", "alpha": 0.01})
    'with 500 rows, correlations of two numbers below 0.12 go unnoticed (level 0.01); categories need stronger ones'
    """
    noticed = _noticed(settings)
    if noticed is None:
        return None
    rows, alpha, smallest = noticed
    if settings.get("test") == _PRODUCTS:
        return (
            f"with {counted(rows, 'row')}, correlations of two numbers below {rounded(smallest, 1.0)} go unnoticed"
            f" (level {alpha:g}); categories need stronger ones"
        )
    return f"with {counted(rows, 'row')}, correlations below {rounded(smallest, 1.0)} go unnoticed (level {alpha:g})"


def straight_only(settings: Mapping[str, Any]) -> str | None:
    """Return that curves were not looked for, or found to add little; None where the test sees them, or is unknown."""
    if settings.get("test") not in _CORRELATIONS:
        return None
    if "test_chosen" in settings:
        return "curves were looked for, and add little to straight lines"
    return "curved relations are not looked for (--test curved does)"


def powerless(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the rows of a run and the smallest correlation that they show, where they cannot show anything."""
    noticed = _noticed(settings)
    if noticed is None or (noticed[2] <= 0.9 and noticed[0] >= 8):
        return None
    return {"rows": noticed[0], "smallest": noticed[2]}


def powerless_note(rows: int, smallest: float) -> str:
    """Return that the rows of a run cannot show anything."""
    head = "the rows cannot show anything"
    return f"{head}: with {counted(rows, 'row')} only correlations above {rounded(smallest, 1.0)} would be noticed"


def _noticed(settings: Mapping[str, Any]) -> tuple[int, float, float] | None:
    rows, alpha, test = _rows(settings), settings.get("alpha", LEVEL), settings.get("test")
    if rows is None or test not in (*_CORRELATIONS, _PRODUCTS):
        return None
    return rows, alpha, smallest_noticed(rows, alpha if test in _CORRELATIONS else _LINE * alpha)


def _rows(settings: Mapping[str, Any]) -> int | None:
    """Return the rows of a run: where values are missing, the fewest that have both variables of a pair.

    Rows of clusters count as the independent rows that tell as much.

    Examples
    --------
    >>> _rows({"rows": 500, "fewest_rows": 600, "clusters": 50, "clustered_rows": 1000})
    300
    """
    rows: int | None = settings.get("rows")
    fewest: int | None = settings.get("fewest_rows")
    if rows is None or fewest is None:
        return rows
    return round(fewest * min(rows / int(settings.get("clustered_rows", rows)), 1.0))


def score_power(settings: Mapping[str, Any], price: float) -> str | None:
    """Return what a search by score leaves out with the rows of a run; None where they are not known.

    An edge between two variables is worth its price if -n log(1 - r^2) exceeds it.

    Examples
    --------
    >>> score_power({"rows": 392}, price=11.9)
    'with 392 rows, correlations below 0.17 are too weak to earn an edge (penalty 11.9)'
    """
    rows = _rows(settings)
    if rows is None:
        return None
    least = rounded(math.sqrt(1 - math.exp(-price / rows)))
    whose = {_COUNTS: " of two-valued columns", _PRODUCTS: " of two numbers"}.get(str(settings.get("test")), "")
    weak = f"correlations{whose} below {least} are too weak to earn an edge (penalty {price:.1f})"
    more = {
        _COUNTS: "; more categories need stronger ones",
        _PRODUCTS: "; categories need stronger ones",
        _SKEWED: "; the shape of the noise can show weaker ones",
    }
    return f"with {counted(rows, 'row')}, {weak}{more.get(str(settings.get('test')), '')}"


def no_edges(settings: Mapping[str, Any], ended: bool = False) -> str:
    """Return what a graph without edges says; ``ended``: the search was cut short."""
    if ended:
        return "none was found before the search ended"
    few = powerless(settings)
    return powerless_note(**few) if few else "no association was found that others do not explain"
