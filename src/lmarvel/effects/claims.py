"""How firm it is that one variable causes another, or does not.

Every claim rests on parts of the learned graph, each with a grade (:mod:`lmarvel.result.support.grades`), and is as
firm as the weakest part that it needs. Of several grounds the best counts. So the graph is read once per grade, and of
each :class:`Reading` only parts with that grade or a better one are used:

* *x causes y* has a grade if the parts with it suffice for the claim. Along directed edges, this is the path whose
  weakest mark is strongest. By two unshielded ways, missing edges are parts, too. A mark is relied on no more than the
  missing edges that the rules took it from: a resample that misses the same edge has the same mark.
* *x does not cause y* has a grade if no weaker part could break it. R is what x can reach by possible steps, and A what
  can reach y. The two are disjoint. An edge that is missing by mistake between R and A would join them, and so would
  arrowheads that are there by mistake. Missing edges are doubted one at a time, weak arrowheads all at once.

Whether a claim holds in the learned graph, whatever its grade, is decided by the same functions; their theory is that
of :mod:`lmarvel.effects.causes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.effects.pag_index import Prepared, selection_near
from lmarvel.graph.bitsets import bits, closure, members, union
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, NONE, TAIL
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.check import Implied
from lmarvel.result.support.grades import LIKELY, OPEN, STATED, UNCHECKED, Grade, grade_named

Status = Literal["definite", "possible", "impossible"]
Flags = NDArray[np.bool_]


class Claim(NamedTuple):
    """What a graph says of one variable as a cause of another, and the number of its grade; 0 where it has none."""

    status: Status
    level: int

    @property
    def grade(self) -> Grade | None:
        """The grade by name; None where nothing is claimed, or nothing is graded."""
        return grade_named(self.level)

    @property
    def holds(self) -> bool:
        """Whether something is claimed that may be said: graphs without grades are taken at their word."""
        return self.status != "possible" and (self.level == 0 or self.level >= LIKELY)


@dataclass(frozen=True)
class Reading:
    """What a graph says when only parts of at least one grade are relied on; all sets are bit sets.

    Attributes
    ----------
    parents : list of int
        The parents of each node, by marks that are relied on.
    into : list of int
        The nodes from which a possible step leads to each node, by marks that are relied on.
    back : list of int
        The nodes from which a step leads to each node if arrowheads that are not relied on are none.
    adjacent : list of int
        The nodes that are adjacent to each, or whose missing edge is not relied on.
    unsure : list of int
        The nodes whose missing edge with each is not relied on.
    pointed : int
        The nodes with an arrowhead that is relied on.
    """

    parents: list[int]
    into: list[int]
    back: list[int]
    adjacent: list[int]
    unsure: list[int]
    pointed: int

    @classmethod
    def of(cls, graph: PAG | MAG, relied: Flags | None = None, apart: Flags | None = None) -> Reading:
        """Read a graph; ``relied[x, y]``: on the mark at y of x-y, ``apart[x, y]``: on the missing edge; else on all.

        Examples
        --------
        >>> reading = Reading.of(PAG.from_edges("nodes: A B C", "A o-> C", "B o-> C"))
        >>> bin(reading.back[2]), bin(reading.back[0]), reading.parents[2]
        ('0b11', '0b0', 0)
        """
        marks = graph.marks
        edge = marks != NONE
        if relied is None or apart is None:
            relied = apart = np.ones(marks.shape, dtype=bool)
        head, tail = (marks == ARROW) & relied, (marks == TAIL) & relied
        known = relied | ((marks != ARROW) & (marks != TAIL))
        step = edge & (marks.T != ARROW) & (marks != TAIL) & known & known.T  # [v, w]: from v to w
        unsure = ~edge & ~apart & ~np.eye(len(marks), dtype=bool)
        return cls(
            parents=_rows(head.T & tail),
            into=_rows(step.T),
            back=_rows(edge & ~head),
            adjacent=_rows(edge | unsure),
            unsure=_rows(unsure),
            pointed=bits(np.flatnonzero(head.any(axis=0)).tolist()),
        )

    def certain(self, y: int, selected: bool, decided: bool = True) -> int:
        """Return the nodes that cause y in every MAG of the class, y included.

        ``selected``: the sample was. A tail at x then says that x causes y or being in the sample, and only an
        arrowhead at x excludes the second. ``decided=False``: a search left pairs undecided. Then the graph is no PAG,
        and unshielded ways, on which a collider may just not have been found, show nothing.
        """
        if selected:
            return closure(self.parents, 1 << y) & self.pointed
        sure = closure(self.parents, 1 << y)
        while decided:
            starts = self._good_starts(sure)
            new = bits(x for x, firsts in starts.items() if self._two_apart(firsts))
            if not new & ~sure:
                return sure
            sure = closure(self.parents, sure | new)
        return sure

    def _good_starts(self, ends: int) -> dict[int, int]:
        """Return for each x outside ``ends`` where unshielded paths of possible steps that lead there go first."""
        good: dict[int, int] = {}
        stack = [(v, w) for w in members(ends) for v in members(self.into[w] & ~ends)]
        for v, w in stack:
            good[v] = good.get(v, 0) | 1 << w
        while stack:
            v, w = stack.pop()  # a good way starts v, w; before it u, with u and w not adjacent
            for u in members(self.into[v] & ~self.adjacent[w] & ~(1 << w) & ~ends):
                if not good.get(u, 0) >> v & 1:
                    good[u] = good.get(u, 0) | 1 << v
                    stack.append((u, v))
        return good

    def _two_apart(self, firsts: int) -> bool:
        """Tell whether two of the nodes are not adjacent."""
        return any(firsts & ~self.adjacent[u] & ~(1 << u) for u in members(firsts))


def _rows(flags: Flags) -> list[int]:
    """Return the rows of a matrix of flags as bit sets."""
    packed = np.packbits(flags, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def shortest(step: Sequence[int], start: int, end: int) -> list[int]:
    """Return a shortest path along the steps, empty if there is none."""
    before, layer = {start: start}, [start]
    while layer and end not in before:
        following = []
        for v in layer:
            for w in members(step[v]):
                if w not in before:
                    before[w] = v
                    following.append(w)
        layer = following
    if end not in before:
        return []
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


class Claims:
    """What a graph says about causes; with grades where a result has them.

    Examples
    --------
    >>> claims = Claims(Prepared(PAG.from_edges("nodes: A B C D", "A o-> C", "B o-> C", "C --> D")))
    >>> [claim.status for claim in claims.on(3)][:3], claims.on(0)[3].status
    (['possible', 'possible', 'definite'], 'impossible')
    """

    def __init__(self, ready: Prepared, result: object = None) -> None:
        self.ready = ready
        self.result = result if isinstance(result, Discovery) and result.grades.basis != "exact" else None
        self.learned = Reading.of(ready.graph)
        self._decided = not (isinstance(result, Discovery) and result.undecided)
        self._stated = result.known if isinstance(result, Discovery) else None
        self._known: dict[int, list[Claim]] = {}

    @classmethod
    def of(cls, result: object, ready: Prepared) -> Claims:
        """Return the claims of the graph that a result has learned, or of ``ready`` where there is none."""
        if isinstance(result, Discovery) and ready.graph is not result.pag:
            ready = Prepared(result.pag)
        return cls(ready, result)

    def on(self, y: int) -> list[Claim]:
        """Return for each variable what is claimed of it as a cause of y; of y itself nothing."""
        if y not in self._known:
            self._known[y] = self._judged(y)
        return self._known[y]

    def _judged(self, y: int) -> list[Claim]:
        learned, n = self.learned, len(self.ready.graph)
        selected = selection_near(self.ready.graph, 1 << y) is not None
        sure, near = learned.certain(y, selected, self._decided), closure(learned.back, 1 << y)
        never = bits(x for x in range(n) if self._said_never(x, y))
        statuses: list[Status] = [
            "definite" if sure >> x & 1 and x != y else "possible" if (near & ~never) >> x & 1 else "impossible"
            for x in range(n)
        ]
        if self.result is None:
            return [Claim(status, 0) for status in statuses]
        levels = [UNCHECKED] * n
        for level, reading in self._readings.items():
            still = reading.certain(y, selected, self._decided)
            exposed = union(reading.unsure, near) & ~near
            broken = closure(learned.back, exposed) | closure(reading.back, 1 << y)
            for x in members(sure & still | ~(near | broken) & self.ready.everything):
                levels[x] = level
        for x in members(near & never & ~sure):  # no mark shows it: it follows from all of them and the statements
            levels[x] = self._weakest
        return [Claim(s, 0 if s == "possible" else self._capped(s, levels[x], x, y)) for x, s in enumerate(statuses)]

    @cached_property
    def _weakest(self) -> int:
        """The number of the weakest grade of any mark or missing edge."""
        assert self.result is not None
        parts = np.concatenate([self.marks.ravel(), self.gaps.ravel()])
        return int(np.min(parts[parts > 0], initial=STATED))

    def _said_never(self, x: int, y: int) -> bool:
        """Tell whether statements say that x does not cause y, which marks need not show."""
        return self.ready.said_never(x, y) or (self._stated is not None and bool(self._stated.never[x, y]))

    def _capped(self, status: Status, level: int, x: int, y: int) -> int:
        """Return the number of a grade: what is stated counts, an illegal PAG and a rejected independence lower it."""
        result = self.result
        assert result is not None
        if result.known is not None:
            stated = result.known.causes if status == "definite" else result.known.never
            if stated[x, y]:
                return STATED
        if self.illegal:
            return min(level, OPEN)
        if self.rejected(x, y) is not None:
            return min(level, LIKELY if status == "definite" else OPEN)
        return level

    def path(self, x: int, y: int) -> list[int]:
        """Return a path that shows why x causes y, or may; empty where it does not. The best supported is taken."""
        claim = self.on(y)[x]
        if claim.status == "impossible":
            return []
        if claim.status == "possible":
            return shortest(self.learned.back, y, x)[::-1]
        best = reversed(self._readings.values()) if self.result is not None else ()
        directed = next(filter(None, (shortest(one.parents, y, x) for one in (*best, self.learned))), [])
        if directed:
            return directed[::-1]
        certain = self.learned.certain(y, False, self._decided)
        path = self.ready.possible_path(x, certain & ~(1 << x)) or [x]
        return path + shortest(self.learned.parents, y, path[-1])[::-1][1:]

    def weak_path(self, x: int, y: int) -> list[int]:
        """Return a path by which x may cause y if arrowheads that are not established are none; empty if none does."""
        return shortest(self._readings[LIKELY].back, y, x)[::-1] if self.result is not None else []

    def between(self, x: int, y: int) -> tuple[int, int]:
        """Return what x can reach by possible steps, and what can reach y by them; each includes its own."""
        return closure(self._ahead, 1 << x), closure(self.learned.back, 1 << y)

    @cached_property
    def _ahead(self) -> list[int]:
        """The nodes that a possible step leads to from each."""
        return [bits(w for w, near, _ in links if near != ARROW) for links in self.ready.graph.links]

    @cached_property
    def illegal(self) -> bool:
        """Whether no MAG has the learned PAG, although the search came to its end."""
        return self.result is not None and self.result.grades.illegal

    def rejected(self, x: int, y: int) -> Implied | None:
        """Return the independence of a pair that the graph implies and the data reject, if they do."""
        return self._rejected.get(frozenset((x, y)))

    @cached_property
    def doubted(self) -> list[tuple[tuple[int, int], Implied]]:
        """The pairs whose independence the data reject when the number of tests is allowed for, the worst first."""
        check = None if self.result is None else self.result.check
        at = self.ready.graph.index
        return [] if check is None else [((at(one.x), at(one.y)), one) for one in check.in_doubt]

    @cached_property
    def _rejected(self) -> dict[frozenset[int], Implied]:
        check = None if self.result is None else self.result.check
        at = self.ready.graph.index
        return {} if check is None else {frozenset((at(one.x), at(one.y))): one for one in check.failed}

    @cached_property
    def gaps(self) -> NDArray[np.int8]:
        """The number of the grade of each missing edge; pairs that the search did not decide were not checked."""
        assert self.result is not None
        gaps: NDArray[np.int8] = self.result.grades.gaps.copy()
        for a, b in self.result.undecided:
            x, y = self.ready.graph.index(a), self.ready.graph.index(b)
            gaps[x, y] = gaps[y, x] = min(UNCHECKED, gaps[x, y])
        return gaps

    @cached_property
    def _readings(self) -> dict[int, Reading]:
        """The graph as it is read at each grade above the weakest, ascending."""
        levels = self.marks
        return {
            level: Reading.of(self.ready.graph, levels >= level, self.gaps >= level)
            for level in range(OPEN, STATED + 1)
        }

    @cached_property
    def marks(self) -> NDArray[np.int8]:
        """The number of the grade of each mark, no better than that of any missing edge which the mark rests on."""
        assert self.result is not None
        levels: NDArray[np.int8] = self.result.grades.marks.copy()
        for end, pairs in self.rests_on.items():
            if levels[end] != STATED:
                levels[end] = min([levels[end], *filter(None, (self.gaps[tuple(pair)] for pair in pairs))])
        return levels

    @cached_property
    def rests_on(self) -> dict[tuple[int, int], frozenset[frozenset[int]]]:
        """The missing edges that each mark rests on, however far back, where the rules that put it are known."""
        assert self.result is not None
        return self.result.explainer.resting_on()
