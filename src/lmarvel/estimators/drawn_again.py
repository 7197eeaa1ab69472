"""The bootstrap of a method: which draws it needs, and whether threads or processes learn from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.resampling import Resampling
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.errors import DataError, ParameterError
from lmarvel.estimators.discover import Settings, discover_marks
from lmarvel.frequencies import Stability
from lmarvel.graph.kinds import PAG
from lmarvel.stability.bootstrap import Progress, bootstrap, drawn_graphs

if TYPE_CHECKING:
    from lmarvel.result import Discovery

Marks = NDArray[np.int8]


@dataclass(frozen=True)
class Again:
    """A method that learns again from a table that was drawn, as a result of it would."""

    method: Settings
    stop: Cancel = field(default_factory=Cancel)

    def __call__(self, data: Dataset | Moments, /) -> Marks:
        """Return the marks of the PAG."""
        before = CANCEL.set(self.stop)  # threads hear no signals
        try:
            return discover_marks(data, self.method)
        finally:
            CANCEL.reset(before)


def check_can_be_drawn(data: Any, settings: Settings) -> None:
    """Refuse, before any work, a bootstrap of what has no rows to draw."""
    if not isinstance(settings.test, str):
        raise ParameterError(
            "a bootstrap learns from tables that are drawn again, and a test of your own knows one table: choose a test"
            " by name, or leave bootstrap out"
        )
    if data is None or isinstance(data, Moments):
        raise DataError("a bootstrap draws rows again, and there are none: pass the table itself")


def drawn_again(
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
    >>> found = drawn_again(Dataset.of(CARS), LMarvel(), replicates=20, seed=1, n_jobs=1)
    >>> found.edge("Weight", "MilesPerGallon") > found.edge("MilesPerGallon", "SecondsTo60")
    True
    """
    source, again, compiled = _prepared(data, settings)
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


def graphs_drawn_again(
    data: Dataset, settings: Settings, replicates: int, seed: int = 0, n_jobs: int = 1
) -> Iterator[tuple[PAG, NDArray[np.float64]]]:
    """Iterate over the PAG that is learned from each table drawn again, with the covariance of that table.

    The draws are those of :func:`drawn_again`; where nothing can be learned from one, it is left out.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = list(graphs_drawn_again(Dataset.of(CARS), LMarvel(), 20, seed=1))
    >>> sum(graph.has_edge("Weight", "MilesPerGallon") for graph, _ in found), found[0][1].shape
    (20, (6, 6))
    """
    source, again, compiled = _prepared(data, settings)
    drawn = drawn_graphs(source, again, replicates, seed=seed, n_jobs=n_jobs, threads=compiled)
    try:
        for i, marks in enumerate(drawn):
            if marks is not None:
                same = source.moments(seed, i) if isinstance(source, Resampling) else data.resample([seed, i]).moments
                yield PAG._trusted(data.names, marks), same.covariance
    except KeyboardInterrupt:
        again.stop.set()
        raise


def _prepared(data: Dataset, settings: Settings) -> tuple[Dataset | Resampling, Again, bool]:
    """Return what to draw from, what learns from a draw, and whether it does so without Python's lock."""
    test = as_ci_test(settings.test, data)
    method, _ = settings.resolved(test)
    compiled = method.for_engine(method.boundary_alpha or method.alpha) is not None
    return Resampling(data) if _rests_on_moments(test, data) else data, Again(method), compiled


def _rests_on_moments(test: IndependenceTest, data: Dataset) -> bool:
    """Tell whether the moments of the rows, as they are, are all that is needed; gaps that EM fills are more."""
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
