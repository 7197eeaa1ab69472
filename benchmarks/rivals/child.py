"""Run one method of one rival on one table, in the rival's own interpreter: a table in, marks out.

    python child.py tetrad_port.py boss-fci table.npy answer.json 120

The answer has the marks, the CPU seconds and the version of the rival. ``marks[i][j]`` is the mark at j of the edge
between i and j: 0 no edge, 1 circle, 2 arrowhead, 3 tail. The process ends with SIGXCPU when it has used more CPU
seconds than the limit. Imports and a first run on three columns are not counted. A quick search runs up to three times,
and its least time counts. Only NumPy and the rival are needed here.
"""

from __future__ import annotations

import importlib.util
import json
import math
import random
import resource
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    sys.path.pop(0)  # this folder: a rival's file may be named like the package that it imports

import numpy as np

MEMORY = 8 * 2**30  # bytes
QUICK = 1.0  # CPU seconds; longer searches run once


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
    """End this process when it has used so many more CPU seconds."""
    whole = math.ceil(spent() + seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main(file: str, method: str, table: str, answer: str, limit: str) -> None:
    warnings.simplefilter("ignore")
    rival, rows = load(Path(file)), np.load(table)
    search = rival.prepare(method)
    bounded(float(limit))
    search(rows[:, :3])
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and sum(seconds) < QUICK):
        random.seed(0)  # some searches shuffle
        begun = spent()
        marks = search(rows)
        seconds.append(spent() - begun)
    told = {"marks": np.asarray(marks).tolist(), "seconds": min(seconds), "version": versions(rival.PACKAGES)}
    Path(answer).write_text(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
