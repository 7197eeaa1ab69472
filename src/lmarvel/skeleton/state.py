"""The state of a skeleton search, one for all methods: edges, separating sets, records, and what stays open.

L-MARVEL begins without edges and joins pairs; PC, FCI, RFCI and MBCS* begin with all pairs of the Markov boundaries
and cut them. Either way a pair is decided by a search for a separating set, and :meth:`SkeletonState.try_separate`
is where that happens: it asks within budget and limits, keeps what was found, and notes a search that was cut short.
What a method hands on is frozen (:class:`Learned`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import SepsetAnswer
from lmarvel.errors import BudgetSpent
from lmarvel.orient.draft import IsCollider
from lmarvel.orient.worklist import CheckPath
from lmarvel.result.sepsets import Sepsets
from lmarvel.result.trace import Adjacent, BudgetEnded, Doubtful, Event, Overruled, Separated

Pair = tuple[int, int]
Triple = tuple[int, int, int]
Progress = Callable[[str, int, int], None]


def silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""


def pair_of(x: int, y: int) -> Pair:
    """Return a pair in ascending order."""
    return (x, y) if x < y else (y, x)


@dataclass(frozen=True)
class Learned:
    """What a method found before orientation, and how it wants to be oriented.

    Attributes
    ----------
    decided : tuple of pairs
        The edges that were shown to be there.
    undecided : array of shape (m, 2)
        Pairs that a budget or a limit left open, ascending; they stay as edges.
    sepsets : Sepsets
        What separates the others.
    trace : tuple
        What happened.
    is_collider : callable
        How colliders are read off.
    ambiguous : frozenset of triples
        Unshielded triples that are neither a collider nor a non-collider for sure.
    check_path : callable, optional
        RFCI's tests of a discriminating path before it is used.
    after : callable, optional
        Asked after an orientation that ran tests: what then is known.
    """

    decided: tuple[Pair, ...]
    undecided: NDArray[np.intp]
    sepsets: Sepsets
    trace: tuple[Event, ...]
    is_collider: IsCollider
    ambiguous: frozenset[Triple] = frozenset()
    check_path: CheckPath | None = None
    after: Callable[[], Learned] | None = None


class SkeletonState:
    """Adjacencies, separating sets and records while a method is at work.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : Boundaries
        The Markov boundaries; a pair outside each other's is separated by the smaller of the two.
    alpha : float
        The level.
    dense : bool
        Begin with all pairs of the boundaries as edges, to be cut; else without edges, to be joined.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> from lmarvel.ci.boundary_searches import markov_boundaries
    >>> ledger = Ledger(MSeparation(MAG.from_edges("A --> B", "C --> B")))
    >>> state = SkeletonState(ledger, markov_boundaries(ledger, "tc", 0.01), 0.01, dense=True)
    >>> state.edges()
    [(0, 1), (0, 2), (1, 2)]
    >>> state.try_separate("adjacency", 0, 2, [1]).sepset, state.edges()
    (frozenset(), [(0, 1), (1, 2)])
    """

    def __init__(self, ledger: Ledger, boundaries: Boundaries, alpha: float, dense: bool) -> None:
        self.ledger = ledger
        self.boundaries = boundaries
        self.alpha = alpha
        self.adjacent = [set(mb) if dense else set() for mb in boundaries.sets]
        self.sepsets = Sepsets(boundaries)
        self.trace: list[Event] = []
        self.unfinished: set[Pair] = set()
        self.doubtful: set[Pair] = set()
        self.ended: str | None = None  # why a budget ended the work
        self.all_open = False
        self.known = ledger.known
        self.overruled: set[Pair] = set()  # pairs that tests separate and a statement joins

    # --- asking -----------------------------------------------------------------------------------------

    def is_open(self, x: int, y: int) -> bool:
        """Tell whether x and y are neither joined nor separated."""
        return y not in self.adjacent[x] and self.sepsets.lookup(x, y) is None

    def useless(self, x: int, y: int) -> frozenset[int]:
        """Return what no set that separates x and y needs, as is known beforehand: later tiers, and the like."""
        return frozenset() if self.known is None else self.known.useless(x, y)

    def try_separate(
        self,
        phase: str,
        x: int,
        y: int,
        pool: Iterable[int],
        *,
        always: tuple[int, ...] = (),
        alpha: float | None = None,
        max_size: int | None = None,
        min_size: int = 0,
        once: bool = False,
        keep: bool = True,
    ) -> SepsetAnswer:
        """Search a separating set of x and y: ``always`` with a subset of ``pool``.

        A set that is found is kept, and an edge between the two is cut, unless ``keep`` is False: then the caller
        decides. A search that a limit cut short leaves the pair unfinished. ``once`` asserts that no set of this pair
        is asked twice.
        """
        level = self.alpha if alpha is None else alpha
        if self.known is not None:
            useless = self.known.useless(x, y)
            pool, always = set(pool) - useless, tuple(v for v in always if v not in useless)
        answer = self.ledger.find_sepset(phase, x, y, pool, level, always, max_size, min_size, once)
        if answer.sepset is None:
            if not answer.complete and keep:
                self.unfinished.add(pair_of(x, y))
        elif keep:
            self.separate(phase, x, y, answer.sepset, answer.pvalue)
        return answer

    # --- deciding ---------------------------------------------------------------------------------------

    def separate(self, phase: str, x: int, y: int, sepset: frozenset[int], pvalue: float) -> None:
        """Keep a separating set, and cut the edge if there is one; an edge that is known to be there stays."""
        if self.known is not None and self.known.required[x, y]:
            self.adjacent[x].add(y)
            self.adjacent[y].add(x)
            if pair_of(x, y) not in self.overruled:
                self.overruled.add(pair_of(x, y))
                self.trace.append(Overruled(x, y, sepset, pvalue, phase))
            return
        self.adjacent[x].discard(y)
        self.adjacent[y].discard(x)
        self.unfinished.discard(pair_of(x, y))
        self.sepsets.store(x, y, sepset)
        self.trace.append(Separated(x, y, sepset, pvalue, phase))

    def join(self, phase: str, x: int, y: int) -> None:
        """Make x and y adjacent: no set of the search separates them."""
        self.adjacent[x].add(y)
        self.adjacent[y].add(x)
        p, strongest = self.closest(x, y)  # of all searches: sets that one has tried the next leaves out
        self.trace.append(Adjacent(x, y, strongest, p, phase))

    def doubt(self, phase: str, x: int, y: int) -> None:
        """Keep x and y apart although no set that was tried separates them: no rule may rest on that."""
        self.doubtful.add(pair_of(x, y))
        p, strongest = self.ledger.memory.closest(x, y)  # of the sets that were tried; not of total conditioning
        self.trace.append(Doubtful(x, y, strongest, p, phase))

    def _doubtful_triples(self) -> frozenset[Triple]:
        return frozenset((x, b, y) for x, y in self.doubtful for b in self.adjacent[x] & self.adjacent[y])

    def closest(self, x: int, y: int) -> tuple[float, frozenset[int] | None]:
        """Return how close a pair came to being separated, the boundary stage included: p-value and set."""
        p, given = self.ledger.memory.closest(x, y)
        if self.boundaries.method == "tc":
            first = self.ledger.test.pvalue_given_rest(x, y)
            if first is not None and (given is None or first > p):
                return first, frozenset(range(len(self.boundaries))) - {x, y}
        return p, given

    # --- handing on -------------------------------------------------------------------------------------

    def spent(self, reason: BudgetSpent) -> None:
        """A budget ended the work of a method that cuts edges: every edge that is left is undecided."""
        self.ended = self.ended or str(reason)
        self.all_open = True

    def each_edge(self) -> Iterator[Pair]:
        """Iterate over the edges, ascending, as the graph stands when a variable's turn comes."""
        return ((x, y) for x, around in enumerate(self.adjacent) for y in sorted(around) if x < y)

    def edges(self) -> list[Pair]:
        """Return the edges, ascending."""
        return list(self.each_edge())

    def _part_forbidden(self) -> None:
        """Cut the edges that are known not to be there; no set separates these pairs, so no rule reads them."""
        if self.known is None:
            return
        for x, y in self.edges():
            if self.known.forbidden[x, y]:
                p, strongest = self.closest(x, y)
                self.adjacent[x].discard(y)
                self.adjacent[y].discard(x)
                self.unfinished.discard((x, y))
                self.doubtful.add((x, y))
                self.trace.append(Overruled(x, y, strongest, p, "adjacency"))

    def learned(
        self,
        is_collider: IsCollider | None = None,
        ambiguous: frozenset[Triple] = frozenset(),
        check_path: CheckPath | None = None,
    ) -> Learned:
        """Freeze what is known, with a record for each edge of how close it came to being separated."""
        self._part_forbidden()
        undecided = self.undecided()
        open_pairs = set(map(tuple, undecided.tolist())) if not self.all_open else set()
        decided = () if self.all_open else tuple(pair for pair in self.edges() if pair not in open_pairs)
        recorded = {pair_of(e.x, e.y) for e in self.trace if isinstance(e, Adjacent)}
        closeness = [
            Adjacent(x, y, *self.closest(x, y)[::-1], "adjacency") for x, y in decided if (x, y) not in recorded
        ]
        reason = self.ended or (self.ledger.limit if len(undecided) else None)
        ended = [] if reason is None else [BudgetEnded(reason)]
        sepsets = self.sepsets.copy()
        asking = check_path is not None
        if is_collider is None:  # an orientation that runs tests needs the sets that these find
            is_collider = self.sepsets.is_collider if asking else sepsets.is_collider
        return Learned(
            decided=decided,
            undecided=undecided,
            sepsets=sepsets,
            trace=(*self.trace, *closeness, *ended),
            is_collider=is_collider,
            ambiguous=ambiguous | self._doubtful_triples(),
            check_path=check_path,
            after=(lambda: self.learned(is_collider, ambiguous)) if asking else None,
        )

    def undecided(self) -> NDArray[np.intp]:
        """Return the edges that a budget or a limit left open, and those of boundaries that were cut short."""
        if self.all_open:  # there can be millions
            arrays = (np.sort(np.fromiter(near, np.intp, len(near))) for near in self.adjacent)
            rows = [around[np.searchsorted(around, x) :] for x, around in enumerate(arrays)]
            starts = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
            return np.column_stack([starts, np.concatenate(rows)]) if rows else np.empty((0, 2), np.intp)
        doubtful = {pair_of(x, y) for x in self.boundaries.truncated for y in self.adjacent[x]}
        pairs = sorted((x, y) for x, y in self.unfinished | doubtful if y in self.adjacent[x])
        return np.array(pairs, dtype=np.intp).reshape(-1, 2)
