"""Test what a graph implies: one separating set for each pair without an edge (as dagitty and Tetrad do it).

The sets are read off one MAG of the class, and are small: of the anteriors of the two variables what lies between them.
All MAGs of a class have the same separations, so it does not matter which is taken.

What a learned graph implies, held against the table it was learned from, when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.registry import TESTS, as_ci_test
from lmarvel.ci.test import checked_alpha
from lmarvel.data.dataset import Dataset
from lmarvel.data.scan import SMALL
from lmarvel.deferred import Deferred
from lmarvel.errors import CITestError, DataError, GraphError, ParameterError
from lmarvel.graph.bitsets import bits
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.result.check import Implied, ModelCheck
from lmarvel.result.discovery import Discovery
from lmarvel.result.wording import LEVEL
from lmarvel.search.evidence import separating

MOST_PAIRS = 5_000

Sepsets = Mapping[tuple[str, str], frozenset[str]]


def check_model(
    pag: PAG,
    test: IndependenceTest,
    level: float,
    *,
    mag: MAG | None = None,
    sepsets: Sepsets | None = None,
    most: int = MOST_PAIRS,
    tick: Callable[[], None] = lambda: None,
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
    tick : callable
        Called before each test; it may raise.

    Examples
    --------
    >>> from lmarvel import FunctionTest
    >>> names = ["A", "B", "C"]
    >>> test = IndependenceTest(FunctionTest(lambda x, y, given: 0.3 if given else 0.001, names))
    >>> print(check_model(PAG.from_edges("A o-o B", "B o-o C"), test, 0.01))
    The test does not reject the 1 separation that the graph implies (p > 0.01).
    """
    place = {name: i for i, name in enumerate(test.names)}
    pairs = _pairs(pag)
    known = mag if mag is not None else _member(pag)
    sets = _from_sepsets(pag, pairs, sepsets or {}) if known is None else _from_graph(known, pairs)
    implied: list[Implied] = []
    untestable = 0
    for x, y, given in sets:
        if len(implied) == most:
            break
        tick()
        if len(given) > test.largest_set:
            untestable += 1
            continue
        try:
            pvalue = test.pvalue(place[x], place[y], sorted(place[z] for z in given))
        except CITestError:
            untestable += 1
            continue
        implied.append(Implied(x, y, given, pvalue))
    implied.sort(key=lambda one: (one.pvalue, one.x, one.y))
    return ModelCheck(level, tuple(implied), len(pairs), "search" if known is None else "graph", untestable)


def _pairs(pag: PAG) -> list[tuple[int, int]]:
    """Return the pairs without an edge, those with a common neighbour first."""
    adjacent = pag.masks.adjacent
    apart = [(x, y) for x, y in np.argwhere(np.triu(np.asarray(pag.marks) == 0, 1)).tolist()]
    return sorted(apart, key=lambda pair: (not adjacent[pair[0]] & adjacent[pair[1]], pair))


def _member(pag: PAG) -> MAG | None:
    """Return a MAG of the class; None where the PAG is illegal."""
    try:
        return pag_to_mag(pag)
    except GraphError:
        return None


def _from_graph(mag: MAG, pairs: list[tuple[int, int]]) -> Iterator[tuple[str, str, frozenset[str]]]:
    masks, names = mag.masks, mag.names
    anterior = [above | beside for above, beside in zip(masks.parents, masks.neighbors, strict=True)]
    for x, y in pairs:
        if not masks.adjacent[x] & bits((y,)):
            yield names[x], names[y], frozenset(names[v] for v in separating(mag, anterior, x, y))


def _from_sepsets(
    pag: PAG, pairs: list[tuple[int, int]], sepsets: Sepsets
) -> Iterator[tuple[str, str, frozenset[str]]]:
    for x, y in pairs:
        a, b = pag.names[x], pag.names[y]
        found = sepsets.get((a, b), sepsets.get((b, a)))
        if found is not None:
            yield a, b, frozenset(found)


MOST_VARIABLES = 200  # of which each pair is tested in about a second
MOST_TESTS = 5_000
AUTO = "auto"


def later_check(
    test: IndependenceTest,
    pag: PAG,
    mag: MAG | None,
    level: float,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
) -> Deferred[ModelCheck] | None:
    """Return a check of the graph that waits for a look; None where there is no table, or it would take long.

    A test of the user's own is not asked behind his back, and a large table is not kept in memory for it.
    """
    rows = test.rows or 0
    if not test.has_table or len(test.names) > MOST_VARIABLES or rows * len(test.names) > SMALL:
        return None
    return Deferred(lambda: check_model(pag, test, level, mag=mag, sepsets=sepsets, most=MOST_TESTS))


def checked_on(found: Discovery, data: Dataset, level: float | None = None, test: str | None = None) -> ModelCheck:
    """Test what a result implies on a table, the one that it was learned from or another with the same columns.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS).result_
    >>> checked_on(found, Dataset.of(CARS)) == found.check
    True
    """
    missing = [name for name in found.pag.names if name not in data.names]
    if missing:
        raise DataError(f"the table has no column {', '.join(map(repr, missing[:20]))}, which the graph is over")
    named = str(found.settings.get("test", AUTO)) if test is None else test
    if test is None and named != AUTO and named not in TESTS:
        raise ParameterError(f"the result was learned with {named}, a test of its own: name one, with --test")
    table = Dataset.of(data, columns=found.pag.names)
    asked = as_ci_test(named, table)
    alpha = checked_alpha(float(found.settings.get("alpha", LEVEL)) if level is None else level, "level")
    return check_model(found.pag, asked, alpha, mag=found.mag, sepsets=found.sepsets)
