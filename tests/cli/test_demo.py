"""The demonstration says what its own run found, whatever that is."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import PAG, Auto
from lmarvel.cli import demo
from lmarvel.datasets import CARS


def test_the_data_are_those_of_the_packages_own_simulator() -> None:
    model = demo.simulated_model()
    assert model.dag is demo.STUDY.dag
    assert np.count_nonzero(model.weights) == demo.STUDY.dag.n_edges
    for edge in demo.STUDY.dag.edges():
        assert model.weights[model.dag.index(edge.b), model.dag.index(edge.a)] == 1.0
    data = model.sample(demo.STUDY, 50_000, seed=0)
    assert data.shape[1] == len(demo.STUDY.observed)
    assert np.allclose(np.cov(data.T), model.covariance(demo.STUDY), atol=0.1)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "DRAWS", 20)


def test_what_it_says_of_the_cars_is_what_was_found_and_recurs() -> None:
    text = "\n".join(demo.demonstration())
    found = Auto().fit(CARS, bootstrap=20, seed=demo.SEED).result_
    for edge in found.pag.edges():
        assert f"   {edge!s:<32} {found.recurring(edge.a, edge.b)}\n" in text
    stable = found.stable(demo.RECURS)
    assert stable != found.pag
    for edge in stable.edges():
        assert f"   {edge}\n" in text
    assert str(found.check) in text
    assert ("Who causes whom is not told" in text) == (not found.claims(demo.RECURS))


def test_claims_are_told_with_their_shares() -> None:
    text = "\n".join(demo._study())
    assert "   HeartDisease causes Fatigue: in 100 % of the draws." in text
    assert "   HeartDisease does not cause Age, Cholesterol, Diet, Education, Stress: in " in text


def test_of_what_edges_say_only_what_recurs_is_said() -> None:
    text = "\n".join(demo._cars())
    assert "   Horsepower --> SecondsTo60  " in text  # it is found
    assert "   Horsepower o-o SecondsTo60\n" in text  # but does not recur
    assert "A --> B: " not in text
    assert "is a cause of" not in text
    assert "A o-o B: " in text


def test_where_nothing_recurs_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ROWS", 12)
    monkeypatch.setattr(demo, "RECURS", 1.0)
    assert "\n   nothing\n" in "\n".join(demo._study())


def test_an_arrow_that_recurs_is_explained() -> None:
    text = "\n".join(demo._study())
    assert "   Every edge and every mark can be explained:\n\n   HeartDisease --> Fatigue\n   Meaning: " in text


def test_a_result_that_is_not_the_truth_is_said_to_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ROWS", 40)  # too few to find it
    lines = [line for line in demo.demonstration() if "Equal to the PAG of the true graph" in line]
    assert len(lines) == 1
    assert "no (" in lines[0]


def test_the_verdict_counts_what_differs() -> None:
    truth = PAG.from_edges("A o-> B", "C o-> B", nodes=list("ABCD"))
    learned = PAG.from_edges("A o-o B", "C o-o D", nodes=list("ABCD"))
    assert demo._verdict(truth, truth) == "yes"
    assert demo._verdict(learned, truth) == "no (1 extra edge, 1 missing edge, 1 other mark)"
