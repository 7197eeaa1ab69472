"""Each rule fires exactly where its statement holds, also where the path that it needs is hard to find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from lmarvel.orient.arrowheads import all_colliders
from lmarvel.orient.draft import Draft
from lmarvel.orient.paths import discriminating_path, uncovered_path, uncovered_walk
from lmarvel.orient.rules import RULES
from lmarvel.orient.tails import all_rings
from tests.graph.literal import THOROUGH
from tests.orient import statements
from tests.orient.naive import circles
from tests.orient.statements import ARROW, CIRCLE, TAIL, draft_of, drafts, holds, random_draft, table

KINDS = {  # for each rule kinds of edge among which it often finds its premises
    "R1": "o-> o-o -->",
    "R2": "--> <-> o-> o-o",
    "R3": "o-> o-o --o",
    "R4": "--> <-> o->",
    "R6": "--- o-o --o",
    "R7": "--o o-o -->",
    "R8": "--> --o o->",
    "R9": "o-o o-> --> --o",
    "R10": "o-o o-> -->",
}


# --- rules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", KINDS)
def test_a_rule_resolves_a_circle_exactly_if_its_statement_holds(rule: str) -> None:
    rng = np.random.default_rng(0)
    fired = 0
    for n, density in [(5, 0.5), (6, 0.6), (6, 0.7)] * 250:
        draft = random_draft(rng, n, KINDS[rule], density)
        draft.is_collider = lambda *_: True
        marks = table(draft)
        possible = resolvable(rule, marks)
        for x, y in circles(draft):
            wanted = RULES[rule].resolve(draft, x, y)
            assert (wanted is not None) == ((x, y) in possible)
            if wanted is not None:
                fired += 1
                nodes, written = wanted
                c = x if rule == "R10" else None
                assert holds(rule, marks, nodes, c)
                assert set(written) == statements.conclusion(rule, nodes, collider=True, c10=c)
                assert any((x, y) == end[:2] for end in written)
        assert table(draft) == marks  # asking changes nothing
    assert fired >= 10


def resolvable(rule: str, marks: statements.Table) -> set[tuple[int, int]]:
    """The circles (x, y), at y on x-y, that some instance of the rule resolves."""
    if rule != "R10":
        return {statements.asked(rule, nodes) for nodes in statements.instances(rule, marks)}
    n = range(len(marks))
    return {(c, a) for c in n for a in n if marks[c][a] == CIRCLE and any(statements.instances_of_r10(marks, c, a))}


@pytest.mark.parametrize("kinds", ["o-o", "o-o o->", "o-o --- --o"])
def test_r5_finds_every_edge_on_a_circle_cycle(kinds: str) -> None:
    rng = np.random.default_rng(5)
    fired = 0
    for density in (0.4, 0.5, 0.6) * 100:
        draft = random_draft(rng, 6, kinds, density)
        marks = table(draft)
        closing = {frozenset((nodes[0], nodes[-1])) for nodes in statements.instances("R5", marks)}
        found = list(all_rings(draft))
        fired += len(found)
        assert {frozenset((nodes[0], nodes[-1])) for nodes, _ in found} == closing
        for nodes, written in found:
            assert holds("R5", marks, nodes)
            assert set(written) == statements.conclusion("R5", nodes)
    assert fired >= 10


@given(drafts())
def test_r0_asks_about_each_unshielded_triple_once(draft: Draft) -> None:
    marks = table(draft)
    asked = []

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        asked.append((a, b, c))
        assert v == a
        return (a + b + c) % 2 == 0

    draft.is_collider = is_collider
    found = list(all_colliders(draft))
    triples = {nodes for nodes in statements.instances("R0", marks) if nodes[0] < nodes[2]}
    assert set(asked) == triples
    assert len(asked) == len(triples)
    assert {nodes for nodes, _ in found} == {t for t in triples if sum(t) % 2 == 0}
    assert all(set(written) == statements.conclusion("R0", nodes) for nodes, written in found)


def test_r4_asks_with_the_far_end_of_the_path() -> None:
    v, a, b, c = range(4)  # v *-> a <-* b, a --> c, b o-* c
    draft = draft_of([[0, ARROW, 0, 0], [CIRCLE, 0, CIRCLE, ARROW], [0, ARROW, 0, CIRCLE], [0, TAIL, CIRCLE, 0]])
    asked = []

    def is_collider(*nodes: int) -> bool:
        asked.append(nodes)
        return False

    draft.is_collider = is_collider
    assert RULES["R4"].resolve(draft, c, b) == ((v, a, b, c), ((c, b, TAIL), (b, c, ARROW)))
    assert asked == [(v, a, b, c)]


# --- paths ------------------------------------------------------------------------------------------------


@THOROUGH
@given(drafts("--> --> <-> o->"))
def test_discriminating_paths_are_shortest_of_the_enumeration(draft: Draft) -> None:
    marks = table(draft)
    shortest: dict[tuple[int, int], int] = {}
    for path in statements.simple_paths(marks):
        if statements.discriminating(marks, path):
            shortest.setdefault((path[-2], path[-1]), len(path))
    for b in range(len(marks)):
        for c in draft.mark[b]:
            found = discriminating_path(draft, b, c)
            assert (found is not None) == ((b, c) in shortest)
            if found is not None:
                assert found[-2:] == (b, c)
                assert statements.discriminating(marks, found)
                assert len(found) == shortest[b, c]


@THOROUGH
@given(drafts("o-o o-> -->", max_nodes=7))
def test_uncovered_paths_are_found_exactly_if_there_are_any(draft: Draft) -> None:
    marks = table(draft)
    n = len(marks)
    exist = {
        (p[0], p[1], p[-1])
        for p in statements.simple_paths(marks)
        if len(p) > 2 and statements.uncovered(marks, p) and statements.potentially_directed(marks, p[1:])
    }

    def step(q: int) -> list[int]:
        return [r for r in draft.mark[q] if draft.possibly_directed(q, r)]

    for a in range(n):
        for first in draft.mark[a]:
            for goal in set(range(n)) - {a, first}:
                found = uncovered_path(draft, a, first, goal, step, avoid=a)
                assert (found is not None) == ((a, first, goal) in exist)
                if found is not None:
                    assert (found[0], found[1], found[-1]) == (a, first, goal)
                    assert statements.uncovered(marks, found)
                    assert statements.potentially_directed(marks, found[1:])


# The way from A over F to X and on to G is covered, since F and G are adjacent; after a turn round the ring X Y W Z it
# no longer is. That walk visits X twice, so it is no path.
LOOP = ["AF", "FX", "XY", "YW", "WZ", "ZX", "XG", "FG"]
DETOUR = ["WP", "PQ", "QR", "RS", "SG"]


def steps(edges: list[str], nodes: str) -> tuple[Draft, Callable[[int], list[int]]]:
    draft = Draft(len(nodes), [(nodes.index(x), nodes.index(y)) for x, y in edges])
    barred = {(nodes.index("F"), nodes.index("G"))}
    return draft, lambda q: [r for r in draft.mark[q] if (q, r) not in barred]


def test_a_walk_that_turns_in_a_ring_is_no_uncovered_path() -> None:
    nodes = "AFXYWZG"
    draft, step = steps(LOOP, nodes)
    a, f, g = (nodes.index(v) for v in "AFG")
    walk = uncovered_walk(draft, a, f, g, step, a, lambda d: True)
    assert walk is not None
    assert "".join(nodes[v] for v in walk) in ("AFXYWZXG", "AFXZWYXG")
    assert uncovered_path(draft, a, f, g, step, avoid=a) is None


def test_a_longer_path_is_found_behind_a_shorter_walk() -> None:
    nodes = "AFXYWZGPQRS"
    draft, step = steps(LOOP + DETOUR, nodes)
    a, f, g = (nodes.index(v) for v in "AFG")
    walk = uncovered_walk(draft, a, f, g, step, a, lambda d: True)
    assert walk is not None
    assert len(set(walk)) < len(walk)
    found = uncovered_path(draft, a, f, g, step, avoid=a)
    assert found is not None
    assert "".join(nodes[v] for v in found) in ("AFXYWPQRSG", "AFXZWPQRSG")


def test_the_last_node_but_one_can_be_restricted() -> None:
    draft = Draft(5, [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4)])
    for barred, last in ((2, 3), (3, 2)):
        found = uncovered_path(draft, 0, 1, 4, lambda q: draft.mark[q], avoid=0, last=lambda d, b=barred: d != b)
        assert found == (0, 1, last, 4)
    assert uncovered_path(draft, 0, 1, 4, lambda q: draft.mark[q], avoid=0, last=lambda d: False) is None
