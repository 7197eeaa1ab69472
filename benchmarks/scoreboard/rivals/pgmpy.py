"""pgmpy: hill climbing by BIC, and PC at level 0.01, whose graphs are read as PAGs.

Scores and tests are those that it takes by default for categories, numbers, or both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None
PACKAGES = {"pgmpy": "1.1.2"}
METHODS = ("hill-climb", "pc")
TITLES = {"hill-climb": "pgmpy hill climbing as a PAG", "pc": "pgmpy PC as a PAG"}
DAGS = METHODS


def prepare(method: str) -> Callable[[np.ndarray, tuple[str, ...]], np.ndarray]:
    """Return a search, with everything imported."""
    import pandas as pd
    from pgmpy.causal_discovery import PC, HillClimbSearch

    def run(values: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
        frame = pd.DataFrame(values, columns=[f"X{j}" for j in range(len(kinds))])
        for name, kind in zip(frame, kinds, strict=True):
            if kind == "category":
                frame[name] = frame[name].astype(int).astype("category")
        suffix = {"category": "d", "number": "g", "ordinal": "g"}
        letters = {suffix[kind] for kind in kinds}
        score = f"bic-{letters.pop() if len(letters) == 1 else 'cg'}"
        if method == "pc":
            search = PC(variant="stable", significance_level=0.01, show_progress=False, n_jobs=1)
        else:
            search = HillClimbSearch(scoring_method=score, show_progress=False, return_type="dag")
        graph = search.fit(frame).causal_graph_
        place, marks = {name: j for j, name in enumerate(frame)}, np.zeros((len(kinds),) * 2, dtype=np.int8)
        undirected = {frozenset(edge) for edge in getattr(graph, "undirected_edges", ())}
        for a, b in graph.edges():
            marks[place[b], place[a]] = 3
            marks[place[a], place[b]] = 3 if frozenset((a, b)) in undirected else 2
        return marks

    return run
