"""The check of a graph against its table: one separating set for each pair without an edge is tested.

The sets are read off one MAG of the class, and are small: of the anteriors of the two variables what lies between them.
All MAGs of a class have the same separations, so it does not matter which is taken. (dagitty and Tetrad test what a
graph implies in the same way.) A result is checked when somebody looks at the check, see :func:`later_check`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import Clock
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.registry import TESTS, as_ci_test
from lmarvel.ci.test import checked_alpha
from lmarvel.data.dataset import Dataset
from lmarvel.data.scan import SMALL
from lmarvel.deferred import Deferred
from lmarvel.engine.legality import separating_sets
from lmarvel.engine.run import is_built
from lmarvel.errors import CITestError, DataError, GraphError, ParameterError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before
from lmarvel.result.sepsets import NamedSepsets
from lmarvel.result.support.check import Cut, Implied, ModelCheck, Source
from lmarvel.result.wording import LEVEL
from lmarvel.search.evidence import separating

MOST_PAIRS = 5_000
_BATCH = 64  # pairs, between two looks at the clock
_LARGE = 64  # variables, beyond which a set of all others is tested by one inverse for all pairs

Sepsets = Mapping[tuple[str, str], frozenset[str]]
Positions = list[int]


def check_model(
    pag: PAG,
    test: IndependenceTest,
    level: float,
    *,
    mag: MAG | None = None,
    sepsets: Sepsets | None = None,
    most: int = MOST_PAIRS,
    work: float = float("inf"),
    tick: Callable[[], None] = lambda: None,
    late: Callable[[], bool] = lambda: False,
) -> ModelCheck:
    """Test one separation for each pair of variables without an edge.

    Parameters
    ----------
    pag : PAG
        The graph, of the variables of the test in any order.
    test : IndependenceTest
        The test, on the data to hold the graph against.
    level : float
        At or below it a p-value speaks against the graph.
    mag : MAG, optional
        A MAG of the class, where one is known.
    sepsets : mapping, optional
        The sets that a search found: for an illegal PAG, which has no MAG to read them off.
    most : int
        The most pairs to test; those with a common neighbour, whose separation orients edges, come first.
    work : float
        The most work to do, in steps of about a nanosecond; what is left out is the same on every machine.
    tick : callable
        Called before each test; it may raise.
    late : callable
        Asked now and then whether time is up.

    Examples
    --------
    >>> from lmarvel import FunctionTest
    >>> names = ["A", "B", "C"]
    >>> test = IndependenceTest(FunctionTest(lambda x, y, given: 0.3 if given else 0.001, names))
    >>> print(check_model(PAG.from_edges("A o-o B", "B o-o C"), test, 0.01))
    The data reject 0 of 1 implied independence at 0.01 (0.01 expected by chance).
    """
    pairs = _pairs(pag)
    known = mag if mag is not None else _member(pag)
    sets = _from_sepsets(pag, pairs, sepsets or {}) if known is None else _from_graph(known, pairs)
    asking, implied, untestable, cut = _Asking(pag, test), list[Implied](), 0, Cut.NONE
    for number, (x, y, given) in enumerate(sets):
        if len(implied) == most or asking.work > work:
            cut = Cut.MANY
            break
        if number % _BATCH == 0 and late():
            cut = Cut.TIME
            break
        tick()
        pvalue = asking.pvalue(x, y, given)
        if pvalue is None:
            untestable += 1
        else:
            names = frozenset(map(pag.names.__getitem__, given))
            implied.append(Implied(pag.names[x], pag.names[y], names, pvalue))
    implied.sort(key=lambda one: (one.pvalue, one.x, one.y))
    source: Source = "search" if known is None else "graph"
    return ModelCheck(level, tuple(implied), len(pairs), source, untestable, cut)


class _Asking:
    """The test by positions in the graph, and how much work was done."""

    def __init__(self, pag: PAG, test: IndependenceTest) -> None:
        where = {name: i for i, name in enumerate(test.names)}
        self.place = [where[name] for name in pag.names]
        self.test, self.size = test, len(pag)
        self.width = test.columns / max(len(test.names), 1)
        self.rows = 0 if test.moments is not None else test.rows or 0  # a test without moments counts rows
        self.search = len(pag) + 4 * pag.n_edges  # steps of one search for a connecting path
        self.work = 0.0

    def pvalue(self, x: int, y: int, given: Positions) -> float | None:
        """Return the p-value of a pair given a set, None where there are too few rows."""
        size = len(given)
        if size > self.test.largest_set:
            return None
        a, b = self.place[x], self.place[y]
        if size > _LARGE and size == self.size - 2 and self._all_pairs:
            found = self.test.pvalue_given_rest(a, b)
            if found is not None:
                self.work += 100.0 * size
                return found
        columns = size * self.width
        if self.test.rows_for is not None and self.test.rows_for(a, b, [self.place[v] for v in given]) is None:
            return None
        self.work += self.search * (size + 4) + columns**3 / 6 + self.rows * (size + 2)
        try:
            return self.test.pvalue(a, b, sorted(map(self.place.__getitem__, given)))
        except CITestError:
            return None

    @cached_property
    def _all_pairs(self) -> bool:
        """Whether every pair could be tested given all others, which is done at the first look."""
        if not self.test.tests_all_pairs:
            return False
        try:
            self.test.dependent_given_rest(0.5)
        except CITestError:
            return False
        return True


def _pairs(pag: PAG) -> NDArray[np.intp]:
    """Return the pairs without an edge, those with a common neighbour first."""
    adjacent = np.asarray(pag.marks) != 0
    pairs = np.argwhere(np.triu(~adjacent, 1))
    shared = (adjacent.astype(np.float32) @ adjacent.astype(np.float32))[pairs[:, 0], pairs[:, 1]] > 0
    return np.concatenate([pairs[shared], pairs[~shared]])


def _member(pag: PAG) -> MAG | None:
    """Return a MAG of the class; None where the PAG is illegal."""
    try:
        return pag_to_mag(pag)
    except GraphError:
        return None


def _from_graph(mag: MAG, pairs: NDArray[np.intp]) -> Iterator[tuple[int, int, Positions]]:
    """Iterate over pairs that are not adjacent, each with a set that separates it."""
    pairs = pairs[np.asarray(mag.marks)[pairs[:, 0], pairs[:, 1]] == 0]
    if not is_built():
        masks = mag.masks
        anterior = [above | beside for above, beside in zip(masks.parents, masks.neighbors, strict=True)]
        for x, y in pairs.tolist():
            yield x, y, separating(mag, anterior, x, y)
        return
    for first in range(0, len(pairs), _BATCH):
        batch = pairs[first : first + _BATCH]
        starts, members = (found.tolist() for found in separating_sets(mag.marks, *batch.T))
        for i, (x, y) in enumerate(batch.tolist()):
            yield x, y, members[starts[i] : starts[i + 1]]


def _from_sepsets(pag: PAG, pairs: NDArray[np.intp], sepsets: Sepsets) -> Iterator[tuple[int, int, Positions]]:
    """Iterate over the pairs for which the search found a set, with it."""
    by_position = sepsets.by_position if isinstance(sepsets, NamedSepsets) else None
    for x, y in pairs.tolist():
        if by_position is not None:
            found = by_position.tested(x, y)
        else:
            a, b = pag.names[x], pag.names[y]
            named = sepsets.get((a, b), sepsets.get((b, a)))
            found = None if named is None else frozenset(map(pag.index, named))
        if found is not None:
            yield x, y, sorted(found)


MOST_VARIABLES = 200  # of which each pair is tested in about a second
MOST_TESTS = 5_000
MOST_WORK = 3e8  # steps of about a nanosecond: nobody asked for the check
LEAST_SECONDS = 1.0  # that a check may take, also after a search that took less
AUTO = "auto"


def later_check(
    test: IndependenceTest,
    pag: PAG,
    mag: MAG | None,
    level: float,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
    clock: Clock,
    undecided: int = 0,
) -> Deferred[ModelCheck] | None:
    """Return a check of the graph that waits for a look; None where there is no table, or it would take long.

    A graph with undecided pairs is not checked, unless all of these are pairs that too few rows have. A test of the
    user's own is not asked behind his back, and a large table is not kept in memory for it. The check takes no longer
    than the search took or a second, whichever is more, nor than the clock of the run has left.
    """
    share = max(LEAST_SECONDS, sum(clock.seconds.values()))
    table = getattr(test.test, "dataset", None)
    rows = test.rows or 0 if table is None or table.has_rows else len(test.names)
    if (
        undecided > test.apart
        or not test.has_table
        or len(test.names) > MOST_VARIABLES
        or rows * len(test.names) > SMALL
    ):
        return None

    def check() -> ModelCheck:
        used = time.thread_time() + share
        with clock.running():
            late = partial(_is_late, used, clock)
            return check_model(pag, test, level, mag=mag, sepsets=sepsets, most=MOST_TESTS, work=MOST_WORK, late=late)

    return Deferred(check)


def _is_late(used: float, clock: Clock) -> bool:
    """Tell whether the check's share of the processor's seconds is used, or the time of the run is up."""
    return time.thread_time() > used or clock.is_late()


def checked_on(found: Discovery, data: Any, level: float | None = None, test: str | None = None) -> ModelCheck:
    """Test what a result implies on a table, the one that it was learned from or another with the same columns.

    The table is read as the one that the result was learned from, in all that is not said of it.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS).result_
    >>> checked_on(found, CARS) == found.check
    True
    """
    whole = read_as_before(data, found.data)
    missing = [name for name in found.pag.names if name not in whole.names]
    if missing:
        raise DataError(f"the table has no column {', '.join(map(repr, missing[:20]))}, which the graph is over")
    named = str(found.settings.get("test", AUTO)) if test is None else test
    if test is None and named != AUTO and named not in TESTS:
        raise ParameterError(f"the result was learned with {named}, a test of its own: name one, with --test")
    table = Dataset.of(whole, columns=found.pag.names)
    asked = as_ci_test(named, table)
    alpha = checked_alpha(float(found.settings.get("alpha", LEVEL)) if level is None else level, "level")
    return check_model(found.pag, asked, alpha, mag=found.mag, sepsets=found.sepsets)
