"""Where a method starts: Markov boundaries that are searched for or that a user passes, or all pairs.

Total conditioning stands in :mod:`lmarvel.ci.boundaries`. The searches here take one target at a time. A
:class:`~lmarvel.ci.growth.Growth` holds the conditioning set of the target; its answers are counted and kept within
budget. :func:`shrink`, which takes out what is independent given the rest, ends every search, and
:func:`every_boundary` runs one for each target and makes the whole symmetric.

* *Grow-shrink* (Margaritis & Thrun, 1999) goes through the candidates in order of their marginal dependence, takes in
  the first that depends on the target given what was taken, and starts over, until none does.
* *IAMB* (Tsamardinos, Aliferis & Statnikov, 2003) takes in the candidate that depends most on the target given the
  set, until none depends. *Inter-IAMB* shrinks after each step. *Fast-IAMB* (Yaramakala & Margaritis, 2005) takes in
  all dependent candidates at once and shrinks in between.

All of them need tests given small sets only, so there may be fewer rows than columns. For tests that the engine can
make itself, :func:`flat_boundaries` runs the same searches compiled: with the same sets, counts and records.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lmarvel.ci.boundaries import Boundaries, total_conditioning
from lmarvel.ci.growth import Evidence, Growth
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import ColumnsInput
from lmarvel.engine.boundaries import SEARCHES, FlatBoundaries, each_set, search_boundaries
from lmarvel.engine.run import is_built
from lmarvel.errors import BudgetSpent, ParameterError
from lmarvel.text import did_you_mean, listing


class CountedGrowth:
    """A growth whose answers are counted as distinct tests, and kept within budget."""

    def __init__(self, ledger: Ledger, target: int) -> None:
        self.ledger = ledger
        self.target = target
        self.growth = ledger.test.growth(target)
        self.members = self.growth.members

    def candidates(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each variable outside."""
        new = self.ledger.memory.note_round(self.target, frozenset(self.members), len(self.ledger.names))
        self.ledger.meter.spend("boundary", len(self.members), new)
        return self.growth.candidates(alpha)

    def inside(self, alpha: float) -> Evidence:
        """Pass the question on, and count a test for each member."""
        new = self.ledger.memory.note_inside(self.target, frozenset(self.members))
        self.ledger.meter.spend("boundary", len(self.members) - 1, new)
        return self.growth.inside(alpha)

    def add(self, v: int) -> None:
        """Take a variable into the set."""
        self.growth.add(v)

    def remove(self, v: int) -> None:
        """Take a variable out of the set."""
        self.growth.remove(v)


def shrink(growth: Growth, alpha: float) -> list[int]:
    """Remove members that are independent of the target given the others, weakest first; return them."""
    removed = []
    while growth.members:
        evidence, critical = growth.inside(alpha)
        weakest = min(growth.members, key=lambda v: (evidence[v], v))
        if evidence[weakest] > critical:
            break
        growth.remove(weakest)
        removed.append(weakest)
    return removed


Found = tuple[list[set[int]], dict[int, tuple[frozenset[int], frozenset[int]]]]
"""The boundaries, and for each target whose search was cut short what it had and what was kept."""


def every_boundary(ledger: Ledger, learn: Callable[[Growth], bool], alpha: float, union: bool = False) -> Found:
    """Run a boundary search for each target and make the result symmetric, by intersection or by union.

    Where a limit on the size of sets ended the growth of a target, what still depends on it given the members counts
    as boundary too: nothing is left out that was not shown to be independent.

    If a budget ends the work, the targets that were not reached raise, since no method can start without them.
    """
    n = len(ledger.names)
    found: list[set[int]] = []
    truncated = {}
    for target in range(n):
        growth = CountedGrowth(ledger, target)
        try:
            complete = learn(growth)
            left = set() if complete else _dependent(growth, alpha)
        except BudgetSpent as spent:
            raise BudgetSpent(f"{spent}, with the boundaries of {target} of {n} variables found") from None
        if left:
            members = frozenset(growth.members)
            truncated[target] = (members, members | left)
        found.append(set(growth.members) | left)
    if union:
        for x in range(n):
            for y in list(found[x]):
                found[y].add(x)
        return found, truncated
    return [{y for y in found[x] if x in found[y]} for x in range(n)], truncated


def _dependent(growth: Growth, alpha: float) -> set[int]:
    evidence, critical = growth.candidates(alpha)
    return set(np.flatnonzero(evidence > critical).tolist())


def grow_shrink(growth: Growth, alpha: float, most: int) -> bool:
    """Find the boundary of the growth's target, which ends as ``growth.members``; tell whether growing came to its end.

    Parameters
    ----------
    growth : Growth
        The target with an empty set.
    alpha : float
        The level.
    most : int
        The set never gets larger than this.
    """
    evidence, critical = growth.candidates(alpha)
    order = np.argsort(-evidence, kind="stable")
    complete = False
    while not complete and len(growth.members) < most:
        first = next((int(v) for v in order if evidence[v] > critical), None)
        complete = first is None
        if first is not None:
            growth.add(first)
            evidence, critical = growth.candidates(alpha)
    shrink(growth, alpha)
    return complete


def iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Grow by the strongest candidate, then shrink; tell whether growing came to its end."""
    complete = False
    while not complete and len(growth.members) < most:
        complete = _add_strongest(growth, alpha, set()) is None
    shrink(growth, alpha)
    return complete


def inter_iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Shrink after every addition; a set that was there before bans the variable that led back to it."""
    seen = {frozenset(growth.members)}
    banned: set[int] = set()
    while len(growth.members) < most:
        added = _add_strongest(growth, alpha, banned)
        if added is None:
            return True
        shrink(growth, alpha)
        now = frozenset(growth.members)
        if now in seen:
            banned.add(added)
        seen.add(now)
    return False


def fast_iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Take in all dependent candidates at once, strongest first, and shrink, until nothing changes."""
    seen = {frozenset(growth.members)}
    while len(growth.members) < most:
        evidence, critical = growth.candidates(alpha)
        order = np.argsort(-evidence, kind="stable")
        new = [int(v) for v in order if evidence[v] > critical][: most - len(growth.members)]
        for v in new:
            growth.add(v)
        shrink(growth, alpha)
        now = frozenset(growth.members)
        if not new or now in seen:
            return True
        seen.add(now)
    return False


def _add_strongest(growth: Growth, alpha: float, banned: set[int]) -> int | None:
    evidence, critical = growth.candidates(alpha)
    for v in banned:
        evidence[v] = -np.inf
    strongest = int(np.argmax(evidence))
    if not evidence[strongest] > critical:
        return None
    growth.add(strongest)
    return strongest


def flat_boundaries(
    ledger: Ledger, method: str, alpha: float, union: bool = False, remember: bool = False
) -> FlatBoundaries | None:
    """Find boundaries and count the tests; None where the engine cannot, and :class:`BudgetSpent` as the readable code.

    ``remember`` enters what was asked in the ledger's memory, for a method that goes on in Python.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> flat_boundaries(Ledger(MSeparation(MAG.from_edges("A --> B"))), "iamb", 0.01) is None  # an oracle
    True
    """
    known = ledger.test.for_engine()
    if known is None or isinstance(known, ColumnsInput) or method not in SEARCHES or not is_built():
        return None
    meter, n = ledger.meter, len(ledger.names)
    seconds = math.inf if meter.deadline == math.inf else meter.deadline - time.monotonic()
    budget = (ledger.largest_set, meter.max_tests, meter.n_tests, seconds)
    found = search_boundaries(known.correlation, known.n, known.quantile(alpha), method, *budget, union)
    for size, tests in found.counts:
        meter.count("boundary", size, tests)
    if remember:
        ledger.memory.note_asked(found.each_asked())
    if found.reason != "none":
        spent = f"max_tests={meter.max_tests} is used up" if found.reason == "tests" else "max_seconds is used up"
        raise BudgetSpent(f"{spent}, with the boundaries of {found.reached} of {n} variables found")
    return found


def as_boundaries(found: FlatBoundaries, method: str, level: float) -> Boundaries:
    """Return boundaries that the engine found as sets."""
    truncated = {target: (had, kept) for target, had, kept in found.each_truncated()}
    return Boundaries.of(each_set(found.sets), method, level, truncated)


_SEARCHES: dict[str, Callable[[Growth, float, int], bool]] = {
    "gs": grow_shrink,
    "iamb": iamb,
    "inter-iamb": inter_iamb,
    "fast-iamb": fast_iamb,
}
METHODS = ("auto", "tc", *_SEARCHES)


def choose_boundary(ledger: Ledger) -> str:
    """Return "tc" where all pairs can be tested given everything else, else "iamb".

    On a table total conditioning leaves n - p - 1 degrees of freedom; it is taken if these are at least as many as
    there are variables (and 30). A limit on the conditioning size below p - 2 rules it out, and so do categories that
    determine others, and missing values that leave fewer than half of the rows complete. A test of one's own that says
    nothing about its rows is asked about small sets only, unless it offers to test all pairs at once. A test made of
    models rules it out: each pair would need two models on all other variables.
    """
    p, test = len(ledger.names), ledger.test
    columns = test.columns  # more than variables, where some are blocks
    rows = test.rest_rows
    enough = test.tests_all_pairs if rows is None else rows - columns - 1 >= max(columns, 30)
    if rows is not None and test.rows is not None and 2 * rows < test.rows:
        enough = False
    possible = enough and test.total_conditioning and not test.collinear
    return "tc" if possible and ledger.largest_set >= p - 2 else "iamb"


def markov_boundaries(ledger: Ledger, method: str, alpha: float, union: bool = False) -> Boundaries:
    """Find the Markov boundary of every variable.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked and counted, in phase "boundary".
    method : {"auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"}
        "auto" chooses between "tc" and "iamb".
    alpha : float
        The level.
    union : bool
        Boundaries found one target at a time need not agree: keep a pair that either found (True) or both (False).

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> oracle = MSeparation(MAG.from_edges("A --> C", "B --> C", "C --> D"))
    >>> found = markov_boundaries(Ledger(oracle), "iamb", alpha=0.01)
    >>> found.method, [sorted(mb) for mb in found.sets]
    ('iamb', [[1, 2], [0, 2, 3], [0, 1], [1]])
    """
    if method not in METHODS:
        raise ParameterError(f"must be one of {', '.join(METHODS)}, not {method!r}", parameter="boundary")
    if method == "auto":
        method = choose_boundary(ledger)
    if method == "tc":
        return total_conditioning(ledger, alpha)
    compiled = flat_boundaries(ledger, method, alpha, union, remember=True)
    if compiled is not None:
        return as_boundaries(compiled, method, alpha)
    search, most = _SEARCHES[method], ledger.largest_set
    sets, truncated = every_boundary(ledger, lambda growth: search(growth, alpha, most), alpha, union)
    return Boundaries.of(sets, method, alpha, truncated)


Boundary = str | Mapping[str, Sequence[str]]


def check_boundary_name(boundary: object, complete: bool) -> None:
    """Refuse a boundary method that is not one; "none", the complete graph, is one where ``complete`` says so."""
    allowed = (*METHODS, "none") if complete else METHODS
    if not isinstance(boundary, Mapping) and boundary not in allowed:
        meant = did_you_mean(str(boundary), allowed)
        raise ParameterError(
            f"must be one of {', '.join(allowed)}, or a mapping, not {boundary!r}{meant}", parameter="boundary"
        )


def boundaries_for(boundary: Boundary, ledger: Ledger, level: float) -> Boundaries:
    """Return the graph to start from, with pairs in it that are known to be adjacent."""
    found = _boundaries_for(boundary, ledger, level)
    if ledger.known is None or not ledger.known.required.any():
        return found
    near = [set(np.flatnonzero(row).tolist()) for row in ledger.known.required]
    joined = [set(mb) | more for mb, more in zip(found.sets, near, strict=True)]
    return Boundaries.of(joined, found.method, found.level, found.truncated)


def _boundaries_for(boundary: Boundary, ledger: Ledger, level: float) -> Boundaries:
    """Return the graph to start from: Markov boundaries, or all pairs for "none"."""
    if isinstance(boundary, Mapping):
        return Boundaries.of(_own_boundaries(boundary, ledger.names), "own", level)
    if boundary == "none":
        return Boundaries.complete(len(ledger.names), level)
    return markov_boundaries(ledger, boundary, level)


def _own_boundaries(given: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[set[int]]:
    """Check boundaries that a user passes: known names, symmetric, no variable in its own."""
    where = {name: i for i, name in enumerate(names)}
    for name in (*given, *(v for mb in given.values() for v in mb)):
        if name not in where:
            meant = did_you_mean(name, names)
            raise ParameterError(
                f"names the unknown variable {name!r}: the test has {listing(names, 12)}{meant}", parameter="boundary"
            )
    boundaries = [{where[v] for v in given.get(name, ())} for name in names]
    for x, mb in enumerate(boundaries):
        for y in mb:
            if x == y or x not in boundaries[y]:
                raise ParameterError(
                    f"must be symmetric and without the variable itself: {names[y]} is in the boundary of"
                    f" {names[x]}, but not the other way round",
                    parameter="boundary",
                )
    return boundaries
