"""causal-learn: FCI at level 0.01, and BOSS and GRaSP, whose DAGs are read as PAGs.

BOSS read so is published as LV-Dumb (also called LV-Heuristic). Tables of categories alone have the G-squared test and
the score BDeu, all others Fisher's z and BIC, with the codes of categories as numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None  # any
PACKAGES = {"causal-learn": "0.1.4.8"}
METHODS = ("boss", "grasp", "fci")
TITLES = {
    "boss": "causal-learn BOSS as a PAG (LV-Dumb)",
    "grasp": "causal-learn GRaSP as a PAG",
    "fci": "causal-learn FCI",
}
DAGS = ("boss", "grasp")  # what these learn is a CPDAG, to be read as a PAG
MARKS = np.array([3, 0, 2, 1])  # by their number plus 1: tail, none, arrowhead, circle


def prepare(method: str) -> Callable[[np.ndarray, tuple[str, ...]], np.ndarray]:
    """Return a search, with everything imported."""
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.search.PermutationBased.BOSS import boss
    from causallearn.search.PermutationBased.GRaSP import grasp

    def run(values: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
        discrete = set(kinds) == {"category"}
        if method == "fci":
            test = "gsq" if discrete else "fisherz"
            return marks(fci(values, test, 0.01, show_progress=False)[0].graph)
        search = boss if method == "boss" else grasp
        score = "local_score_BDeu" if discrete else "local_score_BIC_from_cov"
        return marks(search(values, score_func=score, verbose=False).graph)

    return run


def marks(theirs: np.ndarray) -> np.ndarray:
    """Return marks with those at j in column j; theirs stand in row j."""
    return MARKS[theirs.T.astype(int) + 1]
