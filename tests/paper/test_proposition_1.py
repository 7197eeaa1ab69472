"""Proposition 1: the projection without X is the induced subgraph without X exactly if X is removable."""

from __future__ import annotations

from hypothesis import given

from lmarvel import MAG
from tests.generators import Study, mags, studies
from tests.paper.census import all_classes, all_mags


def holds(mag: MAG) -> bool:
    return all(
        (mag.project(latent=[x]) == mag.subgraph(v for v in mag.names if v != x)) == mag.is_removable(x)
        for x in mag.names
    )


def test_on_every_mag_with_four_nodes() -> None:
    assert all(map(holds, all_mags().mags))


def test_on_mags_with_five_nodes() -> None:
    assert all(map(holds, all_classes().mags[::5]))


@given(mags())
def test_on_larger_mags(mag: MAG) -> None:
    assert holds(mag)


@given(studies())
def test_with_the_projection_of_the_dag_itself(study: Study) -> None:
    dag, latent, selection = study
    for x in study.mag.names:
        smaller = dag.project((*latent, x), selection)
        assert (smaller == study.mag.subgraph(smaller.names)) == study.mag.is_removable(x)
