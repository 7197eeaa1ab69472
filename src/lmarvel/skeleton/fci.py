"""FCI: fast causal inference (Spirtes, Meek & Richardson 1999; Zhang 2008).

After the PC search, an edge that is too many can still be there, because with latent variables the set that
separates x and y may hold variables adjacent to neither. It lies in Possible-D-Sep(x) (or of y): the variables that
a path reaches from x on which each inner node is a collider or the middle of a triangle. So the colliders are
found, and each edge is tested again given subsets of those sets.

These sets can be large, and the search is exponential in their size. They shrink if marks are known: a separating set
needs only possible ancestors of x and y, reached over possible ancestors, and a node with a tail on the path is
no collider. The marks of RFCI are right also while edges are too many, so the *pruned* search orients the graph as RFCI
does first. Its result is the same with an oracle, for far fewer tests; the *classic* one is there to reproduce others.

With an oracle the result is the exact PAG.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import BudgetSpent
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.rules import RULES
from lmarvel.orient.worklist import Oriented, orient
from lmarvel.skeleton.pc import Pruning, pc_stable, read_colliders
from lmarvel.skeleton.rfci import PathCheck, check_triples, unshielded
from lmarvel.skeleton.state import Learned, Progress, silent


def fci(
    ledger: Ledger,
    boundaries: Boundaries,
    alpha: float = 0.01,
    n_jobs: int = 1,
    max_p: bool = False,
    colliders: str = "standard",
    possible_d_sep: str = "pruned",
    selection: bool = True,
    progress: Progress = silent,
) -> Learned:
    """Learn the skeleton and separating sets of FCI.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : Boundaries
        The graph to start from: Markov boundaries, or for each variable all others.
    alpha : float
        The level.
    n_jobs : int
        Threads over pairs.
    max_p : bool
        Take the separating set with the largest p-value of its size, not the first found.
    colliders : {"standard", "conservative", "majority"}
        How colliders are read, see :mod:`lmarvel.skeleton.pc`.
    possible_d_sep : {"pruned", "classic", "none"}
        Which sets the second search uses; "none" leaves it out, and edges can be too many.
    selection : bool
        False asserts that the sample was not selected; the marks that prune the sets are read accordingly.
    progress : callable
        Called with (what, done, of how many).
    """
    pruning = Pruning(ledger, boundaries, alpha, n_jobs, max_p)
    try:
        pc_stable(pruning, progress=progress)
        if possible_d_sep == "pruned":
            check_triples(pruning, unshielded(pruning, range(len(boundaries))))
            oriented = sound_marks(pruning, selection)
            prune_by_possible_d_sep(pruning, lambda x, y: pruned_set(oriented, x, y), progress)
        elif possible_d_sep == "classic":
            oriented = unshielded_colliders(pruning)
            reach = [possible_d_sep_of(oriented, x) for x in range(len(boundaries))]
            prune_by_possible_d_sep(pruning, lambda x, y: reach[x], progress)
    except BudgetSpent as spent:
        pruning.spent(spent)
    return pruning.learned(*read_colliders(pruning, colliders))


def prune_by_possible_d_sep(
    pruning: Pruning,
    pool_of: Callable[[int, int], set[int]],
    progress: Progress = silent,
    phase: str = "possible-d-sep",
) -> None:
    """Test each edge x-y given the subsets of ``pool_of(x, y)`` and ``pool_of(y, x)``, which are found once."""
    pools = {pair: (pool_of(*pair) - {*pair}, pool_of(*pair[::-1]) - {*pair}) for pair in pruning.edges()}
    k, pairs = 1, list(pools)
    while True:
        pairs = [pair for pair in pairs if max(map(len, pools[pair])) >= k and pair[1] in pruning.adjacent[pair[0]]]
        if not pairs:
            return
        if k > pruning.ledger.largest_set:
            pruning.unfinished.update(pairs)
            return
        progress(f"{phase}, sets of {k}", k, max(len(pool) for pair in pairs for pool in pools[pair]))
        left = pruning.wave(phase, pairs, [pools[pair][0] for pair in pairs], k, k)
        pairs = pruning.wave(phase, left, [pools[pair][1] for pair in left], k, k)
        k += 1


def sound_marks(pruning: Pruning, selection: bool = True) -> Oriented:
    """Return the graph oriented as RFCI does, within the time of the run; edges that turn out too many are cut."""
    is_collider = pruning.sepsets.is_collider
    return orient(
        len(pruning.adjacent),
        pruning.edges(),
        is_collider,
        selection,
        check_path=PathCheck(pruning, is_collider),
        deadline=pruning.ledger.meter.deadline,
        undecided=pruning.undecided(),
        known=pruning.known,
    )


def pruned_set(oriented: Oriented, x: int, y: int) -> set[int]:
    """Return the part of Possible-D-Sep(x) that can matter for separating x from y, given marks that are right."""
    mark = oriented.around
    possible = _possible_ancestors(mark, (x, y))
    queue = deque((x, u) for u in mark[x] if u in possible and u != y)
    seen = set(queue)
    while queue:
        a, b = queue.popleft()
        if mark[a][b] == TAIL:
            continue  # b is no collider on any path that comes from a
        for c in mark[b]:
            if c in (a, x) or c not in possible or (b, c) in seen or mark[c][b] == TAIL:
                continue
            collider = mark[a][b] == ARROW and mark[c][b] == ARROW
            if collider or c in mark[a]:
                seen.add((b, c))
                queue.append((b, c))
    return {b for _, b in seen}


def _possible_ancestors(mark: Sequence[Mapping[int, int]], ends: tuple[int, int]) -> set[int]:
    """Return the nodes with a path to one of the ends on which no arrowhead points back."""
    seen, stack = set(ends), list(ends)
    while stack:
        w = stack.pop()
        for u in mark[w]:
            if u not in seen and mark[w][u] != ARROW:
                seen.add(u)
                stack.append(u)
    return seen


def unshielded_colliders(pruning: Pruning) -> Oriented:
    """Return the graph with its unshielded colliders oriented (R0)."""
    n, is_collider = len(pruning.adjacent), pruning.sepsets.is_collider
    return orient(n, pruning.edges(), is_collider, rules=[RULES["R0"]], known=pruning.known)


def possible_d_sep_of(oriented: Oriented, x: int) -> set[int]:
    """Return Possible-D-Sep(x): breadth first over the edges, each in the direction away from x."""
    mark = oriented.around
    queue = deque((x, u) for u in mark[x])
    seen = set(queue)
    while queue:
        a, b = queue.popleft()
        for c in mark[b]:
            if c in (a, x) or (b, c) in seen:
                continue
            collider = mark[a][b] == ARROW and mark[c][b] == ARROW
            if collider or c in mark[a]:
                seen.add((b, c))
                queue.append((b, c))
    return {b for _, b in seen}
