"""What true tiers are worth: tests and marks with and without them, on the structures of the paper's Table 1.

All measured variables are put into three tiers that are true (`Study.knowledge`). Each method learns from the same data
with and without them. Marks are scored in two ways: against what the method could know at best (the PAG, or the PAG
under the tiers), and against the true MAG, of which arrowheads and tails that are right count, and circles do not.

    python knowledge.py --runs 5 --methods lmarvel,fci,rfci,mbcs

What they cost, in CPU time of whole fits with and without (threads of the linear algebra that wait would count):

    OPENBLAS_NUM_THREADS=1 python knowledge.py --time
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lmarvel import MAG, PAG, Knowledge, mag_to_pag
from lmarvel.estimators import METHODS
from lmarvel.experiments.paper import COUNTS
from lmarvel.graph.marks import CIRCLE
from lmarvel.graph.metrics import compare_graphs
from lmarvel.simulate import NETWORKS, RANGES, DiscreteNetwork, LinearSEM, erdos_renyi, hide, load_network

MOST_TESTS = 2_000_000


def right_marks(pag: PAG, mag: MAG) -> float:
    """Return the F1 of the arrowheads and tails of a PAG against those of the true MAG."""
    said, true = pag.marks > CIRCLE, mag.marks > 0
    right = (pag.marks == mag.marks) & true
    return 2 * float(right.sum()) / float(said.sum() + true.sum())


def one_run(structure: str, methods: list[str], run: int) -> dict[tuple[str, bool], list[float]]:
    """Return tests, skeleton F1, mark F1 and F1 of definite marks of each method, without and with tiers."""
    variables, latent, selection = COUNTS[structure]
    dag = load_network(structure)
    study = hide(dag, latent, selection, seed=[run, variables, 1])
    model = LinearSEM.random(dag, RANGES["benchmark"], seed=[run, variables, 2])
    data = model.sample(study, 50 * len(study.observed), seed=[run, variables, 3])
    tiers = Knowledge(tiers=study.knowledge(tiers=3, seed=run).tiers)
    goals = {False: study.pag, True: mag_to_pag(study.mag, knowledge=tiers)}
    found = {}
    for name in methods:
        for told, goal in goals.items():
            model_of = METHODS[name](boundary="auto", max_tests=MOST_TESTS, knowledge=tiers if told else None)
            result = model_of.fit(data, names=study.observed).result_
            scores = compare_graphs(result.pag, goal)
            tests = result.stats.without("boundary").n_tests
            found[name, told] = [tests, scores.skeleton.f1, scores.marks.f1, right_marks(result.pag, study.mag)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--methods", default="lmarvel,fci,rfci,mbcs")
    parser.add_argument("--structures", default=",".join(name for name in COUNTS if name in NETWORKS))
    parser.add_argument("--time", action="store_true", help="measure the time of fits with and without knowledge")
    args = parser.parse_args()
    methods = args.methods.split(",")
    if args.time:
        time_fits(methods, args.runs)
        return
    print(f"{'structure':<12} {'method':<8} {'tests':>17} {'skeleton F1':>13} {'mark F1':>13} {'definite marks':>15}")
    every: dict[tuple[str, bool], list[list[float]]] = {}
    for structure in args.structures.split(","):
        rows = [one_run(structure, methods, run) for run in range(args.runs)]
        for row in rows:
            for key, numbers in row.items():
                every.setdefault(key, []).append(numbers)
        means = {key: np.mean([row[key] for row in rows], axis=0) for key in rows[0]}
        for name in methods:
            show(structure, name, means[name, False], means[name, True])
    for name in methods:
        show("all", name, np.mean(every[name, False], axis=0), np.mean(every[name, True], axis=0))


def show(structure: str, name: str, without: np.ndarray, told: np.ndarray) -> None:
    tests = f"{without[0]:,.0f} to {told[0]:,.0f}"
    rates = [f"{a:.3f} to {b:.3f}" for a, b in zip(without[1:], told[1:], strict=True)]
    print(f"{structure:<12} {name:<8} {tests:>17} " + " ".join(f"{rate:>13}" for rate in rates), flush=True)


# --- time -------------------------------------------------------------------------------------------------

SAID = {"tiers": {"tiers": 3}, "tiers and pairs": {"tiers": 3, "edges": 3, "no_edges": 3, "causes": 2}}
FITS = 7  # of which the quickest counts: the machine has other work


def time_fits(methods: list[str], runs: int) -> None:
    """Print the CPU time of fits on 40 variables and 2,000 rows, with each kind of knowledge over without."""
    print(f"{'table':<10} {'method':<8} {'knowledge':<16} {'ms without':>11} {'ms with':>8} {'ratio':>6}")
    for table, sample in {"numbers": _numbers, "levels": _levels}.items():
        for name in methods:
            took = np.array([_one_time(name, *sample(seed)) for seed in range(runs)]).mean(axis=0)
            for said, seconds in zip(SAID, took[1:], strict=True):
                figures = f"{1e3 * took[0]:>11.2f} {1e3 * seconds:>8.2f} {seconds / took[0]:>6.2f}"
                print(f"{table:<10} {name:<8} {said:<16} {figures}", flush=True)


def _one_time(name: str, study: Any, data: Any) -> list[float]:
    knowledge = [None, *(study.knowledge(**counts, seed=1) for counts in SAID.values())]
    return [_seconds(lambda told=told: METHODS[name](knowledge=told).fit(data)) for told in knowledge]


def _seconds(work: Callable[[], Any]) -> float:
    took = []
    for _ in range(FITS):
        began = time.thread_time()
        work()
        took.append(time.thread_time() - began)
    return min(took)


def _numbers(seed: int) -> tuple[Any, Any]:
    study = hide(erdos_renyi(50, 3 / 50, seed=seed), 8, 2, seed=seed)
    rows = LinearSEM.random(study.dag, seed=seed).sample(study, 2000, seed=seed)
    return study, dict(zip(study.observed, rows.T, strict=True))


def _levels(seed: int) -> tuple[Any, Any]:
    study = hide(erdos_renyi(50, 3 / 50, seed=seed), 10, 0, seed=seed)
    rows = DiscreteNetwork.random(study.dag, states=2, seed=seed).sample(study, 2000, seed=seed)
    return study, {name: np.array([f"v{c}" for c in codes]) for name, codes in zip(study.observed, rows.T, strict=True)}


if __name__ == "__main__":
    main()
