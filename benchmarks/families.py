"""Families of tables with known truth, for studies of what the package says of data that it was not tuned on.

Every table is drawn from (seed, family, number) alone. Rows cycle through 200, 500, 2,000 and 10,000; structures,
shares of hidden variables and strengths vary within a family. The networks with their published tables of chances come
from pgmpy (``pip install pgmpy --no-deps``); without it the family ``network`` is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmarvel import Dataset
from lmarvel.graph.bitsets import members
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.study import Study
from lmarvel.result.support.frequencies import reachable
from lmarvel.simulate import (
    RANGES,
    AdditiveSEM,
    DiscreteNetwork,
    LinearSEM,
    MixedSEM,
    bounded_parents,
    erdos_renyi,
    hide,
    load_model,
    load_network,
)
from lmarvel.simulate.sem import causal_order

ROWS = (200, 500, 2_000, 10_000)
STRUCTURES = ("insurance", "alarm", "ecoli70", "hailfinder", "mildew", "water")
NETWORKS = (
    *("asia", "sachs", "child", "insurance", "alarm", "cancer", "survey", "water"),
    *("hailfinder", "win95pts", "hepar2", "barley"),
)
MIXED = ("continuous", "continuous", "binary", "ordinal", "nominal", "count")


@dataclass(frozen=True)
class Drawn:
    """A table, and the study that it comes from."""

    family: str
    study: Study
    table: dict[str, Any]
    rows: int
    ordinal: tuple[str, ...] = ()

    def data(self) -> Dataset:
        """Return the table with what is known of its columns."""
        return Dataset.of(self.table, ordinal=list(self.ordinal))

    def causes(self) -> np.ndarray:
        """Return which variables of the table cause which in the true DAG, in the order of the table."""
        marks = self.study.dag.marks
        everything = reachable((marks == ARROW) & (marks.T == TAIL))
        at = [self.study.dag.index(name) for name in self.table]
        return everything[np.ix_(at, at)]


def draw(family: str, number: int, seed: int) -> Drawn:
    """Draw a table of a family."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), number])
    return _DRAW[family](family, number, rng)


def _graph(rng: np.random.Generator, latent: float | None = None, selection: int = 0, small: bool = False) -> Study:
    """Draw a graph of 8 to 20 variables (4 to 7 where small), of which a share is hidden."""
    p = int(rng.integers(4, 8) if small else rng.integers(8, 21))
    hidden = round(p * (float(rng.choice([0, 0.1, 0.2])) if latent is None else latent / (1 - latent)))
    size = p + hidden + selection
    dag = (
        bounded_parents(size, int(rng.integers(2, 5)), seed=_seed(rng))
        if rng.random() < 0.5
        else erdos_renyi(size, min(1.0, float(rng.choice([1.5, 2.0, 3.0])) / (size - 1)), seed=_seed(rng))
    )
    return hide(dag, hidden, selection, seed=_seed(rng))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _named(family: str, study: Study, values: np.ndarray) -> Drawn:
    return Drawn(family, study, dict(zip(study.observed, values.T, strict=True)), len(values))


# --- straight lines ---------------------------------------------------------------------------------------


def _linear(family: str, number: int, rng: np.random.Generator) -> Drawn:
    selection = {"selected": 1 + int(rng.integers(2))}.get(family, 0)
    study = _graph(rng, 0.3 if family == "many hidden" else None, selection, family == "small")
    model = LinearSEM.random(study.dag, str(rng.choice(list(RANGES))), seed=_seed(rng))
    return _named(family, study, model.sample(study, ROWS[number % 4], seed=_seed(rng)))


def _paper(family: str, number: int, rng: np.random.Generator) -> Drawn:
    dag = load_network(STRUCTURES[number // 4 % len(STRUCTURES)])
    study = hide(dag, round(0.08 * len(dag)), round(0.03 * len(dag)) * (number % 2), seed=_seed(rng))
    model = LinearSEM.random(dag, str(rng.choice(list(RANGES))), seed=_seed(rng))
    return _named(family, study, model.sample(study, ROWS[number % 4], seed=_seed(rng)))


def _scales(family: str, number: int, rng: np.random.Generator) -> Drawn:
    """Linear in what is behind, and each column on a scale of its own: as it is, exponential, cubed, or counts."""
    study = _graph(rng)
    values = LinearSEM.random(study.dag, seed=_seed(rng)).sample(study, ROWS[number % 4], seed=_seed(rng))
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    scales = (lambda x: x, lambda x: np.exp(1.2 * x), lambda x: x**3, lambda x: np.round(np.exp(x + 1)))
    chosen = [scales[int(rng.integers(4))](column) for column in values.T]
    return _named(family, study, np.column_stack(chosen))


# --- curves -----------------------------------------------------------------------------------------------

_ADDITIVE = {
    "skewed": {"noise": "exponential"},
    "heavy-tailed": {"noise": "student-t"},
    "tanh": {"function": "tanh"},
    "signed square": {"function": "quadratic"},
    "sine": {"function": "sine"},
}


def _additive(family: str, number: int, rng: np.random.Generator) -> Drawn:
    study = _graph(rng)
    model = AdditiveSEM.random(study.dag, seed=_seed(rng), **_ADDITIVE[family])
    return _named(family, model.truth(study), model.sample(study, ROWS[number % 4], seed=_seed(rng)))


def _curved(family: str, number: int, rng: np.random.Generator) -> Drawn:
    """Draw squares, straight lines with a bend, products of two causes, or noise that grows with a cause."""
    study, n = _graph(rng), ROWS[number % 4]
    values = np.zeros((n, len(study.dag)))
    for v in causal_order(study.dag):
        parents, noise = members(study.dag.masks.parents[v]), rng.normal(size=n)
        scaled = [(values[:, u] - values[:, u].mean()) / values[:, u].std() for u in parents]
        for i, x in enumerate(scaled):
            weight = float(rng.uniform(0.5, 1) * rng.choice([-1, 1]))
            if family == "square":
                values[:, v] += weight * (x**2 - 1) / 1.4
            elif family == "bend":
                values[:, v] += weight * x + 0.4 * x**2
            elif family == "product" and len(scaled) > 1:
                values[:, v] += 0.7 * weight * x + 0.5 * x * scaled[(i + 1) % len(scaled)]
            else:
                values[:, v] += weight * x
                noise = noise * (0.5 + np.abs(x)) / 1.3 if family == "unequal noise" else noise
        values[:, v] += noise
    return _named(family, study, values[:, [study.dag.index(name) for name in study.observed]])


# --- categories -------------------------------------------------------------------------------------------


def _categories(family: str, number: int, rng: np.random.Generator) -> Drawn:
    if family == "network":
        model = load_model(NETWORKS[number // 3 % len(NETWORKS)]).model
        hidden = round(len(model.dag) * float(rng.choice([0, 0.1, 0.2])))
        study, n = hide(model.dag, hidden, 0, seed=_seed(rng)), ROWS[1:][number % 3]
    else:
        study, n = _graph(rng), ROWS[number % 4]
        model = DiscreteNetwork.random(study.dag, int(rng.integers(2, 4)), 1.0, seed=_seed(rng))
    values = model.sample(study, n, seed=_seed(rng))
    varied = [j for j in range(values.shape[1]) if np.bincount(values[:, j]).max() < n]
    constant = [name for j, name in enumerate(study.observed) if j not in varied]
    study = Study(study.dag, latent=(*study.latent, *constant)) if constant else study
    labels = np.array([f"c{k}" for k in range(int(values.max()) + 1)])
    return _named(family, study, labels[values[:, varied]])


def _mixed(family: str, number: int, rng: np.random.Generator) -> Drawn:
    study = _graph(rng)
    model = MixedSEM.random(study.dag, MIXED, levels=3, seed=_seed(rng))
    table = model.sample(study, ROWS[number % 4], seed=_seed(rng))
    return Drawn(family, model.truth(study), table, ROWS[number % 4])


def _conditional(family: str, number: int, rng: np.random.Generator) -> Drawn:
    """Draw conditional Gaussian tables: lines and means of numbers differ between the categories of their other causes.

    The chances of a category depend on each combination of its causes, of which numbers count as low, middle and high.
    """
    study, n = _graph(rng), ROWS[number % 4]
    sizes = [int(rng.integers(2, 5)) if rng.random() < 0.5 else 0 for _ in study.dag.names]  # 0: a number
    values, codes = np.zeros((2, n, len(study.dag)))
    for v in causal_order(study.dag):
        parents = list(members(study.dag.masks.parents[v]))
        cell = np.zeros(n, dtype=np.int64)
        for u in parents:
            if sizes[u] or sizes[v]:
                cell = cell * (sizes[u] or 3) + codes[:, u].astype(np.int64)
        cells = int(cell.max()) + 1
        if sizes[v]:
            chances = np.cumsum(rng.dirichlet(np.ones(sizes[v]), cells), axis=1)[:, :-1]
            codes[:, v] = (rng.random(n)[:, None] > chances[cell]).sum(axis=1)
            continue
        values[:, v] = rng.normal(size=cells)[cell] + rng.uniform(0.7, 1.2) * rng.normal(size=n)
        for u in parents:
            if not sizes[u]:
                slopes = rng.uniform(0.5, 1.5, cells) * rng.choice([-1, 1])
                values[:, v] += slopes[cell] * (values[:, u] - values[:, u].mean()) / values[:, u].std()
        codes[:, v] = np.digitize(values[:, v], np.quantile(values[:, v], [1 / 3, 2 / 3]))
    at = {name: study.dag.index(name) for name in study.observed}
    table = {
        name: np.array([f"c{code:.0f}" for code in codes[:, v]]) if sizes[v] else values[:, v] for name, v in at.items()
    }
    constant = [name for name, column in table.items() if (column == column[0]).all()]
    study = Study(study.dag, latent=(*study.latent, *constant)) if constant else study
    return Drawn(family, study, {name: table[name] for name in table if name not in constant}, n)


# --- orders and counts ------------------------------------------------------------------------------------


def _ordinal(family: str, number: int, rng: np.random.Generator) -> Drawn:
    """Draw 3 to 7 categories that are cut from linear Gaussian variables, or act themselves, beside numbers or not.

    Cuts and causes take turns for each number of rows, and so do tables with and without numbers.
    """
    study, n, kinds = _graph(rng), ROWS[number % 4], int(rng.integers(3, 8))
    share = 1.0 if number // 8 % 2 else 0.5
    which = {name: "ordinal" if rng.random() < share else "continuous" for name in study.dag.names}
    if number // 4 % 2:
        model = MixedSEM.random(study.dag, which, levels=kinds, seed=_seed(rng))
        table = model.sample(study, n, seed=_seed(rng))
    else:
        values = LinearSEM.random(study.dag, seed=_seed(rng)).sample(study, n, seed=_seed(rng))
        table = dict(zip(study.observed, values.T, strict=True))
        for name in (name for name in table if which[name] == "ordinal"):
            shares = np.cumsum(0.4 / kinds + 0.6 * rng.dirichlet(np.full(kinds, 3.0)))[:-1]
            table[name] = np.digitize(table[name], np.quantile(table[name], shares))
    return Drawn(family, study, table, n, tuple(name for name in table if which[name] == "ordinal"))


def _counts(family: str, number: int, rng: np.random.Generator) -> Drawn:
    """Draw counts with log links, Poisson or negative binomial, beside numbers or not; causes act as they are."""
    study, n = _graph(rng), ROWS[number % 4]
    counted = rng.random(len(study.dag)) < (1.0 if number // 8 % 2 else 0.5)
    values = np.zeros((n, len(study.dag)))
    for v in causal_order(study.dag):
        score = np.zeros(n)
        for u in members(study.dag.masks.parents[v]):
            x = values[:, u] - values[:, u].mean()
            score += rng.uniform(0.5, 1) * rng.choice([-1, 1]) * x / (x.std() or 1.0)
        if counted[v]:
            mean = np.exp(np.minimum(rng.uniform(0.5, 2) + 0.6 * score, 6))
            values[:, v] = rng.poisson(mean * (rng.gamma(2, 0.5, n) if number // 4 % 2 else 1.0))
        else:
            values[:, v] = score + rng.normal(size=n)
    return _named(family, study, values[:, [study.dag.index(name) for name in study.observed]])


_DRAW: dict[str, Callable[[str, int, np.random.Generator], Drawn]] = {
    "paper": _paper,
    **dict.fromkeys(("random", "small", "many hidden", "selected"), _linear),
    **dict.fromkeys(_ADDITIVE, _additive),
    "scales": _scales,
    **dict.fromkeys(("square", "bend", "product", "unequal noise"), _curved),
    **dict.fromkeys(("network", "categories"), _categories),
    "mixed": _mixed,
    "ordinal": _ordinal,
    "counts": _counts,
    "conditional": _conditional,
}
FAMILIES = tuple(_DRAW)
