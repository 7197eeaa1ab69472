"""The command that opens the app: what it refuses, what it prints, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lmarvel
from lmarvel.app.server import Limits, project_for
from lmarvel.datasets import CARS
from lmarvel.errors import LMarvelError
from tests.cli.running import run_apart

ENV = {**os.environ, "PYTHONPATH": str(Path(lmarvel.__file__).parents[1])}  # also from another folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["letter.docx"], "letter.docx is not a table that can be read"),
        (["--memory", "0"], "--memory must be a number above 0, not 0"),
        (["--minutes", "-1"], "--minutes must be a number above 0, not -1"),
        (["."], "is a folder, and not a project"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ENV["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    outcome = run_apart("app", *words, "--no-browser")
    assert outcome.code == 2
    assert outcome.err.startswith("lmarvel: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_the_packages_that_are_missing_are_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from lmarvel.cli import main; sys.argv[1:] = ['app']; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "pip install 'lmarvel[app]'" in done.stderr


def test_a_table_a_project_and_nothing_have_a_folder(tmp_path: Path) -> None:
    assert project_for(Path("a/b.tsv.gz"), None)[0] == Path("b.lmarvel")
    assert project_for(Path("cars"), None, CARS) == (Path("cars.lmarvel"), CARS)
    assert project_for(Path("a.csv"), Path("mine")) == (Path("mine"), Path("a.csv"))
    (tmp_path / "settings.toml").write_text("format = 1", encoding="utf-8")
    assert project_for(tmp_path, None) == (tmp_path, None)
    with pytest.raises(LMarvelError, match="leave one out"):
        project_for(tmp_path, Path("mine"))
    assert Limits(memory=2).bytes == 2_000_000_000


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_it_and_says_how_to_go_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "lmarvel", "app", "cars", "--no-browser"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[0] == f"lmarvel app: project {tmp_path / 'cars.lmarvel'}\n"
        assert re.search(r"http://127\.0\.0\.1:\d+/\?token=\S{40,}", lines[1])
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == f"lmarvel app: stopped. Open the project again with: lmarvel app {tmp_path / 'cars.lmarvel'}\n"
