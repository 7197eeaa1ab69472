"""DAG, MAG, PAG and ADMG: what is refused, and that the reason names the right nodes."""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lmarvel import ADMG, DAG, MAG, PAG, Edge, GraphError, Mark, MixedGraph
from lmarvel.graph.bitsets import bits, members
from lmarvel.graph.kinds import (
    explain_cycle,
    explain_not_ancestral,
    explain_not_maximal,
    find_unsimplicial,
    is_chordal_undirected,
)
from tests.graph import literal
from tests.graph.literal import THOROUGH, mixed_graphs, separable_graphs
from tests.truth.make_truth import load, marks_matrix
from tests.truth.make_truth import mixed_graphs as every_graph

NOT_ANCESTRAL = {
    "not ancestral: directed cycle: A --> B --> C --> A": ["A --> B", "B --> C", "C --> A", "D --> A"],
    "not ancestral: almost directed cycle, A <-> C and A is an ancestor of C": ["A --> B", "B --> C", "A <-> C"],
    "not ancestral: B has the undirected edge B --- C and an arrowhead from A": ["A --> B", "B --- C"],
    "not ancestral: C has the undirected edge C --- B and an arrowhead from A": ["B --- C", "A <-> C"],
    "the edge 'A o-> B' has a circle, and a MAG has none": ["A o-> B"],
}


@pytest.mark.parametrize("reason", NOT_ANCESTRAL)
def test_a_graph_that_is_not_ancestral_is_explained(reason: str) -> None:
    edges = NOT_ANCESTRAL[reason]
    explained = explain_not_ancestral(MixedGraph.from_edges(*edges))
    assert explained is not None
    if "cycle: " in reason:  # a cycle may be read from any of its nodes
        start, nodes = explained.rsplit(": ", 1)
        cycle = nodes.split(" --> ")
        assert start == reason.rsplit(": ", 1)[0]
        assert cycle[0] == cycle[-1]
        assert set(cycle) == set("ABC")
    else:
        assert explained == reason
    with pytest.raises(GraphError, match=re.escape(explained)):
        MAG.from_edges(*edges)


def test_a_graph_that_is_not_maximal_is_explained() -> None:
    edges = ["A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A", "E --> A"]
    reason = "not maximal: no set separates A and D, because of the inducing path A, B, C, D"
    assert explain_not_maximal(MixedGraph.from_edges(*edges)) == reason
    with pytest.raises(GraphError, match=reason):
        MAG.from_edges(*edges)
    MAG.from_edges(*edges, "A <-> D")  # with the missing edge it is one


@THOROUGH
@given(mixed_graphs(circles=False))
def test_a_named_cycle_is_one_and_is_found_where_there_is_one(graph: MixedGraph) -> None:
    reason = explain_cycle(graph)
    n = len(graph)
    cyclic = any(
        graph.names[u] in graph.parents(v) and v in literal.ancestors(graph, [u]) for u in range(n) for v in range(n)
    )
    assert (reason is not None) == cyclic
    if reason is not None:
        cycle = reason.removeprefix("directed cycle: ").split(" --> ")
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(a in graph.parents(b) for a, b in pairwise(cycle))


@THOROUGH
@given(separable_graphs())
def test_non_maximal_pairs_are_those_that_no_set_separates(graph: MixedGraph) -> None:
    assume(explain_not_ancestral(graph) is None)
    n = len(graph)
    separable = {(x, y) for x, y, _ in literal.separations(graph)}
    stuck = [
        (graph.names[x], graph.names[y])
        for x, y in combinations(range(n), 2)
        if not graph.has_edge(x, y) and (x, y) not in separable
    ]
    reason = explain_not_maximal(graph)
    assert (reason is not None) == bool(stuck)
    if reason is not None:
        pair = re.search(r"no set separates (\w+) and (\w+), because of the inducing path (.*)", reason)
        assert pair is not None
        path = pair[3].split(", ")
        assert (pair[1], pair[2]) == (path[0], path[-1])
        assert (pair[1], pair[2]) in stuck
        assert literal.is_inducing(graph, tuple(map(graph.index, path)), [], [])


def test_of_all_mixed_graphs_on_four_nodes_the_mags_of_the_truth_are_valid() -> None:
    codes = np.concatenate([chunk.T for chunk in every_graph(4)])
    assert len(codes) == 5**6
    valid = []
    for row in codes:
        graph = MixedGraph("ABCD", marks_matrix(row, 4))
        if explain_not_ancestral(graph) is None and explain_not_maximal(graph) is None:
            valid.append(row)
    assert len(valid) == 3045
    assert {tuple(row) for row in valid} == {tuple(row) for row in load(4)["mags"]}


def test_a_valid_mag_is_accepted_and_an_invalid_one_raises() -> None:
    rng = np.random.default_rng(0)
    mags = {tuple(row) for row in load(4)["mags"]}
    codes = np.concatenate([chunk.T for chunk in every_graph(4)])
    for row in codes[rng.choice(len(codes), 2000, replace=False)]:
        marks = marks_matrix(row, 4)
        if tuple(row) in mags:
            assert np.array_equal(MAG("ABCD", marks).marks, marks)
        else:
            with pytest.raises(GraphError, match=r"not (ancestral|maximal): "):
                MAG("ABCD", marks)


@pytest.mark.parametrize("edge", ["A <-> B", "A --- B", "A o-> B", "A o-o B", "A --o B"])
def test_a_dag_has_directed_edges_only(edge: str) -> None:
    with pytest.raises(GraphError, match=f"a DAG has directed edges only, not '{edge}'"):
        DAG.from_edges(edge, "B --> C")


def test_a_cyclic_dag_is_refused_and_the_cycle_is_named() -> None:
    with pytest.raises(GraphError) as raised:
        DAG.from_edges("A --> B", "B --> C", "C --> D", "D --> B", "D --> E")
    kind, cycle = str(raised.value).split(": ")
    assert kind == "directed cycle"
    assert cycle in {"B --> C --> D --> B", "C --> D --> B --> C", "D --> B --> C --> D"}


def test_a_pag_is_checked_for_its_marks_only() -> None:
    PAG.from_edges("A --> B", "B --> C", "C --> A")  # no MAG has it, but a sample may give it


# --- chordality -------------------------------------------------------------------------------------------


@st.composite
def undirected_graphs(draw: st.DrawFn) -> list[int]:
    n = draw(st.integers(0, 7))
    adjacent = [0] * n
    for a, b in combinations(range(n), 2):
        if draw(st.booleans()):
            adjacent[a] |= 1 << b
            adjacent[b] |= 1 << a
    return adjacent


@THOROUGH
@given(undirected_graphs())
def test_what_is_not_simplicial_holds_the_chordless_cycles(adjacent: list[int]) -> None:
    left = find_unsimplicial(adjacent)
    cycles = literal.chordless_cycles(adjacent)
    assert bool(left) == bool(cycles)
    assert all(bits(cycle) & ~left == 0 for cycle in cycles)
    for v in members(left):  # nothing more can be taken off
        around = list(members(adjacent[v] & left))
        assert any(not adjacent[a] >> b & 1 for a, b in combinations(around, 2))


@pytest.mark.parametrize("n", range(3, 9))
def test_a_bare_cycle_is_chordal_only_as_a_triangle(n: int) -> None:
    cycle = MixedGraph.from_edges(*(f"V{i} --- V{(i + 1) % n}" for i in range(n)))
    assert is_chordal_undirected(cycle) == (n == 3)


def test_only_undirected_edges_count_for_chordality() -> None:
    assert is_chordal_undirected(MAG.from_edges("A --> B", "B --> C", "A --> D", "D --> C"))
    assert not is_chordal_undirected(MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A", "A --> E", "C --> E"))
    assert is_chordal_undirected(MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A", "A --- C"))


# --- ADMG -------------------------------------------------------------------------------------------------


@st.composite
def admgs(draw: st.DrawFn) -> ADMG:
    n = draw(st.integers(2, 5))
    names = draw(st.permutations([f"V{i}" for i in range(n)]))
    edges = []
    for a, b in combinations(names, 2):
        kinds = draw(st.sampled_from([[], ["-->"], ["<->"], ["-->", "<->"]]))
        edges += [f"{a} {kind} {b}" for kind in kinds]
    return ADMG.from_edges(*edges, nodes=sorted(names))


@given(admgs())
def test_the_canonical_dag_has_a_latent_parent_for_each_bidirected_edge(admg: ADMG) -> None:
    dag, latents = admg.canonical_dag()
    confounded = [e for e in admg.edges if e.at_a == e.at_b]
    assert len(latents) == len(confounded)
    assert [dag.children(u) for u in latents] == [frozenset(e[:2]) for e in confounded]
    assert dag.subgraph(admg.names) == DAG.from_edges(*(e for e in admg.edges if e.at_a != e.at_b), nodes=admg.names)


@given(separable_graphs(max_nodes=5))
def test_an_admg_with_one_edge_a_pair_separates_as_the_mixed_graph(graph: MixedGraph) -> None:
    assume(not any(e.at_a == e.at_b == Mark.TAIL for e in graph.edges()))
    dag, _ = ADMG(graph.names, graph.edges()).canonical_dag()
    for x, y in combinations(graph.names, 2):
        for zs in literal.subsets(v for v in range(len(graph)) if graph.names[v] not in (x, y)):
            given_ = [graph.names[z] for z in zs]
            assert dag.m_separated(x, y, given_) == graph.m_separated(x, y, given_)


def test_a_bow_projects_to_one_directed_edge() -> None:
    dag, latents = ADMG.from_edges("X --> Y", "X <-> Y").canonical_dag()
    assert dag.project(latents) == MAG.from_edges("X --> Y")


def test_latent_names_do_not_clash_with_nodes() -> None:
    dag, latents = ADMG.from_edges("L0 <-> L1", "L1 <-> A").canonical_dag()
    assert len(set(dag.names)) == len(dag.names) == 5
    assert not set(latents) & {"L0", "L1", "A"}


def test_an_admg_is_built_from_text_like_any_graph() -> None:
    assert ADMG.from_edges("nodes: C B A\nA --> B").names == ("C", "B", "A")
    assert ADMG.from_edges(nodes="Blood pressure").names == ("Blood pressure",)
    assert repr(ADMG.from_edges("A --> B", "A <-> B")) == "<ADMG: 2 nodes, 2 edges>"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (["A --> B", "B --> A"], "the pair B, A has two directed edges"),
        (["A <-> B", "B <-> A"], "the pair B, A has two bidirected edges"),
        (["A --- B"], "directed and bidirected edges only, not 'A --- B'"),
        (["A o-> B"], "directed and bidirected edges only, not 'A o-> B'"),
        (["A --> A"], "self-loop at A"),
        (["A --> B", "B --> C", "C --> A"], "directed cycle: "),
    ],
)
def test_what_is_no_admg_is_refused(edges: list[str], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        ADMG.from_edges(*edges)


def test_an_admg_names_unknown_nodes() -> None:
    with pytest.raises(GraphError, match="unknown node 'B' in the edge 'A --> B'"):
        ADMG(["A"], [Edge("A", "B", Mark.TAIL, Mark.ARROW)])


def test_the_nodes_of_an_admg_are_given_once() -> None:
    with pytest.raises(GraphError, match="nodes are given twice"):
        ADMG.from_edges("nodes: A B C\nA --> B", nodes=["A", "B"])
