"""Greedy search by single edges: the best change of one edge, again and again.

A change puts one of x --> y, x <-- y, x <-> y, x --- y or no edge in place of the present one, where the graph stays
ancestral. It changes the blocks of x and y only (:mod:`lmarvel.search.scores`), so what each change would gain is
kept until a block that it depends on has changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lmarvel.graph.bitsets import members
from lmarvel.search.ancestral import KINDS, NO_EDGE, AncestralGraph
from lmarvel.search.record import Record
from lmarvel.search.scores import BlockScores


class Climb:
    """A graph, its score, and what a change of one edge would gain.

    Parameters
    ----------
    scores : BlockScores
        The scores of blocks.
    graph : AncestralGraph
        Where to begin; it is changed.
    price : float
        What an edge costs.
    pairs : iterable of pairs
        The pairs whose edges may change.
    kinds : sequence of int
        The edges that may be put.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel.search.scores import GaussianBlocks
    >>> R = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])     # 0 --> 2 <-- 1
    >>> climb = Climb(GaussianBlocks(R, 500), AncestralGraph(3), 12.4, [(0, 1), (0, 2), (1, 2)])
    >>> before = climb.score
    >>> gain = climb.gain(0, 2, kind=1)
    >>> climb.apply(0, 2, kind=1)
    >>> abs(climb.score - before - gain) < 1e-9, climb.run(Record()).n_edges
    (True, 2)
    """

    def __init__(
        self,
        scores: BlockScores,
        graph: AncestralGraph,
        price: float,
        pairs: Iterable[tuple[int, int]] = (),
        kinds: Sequence[int] = KINDS,
    ) -> None:
        self.scores = scores
        self.graph = graph
        self.price = price
        self.pairs = list(pairs)
        self.kinds = kinds
        self._of = [0] * len(graph)
        self._value: dict[int, float] = {}
        for v in range(len(graph)):
            if not self._of[v]:
                self._rate(graph.block(v))
        self._gains: list[dict[int, float]] = [{} for _ in self.pairs]
        self._pairs_of: list[list[int]] = [[] for _ in range(len(graph))]
        for index, pair in enumerate(self.pairs):
            for v in pair:
                self._pairs_of[v].append(index)

    @property
    def score(self) -> float:
        """The score of the present graph."""
        return self.scores.n * math.fsum(self._value.values()) + self.price * self.graph.n_edges

    def _rate(self, block: int) -> None:
        self._value[block] = self.scores.of_block(block, self.graph)
        for v in members(block):
            self._of[v] = block

    def gain(self, x: int, y: int, kind: int) -> float:
        """Return by how much the score would change if this edge took the place of the present one."""
        graph, present = self.graph, self.graph.edge(x, y)
        old = math.fsum(self._value[block] for block in {self._of[x], self._of[y]})
        graph.set_edge(x, y, kind)
        new = math.fsum(self.scores.of_block(block, graph) for block in {graph.block(x), graph.block(y)})
        graph.set_edge(x, y, present)
        return self.scores.n * (new - old) + self.price * ((kind != NO_EDGE) - (present != NO_EDGE))

    def apply(self, x: int, y: int, kind: int) -> None:
        """Make a legal change, and forget the gains of all pairs that touch a changed block."""
        graph = self.graph
        touched = self._of[x] | self._of[y]
        for block in {self._of[x], self._of[y]}:
            del self._value[block]
        graph.apply(x, y, kind)
        for block in {graph.block(x), graph.block(y)}:
            self._rate(block)
        for v in members(touched):
            for index in self._pairs_of[v]:
                self._gains[index].clear()

    def run(self, record: Record, most: int | None = None) -> AncestralGraph:
        """Make the best change while the score falls, at most so many; return the graph."""
        made = 0
        while most is None or made < most:
            change = self._best(record)
            if change is None:
                break
            self.apply(*change)
            record.see(self.score, self.graph)
            made += 1
        return self.graph

    def _best(self, record: Record) -> tuple[int, int, int] | None:
        """Return the change that lowers the score most, the first of equals; None if none lowers it."""
        graph, noise = self.graph, record.noise
        best, choice = -noise, None
        for (x, y), gains in zip(self.pairs, self._gains, strict=True):
            present = graph.edge(x, y)
            for kind in self.kinds:
                gain = gains.get(kind)
                # The first of equals wins, so that rounding does not decide.
                if kind == present or (gain is not None and gain >= best - noise) or not graph.is_legal(x, y, kind):
                    continue
                if gain is None:
                    record.check()
                    gain = gains[kind] = self.gain(x, y, kind)
                if gain < best - noise or (choice is None and gain < best):
                    best, choice = gain, (x, y, kind)
        return choice
