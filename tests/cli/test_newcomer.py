"""What somebody meets who types a command for the first time: tables by name, pipes, completion, and typing errors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from typer.main import get_command

import lmarvel
from lmarvel import Discovery
from lmarvel.cli import app
from lmarvel.datasets import BUNDLED, CARS
from tests.cli.running import run, run_apart

SAID = "lmarvel: there is no file cars here: this is the bundled table of that name\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def result(folder: Path) -> Path:
    assert run("learn", CARS, "-q", "-o", "r.json").code == 0
    return Path("r.json")


@pytest.fixture(scope="module")
def legal() -> str:
    """The result of a method whose PAG is always legal, so that effects can be asked about."""
    return run("learn", CARS, "-o", "-", "--method", "lift").out


# --- bundled tables ---------------------------------------------------------------------------------------


def test_a_bundled_table_is_taken_by_its_name_and_that_is_said() -> None:
    done = run("learn", "cars", "--format", "edges")
    assert (done.code, done.err) == (0, SAID)
    assert done.out == run("learn", CARS, "--format", "edges").out
    assert run("learn", "cars", "-q", "-o", "r.json").err == ""


def test_every_command_that_takes_a_table_takes_it(result: Path) -> None:
    for arguments in (
        ("describe", "cars"),
        ("tune", "cars", "--method", "lift", "--values", "1"),
        ("check", result, "cars"),
        ("compare", "cars", "--methods", "lmarvel"),
        ("report", result, "r.html", "--data", "cars"),
    ):
        done = run(*arguments)
        assert (done.code, done.err) == (0, SAID), arguments
    assert run("effect", result, "cars", "Wieght", "Horsepower").err.startswith(SAID)


def test_a_file_of_that_name_goes_first() -> None:
    Path("cars").write_text("A,B\n1,2\n2,1\n3,5\n4,4\n5,9\n6,7\n")
    done = run("describe", "cars")
    assert "bundled" not in done.err
    assert "SecondsTo60" not in done.out


def test_a_name_that_comes_close_is_asked_about() -> None:
    assert run("learn", "crs").err == "lmarvel: there is no file crs; did you mean the bundled table cars?\n"
    assert run("learn", "nothing").err == "lmarvel: there is no file nothing\n"
    assert list(BUNDLED) == ["cars", "heart"]


def test_describe_names_a_command_that_runs() -> None:
    assert "\n  lmarvel learn cars\n" in run("describe", "cars").out


# --- standard output and input ----------------------------------------------------------------------------


def test_a_dash_prints_the_whole_result(result: Path) -> None:
    done = run("learn", CARS, "-o", "-")
    ours, theirs = (Discovery.from_dict(json.loads(text)) for text in (done.out, result.read_text()))
    assert ours.pag == theirs.pag
    assert run("learn", CARS, "-o", "-", "--quiet").out.startswith("{")
    assert run("learn", CARS, "-o", "-", "--format", "edges").out.startswith("nodes: ")
    assert not Path("-").exists()


def test_a_dash_prints_reports_pictures_and_graphs(result: Path) -> None:
    page = run("report", result, "-")
    assert page.out.startswith("<!doctype html>")
    assert page.out.rstrip().endswith("</html>")
    assert run("learn", CARS, "--report", "-").out.startswith("<!doctype html>")
    assert run("draw", result, "-").out.startswith("<svg")
    assert run("convert", result, "-").out.startswith("nodes: ")
    assert run("convert", result, "-", "--to", "dot").out.startswith("digraph")
    assert not Path("-").exists()


def test_results_go_through_pipes(result: Path) -> None:
    with result.open("rb") as file:
        piped = run_apart("explain", "-", "Weight", "Horsepower", stdin=file)
    assert piped == run("explain", result, "Weight", "Horsepower")
    for command in ("draw", "convert"):
        with result.open() as file, mock.patch.object(sys, "stdin", file):
            piped = run(command, "-", "-")
        assert piped == run(command, result, "-")


def test_two_things_cannot_be_one_stream() -> None:
    assert "- is to be written twice" in run("learn", CARS, "-o", "-", "--report", "-").err
    assert "- stands for two files here" in run("check", "-", "-").err


# --- completion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "word"),
    [
        ("bash", "complete_bash"),
        ("zsh", "#compdef lmarvel"),
        ("fish", "complete --command lmarvel"),
        ("powershell", "Register-ArgumentCompleter"),
    ],
)
def test_the_script_of_a_shell_is_shown(shell: str, word: str) -> None:
    with mock.patch.dict("os.environ"):
        done = run("--show-completion", shell)
    assert done.code == 0
    assert "_LMARVEL_COMPLETE" in done.out
    assert word in done.out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("lmarvel lea", ["learn"]),
        ("lmarvel learn --method l", ["lift", "lmarvel"]),
        ("lmarvel draw --lay", ["--layout"]),
    ],
)
def test_a_shell_is_offered_what_can_follow(words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COMP_WORDS", words), ("COMP_CWORD", len(words.split()) - 1)):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("_LMARVEL_COMPLETE", "complete_bash")
    assert run().out.split() == offered


def test_help_begins_with_what_comes_first() -> None:
    text = run("--help").out
    found = re.findall(r"^  (demo|describe|learn|explain|simulate|reproduce) ", text, re.MULTILINE)
    assert found == ["demo", "describe", "learn", "explain", "simulate", "reproduce"]
    assert "New here? lmarvel demo, then lmarvel learn cars" in text


def test_help_cuts_nothing_off() -> None:
    text = run("learn", "--help").out
    options = {
        name for parameter in get_command(app).commands["learn"].params for name in parameter.opts if name[0] == "-"
    }
    assert options <= set(re.findall(r"-[a-z-]+", text))
    assert "…" not in text
    assert "under every explanation of the data, under some, or under none." in " ".join(run("--help").out.split())


def test_the_package_runs_as_a_module() -> None:
    paths = os.pathsep.join([str(Path(lmarvel.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "lmarvel", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": paths})
    assert done.stdout == run("--version").out


# --- typing errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lern"], "did you mean 'learn'?"),
        (["learn"], "'data': a file with a table, or the name of a bundled one, such as cars"),
        (["draw", CARS], "'out' of lmarvel draw GRAPH OUT: the picture to write: .svg, .png or .pdf"),
        (["effect", "r.json", CARS, "Weight"], "'y' of lmarvel effect RESULT DATA X Y: the outcome ("),
        (["draw", CARS, "-o", "x.svg"], "no option -o: name the output last, lmarvel draw GRAPH OUT"),
        (["simulate"], "'OUT' of lmarvel simulate OUT: directory for data.csv"),
        (["learn", CARS, "--alhpa", "1"], "lmarvel learn has no option --alhpa; did you mean --alpha?"),
        (["describe", CARS, "--boundary", "tc"], "lmarvel describe has no option --boundary; "),
        (
            ["learn", CARS, "--missing", "drpo"],
            "'drpo' is not one of 'auto', 'test-wise', 'drop', 'em', 'refuse'; did you mean 'drop'?",
        ),
        (["learn", CARS, "--method", "lmravel"], "m3hc; did you mean 'lmarvel'?"),
        (["learn", CARS, "--boundary", "imab"], "--boundary must be one of auto, tc, gs, iamb"),
        (["learn", CARS, "--test", "fisherz"], "not 'fisherz'; did you mean 'fisher-z'?"),
        (["compare", CARS, "--methods", "fci,lifft"], "did you mean 'lift'?"),
        (["learn", CARS, "--columns", "Wieght,Horsepower"], "--columns names 'Wieght'"),
        (["learn", CARS, "--drop", "weight"], "did you mean 'Weight'?"),
        (["learn", CARS, "--categorical", "Cylnders"], "did you mean 'Cylinders'?"),
        (["learn", CARS, "--ordinal", "Cylnders=3<4"], "did you mean 'Cylinders'?"),
        (["learn", CARS, "--weights", "Wieght"], "--weights names 'Wieght'"),
        (
            ["learn", CARS, "--tiers", "Wieght < Horsepower"],
            "names Wieght, which is not a variable here; did you mean Weight?",
        ),
        (["learn", CARS, "--forbid", "Wieght -> Horsepower"], "did you mean Weight?"),
        (["explain", "r.json", "Wieght"], "did you mean 'Weight'?"),
        (["explain", "r.json", "Weight", "HORSEPOWER"], "did you mean 'Horsepower'?"),
        (["causes", "r.json", "Wieght"], "did you mean 'Weight'?"),
        (["effect", "r.json", CARS, "Wieght", "Horsepower"], "did you mean 'Weight'?"),
        (["effect", "r.json", CARS, "Weight", "Horsepower", "--given", "Cylnders"], "did you mean 'Cylinders'?"),
        (["simulate", "out", "--structure", "alram"], "did you mean 'alarm'?"),
        (["convert", "r.json", "x", "--to", "tetrd"], "did you mean 'tetrad'?"),
        (["reproduce", "tabel1"], "did you mean 'table1'?"),
    ],
)
def test_what_was_meant_is_asked(legal: str, arguments: list[str | Path], message: str) -> None:
    Path("r.json").write_text(legal, encoding="utf-8")
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message.lower() in done.err.lower()
    assert done.err.count("\n") == 1


def test_knowledge_names_columns_in_the_order_of_the_table() -> None:
    done = run("learn", CARS, "--require", "Colour -> Weight")
    order = "MilesPerGallon, Cylinders, Displacement, Horsepower, Weight, SecondsTo60"
    assert f"names Colour, which is not a variable here; there are {order}\n" in done.err
