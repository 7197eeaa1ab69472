"""R5-R10: the tails, those that show selection (R5-R7) and those that make causes (R8-R10).

Every rule answers one question: *can the circle at y on the edge x-y be resolved?* The letters in the docstrings are
those of Zhang (2008): ``*`` is any mark, ``o`` a circle.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import Draft, RuleApplication
from lmarvel.orient.paths import Step, uncovered_path
from lmarvel.orient.rule import MarkAt, Needs, Rule, Stage, Wakes, Wanted, premises_of_path, rests_on, words

# --- R5 ---------------------------------------------------------------------------------------------------


def r5(draft: Draft, a: int, b: int) -> Wanted | None:
    """If a o-o b with an uncovered circle path (a, c, .., d, b), and a, d and b, c are not adjacent, all is ---."""
    return _ring(draft, a, b, lambda q: _circles(draft, q)) if draft.mark[b][a] == CIRCLE else None


def _ring(draft: Draft, a: int, b: int, step: Step) -> Wanted | None:
    """Return the use of R5 for a o-o b, with a cycle of nodes that the step leads to."""
    for c in step(a):
        if c != b and draft.gap(b, a, c):
            path = uncovered_path(
                draft, a, c, b, step, avoid=a, last=lambda d: draft.gap(a, b, d), thorough=not draft.of_mag
            )
            if path:
                ends = zip(path, [*path[1:], path[0]], strict=True)
                return path, tuple(m for x, y in ends for m in ((x, y, TAIL), (y, x, TAIL)))
    return None


def all_rings(draft: Draft) -> Iterator[Wanted]:
    """Use R5 on each edge; all cycles of the draft as it stands are found before any is oriented."""
    beside = passable(draft)
    rings = [_ring(draft, a, b, beside.__getitem__) for a in range(len(beside)) for b in beside[a] if a < b]
    yield from (wanted for wanted in rings if wanted is not None)


def passable(draft: Draft) -> list[list[int]]:
    """Return the neighbours by o-o of each node, but for nodes that no cycle of R5 can pass, which have none.

    A cycle passes a node between two neighbours that are a gap apart. A node without two such neighbours is left out,
    and then the others may have fewer. Without selection this leaves none, and no path has to be searched.
    """
    beside = [_circles(draft, q) for q in range(len(draft.mark))]
    queue = list(range(len(beside)))
    while queue:
        draft.tick()
        v = queue.pop()
        if any(draft.gap(a, v, c) for a, c in combinations(beside[v], 2)):
            continue
        for w in beside[v]:
            beside[w] = [u for u in beside[w] if u != v]
        queue += beside[v]
        beside[v] = []
    return beside


def _circles(draft: Draft, q: int) -> list[int]:
    """Return the nodes r with q o-o r."""
    return [r for r, at_r in draft.mark[q].items() if at_r == CIRCLE and draft.mark[r][q] == CIRCLE]


def _premises_of_r5(use: RuleApplication, mark_at: MarkAt) -> Needs:
    cycle, n = use.nodes, len(use.nodes)
    return [], [(cycle[i], cycle[(i + 2) % n]) for i in range(n if n > 4 else 2)]


R5 = Rule(
    "R5",
    Stage.RINGS,
    r5,
    _premises_of_r5,
    words("{path} form a cycle of circles without a chord: only selection explains it"),
    least=4,
    everywhere=all_rings,
    needs_selection=True,
)


# --- R6, R7 -----------------------------------------------------------------------------------------------


def r6(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a --- b o-* c, then b --* c."""
    for a, at_a in draft.mark[b].items():
        if at_a == TAIL and draft.mark[a][b] == TAIL and a != c:
            return (a, b, c), ((c, b, TAIL),)
    return None


R6 = Rule(
    "R6",
    Stage.UNDIRECTED,
    r6,
    rests_on("ab ba"),
    words("{0} --- {1}: {1} influences being in the sample, so no arrowhead points at it"),
    Wakes(new=(TAIL,)),
    needs_selection=True,
)


def r7(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a --o b o-* c, and a, c are not adjacent, then b --* c."""
    for a, at_a in draft.mark[b].items():
        if at_a == TAIL and draft.mark[a][b] == CIRCLE and a != c and draft.gap(a, b, c):
            return (a, b, c), ((c, b, TAIL),)
    return None


R7 = Rule(
    "R7",
    Stage.UNDIRECTED,
    r7,
    rests_on("ba", "ac"),
    words("{0} and {2} are not adjacent, {1} is not a collider between them, and {0} has a tail towards it"),
    Wakes(new=(TAIL,)),
    needs_selection=True,
)


# --- R8-R10: o-> becomes --> ------------------------------------------------------------------------------


def r8(draft: Draft, c: int, a: int) -> Wanted | None:
    """If a --> b --> c or a --o b --> c, and a o-> c, then a --> c."""
    if draft.mark[a][c] != ARROW:
        return None
    for b, at_b in draft.mark[a].items():
        if at_b != TAIL and draft.mark[b][a] == TAIL and b != c and draft.directed(b, c):
            return (a, b, c), ((c, a, TAIL),)
    return None


R8 = Rule("R8", Stage.TAILS, r8, rests_on("ac ba bc cb"), words("{0} leads to {2} through {1}"), Wakes(facing=ARROW))


def r9(draft: Draft, c: int, a: int) -> Wanted | None:
    """If a o-> c with an uncovered p.d. path (a, b, .., c), and b, c are not adjacent, then a --> c."""
    if draft.mark[a][c] != ARROW:
        return None
    for b in onward(draft, a):
        if b != c and draft.gap(b, a, c):
            path = uncovered_path(draft, a, b, c, step=lambda q: onward(draft, q), avoid=a)
            if path:
                return path, ((c, a, TAIL),)
    return None


def _premises_of_r9(use: RuleApplication, mark_at: MarkAt) -> Needs:
    path = use.nodes
    ends, gaps = premises_of_path(path, mark_at)
    return [(path[0], path[-1]), *ends], [*gaps, (path[1], path[-1])]


R9 = Rule(
    "R9",
    Stage.TAILS,
    r9,
    _premises_of_r9,
    words("{0} leads to the last of {path} along a possibly directed path without shortcut"),
    Wakes(facing=ARROW),
    least=4,
)


def r10(draft: Draft, c: int, a: int) -> Wanted | None:
    """If a o-> c, b --> c <-- d, and uncovered p.d. paths a..b and a..d start with nodes not adjacent, a --> c.

    The first nodes after a may be b and d themselves; they are distinct.
    """
    if draft.mark[a][c] != ARROW:
        return None
    ends = [b for b in draft.mark[c] if b != a and draft.directed(b, c)]
    if len(ends) < 2:
        return None
    routes: dict[int, list[tuple[int, ...]]] = {}  # first node -> a path to each end that it leads to
    for first in onward(draft, a):
        if first != c:
            paths = (_pd_path(draft, a, first, b, avoid=c) for b in ends)
            routes[first] = [path for path in paths if path]
    for mu, omega in combinations(routes, 2):
        if not draft.gap(mu, a, omega):
            continue
        for left in routes[mu]:
            for right in routes[omega]:
                if left[-1] != right[-1]:
                    return (*left, c, *right[:0:-1]), ((c, a, TAIL),)
    return None


def onward(draft: Draft, q: int) -> list[int]:
    """Return the nodes that a potentially directed path can go on to."""
    return [r for r in draft.mark[q] if draft.possibly_directed(q, r)]


def _pd_path(draft: Draft, a: int, first: int, b: int, avoid: int) -> tuple[int, ...] | None:
    if first == b:
        return (a, b)
    return uncovered_path(draft, a, first, b, step=lambda q: [r for r in onward(draft, q) if r != avoid], avoid=a)


def paths_of_r10(use: RuleApplication) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Return the two paths of R10 from a to the causes of c, and c, which stands between their ends in the record."""
    c = (*use.written, *use.refused)[0][0]
    i = use.nodes.index(c)
    return use.nodes[:i], c, (use.nodes[0], *use.nodes[:i:-1])


def _premises_of_r10(use: RuleApplication, mark_at: MarkAt) -> Needs:
    left, c, right = paths_of_r10(use)
    ends, gaps = [(left[0], c)], [(left[1], right[1])]
    for path in (left, right):
        more, more_gaps = premises_of_path(path, mark_at)
        ends += [*more, (path[-1], c), (c, path[-1])]
        gaps += more_gaps
    return ends, gaps


R10 = Rule(
    "R10",
    Stage.TAILS,
    r10,
    _premises_of_r10,
    words("possibly directed paths from {0} reach two causes ({path}): it leads to their effect whichever is real"),
    Wakes(facing=ARROW),
    least=4,
)
