"""Lift on many variables: CPU seconds by stage and peak memory, one thread, each case in a process of its own.

    python large.py                         # every case
    python large.py --cases 400x2 100x4     # variables x parents at most
    python large.py --no-hidden             # orders and climb only

Random DAGs with at most two (sparse) or four parents per node, 8 % latent and 3 % selecting variables, 2,000 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from itertools import pairwise
from typing import Any

CASES = ["100x2", "200x2", "400x2", "1000x2", "100x4", "200x4", "400x4"]
ROWS = 2_000


def correlation(variables: int, parents: int, seed: int) -> Any:
    import numpy as np

    from lmarvel.simulate import LinearSEM, bounded_parents, hide

    dag = bounded_parents(variables, parents, seed=seed)
    study = hide(dag, round(0.08 * variables), round(0.03 * variables), seed=seed)
    return np.corrcoef(LinearSEM.random(dag, seed=seed).sample(study, ROWS, seed=seed).T)


def one(variables: int, parents: int, seed: int, hidden: bool) -> dict[str, Any]:
    from dataclasses import replace

    from lmarvel.search import lift as searching

    if not hidden:
        searching.LIFT = replace(searching.LIFT, hidden_rounds=0)
    R = correlation(variables, parents, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told: list[tuple[str, float]] = [("start", time.process_time())]
    found = searching.lift(R, ROWS, progress=lambda stage, *_: told.append((stage, time.process_time())))
    told.append(("end", time.process_time()))
    seconds: dict[str, float] = {}
    for (stage, start), (_, end) in pairwise(told):
        seconds[stage] = seconds.get(stage, 0.0) + end - start
    return {
        "observed": len(R),
        "seconds": seconds,
        "score": found.score,
        "nodes": len(found.hidden),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "before_mb": before / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-hidden", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        variables, parents = map(int, options.one.split("x"))
        print(json.dumps(one(variables, parents, options.seed, not options.no_hidden)))
        return
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    print("| variables | parents | observed | CPU s | order | lift | hidden | nodes | peak MB | score |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in options.cases:
        command = [sys.executable, __file__, "--one", case, "--seed", str(options.seed)]
        command += ["--no-hidden"] * options.no_hidden
        run = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
        variables, parents = case.split("x")
        if run.returncode:
            last = (run.stderr.splitlines() or ["killed"])[-1]
            print(f"| {variables} | {parents} | {last} | | | | | | | |", flush=True)
            continue
        out = json.loads(run.stdout)
        stages = " | ".join(f"{out['seconds'].get(stage, 0.0):.2f}" for stage in ("order", "lift", "hidden"))
        print(
            f"| {variables} | {parents} | {out['observed']} | {sum(out['seconds'].values()):.2f} | {stages} |"
            f" {out['nodes']} | {out['peak_mb']:,.0f} | {out['score']:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
