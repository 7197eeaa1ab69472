"""Orient a skeleton: the worklist that drives the rules.

A rule resolves a circle, and whether it can depends on marks nearby. So the engine keeps the circles worth
a look in a queue a group of rules, and when a mark is written it puts back only those that the new mark
can help: the circles on edges at either end and, for R4, on edges at the children of the node that the new
arrowhead points to (every inner node of a discriminating path is a parent of its last node).

The groups are Zhang's order: R1-R4 give all arrowheads, then R5, R6-R7 and R8-R10 the tails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.orient import rules
from lmarvel.orient.draft import Draft, RuleApplication
from lmarvel.orient.rules import IsCollider, Wanted

Rule = tuple[str, Callable[[Draft, int, int], Wanted | None]]


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


def orient(n: int, edges: Iterable[tuple[int, int]], is_collider: IsCollider, selection: bool = True) -> Draft:
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
    """
    draft = Draft(n, edges)
    for nodes, wanted in rules.r0(draft, is_collider):
        draft.apply("R0", nodes, wanted)
    groups: list[list[Rule]] = [
        [("R1", rules.r1), ("R2", rules.r2), ("R3", rules.r3), ("R4", lambda d, x, y: rules.r4(d, x, y, is_collider))],
        [("R6", rules.r6), ("R7", rules.r7)] if selection else [],
        [("R8", rules.r8), ("R9", rules.r9), ("R10", rules.r10)],
    ]
    agendas = [Agenda() for _ in groups]
    for x, around in enumerate(draft.mark):
        for y in sorted(around):
            for agenda in agendas:
                agenda.push((x, y))
    _drain(draft, groups[:1], agendas[:1], agendas)
    if selection:
        for nodes, wanted in rules.r5(draft):
            _wake(draft, draft.apply("R5", nodes, wanted), agendas)
    _drain(draft, groups, agendas, agendas)
    return draft


def _drain(draft: Draft, groups: list[list[Rule]], agendas: list[Agenda], wake: list[Agenda]) -> None:
    """Work until no circle waits, always for the first group that has one."""
    while True:
        group = next((i for i, agenda in enumerate(agendas) if agenda), None)
        if group is None:
            return
        x, y = agendas[group].pop()
        for name, rule in groups[group]:
            if draft.mark[x][y] != CIRCLE:
                break
            wanted = rule(draft, x, y)
            if wanted is not None:
                _wake(draft, draft.apply(name, *wanted), wake)


def _wake(draft: Draft, application: RuleApplication | None, agendas: list[Agenda]) -> None:
    """Put back the circles that the new marks can help."""
    for u, w, mark in application.written if application else ():
        for v in (u, w):
            for y, at_y in draft.mark[v].items():
                if at_y == CIRCLE:
                    _push(agendas, (v, y))
                if draft.mark[y][v] == CIRCLE:
                    _push(agendas, (y, v))
        if mark == ARROW:
            for c in draft.mark[w]:
                if draft.directed(w, c):
                    for b in draft.mark[c]:
                        if draft.mark[c][b] == CIRCLE:
                            agendas[0].push((c, b))


def _push(agendas: list[Agenda], circle: tuple[int, int]) -> None:
    for agenda in agendas:
        agenda.push(circle)
