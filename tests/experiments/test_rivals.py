"""Rivals of benchmarks/rivals: each answers in the common form, and one that is late or fails counts as such."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from lmarvel import PAG
from lmarvel.orient.study import Study

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "rivals"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the benchmarks are not here")
TRUTH = PAG.from_edges("X0 o-> X2", "X1 o-> X2", "X2 --> X3", nodes=["X0", "X1", "X2", "X3"])


@pytest.fixture(scope="module")
def run():
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("rivals_run", FOLDER / "run.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        import environments

        module.installed = environments.installed
        yield module
    finally:
        sys.path.remove(str(FOLDER))
        for name in ("child", "environments"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def rows():
    noise = np.random.default_rng(5).normal(size=(2000, 4))
    noise[:, 2] += noise[:, 0] + noise[:, 1]
    noise[:, 3] += noise[:, 2]
    return noise


@pytest.mark.parametrize("name", ["ours", "causal_learn", "tetrad_port"])
def test_every_method_of_a_rival_finds_a_collider(run, rows, name):
    rival = run.load(FOLDER / f"{name}.py")
    python = run.installed(rival)
    if python is None:
        pytest.skip(f"{name} is not installed")
    for method in rival.METHODS:
        answer = run.ask(python, FOLDER / f"{name}.py", method, rows, 30)
        assert answer["outcome"] == "ended", (method, answer)
        marks = np.array(answer["marks"], dtype=np.int8)
        pag = run.pag_of_cpdag(run.MixedGraph(TRUTH.names, marks)) if method in rival.DAGS else PAG(TRUTH.names, marks)
        assert pag == TRUTH, method
        assert answer["seconds"] > 0
        assert answer["version"].startswith(next(iter(rival.PACKAGES)))


def test_the_files_of_rivals_are_those_that_are_tested(run):
    assert list(run.rivals()) == ["ours", "causal_learn", "tetrad_port"]


@pytest.mark.parametrize(
    ("body", "outcome", "why"),
    [
        ("while True: pass", "late", None),
        ("raise ValueError('no such table')", "failed", "ValueError: no such table"),
        ("import os; os._exit(0)", "failed", "exit code 0"),
    ],
)
def test_a_rival_that_does_not_answer_counts_as_such(run, rows, tmp_path, body, outcome, why):
    file = tmp_path / "bad.py"
    file.write_text(
        f"PACKAGES = {{}}\n\ndef prepare(method):\n    def search(rows):\n        {body}\n    return search\n"
    )
    answer = run.ask(sys.executable, file, "any", rows, 1)
    assert (answer["outcome"], answer.get("why")) == (outcome, why)


def test_what_is_kept_is_not_run_again_and_late_methods_stop_growing(run, tmp_path, monkeypatch):
    asked = []

    def ask(python, rival, method, rows, limit):
        asked.append((rows.shape[1], method))
        return {"outcome": "late"} if method == "auto" else {"outcome": "ended", "marks": [], "seconds": 1.0}

    monkeypatch.setattr(run, "ask", ask)
    monkeypatch.setattr(run, "scored", lambda answer, is_dag, study: answer | {"marks": 1, "skeleton": 1})
    tables, kept = [run.Table(3, 10, 0), run.Table(3, 12, 0)], tmp_path / "kept.csv"
    for _ in range(2):
        run.fill(kept, tables, ["ours"], 5, again=False)
    methods = ["lift", "lift-linear", "auto", "lmarvel"]
    assert asked == [(10, name) for name in methods] + [(12, name) for name in methods if name != "auto"]
    assert [row["outcome"] for row in run.kept(kept).values()] == ["ended", "ended", "late", "ended"] * 2
    run.fill(kept, tables[:1], ["ours"], 5, again=True)
    assert len(asked) == 11
    table = "\n".join(run.lines(run.kept(kept), 5))
    assert "| 12 | ours auto | 0 of 1 | - | - | - | > 5 | > 5 | > 5 |" in table


def test_tables_are_drawn_from_their_seed_alone(run):
    study, values = run.Table(3, 20, 1).draw()
    assert isinstance(study, Study)
    assert values.shape == (run.ROWS, 20)
    assert len(study.latent) == 2
    assert np.array_equal(values, run.Table(3, 20, 1).draw()[1])
    assert not np.array_equal(values, run.Table(4, 20, 1).draw()[1])


def test_the_page_has_the_figures_that_were_measured(run):
    between = run.PAGE.read_text("utf-8").partition(run.BEGIN)[2].partition(run.END)[0].strip("\n")
    assert between.splitlines() == list(run.lines(run.kept(run.KEPT), 120.0))
