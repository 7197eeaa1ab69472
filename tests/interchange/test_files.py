"""Files: the format is found out, and everything that can be wrong is said in one message."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lmarvel import DAG, PAG, LMarvelError, MixedGraph
from lmarvel.errors import FormatError, OutputError
from lmarvel.interchange.registry import FORMATS, by_ending, dumps, loads, read_graph, write_graph
from tests.interchange.graphs import READABLE

GRAPH = PAG.from_edges("A o-> B", "B --> C", nodes=["A", "B", "C", "D"])
ENDINGS = [(name, ending) for name in READABLE for ending in FORMATS[name].endings]


@pytest.mark.parametrize(("form", "ending"), ENDINGS)
def test_a_file_is_read_by_its_ending(form: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{ending.upper()}"
    write_graph(GRAPH, path, form)
    assert read_graph(path) == GRAPH
    assert read_graph(str(path), format=form) == GRAPH


@pytest.mark.parametrize(("form", "ending"), [pair for pair in ENDINGS if pair[0] != "pcalg"])
def test_a_file_is_written_by_its_ending(form: str, ending: str, tmp_path: Path) -> None:
    write_graph(GRAPH, tmp_path / f"graph{ending}")
    assert (tmp_path / f"graph{ending}").read_text(encoding="utf-8") == dumps(GRAPH, form)


@pytest.mark.parametrize("form", ["text", "tetrad", "dagitty", "dot"])
def test_the_content_of_a_text_file_tells_its_format(form: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    write_graph(GRAPH, path, form)
    assert read_graph(path) == GRAPH


@pytest.mark.parametrize(
    "text", ["dag{A->B}", 'strict DAG "g" {A->B}', "\n digraph G {A->B}", "A --> B", "nodes: A B\nA --> B"]
)
def test_headers_in_a_text_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text(text, encoding="utf-8")
    assert read_graph(path) == DAG.from_edges("A --> B")


def test_a_byte_order_mark_is_no_part_of_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_bytes(b"\xef\xbb\xbffrom,to\r\nA,B\r\n")
    assert read_graph(path) == DAG.from_edges("A --> B")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("graph.dot", None, "graph.dot: there is no such file"),
        ("graph.dot", b"", "graph.dot: this is empty"),
        ("graph.csv", b" \n", "graph.csv: this is empty"),
        ("graph.txt", b"", "graph.txt: this is empty"),
        ("graph.json", b"\xff\xfe{", "graph.json: this is not UTF-8 text (byte 0 is 0xff): save it as UTF-8"),
        ("graph.mmd", b"flowchart LR", "graph.mmd: Mermaid can be written only, not read"),
        ("graph.txt", b"nodes: A B\nA -> B", "graph.txt, line 2: cannot read the edge 'A -> B'"),
        ("graph.txt", b"A --> B\nB --> A", "graph.txt, line 2: B and A have two edges, 'B <-- A' and 'B --> A'"),
        ("graph.txt", b"A --> B\n\nA --> B", "graph.txt, line 3: the edge 'A --> B' is given twice: delete one"),
        ("graph.txt", b"nodes: A A", "the node 'A' is given twice: names must differ"),
        ("graph.txt", b"nodes: A\nnodes: B", "graph.txt, line 2: there are two lines 'nodes: ...': keep one"),
        ("graph.txt", b"nodes: A\nA --> B", "graph.txt, line 2: the edge 'A --> B' names 'B', which is not among"),
        ("graph.txt", b"# nothing", "there is no graph here"),
        ("graph.txt", b"A --> A", "line 1: the edge 'A --> A' joins 'A' to itself"),
        ("graph.dot", b"digraph {\n a -> b", "graph.dot, line 2: a node is needed here, not the end of the text"),
        ("graph.dot", b'digraph {\n "a -> b }', "graph.dot, line 2: a quote is opened here and never closed"),
        ("graph.dot", b"digraph { /* a }", "line 1: a comment is opened here and never closed"),
        ("graph.dot", b"digraph { a [label=<b }", "line 1: a '<' is opened here and never closed"),
        ("graph.dot", b"digraph { a -> b [arrowhead=crow] }", "arrowhead=crow is not a mark: use normal, odot"),
        ("graph.dot", b"digraph { a -> b [dir=up] }", "dir=up is not a direction"),
        (
            "graph.dot",
            b"digraph { a-b }",
            "cannot read '-b': DOT edges are '->', '--', and unusual names are in quotes",
        ),
        ("graph.dot", b"digraph { a -> b; a -> b }", "line 1: the edge 'a --> b' is given twice"),
        (
            "graph.dot",
            b"digraph {\n{"
            + b" ".join(b"a%d" % i for i in range(4000))
            + b"} -> {"
            + b" ".join(b"b%d" % i for i in range(4000))
            + b"} }",
            "line 2: 16,000,000 edges are written up to here: at most 1,000,000 are read",
        ),
        (
            "graph.txt",
            b"nodes: " + b" ".join(b"X%d" % i for i in range(20_001)),
            "20,001 nodes are too many: a graph holds",
        ),
        ("graph.dot", b"digraph { a -> }", "a node is needed here, not '}'"),
        ("graph.dot", b"digraph { a } digraph { b }", "only one graph is read"),
        ("graph.dot", b"dag { a }", "'digraph {' or 'graph {' is needed here, not 'dag'"),
        ("graph.dot", b'digraph { "" -> a }', "a node has an empty name"),
        ("graph.dot", b"digraph " + b"{" * 5000, "more than 100 subgraphs"),
        ("graph.dot", b'digraph { "a" + b }', "a quoted name is needed here, not 'b'"),
        ("graph.dot", b"digraph { kind=DAG a -- b }", "this is declared as a DAG, but is not one: a DAG has directed"),
        ("graph.dagitty", b"pag {\nA --> B }", "graph.dagitty, line 2: cannot read '>': DAGitty edges are '->'"),
        ("graph.dagitty", b"pag {\nA o-> B }", "line 2: a circle is not written 'o' here: write A @-> B"),
        ("graph.dagitty", b"pag { A <-o B }", "line 1: a circle is not written 'o' here: write A @-> B"),
        ("graph.dot", b"digraph { A o-> B }", "line 1: a circle is not written 'o' here: write A -> B [dir=both"),
        ("graph.json", b'{"format": ', "graph.json, line 1: this is not JSON"),
        ("graph.json", b"[" * 100000, "nested too deeply"),
        ("graph.json", b"[]", "this JSON is not a graph of lmarvel"),
        ("graph.json", b'{"format": "lmarvel-graph"}', '"version" is None'),
        ("graph.json", b'{"format": "lmarvel-graph", "version": 2}', "reads up to version 1: update lmarvel"),
        ("graph.json", b'{"format": "lmarvel-graph", "version": 1}', '"nodes" should be a list of strings'),
        ("graph.graphml", b"<graphml><graph>", "graph.graphml, line 1: this is not XML: no element found"),
        ("graph.graphml", b"<a/>", "this XML is not GraphML"),
        (
            "graph.graphml",
            b'<!DOCTYPE x [<!ENTITY a "b">]><graphml/>',
            "line 1: document type definitions are not read",
        ),
        ("graph.graphml", b"<graphml><graph><node/></graph></graphml>", "line 1: this <node> has no id"),
        ("graph.graphml", b"<graphml><graph><hyperedge/></graph></graphml>", "delete this <hyperedge>"),
        (
            "graph.graphml",
            b'<graphml><graph><node id="A"/>\n<edge source="A" target="B"/></graph></graphml>',
            "line 2: this edge names 'B', which is not among the nodes",
        ),
        ("graph.graphml", b'<graphml><graph><node id="A"/><node id="A"/></graph></graphml>', "'A' is given twice"),
        ("graph.csv", b";A;B\nA;0;2\nB;3;0\n", "graph.csv, line 1: this table is separated by semicolons"),
        ("graph.csv", b"A,B\nB,C\n", "graph.csv: the first row must be a header, one of 'from,to', 'source,target'"),
        ("graph.csv", b"from,to\n,B\n", "graph.csv, line 2: this row has no name in its first cell"),
        ("graph.csv", b"from,to,edge\nA,B,=>\n", "graph.csv, line 2: '=>' is not an edge: write '-->'"),
        ("graph.csv", b"from,to,edge\nA,,o->\n", "line 2: the edge 'o->' leads nowhere: name both of its ends"),
        ("graph.csv", b"from,to\nA\nA\n", "line 3: the node 'A' is given twice"),
        ("graph.csv", b"from,to\nA,B,-->,1\n", "line 2: an edge is 'from,to,edge', and this row has 4 cells"),
        ("graph.csv", b'from,to\n"A,B\n', "line 2: this is not a list of edges: unexpected end of data"),
        ("graph.csv", b",A,A\nA,0,0\nA,0,0\n", "line 1: the node 'A' is given twice"),
        ("graph.csv", b",A,B\nA,0,2\n", "2 columns have a name and 1 row follows: the matrix must be square"),
        ("graph.csv", b",A,B\nA,0,2\nB,3\n", "graph.csv, line 3: this row has 2 cells, and 3 are needed"),
        ("graph.csv", b",A,B\nB,0,2\nA,3,0\n", "row 1 is called 'B' and column 1 'A'"),
        ("graph.csv", b",A,B\nA,0,x\nB,3,0\n", "line 2: 'x' in column 'B' is not a mark: use 0, 1, 2 or 3"),
        ("graph.csv", b",A,B\nA,0,2\nB,0,0\n", "has a mark at one end only"),
        ("graph.csv", b",A\nA,2\n", "self-loop at A"),
        ("graph.tetrad", b"Graph Nodes:\nA;B\n", "a line 'Graph Nodes:', the names, and a line 'Graph Edges:'"),
        ("graph.tetrad", b"Graph Nodes:\nA;A\nGraph Edges:\n", "line 2: the node 'A' is given twice"),
        ("graph.tetrad", b"Graph Nodes:\nA;B\nGraph Edges:\n1. A\n", "line 4: cannot read the edge '1. A'"),
        ("graph.tetrad", b"Graph Nodes:\nA;B\nGraph Edges:\n1. A b --> B\n", "'b' is not one; names have no blanks"),
    ],
)
def test_a_bad_file_gives_one_clear_message(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_graph(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert caught.value.__cause__ is None


def test_a_path_that_no_file_can_have() -> None:
    with pytest.raises(FormatError, match="cannot read this"):
        read_graph("a\x00b.dot")
    with pytest.raises(FormatError, match="cannot read this: File name too long"):
        read_graph("a" * 5000 + ".dot")


def test_a_directory_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "graph.dot").mkdir()
    with pytest.raises(FormatError, match=r"graph\.dot: this is a directory, not a file"):
        read_graph(tmp_path / "graph.dot")


@pytest.mark.parametrize("path", ["graph.xyz", "graph"])
def test_an_unknown_ending_is_answered_with_those_known(path: str, tmp_path: Path) -> None:
    message = re.escape(f"cannot infer the format of '{path}' by its ending: use one of .txt, .json, .dot")
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / path)
    with pytest.raises(FormatError, match=message):
        write_graph(GRAPH, tmp_path / path)


def test_a_path_without_a_name_is_shown_as_it_is() -> None:
    with pytest.raises(FormatError, match=r"cannot infer the format of '\.' by its ending"):
        by_ending(Path())


def test_an_unknown_format_is_answered_with_those_known(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no format 'xml': use one of text, json, dot"):
        dumps(GRAPH, "xml")
    with pytest.raises(FormatError, match="there is no format 'xml'"):
        read_graph(tmp_path / "graph.dot", format="xml")


def test_a_name_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.tetrad"
    write_graph(GRAPH, path)
    before = path.read_bytes()
    with pytest.raises(FormatError, match="Tetrad text cannot hold the variable name 'two words'"):
        write_graph(MixedGraph(["two words"], [[0]]), path)
    with pytest.raises(FormatError, match="half of a surrogate pair"):
        write_graph(MixedGraph(["\ud800"], [[0]]), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["graph.tetrad"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no directory"):
        write_graph(GRAPH, tmp_path / "missing" / "graph.dot")


@pytest.mark.parametrize("kind", [5, "Tree"])
def test_an_unknown_kind_in_json(kind: object) -> None:
    content = json.loads(dumps(GRAPH, "json")) | {"kind": kind}
    with pytest.raises(FormatError, match="DAG, MAG, PAG, MixedGraph"):
        loads(json.dumps(content), "json")


def test_the_error_is_one_of_the_package() -> None:
    assert issubclass(FormatError, LMarvelError)
