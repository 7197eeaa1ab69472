"""Proposition 3: L-MARVEL needs O(n^2 + n D^2 2^D) tests, where D = Delta+_in is the largest size of Pa+.

The proof adds up, for n variables: one test a pair for the boundaries, and for each variable at most D 2^(D-1) to find
the adjacent ones, D D 2^(D-1) for removability and D (D-1) / 2 to update boundaries. A test counts once however often
it is used. The sum is :func:`lmarvel.experiments.bounds.upper_bound`. The paper's algorithm keeps it where there are no
chordless undirected cycles; the general algorithm, which needs no such assumption, keeps it too on all graphs tried
here. What it tests beyond the paper, separating sets that boundaries imply and marks rest on ("gaps"), is not in the
sum.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lmarvel import MAG, LMarvel, MSeparation, is_chordal_undirected
from lmarvel.experiments.bounds import bounds_of
from tests.generators import Study, random_study, studies
from tests.paper.census import all_classes, all_mags

CHUNKS = 8


def bound(mag: MAG) -> int:
    return bounds_of(mag)[1].total


def count(mag: MAG, assume_chordal: bool) -> int:
    stats = LMarvel(test=MSeparation(mag), assume_chordal=assume_chordal).fit().result_.stats
    return stats.n_tests - sum(stats.tests.get("gaps", {}).values())


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_on_all_classes_with_five_nodes_and_no_chordless_cycle(chunk: int) -> None:
    mags = all_classes().chordal[chunk::CHUNKS]
    assert all(count(mag, assume_chordal=True) <= bound(mag) for mag in mags)


def test_on_all_mags_with_four_nodes() -> None:
    assert all(count(mag, assume_chordal=True) <= bound(mag) for mag in all_mags().mags)


def test_the_general_algorithm_keeps_the_bound_on_classes_with_chordless_cycles() -> None:
    assert all(count(mag, assume_chordal=False) <= bound(mag) for mag in all_classes().cyclic)


@given(studies())
def test_on_larger_studies(study: Study) -> None:
    assert count(study.mag, assume_chordal=False) <= bound(study.mag)
    if is_chordal_undirected(study.mag):
        assert count(study.mag, assume_chordal=True) <= bound(study.mag)


@pytest.mark.parametrize("seed", range(5))
def test_on_sparse_studies_with_sixty_variables(seed: int) -> None:
    study = random_study(np.random.default_rng(seed), observed=60, latent=6, selection=2, degree=1.5)
    assert count(study.mag, assume_chordal=False) <= bound(study.mag)


def test_every_phase_keeps_its_part_of_the_bound() -> None:
    for mag in (*all_mags().mags, *all_classes().chordal[::20]):
        stats = LMarvel(test=MSeparation(mag), assume_chordal=True, faithful=True).fit().result_.stats
        most = bounds_of(mag)[1]._asdict()
        assert all(sum(sizes.values()) <= most[phase] for phase, sizes in stats.tests.items())


@pytest.mark.parametrize("n", [5, 10, 20])
def test_the_boundaries_take_a_test_a_pair_in_total(n: int) -> None:
    """The proof has O(n) for them, which is for one variable; the proposition has n^2, which is right."""
    empty = MAG.from_edges(nodes=[f"V{i}" for i in range(n)])
    assert LMarvel(test=MSeparation(empty), faithful=True).fit().result_.stats.tests == {
        "boundary": {n - 2: n * (n - 1) // 2}
    }
