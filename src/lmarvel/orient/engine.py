"""Orient a skeleton: the worklist that drives the rules.

A rule resolves a circle, and whether it can depends on marks nearby. So the engine keeps the circles worth
a look in a queue a group of rules, and when a mark is written it puts back only those that the new mark
can help: the circles on edges at either end and, for R4, on edges at the children of the node that the new
arrowhead points to (every inner node of a discriminating path is a parent of its last node).

The groups are Zhang's order: R1-R4 give all arrowheads, then R5, R6-R7 and R8-R10 the tails.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient import rules
from lmarvel.orient.draft import Draft, RuleApplication
from lmarvel.orient.rules import IsCollider, Wanted

Rule = tuple[str, Callable[[Draft, int, int], Wanted | None]]

CheckPath = Callable[[Draft, tuple[int, ...]], list[Wanted] | None]
"""(draft, discriminating path) -> None if the path stands. Otherwise edges of it were deleted from the draft, and the
colliders that this made are returned. RFCI tests the edges of a path so before R4 uses it."""


class Agenda:
    """Circles (x, y), that is at y on the edge x-y, waiting for a group of rules; each at most once."""

    def __init__(self) -> None:
        self._queue: deque[tuple[int, int]] = deque()
        self._waiting: set[tuple[int, int]] = set()

    def push(self, circle: tuple[int, int]) -> None:
        """Add a circle unless it is waiting already."""
        if circle not in self._waiting:
            self._waiting.add(circle)
            self._queue.append(circle)

    def pop(self) -> tuple[int, int]:
        """Take the circle that has waited longest."""
        circle = self._queue.popleft()
        self._waiting.remove(circle)
        return circle

    def __bool__(self) -> bool:
        return bool(self._queue)


def orient(
    n: int,
    edges: Iterable[tuple[int, int]],
    is_collider: IsCollider,
    selection: bool = True,
    ambiguous: frozenset[tuple[int, int, int]] = frozenset(),
    check_path: CheckPath | None = None,
    deadline: float = math.inf,
) -> Draft:
    """Orient the skeleton maximally; the draft's log holds every rule application in order.

    Parameters
    ----------
    n : int
        The number of nodes.
    edges : iterable of (int, int)
        The skeleton.
    is_collider : callable
        See :data:`lmarvel.orient.rules.IsCollider`.
    selection : bool
        False asserts that the sample was not selected, and switches R5-R7 off.
    ambiguous : frozenset of (int, int, int)
        Unshielded triples (a, b, c), a < c, that are neither a collider nor a non-collider for sure.
    check_path : callable, optional
        Asked about each discriminating path before R4 uses it, see :data:`CheckPath`.
    deadline : float
        Stop when :func:`time.monotonic` passes this; the circles that are left stay.
    """
    draft = Draft(n, edges)
    draft.ambiguous = ambiguous
    groups: list[list[Rule]] = [
        [("R1", rules.r1), ("R2", rules.r2), ("R3", rules.r3), ("R4", lambda d, x, y: r4(d, x, y))],
        [("R6", rules.r6), ("R7", rules.r7)] if selection else [],
        [("R8", rules.r8), ("R9", rules.r9), ("R10", rules.r10)],
    ]
    agendas = [Agenda() for _ in groups]

    def r4(draft: Draft, c: int, b: int) -> Wanted | None:
        wanted = rules.r4(draft, c, b, is_collider)
        while wanted is not None and check_path is not None:
            colliders = check_path(draft, wanted[0])
            if colliders is None:
                break
            for nodes, marks in colliders:
                draft.apply("R0", nodes, marks)
            _start(draft, agendas)
            # The path is gone; there may be another one, if the edge still is.
            still = c in draft.mark[b] and draft.mark[c][b] == CIRCLE
            wanted = rules.r4(draft, c, b, is_collider) if still else None
        return wanted

    for nodes, marks in rules.r0(draft, is_collider, deadline):
        draft.apply("R0", nodes, marks)
    _start(draft, agendas)
    _drain(draft, groups[:1], agendas, deadline)
    if selection and time.monotonic() <= deadline:
        for nodes, marks in rules.r5(draft):
            _wake(draft, draft.apply("R5", nodes, marks), agendas)
    _drain(draft, groups, agendas, deadline)
    return draft


def _start(draft: Draft, agendas: list[Agenda]) -> None:
    """Put every circle that some rule may resolve on the agendas: all but R5 need an arrowhead or a tail nearby."""
    settled = {v for x, around in enumerate(draft.mark) for y, at_y in around.items() if at_y != CIRCLE for v in (x, y)}
    for x, around in enumerate(draft.mark):
        for y, at_y in around.items():
            if at_y == CIRCLE and (x in settled or y in settled):
                agendas[0].push((x, y))
                agendas[1].push((x, y))
                if draft.mark[y][x] == ARROW:
                    agendas[2].push((x, y))


def _drain(draft: Draft, groups: list[list[Rule]], agendas: list[Agenda], deadline: float) -> None:
    """Work until no circle waits for these groups, always for the first group that has one."""
    group = 0
    while group < len(groups) and (deadline == math.inf or time.monotonic() <= deadline):
        if not agendas[group]:
            group += 1
            continue
        x, y = agendas[group].pop()
        for name, rule in groups[group]:
            if draft.mark[x].get(y) != CIRCLE:
                break
            wanted = rule(draft, x, y)
            if wanted is not None:
                _wake(draft, draft.apply(name, *wanted), agendas)
                group = 0
                break


def _wake(draft: Draft, application: RuleApplication | None, agendas: list[Agenda]) -> None:
    """Put back the circles that the new marks can help."""
    arrows, undirected, tails = agendas
    for u, w, mark in application.written if application else ():
        for v in (u, w):
            for y, at_y in draft.mark[v].items():
                at_v = draft.mark[y][v]
                for end, other, circle in (((v, y), at_v, at_y), ((y, v), at_y, at_v)):
                    if circle == CIRCLE:
                        arrows.push(end)
                        if mark == TAIL:
                            undirected.push(end)
                        if other == ARROW:  # R8-R10 turn o-> into -->
                            tails.push(end)
        if mark == ARROW:
            for c in draft.mark[w]:
                if draft.directed(w, c):
                    for b, at_b in draft.mark[c].items():
                        if at_b == CIRCLE:
                            arrows.push((c, b))
