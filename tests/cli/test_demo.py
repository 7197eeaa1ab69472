"""The demonstration says what its own run found, whatever that is."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import PAG, Auto
from lmarvel.cli import demo
from lmarvel.datasets import CARS
from lmarvel.result.display import edge_lines


def test_the_data_are_those_of_the_packages_own_simulator() -> None:
    model = demo.simulated_model()
    assert model.dag is demo.STUDY.dag
    assert np.count_nonzero(model.weights) == demo.STUDY.dag.n_edges
    for edge in demo.STUDY.dag.edges():
        assert model.weights[model.dag.index(edge.b), model.dag.index(edge.a)] == 1.0
    data = model.sample(demo.STUDY, 50_000, seed=0)
    assert data.shape[1] == len(demo.STUDY.observed)
    assert np.allclose(np.cov(data.T), model.covariance(demo.STUDY), atol=0.1)


def test_what_it_says_of_the_cars_is_the_verdict_and_the_supported_graph() -> None:
    text = "\n".join(demo.demonstration())
    found = Auto().fit(CARS).result_
    assert [line.strip() for line in text.splitlines()[2:5]] == list(found.verdict.lines[:3])
    for line in edge_lines(found):
        assert f" {line}\n" in text
    assert "\n   edge: share of 40 resamples of the rows that have it\n" in text


def test_of_the_cars_no_direction_and_no_cause_is_claimed() -> None:
    text = "\n".join(demo._cars())
    assert "Horsepower o-o SecondsTo60  " in text
    assert not {"-->", "<->", "o->", "---", "o--"} & set(text.split())
    assert "The data support no claim that one of these variables causes another." in text


def test_claims_of_the_study_are_made_and_true() -> None:
    text = "\n".join(demo._study())
    assert "\n   HeartDisease causes Fatigue: HeartDisease --> Fatigue.\n" in text
    assert "True among the arrowheads and tails that are shown: 7 of 7." in text


def test_an_arrow_that_is_supported_is_explained() -> None:
    text = "\n".join(demo._study())
    assert "   Every edge and every mark can be explained:\n\n   HeartDisease --> Fatigue\n   Meaning: " in text


def test_too_few_rows_support_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ROWS", 12)
    text = "\n".join(demo._study())
    assert "The data support no claim that one of these variables causes another." in text
    assert "Every edge and every mark" not in text
    assert "True among the arrowheads and tails that are shown: 0 of 0." in text


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
