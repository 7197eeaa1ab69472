"""Lift before and after a change of its hidden nodes: the same tables for several source trees, in one run.

    python hidden_nodes.py small ../src OTHER/src        # 120 tables of 20 to 50 variables: accuracy and CPU time
    python hidden_nodes.py large ../src OTHER/src        # random DAGs of 100 to 1,000 variables: CPU time and memory

Tables are drawn from the paper's structures and from random graphs, with latent and selecting variables, N = 2,000.
Each tree runs in a process of its own, with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROWS = 2000
STRUCTURES = ("insurance", "alarm", "ecoli70", "barley", "hailfinder", "mildew", "water")
LARGE = ((100, 2), (100, 4), (200, 2), (400, 2), (1000, 2))  # variables, and up to how many parents


def tables(size: str, seeds: int) -> Iterator[tuple[str, np.ndarray, object]]:
    """Iterate over names, correlations and true PAGs (none of large graphs)."""
    from lmarvel.simulate import LinearSEM, bounded_parents, erdos_renyi, hide, load_network

    for seed in range(100, 100 + seeds):
        rng = np.random.default_rng(seed)
        if size == "small":
            nodes = int(rng.integers(22, 55))
            dags = {name: load_network(name) for name in STRUCTURES}
            dags |= {f"parents{k}": bounded_parents(nodes, k, seed=seed) for k in (2, 3)}
            dags |= {f"degree{d}": erdos_renyi(nodes, d / (nodes - 1), seed=seed) for d in (2, 3, 4)}
        else:
            dags = {f"{p} of {k}": bounded_parents(round(p / 0.89), k, seed=seed) for p, k in LARGE}
        for name, dag in dags.items():
            n = len(dag.names)
            study = hide(dag, round(0.08 * n), max(1, round(0.03 * n)), seed=seed)
            drawn = LinearSEM.random(study.dag, seed=seed).sample(study, ROWS, seed=seed)
            yield f"{name} {seed}", np.corrcoef(drawn.T), study.pag if size == "small" else None


def work(size: str, seeds: int, only: str) -> None:
    """Learn every table, and print a line of JSON for each."""
    from lmarvel.graph.kinds import PAG
    from lmarvel.graph.metrics import compare_graphs
    from lmarvel.search.lift import lift

    for name, R, truth in tables(size, seeds):
        if not name.startswith(only):
            continue
        start = time.process_time()
        found = lift(R, ROWS)
        row = {"table": name, "seconds": time.process_time() - start, "score": found.score, "used": found.used}
        row |= {"hidden": len(found.hidden), "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        if truth is not None:
            scores = compare_graphs(PAG._trusted(truth.names, found.pag), truth)
            row |= {"marks": scores.marks.f1, "skeleton": scores.skeleton.f1}
        print(json.dumps(row), flush=True)


def main() -> None:
    """Run every tree on the same tables, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", choices=("small", "large"))
    parser.add_argument("trees", nargs="*", type=Path, help="source trees, compiled; none for that which is imported")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="tables whose names begin so")
    chosen = parser.parse_args()
    if not chosen.trees:
        work(chosen.size, chosen.seeds, chosen.only)
        return
    how = [sys.executable, __file__, chosen.size, "--seeds", str(chosen.seeds), "--only", chosen.only]
    runs = []
    for tree in chosen.trees:
        places = os.environ | {"PYTHONPATH": str(tree.resolve()), "OPENBLAS_NUM_THREADS": "1"}
        out = subprocess.run(how, env=places, capture_output=True, text=True, check=True).stdout
        runs.append([json.loads(line) for line in out.splitlines()])
    for rows in zip(*runs, strict=True):
        print(rows[0]["table"], *(_told(row) for row in rows), sep=" | ")
    for tree, run in zip(chosen.trees, runs, strict=True):
        means = {key: float(np.mean([row[key] for row in run])) for key, x in run[0].items() if not isinstance(x, str)}
        print(tree, *(f"{key} {mean:.4f}" for key, mean in means.items()), sep="  ")


def _told(row: dict[str, float | str]) -> str:
    return " ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in list(row.values())[1:])


if __name__ == "__main__":
    main()
