"""L-MARVEL, rcd (skeleton only) and causal-learn's FCI on the same data, for the bars of :mod:`table`.

All run at the same level with one thread each, and a peer that exceeds its time limit is ended. Accuracy beside rivals
is measured by the scoreboard.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

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
