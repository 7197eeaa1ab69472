"""The demonstration says what its own run found, whatever that is."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import PAG, Auto, demo
from lmarvel.datasets import CARS
from lmarvel.metrics import compare_graphs


def test_the_data_are_those_of_the_packages_own_simulator() -> None:
    model = demo.simulated_model()
    assert model.dag is demo.STUDY.dag
    assert np.count_nonzero(model.weights) == demo.STUDY.dag.n_edges
    for edge in demo.STUDY.dag.edges():
        assert model.weights[model.dag.index(edge.b), model.dag.index(edge.a)] == 1.0
    data = model.sample(demo.STUDY, 50_000, seed=0)
    assert data.shape[1] == len(demo.STUDY.observed)
    assert np.allclose(np.cov(data.T), model.covariance(demo.STUDY), atol=0.1)


def test_what_it_says_of_the_cars_is_what_was_found() -> None:
    text = "\n".join(demo.demonstration())
    found = Auto().fit(CARS).pag_
    for edge in found.edges():
        assert f"   {edge}\n" in text
    kept = compare_graphs(Auto(penalty=demo.CHEAP).fit(CARS).pag_, found)
    assert (
        f"{kept.skeleton.right} of {kept.skeleton.true} edges and {kept.marks.right} of {kept.marks.true} marks stay"
        in text
    )
    assert ("So the marks are less firm here than the edges." in text) == (kept.marks.recall < kept.skeleton.recall)


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
