"""Graphs of networkx and causal-learn, held against the packages themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lmarvel import DAG, MAG, PAG, MixedGraph
from lmarvel.errors import FormatError, GraphError
from lmarvel.interchange import dot, graphml, tetrad
from lmarvel.interchange.causallearn import from_causallearn, to_causallearn
from lmarvel.interchange.networkx_graph import from_networkx, to_digraph, to_networkx
from tests.interchange.graphs import graphs

ALL = ["A --> B", "A <-> C", "A --- D", "A o-o E", "A o-> F", "A o-- G", "A --o H", "I --> A", "J o-> A"]

# --- networkx ---------------------------------------------------------------------------------------------


@pytest.fixture
def nx() -> Any:
    return pytest.importorskip("networkx")


def test_an_edge_of_networkx_carries_its_marks(nx: Any) -> None:
    found = to_networkx(PAG.from_edges("A o-> B", "B --- C", nodes=["C", "B", "A", "D"]))
    assert type(found) is nx.Graph
    assert list(found.nodes) == ["C", "B", "A", "D"]
    assert found.edges["A", "B"]["marks"] == {"A": "o", "B": ">"}
    assert found.edges["C", "B"]["marks"] == {"B": "-", "C": "-"}
    assert nx.node_connected_component(found, "A") == {"A", "B", "C"}


@given(graphs())
def test_any_graph_survives_networkx(graph: MixedGraph) -> None:
    pytest.importorskip("networkx")
    assert from_networkx(to_networkx(graph)) == graph


def test_every_kind_of_graph_has_the_way_to_networkx_and_back(nx: Any) -> None:
    pag = PAG.from_edges("A o-> B", "B --> C")
    found = pag.to_networkx()
    assert found.graph["kind"] == "PAG"
    assert found.edges["B", "C"]["marks"] == {"B": "-", "C": ">"}
    assert PAG.from_networkx(found) == pag
    assert MixedGraph.from_networkx(nx.DiGraph([("A", "B")])) == DAG.from_edges("A --> B")
    assert type(PAG.from_networkx(nx.DiGraph([("A", "B")]))) is PAG
    with pytest.raises(GraphError, match="a DAG has directed edges only"):
        DAG.from_networkx(found)


def test_without_networkx_the_method_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(FormatError, match="pip install networkx"):
        DAG.from_edges("A --> B").to_networkx()


def test_a_digraph_of_networkx_is_a_dag(nx: Any) -> None:
    found = from_networkx(nx.DiGraph([("A", "B"), ("B", "C")]))
    assert found == DAG.from_edges("A --> B", "B --> C")


def test_a_dag_as_a_digraph(nx: Any) -> None:
    dag = DAG.from_edges("C --> B", "A --> B", nodes=["A", "B", "C", "D"])
    found = to_digraph(dag)
    assert nx.is_directed_acyclic_graph(found)
    assert nx.ancestors(found, "B") == {"A", "C"}
    assert from_networkx(found) == dag
    with pytest.raises(FormatError, match="a DiGraph holds a DAG only, and this is a PAG"):
        to_digraph(PAG.from_edges("A o-> B"))  # type: ignore[arg-type]


def test_a_plain_graph_of_networkx_is_undirected(nx: Any) -> None:
    assert from_networkx(nx.path_graph(["A", "B", "C"])) == MAG.from_edges("A --- B", "B --- C")


def test_networkx_reads_our_graphml_and_we_read_its(nx: Any, tmp_path: Path) -> None:
    graph = PAG.from_edges(*ALL, nodes=[*"JIHGFEDCBA", "a lone <node>"])
    path = tmp_path / "graph.graphml"
    path.write_text(graphml.dumps(graph), encoding="utf-8")
    theirs = nx.read_graphml(path)
    assert set(theirs.nodes) == set(graph.names)
    assert theirs.edges["A", "F"] == {"at_source": "circle", "at_target": "arrow"}
    assert from_networkx(theirs) == graph
    nx.write_graphml(theirs, path)
    assert graphml.loads(path.read_text(encoding="utf-8")) == graph


@settings(max_examples=30)
@given(graphs())
def test_networkx_reads_our_graphml_whatever_the_names(graph: MixedGraph) -> None:
    nx = pytest.importorskip("networkx")
    try:
        written = graphml.dumps(graph)
    except FormatError:
        return
    assert from_networkx(nx.parse_graphml(written)) == graph


def test_what_is_wrong_with_a_graph_of_networkx(nx: Any) -> None:
    with pytest.raises(FormatError, match="node 0 is not a string: use"):
        from_networkx(nx.path_graph(3))
    with pytest.raises(FormatError, match="B and A have two edges, 'B <-- A' and 'B --> A'"):
        from_networkx(nx.DiGraph([("A", "B"), ("B", "A")]))
    with pytest.raises(FormatError, match="'x' is not a mark of the edge A-B"):
        from_networkx(nx.Graph([("A", "B", {"marks": {"A": "x", "B": "o"}})]))
    with pytest.raises(FormatError, match="should map 'A' and 'B'"):
        from_networkx(nx.Graph([("A", "B", {"marks": "o->"})]))
    with pytest.raises(FormatError, match="'at_source' or 'at_target' in an undirected graph"):
        from_networkx(nx.Graph([("A", "B", {"at_source": "circle"})]))
    with pytest.raises(FormatError, match="not a graph of networkx"):
        from_networkx({"A": ["B"]})
    with pytest.raises(FormatError, match="given twice"):
        from_networkx(nx.MultiDiGraph([("A", "B"), ("A", "B")]))


# --- causal-learn -----------------------------------------------------------------------------------------


def theirs(graph: Any, a: str, b: str) -> tuple[str, str]:
    """The names of both endpoints of an edge, by causal-learn's own methods."""
    one, two = graph.get_node(a), graph.get_node(b)
    return graph.get_endpoint(two, one).name, graph.get_endpoint(one, two).name


def test_every_edge_reaches_causal_learn_with_the_right_ends() -> None:
    pytest.importorskip("causallearn")
    graph = PAG.from_edges(*ALL)
    found = to_causallearn(graph)
    assert [node.get_name() for node in found.get_nodes()] == list(graph.names)
    assert len(found.get_graph_edges()) == graph.n_edges
    for edge in graph.edges():
        assert theirs(found, edge.a, edge.b) == (edge.at_a.name, edge.at_b.name)
    assert found.is_parent_of(found.get_node("A"), found.get_node("B"))
    assert found.is_ancestor_of(found.get_node("I"), found.get_node("B"))
    assert not found.is_parent_of(found.get_node("B"), found.get_node("A"))
    assert found.is_undirected_from_to(found.get_node("A"), found.get_node("D"))
    assert found.is_pag()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's, of its parser
@settings(max_examples=30)
@given(graphs())
def test_pydot_reads_our_dot_whatever_the_names(graph: MixedGraph) -> None:
    pydot = pytest.importorskip("pydot")
    try:
        written = dot.dumps(graph)
    except FormatError:
        return
    (found,) = pydot.graph_from_dot_data(written)
    assert len(found.get_edges()) == graph.n_edges
    assert dot.loads(found.to_string()) == graph


@given(graphs())
def test_any_graph_survives_causal_learn(graph: MixedGraph) -> None:
    pytest.importorskip("causallearn")
    back = from_causallearn(to_causallearn(graph))
    assert MixedGraph(back.names, back.marks) == MixedGraph(graph.names, graph.marks)
    assert isinstance(back, PAG) or not isinstance(graph, PAG)


def test_a_graph_built_with_causal_learn() -> None:
    pytest.importorskip("causallearn")
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    a, b, c, d = nodes = [GraphNode(name) for name in "ABCD"]
    graph = GeneralGraph(nodes)
    graph.add_directed_edge(a, b)
    graph.add_edge(Edge(b, c, Endpoint.TAIL, Endpoint.TAIL))
    graph.add_edge(Edge(c, d, Endpoint.CIRCLE, Endpoint.ARROW))
    assert from_causallearn(graph) == PAG.from_edges("A --> B", "B --- C", "C o-> D")
    graph.add_edge(Edge(a, d, Endpoint.TAIL, Endpoint.ARROW))
    graph.add_edge(Edge(a, d, Endpoint.ARROW, Endpoint.ARROW))
    with pytest.raises(FormatError, match="A and D have two edges"):
        from_causallearn(graph)


def test_the_texts_of_causal_learn_are_read(tmp_path: Path) -> None:
    pytest.importorskip("causallearn")
    from causallearn.utils.GraphUtils import GraphUtils
    from causallearn.utils.TXT2GeneralGraph import txt2generalgraph

    graph = PAG.from_edges(*ALL)
    found = to_causallearn(graph)
    assert tetrad.loads(str(found)) == graph
    assert dot.loads(GraphUtils.to_pydot(found).to_string()) == graph
    path = tmp_path / "graph.txt"
    plain = PAG.from_edges(*(edge for edge in ALL if edge != "A o-- G"))  # their reader drops this one
    path.write_text(tetrad.dumps(plain.reordered(sorted(plain.names))), encoding="utf-8")
    assert from_causallearn(txt2generalgraph(str(path))) == plain


def test_what_is_wrong_with_a_graph_of_causal_learn() -> None:
    pytest.importorskip("causallearn")
    found = to_causallearn(PAG.from_edges("A o-> B"))
    with pytest.raises(FormatError, match="FCI returns a pair"):
        from_causallearn((found, []))
    found.graph[0, 1] = 3
    with pytest.raises(FormatError, match="endpoint 3, which is not a tail"):
        from_causallearn(found)


@pytest.mark.parametrize(("package", "turn"), [("networkx", to_networkx), ("causallearn.graph.Edge", to_causallearn)])
def test_a_package_that_is_missing_is_named(package: str, turn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(FormatError, match="is not installed: install it with 'pip install"):
        turn(PAG.from_edges("A o-> B"))
