"""What grades the marks of a result, unasked: a small bootstrap where it takes little time, and a look for curves.

Both are made when somebody first looks at a grade, and kept with the result. The resamples are the same as those of a
bootstrap with seed 0.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import Clock
from lmarvel.data import table as held
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.resampling import Resampling
from lmarvel.data.scan import SMALL
from lmarvel.deferred import Deferred
from lmarvel.errors import BudgetSpent, LMarvelError
from lmarvel.estimators.bootstrap import prepared, replicate
from lmarvel.estimators.discover import Settings, discover
from lmarvel.estimators.scoring import is_no_sum
from lmarvel.result.discovery import Discovery
from lmarvel.result.missing import only_apart
from lmarvel.result.support.frequencies import Stability, Tally
from lmarvel.result.support.grounds import Bend, Grounds, Skipped

RESAMPLES = 40  # enough to tell 95 % from 80 %
MOST_SECONDS = 2.0  # that they may take: nobody asked for them
FEWER, SLOW_SECONDS = 20, 4.0  # where that is too little time: so many, in so many seconds
SEED = 0
_NOT_REPEATED = ("data", "score")  # phases of a run that a resample is spared
_COUNTING = 2e-11  # seconds times the cube of the number of variables: no graph is counted faster, paths included
MOST_VARIABLES = 500  # for the look for curves, which takes the rows times the square of that
CURVED = 0.05  # of the bends that are noticed, the share that may be noticed by chance
FAR_OUT = 25.0  # the fourth moment of a column from which on its values lie far out; a normal one has 3
_SMALL_Z = 2.5  # below which no pair is noticed
LEAST_BEND = 0.1  # a correlation; with many rows even bends that change nothing are noticed
_STRAIGHT = ("fisher-z", "skewed")  # tests that see straight lines alone
_STRAIGHT_SCORE = ("fisher-z", "skewed", "mixed")  # and tests beside which a score does

Array = NDArray[np.float64]


def later_grounds(
    found: Discovery, table: Dataset | None, method: Settings, clock: Clock, resample: bool = True
) -> Deferred[Grounds]:
    """Return grounds that wait for a look; empty where there are no rows, or the search was cut short.

    Parameters
    ----------
    found : Discovery
        What was learned.
    table : Dataset, optional
        From which table, and by which ``method``.
    clock : Clock
        The clock of the run, whose budget of seconds holds for the grounds, too.
    resample : bool
        False where a bootstrap was asked for, which serves for the grades.
    """
    rows = found.settings.get("rows")
    early = found.undecided and not only_apart(found)
    if table is None or rows is None or early or not isinstance(method.test, str):
        return Deferred.of(Grounds())
    values = (rows if table.has_rows else len(found.pag)) * len(found.pag)
    if not found.pag.n_edges:
        return Deferred.of(Grounds())
    if values > SMALL or values > held.KEPT:  # no file is read again for it
        return Deferred.of(Grounds(skipped="size" if resample else ""))
    unlimited = type(method)(**(method.get_params() | {"max_seconds": None}))
    took = sum(spent for phase, spent in found.stats.seconds.items() if phase not in _NOT_REPEATED)

    def make() -> Grounds:
        with clock.running():
            bends = () if clock.is_late() else bends_of(found, table)
            left = min(MOST_SECONDS, clock.left())
            if not resample:
                return Grounds(None, bends)
            with suppress(BudgetSpent):
                slow = min(SLOW_SECONDS, clock.left())
                drawn = resampled(table, unlimited, left, slow, took) if left > 0 else "time"
                if isinstance(drawn, Stability):
                    return Grounds(drawn, bends)
                return Grounds(None, bends, "budget" if drawn == "time" and slow < SLOW_SECONDS else drawn)
            return Grounds(None, bends, "budget")

    return Deferred(make)


def resampled(
    table: Dataset, method: Settings, seconds: float, slow: float = 0.0, took: float = 0.0
) -> Stability | Skipped:
    """Return how often each part appears in 40 resamples, or why that is not known.

    Where these would take more than the seconds, it is 20 resamples, if they end within the slower limit. The reason is
    "time" where they do not, and "unusable" where nothing is learned from any. ``took`` is what the search took on the
    table itself: where that is twenty times what a resample may take, none is tried.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> resampled(Dataset.of(CARS), LMarvel(), 60.0).replicates
    40
    """
    first = max(seconds, slow) / 4
    if took > 4 * first:
        return "time"
    try:
        source, again, _ = prepared(table, method)
    except LMarvelError:
        return "unusable"
    least = _COUNTING * len(table.names) ** 3
    if RESAMPLES * least > _allowed(seconds, 0) and FEWER * least > _allowed(slow, 0):
        return "time"
    if not _ends_within(first, source, again.method, 2 if took < first else 1):
        return "time"
    tally, begun, many = Tally(table.names, again.method.selection), time.thread_time(), RESAMPLES
    for i in range(RESAMPLES):
        marks = replicate(source, again, SEED, i)
        if isinstance(marks, str):
            tally.skip()
        else:
            tally.add(marks)
        each = (time.thread_time() - begun) / (i + 1)
        if i < FEWER and each * RESAMPLES > _allowed(seconds, i):
            if each * FEWER > _allowed(slow, i):
                return "time"
            many = FEWER
        if i + 1 >= many:
            break
    return tally.stability(SEED) if tally.replicates else "unusable"


def _allowed(seconds: float, i: int) -> float:
    """Return what resamples are expected to take at most, after the i-th: the first ones differ more."""
    return seconds * (1.0 if i >= RESAMPLES // 8 else 1.5)


def _ends_within(seconds: float, source: Dataset | Resampling, method: Settings, tries: int) -> bool:
    """Tell whether a method ends within the seconds on the first resample: it might take minutes.

    The first run also loads what is loaded at first use, so one that does not end is tried once more, unless the search
    on the table took as long.
    """
    limited = type(method)(**(method.get_params() | {"max_seconds": max(seconds, 1e-6)}))
    first = source.moments(SEED, 0) if isinstance(source, Resampling) else source.resample([SEED, 0])
    try:
        return any(discover(first, limited).budget_ended is None for _ in range(tries))
    except LMarvelError:
        return True  # from which nothing is learned, and others may be better


def bends_of(found: Discovery, table: Dataset) -> tuple[Bend, ...]:
    """Return the relations that are not straight lines, the strongest first.

    There are none where the test or the score looks for curves and combinations itself.

    Each column of numbers is regressed on its neighbours in the graph; what is left is correlated with the square and
    the cube of every other column, these without their straight part. The statistic allows for unequal variances.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> table = Dataset.of({"A": a, "B": a + a**2 + rng.normal(size=500), "C": a + rng.normal(size=500)})
    >>> [(bend.x, bend.y) for bend in bends_of(LMarvel().fit(table).result_, table)][0]
    ('A', 'B')
    """
    if not table.has_rows:
        return ()
    numbers = [v for v, kind in enumerate(table.kinds) if kind is Kind.CONTINUOUS]
    scored = found.settings.get("method") == "Lift"
    straight = _STRAIGHT_SCORE if scored else _STRAIGHT
    if scored and found.settings.get("test") == "mixed" and is_no_sum(table):
        return ()
    if found.settings.get("test") not in straight or not 2 <= len(numbers) <= MOST_VARIABLES or any(table.missing):
        return ()
    rows = table.rows()[:, numbers]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    adjacent = (found.pag.marks != 0)[np.ix_(numbers, numbers)]
    correlation, size = _bending(rows, _left_over(rows, adjacent))
    np.fill_diagonal(size, 0.0)
    noticed, outlying = _noticed(size), (rows**4).mean(axis=0) > FAR_OUT
    names = [found.pag.names[v] for v in numbers]
    bends = [
        Bend(names[u], names[v], float(f"{correlation[u, v]:.6g}"), float(f"{_pvalue(size[u, v]):.6g}"), bool(far))
        for u, v in np.argwhere((size >= noticed) & (np.abs(correlation) >= LEAST_BEND)).tolist()
        for far in [outlying[u] or outlying[v]]
    ]
    return tuple(sorted(bends, key=lambda bend: (-abs(bend.correlation), bend)))


def _noticed(size: Array) -> float:
    """Return the smallest |z| of a pair that is noticed, by Benjamini and Hochberg; infinite if none is."""
    pairs = len(size) * (len(size) - 1)
    descending = np.sort(size[size > _SMALL_Z])[::-1].tolist()
    passed = [
        z for k, z in enumerate(descending, 1) if 2 * _pvalue(z) * pairs <= CURVED * k
    ]  # the better of two powers
    return passed[-1] if passed else math.inf


def _pvalue(z: float) -> float:
    return math.erfc(z / math.sqrt(2))


def _left_over(rows: Array, adjacent: NDArray[np.bool_]) -> Array:
    """Return what is left of each column when its neighbours are regressed out."""
    gram = rows.T @ rows / len(rows)
    weights = np.zeros_like(gram)
    for v, near in enumerate(adjacent):
        where = np.flatnonzero(near)
        if len(where) and len(where) < len(rows) // 2:
            weights[where, v] = np.linalg.lstsq(gram[np.ix_(where, where)], gram[where, v], rcond=None)[0]
    return np.asarray(rows - rows @ weights)


def _bending(rows: Array, left: Array) -> tuple[Array, Array]:
    """Return for each u and v how the more telling power of u correlates with what is left of v, and its |z|."""
    correlation, size = np.zeros((2, rows.shape[1], rows.shape[1]))
    for power in (2, 3):
        bent = rows**power
        bent -= bent.mean(axis=0)
        bent -= rows * (bent * rows).mean(axis=0)
        both = bent.T @ left
        scale = np.sqrt(np.outer((bent**2).sum(axis=0), (left**2).sum(axis=0)))
        spread = np.sqrt((bent**2).T @ left**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.nan_to_num(np.abs(both / spread))
            r = np.nan_to_num(both / scale)
        more = z > size
        correlation[more], size[more] = r[more], z[more]
    return correlation, size
