"""The bootstrap: learn again from tables whose rows are drawn with replacement, and count what recurs.

Replicate number i is drawn from the pair (seed, i) alone, and counts only add up. So the result does not depend on the
number of workers, a run that was interrupted goes on where it stopped, and what has to be kept for that is the counts.
Each replicate runs the whole method, boundaries included, on as many rows as the table has.

A table in which a row occurs twice shows chance associations more strongly than a new sample would, so that edges with
a low frequency are mostly false; docs/stability.md shows what a frequency was worth on data with known truth.

:func:`bootstrap` takes any function that learns. :func:`bootstrap_method` takes a method with its settings: it decides
whether draws of the moments are enough, and whether threads or processes learn from them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.registry import TESTS, as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.resampling import FilledResampling, NormalResampling, Resampling
from lmarvel.deferred import late
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.errors import DataError, ParameterError
from lmarvel.estimators.discover import Settings, discover, discover_marks
from lmarvel.graph.kinds import PAG
from lmarvel.result.support.frequencies import Stability, Tally

joblib = late("joblib")


if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

Marks = NDArray[np.int8]
Progress = Callable[[int, int], None]
_PER_PROCESSOR = 4  # workers: more would only wait for each other


class Learner(Protocol):
    """A method with its settings: learns the marks of a PAG; it travels to other processes."""

    def __call__(self, data: Dataset | Moments, /) -> Marks:
        """Return the marks of the PAG that is learned from a table, or from its moments alone."""


class Interrupted(KeyboardInterrupt):
    """The bootstrap was interrupted; ``stability`` is what was counted until then, to go on from."""

    def __init__(self, stability: Stability) -> None:
        super().__init__(f"interrupted after {stability.drawn} replicates")
        self.stability = stability


def bootstrap(
    data: Dataset | Resampling,
    learn: Learner,
    replicates: int,
    *,
    seed: int = 0,
    selection: bool = True,
    n_jobs: int = 1,
    threads: bool = False,
    known: Stability | None = None,
    progress: Progress | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Stability:
    """Learn from tables drawn again and again, and count how often each part of the graph recurs.

    Parameters
    ----------
    data : Dataset or Resampling
        The table. Where it has clusters, these are drawn whole. A ``Resampling`` gives the moments of the same draws
        in a fraction of the time, to a method that needs no more.
    learn : callable
        ``learn(table)`` gives the marks of a PAG over the columns of the table, in their order.
    replicates : int
        How many tables to draw.
    seed : int
        The same seed draws the same tables.
    selection : bool
        Whether the sample may be selected; then less can be claimed (:mod:`lmarvel.result.support.frequencies`).
    n_jobs : int
        Workers, -1 for all processors; joblib's back ends are honoured (``joblib.parallel_config``).
    threads : bool
        Whether ``learn`` runs without Python's lock, so that threads do.
    known : Stability, optional
        Counts to go on from, of the same table, method and seed.
    progress : callable, optional
        Called with (done, of how many).
    stop : callable
        Called on an interruption: it ends what threads, which hear no signals, have under way.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=300)
    >>> table = Dataset.of({"A": a, "B": a + rng.normal(size=300)})
    >>> def joined(data):
    ...     return np.array([[0, 1], [1, 0]], dtype=np.int8) * (data.moments.correlation()[0, 1] > 0.7)
    >>> 0 < bootstrap(table, joined, 50, seed=1).edge("A", "B") < 1
    True
    """
    check_settings(replicates, seed, n_jobs)
    tally = Tally(data.names, selection)
    if known is not None:
        if known.names != data.names or known.seed != seed:
            raise ParameterError("the counts to go on from are of other variables, or of another seed")
        tally.go_on_from(known)
    report = progress or (lambda done, of: None)
    why = ""
    try:
        report(tally.drawn, replicates)
        for found in _learned(data, learn, range(tally.drawn, replicates), seed, n_jobs, threads):
            if isinstance(found, str):
                why = why or found
                tally.skip()
            else:
                tally.add(found)
            report(tally.drawn, replicates)
    except KeyboardInterrupt:
        stop()
        raise Interrupted(tally.stability(seed)) from None
    if not tally.replicates:
        raise DataError(f"nothing could be learned from any of {replicates} resamples: {why}")
    return tally.stability(seed)


def drawn_graphs(
    data: Dataset | Resampling,
    learn: Learner,
    replicates: int,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    threads: bool = False,
) -> Iterator[Marks | None]:
    """Iterate over the marks that are learned from each table of :func:`bootstrap`; None where nothing could be.

    Examples
    --------
    >>> table = Dataset.of(np.random.default_rng(0).normal(size=(50, 2)))
    >>> sum(found is not None for found in drawn_graphs(table, lambda data: np.zeros((2, 2), np.int8), 5))
    5
    """
    check_settings(replicates, seed, n_jobs)
    for found in _learned(data, learn, range(replicates), seed, n_jobs, threads):
        yield None if isinstance(found, str) else found


def check_settings(replicates: int, seed: int, n_jobs: int, called: str = "bootstrap") -> None:
    """Refuse settings of a bootstrap that make no sense, before any work; ``called`` is the name of the first."""
    for name, value, least in ((called, replicates, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ParameterError(f"must be a whole number of at least {least}, not {value!r}", parameter=name)
    check_workers(n_jobs)


def check_workers(n_jobs: int) -> None:
    """Refuse a number of workers that is none."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ParameterError(
            f"must be a number of workers, or -1 for all processors, not {n_jobs!r}", parameter="n_jobs"
        )


def n_workers(n_jobs: int) -> int:
    """Return how many workers are meant: as joblib counts, -1 is all processors, and -2 all but one.

    Examples
    --------
    >>> n_workers(3), n_workers(-1) >= 1
    (3, True)
    """
    return int(n_jobs) if n_jobs > 0 else max(joblib.cpu_count() + 1 + int(n_jobs), 1)


def started(n_jobs: int, tasks: int) -> int:
    """Return how many workers to start: no more than there are tasks, nor more than a few per processor.

    Fewer than 0 are left to joblib, which may count those of a cluster.

    Examples
    --------
    >>> started(100_000, 3), started(-1, 3)
    (3, -1)
    """
    return n_jobs if n_jobs < 0 else min(n_jobs, tasks, _PER_PROCESSOR * joblib.effective_n_jobs(-1))


def _learned(
    data: Dataset | Resampling, learn: Learner, numbers: range, seed: int, n_jobs: int, threads: bool
) -> Iterator[Marks | str]:
    """Iterate over what is learned, in order; a reason in words where nothing is."""
    if n_jobs == 1 or len(numbers) < 2:
        for i in numbers:
            yield replicate(data, learn, seed, i)
        return
    workers = started(n_jobs, len(numbers))
    pool = joblib.Parallel(workers, prefer="threads" if threads else "processes", return_as="generator")
    learned = pool(joblib.delayed(replicate)(data, learn, seed, i) for i in numbers)
    try:
        for found in learned:  # noqa: UP028  # "yield from" would close them itself, and they would warn
            yield found
    finally:
        with warnings.catch_warnings():  # joblib warns that work was lost where somebody needs no more of it
            warnings.simplefilter("ignore")
            learned.close()


def replicate(data: Dataset | Resampling, learn: Learner, seed: int, i: int) -> Marks | str:
    """Return what is learned from one resample; a reason in words where nothing is."""
    try:
        return learn(data.moments(seed, i) if isinstance(data, Resampling) else data.resample([seed, i]))
    except DataError as error:
        return str(error)


@dataclass(frozen=True)
class Again:
    """A method that learns again from a table that was drawn, as a result of it would.

    Attributes
    ----------
    method : Settings
        The method, with what was stated beforehand.
    stop : Cancel
        What ends it from outside.
    unaided : bool
        Whether to return two graphs, one above the other: that with what was stated, and that of the data alone.
    """

    method: Settings
    stop: Cancel = field(default_factory=Cancel)
    unaided: bool = False

    def __call__(self, data: Dataset | Moments, /) -> Marks:
        """Return the marks of the PAG."""
        before = CANCEL.set(self.stop)  # threads hear no signals
        try:
            if not self.unaided:
                return discover_marks(data, self.method)
            found = discover(data, self.method)
            return np.stack([found.pag.marks, (found.unaided or found.pag).marks])
        finally:
            CANCEL.reset(before)


def check_can_be_drawn(data: Dataset | None, settings: Settings) -> None:
    """Refuse, before any work, a bootstrap of what has no rows to draw."""
    if not isinstance(settings.test, str):
        raise ParameterError(
            "a bootstrap learns from resamples, and a test of your own knows one table only: choose a test"
            " by name, or leave bootstrap out"
        )
    if data is None:
        raise DataError("a bootstrap resamples rows, and there are no rows here: pass the table itself")


def bootstrap_method(
    data: Dataset,
    settings: Settings,
    replicates: int,
    seed: int,
    n_jobs: int,
    known: Stability | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Return how often each part of the graph recurs when a method learns from tables drawn again.

    Fisher's z test, and a score of numbers, need no more of a draw than its moments. Where the compiled engine does all
    the work, which it does without Python's lock, threads share the table; else processes do the work, which joblib
    may spread over a cluster.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = bootstrap_method(Dataset.of(CARS), LMarvel(), replicates=20, seed=1, n_jobs=1)
    >>> found.edge("Weight", "MilesPerGallon") > found.edge("MilesPerGallon", "SecondsTo60")
    True
    """
    source, again, compiled = prepared(data, settings)
    return bootstrap(
        source,
        again,
        replicates,
        seed=seed,
        selection=again.method.selection,
        n_jobs=n_jobs,
        threads=compiled,
        known=known,
        progress=progress,
        stop=again.stop.set,
    )


def bootstrap_graphs(
    data: Dataset, settings: Settings, replicates: int, seed: int = 0, n_jobs: int = 1
) -> Iterator[tuple[PAG, NDArray[np.float64]]]:
    """Iterate over the PAG that is learned from each table drawn again, with the covariance of that table.

    The draws are those of :func:`bootstrap_method`; where nothing can be learned from one, it is left out.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = list(bootstrap_graphs(Dataset.of(CARS), LMarvel(), 20, seed=1))
    >>> sum(graph.has_edge("Weight", "MilesPerGallon") for graph, _ in found), found[0][1].shape
    (20, (6, 6))
    """
    source, again, compiled = prepared(data, settings)
    drawn = drawn_graphs(source, again, replicates, seed=seed, n_jobs=n_jobs, threads=compiled)
    try:
        for i, marks in enumerate(drawn):
            if marks is not None:
                same = source.moments(seed, i) if isinstance(source, Resampling) else data.resample([seed, i]).moments
                yield PAG._trusted(data.names, marks), same.covariance
    except KeyboardInterrupt:
        again.stop.set()
        raise


def prepared(data: Dataset, settings: Settings) -> tuple[Dataset | Resampling, Again, bool]:
    """Return what to draw from, what learns from a draw, and whether it does so without Python's lock."""
    test = as_ci_test(settings.test, data, measured=settings.measures())
    method, _ = settings.resolved(test)
    if test.name in TESTS:  # a resample is learned from as the table was
        method = type(method)(**(method.get_params() | {"test": test.name}))
    compiled = method.for_engine(method.boundary_alpha or method.alpha) is not None
    source = _drawn_from(test, data, scored=not compiled)
    plain = isinstance(source, Resampling) and not isinstance(source, FilledResampling)
    return source, Again(method), compiled or (plain and getattr(method, "searches_unlocked", False))


def _drawn_from(test: IndependenceTest, data: Dataset, scored: bool) -> Dataset | Resampling:
    """Return moments to draw where these are all that is needed: of the rows, or for a score around their gaps."""
    if _rests_on_moments(test, data):
        return Resampling(data) if data.has_rows else NormalResampling(data)
    return FilledResampling(data) if scored and data.test_wise and test.name == "fisher-z" else data


def _rests_on_moments(test: IndependenceTest, data: Dataset) -> bool:
    """Tell whether the moments of the rows, as they are, are all that is needed; those around gaps are more."""
    return test.name == "fisher-z" and not any(data.missing)


def to_go_on_from(before: Discovery | None, found: Discovery, replicates: int, seed: int) -> Stability | None:
    """Return the counts of an earlier result that a bootstrap can go on from: same table, settings and seed."""
    if before is None or before.stability is None or found.data is None or before.data is None:
        return None
    same = (
        before.data["fingerprint"] == found.data["fingerprint"]
        and dict(before.settings) == dict(found.settings)
        and before.knowledge == found.knowledge
        and before.pag == found.pag
    )
    counted = before.stability
    return counted if same and counted.seed == seed and counted.drawn <= replicates else None
