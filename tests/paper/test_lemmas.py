"""The lemmas of the paper's appendix, each on every MAG with four nodes, and on larger ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import pytest
from hypothesis import given

from lmarvel import MAG, is_chordal_undirected, why_not_removable
from tests.generators import mags
from tests.paper import literal
from tests.paper.census import Census, all_classes, all_mags, sample_of_mags, subsets

censuses = pytest.mark.parametrize("census", [all_mags, all_classes, sample_of_mags])


def small_mags(every: int) -> list[MAG]:
    """All MAGs on four nodes, and one in ``every`` of the classes on five."""
    return [*all_mags().mags, *all_classes().mags[::every]]


def others(mag: MAG, *nodes: str) -> list[str]:
    return [v for v in mag.names if v not in nodes]


def removals(mag: MAG) -> list[str]:
    return [x for x in mag.names if mag.is_removable(x)]


# --- Lemma 1: if every parent of X is a parent of every child of X, removing X changes no descendants ------


def check_lemma_1(mag: MAG) -> None:
    for x in mag.names:
        rest = mag.subgraph(others(mag, x))
        MAG(rest.names, rest.marks)  # the induced subgraph is a MAG too
        if all(mag.parents(x) <= mag.parents(z) for z in mag.children(x)):
            assert all(mag.descendants(y) - {x} == rest.descendants(y) for y in rest.names)


def test_lemma_1_removal_preserves_descendants() -> None:
    for mag in small_mags(every=40):
        check_lemma_1(mag)


@given(mags())
def test_lemma_1_on_larger_mags(mag: MAG) -> None:
    check_lemma_1(mag)


def test_lemma_1_covers_removable_variables() -> None:
    for mag in small_mags(every=4):
        for x in removals(mag):
            assert all(mag.parents(x) <= mag.parents(z) for z in mag.children(x))


# --- Lemma 2: N(X) and the part of Pa+(X) above X or Y separate X from Y, if X is no ancestor of Y ---------


def check_lemma_2(mag: MAG) -> None:
    for x, y in permutations(mag.names, 2):
        if not mag.has_edge(x, y) and x not in mag.ancestors(y):
            w = mag.neighbors(x) | (mag.pa_plus(x) & mag.ancestors([x, y]))
            assert mag.m_separated(x, y, w - {x, y})


def test_lemma_2_parents_plus_above_the_pair_separate() -> None:
    for mag in small_mags(every=1):
        check_lemma_2(mag)


@given(mags())
def test_lemma_2_on_larger_mags(mag: MAG) -> None:
    check_lemma_2(mag)


# --- the footnote on Pa+: it separates X from its non-descendants, if X is no ancestor of its district -----


def check_footnote(mag: MAG) -> None:
    for x in mag.names:
        if x not in mag.ancestors(mag.district(x)):
            for y in set(mag.names) - mag.descendants(x) - mag.pa_plus(x):
                assert mag.m_separated(x, y, mag.pa_plus(x))


def test_footnote_parents_plus_separate_from_non_descendants() -> None:
    for mag in small_mags(every=2):
        check_footnote(mag)


@given(mags())
def test_footnote_on_larger_mags(mag: MAG) -> None:
    check_footnote(mag)


def test_footnote_needs_its_condition() -> None:
    """C is an ancestor of its district member A; Pa+(C) = {A, B, D} opens the path C --> D <-> E at D."""
    mag = MAG.from_edges("A <-> B", "B <-> C", "C --> D", "D --> A", "D <-> E")
    assert mag.pa_plus("C") == {"A", "B", "D"}
    assert "E" not in mag.descendants("C")
    assert not mag.m_separated("C", "E", mag.pa_plus("C"))


# --- Lemma 3: any two of Mb(X), X removable, are joined by a collider path inside Mb(X) + {X} --------------


def check_lemma_3(mag: MAG) -> None:
    for x in removals(mag):
        inside = mag.markov_boundary(x) | {x}
        for y, z in combinations(mag.markov_boundary(x), 2):
            assert z in mag.markov_boundary(y)
            assert y in mag.markov_boundary(z)
            assert any(inside.issuperset(path) for path in mag.collider_paths(y, z))


def test_lemma_3_boundary_of_a_removable_variable_is_joined_inside() -> None:
    for mag in small_mags(every=2):
        check_lemma_3(mag)


@given(mags(max_nodes=9))
def test_lemma_3_on_larger_mags(mag: MAG) -> None:
    check_lemma_3(mag)


# --- Lemma 4: X removable and W + {X} separates Y and Z, then W does ---------------------------------------


@censuses
def test_lemma_4_a_removable_variable_is_never_needed_to_separate(census: Callable[[], Census]) -> None:
    graphs = census()
    for x in graphs.nodes:
        removable = graphs.removable(x)
        for y, z in combinations(set(graphs.nodes) - {x}, 2):
            for w in subsets(set(graphs.nodes) - {x, y, z}):
                assert not (removable & graphs.separated(y, z, {*w, x}) & ~graphs.separated(y, z, w)).any()


# --- Lemma 5: X and the colliders of a collider path X .. Y are parents of Z, then what separates Y, Z holds X --


def test_lemma_5_such_an_x_is_in_every_separating_set() -> None:
    for mag in small_mags(every=8):
        for x, y in permutations(mag.names, 2):
            for path in mag.collider_paths(x, y):
                for z in others(mag, *path):
                    if mag.parents(z) >= set(path[:-1]):
                        for w in subsets(others(mag, x, y, z)):
                            assert not mag.m_separated(y, z, w)


# --- Lemma 6: X removable; a path without X is m-connecting in the MAG exactly if it is in the subgraph ----


def test_lemma_6_removal_blocks_and_opens_no_other_path() -> None:
    for mag in (*all_mags().mags, *sample_of_mags().mags[::250]):
        for x in removals(mag):
            check_lemma_6(mag, x)


def check_lemma_6(mag: MAG, x: str) -> None:
    rest = mag.subgraph(others(mag, x))
    for y, z in combinations(rest.names, 2):
        for path in literal.paths(rest, y, z):
            for w in subsets(others(rest, y, z)):
                assert literal.is_connecting(mag, path, w) == literal.is_connecting(rest, path, w)


@pytest.mark.slow
def test_lemma_6_needs_condition_1_only() -> None:
    """The proof of Theorem 1 uses Lemma 6 to show that X is removable, which Lemma 6 assumes: a circle.

    It is a harmless one. Lemma 6 rests on Lemma 1 alone, and what that assumes follows from Condition 1 of Theorem 1.
    """
    for mag in (*all_mags().mags, *sample_of_mags().mags[::250]):
        for x in mag.names:
            witness = why_not_removable(mag, x)
            if witness is not None and witness.condition == 1:
                continue
            assert all(mag.parents(x) <= mag.parents(z) for z in mag.children(x))
            check_lemma_6(mag, x)
    check_lemma_6(MAG.from_edges("X --> V", "V <-> W", "Y --> W", "X --> Z", "V --> Z", "W --> Z"), "X")


# --- Lemma 7: V0, V1, X, V2 on a path, X no collider, V1 and V2 adjacent: if leaving X out changes whether V1 is a
# collider, then X and V1 are parents of V2 --------------------------------------------------------------


@censuses
def test_lemma_7_a_short_cut_changes_a_collider_only_between_parents(census: Callable[[], Census]) -> None:
    graphs = census()
    arrow = graphs.marks == literal.ARROW
    for v0, v1, x, v2 in permutations(graphs.nodes, 4):
        path = graphs.adjacent(v0, v1) & graphs.adjacent(v1, x) & graphs.adjacent(x, v2)
        assumed = path & graphs.adjacent(v1, v2) & ~(arrow[v1, x] & arrow[v2, x])
        changes = (arrow[v0, v1] & arrow[x, v1]) != (arrow[v0, v1] & arrow[v2, v1])
        parents = graphs.parent(x, v2) & graphs.parent(v1, v2)
        assert parents[assumed & changes].all()
        assert (assumed & changes).any()


# --- Lemma 8: no vertex of a chordless undirected cycle is removable, in any induced subgraph with the cycle ---


def chordless_cycles(mag: MAG) -> list[frozenset[str]]:
    """Find the node sets of induced undirected cycles of four or five nodes."""
    return [
        frozenset(nodes)
        for length in (4, 5)
        for nodes in combinations(mag.names, length)
        if all(len(mag.adjacent(v) & set(nodes)) == len(mag.neighbors(v) & set(nodes)) == 2 for v in nodes)
    ]


def check_lemma_8(mag: MAG) -> None:
    for cycle in chordless_cycles(mag):
        for extra in subsets(others(mag, *cycle)[:4]):
            part = mag.subgraph([*cycle, *extra])
            assert not any(part.is_removable(v) for v in cycle)


def test_lemma_8_is_false_for_triangles() -> None:
    """The definition of a non-chordal cycle gives no length; read so, a triangle is one, and Lemma 8 fails."""
    triangle = MAG.from_edges("A --- B", "B --- C", "C --- A")
    assert all(triangle.adjacent(v) == triangle.neighbors(v) for v in triangle.names)  # no other edge: "non-chordal"
    assert removals(triangle) == ["A", "B", "C"]
    assert is_chordal_undirected(triangle)


def test_lemma_8_no_vertex_of_a_chordless_cycle_is_removable() -> None:
    assert len(all_classes().cyclic) == 307
    for mag in (*all_mags().mags, *all_classes().cyclic):
        check_lemma_8(mag)


@given(mags(heavy=True))
def test_lemma_8_on_larger_mags(mag: MAG) -> None:
    check_lemma_8(mag)


# --- Lemma 9: without chordless undirected cycles there is a removable variable, whatever variables remain ---


def test_lemma_9_a_removable_variable_exists_in_each_part_exactly_without_chordless_cycles() -> None:
    for mag in (*small_mags(every=50), *all_classes().cyclic):
        parts = (mag.subgraph(kept) for kept in subsets(mag.names) if kept)
        assert all(map(removals, parts)) == (chordless_cycles(mag) == [])


@pytest.mark.slow
def test_lemma_9_holds_for_the_mags_of_all_marginals() -> None:
    for mag in small_mags(every=80):
        if not chordless_cycles(mag):
            for dropped in subsets(mag.names):
                if len(dropped) < len(mag):
                    marginal = mag.project(latent=dropped)
                    assert chordless_cycles(marginal) == []
                    assert removals(marginal)


@given(mags())
def test_lemma_9_on_larger_mags(mag: MAG) -> None:
    if is_chordal_undirected(mag):
        while len(mag) > 1:
            assert removals(mag)
            mag = mag.project(latent=[mag.names[0]])
            assert is_chordal_undirected(mag)


# --- what docs/theory.md adds: in a MAG the neighbours of Y separate it from any Z without arrowheads ------


def check_neighbours(mag: MAG) -> None:
    for y, z in permutations(mag.names, 2):
        if mag.neighbors(y) and mag.neighbors(z) and not mag.has_edge(y, z):
            assert mag.pa_plus(y) == mag.neighbors(y)
            assert mag.m_separated(y, z, mag.neighbors(y))


def test_neighbours_of_y_separate_it_from_others_with_neighbours() -> None:
    for mag in small_mags(every=1):
        check_neighbours(mag)


@given(mags(heavy=True))
def test_neighbours_on_larger_mags(mag: MAG) -> None:
    check_neighbours(mag)
