"""L-MARVEL: learn the neighbours of a removable variable, remove it, go on (Algorithm 1 of the paper).

A variable X is *removable* if deleting it leaves the MAG of the other variables: no separation among them is lost or
won. Theorem 2 reads that from tests inside the Markov boundary Mb(X). For every Y adjacent to X and every Z in Mb(X)
one of two conditions holds:

* **Condition 1**: some W inside Mb(X) - {Y, Z} separates Y and Z.
* **Condition 2**: no W + {X} with such a W does.

The paper's recursion is a loop here. Variables wait in order of the size of their Markov boundary; one that is found
not removable waits until its boundary changes, because nothing else can make it removable (Theorem 1 speaks only of
its boundary). Adjacency of a pair is decided once, and every separating set found is kept (Proposition 3). Comments
give the lines of Algorithms 1 and 2.

What goes beyond the paper stands in files of its own. Theorem 2 assumes that selection leaves no chordless undirected
cycle; :mod:`lmarvel.skeleton.chordless` drops that assumption. On data three more things differ from the paper's
program, unless ``faithful`` says otherwise: the full boundary is tried as a separating set (the boundary search need
not have asked it), and :mod:`lmarvel.skeleton.gaps` tests the sets that boundaries only imply and cuts the edges that
some step of the run found independent.

References
----------
Akbari, Mokhtarian, Ghassami, Kiyavash, Recursive causal structure learning in the presence of latent
variables and selection bias, NeurIPS 2021.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import SepsetAnswer
from lmarvel.errors import BudgetSpent
from lmarvel.result.trace import Kept, LeftBoundary, NoneRemovable, Removed
from lmarvel.skeleton.chordless import Suspect, clear_suspects, is_needed
from lmarvel.skeleton.gaps import settle_contested, settle_gaps, unshielded_pairs
from lmarvel.skeleton.state import Learned, Pair, Progress, SkeletonState, pair_of, silent


@dataclass(frozen=True)
class Levels:
    """The levels and switches of L-MARVEL.

    Attributes
    ----------
    alpha : float
        Level of the tests for adjacency and Condition 1.
    boundary : float
        Level at which boundaries are updated.
    threshold : float
        Condition 2 is violated only by a set with a p-value above this.
    assume_chordal : bool
        True is the paper's algorithm; False drops its assumption on selection.
    faithful : bool
        Decide as the paper's program does where the paper's text leaves a choice.
    """

    alpha: float = 0.01
    boundary: float = 0.01
    threshold: float = 0.8
    assume_chordal: bool = False
    faithful: bool = False


def default_boundary_alpha(p: int, alpha: float) -> float:
    """Return 2/p^2, the level of the paper for p variables, but at most alpha.

    With fewer than 15 variables and alpha = 0.01 the former is the laxer of the two, and pairs that belong to
    a boundary at that level only would pass for adjacent without a test at alpha.
    """
    return min(2 / max(p, 2) ** 2, alpha)


class Search(SkeletonState):
    """The state of one run: the boundaries of the remaining variables V, and what is known of each pair (A)."""

    def __init__(self, ledger: Ledger, boundaries: Boundaries, levels: Levels) -> None:
        super().__init__(ledger, boundaries, levels.alpha, dense=False)
        self.levels = levels
        self.mb = [set(mb) for mb in boundaries.sets]  # Mb_V, over the remaining variables V
        self.removed_at: dict[int, int] = {}
        self.suspects: list[Suspect] = []
        self.unverified: set[Pair] = set()  # in each other's boundary for want of a test

    def largest_untried(self, x: int, y: int, pool: int) -> int:
        """Return the size of the largest subset of a boundary, without the other end, that needs a look.

        The paper's program leaves the full set out: that Y depends on X given all of it is how Y got into the boundary.
        But searches of boundaries ask about other sets (total conditioning about all variables), at other levels.
        """
        shown = self.levels.boundary <= self.alpha and pool <= self.ledger.largest_set
        return pool - 1 if self.levels.faithful and shown and pair_of(x, y) not in self.unverified else pool

    def decide(self, phase: str, x: int, y: int, pool: set[int]) -> None:
        """Separate x and y by a subset of the pool, or join them."""
        top = self.largest_untried(x, y, len(pool))
        if self.try_separate(phase, x, y, pool, max_size=top).sepset is None:
            self.join(phase, x, y)


IsRemovable = Callable[[Search, int], bool]


# --- Algorithm 1 ------------------------------------------------------------------------------------------


def lmarvel(
    ledger: Ledger,
    boundaries: Boundaries,
    levels: Levels,
    progress: Progress = silent,
    removable: IsRemovable | None = None,
) -> Learned:
    """Learn the skeleton from Markov boundaries and tests.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : Boundaries
        The Markov boundaries, symmetric.
    levels : Levels
        Levels of the tests, and switches.
    progress : callable
        Called with ("skeleton", variables removed, variables in all) after each removal.
    removable : callable, optional
        The test of removability; :func:`is_removable` by default.
    """
    search = Search(ledger, boundaries, levels)
    try:
        remove_all(search, removable or is_removable, progress)
        if not levels.assume_chordal:
            clear_suspects(search, search.suspects, search.removed_at)
        if not levels.faithful:
            settle_contested(search)
            settle_gaps(search)
    except BudgetSpent as spent:
        search.ended = str(spent)
        search.unfinished.update(pair_of(s.y, s.z) for s in search.suspects)
        if not levels.faithful:  # what the boundaries imply was not tested: no rule may rest on it
            search.doubtful.update(unshielded_pairs(search))
    for x, mb in enumerate(boundaries.sets):
        for y in mb:
            if x < y and search.is_open(x, y):
                search.unfinished.add((x, y))
                search.adjacent[x].add(y)
                search.adjacent[y].add(x)
    return search.learned()


def remove_all(search: Search, removable: IsRemovable, progress: Progress = silent) -> None:
    """Remove removable variables until none is left, or none is removable (the function L-MARVEL)."""
    n = len(search.mb)
    waiting = [(len(mb), x) for x, mb in enumerate(search.mb)]
    heapq.heapify(waiting)  # line 5: smallest boundary first
    while waiting:
        size, x = heapq.heappop(waiting)  # line 6
        if x in search.removed_at or size != len(search.mb[x]):
            continue  # an outdated entry: the boundary has changed since
        find_adjacent(search, x)  # line 7
        if not removable(search, x):  # lines 8 and 9
            continue
        search.trace.append(Removed(x, frozenset(search.mb[x]), frozenset(search.adjacent[x] & search.mb[x])))
        changed = update_boundaries(search, x)  # line 10
        search.removed_at[x] = len(search.removed_at)  # line 11
        for y in changed:
            heapq.heappush(waiting, (len(search.mb[y]), y))
        progress("skeleton", len(search.removed_at), n)
    remaining = set(range(n)) - search.removed_at.keys()
    if remaining:
        complete(search, remaining)


def find_adjacent(search: Search, x: int, phase: str = "adjacency") -> None:
    """FindAdjacent: decide for each Y in Mb(X) whether a subset of Mb(X) - {Y} separates it from X."""
    mb = search.mb[x]
    for y in sorted(mb):
        if search.is_open(x, y):
            search.decide(phase, x, y, mb - {y})


def update_boundaries(search: Search, x: int) -> set[int]:
    """UpdateMb: remove X, and part the pairs of Mb(X) whose collider paths all went through X.

    One test a pair, given the smaller of the two boundaries, at the level of the boundaries (not at alpha). The paper
    tests all pairs of Mb(X); pairs known to be adjacent are skipped here, since an edge is a collider path that stays,
    and so are pairs outside each other's boundary, which have nothing to lose. Returns the variables whose boundary
    changed.
    """
    mb = search.mb
    parted = []
    members = sorted(mb[x])
    for i, y in enumerate(members):
        for z in members[i + 1 :]:
            if z not in mb[y] or z in search.adjacent[y]:
                continue
            given = min(mb[y] - {x, z}, mb[z] - {x, y}, key=len)
            if len(given) > search.ledger.largest_set:
                search.unverified.add((y, z))  # too large a set to test: the pair stays
                continue
            p = search.ledger.pvalue("update", y, z, given)
            if p > search.levels.boundary:
                parted.append((y, z, frozenset(given), p))
    for y, z, sepset, p in parted:
        mb[y].discard(z)
        mb[z].discard(y)
        search.trace.append(LeftBoundary(x, y, z, sepset, p))
        if search.is_open(y, z):
            search.separate("update", y, z, sepset, p)
    for y in members:
        mb[y].discard(x)
    mb[x] = set()
    return set(members)


def complete(search: Search, remaining: set[int]) -> None:
    """No variable of V is removable: settle every open pair of V by a search in the smaller boundary.

    Right, because the induced subgraph over V still is the MAG of its marginal.
    """
    search.trace.append(NoneRemovable(frozenset(remaining)))
    for x in sorted(remaining):
        for y in sorted(search.mb[x]):
            if x < y and search.is_open(x, y):
                search.decide("completion", x, y, min(search.mb[x] - {y}, search.mb[y] - {x}, key=len))


# --- Algorithm 2 ------------------------------------------------------------------------------------------


class Condition(NamedTuple):
    """Whether a condition of Theorem 2 holds; true where it does.

    Attributes
    ----------
    holds : bool
        Whether it holds for the sets that were asked.
    answer : SepsetAnswer
        The separating set that shows Condition 1, or breaks Condition 2; whether a limit cut the search short.
    """

    holds: bool
    answer: SepsetAnswer

    def __bool__(self) -> bool:
        return self.holds


def is_removable(search: Search, x: int) -> bool:
    """IsRemovable: one of the conditions of Theorem 2 holds for each Y in Adj(X) and Z in Mb(X)."""
    suspects = []
    for y, z in pairs_to_check(search, x):  # line 2
        if first := condition_1(search, x, y, z):  # line 3
            continue
        if not (second := condition_2(search, x, y, z)):  # line 4
            keep(search, x, y, z, second)
            return False  # line 5
        if not (first.answer.complete and second.answer.complete):
            search.unfinished.add(pair_of(y, z))
        if may_be_false(search, x, z):  # beyond the paper
            if is_needed(search, x, y, z, search.removed_at, search.levels.threshold):
                return False
            suspects.append(Suspect(x, y, z, len(search.removed_at)))
    search.suspects += suspects
    return True  # line 9


def pairs_to_check(search: Search, x: int) -> Iterator[Pair]:
    """Iterate over Y in Adj(X) and Z in Mb(X), without the pairs for which a condition is known to hold.

    Condition 2 holds if Y and Z are adjacent, and Condition 1 if a set without X is known to separate them. The
    conditions are symmetric, so two neighbours of X are one pair.
    """
    mb, around = search.mb[x], search.adjacent[x] & search.mb[x]
    for y in sorted(around):
        for z in sorted(mb):
            if z == y or (z in around and z < y) or z in search.adjacent[y]:
                continue
            known = search.sepsets.lookup(y, z)
            if known is None or x in known:
                yield y, z


def condition_1(search: Search, x: int, y: int, z: int) -> Condition:
    """Condition 1: some W inside Mb(X) - {Y, Z} separates Y and Z. The set is kept."""
    answer = search.try_separate("removability", y, z, search.mb[x] - {y, z}, keep=False)
    if answer.sepset is not None:
        search.separate("removability", y, z, answer.sepset, answer.pvalue)
    return Condition(answer.sepset is not None, answer)


def condition_2(search: Search, x: int, y: int, z: int) -> Condition:
    """Condition 2: no W + {X}, W inside Mb(X) - {Y, Z}, separates Y and Z with a p-value above the threshold."""
    if x in search.useless(y, z):  # then W alone would do, and Condition 1 would hold
        return Condition(True, SepsetAnswer(None, 0.0, (), None, None, True))
    pool, threshold = search.mb[x] - {y, z}, search.levels.threshold
    answer = search.try_separate("removability", y, z, pool, always=(x,), alpha=threshold, keep=False)
    return Condition(answer.sepset is None, answer)


def keep(search: Search, x: int, y: int, z: int, broken: Condition) -> None:
    """Record that X is not removable, and keep the set W + {X} that shows it where none was known."""
    sepset, p = broken.answer.sepset, broken.answer.pvalue
    assert sepset is not None
    if search.sepsets.lookup(y, z) is None:
        search.separate("removability", y, z, sepset, p)
    search.trace.append(Kept(x, y, z, sepset, p))


def may_be_false(search: Search, x: int, z: int) -> bool:
    """Tell whether Z and a neighbour of X that no set separates may still be the false edge of a chordless cycle."""
    return not search.levels.assume_chordal and z in search.adjacent[x] & search.mb[x]
