"""causal-learn: FCI with Fisher's z at level 0.01, and BOSS and GRaSP by BIC, whose DAGs are read as PAGs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None  # any
PACKAGES = {"causal-learn": "0.1.4.8"}
METHODS = ("boss", "grasp", "fci")
DAGS = ("boss", "grasp")  # what these learn is a CPDAG, to be read as a PAG
MARKS = {0: 0, 2: 1, 1: 2, -1: 3}


def prepare(method: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a search, with everything imported."""
    if method == "fci":
        from causallearn.search.ConstraintBased.FCI import fci

        return lambda rows: marks(fci(rows, "fisherz", 0.01, show_progress=False)[0].graph)
    if method == "boss":
        from causallearn.search.PermutationBased.BOSS import boss

        return lambda rows: marks(boss(rows, verbose=False).graph)
    from causallearn.search.PermutationBased.GRaSP import grasp

    return lambda rows: marks(grasp(rows, verbose=False).graph)


def marks(theirs: np.ndarray) -> np.ndarray:
    """Return marks with those at j in column j; theirs stand in row j."""
    return np.vectorize(MARKS.__getitem__)(theirs.T.astype(int))
