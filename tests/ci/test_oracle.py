"""The oracle answers by m-separation: compared with path enumeration, on each kind of truth."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lmarvel import ADMG, DAG, MAG, PAG, CITestError, GraphError, MixedGraph, MSeparation
from tests.generators import random_mag, random_study
from tests.paper import literal
from tests.paper.census import subsets


def check_all_answers(oracle: MSeparation, truth: MixedGraph | ADMG, selection: tuple[str, ...] = ()) -> None:
    """Compare every answer with the literal one."""
    names = oracle.names
    for x, y in combinations(range(len(names)), 2):
        for z in subsets(v for v in range(len(names)) if v not in (x, y)):
            given = [names[v] for v in z]
            separated = literal.m_separated(truth, names[x], names[y], {*given, *selection})
            assert oracle.pvalue(x, y, z) == oracle.pvalue(y, x, z[::-1]) == float(separated)


# --- against path enumeration -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_dag_with_latent_and_selection_variables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag, latent, selection = random_study(rng, observed=4, latent=seed % 3, selection=seed % 4 // 2, degree=2.5)
    oracle = MSeparation(dag, latent, selection)
    assert oracle.names == tuple(v for v in dag.names if v not in (*latent, *selection))
    check_all_answers(oracle, dag, selection)


@pytest.mark.parametrize("seed", range(20))
def test_mag(seed: int) -> None:
    mag = random_mag(np.random.default_rng(seed), observed=5, latent=3, selection=seed % 3, heavy=seed % 2 == 0)
    check_all_answers(MSeparation(mag), mag)


@pytest.mark.parametrize("seed", range(10))
def test_mag_with_selection_of_its_own(seed: int) -> None:
    mag = random_mag(np.random.default_rng(seed), observed=5, latent=2, selection=1)
    hidden, selecting = mag.names[0], mag.names[1]
    check_all_answers(MSeparation(mag, [hidden], [selecting]), mag, (selecting,))


@pytest.mark.parametrize("seed", range(20))
def test_admg_with_bows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = list(combinations("ABCDE", 2))
    directed = [f"{a} --> {b}" for a, b in pairs if rng.random() < 0.4]
    bidirected = [f"{a} <-> {b}" for a, b in pairs if rng.random() < 0.3]
    admg = ADMG.from_edges(*directed, *bidirected, nodes=list("ABCDE"))
    oracle = MSeparation(admg)
    assert oracle.names == tuple("ABCDE")
    check_all_answers(oracle, admg)


def test_a_bow_confounds() -> None:
    admg = ADMG.from_edges("Z --> X", "X --> Y", "X <-> Y")
    z, x, y = (admg.names.index(v) for v in "ZXY")
    oracle = MSeparation(admg)
    assert oracle.pvalue(z, y, [x]) == 0.0  # X is a collider on Z --> X <-> Y
    assert oracle.pvalue(z, y, []) == 0.0  # and no collider on Z --> X --> Y


def test_admg_with_latent_and_selection_nodes() -> None:
    admg = ADMG.from_edges("A --> S", "B --> S", "H --> A", "H --> C", "A <-> D")
    oracle = MSeparation(admg, latent=["H"], selection=["S"])
    assert oracle.names == ("A", "B", "C", "D")
    check_all_answers(MSeparation(admg, latent="H", selection="S"), admg, ("S",))


def test_an_ancestral_graph_that_is_not_maximal_is_accepted() -> None:
    graph = MixedGraph.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    check_all_answers(MSeparation(graph), graph)


# --- what is refused --------------------------------------------------------------------------------------

CHAIN = DAG.from_edges("A --> B", "B --> C", "C --> S")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(GraphError, match="unknown node 'Z'"):
        MSeparation(CHAIN, latent=["Z"])
    with pytest.raises(GraphError, match="unknown node 'Z'"):
        MSeparation(CHAIN, selection=["Z"])


def test_a_node_has_one_role() -> None:
    with pytest.raises(GraphError, match="B cannot be both latent and selection"):
        MSeparation(CHAIN, latent=["B"], selection=["S", "B"])
    with pytest.raises(GraphError, match="B is listed twice"):
        MSeparation(CHAIN, latent=["B", "B"])


@pytest.mark.parametrize("question", [(0, 3, []), (3, 0, []), (0, 1, [3]), (0, 1, [-1]), (-1, 0, [])])
def test_positions_out_of_range_are_refused(question: tuple[int, int, list[int]]) -> None:
    with pytest.raises(CITestError, match="3 variables"):
        MSeparation(CHAIN, selection=["S"]).pvalue(*question)


def test_circles_are_refused() -> None:
    with pytest.raises(GraphError, match="circle"):
        MSeparation(PAG.from_edges("A o-> B"))


def test_an_arrowhead_at_an_undirected_edge_is_refused() -> None:
    with pytest.raises(GraphError, match="undirected edge"):
        MSeparation(MixedGraph.from_edges("A --> B", "B --- C"))


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(GraphError, match="not str"):
        MSeparation("A --> B")


def test_all_hidden_is_allowed() -> None:
    oracle = MSeparation(MAG.from_edges("A --> B"), latent=["A", "B"])
    assert oracle.names == ()
    assert oracle.dependent_given_rest().shape == (0, 0)
