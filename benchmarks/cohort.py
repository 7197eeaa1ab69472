"""The cohort on the structures of the paper: our FCI against causal-learn's, and seconds of all methods.

    python cohort.py [--networks folder]

FCI starts from the complete graph on both sides, at the same level; the others from Markov boundaries, as in the paper.
Both make the same tests in the PC stage, and its skeletons are held against each other. In the search over
Possible-D-Sep sets they do not: causal-learn skips sets of one variable and sets of neighbours, and works on a graph
that changes from edge to edge, so that its result depends on the order of the columns. The last column of FCI says how
many edges only we cut there, and how many only they cut.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from peers import ALPHA, causal_learn_fci, causal_learn_pc_stage, limited  # first: it sets one thread

import numpy as np  # isort: skip
from simulation import STRUCTURES, draw, structures


def timed(method: str, data: np.ndarray, **options: object) -> tuple[float, object]:
    from lmarvel.estimators import METHODS

    best, found = float("inf"), None
    for _ in range(3):
        start = time.process_time()
        found = METHODS[method]().set_params(alpha=ALPHA, max_seconds=60.0, **options).fit(data).result_
        best = min(best, time.process_time() - start)
        if best > 1:
            break
    return best, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=Path, help="folder with carpo.csv, which the package does not have")
    parser.add_argument("--limit", type=float, default=60, help="seconds for causal-learn on one data set")
    options = parser.parse_args()
    print(
        "| structure | FCI s | causal-learn FCI s | ratio | equal PC stage | only we cut, only they | RFCI s | MBCS* s"
        " | M3HC s | L-MARVEL s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, dag in structures(options.networks).items():
        observed, latent, selection = STRUCTURES[name]
        data = draw([0, observed], dag, latent, selection, 50 * observed).data
        seconds, found = timed("fci", data, boundary="none")
        peer = limited(causal_learn_fci, data, options.limit)
        theirs = options.limit if peer is None else peer["seconds"]
        ours = timed("fci", data, boundary="none", possible_d_sep="none")[1].pag.marks > 0
        first = limited(causal_learn_pc_stage, data, options.limit)
        equal = "-" if first is None else str(bool(np.array_equal(first["skeleton"], ours)))
        apart = "-"
        if peer is not None:
            here, there = found.pag.marks > 0, peer["skeleton"]
            apart = f"{(there & ~here).sum() // 2}, {(here & ~there).sum() // 2}"
        others = [timed(method, data, boundary="tc")[0] for method in ("rfci", "mbcs", "m3hc", "lmarvel")]
        late = ">" if peer is None else ""
        ended = " (budget)" if found.budget_ended else ""
        print(
            f"| {name} | {seconds:.3f}{ended} | {late}{theirs:.1f} | {late}{theirs / seconds:,.0f}x | "
            + f"{equal} | {apart} | "
            + " | ".join(f"{s:.3f}" for s in others)
            + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
