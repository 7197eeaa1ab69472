"""The orientation rules R0-R10 of Zhang (2008), a function each.

R0 makes the colliders. Every other rule answers one question: *can the circle at y on the edge x-y be
resolved?* It returns the nodes that trigger it and the marks to write, or None. The letters in the
docstrings are Zhang's: ``*`` is any mark, ``o`` a circle.

Where a rule needs a path, the search is complete. Uncovered paths are searched over states (previous node,
this node), which decides quickly that there is none; a walk so found that visits a node twice is not a
path, and then simple paths are searched exhaustively.

References
----------
Zhang, On the completeness of orientation rules for causal discovery in the presence of latent confounders
and selection bias, Artificial Intelligence 172 (2008) 1873-1896.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import Draft

Wanted = tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]
"""The nodes that trigger a rule, and the marks (x, y, mark at y) that it writes."""

IsCollider = Callable[[int, int, int, int], bool]
"""(v, a, b, c) -> is b a collider between a and c, where v is the end that a separating set with c is known of?

Under R0 v is a itself; under R4 v is the far end of the discriminating path.
"""


def r0(draft: Draft, is_collider: IsCollider, deadline: float = math.inf) -> Iterator[Wanted]:
    """For each unshielded a *-* b *-* c with b outside Sep(a, c), a *-> b <-* c.

    A graph that a spent budget left dense has very many triples, so the clock is asked at each node.
    """
    for b, around in enumerate(draft.mark):
        if deadline < math.inf and time.monotonic() > deadline:
            return
        for a, c in combinations(sorted(around), 2):
            if not draft.adjacent(a, c) and is_collider(a, a, b, c):
                yield (a, b, c), ((a, b, ARROW), (c, b, ARROW))


def r1(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a *-> b o-* c, and a, c are not adjacent, then b --> c."""
    for a in draft.mark[b]:
        if draft.mark[a][b] == ARROW and a != c and draft.gap(a, b, c):
            return (a, b, c), ((c, b, TAIL), (b, c, ARROW))
    return None


def r2(draft: Draft, a: int, c: int) -> Wanted | None:
    """If a --> b *-> c or a *-> b --> c, and a *-o c, then a *-> c."""
    for b, at_b in draft.mark[a].items():
        if at_b != ARROW or draft.mark[b].get(c) != ARROW:
            continue
        if draft.mark[b][a] == TAIL or draft.mark[c][b] == TAIL:
            return (a, b, c), ((a, c, ARROW),)
    return None


def r3(draft: Draft, d: int, b: int) -> Wanted | None:
    """If a *-> b <-* c, a *-o d o-* c, a, c are not adjacent, and d *-o b, then d *-> b."""
    into = [a for a in draft.mark[d] if draft.mark[a][d] == CIRCLE and draft.mark[a].get(b) == ARROW]
    for a, c in combinations(into, 2):
        if draft.gap(a, d, c):
            return (a, b, c, d), ((d, b, ARROW),)
    return None


def r4(draft: Draft, c: int, b: int, is_collider: IsCollider) -> Wanted | None:
    """If (v, .., a, b, c) is a discriminating path for b, and b o-* c: b --> c, or a <-> b <-> c if b is a collider."""
    path = discriminating_path(draft, b, c)
    if path is None:
        return None
    v, a = path[0], path[-3]
    if is_collider(v, a, b, c):
        return path, ((a, b, ARROW), (c, b, ARROW), (b, c, ARROW))
    return path, ((c, b, TAIL), (b, c, ARROW))


def discriminating_path(draft: Draft, b: int, c: int) -> tuple[int, ...] | None:
    """Return a shortest discriminating path (v, .., a, b, c) for b, or None.

    v and c are not adjacent; each node between v and b is a collider on the path and a parent of c.
    """
    origin: dict[int, int] = {}
    queue = deque(a for a, at_a in draft.mark[b].items() if at_a == ARROW and a != c and draft.directed(a, c))
    origin.update(dict.fromkeys(queue, b))
    while queue:
        q = queue.popleft()
        for v in draft.mark[q]:
            if v in (b, c) or v in origin or draft.mark[v][q] != ARROW:
                continue
            if not draft.adjacent(v, c):
                path = [v, q]
                while path[-1] != b:
                    path.append(origin[path[-1]])
                return (*path, c)
            if draft.mark[q][v] == ARROW and draft.directed(v, c):
                origin[v] = q
                queue.append(v)
    return None


def r5(draft: Draft) -> Iterator[Wanted]:
    """If a o-o b with an uncovered circle path (a, c, .., d, b), and a, d and b, c are not adjacent, all is ---.

    All such cycles of the draft as it stands are found before any is oriented.
    """
    circles = [
        [y for y, at_y in around.items() if at_y == CIRCLE and draft.mark[y][x] == CIRCLE]
        for x, around in enumerate(draft.mark)
    ]
    found: list[Wanted] = []
    for a, around in enumerate(circles):
        for b in around:
            if a < b:
                path = _circle_cycle(draft, circles, a, b)
                if path:
                    ends = zip(path, [*path[1:], path[0]], strict=True)
                    found.append((path, tuple(m for x, y in ends for m in ((x, y, TAIL), (y, x, TAIL)))))
    yield from found


def _circle_cycle(draft: Draft, circles: list[list[int]], a: int, b: int) -> tuple[int, ...] | None:
    for c in circles[a]:
        if c != b and draft.gap(b, a, c):
            path = uncovered_path(draft, a, c, b, step=lambda q: circles[q], last=lambda d: draft.gap(a, b, d), avoid=a)
            if path:
                return path
    return None


def r6(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a --- b o-* c, then b --* c."""
    for a, at_a in draft.mark[b].items():
        if at_a == TAIL and draft.mark[a][b] == TAIL and a != c:
            return (a, b, c), ((c, b, TAIL),)
    return None


def r7(draft: Draft, c: int, b: int) -> Wanted | None:
    """If a --o b o-* c, and a, c are not adjacent, then b --* c."""
    for a, at_a in draft.mark[b].items():
        if at_a == TAIL and draft.mark[a][b] == CIRCLE and a != c and draft.gap(a, b, c):
            return (a, b, c), ((c, b, TAIL),)
    return None


def r8(draft: Draft, c: int, a: int) -> Wanted | None:
    """If a --> b --> c or a --o b --> c, and a o-> c, then a --> c."""
    if draft.mark[a][c] != ARROW:
        return None
    for b, at_b in draft.mark[a].items():
        if at_b != TAIL and draft.mark[b][a] == TAIL and b != c and draft.directed(b, c):
            return (a, b, c), ((c, a, TAIL),)
    return None


def r9(draft: Draft, c: int, a: int) -> Wanted | None:
    """If a o-> c with an uncovered p.d. path (a, b, .., c), and b, c are not adjacent, then a --> c."""
    if draft.mark[a][c] != ARROW:
        return None
    for b in _onward(draft, a):
        if b != c and draft.gap(b, a, c):
            path = uncovered_path(draft, a, b, c, step=lambda q: _onward(draft, q), avoid=a)
            if path:
                return path, ((c, a, TAIL),)
    return None


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
    for first in _onward(draft, a):
        if first != c:
            found = (_pd_path(draft, a, first, b, avoid=c) for b in ends)
            routes[first] = [path for path in found if path]
    for mu, omega in combinations(routes, 2):
        if not draft.gap(mu, a, omega):
            continue
        for one in routes[mu]:
            for other in routes[omega]:
                if one[-1] != other[-1]:
                    return (*one, c, *other[:0:-1]), ((c, a, TAIL),)
    return None


def _onward(draft: Draft, q: int) -> list[int]:
    return [r for r in draft.mark[q] if draft.possibly_directed(q, r)]


def _pd_path(draft: Draft, a: int, first: int, b: int, avoid: int) -> tuple[int, ...] | None:
    if first == b:
        return (a, b)
    return uncovered_path(draft, a, first, b, step=lambda q: [r for r in _onward(draft, q) if r != avoid], avoid=a)


def uncovered_path(
    draft: Draft,
    a: int,
    first: int,
    goal: int,
    step: Callable[[int], Iterable[int]],
    avoid: int,
    last: Callable[[int], bool] = lambda d: True,
) -> tuple[int, ...] | None:
    """Return a path (a, first, .., d, goal) on which the ends of each triple are not adjacent, and ``last(d)``."""
    walk = _uncovered_walk(draft, a, first, goal, step, avoid, last)
    if walk is None or len(set(walk)) == len(walk):
        return walk
    return next(_uncovered_simple(draft, [a, first], goal, step, last), None)


def _uncovered_walk(
    draft: Draft,
    a: int,
    first: int,
    goal: int,
    step: Callable[[int], Iterable[int]],
    avoid: int,
    last: Callable[[int], bool],
) -> tuple[int, ...] | None:
    """Breadth first over states (previous, current): the shortest uncovered walk, if there is one."""
    origin: dict[tuple[int, int], tuple[int, int] | None] = {(a, first): None}
    queue = deque([(a, first)])
    while queue:
        state = queue.popleft()
        p, q = state
        for r in step(q):
            if r in (p, avoid) or (q, r) in origin or not draft.gap(p, q, r):
                continue
            if r == goal:
                if not last(q):
                    continue
                path, back = [r], origin.get(state)
                path.append(q)
                while back is not None:
                    path.append(back[1])
                    back = origin[back]
                return (a, *path[::-1])
            origin[q, r] = state
            queue.append((q, r))
    return None


def _uncovered_simple(
    draft: Draft, path: list[int], goal: int, step: Callable[[int], Iterable[int]], last: Callable[[int], bool]
) -> Iterator[tuple[int, ...]]:
    """Depth first over simple uncovered paths: exponential at worst, and rarely needed."""
    p, q = path[-2:]
    for r in step(q):
        if r in path or not draft.gap(p, q, r):
            continue
        if r == goal:
            if last(q):
                yield (*path, r)
        else:
            yield from _uncovered_simple(draft, [*path, r], goal, step, last)
