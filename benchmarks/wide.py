"""Tables with fewer rows than two per column, like those of gene expression: which method learns most, and how exactly.

    python wide.py --seeds 2                                        # learn, and add what is not yet kept to wide.csv
    python wide.py --seeds 1 --methods causal-learn-fci --limit 120
    python wide.py --show                                           # the means of what is kept

Linear tables over random DAGs: ``sparse`` has one edge per variable, ``hubs`` one or two causes per variable that have
many effects already. 8 % of the variables are latent. Edges and marks are held against the true PAG. Lift, L-MARVEL and
FCI are ours; causal-learn's FCI runs in a process of its own with a limit in seconds. Seconds are CPU time, except for
causal-learn, which reports elapsed time. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lmarvel import DAG, FCI, Lift, LMarvel
from lmarvel.experiments.peers import Peer
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.study import Study
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

KEPT = Path(__file__).with_name("wide.csv")
SIZES = ((200, 100), (200, 150), (200, 300), (400, 100), (400, 200))
LATENT = 0.08
FIRST_SEED = 100
MEASURES = ("precision", "recall", "marks", "seconds")
COLUMNS = ("structure", "variables", "rows", "seed", "method", *MEASURES)
PEER = "causal-learn-fci"
Row = dict[str, Any]
Case = tuple[str, int, int, int, str]


def sparse(variables: int, seed: int) -> DAG:
    """Return a random DAG with one edge per variable."""
    return erdos_renyi(variables, 2.0 / (variables - 1), seed=seed)


def hubs(variables: int, seed: int) -> DAG:
    """Return a DAG in which each variable has one or two causes, mostly those that have many effects already."""
    rng = np.random.default_rng(seed)
    names = [f"G{v}" for v in rng.permutation(variables)]
    effects, edges = np.ones(variables), []
    for v in range(1, variables):
        for u in rng.choice(v, min(v, int(rng.integers(1, 3))), replace=False, p=effects[:v] / effects[:v].sum()):
            effects[u] += 1
            edges.append(f"{names[u]} --> {names[v]}")
    return DAG.from_edges(*edges, nodes=sorted(names))


STRUCTURES: dict[str, Callable[[int, int], DAG]] = {"sparse": sparse, "hubs": hubs}


def drawn(structure: str, variables: int, rows: int, seed: int) -> tuple[Study, dict[str, np.ndarray]]:
    """Return a study and a table of its observed variables."""
    everything = round(variables / (1 - LATENT))
    study = hide(STRUCTURES[structure](everything, seed), everything - variables, 0, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return study, dict(zip(study.observed, data.T, strict=True))


def methods(limit: float) -> dict[str, Any]:
    """Return the methods by name."""
    ours = {"lift": Lift(test="fisher-z", max_seconds=limit), "lmarvel": LMarvel(), "fci": FCI(max_seconds=limit)}
    return ours | {PEER: Peer(program="fci", max_seconds=limit)}


def measured(case: Case, method: Any) -> Row:
    """Return what a method learns from a table; a program of others that ends late has no figures."""
    *drawn_by, name = case
    study, table = drawn(*drawn_by)
    begun = time.process_time()
    found = method.fit(table).result_
    seconds = time.process_time() - begun
    row: Row = dict(zip(COLUMNS, (*case, *[""] * len(MEASURES)), strict=True))
    if name == PEER:
        if found.budget_ended is not None:
            return row
        seconds = found.stats.seconds["search"]
    scores = compare_graphs(found.pag, study.pag)
    figures = (scores.skeleton.precision, scores.skeleton.recall, scores.marks.f1, seconds)
    return row | {key: f"{value:.3f}" for key, value in zip(MEASURES, figures, strict=True)}


def kept() -> list[Row]:
    """Return what is kept."""
    if not KEPT.exists():
        return []
    with KEPT.open(newline="") as file:
        return list(csv.DictReader(file))


def add(cases: Iterator[Case], limit: float) -> None:
    """Learn from the tables that are not kept yet, and keep what each gave."""
    done = {tuple(row[name] for name in COLUMNS[:5]) for row in kept()}
    with KEPT.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for case in cases:
            if tuple(map(str, case)) not in done:
                writer.writerow(measured(case, methods(limit)[case[-1]]))
                file.flush()


def means(rows: list[Row]) -> Iterator[str]:
    """Iterate over the lines of a table of means."""
    yield "| structure | variables | rows | method | precision | recall | mark F1 | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["structure"], str(row["variables"]), str(row["rows"]), row["method"]].append(row)
    for key, group in groups.items():
        ended = [row for row in group if row["precision"]]
        cells = [f"{statistics.mean(float(row[name]) for row in ended):.2f}" if ended else "late" for name in MEASURES]
        yield f"| {' | '.join((*key, *cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="tables per structure and size")
    parser.add_argument("--methods", default="lift,lmarvel,fci")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per table for methods that have a limit")
    parser.add_argument("--show", action="store_true", help="only print the means of what is kept")
    told = parser.parse_args()
    if not told.show:
        seeds, names = range(FIRST_SEED, FIRST_SEED + told.seeds), told.methods.split(",")
        tables = ((s, p, n, seed) for s in STRUCTURES for p, n in SIZES for seed in seeds)
        add(((*table, name) for table in tables for name in names), told.limit)
    print("\n".join(means(kept())))


if __name__ == "__main__":
    main()
