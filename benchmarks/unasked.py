"""Commands with a budget on tables on which the search is quick: what is printed and written unasked must be, too.

    python unasked.py

CPU seconds from the start of a process to its end, beside the bar that each command has to meet.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

METHODS = ("lmarvel", "fci", "rfci", "mbcs")
START = "from lmarvel.cli import main; main()"


class Command(NamedTuple):
    """A table, a method, whether the result is written, and how many CPU seconds it may take."""

    table: str
    method: str
    written: bool
    bar: float


def commands() -> Iterator[Command]:
    """Iterate over the commands."""
    for method in METHODS:
        for written in (False, True):
            yield Command("noise", method, written, 5.5)
    for degree in (2, 4, 6):
        yield Command(f"sparse-{degree}", "lmarvel", True, 2.0)


def noise(columns: int = 1500, rows: int = 300) -> NDArray[np.float64]:
    """Return a table of independent columns."""
    return np.random.default_rng(0).standard_normal((rows, columns))


def sparse(degree: float, columns: int = 200, rows: int = 1000) -> NDArray[np.float64]:
    """Return a linear table over a random DAG with so many edges a node, half of them into it."""
    rng = np.random.default_rng(1)
    data = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        causes = np.flatnonzero(rng.random(j) < degree / (columns - 1))
        data[:, j] += data[:, causes] @ (rng.choice([-1.0, 1.0], len(causes)) * rng.uniform(0.4, 1.2, len(causes)))
    return data


def cpu_seconds(arguments: list[str]) -> float:
    """Return the CPU seconds of a command; one whose budget ended it is as good as any."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", START, *arguments], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    tables = {"noise": noise(), **{f"sparse-{degree}": sparse(degree) for degree in (2, 4, 6)}}
    print("| table | method | written | CPU seconds | bar |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in tables.items():
            head = ",".join(f"V{v}" for v in range(data.shape[1]))
            np.savetxt(Path(folder) / f"{name}.csv", data, delimiter=",", header=head, comments="", fmt="%.6g")
        for table, method, written, bar in commands():
            path = str(Path(folder) / f"{table}.csv")
            out = ["-q", "-o", str(Path(folder) / "result.json")] if written else []
            taken = cpu_seconds(["learn", path, "--method", method, "--max-seconds", "5", *out])
            missed = "" if taken <= bar else " (missed)"
            print(f"| {table} | {method} | {'yes' if written else 'no'} | {taken:.2f} | {bar}{missed} |", flush=True)


if __name__ == "__main__":
    main()
