"""Data for the benchmarks, by the package's simulators: linear Gaussian models with latent and selection variables."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lmarvel.experiments.reproduce import EXPERIMENTS
from lmarvel.graph.kinds import DAG
from lmarvel.simulate import NETWORKS, LinearSEM, Study, erdos_renyi, hide, load_network

# Observed, latent and selection variables of each structure in the paper's tables.
STRUCTURES = {
    s.structure: (s.observed, s.latent, s.selection)
    for name in ("table1", "table2")
    for s in EXPERIMENTS[name].settings
}


class Sample(NamedTuple):
    data: np.ndarray
    study: Study


def structures(folder: Path | None) -> dict[str, DAG]:
    """Return the structures of the paper; those that the package does not have come from a folder, if there is one."""
    found = {}
    for name in STRUCTURES:
        if name in NETWORKS:
            found[name] = load_network(name)
        elif folder is not None:
            found[name] = load_network(folder / f"{name}.csv")
    return found


def draw(seed: list[int], dag: DAG, latent: int, selection: int, rows: int) -> Sample:
    """Draw from P(O | S): weights in ±(0.5, 1), noise in (sqrt 0.5, 1), exact conditioning on S."""
    roles, parameters, values = np.random.SeedSequence(seed).spawn(3)
    study = hide(dag, latent, selection, seed=roles)
    return Sample(LinearSEM.random(dag, seed=parameters).sample(study, rows, seed=values), study)


def random_data(seed: int, observed: int, rows: int) -> np.ndarray:
    """Draw from a random DAG with a mean degree of 2, of which a tenth of the variables is latent."""
    n = round(observed / 0.9)
    return draw([seed], erdos_renyi(n, 2 / (n - 1), seed=seed), n - observed, 0, rows).data
