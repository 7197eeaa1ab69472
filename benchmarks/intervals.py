"""How often intervals of effects hold the truth: with the learned graph taken as given, and over graphs learned again.

Random linear models of 8 variables, 2 of them unmeasured; with ``--categories``, some of the others are cut at 0. Lift
learns from each table, and up to two effects that its graph identifies by adjustment are asked for:

    python intervals.py --rows 500 --tables 80 --seed 120
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from lmarvel import Lift, all_effects, effect
from lmarvel.effects import Effect

VARIABLES, UNMEASURED, PARENTS, QUESTIONS = 8, 2, 2.5, 2


class Model:
    """A random model: coefficients, what is measured, and which columns have two values."""

    def __init__(self, rng: np.random.Generator, categories: bool) -> None:
        there = np.triu(rng.random((VARIABLES, VARIABLES)) < PARENTS / (VARIABLES - 1), 1)
        size = rng.uniform(0.3, 0.9, there.shape) * rng.choice([-1, 1], there.shape)
        self.weights = np.where(there, size, 0.0)
        self.measured = np.sort(rng.permutation(VARIABLES)[UNMEASURED:])
        self.cut = [v for v in self.measured if categories and rng.random() < 0.4]

    def rows(self, rng: np.random.Generator, n: int, setting: tuple[int, float] | None = None) -> np.ndarray:
        """Return a table, or one in which a variable is set."""
        values = np.zeros((n, VARIABLES))
        for v in range(VARIABLES):
            values[:, v] = values @ self.weights[:, v] + rng.normal(size=n)
            if v in self.cut:
                values[:, v] = values[:, v] > 0
            if setting is not None and setting[0] == v:
                values[:, v] = setting[1]
        return values

    def effect(self, x: int, y: int) -> float:
        """Return what one unit more of x does to y, from the same noise with and without it."""
        high, low = (self.rows(np.random.default_rng(7), 200_000, (x, value))[:, y].mean() for value in (1.0, 0.0))
        return float(high - low)


def asked(model: Model, rng: np.random.Generator, n: int, resamples: int) -> list[tuple[Effect, float]]:
    """Return answers of one table with the truth."""
    rows = model.rows(rng, n)
    table = {f"V{v}": rows[:, v].astype(int) if v in model.cut else rows[:, v] for v in model.measured}
    found = Lift().fit(table).result_
    pairs = [one for one in all_effects(found) if one.status == "adjustment"]
    answers = []
    for one in [pairs[k] for k in rng.permutation(len(pairs))[:QUESTIONS]]:
        told = effect(found, one.x, one.y, table, again=resamples)
        if len(told.estimates) == 1 and told.estimates[0].fixed is not None:
            answers.append((told, model.effect(int(one.x[1:]), int(one.y[1:]))))
    return answers


def main() -> None:
    """Print how many intervals hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--tables", type=int, default=80)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=120)
    parser.add_argument("--categories", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.tables):
        rng = np.random.default_rng(seed)
        model = Model(rng, options.categories)
        for told, truth in asked(model, rng, options.rows, options.resamples):
            (one,) = told.estimates
            kind = "with a caution" if told.cautions else "without a caution"
            slack = 1e-3  # of the simulated truth
            counts[kind] += 1
            counts[f"{kind}, graph as given"] += one.in_graph[0] - slack <= truth <= one.in_graph[1] + slack
            counts[f"{kind}, learned again"] += one.low - slack <= truth <= one.high + slack
    for kind in ("without a caution", "with a caution"):
        for how in ("graph as given", "learned again"):
            print(f"{kind}, {how}: {counts[f'{kind}, {how}']} of {counts[kind]}")


if __name__ == "__main__":
    main()
