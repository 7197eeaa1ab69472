"""The choice of method, and the comparison of methods, on the command line."""

from __future__ import annotations

import json
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from lmarvel import PAG, Discovery, Lift
from lmarvel.datasets import CARS
from lmarvel.estimators import METHODS
from tests.cli.running import PROGRAM, confounded, run, write_csv


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_chosen(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run("learn", CARS, "--method", method, "--format", "edges", "--marks", "all")
    assert result.code == 0
    learned = METHODS[method]().fit(CARS)
    assert PAG.from_edges(result.out) == learned.pag_
    shown = run("learn", CARS, "--method", method, "--format", "edges").out
    assert PAG.from_edges(shown) == learned.result_.shown()


def test_an_unknown_method_is_refused() -> None:
    for arguments in (("learn", CARS, "--method", "pc"), ("compare", CARS, "--methods", "lmarvel,pc")):
        result = run(*arguments)
        assert result.code == 2
        assert "unknown method 'pc'" in result.err


def test_an_option_of_another_method_is_refused() -> None:
    result = run("learn", CARS, "--method", "fci", "--assume-chordal")
    assert result.code == 2
    assert result.err == "lmarvel: --assume-chordal is an option of lmarvel, not of fci: leave it out\n"


def test_a_comparison_shows_each_method_and_where_they_differ() -> None:
    result = run("compare", CARS)
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[1 : len(METHODS) + 1]] == list(METHODS)
    assert "Horsepower, SecondsTo60" in result.out


def test_a_comparison_as_json_holds_the_same() -> None:
    compared = json.loads(run("compare", CARS, "--methods", "lmarvel,fci", "--format", "json").out)
    assert list(compared["methods"]) == ["lmarvel", "fci"]
    for name in ("lmarvel", "fci"):
        entry = compared["methods"][name]
        assert (entry["bic"] is not None) == entry["legal"] == (entry["result"]["illegal"] is None)
    pags = [Discovery.from_dict(compared["methods"][name]["result"]).pag for name in ("lmarvel", "fci")]
    different = {(a, b) for a, b in combinations(pags[0].names, 2) if pags[0].edge(a, b) != pags[1].edge(a, b)}
    assert {tuple(row["pair"]) for row in compared["differences"]} == different


def test_methods_that_agree_say_so() -> None:
    assert "All methods give the same PAG." in run("compare", CARS, "--methods", "lmarvel,mbcs").out


def test_without_a_method_the_one_that_fits_the_table_is_taken_and_named() -> None:
    done = run("learn", CARS, "--method", "auto")
    assert done.code == 0
    assert "\nMethod   Lift (score search)\n" in done.out
    plain = subprocess.run([*PROGRAM, "learn", CARS, "--format", "edges"], capture_output=True, text=True, check=True)
    assert plain.stdout == run("learn", CARS, "--method", "auto", "--format", "edges").out


def test_auto_takes_options_of_either_method() -> None:
    assert run("learn", CARS, "--method", "auto", "--penalty", "3", "--removal-threshold", "0.7").code == 0
    done = run("learn", CARS, "--method", "auto", "--tabu", "3")
    assert (done.code, "--tabu is an option of m3hc, not of auto" in done.err) == (2, True)


def test_marks_says_which_marks_are_shown(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", confounded(40))
    # Resamples that nobody asks for are as many as there is time for, and grades depend on them.
    found = Lift().fit(table, bootstrap=40).result_
    assert len({found.shown(marks) for marks in ("all", "supported", "firm")}) == 3
    captions = {
        "all": "All learned marks, with their grades",
        "supported": "Supported marks: ",
        "firm": "Firm marks only",
    }
    for marks, caption in captions.items():
        words = ("learn", table, "--method", "lift", "--marks", marks, "--bootstrap", 40)
        done = run(*words, "--format", "edges", "-o", tmp_path / "g.txt")
        assert PAG.from_edges(done.out) == found.shown(marks)
        assert PAG.from_edges((tmp_path / "g.txt").read_text()) == found.shown(marks)
        assert f"\n{caption}" in run(*words).out
    done = run("learn", table, "--marks", "likely")
    assert (done.code, "'likely' is not one of 'all', 'supported', 'firm'" in done.err) == (2, True)


def test_a_comparison_goes_on_without_a_method_that_cannot_take_the_table(tmp_path: Path) -> None:
    lines = [f"{'red' if i % 3 else 'blue'}{i % 2},{i * 7 % 31},{i * 11 % 37}" for i in range(90)]
    data = tmp_path / "shop.csv"
    data.write_text("\n".join(["colour,size,price", *lines]) + "\n")
    done = run("compare", data, "--methods", "lmarvel,m3hc,fci")
    assert done.code == 0
    skipped = [line for line in done.out.splitlines() if line.startswith("m3hc")]
    assert skipped == [
        "m3hc     skipped: this method scores numbers, and 'colour' has categories: use the method lift, or leave such"
        " columns out"
    ]
    assert list(json.loads(run("compare", data, "--methods", "m3hc,fci", "--format", "json").out)["skipped"]) == [
        "m3hc"
    ]
    assert "there is nothing to compare" in run("compare", data, "--methods", "m3hc,fci").out
    assert run("compare", data, "--methods", "m3hc").code == 2
