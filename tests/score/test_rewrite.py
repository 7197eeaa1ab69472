"""Reading bidirected edges as directed ones leaves the model as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG
from lmarvel.score.district import fit_piece
from lmarvel.score.rewrite import rewrite, split
from tests.generators import mags, random_mag
from tests.score.models import any_covariance


def sets(mag: MAG) -> tuple[dict[int, int], dict[int, int]]:
    return dict(enumerate(mag.masks.parents)), dict(enumerate(mag.masks.spouses))


def correlation(rng: np.random.Generator, n: int) -> np.ndarray:
    S = any_covariance(rng, n)
    scale = np.sqrt(S.diagonal())
    return S / np.outer(scale, scale)


def score(R: np.ndarray, parents: dict[int, int], spouses: dict[int, int]) -> float:
    return sum(fit_piece(R, piece, parents, spouses).score for piece in split(spouses))


@pytest.mark.parametrize("seed", range(40))
def test_the_likelihood_stays_the_same(seed: int) -> None:
    rng = np.random.default_rng([20, seed])
    mag = random_mag(rng, 8, latent=5, selection=0, degree=3.0)
    R = correlation(rng, len(mag))
    parents, spouses = sets(mag)
    plain = score(R, parents, spouses)
    rewrite(parents, spouses)
    assert abs(score(R, parents, spouses) - plain) < 1e-9


def test_that_test_has_something_to_rewrite_and_something_left() -> None:
    rewritten, left = 0, 0
    for seed in range(40):
        mag = random_mag(np.random.default_rng([20, seed]), 8, latent=5, selection=0, degree=3.0)
        parents, spouses = sets(mag)
        rewritten += len(rewrite(parents, spouses))
        left += sum(mask.bit_count() for mask in spouses.values()) // 2
    assert rewritten > 40
    assert left > 40


@given(mags(4, 8, heavy=False), st.integers(0, 10))
def test_each_step_keeps_the_number_of_edges_and_every_pair(mag: MAG, seed: int) -> None:
    parents, spouses = sets(mag)
    adjacent = [parents[v] | spouses[v] | mag.masks.children[v] for v in parents]
    steps = rewrite(parents, spouses)
    after = [parents[v] | spouses[v] for v in parents]
    for v, mask in parents.items():
        for u in range(len(mag)):
            if mask >> u & 1:
                after[u] |= 1 << v
    assert after == adjacent
    assert len({frozenset(step) for step in steps}) == len(steps)
    assert all(mag.spouses(mag.names[x]) >= {mag.names[y]} for x, y in steps)


def test_a_bidirected_chain_is_a_collider_and_two_instruments_are_not_rewritten() -> None:
    chain = MAG.from_edges("A <-> B", "B <-> C")
    parents, spouses = sets(chain)
    assert rewrite(parents, spouses) == [(0, 1), (2, 1)]
    instruments = MAG.from_edges("A --> B", "B <-> C", "D --> C")
    assert rewrite(*sets(instruments)) == []


def test_districts_are_split_by_bidirected_edges() -> None:
    mag = MAG.from_edges("A <-> B", "C <-> D", "D <-> E", nodes=list("ABCDEF"))
    assert split(sets(mag)[1]) == [[0, 1], [2, 3, 4], [5]]
