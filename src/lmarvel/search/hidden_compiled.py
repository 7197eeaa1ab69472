"""The search over hidden nodes by compiled code (``engine/lift/hidden``), where that was built."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lmarvel.engine import load
from lmarvel.engine.run import CANCEL
from lmarvel.errors import OutOfTime
from lmarvel.score.district import Matrix
from lmarvel.search.hidden import HiddenSearch, Kind, Missed
from lmarvel.search.hidden_model import HiddenFits, HiddenModel
from lmarvel.search.limits import Limit, unlimited
from lmarvel.search.record import Record

_engine = load()


class Search(Protocol):
    """A search over models with hidden nodes."""

    met: list[HiddenModel]

    def of_dag(self, parents: Sequence[int], order: Sequence[int]) -> HiddenModel:
        """Return the model without hidden nodes."""

    def run(self, model: HiddenModel) -> HiddenModel:
        """Put hidden nodes into a model while the score falls; return the model."""

    def simplified(self, model: HiddenModel, limit: float = math.inf) -> tuple[HiddenModel, list[Missed]]:
        """Drop hidden nodes that the score does not miss, while it stays below a limit; return it and what it keeps."""


class CompiledHiddenSearch:
    """The search over DAGs with latent and selection nodes, compiled, without Python's lock.

    Examples
    --------
    >>> loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8])
    >>> R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    >>> search = hidden_search(R, 1000, 13.8, Record(), ("latent", "selection"))
    >>> dag = search.of_dag([0, 0b00001, 0b00011, 0b00111, 0b01111], range(5))
    >>> found = search.run(dag)
    >>> found.m, found.selections, round(dag.score - found.score) > 40          # one latent node for ten edges
    (6, (), True)
    """

    def __init__(self, correlation: Matrix, n: float, price: float, record: Record, kinds: Sequence[Kind]) -> None:
        self._search = _engine.HiddenSearch(correlation, n, price, record.noise, kinds)
        self._p = len(correlation)
        self.record = record
        self.met: list[HiddenModel] = []

    def of_dag(self, parents: Sequence[int], order: Sequence[int]) -> HiddenModel:
        """Return the model without hidden nodes."""
        p = self._p
        return self._model(
            self._search.fitted((parents, (), order, np.zeros((p, p)), np.zeros(p), np.zeros((p, 0)), 0.0))
        )

    def run(self, model: HiddenModel) -> HiddenModel:
        """Put hidden nodes into a model while the score falls; return the model."""
        record, seconds = self.record, self.record.deadline - time.monotonic()
        progress = (lambda done, total: record.report("hidden", done, total)) if record.is_watched else None
        try:
            in_time = self._search.run(_parts(model), seconds, progress, CANCEL.get())
        finally:
            self.met = [self._model(parts) for parts in self._search.met()]
        if not in_time:
            raise OutOfTime
        return min(self.met, key=lambda met: met.score)

    def simplified(self, model: HiddenModel, limit: float = math.inf) -> tuple[HiddenModel, list[Missed]]:
        """Drop hidden nodes that the score does not miss, while it stays below a limit; return it and what it keeps."""
        parts, kept = self._search.simplified(_parts(model), limit, CANCEL.get())
        return (model if parts is None else self._model(parts)), [Missed(*node) for node in kept]

    def _model(self, parts: tuple[Any, ...]) -> HiddenModel:
        return HiddenModel(self._p, *parts)


def _parts(model: HiddenModel) -> tuple[Any, ...]:
    return (model.parents, model.selections, model.order, model.B, model.log_variance, model.V, model.score)


def hidden_search(
    correlation: Matrix,
    n: float,
    price: float,
    record: Record,
    kinds: tuple[Kind, ...],
    compiled: bool = True,
    limit: Limit = unlimited,
) -> Search:
    """Return the search over hidden nodes: compiled, where that was built, is allowed, and holds so many variables."""
    fits = _engine is not None and len(correlation) <= _engine.MAX_BESIDE_HIDDEN
    if compiled and fits and limit is unlimited:
        return CompiledHiddenSearch(correlation, n, price, record, kinds)
    search = HiddenSearch(HiddenFits(correlation, n, price, compiled), record, kinds)
    search.limit = limit
    return search
