"""The mark matrix: its orientation, equality, and that a graph never changes."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from lmarvel import DAG, MAG, PAG, Edge, GraphError, Mark, MixedGraph
from lmarvel.graph.marks import positions
from tests.graph.literal import mixed_graphs

CHAIN = MixedGraph.from_edges("A --> B", "B o-> C", nodes=["A", "B", "C", "D"])


# --- orientation ------------------------------------------------------------------------------------------


def test_marks_i_j_is_the_mark_at_j() -> None:
    assert CHAIN.marks[0, 1] == Mark.ARROW  # at B on A --> B
    assert CHAIN.marks[1, 0] == Mark.TAIL  # at A
    assert CHAIN.marks[1, 2] == Mark.ARROW  # at C on B o-> C
    assert CHAIN.marks[2, 1] == Mark.CIRCLE
    assert not CHAIN.marks[3].any()


def test_the_matrix_and_the_text_build_the_same_graph() -> None:
    assert MixedGraph("ABCD", [[0, 2, 0, 0], [3, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0]]) == CHAIN


def test_the_codes_are_those_of_pcalg() -> None:
    assert [int(m) for m in (Mark.NONE, Mark.CIRCLE, Mark.ARROW, Mark.TAIL)] == [0, 1, 2, 3]


@given(arrays(np.int8, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6), elements=st.integers(0, 3)))
def test_positions_are_those_of_numpy(matrix: np.ndarray) -> None:
    for one in (matrix, matrix.T, matrix > 1, matrix[::2, ::-1]):
        assert np.array_equal(positions(one), np.argwhere(one))


@given(mixed_graphs())
def test_edges_hold_each_pair_once_and_rebuild_the_graph(graph: MixedGraph) -> None:
    edges = list(graph.edges())
    assert len({frozenset(e[:2]) for e in edges}) == len(edges) == graph.n_edges
    assert MixedGraph.from_edges(*edges, nodes=graph.names) == graph
    assert MixedGraph.from_edges(*(e.reversed() for e in edges), nodes=graph.names) == graph
    assert all(e.at_a != Mark.ARROW or e.at_b == Mark.ARROW for e in edges)  # read along the arrow


@given(mixed_graphs())
def test_edge_reads_from_its_first_argument(graph: MixedGraph) -> None:
    for i, a in enumerate(graph.names):
        for j, b in enumerate(graph.names):
            edge = graph.edge(a, b)
            assert graph.has_edge(a, b) == (edge is not None) == bool(graph.marks[i, j])
            if edge is not None:
                assert edge == Edge(a, b, Mark(graph.marks[j, i]), Mark(graph.marks[i, j]))
                assert graph.edge(b, a) == edge.reversed()


@given(mixed_graphs())
def test_links_hold_near_and_far_marks(graph: MixedGraph) -> None:
    for v, links in enumerate(graph.links):
        expected = [(w, graph.marks[w, v], graph.marks[v, w]) for w in range(len(graph)) if graph.marks[v, w]]
        assert list(links) == expected


def test_nodes_can_be_given_by_position() -> None:
    assert CHAIN.edge(0, 1) == CHAIN.edge("A", "B")
    assert CHAIN.index(np.int64(2)) == CHAIN.index("C") == 2


@pytest.mark.parametrize("node", [-1, 4, 1.0, None, "", "a", ("A",)])
def test_what_is_no_node_is_refused(node: object) -> None:
    with pytest.raises(GraphError, match=r"unknown node .*A, B, C, D"):
        CHAIN.index(node)  # type: ignore[arg-type]


# --- equality ---------------------------------------------------------------------------------------------


@given(mixed_graphs(), st.data())
def test_equality_and_hash_do_not_depend_on_the_order_of_nodes(graph: MixedGraph, data: st.DataObject) -> None:
    other = graph.reordered(data.draw(st.permutations(graph.names)))
    assert other == graph
    assert hash(other) == hash(graph)
    assert {other, graph} == {graph}


@given(mixed_graphs(), mixed_graphs())
def test_graphs_are_equal_only_if_every_edge_is(a: MixedGraph, b: MixedGraph) -> None:
    same = set(a.names) == set(b.names) and all(a.edge(u, v) == b.edge(u, v) for u in a.names for v in a.names)
    assert (a == b) is same
    assert (a != b) is not same


def test_graphs_of_different_kinds_differ() -> None:
    assert MAG.from_edges("A --> B") != DAG.from_edges("A --> B")
    assert MAG.from_edges("A --> B") != PAG.from_edges("A --> B")
    assert MAG.from_edges("A --> B") != "A --> B"


@pytest.mark.parametrize("other", ["A <-- B", "A <-> B", "A --- B", "nodes: A B", "A --> B\nnodes: A B C", "A --> C"])
def test_a_difference_in_mark_edge_or_node_shows(other: str) -> None:
    assert MixedGraph.from_edges(other) != MixedGraph.from_edges("A --> B")


# --- a graph never changes --------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [CHAIN, CHAIN.skeleton(), CHAIN.subgraph("AB"), CHAIN.relabel({"A": "Z"})])
def test_marks_are_read_only(graph: MixedGraph) -> None:
    with pytest.raises(ValueError, match="read-only"):
        graph.marks[0, 1] = Mark.NONE


@pytest.mark.parametrize("attribute", ["names", "marks", "links", "masks", "colour"])
def test_attributes_cannot_be_set(attribute: str) -> None:
    graph = MAG.from_edges("A --> B")
    with pytest.raises(AttributeError, match=f"a MAG never changes: .*{attribute}"):
        setattr(graph, attribute, getattr(CHAIN, attribute, "red"))
    assert graph == MAG.from_edges("A --> B")


@pytest.mark.parametrize("attribute", ["names", "marks"])
def test_attributes_cannot_be_deleted(attribute: str) -> None:
    graph = MAG.from_edges("A --> B")
    with pytest.raises(AttributeError):
        delattr(graph, attribute)


def test_the_matrix_is_a_copy_of_what_was_given() -> None:
    given_matrix = np.array([[0, 2], [3, 0]], dtype=np.int8)
    graph = MixedGraph(["A", "B"], given_matrix)
    given_matrix[:] = 0
    assert graph.n_edges == 1


@pytest.mark.parametrize("kind", [MixedGraph, DAG, MAG, PAG])
def test_a_copied_or_pickled_graph_is_equal_and_read_only(kind: type[MixedGraph]) -> None:
    graph = kind.from_edges("A --> B", "B --> C")
    assert graph.m_separated("A", "C", "B")  # so that what is cached is copied too
    for twin in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert twin == graph
        assert type(twin) is kind
        assert twin.m_separated("A", "C", "B")
        assert not twin.marks.flags.writeable


# --- new graphs from old ----------------------------------------------------------------------------------


@given(mixed_graphs(), st.data())
def test_a_subgraph_keeps_the_edges_among_its_nodes(graph: MixedGraph, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.sampled_from(graph.names), unique=True))
    small = graph.subgraph(keep)
    assert small.names == tuple(v for v in graph.names if v in keep)
    assert all(small.edge(a, b) == graph.edge(a, b) for a in keep for b in keep)


def test_a_subgraph_is_of_the_same_kind() -> None:
    assert type(MAG.from_edges("A <-> B", "B --> C").subgraph(["A", "B"])) is MAG


def test_relabel_renames_some_nodes_and_keeps_the_rest() -> None:
    assert CHAIN.relabel({"A": "Age", "D": "A"}) == MixedGraph.from_edges(
        "Age --> B", "B o-> C", nodes=["Age", "B", "C", "A"]
    )


def test_relabel_can_swap() -> None:
    assert DAG.from_edges("A --> B").relabel({"A": "B", "B": "A"}) == DAG.from_edges("B --> A")


@pytest.mark.parametrize(("names", "culprit"), [({"Q": "Z"}, "'Q'"), ({"A": "B"}, "'B'"), ({"A": ""}, "empty name")])
def test_relabel_refuses_unknown_and_clashing_names(names: dict[str, str], culprit: str) -> None:
    with pytest.raises(GraphError, match=culprit):
        CHAIN.relabel(names)


def test_reordered_moves_rows_and_columns() -> None:
    moved = CHAIN.reordered(["C", "D", "B", "A"])
    assert moved.names == ("C", "D", "B", "A")
    assert moved.marks[3, 2] == Mark.ARROW
    assert moved == CHAIN


@pytest.mark.parametrize(
    "names", [["A", "B", "C"], ["A", "B", "C", "C"], ["A", "B", "C", "D", "E"], ["A", "B", "C", 3]]
)
def test_reordered_needs_each_node_once(names: list[str]) -> None:
    with pytest.raises(GraphError, match="each node once; the graph has A, B, C, D"):
        CHAIN.reordered(names)


@given(mixed_graphs())
def test_the_skeleton_has_the_same_pairs_and_circles_only(graph: MixedGraph) -> None:
    skeleton = graph.skeleton()
    assert np.array_equal(skeleton.marks, (graph.marks != 0).astype(int))
    assert skeleton.names == graph.names
    assert type(skeleton) is MixedGraph
