"""The likelihood of a MAG: the maximum, its parts, and what has a closed form."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lmarvel import DAG, MAG, MixedGraph, mag_to_pag, pag_to_mag
from lmarvel.score.ricf import fit_district, ricf
from tests.generators import random_dag, random_mag
from tests.score.models import Model, any_covariance, conforms, minus_two_log_likelihood, sample_covariance
from tests.truth.make_truth import load, marks_matrix

SEEDS = range(24)


def some_mag(rng: np.random.Generator, seed: int) -> MAG:
    """Return a MAG with bidirected edges and, for every second seed, undirected ones."""
    return random_mag(rng, 6, latent=3, selection=seed % 2, degree=3.0, heavy=seed % 4 == 3)


def complete(n: int, order: list[int], spouses: set[frozenset[int]] = frozenset()) -> MAG:
    """Return a complete graph: each pair directed along the order, or bidirected."""
    marks = np.zeros((n, n), dtype=np.int8)
    for a, b in combinations(order, 2):
        marks[a, b], marks[b, a] = 2, 2 if frozenset((a, b)) in spouses else 3
    return MAG([f"V{i}" for i in range(n)], marks)


# --- the maximum ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_general_optimiser_finds_nothing_better_on_data_of_the_model(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    mag = some_mag(rng, seed)
    S = sample_covariance(rng, Model(mag).random_sigma(rng), rows=200)
    fit = ricf(mag, S)
    assert fit.converged
    assert abs(fit.minus_two_log_likelihood - Model(mag).optimum(S, rng)) < 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_a_general_optimiser_finds_nothing_better_on_other_data(seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    mag = some_mag(rng, seed)
    S = any_covariance(rng, len(mag))
    fit = ricf(mag, S)
    assert fit.converged
    assert fit.minus_two_log_likelihood < Model(mag).optimum(S, rng, starts=1) + 1e-6


def test_the_graphs_tried_have_edges_of_every_kind_and_districts_that_need_iterations() -> None:
    rngs = [np.random.default_rng([1, seed]) for seed in SEEDS]
    mags = [some_mag(rng, seed) for rng, seed in zip(rngs, SEEDS, strict=True)]
    kinds = {(edge.at_a, edge.at_b) for mag in mags for edge in mag.edges()}
    assert len(kinds) == 3
    fits = [ricf(mag, any_covariance(rng, len(mag))) for mag, rng in zip(mags, rngs, strict=True)]
    assert sum(fit.iterations > 0 for fit in fits) >= 8


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sum_over_districts_is_the_joint_likelihood(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    mag = random_mag(rng, 9, latent=4, selection=seed % 2, degree=3.0, heavy=seed % 4 == 3)
    S = any_covariance(rng, len(mag))
    fit = ricf(mag, S)
    assert abs(fit.minus_two_log_likelihood - minus_two_log_likelihood(fit.Sigma, S)) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_stand_only_where_the_graph_has_edges(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    mag = random_mag(rng, 9, latent=4, selection=seed % 2, degree=3.0, heavy=seed % 4 == 3)
    fit = ricf(mag, any_covariance(rng, len(mag)))
    assert conforms(mag, fit.B, fit.Omega)
    assert np.linalg.eigvalsh(fit.Omega)[0] > 0


@pytest.mark.parametrize("seed", range(8))
def test_a_covariance_of_the_model_is_fitted_exactly(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    mag = some_mag(rng, seed)
    S = Model(mag).random_sigma(rng)
    np.testing.assert_allclose(ricf(mag, S).Sigma, S, atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_units_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng([6, seed])
    mag = some_mag(rng, seed)
    S = any_covariance(rng, len(mag))
    units = 10.0 ** rng.uniform(-6, 6, len(mag))
    plain, scaled = ricf(mag, S), ricf(mag, S * np.outer(units, units))
    np.testing.assert_allclose(scaled.Sigma / np.outer(units, units), plain.Sigma, atol=1e-7)
    shift = scaled.minus_two_log_likelihood - plain.minus_two_log_likelihood
    assert abs(shift - 2 * np.log(units).sum()) < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    mag = some_mag(rng, seed)
    S = any_covariance(rng, len(mag))
    order = rng.permutation(len(mag))
    other = mag.reordered([mag.names[i] for i in order])
    a, b = ricf(mag, S), ricf(other, S[np.ix_(order, order)])
    assert abs(a.minus_two_log_likelihood - b.minus_two_log_likelihood) < 1e-9


# --- Markov equivalence -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_markov_equivalent_mags_have_the_same_likelihood(part: int) -> None:
    truth = load(4)
    S = any_covariance(np.random.default_rng([8, part]), 4)
    for klass in range(part, len(truth["size"]), 4):
        mags = truth["mags"][truth["klass"] == klass]
        scores = [ricf(MAG(list("ABCD"), marks_matrix(row, 4)), S).minus_two_log_likelihood for row in mags]
        assert np.ptp(scores) < 1e-9, klass


def test_markov_equivalent_mags_have_the_same_likelihood_where_fits_are_iterative() -> None:
    iterative = 0
    for seed in range(60):
        rng = np.random.default_rng([15, seed])
        mag = random_mag(rng, 9, latent=5, selection=seed % 2, degree=3.0)
        member = pag_to_mag(mag_to_pag(mag))
        S = any_covariance(rng, len(mag))
        a, b = ricf(mag, S), ricf(member, S)
        assert abs(a.minus_two_log_likelihood - b.minus_two_log_likelihood) < 1e-9
        iterative += mag != member and min(a.iterations, b.iterations) > 0
    assert iterative > 10


def test_classes_have_different_likelihoods() -> None:
    truth = load(4)
    S = any_covariance(np.random.default_rng(9), 4)
    graphs = [MAG(list("ABCD"), marks_matrix(row, 4)) for row in truth["representative"]]
    scores = sorted(ricf(graph, S).minus_two_log_likelihood for graph in graphs)
    assert min(np.diff(scores)) > 1e-9


# --- closed forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "graph",
    [
        complete(5, [3, 1, 4, 0, 2]),
        complete(5, [0, 1, 2, 3, 4], {frozenset(pair) for pair in combinations(range(5), 2)}),
        complete(5, [0, 1, 2, 3, 4], {frozenset(pair) for pair in combinations(range(2, 5), 2)}),
        MAG.from_edges(*(f"V{i} --- V{j}" for i, j in combinations(range(5), 2))),
    ],
    ids=["directed", "bidirected", "mixed", "undirected"],
)
def test_a_complete_graph_reproduces_the_sample_covariance(graph: MAG) -> None:
    S = any_covariance(np.random.default_rng(10), 5)
    fit = ricf(graph, S)
    np.testing.assert_allclose(fit.Sigma, S, rtol=1e-9, atol=1e-12)
    assert abs(fit.minus_two_log_likelihood - minus_two_log_likelihood(S, S)) < 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_a_dag_is_a_regression_for_each_node(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    dag = random_dag(rng, 7, 3.0)
    data = rng.normal(size=(300, 7)) @ rng.normal(size=(7, 7))
    data -= data.mean(axis=0)
    fit = ricf(dag, np.cov(data.T, bias=True))
    for v, name in enumerate(dag.names):
        causes = sorted(dag.index(p) for p in dag.parents(name))
        coefficients, *_ = np.linalg.lstsq(data[:, causes], data[:, v], rcond=None)
        np.testing.assert_allclose(fit.B[v, causes], coefficients, rtol=1e-6, atol=1e-9)
        residual = data[:, v] - data[:, causes] @ coefficients
        assert fit.Omega[v, v] == pytest.approx(residual.var(), rel=1e-8)
    assert fit.iterations == 0


def test_no_edges_is_independence() -> None:
    S = any_covariance(np.random.default_rng(12), 4)
    fit = ricf(MAG.from_edges(nodes=list("ABCD")), S)
    np.testing.assert_allclose(fit.Sigma, np.diag(S.diagonal()))


def test_a_graph_without_nodes_has_likelihood_one() -> None:
    assert ricf(DAG.from_edges(nodes=[]), np.empty((0, 0))).minus_two_log_likelihood == 0


def test_an_ancestral_graph_that_is_not_maximal_can_be_fitted() -> None:
    graph = MixedGraph.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    S = any_covariance(np.random.default_rng(13), 4)
    fit = ricf(graph, S)
    assert abs(fit.minus_two_log_likelihood - Model(graph).optimum(S, np.random.default_rng(0))) < 1e-6
    full = MAG.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A", "A <-> D")
    assert ricf(full, S).minus_two_log_likelihood < fit.minus_two_log_likelihood


# --- one district -----------------------------------------------------------------------------------------


def test_a_district_alone_is_fitted_as_within_the_graph() -> None:
    mag = MAG.from_edges("A --> B", "B <-> C", "D --> C", "A --> D", nodes=list("ABCD"))
    S = any_covariance(np.random.default_rng(14), 4)
    whole = ricf(mag, S)
    part = fit_district(S, [1, 2], parents={1: [0], 2: [3]}, spouses={1: [2], 2: [1]})
    assert part.members == (1, 2)
    assert part.outside == (0, 3)
    assert part.iterations > 0
    np.testing.assert_allclose(part.B[:, 2:], whole.B[np.ix_([1, 2], [0, 3])], rtol=1e-9)
    np.testing.assert_allclose(part.Omega, whole.Omega[1:3, 1:3], rtol=1e-9)
    rest = ricf(mag.subgraph(["A", "D"]), S[np.ix_([0, 3], [0, 3])]).minus_two_log_likelihood
    assert abs(part.score + rest - whole.minus_two_log_likelihood) < 1e-9


def test_a_fit_that_is_cut_short_says_so() -> None:
    S = any_covariance(np.random.default_rng(14), 4)
    hurried = fit_district(S, [1, 2], {1: [0], 2: [3]}, {1: [2], 2: [1]}, max_iterations=1)
    patient = fit_district(S, [1, 2], {1: [0], 2: [3]}, {1: [2], 2: [1]})
    assert not hurried.converged
    assert patient.converged
    assert patient.score < hurried.score
