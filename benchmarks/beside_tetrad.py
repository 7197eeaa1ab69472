"""Lift beside the BOSS-FCI and GRaSP-FCI of tetrad-port, on the same tables in one run: CPU seconds and mark F1.

    python3.12 -m venv tetrad && tetrad/bin/pip install tetrad-port==0.3.1 pandas
    python beside_tetrad.py tetrad/bin/python [--tables 3] [--cases 50x2 100x2]

tetrad-port needs Python 3.12, so it runs in a process of its own. Random DAGs of as many variables with at most so many
parents, 8 % latent and 3 % selecting variables, 2,000 rows; one thread each, and each search once before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

CASES = ["20x2", "50x2", "100x2", "200x2", "50x4", "100x4"]
ROWS, FIRST_SEED = 2_000, 900
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
RIVALS = ("boss-fci", "grasp-fci")
LONGEST = 120  # seconds of one search of a rival, after which it is ended


def study(variables: int, parents: int, seed: int) -> tuple[np.ndarray, Any]:
    """Return a table and its true PAG."""
    from lmarvel.simulate import LinearSEM, bounded_parents, hide

    dag = bounded_parents(variables, parents, seed=seed)
    hidden = hide(dag, round(0.08 * variables), round(0.03 * variables), seed=seed)
    return LinearSEM.random(dag, seed=seed).sample(hidden, ROWS, seed=seed), hidden.pag


def rival(method: str, table: str) -> None:
    """Search with tetrad-port, and print seconds and marks; runs in its own interpreter."""
    from scoreboard.rivals.tetrad_port import prepare

    search, values = prepare(method), np.load(table)
    search(values[:, :5], ("continuous",) * 5)
    start = time.process_time()
    marks = search(values, ("continuous",) * values.shape[1])
    print(json.dumps({"seconds": time.process_time() - start, "marks": marks.tolist()}))


def ours(values: np.ndarray) -> tuple[float, np.ndarray]:
    """Return seconds and marks of Lift."""
    from lmarvel import Lift

    Lift().fit(values[:, :5])
    start = time.process_time()
    found = Lift().fit(values)
    return time.process_time() - start, np.asarray(found.pag_.marks)


def on_one_table(case: str, seed: int, python: str, rivals: list[str]) -> dict[str, tuple[float, float]]:
    """Return seconds and mark F1 of every method; a rival that does not end counts with the time that it had."""
    from lmarvel import PAG
    from lmarvel.graph.metrics import compare_graphs

    variables, parents = map(int, case.split("x"))
    values, truth = study(variables, parents, seed)
    found = {"Lift": ours(values)}
    with tempfile.TemporaryDirectory() as folder:
        np.save(path := Path(folder) / "table.npy", values)
        for method in rivals:
            command = [python, __file__, "--rival", method, str(path)]
            try:
                out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST).stdout
                row = json.loads(out.splitlines()[-1])
                found[method] = row["seconds"], np.array(row["marks"], dtype=np.int8)
            except subprocess.TimeoutExpired:
                found[method] = float(LONGEST), np.zeros_like(found["Lift"][1])
    return {
        name: (seconds, compare_graphs(PAG._trusted(truth.names, marks), truth).marks.f1)
        for name, (seconds, marks) in found.items()
    }


def main() -> None:
    """Run every case, and print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="an interpreter that has tetrad-port")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--rivals", nargs="+", default=RIVALS)
    options = parser.parse_args()
    print("| variables, parents | method | CPU s, median | Lift's time to its, median | mark F1, mean |")
    print("|---|---|---|---|---|")
    for case in options.cases:
        seeds = range(FIRST_SEED, FIRST_SEED + options.tables)
        rows = [on_one_table(case, seed, options.python, options.rivals) for seed in seeds]
        for name in rows[0]:
            seconds = np.median([row[name][0] for row in rows])
            ratio = np.median([row["Lift"][0] / row[name][0] for row in rows])
            right = np.mean([row[name][1] for row in rows])
            print(f"| {case} | {name} | {seconds:.3f} | {ratio:.2f} | {right:.3f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rival"]:
        rival(*sys.argv[2:4])
    elif not os.environ.items() >= ONE_THREAD.items():  # libraries read it when they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    else:
        main()
