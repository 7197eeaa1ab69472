"""A graph that loses edges: what the methods that start from a dense graph share.

FCI, RFCI and MBCS* begin with all pairs of the Markov boundaries (or all pairs there are) as edges, and cut an
edge when a separating set is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from lmarvel.ci.base import SepsetAnswer, SepsetQuery
from lmarvel.ci.ledger import BudgetSpent, Ledger
from lmarvel.ci.search import find_sepset
from lmarvel.sepsets import Sepsets
from lmarvel.trace import BudgetEnded, Event, Separated

Pair = tuple[int, int]


class Pruning:
    """Adjacencies that shrink, separating sets that grow.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : list of sets
        The graph to start from; a pair outside is separated by the smaller boundary of the two.
    alpha : float
        The level.
    n_jobs : int
        Threads over pairs. Results do not depend on their number: a wave of searches is answered before any of them
        changes the graph. With a limit on the number of tests one thread is used.
    max_p : bool
        Take of all separating sets of the smallest size the one with the largest p-value, not the first.
    """

    def __init__(
        self, ledger: Ledger, boundaries: list[set[int]], alpha: float, n_jobs: int = 1, max_p: bool = False
    ) -> None:
        self.ledger = ledger
        self.alpha = alpha
        self.adjacent = [set(mb) for mb in boundaries]
        self.sepsets = Sepsets(boundaries, ledger.truncated)
        self.trace: list[Event] = []
        self.unfinished: set[Pair] = set()
        for x in ledger.truncated:
            self.unfinished.update((min(x, y), max(x, y)) for y in boundaries[x])
        self.n_jobs = n_jobs if ledger.max_tests is None and hasattr(ledger.ci, "find_sepset") else 1
        self.max_p = max_p

    def edges(self) -> list[Pair]:
        """Return the edges, ascending."""
        return [(x, y) for x, around in enumerate(self.adjacent) for y in sorted(around) if x < y]

    def cut(self, phase: str, x: int, y: int, sepset: frozenset[int], pvalue: float) -> None:
        """Remove an edge, and keep what separates its ends."""
        self.adjacent[x].discard(y)
        self.adjacent[y].discard(x)
        self.unfinished.discard((min(x, y), max(x, y)))
        self.sepsets.store(x, y, sepset)
        self.trace.append(Separated(x, y, sepset, pvalue, phase))

    def wave(
        self, phase: str, pairs: list[Pair], pools: Iterable[Iterable[int]], min_size: int, max_size: int | None
    ) -> list[Pair]:
        """Search a separating set for each pair in its pool; cut the separated ones, return the others."""
        # A p-value above 1 is never found, so the search goes on to the end and its answer is the largest p-value.
        level = 1.0 if self.max_p else self.alpha
        queries = (
            self.ledger.prepare(x, y, set(pool) - {x, y}, level, max_size=max_size, min_size=min_size)
            for (x, y), pool in zip(pairs, pools, strict=True)
        )
        left = []
        for (x, y), (query, answer) in zip(pairs, self._answers(queries), strict=True):
            self.ledger.enter(phase, query, answer)
            if answer.strongest is not None and answer.pvalue > self.alpha:
                self.cut(phase, x, y, answer.strongest, answer.pvalue)
            else:
                top = len(query.pool) if max_size is None else min(max_size, len(query.pool))
                if query.max_size is not None and query.max_size < top:
                    self.unfinished.add((x, y))
                left.append((x, y))
        return left

    def _answers(self, queries: Iterable[SepsetQuery]) -> Iterable[tuple[SepsetQuery, SepsetAnswer]]:
        def ask(query: SepsetQuery) -> tuple[SepsetQuery, SepsetAnswer]:
            return query, find_sepset(self.ledger.ci, query)

        if self.n_jobs == 1:
            return map(ask, queries)
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(ask, list(queries)))

    def spent(self, reason: BudgetSpent) -> None:
        """A budget ended the work: every edge that is left is undecided."""
        self.trace.append(BudgetEnded(str(reason)))
        self.unfinished.update(self.edges())

    def undecided(self) -> list[Pair]:
        """Return the edges that a budget left open."""
        return sorted((x, y) for x, y in self.unfinished if y in self.adjacent[x])
