"""Does a method find selection where there is none? Plain trees: no latent variables, no selection.

A tree of 20 variables with random weights, 1,000 to 100,000 rows. A PAG claims selection with --- or --o.

    python trees.py --trees 50
"""

from __future__ import annotations

import argparse

import numpy as np

from lmarvel import DAG, Lift, LMarvel
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.simulate import LinearSEM, Study

ROWS = (1_000, 10_000, 100_000)


def tree(rng: np.random.Generator, nodes: int = 20) -> DAG:
    """Draw a tree: each node after the first has one parent among those before it."""
    edges = [f"X{rng.integers(v)} --> X{v}" for v in range(1, nodes)]
    return DAG.from_edges(*edges)


def claims_selection(marks: np.ndarray) -> bool:
    """Tell whether a tail stands opposite to a tail or a circle."""
    return bool(((marks == TAIL) & (marks.T != ARROW)).any())


def main() -> None:
    """Count the PAGs that claim selection, by method and rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=50)
    chosen = parser.parse_args()
    for rows in ROWS:
        found = {"Lift": 0, "L-MARVEL": 0, "L-MARVEL, faithful": 0}
        for seed in range(chosen.trees):
            rng = np.random.default_rng([77, rows, seed])
            dag = tree(rng)
            model = LinearSEM.random(dag, seed=int(rng.integers(2**31)))
            data = model.sample(Study(dag), rows, seed=int(rng.integers(2**31)))
            methods = zip(found, (Lift(), LMarvel(), LMarvel(faithful=True)), strict=True)
            for name, method in methods:
                found[name] += claims_selection(np.asarray(method.fit(data).pag_.marks))
        print(f"{rows:>7,} rows:", ", ".join(f"{name} {n} of {chosen.trees}" for name, n in found.items()), flush=True)


if __name__ == "__main__":
    main()
