"""This package, in the interpreter that runs the comparison. What each edge is worth waits until somebody looks.

``lift-linear`` is told that everything is linear, as the rivals assume; ``lift`` and ``auto`` find that out first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None
PACKAGES = {"lmarvel": ""}  # the one that is here: nothing is installed
METHODS = ("auto", "lift", "lmarvel")
TITLES = {"auto": "**auto**", "lift": "**Lift**", "lmarvel": "**L-MARVEL**"}
DAGS = ()


def prepare(method: str) -> Callable[[np.ndarray, tuple[str, ...]], np.ndarray]:
    """Return a search, with everything imported."""
    from lmarvel import Auto, Dataset, Lift, LMarvel

    learner = {"auto": Auto, "lift": Lift, "lmarvel": LMarvel}[method]

    def run(values: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
        columns = {}
        for j, kind in enumerate(kinds):
            text = kind == "category"
            columns[f"X{j}"] = np.array([f"c{v:.0f}" for v in values[:, j]]) if text else values[:, j]
        ordinal = [f"X{j}" for j, kind in enumerate(kinds) if kind == "ordinal"]
        pag = learner().fit(Dataset.of(columns, ordinal=ordinal)).result_.pag
        at = [pag.names.index(name) for name in columns]
        return pag.marks[np.ix_(at, at)]

    return run
