"""Rivals beside each other: the same tables, each rival in an interpreter of its own, accuracy and CPU time.

    python run.py --seed 11                             # learn, and add what is not yet kept to figures.csv
    python run.py --seed 11 --rivals ours --again       # the same for ours only, measured anew
    python run.py --show                                # the table of what is kept
    python run.py --record                              # the same, written into the page of the benchmarks

Tables are linear and Gaussian, over random DAGs with 2 to 4 edges per variable on average, 5 or 10 % of the variables
latent. Edges and marks are held against the true PAG. A rival is one file here (see tetrad_port.py): PYTHON and
PACKAGES say what its environment needs, METHODS and DAGS name its searches, and prepare(method) returns a function from
rows to marks. A rival that fails, or needs more CPU seconds than the limit, counts as such. One that was late on every
table of a size is not run on larger ones, and counts as late there.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from child import load
from environments import HERE, make, rivals

from lmarvel.experiments.peers import pag_of_cpdag
from lmarvel.graph.kinds import PAG
from lmarvel.graph.metrics import compare_graphs
from lmarvel.graph.mixed import MixedGraph
from lmarvel.orient.study import Study
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

KEPT, PAGE = HERE / "figures.csv", HERE.parent / "README.md"
BEGIN, END = "<!-- figures: benchmarks/rivals/run.py --record -->", "<!-- end of figures -->"
SIZES = {20: 4, 50: 4, 100: 4, 200: 2}  # variables, and how many tables
DEGREES, LATENT, ROWS = (2, 4, 3), (0.05, 0.10), 2_000
ENDED, LATE, FAILED = "ended", "late", "failed"
BESIDE = (("ours", "lift"), ("ours", "lift-linear"))
KEY = ("seed", "variables", "number", "rival", "method")
COLUMNS = (*KEY, "degree", "latent", "version", "outcome", "marks", "skeleton", "seconds", "why")
Row = dict[str, Any]


class Table(NamedTuple):
    """Where a table comes from."""

    seed: int
    variables: int
    number: int

    @property
    def degree(self) -> int:
        return DEGREES[self.number % len(DEGREES)]

    @property
    def latent(self) -> float:
        return LATENT[self.number % len(LATENT)]

    def draw(self) -> tuple[Study, np.ndarray]:
        """Return the study, and the rows of its observed variables."""
        rng = np.random.default_rng(tuple(self))
        everything = round(self.variables / (1 - self.latent))
        dag = erdos_renyi(everything, self.degree / (everything - 1), seed=rng)
        study = hide(dag, everything - self.variables, 0, seed=rng)
        return study, LinearSEM.random(dag, seed=rng).sample(study, ROWS, seed=rng)


def ask(python: str, rival: Path, method: str, rows: np.ndarray, limit: float) -> Row:
    """Run a method in a process of its own; return its answer, or how it ended."""
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as place:
        table, answer = Path(place) / "table.npy", Path(place) / "answer.json"
        np.save(table, rows)
        command = [python, str(HERE / "child.py"), str(rival), method, str(table), str(answer), str(limit)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, timeout=20 * limit + 60, check=False
            )
        except subprocess.TimeoutExpired:
            return {"outcome": LATE}
        if done.returncode == -signal.SIGXCPU:
            return {"outcome": LATE}
        if done.returncode != 0 or not answer.exists():
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            return {"outcome": FAILED, "why": why}
        return {"outcome": ENDED} | json.loads(answer.read_text())


def scored(answer: Row, is_dag: bool, study: Study) -> Row:
    """Return the figures of an answer."""
    if answer["outcome"] != ENDED:
        return answer
    names, marks = tuple(study.observed), np.array(answer["marks"], dtype=np.int8)
    try:
        pag = pag_of_cpdag(MixedGraph(names, marks)) if is_dag else PAG(names, marks)
        scores = compare_graphs(pag, study.pag)
    except ValueError as wrong:
        return {"outcome": FAILED, "why": str(wrong)}
    figures = {"marks": scores.marks.f1, "skeleton": scores.skeleton.f1, "seconds": answer["seconds"]}
    return answer | {name: f"{value:.5f}" for name, value in figures.items()}


def kept(path: Path) -> dict[tuple[str, ...], Row]:
    """Return what is kept, by table and method."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {tuple(row[name] for name in KEY): row for row in csv.DictReader(file)}


def write(path: Path, rows: dict[tuple[str, ...], Row]) -> None:
    """Keep rows, all or nothing."""
    fresh = path.with_suffix(".new")
    with fresh.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
    fresh.replace(path)


def hopeless(rows: dict[tuple[str, ...], Row], table: Table, name: str, method: str) -> bool:
    """Whether a method was late on every table of some smaller size."""
    by_size: dict[int, set[str]] = {}
    for (_, size, _, rival, other), row in rows.items():
        if (rival, other) == (name, method) and int(size) < table.variables:
            by_size.setdefault(int(size), set()).add(row["outcome"])
    return any(outcomes == {LATE} for outcomes in by_size.values())


def fill(path: Path, tables: list[Table], names: list[str], limit: float, again: bool) -> None:
    """Run what is not kept yet, table by table, so that all methods of a table run one after the other."""
    files = rivals()
    loaded: dict[str, tuple[ModuleType, str]] = {}
    for name in names:
        module = load(files[name])
        try:
            loaded[name] = module, make(module)
        except OSError as wrong:
            print(f"{name} is left out: {wrong}", file=sys.stderr)
    rows = kept(path)
    if again:
        wanted = {tuple(map(str, table)) for table in tables}
        rows = {key: row for key, row in rows.items() if key[:3] not in wanted or key[3] not in names}
    for table in tables:
        study, values = table.draw()
        for name, (module, python) in loaded.items():
            for method in module.METHODS:
                key = (*map(str, table), name, method)
                if key in rows:
                    continue
                if hopeless(rows, table, name, method):
                    answer: Row = {"outcome": LATE, "why": "late on smaller tables: not run"}
                else:
                    answer = ask(python, files[name], method, values, limit)
                found = scored(answer, method in module.DAGS, study)
                drawn = {"degree": table.degree, "latent": table.latent}
                rows[key] = dict(zip(KEY, key, strict=True)) | drawn | found
                write(path, rows)
                told = found.get("why") or f"{found.get('marks', '')} {found.get('seconds', '')}"
                print(*key, found["outcome"], told, file=sys.stderr)


def lines(rows: dict[tuple[str, ...], Row], limit: float) -> Iterator[str]:
    """Iterate over the lines of a table: means of F1, medians of CPU seconds and of their ratios to ours."""
    yield "| variables | method | ended | mark F1 | less Lift's | skeleton F1 | CPU s | to Lift | to linear Lift |"
    yield "|---|---|---|---|---|---|---|---|---|"
    ours = [
        {key[:3]: row for key, row in rows.items() if key[3:] == name and row["outcome"] == ENDED} for name in BESIDE
    ]
    groups: dict[tuple[str, ...], dict[tuple[str, ...], Row]] = {}
    for key, row in rows.items():
        groups.setdefault((key[1], *key[3:]), {})[key[:3]] = row
    for (size, rival, method), group in groups.items():
        ended = {table: row for table, row in group.items() if row["outcome"] == ENDED}
        both = [(row, ours[0][table]) for table, row in ended.items() if table in ours[0]]
        cells = (
            f"{len(ended)} of {len(group)}",
            _mean([float(row["marks"]) for row in ended.values()], ".3f"),
            _mean([float(row["marks"]) - float(lift["marks"]) for row, lift in both], "+.3f"),
            _mean([float(row["skeleton"]) for row in ended.values()], ".3f"),
            *(_times(group, beside, limit) for beside in (None, *ours)),
        )
        yield f"| {size} | {rival} {method} | {' | '.join(cells)} |"


def _times(group: dict[tuple[str, ...], Row], beside: dict[tuple[str, ...], Row] | None, limit: float) -> str:
    """Return the median of CPU seconds, or of ratios to ours; late runs count with the limit, failed ones do not."""
    values = []
    for table, row in group.items():
        if row["outcome"] != FAILED and (beside is None or table in beside):
            seconds = limit if row["outcome"] == LATE else float(row["seconds"])
            values.append(
                (seconds / (1.0 if beside is None else float(beside[table]["seconds"])), row["outcome"] == LATE)
            )
    if not values:
        return "-"
    bound = "> " if sum(late for _, late in values) * 2 >= len(values) else ""
    return f"{bound}{statistics.median(value for value, _ in values):.3g}"


def _mean(values: list[float], form: str) -> str:
    return format(statistics.mean(values), form) if values else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of variables")
    parser.add_argument("--tables", type=int, help="tables per size; 4 by default, 2 from 200 variables on")
    parser.add_argument("--rivals", default=",".join(rivals()))
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds per table and method")
    parser.add_argument("--again", action="store_true", help="measure these rivals anew")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where the figures are kept")
    parser.add_argument("--show", action="store_true", help="only print the table of what is kept")
    parser.add_argument("--record", action="store_true", help="only write that table into the page of the benchmarks")
    told = parser.parse_args()
    if unknown := set(told.rivals.split(",")) - set(rivals()):
        parser.error(f"no file for {', '.join(sorted(unknown))}: choose from {', '.join(rivals())}")
    if not (told.show or told.record):
        sizes = [int(size) for size in told.sizes.split(",")]
        tables = [Table(told.seed, p, k) for p in sizes for k in range(told.tables or SIZES.get(p, 2))]
        fill(told.kept, tables, told.rivals.split(","), told.limit, told.again)
    table = "\n".join(lines(kept(told.kept), told.limit))
    print(table)
    if told.record:
        head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
