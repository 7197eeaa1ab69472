"""Hill climbing with a tabu list: the best move, even if it leads down, but to none of the last graphs.

To the greedy search of :mod:`lmarvel.search.climb` this adds a way out of local optima (Glover 1989). The best graph is
remembered, and the walk ends after so many moves without a better one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from lmarvel.ci.ledger import Meter
from lmarvel.errors import BudgetSpent
from lmarvel.search.ancestral import GLYPHS, MOVES, AncestralGraph, Marks
from lmarvel.search.climb import Climb
from lmarvel.search.constants import LIFT
from lmarvel.search.scores import BlockScores, minus_two_log_likelihood
from lmarvel.skeleton.state import Pair, Progress

_BITS = 3  # that tell the edge of a pair


class Move(NamedTuple):
    """A move of the search: the edge between x and y before and after, and the BIC that it led to."""

    x: int
    y: int
    before: str
    after: str
    bic: float


class Climbed(NamedTuple):
    """The moves, the best graph, after how many moves it was met, the pairs that are open, and what ended the climb."""

    moves: list[Move]
    marks: Marks
    best_after: int
    unsettled: list[Pair]
    ended: str | None


class TabuClimb(Climb):
    """The present graph, its BIC, and what each move would change.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel.search.scores import GaussianBlocks
    >>> R = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> climb = TabuClimb(GaussianBlocks(R, n=100), AncestralGraph(2), [(0, 1)])
    >>> climb.step(Meter(), tabu=()).after, climb.step(Meter(), tabu=())
    ('-->', None)
    """

    def __init__(
        self, scores: BlockScores, graph: AncestralGraph, pairs: Sequence[Pair], kinds: Sequence[int] = MOVES
    ) -> None:
        super().__init__(scores, graph, math.log(scores.n), pairs, kinds)
        # The edges of all pairs: one number a graph.
        self.key = sum(graph.edge(x, y) << _BITS * index for index, (x, y) in enumerate(self.pairs))
        self._last = -1

    @property
    def score(self) -> float:
        """The BIC of the present graph, of standardised data."""
        return self.scores.n * math.fsum(self._value.values()) + self._penalty(self.graph)

    def score_of(self, graph: AncestralGraph) -> float:
        """Return the BIC of any graph."""
        return minus_two_log_likelihood(self.scores, graph) + self._penalty(graph)

    def _penalty(self, graph: AncestralGraph) -> float:
        return self.price * (len(graph) + graph.n_edges)

    def step(self, meter: Meter, tabu: Container[int]) -> Move | None:
        """Make the best move that is legal and leads to none of the tabu graphs; None if there is none."""
        best, choice = math.inf, None
        for index, (x, y) in enumerate(self.pairs):
            if index == self._last:
                continue
            present, gains = self.graph.edge(x, y), self._gains[index]
            for kind in self.kinds:
                gain = gains.get(kind)
                # The first of equals wins, so that rounding does not decide.
                if kind == present or (gain is not None and gain >= best - LIFT.noise):
                    continue
                if not self.graph.is_legal(x, y, kind):
                    continue
                if gain is None:
                    meter.check_time()
                    gain = gains[kind] = self.gain(x, y, kind)
                if gain < best - LIFT.noise:
                    target = self.key ^ (present ^ kind) << _BITS * index
                    if target not in tabu:
                        best, choice = gain, (index, present, kind, target)
        if choice is None:
            return None
        self._last, before, after, self.key = choice
        x, y = self.pairs[self._last]
        self.apply(x, y, after)
        return Move(x, y, GLYPHS[before], GLYPHS[after], self.score)

    def unsettled(self) -> Iterator[Pair]:
        """Iterate over the pairs of which another edge is legal, and better than the present one or not yet scored."""
        for (x, y), gains in zip(self.pairs, self._gains, strict=True):
            present = self.graph.edge(x, y)
            others = (kind for kind in self.kinds if kind != present and self.graph.is_legal(x, y, kind))
            if any(gains.get(kind, -math.inf) < -LIFT.noise for kind in others):
                yield x, y


def climb_on(
    climb: TabuClimb, meter: Meter, tabu: int, patience: int, max_iterations: int | None, report: Progress
) -> Climbed:
    """Move until nothing better was found for a while; return the moves and the best graph.

    Where the time is up before the best graph was left behind, edges that might have been better are open; once it was
    left behind, all changes of one edge were looked at and none was better.
    """
    best, marks, best_after = climb.score, climb.graph.marks(), 0
    moves: list[Move] = []
    recent: deque[int] = deque([climb.key], maxlen=tabu)
    try:
        while len(moves) - best_after < patience and (max_iterations is None or len(moves) < max_iterations):
            meter.check_time()
            move = climb.step(meter, set(recent))
            if move is None:
                break
            moves.append(move)
            recent.append(climb.key)
            if move.bic < best - LIFT.noise:
                best, marks, best_after = move.bic, climb.graph.marks(), len(moves)
            report("search", len(moves) - best_after, patience)
    except BudgetSpent as spent:
        unsettled = list(climb.unsettled()) if best_after == len(moves) else []
        return Climbed(moves, marks, best_after, unsettled, str(spent))
    return Climbed(moves, marks, best_after, [], None)
