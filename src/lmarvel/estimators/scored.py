"""M3HC as an estimator: tests restrict the pairs, a score chooses the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lmarvel.ci.base import CITest
from lmarvel.ci.gaussian import FisherZ
from lmarvel.ci.ledger import Ledger
from lmarvel.data.moments import Moments, moments_of
from lmarvel.errors import DataError, ParameterError
from lmarvel.estimators.base import Clock, PagEstimator, Progress, named_boundaries, statistics_of, versions
from lmarvel.estimators.inputs import Boundary
from lmarvel.orient.equivalence import orient_mag
from lmarvel.result import Discovery
from lmarvel.score.m3hc import M3HCResult, m3hc
from lmarvel.trace import BudgetEnded, Event, Moved


class M3HC(PagEstimator):
    """Learn a MAG and its PAG with M3HC, hill climbing on BIC (Tsirlis, Lagani, Triantafillou & Tsamardinos 2018).

    A test restricts the pairs that may be adjacent (MMPC), then edges are added, turned and deleted greedily, with a
    tabu list. It always returns a legal PAG, and guarantees no more: a greedy search can end in a local optimum. It
    cannot represent selection (no undirected edges). The score is Gaussian, so it needs a table.

    Parameters
    ----------
    alpha, test, boundary_alpha, selection, max_conditioning, max_tests, max_seconds
        As for :class:`LMarvel`.
    boundary : {"auto", "none", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        Where pairs are chosen from: Markov boundaries, or all pairs with "none".
    max_k : int
        The largest conditioning set of MMPC.
    tabu : int
        How many of the last graphs not to go back to.
    patience : int
        How many moves without a better graph to make before giving up.
    max_iterations : int, optional
        The most moves to make.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))
    >>> b, c = a + u + 0.5 * rng.normal(size=2000), d + u + 0.5 * rng.normal(size=2000)
    >>> model = M3HC().fit({"A": a, "B": b, "C": c, "D": d})
    >>> print(model.pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    _starts_complete = True

    def __init__(
        self,
        alpha: float = 0.01,
        test: str | CITest | Callable[..., float] = "auto",
        boundary: Boundary = "auto",
        boundary_alpha: float | None = None,
        max_k: int = 10,
        tabu: int = 100,
        patience: int = 50,
        max_iterations: int | None = None,
        selection: bool = True,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.boundary = boundary
        self.boundary_alpha = boundary_alpha
        self.max_k = max_k
        self.tabu = tabu
        self.patience = patience
        self.max_iterations = max_iterations
        self.selection = selection
        self.max_conditioning = max_conditioning
        self.max_tests = max_tests
        self.max_seconds = max_seconds

    def _check(self) -> None:
        for name in ("max_k", "tabu", "patience", "max_iterations"):
            value = getattr(self, name)
            optional = name == "max_iterations" and value is None
            if not optional and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise ParameterError(f"{name} must be a whole number of at least 0, not {value!r}")

    def _discover(
        self,
        ledger: Ledger,
        boundaries: list[set[int]],
        level: float,
        report: Progress,
        clock: Clock,
        settings: Mapping[str, Any],
        data: Any,
    ) -> Discovery:
        names = tuple(ledger.ci.names)
        moments = _moments(ledger.ci, data)
        start = None if settings["boundary"] == "none" else boundaries
        found = m3hc(
            ledger,
            start,
            moments,
            self.alpha,
            self.max_k,
            self.tabu,
            self.patience,
            self.max_iterations,
            report,
            self.selection,
        )
        clock.lap("search")
        return Discovery(
            pag=found.pag,
            sepsets={},
            boundaries=named_boundaries(names, boundaries, settings),
            stats=statistics_of(ledger, clock),
            trace=_trace(found, self.selection),
            settings=settings,
            undecided=tuple((names[x], names[y]) for x, y in found.undecided),
            mag=found.mag,
            bic=found.bic,
            data=moments.summary(),
            versions=versions(),
        )


def _moments(ci: CITest, data: Any) -> Moments:
    if isinstance(ci, FisherZ):
        return ci.moments
    if data is None:
        raise DataError("M3HC scores graphs on data: pass a table to fit, also with a test of your own")
    moments = data if isinstance(data, Moments) else moments_of(data)
    if moments.names != tuple(ci.names):
        raise DataError("the columns of the table and the variables of the test differ")
    return moments


def _trace(found: M3HCResult, selection: bool) -> tuple[Event, ...]:
    moves = tuple(Moved(*move) for move in found.moves)
    ended = () if found.ended is None else (BudgetEnded(found.ended),)
    return (*moves, *ended, *orient_mag(found.mag, selection).log)
