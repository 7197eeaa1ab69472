"""Commands with a budget of seconds, from the start of the process to its end: methods x tables x outputs x budgets.

    python budgets.py                        # runs what budgets.csv does not hold yet, and goes on where it was stopped
    python budgets.py --part 2 --parts 4     # every fourth cell, beginning with the second
    python budgets.py --only lift --again    # cells whose name contains a word, measured again
    python budgets.py --table                # what is held, as the table of README.md

A cell passes if the CPU seconds of the process, user and system, are at most the budget, a tenth of it and half a
second: CPU time, because other work on the machine delays a process without any fault of its own. Peak memory is kept,
too. The modules are compiled before the first cell is measured, as pip does when it installs.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from unasked import START

METHODS = ("auto", "lift", "lmarvel", "fci", "rfci", "mbcs", "m3hc")
SIZES = {  # columns and rows of each kind of table
    "noise": ((10, 50), (200, 1_000), (1_500, 300), (3_000, 300)),
    "sparse": ((10, 100_000), (200, 1_000), (1_000, 2_000)),
    "dense": ((40, 2_000), (200, 1_000)),
    "discrete": ((10, 100_000), (60, 2_000), (400, 1_000)),
    "mixed": ((10, 50), (60, 2_000), (200, 1_000)),
    "gaps": ((40, 2_000), (200, 500)),
}
OUTPUTS: dict[str, tuple[str, ...]] = {
    "printed": (),
    "-o": ("-q", "-o", "result.json"),
    "-o --report": ("-q", "-o", "result.json", "--report", "report.html"),
}
SECONDS = (1.0, 5.0)
HERE = Path(__file__).parent
KEPT = HERE / "budgets.csv"
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
COLUMNS = ("table", "method", "options", "output", "budget", "cpu", "clock", "megabytes", "code")


class Cell(NamedTuple):
    """One command."""

    table: str
    method: str
    options: str
    output: str
    budget: float

    @property
    def name(self) -> str:
        return " ".join(map(str, self))

    @property
    def bar(self) -> float:
        return 1.1 * self.budget + 0.5


def cells() -> Iterator[Cell]:
    """Iterate over the grid: every method on every table at both budgets with all outputs, and less on some tables."""
    for budget in SECONDS:
        for kind, sizes in SIZES.items():
            for columns, rows in sizes:
                table = f"{kind}-{columns}x{rows}"
                for method in METHODS:
                    yield Cell(table, method, "", "-o --report", budget)
                for output in ("printed", "-o"):
                    yield Cell(table, "auto", "", output, budget)
                if kind == "gaps":
                    for method in ("auto", "fci"):
                        yield Cell(table, method, "--missing em", "-o", budget)


def values(kind: str, columns: int, rows: int) -> NDArray[np.float64]:
    """Return the numbers of a table: each column depends on one to three of the twenty before it, or on none."""
    rng = np.random.default_rng([columns, rows])
    data = rng.standard_normal((rows, columns))
    if kind == "noise":
        return data
    causes = 6 if kind == "dense" else 1.2
    for j in range(1, columns):
        near = np.arange(max(0, j - 20), j)
        chosen = near[rng.random(len(near)) < causes / len(near)]
        data[:, j] += data[:, chosen] @ (rng.choice([-1.0, 1.0], len(chosen)) * rng.uniform(0.4, 1.0, len(chosen)))
        data[:, j] /= data[:, j].std()
    if kind == "gaps":
        data[rng.random(data.shape) < 0.05] = np.nan
    return data


def write_table(path: Path, kind: str, columns: int, rows: int) -> None:
    """Write a table as CSV; categories are three letters."""
    data = values(kind, columns, rows)
    levelled = {"discrete": range(columns), "mixed": range(0, columns, 2)}.get(kind, ())
    written: list[Any] = [np.char.mod("%.6g", column) for column in data.T]
    for j in levelled:
        written[j] = np.array(list("abc"))[np.digitize(data[:, j], (-0.6, 0.6))]
    lines = map(",".join, zip(*written, strict=True))
    text = "\n".join([",".join(f"V{v}" for v in range(columns)), *lines]) + "\n"
    path.write_text(text.replace("nan", ""), "utf-8")


def measured(cell: Cell, folder: Path) -> dict[str, Any]:
    """Run a command in a process of its own, and return what it took."""
    table = folder / f"{cell.table}.csv"
    if not table.exists():  # in a process of its own, whose memory the command does not inherit
        subprocess.run([sys.executable, __file__, "--write", str(table)], check=True)
    given = ["learn", str(table), "--method", cell.method, "--max-seconds", str(cell.budget)]
    words = [sys.executable, "-c", START, *given, *cell.options.split(), *OUTPUTS[cell.output]]
    began = time.monotonic()
    with open(folder / "printed", "wb") as printed:
        process = subprocess.Popen(words, stdout=printed, stderr=printed, cwd=folder, env=COMPILED)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2, 3):
        raise RuntimeError(f"{cell.name}: {(folder / 'printed').read_text('utf-8')[-2000:]}")
    return {
        **cell._asdict(),
        "cpu": round(used.ru_utime + used.ru_stime, 2),
        "clock": round(time.monotonic() - began, 2),
        "megabytes": used.ru_maxrss // 1024,
        "code": process.returncode,
    }


def held() -> dict[str, dict[str, str]]:
    """Return what was measured before, by the name of its cell."""
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="") as file:
        return {
            Cell(*(row[name] for name in COLUMNS[:4]), float(row["budget"])).name: row for row in csv.DictReader(file)
        }


def keep(rows: dict[str, dict[str, Any]]) -> None:
    """Write all that was measured, in the order of the grid."""
    with KEPT.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[cell.name] for cell in cells() if cell.name in rows)


def table_of(rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Iterate over the lines of a table: the most CPU seconds by table, budget and output, and which cells missed."""
    yield "| table | " + " | ".join(f"{b:g} s: most, method" for b in SECONDS) + " | missed |"
    yield "|---|" + "---|" * (len(SECONDS) + 1)
    for table in dict.fromkeys(cell.table for cell in cells()):
        own = [(cell, rows[cell.name]) for cell in cells() if cell.table == table and cell.name in rows]
        shown = [table]
        for budget in SECONDS:
            taken = [(float(row["cpu"]), cell) for cell, row in own if cell.budget == budget]
            most = max(taken, default=None)
            shown.append("" if most is None else f"{most[0]:.2f}, {most[1].method} {most[1].options}".strip())
        missed = [cell for cell, row in own if float(row["cpu"]) > cell.bar]
        yield f"| {' | '.join(shown)} | {len(missed)} of {len(own)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--only", default="", help="words that the name of a cell must contain, with commas")
    parser.add_argument("--again", action="store_true", help="measure also what is held")
    parser.add_argument("--table", action="store_true", help="print what is held")
    parser.add_argument("--folder", type=Path, help="where tables are kept from run to run")
    parser.add_argument("--write", type=Path, help="write one table, KIND-COLUMNSxROWS.csv, and nothing else")
    asked = parser.parse_args()
    if asked.write:
        kind, size = asked.write.stem.split("-")
        write_table(asked.write, kind, *map(int, size.split("x")))
        return
    if asked.table:
        print("\n".join(table_of(held())))
        return
    wanted = [cell for cell in cells() if all(word in cell.name for word in asked.only.split(","))]
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        measured(Cell("noise-10x50", "auto", "", "-o --report", 60.0), folder)
        for cell in wanted[asked.part - 1 :: asked.parts]:
            if cell.name in held() and not asked.again:
                continue
            row = measured(cell, folder)
            keep(held() | {cell.name: row})
            missed = "" if row["cpu"] <= cell.bar else f"  over the bar of {cell.bar:g}"
            taken = f"{row['cpu']} s of CPU, {row['clock']} s, {row['megabytes']} MB, code {row['code']}"
            print(f"{cell.name}: {taken}{missed}", flush=True)


if __name__ == "__main__":
    main()
