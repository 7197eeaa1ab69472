"""The demonstration: a real table, and a simulated study whose truth is known.

The study has a hidden cause (Genotype) and a selected sample (only those who volunteered).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.oracle import MSeparation
from lmarvel.datasets import CARS
from lmarvel.estimators import LMarvel
from lmarvel.graph.kinds import DAG
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.result import Discovery

STUDY = DAG.from_edges(
    "Diet --> Cholesterol",
    "Genotype --> Cholesterol",
    "Genotype --> HeartDisease",
    "Stress --> HeartDisease",
    "HeartDisease --> Fatigue",
    "Age --> Fatigue",
    "Age --> Volunteered",
    "Education --> Volunteered",
)
LATENT = ("Genotype",)
SELECTION = ("Volunteered",)


def demonstration() -> Iterator[str]:
    """Yield the lines of the whole demonstration."""
    yield "1. A REAL TABLE: six measurements of 392 cars (bundled; Auto MPG, UCI)"
    yield ""
    yield from _edges(LMarvel().fit(CARS).result_)
    yield ""
    yield "   Horsepower and weight make a car quick or slow, not the other way round, and nothing else measured here"
    yield "   does so directly. Fuel economy, weight and engine show as selection: they were traded against each other"
    yield "   in the cars that were built and sold. Marks are less firm than edges: with the model year as a seventh"
    yield "   column both edges at SecondsTo60 stay, but their marks turn to circles."
    yield ""
    yield "2. A SIMULATED STUDY whose truth is known. Genotype was not measured; only those who volunteered are in it."
    yield ""
    yield from (f"   {edge}" for edge in STUDY.edges())
    data = simulate_study(rows=4000, seed=1)
    found = LMarvel().fit(data).result_
    yield ""
    yield f"   What L-MARVEL finds in {found.settings['rows']:,} rows with {found.stats.n_tests} independence tests:"
    yield ""
    yield from _edges(found)
    yield ""
    yield f"   Variables were removed in the order {', '.join(found.removal_order)}."
    oracle = LMarvel(test=MSeparation(STUDY, LATENT, SELECTION)).fit()
    truth = mag_to_pag(STUDY.project(LATENT, SELECTION))
    yield f"   Equal to the PAG of the true graph: {_yes(found.pag == truth)}."
    yield f"   With a perfect test instead of data: {_yes(oracle.pag_ == truth)}."


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _edges(found: Discovery) -> Iterator[str]:
    for edge in found.pag.edges():
        yield f"   {found.describe(edge.a, edge.b)}"
        yield f"      from: {found.origin(edge.a, edge.b)}"


def simulate_study(rows: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Draw from the study: every variable is the sum of its parents and noise, given the selection variable.

    Conditioning a Gaussian on a value of S shifts the others by a constant and takes the part explained by S out
    of them, so that part, known from the model, is subtracted.
    """
    rng = np.random.default_rng(seed)
    n = len(STUDY)
    weights = np.zeros((n, n))
    for edge in STUDY.edges():
        weights[STUDY.index(edge.b), STUDY.index(edge.a)] = 1.0
    mixing = np.linalg.inv(np.eye(n) - weights)
    covariance = mixing @ mixing.T
    sample = rng.standard_normal((rows, n)) @ mixing.T
    chosen = [STUDY.index(name) for name in SELECTION]
    slope = np.linalg.solve(covariance[np.ix_(chosen, chosen)], covariance[chosen])
    sample -= sample[:, chosen] @ slope
    return {name: sample[:, i] for i, name in enumerate(STUDY.names) if name not in (*LATENT, *SELECTION)}


def main() -> None:
    """Print the demonstration."""
    print("\n".join(demonstration()))


if __name__ == "__main__":
    main()
