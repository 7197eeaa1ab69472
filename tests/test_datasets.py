"""The bundled tables are what their description says."""

import numpy as np

from lmarvel import LMarvel, MSeparation, moments_of
from lmarvel.datasets import CARS, HEART, HEART_TRUTH
from lmarvel.interchange.registry import read_graph

COLUMNS = ("MilesPerGallon", "Cylinders", "Displacement", "Horsepower", "Weight", "SecondsTo60")


def test_the_cars_are_all_there() -> None:
    cars = moments_of(CARS)
    assert cars.n == 392
    assert cars.names == COLUMNS
    means = dict(zip(cars.names, cars.mean.round(1).tolist(), strict=True))
    assert means == {
        "MilesPerGallon": 23.4,
        "Cylinders": 5.5,
        "Displacement": 194.4,
        "Horsepower": 104.5,
        "Weight": 2977.6,
        "SecondsTo60": 15.5,
    }


def test_heavy_cars_with_large_engines_use_more_fuel() -> None:
    correlation = moments_of(CARS).correlation()[0]
    assert (correlation[1:5] < -0.75).all()
    assert np.isclose(correlation[5], 0.42, atol=0.01)


def test_the_source_and_licence_are_named() -> None:
    text = CARS.with_name("README.md").read_text()
    assert "10.24432/C5859H" in text
    assert "CC BY 4.0" in text


def test_a_graph_can_be_learned_from_them() -> None:
    found = LMarvel().fit(CARS)
    assert found.pag_.names == COLUMNS
    assert found.pag_.has_edge("Horsepower", "SecondsTo60")


def test_the_study_has_what_its_truth_has_but_for_the_hidden_cause() -> None:
    study, truth = moments_of(HEART), read_graph(HEART_TRUTH)
    assert study.n == 2000
    assert set(truth.names) - set(study.names) == {"Genotype"}
    best = LMarvel(test=MSeparation(truth, latent=["Genotype"])).fit().pag_
    assert set(map(str, LMarvel().fit(HEART).pag_.edges())) == set(map(str, best.edges()))
