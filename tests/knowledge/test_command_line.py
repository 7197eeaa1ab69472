"""Knowledge on the command line: read, refused before any work, shown."""

from __future__ import annotations

import json

import pytest

from lmarvel import Discovery
from lmarvel.datasets import CARS
from tests.cli.running import run

TIERS = "Cylinders,Displacement,Weight < Horsepower < SecondsTo60,MilesPerGallon"


def test_learn_takes_tiers_and_single_statements(tmp_path):
    target = tmp_path / "found.json"
    forbid, require = ("--forbid", "Cylinders -> Weight"), ("--require", "Weight -> Horsepower")
    done = run("learn", CARS, "--tiers", TIERS, *forbid, *require, "-o", target)
    assert done.code == 0
    assert "What you stated" in done.out
    assert "from what was known" in done.out
    found = Discovery.load(target)
    assert found.knowledge.tiers[1] == ("Horsepower",)
    assert found.knowledge.causes == (("Weight", "Horsepower"),)
    told = run("explain", target, "Horsepower", "MilesPerGallon")
    assert "you stated that nothing in tier 3 causes tier 2" in told.out


def test_learn_and_compare_read_a_file(tmp_path):
    path = tmp_path / "known.txt"
    path.write_text(f"tiers: {TIERS}\nno selection\n")
    learned = run("learn", CARS, "--knowledge", path, "--format", "json")
    assert json.loads(learned.out)["knowledge"]["selection"] is False
    compared = run("compare", CARS, "--knowledge", path, "--methods", "lmarvel,mbcs", "--format", "json")
    assert compared.code == 0
    assert all("knowledge" in entry["result"] for entry in json.loads(compared.out)["methods"].values())


def test_repeated_options_add_up(tmp_path):
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    files[0].write_text("Cylinders < Weight\n")
    files[1].write_text("no selection\n")
    options = ("--knowledge", files[0], "--knowledge", files[1], "--tiers", "Weight < MilesPerGallon")
    more = ("--tiers", "Displacement < {SecondsTo60, MilesPerGallon}", "--exogenous", "Cylinders,Displacement")
    hidden = ("--unconfounded", "Weight - MilesPerGallon", "--unconfounded", "Horsepower", "--randomised", "Weight")
    done = run("learn", CARS, *options, *more, *hidden, "--format", "json")
    assert done.code == 0, done.err
    said = Discovery.from_dict(json.loads(done.out)).knowledge
    assert str(said).splitlines() == [
        "tiers: Cylinders < Weight",
        "tiers: Weight < MilesPerGallon",
        "tiers: Displacement < SecondsTo60, MilesPerGallon",
        "Weight and MilesPerGallon share no unmeasured cause",
        "no unmeasured causes of Horsepower",
        "Cylinders is exogenous",
        "Displacement is exogenous",
        "Weight is randomised",
        "SecondsTo60, MilesPerGallon do not cause each other",
        "no selection",
    ]


@pytest.mark.parametrize("method", ["lmarvel", "fci", "lift"])
def test_no_latents_means_the_same_as_the_statement(tmp_path, method):
    path = tmp_path / "known.txt"
    path.write_text("no latents\n")
    by_option = run("learn", CARS, "--method", method, "--no-latents", "--format", "edges")
    by_file = run("learn", CARS, "--method", method, "--knowledge", path, "--format", "edges")
    assert by_option.code == by_file.code == 0
    assert by_option.out == by_file.out
    assert "<->" not in by_option.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tiers", "Cylinderss < Weight"), "names Cylinderss, which is not a variable here; did you mean Cylinders?"),
        (("--tiers", "a < "), "cannot read the tiers 'a <'"),
        (("--forbid", "bp age"), "cannot read 'bp age': write it as 'bp -> age', with blanks around"),
        (("--forbid", "A -> B", "--require", "A -> B"), "contradict each other: 'A causes B' and 'A does not cause B'"),
        (("--knowledge", "nowhere.txt"), "nowhere.txt: there is no such file"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, message):
    done = run("learn", CARS, *options)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
