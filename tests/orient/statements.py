"""The orientation rules as Zhang (2008) states them, word for word and with no search: what the rules are judged by.

A state is a table ``m`` with ``m[x][y]`` the mark at y on the edge x-y, 0 where there is none. An *instance* of a rule
is the tuple of nodes that :class:`lmarvel.orient.draft.RuleApplication` records, in the letters of the rule:

=====  =============================================  =====  ==================================================
R0-R2  (a, b, c)                                      R6-R8  (a, b, c)
R3     (a, b, c, d)                                   R9     the path (a, b, .., c)
R4     the discriminating path (v, .., a, b, c)       R10    (a, .., b, c, d, ..): there to b, and back from d to a
R5     the circle path (a, c, .., d, b)
=====  =============================================  =====  ==================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise, permutations

import numpy as np
from hypothesis import strategies as st

from lmarvel.graph.marks import parse_edge
from lmarvel.orient.draft import Draft

CIRCLE, ARROW, TAIL = 1, 2, 3
Table = list[list[int]]
Nodes = tuple[int, ...]
Mark = tuple[int, int, int]


def uncovered(m: Table, path: Nodes) -> bool:
    """A path on which the ends of every triple are not adjacent."""
    return (
        len(set(path)) == len(path)
        and all(m[a][b] for a, b in pairwise(path))
        and all(not m[a][c] for a, c in zip(path, path[2:], strict=False))
    )


def potentially_directed(m: Table, path: Nodes) -> bool:
    """No edge of the path is into its earlier node or out of its later one."""
    return all(m[b][a] != ARROW and m[a][b] != TAIL for a, b in pairwise(path))


def discriminating(m: Table, path: Nodes) -> bool:
    """(v, .., a, b, c): v and c are not adjacent, each node between v and b is a collider and a parent of c."""
    if len(path) < 4 or len(set(path)) < len(path) or not all(m[x][y] for x, y in pairwise(path)):
        return False
    v, c = path[0], path[-1]
    return not m[v][c] and all(
        m[before][q] == ARROW and m[after][q] == ARROW and m[q][c] == ARROW and m[c][q] == TAIL
        for before, q, after in zip(path, path[1:-2], path[2:], strict=False)
    )


def split_r10(nodes: Nodes, c: int) -> tuple[Nodes, Nodes]:
    """The two paths of R10: (a, .., b) and (a, .., d)."""
    turn = nodes.index(c)
    return nodes[:turn], (nodes[0], *nodes[:turn:-1])


def holds(rule: str, m: Table, nodes: Nodes, c10: int | None = None) -> bool:
    """Tell whether ``nodes`` are an instance of the rule; R10 needs to be told which node is its c."""
    if rule == "R4":
        return discriminating(m, nodes) and m[nodes[-1]][nodes[-2]] == CIRCLE
    if rule == "R5":
        ring = (*nodes, nodes[0])
        return (
            len(nodes) >= 4
            and uncovered(m, nodes)
            and all(m[x][y] == m[y][x] == CIRCLE for x, y in pairwise(ring))
            and not m[nodes[0]][nodes[-2]]
            and not m[nodes[-1]][nodes[1]]
        )
    if rule == "R9":
        a, b, c = nodes[0], nodes[1], nodes[-1]
        half_arrow = m[a][c] == ARROW and m[c][a] == CIRCLE
        return half_arrow and len(nodes) > 3 and not m[b][c] and uncovered(m, nodes) and potentially_directed(m, nodes)
    if rule == "R10":
        assert c10 is not None
        one, other = split_r10(nodes, c10)
        a, b, d = nodes[0], one[-1], other[-1]
        ends = all(m[e][c10] == ARROW and m[c10][e] == TAIL for e in (b, d))
        paths = all(
            len(p) > 1 and uncovered(m, p) and potentially_directed(m, p) and c10 not in p for p in (one, other)
        )
        apart = b != d and one[1] != other[1] and not m[one[1]][other[1]]
        return m[a][c10] == ARROW and m[c10][a] == CIRCLE and ends and paths and apart
    return len(set(nodes)) == len(nodes) and _LOCAL[rule](m, *nodes)


_LOCAL: dict[str, Callable[..., bool]] = {
    "R0": lambda m, a, b, c: bool(m[a][b] and m[b][c] and not m[a][c]),
    "R1": lambda m, a, b, c: m[a][b] == ARROW and m[c][b] == CIRCLE and not m[a][c],
    "R2": lambda m, a, b, c: m[a][b] == ARROW and m[b][c] == ARROW and TAIL in (m[b][a], m[c][b]) and m[a][c] == CIRCLE,
    "R3": lambda m, a, b, c, d: (
        m[a][b] == m[c][b] == ARROW and m[a][d] == m[c][d] == CIRCLE and not m[a][c] and m[d][b] == CIRCLE
    ),
    "R6": lambda m, a, b, c: m[a][b] == m[b][a] == TAIL and m[c][b] == CIRCLE,
    "R7": lambda m, a, b, c: m[b][a] == TAIL and m[a][b] == CIRCLE and m[c][b] == CIRCLE and not m[a][c],
    "R8": lambda m, a, b, c: (
        m[b][a] == TAIL
        and m[a][b] in (ARROW, CIRCLE)
        and m[b][c] == ARROW
        and m[c][b] == TAIL
        and m[a][c] == ARROW
        and m[c][a] == CIRCLE
    ),
}


def conclusion(rule: str, nodes: Nodes, collider: bool = False, c10: int | None = None) -> set[Mark]:
    """The marks that an instance of the rule gives; R4 needs to know whether its b is a collider."""
    if rule == "R4":
        a, b, c = nodes[-3:]
        return {(a, b, ARROW), (c, b, ARROW), (b, c, ARROW)} if collider else {(c, b, TAIL), (b, c, ARROW)}
    if rule == "R5":
        return {end for x, y in pairwise((*nodes, nodes[0])) for end in ((x, y, TAIL), (y, x, TAIL))}
    if rule == "R9":
        return {(nodes[-1], nodes[0], TAIL)}
    if rule == "R10":
        assert c10 is not None
        return {(c10, nodes[0], TAIL)}
    a, b, c, *rest = nodes
    return {
        "R0": {(a, b, ARROW), (c, b, ARROW)},
        "R1": {(c, b, TAIL), (b, c, ARROW)},
        "R2": {(a, c, ARROW)},
        "R3": {(d, b, ARROW) for d in rest},
        "R6": {(c, b, TAIL)},
        "R7": {(c, b, TAIL)},
        "R8": {(c, a, TAIL)},
    }[rule]


def simple_paths(m: Table) -> Iterator[Nodes]:
    """All paths of two nodes or more that visit no node twice, shorter ones first."""
    paths = [(x,) for x in range(len(m))]
    while paths:
        paths = [(*path, y) for path in paths for y in range(len(m)) if m[path[-1]][y] and y not in path]
        yield from paths


def instances(rule: str, m: Table) -> Iterator[Nodes]:
    """Every instance of a rule, by trying all tuples of nodes; not for R10, whose two paths may share nodes."""
    tries = simple_paths(m) if rule in ("R4", "R5", "R9") else permutations(range(len(m)), 4 if rule == "R3" else 3)
    return (nodes for nodes in tries if holds(rule, m, nodes))


def instances_of_r10(m: Table, c: int, a: int) -> Iterator[Nodes]:
    """Every instance of R10 for the edge a o-> c."""
    rest = [v for v in range(len(m)) if v not in (a, c)]
    tails = [t for size in range(1, len(rest) + 1) for t in permutations(rest, size)]
    paths = [(a, *t) for t in tails if uncovered(m, (a, *t)) and potentially_directed(m, (a, *t))]
    for one in paths:
        for other in paths:
            nodes = (*one, c, *other[:0:-1])
            if holds("R10", m, nodes, c):
                yield nodes


def asked(rule: str, nodes: Nodes) -> tuple[int, int]:
    """The circle (x, y), at y on x-y, that an instance of the rule resolves."""
    if rule == "R4":
        return nodes[-1], nodes[-2]
    if rule == "R9":
        return nodes[-1], nodes[0]
    a, b, c, *rest = nodes
    return {"R1": (c, b), "R2": (a, c), "R3": (*rest, b), "R6": (c, b), "R7": (c, b), "R8": (c, a)}[rule]  # type: ignore[return-value]


# --- drafts -----------------------------------------------------------------------------------------------


def table(draft: Draft) -> Table:
    """The marks of a draft as a table."""
    return draft.matrix().tolist()


def draft_of(marks: np.ndarray | Table) -> Draft:
    """A draft with these marks."""
    n = len(marks)
    draft = Draft(n, [(x, y) for x in range(n) for y in range(x + 1, n) if marks[x][y]])
    for x in range(n):
        for y in draft.mark[x]:
            draft.mark[x][y] = int(marks[x][y])
    return draft


def kinds_of(text: str) -> list[tuple[int, int]]:
    """Kinds of edge, such as "--> o-o", each read in both directions."""
    edges = [parse_edge(f"A {glyph} B") for glyph in text.split()]
    return [(int(e.at_a), int(e.at_b)) for edge in edges for e in (edge, edge.reversed())]


def random_draft(rng: np.random.Generator, n: int, kinds: str, density: float) -> Draft:
    """A draft in which each pair has an edge with this chance, of one of these kinds."""
    marks = [[0] * n for _ in range(n)]
    choices = kinds_of(kinds)
    for x, y in combinations(range(n), 2):
        if rng.random() < density:
            marks[y][x], marks[x][y] = choices[rng.integers(len(choices))]
    return draft_of(marks)


@st.composite
def drafts(draw: st.DrawFn, kinds: str = "o-o o-> --> <-> --o ---", min_nodes: int = 4, max_nodes: int = 6) -> Draft:
    """Draw a draft with edges of these kinds."""
    n = draw(st.integers(min_nodes, max_nodes))
    marks = [[0] * n for _ in range(n)]
    for x, y in combinations(range(n), 2):
        marks[y][x], marks[x][y] = draw(st.sampled_from([(0, 0), *kinds_of(kinds)]))
    return draft_of(marks)
