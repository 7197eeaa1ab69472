"""Effects over graphs that are learned again from resamples of the rows, as a result was learned.

Each resample has its own graph, each graph its own adjustment set, and its number comes from its own resample. So the
interval over them includes the uncertainty about the graph. The command line, the app and the report do this unasked,
where it takes under 10 seconds; where it does not, the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import monotonic, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.registry import TESTS
from lmarvel.data import Dataset
from lmarvel.data.resampling import Resampling
from lmarvel.effects.classify import ready_as_stated
from lmarvel.effects.effect import Effect
from lmarvel.effects.numbers.doubly_robust import Learner
from lmarvel.effects.numbers.estimate import DEFAULT, REPLICATES, Estimation
from lmarvel.effects.numbers.resampled import Tally
from lmarvel.effects.pag_index import prepare
from lmarvel.effects.spread import ILLEGAL, Spread
from lmarvel.errors import DataError, GraphError, LMarvelError, ParameterError
from lmarvel.estimators import METHODS
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import check_can_be_drawn, check_settings, drawn_graphs, prepared
from lmarvel.graph.kinds import PAG
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.contradictions import known_of
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before

WITHIN = 10.0  # seconds that learning again may take where nobody asked for it
SEARCH = ("boundary", "search", "skeleton", "orientation")  # phases of a run that each resample repeats
FEWER = (100, 50)  # resamples where there is no time for all that are wanted
TIMED, SLACK = 3, 12  # resamples whose time tells that of all, and how far that of the result may be off
Progress = Callable[[int, int], None]


def over_graphs(
    result: Discovery,
    told: Effect,
    data: Any,
    how: Estimation = DEFAULT,
    nominal: tuple[str, ...] = (),
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Effect:
    """Return an answer with intervals over graphs learned again where that takes under 10 seconds; else, with why not.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import LMarvel, effect
    >>> A, B, e, f = np.random.default_rng(0).normal(size=(4, 500))
    >>> table = {"A": A, "B": B, "X": A + B + e, "Y": A + B + e + f}
    >>> found = LMarvel().fit(table).result_
    >>> over_graphs(found, effect(found, "X", "Y", table), table).again is None
    False
    """
    if not told.estimates:
        return told
    pair = told.identified.x, told.identified.y
    try:
        found = learned_again(result, [pair], data, REPLICATES, told.given, how, nominal, n_jobs, progress, WITHIN)
    except LMarvelError as error:  # another table, or a test that cannot be run again
        return told.not_again(str(error))
    return told.not_again(too_long(found)) if isinstance(found, float) else told.over(found[0])


def too_long(seconds: float) -> str:
    """Say that learning again was left out, because it takes so many seconds.

    Examples
    --------
    >>> too_long(34.2)
    'learning again from 200 resamples would take about 34 s (--learn-again 200, or again=200, does so)'
    """
    asked = f"(--learn-again {REPLICATES}, or again={REPLICATES}, does so)"
    return f"learning again from {REPLICATES} resamples would take about {max(seconds, 1):.0f} s {asked}"


def effect_learned_again(
    result: Discovery,
    x: str,
    y: str,
    data: Any,
    replicates: int = REPLICATES,
    *,
    given: str | Iterable[str] = (),
    values: tuple[Any, Any] | None = None,
    learner: Learner = "glm",
    nominal: Sequence[str] = (),
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Spread:
    """Learn again from resamples of the rows as a result was learned, and return what these graphs say about an effect.

    The interval of :func:`lmarvel.effect` takes the graph as given. Here each resample has its own graph, its own
    adjustment set and its own numbers, by the same estimator and in the same units. So the spread includes the
    uncertainty about the graph and about the numbers. What was stated beforehand (:class:`lmarvel.Knowledge`) counts
    for the search and the answer of each resample.

    Parameters
    ----------
    result : Discovery
        The result.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset
        The table that it was learned from.
    given, values, learner, nominal
        As for :func:`lmarvel.effect`.
    replicates, seed, n_jobs
        How many resamples, from which seed, by how many workers; ``fit(bootstrap=...)`` makes the same.
    progress : callable, optional
        Called with (done, of how many).

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import LMarvel
    >>> rng = np.random.default_rng(0)
    >>> A, B, e, f = rng.normal(size=(4, 2000))
    >>> X = A + B + e
    >>> table = {"A": A, "B": B, "X": X, "Y": 0.5 * X + f}
    >>> print(effect_learned_again(LMarvel().fit(table).result_, "X", "Y", table, 20, seed=1))
    20 of 20 graphs identify the effect of X on Y: median 0.508, 95 % of them 0.488 to 0.534; 0 find no effect
    """
    how = Estimation(None, seed, learner, values)
    held = (given,) if isinstance(given, str) else tuple(given)
    found = learned_again(result, [(x, y)], data, replicates, held, how, tuple(nominal), n_jobs, progress)
    assert not isinstance(found, float)
    return found[0]


def learned_again(
    result: Discovery,
    pairs: Sequence[tuple[str, str]],
    data: Any,
    replicates: int,
    given: tuple[str, ...] = (),
    how: Estimation = DEFAULT,
    nominal: tuple[str, ...] = (),
    n_jobs: int = 1,
    progress: Progress | None = None,
    within: float | None = None,
) -> list[Spread] | float:
    """Return what the graphs of resamples say about each of some pairs, whose effects are read from the same graphs.

    Where this would take more than ``within`` seconds, how many it would is returned instead. The time of the first
    resamples tells: fewer are taken where that helps. Where the search itself took long, none is.
    """
    seed = how.seed
    check_settings(replicates, seed, n_jobs)
    for name in (*(name for pair in pairs for name in pair), *given):
        result.pag.index(name)
    method, table = _same_method(result), _same_table(result, data)
    check_can_be_drawn(table, method)
    before = sum(took for phase, took in result.stats.seconds.items() if phase in SEARCH) * replicates
    if within is not None and before > SLACK * within:
        return before
    source, again, compiled = prepared(table, method)
    again = replace(again, unaided=result.knowledge is not None)
    moments = source if isinstance(source, Resampling) else None
    tallies = [Tally(table, x, y, given, how, moments, seed, nominal) for x, y in pairs]
    start, now = 0.0, process_time if n_jobs == 1 else monotonic  # the one does not count other processes
    drawn = drawn_graphs(source, again, replicates, seed=seed, n_jobs=n_jobs, threads=compiled)
    try:
        for done, marks in enumerate(drawn):
            if marks is not None:
                _count(tallies, table.names, marks, done, result.knowledge)
            if progress is not None:
                progress(done + 1, replicates)
            start = start if done else now()  # the first one also loads what is needed
            if within is not None and done == TIMED:
                each = (now() - start) / TIMED
                many = next((many for many in (replicates, *FEWER) if many * each <= within), 0)
                if not many:
                    return replicates * each
                replicates = min(replicates, many)
            if done + 1 >= replicates:
                break
    except KeyboardInterrupt:
        again.stop.set()
        raise
    return [
        Spread(x, y, dict(tally.statuses), tally.values, tally.maybe_none)
        for (x, y), tally in zip(pairs, tallies, strict=True)
    ]


def _count(
    tallies: Sequence[Tally], names: Sequence[str], marks: NDArray[np.int8], number: int, stated: Knowledge | None
) -> None:
    """Count what the graph of a resample says; one that contradicts what was stated counts as illegal."""
    try:
        if stated is None:
            ready = prepare(PAG._trusted(tuple(names), marks))
        else:
            informed, alone = (PAG._trusted(tuple(names), one) for one in marks)
            ready = ready_as_stated(informed, alone, known_of(stated, names), stated)
    except GraphError:
        for tally in tallies:
            tally.statuses[ILLEGAL] += 1
    else:
        for tally in tallies:
            tally.add(ready, number)


def _same_method(result: Discovery) -> PagEstimator:
    """Return the method of a result with its settings, and with what was stated beforehand.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> _same_method(LMarvel(alpha=0.05).fit(CARS).result_).alpha
    0.05
    """
    known = {kind.__name__: kind for kind in METHODS.values()}
    kind = known.get(str(result.settings.get("method")))
    if kind is None:
        raise ParameterError("the result does not say by which method it was learned: learn again with 'lmarvel learn'")
    settings = {name: result.settings[name] for name in kind._defaults() if name in result.settings}
    if settings.get("boundary") == "none" and not kind._starts_complete():  # "auto" found no use for boundaries
        del settings["boundary"]
    if settings.get("test") not in TESTS:
        raise ParameterError(
            "the result rests on a test of your own, which knows one table only: it cannot be resampled"
        )
    method = kind(**settings, knowledge=result.knowledge)
    method.check_parameters()
    return method


def _same_table(result: Discovery, data: Any) -> Dataset:
    """Return the table that a result was learned from, or refuse another one.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> _same_table(LMarvel().fit(CARS).result_, CARS).n
    392
    """
    table = read_as_before(data, result.data, result.pag.names)
    if result.data is not None and result.data["fingerprint"] != table.fingerprint:
        raise DataError("the table is not the one that the result was learned from: pass that one, read as it was then")
    return table
