"""How often the answers about effects hold, from table to interval, against a known truth.

Random models of 8 variables, 2 of them unmeasured, whose true PAG identifies an effect: linear with normal noise
(``gaussian``), every column cut into two categories (``binary``), or four in ten of them (``mixed``). ``Auto`` learns
from each table. Asked are up to two effects that the learned graph identifies, and one that the true one does. Counted
are intervals that hold the truth, with and without a caution, and the claims of ``causes`` that are false:

    python intervals.py --kind gaussian --rows 2000 --tables 40 --seed 0
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from lmarvel import DAG, Auto, Discovery, all_effects, effect
from lmarvel.effects import Effect
from lmarvel.orient.equivalence import mag_to_pag

VARIABLES, UNMEASURED, PARENTS = 8, 2, 2.5
KINDS = {"gaussian": 0.0, "binary": 1.0, "mixed": 0.4}  # the share of columns with two categories
SIMULATED = 400_000  # rows behind a true effect
SLACK = 1e-3  # of the simulated truth
IDENTIFIED = ("adjustment", "formula")


class Model:
    """A random model: coefficients, what is measured, and which columns have two values."""

    def __init__(self, rng: np.random.Generator, kind: str) -> None:
        self.kind = kind
        while True:
            there = np.triu(rng.random((VARIABLES, VARIABLES)) < PARENTS / (VARIABLES - 1), 1)
            size = rng.uniform(0.3, 0.9, there.shape) * rng.choice([-1, 1], there.shape)
            self.weights = np.where(there, size, 0.0)
            hidden = rng.permutation(VARIABLES)[:UNMEASURED].tolist()
            self.measured = [v for v in range(VARIABLES) if v not in hidden]
            self.cut = [v for v in range(VARIABLES) if rng.random() < KINDS[kind]]
            dag = DAG.from_edges(
                *(f"V{a} --> V{b}" for a, b in np.argwhere(there).tolist()), nodes=[f"V{v}" for v in range(VARIABLES)]
            )
            pag = mag_to_pag(dag.project(latent=[f"V{v}" for v in hidden]))
            self.identified = [(one.x, one.y) for one in all_effects(pag) if one.status in IDENTIFIED]
            if self.identified:
                break
        self.causes = there | np.eye(VARIABLES, dtype=bool)
        for _ in range(VARIABLES):
            self.causes = self.causes @ self.causes

    def rows(self, rng: np.random.Generator, n: int, setting: tuple[int, float] | None = None) -> np.ndarray:
        """Return a table, or one in which a category is set, or a number raised."""
        values = np.zeros((n, VARIABLES))
        for v in range(VARIABLES):
            coded = 2 * values - 1 if self.kind == "binary" else values
            values[:, v] = coded @ self.weights[:, v] + rng.normal(size=n)
            if v in self.cut:
                values[:, v] = values[:, v] > 0
            if setting is not None and setting[0] == v:
                values[:, v] = setting[1] if v in self.cut else values[:, v] + setting[1]
        return values

    def effect(self, x: str, y: str) -> float:
        """Return the effect of the second category, or the average slope in a number, from the same noise twice."""
        cause, outcome = int(x[1:]), int(y[1:])
        ends = (1.0, 0.0) if cause in self.cut else (0.1, -0.1)
        high, low = (self.rows(np.random.default_rng(7), SIMULATED, (cause, to))[:, outcome].mean() for to in ends)
        return float((high - low) / (ends[0] - ends[1]))


def asked(model: Model, rng: np.random.Generator, n: int, resamples: int) -> tuple[Discovery, list[Effect]]:
    """Return what is learned from one table, and answers."""
    rows = model.rows(rng, n)
    table = {f"V{v}": rows[:, v].astype(int) if v in model.cut else rows[:, v] for v in model.measured}
    found = Auto().fit(table).result_
    learned = [(one.x, one.y) for one in all_effects(found) if one.status in IDENTIFIED]
    pairs = [learned[k] for k in rng.permutation(len(learned))[:2]]
    pairs += [model.identified[rng.integers(len(model.identified))]]
    return found, [effect(found, x, y, table, again=resamples) for x, y in dict.fromkeys(pairs)]


def count_claims(found: Discovery, model: Model, counts: Counter[str]) -> None:
    """Count what ``causes`` claims, and what of it is false."""
    for y in found.pag.names:
        for cause in found.causes(y):
            if cause.status != "possible" and not cause.cautions:
                true = bool(model.causes[int(cause.name[1:]), int(y[1:])]) == (cause.status == "definite")
                kind = "causes" if cause.status == "definite" else "does not cause"
                counts[kind] += 1
                counts[f"{kind}, false"] += not true


def count_interval(told: Effect, truth: float, counts: Counter[str]) -> None:
    """Count one answer with a number."""
    (one,) = told.estimates
    kind = "with a caution" if told.cautions else "without a caution"
    counts[kind] += 1
    counts[f"{kind}, graph as given"] += one.in_graph[0] - SLACK <= truth <= one.in_graph[1] + SLACK
    counts[f"{kind}, learned again"] += one.low - SLACK <= truth <= one.high + SLACK
    counts[f"{kind}, includes 0"] += one.low <= 0 <= one.high


def main() -> None:
    """Print how many intervals hold the truth, and how many claims are false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, default="gaussian")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--resamples", type=int, default=50)
    parser.add_argument("--seed", type=int, default=120)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.tables):
        rng = np.random.default_rng([seed, options.rows, list(KINDS).index(options.kind)])
        model = Model(rng, options.kind)
        found, answers = asked(model, rng, options.rows, options.resamples)
        count_claims(found, model, counts)
        for told in answers:
            if len(told.estimates) == 1:
                count_interval(told, model.effect(told.identified.x, told.identified.y), counts)
    print(f"{options.kind}, {options.rows:,} rows, {options.tables} tables")
    for kind in ("without a caution", "with a caution"):
        for how in ("graph as given", "learned again", "includes 0"):
            print(f"  {kind}, {how}: {counts[f'{kind}, {how}']} of {counts[kind]}")
    for kind in ("causes", "does not cause"):
        print(f"  '{kind}' without a caution: {counts[f'{kind}, false']} of {counts[kind]} false")


if __name__ == "__main__":
    main()
