"""L-MARVEL: learn the neighbours of a removable variable, remove it, go on (Algorithm 1 of the paper).

The recursion is a loop. Variables wait in order of the size of their Markov boundary; one that is found not
removable waits until its boundary changes, because nothing else can make it removable (Theorem 1 speaks only
of its boundary). Adjacency of a pair is decided once, and every separating set found is kept (Proposition 3).

**Without the chordality assumption.** Theorem 2 holds if the undirected part of the MAG has no chordless
cycle of four or more. Only one case of its proof needs that: Y and Z both undirected neighbours of X and not
adjacent, where no set inside Mb(X) + {X} separates them. Such a pair looks adjacent, X is removed, and the
MAG of the rest has a false edge Y-Z. So the learned skeleton holds the true one, and every false edge is a
pair that was taken for adjacent when some X was removed. These *suspects* are checked at the end. In the true
graph a suspect that is false has X, Y, Z and a whole undirected path from Y to Z outside Adj(X) without a
single arrowhead, and some set of neighbours of Y, X among them, separates Y and Z. Where colliders show an
arrowhead or there is no such path, the suspect is cleared without a test: that is nearly always so. See
docs/theory.md.

**On data** three things differ from the paper's program, unless ``faithful`` says otherwise: the full boundary is
tried as a separating set (the boundary search need not have asked it), a set that is only implied by the boundaries
is tested before an arrowhead rests on it (:mod:`lmarvel.skeleton.gaps`), and a pair that some step of the run found
independent at the level alpha is not left as an edge.

References
----------
Akbari, Mokhtarian, Ghassami, Kiyavash, Recursive causal structure learning in the presence of latent
variables and selection bias, NeurIPS 2021.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import SepsetAnswer
from lmarvel.errors import BudgetSpent
from lmarvel.result.trace import Kept, LeftBoundary, NoneRemovable, Removed
from lmarvel.skeleton.gaps import settle_gaps, unshielded_pairs
from lmarvel.skeleton.state import Learned, Progress, SkeletonState, pair_of, silent


class Suspect(NamedTuple):
    """Y and Z were taken for adjacent when X was removed as number ``step``."""

    x: int
    y: int
    z: int
    step: int


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
    second_first : bool
        Test Condition 2 of removability before Condition 1: the other order than the paper's.
    """

    alpha: float = 0.01
    boundary: float = 0.01
    threshold: float = 0.8
    assume_chordal: bool = False
    faithful: bool = False
    second_first: bool = False


class Search(SkeletonState):
    """The state of one run: remaining variables, their boundaries, and what is known of each pair (A)."""

    def __init__(self, ledger: Ledger, boundaries: Boundaries, levels: Levels) -> None:
        super().__init__(ledger, boundaries, levels.alpha, dense=False)
        self.levels = levels
        self.mb = [set(mb) for mb in boundaries.sets]  # Mb_V, over the remaining variables V
        self.removed_at: dict[int, int] = {}
        self.suspects: list[Suspect] = []
        self.unverified: set[tuple[int, int]] = set()  # in each other's boundary for want of a test

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

    def try_with(self, x: int, y: int, z: int, pool: set[int]) -> SepsetAnswer:
        """Search a set W + {X} that separates Y and Z beyond the threshold: what breaks Condition 2."""
        if x in self.useless(y, z):  # then W alone would do, and Condition 1 would hold
            return SepsetAnswer(None, 0.0, (), None, None, True)
        threshold = self.levels.threshold
        return self.try_separate("removability", y, z, pool, always=(x,), alpha=threshold, keep=False)


def find_adjacent(search: Search, x: int, phase: str = "adjacency") -> None:
    """FindAdjacent: decide for each Y in Mb(X) whether a subset of Mb(X) - {Y} separates it from X (line 7)."""
    mb = search.mb[x]
    for y in sorted(mb):
        if search.is_open(x, y):
            search.decide(phase, x, y, mb - {y})


def is_removable(search: Search, x: int) -> bool:
    """IsRemovable (Algorithm 2): test Conditions 1 and 2 of Theorem 2 for each Y in Adj(X), Z in Mb(X)."""
    mb, around = search.mb[x], search.adjacent[x] & search.mb[x]
    suspects = []
    for y in sorted(around):
        for z in sorted(mb):
            if z == y or (z in around and z < y) or z in search.adjacent[y]:
                continue
            known = search.sepsets.lookup(y, z)
            if known is not None and x not in known:
                continue
            pool = mb - {y, z}
            with_x = search.try_with(x, y, z, pool) if search.levels.second_first else None
            without = None
            # Condition 1: some W inside Mb(X) separates Y and Z.
            if with_x is None or with_x.sepset is not None:
                without = search.try_separate("removability", y, z, pool, keep=False)
                if without.sepset is not None:
                    search.separate("removability", y, z, without.sepset, without.pvalue)
                    continue
            # Condition 2: no W + {X} does.
            if with_x is None:
                with_x = search.try_with(x, y, z, pool)
            if with_x.sepset is not None:
                if known is None:
                    search.separate("removability", y, z, with_x.sepset, with_x.pvalue)
                search.trace.append(Kept(x, y, z, with_x.sepset, with_x.pvalue))
                return False
            if not (with_x.complete and (without is None or without.complete)):
                search.unfinished.add(pair_of(y, z))
            if not search.levels.assume_chordal and z in around:
                if known is not None and _needs(search, x, y, z, known):
                    return False
                suspects.append(Suspect(x, y, z, len(search.removed_at)))
    search.suspects += suspects
    return True


def _needs(search: Search, x: int, y: int, z: int, known: frozenset[int]) -> bool:
    """Tell whether the known separating set of Y and Z, which reaches outside Mb(X), needs X (Lemma 4)."""
    rest = frozenset(v for v in known if v not in search.removed_at)
    p = search.ledger.pvalue("removability", y, z, rest)
    if p <= search.levels.threshold or search.ledger.pvalue("removability", y, z, rest - {x}) > search.alpha:
        return False
    search.trace.append(Kept(x, y, z, rest, p))
    return True


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


def default_boundary_alpha(p: int, alpha: float) -> float:
    """Return 2/p^2, the level of the paper for p variables, but at most alpha.

    With fewer than 15 variables and alpha = 0.01 the former is the laxer of the two, and pairs that belong to
    a boundary at that level only would pass for adjacent without a test at alpha.
    """
    return min(2 / max(p, 2) ** 2, alpha)


def lmarvel(ledger: Ledger, boundaries: Boundaries, levels: Levels, progress: Progress = silent) -> Learned:
    """Learn the skeleton from Markov boundaries and tests (the function L-MARVEL of Algorithm 1).

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
    """
    search = Search(ledger, boundaries, levels)
    try:
        _remove_all(search, progress)
        if not levels.assume_chordal:
            clear_suspects(search)
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


def _remove_all(search: Search, progress: Progress) -> None:
    """Remove removable variables, smallest boundary first, until none is left or none is removable (lines 5 to 12)."""
    n = len(search.mb)
    waiting = [(len(mb), x) for x, mb in enumerate(search.mb)]
    heapq.heapify(waiting)
    while waiting:
        size, x = heapq.heappop(waiting)
        if x in search.removed_at or size != len(search.mb[x]):
            continue  # an outdated entry: the boundary has changed since
        find_adjacent(search, x)  # line 7
        if not is_removable(search, x):  # line 8
            continue
        search.trace.append(Removed(x, frozenset(search.mb[x]), frozenset(search.adjacent[x] & search.mb[x])))
        changed = update_boundaries(search, x)  # line 10
        search.removed_at[x] = len(search.removed_at)
        for y in changed:
            heapq.heappush(waiting, (len(search.mb[y]), y))
        progress("skeleton", len(search.removed_at), n)
    remaining = set(range(n)) - search.removed_at.keys()
    if remaining:
        complete(search, remaining)


def settle_contested(search: Search) -> None:
    """Cut the edges of pairs that some step of the run found independent at the level alpha.

    The search for a pair and a removal test of a third variable can disagree: the latter asks about sets that hold that
    variable, and keeps them only above a much higher threshold. Left alone, such a pair would be an edge although a
    test at the level of the run separates it.
    """
    for x, y in search.edges():
        p, given = search.ledger.memory.closest(x, y)
        if given is not None and p > search.alpha:
            search.separate("contested", x, y, given, p)


# --- chordless cycles -------------------------------------------------------------------------------------


def clear_suspects(search: Search) -> None:
    """Find the false edges among the suspects, and delete them together."""
    suspects = [s for s in search.suspects if s.z in search.adjacent[s.y]]
    doubtful = {frozenset((s.y, s.z)) for s in suspects} | {frozenset(pair) for pair in search.unfinished}
    headed: dict[int, bool] = {}
    false_edges = {}
    for s in suspects:
        pool = _candidates(search, s, doubtful, headed)
        if pool is not None and (s.y, s.z) not in false_edges:
            answer = search.try_separate("chordless", s.y, s.z, pool, always=(s.x,), keep=False)
            if answer.sepset is not None:
                false_edges[s.y, s.z] = answer
            elif not answer.complete:
                search.unfinished.add(pair_of(s.y, s.z))
    for (y, z), answer in false_edges.items():
        assert answer.sepset is not None
        search.separate("chordless", y, z, answer.sepset, answer.pvalue)


def _candidates(search: Search, s: Suspect, doubtful: set[frozenset[int]], headed: dict[int, bool]) -> set[int] | None:
    """Return where the separating set of a suspect would lie, or None if the suspect is cleared."""

    def tail_only(v: int) -> bool:
        if v not in headed:
            headed[v] = _has_arrowhead(search, v, doubtful)
        return not headed[v] and search.removed_at.get(v, s.step) >= s.step

    if not (tail_only(s.x) and tail_only(s.y) and tail_only(s.z)):
        return None
    outside = search.adjacent[s.x] | {s.x}
    seen, stack = set(outside), [s.y]
    while stack:
        v = stack.pop()
        if v != s.y and s.z in search.adjacent[v]:
            pools = [{u for u in search.adjacent[end] if tail_only(u)} - {s.x, s.y, s.z} for end in (s.y, s.z)]
            return min(pools, key=len)
        new = [u for u in search.adjacent[v] if u not in seen and tail_only(u)]
        seen.update(new)
        stack += new
    return None


def _has_arrowhead(search: Search, b: int, doubtful: set[frozenset[int]]) -> bool:
    """Tell whether an unshielded collider over edges beyond doubt puts an arrowhead at b."""
    sure = sorted(v for v in search.adjacent[b] if frozenset((v, b)) not in doubtful)
    for i, a in enumerate(sure):
        for c in sure[i + 1 :]:
            sepset = search.sepsets.lookup(a, c)
            if sepset is not None and b not in sepset and c not in search.adjacent[a]:
                return True
    return False
