"""M3HC: the MAG with the best BIC, by hill climbing over pairs that tests allow (Tsirlis et al. 2018).

1. *Restrict* (:mod:`lmarvel.score.restriction`): MMPC finds for each variable those that no small set separates from
   it. Only such pairs may be joined.
2. *Search*: begin with no edges. For each pair, but the one that was changed last, look at x --> y, y --> x, x <-> y
   and no edge; leave out what would not be ancestral, or would lead to one of the last 100 graphs (the tabu list).
   Make the move with the best BIC, even if it is worse than now, and remember the best graph. End after 50 moves
   without a better one.
3. *Complete*: where an inducing path joins two nodes that are not adjacent, no set separates them; x <-> y is added to
   make the graph maximal. That keeps the separations and stays ancestral (Richardson & Spirtes 2002, Theorem 5.1):
   if x were an ancestor of y, the path would end in v <-> y with v an ancestor of x or y, hence of y, and the
   graph would not have been ancestral.
4. The PAG of the MAG, by rules.

The search knows no undirected edges, so it cannot represent selection: on a selected sample it finds the best MAG
that has none. BIC = -2 l + log N (|V| + |E|), with l from :mod:`lmarvel.score.district`.

References
----------
Tsirlis, Lagani, Triantafillou & Tsamardinos, On scoring maximal ancestral graphs with the max-min hill climbing
algorithm, International Journal of Approximate Reasoning 102 (2018).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.base import checked_alpha
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.meter import BudgetSpent
from lmarvel.data.moments import Moments
from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.paths import collider_connected, members
from lmarvel.graph.separation import has_inducing_path
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.score.restriction import Progress, restrict
from lmarvel.score.rewrite import split
from lmarvel.score.scores import DistrictScores
from lmarvel.score.state import GLYPHS, MOVES, NO_EDGE, State

_NOISE = 1e-6  # differences of BIC below this are rounding


class Move(NamedTuple):
    """A move of the search: the edge between x and y before and after, and the BIC that it led to."""

    x: int
    y: int
    before: str
    after: str
    bic: float


@dataclass(frozen=True)
class M3HCResult:
    """What M3HC found.

    Attributes
    ----------
    mag, pag : MAG, PAG
        The best graph, made maximal, and its class.
    bic : float
        Its BIC.
    start_bic : float
        That of the graph without edges, where the search began.
    iterations : int
        Moves that were made.
    moves : tuple of Move
        Each of them, on positions.
    best_after : int
        The number of moves that led to the best graph.
    candidates : tuple of pairs
        The pairs that the tests left to the search.
    undecided : tuple of pairs
        Those among them that a budget kept from being tested.
    completed : tuple of pairs
        The pairs joined at the end to make the graph maximal.
    fits : int
        Districts that needed an iterative fit.
    converged : bool
        Whether all of these came to their end.
    ended : str or None
        Why a budget ended the run, None if none did.

    Examples
    --------
    >>> from lmarvel import FisherZ
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> test = FisherZ({"A": a, "B": a + noise})
    >>> found = m3hc(Ledger(test), None, test.moments)
    >>> found.candidates, found.best_after, found.moves[0].after, found.ended
    (((0, 1),), 1, '-->', None)
    """

    mag: MAG
    pag: PAG
    bic: float
    start_bic: float
    iterations: int
    moves: tuple[Move, ...]
    best_after: int
    candidates: tuple[tuple[int, int], ...]
    undecided: tuple[tuple[int, int], ...]
    completed: tuple[tuple[int, int], ...]
    fits: int
    converged: bool
    ended: str | None


def m3hc(
    ledger: Ledger,
    boundaries: list[set[int]] | None,
    moments: Moments,
    alpha: float = 0.01,
    max_k: int = 10,
    tabu: int = 100,
    patience: int = 50,
    max_iterations: int | None = None,
    progress: Progress | None = None,
    selection: bool = True,
) -> M3HCResult:
    """Learn a MAG and its PAG by restricted hill climbing on BIC.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted, in phase "restriction".
    boundaries : list of sets, optional
        Markov boundaries to choose pairs from; all pairs without.
    moments : Moments
        The data behind the score, over the variables of the ledger's test.
    alpha : float
        Level of the tests.
    max_k : int
        The largest conditioning set of the tests.
    tabu : int
        How many of the last graphs not to go back to.
    patience : int
        How many moves without a better graph to make before giving up.
    max_iterations : int, optional
        The most moves to make.
    progress : callable, optional
        Called with ("restriction", variables done, variables) and ("search", moves since the best graph, patience).
    selection : bool
        As in :func:`lmarvel.mag_to_pag`.

    Examples
    --------
    >>> from lmarvel import FisherZ
    >>> rng = np.random.default_rng(0)
    >>> a, b, u = rng.normal(size=(3, 2000))
    >>> c, d = a + u + rng.normal(size=2000), b + u + rng.normal(size=2000)
    >>> test = FisherZ({"A": a, "B": b, "C": c, "D": d})
    >>> found = m3hc(Ledger(test), None, test.moments)
    >>> print(found.pag)
    nodes: A B C D
    A o-> C
    B o-> D
    C <-> D
    >>> found.bic < found.start_bic
    True
    """
    _check(ledger, moments, alpha, max_k, tabu, patience, max_iterations)
    report = progress or _silent
    correlation = moments.correlation()
    limits = restrict(ledger, boundaries, correlation, alpha, max_k, report)
    climb = Climb(DistrictScores(correlation, moments.n), limits.pairs)
    start = climb.bic
    found = _search(climb, ledger, tabu, patience, max_iterations, report)
    mag, completed = maximal(moments.names, found.marks)
    constant = moments.n * float(np.log(moments.covariance.diagonal()).sum())  # from correlations to covariances
    return M3HCResult(
        mag=mag,
        pag=mag_to_pag(mag, selection),
        bic=climb.bic_of(mag) + constant,
        start_bic=start + constant,
        iterations=len(found.moves),
        moves=tuple(move._replace(bic=move.bic + constant) for move in found.moves),
        best_after=found.best_after,
        candidates=tuple(limits.pairs),
        undecided=tuple(limits.undecided),
        completed=tuple(completed),
        fits=climb.scores.fits,
        converged=climb.scores.converged,
        ended=limits.ended or found.ended,
    )


class _Found(NamedTuple):
    moves: list[Move]
    marks: NDArray[np.int8]
    best_after: int
    ended: str | None


def _search(
    climb: Climb, ledger: Ledger, tabu: int, patience: int, max_iterations: int | None, report: Progress
) -> _Found:
    """Move until nothing better was found for a while; return the moves and the best graph."""
    best, marks, best_after = climb.bic, climb.state.marks(), 0
    moves: list[Move] = []
    recent: deque[int] = deque([climb.key], maxlen=tabu)
    try:
        while len(moves) - best_after < patience and (max_iterations is None or len(moves) < max_iterations):
            ledger.meter.check_time()
            move = climb.step(ledger, set(recent))
            if move is None:
                break
            moves.append(move)
            recent.append(climb.key)
            if move.bic < best - _NOISE:
                best, marks, best_after = move.bic, climb.state.marks(), len(moves)
            report("search", len(moves) - best_after, patience)
    except BudgetSpent as spent:
        return _Found(moves, marks, best_after, str(spent))
    return _Found(moves, marks, best_after, None)


class Climb:
    """The present graph, its score, and what each move would change.

    Examples
    --------
    >>> climb = Climb(DistrictScores(np.array([[1.0, 0.6], [0.6, 1.0]]), n=100), [(0, 1)])
    >>> before = climb.bic
    >>> gain = climb.gain(0, 1, kind=1)
    >>> climb.apply(0, kind=1)
    >>> abs(climb.bic - before - gain) < 1e-9
    True
    """

    def __init__(self, scores: DistrictScores, pairs: list[tuple[int, int]]) -> None:
        n = len(scores.correlation)
        self.scores = scores
        self.pairs = pairs
        self.state = State(n)
        self.key = 0  # the edges of all pairs, two bits each: one number a graph
        self.last: int | None = None
        self._log_n = math.log(scores.n)
        self._districts = {1 << v: scores.of(1 << v, self.state.parents, self.state.spouses) for v in range(n)}
        self._of = [1 << v for v in range(n)]
        self._pairs_of: list[list[int]] = [[] for _ in range(n)]
        for index, pair in enumerate(pairs):
            for v in pair:
                self._pairs_of[v].append(index)
        self._gains: list[list[float | None]] = [[None] * len(MOVES) for _ in pairs]

    @property
    def bic(self) -> float:
        """The BIC of the present graph, of standardised data."""
        return self._penalised(math.fsum(self._districts.values()), self.state.n_edges)

    def bic_of(self, graph: MixedGraph) -> float:
        """Return the BIC of any graph with directed and bidirected edges, of standardised data."""
        masks = graph.masks
        beside = dict(enumerate(masks.spouses))
        districts = (sum(1 << v for v in district) for district in split(beside))
        likelihood = math.fsum(self.scores.of(mask, masks.parents, masks.spouses) for mask in districts)
        return self._penalised(likelihood, graph.n_edges)

    def _penalised(self, likelihood: float, n_edges: int) -> float:
        return self.scores.n * likelihood + self._log_n * (len(self._of) + n_edges)

    def step(self, ledger: Ledger, tabu: set[int]) -> Move | None:
        """Make the best move that is legal and leads to none of the tabu graphs; None if there is none."""
        best, choice, target = math.inf, -1, NO_EDGE
        for index, (x, y) in enumerate(self.pairs):
            if index == self.last:
                continue
            present = self.key >> 2 * index & 3
            gains = self._gains[index]
            for kind in MOVES:
                gain = gains[kind]
                # The first of equals wins, so that rounding does not decide.
                if kind == present or (gain is not None and gain >= best - _NOISE):
                    continue
                if not self.state.is_legal(x, y, kind):
                    continue
                if gain is None:
                    ledger.meter.check_time()
                    gain = gains[kind] = self.gain(x, y, kind)
                if gain < best - _NOISE and self.key ^ (present ^ kind) << 2 * index not in tabu:
                    best, choice, target = gain, index, kind
        if choice < 0:
            return None
        x, y = self.pairs[choice]
        before = self.key >> 2 * choice & 3
        self.apply(choice, target)
        self.last = choice
        return Move(x, y, GLYPHS[before], GLYPHS[target], self.bic)

    def gain(self, x: int, y: int, kind: int) -> float:
        """Return by how much the BIC would change if this edge took the place of the present one."""
        state, present = self.state, self.state.edge(x, y)
        old = {self._of[x], self._of[y]}
        state.set_edge(x, y, kind)
        new = {state.district(x), state.district(y)}
        likelihood = math.fsum(self.scores.of(district, state.parents, state.spouses) for district in new)
        state.set_edge(x, y, present)
        change = self.scores.n * (likelihood - math.fsum(self._districts[district] for district in old))
        return change + self._log_n * ((kind != NO_EDGE) - (present != NO_EDGE))

    def apply(self, index: int, kind: int) -> None:
        """Make a legal move, and forget the gains of all pairs that touch a changed district."""
        x, y = self.pairs[index]
        self.key ^= (self.key >> 2 * index & 3 ^ kind) << 2 * index
        touched = self._of[x] | self._of[y]
        for district in {self._of[x], self._of[y]}:
            del self._districts[district]
        state = self.state
        state.apply(x, y, kind)
        for district in {state.district(x), state.district(y)}:
            self._districts[district] = self.scores.of(district, state.parents, state.spouses)
            for v in members(district):
                self._of[v] = district
        for v in members(touched):
            for pair in self._pairs_of[v]:
                self._gains[pair] = [None] * len(MOVES)


def maximal(names: tuple[str, ...], marks: NDArray[np.int8]) -> tuple[MAG, list[tuple[int, int]]]:
    """Join the pairs that an inducing path makes inseparable; return the MAG and these pairs.

    Examples
    --------
    >>> graph = MixedGraph.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    >>> mag, added = maximal(graph.names, graph.marks)
    >>> [str(mag.edge(x, y)) for x, y in added]
    ['A <-> D']
    """
    graph = MixedGraph(names, marks)
    added = []
    for x in range(len(graph)):
        near = collider_connected(graph, x) & ~graph.masks.adjacent[x]
        added += [(x, y) for y in members(near >> (x + 1) << (x + 1)) if has_inducing_path(graph, x, y, 0, 0)]
    complete = graph.marks.copy()
    for x, y in added:
        complete[x, y] = complete[y, x] = ARROW
    return MAG(names, complete), added


def _check(
    ledger: Ledger,
    moments: Moments,
    alpha: float,
    max_k: int,
    tabu: int,
    patience: int,
    max_iterations: int | None,
) -> None:
    checked_alpha(alpha)
    if tuple(ledger.names) != tuple(moments.names):
        raise ParameterError("the test and the moments must be over the same variables, in the same order")
    for name, value, least in (
        ("max_k", max_k, 0),
        ("tabu", tabu, 1),
        ("patience", patience, 1),
        ("max_iterations", max_iterations, 0),
    ):
        if name == "max_iterations" and value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""
