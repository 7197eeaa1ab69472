"""What a user passes to an estimator, checked and made into a test and Markov boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmarvel.boundary.choose import METHODS, markov_boundaries
from lmarvel.ci.base import CITest, FunctionTest
from lmarvel.ci.gaussian import FisherZ
from lmarvel.ci.ledger import Ledger
from lmarvel.data.table import open_table
from lmarvel.errors import CITestError, DataError, ParameterError

Boundary = str | Mapping[str, Sequence[str]]


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
    more = sorted(set(ci.names) - set(names)) if names is not None else []
    if more:
        raise CITestError(f"the test has the variable {', '.join(more)} that names leaves out: leave names out")
    if names is not None and tuple(names) != tuple(ci.names):
        raise CITestError("names and the names of the test differ: leave names out, or put them in the test's order")
    return ci


def name_of(test: object) -> str:
    """Return what to call a test in a report."""
    return "fisher-z" if test == "auto" else test if isinstance(test, str) else type(test).__name__


def check_boundary_name(boundary: object, complete: bool) -> None:
    """Refuse a boundary method that is not one; "none", the complete graph, is one where ``complete`` says so."""
    allowed = (*METHODS, "none") if complete else METHODS
    if not isinstance(boundary, Mapping) and boundary not in allowed:
        raise ParameterError(f"boundary must be one of {', '.join(allowed)}, or a mapping, not {boundary!r}")


def boundaries_for(boundary: Boundary, ledger: Ledger, alpha: float) -> tuple[str, list[set[int]]]:
    """Return the method used and the graph to start from: Markov boundaries, or all pairs for "none"."""
    if boundary == "none":
        everything = frozenset(range(len(ledger.ci.names)))
        return "none", [set(everything - {x}) for x in everything]
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
