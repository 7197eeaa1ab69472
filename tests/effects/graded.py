"""Small results with random grades, made without learning."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from lmarvel import PAG, Discovery, Statistics, mag_to_pag
from lmarvel.deferred import Deferred
from lmarvel.graph.marks import CIRCLE, NONE
from lmarvel.result.support.check import Implied, ModelCheck
from lmarvel.result.support.frequencies import Stability
from tests.generators import random_study

RESAMPLES = 40


def graded(pag: PAG, resamples: list[PAG], implied: tuple[Implied, ...] = (), **parts: Any) -> Discovery:
    """Return a result as if from 500 rows, with the graphs of resamples and the independences that were tested."""
    check = ModelCheck(0.01, tuple(sorted(implied, key=lambda one: one.pvalue)), pairs=len(implied))
    settings = {"rows": 500, "test": "fisher-z", **parts.pop("settings", {})}
    return Discovery(
        pag,
        {},
        {},
        Statistics({}, {}),
        settings=settings,
        stability=Stability.of(resamples),
        later_check=Deferred.of(check),
        **parts,
    )


def random_result(rng: np.random.Generator, observed: int = 6, selection: int = 0) -> Discovery:
    """Return a result with a legal PAG whose parts recur in random shares of the resamples."""
    study = random_study(
        rng, observed, latent=int(rng.integers(3)), selection=selection, degree=float(rng.uniform(1.5, 3.5))
    )
    pag = mag_to_pag(study.mag)
    edges, ends = rng.choice((0, 0.06, 0.3), (2, observed, observed), p=(0.7, 0.2, 0.1))
    implied = tuple(
        Implied(pag.names[x], pag.names[y], frozenset(), float(rng.choice((1e-9, 0.005, 0.5), p=(0.01, 0.06, 0.93))))
        for x, y in combinations(range(observed), 2)
        if pag.marks[x, y] == NONE
    )
    return graded(pag, [varied(rng, pag, edges, ends) for _ in range(RESAMPLES)], implied)


def varied(rng: np.random.Generator, pag: PAG, edges: Any, ends: Any) -> PAG:
    """Return the graph with edges put in or left out, and marks made circles, each with its own chance."""
    n = len(pag)
    swapped = np.triu(rng.random((n, n)) < edges, 1)
    swapped |= swapped.T
    marks = np.where(swapped, np.where(pag.marks == NONE, CIRCLE, NONE), pag.marks)
    marks = np.where((marks != NONE) & (rng.random((n, n)) < ends), CIRCLE, marks)
    return PAG._trusted(pag.names, marks.astype(np.int8))
