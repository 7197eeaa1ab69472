"""The text form: what is written can be read back, whatever the nodes are called."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, PAG, Edge, GraphError, Mark, MixedGraph
from lmarvel.graph.marks import arrow, parse_edge, quote, split_names, unquote
from tests.graph.literal import mixed_graphs

HOSTILE = [
    " ",
    "a b",
    " lead and trail ",
    "a,b",
    ",",
    '"',
    'say "hi"',
    '"quoted"',
    "\\",
    'back\\slash "and" quote',
    "#",
    "# not a comment",
    "a#b",
    "nodes:",
    "nodes: A B",
    "nodes",
    "-->",
    "<->",
    "o-o",
    "o",
    "-",
    "A --> B",
    "tab\tinside",
    "two\nlines",
    "carriage\rreturn",
    "form\x0cfeed",
    "\x1cseparator",
    "next\x85line",
    "line\u2028separator",
    "paragraph\u2029separator",
    "no\u00a0break",
    "Größe",
    "年齢",
    "e\u0301 combining",
    "🫀",
    "'",
    "null",
    "\x00",
]
MARKS = [Mark.CIRCLE, Mark.ARROW, Mark.TAIL]
names_of_nodes = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=8))


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_survives_the_round_trip(name: str) -> None:
    graph = MixedGraph.from_edges(Edge(name, "plain", Mark.CIRCLE, Mark.ARROW), nodes=["other", name, "plain"])
    assert MixedGraph.from_edges(str(graph)).names == graph.names
    assert MixedGraph.from_edges(str(graph)) == graph


@given(st.data(), mixed_graphs(max_nodes=5))
def test_every_graph_survives_the_round_trip(data: st.DataObject, graph: MixedGraph) -> None:
    n = len(graph)
    names = data.draw(st.lists(names_of_nodes, min_size=n, max_size=n, unique=True))
    renamed = MixedGraph(names, graph.marks)
    back = MixedGraph.from_edges(str(renamed))
    assert back == renamed
    assert back.names == renamed.names


@given(names_of_nodes, names_of_nodes, st.sampled_from(MARKS), st.sampled_from(MARKS))
def test_an_edge_survives_the_round_trip(a: str, b: str, at_a: Mark, at_b: Mark) -> None:
    edge = Edge(a, b, at_a, at_b)
    assert parse_edge(str(edge)) == edge


@given(st.lists(names_of_nodes))
def test_a_list_of_names_survives_the_round_trip(names: list[str]) -> None:
    assert split_names(" ".join(map(quote, names))) == names
    assert split_names(", ".join(map(quote, names))) == names


@given(names_of_nodes)
def test_unquote_undoes_quote(name: str) -> None:
    assert unquote(quote(name)) == name


def test_plain_names_are_written_without_quotes() -> None:
    assert [quote(v) for v in ("A", "x_1", "a#b", "Größe", "V-1")] == ["A", "x_1", "a#b", "Größe", "V-1"]


@pytest.mark.parametrize(
    ("glyph", "at_a", "at_b"),
    [
        ("-->", Mark.TAIL, Mark.ARROW),
        ("<--", Mark.ARROW, Mark.TAIL),
        ("<->", Mark.ARROW, Mark.ARROW),
        ("---", Mark.TAIL, Mark.TAIL),
        ("o->", Mark.CIRCLE, Mark.ARROW),
        ("<-o", Mark.ARROW, Mark.CIRCLE),
        ("o-o", Mark.CIRCLE, Mark.CIRCLE),
        ("o--", Mark.CIRCLE, Mark.TAIL),
        ("--o", Mark.TAIL, Mark.CIRCLE),
    ],
)
def test_each_glyph_has_its_marks(glyph: str, at_a: Mark, at_b: Mark) -> None:
    edge = parse_edge(f"A {glyph} B")
    assert edge == Edge("A", "B", at_a, at_b)
    assert arrow(at_a, at_b) == glyph
    assert parse_edge(str(edge.reversed())) == Edge("B", "A", at_b, at_a)


def test_blank_lines_and_comments_are_skipped() -> None:
    graph = PAG.from_edges("# a study\n\n   nodes: A B C\n  A o-> B  \n# the end\n", "B --> C")
    assert graph == PAG.from_edges("A o-> B", "B --> C")


def test_nodes_come_in_order_of_appearance_unless_listed() -> None:
    assert DAG.from_edges("C --> A", "A --> B").names == ("C", "A", "B")
    assert DAG.from_edges("C --> A", "A --> B", nodes=["A", "B", "C", "D"]).names == ("A", "B", "C", "D")
    assert DAG.from_edges("nodes: A, B  C,D\nC --> A").names == ("A", "B", "C", "D")


def test_one_node_may_be_given_as_a_string() -> None:
    assert DAG.from_edges(nodes="Blood pressure").names == ("Blood pressure",)


def test_the_empty_graph_has_a_text_form() -> None:
    empty = MixedGraph.from_edges()
    assert str(empty) == "nodes:"
    assert MixedGraph.from_edges(str(empty)) == empty
    assert len(empty) == 0


@pytest.mark.parametrize(
    "text",
    ["A->B", "A -> B", "A ---> B", "A x-> B", "A --x B", "A --> B C", "A -->", "--> B", "A >-- B", "A --< B", "A == B"],
)
def test_what_is_not_an_edge_is_quoted_in_the_message(text: str) -> None:
    with pytest.raises(GraphError, match=re.escape(repr(text))):
        parse_edge(text)


@pytest.mark.parametrize("text", ['nodes: A "B', 'nodes: "A\\x"', 'nodes: A" B'])
def test_a_broken_quote_in_the_list_of_nodes_is_refused(text: str) -> None:
    with pytest.raises(GraphError, match="cannot read"):
        MixedGraph.from_edges(text)


def test_str_of_a_graph_reads_as_documented() -> None:
    graph = MixedGraph.from_edges("B <-- A", "B <-> C", "C --- D", "E <-o D")
    assert str(graph) == "nodes: B A C D E\nA --> B\nB <-> C\nC --- D\nD o-> E"
    assert repr(graph) == "<MixedGraph: 5 nodes, 4 edges>"
