"""The worklist: it misses nothing, every step is an instance of its rule, and no mark is ever overwritten."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, mag_to_pag
from lmarvel.orient.draft import Draft, IsCollider, RuleApplication
from lmarvel.orient.equivalence import orient_mag
from lmarvel.orient.rules import RULES
from lmarvel.orient.worklist import Agenda, Oriented, orient
from tests.generators import mags, random_mag, shuffled
from tests.orient import statements
from tests.orient.naive import Edges, circles, contradictory, fixpoint, skeleton_of, truth_of
from tests.orient.statements import ARROW, CIRCLE, TAIL, Table


def blank(n: int, edges: Edges) -> Table:
    m = [[0] * n for _ in range(n)]
    for x, y in edges:
        m[x][y] = m[y][x] = CIRCLE
    return m


# --- the worklist and its readable twin -------------------------------------------------------------------

SEEDS = (0, 1, 4, 8, 10, 12, 13, 19, 21, 22, 28, 29, 33, 36, 39)  # chosen so that every rule is used


def large_example(seed: int) -> MAG:
    rng = np.random.default_rng(seed)
    n, heavy = int(rng.integers(30, 61)), seed % 4 == 0
    mag = random_mag(rng, n, latent=n // 4, selection=2, degree=float(rng.uniform(2, 5)), heavy=heavy)
    return shuffled(rng, mag)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_worklist_misses_nothing_that_sweeps_find(seed: int) -> None:
    mag = large_example(seed)
    expected = fixpoint(len(mag), skeleton_of(mag), truth_of(mag))
    assert np.array_equal(orient_mag(mag).marks, expected.matrix())


def test_the_large_examples_use_every_rule() -> None:
    used = {step.rule for seed in SEEDS for step in orient_mag(large_example(seed)).log}
    assert used == set(RULES)


@given(mags(4, 10), st.booleans())
def test_the_worklist_misses_nothing_on_small_graphs(mag: MAG, selection: bool) -> None:
    found = orient_mag(mag, selection)
    assert np.array_equal(found.marks, fixpoint(len(mag), skeleton_of(mag), truth_of(mag), selection).matrix())


# Answers that contradict each other make rules want different marks at one end. The first that asks gets it, so the
# marks depend on the order in which circles are asked about, which is not the same in the worklist and its twin.
# What can be held against such answers is that the worklist stops where no rule is left to apply.


def nothing_left(found: Oriented, is_collider: IsCollider) -> bool:
    """Tell whether no rule that is asked circle by circle can resolve any."""
    draft = statements.draft_of(found.marks)
    draft.is_collider = is_collider
    asked = [rule for rule in RULES.values() if rule.everywhere is None]
    return not any(rule.resolve(draft, x, y) for rule in asked for x, y in circles(draft))


def test_no_rule_is_left_to_apply_even_if_the_answers_contradict_each_other() -> None:
    rng = np.random.default_rng(6)
    for seed in range(2000):
        n, density = int(rng.integers(5, 10)), rng.uniform(0.3, 0.7)
        edges = [(x, y) for x, y in combinations(range(n), 2) if rng.random() < density]
        is_collider = contradictory(seed)
        assert nothing_left(orient(n, edges, is_collider), is_collider)


def test_an_arrowhead_far_from_the_circle_can_complete_its_discriminating_path() -> None:
    """The last arrowhead is written at an inner node of the path, two edges away from the circle that R4 resolves."""
    edges = [(0, 1), (0, 3), (0, 4), (0, 5), (0, 6), (1, 2), (1, 3), (1, 4), (1, 5), (3, 4), (4, 6)]
    is_collider = contradictory(764312)
    found = orient(7, edges, is_collider)
    assert found.marks[0, 6] != CIRCLE
    assert nothing_left(found, is_collider)


# --- the log ----------------------------------------------------------------------------------------------


def check_step(step: RuleApplication, m: Table, before_r5: Table, is_collider: IsCollider) -> None:
    """The step is an instance of its rule on the marks before it; R5 is read off the marks before its first use."""
    state = before_r5 if step.rule == "R5" else m
    c10 = (*step.written, *step.refused)[0][0] if step.rule == "R10" else None
    assert statements.holds(step.rule, state, step.nodes, c10)
    if step.rule in ("R0", "R4"):
        v, (a, b, c) = step.nodes[0], step.nodes[-3:]
        collider = is_collider(v, a, b, c)
        assert collider or step.rule == "R4"
    else:
        collider = False
    wanted = statements.conclusion(step.rule, step.nodes, collider, c10)
    assert set(step.written) == {(x, y, mark) for x, y, mark in wanted if m[x][y] == CIRCLE}
    assert set(step.refused) == {(x, y, mark) for x, y, mark in wanted if m[x][y] not in (CIRCLE, mark)}
    assert step.written or step.refused


def replay(n: int, edges: Edges, found: Oriented, is_collider: IsCollider) -> None:
    """Go through the log from the bare skeleton, check every step, and arrive at the result."""
    m = blank(n, edges)
    before_r5: Table | None = None
    for step in found.log:
        if step.rule == "R5" and before_r5 is None:
            before_r5 = [row[:] for row in m]
        check_step(step, m, before_r5 or m, is_collider)
        for x, y, mark in step.written:
            assert m[x][y] == CIRCLE  # a mark is written once
            m[x][y] = mark
    assert m == found.marks.tolist()


@given(mags(6, 10))
def test_every_step_is_an_instance_of_its_rule(mag: MAG) -> None:
    found = orient_mag(mag)
    replay(len(mag), skeleton_of(mag), found, truth_of(mag))
    assert not any(step.refused for step in found.log)  # a true graph gives no contradictions


@given(mags(6, 10), st.integers(0, 10**6))
def test_contradictory_answers_end_without_overwriting_a_mark(mag: MAG, seed: int) -> None:
    is_collider = contradictory(seed)
    replay(len(mag), skeleton_of(mag), orient(len(mag), skeleton_of(mag), is_collider), is_collider)


@given(mags(6, 10), st.integers(0, 10**6))
def test_arrowheads_come_first_then_the_tails(mag: MAG, seed: int) -> None:
    for is_collider in (truth_of(mag), contradictory(seed)):
        order = [step.rule for step in orient(len(mag), skeleton_of(mag), is_collider).log]
        assert order[: order.count("R0")] == ["R0"] * order.count("R0")
        if "R5" in order:
            first = order.index("R5")
            assert set(order[:first]) <= {"R0", "R1", "R2", "R3", "R4"}
            assert set(order[first : first + order.count("R5")]) == {"R5"}


@given(mags(6, 12))
def test_marks_of_the_pag_are_marks_of_the_mag(mag: MAG) -> None:
    pag = mag_to_pag(mag)
    settled = pag.marks != CIRCLE
    assert np.array_equal(pag.marks[settled], mag.marks[settled])


# --- conflicts --------------------------------------------------------------------------------------------

# V *-> A <-* B and A --> C make V, A, B, C a discriminating path for B. X and Y prove that B --> A, but the separating
# set of V and C lacks B, which would make B a collider between A and C.
CONFLICT = ["VA", "AB", "AC", "BC", "XB", "YB", "XC", "YC"]
COLLIDERS = {"VAB", "XBY", "XCY", "XCA", "YCA", "ACX", "ACY"}


def test_a_conflict_is_recorded_and_nothing_is_overwritten() -> None:
    nodes = "VABCXY"

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        if nodes[v] + nodes[c] == "VC" and nodes[b] == "B":
            return True  # the contradiction
        triple = nodes[a] + nodes[b] + nodes[c]
        return bool({triple, triple[::-1]} & COLLIDERS)

    edges = [(nodes.index(x), nodes.index(y)) for x, y in CONFLICT]
    found = orient(len(nodes), edges, is_collider)
    v, a, b, c = range(4)
    clashes = [step for step in found.log if step.refused]
    assert [step.rule for step in clashes] == ["R4"]
    assert clashes[0].nodes == (v, a, b, c)
    assert clashes[0].refused == ((a, b, ARROW),)
    assert (found.marks[b, a], found.marks[a, b]) == (ARROW, TAIL)  # as R1 left it
    assert found.marks[c, b] == ARROW  # what R4 could write, it wrote
    replay(len(nodes), edges, found, is_collider)


def test_a_draft_refuses_to_change_a_mark() -> None:
    draft = Draft(2, [(0, 1)])
    first = draft.apply("R1", (0, 1), [(0, 1, ARROW), (1, 0, TAIL)])
    assert first == RuleApplication("R1", (0, 1), ((0, 1, ARROW), (1, 0, TAIL)))
    assert draft.apply("R1", (0, 1), [(0, 1, ARROW)]) is None  # stands there already
    second = draft.apply("R6", (1, 0), [(0, 1, TAIL)])
    assert second == RuleApplication("R6", (1, 0), (), ((0, 1, TAIL),))
    assert draft.log == [first, second]
    assert draft.directed(0, 1)


def test_what_can_be_written_is_written_beside_what_is_refused() -> None:
    draft = Draft(3, [(0, 1), (1, 2)])
    draft.apply("R0", (), [(0, 1, ARROW)])
    step = draft.apply("R5", (), [(0, 1, TAIL), (1, 0, TAIL)])
    assert step == RuleApplication("R5", (), ((1, 0, TAIL),), ((0, 1, TAIL),))


def test_a_refusal_that_repeats_itself_is_logged_once() -> None:
    draft = Draft(2, [(0, 1)])
    draft.apply("R0", (), [(0, 1, ARROW)])
    for _ in range(3):
        draft.apply("R6", (1, 0), [(0, 1, TAIL)])
    assert [step.rule for step in draft.log] == ["R0", "R6"]


# --- without selection ------------------------------------------------------------------------------------


@given(mags(6, 10, heavy=True))
def test_without_selection_rules_5_to_7_are_off(mag: MAG) -> None:
    assert not {"R5", "R6", "R7"} & {step.rule for step in orient_mag(mag, selection=False).log}


def test_without_selection_a_ring_keeps_its_circles() -> None:
    ring = MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A", "A --> X", "X --> Y")
    assert mag_to_pag(ring, selection=False).marks.max() == CIRCLE
    assert {step.rule for step in orient_mag(ring).log} == {"R5", "R6", "R7"}


def test_without_selection_the_other_rules_stay_on() -> None:
    diamond = MAG.from_edges("D --> A", "D --> B", "A --> C", "B --> C")
    assert mag_to_pag(diamond, selection=False) == mag_to_pag(diamond)


# --- ambiguous triples ------------------------------------------------------------------------------------


def test_an_ambiguous_triple_proves_nothing() -> None:
    """Below the collider A, C, B it takes one triple A, C, D or B, C, D that is known to be none, to prove C --> D."""
    edges, collider = [(0, 2), (1, 2), (2, 3)], {(0, 2, 1)}
    known = frozenset({(0, 2, 3)})
    for ambiguous, directed in ((frozenset(), True), (known, True), (known | {(1, 2, 3)}, False)):
        marks = orient(4, edges, lambda v, a, b, c: (a, b, c) in collider, ambiguous=ambiguous).marks
        assert (marks[2, 3] == ARROW and marks[3, 2] == TAIL) == directed
        assert marks[0, 2] == marks[1, 2] == ARROW


@given(mags(5, 10), st.randoms(use_true_random=False))
def test_marks_found_in_spite_of_ambiguous_triples_are_true(mag: MAG, random: Random) -> None:
    skeleton = mag.skeleton().marks.tolist()
    triples = [t for t in statements.instances("R0", skeleton) if t[0] < t[2]]
    ambiguous = frozenset(t for t in triples if random.random() < 0.3)
    truth = truth_of(mag)

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        return (min(a, c), b, max(a, c)) not in ambiguous and truth(v, a, b, c)

    marks = orient(len(mag), skeleton_of(mag), is_collider, ambiguous=ambiguous).marks
    settled = marks != CIRCLE
    assert np.array_equal(marks[settled], mag.marks[settled])


# --- size and form ----------------------------------------------------------------------------------------


def test_a_thousand_node_mag_orients() -> None:
    mag = random_mag(np.random.default_rng(3), 1000, latent=100, selection=10, degree=2.5)
    pag = mag_to_pag(mag)
    settled = pag.marks != CIRCLE
    assert np.array_equal(pag.marks[settled], mag.marks[settled])
    assert {int(m) for m in np.unique(pag.marks)} == {0, CIRCLE, ARROW, TAIL}


def test_graphs_without_edges_orient() -> None:
    assert orient(0, [], lambda *_: True).log == ()
    assert orient(3, [], lambda *_: True).marks.tolist() == [[0] * 3] * 3


def test_the_agenda_holds_each_circle_once_and_in_order() -> None:
    agenda = Agenda()
    for circle in [(0, 1), (1, 0), (0, 1), (2, 1)]:
        agenda.push(circle)
    assert agenda.pop() == (0, 1)
    agenda.push((0, 1))
    assert [agenda.pop() for _ in range(3)] == [(1, 0), (2, 1), (0, 1)]
    assert not agenda
