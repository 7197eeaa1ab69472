"""Latent projection against Definition 2 taken literally, in one step and in two."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, MAG, MixedGraph, explain_invalid
from tests.generators import mags, random_dag, random_study
from tests.graph import literal
from tests.graph.literal import ARROW, TAIL, THOROUGH


@st.composite
def dags_with_roles(draw: st.DrawFn, max_nodes: int = 7, parts: int = 2) -> tuple[DAG, list[list[str]]]:
    """Draw a DAG and ``parts`` disjoint sets of its nodes; what is in none of them is observed."""
    n = draw(st.integers(2, max_nodes))
    order = draw(st.permutations([f"V{i}" for i in range(n)]))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    edges = [f"{a} --> {b}" for a, b in pairs if draw(st.booleans())]
    roles = draw(st.lists(st.integers(0, 2 * parts), min_size=n, max_size=n))
    sets = [[f"V{i}" for i, role in enumerate(roles) if role == part] for part in range(parts)]
    return DAG.from_edges(*edges, nodes=[f"V{i}" for i in range(n)]), sets


def literal_projection(graph: MixedGraph, latent: list[str], selection: list[str]) -> MAG:
    """Definition 2: adjacent if an inducing path joins them, a tail at X if X is an ancestor of Y or of selection."""
    hidden, chosen = [graph.index(v) for v in latent], [graph.index(v) for v in selection]
    seen = [v for v in range(len(graph)) if v not in (*hidden, *chosen)]
    marks = np.zeros((len(seen), len(seen)), dtype=np.int8)
    for i, x in enumerate(seen):
        for j, y in enumerate(seen):
            if i != j and literal.has_inducing_path(graph, x, y, hidden, chosen):
                marks[i, j] = TAIL if y in literal.ancestors(graph, [x, *chosen]) else ARROW
    return MAG([graph.names[v] for v in seen], marks)  # refuses what is not a MAG


@THOROUGH
@given(dags_with_roles(max_nodes=6))
def test_projection_is_definition_2(case: tuple[DAG, list[list[str]]]) -> None:
    dag, (latent, selection) = case
    assert dag.project(latent, selection) == literal_projection(dag, latent, selection)


@THOROUGH
@given(dags_with_roles(max_nodes=7))
def test_the_projection_has_the_separations_of_the_dag(case: tuple[DAG, list[list[str]]]) -> None:
    dag, (latent, selection) = case
    mag = dag.project(latent, selection)
    for i, x in enumerate(mag.names):
        for y in mag.names[i + 1 :]:
            rest = [v for v in range(len(mag)) if mag.names[v] not in (x, y)]
            sets = [[mag.names[z] for z in zs] for zs in literal.subsets(rest)]
            answers = [dag.m_separated(x, y, [*zs, *selection]) for zs in sets]
            assert [mag.m_separated(x, y, zs) for zs in sets] == answers
            assert mag.has_edge(x, y) == (not any(answers))


@THOROUGH
@given(dags_with_roles(max_nodes=9, parts=4))
def test_two_steps_give_what_one_step_gives(case: tuple[DAG, list[list[str]]]) -> None:
    dag, (latent, more_latent, selection, more_selection) = case
    at_once = dag.project(latent + more_latent, selection + more_selection)
    assert dag.project(latent, selection).project(more_latent, more_selection) == at_once
    assert dag.project(selection=selection).project(latent).project(more_latent, more_selection) == at_once


def test_two_steps_give_what_one_step_gives_on_larger_graphs() -> None:
    rng = np.random.default_rng(2)
    for _ in range(150):
        dag = random_dag(rng, int(rng.integers(8, 25)), float(rng.uniform(1.5, 4)))
        role = rng.integers(0, 7, len(dag))
        latent, more_latent, selection, more_selection = (
            [v for v, r in zip(dag.names, role, strict=True) if r == k] for k in range(4)
        )
        at_once = dag.project(latent + more_latent, selection + more_selection)
        assert dag.project(latent, selection).project(more_latent, more_selection) == at_once
        assert explain_invalid(at_once) is None


@THOROUGH
@given(mags(3, 7), st.data())
def test_a_mag_projects_to_a_mag_with_its_separations(mag: MAG, data: st.DataObject) -> None:
    role = data.draw(st.lists(st.sampled_from("ols"), min_size=len(mag), max_size=len(mag)))
    latent, selection = ([v for v, r in zip(mag.names, role, strict=True) if r == kind] for kind in "ls")
    small = mag.project(latent, selection)
    assert explain_invalid(small) is None
    for i, x in enumerate(small.names):
        for y in small.names[i + 1 :]:
            for zs in literal.subsets(v for v in range(len(small)) if small.names[v] not in (x, y)):
                given_ = [small.names[z] for z in zs]
                assert small.m_separated(x, y, given_) == mag.m_separated(x, y, [*given_, *selection])


@given(mags())
def test_projecting_over_nothing_changes_nothing(mag: MAG) -> None:
    assert mag.project() == mag


def test_projections_by_hand() -> None:
    dag = DAG.from_edges("U --> A", "U --> B", "A --> C", "C --> B", "B --> S", "D --> S", "S --> T")
    assert dag.project(["U"]) == MAG.from_edges(
        "A --> C", "C --> B", "A --> B", "B --> S", "D --> S", "S --> T", nodes=list("ABCDST")
    )
    assert dag.project(["U", "C"]).edge("A", "B") == MAG.from_edges("A --> B").edge("A", "B")
    # Selection on the effect of B and D makes them dependent, and every ancestor of the selection gets tails.
    assert dag.project(["U", "S"], ["T"]) == MAG.from_edges("A --- C", "C --- B", "A --- B", "B --- D")


def test_an_inducing_path_may_need_both_of_its_ends() -> None:
    """B is an ancestor of D only and C of A only: neither end alone opens the path A, B, C, D."""
    dag = DAG.from_edges("K --> A", "K --> B", "L --> B", "L --> C", "M --> C", "M --> D", "B --> D", "C --> A")
    mag = dag.project(["K", "L", "M"])
    assert str(mag.edge("A", "D")) == "A <-> D"
    assert mag == literal_projection(dag, ["K", "L", "M"], [])


def test_what_leads_to_selection_over_an_undirected_edge_gets_a_tail() -> None:
    mag = MAG.from_edges("X --- L", "L --> S", "Y --> S")
    assert mag.project(["L"], ["S"]) == MAG.from_edges("X --- Y")


def test_a_latent_or_selection_node_may_be_given_alone() -> None:
    dag = DAG.from_edges("Gene --> A", "Gene --> B", "A --> Sample", "C --> Sample")
    assert dag.project("Gene", "Sample") == dag.project(["Gene"], ["Sample"])


def test_the_observed_nodes_keep_their_order() -> None:
    assert DAG.from_edges("D --> C", "U --> C", "U --> B", "A --> B").project(["U"]).names == ("D", "C", "B", "A")


def test_everything_may_be_hidden() -> None:
    assert len(DAG.from_edges("A --> B").project(["A", "B"])) == 0


def test_a_thousand_node_dag_projects_to_a_mag() -> None:
    dag, latent, selection = random_study(np.random.default_rng(1), 900, latent=80, selection=20, degree=3.0)
    mag = dag.project(latent, selection)
    assert len(dag) == 1000
    assert len(mag) == 900
    assert explain_invalid(mag) is None
