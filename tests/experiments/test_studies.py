"""What the paper leaves to do: bounds recorded with each run, boundaries, the order of the conditions."""

import math
from dataclasses import replace

import pytest

from lmarvel import LMarvel, MSeparation
from lmarvel.experiments import reproduce as module
from lmarvel.experiments.bounds import bounds_of
from lmarvel.experiments.methods import BOUNDARY_METHODS, METHODS, SecondFirst
from lmarvel.experiments.plan import Job
from lmarvel.experiments.reproduce import EXPERIMENTS, Request, reproduce
from lmarvel.experiments.run import Limits, draw, run
from lmarvel.graph.metrics import compare_boundaries
from lmarvel.simulate import load_network
from tests.paper.census import all_mags

INSURANCE = EXPERIMENTS["table1"].settings[0]
TEXT = str(load_network("insurance"))
LIMITS = Limits(1_000_000, 60.0)


def row(method, rep=0):
    return run(Job(INSURANCE, method, rep), 5, LIMITS, TEXT)


def test_a_run_records_the_degree_and_the_bounds():
    study, _ = draw(Job(INSURANCE, "lmarvel", 0), 5, TEXT)
    low, high = bounds_of(study.mag)
    found = row("lmarvel-oracle")
    assert found["degree"] == study.mag.delta_plus_in()
    assert found["lower_bound"] == pytest.approx(low.total, rel=1e-5)
    assert found["upper_bound"] == pytest.approx(high.total, rel=1e-5)
    assert found["all_tests"] == found["ci_tests"] + found["boundary_tests"] <= high.total
    assert found["all_tests"] == LMarvel(test=MSeparation(study.mag), faithful=True).fit().n_ci_tests_
    assert found["f1"] == found["mark_f1"] == found["boundary_f1"] == 1


@pytest.mark.parametrize("method", [*BOUNDARY_METHODS, "lmarvel"])
def test_boundaries_are_scored(method):
    found = row(method)
    study, data = draw(Job(INSURANCE, method, 0), 5, TEXT)
    model = METHODS[method].make_for(study).fit(dict(zip(study.observed, data.T, strict=True)))
    rate = compare_boundaries(model.boundaries_, study.mag)
    assert found["boundary_precision"] == pytest.approx(rate.precision, abs=1e-5)
    assert found["boundary_recall"] == pytest.approx(rate.recall, abs=1e-5)
    assert found["boundary_missing"] == (rate.true - rate.right) / 2
    told = method == "lmarvel-true-boundaries"
    assert (found["boundary_f1"] == 1) is told
    assert (found["boundary_tests"] == 0) is told


def test_a_method_without_boundaries_has_no_score_of_them():
    setting = INSURANCE._replace(structure="degree=2", variables=6, latent=0, selection=0)
    found = run(Job(setting, "lift", 0), 5, LIMITS)
    assert found["status"] == "ok"
    assert found["boundary_f1"] is None or 0 <= found["boundary_f1"] <= 1


@pytest.mark.parametrize("assume_chordal", [True, False])
def test_the_order_of_the_conditions_changes_nothing_with_an_oracle(assume_chordal):
    graphs = all_mags().chordal if assume_chordal else all_mags().mags
    for mag in graphs[::3]:
        given = {"test": MSeparation(mag), "faithful": True, "assume_chordal": assume_chordal}
        assert SecondFirst(**given).fit().pag_ == LMarvel(**given).fit().pag_


def test_the_order_of_the_conditions_changes_something_on_data():
    one, two = (row(name, rep=1) for name in ("lmarvel", "lmarvel-second-first"))
    assert one["ci_tests"] != two["ci_tests"]


def test_the_bounds_are_written_as_medians_and_drawn(tmp_path, monkeypatch):
    bounds = EXPERIMENTS["bounds"]
    settings = tuple(s for s in bounds.settings if s.panel in ("insurance", "cliques=3-20", "parents<=2-20"))
    monkeypatch.setattr(module, "EXPERIMENTS", {**EXPERIMENTS, "bounds": replace(bounds, settings=settings)})
    ask = Request(["bounds"], tmp_path, reps=2, workers=1, limits=Limits(20_000, 60.0))
    names = [path.name for path in reproduce(ask)]
    assert names == ["runs.csv", "bounds.csv", "bounds.md", "bounds.png", "bounds.svg"]
    text = (tmp_path / "bounds.md").read_text()
    assert "The median over 2 repetitions." in text
    line = next(line for line in text.splitlines() if line.startswith("| lower bound (worst case)"))
    assert line.startswith("| lower bound (worst case) |  |")  # the same for every method


def test_in_cliques_the_tests_of_an_oracle_run_lie_between_the_bounds():
    for setting in EXPERIMENTS["bounds"].settings:
        if setting.structure in ("cliques=3", "cliques=5") and setting.variables == 20:
            found = run(Job(setting, "lmarvel-oracle", 0), 5, LIMITS)
            assert found["lower_bound"] <= found["all_tests"] <= found["upper_bound"]
            assert found["degree"] == int(setting.structure.removeprefix("cliques=")) - 1
            assert math.isfinite(found["upper_bound"])
