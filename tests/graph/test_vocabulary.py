"""The paper's vocabulary on a hand-made graph, and against the definitions on random ones."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from lmarvel import MAG, PAG, GraphError, MixedGraph
from tests.graph import literal
from tests.graph.literal import ARROW, TAIL, THOROUGH, mixed_graphs, separable_graphs
from tests.truth.make_truth import load, marks_matrix

# M --- N select; M causes A; A and B cause C; C, D, E are confounded in a row; D has a cause F, E an effect G.
STUDY = MAG.from_edges(
    "M --- N", "M --> A", "A --> C", "B --> C", "C <-> D", "D <-> E", "F --> D", "E --> G", nodes=list("ABCDEFGMN")
)


@pytest.mark.parametrize(
    ("relation", "node", "expected"),
    [
        ("adjacent", "C", "ABD"),
        ("adjacent", "M", "NA"),
        ("parents", "C", "AB"),
        ("parents", "M", ""),
        ("parents", "D", "F"),
        ("children", "M", "A"),
        ("children", "E", "G"),
        ("children", "N", ""),
        ("spouses", "D", "CE"),
        ("spouses", "C", "D"),
        ("spouses", "A", ""),
        ("neighbors", "M", "N"),
        ("neighbors", "A", ""),
        ("district", "C", "DE"),
        ("district", "D", "CE"),
        ("district", "A", ""),
        ("pa_plus", "C", "ABDEF"),
        ("pa_plus", "E", "CDABF"),
        ("pa_plus", "G", "E"),
        ("pa_plus", "M", "N"),
        ("ancestors", "C", "CABM"),
        ("ancestors", "M", "M"),
        ("descendants", "M", "MAC"),
        ("descendants", "G", "G"),
        ("markov_boundary", "A", "MCBDEF"),
        ("markov_boundary", "M", "NA"),
        ("markov_boundary", "G", "E"),
        ("markov_boundary", "F", "DCEAB"),
    ],
)
def test_relation_of_the_study(relation: str, node: str, expected: str) -> None:
    assert getattr(STUDY, relation)(node) == set(expected)


def test_a_district_or_pa_plus_does_not_hold_the_node_itself() -> None:
    for v in STUDY.names:
        assert v not in STUDY.district(v) | STUDY.pa_plus(v) | STUDY.markov_boundary(v)


def test_delta_plus_in_is_the_size_of_the_largest_pa_plus() -> None:
    assert STUDY.delta_plus_in() == 5
    assert MixedGraph.from_edges().delta_plus_in() == 0


def test_ancestors_and_descendants_of_a_set() -> None:
    assert STUDY.ancestors(["D", "G"]) == set("DFGE")
    assert STUDY.descendants(["M", "E"]) == set("MACEG")
    assert STUDY.ancestors([]) == set()


def test_collider_paths_of_the_study() -> None:
    assert list(STUDY.collider_paths("A", "F")) == [("A", "C", "D", "F")]
    assert list(STUDY.collider_paths("F", "B")) == [("F", "D", "C", "B")]
    assert list(STUDY.collider_paths("M", "C")) == []
    assert list(STUDY.collider_paths("A", "C")) == [("A", "C")]
    assert list(STUDY.collider_paths("A", "A")) == []


def test_all_collider_paths_between_a_pair_are_listed() -> None:
    graph = MixedGraph.from_edges("A --> B", "A --> C", "B <-> C", "B <-> D", "C <-> D")
    assert set(graph.collider_paths("A", "D")) == {
        ("A", "B", "D"),
        ("A", "C", "D"),
        ("A", "B", "C", "D"),
        ("A", "C", "B", "D"),
    }


def test_possible_parents_of_a_pag() -> None:
    pag = PAG.from_edges("A o-> X", "B --> X", "C <-> X", "D o-o X", "X --> E", "F --o X", "G --- X")
    assert pag.possible_parents("X") == set("ABDF")
    assert pag.possible_parents("E") == {"X"}


# --- against the definitions ------------------------------------------------------------------------------


@given(mixed_graphs())
def test_relations_are_read_off_the_marks(graph: MixedGraph) -> None:
    names, marks = graph.names, graph.marks
    for v, name in enumerate(names):

        def linked(here: int, there: int, v: int = v) -> set[str]:
            return {names[w] for w in range(len(names)) if marks[w, v] == here and marks[v, w] == there}

        assert graph.parents(name) == linked(ARROW, TAIL)
        assert graph.children(name) == linked(TAIL, ARROW)
        assert graph.spouses(name) == linked(ARROW, ARROW)
        assert graph.neighbors(name) == linked(TAIL, TAIL)
        assert graph.adjacent(name) == {names[w] for w in range(len(names)) if marks[v, w]}


@given(mixed_graphs(circles=False))
def test_districts_and_ancestors_are_closures(graph: MixedGraph) -> None:
    names = graph.names
    for v, name in enumerate(names):
        above = literal.ancestors(graph, [v])
        assert graph.ancestors(name) == {names[u] for u in above}
        assert graph.descendants(name) == {names[w] for w in range(len(names)) if v in literal.ancestors(graph, [w])}
        joined = {
            w
            for w in range(len(names))
            for path in literal.simple_paths(graph, v, w)
            if all(graph.marks[a, b] == graph.marks[b, a] == ARROW for a, b in pairwise(path))
        } - {v}
        assert graph.district(name) == {names[w] for w in joined}
        parents = {u for d in joined | {v} for u in range(len(names)) if names[u] in graph.parents(d)}
        expected = {names[u] for u in joined | parents} | graph.neighbors(name)
        assert graph.pa_plus(name) == expected - {name}


@THOROUGH
@given(separable_graphs())
def test_collider_paths_are_those_of_the_enumeration(graph: MixedGraph) -> None:
    for a in range(len(graph)):
        for b in range(len(graph)):
            if a != b:
                expected = {
                    p for p in literal.simple_paths(graph, a, b) if len(literal.colliders(graph, p)) == len(p) - 2
                }
                found = [tuple(map(graph.index, p)) for p in graph.collider_paths(a, b)]
                assert len(found) == len(set(found))
                assert set(found) == expected


def mags_of_the_truth(count: int) -> list[MAG]:
    """A sample of all MAGs on four nodes, and of one MAG a class on five."""
    rng = np.random.default_rng(0)
    rows = {4: load(4)["mags"], 5: load(5)["representative"]}
    return [
        MAG("ABCDE"[:n], marks_matrix(found[k], n))
        for n, found in rows.items()
        for k in rng.choice(len(found), count, replace=False)
    ]


def test_the_markov_boundary_is_what_depends_on_x_given_all_the_rest() -> None:
    for mag in mags_of_the_truth(400):
        for x in range(len(mag)):
            rest = [v for v in range(len(mag)) if v != x]
            expected = {mag.names[y] for y in rest if literal.connected(mag, x, y, set(rest) - {y})}
            assert mag.markov_boundary(x) == expected


def test_x_is_removable_if_the_rest_keeps_its_separations() -> None:
    for mag in mags_of_the_truth(400):
        everything = literal.separations(mag)
        for x, name in enumerate(mag.names):
            place = [v for v in range(len(mag)) if v != x]
            rest = literal.separations(mag.subgraph(place))
            without = {(place[a], place[b], tuple(place[z] for z in zs)) for a, b, zs in rest}
            kept = {(a, b, zs) for a, b, zs in everything if x not in (a, b, *zs)}
            assert mag.is_removable(name) == (without == kept)


@pytest.mark.parametrize("method", ["markov_boundary", "is_removable"])
def test_a_graph_with_circles_has_no_boundary(method: str) -> None:
    with pytest.raises(GraphError, match="A-B has a circle"):
        getattr(MixedGraph.from_edges("A o-> B"), method)("A")


def test_unknown_nodes_are_named() -> None:
    for method in (STUDY.parents, STUDY.district, STUDY.ancestors, STUDY.markov_boundary, STUDY.is_removable):
        with pytest.raises(GraphError, match="unknown node 'Q'"):
            method("Q")
