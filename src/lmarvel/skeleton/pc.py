"""The skeleton search of the PC algorithm in its order-independent form (PC-stable), and how colliders are read.

For k = 0, 1, 2, ... each edge x-y is tested given the sets of k variables adjacent to x, then to y, with the
adjacencies as they stood when k began (Colombo & Maathuis 2014). With latent variables the result can hold
extra edges; FCI and RFCI go on from it.

Whether the middle of an unshielded triple a, b, c is a collider is read from one separating set of a and c, and with
finite samples that is one test among many. The conservative and the majority rule (Ramsey, Zhang & Spirtes 2006;
Colombo & Maathuis 2014) look at all sets of variables adjacent to a or to c that separate the two: b is in none of them
(collider), in all (no collider), or the triple is ambiguous. The majority rule calls it by more or less than half.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import SepsetAnswer, SepsetQuery
from lmarvel.errors import BudgetSpent
from lmarvel.orient.draft import IsCollider
from lmarvel.skeleton.gaps import settle_gaps
from lmarvel.skeleton.state import Pair, Progress, SkeletonState, Triple, silent

COLLIDER_RULES = ("standard", "conservative", "majority")
_PART = 4096  # pairs
_MOST_THREADS = 256  # more would only wait for each other


class Pruning(SkeletonState):
    """Adjacencies that shrink, separating sets that grow.

    Parameters
    ----------
    ledger, boundaries, alpha
        As in :class:`~lmarvel.skeleton.state.SkeletonState`; the graph begins with all pairs of the boundaries.
    n_jobs : int
        Threads over pairs. Results do not depend on their number: a wave of searches is answered before any of them
        changes the graph. With a limit on the number of tests one thread is used.
    max_p : bool
        Take of all separating sets of the smallest size the one with the largest p-value, not the first.
    """

    def __init__(
        self, ledger: Ledger, boundaries: Boundaries, alpha: float, n_jobs: int = 1, max_p: bool = False
    ) -> None:
        super().__init__(ledger, boundaries, alpha, dense=True)
        self.n_jobs = n_jobs if ledger.meter.max_tests is None and ledger.test.searches else 1
        self.max_p = max_p

    def wave(
        self, phase: str, pairs: list[Pair], pools: Iterable[Iterable[int]], min_size: int, max_size: int | None
    ) -> list[Pair]:
        """Search a separating set for each pair in its pool; cut the separated ones, return the others."""
        # A p-value above 1 is never found, so the search goes on to the end and its answer is the largest p-value.
        level = 1.0 if self.max_p else self.alpha
        queries = (
            self.ledger.prepare(
                x, y, set(pool) - {x, y} - self.useless(x, y), level, max_size=max_size, min_size=min_size
            )
            for (x, y), pool in zip(pairs, pools, strict=True)
        )
        left = []
        for (x, y), (query, answer) in zip(pairs, self._answers(queries), strict=True):
            self.ledger.enter(phase, query, answer)
            if answer.strongest is not None and answer.pvalue > self.alpha:
                self.separate(phase, x, y, answer.strongest, answer.pvalue)
            else:
                if not answer.complete or self.ledger.cuts_short(query, max_size):
                    self.unfinished.add((x, y))
                left.append((x, y))
        return left

    def _answers(self, queries: Iterable[SepsetQuery]) -> Iterable[tuple[SepsetQuery, SepsetAnswer]]:
        def ask(query: SepsetQuery) -> tuple[SepsetQuery, SepsetAnswer]:
            return query, self.ledger.test.find_sepset(query)

        if self.n_jobs == 1:
            return map(ask, queries)
        with ThreadPoolExecutor(min(self.n_jobs, _MOST_THREADS)) as pool:
            return list(pool.map(ask, list(queries)))


def pc_stable(pruning: Pruning, phase: str = "adjacency", progress: Progress = silent) -> None:
    """Cut every edge that a set of variables adjacent to one of its ends separates.

    Parameters
    ----------
    pruning : Pruning
        The graph, which is changed.
    phase : str
        Under which the tests are counted.
    progress : callable
        Called with (what, k, largest possible k) as each size begins.
    """
    k = 0
    while True:
        before = [frozenset(around) for around in pruning.adjacent]
        degree = [len(around) for around in before]
        if max(degree, default=0) <= k:
            return
        if k > pruning.ledger.largest_set:
            pruning.unfinished.update((x, y) for x, y in pruning.each_edge() if max(degree[x], degree[y]) > k)
            return
        progress(f"{phase}, sets of {k}", k, max(degree))
        edges = ((x, y) for x, around in enumerate(before) for y in sorted(around) if x < y)
        left = (pair for pair in edges if max(degree[pair[0]], degree[pair[1]]) > k)
        # In parts, so that a graph of a million edges is not listed before the clock is looked at.
        while pairs := list(islice(left, _PART)):
            pruning.ledger.meter.check_time()
            kept = pruning.wave(phase, pairs, [before[x] for x, _ in pairs], k, k)
            pruning.wave(phase, kept, [before[y] for _, y in kept], k, k)
        k += 1


# --- colliders --------------------------------------------------------------------------------------------


def read_colliders(pruning: Pruning, rule: str) -> tuple[IsCollider, frozenset[Triple]]:
    """Settle the gaps that colliders are read from; return how they are read, and the ambiguous triples.

    A budget that is spent before or here leaves all edges undecided, and colliders to the separating sets.
    """
    by_sepset = pruning.sepsets.is_collider
    if pruning.ended is not None:
        return by_sepset, frozenset()
    try:
        settle_gaps(pruning)
        if rule != "standard":
            classes, ambiguous = classify_triples(pruning, rule)
            return _by_class(classes, by_sepset), ambiguous
    except BudgetSpent as spent:
        pruning.spent(spent)
    return by_sepset, frozenset()


def _by_class(classes: dict[Triple, bool], otherwise: IsCollider) -> IsCollider:
    """Return how colliders are read from the classes of unshielded triples, and other triples from separating sets."""

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        triple = (min(a, c), b, max(a, c))
        return classes[triple] if v == a and triple in classes else otherwise(v, a, b, c)

    return is_collider


def classify_triples(state: SkeletonState, rule: str) -> tuple[dict[Triple, bool], frozenset[Triple]]:
    """Return which unshielded triples (a, b, c), a < c, are colliders, and which are ambiguous."""
    colliders: dict[Triple, bool] = {}
    ambiguous = set()
    for b, around in enumerate(state.adjacent):
        for a, c in combinations(sorted(around), 2):
            if c in state.adjacent[a]:
                continue
            separating = separating_sets(state, a, c)
            share = sum(b in sepset for sepset in separating) / len(separating)
            certain = share in (0.0, 1.0) if rule == "conservative" else share != 0.5
            colliders[a, b, c] = certain and share < 0.5
            if not certain:
                ambiguous.add((a, b, c))
    return colliders, frozenset(ambiguous)


def separating_sets(state: SkeletonState, a: int, c: int) -> list[frozenset[int]]:
    """Return every set of variables adjacent to a, or to c, that separates them, at least the stored one."""
    ledger = state.ledger
    candidates = {
        frozenset(chosen)
        for pool in (state.adjacent[a], state.adjacent[c])
        for size in range(min(len(pool), ledger.largest_set) + 1)
        for chosen in combinations(sorted(pool), size)
    }
    ordered = sorted(candidates, key=lambda given: (len(given), sorted(given)))
    separating = [given for given in ordered if ledger.pvalue("triples", a, c, given) > state.alpha]
    if separating:
        return separating
    stored = state.sepsets.lookup(a, c)
    assert stored is not None
    return [stored]
