"""The estimators: parameters in, fitted attributes out.

They follow scikit-learn's conventions (``fit`` returns self, results end in an underscore, ``get_params`` and
``set_params``, ``clone`` works) without depending on it. The work is done by the functions of the layers below.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, TypeVar

import numpy as np

from lmarvel.boundary.choose import METHODS, markov_boundaries
from lmarvel.ci.base import CITest, FunctionTest, checked_alpha
from lmarvel.ci.gaussian import FisherZ
from lmarvel.ci.ledger import BudgetSpent, Ledger, check_budgets
from lmarvel.data.table import open_table
from lmarvel.errors import CITestError, DataError, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Mark
from lmarvel.orient.engine import orient
from lmarvel.result import BudgetEnded, Discovery, Statistics
from lmarvel.skeleton.lmarvel import Skeleton, default_boundary_alpha, lmarvel
from lmarvel.skeleton.sepsets import NamedSepsets

Self = TypeVar("Self", bound="Estimator")


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
        for name, value in params.items():
            if name not in self._parameters():
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}: {', '.join(self._parameters())}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k].default]
        return f"{type(self).__name__}({', '.join(changed)})"


class LMarvel(Estimator):
    """Learn a PAG with L-MARVEL.

    Parameters
    ----------
    alpha : float
        Level of the independence tests.
    test : "auto", "fisher-z", CITest or callable
        "auto" is Fisher's z test of partial correlation. Or an object with ``names`` and
        ``pvalue(x, y, given)`` on positions, or a plain function of names ``(x, y, given) -> p-value``.
    boundary : {"auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        How Markov boundaries are found. "auto" is total conditioning ("tc") where the rows allow, else "iamb";
        ``result_.settings["boundary"]`` says which. Or boundaries of your own: a mapping from each name to the
        names in its boundary.
    boundary_alpha : float, optional
        Level for the Markov boundaries; 2/p^2 by default, p being the number of variables, and at most alpha.
    removal_threshold : float
        A separating set that holds X speaks against removing X only if its p-value exceeds this. At alpha
        itself many variables would wrongly be kept.
    assume_chordal : bool
        True is the paper's algorithm, which assumes that selection leaves no chordless undirected cycle.
        False, the default, needs no such assumption, at hardly any cost.
    selection : bool
        False asserts that the sample was not selected, and switches the rules R5-R7 off.
    max_conditioning, max_tests, max_seconds : optional
        Budgets. What they leave undecided is listed in ``result_.undecided``.

    Attributes
    ----------
    pag_ : PAG
    sepsets_ : mapping from pairs of names to separating sets
    boundaries_ : mapping from names to Markov boundaries
    n_ci_tests_ : int
        Distinct tests, boundary stage included.
    result_ : Discovery

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))                # u is not measured
    >>> b = a + u + 0.5 * rng.normal(size=2000)
    >>> c = d + u + 0.5 * rng.normal(size=2000)
    >>> print(LMarvel().fit({"A": a, "B": b, "C": c, "D": d}).pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    pag_: PAG
    sepsets_: Mapping[tuple[str, str], frozenset[str]]
    boundaries_: Mapping[str, frozenset[str]]
    n_ci_tests_: int
    result_: Discovery

    def __init__(
        self,
        alpha: float = 0.01,
        test: str | CITest | Callable[..., float] = "auto",
        boundary: str | Mapping[str, Sequence[str]] = "auto",
        boundary_alpha: float | None = None,
        removal_threshold: float = 0.8,
        assume_chordal: bool = False,
        selection: bool = True,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.boundary = boundary
        self.boundary_alpha = boundary_alpha
        self.removal_threshold = removal_threshold
        self.assume_chordal = assume_chordal
        self.selection = selection
        self.max_conditioning = max_conditioning
        self.max_tests = max_tests
        self.max_seconds = max_seconds

    def fit(
        self,
        data: Any = None,
        y: object = None,
        *,
        names: Sequence[str] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> LMarvel:
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
        alpha = checked_alpha(self.alpha)
        threshold = checked_alpha(self.removal_threshold, "removal_threshold")
        level = None if self.boundary_alpha is None else checked_alpha(self.boundary_alpha, "boundary_alpha")
        _check_boundary_name(self.boundary)
        budgets = (self.max_conditioning, self.max_tests, self.max_seconds)
        check_budgets(*budgets)
        report = progress or _silent
        clock = _Clock()
        started = time.monotonic()  # max_seconds counts from here, reading the data included
        report("data", 0, 1)
        ci = as_ci_test(self.test, data, names)
        clock.lap("data")
        report("boundary", 0, 1)
        ledger = Ledger(ci, *budgets, started=started)
        level = default_boundary_alpha(len(ci.names), alpha) if level is None else level
        settings = {**self.get_params(), "test": _name_of(self.test), "boundary_alpha": level}
        if isinstance(ci, FisherZ):
            settings["rows"] = ci.n
        try:
            settings["boundary"], boundaries = _boundaries(self.boundary, ledger, level)
        except BudgetSpent as spent:
            clock.lap("boundary")
            self.result_ = _nothing(ledger, str(spent), clock, {**settings, "boundary": "none"})
        else:
            clock.lap("boundary")
            skeleton = lmarvel(
                ledger, boundaries, alpha, level, threshold, self.assume_chordal, lambda k, n: report("skeleton", k, n)
            )
            clock.lap("skeleton")
            report("orientation", 0, 1)
            self.result_ = _discovery(ledger, boundaries, skeleton, self.selection, clock, settings)
        self.pag_ = self.result_.pag
        self.sepsets_ = self.result_.sepsets
        self.boundaries_ = self.result_.boundaries
        self.n_ci_tests_ = self.result_.stats.n_tests
        return self


class AllPairs(Sequence[tuple[str, str]]):
    """Every pair of names, made when asked for: with thousands of variables there are millions."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self.names, 2)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index] if isinstance(index, slice) else next(islice(self, range(len(self))[index], None))


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Enter the time since the last lap under this phase."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._last
        self._last = now


def as_ci_test(test: object, data: Any = None, names: Sequence[str] | None = None) -> CITest:
    """Make a test out of what a user passes: a name, a test, or a function with the names of the variables."""
    if isinstance(test, str):
        if test not in ("auto", "fisher-z"):
            raise ParameterError(f"test must be 'auto', 'fisher-z', a test or a function, not {test!r}")
        if data is None:
            raise DataError("there is nothing to learn from: pass a table to fit, or a test that knows its variables")
        ci = FisherZ(data, names)
        ci.moments.check_duplicates(ci.correlation)
        if ci.n > len(ci.names):
            ci.moments.check_collinear(ci.correlation)
        return ci
    if isinstance(test, CITest):
        return _checked_test(test, names)
    if callable(test):
        if names is None and data is not None:
            names = open_table(data).names
        if names is None:
            raise CITestError("a test that is a plain function needs the variables: fit(names=[...])")
        return _checked_test(FunctionTest(test, names), None)
    raise CITestError(
        f"the test must be a function (x, y, given) -> p-value or an object with names and pvalue, not {test!r}"
    )


def _checked_test(ci: CITest, names: Sequence[str] | None) -> CITest:
    if not all(isinstance(v, str) and v for v in ci.names):
        raise CITestError(f"variable names must be non-empty strings, not {tuple(ci.names)!r}")
    if len(set(ci.names)) < len(ci.names):
        twice = sorted({v for v in ci.names if ci.names.count(v) > 1})
        raise CITestError(f"duplicate variable name {', '.join(twice)}: names must differ")
    missing = sorted(set(names or ()) - set(ci.names))
    if missing:
        raise CITestError(f"the test does not know the variable {', '.join(missing)}: it has {', '.join(ci.names)}")
    if names is not None and tuple(names) != tuple(ci.names):
        raise CITestError("names and the names of the test differ: leave names out, or put them in the test's order")
    return ci


def _silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""


def _name_of(test: object) -> str:
    return "fisher-z" if test == "auto" else test if isinstance(test, str) else type(test).__name__


def _check_boundary_name(boundary: object) -> None:
    if not isinstance(boundary, Mapping) and boundary not in METHODS:
        raise ParameterError(f"boundary must be one of {', '.join(METHODS)}, or a mapping, not {boundary!r}")


def _boundaries(
    boundary: str | Mapping[str, Sequence[str]], ledger: Ledger, alpha: float
) -> tuple[str, list[set[int]]]:
    if isinstance(boundary, Mapping):
        return "own", _own_boundaries(boundary, ledger.ci.names)
    return markov_boundaries(ledger, boundary, alpha)


def _own_boundaries(given: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[set[int]]:
    """Check boundaries that a user passes: known names, symmetric, no variable in its own."""
    where = {name: i for i, name in enumerate(names)}
    for name in (*given, *(v for mb in given.values() for v in mb)):
        if name not in where:
            raise ParameterError(f"boundary names the unknown variable {name!r}: the test has {', '.join(names)}")
    boundaries = [{where[v] for v in given.get(name, ())} for name in names]
    for x, mb in enumerate(boundaries):
        for y in mb:
            if x == y or x not in boundaries[y]:
                raise ParameterError(
                    f"boundary must be symmetric and without the variable itself: {names[y]} is in the boundary of"
                    f" {names[x]}, but not the other way round"
                )
    return boundaries


def _nothing(ledger: Ledger, reason: str, clock: _Clock, settings: Mapping[str, Any]) -> Discovery:
    """Return the result of a run whose budget did not reach for the boundaries: every pair is undecided."""
    names = tuple(ledger.ci.names)
    marks = np.full((len(names), len(names)), Mark.CIRCLE, dtype=np.int8)
    np.fill_diagonal(marks, Mark.NONE)
    return Discovery(
        pag=PAG._trusted(names, marks),
        sepsets={},
        boundaries={},
        stats=Statistics({p: ledger.tests_by_size(p) for p in ledger.phases}, dict(clock.seconds)),
        trace=(BudgetEnded(reason),),
        settings=settings,
        undecided=AllPairs(names),
    )


def _discovery(
    ledger: Ledger,
    boundaries: list[set[int]],
    skeleton: Skeleton,
    selection: bool,
    clock: _Clock,
    settings: Mapping[str, Any],
) -> Discovery:
    """Orient the skeleton, and put everything together under names."""
    names, sepsets = ledger.ci.names, skeleton.sepsets

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        sepset = sepsets.lookup(v, c)
        return sepset is not None and b not in sepset

    edges = [(x, y) for x, around in enumerate(skeleton.adjacent) for y in sorted(around) if x < y]
    draft = orient(len(names), edges, is_collider, selection)
    pag = PAG._trusted(tuple(names), draft.matrix())
    clock.lap("orientation")
    return Discovery(
        pag=pag,
        sepsets=NamedSepsets(sepsets, names),
        boundaries={name: frozenset(names[v] for v in mb) for name, mb in zip(names, boundaries, strict=True)},
        stats=Statistics({p: ledger.tests_by_size(p) for p in ledger.phases}, dict(clock.seconds)),
        trace=(*skeleton.trace, *draft.log),
        settings=settings,
        undecided=tuple((names[x], names[y]) for x, y in skeleton.undecided),
    )
