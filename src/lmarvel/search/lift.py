"""Lift: the PAG of the graph with the best score, by orders, ancestral graphs and hidden nodes.

1. **Order**: a DAG of good score, from orders of the variables (:mod:`lmarvel.search.orders`).
2. **Lift**: from that DAG, and from a graph that is given (L-MARVEL's: its limit is the truth), steps over ancestral
   graphs with undirected and bidirected edges (:mod:`lmarvel.search.lifting`).
3. **Hidden**: latent and selection nodes in place of cliques of the DAG (:mod:`lmarvel.search.hidden`).
4. The best of these, made maximal or projected to what is observed, and its PAG. A model with hidden nodes must be
   clearly better than the graphs of step 2, and a graph that only selection explains clearly better than all that do
   without.

Tests decide one pair at a time, and a false decision turns a region round; the score sees the whole graph. The price
is that it is a search, and may end in a local optimum. The result is always a legal PAG. Nothing is random but restarts
that are asked for, and columns are put into an order that depends on their content only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE, TAIL
from lmarvel.graph.paths import members
from lmarvel.knowledge.known import Known
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.hidden import Kind, Missed
from lmarvel.search.hidden_compiled import Search, hidden_search
from lmarvel.search.hidden_model import HiddenModel, projected
from lmarvel.search.inputs import checked, checked_start
from lmarvel.search.lifting import MARGIN
from lmarvel.search.limits import Limit, Limits, unlimited
from lmarvel.search.record import OutOfTime, Progress, Record, edges_of_dag
from lmarvel.search.stages import Stages, stages
from lmarvel.search.support import pag_of
from lmarvel.search.sweeper import Order

_FAR_BEHIND = 6  # edges
_EQUAL = 0.01  # in units of the score

Stage = Literal["order", "lift", "start", "hidden"]


class HiddenNode(NamedTuple):
    """A latent or selection node: its kind, the positions it is tied to, and what the score would lose without it."""

    kind: Kind
    members: tuple[int, ...]
    gain: float


@dataclass(frozen=True)
class LiftResult:
    """What Lift found.

    Attributes
    ----------
    mag, pag : array
        Marks of a maximal ancestral graph and of its PAG; ``marks[i, j]`` is the mark at j.
    score : float
        Minus two log-likelihood of standardised data and the price of edges, the lower the better.
    hidden : tuple of HiddenNode
        The hidden nodes that the answer rests on; none where an ancestral graph gave it.
    used : {"order", "lift", "start", "hidden"}
        Which stage gave the answer.
    selection_gain : float
        By how much the answer is better than the best graph met that needs no selection; 0 where it needs none itself.
    seen : tuple of (score, marks)
        Distinct ancestral graphs that were met, with scores close to the best one, best first.
    ended : str or None
        Why the search ended early, None if it did not.
    converged : bool
        Whether all fits of blocks came to their end.
    """

    mag: Marks
    pag: Marks
    score: float
    hidden: tuple[HiddenNode, ...]
    used: Stage
    selection_gain: float
    seen: tuple[tuple[float, Marks], ...]
    ended: str | None
    converged: bool


def lift(
    correlation: Matrix,
    n: int,
    *,
    penalty: float = 2.0,
    selection: bool = True,
    latents: bool = True,
    start: Marks | None = None,
    restarts: int = 0,
    seed: int = 0,
    deadline: float = math.inf,
    progress: Progress | None = None,
    compiled: bool = True,
    known: Known | None = None,
) -> LiftResult:
    """Learn a PAG by score.

    Parameters
    ----------
    correlation : array
        Correlation matrix of the data.
    n : int
        Rows.
    penalty : float
        What an edge costs, in units of log n; BIC's is 1.
    selection, latents : bool
        Whether the sample may be selected, and whether there may be latent causes.
    start : array, optional
        Marks of a PAG or MAG to start from as well; one that is not legal is passed over.
    restarts, seed : int
        Random orders to begin with beside the five fixed ones, and what they are drawn from.
    deadline : float
        Stop when :func:`time.monotonic` passes this; the best graph so far is the answer. Where there is none yet,
        :class:`~lmarvel.search.record.OutOfTime` is raised.
    progress : callable, optional
        Called with ("order", "lift" or "hidden", steps done, steps).
    compiled : bool
        Whether compiled code may be used. What is found is the same, but for rounding.
    known : Known, optional
        What is known beforehand: no graph that breaks it is met.

    Examples
    --------
    >>> R = np.eye(4) + 0.45 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> found = lift(R, 2000)                          # 0 o-> 1 <-> 2 <-o 3
    >>> found.pag.tolist()
    [[0, 2, 0, 0], [1, 0, 2, 0], [0, 2, 0, 1], [0, 0, 2, 0]]
    >>> found.used, found.hidden, found.ended
    ('lift', (), None)
    """
    R = checked(correlation, n, penalty)
    columns = canonical_order(R)
    back = np.argsort(columns)
    R = R[np.ix_(columns, columns)]
    rng = np.random.default_rng(seed)
    record = Record(n, deadline, progress)
    limits = None if known is None else Limits(known.moved(columns))
    limit = unlimited if limits is None else limits.families
    steps = stages(R, n, penalty * math.log(n), record, compiled, limit)
    search = LiftSearch(steps, n, penalty, selection, latents, record)
    search.correlation, search.compiled, search.limits, search.limit = R, compiled, limits, limit
    search.more = [rng.permutation(len(R)).tolist() for _ in range(restarts)]
    search.run(None if start is None else checked_start(start, len(R))[np.ix_(columns, columns)])
    return search.result(back)


def canonical_order(R: Matrix) -> list[int]:
    """Return an order of the columns that depends on their content: by how well each is predicted by the others."""
    rounded = [float(f"{value:.8e}") for value in np.linalg.inv(R).diagonal()]
    return sorted(range(len(R)), key=lambda v: (rounded[v], v))


class _Found(NamedTuple):
    """An answer: the graph that stands for it, its score, and where it is from."""

    score: float
    mag: Marks
    pag: Marks
    used: Stage
    model: HiddenModel | None = None

    @property
    def needs_selection(self) -> bool:
        return bool(((self.pag == TAIL) & ((self.pag.T == TAIL) | (self.pag.T == CIRCLE))).any())


class LiftSearch:
    """The stages, and the best answers so far: with selection and without.

    Hidden nodes are looked for where there is a correlation matrix of the variables.
    """

    def __init__(self, steps: Stages, n: int, penalty: float, selection: bool, latents: bool, record: Record) -> None:
        self.stages, self.n, self.record = steps, n, record
        self.price = penalty * math.log(n)
        self.selection, self.latents = selection, latents
        self.correlation: Matrix | None = None
        self.kinds: list[Kind] = []
        if selection:
            self.kinds.append("selection")
        if latents:
            self.kinds.append("latent")
        self.compiled = True
        self.limits: Limits | None = None
        self.limit: Limit = unlimited
        self.more: list[list[int]] = []  # orders to begin with beside the fixed ones
        self.hidden: Search | None = None
        self.found: list[_Found] = []
        self.ended: str | None = None

    def run(self, start: Marks | None) -> None:
        """Take all stages, as far as time allows."""
        try:
            order = self._orders()
            self._lift(self._begun(order), "lift")
            if start is not None:
                self._from_start(start)
            self._hidden(order)
        except OutOfTime:
            self.ended = "the time was up"
            graph = None if start is None or self.found else _member(start)
            if graph is not None:  # no order was finished: the graph to start from is all there is
                self._keep(graph, self.stages.score(graph), "start")

    # --- the stages -------------------------------------------------------------------------------------

    def _orders(self) -> Order:
        self.record.report("order", 0, 1)
        met: list[Order] = []

        def see(order: Order) -> None:
            if self.limits is not None and not self.limits.fits(AncestralGraph.of_parents(order.parents)):
                return
            met.append(order)
            self.record.see_edges([(order.score, edges_of_dag(order.parents))])

        try:
            order = self.stages.orders(self.more, see)
        except OutOfTime:
            if met:
                best = min(met, key=lambda settled: settled.score)
                self._keep(AncestralGraph.of_parents(best.parents), best.score, "order")
            raise
        begun = self._begun(order)
        self._keep(begun, order.score if self.limits is None else self.stages.score(begun), "order")
        return order

    def _begun(self, order: Order) -> AncestralGraph:
        """Return the DAG of an order, changed where it breaks what is known."""
        graph = AncestralGraph.of_parents(order.parents)
        return graph if self.limits is None else self.limits.repaired(graph)

    def _lift(self, graph: AncestralGraph, stage: Stage) -> None:
        """Climb from a graph; where the answer needs selection, climb without it too, for comparison."""
        self.record.report("lift", len(self.found), 3)
        self._keep(*self.stages.climb(graph, self.selection, self.latents), stage)
        if self.found[-1].needs_selection:
            directed = self.stages.directed(graph)
            if not directed.has_selection():
                self._keep(*self.stages.climb(directed, False, self.latents), stage)

    def _from_start(self, start: Marks) -> None:
        """Climb from the graph that was given, if it is legal, allowed, and not far behind.

        In the limit it is the truth, and none is better. One that is many edges behind is not worth the time: in no
        run on samples did a climb from there end at the best graph.
        """
        graph = _member(start)
        if graph is None or (any(graph.spouses) and not self.latents):
            return
        graph = self.stages.directed(graph)
        if any(graph.neighbors) and not self.selection:
            return
        if self.limits is not None:
            graph = self.limits.repaired(graph)
        if self.stages.score(graph) < min(found.score for found in self.found) + _FAR_BEHIND * self.price:
            self._lift(graph, "start")

    def _hidden(self, order: Order) -> None:
        if not self.kinds or self.correlation is None:
            return
        kinds, limit = tuple(self.kinds), self.limit
        self.hidden = hidden_search(self.correlation, self.n, self.price, self.record, kinds, self.compiled, limit)
        try:
            self.hidden.run(self.hidden.of_dag(order.parents, order.order))
        finally:
            self._keep_models([model for model in self.hidden.met if model.has_hidden and not model.degenerate])

    # --- answers ----------------------------------------------------------------------------------------

    def _keep(self, graph: AncestralGraph, score: float, stage: Stage) -> None:
        answer = self._answer(graph, score, stage)
        if not self.found or self._fits(answer.mag):  # an edge that makes a graph maximal may be one too many
            self.found.append(answer)

    def _answer(self, graph: AncestralGraph, score: float, stage: Stage) -> _Found:
        mag = self.stages.mag(graph)
        return _Found(score, mag, pag_of(mag, self.selection), stage)

    def _keep_models(self, models: list[HiddenModel]) -> None:
        """Keep the best models that need selection and the best that need none; no others need a PAG."""
        marks = [projected(model, self.compiled) for model in models]
        fitting = [i for i, mag in enumerate(marks) if self._fits(mag)]
        models, marks = _distinct([models[i] for i in fitting], [marks[i] for i in fitting])
        for model, mag in zip(models, marks, strict=True):
            self.record.see_marks(model.score, mag)
        answers: dict[int, _Found] = {}
        best: dict[bool, float] = {}
        for i in sorted(range(len(models)), key=lambda i: models[i].score):
            if len(best) == 2 and models[i].score > max(best.values()) + self.record.noise:
                break
            answers[i] = answer = self._of_model(models[i], marks[i])
            best.setdefault(answer.needs_selection, answer.score)
        self.found += [answers[i] for i in sorted(answers)]

    def _fits(self, mag: Marks) -> bool:
        return self.limits is None or self.limits.fits(AncestralGraph.of_marks(mag))

    def choose(self) -> tuple[_Found, float]:
        """Return the answer, and by how much it is better than all that need no selection (0 if it needs none)."""
        margin, noise = MARGIN * self.price, self.record.noise

        def pick(found: list[_Found]) -> _Found | None:
            best: _Found | None = None
            for candidate in sorted(found, key=lambda f: f.used == "hidden"):
                step = margin if candidate.model is not None and (best is None or best.model is None) else noise
                if best is None or candidate.score < best.score - step:
                    best = candidate
            return best

        plain = pick([f for f in self.found if not f.needs_selection])
        selected = pick([f for f in self.found if f.needs_selection])
        if selected is None:
            assert plain is not None
            return plain, 0.0
        gain = math.inf if plain is None else plain.score - selected.score
        if plain is not None and gain < margin:
            return plain, 0.0
        return selected, gain

    def result(self, back: np.ndarray) -> LiftResult:
        """Return the answer in the caller's order of columns; raise where there is none yet."""
        if not self.found:
            raise OutOfTime
        chosen, gain = self.choose()
        answer, nodes = self._simplified(chosen)
        gain = gain - (answer.score - chosen.score) if answer.needs_selection else 0.0
        place, columns = np.ix_(back, back), np.argsort(back)
        seen = (1 << len(back)) - 1
        hidden = [
            HiddenNode(node.kind, tuple(sorted(int(columns[v]) for v in members(node.nodes & seen))), node.by)
            for node in nodes
        ]
        return LiftResult(
            mag=answer.mag[place],
            pag=answer.pag[place],
            score=answer.score,
            hidden=tuple(sorted(hidden)),
            used=answer.used,
            selection_gain=gain,
            seen=tuple((score, marks[place]) for score, marks in self.record.graphs()),
            ended=self.ended,
            converged=self.stages.converged,
        )

    def _simplified(self, answer: _Found) -> tuple[_Found, list[Missed]]:
        """Drop the hidden nodes of an answer that the score does not miss, and weigh the others."""
        if answer.model is None or self.hidden is None:
            return answer, []
        model, nodes = self.hidden.simplified(answer.model, min(f.score for f in self.found if f.model is None))
        if model is answer.model:
            return answer, nodes
        mag = projected(model, self.compiled)
        if not self._fits(mag):
            return answer, nodes
        self.record.see_marks(model.score, mag)
        return self._of_model(model, mag), nodes

    def _of_model(self, model: HiddenModel, mag: Marks) -> _Found:
        return _Found(model.score, mag, pag_of(mag, self.selection), "hidden", model)


def _distinct(models: list[HiddenModel], marks: list[Marks]) -> tuple[list[HiddenModel], list[Marks]]:
    """Keep one of the models that have the same MAG and fit equally well: one that says least, then by its nodes.

    Fits end some thousandths of a unit from their maximum, so which of them has the best score says nothing.
    """
    best: dict[bytes, int] = {}
    for i, mag in enumerate(marks):
        j = best.setdefault(mag.tobytes(), i)
        behind = models[i].score - models[j].score
        if behind < -_EQUAL or (behind <= _EQUAL and models[i].content < models[j].content):
            best[mag.tobytes()] = i
    kept = sorted(best.values())
    return [models[i] for i in kept], [marks[i] for i in kept]


def _member(start: Marks) -> AncestralGraph | None:
    """Return a MAG of the graph to start from; None if it is not legal."""
    names = tuple(f"X{v}" for v in range(len(start)))
    try:
        if (start == CIRCLE).any() or not start.any():
            start = np.asarray(pag_to_mag(PAG(names, start)).marks)
        graph = AncestralGraph.of_marks(start)
    except GraphError:
        return None
    return graph if graph.settle() else None
