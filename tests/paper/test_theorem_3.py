"""Theorem 3: told the separations among the observed variables given the selection ones, L-MARVEL returns the PAG.

The paper's theorem rests on Theorem 2, hence on the absence of chordless undirected cycles; the algorithm of this
package does not, and must be right on selection-heavy studies too.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lmarvel import LMarvel, MSeparation, mag_to_pag
from lmarvel.graph.kinds import is_chordal_undirected
from tests.effort import examples
from tests.generators import Study, random_study, studies


def is_learned(study: Study, **options: bool) -> bool:
    oracle = MSeparation(study.dag, study.latent, study.selection)
    return LMarvel(test=oracle, **options).fit().pag_ == mag_to_pag(study.mag)


@examples(60)
@given(studies())
def test_pag_of_the_study_is_learned(study: Study) -> None:
    assert is_learned(study)


@examples(60)
@given(studies(min_nodes=7, heavy=True))
def test_pag_is_learned_in_spite_of_chordless_cycles(study: Study) -> None:
    assert is_learned(study)


@pytest.mark.parametrize("observed", range(6, 13))
@pytest.mark.parametrize("heavy", [False, True])
def test_pag_of_seeded_studies_is_learned(observed: int, heavy: bool) -> None:
    rng = np.random.default_rng(observed)
    for latent in range(5):
        for selection in range(3):
            assert is_learned(random_study(rng, observed, latent, selection, heavy=heavy))


@given(studies())
def test_the_papers_own_algorithm_is_right_without_chordless_cycles(study: Study) -> None:
    assert is_learned(study, assume_chordal=True) or not is_chordal_undirected(study.mag)


@pytest.mark.parametrize("seed", range(3))
def test_pag_of_a_sparse_study_with_sixty_variables_is_learned(seed: int) -> None:
    assert is_learned(random_study(np.random.default_rng(seed), observed=60, latent=6, selection=2, degree=1.5))
