"""What an orientation rule is: one object with all that anyone needs to know of it.

The worklist reads when a rule is due, what it resolves and what wakes it; explanations read what a use of it rests on
and how to say it; a result file is checked against the least number of nodes that a use can have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import Draft, RuleApplication

Wanted = tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]
"""The nodes that trigger a rule, and the marks (x, y, mark at y) that it writes."""

End = tuple[int, int]
"""(x, y): the end at y of the edge x-y."""

Gap = tuple[int, int]
"""Two nodes that are not adjacent."""

MarkAt = Callable[[End], int]
"""The mark that stood at an end before a rule was used."""

Needs = tuple[list[End], list[Gap]]
"""The ends whose marks a use of a rule rests on, and the pairs that it needs to be not adjacent."""


class Stage(IntEnum):
    """When a rule is due, in the order of Zhang (2008): first all arrowheads, then the tails."""

    COLLIDERS = 0
    ARROWHEADS = 1
    RINGS = 2
    UNDIRECTED = 3
    TAILS = 4


@dataclass(frozen=True)
class Wakes:
    """Which circles a rule is worth asking about again when a mark has been written at w on the edge u-w.

    Attributes
    ----------
    new : tuple of marks
        What the new mark must be. The circles in question are then those on the edges at u and at w.
    facing : mark, optional
        What must stand at the other end of the circle's edge.
    beyond : bool
        Also the circles that face a child of w, however far from the new mark, if that is an arrowhead: every inner
        node of a discriminating path is a parent of its last node.
    """

    new: tuple[int, ...] = (ARROW, TAIL)
    facing: int | None = None
    beyond: bool = False


@dataclass(frozen=True)
class Rule:
    """An orientation rule.

    Attributes
    ----------
    name : str
        "R0" to "R10".
    stage : Stage
        When it is due.
    resolve : callable
        ``resolve(draft, x, y)``: what it writes if it resolves the circle at y on the edge x-y, else None. Asking
        changes nothing.
    premises : callable
        ``premises(use, mark_at)``: the ends and gaps that a use of the rule rested on.
    statement : callable
        ``statement(use, names, scored)``: what a use of the rule says, in words.
    wakes : Wakes
        After which new marks it is worth asking again.
    least : int
        The fewest nodes that a use of the rule has.
    everywhere : callable, optional
        ``everywhere(draft)``: all its uses on the draft as it stands. A rule that has this is used so, once, and is
        not asked circle by circle.
    needs_selection : bool
        Whether it speaks of selection, and is off where there is none.
    tests_path : bool
        Whether its nodes are a discriminating path, which RFCI tests before the rule may use it.
    """

    name: str
    stage: Stage
    resolve: Callable[[Draft, int, int], Wanted | None]
    premises: Callable[[RuleApplication, MarkAt], Needs]
    statement: Callable[[RuleApplication, Sequence[str], bool], str]
    wakes: Wakes = Wakes()
    least: int = 3
    everywhere: Callable[[Draft], Iterator[Wanted]] | None = None
    needs_selection: bool = False
    tests_path: bool = False

    def admits(self, use: RuleApplication) -> bool:
        """Tell whether a record can be a use of this rule: enough nodes, and marks at some of them."""
        marks = (*use.written, *use.refused)
        ends = {v for x, y, _ in marks for v in (x, y)}
        return use.rule == self.name and len(use.nodes) >= self.least and bool(marks) and ends <= set(use.nodes)


def words(template: str) -> Callable[[RuleApplication, Sequence[str], bool], str]:
    """Return a statement made of a template: {0}, {1}, .. are the nodes of the use, {path} is all of them."""

    def statement(use: RuleApplication, names: Sequence[str], scored: bool = False) -> str:
        nodes = [names[v] for v in use.nodes]
        return template.format(*nodes, path=", ".join(nodes))

    return statement


def rests_on(ends: str, gaps: str = "") -> Callable[[RuleApplication, MarkAt], Needs]:
    """Return premises that are the same in each use: pairs of letters, such as "ab cb", for its nodes a, b, c, d."""

    def premises(use: RuleApplication, mark_at: MarkAt) -> Needs:
        node = dict(zip("abcd", use.nodes, strict=False))
        needed = ([(node[pair[0]], node[pair[1]]) for pair in letters.split()] for letters in (ends, gaps))
        return next(needed), next(needed)

    return premises


def premises_of_path(path: Sequence[int], mark_at: MarkAt) -> Needs:
    """Return what an uncovered, possibly directed path rests on: the marks on it that were known, and its gaps."""
    ends = [end for p, q in pairwise(path) for end in ((q, p), (p, q)) if mark_at(end) != CIRCLE]
    return ends, list(zip(path, path[2:], strict=False))
