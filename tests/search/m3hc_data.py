"""What the tests of M3HC share: tables whose truth is known, and the search on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lmarvel import FisherZ
from lmarvel.ci.ledger import Ledger
from lmarvel.search.m3hc import M3HCResult, m3hc
from tests.generators import random_study
from tests.score.models import Model


def study_data(seed: int, n: int, rows: int = 500, selection: int = 0) -> FisherZ:
    """Return data from the MAG of a random study."""
    rng = np.random.default_rng(seed)
    mag = random_study(rng, n, latent=3, selection=selection, degree=2.5).mag
    return FisherZ(rng.multivariate_normal(np.zeros(n), Model(mag).random_sigma(rng), size=rows))


def learn(test: FisherZ, boundaries: list[set[int]] | None = None, **options: Any) -> M3HCResult:
    return m3hc(Ledger(test), boundaries, test.moments, **options)


def drawn(rows: int, seed: int, **equations: object) -> FisherZ:
    """Return a table: each variable is a function of those before it, plus noise. U is not measured."""
    rng = np.random.default_rng(seed)
    table: dict[str, np.ndarray] = {}
    for name, equation in equations.items():
        table[name] = equation(table) + rng.normal(size=rows)  # type: ignore[operator]
    return FisherZ({name: column for name, column in table.items() if not name.startswith("U")})
