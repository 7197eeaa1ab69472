"""rcd: the authors' L-MARVEL, with Fisher's z at level 0.01. It learns a skeleton only, so only that is compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None
PACKAGES = {"rcd": "0.2.1"}
METHODS = ("l-marvel",)
TITLES = {"l-marvel": "rcd L-MARVEL (skeleton only)"}
DAGS = ()
SKELETONS = METHODS  # these give no marks


def prepare(method: str) -> Callable[[np.ndarray, tuple[str, ...]], np.ndarray]:
    """Return a search, with everything imported."""
    import networkx as nx
    from rcd import l_marvel
    from rcd.utilities.ci_tests import fisher_z

    def test(x: int, y: int, given: list[int], table: np.ndarray) -> bool:
        return fisher_z(x, y, given, table, significance_level=0.01)

    def run(values: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
        graph = l_marvel.learn_and_get_skeleton(test, values)
        return (nx.to_numpy_array(graph, nodelist=sorted(graph)) > 0).astype(np.int8)

    return run
