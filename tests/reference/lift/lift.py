"""Lift with hidden nodes, readable: the twin of :func:`lmarvel.search.lift.lift`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.knowledge.closure import Known
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import AncestralGraph, Marks, direct_chordal, pag_of
from lmarvel.search.constants import LIFT
from lmarvel.search.kinds.grouped_lift import LiftSearch
from lmarvel.search.lift import (
    Candidate,
    HiddenNode,
    Kind,
    LiftResult,
    canonical_order,
    checked,
    checked_inflation,
    checked_start,
    member_of,
    random_orders,
)
from lmarvel.search.limits import Limits
from lmarvel.search.orders import Order
from lmarvel.search.record import Progress, Record
from tests.reference.lift.hidden import HiddenSearch
from tests.reference.lift.hidden_model import HiddenFits, HiddenModel, projected
from tests.reference.lift.stages import ReadableStages


def lift(correlation: Matrix, n: int, **how: Any) -> LiftResult:
    """Learn a PAG by score, with what the twin is told."""
    return searched(correlation, n, **how).result(canonical_order(checked(correlation, n, 1.0)))


def searched(
    correlation: Matrix,
    n: int,
    *,
    penalty: float = 2.0,
    selection: bool = True,
    latents: bool = True,
    inflation: Matrix | None = None,
    start: Marks | None = None,
    restarts: int = 0,
    seed: int = 0,
    deadline: float = math.inf,
    progress: Progress | None = None,
    known: Known | None = None,
) -> ReadableLift:
    """Return the search at its end."""
    R = checked(correlation, n, penalty)
    columns = canonical_order(R)
    search = ReadableLift(
        R[np.ix_(columns, columns)],
        n,
        penalty * math.log(n),
        selection,
        latents,
        Record(n, deadline, progress),
        None if known is None else Limits(known.moved(columns)),
        None if inflation is None else checked_inflation(inflation, len(R))[np.ix_(columns, columns)],
    )
    search.more = random_orders(len(R), restarts, seed)
    given = None if start is None else checked_start(start, len(R))[np.ix_(columns, columns)]
    search.run(None if given is None else member_of(given))
    return search


class ReadableLift(LiftSearch):
    """The search with hidden nodes."""

    def __init__(
        self,
        R: Matrix,
        n: int,
        price: float,
        selection: bool,
        latents: bool,
        record: Record,
        limits: Limits | None,
        inflation: Matrix | None,
    ) -> None:
        allowed: Sequence[int] = () if limits is None else limits.allowed()
        super().__init__(ReadableStages(R, n, price, record, allowed), selection, latents, record, limits)
        self.kinds: list[Kind] = []
        if selection:
            self.kinds.append("selection")
        if latents:
            self.kinds.append("latent")
        self.hidden = HiddenSearch(HiddenFits(R, n, price, inflation), record, tuple(self.kinds))
        self.hidden.allowed = list(allowed)
        self.models: dict[int, HiddenModel] = {}  # by the identity of the candidate's MAG

    def _take(self, start: Marks | None) -> Order:
        order = super()._take(start)
        if self.kinds:
            try:
                self.hidden.run(self.hidden.of_dag(order.parents, order.order))
            finally:
                self._keep_models([model for model in self.hidden.met if model.has_hidden and not model.degenerate])
        return order

    def _keep_models(self, models: list[HiddenModel]) -> None:
        """Keep the best models that need selection and the best that need none; no others need a PAG."""
        marks = [projected(model) for model in models]
        fitting = [i for i, mag in enumerate(marks) if self._fits(mag)]
        models, marks = distinct([models[i] for i in fitting], [marks[i] for i in fitting])
        for model, mag in zip(models, marks, strict=True):
            self.record.see_marks(model.score, mag)
        answers: dict[int, Candidate] = {}
        best: dict[bool, float] = {}
        for i in sorted(range(len(models)), key=lambda i: models[i].score):
            if len(best) == 2 and models[i].score > max(best.values()) + self.record.noise:
                break
            if True in best and models[i].score > best[True] + self.record.noise and is_bound(marks[i]):
                continue
            answers[i] = answer = self._of_model(models[i], marks[i])
            best.setdefault(answer.needs_selection, answer.score)
        self.found += [answers[i] for i in sorted(answers)]

    def _of_model(self, model: HiddenModel, mag: Marks) -> Candidate:
        self.models[id(mag)] = model
        return Candidate("hidden", model.score, mag, pag_of(mag, self.selection))

    def answer(self) -> tuple[Candidate, float, list[HiddenNode]]:
        """Return the answer without the hidden nodes that the score does not miss, and what the others are worth."""
        chosen, gain = self.choose()
        if chosen.used != "hidden":
            return chosen, gain, []
        before = self.models[id(chosen.mag)]
        model, missed = self.hidden.simplified(before, min(f.score for f in self.found if f.used != "hidden"))
        seen = (1 << model.p) - 1
        nodes = [HiddenNode(node.kind, tuple(members(node.nodes & seen)), node.by) for node in missed]
        mag = chosen.mag if model is before else projected(model)
        if model is before or not self._fits(mag):
            return chosen, gain, nodes
        self.record.see_marks(model.score, mag)
        answer = self._of_model(model, mag)
        return answer, gain - (answer.score - chosen.score) if answer.needs_selection else 0.0, nodes


def is_bound(mag: Marks) -> bool:
    """Tell whether only selection explains a MAG, as is seen without its PAG: by a cycle of --- without a chord."""
    return direct_chordal(AncestralGraph.of_marks(mag)).has_selection()


def distinct(models: list[HiddenModel], marks: list[Marks]) -> tuple[list[HiddenModel], list[Marks]]:
    """Keep one of the models that have the same MAG and fit equally well: one that says least, then by its nodes.

    Fits end some thousandths of a unit from their maximum, so which of them has the best score says nothing.
    """
    best: dict[bytes, int] = {}
    for i, mag in enumerate(marks):
        j = best.setdefault(mag.tobytes(), i)
        behind = models[i].score - models[j].score
        if behind < -LIFT.equal or (behind <= LIFT.equal and models[i].content < models[j].content):
            best[mag.tobytes()] = i
    kept = sorted(best.values())
    return [models[i] for i in kept], [marks[i] for i in kept]
