"""Is Lift right where the data could not be better: population covariances, as if of 100 million rows.

Random DAGs of 8 to 13 variables with up to two latent and two selection variables. A PAG that is not the true one is
explained: either its score is better than that of the true graph (then no search by this score can be right: some
dependence is weaker than the price of an edge even with so many rows), or the search missed the better graph.

    python population.py --graphs 500
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from lmarvel import LMarvel, MSeparation
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.lift import LiftResult, lift
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide

ROWS = 10**8
PENALTY = 2.0


def drawn(seed: int) -> tuple[Study, np.ndarray]:
    """Return a study and the correlation matrix of its observed variables."""
    rng = np.random.default_rng([4711, seed])
    nodes, latent, selection = int(rng.integers(8, 14)), int(rng.integers(3)), int(rng.integers(3))
    dag = erdos_renyi(nodes, 2.5 / (nodes - 1), seed=int(rng.integers(2**31)))
    study = hide(dag, latent, selection, seed=int(rng.integers(2**31)))
    covariance = LinearSEM.random(dag, seed=int(rng.integers(2**31))).covariance(study)
    scale = np.sqrt(covariance.diagonal())
    return study, covariance / np.outer(scale, scale)


def score_of_truth(study: Study, R: np.ndarray) -> float:
    """Return the score of the true MAG, its edges as parameters."""
    graph = AncestralGraph.of_marks(np.asarray(study.mag.marks))
    return minus_two_log_likelihood(GaussianBlocks(R, ROWS), graph) + PENALTY * math.log(ROWS) * graph.n_edges


def main() -> None:
    """Count the graphs that are right, and explain the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--start", choices=("none", "oracle"), default="none", help="begin also at the true PAG")
    chosen = parser.parse_args()
    right, started = 0, time.perf_counter()
    for seed in range(chosen.graphs):
        study, R = drawn(seed)
        start = None
        if chosen.start == "oracle":
            start = np.asarray(LMarvel(test=MSeparation(study.mag)).fit(names=list(study.observed)).pag_.marks)
        found = lift(R, ROWS, penalty=PENALTY, start=start)
        if np.array_equal(found.pag, study.pag.marks):
            right += 1
            continue
        print(f"graph {seed}: {explained(found, study, R)}", flush=True)
    print(f"{right} of {chosen.graphs} exact ({right / chosen.graphs:.1%}), {time.perf_counter() - started:.0f} s")


def explained(found: LiftResult, study: Study, R: np.ndarray) -> str:
    """Say how a wrong graph compares with the truth: score, edges, and likelihood."""
    behind = found.score - score_of_truth(study, R)
    fewer = study.mag.n_edges - int(np.triu(found.mag != 0).sum())
    verdict = "scores better than the truth" if behind < 0 else "missed by the search"
    told = f"{verdict} by {abs(behind):,.1f}, edges {-fewer:+d}, {len(found.hidden)} hidden nodes"
    if found.hidden or fewer <= 0:
        return told
    lost = behind + PENALTY * math.log(ROWS) * fewer
    return f"{told}; with {ROWS:,} rows what is missing adds {lost:,.1f} to twice the log-likelihood"


if __name__ == "__main__":
    main()
