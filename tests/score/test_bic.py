"""BIC of any graph on any data, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from lmarvel import (
    DAG,
    MAG,
    PAG,
    DataError,
    FisherZ,
    GraphError,
    LMarvelWarning,
    MixedGraph,
    Moments,
    mag_to_pag,
    moments_of,
)
from lmarvel.score import ricf as module
from lmarvel.score.ricf import DistrictFit, bic, ricf
from tests.generators import mags, random_mag
from tests.score.models import any_covariance

EDGES = ("A --> B", "B <-> C", "D --> C")
ROWS = 400


def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    a, d, u = rng.normal(size=(3, ROWS))
    return {"A": a, "B": a + u + rng.normal(size=ROWS), "C": d - u + rng.normal(size=ROWS), "D": d}


@pytest.fixture
def graph() -> MAG:
    return MAG.from_edges(*EDGES, nodes=list("ABCD"))


# --- the number -------------------------------------------------------------------------------------------


def test_bic_is_the_likelihood_and_a_penalty_for_nodes_and_edges(graph: MAG) -> None:
    moments = moments_of(table())
    likelihood = ROWS * ricf(graph, moments.covariance).minus_two_log_likelihood
    assert bic(graph, moments) == pytest.approx(likelihood + math.log(ROWS) * (4 + 3), abs=1e-8)


def test_the_likelihood_is_that_of_the_rows() -> None:
    data = table()
    dag = DAG.from_edges("A --> B", nodes=list("ABCD"))
    rows = np.column_stack(list(data.values()))
    rows -= rows.mean(axis=0)
    Sigma = ricf(dag, np.cov(rows.T, bias=True)).Sigma
    inverse, logdet = np.linalg.inv(Sigma), np.linalg.slogdet(Sigma)[1]
    total = sum(4 * math.log(2 * math.pi) + logdet + row @ inverse @ row for row in rows)
    assert bic(dag, data) == pytest.approx(total + math.log(ROWS) * 5, abs=1e-6)


def test_the_true_graph_beats_others(graph: MAG) -> None:
    data = table()
    for edges in (("A --> B", "D --> C"), ("A --> B", "B --> C", "D --> C"), (*EDGES, "A --> C")):
        assert bic(graph, data) < bic(MAG.from_edges(*edges, nodes=list("ABCD")), data)


@given(mags(4, 7))
def test_a_pag_scores_as_each_of_its_mags(mag: MAG) -> None:
    S = any_covariance(np.random.default_rng(1), len(mag))
    moments = Moments(mag.names, 100, np.zeros(len(mag)), S)
    assert bic(mag_to_pag(mag), moments) == pytest.approx(bic(mag, moments), abs=1e-6)


def test_a_large_graph_needs_no_large_fit() -> None:
    rng = np.random.default_rng(2)
    mag = random_mag(rng, 400, latent=40, selection=4, degree=2.0)
    data = rng.normal(size=(1000, len(mag)))
    assert math.isfinite(bic(mag, data))


# --- data -------------------------------------------------------------------------------------------------


def test_every_kind_of_data_gives_the_same(graph: MAG, tmp_path: Path) -> None:
    data = table()
    frame = pd.DataFrame(data)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    kinds = [data, frame, frame.to_numpy(), str(path), path, moments_of(data), FisherZ(data), frame[list("DBCA")]]
    scores = [bic(graph, kind) for kind in kinds]
    assert np.ptp(scores) < 1e-6


def test_columns_that_are_no_nodes_are_left_out(graph: MAG) -> None:
    data = {"Note": ["x"] * ROWS, **table()}
    assert bic(graph, pd.DataFrame(data)) == pytest.approx(bic(graph, table()), abs=1e-6)
    assert bic(graph.subgraph("AB"), moments_of(table())) < bic(graph, table())


@pytest.mark.parametrize("make", [dict, FisherZ, moments_of])
def test_a_node_without_a_column_is_named(graph: MAG, make: type) -> None:
    data = table()
    del data["C"]
    with pytest.raises(DataError, match="'C'"):
        bic(graph, make(data))


def test_an_array_must_have_a_column_for_each_node(graph: MAG) -> None:
    with pytest.raises(DataError, match="4 names for 3 columns"):
        bic(graph, np.random.default_rng(0).normal(size=(50, 3)))


@pytest.mark.parametrize("edges", [("A --> C", "B --> C"), ("A <-> B", "B <-> C"), ("A --- B", "B --- C", "A --- C")])
def test_too_few_rows_for_a_district_with_its_parents(edges: tuple[str, ...]) -> None:
    graph = MAG.from_edges(*edges, nodes=list("ABC"))
    rows = np.random.default_rng(0).normal(size=(3, 3))
    with pytest.raises(DataError, match=r"3 rows are too few to fit 3 variables at once.*A, B, C"):
        bic(graph, rows)


@pytest.mark.parametrize(
    "edges",
    [
        ("A --> Sum", "B --> Sum"),
        ("A <-> Sum", "B <-> Sum"),
        ("A --- Sum", "B --- Sum", "A --- B"),
        ("A --> Sum", "B --> Sum", "Sum <-> C", "D --> C"),
    ],
)
def test_collinear_variables_are_named(edges: tuple[str, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 100))
    graph = MAG.from_edges(*edges)
    with pytest.raises(DataError, match=r"'A'.*'B'.*collinear|'Sum'.*collinear") as caught:
        bic(graph, {"A": a, "B": b, "Sum": a + b, "C": c, "D": d})
    assert "'Sum'" in str(caught.value)
    assert "'D'" not in str(caught.value)


def test_a_fit_that_did_not_end_warns(graph: MAG, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = module._fit_district

    def cut_short(*arguments: object) -> DistrictFit:
        return whole(*arguments, 1e-12, 1)

    monkeypatch.setattr(module, "_fit_district", cut_short)
    with pytest.warns(LMarvelWarning, match="the fit of B, C did not come to its end"):
        bic(graph, table())


# --- graphs and matrices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        (("A --> B", "B --> C", "C --> A"), "directed cycle"),
        (("A o-> C", "B o-> C", "C o-o D"), "C o-o D should be C --> D"),
    ],
)
def test_an_illegal_pag_is_refused_with_the_reason(edges: tuple[str, ...], reason: str) -> None:
    with pytest.raises(GraphError, match=f"no MAG has this PAG: .*{reason}"):
        bic(PAG.from_edges(*edges), table())


@pytest.mark.parametrize("score", [lambda g: bic(g, table()), lambda g: ricf(g, np.eye(2))])
@pytest.mark.parametrize("graph", ["A --> B", None, 3])
def test_only_graphs_have_a_likelihood(score: object, graph: object) -> None:
    with pytest.raises(GraphError, match=f"needs a DAG or MAG, not {type(graph).__name__}"):
        score(graph)


def test_a_graph_that_is_not_ancestral_has_none() -> None:
    bow = MixedGraph.from_edges("A --> B", "B --> C", "A <-> C")
    with pytest.raises(GraphError, match="almost directed cycle"):
        ricf(bow, np.eye(3))


def test_a_pag_itself_cannot_be_fitted() -> None:
    with pytest.raises(GraphError, match="pag_to_mag"):
        ricf(PAG.from_edges("A o-o B"), np.eye(2))


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.eye(3), "2 nodes needs a 2 x 2"),
        (np.ones((2, 3)), "square, not of shape"),
        (np.ones(2), "square, not of shape"),
        ([[1.0, 0.5], [0.4, 1.0]], "symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "not finite"),
        ([[1.0, 0.0], [0.0, 0.0]], "variable number 1 is 0"),
        ([[1.0, 2.0], [2.0, 1.0]], "'A', 'B' are collinear"),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused(S: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ricf(DAG.from_edges("A --> B"), S)


def test_rows_are_checked_where_they_are_given() -> None:
    graph = DAG.from_edges("A --> B")
    ricf(graph, np.eye(2), n=3)
    with pytest.raises(DataError, match="2 rows are too few"):
        ricf(graph, np.eye(2), n=2)
