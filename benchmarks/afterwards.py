"""What follows Lift's search, in CPU seconds: evidence, the first printing, and what is written.

    python afterwards.py                             # every case, each in a process of its own
    python afterwards.py --cases arth150 1000x2      # structures of the paper, or variables x parents at most
    python afterwards.py --n-jobs 2                  # seconds of the caller's thread

Evidence is what speaks for each edge, gap and mark, made when somebody looks. The first printing needs it as well, and
makes resamples where these take few seconds; here it comes after evidence, and does not count it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES = ["40", "barley", "arth150", "400x2", "1000x2"]
ROWS = 2_000
STEPS = ["search", "evidence", "first printing", "printing again", "JSON", "notebook page", "report", "explanation"]


def table(case: str) -> Any:
    """Return the table of a case."""
    from simulation import STRUCTURES, draw, random_data, structures

    if case.isdigit():
        return random_data(0, int(case), ROWS)
    if case in STRUCTURES:
        observed, latent, selection = STRUCTURES[case]
        return draw([0, observed], structures(None)[case], latent, selection, 50 * observed).data
    from lmarvel.simulate import LinearSEM, bounded_parents, hide

    variables, parents = map(int, case.split("x"))
    dag = bounded_parents(variables, parents, seed=1)
    study = hide(dag, round(0.08 * variables), round(0.03 * variables), seed=1)
    return LinearSEM.random(dag, seed=1).sample(study, ROWS, seed=1)


def one(case: str, n_jobs: int) -> list[float]:
    """Return the seconds of each step."""
    import numpy as np

    from lmarvel import Lift
    from lmarvel.report import write_report

    data, method, taken = table(case), Lift(n_jobs=n_jobs), []

    def timed(work: Callable[[], Any]) -> None:
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)

    timed(lambda: method.fit(data))
    found = method.result_
    a, b = (found.pag.names[v] for v in np.argwhere(found.pag.marks)[0])
    for work in (lambda: len(found.trace), lambda: str(found), lambda: str(found), found.to_json, found._repr_html_):
        timed(work)
    with tempfile.TemporaryDirectory() as folder:
        timed(lambda: write_report(found, Path(folder, "report.html")))
    timed(lambda: str(found.explain(a, b)))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(" | ".join(f"{seconds:.3f}" for seconds in one(asked.one, asked.n_jobs)))
        return
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    print(f"| case | {' | '.join(STEPS)} |\n|{'---|' * (len(STEPS) + 1)}")
    for case in asked.cases:
        command = [sys.executable, __file__, "--one", case, "--n-jobs", str(asked.n_jobs)]
        run = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
        said = (run.stdout if run.returncode == 0 else run.stderr).strip().splitlines() or ["killed"]
        print(f"| {case} | {said[-1]} |", flush=True)


if __name__ == "__main__":
    main()
