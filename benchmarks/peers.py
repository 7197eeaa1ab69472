"""L-MARVEL from data to PAG, against rcd (skeleton only) and causal-learn's FCI, on the structures of the paper.

    make bench NETWORKS=folder        # folder with NAME.csv (from,to) and NAME.nodes.csv

All see the same data at the same level with one thread each. A peer that exceeds its time limit counts with the limit,
so its ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from simulation import STRUCTURES, Sample, draw, structures  # noqa: E402

ALPHA = 0.01


def ours(data: np.ndarray) -> dict[str, object]:
    from lmarvel import LMarvel

    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        found = LMarvel(alpha=ALPHA, boundary="tc").fit(data).result_
        best = min(best, time.process_time() - start)
    return {
        "seconds": best,
        "skeleton": found.pag.marks > 0,
        "illegal": found.why_illegal is not None,
        "tests": found.stats.n_tests - sum(found.stats.tests["boundary"].values()),
    }


def rcd_skeleton(data: np.ndarray) -> dict[str, object]:
    import networkx as nx
    from rcd import l_marvel
    from rcd.utilities.ci_tests import fisher_z

    def test(x: int, y: int, given: list[int], table: np.ndarray) -> bool:
        return fisher_z(x, y, given, table, significance_level=ALPHA)

    start = time.process_time()
    graph = l_marvel.learn_and_get_skeleton(test, data)
    seconds = time.process_time() - start
    return {"seconds": seconds, "skeleton": nx.to_numpy_array(graph, nodelist=sorted(graph)) > 0}


def causal_learn_fci(data: np.ndarray) -> dict[str, object]:
    from causallearn.search.ConstraintBased.FCI import fci

    start = time.process_time()
    graph, _ = fci(data, "fisherz", ALPHA, show_progress=False)
    return {"seconds": time.process_time() - start, "skeleton": graph.graph != 0}


def causal_learn_pc_stage(data: np.ndarray) -> dict[str, object]:
    """The skeleton before FCI's second search: PC-stable, as in every implementation."""
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.utils.cit import CIT
    from causallearn.utils.FAS import fas

    nodes = [GraphNode(f"X{i}") for i in range(data.shape[1])]
    graph, _, _ = fas(data, nodes, CIT(data, "fisherz"), ALPHA, show_progress=False)
    return {"skeleton": graph.graph != 0}


def _child(function: Callable[[np.ndarray], dict[str, object]], data: np.ndarray, pipe: object) -> None:
    with open(os.devnull, "w") as silent:
        os.dup2(silent.fileno(), 1)
        pipe.send(function(data))  # type: ignore[attr-defined]


def limited(
    function: Callable[[np.ndarray], dict[str, object]], data: np.ndarray, seconds: float
) -> dict[str, object] | None:
    """Run in a process of its own; None if it did not finish in time."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_child, args=(function, data, there))
    process.start()
    there.close()
    result = None
    try:
        if here.poll(seconds):
            result = here.recv()
    except EOFError:
        pass
    process.kill()
    process.join()
    return result


def f1(learned: np.ndarray, sample: Sample) -> float:
    truth = sample.study.mag.marks > 0
    hits = np.count_nonzero(truth & learned)
    return 2 * hits / max(np.count_nonzero(truth) + np.count_nonzero(learned), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=Path, help="folder with carpo.csv, which the package does not have")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a peer on one data set")
    options = parser.parse_args()
    print(
        "| structure | p | rows | lmarvel ms | rcd | causal-learn FCI | F1 lmarvel | F1 rcd | F1 FCI | illegal PAGs |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {"rcd": [], "fci": []}
    for name, dag in structures(options.networks).items():
        observed, latent, selection = STRUCTURES[name]
        rows: dict[str, list[float]] = {k: [] for k in ("ms", "rcd", "fci", "f", "frcd", "ffci", "illegal")}
        late = {"rcd": 0, "fci": 0}
        for run in range(options.runs):
            sample = draw([run, observed], dag, latent, selection, 50 * observed)
            mine = ours(sample.data)
            rows["ms"].append(1000 * mine["seconds"])
            rows["f"].append(f1(mine["skeleton"], sample))
            rows["illegal"].append(mine["illegal"])
            for key, peer in (("rcd", rcd_skeleton), ("fci", causal_learn_fci)):
                theirs = limited(peer, sample.data, options.limit)
                seconds = options.limit if theirs is None else theirs["seconds"]
                late[key] += theirs is None
                rows[key].append(seconds / mine["seconds"])
                if theirs is not None:
                    rows["f" + key].append(f1(theirs["skeleton"], sample))
        ratios["rcd"] += rows["rcd"]
        ratios["fci"] += rows["fci"]
        middle = {k: statistics.median(v) if v else float("nan") for k, v in rows.items()}

        def ratio(key: str, middle: dict[str, float] = middle, late: dict[str, int] = late) -> str:
            return f"{'>' if late[key] else ''}{middle[key]:,.0f}x" + (f" ({late[key]} late)" if late[key] else "")

        print(
            f"| {name} | {observed} | {50 * observed} | {middle['ms']:.1f} | {ratio('rcd')} | {ratio('fci')} |"
            f" {middle['f']:.2f} | {middle['frcd']:.2f} | {middle['ffci']:.2f} |"
            f" {sum(rows['illegal']):.0f} of {options.runs} |",
            flush=True,
        )
    print(f"\nmedian over all data sets: rcd {statistics.median(ratios['rcd']):,.0f}x,", end=" ")
    print(f"causal-learn FCI {statistics.median(ratios['fci']):,.0f}x")


if __name__ == "__main__":
    main()
