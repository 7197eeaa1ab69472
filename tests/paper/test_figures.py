"""The examples that the paper draws, and those that show where its assumption on selection bites."""

from __future__ import annotations

import pytest

from lmarvel import DAG, MAG, LMarvel, MSeparation, mag_to_pag
from lmarvel.graph.kinds import is_chordal_undirected
from lmarvel.result.trace import NoneRemovable
from tests.generators import Study

# --- Figure 1: the effect of removing a variable ----------------------------------------------------------

FIGURE_1 = Study(DAG.from_edges("U --> Y", "U --> W", "W --> Z", "W --> T", "T --> Z"), ("U",), ())


def test_figure_1b_is_the_mag() -> None:
    assert FIGURE_1.mag == MAG.from_edges("Y <-> W", "W --> Z", "W --> T", "T --> Z")


def test_figure_1c_removing_t_leaves_the_induced_subgraph() -> None:
    without = FIGURE_1.dag.project(latent=["U", "T"])
    assert without == MAG.from_edges("Y <-> W", "W --> Z") == FIGURE_1.mag.subgraph(["Y", "W", "Z"])
    assert FIGURE_1.mag.is_removable("T")


def test_figure_1d_removing_w_adds_two_bidirected_edges() -> None:
    without = FIGURE_1.dag.project(latent=["U", "W"])
    assert without == MAG.from_edges("T --> Z", "Y <-> T", "Y <-> Z")
    new = [edge for edge in without.edges() if not FIGURE_1.mag.has_edge(edge.a, edge.b)]
    assert sorted(map(str, new)) == ["Y <-> T", "Y <-> Z"]
    assert not FIGURE_1.mag.is_removable("W")


def test_figure_1_is_learned() -> None:
    model = LMarvel(test=MSeparation(FIGURE_1.dag, latent=["U"])).fit()
    assert model.pag_ == mag_to_pag(FIGURE_1.mag)
    assert model.result_.removal_order[0] != "W"


# --- Figure "chordal" of the appendix: a chordless cycle from four selection variables ---------------------

CYCLE = MAG.from_edges("O1 --- O2", "O2 --- O3", "O3 --- O4", "O4 --- O1")


def selected(*pairs: str) -> list[str]:
    """Return the edges that give each pair such as "12" a selection variable of its own."""
    return [f"O{i} --> S{pair}" for pair in pairs for i in pair]


def test_four_selection_variables_make_the_chordless_cycle_of_the_appendix() -> None:
    dag = DAG.from_edges(*selected("12", "23", "34", "41"))
    assert dag.project(selection=["S12", "S23", "S34", "S41"]) == CYCLE
    assert not is_chordal_undirected(CYCLE)
    assert not any(map(CYCLE.is_removable, CYCLE.names))


@pytest.mark.parametrize("chord", ["O1 --> O3", "O3 --> O1", "O1 --> S23"])
def test_a_further_edge_in_the_dag_gives_the_cycle_a_chord(chord: str) -> None:
    dag = DAG.from_edges(*selected("12", "23", "34", "41"), chord)
    mag = dag.project(selection=["S12", "S23", "S34", "S41"])
    assert mag.has_edge("O1", "O3")
    assert is_chordal_undirected(mag)


def test_a_latent_common_cause_gives_the_cycle_a_chord() -> None:
    dag = DAG.from_edges(*selected("12", "23", "34", "41"), "U --> O1", "U --> O3")
    assert dag.project(latent=["U"], selection=["S12", "S23", "S34", "S41"]).has_edge("O1", "O3")


def test_the_bare_cycle_is_learned_although_nothing_is_removable() -> None:
    model = LMarvel(test=MSeparation(CYCLE)).fit()
    assert model.pag_ == mag_to_pag(CYCLE)
    assert NoneRemovable(frozenset(range(4))) in model.result_.trace
    assert model.result_.removal_order == ()


# --- a chordless cycle needs no selection variable for each of its edges ----------------------------------


@pytest.mark.parametrize(
    "edges",
    [
        ["O1 --> O2", *selected("23", "34", "41")],
        ["O1 --> O2", "O4 --> O3", *selected("23", "41")],
        ["O1 --> O2", "O2 --> O3", "O1 --> O4", *selected("34")],
    ],
    ids=["three", "two", "one"],
)
def test_fewer_selection_variables_make_the_same_cycle(edges: list[str]) -> None:
    """The appendix says that each edge of the cycle must have a selection variable of its own. It need not."""
    dag = DAG.from_edges(*edges)
    selection = [v for v in dag.names if v.startswith("S")]
    assert dag.project(selection=selection) == CYCLE


# --- the smallest graphs on which the paper's rule goes wrong ---------------------------------------------

WRONG = MAG.from_edges(
    "A --- D", "D --- C", "C --- E", "E --- A", "D --> B", "E --> B", nodes=["A", "B", "C", "D", "E"]
)


def test_smallest_mag_on_which_the_papers_rule_goes_wrong() -> None:
    assert WRONG.m_separated("D", "E", ["A", "C"])
    assumed = LMarvel(test=MSeparation(WRONG), assume_chordal=True).fit()
    assert (
        assumed.pag_.skeleton()
        == mag_to_pag(MAG.from_edges(*map(str, WRONG.edges()), "D --- E", nodes=WRONG.names)).skeleton()
    )
    assert assumed.result_.removal_order[0] == "A"
    model = LMarvel(test=MSeparation(WRONG)).fit()
    assert model.pag_ == mag_to_pag(WRONG)
    assert model.sepsets_["D", "E"] == {"A", "C"}


def test_one_selection_variable_is_enough_for_that() -> None:
    """C --> D --> A --> S and C --> E --> S, two ways from C into the sample, and B an effect of D and E."""
    dag = DAG.from_edges(
        "C --> D",
        "D --> A",
        "A --> S",
        "C --> E",
        "E --> S",
        "D --> B",
        "E --> B",
        nodes=["A", "B", "C", "D", "E", "S"],
    )
    assert dag.project(selection=["S"]) == WRONG
    oracle = MSeparation(dag, selection=["S"])
    assert LMarvel(test=oracle, assume_chordal=True).fit().pag_.has_edge("D", "E")
    assert LMarvel(test=oracle).fit().pag_ == mag_to_pag(WRONG)
