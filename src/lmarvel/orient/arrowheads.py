"""R0-R4: colliders, and the arrowheads that follow from them.

R0 makes the colliders. Every other rule answers one question: *can the circle at y on the edge x-y be resolved?* The
letters in the docstrings are those of Zhang (2008): ``*`` is any mark, ``o`` a circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import Draft, RuleApplication
from lmarvel.orient.paths import discriminating_path
from lmarvel.orient.rule import MarkAt, Needs, Rule, Stage, Wakes, Wanted, rests_on, words

# --- R0 ---------------------------------------------------------------------------------------------------


def collider(a: int, b: int, c: int) -> Wanted:
    """Return the use of R0 that makes b a collider between a and c."""
    return (a, b, c), ((a, b, ARROW), (c, b, ARROW))


def r0(draft: Draft, a: int, b: int) -> Wanted | None:
    """For an unshielded a *-* b *-* c with b outside Sep(a, c), a *-> b <-* c."""
    for c in sorted(draft.mark[b]):
        first, last = min(a, c), max(a, c)
        if c != a and draft.not_adjacent(a, c) and draft.is_collider(first, first, b, last):
            return collider(first, b, last)
    return None


def all_colliders(draft: Draft) -> Iterator[Wanted]:
    """Use R0 on each unshielded triple once.

    A graph that is dense has very many of them, so the clock is asked at each edge.
    """
    for b, around in enumerate(draft.mark):
        ordered = sorted(around)
        for i, a in enumerate(ordered):
            draft.tick()
            for c in ordered[i + 1 :]:
                if draft.not_adjacent(a, c) and draft.is_collider(a, a, b, c):
                    yield collider(a, b, c) if draft.known is None else _as_known(draft, a, b, c)


def _as_known(draft: Draft, a: int, b: int, c: int) -> Wanted:
    """Where a statement has put a tail at b the collider is refused as a whole: one wrong mark does not bring another.

    Only the marks that are refused are asked for then.
    """
    nodes, marks = collider(a, b, c)
    refused = tuple(wanted for wanted in marks if draft.mark[wanted[0]][b] == TAIL)
    return nodes, refused or marks


def _collider_in_words(use: RuleApplication, names: Sequence[str], scored: bool = False) -> str:
    a, b, c = (names[v] for v in use.nodes)
    why = "the graph that the score chose has it" if scored else "what separates these two leaves it out"
    return f"{b} is a collider between {a} and {c}: {why}"


R0 = Rule("R0", Stage.COLLIDERS, r0, rests_on("", "ac"), _collider_in_words, everywhere=all_colliders)


# --- R1-R3 ------------------------------------------------------------------------------------------------


def r1(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a *-> b o-* c, and a, c are not adjacent, then b --> c."""
    for a in draft.mark[b]:
        if draft.mark[a][b] == ARROW and a != c and draft.gap(a, b, c):
            return (a, b, c), ((c, b, TAIL), (b, c, ARROW))
    return None


R1 = Rule(
    "R1",
    Stage.ARROWHEADS,
    r1,
    rests_on("ab", "ac"),
    words("an arrowhead from {0} points at {1}, {0} and {2} are not adjacent, and {1} is not a collider between them"),
    Wakes(new=(ARROW,)),
)


def r2(draft: Draft, a: int, c: int) -> Wanted | None:
    """If a --> b *-> c or a *-> b --> c, and a *-o c, then a *-> c."""
    for b, at_b in draft.mark[a].items():
        if at_b != ARROW or draft.mark[b].get(c) != ARROW:
            continue
        if draft.mark[b][a] == TAIL or draft.mark[c][b] == TAIL:
            return (a, b, c), ((a, c, ARROW),)
    return None


def _premises_of_r2(use: RuleApplication, mark_at: MarkAt) -> Needs:
    a, b, c = use.nodes
    return [(a, b), (b, c), (b, a) if mark_at((b, a)) == TAIL else (c, b)], []


R2 = Rule(
    "R2",
    Stage.ARROWHEADS,
    r2,
    _premises_of_r2,
    words("{0} to {1} to {2}: without this arrowhead a directed or almost directed cycle would close"),
)


def r3(draft: Draft, d: int, b: int) -> Wanted | None:
    """If a *-> b <-* c, a *-o d o-* c, a, c are not adjacent, and d *-o b, then d *-> b."""
    into = [a for a in draft.mark[d] if draft.mark[a][d] == CIRCLE and draft.mark[a].get(b) == ARROW]
    for a, c in combinations(into, 2):
        if draft.gap(a, d, c):
            return (a, b, c, d), ((d, b, ARROW),)
    return None


R3 = Rule(
    "R3",
    Stage.ARROWHEADS,
    r3,
    rests_on("ab cb", "ac"),
    words("{0} and {2} point at {1}, are not adjacent, and {3} is not a collider between them"),
    Wakes(new=(ARROW,)),
    least=4,
)


# --- R4 ---------------------------------------------------------------------------------------------------


def r4(draft: Draft, c: int, b: int) -> Wanted | None:
    """If (v, .., a, b, c) is a discriminating path for b, and b o-* c: b --> c, or a <-> b <-> c if b is a collider."""
    path = discriminating_path(draft, b, c)
    if path is None:
        return None
    v, a = path[0], path[-3]
    if draft.is_collider(v, a, b, c):
        return path, ((a, b, ARROW), (c, b, ARROW), (b, c, ARROW))
    return path, ((c, b, TAIL), (b, c, ARROW))


def _premises_of_r4(use: RuleApplication, mark_at: MarkAt) -> Needs:
    path = use.nodes
    *inner, _, c = path[1:]
    ends = [end for q in inner for end in ((q, c), (c, q))]  # each is a parent of c ...
    ends += [(p, q) for p, q in pairwise(path[:-2])]  # ... and a collider on the path
    ends += [(q, p) for p, q in pairwise(path[1:-1])]
    return ends, [(path[0], c)]


def _discriminated(use: RuleApplication, names: Sequence[str], scored: bool = False) -> str:
    path = [names[v] for v in use.nodes]
    inside = any(mark == TAIL for _, _, mark in (*use.written, *use.refused))
    on = f"on the discriminating path {', '.join(path)}"
    if scored:
        return f"{on} {path[-2]} is {'no' if inside else 'a'} collider in the graph that the score chose"
    return f"{on} what separates {path[0]} and {path[-1]} {'holds' if inside else 'leaves out'} {path[-2]}"


R4 = Rule(
    "R4",
    Stage.ARROWHEADS,
    r4,
    _premises_of_r4,
    _discriminated,
    Wakes(beyond=True),
    least=4,
    tests_path=True,
)
