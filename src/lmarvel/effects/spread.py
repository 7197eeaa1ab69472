"""One effect read from many graphs: how much the answer depends on what was learned.

The graphs come from a bootstrap of the learning, from several methods, or from several levels of the tests; where
they come from does not matter here. An interval for one graph takes that graph as given. The spread over graphs shows
what that leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.registry import TESTS
from lmarvel.data import Dataset
from lmarvel.data.resampling import Resampling
from lmarvel.effects.classify import classify, ready_as_stated
from lmarvel.effects.formula import slope
from lmarvel.effects.numbers.doubly_robust import Learner
from lmarvel.effects.numbers.estimate import REPLICATES, Estimation
from lmarvel.effects.numbers.resampled import Tally, best_formula
from lmarvel.effects.pag_index import prepare
from lmarvel.errors import DataError, GraphError, ParameterError
from lmarvel.estimators import METHODS
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import check_can_be_drawn, check_settings, drawn_graphs, prepared
from lmarvel.graph.kinds import PAG
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.contradictions import known_of
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before
from lmarvel.text import counted, readable

ILLEGAL = "illegal"
QUANTILES = (0.025, 0.5, 0.975)
FEWEST = 20  # graphs that an interval needs
SEARCH = ("boundary", "search", "orientation")  # phases of a run that each resample repeats
FEWER = (100, 50)  # resamples where there is no time for all that are wanted
TIMED, SLACK = 3, 12  # resamples whose time tells that of all, and how far that of the result may be off
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Spread:
    """What many graphs say about one effect.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    statuses : mapping
        How many graphs say 'none', 'adjustment', 'formula' or 'not identified'; 'illegal' are those that no MAG has,
        'not estimated' those whose rows do not allow it.
    contrasts : mapping
        For each comparison the effect in each graph that tells it, zeros included, ascending.
    """

    x: str
    y: str
    statuses: dict[str, int]
    contrasts: dict[str, tuple[float, ...]]

    @property
    def values(self) -> tuple[float, ...]:
        """The effect in each graph that tells it, ascending; of several comparisons the first."""
        return next(iter(self.contrasts.values()), ())

    @property
    def told(self) -> float:
        """The share of the graphs that tell the effect."""
        total = sum(self.statuses.values())
        return self.telling / total if total else 0.0

    @property
    def telling(self) -> int:
        """How many graphs tell the effect."""
        return sum(self.statuses.get(status, 0) for status in ("none", "adjustment", "formula"))

    def quantile(self, share: float, contrast: str | None = None) -> float:
        """Return a quantile of the values; NaN if no graph tells the effect."""
        values = self.values if contrast is None else self.contrasts.get(contrast, ())
        return float(np.quantile(values, share)) if values else float("nan")

    def interval(self, contrast: str | None = None, around: float | None = None) -> tuple[float, float] | None:
        """Return the middle 95 % of the values; None where too few graphs tell the effect.

        ``around`` is the effect in the learned graph. Where more than 2.5 % of the graphs do not identify the effect,
        these count too, with everything from 0 to twice this number: an unmeasured common cause may account for the
        effect, or hide as much again.
        """
        values = self.values if contrast is None else self.contrasts.get(contrast, ())
        wide = around is not None and self.widened
        if len(values) < FEWEST and not wide:
            return None
        ends = [self.quantile(share, contrast) for share in (QUANTILES[0], QUANTILES[-1])] if values else []
        if wide and around is not None:
            ends += [0.0, 2 * around]
        return min(ends), max(ends)

    @property
    def widened(self) -> bool:
        """Whether so many graphs do not identify the effect that its interval has to allow for them."""
        total = sum(self.statuses.values())
        return total >= FEWEST and self.statuses.get("not identified", 0) > QUANTILES[0] * total

    @property
    def caution(self) -> str | None:
        """How many graphs do not identify the effect, or find none, as a clause; None where these are few."""
        total, zero = sum(self.statuses.values()), self.statuses.get("none", 0)
        without = self.statuses.get("not identified", 0)
        failed = total - self.telling - without
        if without + zero + failed <= QUANTILES[0] * total or total < FEWEST:
            return None
        found = [f"{without:,} {'does' if without == 1 else 'do'} not identify the effect"] * bool(without)
        found += [f"{failed:,} {'gives' if failed == 1 else 'give'} no number"] * bool(failed)
        found += [f"{zero:,} {'finds' if zero == 1 else 'find'} no effect"] * bool(zero)
        return f"of {counted(total, 'graph')} learned again from resamples, {' and '.join(found)}"

    @property
    def counts(self) -> str:
        """How many graphs identify the effect, and find none, in words."""
        zero, total = self.statuses.get("none", 0), sum(self.statuses.values())
        verb = "identifies" if self.telling == 1 else "identify"
        none = f", and {zero:,} of them {'finds' if zero == 1 else 'find'} no effect" if zero else ""
        return f"{self.telling:,} of {counted(total, 'graph')} {verb} the effect{none}"

    def __str__(self) -> str:
        x, y = readable(self.x), readable(self.y)
        if not self.telling:
            return f"none of {counted(sum(self.statuses.values()), 'graph')} identifies the effect of {x} on {y}"
        zero = self.statuses.get("none", 0)
        verb = "identifies" if self.telling == 1 else "identify"
        telling = f"{self.telling:,} of {counted(sum(self.statuses.values()), 'graph')} {verb} the effect of {x} on {y}"
        several = len(self.contrasts) > 1
        found = "; ".join(f"{key}: {self._middle(key)}" if several else self._middle(key) for key in self.contrasts)
        return f"{telling}: {found}; {zero:,} {'finds' if zero == 1 else 'find'} no effect"

    def _middle(self, contrast: str) -> str:
        low, middle, high = (self.quantile(share, contrast) for share in QUANTILES)
        return f"median {middle:.3g}, 95 % of them {low:.3g} to {high:.3g}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        each = {key: {f"{share}": self.quantile(share, key) for share in QUANTILES} for key in self.contrasts}
        first = next(iter(each.values()), None)
        return {"statuses": dict(self.statuses), "told": self.told, "quantiles": first, "contrasts": each}


def effect_spread(graphs: Iterable[PAG], x: str, y: str, data: Any = None, *, covariance: Any = None) -> Spread:
    """Return what many PAGs over the same variables say about the effect of ``x`` on ``y``.

    Parameters
    ----------
    graphs : iterable of PAG
        The graphs.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset
        The table; or instead of it
    covariance : array
        the covariance of the variables, in the order of the first graph.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> edges = ("nodes: A B X Y", "A o-> X", "B o-> X")
    >>> graphs = [PAG.from_edges(*edges, "X --> Y"), PAG.from_edges(*edges)]
    >>> loadings = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0.5, 0.5, 0.5, 1]])
    >>> print(effect_spread(graphs, "X", "Y", covariance=loadings @ loadings.T))
    2 of 2 graphs identify the effect of X on Y: median 0.25, 95 % of them 0.0125 to 0.488; 1 finds no effect
    """
    known = list(graphs)
    if not known:
        raise ParameterError("there are no graphs to read the effect from")
    if (data is None) == (covariance is None):
        raise ParameterError("give either the data or their covariance")
    names = known[0].names
    matrix = (
        np.asarray(covariance, dtype=np.float64) if data is None else _ordered(Dataset.of(data, columns=names), names)
    )
    return spread_of(((graph.reordered(names), matrix) for graph in known), x, y)


def spread_of(learned: Iterable[tuple[PAG, Any]], x: str, y: str) -> Spread:
    """Return what graphs say about an effect, each with a covariance of numbers."""
    statuses: Counter[str] = Counter()
    values = []
    for graph, covariance in learned:
        try:
            ready = prepare(graph)
        except GraphError:
            statuses[ILLEGAL] += 1
            continue
        i, j = ready.graph.index(x), ready.graph.index(y)
        identified = classify(ready, i, j)
        statuses[identified.status] += 1
        if identified.status == "none":
            values.append(0.0)
        elif identified.formula is not None:
            values.append(slope(best_formula(ready, identified, covariance), covariance, i, j))
    return Spread(x, y, dict(statuses), {"": tuple(sorted(values))} if values else {})


def _ordered(data: Dataset, names: Sequence[str]) -> Any:
    at = [data.names.index(name) for name in names]
    return data.moments.covariance[np.ix_(at, at)]


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
    adjustment set and its own numbers, by the same estimator and in the same units, so that the spread holds both. What
    was stated beforehand (:class:`lmarvel.Knowledge`) counts for the search and the answer of each resample.

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
    found = learned_again(result, (x, y), data, replicates, held, how, tuple(nominal), n_jobs, progress)
    assert isinstance(found, Spread)
    return found


def learned_again(
    result: Discovery,
    pair: tuple[str, str],
    data: Any,
    replicates: int,
    given: tuple[str, ...],
    how: Estimation,
    nominal: tuple[str, ...] = (),
    n_jobs: int = 1,
    progress: Progress | None = None,
    within: float | None = None,
) -> Spread | float:
    """Return what graphs of resamples say; or, where this would take more than ``within`` seconds, how many it would.

    The time of the first resamples tells: fewer are taken where that helps. Where the search itself took long, none is.
    """
    seed, (x, y) = how.seed, pair
    check_settings(replicates, seed, n_jobs)
    for name in (x, y, *given):
        result.pag.index(name)
    method, table = _same_method(result), _same_table(result, data)
    check_can_be_drawn(table, method)
    before = sum(took for phase, took in result.stats.seconds.items() if phase in SEARCH) * replicates
    if within is not None and before > SLACK * within:
        return before
    source, again, compiled = prepared(table, method)
    again = replace(again, unaided=result.knowledge is not None)
    moments = source if isinstance(source, Resampling) else None
    tally = Tally(table, x, y, given, how, moments, seed, nominal)
    start = 0.0
    drawn = drawn_graphs(source, again, replicates, seed=seed, n_jobs=n_jobs, threads=compiled)
    try:
        for done, marks in enumerate(drawn):
            if marks is not None:
                _count(tally, table.names, marks, done, result.knowledge)
            if progress is not None:
                progress(done + 1, replicates)
            start = start if done else process_time()  # the first one also loads what is needed
            if within is not None and done == TIMED:
                each = (process_time() - start) / TIMED
                many = next((many for many in (replicates, *FEWER) if many * each <= within), 0)
                if not many:
                    return replicates * each
                replicates = min(replicates, many)
            if done + 1 >= replicates:
                break
    except KeyboardInterrupt:
        again.stop.set()
        raise
    return Spread(x, y, dict(tally.statuses), tally.values)


def _count(tally: Tally, names: Sequence[str], marks: NDArray[np.int8], number: int, stated: Knowledge | None) -> None:
    """Count what the graph of a resample says; one that contradicts what was stated counts as illegal."""
    try:
        if stated is None:
            ready = prepare(PAG._trusted(tuple(names), marks))
        else:
            informed, alone = (PAG._trusted(tuple(names), one) for one in marks)
            ready = ready_as_stated(informed, alone, known_of(stated, names), stated)
    except GraphError:
        tally.statuses[ILLEGAL] += 1
    else:
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
