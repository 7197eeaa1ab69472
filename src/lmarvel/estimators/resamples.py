"""The resamples that nobody asked for: a small bootstrap that grades the marks of a result, where it takes little time.

They are made when somebody looks at a grade, from the same draws as a bootstrap with seed 0, and kept with the result.
"""

from __future__ import annotations

import math
import time

from lmarvel.data.dataset import Dataset
from lmarvel.data.scan import SMALL
from lmarvel.deferred import Deferred
from lmarvel.errors import LMarvelError
from lmarvel.estimators.bootstrap import prepared, replicate
from lmarvel.estimators.discover import Settings
from lmarvel.result.discovery import Discovery
from lmarvel.result.frequencies import Stability, Tally

RESAMPLES = 40  # enough to tell 95 % from 80 %
MOST_SECONDS = 2.0  # that they may take: nobody asked for them
SEED = 0


def later_resamples(
    found: Discovery, table: Dataset | None, method: Settings, begun: float
) -> Deferred[Stability | None] | None:
    """Return resamples that wait for a look; None where there are no rows to resample, or the search was cut short.

    Made, they are None where they would take more than two seconds of the processor, or than is left of the method's
    budget of seconds from when it ``begun``, by the monotonic clock.
    """
    rows = found.settings.get("rows")
    if table is None or rows is None or found.undecided or not isinstance(method.test, str):
        return None
    if rows * len(found.pag) > SMALL or not found.pag.n_edges:
        return None
    unlimited = type(method)(**(method.get_params() | {"max_seconds": None}))
    until = math.inf if method.max_seconds is None else begun + method.max_seconds
    return Deferred(lambda: resampled(table, unlimited, min(MOST_SECONDS, until - time.monotonic())))


def resampled(table: Dataset, method: Settings, seconds: float, many: int = RESAMPLES) -> Stability | None:
    """Return how often each part recurs in so many resamples; None where that would take more than the seconds.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> resampled(Dataset.of(CARS), LMarvel(), 60.0).replicates
    40
    """
    try:
        source, again, _ = prepared(table, method)
    except LMarvelError:
        return None
    tally, begun = Tally(table.names, again.method.selection), time.thread_time()
    for i in range(many):
        marks = replicate(source, again, SEED, i)
        if not isinstance(marks, str):
            tally.add(marks)
        used = time.thread_time() - begun
        if used / (i + 1) * many > seconds * (1 if i > 4 else 1.5):  # the first ones fill memories that others use
            return None
    return tally.stability(many, SEED) if tally.replicates else None
