"""What the paper ran, and its published figures."""

import csv
import io
from importlib.resources import files

import pytest

from lmarvel.experiments.plan import DEFAULT_METHODS, EXPERIMENTS, METHODS, jobs_of
from lmarvel.experiments.summary import PUBLISHED_METRICS, in_paper, published


def test_the_plan_is_the_papers():
    counts = {name: (len(e.settings), e.reps) for name, e in EXPERIMENTS.items()}
    assert counts == {"table1": (7, 50), "table2": (6, 20), "figure2": (30, 50), "figure3": (12, 50)}
    assert {s.rows_per_variable for s in EXPERIMENTS["figure3"].settings} == {10, 20, 30, 40, 50, 60}
    assert {s.ranges for s in EXPERIMENTS["table2"].settings} == {"appendix"}
    assert len({s.panel for s in EXPERIMENTS["figure2"].settings}) == 5
    barley = next(s for s in EXPERIMENTS["table1"].settings if s.structure == "barley")
    assert (barley.observed, barley.latent, barley.selection, barley.rows) == (40, 5, 3, 2000)


def test_all_325_published_figures_are_there_and_found():
    text = files("lmarvel.experiments").joinpath("published.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 325
    not_available = sum(row["value"] == "NA" for row in rows)
    assert len(published()) == 325 - not_available
    five = [name for name in DEFAULT_METHODS if name != "lmarvel-chordal"]
    found = [
        in_paper(setting, method, metric)
        for name in ("table1", "table2")
        for setting in EXPERIMENTS[name].settings
        for method in five
        for metric in PUBLISHED_METRICS
    ]
    assert len(found) == 325
    assert found.count(None) == not_available
    arth = EXPERIMENTS["table1"].settings[-1]
    assert in_paper(arth, "rfci", "ci_tests") == 2644794
    assert in_paper(arth, "fci", "f1") is None
    assert in_paper(EXPERIMENTS["figure3"].settings[0], "rfci", "f1") is None


def test_jobs_have_keys_of_their_own():
    keys = [job.key for e in EXPERIMENTS.values() for job in jobs_of(e, list(METHODS), 2)]
    assert len(set(keys)) == len(keys)


def test_a_repetition_has_one_truth_for_all_methods_and_sample_sizes():
    small, large = EXPERIMENTS["figure3"].settings[0], EXPERIMENTS["figure3"].settings[5]
    assert small.structure == large.structure
    assert small.entropy(1, 3) == large.entropy(1, 3)
    assert small.entropy(1, 3) != small.entropy(1, 4) != small.entropy(2, 4)


@pytest.mark.parametrize("name", METHODS)
def test_methods_can_be_made(name):
    model = METHODS[name].make()
    model.check_parameters()
    assert model.boundary == "tc"
    assert model.alpha == 0.01
