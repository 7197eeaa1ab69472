"""The accuracy experiment, cut down to a few small settings."""

from dataclasses import replace

import polars as pl
import pytest

from lmarvel.experiments import figures
from lmarvel.experiments import reproduce as module
from lmarvel.experiments.reproduce import EXPERIMENTS, Request, reproduce
from lmarvel.experiments.studies import ACCURACY

KEPT = ("insurance", "sparse", "insurance by rows")
SMALL = tuple(s for s in ACCURACY.settings if s.panel in KEPT and s.rows < 5000)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "EXPERIMENTS", {**EXPERIMENTS, "accuracy": replace(ACCURACY, settings=SMALL)})


def test_tables_figure_and_entries_are_written(tmp_path, small):
    paths = reproduce(Request(["accuracy"], tmp_path, methods=["lmarvel", "mbcs"], reps=2, workers=1))
    assert [p.name for p in paths] == ["runs.csv", "accuracy.csv", "accuracy.md", "accuracy.png", "accuracy.svg"]
    text = (tmp_path / "accuracy.md").read_text()
    titles = [line for line in text.splitlines() if line.startswith("###")]
    assert [title.split(": ")[1] for title in titles] == [
        "benchmark structures, 50 rows per variable",
        "random graphs, 50 rows per variable",
        "insurance by sample size",
    ]
    assert "|  |  | insurance (22,3,2) |" in text
    assert "|  |  | sparse (34,4,2) |" in text
    assert "|  |  | 200 rows | 500 rows |" in text
    for label in ("skeleton F1", "mark F1", "arrowhead F1", "tail F1", "legal PAGs", "seconds"):
        assert sum(line.startswith(f"| {label} | L-MARVEL |") for line in text.splitlines()) == 3
    runs = pl.read_csv(tmp_path / "runs.csv")
    entries = pl.read_csv(tmp_path / "accuracy.csv", infer_schema_length=None)
    for metric in ("arrowhead_f1", "tail_f1"):
        values = runs.filter(panel="sparse", method="mbcs")[metric]
        entry = entries.filter(panel="sparse", method="mbcs", metric=metric).row(0, named=True)
        assert entry["mean"] == pytest.approx(values.mean(), abs=1e-5)
        assert entry["standard_error"] == pytest.approx(values.std() / 2**0.5, abs=1e-5)
        assert entry["paper"] is None
    assert set(runs.filter(panel="insurance by rows")["rows"]) == {200, 500}


def test_tables_can_do_without_matplotlib(tmp_path, small, monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    paths = reproduce(Request(["accuracy"], tmp_path, methods=["mbcs"], reps=1, workers=1, without=["degree=2"]))
    assert [p.name for p in paths] == ["runs.csv", "accuracy.csv", "accuracy.md"]
    assert "random graphs" not in (tmp_path / "accuracy.md").read_text()
    with pytest.raises(ValueError, match="figures need Matplotlib"):
        reproduce(Request(["figure3"], tmp_path / "other"))


def test_a_method_that_the_figures_do_not_know_gets_a_curve(tmp_path, small, monkeypatch):
    monkeypatch.delitem(figures._STYLE, "mbcs")
    ask = Request(["accuracy"], tmp_path, methods=["mbcs"], reps=1, workers=1, without=["degree=2"])
    assert (tmp_path / "accuracy.svg") in reproduce(ask)


def test_a_structure_that_the_package_does_not_have_is_left_out_or_looked_for(tmp_path):
    (found,) = Request(["accuracy"], tmp_path).check()
    assert "carpo" not in found.structures()
    assert "alarm" in found.structures()
    (found,) = Request(["accuracy"], tmp_path, networks=tmp_path).check()
    assert "carpo" in found.structures()
