"""Runs: the same whatever the workers, kept durably, resumed, and never mixed."""

import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from lmarvel.errors import DataError, OutputError, ParameterError
from lmarvel.experiments import reproduce as module
from lmarvel.experiments.measures import TIMES
from lmarvel.experiments.plan import Job
from lmarvel.experiments.reproduce import EXPERIMENTS, Request, load_structures, reproduce
from lmarvel.experiments.run import COLUMNS, KEY, Limits, draw, run
from lmarvel.experiments.store import SCHEMA
from lmarvel.experiments.summary import in_paper, summary_of
from lmarvel.graph.metrics import compare_graphs
from lmarvel.simulate import load_network
from tests.cli.running import spawn
from tests.experiments.finished import finished, recovered

MILDEW = EXPERIMENTS["table2"].settings[0]
LIMITS = Limits(1_000_000, 60.0)


def request(folder, **changes):
    given = {"methods": ["lmarvel", "mbcs"], "reps": 2, "workers": 1}
    return Request(["table2"], folder, **(given | changes))


def timeless(path):
    """Return the runs without what the clock says."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    drop = [lines[0].index(name) for name in TIMES]
    return [[cell for i, cell in enumerate(line) if i not in drop] for line in lines]


def cell(rows, metric):
    """Return the entry of a measure over some rows of Mildew and L-MARVEL."""
    keys = [dict(zip(KEY, Job(MILDEW, "lmarvel", rep).key, strict=True)) for rep in range(len(rows))]
    whole = [dict.fromkeys(SCHEMA) | key | row for key, row in zip(keys, rows, strict=True)]
    runs = pl.DataFrame(whole, schema=SCHEMA)
    return summary_of(replace(EXPERIMENTS["table2"], settings=(MILDEW,)), runs, ["lmarvel"], len(rows)).cell(
        MILDEW, "lmarvel", metric
    )


def test_a_run_says_what_a_fit_by_hand_says():
    job = Job(MILDEW, "lmarvel", 3)
    structure = str(load_network("mildew"))
    row = run(job, 1, LIMITS, structure)
    study, data = draw(job, 1, structure)
    found = module.METHODS["lmarvel"].make().fit(dict(zip(study.observed, data.T, strict=True))).result_
    scores = compare_graphs(found.pag, study.pag)
    assert row["f1"] == pytest.approx(scores.skeleton.f1, abs=1e-5)
    assert row["arrowhead_f1"] == pytest.approx(scores.mark("arrowhead").f1, abs=1e-5)
    assert row["tail_f1"] == pytest.approx(scores.mark("tail").f1, abs=1e-5)
    assert row["ci_tests"] == sum(sum(s.values()) for p, s in found.stats.tests.items() if p != "boundary")
    assert row["boundary_tests"] == 31 * 30 / 2
    assert row["hamming"] == scores.hamming
    assert row["status"] == "ok"
    assert data.shape == (50 * 31, 31)


def test_the_true_graph_is_the_same_for_every_method_and_sample_size():
    settings = [s for s in EXPERIMENTS["figure4"].settings if s.panel == "alarm"]
    structure = str(load_network("alarm"))
    studies = [draw(Job(s, m, 4), 9, structure)[0] for s in settings for m in ("lmarvel", "fci")]
    assert len({(study.latent, study.selection) for study in studies}) == 1


def test_a_limit_gives_na():
    row = run(Job(MILDEW, "fci", 0), 1, Limits(10, 60.0), str(load_network("mildew")))
    assert row["status"] == "limit"
    assert row["f1"] is row["ci_tests"] is None
    assert cell([{"status": row["status"]}], "f1").is_na


def test_rows_do_not_depend_on_the_number_of_workers(tmp_path):
    for workers in (1, 2):
        reproduce(request(tmp_path / str(workers), workers=workers, methods=["lmarvel", "rfci"]))
    one, two = (timeless(tmp_path / name / "runs.csv") for name in "12")
    assert one == two
    assert len(one) == 1 + 6 * 2 * 2


def test_an_interrupted_command_goes_on_where_it_stopped(tmp_path, monkeypatch):
    reproduce(request(tmp_path / "whole"))

    def interrupt(name, done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(request(tmp_path / "part"), interrupt)
    kept = timeless(tmp_path / "part" / "runs.csv")
    assert len(kept) == 1 + 5

    again = []
    monkeypatch.setattr(module, "run_all", spying(module.run_all, again))
    reproduce(request(tmp_path / "part"))
    assert len(again) == 24 - 5
    assert timeless(tmp_path / "part" / "runs.csv") == timeless(tmp_path / "whole" / "runs.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_command_goes_on_where_it_stopped(tmp_path, monkeypatch):
    options = ("reproduce", "table2", "--methods", "lmarvel,mbcs", "--reps", "2", "--jobs", "1", "--out", tmp_path)
    with spawn(*options) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and finished(tmp_path) < 3:
            time.sleep(0.01)
        process.kill()
    kept = recovered(tmp_path)  # the third may have been on its way to disk
    assert 2 <= kept < 24, "the kill should come midway"
    again = []
    monkeypatch.setattr(module, "run_all", spying(module.run_all, again))
    reproduce(request(tmp_path))
    assert len(again) == 24 - kept
    assert len(timeless(tmp_path / "runs.csv")) == 1 + 24


def spying(run_all, seen):
    def spy(jobs, *rest):
        seen.extend(jobs)
        return run_all(jobs, *rest)

    return spy


@pytest.mark.parametrize("change", ["f1 = 2", "junk"])
def test_what_people_do_to_the_exported_runs_does_no_harm(tmp_path, change, monkeypatch):
    reproduce(request(tmp_path))
    whole = (tmp_path / "runs.csv").read_bytes()
    (tmp_path / "runs.csv").write_text(change)
    again = []
    monkeypatch.setattr(module, "run_all", spying(module.run_all, again))
    reproduce(request(tmp_path))
    assert not again
    assert (tmp_path / "runs.csv").read_bytes() == whole


def test_a_run_that_failed_is_done_again(tmp_path, monkeypatch):
    reproduce(request(tmp_path))
    whole = timeless(tmp_path / "runs.csv")
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE runs SET status = 'error: x' WHERE method = 'lmarvel' AND rep = 1 AND latent = 4")
    again = []
    monkeypatch.setattr(module, "run_all", spying(module.run_all, again))
    reproduce(request(tmp_path))
    assert [job.key for job in again] == [Job(MILDEW, "lmarvel", 1).key]
    assert timeless(tmp_path / "runs.csv") == whole


def test_nothing_finished_is_not_perfect(tmp_path):
    reproduce(request(tmp_path, methods=["lmarvel"], reps=1, limits=Limits(1, 60.0)))
    text = (tmp_path / "table2.md").read_text()
    assert "1.00" not in text.split("true marks against learned ones")[1]
    assert "| NA | NA |" in text


def test_exactly_half_finished_is_shown():
    ok, late = {"status": "ok", "f1": 0.5}, {"status": "limit"}
    assert not cell([ok, late], "f1").is_na
    assert cell([ok, late, late], "f1").is_na


def test_an_entry_is_mean_error_and_median_of_what_finished():
    values = [0.5, 0.25, 1.0, 0.75]
    entry = cell([{"status": "ok", "f1": v} for v in values] + [{"status": "limit"}], "f1")
    assert entry.mean == pytest.approx(np.mean(values))
    assert entry.error == pytest.approx(np.std(values, ddof=1) / 2)
    assert entry.median == pytest.approx(0.625)
    assert entry[3:] == (4, 1)
    assert cell([{"status": "ok", "f1": 0.5}], "f1") == (0.5, None, 0.5, 1, 0)
    assert cell([{"status": "limit"}], "f1") == (None, None, None, 0, 1)


def test_more_repetitions_and_methods_add_to_what_is_there(tmp_path, monkeypatch):
    reproduce(request(tmp_path, reps=1))
    asked = []
    monkeypatch.setattr(module, "run_all", spying(module.run_all, asked))
    reproduce(request(tmp_path, reps=2, methods=["lmarvel", "mbcs", "rfci"]))
    assert len(asked) == 6 * (2 * 3 - 2)


def test_finished_runs_are_on_disk_at_once(tmp_path):
    seen = []
    reproduce(request(tmp_path), lambda name, done, total: seen.append(finished(tmp_path)))
    assert seen == list(range(25))


def test_other_settings_are_not_mixed_in(tmp_path):
    reproduce(request(tmp_path, reps=1, methods=["lmarvel"]))
    before = (tmp_path / "runs.csv").read_bytes()
    for change in ({"seed": 3}, {"limits": Limits(5, 60.0)}):
        with pytest.raises(OutputError, match=r"was written with other settings \(not the same: (seed|max_tests.*)\)"):
            reproduce(request(tmp_path, **change))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE settings SET value = '\"0\"' WHERE name = 'the structure mildew'")
    with pytest.raises(OutputError, match="the structure mildew"):
        reproduce(request(tmp_path))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE settings SET value = '{'")
    with pytest.raises(OutputError, match="is damaged"):
        reproduce(request(tmp_path))
    assert (tmp_path / "runs.csv").read_bytes() == before


def test_a_directory_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(OutputError, match=r"holds other files \(thesis\.tex\)"):
        reproduce(request(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_tables_show_ours_and_the_papers(tmp_path):
    paths = reproduce(request(tmp_path, methods=["lmarvel", "lmarvel-chordal", "m3hc"]))
    text = (tmp_path / "table2.md").read_text()
    assert [p.name for p in paths] == ["runs.csv", "table2.csv", "table2.md"]
    tests = next(line for line in text.splitlines() if line.startswith("| L-MARVEL | #CI tests"))
    papers = [part.split("\\|")[1].strip(" |") for part in tests.split(" | ")[2:]]
    assert papers == ["359", "194", "426", "2,365", "1,130", "1,368"]
    assert "F1 of marks" in text
    assert "learned arrowhead" in text
    summary = (tmp_path / "table2.csv").read_text().splitlines()
    assert summary[0].endswith("runs,unfinished,paper")
    f1 = next(line for line in summary if ",water,32,26," in line and ",lmarvel,f1," in line)
    assert f1.endswith(",2,0,0.73")
    rows = [r for r in timeless(tmp_path / "runs.csv")[1:] if r[1] == "water-26-3-3" and r[3] == "lmarvel"]
    mean = np.mean([float(r[COLUMNS.index("f1") - 1]) for r in rows])
    assert float(f1.split(",")[10]) == pytest.approx(mean, abs=1e-5)
    assert in_paper(EXPERIMENTS["table2"].settings[-1], "lmarvel", "f1") == 0.73


@pytest.mark.slow
def test_figures_are_drawn(tmp_path, monkeypatch):
    small = EXPERIMENTS["figure3"]
    sizes = tuple(s for s in small.settings if s.variables <= 40)
    changed = {**EXPERIMENTS, "figure3": replace(small, reps=1, settings=sizes)}
    monkeypatch.setattr(module, "EXPERIMENTS", changed)
    ask = Request(["figure3"], tmp_path, methods=["lmarvel", "mbcs"], workers=1)
    names = [p.name for p in reproduce(ask)]
    assert names == ["runs.csv", "figure3.csv", "figure3.png", "figure3.svg"]
    assert (tmp_path / "figure3.png").read_bytes().startswith(b"\x89PNG")
    pictures = [(tmp_path / f"figure3.{ending}").read_bytes() for ending in ("png", "svg")]
    assert b"<svg" in pictures[1]
    reproduce(ask)
    assert pictures == [(tmp_path / f"figure3.{ending}").read_bytes() for ending in ("png", "svg")]
    assert (tmp_path / "figure3.png").stat().st_size > 20_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"experiments": ["table7"]},
            "unknown experiment 'table7': choose from table1, table2, figure3, figure4, all, accuracy",
        ),
        ({"experiments": []}, "no experiment to run"),
        ({"methods": ["lmarvle"]}, "unknown method 'lmarvle': choose from lmarvel"),
        ({"methods": []}, "no method to run"),
        ({"methods": ["rfci", "rfci"]}, "a method is named twice: rfci, rfci"),
        ({"reps": 0}, "reps must be at least 1, not 0"),
        ({"reps": 10**14}, "reps must be at most 100,000"),
        ({"workers": 0}, "jobs must be at least 1, not 0"),
        ({"limits": Limits(0, 1.0)}, "the limit of tests must be at least 1"),
        ({"limits": Limits(1, 0.0)}, "the limit of seconds must be positive"),
        ({"seed": -1}, "the seed must not be negative"),
        ({"without": ["carpoo"]}, "cannot leave out 'carpoo': the structures are mildew, water"),
        ({"without": ["mildew", "water"]}, "nothing is left of table2"),
        *(
            pytest.param(  # waits ten seconds for an answer
                {"dask": f"{how}://127.0.0.1:1"},
                f"no Dask scheduler answers at '{how}://127.0.0.1:1'",
                marks=pytest.mark.slow,
            )
            for how in ("tcp", "tls")
        ),
        ({"dask": "foo:bar"}, "no Dask scheduler answers at 'foo:bar'"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_bad_requests_are_refused_before_any_work(tmp_path, changes, message):
    given = {"experiments": ["table2"], "out": tmp_path / "out"} | changes
    with pytest.raises(ParameterError, match=message):
        reproduce(Request(**given))
    assert not (tmp_path / "out").exists()


def test_structures_that_are_missing_or_wrong_are_refused(tmp_path):
    table1 = [EXPERIMENTS["table1"]]
    with pytest.raises(DataError, match="carpo is not part of the package: give --networks"):
        load_structures(table1, None)
    with pytest.raises(DataError, match=r"has no carpo\.csv"):
        load_structures(table1, tmp_path)
    with pytest.raises(DataError, match=r"there is no directory .* one that holds carpo\.csv"):
        load_structures(table1, tmp_path / "nowhere")
    (tmp_path / "carpo.csv").write_text("A,B\nB,A\n")
    with pytest.raises(DataError, match=r"two edges|directed cycle"):
        load_structures(table1, tmp_path)
    (tmp_path / "carpo.csv").write_text("A,B\n")
    with pytest.raises(DataError, match="the structure carpo has 2 nodes, and the paper's has 61"):
        load_structures(table1, tmp_path)


def test_settings_are_written_for_the_reader(tmp_path):
    reproduce(request(tmp_path, reps=1, methods=["lmarvel"]))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
        settings = dict(database.execute("SELECT name, value FROM settings"))
    assert settings["seed"] == "2021"
    assert {name for name in settings if "structure" in name} == {"the structure mildew", "the structure water"}


def test_all_are_the_papers():
    names = [experiment.name for experiment in Request(["all"], "out").check()]
    assert names == ["table1", "table2", "figure3", "figure4"]
