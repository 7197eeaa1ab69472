"""Tests by name, with when to use each; and whatever a user passes made into the one kind that methods ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lmarvel.ci.adapter import IndependenceTest, check_names
from lmarvel.ci.base import CITest, FunctionTest
from lmarvel.ci.gaussian import FisherZ
from lmarvel.data.dataset import Dataset
from lmarvel.errors import CITestError, DataError, ParameterError


@dataclass(frozen=True)
class NamedTest:
    """A test that a user chooses by name: how it is made of a table, and when to use it."""

    make: Callable[[Dataset], CITest]
    use: str


def _fisher_z(data: Dataset) -> FisherZ:
    """Return Fisher's z test of a table without copies or combinations among its columns."""
    test = FisherZ(data)
    test.check_usable()
    return test


TESTS: Mapping[str, NamedTest] = {
    "fisher-z": NamedTest(_fisher_z, "columns of numbers, near jointly Gaussian: partial correlations"),
}


def resolve(name: str) -> str:
    """Return the test that a name stands for; "auto" chooses by the table."""
    if name == "auto":
        return "fisher-z"
    if name not in TESTS:
        raise ParameterError(f"test must be 'auto', {', '.join(map(repr, TESTS))}, a test or a function, not {name!r}")
    return name


def as_ci_test(test: object, data: Dataset | None = None, names: Sequence[str] | None = None) -> IndependenceTest:
    """Make a test out of what a user passes: a name, a test, or a function with the names of the variables.

    Examples
    --------
    >>> data = Dataset.of({"A": [1.0, 2.0, 4.0, 3.0, 7.0], "B": [1.0, 0.0, 5.0, 2.0, 1.0]})
    >>> as_ci_test("auto", data).name
    'fisher-z'
    >>> as_ci_test(lambda x, y, given: 0.5, names=["A", "B"]).largest_set
    2
    """
    known = names if data is None else data.names
    if isinstance(test, str):
        chosen = resolve(test)
        if data is None:
            raise DataError("there is nothing to learn from: pass a table to fit, or a test that knows its variables")
        return IndependenceTest(TESTS[chosen].make(data), chosen)
    if isinstance(test, CITest):
        check_names(test)
        _check_same_names(test, known, "names" if data is None else "the table")
        return IndependenceTest(test)
    if callable(test):
        if known is None:
            raise CITestError("a test that is a plain function needs the variables: fit(names=[...])")
        plain = FunctionTest(test, known)
        check_names(plain)
        return IndependenceTest(plain, type(test).__name__)
    raise CITestError(
        f"the test must be a function (x, y, given) -> p-value or an object with names and pvalue, not {test!r}"
    )


def _check_same_names(test: CITest, names: Sequence[str] | None, where: str) -> None:
    """Refuse names, or a table beside a test, that speak of other variables than the test does."""
    if names is None:
        return
    missing = sorted(set(names) - set(test.names))
    if missing:
        raise CITestError(f"the test does not know the variable {', '.join(missing)}: it has {', '.join(test.names)}")
    more = sorted(set(test.names) - set(names))
    if more:
        raise CITestError(f"the test has the variable {', '.join(more)} that {where} leaves out: leave {where} out")
    if tuple(names) != tuple(test.names):
        raise CITestError(f"{where} and the test differ in the order of variables: leave {where} out, or reorder it")
