"""The readable twin of the worklist: every rule is asked about every circle, over and over, until nothing changes.

No queue, no waking, and no search over the whole graph at once: rules are used through ``resolve`` alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from lmarvel import MAG
from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.orient.draft import Draft, IsCollider
from lmarvel.orient.rule import Rule, Stage
from lmarvel.orient.rules import RULES

Edges = list[tuple[int, int]]


def fixpoint(
    n: int,
    edges: Edges,
    is_collider: IsCollider,
    selection: bool = True,
    ambiguous: Collection[tuple[int, int, int]] = (),
    undecided: Collection[tuple[int, int]] = (),
) -> Draft:
    """Orient a skeleton: stage after stage, each with the rules of the stages before it."""
    draft = Draft(n, edges, is_collider, ambiguous, undecided)
    due: list[Rule] = []
    for stage in Stage:
        rules = [r for r in RULES.values() if r.stage == stage and (selection or not r.needs_selection)]
        due += [rule for rule in rules if rule.everywhere is None]
        for rule in rules:
            if rule.everywhere is not None:  # read off the graph before anything is written on it
                for wanted in [rule.resolve(draft, x, y) for x, y in circles(draft)]:
                    if wanted is not None:
                        draft.apply(rule.name, *wanted)
        until_stable(draft, due)
    return draft


def until_stable(draft: Draft, rules: list[Rule]) -> None:
    before = -1
    while before != len(list(circles(draft))):
        before = len(list(circles(draft)))
        for rule in rules:
            for x, y in list(circles(draft)):
                if draft.mark[x][y] == CIRCLE and (wanted := rule.resolve(draft, x, y)) is not None:
                    draft.apply(rule.name, *wanted)


def circles(draft: Draft) -> Iterator[tuple[int, int]]:
    """The circles (x, y), at y on x-y."""
    return ((x, y) for x, around in enumerate(draft.mark) for y, at_y in around.items() if at_y == CIRCLE)


# --- skeletons and colliders ------------------------------------------------------------------------------


def skeleton_of(mag: MAG) -> Edges:
    return [(x, y) for x, links in enumerate(mag.links) for y, _, _ in links if x < y]


def truth_of(mag: MAG) -> IsCollider:
    return lambda v, a, b, c: bool(mag.marks[a, b] == ARROW and mag.marks[c, b] == ARROW)


def contradictory(seed: int) -> IsCollider:
    """Answers without rhyme or reason, but always the same to the same question."""
    return lambda *triple: hashlib.sha256(repr((seed, triple)).encode()).digest()[0] % 2 == 0
