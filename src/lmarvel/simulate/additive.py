"""Models with other noise than Gaussian and other functions than straight lines.

Given a selection variable such a model has no closed form, so the sample is selected as it is in life: a row is kept
where every selection variable is above its median. That event is a *child* of the selection variable. The truth of
such a sample is therefore :meth:`AdditiveSEM.truth`: each selection variable gets a child, which selects, and is
itself latent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark
from lmarvel.orient.study import Study
from lmarvel.simulate.graphs import Seed, check_count
from lmarvel.simulate.sem import LinearSEM, Ranges, causal_order
from lmarvel.text import counted

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]

# Every noise has mean 0 and variance 1 before it is scaled.
NOISES: Mapping[str, Draw] = {
    "gaussian": lambda rng, rows: rng.standard_normal(rows),
    "uniform": lambda rng, rows: rng.uniform(-np.sqrt(3), np.sqrt(3), rows),
    "laplace": lambda rng, rows: rng.laplace(0, np.sqrt(0.5), rows),
    "exponential": lambda rng, rows: rng.exponential(1, rows) - 1,
    "student-t": lambda rng, rows: rng.standard_t(5, rows) / np.sqrt(5 / 3),
}

FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "linear": lambda x: x,
    "tanh": lambda x: 2 * np.tanh(x),
    "sine": lambda x: 2 * np.sin(x),
    "quadratic": lambda x: x * np.abs(x) / 2,  # monotone: a plain square has no correlation with its cause
    "relu": lambda x: np.maximum(x, 0),
}

MAX_DRAWS = 1_000  # times the rows asked for


@dataclass(frozen=True)
class AdditiveSEM:
    """A model in which each variable is a sum of functions of its causes, plus noise of any kind.

    Parameters
    ----------
    linear : LinearSEM
        Structure, coefficients and sizes of the noise.
    noise : {"gaussian", "uniform", "laplace", "exponential", "student-t"}
        The kind of noise.
    function : {"linear", "tanh", "sine", "quadratic", "relu"}
        What each cause goes through before its coefficient.

    Examples
    --------
    >>> study = Study(DAG.from_edges("X --> S", "Y --> S"), selection=("S",))
    >>> model = AdditiveSEM.random(study.dag, noise="laplace", function="tanh", seed=0)
    >>> model.sample(study, rows=500, seed=1).shape
    (500, 2)
    >>> print(model.truth(study).pag)
    nodes: X Y
    X o-o Y
    """

    linear: LinearSEM
    noise: str = "gaussian"
    function: str = "linear"

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise ParameterError(f"unknown noise {self.noise!r}: choose from {', '.join(NOISES)}")
        if self.function not in FUNCTIONS:
            raise ParameterError(f"unknown function {self.function!r}: choose from {', '.join(FUNCTIONS)}")

    @classmethod
    def random(
        cls,
        dag: DAG,
        ranges: Ranges | str = "benchmark",
        noise: str = "gaussian",
        function: str = "linear",
        *,
        seed: Seed,
    ) -> AdditiveSEM:
        """Draw coefficients and sizes of noise as :meth:`LinearSEM.random` does."""
        return cls(LinearSEM.random(dag, ranges, seed=seed), noise, function)

    def truth(self, study: Study) -> Study:
        """Return the study that a sample comes from: selection by a child of each selection variable."""
        return select_by_children(study)

    def sample(self, study: Study, rows: int, *, seed: Seed) -> Array:
        """Draw rows of the observed variables, kept where every selection variable is above its median."""
        check_count("rows", rows, 1)
        study.check_model(self.linear.dag)
        rng = np.random.default_rng(seed)
        chosen = [study.dag.index(v) for v in study.selection]
        seen = [study.dag.index(v) for v in study.observed]
        limits = np.median(self._draw(rng, 20_000)[:, chosen], axis=0) if chosen else np.empty(0)
        passed, tried = [np.empty((0, len(seen)))], 0
        while sum(map(len, passed)) < rows:
            drawn = self._draw(rng, rows)
            tried += rows
            passed.append(drawn[(drawn[:, chosen] > limits).all(axis=1)][:, seen])
            if tried > MAX_DRAWS * rows and sum(map(len, passed)) * MAX_DRAWS < tried:
                selecting = counted(len(chosen), "selection variable")
                raise ParameterError(f"fewer than one row in {MAX_DRAWS:,} passes {selecting}: choose fewer")
        return np.ascontiguousarray(np.concatenate(passed)[:rows])

    def _draw(self, rng: np.random.Generator, rows: int) -> Array:
        """Draw all variables."""
        model, function = self.linear, FUNCTIONS[self.function]
        drawn = np.empty((rows, len(model.dag)))
        with np.errstate(over="ignore", invalid="ignore"):
            for child in causal_order(model.dag):
                drawn[:, child] = NOISES[self.noise](rng, rows) * model.deviations[child]
                for parent in np.flatnonzero(model.weights[child]):
                    drawn[:, child] += model.weights[child, parent] * function(drawn[:, parent])
        if not np.isfinite(drawn).all():
            raise ParameterError(
                f"the values grow beyond all numbers along chains of {self.function} effects: choose a sparser graph,"
                " smaller coefficients or another function"
            )
        return drawn


def select_by_children(study: Study) -> Study:
    """Return the study in which a new child of each selection variable selects, and the variable itself is latent."""
    children = {name: f"{name} kept" for name in study.selection}
    for name, new in children.items():
        while new in study.dag.names:
            new += "'"
        children[name] = new
    edges = [Edge(name, new, Mark.TAIL, Mark.ARROW) for name, new in children.items()]
    dag = DAG.from_edges(*study.dag.edges(), *edges, nodes=(*study.dag.names, *children.values()))
    return Study(dag, (*study.latent, *study.selection), tuple(children.values()))
