"""The frame of all estimators: parameters in, fitted attributes out.

They follow scikit-learn's conventions (``fit`` returns self, results end in an underscore, ``get_params`` and
``set_params``, ``clone`` works) without depending on it. The work is done by the functions of the layers below.
"""

from __future__ import annotations

import inspect
import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lmarvel.boundary.choose import METHODS
from lmarvel.ci.base import CITest, checked_alpha
from lmarvel.ci.gaussian import FisherZ, kernel_name
from lmarvel.ci.ledger import BudgetSpent, Ledger, check_budgets
from lmarvel.errors import ParameterError
from lmarvel.estimators.inputs import Boundary, as_ci_test, boundaries_for, check_boundary_name, name_of
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Mark
from lmarvel.orient.draft import IsCollider
from lmarvel.orient.engine import CheckPath, orient
from lmarvel.result import AllPairs, Discovery, Statistics
from lmarvel.sepsets import NamedSepsets, Sepsets
from lmarvel.skeleton.lmarvel import default_boundary_alpha
from lmarvel.trace import Adjacent, BudgetEnded, Event
from lmarvel.version import __version__

Self = TypeVar("Self", bound="Estimator")
Progress = Callable[[str, int, int], None]


class Estimator:
    """Parameters by name, as scikit-learn has them."""

    @classmethod
    def _parameters(cls) -> tuple[str, ...]:
        code = cls.__init__.__code__
        return code.co_varnames[1 : code.co_argcount]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor with their values."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters by name."""
        for name in params:
            if name not in self._parameters():
                known = ", ".join(self._parameters())
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}: {known}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not _same(v, defaults[k].default)]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(value: object, default: object) -> bool:
    plain = str | int | float | None
    return value is default or (isinstance(value, plain) and type(value) is type(default) and value == default)


class Learned(NamedTuple):
    """What a method found before orientation, and how it wants to be oriented."""

    edges: list[tuple[int, int]]
    sepsets: Sepsets
    trace: list[Event]
    undecided: Callable[[], list[tuple[int, int]]]  # asked again after orientation, which may run tests
    is_collider: IsCollider
    ambiguous: frozenset[tuple[int, int, int]] = frozenset()
    check_path: CheckPath | None = None


class PagEstimator(Estimator):
    """An estimator that learns a PAG: the course of ``fit`` that all methods share."""

    alpha: float
    test: Any
    boundary: Boundary
    boundary_alpha: float | None
    selection: bool
    max_conditioning: int | None
    max_tests: int | None
    max_seconds: float | None

    pag_: PAG
    sepsets_: Mapping[tuple[str, str], frozenset[str]]
    boundaries_: Mapping[str, frozenset[str]]
    n_ci_tests_: int
    result_: Discovery

    _starts_complete = False

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense; ``fit`` does so before any work."""
        checked_alpha(self.alpha)
        if self.boundary_alpha is not None:
            checked_alpha(self.boundary_alpha, "boundary_alpha")
        check_boundary_name(self.boundary, self._starts_complete)
        check_budgets(self.max_conditioning, self.max_tests, self.max_seconds)
        for name, value in self.get_params().items():
            if name in ("selection", "assume_chordal", "max_p") and not isinstance(value, bool | np.bool_):
                raise ParameterError(f"{name} must be True or False, not {value!r}")
        self._check()

    def _check(self) -> None:
        """Refuse parameters that are the method's own."""

    def _learn(self, ledger: Ledger, boundaries: list[set[int]], level: float, report: Progress) -> Learned:
        """Run the method."""
        raise TypeError(f"{type(self).__name__} is the frame of estimators: use one of its subclasses")

    def fit(
        self: SelfPag,
        data: Any = None,
        y: object = None,
        *,
        names: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> SelfPag:
        """Learn the PAG.

        Parameters
        ----------
        data : array, mapping, frame, path or Moments, optional
            The table; not needed where ``test`` is a test that knows its variables.
        y : ignored
            There for pipelines that pass it.
        names : sequence of str, optional
            Variable names for an array, or for a test that is a plain function.
        progress : callable, optional
            Called with (phase, done, of how many) as the work goes on.
        """
        self.check_parameters()
        budgets = (self.max_conditioning, self.max_tests, self.max_seconds)
        report = progress or _silent
        clock = Clock()
        started = time.monotonic()  # max_seconds counts from here, reading the data included
        report("data", 0, 1)
        ci = as_ci_test(self.test, data, names)
        clock.lap("data")
        report("boundary", 0, 1)
        ledger = Ledger(ci, *budgets, started=started)
        level = self.boundary_alpha or default_boundary_alpha(len(ci.names), self.alpha)
        settings = {"method": type(self).__name__, **self.get_params(), "test": name_of(self.test)}
        settings["boundary_alpha"] = level
        if isinstance(ci, FisherZ):
            settings["rows"] = ci.n
        settings = {name: _plain(value) for name, value in settings.items()}
        try:
            settings["boundary"], boundaries = boundaries_for(self.boundary, ledger, level)
            clock.lap("boundary")
            self.result_ = self._discover(ledger, boundaries, level, report, clock, settings, data)
        except BudgetSpent as spent:  # in the boundaries: without them no method can start
            clock.lap("boundary")
            self.result_ = _nothing(ledger, str(spent), clock, {**settings, "boundary": "none"})
        self.pag_ = self.result_.pag
        self.sepsets_ = self.result_.sepsets
        self.boundaries_ = self.result_.boundaries
        self.n_ci_tests_ = self.result_.stats.n_tests
        return self

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
        """Run the method, orient what it found, and put everything together under names."""
        names = tuple(ledger.ci.names)
        learned = self._learn(ledger, boundaries, level, report)
        clock.lap("skeleton")
        report("orientation", 0, 1)
        # A spent budget leaves half a second for what the tests have shown.
        deadline = max(ledger.deadline, time.monotonic() + 0.5)
        oriented = orient(
            len(names),
            learned.edges,
            learned.is_collider,
            self.selection,
            learned.ambiguous,
            learned.check_path,
            deadline,
            undecided=learned.undecided(),
        )
        pag = PAG._trusted(names, oriented.marks)
        clock.lap("orientation")
        undecided = learned.undecided()
        late = () if oriented.ended is None else (BudgetEnded(oriented.ended),)
        return Discovery(
            pag=pag,
            sepsets=NamedSepsets(learned.sepsets, names),
            boundaries=named_boundaries(names, boundaries, settings),
            stats=statistics_of(ledger, clock),
            trace=(
                *with_closest(pag, ledger, learned.trace, boundaries, settings, set(undecided)),
                *late,
                *oriented.log,
            ),
            settings=settings,
            undecided=tuple((names[x], names[y]) for x, y in undecided),
            data=summary_of(ledger.ci),
            versions=versions(),
        )


SelfPag = TypeVar("SelfPag", bound=PagEstimator)


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Enter the time since the last lap under this phase."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._last
        self._last = now


def named_boundaries(
    names: Sequence[str], boundaries: list[set[int]], settings: Mapping[str, Any]
) -> dict[str, frozenset[str]]:
    """Return the Markov boundaries by name; none where the method started from the complete graph."""
    if settings["boundary"] == "none":
        return {}
    return {name: frozenset(names[v] for v in mb) for name, mb in zip(names, boundaries, strict=True)}


def with_closest(
    pag: PAG,
    ledger: Ledger,
    trace: Sequence[Event],
    boundaries: list[set[int]],
    settings: Mapping[str, Any],
    undecided: set[tuple[int, int]],
) -> Iterator[Event]:
    """Give the trace, with a record for each edge of how close it came to being separated, boundary stage included.

    Undecided pairs, of which there can be millions, were not shown to be edges and get none.
    """
    recorded = set(undecided)
    in_boundary = _boundary_test(ledger, boundaries, settings["boundary"])

    def closest(x: int, y: int, p: float, given: frozenset[int] | None, phase: str) -> Adjacent:
        first, among = in_boundary(x, y)
        if among is not None and (given is None or first > p):
            p, given = first, among
        return Adjacent(x, y, given, p, phase)

    for event in trace:
        if isinstance(event, Adjacent):
            recorded.add((min(event.x, event.y), max(event.x, event.y)))
            event = closest(event.x, event.y, event.pvalue, event.strongest, event.phase)
        yield event
    for x, links in enumerate(pag.links):
        for y, _, _ in links:
            if x < y and (x, y) not in recorded:
                yield closest(x, y, *ledger.closest(x, y), "adjacency")


def _boundary_test(
    ledger: Ledger, boundaries: list[set[int]], method: str
) -> Callable[[int, int], tuple[float, frozenset[int] | None]]:
    """Return a function from a pair to the test that put it into each other's boundary, (0, None) if not known."""
    ci = ledger.ci
    if not isinstance(ci, FisherZ) or method not in METHODS:
        return lambda x, y: (0.0, None)
    if method == "tc":
        everything = frozenset(range(len(ci.names)))
        return lambda x, y: (0.0, None) if (p := ci.pvalue_given_rest(x, y)) is None else (p, everything - {x, y})

    def smaller(x: int, y: int) -> tuple[float, frozenset[int] | None]:
        given = min(boundaries[x] - {y}, boundaries[y] - {x}, key=len)
        known = y in boundaries[x] and len(given) <= ledger.largest_set
        return (ci.pvalue(x, y, sorted(given)), frozenset(given)) if known else (0.0, None)

    return smaller


def summary_of(ci: CITest) -> dict[str, Any] | None:
    """Return what the table was, where the test has one."""
    return ci.moments.summary() if isinstance(ci, FisherZ) else None


@cache
def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {
        "lmarvel": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "search": kernel_name(),
    }


def statistics_of(ledger: Ledger, clock: Clock) -> Statistics:
    """Return the tests by phase and size and the seconds by phase."""
    return Statistics({p: ledger.tests_by_size(p) for p in ledger.phases}, dict(clock.seconds))


def _plain(value: Any) -> Any:
    """Return a setting as JSON can hold it: no limit is None, and what is no plain value is named."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else type(value).__name__


def _silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""


def _nothing(ledger: Ledger, reason: str, clock: Clock, settings: Mapping[str, Any]) -> Discovery:
    """Return the result of a run whose budget did not reach for the boundaries: every pair is undecided."""
    names = tuple(ledger.ci.names)
    marks = np.full((len(names), len(names)), Mark.CIRCLE, dtype=np.int8)
    np.fill_diagonal(marks, Mark.NONE)
    return Discovery(
        pag=PAG._trusted(names, marks),
        sepsets={},
        boundaries={},
        stats=statistics_of(ledger, clock),
        trace=(BudgetEnded(reason),),
        settings=settings,
        undecided=AllPairs(names),
        data=summary_of(ledger.ci),
        versions=versions(),
    )
