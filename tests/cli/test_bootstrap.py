"""``lmarvel learn --bootstrap``: what is printed and kept, and how an interrupted run goes on."""

import itertools
import json
import re
import sys
import time
from unittest import mock

from lmarvel import Discovery
from lmarvel.datasets import CARS
from lmarvel.estimators import bootstrap
from tests.cli.running import run, run_apart

app = sys.modules["lmarvel.cli.app"]  # lmarvel.cli.app is the program itself


def test_frequencies_are_printed_and_kept(tmp_path):
    out = tmp_path / "cars.json"
    done = run("learn", CARS, "--bootstrap", "40", "--seed", "1", "--n-jobs", "2", "-o", out)
    assert done.code == 0
    assert "Causal claims in 40 resamples" in done.out
    assert (
        "  edge: share of 40 resamples that have it; marks: share of those with the same mark" in done.out.splitlines()
    )
    found = Discovery.load(out)
    assert found.stability.replicates == 40
    assert found.stability.seed == 1
    share = found.stability.edge("Weight", "SecondsTo60")
    line = next(line for line in done.out.splitlines() if "Weight o-o SecondsTo60" in line)
    assert f"edge {100 * share:.0f} %; marks " in line
    assert line.endswith(found.recurring("Weight", "SecondsTo60"))
    said = run("explain", out, "Weight", "SecondsTo60").out
    assert f"Edge: in {100 * share:.0f} % of 40 resamples" in said


def interrupted(after, *arguments):
    """Run a command with an interruption at a replicate."""
    drawn, learn = [], bootstrap.Again.__call__

    def until(self, data):
        drawn.append(0)
        if len(drawn) == after:
            raise KeyboardInterrupt
        return learn(self, data)

    with mock.patch.object(bootstrap.Again, "__call__", until):
        return run(*arguments), len(drawn)


def test_an_interrupted_run_is_kept_and_the_same_command_goes_on(tmp_path):
    out, whole = tmp_path / "cars.json", tmp_path / "whole.json"
    command = ("learn", CARS, "--bootstrap", "30", "--seed", "2", "-o", out)
    stopped, _ = interrupted(11, *command)
    assert stopped.code == 130
    assert "interrupted after 10 of 30 resamples" in stopped.err
    assert "the same command continues" in stopped.err
    assert Discovery.load(out).stability.drawn == 10
    ended, drawn = interrupted(-1, *command)
    assert (ended.code, drawn) == (0, 20)
    run("learn", CARS, "--bootstrap", "30", "--seed", "2", "-o", whole)
    assert Discovery.load(out).stability == Discovery.load(whole).stability


def test_other_settings_and_damaged_files_begin_anew(tmp_path):
    out = tmp_path / "cars.json"
    run("learn", CARS, "--bootstrap", "5", "-o", out)
    for more in (("--alpha", "0.05"), ("--seed", "3"), ("--drop", "Cylinders")):
        assert interrupted(-1, "learn", CARS, "--bootstrap", "6", *more, "-o", out)[1] == 6
    out.write_text(out.read_text()[:300])
    assert interrupted(-1, "learn", CARS, "--bootstrap", "6", "-o", out)[1] == 6


def test_without_a_file_an_interruption_leaves_nothing():
    stopped, _ = interrupted(4, "learn", CARS, "--bootstrap", "9")
    assert (stopped.code, stopped.out) == (130, "")
    assert "nothing was written" in stopped.err


def test_what_makes_no_sense_is_refused():
    assert "--bootstrap must be a whole number of at least 1" in run("learn", CARS, "--bootstrap", "0").err
    assert "--n-jobs must be" in run("learn", CARS, "--bootstrap", "3", "--n-jobs", "0").err
    assert "--seed is an option of lift" in run("learn", CARS, "--seed", "3").err


def test_results_in_json_have_the_frequencies():
    plain = json.loads(run("learn", CARS, "--bootstrap", "3", "--format", "json").out)
    assert plain["stability"]["replicates"] == 3


def test_the_time_of_the_whole_command_is_reported(tmp_path):
    begun = time.monotonic()
    done = run_apart("learn", CARS, "--bootstrap", "20", "-o", tmp_path / "cars.json")
    lasted = time.monotonic() - begun
    line = next(line for line in done.out.splitlines() if line.startswith("Time "))
    assert re.fullmatch(r"Time     \d+\.\d s in all \(data [\d.]+, .*bootstrap [\d.]+\)", line)
    parts = [float(part) for part in re.findall(r" ([\d.]+)(?=[,)])", line)]
    assert sum(parts) - 0.1 <= float(line.split()[1]) <= lasted + 0.1


def test_a_second_command_of_a_process_has_a_time_of_its_own():
    run("learn", CARS)
    begun = time.monotonic()
    out = run("learn", CARS).out
    assert float(out.split("Time ")[1].split()[0]) <= time.monotonic() - begun + 0.1


class Bar:
    """What a bar was shown."""

    def __init__(self, *_parts, **_options):
        self.shown = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def add_task(self, *_, **__):
        return 0

    def update(self, _task, description, completed, total):
        self.shown.append((description, completed, total))


def shown_by_a_bar(seconds, steps=100):
    """Return what is shown of resamples that take so many seconds each."""
    bar, clock = Bar(), itertools.count(0.0, seconds)
    with (
        mock.patch.object(app, "progress", mock.MagicMock(Progress=lambda *_, **__: bar)),
        mock.patch.object(app.sys, "stderr", mock.MagicMock(isatty=lambda: True)),
        mock.patch.object(app.time, "monotonic", side_effect=clock),
        app.progress_bar(quiet=False) as show,
    ):
        for done in range(steps + 1):
            show("bootstrap", done, steps)
    return bar.shown


def test_a_bar_moves_with_every_resample_that_can_be_seen():
    assert shown_by_a_bar(0.1) == [(f"bootstrap {i} of 100", i, 100) for i in range(101)]
    quick = [completed for _, completed, _ in shown_by_a_bar(0.011)]
    assert quick == [*range(0, 100, 5), 100]
