"""The settings file: found or named, checked key by key, said where it is used, and overruled by what is typed."""

import sys
from pathlib import Path

import pytest

from lmarvel.cli import app
from lmarvel.cli.settings import TYPED_ONLY
from lmarvel.datasets import CARS
from tests.cli.running import Outcome, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(text: str, *arguments: str, file: str = "lmarvel.toml") -> Outcome:
    """Run learn with a settings file."""
    Path(file).write_text(text, encoding="utf-8")
    return run("learn", CARS, "--format", "edges", *arguments)


def test_a_file_in_the_folder_gives_defaults_and_says_which() -> None:
    done = said('[learn]\nalpha = 0.05\ndrop = ["Cylinders", "Weight"]\nselection = false\n')
    typed = ["--alpha", "0.05", "--drop", "Cylinders,Weight", "--no-selection"]
    Path("lmarvel.toml").unlink()
    assert done.out == run("learn", CARS, "--format", "edges", *typed).out
    assert done.err == "lmarvel: from lmarvel.toml: --alpha 0.05, --no-selection, --drop Cylinders,Weight\n"


def test_what_is_typed_wins_and_is_not_said() -> None:
    done = said("[learn]\nalpha = 0.05\nmax-tests = 9999\n", "--alpha", "0.001")
    assert done.err == "lmarvel: from lmarvel.toml: --max-tests 9999\n"
    Path("lmarvel.toml").unlink()
    assert done.out == run("learn", CARS, "--format", "edges", "--alpha", "0.001", "--max-tests", "9999").out


def test_a_file_can_be_named_and_then_the_other_is_not_read() -> None:
    Path("lmarvel.toml").write_text("[learn]\nalhpa = 1\n")
    done = said("[learn]\nmax_tests = 9999\n", "--settings", "mine.toml", file="mine.toml")
    assert (done.code, done.err) == (0, "lmarvel: from mine.toml: --max-tests 9999\n")


def test_other_commands_have_tables_of_their_own() -> None:
    done = said('[tune]\nalpha = 0.05\n[draw]\nlayout = "spring"\n')
    assert (done.code, done.err) == (0, "")


def test_nothing_is_said_without_a_file() -> None:
    assert run("learn", CARS, "--format", "edges").err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lern]\nalpha = 1\n", "lmarvel.toml: [lern] is not a command; did you mean 'learn'?"),
        ("alpha = 1\n", "lmarvel.toml: alpha is outside of a command: write it below one, such as [learn]"),
        ("learn = 1\n", "lmarvel.toml: learn is a command: write its options below [learn]"),
        ("[learn]\nalhpa = 1\n", "lmarvel.toml: [learn] alhpa is not an option of learn; did you mean 'alpha'?"),
        ("[learn]\nmax_test = 1\n", "[learn] max_test is not an option of learn; did you mean 'max-tests'?"),
        ("[learn]\nzzz = 1\n", "lmarvel.toml: [learn] zzz is not an option of learn\n"),
        ("[learn]\ndata = 'x.csv'\n", "[learn] data is not an option of learn"),
        ("[learn]\nsettings = 'x.toml'\n", "[learn] settings is not an option of learn"),
        ("[learn]\nalpha = true\n", "[learn] alpha takes a value other than true or false, not true"),
        ("[learn]\nquiet = 1\n", "[learn] quiet takes true or false, not 1"),
        ("[learn]\nalpha = [1]\n", "[learn] alpha takes one value, not a list"),
        ("[learn]\nalpha = 2020-01-01\n", "[learn] alpha must be a number, a text, true or false, or a list of these"),
        ("[learn]\nalpha = 'high'\n", "'--alpha': 'high' is neither a number nor auto, in lmarvel.toml"),
        ("[learn]\nmissing = 'drpo'\n", "did you mean 'drop'?, in lmarvel.toml"),
        ("[learn\n", "lmarvel.toml is not TOML: "),
    ],
)
def test_a_wrong_file_is_refused_by_its_key(text: str, message: str) -> None:
    done = said(text)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_files_that_are_none_are_refused(folder: Path) -> None:
    assert "there is no settings file x.toml" in run("learn", CARS, "--settings", "x.toml").err
    assert "cannot read" in run("learn", CARS, "--settings", folder).err
    Path("large.toml").write_bytes(b"#" * (2 << 20))
    assert "more than 1 MiB" in run("learn", CARS, "--settings", "large.toml").err
    Path("letters.toml").write_bytes(b"\xff\xfe[learn]")
    assert "letters.toml is not TOML" in run("learn", CARS, "--settings", "letters.toml").err
    Path("deep.toml").write_text("[learn]\nalpha = " + "[" * 5000 + "]" * 5000)
    assert run("learn", CARS, "--settings", "deep.toml").code == 2


@pytest.mark.parametrize("key", ["output", "report"])
def test_a_file_cannot_say_where_to_write(key: str, folder: Path) -> None:
    done = said(f"[learn]\n{key} = 'x.json'\n")
    assert done.code == 2
    assert f"lmarvel.toml: [learn] {key} has to be typed, as --{key}" in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["lmarvel.toml"]


def test_every_option_that_writes_or_sends_has_to_be_typed() -> None:
    """Options that name a file to write are those that the commands check for being writable."""
    typer_main = sys.modules["typer"].main
    commands = typer_main.get_command(app).commands
    told = {
        (name, option.name)
        for name, command in commands.items()
        for option in command.params
        if option.param_type_name == "option" and any(w in (option.help or "") for w in ("Write ", "Overwrite", "Dask"))
    }
    assert told == {("learn", "output"), ("learn", "report"), ("simulate", "force"), ("reproduce", "dask")}
    assert {option for _, option in told} <= set(TYPED_ONLY)
    assert any(option.name == "folder" for option in commands["reproduce"].params)


def test_an_option_with_two_names_has_both() -> None:
    for key in ("limit", "max-seconds"):
        Path("lmarvel.toml").write_text(f"[reproduce]\n{key} = 'long'\n")
        assert "in lmarvel.toml" in run("reproduce", "table1").err
