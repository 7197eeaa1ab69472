"""MBCS*: collider-set search on Markov boundaries (Pellet & Elisseeff 2008).

In the graph of Markov boundaries two variables that are not adjacent are joined only because a collider path links
them, and the nodes of such a path lie in both boundaries. So only edges in a triangle can be too many. For such
an edge x-y a set that separates is the rest of the smaller boundary, with some of the common neighbours, and without
those boundary members that would open a path through a common neighbour that was left out.

With an oracle the result is the exact PAG.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import BudgetSpent
from lmarvel.skeleton.gaps import settle_gaps
from lmarvel.skeleton.state import Learned, Pair, Progress, SkeletonState, silent

PHASE = "collider-set"


def mbcs(ledger: Ledger, boundaries: Boundaries, alpha: float = 0.01, progress: Progress = silent) -> Learned:
    """Learn the skeleton and separating sets of MBCS*.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : Boundaries
        Markov boundaries, symmetric.
    alpha : float
        The level.
    progress : callable
        Called with (what, edges done, edges in all).
    """
    state = SkeletonState(ledger, boundaries, alpha, dense=True)
    edges = [(x, y) for x, y in state.edges() if boundaries.sets[x] & boundaries.sets[y]]
    try:
        cut_spouse_links(state, edges, progress)
        settle_gaps(state)
    except BudgetSpent as spent:
        state.spent(spent)
    return state.learned()


def cut_spouse_links(state: SkeletonState, edges: Sequence[Pair], progress: Progress = silent) -> None:
    """Cut the edges that a collider path alone explains."""
    spouse_links = []
    try:
        for done, (x, y) in enumerate(edges):
            progress(PHASE, done, len(edges))
            separated = collider_set_search(state, state.boundaries.sets, x, y)
            if separated is not None:
                spouse_links.append((x, y, *separated))
    finally:  # what was found until a budget ended the search stands
        for x, y, sepset, pvalue in spouse_links:  # together: no search sees a graph that others have changed
            state.separate(PHASE, x, y, sepset, pvalue)


def collider_set_search(
    state: SkeletonState, boundaries: Sequence[frozenset[int]], x: int, y: int
) -> tuple[frozenset[int], float] | None:
    """Search a separating set of an edge in a triangle; return it with its p-value, or None."""
    triangle, useless = boundaries[x] & boundaries[y], state.useless(x, y)
    rest = min(boundaries[x] - triangle - {y}, boundaries[y] - triangle - {x}, key=len) - useless
    # The part of the boundary that each common neighbour reaches, once x and y are deleted.
    reached = {v: frozenset(rest & _reachable(boundaries, v, {x, y})) for v in triangle}
    if not any(reached.values()):  # the common neighbours are then all there is to choose from
        return _search(state, x, y, triangle - useless, tuple(sorted(rest)), len(triangle))
    for size in range(len(triangle - useless) + 1):
        for kept in combinations(sorted(triangle - useless), size):
            # Members of the boundary that an open collider among the common neighbours could make harmful.
            harmful = frozenset[int]().union(*(reached[v] for v in triangle.difference(kept)))
            always = tuple(sorted((rest - harmful).union(kept)))
            separated = _all_or_some(state, x, y, harmful, always)
            if separated is not None:
                return separated
    return None


# Sets that differ in the common neighbours that are kept are different, so no set of a pair is asked twice.


def _all_or_some(
    state: SkeletonState, x: int, y: int, harmful: frozenset[int], always: tuple[int, ...]
) -> tuple[frozenset[int], float] | None:
    """Test x and y given ``always`` and all of the harmful members, then given each subset of these."""
    ledger = state.ledger
    everything = harmful.union(always)
    if len(everything) <= ledger.largest_set:
        p = ledger.pvalue(PHASE, x, y, everything, once=True)
        if p > state.alpha:
            return everything, p
    else:
        state.unfinished.add((x, y))
    return _search(state, x, y, harmful, always, len(harmful) - 1) if harmful else None


def _search(
    state: SkeletonState, x: int, y: int, pool: Set[int], always: tuple[int, ...], most: int
) -> tuple[frozenset[int], float] | None:
    """Search through ``always`` with at most so many members of a pool."""
    answer = state.try_separate(PHASE, x, y, pool, always=always, max_size=most, once=True, keep=False)
    if not answer.complete:
        state.unfinished.add((x, y))
    return None if answer.sepset is None else (answer.sepset, answer.pvalue)


def _reachable(boundaries: Sequence[frozenset[int]], start: int, without: set[int]) -> set[int]:
    """Return what is connected to ``start`` in the boundary graph once ``without`` is deleted."""
    seen, stack = {start}, [start]
    while stack:
        new = boundaries[stack.pop()] - seen - without
        seen |= new
        stack += new
    return seen
