"""The rules that read what is known beforehand: K0-K4.

Zhang's rules are right for each MAG by itself, so they stay right where statements leave only some MAGs of a class.
What statements add:

* **K0**: the marks that a statement gives at once, written before any other rule is used.
* **K1**: what statements on variables that are not adjacent say, once directed paths link them to an edge. If u is an
  ancestor of y, x one of w, and u does not cause w, then y is no cause of x: an arrowhead at y on x-y. If y is an
  ancestor of x, a tail at y. An uncovered possibly directed path from y by way of x, to a variable that y does not
  cause, puts an arrowhead at y too. And if a causes b, an edge without which no way would lead from a to b is directed.
* **K2**: without selection no edge has two tails. **K3**: without latent causes, or where the two variables share no
  unmeasured cause, none has two arrowheads.
* **K4**: R2 and R3 in a sharper form, for tails that come from statements. If d --* a *-> b, or a *-> b <-* c with d
  no collider between a and c, then d *-o b has an arrowhead at b: a tail there would close a cycle.

Tiers need K0, K2, K3 and K4 and Zhang's rules; with these all marks are found (tests/knowledge holds that against
enumeration). For other statements all marks found are right, and some can be missed (docs/knowledge.md says how many).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from lmarvel.engine.run import Stated
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge.closure import Known, Matrix, reach
from lmarvel.orient.draft import Draft, RuleApplication
from lmarvel.orient.paths import uncovered_path
from lmarvel.orient.rule import End, MarkAt, Needs, Rule, Stage, Wakes, Wanted, rests_on, words
from lmarvel.orient.tails import onward


def stated_marks(draft: Draft) -> Iterator[Wanted]:
    """Write the marks that statements give at once."""
    known = draft.known
    if known is None:
        return
    for x, around in enumerate(draft.mark):
        for y in sorted(around):
            mark = known.mark(x, y)
            if mark != CIRCLE:
                yield (x, y), ((x, y, mark),)


def _never(draft: Draft, x: int, y: int) -> Wanted | None:
    return None


K0 = Rule("K0", Stage.COLLIDERS, _never, rests_on(""), words("you stated so"), least=2, everywhere=stated_marks)


# --- K1: statements on variables that are not adjacent ----------------------------------------------------


def linked(draft: Draft) -> Iterator[Wanted]:
    """Use K1 on each circle of the draft as it stands."""
    known = draft.known
    assert known is not None
    direct = known.causes.copy()
    for x, around in enumerate(draft.mark):
        for y in around:
            direct[x, y] |= draft.directed(x, y)
    leads = reach(direct)
    own = (leads | np.eye(len(draft.mark), dtype=bool)).astype(np.float32)
    never = own.T @ known.never.astype(np.float32) @ own.T > 0
    for x, around in enumerate(draft.mark):
        for y, at_y in list(around.items()):
            if at_y != CIRCLE or (leads[x, y] and leads[y, x]):
                continue
            draft.tick()
            if leads[y, x]:
                yield _path(direct, y, x), ((x, y, TAIL), (y, x, ARROW))
            elif leads[x, y]:
                yield _path(direct, x, y), ((x, y, ARROW),)
            elif never[y, x]:
                yield _around(known, direct, own > 0, x, y), ((x, y, ARROW),)
            else:
                yield from _onward_to(draft, x, y, np.flatnonzero(never[y]).tolist())
    for a, b in np.argwhere(known.said_causes & ~_directed(draft)).tolist():
        yield from _only_way(draft, a, b)


def _onward_to(draft: Draft, x: int, y: int, unreached: Iterable[int]) -> Iterator[Wanted]:
    """With a tail at y on x-y an uncovered possibly directed path makes y anterior to its end; not so if y is not."""
    for w in unreached:
        if w != x and draft.mark[x][y] == CIRCLE:
            path = uncovered_path(draft, y, x, w, step=lambda q: onward(draft, q), avoid=y)
            if path:
                yield path, ((x, y, ARROW),)
                return


def _only_way(draft: Draft, a: int, b: int) -> Iterator[Wanted]:
    """Of the edges that could lead from a cause to its effect, direct those without which none would.

    Pairs that are undecided may be edges, and lead there, too.
    """
    edges = {(p, q) for p in range(len(draft.mark)) for q in onward(draft, p) if not _stopped(draft, p, q)}
    ways = edges.union(pair for pair in draft.undecided() if not _stopped(draft, *pair))
    for p, q in sorted(edges):
        if not draft.directed(p, q) and not _leads(ways - {(p, q)}, a, b):
            yield (a, p, q, b), ((q, p, TAIL), (p, q, ARROW))


def _stopped(draft: Draft, p: int, q: int) -> bool:
    assert draft.known is not None
    return bool(draft.known.never[p, q])


def _leads(ways: set[End], a: int, b: int) -> bool:
    seen, stack = {a}, [a]
    while stack and b not in seen:
        v = stack.pop()
        new = {q for p, q in ways if p == v} - seen
        seen |= new
        stack += new
    return b in seen


def _directed(draft: Draft) -> Matrix:
    """Return the ancestors by directed edges alone."""
    direct = np.zeros((len(draft.mark), len(draft.mark)), dtype=bool)
    for x, around in enumerate(draft.mark):
        for y in around:
            direct[x, y] = draft.directed(x, y)
    return reach(direct)


def _around(known: Known, direct: Matrix, own: Matrix, x: int, y: int) -> tuple[int, ...]:
    """Return the path u, .., y, x, .., w where u does not cause w."""
    u, w = np.argwhere(known.never & own[:, [y]] & own[[x], :])[0].tolist()
    return (*_path(direct, u, y), *_path(direct, x, w))


def _path(direct: Matrix, a: int, b: int) -> tuple[int, ...]:
    """Return a shortest path of the relation from a to b; (a,) if they are the same."""
    origin: dict[int, int] = {a: a}
    queue = deque([a])
    while b not in origin:
        v = queue.popleft()
        for w in np.flatnonzero(direct[v]).tolist():
            if w not in origin:
                origin[w] = v
                queue.append(w)
    path = [b]
    while path[-1] != a:
        path.append(origin[path[-1]])
    return tuple(path[::-1])


def _premises_of_k1(use: RuleApplication, mark_at: MarkAt) -> Needs:
    x, y, _ = (*use.written, *use.refused)[0]
    steps = [(p, q) for p, q in pairwise(use.nodes) if {p, q} != {x, y}]
    return [end for p, q in steps for end in ((q, p), (p, q)) if mark_at(end) != CIRCLE], []


def _linked_in_words(use: RuleApplication, names: Sequence[str], scored: bool = False) -> str:
    x, y, mark = (*use.written, *use.refused)[0]
    first, last = names[use.nodes[0]], names[use.nodes[-1]]
    if use.nodes[1:-1] == ((x, y) if mark == ARROW else (y, x)):  # as the edge is directed: the only way
        return f"you stated that {first} causes {last}, and no other way is left"
    path = " to ".join(names[v] for v in use.nodes)
    if {use.nodes[0], use.nodes[-1]} == {x, y}:
        return f"{path}: the one is a cause of the other"
    return f"{path}: otherwise {first} would be a cause of {last}, and you stated that it is not"


K1 = Rule("K1", Stage.TAILS, _never, _premises_of_k1, _linked_in_words, least=2)


# --- K2, K3 -----------------------------------------------------------------------------------------------


def k2(draft: Draft, x: int, y: int) -> Wanted | None:
    """Without selection: if x --o y, then x --> y."""
    return ((x, y), ((x, y, ARROW),)) if draft.mark[y][x] == TAIL else None


def k3(draft: Draft, x: int, y: int) -> Wanted | None:
    """Without an unmeasured cause of x and y: if x <-o y, then x <-- y."""
    assert draft.known is not None
    return ((x, y), ((x, y, TAIL),)) if draft.mark[y][x] == ARROW and draft.known.unconfounded[x, y] else None


def _premises_across(use: RuleApplication, mark_at: MarkAt) -> Needs:
    x, y = use.nodes
    return [(y, x)], []


K2 = Rule(
    "K2",
    Stage.ARROWHEADS,
    k2,
    _premises_across,
    words("you stated that there is no selection, so not both ends of an edge are tails"),
    Wakes(new=(TAIL,)),
    least=2,
)
K3 = Rule(
    "K3",
    Stage.ARROWHEADS,
    k3,
    _premises_across,
    words("you stated that no unmeasured cause affects both, so not both ends of the edge are arrowheads"),
    Wakes(new=(ARROW,)),
    least=2,
)


# --- K4 ---------------------------------------------------------------------------------------------------


def k4(draft: Draft, d: int, b: int) -> Wanted | None:
    """If d --* a *-> b, or a *-> b <-* c and d is no collider between a and c, and d *-o b, then d *-> b."""
    into = [a for a in draft.mark[d] if draft.mark[a].get(b) == ARROW]
    for a in into:
        if draft.mark[a][d] == TAIL:
            return (d, a, b), ((d, b, ARROW),)
    for a, c in combinations(into, 2):
        if draft.gap(a, d, c) and ARROW not in (draft.mark[a][d], draft.mark[c][d]):
            return (a, b, c, d), ((d, b, ARROW),)
    return None


def _premises_of_k4(use: RuleApplication, mark_at: MarkAt) -> Needs:
    if len(use.nodes) == 3:
        d, a, b = use.nodes
        return [(a, d), (a, b)], []
    a, b, c, _ = use.nodes
    return [(a, b), (c, b)], [(a, c)]


K4 = Rule(
    "K4",
    Stage.ARROWHEADS,
    k4,
    _premises_of_k4,
    words("{path}: with a tail here a directed or almost directed cycle would close"),
    Wakes(),
)

STATED = {rule.name: rule for rule in (K0, K1, K2, K3, K4)}
"""The rules for what is known beforehand, by name."""


def rules_for(known: Known) -> list[Rule]:
    """Return those that these statements need; K1 is not needed where tiers say everything."""
    rules = [K0, K4]
    tiered = 0 not in known.tier or not known.never.any()
    by_tier = np.asarray(known.tier)
    if known.causes.any() or not tiered or (known.never & ~(by_tier[:, None] > by_tier[None, :])).any():
        rules.append(K1)
    if not known.selection:
        rules.append(K2)
    if known.unconfounded.any():
        rules.append(K3)
    return rules


def stated_for_engine(known: Known) -> Stated:
    """Return what is known as the compiled engine reads it.

    Examples
    --------
    >>> from lmarvel import Knowledge
    >>> known = Known.of(Knowledge(tiers=[["A"], ["B"]], edges=[("A", "B")]).statements, ["A", "B"])
    >>> stated_for_engine(known).pairs.tolist(), stated_for_engine(known).linked
    ([[0, 8], [10, 0]], False)
    """
    parts = (known.causes, known.never, known.said_causes, known.required, known.forbidden, known.unconfounded)
    pairs = sum((part.view(np.uint8) << bit for bit, part in enumerate(parts)), np.uint8(0))
    return Stated(np.ascontiguousarray(pairs, np.uint8), known.selection, known.latents, K1 in rules_for(known))
