"""What a conditional-independence test is, and the words in which the search for a separating set is put.

A test of your own needs two things: ``names``, and ``pvalue(x, y, given)`` on positions in ``names``. A plain
function of variable names does as well: see :class:`FunctionTest`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import CITestError, ParameterError


@runtime_checkable
class CITest(Protocol):
    """A test of conditional independence: a p-value near 0 speaks for dependence.

    Examples
    --------
    >>> class Coin:
    ...     names = ("A", "B")
    ...     def pvalue(self, x, y, given):
    ...         return 0.5
    >>> isinstance(Coin(), CITest)
    True
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The variables; positions in this tuple are what the test is asked about."""

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of the hypothesis that x and y are independent given the variables ``given``."""


class GaussianInput(Protocol):
    """What the compiled engine needs of Fisher's z test on a table."""

    n: int
    correlation: NDArray[np.float64]

    def quantile(self, alpha: float) -> float:
        """Return the quantile of the normal distribution, two-sided."""

    def critical_up_to(self, alpha: float, size: int) -> NDArray[np.float64]:
        """Return the squared partial correlations at which p = alpha, by size of the conditioning set."""

    def total(self, alpha: float) -> tuple[NDArray[np.float64], float]:
        """Return the precision matrix, and the squared partial correlation given all others at which p = alpha."""

    @property
    def keeps_precision(self) -> bool:
        """Whether the precision matrix may be used to tell how close a pair came."""


class ColumnsInput(NamedTuple):
    """What the compiled engine needs of a test on blocks of columns, or on columns of levels.

    Attributes
    ----------
    n : int
        The number of rows.
    correlation : array or None
        Of the columns of all blocks.
    blocks : array of int32 or None
        Where the block of each variable begins, and the last ends.
    counts : tuple or None
        Codes, numbers of levels, weights, gaps, effective rows, and rows that a cell needs.
    glm : tuple or None
        Basis columns, where those of each variable begin, numbers of categories, codes, and weights.
    given_rest : callable or None
        Returns the p-value of each pair given all other variables, where the test works them out at once.
    """

    n: int
    correlation: NDArray[np.float64] | None
    blocks: NDArray[np.int32] | None
    counts: tuple[Any, ...] | None
    given_rest: Callable[[], NDArray[np.float64]] | None = None
    glm: tuple[Any, ...] | None = None


class Tried(NamedTuple):
    """A family of conditioning sets that were tried for a pair and did not separate it.

    The family holds ``always`` plus each subset of ``pool`` of sizes ``smallest`` to ``largest``, and those
    of size ``largest + 1`` that come before ``stop`` in the order of the search. All their p-values are at
    most ``level``.
    """

    always: tuple[int, ...]
    pool: tuple[int, ...]
    smallest: int
    largest: int
    stop: tuple[int, ...] | None
    level: float


class SepsetQuery(NamedTuple):
    """Search for a separating set of x and y: ``always`` plus a subset of ``pool``, p-value above ``alpha``.

    Parameters
    ----------
    x, y : int
        The pair.
    pool : tuple of int
        Candidates, ascending and without x, y and ``always``.
    always : tuple of int
        Members of every set that is tried.
    max_size : int, optional
        The most members to take from ``pool``; all of them by default.
    min_size : int
        The fewest members to take from ``pool``.
    alpha : float
        The set counts if its p-value is larger than this.
    tried : tuple of Tried
        What is known already: such sets are not counted again, and not tested again where their level
        rules success out.
    max_tests : int, optional
        Give up before a test beyond this many.
    deadline : float
        Give up when :func:`time.monotonic` passes this.

    Examples
    --------
    >>> SepsetQuery(0, 1, pool=(2, 3), alpha=0.01).max_size is None
    True
    """

    x: int
    y: int
    pool: tuple[int, ...]
    always: tuple[int, ...] = ()
    max_size: int | None = None
    alpha: float = 0.01
    tried: tuple[Tried, ...] = ()
    max_tests: int | None = None
    deadline: float = math.inf
    min_size: int = 0


class SepsetAnswer(NamedTuple):
    """What a search found.

    Attributes
    ----------
    sepset : frozenset of int or None
        The first set whose p-value exceeds alpha.
    pvalue : float
        Its p-value; without one, the largest p-value seen (0 if nothing was tested).
    tests_by_size : tuple of int
        Tests that were not tried before, by size of the conditioning set.
    strongest : frozenset of int or None
        The set with that p-value: how close the pair came to being separated.
    stopped : tuple of int or None
        The subset of the pool at which the search ended; None if it went to its end.
    complete : bool
        False if a budget ended the search.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation, SepsetQuery, find_sepset
    >>> oracle = MSeparation(MAG.from_edges("A --> B", "B --> C"))
    >>> answer = find_sepset(oracle, SepsetQuery(0, 2, pool=(1,)))
    >>> answer.pvalue, answer.tests_by_size      # one test given nothing, one given B
    (1.0, (1, 1))
    """

    sepset: frozenset[int] | None
    pvalue: float
    tests_by_size: tuple[int, ...]
    strongest: frozenset[int] | None
    stopped: tuple[int, ...] | None
    complete: bool


class FunctionTest:
    """Make a test out of a plain function ``(x, y, given) -> p-value`` of variable names.

    Parameters
    ----------
    function : callable
        Called with two names and a tuple of names.
    names : sequence of str
        The variables.

    Examples
    --------
    >>> test = FunctionTest(lambda x, y, given: 1.0 if "C" in given else 0.0, ["A", "B", "C"])
    >>> test.pvalue(0, 1, [2])
    1.0
    """

    def __init__(self, function: Callable[[str, str, tuple[str, ...]], float], names: Sequence[str]) -> None:
        if not callable(function):
            raise CITestError(f"the test must be a function (x, y, given) -> p-value, not {type(function).__name__}")
        self.function = function
        self.names = tuple(names)

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        """Call the function with names."""
        return self.function(self.names[x], self.names[y], tuple(self.names[z] for z in given))


def checked_pvalue(ci: CITest, x: int, y: int, given: Sequence[int]) -> float:
    """Ask a test, and refuse an answer that is not a probability."""
    p = ci.pvalue(x, y, given)
    try:
        value = float(p)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value <= 1.0:
        shown = ", ".join(ci.names[z] for z in given) or "nothing"
        raise CITestError(
            f"the test answered {p!r} for {ci.names[x]}, {ci.names[y]} given {shown}: a p-value between 0 and 1 is"
            " needed"
        )
    return value


def checked_alpha(alpha: float, name: str = "alpha") -> float:
    """Refuse a level outside (0, 1)."""
    if not isinstance(alpha, int | float | np.number) or not 0.0 < float(alpha) < 1.0:
        raise ParameterError(
            f"must lie strictly between 0 and 1, not {alpha!r}; 0.01 is a usual choice", parameter=name
        )
    return float(alpha)


def check_distinct(names: Sequence[str], x: int, y: int, given: Sequence[int]) -> None:
    """Refuse positions that are not there, and a question that names a variable twice."""
    positions = (x, y, *given)
    check_positions(names, positions)
    if len(set(positions)) == len(positions):
        return
    if x == y or x in given or y in given:
        raise CITestError(f"{names[x]} and {names[y]} given themselves: two variables and others are needed")
    twice = next(v for i, v in enumerate(given) if v in given[:i])
    raise CITestError(f"{names[twice]} is in the set twice: a set names each of its variables once")


def check_positions(names: Sequence[str], positions: Sequence[int]) -> None:
    """Refuse positions of variables that are not there."""
    # There are thousands in a search of a large pool, so one look at all of them comes first.
    if set(map(type, positions)) == {int} and min(positions) >= 0 and max(positions) < len(names):
        return
    for v in positions:
        if not isinstance(v, int | np.integer) or not 0 <= v < len(names):
            raise CITestError(f"the test has {len(names)} variables; no variable has position {v!r}")
