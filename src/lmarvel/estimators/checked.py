"""What a learned graph implies, held against the table it was learned from, when somebody looks."""

from __future__ import annotations

from collections.abc import Mapping

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.base import checked_alpha
from lmarvel.ci.registry import TESTS, as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.data.scan import SMALL
from lmarvel.errors import DataError, ParameterError
from lmarvel.firmness import LaterCheck
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.model_check import ModelCheck
from lmarvel.result import Discovery
from lmarvel.stability.check import check_model
from lmarvel.wording import LEVEL

MOST_VARIABLES = 200  # of which each pair is tested in about a second
MOST_TESTS = 5_000
AUTO = "auto"


def later_check(
    test: IndependenceTest,
    pag: PAG,
    mag: MAG | None,
    level: float,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
) -> LaterCheck | None:
    """Return a check of the graph that waits for a look; None where there is no table, or it would take long.

    A test of the user's own is not asked behind his back, and a large table is not kept in memory for it.
    """
    rows = test.rows or 0
    if not test.has_table or len(test.names) > MOST_VARIABLES or rows * len(test.names) > SMALL:
        return None
    return LaterCheck(lambda: check_model(pag, test, level, mag=mag, sepsets=sepsets, most=MOST_TESTS))


def checked_on(found: Discovery, data: Dataset, level: float | None = None, test: str | None = None) -> ModelCheck:
    """Test what a result implies on a table, the one that it was learned from or another with the same columns.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS).result_
    >>> checked_on(found, Dataset.of(CARS)) == found.check
    True
    """
    missing = [name for name in found.pag.names if name not in data.names]
    if missing:
        raise DataError(f"the table has no column {', '.join(map(repr, missing[:20]))}, which the graph is over")
    named = str(found.settings.get("test", AUTO)) if test is None else test
    if test is None and named != AUTO and named not in TESTS:
        raise ParameterError(f"the result was learned with {named}, a test of its own: name one, with --test")
    table = Dataset.of(data, columns=found.pag.names)
    asked = as_ci_test(named, table)
    alpha = checked_alpha(float(found.settings.get("alpha", LEVEL)) if level is None else level, "level")
    return check_model(found.pag, asked, alpha, mag=found.mag, sepsets=found.sepsets)
