"""``lmarvel check`` and ``lmarvel tune``."""

import json

import numpy as np
import pytest

from lmarvel import Discovery, LMarvel, tune
from lmarvel.datasets import CARS
from tests.cli.running import confounded, run, write_csv


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    table = write_csv(folder / "t.csv", confounded())
    run("learn", table, "-o", folder / "r.json")
    return folder / "r.json", table


def test_check_says_how_many_fail_and_how_many_should(learned):
    result, table = learned
    done = run("check", result, table)
    assert done.code == 0
    assert done.out.strip() == str(Discovery.load(result).check)
    plain = json.loads(run("check", result, table, "--format", "json").out)
    assert plain["pairs"] == len(plain["implied"]) == 3


def test_check_names_the_worst_on_data_that_do_not_fit(learned, tmp_path):
    rng = np.random.default_rng(0)
    columns = confounded()
    columns["D"] = columns["D"] + columns["A"] + rng.normal(size=2000)
    done = run("check", learned[0], write_csv(tmp_path / "other.csv", columns))
    assert "The data reject" in done.out
    assert "  A and D given nothing: p < 1e-" in done.out or "  A and D given nothing: p = " in done.out


def test_check_refuses_other_columns(learned, tmp_path):
    result, _ = learned
    done = run("check", result, CARS)
    assert (done.code, done.out) == (2, "")
    assert "the table has no column 'A', 'B', 'C', 'D'" in done.err
    assert "level must lie strictly" in run("check", *learned, "--level", "2").err
    assert "test must be" in run("check", *learned, "--test", "nothing").err


def test_tune_shows_the_path_and_the_choice():
    done = run("tune", CARS, "--method", "lmarvel", "--values", "0.001,0.05")
    path = tune(CARS, LMarvel(), values=[0.001, 0.05])
    assert done.code == 0
    assert f"Take alpha {path.value:g}: {path.reason}." in done.out
    assert "From 0.001 to 0.05" in done.out
    assert path.changes(1)[0] in done.out
    plain = json.loads(run("tune", CARS, "--method", "lmarvel", "--values", "0.001,0.05", "--format", "json").out)
    assert plain["value"] == path.value
    assert plain["steps"][0]["edges"] == [str(edge) for edge in path.steps[0].pag.edges()]


def test_tune_refuses_what_makes_no_sense():
    assert "takes numbers with commas" in run("tune", CARS, "--values", "a,b").err
    assert "alpha must lie strictly" in run("tune", CARS, "--method", "lmarvel", "--values", "3").err
    assert "names no value" in run("tune", CARS, "--values", ",").err


def test_learn_takes_auto_for_a_level():
    done = run("learn", CARS, "--alpha", "auto", "--details")
    assert "Chosen   alpha " in done.out
    assert "neither a number nor auto" in run("learn", CARS, "--alpha", "often").err
