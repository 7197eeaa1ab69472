"""tetrad-port: the searches of Tetrad in C++. ``boss`` learns a DAG, which is read as a PAG: published as LV-Dumb.

Penalty 2 and level 0.01 served it better than its defaults, penalty 1 and level 0.05: on linear tables of 20, 50, 100
variables (seed 101) BOSS-FCI had mark F1 1.00, 1.00 and .99 with them, and 1.00, .75 and .68 without. It has tests and
scores of numbers only: categories are their codes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = "3.12"
PACKAGES = {"tetrad-port": "0.3.1"}
METHODS = ("boss", "boss-fci", "gfci", "grasp-fci")
TITLES = {
    "boss": "tetrad-port BOSS as a PAG (LV-Dumb)",
    "boss-fci": "tetrad-port BOSS-FCI",
    "gfci": "tetrad-port GFCI",
    "grasp-fci": "tetrad-port GRaSP-FCI",
}
DAGS = ("boss",)  # what these learn is a CPDAG, to be read as a PAG
LEFT = {"<": 2, "o": 1, "-": 3}
RIGHT = {">": 2, "o": 1, "-": 3}


def prepare(method: str) -> Callable[[np.ndarray, tuple[str, ...]], np.ndarray]:
    """Return a search, with everything imported."""
    import pandas as pd
    from tetrad_port import TetradPort

    search = getattr(TetradPort(), f"run_{method.replace('-', '_')}")
    settings = {"penalty_discount": 2.0} | ({} if method in DAGS else {"alpha": 0.01})

    def run(values: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
        found, _ = search(pd.DataFrame(values, columns=[str(i) for i in range(values.shape[1])]), **settings)
        return marks(found["edges"], values.shape[1])

    return run


def marks(edges: list[str], size: int) -> np.ndarray:
    """Return the marks of edges such as ``3 o-> 7``."""
    matrix = np.zeros((size, size), dtype=np.int8)
    for edge in edges:
        left, arrow, right = edge.split()[:3]
        matrix[int(right), int(left)] = LEFT[arrow[0]]
        matrix[int(left), int(right)] = RIGHT[arrow[-1]]
    return matrix
