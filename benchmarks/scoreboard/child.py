"""Run methods of one rival on tables, in the rival's own interpreter: a table in, marks out.

    echo '{"methods": ["gfci"], "table": "t.npz", "answers": ".", "limit": 60}' | python child.py rivals/tetrad_port.py

``answers`` is a folder, where each method leaves METHOD.json with its marks, its CPU seconds and the version of the
rival. ``marks[i][j]`` is the mark at j of the edge between i and j: 0 no edge, 1 circle, 2 arrowhead, 3 tail. Each
method runs in a fork of its own, which ends with SIGXCPU when it has used more CPU seconds than the limit, and with
SIGALRM when it has waited long. Imports and a first run on three columns are not counted. A quick search runs up to
three times, and its least time counts. Only NumPy and the rival are needed here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
import random
import resource
import signal
import sys
import traceback
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    sys.path.pop(0)  # this folder: a rival's file may be named like the package that it imports

import numpy as np

MEMORY = 6 * 2**30  # bytes
QUICK = 1.0  # CPU seconds; longer searches run once
PATIENCE = 20  # seconds by the clock for each CPU second, on a busy machine
ENDED, LATE, FAILED = "ended", "late", "failed"


def load(path: Path) -> ModuleType:
    """Import the file of a rival, which does not import the rival itself."""
    spec = importlib.util.spec_from_file_location(f"rival_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def versions(packages: dict[str, str]) -> str:
    """Return the installed versions of packages, as far as they are installed as packages."""
    found = []
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(name)
    return ", ".join(found)


def spent() -> float:
    """Return the CPU seconds of this process; under a limit of CPU time, process_time counts in ticks of 4 ms."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def bounded(seconds: float) -> None:
    """End this process when it has used so many more CPU seconds, or waited far longer."""
    whole = math.ceil(spent() + seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(math.ceil(PATIENCE * seconds) + 60)


def learn(rival: ModuleType, method: str, values: np.ndarray, kinds: tuple[str, ...], limit: float) -> dict[str, Any]:
    """Return what a method makes of a table."""
    search = rival.prepare(method)
    bounded(limit)
    with contextlib.suppress(Exception):  # three columns may be too few for it; only the whole table counts
        search(values[:, :3], kinds[:3])
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and sum(seconds) < QUICK):
        random.seed(0)  # some searches shuffle
        np.random.seed(0)  # noqa: NPY002 - theirs
        begun = spent()
        marks = search(values, kinds)
        seconds.append(spent() - begun)
    return {"outcome": ENDED, "marks": np.asarray(marks).tolist(), "seconds": min(seconds)}


def forked(rival: ModuleType, method: str, table: Path, answer: Path, limit: float) -> None:
    """Run one method in a fork, and leave its answer, or how it ended."""
    child = os.fork()
    if child == 0:
        try:
            sys.stdin.close()
            read = np.load(table)
            told = learn(rival, method, read["values"], tuple(read["kinds"].tolist()), limit)
        except BaseException as wrong:
            why = "".join(traceback.format_exception_only(wrong)).strip().splitlines()[-1]
            told = {"outcome": FAILED, "why": why[:200]}
        answer.write_text(json.dumps(told | {"version": versions(rival.PACKAGES)}))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM):
        answer.write_text(json.dumps({"outcome": LATE, "version": versions(rival.PACKAGES)}))
    elif not answer.exists():
        why = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        answer.write_text(json.dumps({"outcome": FAILED, "why": why, "version": versions(rival.PACKAGES)}))


def main(file: str) -> None:
    """Answer one request per line of standard input, so that the rival is imported once."""
    warnings.simplefilter("ignore")
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some print as they go
    rival = load(Path(file))
    for method in rival.METHODS:
        with contextlib.suppress(Exception):  # what is wrong is told with each answer
            rival.prepare(method)  # so that every fork has the imports
    for line in sys.stdin:
        asked = json.loads(line)
        for method in asked["methods"]:
            answer = Path(asked["answers"]) / f"{method}.json"
            forked(rival, method, Path(asked["table"]), answer, asked["limit"])
        print("done", file=reply, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
