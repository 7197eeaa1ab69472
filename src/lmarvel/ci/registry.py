"""Tests by name, with when to use each; and whatever a user passes made into the one kind that methods ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lmarvel.budget.clock import Clock, current
from lmarvel.ci.adapter import IndependenceTest, check_names
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.blocks import Form, blocks_of, is_skewed_count
from lmarvel.ci.fisher_z import ClusteredZ, FisherZ
from lmarvel.ci.g_square import ROWS_A_CELL, GSquare
from lmarvel.ci.glm.looks import curvature, has_heavy_tails, has_skewed_noise, interacts, prefers_ranks
from lmarvel.ci.glm.ordinal import fitting_moments, has_order, is_monotone
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.ci.missing.test_wise import TestWise
from lmarvel.ci.test import CITest, FunctionTest
from lmarvel.data import table as held
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.missing.gaps import FEWEST
from lmarvel.data.scan import SMALL
from lmarvel.errors import BudgetSpent, CITestError, DataError, ParameterError, UnusableError
from lmarvel.text import counted, did_you_mean

TableTestOf = TypeVar("TableTestOf", bound=FisherZ | ClusteredZ | BlockGaussian | ResidualProducts)


@dataclass(frozen=True)
class NamedTest:
    """A test that a user chooses by name: how it is made of a table, and when to use it."""

    make: Callable[[Dataset], CITest]
    use: str


def _check_numbers(data: Dataset) -> None:
    """Refuse categories without an order."""
    many = [n for n, kind in zip(data.names, data.kinds, strict=True) if kind is Kind.NOMINAL]
    if many:
        have = "has" if len(many) == 1 else "have"
        raise DataError(
            f"fisher-z is for numbers, and {', '.join(map(repr, many[:20]))} {have} categories without an order:"
            " use test='mixed', or leave the test to 'auto'"
        )


def _fisher_z(data: Dataset) -> FisherZ | ClusteredZ:
    """Return Fisher's z test of a table without copies or combinations among its columns."""
    _check_numbers(data)
    return _usable(_of_numbers(data))


def _of_numbers(data: Dataset) -> FisherZ | ClusteredZ:
    """Return Fisher's z test; that for clusters where rows have them, and neither weights nor gaps."""
    in_clusters = data.clusters is not None and data.weights is None and not any(data.missing)
    return ClusteredZ(data) if in_clusters and data.effective_rows < data.n else FisherZ(data)


def _on_blocks(data: Dataset, form: Form) -> FisherZ | ClusteredZ | BlockGaussian:
    """Return the block Gaussian test; where each block is one column that is Fisher's z test."""
    blocks = blocks_of(data, form)
    if blocks.single:
        try:
            return _usable(FisherZ(blocks.moments, described=data))
        except UnusableError:
            if data.numbers() == data.names:
                raise
    return _usable(BlockGaussian(data, blocks))


def _usable(test: TableTestOf) -> TableTestOf:
    test.check_usable()
    return test


def _are_numbers(data: Dataset) -> bool:
    """Tell whether all columns are numbers."""
    return all(kind is Kind.CONTINUOUS for kind in data.kinds)


def _mixed(data: Dataset) -> FisherZ | ClusteredZ | BlockGaussian | ResidualProducts:
    """Return the test of products of residuals; of numbers alone Fisher's z, around gaps the block Gaussian test."""
    if _are_numbers(data):
        return _fisher_z(data)
    if any(data.missing):
        return _on_blocks(data, "plain")
    return _curved(data)


def _curved(data: Dataset) -> ResidualProducts:
    """Return the test of products of residuals, also for numbers alone."""
    return _usable(ResidualProducts(data))


def _scores(data: Dataset) -> FisherZ | ClusteredZ | BlockGaussian:
    """Return Fisher's z test of scores of categories in an order, or of what they are cut from; else blocks of them."""
    if Kind.NOMINAL in data.kinds:
        return _on_blocks(data, "ordered")
    return _usable(FisherZ(fitting_moments(data)[0], described=data))


TESTS: Mapping[str, NamedTest] = {
    "fisher-z": NamedTest(_fisher_z, "columns of numbers, near jointly Gaussian: partial correlations"),
    "rank": NamedTest(
        lambda data: _on_blocks(data, "rank"),
        "numbers on skewed or unknown scales, with outliers, or ordered categories: only ranks count",
    ),
    "scores": NamedTest(
        _scores,
        "categories in an order, or counts, beside numbers: their normal scores, or normal variables they are cut from",
    ),
    "skewed": NamedTest(
        _fisher_z,
        "numbers along straight lines, with skewed noise: as fisher-z, and Lift scores the shape of the noise",
    ),
    "g-square": NamedTest(
        GSquare, "categorical columns only, few categories and many rows: counts, and no model at all"
    ),
    "mixed": NamedTest(
        _mixed, "categories beside numbers, or categories with few rows: residuals of (logistic) regressions on splines"
    ),
    "curved": NamedTest(
        _curved, "numbers that depend on each other along curves: residuals of regressions on splines, as in mixed"
    ),
}
_CUT = "scores: categories in an order count as cuts of normal variables, which need fewer edges than the categories do"
_FOR_LOOKS = 0.25  # of the time, to see how the columns are related
_USUAL_SET = 2  # variables, that g-square should have rows to condition on (docs/tests.md)


def _made(name: str, data: Dataset) -> CITest:
    """Return a test of a table; where values are missing, one that uses the rows that have its variables."""
    make = TESTS[name].make
    if not data.test_wise or name == "g-square":  # which leaves out rows with gaps itself
        return make(data)
    data.read()  # refuses a table that no test can be run on
    if (most := data.gaps().most) < FEWEST:
        raise DataError(
            f"at most {counted(most, 'row')} have both of two variables, and {FEWEST} are needed for a test"
        )
    if name in ("fisher-z", "skewed") or (name == "mixed" and _are_numbers(data)):
        _check_numbers(data)
        FisherZ(data.moments).check_usable()
        return TestWise(data, moments=lambda: data.moments)
    if name in ("rank", "scores"):
        make = TESTS["rank"].make
        single = all(kind is not Kind.NOMINAL for kind in data.kinds)
        return TestWise(data, make, (lambda: blocks_of(data, "rank").moments) if single else None)
    numbers = [v for v, kind in enumerate(data.kinds) if kind is Kind.CONTINUOUS]
    if numbers:
        FisherZ(data.moments.take(numbers)).check_usable()  # once, not in each part
    return TestWise(data, ResidualProducts)


def resolve(name: str) -> str:
    """Return the name of a test; "auto" is one that the table chooses."""
    if name != "auto" and name not in TESTS:
        meant = did_you_mean(name, TESTS)
        known = ", ".join(map(repr, TESTS))
        raise ParameterError(f"must be 'auto', {known}, a test or a function, not {name!r}{meant}", parameter="test")
    return name


def chosen_for(data: Dataset, measured: bool = False) -> tuple[str, str | None]:
    """Return the test for a table, and why; None where all columns are numbers and nothing else is known of them.

    Parameters
    ----------
    data : Dataset
        The table.
    measured : bool
        Whether it may take some time to see whether the numbers bend, or are better taken as ranks.

    Examples
    --------
    >>> chosen_for(Dataset.of({"a": ["x", "y", "z", "x"], "b": [0.1, 0.5, 0.2, 0.7]}))
    ('mixed', 'mixed: 1 of 2 columns has categories')
    """
    levels = sorted(len(found) for found in data.levels if found is not None)
    p = len(data.names)
    if not levels:
        return _for_numbers(data) if measured else ("fisher-z", None)
    if measured and Kind.ORDINAL in data.kinds and has_order(data) and is_monotone(data):
        bent = curvature(data)
        if not (bent is not None and bent.is_curved) and not interacts(data):
            behind = fitting_moments(data)[1]
            return "scores", _CUT if behind else "scores: categories in an order count by their normal scores"
    if len(levels) < p:
        have = f"{len(levels)} of {p} columns {'has' if len(levels) == 1 else 'have'} categories"
        return "mixed", f"mixed: {have}"
    usual = levels[len(levels) // 2]
    needed = ROWS_A_CELL * max(usual ** (_USUAL_SET + 2), levels[-1] * levels[max(len(levels) - 2, 0)])
    rows = f"{data.n} rows"
    if data.effective_rows >= needed:
        return "g-square", f"g-square: all columns have categories, and {rows} are enough for sets of {_USUAL_SET}"
    return "mixed", f"mixed: all columns have categories, and {rows} are few for g-square, which would need {needed}"


def _for_numbers(data: Dataset) -> tuple[str, str | None]:
    """Return the test for numbers that was found to fit: along curves, by ranks, or by correlations.

    Raises BudgetSpent between two looks at them once no time is left.
    """
    in_time = current().check
    values = data.n * len(data.names)
    if not data.has_rows or any(data.missing) or values > SMALL or values > held.KEPT:  # no file is read again for it
        return "fisher-z", None
    if has_order(data) and fitting_moments(data)[1] and is_monotone(data):
        return "scores", _CUT.replace("categories in an order", "few whole numbers", 1).replace("categories", "numbers")
    in_time()
    if has_skewed_noise(data):
        return "skewed", "skewed: the noise is skewed, and its shape explains more than correlations or curves do"
    in_time()
    bent = curvature(data)
    if bent is not None and bent.is_curved:
        more = f"{100 * bent.share:.0f} % more than" if bent.share < 10 else "far more than"
        return "curved", f"curved: bends and products explain {more} straight lines do"
    in_time()
    if has_heavy_tails(data):
        return "curved", "curved: the noise has heavy tails, which carry more information than correlations"
    in_time()
    if prefers_ranks(data):
        return "rank", "rank: the numbers are more closely related as normal scores than as they are"
    in_time()
    if any(is_skewed_count(column) for column in data.values().T):
        return "scores", "scores: skewed counts count by their normal scores"
    return "fisher-z", None if bent is None else "fisher-z: bends explain little more than straight lines do"


def as_ci_test(
    test: object, data: Dataset | None = None, names: Sequence[str] | None = None, measured: bool = False
) -> IndependenceTest:
    """Make a test out of what a user passes: a name, a test, or a function with the names of the variables.

    With ``measured`` the choice for a table of numbers rests on a look at how they are related.

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
        chosen, why = resolve(test), None
        if data is None:
            raise DataError("there is nothing to learn from: pass a table to fit, or a test that knows its variables")
        if chosen == "auto":
            chosen, why = chosen_for(data, measured)
        return IndependenceTest(_made(chosen, data), chosen, why)
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


def test_within(
    clock: Clock, test: object, data: Dataset | None, names: Sequence[str] | None, measured: bool
) -> IndependenceTest:
    """Do as :func:`as_ci_test` does; a look at how the numbers are related that takes long is broken off."""
    if not measured or test != "auto":
        return as_ci_test(test, data, names)
    try:
        with Clock(_FOR_LOOKS * clock.left()).running():
            return as_ci_test(test, data, names, measured=True)
    except BudgetSpent:
        clock.check()
    plain = as_ci_test(test, data, names)
    plain.why = f"{plain.name}: time ran out before it was known whether the columns are related along curves"
    return plain


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
