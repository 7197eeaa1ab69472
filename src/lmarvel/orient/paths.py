"""The paths that rules need: discriminating paths (R4) and uncovered ones (R5, R9, R10).

The searches are complete. Uncovered paths are searched over states (previous node, this node), which decides quickly
that there is none; a walk so found that visits a node twice is not a path, and then simple paths are searched
exhaustively. That can take exponential time, so all searches look at the clock of the draft. For R5 in the PAG of a MAG
it is not needed: R6 and R7 give the same marks (docs/theory.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from lmarvel.graph.marks import ARROW
from lmarvel.orient.draft import Draft

Step = Callable[[int], Iterable[int]]
"""From a node to the nodes that a path may go on to."""


def discriminating_path(draft: Draft, b: int, c: int) -> tuple[int, ...] | None:
    """Return a shortest discriminating path (v, .., a, b, c) for b, or None.

    v and c are not adjacent; each node between v and b is a collider on the path and a parent of c.
    """
    origin: dict[int, int] = {}
    queue = deque(a for a, at_a in draft.mark[b].items() if at_a == ARROW and a != c and draft.directed(a, c))
    origin.update(dict.fromkeys(queue, b))
    while queue:
        draft.tick()
        q = queue.popleft()
        for v in draft.mark[q]:
            if v in (b, c) or v in origin or draft.mark[v][q] != ARROW:
                continue
            if draft.not_adjacent(v, c):
                if draft.known is not None and not draft.gap(v, q, c):
                    continue  # stated not to be adjacent, and no set separates them: nothing is known of colliders
                path = [v, q]
                while path[-1] != b:
                    path.append(origin[path[-1]])
                return (*path, c)
            if draft.mark[q][v] == ARROW and draft.directed(v, c):
                origin[v] = q
                queue.append(v)
    return None


def uncovered_path(
    draft: Draft,
    a: int,
    first: int,
    goal: int,
    step: Step,
    avoid: int,
    last: Callable[[int], bool] = lambda d: True,
    thorough: bool = True,
) -> tuple[int, ...] | None:
    """Return a path (a, first, .., d, goal) on which the ends of each triple are not adjacent, and ``last(d)``.

    Unless the search is to be ``thorough``, a path that is longer than the shortest walk may be missed.
    """
    walk = uncovered_walk(draft, a, first, goal, step, avoid, last)
    if walk is None or len(set(walk)) == len(walk):
        return walk
    if not thorough:
        return None
    return next(_uncovered_simple(draft, [a, first], goal, step, last), None)


def uncovered_walk(
    draft: Draft, a: int, first: int, goal: int, step: Step, avoid: int, last: Callable[[int], bool]
) -> tuple[int, ...] | None:
    """Breadth first over states (previous, current): the shortest uncovered walk, if there is one."""
    origin: dict[tuple[int, int], tuple[int, int] | None] = {(a, first): None}
    queue = deque([(a, first)])
    while queue:
        draft.tick()
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
    draft: Draft, path: list[int], goal: int, step: Step, last: Callable[[int], bool]
) -> Iterator[tuple[int, ...]]:
    """Depth first over simple uncovered paths: exponential at worst, and rarely needed."""
    draft.tick()
    p, q = path[-2:]
    for r in step(q):
        if r in path or not draft.gap(p, q, r):
            continue
        if r == goal:
            if last(q):
                yield (*path, r)
        else:
            yield from _uncovered_simple(draft, [*path, r], goal, step, last)
