"""From the DAG of a search to a PAG with bidirected edges, by tests, where no score of such graphs exists.

A DAG that fits a table with a hidden common cause has an edge too many: with x --> a <-- u --> b <-- y and u hidden,
a and b are joined, and x or y is joined to both. So every edge that is in a triangle is asked again: it goes if some
set of neighbours separates its ends for sure (p above ``CLEARLY``). Then marks are found anew from the sets that
separate, as FCI does; pairs that the DAG never joined are separated by the parents of the later one. In the limit of
many rows that is right with hidden causes, where the DAG is not. (Raskutti & Uhler 2018; BOSS-FCI of Tetrad begins in
the same way.) Where the answer is not a legal PAG, or the data reject more of what it implies, that of the DAG stands.

``CLEARLY`` is large because the score has asked for the edge: on published networks and curves a level of 0.01 took
true edges away, 0.1 hardly any (docs/kinds.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from lmarvel.engine.legality import separating_sets
from lmarvel.errors import GraphError, LMarvelError, OutOfTime
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.orient.worklist import orient
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.lift import LATE, Candidate, LiftResult
from lmarvel.search.limits import Limits
from lmarvel.search.record import Record

PValue = Callable[[int, int, Sequence[int]], float]

CLEARLY, REJECTED = 0.1, 0.01
LARGEST = 3  # of the sets that are tried
MOST_TESTS = 20_000


def by_tests(
    found: LiftResult,
    pvalue: PValue | None,
    selection: bool,
    latents: bool,
    known: Known | None,
    record: Record,
    among: Collection[int] | None = None,
) -> LiftResult:
    """Return a result whose DAG was asked again by tests, if there is a test, and the answer is a DAG.

    With ``among``, triangles without any of these variables are left as they are.
    """
    both_ends = found.mag * (found.mag == found.mag.T)
    if pvalue is None or not latents or found.ended is not None or both_ends.any():
        return found
    try:
        return with_spouses(found, pvalue, selection, None if known is None else Limits(known), record.check, among)
    except OutOfTime:
        return replace(found, ended=LATE)


def with_spouses(
    found: LiftResult,
    pvalue: PValue,
    selection: bool,
    limits: Limits | None,
    check: Callable[[], None],
    among: Collection[int] | None = None,
) -> LiftResult:
    """Return the result with the PAG that tests leave of its DAG, if they take an edge away and it is legal."""
    skeleton = Skeleton(found.mag, among)
    if not skeleton.thin(pvalue, check):
        return found
    names = tuple(f"X{v}" for v in range(len(found.mag)))
    marks = orient(len(names), skeleton.edges(), skeleton.is_collider, selection).marks
    try:
        mag = np.asarray(pag_to_mag(PAG._trusted(names, marks)).marks)
    except GraphError:
        return found
    if limits is not None and not limits.fits(AncestralGraph.of_marks(mag)):
        return found
    if rejected(mag, skeleton.around, pvalue, check) > rejected(found.mag, skeleton.around, pvalue, check):
        return found
    refined = Candidate("lift", found.score, mag, np.asarray(marks))
    return replace(found, mag=refined.mag, pag=refined.pag, used="lift", candidates=(*found.candidates, refined))


def rejected(mag: Marks, nodes: set[int], pvalue: PValue, check: Callable[[], None]) -> int:
    """Return how many pairs of some nodes that a MAG separates are dependent all the same."""
    pairs = np.array([pair for pair in combinations(sorted(nodes), 2) if not mag[pair]]).reshape(-1, 2)
    starts, members = (part.tolist() for part in separating_sets(mag, *pairs.T))
    count = 0
    for (x, y), begin, end in zip(pairs.tolist(), starts, starts[1:], strict=False):
        check()
        count += _asked(pvalue, x, y, members[begin:end]) < REJECTED
    return count


class Skeleton:
    """The adjacencies of a DAG, and a set that separates each pair of other variables.

    Examples
    --------
    >>> dag = np.array([[0, 2, 2, 0], [3, 0, 2, 0], [3, 3, 0, 3], [0, 0, 2, 0]])  # 0 --> 1 --> 2 <-- 3, and 0 --> 2
    >>> skeleton = Skeleton(dag)
    >>> skeleton.thin(lambda x, y, given: float((x, y) == (0, 2) and not given), lambda: None), skeleton.edges()
    (True, [(0, 1), (1, 2), (2, 3)])
    >>> skeleton.is_collider(0, 0, 1, 2), skeleton.is_collider(1, 1, 2, 3)
    (True, True)
    """

    def __init__(self, dag: Marks, among: Collection[int] | None = None) -> None:
        p = len(dag)
        self.among = frozenset(range(p) if among is None else among)  # triangles with one of these are asked
        parents = [set(np.flatnonzero(dag[:, v] == ARROW).tolist()) for v in range(p)]
        self.near: list[set[int]] = [parents[v] | set(np.flatnonzero(dag[v] == ARROW).tolist()) for v in range(p)]
        place = {v: i for i, v in enumerate(_order(parents))}
        self.around: set[int] = set()  # the ends of edges that went, and their neighbours
        self.separating: dict[tuple[int, int], set[int]] = {
            (x, y): parents[max(x, y, key=place.__getitem__)]
            for x, y in combinations(range(p), 2)
            if y not in self.near[x]
        }

    def edges(self) -> list[tuple[int, int]]:
        """Return the adjacent pairs."""
        return [(x, y) for x in range(len(self.near)) for y in sorted(self.near[x]) if x < y]

    def thin(self, pvalue: PValue, check: Callable[[], None]) -> bool:
        """Take away the edges of triangles whose ends a small set separates; tell whether there were any."""
        before, asked = len(self.separating), 0
        for size in range(LARGEST + 1):
            for x, y in self.edges():
                check()
                for given in self._sets(x, y, size):
                    asked += 1
                    if asked > MOST_TESTS:
                        return len(self.separating) > before
                    if _asked(pvalue, x, y, given) > CLEARLY:
                        self.around |= self.near[x] | self.near[y]
                        self.near[x].discard(y)
                        self.near[y].discard(x)
                        self.separating[x, y] = set(given)
                        break
        return len(self.separating) > before

    def _sets(self, x: int, y: int, size: int) -> list[tuple[int, ...]]:
        """Return the sets of one size of neighbours of x, and of y, unless the edge is in no triangle that is asked."""
        common = self.near[x] & self.near[y]
        if not common or not self.among & {x, y, *common}:
            return []
        around = (sorted(self.near[x] - {y}), sorted(self.near[y] - {x}))
        return list(dict.fromkeys(given for near in around for given in combinations(near, size)))

    def is_collider(self, start: int, _before: int, v: int, end: int) -> bool:
        """Tell whether v, on a path from start to end, is not in the set that separates these."""
        known = self.separating.get((min(start, end), max(start, end)))
        return known is not None and v not in known


def _asked(pvalue: PValue, x: int, y: int, given: Sequence[int]) -> float:
    """Return the p-value; NaN, which is neither small nor large, where rows do not allow the test."""
    try:
        return pvalue(x, y, given)
    except LMarvelError:
        return math.nan


def _order(parents: Sequence[set[int]]) -> list[int]:
    """Return an order in which parents come before their children."""
    order: list[int] = []
    left = set(range(len(parents)))
    while left:
        ready = [v for v in sorted(left) if not parents[v] & left]
        order += ready
        left -= set(ready)
    return order
