"""Cutting edges in waves: what PC, and FCI after it, do to a dense graph."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import SepsetAnswer, SepsetQuery
from lmarvel.skeleton.state import Pair, SkeletonState


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
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(ask, list(queries)))
