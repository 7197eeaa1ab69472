"""What a learned graph implies, held against the table it was learned from, when somebody looks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

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
MOST_WORK = 3e8  # steps of about a nanosecond: nobody asked for the check
LEAST_SECONDS = 1.0  # that a check may take, also after a search that took less
AUTO = "auto"


def later_check(
    test: IndependenceTest,
    pag: PAG,
    mag: MAG | None,
    level: float,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
    search_seconds: float = 0.0,
    left: float = math.inf,
) -> LaterCheck | None:
    """Return a check of the graph that waits for a look; None where there is no table, or it would take long.

    A test of the user's own is not asked behind his back, and a large table is not kept in memory for it. The check
    takes no longer than the search took or a second, whichever is more, nor than the seconds left of a budget.
    """
    rows = test.rows or 0
    if not test.has_table or len(test.names) > MOST_VARIABLES or rows * len(test.names) > SMALL:
        return None

    def check() -> ModelCheck:
        late = _late(max(LEAST_SECONDS, search_seconds), left)
        bounds: dict[str, Any] = {"most": MOST_TESTS, "work": MOST_WORK, "late": late}
        return check_model(pag, test, level, mag=mag, sepsets=sepsets, **bounds)

    return LaterCheck(check)


def _late(share: float, left: float) -> Callable[[], bool]:
    """Return what tells whether a share of the processor's seconds is used, or those left of a budget have passed."""
    used, passed = time.thread_time() + share, time.monotonic() + left
    return lambda: time.thread_time() > used or time.monotonic() > passed


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
