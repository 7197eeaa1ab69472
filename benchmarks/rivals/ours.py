"""This package, in the interpreter that runs the comparison. What each edge is worth waits until somebody looks.

``lift-linear`` is told that everything is linear, as the rivals assume; ``lift`` and ``auto`` find that out first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PYTHON = None
PACKAGES = {"lmarvel": ""}  # the one that is here: nothing is installed
METHODS = ("lift", "lift-linear", "auto", "lmarvel")
DAGS = ()


def prepare(method: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a search, with everything imported."""
    from lmarvel import Auto, Lift, LMarvel

    learner = {"lift": Lift(), "lift-linear": Lift(test="fisher-z"), "auto": Auto(), "lmarvel": LMarvel()}[method]
    return lambda rows: learner.fit(rows).result_.pag.marks
