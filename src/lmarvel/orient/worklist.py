"""Orient a skeleton: the worklist that drives the rules.

A rule resolves a circle, and whether it can depends on marks nearby. So the engine keeps the circles worth
a look in a queue a stage, and when a mark is written it puts back only those that the new mark can help, as
the rules of the stage say (:class:`~lmarvel.orient.rule.Wakes`).

The stages are Zhang's order: R1-R4 give all arrowheads, then R5, R6-R7 and R8-R10 the tails.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import OutOfTime
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge.closure import Known
from lmarvel.orient.arrowheads import R0, collider
from lmarvel.orient.draft import Draft, IsCollider, Pairs, RuleApplication
from lmarvel.orient.rule import Rule, Stage, Wanted
from lmarvel.orient.rules import RULES
from lmarvel.orient.stated import K1, linked, rules_for

Pair = tuple[int, int]
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Verdict:
    """What a test of the edges of a discriminating path found.

    Attributes
    ----------
    stands : bool
        True if the path can be used. Otherwise it cannot: edges of it are cut, or could not be tested.
    cuts : tuple of (int, int)
        The edges that are none.
    colliders : tuple of (int, int, int)
        Unshielded triples over the cuts that are colliders.
    unchecked : tuple of (int, int, int)
        Unshielded triples (a, b, c), a < c, over the cuts that could not be tested; no rule uses them.
    """

    stands: bool
    cuts: tuple[Pair, ...] = ()
    colliders: tuple[Triple, ...] = ()
    unchecked: tuple[Triple, ...] = ()


CheckPath = Callable[[tuple[int, ...]], Verdict]
"""From a discriminating path to whether R4 may use it; RFCI tests the edges of a path so."""


@dataclass(frozen=True, eq=False)
class Oriented:
    """A graph with all marks that its skeleton and colliders imply.

    Attributes
    ----------
    marks : array of int8
        The matrix of a :class:`~lmarvel.PAG`, read-only.
    log : tuple of RuleApplication
        Every use of a rule, in order.
    cuts : tuple of (int, int)
        The edges that tests of discriminating paths deleted, in order.
    ended : str or None
        Why the work ended early, so that circles can be left that a rule would resolve; None if it did not.

    Examples
    --------
    >>> found = orient(3, [(0, 1), (1, 2)], is_collider=lambda v, a, b, c: True)
    >>> found.marks.tolist()
    [[0, 2, 0], [1, 0, 1], [0, 2, 0]]
    >>> [use.rule for use in found.log], found.complete
    (['R0'], True)
    """

    marks: NDArray[np.int8]
    log: tuple[RuleApplication, ...]
    cuts: tuple[Pair, ...] = ()
    ended: str | None = None

    @property
    def complete(self) -> bool:
        """False if time ran out before all rules had been used."""
        return self.ended is None

    @cached_property
    def around(self) -> list[dict[int, int]]:
        """The marks by node: ``around[x][y]`` is the mark at y on the edge x-y."""
        return [{y: mark for y, mark in enumerate(row) if mark} for row in self.marks.tolist()]


def orient(
    n: int,
    edges: Iterable[Pair] | Pairs,
    is_collider: IsCollider,
    selection: bool = True,
    ambiguous: Collection[Triple] = frozenset(),
    check_path: CheckPath | None = None,
    deadline: float = math.inf,
    *,
    undecided: Pairs = (),
    rules: Collection[Rule] = tuple(RULES.values()),
    known: Known | None = None,
    of_mag: bool = False,
) -> Oriented:
    """Orient a skeleton maximally.

    Parameters
    ----------
    n : int
        The number of nodes.
    edges : pairs
        The skeleton; undecided pairs may be among them or not.
    is_collider : callable
        See :data:`lmarvel.orient.draft.IsCollider`.
    selection : bool
        False asserts that the sample was not selected, and switches R5-R7 off.
    ambiguous : collection of (int, int, int)
        Unshielded triples (a, b, c), a < c, that are neither a collider nor a non-collider for sure.
    check_path : callable, optional
        Asked about each discriminating path before R4 uses it, see :data:`CheckPath`.
    deadline : float
        Stop when :func:`time.monotonic` passes this; the circles that are left stay, and the result says so.
    undecided : pairs
        Pairs that are perhaps adjacent, as tuples or as an array of two columns. They are o-o in the result, and no
        mark rests on them (see :mod:`lmarvel.orient.rules`).
    rules : collection of Rule
        The rules to use, all by default.
    known : Known, optional
        What is known beforehand: its marks are written first, and the rules that read it are used with the others.
    of_mag : bool
        Whether edges and colliders are those of a MAG; then long searches for cycles are not needed.
    """
    draft = Draft(n, edges, is_collider, ambiguous, undecided, deadline, known)
    draft.of_mag = of_mag and known is None
    stated = [] if known is None else rules_for(known)
    selection = selection and (known is None or known.selection)
    used = [rule for rule in (*stated[:1], *rules, *stated[1:]) if selection or not rule.needs_selection]
    work = Worklist(draft, used, check_path)
    ended = None
    try:
        work.run()
    except OutOfTime:
        ended = "time ran out before all edges were oriented"
    marks = draft.matrix()
    marks.setflags(write=False)
    return Oriented(marks, tuple(draft.log), tuple(work.cuts), ended)


class Agenda:
    """Circles (x, y), that is at y on the edge x-y, waiting for the rules of a stage; each at most once."""

    def __init__(self) -> None:
        self._queue: deque[Pair] = deque()
        self._waiting: set[Pair] = set()

    def push(self, circle: Pair) -> None:
        """Add a circle unless it is waiting already."""
        if circle not in self._waiting:
            self._waiting.add(circle)
            self._queue.append(circle)

    def pop(self) -> Pair:
        """Take the circle that has waited longest."""
        circle = self._queue.popleft()
        self._waiting.remove(circle)
        return circle

    def __bool__(self) -> bool:
        return bool(self._queue)


class Worklist:
    """The circles that wait for each stage, and the work on them."""

    def __init__(self, draft: Draft, rules: Sequence[Rule], check_path: CheckPath | None = None) -> None:
        self.draft = draft
        self.check_path = check_path
        self.cuts: list[Pair] = []
        self.once: dict[Stage, list[Rule]] = {stage: [] for stage in Stage}
        self.per_circle: dict[Stage, list[Rule]] = {stage: [] for stage in Stage}
        self.linked = any(rule is K1 for rule in rules)
        for rule in rules:
            if rule is K1:
                continue
            (self.once if rule.everywhere else self.per_circle)[rule.stage].append(rule)
        self.agendas = {stage: Agenda() for stage in Stage if self.per_circle[stage]}
        # By the new mark: the agendas it concerns, each with what must face the circle (None: anything).
        self._woken = {mark: list(self._concerned(mark)) for mark in (ARROW, TAIL)}
        self._beyond = [self.agendas[s] for s in self.agendas if any(rule.wakes.beyond for rule in self.per_circle[s])]

    def _concerned(self, mark: int) -> Iterable[tuple[Agenda, int | None]]:
        for stage, agenda in self.agendas.items():
            facing = {rule.wakes.facing for rule in self.per_circle[stage] if mark in rule.wakes.new}
            yield from ((agenda, required) for required in ({None} if None in facing else facing))

    def run(self) -> None:
        """Use every rule, stage after stage, until none is left to use."""
        for stage in Stage:
            for rule in self.once[stage]:
                assert rule.everywhere is not None
                for wanted in rule.everywhere(self.draft):
                    application = self.draft.apply(rule.name, *wanted)
                    if stage is not Stage.COLLIDERS:  # these come before there is a queue
                        self._wake(application)
            if stage is Stage.COLLIDERS:
                self._start()
            self._drain(stage)
        while self.linked and self._use_linked():
            self._drain(Stage.TAILS)

    def _use_linked(self) -> bool:
        """Use K1, which reads whole paths, where nothing else is left to use; tell whether it wrote a mark."""
        uses = [self.draft.apply(K1.name, *wanted) for wanted in linked(self.draft)]
        for application in uses:
            self._wake(application)
        return any(use is not None and use.written for use in uses)

    def _start(self) -> None:
        """Put every circle that some rule may resolve on the agendas: all but R5 need an arrowhead or a tail nearby."""
        mark = self.draft.mark
        settled = {v for x, around in enumerate(mark) for y, at_y in around.items() if at_y != CIRCLE for v in (x, y)}
        woken = {(agenda, facing) for concerned in self._woken.values() for agenda, facing in concerned}
        for x, around in enumerate(mark):
            self.draft.tick()
            for y, at_y in around.items():
                if at_y == CIRCLE and (x in settled or y in settled):
                    for agenda, facing in woken:
                        if facing is None or facing == mark[y][x]:
                            agenda.push((x, y))

    def _drain(self, last: Stage) -> None:
        """Work until no circle waits for a stage up to this one, always for the first stage that has one."""
        stages = [stage for stage in self.agendas if stage <= last]
        at = 0
        while at < len(stages):
            agenda = self.agendas[stages[at]]
            if not agenda:
                at += 1
                continue
            self.draft.tick()
            x, y = agenda.pop()
            if self._use_one(self.per_circle[stages[at]], x, y):
                at = 0

    def _use_one(self, rules: list[Rule], x: int, y: int) -> bool:
        """Use the first of these rules that resolves the circle at y on x-y; tell whether one does."""
        for rule in rules:
            if self.draft.mark[x].get(y) != CIRCLE:
                return False
            wanted = self._checked(rule, x, y)
            if wanted is not None:
                self._wake(self.draft.apply(rule.name, *wanted))
                return True
        return False

    def _checked(self, rule: Rule, x: int, y: int) -> Wanted | None:
        """Ask a rule about a circle, and have the path that it needs tested where there is a test for it."""
        wanted = rule.resolve(self.draft, x, y)
        while wanted is not None and rule.tests_path and self.check_path is not None:
            verdict = self.check_path(wanted[0])
            if verdict.stands:
                return wanted
            if not verdict.cuts:
                return None
            self._cut(verdict)
            # The path is gone; there may be another one, if the edge still is.
            still = self.draft.mark[x].get(y) == CIRCLE
            wanted = rule.resolve(self.draft, x, y) if still else None
        return wanted

    def _cut(self, verdict: Verdict) -> None:
        """Delete edges, make the colliders over the gaps, and start over: a gap can help any rule."""
        for x, y in verdict.cuts:
            self.draft.delete(x, y)
        self.cuts += verdict.cuts
        self.draft.ambiguous.update(verdict.unchecked)
        for triple in verdict.colliders:
            if self.draft.unshielded(*triple) and triple not in verdict.unchecked:
                self.draft.apply(R0.name, *collider(*triple))
        self._start()

    def _wake(self, application: RuleApplication | None) -> None:
        """Put back the circles that the new marks can help."""
        mark = self.draft.mark
        for u, w, new in application.written if application else ():
            woken = self._woken[new]
            for v in (u, w):
                for y, at_y in mark[v].items():
                    at_v = mark[y][v]
                    for end, opposite, at_end in (((v, y), at_v, at_y), ((y, v), at_y, at_v)):
                        if at_end == CIRCLE:
                            for agenda, facing in woken:
                                if facing is None or facing == opposite:
                                    agenda.push(end)
            if new == ARROW:
                for agenda in self._beyond:
                    self._wake_beyond(agenda, w)

    def _wake_beyond(self, agenda: Agenda, w: int) -> None:
        """Put back the circles that face a child of w."""
        for c in self.draft.mark[w]:
            if self.draft.directed(w, c):
                for b, at_b in self.draft.mark[c].items():
                    if at_b == CIRCLE:
                        agenda.push((c, b))
