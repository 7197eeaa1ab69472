"""Lift: the PAG of the graph with the best score, by orders, ancestral graphs and hidden nodes.

1. **Order**: a DAG of good score, from orders of the variables (:mod:`lmarvel.search.orders`).
2. **Lift**: from that DAG, and from a graph that is given (L-MARVEL's: its limit is the truth), steps over ancestral
   graphs with undirected and bidirected edges (:mod:`lmarvel.search.lifting`).
3. **Hidden**: latent and selection nodes in place of cliques of the DAG (``engine/lift/hidden``).
4. The best of these, made maximal or projected to what is observed, and its PAG. A model with hidden nodes must be
   clearly better than the graphs of step 2, and a graph that only selection explains clearly better than all that do
   without.

Tests decide one pair at a time, and a false decision turns a region round; the score sees the whole graph. The price
is that it is a search, and may end in a local optimum. The result is always a legal PAG. Nothing is random but restarts
that are asked for, and columns are put into an order that depends on their content only.

All of this is one call of the compiled engine (``engine/lift``), with the numbers of :mod:`lmarvel.search.constants`;
a readable twin, over the whole length, stands among the tests (``tests/reference/lift``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.memory import allowed
from lmarvel.data.moments import determining
from lmarvel.engine import load
from lmarvel.engine.run import CANCEL
from lmarvel.errors import DataError, DeterminedVariable, GraphError, LMarvelError, OutOfTime, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE, TAIL
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.score.district import Matrix
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.constants import LIFT
from lmarvel.search.few_rows import price_of, usable
from lmarvel.search.limits import Limits
from lmarvel.search.record import MetGraphs, Progress, Record

_engine = load()

_SINGULAR = 1e-10  # a variable with less than this share of its variance left is determined by the others
_FEWEST_ROWS = 5  # fewer correlate perfectly by chance
_PER_EDGE = 2.0  # of the score, for each edge that selection nodes add
_DIGITS = 11  # of a correlation; those behind them differ with the order in which a machine adds rows up
_MEMORY = 2**30  # bytes
_LEAST_SECONDS = 3e-10  # times the cube of the number of variables: no first graph is found faster
LATE = "the time limit was reached"

Stage = Literal["order", "lift", "start", "lines", "hidden"]
Kind = Literal["latent", "selection"]


class HiddenNode(NamedTuple):
    """A latent or selection node: its kind, the positions it is tied to, and what the score would lose without it."""

    kind: Kind
    members: tuple[int, ...]
    gain: float


class Candidate(NamedTuple):
    """What a stage ended with: the stage, the score, and the marks of the MAG and of its PAG."""

    used: Stage
    score: float
    mag: Marks
    pag: Marks

    @property
    def needs_selection(self) -> bool:
        """Whether only selection explains the PAG."""
        return bool(((self.pag == TAIL) & ((self.pag.T == TAIL) | (self.pag.T == CIRCLE))).any())


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
    used : {"order", "lift", "start", "lines", "hidden"}
        Which stage gave the answer; "lines" is the best DAG by correlations, where the score is another one.
    selection_gain : float
        By how much the answer is better than the best graph met that needs no selection; 0 where it needs none itself.
    seen : MetGraphs
        Distinct ancestral graphs that were met, with scores close to the best one, best first.
    candidates : tuple of Candidate
        What each stage ended with.
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
    seen: MetGraphs
    candidates: tuple[Candidate, ...]
    ended: str | None
    converged: bool

    @classmethod
    def of(
        cls,
        columns: Sequence[int],
        chosen: Candidate,
        gain: float,
        hidden: Sequence[HiddenNode],
        record: Record,
        candidates: Sequence[Candidate],
        ended: str | None,
        converged: bool,
    ) -> LiftResult:
        """Return what a search found over columns in another order: ``columns[i]`` is the one that comes i-th."""
        back = np.argsort(columns)
        place = np.ix_(back, back)
        moved = [HiddenNode(kind, tuple(sorted(int(columns[v]) for v in nodes)), by) for kind, nodes, by in hidden]
        return cls(
            mag=chosen.mag[place],
            pag=chosen.pag[place],
            score=chosen.score,
            hidden=tuple(sorted(moved)),
            used=chosen.used,
            selection_gain=gain,
            seen=record.graphs().moved(columns),
            candidates=tuple(Candidate(c.used, c.score, c.mag[place], c.pag[place]) for c in candidates),
            ended=ended,
            converged=converged,
        )


def lift(
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
    memory: int | None = None,
    threads: int = 1,
) -> LiftResult:
    """Learn a PAG by score.

    Parameters
    ----------
    correlation : array
        Correlation matrix of the data.
    n : int
        Rows.
    penalty : float
        What an edge costs, in units of log n; BIC's is 1. Where rows are few, see :mod:`lmarvel.search.few_rows`, the
        unit is (log n + 2 log p) / 2.
    selection, latents : bool
        Whether the sample may be selected, and whether there may be latent causes.
    inflation : array, optional
        By which factor evidence for hidden nodes over each pair is inflated, at least 1: hidden nodes cost as much more
        (:mod:`lmarvel.search.inflation`).
    start : array, optional
        Marks of a PAG or MAG to start from as well; one that is not legal is passed over.
    restarts, seed : int
        Random orders to begin with beside the five fixed ones, and what they are drawn from.
    deadline : float
        Stop when :func:`time.monotonic` passes this; the best graph so far is the answer. Where there is none yet,
        :class:`~lmarvel.search.record.OutOfTime` is raised.
    progress : callable, optional
        Called with ("order", "lift" or "hidden", steps done, steps).
    known : Known, optional
        What is known beforehand: no graph that breaks it is met.
    memory : int, optional
        Bytes for regressions that are kept. With fewer the search takes longer, and finds the same.
    threads : int
        Threads of the engine, which share that memory. What is found does not depend on their number.

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
    check_engine(len(R))
    if start is None:
        check_time(len(R), deadline)
    columns = canonical_order(R)
    given = None if start is None else checked_start(start, len(R))[np.ix_(columns, columns)]
    record = Record(n, deadline)
    late, converged, answer, gain, found, hidden, met, models = _engine.lift(
        R[np.ix_(columns, columns)],
        n,
        price_of(n, len(R), penalty),
        record.noise,
        asdict(LIFT),
        selection,
        latents,
        inflation=None if inflation is None else checked_inflation(inflation, len(R))[np.ix_(columns, columns)],
        start=None if given is None else member_of(given),
        more=random_orders(len(R), restarts, seed),
        limits=None if known is None else Limits(known.moved(columns)).parts(),
        memory=usual_memory() if memory is None else memory,
        threads=threads,
        seconds=record.seconds(),
        progress=progress,
        cancel=CANCEL.get(),
    )
    if answer is None:
        raise OutOfTime
    record.see_edges(met)
    for score, marks in models:
        record.see_marks(score, marks)
    candidates = [Candidate(*parts) for parts in found]
    nodes = [HiddenNode(*parts) for parts in hidden]
    ended = LATE if late else None
    return LiftResult.of(columns, Candidate(*answer), gain, nodes, record, candidates, ended, converged)


def selection_pays(found: LiftResult, without: LiftResult) -> bool:
    """Tell whether a graph with selection nodes is worth the edges that it has beyond the best graph without them.

    A selection node joins all ancestors of its parents, for the price of an edge or two. Where a variable has many
    weak causes, each too weak for an edge, one such node can stand for all of them, and then claims dozens of edges
    that nothing else supports. So each further edge has to improve the score by what a parameter costs in AIC.
    """
    edges, fewer = (int(np.count_nonzero(one.pag)) // 2 for one in (found, without))
    return without.score - found.score >= _PER_EDGE * (edges - fewer) and found.score <= without.score


def usual_memory() -> int:
    """Return the bytes for regressions that are kept: 1 GB, but at most a quarter of what a run may take."""
    return min(_MEMORY, allowed() // 4)


def canonical_order(R: Matrix) -> list[int]:
    """Return an order of the columns that depends on their content: by how well each is predicted by the others."""
    rounded = [float(f"{value:.8e}") for value in np.linalg.inv(R).diagonal()]
    return sorted(range(len(R)), key=lambda v: (rounded[v], v))


def random_orders(p: int, restarts: int, seed: int) -> list[list[int]]:
    """Return orders to begin with beside the fixed ones."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(p).tolist() for _ in range(restarts)]


def member_of(start: Marks) -> Marks | None:
    """Return the marks of a MAG of the graph to start from; None if it is not legal."""
    names = tuple(f"X{v}" for v in range(len(start)))
    try:
        if (start == CIRCLE).any() or not start.any():
            start = np.asarray(pag_to_mag(PAG(names, start)).marks)
        graph = AncestralGraph.of_marks(start)
    except GraphError:
        return None
    return start if graph.settle() else None


# --- what a search can begin with -----------------------------------------------------------------------------


def is_compiled() -> bool:
    """Tell whether the compiled engine was built."""
    return _engine is not None


def most_variables() -> int:
    """Return among how many variables the compiled engine searches."""
    return 0 if _engine is None else int(_engine.MOST_NODES)


def most_threads(p: int) -> int:
    """Return in how many threads the compiled engine searches at most: each holds the correlations by itself."""
    return 1 if _engine is None else min(max(usual_memory() // (8 * p**2), 1), int(_engine.MOST_THREADS))


def check_engine(p: int) -> None:
    """Refuse to search without the compiled engine, or among more variables than it holds."""
    if _engine is None:
        raise LMarvelError(
            "Lift needs the compiled engine, which was not built here: reinstall lmarvel with a C++ compiler"
        )
    if p > (most := most_variables()):
        raise DataError(f"Lift searches among at most {most:,} variables, not {p:,}: use the method lmarvel")


def check_time(p: int, deadline: float) -> None:
    """Refuse to begin a search that cannot find a first graph in time: factors and inverses come before it."""
    if time.monotonic() + _LEAST_SECONDS * p**3 > deadline:
        raise OutOfTime


def checked_start(start: Marks, p: int) -> Marks:
    """Refuse a graph to start from that is no matrix of marks."""
    marks = np.asarray(start, dtype=np.int8)
    if marks.shape != (p, p) or ((marks == 0) != (marks.T == 0)).any() or ((marks < 0) | (marks > TAIL)).any():
        raise ParameterError(f"start must be a {p} x {p} matrix of the marks 0 to 3, with two marks for each edge")
    return marks


def checked_inflation(inflation: Matrix, p: int) -> Matrix:
    """Refuse factors of evidence that are no symmetric matrix of numbers of at least 1."""
    factor = np.asarray(inflation, dtype=np.float64)
    if (
        factor.shape != (p, p)
        or not np.array_equal(factor, factor.T)
        or not ((factor >= 1) & (factor < math.inf)).all()
    ):
        raise ParameterError(f"inflation must be a symmetric {p} x {p} matrix of numbers of at least 1")
    return factor


def checked(correlation: Matrix, n: int, penalty: float) -> Matrix:
    """Refuse a correlation matrix, rows or a penalty that no score can use; return the matrix, rounded.

    Models of equal score are many, and fits of nearly degenerate ones swing with the last digit of their input. So
    that digit must not decide: without rounding, one table in a hundred had another graph on another processor.
    """
    R = np.asarray(correlation, dtype=np.float64)
    if R.ndim != 2 or R.shape[0] != R.shape[1] or not len(R):
        raise DataError(f"a correlation matrix is square, not of shape {R.shape}")
    if not np.isfinite(R).all():
        x, y = np.argwhere(~np.isfinite(R))[0]
        raise DataError(f"the correlation of the variables number {x} and {y} is not a finite number")
    if not np.allclose(R, R.T, atol=1e-8) or not np.allclose(R.diagonal(), 1.0, atol=1e-8):
        raise DataError("a correlation matrix is symmetric, with ones on the diagonal: this one is not")
    if not penalty > 0:
        raise ParameterError(f"penalty must be above 0, not {penalty!r}; 2 is a usual choice")
    if n < _FEWEST_ROWS:
        raise DataError(f"{n} rows are too few: a score needs at least {_FEWEST_ROWS} rows")
    _refuse_copies(R)
    R = np.round(usable(R, n), _DIGITS)
    _refuse_singular(R)
    return R


def _refuse_copies(R: NDArray[np.float64]) -> None:
    """Name the first variable that is another one on its own scale; shrunk correlations would hide that."""
    copies = np.argwhere(np.tril(np.abs(R) > 1 - _SINGULAR, -1))
    if len(copies):
        raise DeterminedVariable(int(copies[0, 0]), [int(copies[0, 1])])


def _refuse_singular(R: NDArray[np.float64]) -> None:
    """Name the first variable that those before it determine."""
    with suppress(np.linalg.LinAlgError):
        if (np.linalg.cholesky(R).diagonal() ** 2 > 2 * _SINGULAR).all():
            return
    for k in range(1, len(R) + 1):
        try:
            pivot = float(np.linalg.cholesky(R[:k, :k])[-1, -1]) ** 2
        except np.linalg.LinAlgError:
            pivot = 0.0
        if pivot < _SINGULAR:
            raise DeterminedVariable(k - 1, determining(R, k - 1))
