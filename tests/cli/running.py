"""Run the command line, in this process or in one of its own."""

import contextlib
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from lmarvel.cli import main

PROGRAM = [sys.executable, "-c", "from lmarvel.cli import main; main()"]


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def quick(arguments: Sequence[str | Path]) -> tuple[str | Path, ...]:
    """Return the arguments with L-MARVEL as method of learn, unless one is named."""
    learns = arguments and arguments[0] == "learn" and "--method" not in arguments
    return (*arguments, "--method", "lmarvel") if learns else tuple(arguments)


def run(*arguments: str | Path) -> Outcome:
    """Run a command in this process; any exception but a clean exit comes through.

    Where no method is named, learn runs the quickest one.
    """
    arguments = quick(arguments)
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", ["lmarvel", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


def spawn(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start a command in a process of its own, with pipes for its output unless told otherwise."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([*PROGRAM, *map(str, quick(arguments))], **options)


def run_apart(*arguments: str | Path, **options: Any) -> Outcome:
    """Run a command in a process of its own to its end."""
    with spawn(*arguments, **options) as process:
        out, err = process.communicate(timeout=60)
        return Outcome(process.returncode, out, err)


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> Path:
    """Write columns whose names need no quotes."""
    rows = np.column_stack(list(columns.values())).tolist()
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    return path


def confounded(rows: int = 2000) -> dict[str, np.ndarray]:
    """Return A -> B <- U -> C <- D without U; its PAG is A o-> B <-> C <-o D."""
    rng = np.random.default_rng(0)
    a, d, u = rng.normal(size=(3, rows))
    b, c = a + u + 0.5 * rng.normal(size=rows), d + u + 0.5 * rng.normal(size=rows)
    return {"A": a, "B": b, "C": c, "D": d}


def endless(path: Path, p: int = 32) -> list[str | Path]:
    """Write a table, and return the arguments with which learning from it would take for ever."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    write_csv(path, {f"X{i}": common + 0.3 * rng.normal(size=300) for i in range(p)})
    return [path, "--method", "lmarvel", "--boundary-alpha", "0.99", "--alpha", "0.999999"]
