"""What the paper ran, and its published figures."""

import csv
import io
from importlib.resources import files

import pytest

from lmarvel.estimators import METHODS as ESTIMATORS
from lmarvel.experiments.measures import MEASURES
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.paper import METHODS as PAPER_METHODS
from lmarvel.experiments.plan import jobs_of
from lmarvel.experiments.reproduce import EXPERIMENTS, PAPER
from lmarvel.experiments.run import draw
from lmarvel.experiments.summary import PUBLISHED_METRICS, in_paper, published


def test_the_plan_is_the_papers():
    counts = {name: (len(e.settings), e.reps) for name, e in PAPER.items()}
    assert counts == {"table1": (7, 50), "table2": (6, 20), "figure3": (30, 50), "figure4": (12, 50)}
    assert {s.rows_per_variable for s in EXPERIMENTS["figure4"].settings} == {10, 20, 30, 40, 50, 60}
    assert {s.ranges for s in EXPERIMENTS["table2"].settings} == {"appendix"}
    assert len({s.panel for s in EXPERIMENTS["figure3"].settings}) == 5
    barley = next(s for s in EXPERIMENTS["table1"].settings if s.structure == "barley")
    assert (barley.observed, barley.latent, barley.selection, barley.rows) == (40, 5, 3, 2000)


def test_all_325_published_figures_are_there_and_found():
    text = files("lmarvel.experiments").joinpath("published.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 325
    not_available = sum(row["value"] == "NA" for row in rows)
    five = [name for name in PAPER_METHODS if name != "lmarvel-chordal"]
    labels = [METHODS[name].label for name in five]
    assert published().filter(published()["label"].is_in(labels)).height == 325 - not_available
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
    assert in_paper(EXPERIMENTS["figure4"].settings[0], "rfci", "f1") is None


def test_jobs_have_keys_of_their_own():
    keys = [job.key for e in EXPERIMENTS.values() for job in jobs_of(e, list(METHODS), 2)]
    assert len(set(keys)) == len(keys)


def test_a_repetition_has_one_truth_for_all_methods_and_sample_sizes():
    small, large = EXPERIMENTS["figure4"].settings[0], EXPERIMENTS["figure4"].settings[5]
    assert small.structure == large.structure
    assert small.entropy(1, 3) == large.entropy(1, 3)
    assert small.entropy(1, 3) != small.entropy(1, 4) != small.entropy(2, 4)


@pytest.mark.parametrize("name", [*PAPER_METHODS, "lmarvel-at-alpha", "lmarvel-second-first", "fci-pruned"])
def test_methods_can_be_made(name):
    model = METHODS[name].make()
    model.check_parameters()
    assert model.boundary == "tc"
    assert model.alpha == 0.01


def test_every_method_of_the_package_can_be_run():
    assert set(ESTIMATORS) <= set(METHODS)
    default = tuple("lmarvel-default" if name == "lmarvel" else name for name in ESTIMATORS)
    assert EXPERIMENTS["accuracy"].methods == default


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=str)
def test_tables_and_figures_show_what_there_is(experiment):
    panels = {s.panel for s in experiment.settings}
    views = [*experiment.tables, *([experiment.figure] if experiment.figure else [])]
    shown = set()
    for view in views:
        assert set(view.measures) <= set(MEASURES)
        if view is experiment.figure:
            drawn = [s for panel in view.panels for s in view.among(experiment.settings, panel)]
            assert all(view.among(experiment.settings, panel) for panel in view.panels)
            shown |= {s.panel for s in drawn}
        else:
            assert set(view.panels) <= panels
            shown |= set(view.panels)
    assert experiment.is_published or shown == panels


def test_the_accuracy_experiment_covers_structures_roles_and_sample_sizes():
    settings = EXPERIMENTS["accuracy"].settings
    table1 = {s.panel: s for s in PAPER["table1"].settings}
    same = [s for s in settings if s.panel in table1]
    assert {s.panel for s in same} == set(table1)
    assert EXPERIMENTS["accuracy"].optional == ("carpo",)
    assert all(s[2:7] == table1[s.panel][2:7] and s.rows == table1[s.panel].rows for s in same)
    by_rows = {(s.structure, s.rows) for s in settings if s.panel.endswith("by rows")}
    names, sizes = ("insurance", "alarm", "ecoli70", "hailfinder"), (200, 500, 5_000, 50_000)
    assert by_rows == {(name, size) for name in names for size in sizes}
    roles = {s.panel: (s.variables, s.latent, s.selection) for s in settings if s.structure.startswith("degree=")}
    assert roles["many latents"] == (40, 12, 0)
    assert roles["neither"] == (40, 0, 0)
    assert roles["no latents"][1] == roles["no selection"][2] == 0


@pytest.mark.parametrize(("panel", "degree"), [("sparse", 2), ("dense", 5)])
def test_random_graphs_have_their_degree(panel, degree):
    experiment = EXPERIMENTS["accuracy"]
    (setting,) = experiment.of_panels([panel])
    dags = [draw(job, 1, "")[0].dag for job in jobs_of(experiment, ["lmarvel"], 30) if job.setting == setting]
    mean = sum(2 * dag.n_edges / len(dag) for dag in dags) / len(dags)
    assert mean == pytest.approx(degree, rel=0.1)
