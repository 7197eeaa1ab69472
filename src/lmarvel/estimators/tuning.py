"""The level of a method, or its penalty, from the data: which values to try, and what each is judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from lmarvel.budget.clock import current
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.errors import BudgetSpent, DataError, ParameterError
from lmarvel.estimators.bootstrap import bootstrap_method, check_can_be_drawn, check_settings
from lmarvel.estimators.discover import Settings, discover
from lmarvel.estimators.tune import ALPHAS, PENALTIES, WAYS, By, TuningPath, folds, gaussian_loss
from lmarvel.estimators.tune import tune as along
from lmarvel.graph.kinds import PAG
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.frequencies import Stability
from lmarvel.score.ricf import bic, ricf

DRAWS = 40  # tables that are drawn at each value, where stability decides
AUTO = "auto"
_USUAL = {"alpha": 0.01, "penalty": 2.0}
Method = TypeVar("Method", bound=Settings)


def deciding(method: Settings) -> str:
    """Return which parameter decides how many edges there are: the penalty of a search by score, else the level."""
    return "penalty" if "penalty" in method.get_params() else "alpha"


def tune(
    data: Any,
    method: Settings,
    by: By = "bic",
    values: Sequence[float] | None = None,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    draws: int = DRAWS,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> TuningPath:
    """Learn with several significance levels (with Lift: penalties), and report what changes and which one to take.

    Parameters
    ----------
    data : array, mapping, frame, path or Dataset
        The table.
    method : an estimator
        The method; its own level, or penalty, does not matter.
    by : {"bic", "held-out", "stability"}
        What decides: the BIC of the graph, which only a legal one has; the likelihood of rows that were left out; or
        whether resamples have the same edges.
    values : sequence of float, optional
        The values to try; 0.0001 to 0.1 for a level, 6 to 1 for a penalty.
    seed, n_jobs
        Random seed for folds and resamples, and number of workers.
    draws : int
        Number of resamples at each value, where stability decides.

    Examples
    --------
    >>> from lmarvel import LMarvel, tune
    >>> from lmarvel.datasets import CARS
    >>> path = tune(CARS, LMarvel(), by="stability", values=[0.001, 0.01], seed=1)
    >>> path.parameter, len(path.steps), path.value in (0.001, 0.01)
    ('alpha', 2, True)
    """
    if by not in WAYS:
        raise ParameterError(f"a value is chosen by one of {', '.join(WAYS)}, not {by!r}")
    check_settings(draws, seed, n_jobs, "draws")
    check_can_be_drawn(data, method)
    table = Dataset.of(data)
    method = _resolved(method, table)
    if by != "stability":
        _check_numbers(table, by)
    path = _Path(method, deciding(method), table, seed, n_jobs, draws)
    tried = values or (PENALTIES if path.parameter == "penalty" else ALPHAS)
    for value in tried:
        path.at(value).check_parameters()
    numbers = not any(kind is not Kind.CONTINUOUS for kind in table.kinds)
    return along(
        path.parameter,
        tried,
        path.learn,
        by=by,
        bic=path.bic if numbers or by == "bic" else None,
        held_out=path.held_out if by == "held-out" else None,
        stability=path.stability if by == "stability" else None,
        progress=progress,
    )


def settled(method: Method, table: Dataset, progress: Callable[[int, int], None]) -> tuple[Method, str | None]:
    """Return a method with values in place of "auto", and why these; the method itself where it has none.

    The BIC chooses, and where it cannot, since columns have levels or no graph is legal, whether edges recur.
    """
    given = method.get_params()
    left_open = [name for name in _USUAL if given.get(name) == AUTO]
    if not left_open:
        return method, None
    usual = type(method)(**given | {name: _USUAL[name] for name in left_open})
    try:
        try:
            path = tune(table, usual, progress=progress)
        except DataError:
            path = tune(table, usual, by="stability", progress=progress)
    except BudgetSpent:
        values = ", ".join(f"{name} {_USUAL[name]:g}" for name in left_open)
        return usual, f"{values}: the usual value, because time ran out before the table chose one"
    chosen = type(method)(**usual.get_params() | {path.parameter: path.value})
    return chosen, f"{path.parameter} {path.value:g}: {path.reason}"


@dataclass
class _Path:
    """One method at many values on one table."""

    method: Settings
    parameter: str
    table: Dataset
    seed: int
    n_jobs: int
    draws: int
    _scored: dict[PAG, PAG] = field(default_factory=dict)  # the graph without what was known, which a score looks at

    def at(self, value: float) -> Any:
        """Return the method at a value."""
        return type(self.method)(**self.method.get_params() | {self.parameter: value})

    def learn(self, value: float) -> PAG:
        """Return the graph at a value."""
        found = discover(self.table, self.at(value))
        current().check()
        self._scored[found.pag] = _without_knowledge(found)
        return found.pag

    def bic(self, pag: PAG) -> float:
        """Return the BIC of a graph of the path."""
        return bic(self._scored[pag], self.table.moments)

    def stability(self, value: float) -> Stability:
        """Return what recurs at a value."""
        return bootstrap_method(self.table, self.at(value), self.draws, self.seed, self.n_jobs)

    def held_out(self, value: float) -> float:
        """Return minus two log-likelihood per row of the rows that each graph was not learned from."""
        return float(np.mean([self._fold(value, fold) for fold in folds(self.table.n, self.seed)]))

    def _fold(self, value: float, left_out: np.ndarray) -> float:
        rows = self.table.rows()
        kept = Dataset.of(np.delete(rows, left_out, axis=0), self.table.names)
        found = _without_knowledge(discover(kept, self.at(value)))
        off = rows[left_out] - kept.moments.mean
        fitted = ricf(pag_to_mag(found), kept.moments.covariance)
        return gaussian_loss(fitted.Sigma, off.T @ off / len(off))


def _without_knowledge(found: Discovery) -> PAG:
    return found.pag if found.unaided is None else found.unaided


def _resolved(method: Settings, table: Dataset) -> Settings:
    return method.resolved(as_ci_test(method.test, table, measured=method.measures()))[0]


def _check_numbers(table: Dataset, by: By) -> None:
    """Refuse what a Gaussian likelihood cannot judge."""
    levels = [n for n, kind in zip(table.names, table.kinds, strict=True) if kind in (Kind.NOMINAL, Kind.ORDINAL)]
    if levels:
        shown = ", ".join(map(repr, levels[:20]))
        raise DataError(f"{by} is a score of numbers, and {shown} has categories: choose by stability")
    if by == "held-out" and (table.weights is not None or any(table.missing) or table.clusters is not None):
        raise DataError("rows with weights, gaps or clusters are not dealt to folds: choose by bic or stability")
