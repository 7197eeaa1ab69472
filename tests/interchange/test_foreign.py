"""Texts as users of other programs paste them, read by hand here and by the readers."""

from __future__ import annotations

import json

import pytest

from lmarvel import DAG, MAG, PAG, GraphError, LMarvel, MixedGraph, MSeparation
from lmarvel.errors import FormatError
from lmarvel.interchange import dagitty, dot, edge_list, graphml, json_graph, mermaid, pcalg, tetrad, text

# --- pcalg ------------------------------------------------------------------------------------------------

WRITE_CSV = """"","age","bmi","sbp"
"age",0,2,0
"bmi",1,0,2
"sbp",0,3,0
"""
WRITE_TABLE = """"age","bmi","sbp"
"age",0,2,0
"bmi",1,0,2
"sbp",0,3,0
"""


@pytest.mark.parametrize("table", [WRITE_CSV, WRITE_TABLE, WRITE_CSV.replace("\n", "\r\n")])
def test_a_matrix_of_pcalg_holds_the_mark_at_the_column(table: str) -> None:
    assert pcalg.loads(table) == PAG.from_edges("age o-> bmi", "bmi --> sbp")


def test_the_other_coding_of_pcalg_is_recognised() -> None:
    with pytest.raises(FormatError, match=r"amat\.cpdag"):
        pcalg.loads(",A,B\nA,0,1\nB,0,0\n")


# --- Tetrad -----------------------------------------------------------------------------------------------

TETRAD = """Graph Nodes:
Income;Age;Spending;Debt;Region

Graph Edges:
1. Age --> Income dd nl
2. Debt o-> Spending pd nl
3. Income <-> Debt
4. Region --- Age
5. Spending o-o Region [Region --> Spending]:0.31;[no edge]:0.69;

Graph Attributes:
BIC: -2303.5

Graph Node Attributes:
BIC: [Age: -20.1;Debt: -30.2]
"""


def test_a_graph_of_tetrad() -> None:
    assert tetrad.loads(TETRAD) == PAG.from_edges(
        "Age --> Income",
        "Debt o-> Spending",
        "Income <-> Debt",
        "Region --- Age",
        "Spending o-o Region",
    )


def test_nodes_of_tetrad_between_commas_and_text_above_them() -> None:
    found = tetrad.loads("Algorithm: GFCI\n\nGraph Nodes:\nA,B, C\n\nGraph Edges:\n1. A <-o B\n2. C <-- A\n")
    assert found == PAG.from_edges("B o-> A", "A --> C")


# --- DAGitty ----------------------------------------------------------------------------------------------


def test_a_model_of_the_dagitty_website() -> None:
    model = """dag {
bb="-2.2,-2.6,2.3,2.5"
"Blood pressure" [outcome,pos="0.7,1.1"]
Age [pos="-1.2,0.5"]
Salt [exposure,pos="-0.3,-1.0"]
Age -> "Blood pressure"
Age -> Salt [pos="0.1,0.2"]
Salt -> "Blood pressure" [beta=.3]
}
"""
    assert dagitty.loads(model) == DAG.from_edges(
        'Age --> "Blood pressure"', "Age --> Salt", 'Salt --> "Blood pressure"'
    )


def test_a_pag_of_dagitty() -> None:
    found = dagitty.loads('pag { A; "B c"; A @-> "B c"; "B c" <-@ D @-@ E; E --@ F; G @-- F; F <-> H -- I -> J <- K }')
    assert found == PAG.from_edges(
        'A o-> "B c"',
        'D o-> "B c"',
        "D o-o E",
        "E --o F",
        "G o-- F",
        "F <-> H",
        "H --- I",
        "I --> J",
        "K --> J",
    )


def test_the_header_of_dagitty_names_the_kind() -> None:
    assert type(dagitty.loads("mag{a->b}")) is MAG
    assert type(dagitty.loads("PAG { a -> b }")) is PAG
    assert type(dagitty.loads("pdag { a -- b }")) is MixedGraph
    assert type(dagitty.loads("dag { a <-> b }")) is MAG
    with pytest.raises(FormatError, match="declared as a MAG, but is not one: not ancestral"):
        dagitty.loads("mag { a -> b -> c -> a }")


def test_a_node_may_be_called_o() -> None:
    assert dagitty.loads("dag { o->A; A -> o2; B\no -> B }") == DAG.from_edges("o --> A", "A --> o2", "o --> B")


def test_groups_of_dagitty_stand_for_all_their_nodes() -> None:
    found = dagitty.loads("dag { {X V} -> U -> {S T} }")
    assert found == DAG.from_edges("X --> U", "V --> U", "U --> S", "U --> T")


def test_roles_of_dagitty_make_a_study() -> None:
    model = 'dag { U [latent,pos="0,1"] W [unobserved] S [selected] U -> {A B} A -> S <- C; A <-> D; W -> D }'
    dag, latent, selection = dagitty.loads_study(model)
    assert (latent, selection) == (("U", "W", "L0"), ("S",))
    assert dag.children("L0") == {"A", "D"}
    assert dag.project(latent, selection).has_edge("A", "C")


def test_an_edge_beside_a_common_cause_needs_a_study() -> None:
    model = "dag { X -> Y; X <-> Y }"
    with pytest.raises(FormatError, match=r"X and Y have two edges.*loads_study reads every <-> as a latent"):
        dagitty.loads(model)
    assert dagitty.loads_study(model) == (DAG.from_edges("X --> Y", "L0 --> X", "L0 --> Y"), ("L0",), ())


def test_a_study_survives_dagitty() -> None:
    dag = DAG.from_edges('"u 1" --> A', '"u 1" --> B', "A --> S")
    written = dagitty.dumps(dag, latent=["u 1"], selection=["S"])
    assert dagitty.loads_study(written) == (dag, ("u 1",), ("S",))
    with pytest.raises(FormatError, match="'X' is declared latent"):
        dagitty.dumps(dag, latent=["X"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("pag { A -> B }", "read from a 'dag'"),
        ("dag { A [latent,selected] A -> B }", "both latent and selected"),
        ("dag { A -> B -> C -> A }", "directed cycle"),
        ("dag { A -- B }", "directed and bidirected edges only"),
    ],
)
def test_a_model_that_is_no_study(model: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        dagitty.loads_study(model)


def test_a_mixed_graph_is_written_to_dagitty_under_a_header_that_reads_it_back() -> None:
    cyclic = MixedGraph.from_edges("A --> B", "B --> C", "C --> A")
    assert dagitty.dumps(cyclic).startswith("pag")
    assert dagitty.dumps(MixedGraph.from_edges("A --> B")).startswith("dag")
    assert dagitty.loads(dagitty.dumps(cyclic)) == PAG(cyclic.names, cyclic.marks)


# --- DOT --------------------------------------------------------------------------------------------------


def test_dot_as_people_write_it() -> None:
    found = dot.loads("""
        // a comment
        strict digraph "my graph" {
            # another
            rankdir=LR; node [shape=box, label=<<b>bold</b>>];
            a -> b -> c [color=red]; a -> b
            "d e" [pos="1,2!"] /* and
            another */ -5 -> a:port:n
            subgraph cluster_x { label = "x"; edge [arrowhead=odot]; c -> f }
            c -> g
            a -> {h; i}
            "long" + "er" -> a [dir=back]
            é -- a
        }
    """)
    assert found == PAG.from_edges(
        "a --> b",
        "b --> c",
        "-5 --> a",
        "c --o f",
        "c --> g",
        "a --> h",
        "a --> i",
        "a --> longer",
        "é --- a",
        nodes=["a", "b", "c", "d e", "-5", "f", "g", "h", "i", "longer", "é"],
    )


def test_default_attributes_of_edges_hold_from_there_on() -> None:
    found = dot.loads("digraph { a -> b; edge [dir=both]; b -> c [arrowtail=odot]; c -> d; c -> e [dir=none] }")
    assert found == PAG.from_edges("a --> b", "b o-> c", "c <-> d", "c --- e")


def test_an_undirected_graph_of_dot() -> None:
    found = dot.loads("graph { a -- b -- c; c -- d [arrowhead=normal, arrowtail=odot] }")
    assert found == PAG.from_edges("a --- b", "b --- c", "c o-> d")


def test_a_shape_counts_where_no_direction_is_given() -> None:
    assert dot.loads("digraph { a -> b [arrowtail=odot] }") == PAG.from_edges("a o-> b")


def test_nodes_that_causal_learn_numbers_are_called_by_their_labels() -> None:
    found = dot.loads("""digraph {
fontsize=18;
dpi=200;
0 [label=X1];
1 [label="X 2"];
0 -> 1 [dir=both, arrowtail=odot, arrowhead=normal];
}""")
    assert found == PAG.from_edges('X1 o-> "X 2"')
    assert dot.loads("digraph { 0 [label=same]; 1 [label=same]; 0 -> 1 }").names == ("0", "1")
    assert dot.loads("digraph { a [label=A]; a -> b }").names == ("a", "b")


# --- GraphML, JSON, CSV, text -----------------------------------------------------------------------------

IGRAPH = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="v_name" for="node" attr.name="name" attr.type="string"/>
  <key id="w" for="edge" attr.name="at_source" attr.type="string"><default>circle</default></key>
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="v_name">age</data></node>
    <node id="n1"><data key="v_name">blood &lt;pressure&gt;</data></node>
    <node id="n2"><data key="v_name">bmi</data></node>
    <edge source="n0" target="n1"/>
    <edge source="n1" target="n2" directed="false"><data key="w">tail</data></edge>
  </graph>
</graphml>
"""


def test_graphml_as_igraph_writes_it() -> None:
    assert graphml.loads(IGRAPH) == PAG.from_edges('age o-> "blood <pressure>"', '"blood <pressure>" --- bmi')


def test_a_result_file_is_read_as_a_pag() -> None:
    found = LMarvel(test=MSeparation(DAG.from_edges('A --> "B c"', 'D --> "B c"'))).fit().result_
    whole = json.dumps(found.to_dict())
    assert json_graph.loads(whole) == found.pag
    with pytest.raises(FormatError, match="checksum does not fit"):
        json_graph.loads(whole.replace("o->", "<->"))


def test_a_list_of_edges_from_a_spreadsheet() -> None:
    found = edge_list.loads('Source,Target,Edge\r\nage,"blood, pressure",\r\nage,bmi,o->\r\nsmoking,,\r\nage\r\n')
    assert found == PAG.from_edges(
        'age --> "blood, pressure"', "age o-> bmi", nodes=["age", "blood, pressure", "bmi", "smoking"]
    )


def test_own_text_with_comments() -> None:
    assert text.loads('# found\n\nnodes: A B "C d"\nA --> B\n') == DAG.from_edges("A --> B", nodes=["A", "B", "C d"])


# --- Mermaid ----------------------------------------------------------------------------------------------


def test_mermaid_draws_every_kind_of_edge() -> None:
    graph = PAG.from_edges("A --> B", "A <-> C", "A --- D", "A o-o E", "A o-> F", "A o-- G", "A --o H")
    lines = [line.strip() for line in mermaid.dumps(graph).splitlines()]
    assert lines[0] == "flowchart LR"
    assert lines[9:] == [
        "n0 --> n1",
        "n0 <--> n2",
        "n0 --- n3",
        "n0 o--o n4",
        'n0 -->|"o-#gt;"| n5',
        "n6 --o n0",
        "n0 --o n7",
    ]


def test_mermaid_escapes_what_it_could_act_upon() -> None:
    graph = MixedGraph(['"]; click n0 "<script>', "#quot;", "`md`\n%%", "\x00"], [[0] * 4] * 4)
    written = mermaid.dumps(graph)
    assert written.count("\n") == 5
    assert all(line.count('"') == 2 for line in written.splitlines()[1:])
    assert not set("<>`%]") & set(written.replace('"]', ""))


def test_a_graph_error_is_no_part_of_the_contract() -> None:
    assert not issubclass(FormatError, GraphError)
