"""Commands that are interrupted at any moment: files are whole or absent, and the same command goes on.

``COMMANDS`` lists what is interrupted; another command is one more entry. A few moments are tried by default, and 168
by ``make check-all``, which also interrupts the app 32 times (tests/app/test_kill.py).
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from lmarvel.result.discovery import Discovery
from tests.cli.running import PROGRAM, run_apart, write_csv

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
MOMENTS = 50  # of each command
PATHS = os.environ.get("PYTHONPATH", "").split(os.pathsep)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in PATHS if path)}
ROWS = {f"V{v}": np.random.default_rng(v).normal(size=300) for v in range(6)}
for _v in range(2, 6):
    ROWS[f"V{_v}"] += 0.8 * ROWS[f"V{_v - 1}"] - 0.5 * ROWS[f"V{_v - 2}"]


def is_result(path: Path) -> bool:
    return len(Discovery.load(path).pag) == 6


def is_page(path: Path) -> bool:
    return path.read_text("utf-8").rstrip().endswith("</html>")


class Command(NamedTuple):
    """A command, the files that it writes with what tells that each is whole, and whether it came to its end."""

    words: tuple[str, ...]
    files: dict[str, Callable[[Path], bool]]
    complete: Callable[[Path], bool]


COMMANDS = {
    "learn": Command(
        ("learn", "table.csv", "-q", "-o", "result.json", "--report", "report.html"),
        {"result.json": is_result, "report.html": is_page},
        lambda folder: (folder / "report.html").exists(),
    ),
    "bootstrap": Command(
        ("learn", "table.csv", "--method", "lmarvel", "--bootstrap", "2000", "-q", "-o", "drawn.json"),
        {"drawn.json": is_result},
        lambda folder: Discovery.load(folder / "drawn.json").stability.drawn == 2000,
    ),
    "report": Command(
        ("report", "learned.json", "page.html", "--data", "table.csv"),
        {"page.html": is_page},
        lambda folder: (folder / "page.html").exists(),
    ),
    "reproduce": Command(
        ("reproduce", "conditions", "--reps", "2", "--methods", "lmarvel", "--jobs", "1", "--out", "again"),
        {},
        lambda folder: any((folder / "again").glob("*.md")) or any((folder / "again").glob("*.csv")),
    ),
}
PARTS = [
    pytest.param(name, part, marks=() if part == 0 and name in ("learn", "bootstrap") else pytest.mark.slow)
    for name, part in itertools.product(COMMANDS, range(5))
]


@pytest.fixture(scope="module")
def seconds() -> dict[str, float]:
    """How long each command takes, once that is known."""
    return {}


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_a_command_that_is_interrupted_leaves_whole_files_and_goes_on(
    name: str, part: int, tmp_path: Path, seconds: dict[str, float]
) -> None:
    command, rng = COMMANDS[name], random.Random(f"{name} {part}")
    write_csv(tmp_path / "table.csv", ROWS)
    if name == "report":
        assert run_apart("learn", tmp_path / "table.csv", "-q", "-o", tmp_path / "learned.json").code == 0
    seconds.setdefault(name, taken(command, tmp_path))
    moments = MOMENTS // 5 if part else 2
    for _ in range(moments):
        interrupt(command, tmp_path, rng.choice(SIGNALS), rng.uniform(0.0, 1.1) * seconds[name])
        check_files(command, tmp_path)
    done = subprocess.run(
        [*PROGRAM, *command.words], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    check_files(command, tmp_path)
    assert command.complete(tmp_path)


def taken(command: Command, folder: Path) -> float:
    """Run a command to its end once, take its files away, and return how long it took."""
    began = time.monotonic()
    subprocess.run([*PROGRAM, *command.words], cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    assert command.complete(folder)
    for file in command.files:
        (folder / file).unlink()
    return time.monotonic() - began


def interrupt(command: Command, folder: Path, kind: signal.Signals, after: float) -> None:
    """Start a command, interrupt it some seconds after its first line, and check how it ended."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    told, begun = os.pipe()
    begins = [sys.executable, "-c", f"import os; os.close({begun}); {PROGRAM[-1]}", *command.words]
    with subprocess.Popen(begins, cwd=folder, env=ENVIRONMENT, pass_fds=(begun,), **pipes) as process:
        os.close(begun)
        os.read(told, 1)  # before its first line Python itself can end in many ways
        os.close(told)
        try:
            _, error = process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.send_signal(kind)
            _, error = process.communicate(timeout=120)
        # SIGTERM while the program is loaded, and any signal after it is done, end the interpreter itself.
        assert process.returncode in (0, 130, -kind), error
        assert "Traceback" not in error or process.returncode != 130
        if process.returncode == 130:
            assert error.startswith("lmarvel: interrupted"), error
            assert error.count("\n") == 1


def check_files(command: Command, folder: Path) -> None:
    for file, is_whole in command.files.items():
        if (folder / file).exists():
            assert is_whole(folder / file), file
