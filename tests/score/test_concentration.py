"""Covariance selection: Sigma equals S on the edges, and its inverse is zero elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lmarvel import MAG
from lmarvel.score.concentration import covariance_selection
from lmarvel.score.ricf import ricf
from tests.score.models import Model, any_covariance


def random_undirected(rng: np.random.Generator, n: int, chance: float) -> MAG:
    names = [f"V{i}" for i in range(n)]
    return MAG.from_edges(*(f"{a} --- {b}" for a, b in combinations(names, 2) if rng.random() < chance), nodes=names)


@pytest.mark.parametrize("seed", range(20))
def test_the_conditions_of_covariance_selection_hold(seed: int) -> None:
    rng = np.random.default_rng([30, seed])
    n = int(rng.integers(3, 12))
    graph = random_undirected(rng, n, chance=rng.uniform(0.1, 0.7))
    S = any_covariance(rng, n)
    fit = ricf(graph, S)
    joined = (graph.marks != 0) | np.eye(n, dtype=bool)
    np.testing.assert_allclose(fit.Sigma[joined], S[joined], rtol=1e-9, atol=1e-11)
    K = np.linalg.inv(fit.Sigma)
    scale = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    assert np.abs((K / scale)[~joined]).max(initial=0.0) < 1e-10
    assert fit.converged


@pytest.mark.parametrize("length", [4, 5, 7])
def test_a_chordless_cycle_has_no_closed_form_and_is_fitted(length: int) -> None:
    rng = np.random.default_rng(length)
    cycle = MAG.from_edges(*(f"V{i} --- V{(i + 1) % length}" for i in range(length)))
    S = any_covariance(rng, length)
    fit = ricf(cycle, S)
    assert fit.iterations > 2
    assert abs(fit.minus_two_log_likelihood - Model(cycle).optimum(S, rng, starts=1)) < 1e-6


def test_sweeps_that_run_out_are_told() -> None:
    S = any_covariance(np.random.default_rng(31), 5)
    scale = np.sqrt(S.diagonal())
    cycle = [[(v - 1) % 5, (v + 1) % 5] for v in range(5)]
    assert not covariance_selection(S / np.outer(scale, scale), cycle, max_sweeps=1).converged


def test_a_singular_matrix_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        covariance_selection(np.ones((2, 2)), [[1], [0]])
