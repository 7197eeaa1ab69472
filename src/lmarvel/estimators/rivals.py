"""Graphs of other methods that are as fast as a search by score: none of them may score better than its answer.

On straight Gaussian numbers Lift itself begins with all of these. Where the score is another one (of normal scores, of
curves, of the shape of noise), the graphs that correlations of the numbers as they are give are found in milliseconds,
and often with other edges. So the search also begins with them, and the best score decides. Of categories L-MARVEL
learns by counts, in a third of the time of a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.boundary_searches import boundaries_for, choose_boundary
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.errors import LMarvelError, OutOfTime
from lmarvel.estimators.scoring import is_categorical
from lmarvel.search.ancestral import Marks
from lmarvel.search.lift import lift
from lmarvel.skeleton.by_engine import learn_compiled
from lmarvel.skeleton.lmarvel import Levels, default_boundary_alpha

MOST_VARIABLES = 60


@dataclass(frozen=True)
class Rivals:
    """What correlations or counts alone give: L-MARVEL's PAG and the best DAG; None where that cannot be said."""

    lmarvel: Marks | None = None
    lines: Marks | None = None


def rivals_of(data: Dataset | None, names: Sequence[str], penalty: float, alpha: float, late: float) -> Rivals:
    """Return the graphs of correlations or of counts, for variables in the order of some names.

    Parameters
    ----------
    data : Dataset, optional
        The table. Nothing is learned of one with gaps, or of numbers beside categories.
    names : sequence of str
        Its variables, in the order of the graphs.
    penalty, alpha : float
        Of the score, in units of log n, and of the tests.
    late : float
        When time is up, by the monotonic clock.

    Examples
    --------
    >>> import math
    >>> from lmarvel.datasets import CARS
    >>> found = rivals_of(Dataset.of(CARS), Dataset.of(CARS).names, 2.0, 0.01, math.inf)
    >>> [int(np.count_nonzero(marks)) // 2 for marks in (found.lmarvel, found.lines)]  # edges
    [7, 8]
    """
    if data is None or set(names) != set(data.names) or len(names) > MOST_VARIABLES:
        return Rivals()
    if any(data.missing):
        return Rivals()
    at = [data.names.index(name) for name in names]
    place = np.ix_(at, at)
    if is_categorical(data):
        with suppress(LMarvelError, OutOfTime):
            return Rivals(_by_tests(as_ci_test("g-square", data).reordered(at), alpha))
    if any(kind is not Kind.CONTINUOUS for kind in data.kinds):
        return Rivals()
    with suppress(LMarvelError, OutOfTime):
        R, n = data.moments.correlation(), data.moments.n
        by_score = lift(R, n, penalty=penalty, latents=False, selection=False, deadline=late).mag
        return Rivals(_by_tests(as_ci_test("fisher-z", data).reordered(at), alpha), by_score[place])
    return Rivals()


def _by_tests(test: IndependenceTest, alpha: float) -> Marks | None:
    """Return L-MARVEL's PAG; None where the compiled engine does not give it."""
    ledger, level = Ledger(test), default_boundary_alpha(len(test.names), alpha)
    boundary = choose_boundary(ledger)
    find = partial(boundaries_for, boundary, ledger, level)
    run = learn_compiled(ledger, Levels(alpha, level), level, boundary, find, True, 0.0, None)
    return None if run is None else run.arrays.marks
