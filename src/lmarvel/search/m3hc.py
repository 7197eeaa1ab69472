"""M3HC: the MAG with the best BIC, by hill climbing over pairs that tests allow (Tsirlis et al. 2018).

1. *Restrict* (:mod:`lmarvel.search.restriction`): MMPC finds for each variable those that no small set separates from
   it. Only such pairs may be joined, and those that are joined in a graph to start from.
2. *Search* (:mod:`lmarvel.search.tabu`): begin with no edges, or with a graph that is given. For each pair, but the one
   that was changed last, look at x --> y, y --> x, x <-> y and no edge; leave out what would not be ancestral, or would
   lead to one of the last 100 graphs (the tabu list). Make the move with the best BIC, even if it is worse than now,
   and remember the best graph. End after 50 moves without a better one.
3. *Complete*: where an inducing path joins two nodes that are not adjacent, no set separates them; x <-> y is added to
   make the graph maximal (:func:`lmarvel.graph.kinds.maximal`).
4. The PAG of the MAG, by rules.

The method of the paper knows no undirected edges, so it cannot represent selection: on a selected sample it finds the
best MAG that has none. With ``undirected`` the search looks at x --- y too. BIC = -2 l + log N (|V| + |E|), with l from
:mod:`lmarvel.search.scores`.

References
----------
Tsirlis, Lagani, Triantafillou & Tsamardinos, On scoring maximal ancestral graphs with the max-min hill climbing
algorithm, International Journal of Approximate Reasoning 102 (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import checked_alpha
from lmarvel.data.moments import Moments
from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG, PAG, maximal
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.search.ancestral import KINDS, MOVES, AncestralGraph
from lmarvel.search.limits import Limits
from lmarvel.search.restriction import restrict
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from lmarvel.search.tabu import Move, TabuClimb, climb_on
from lmarvel.skeleton.state import Pair, Progress, silent


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
        That of the graph where the search began.
    refused : str or None
        Why the search began without edges though a graph to start from was given; None if it did not.
    iterations : int
        Moves that were made.
    moves : tuple of Move
        Each of them, on positions.
    best_after : int
        The number of moves that led to the best graph.
    candidates : tuple of pairs
        The pairs that were left to the search: by the tests, or as edges of the graph to start from.
    untested : tuple of pairs
        Those among them that a budget or a limit kept from being tested to the end.
    unscored : tuple of pairs
        Those among them whose edge was not yet the best one, as far as is known, when the time for the search was up.
    completed : tuple of pairs
        The pairs joined at the end to make the graph maximal.
    fits : int
        Blocks that needed an iterative fit.
    converged : bool
        Whether all of these came to their end.
    ended : str or None
        What ended the tests or the search early, and when; None if nothing did.

    Examples
    --------
    >>> from lmarvel import FisherZ
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> test = FisherZ({"A": a, "B": a + noise})
    >>> found = m3hc(Ledger(test), None, test.moments)
    >>> found.candidates, found.best_after, found.moves[0].after, found.undecided, found.ended
    (((0, 1),), 1, '-->', (), None)
    """

    mag: MAG
    pag: PAG
    bic: float
    start_bic: float
    refused: str | None
    iterations: int
    moves: tuple[Move, ...]
    best_after: int
    candidates: tuple[Pair, ...]
    untested: tuple[Pair, ...]
    unscored: tuple[Pair, ...]
    completed: tuple[Pair, ...]
    fits: int
    converged: bool
    ended: str | None

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that are open, since tests or the search ended early."""
        return tuple(sorted({*self.untested, *self.unscored}))


def m3hc(
    ledger: Ledger,
    boundaries: list[set[int]] | None,
    moments: Moments,
    alpha: float = 0.01,
    max_k: int = 10,
    tabu: int = 100,
    patience: int = 50,
    max_iterations: int | None = None,
    progress: Progress = silent,
    selection: bool = True,
    undirected: bool = False,
    start: MAG | None = None,
    known: Known | None = None,
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
    progress : callable
        Called with ("restriction", variables done, variables) and ("search", moves since the best graph, patience).
    selection : bool
        As in :func:`lmarvel.mag_to_pag`; False rules undirected edges out.
    undirected : bool
        Whether the search looks at undirected edges.
    start : MAG, optional
        Where to begin; without edges by default.
    known : Known, optional
        What is known beforehand: no move breaks it.

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
    checked_alpha(alpha)
    check_limits(max_k, tabu, patience, max_iterations)
    if tuple(ledger.names) != tuple(moments.names):
        raise ParameterError("the test and the moments must be over the same variables, in the same order")
    correlation = moments.correlation()
    limits = restrict(ledger, boundaries, correlation, alpha, max_k, progress)
    scores = GaussianBlocks(correlation, moments.n)
    kinds = KINDS if undirected and selection else MOVES
    graph, refused = _beginning(start, scores, kinds)
    if known is not None:
        graph = Limits(known).repaired(graph)
    pairs = sorted({*limits.pairs, *_edges(graph)})
    climb = TabuClimb(scores, graph, pairs, kinds)
    first = climb.score
    found = climb_on(climb, ledger.meter, tabu, patience, max_iterations, progress)
    mag, completed = maximal(moments.names, found.marks)
    constant = moments.n * float(np.log(moments.covariance.diagonal()).sum())  # from correlations to covariances
    return M3HCResult(
        mag=mag,
        pag=mag_to_pag(mag, selection),
        bic=climb.score_of(AncestralGraph.of_marks(mag.marks)) + constant,
        start_bic=first + constant,
        refused=refused,
        iterations=len(found.moves),
        moves=tuple(move._replace(bic=move.bic + constant) for move in found.moves),
        best_after=found.best_after,
        candidates=tuple(pairs),
        untested=tuple(limits.undecided),
        unscored=tuple(found.unsettled),
        completed=tuple(completed),
        fits=scores.fits,
        converged=scores.converged,
        ended=_reasons(limits.ended or (ledger.limit if limits.undecided else None), found.ended),
    )


def _beginning(start: MAG | None, scores: GaussianBlocks, kinds: tuple[int, ...]) -> tuple[AncestralGraph, str | None]:
    """Return the graph to begin with; and why it is the one without edges, where another was given."""
    empty = AncestralGraph(len(scores.correlation))
    if start is None:
        return empty, None
    graph = AncestralGraph.of_marks(start.marks)
    if any(graph.neighbors) and kinds is MOVES:
        return empty, "it has undirected edges, which this search does not know"
    if not math.isfinite(minus_two_log_likelihood(scores, graph)):
        return empty, "its likelihood has no maximum on these data"
    return graph, None


def _edges(graph: AncestralGraph) -> list[Pair]:
    return [(x, y) for x in range(len(graph)) for y in members(graph.adjacent(x)) if x < y]


def _reasons(tests: str | None, search: str | None) -> str | None:
    """Say what ended the tests and the search early."""
    reasons = {} if tests is None else {tests: "while pairs were tested"}
    if search is not None:  # time that is up in the tests is up in the search as well, and told once
        reasons.setdefault(search, "while edges were changed")
    return "; ".join(f"{reason} {when}" for reason, when in reasons.items()) or None


def check_limits(max_k: int, tabu: int, patience: int, max_iterations: int | None) -> None:
    """Refuse limits that make no sense.

    Examples
    --------
    >>> check_limits(max_k=10, tabu=0, patience=50, max_iterations=None)
    Traceback (most recent call last):
    ...
    lmarvel.errors.ParameterError: tabu must be a whole number of at least 1, not 0
    """
    limits = (("max_k", max_k, 0), ("tabu", tabu, 1), ("patience", patience, 1), ("max_iterations", max_iterations, 0))
    for name, value, least in limits:
        if name == "max_iterations" and value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ParameterError(f"must be a whole number of at least {least}, not {value!r}", parameter=name)
