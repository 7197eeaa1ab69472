"""FCI: fast causal inference (Spirtes, Meek & Richardson 1999; Zhang 2008).

After the PC search, an edge that is too many can still be there, because with latent variables the set that
separates x and y may hold variables adjacent to neither. It lies in Possible-D-Sep(x) (or of y): the variables that
a path reaches from x on which each inner node is a collider or the middle of a triangle. So the colliders are
found, and each edge is tested again given subsets of those sets.

With an oracle the result is the exact PAG.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from lmarvel.ci.ledger import BudgetSpent, Ledger
from lmarvel.graph.marks import ARROW
from lmarvel.orient.draft import Draft
from lmarvel.orient.rules import r0
from lmarvel.skeleton.pc import pc_stable
from lmarvel.skeleton.pruning import Pruning


def fci(
    ledger: Ledger,
    boundaries: list[set[int]],
    alpha: float = 0.01,
    n_jobs: int = 1,
    max_p: bool = False,
    possible_d_sep: bool = True,
    progress: Callable[[str, int, int], None] | None = None,
) -> Pruning:
    """Learn the skeleton and separating sets of FCI.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : list of sets
        The graph to start from: Markov boundaries, or for each variable all others.
    alpha : float
        The level.
    n_jobs : int
        Threads over pairs.
    max_p : bool
        Take the separating set with the largest p-value of its size, not the first found.
    possible_d_sep : bool
        False leaves the second search out: faster, and edges can be too many.
    progress : callable, optional
        Called with (what, done, of how many).
    """
    pruning = Pruning(ledger, boundaries, alpha, n_jobs, max_p)
    try:
        pc_stable(pruning, progress=progress)
        if possible_d_sep:
            prune_by_possible_d_sep(pruning, progress)
    except BudgetSpent as spent:
        pruning.spent(spent)
    return pruning


def prune_by_possible_d_sep(
    pruning: Pruning, progress: Callable[[str, int, int], None] | None = None, phase: str = "possible-d-sep"
) -> None:
    """Test each edge given the subsets of the Possible-D-Sep set of each end, which are found once."""
    draft = colliders(pruning)
    reach = [frozenset(possible_d_sep_of(draft, x)) for x in range(len(pruning.adjacent))]
    k, pairs = 1, pruning.edges()
    while True:
        pairs = [
            (x, y) for x, y in pairs if y in pruning.adjacent[x] and max(_size(reach, x, y), _size(reach, y, x)) >= k
        ]
        if not pairs:
            return
        if k > pruning.ledger.largest_set:
            pruning.unfinished.update(pairs)
            return
        if progress is not None:
            progress(f"{phase}, sets of {k}", k, max(map(len, reach)))
        left = pruning.wave(phase, pairs, [reach[x] for x, _ in pairs], k, k)
        pairs = pruning.wave(phase, left, [reach[y] for _, y in left], k, k)
        k += 1


def _size(reach: list[frozenset[int]], x: int, y: int) -> int:
    return len(reach[x] - {x, y})


def colliders(pruning: Pruning) -> Draft:
    """Return the graph with its unshielded colliders oriented (R0)."""
    draft = Draft(len(pruning.adjacent), pruning.edges())

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        sepset = pruning.sepsets.lookup(v, c)
        return sepset is not None and b not in sepset

    for nodes, marks in r0(draft, is_collider):
        draft.apply("R0", nodes, marks)
    return draft


def possible_d_sep_of(draft: Draft, x: int) -> set[int]:
    """Return Possible-D-Sep(x): breadth first over the edges, each in the direction away from x."""
    queue = deque((x, u) for u in draft.mark[x])
    seen = set(queue)
    while queue:
        a, b = queue.popleft()
        for c in draft.mark[b]:
            if c in (a, x) or (b, c) in seen:
                continue
            collider = draft.mark[a][b] == ARROW and draft.mark[c][b] == ARROW
            if collider or draft.adjacent(a, c):
                seen.add((b, c))
                queue.append((b, c))
    return {b for _, b in seen}
