"""Lift as an estimator: tests give it a graph to start from, a score chooses the graph."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lmarvel.budget.clock import current
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.glm.kinds import KindTable
from lmarvel.ci.ledger import Ledger
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.scan import SMALL
from lmarvel.deferred import LazyTuple
from lmarvel.errors import BudgetSpent, DeterminedVariable, OutOfTime, ParameterError
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import check_workers, n_workers
from lmarvel.estimators.discover import Chosen
from lmarvel.estimators.scoring import (
    Rivals,
    Scored,
    coded,
    inflation_of,
    is_of_score,
    rivals_of,
    scored_table,
    scores_dags,
    thinning_test,
    unobserved,
    what_statements_cost,
)
from lmarvel.estimators.tuning import AUTO
from lmarvel.graph.kinds import MAG
from lmarvel.orient.equivalence import uses_of_rules
from lmarvel.orient.worklist import orient
from lmarvel.result.trace import BudgetEnded, Event, RefusedNode
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import Marks, pag_of
from lmarvel.search.evidence import MOST_VARIABLES, chosen, evidence
from lmarvel.search.inflation import Inflation
from lmarvel.search.kinds.by_kind import lift_kinds
from lmarvel.search.kinds.grouped import GroupedBlocks, Groups
from lmarvel.search.kinds.grouped_lift import lift_groups
from lmarvel.search.lift import HiddenNode, LiftResult, check_engine, check_time, lift, most_threads, selection_pays
from lmarvel.skeleton.by_engine import EngineRun, learn_compiled
from lmarvel.skeleton.lmarvel import Levels, lmarvel
from lmarvel.skeleton.state import Progress, silent

# For the graph to start from: tests at most, and a share of the seconds.
_MOST_TESTS = 200_000
_FOR_TESTS = 0.25
_FOR_EVIDENCE = 0.2  # of the seconds, kept back for what speaks for the graph
_OTHER_SCALES = ("rank", "scores")  # tests by other correlations than those of the numbers as they are
_SAME = 1e-6  # scores that differ by less


@dataclass(kw_only=True, repr=False, eq=False)
class Lift(PagEstimator):
    """Learn a PAG by score: orders of the variables, lifted to ancestral graphs and to hidden nodes.

    The most accurate method of the package on samples, and its PAG is always legal. The score sees the whole graph,
    where a single wrong test can reverse the marks of a region. It is a search, so it can end in a local optimum.
    L-MARVEL's graph is a further start where it is legal and not far behind.

    With fewer than two rows per column each edge must improve the score more (docs/wide.md). Where all variables are
    categories, the score is the length of the code of their counts (qNML). Where numbers bend, it has bends, products
    and the shape of the noise. Then tests look for hidden causes in the best DAG. A category beside numbers is several
    columns, and then hidden nodes are not looked for. Nothing is random except restarts that you ask for, and the
    order of the columns does not matter. On tables of numbers it needs the compiled engine, which a C++ compiler
    builds with the package.

    Parameters
    ----------
    penalty : float or "auto"
        Penalty per edge, in units of log n. BIC's is 1; 2 is better for marks; "auto" chooses it by the BIC.
    latents : bool
        False asserts that no unmeasured variable is a common cause of two measured ones.
    selection : bool
        False asserts that the sample was not selected.
    restarts : int
        Random orders to begin with beside the fixed ones; hardly ever worth the time.
    seed : int
        What those are drawn from; without restarts nothing is random.
    n_jobs : int
        Threads of the search, and of the evidence for its graph, -1 for all processors, at most 256. The result
        depends on it only where a time limit ends the search. Scores of categories and curves use one thread.
    alpha, test, boundary, boundary_alpha, max_conditioning, max_tests
        Of L-MARVEL, which gives the graph to start from; see :class:`lmarvel.LMarvel`.
    max_seconds : float, optional
        Time limit in seconds; the result is the best graph so far.
    knowledge : Knowledge, optional
        What is known beforehand: no graph that breaks it is considered; see :class:`~lmarvel.Knowledge`.

    Attributes
    ----------
    pag_, mag_ : PAG, MAG
        The PAG, and the maximal ancestral graph that the score chose.
    bic_ : float
        The score, without what is the same for all graphs: minus two log-likelihood of standardised data and the
        penalty of the edges.
    result_ : Discovery
        With the evidence for each edge, gap and mark: ``support``, ``hidden``, ``shown``, ``explain``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))                # u is not measured
    >>> b = a + u + 0.5 * rng.normal(size=2000)
    >>> c = d + u + 0.5 * rng.normal(size=2000)
    >>> print(Lift().fit({"A": a, "B": b, "C": c, "D": d}).pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    searches_unlocked: ClassVar[bool] = True  # nearly all of its time is the engine's, where moments are enough

    penalty: Any = 2.0  # a number, or "auto"
    latents: bool = True
    restarts: int = 0
    seed: int = 0
    n_jobs: int = 1

    def _check(self) -> None:
        number = isinstance(self.penalty, int | float | np.number) and not isinstance(self.penalty, bool)
        if self.penalty != AUTO and (not number or not 0 < self.penalty < float("inf")):
            raise ParameterError(
                f"must be a number above 0, not {self.penalty!r}; 2 is a usual choice", parameter="penalty"
            )
        for name in ("restarts", "seed"):
            value = vars(self)[name]
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ParameterError(f"must be a whole number of at least 0, not {value!r}", parameter=name)
        check_workers(self.n_jobs)

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Chosen:
        """Run L-MARVEL for a start, then the search."""
        table = scored_table(ledger.test, data, self.penalty)
        if not isinstance(table, Groups):
            check_engine(len(ledger.names))
        start, rivals = None, Rivals()
        if not isinstance(table, KindTable):
            start = lmarvel_start(ledger, boundaries, self.alpha, self.selection, report)
        if isinstance(table, KindTable) or ledger.test.name in _OTHER_SCALES:
            rivals = rivals_of(data, ledger.names, self.penalty, self.alpha, ledger.meter.deadline)
        factors: Matrix | None = None
        inflating: Inflation | None = None
        known, now = ledger.known, time.monotonic()
        threads = self._threads(ledger)
        how: dict[str, Any] = {
            "selection": self.selection,
            "latents": self.latents,
            "start": start,
            "restarts": self.restarts,
            "seed": self.seed,
            "deadline": now + (1 - _FOR_EVIDENCE) * (ledger.meter.deadline - now),
            "progress": report,
            "known": known,
        }

        def pvalue(x: int, y: int, given: Sequence[int]) -> float:
            return ledger.test.pvalue(x, y, tuple(given))

        categories = () if data is None else [ledger.names.index(name) for name in coded(data)]

        def search(**changed: Any) -> LiftResult:
            if isinstance(table, Groups):
                return lift_groups(table, **how | changed, pvalue=pvalue, among=categories)
            if isinstance(table, KindTable):
                others = {"start": rivals.lmarvel, "lines": rivals.lines, "pvalue": thinning_test(ledger.test, data)}
                return lift_kinds(table, **how | others | changed)
            numbers = {"inflation": factors, "penalty": self.penalty, "threads": threads}
            return lift(table.correlation(), table.n, **numbers | how | changed)

        def answer(**changed: Any) -> LiftResult:
            """Search under other statements, with what the method allows and asks of selection nodes."""
            may = {name: getattr(self, name) and changed.get(name, True) for name in ("selection", "latents")}
            other = partial(search, **changed | may)
            best = other()
            return _unless_edges_outweigh(best, other) if _has_selection(best) else best

        try:
            check_time(len(ledger.names), how["deadline"] if isinstance(table, Moments) and start is None else math.inf)
            if isinstance(table, Moments) and (self.latents or self.selection):
                inflating = inflation_of(ledger.test, data, table, self.penalty)
                factors = None if inflating is None else inflating.factors(interactions=False)
            found = search()
            if isinstance(table, Moments) and rivals.lmarvel is not None:
                found = _better(found, search, rivals.lmarvel)
            if inflating is not None and found.hidden:  # interactions take longer to look at, so only now
                look = partial(inflating.factors, interactions=True)
                found, factors = _beside_interactions(found, factors, search, look)
            dropped: tuple[HiddenNode, ...] = ()
            if _has_selection(found):
                before_drop = found
                found = _unless_edges_outweigh(found, search)
                dropped = () if found is before_drop else before_drop.hidden
        except DeterminedVariable as error:
            raise error.named(ledger.names) from None
        except OutOfTime:
            raise BudgetSpent("max_seconds is used up before a first graph was found") from None
        left_open = unobserved(data, ledger.names)
        if factors is not None and isinstance(table, Moments) and len(factors) <= MOST_VARIABLES:
            again = how | {"penalty": self.penalty, "progress": None}
            refused = partial(_refused, (*found.hidden, *dropped), table, factors, again)
            trace = self._trace(found, table, ledger, refused)
        else:
            trace = self._trace(found, table, ledger)
        if known is None:
            return Chosen(found.mag, found.pag, found.score, trace, left_open)
        if found.ended is None:
            before, took = trace, time.monotonic() - now
            same = not isinstance(table, KindTable)  # scores within a class
            clock = current()

            def with_costs() -> tuple[Event, ...]:
                with clock.running():
                    return (*before, *what_statements_cost(answer, known, found.score, took, same))

            trace = LazyTuple(with_costs)
        informed = pag_of(found.mag, self.selection, ledger.known)
        return Chosen(found.mag, informed, found.score, trace, left_open, found.pag)

    @classmethod
    def measures(cls) -> bool:
        """Whether a test that is left to "auto" is chosen by how the numbers of a table are related."""
        return True

    @classmethod
    def needs_boundaries(cls) -> bool:
        """Whether nothing can be learned without Markov boundaries; here only the start needs them."""
        return False

    def uses_boundaries(self, test: IndependenceTest, data: Dataset | None) -> bool:
        """Whether Markov boundaries are of use: not where the answer begins with a DAG that no start improves."""
        return self.boundary != "auto" or data is None or not scores_dags(test, data)

    def _threads(self, ledger: Ledger) -> int:
        asked = n_workers(self.n_jobs)  # to ask how much memory is free reads a dozen files
        return 1 if asked == 1 else min(asked, most_threads(len(ledger.names)))

    def _trace(
        self,
        found: LiftResult,
        table: Scored,
        ledger: Ledger,
        refused: Callable[[float], Iterable[Event]] | None = None,
    ) -> Sequence[Event]:
        """Return why the search ended, if early, what speaks for the graph, and the rules that read its PAG off.

        To weigh every part of the graph takes longer than to find it, so that waits until somebody looks, with the
        seconds that the run has left. Graphs that take much memory are not kept for that.
        """
        penalty, selection, latents, known = self.penalty, self.selection, self.latents, ledger.known
        names, threads = ledger.names, self._threads(ledger)
        clock = current()

        def pvalue(x: int, y: int, given: Sequence[int]) -> float:
            return ledger.test.pvalue(x, y, tuple(sorted(given)))

        def trace() -> tuple[Event, ...]:
            with clock.running():
                return looked_at()

        def looked_at() -> tuple[Event, ...]:
            ended = () if found.ended is None else (BudgetEnded(found.ended),)
            if isinstance(table, KindTable):
                records = tuple(chosen(found, math.log(table.rows)))
            elif isinstance(table, Groups) and not is_of_score(found, table):
                records = tuple(chosen(found, table.price))  # tests chose it, so that scores of its parts mislead
            else:
                records = evidence(
                    found,
                    table.correlation if isinstance(table, Groups) else table.correlation(),
                    int(table.n),
                    pvalue,
                    penalty=penalty,
                    selection=selection,
                    latents=latents,
                    deadline=clock.deadline,
                    scores=GroupedBlocks(table) if isinstance(table, Groups) else None,
                    threads=threads,
                )
            mag = MAG._trusted(names, found.mag)
            others = () if refused is None else refused(clock.deadline)
            return (*ended, *records, *others, *uses_of_rules(mag, selection, known))

        small = found.seen.size + found.mag.size <= SMALL
        return LazyTuple(trace) if small else trace()

    @property
    def mag_(self) -> MAG:
        """The graph that the score chose."""
        assert self.result_.mag is not None
        return self.result_.mag

    @property
    def bic_(self) -> float:
        """Its score."""
        assert self.result_.bic is not None
        return self.result_.bic


def _better(found: LiftResult, search: Callable[..., LiftResult], start: Marks) -> LiftResult:
    """Search again from another graph, and return what scores better."""
    with suppress(OutOfTime):
        again = search(start=start)
        return again if again.score < found.score - _SAME else found
    return found


def _beside_interactions(
    found: LiftResult,
    factors: Matrix | None,
    search: Callable[..., LiftResult],
    look: Callable[[], Matrix | None],
) -> tuple[LiftResult, Matrix | None]:
    """Search again where interactions inflate the evidence for the hidden nodes found; return all factors, too."""
    with suppress(OutOfTime):  # what was found by then stands
        more = look()
        if more is not None and (factors is None or (more > factors).any()):
            return search(inflation=more), more
    return found, factors


def _has_selection(found: LiftResult) -> bool:
    return any(node.kind == "selection" for node in found.hidden)


def _unless_edges_outweigh(found: LiftResult, search: Callable[..., LiftResult]) -> LiftResult:
    """Search again without selection nodes, and return that where these are not worth the edges that they add."""
    with suppress(OutOfTime):
        without = search(selection=False)
        return without if without.ended is None and not selection_pays(found, without) else found
    return found


def _refused(
    known: Sequence[HiddenNode], table: Moments, factors: Matrix, how: dict[str, Any], deadline: float
) -> Iterator[RefusedNode]:
    """Iterate over the hidden nodes that a search finds that does not know how far evidence for them is inflated."""
    with suppress(OutOfTime):
        for node in lift(table.correlation(), table.n, **how | {"deadline": deadline}).hidden:
            inflated = bool((factors[np.ix_(node.members, node.members)] > 1).any())
            if inflated and all(node[:2] != one[:2] for one in known):
                yield RefusedNode(node.kind, frozenset(node.members))


def lmarvel_start(
    ledger: Ledger, boundaries: Boundaries, alpha: float, selection: bool, report: Progress
) -> Marks | None:
    """Return L-MARVEL's PAG to start a search from; None where it takes too long."""
    if boundaries.method == "none":
        return None
    with ledger.meter.part(_MOST_TESTS, _FOR_TESTS):
        run = _by_engine(ledger, boundaries, alpha, selection, report)
        if run is not None:
            marks = run.arrays.marks if run.arrays.unaided is None else run.arrays.unaided
            return marks if not len(run.arrays.undecided) and run.endings[1] is None else None
        learned = lmarvel(ledger, boundaries, Levels(alpha, boundaries.level), report)
        if len(learned.undecided):
            return None
        oriented = orient(
            len(ledger.names),
            learned.decided,
            learned.is_collider,
            selection,
            learned.ambiguous,
            deadline=ledger.meter.deadline,
        )
    return oriented.marks if oriented.complete else None


def _by_engine(
    ledger: Ledger, boundaries: Boundaries, alpha: float, selection: bool, report: Progress
) -> EngineRun | None:
    """Learn from boundaries with the compiled engine, where it can do the same; else nothing was done."""
    told = None if report is silent else report
    # The engine finds those of total conditioning again in less time than it takes to hand them over.
    found = "tc" if boundaries.method == "tc" else "given"
    levels = Levels(alpha, boundaries.level)
    return learn_compiled(
        ledger, levels, boundaries.level, found, lambda: boundaries, selection, 0.0, told, counted=True
    )
