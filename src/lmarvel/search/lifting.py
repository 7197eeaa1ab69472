"""From a DAG to an ancestral graph: undirected edges where the sample was selected, bidirected ones over latent causes.

A DAG is a good start, and single changes of edges do not lead far from it: selection makes a whole region undirected
at once, and the DAG has many edges there that the undirected graph does not need. So there are larger steps, taken in
turn:

* **undirect**: take a variable with all its anteriors (4 to 30 of them, no <-> among them). Every edge inside becomes
  ---, after parents of a common child were joined, so that nothing that the DAG allowed is lost; <-> that leave the
  set become -->. Then edges that are not worth their price go. The best set is taken, while the score falls.
* **single**: changes of one edge, between pairs that are joined or depend on each other given all others.
* **bidirect**: x --> y becomes x <-> y, then single changes of the edges at x and y. This and single changes with <->
  are kept only if they gain clearly, since a latent cause explains much.
* chordal undirected components are directed again, which leaves the class as it is, so that arrows may enter them.

Where a variable is one column, the compiled search takes the same steps (``engine/lift/climb``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.bitsets import closure, members
from lmarvel.search.ancestral import BACK, BOTH, FORTH, NO_EDGE, UNDIRECTED, AncestralGraph, direct_chordal
from lmarvel.search.climb import Climb
from lmarvel.search.constants import LIFT
from lmarvel.search.record import Record
from lmarvel.search.scores import BlockScores, minus_two_log_likelihood

Pairs = NDArray[np.bool_]
Thin = Callable[[list[int], Pairs], Pairs]
"""From some variables, and which of them are joined, to the edges that are worth their price."""


class Lifting:
    """The search over ancestral graphs.

    Parameters
    ----------
    scores : BlockScores
        The scores of blocks.
    near : boolean array
        Which pairs depend on each other given all others so clearly that an edge may be worth its price.
    thin : callable
        Takes undirected edges off.
    price : float
        What an edge costs.
    record : Record
        Where graphs are noted, and the deadline.
    selection, latents : bool
        Whether undirected and bidirected edges are allowed.

    Examples
    --------
    >>> from lmarvel.search.scores import GaussianBlocks
    >>> R = np.eye(4) + 0.45 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> lifting = Lifting(GaussianBlocks(R, 2000), R > -1, lambda nodes, joined: joined, 15.2, Record())
    >>> graph, score = lifting.climb(AncestralGraph.of_parents([0, 0b0001, 0b0011, 0b0111]))
    >>> graph.n_edges, graph.edge(1, 2) == BOTH                           # 0 o-> 1 <-> 2 <-o 3
    (3, True)
    """

    def __init__(
        self,
        scores: BlockScores,
        near: Pairs,
        thin: Thin,
        price: float,
        record: Record,
        selection: bool = True,
        latents: bool = True,
    ) -> None:
        self.scores = scores
        self.thin = thin
        self.price = price
        self.record = record
        self.selection = selection
        self.latents = latents
        self._near = near
        self._thinned: dict[tuple[int, bytes], Pairs] = {}

    def score(self, graph: AncestralGraph) -> float:
        """Return the score of a graph."""
        return minus_two_log_likelihood(self.scores, graph) + self.price * graph.n_edges

    def climb(self, graph: AncestralGraph) -> tuple[AncestralGraph, float]:
        """Take all kinds of steps from a graph until the score rests; return the graph and its score."""
        score = self.score(graph)
        self.record.see(score, graph)
        noise = self.record.noise
        for _ in range(LIFT.climb_rounds):
            before = score
            if self.selection:
                graph, score = self._undirect(graph, score)
            graph, score = self._single(graph, score, latents=False)
            if self.latents:
                lifted, better = self._single(*self._bidirect(graph, score), latents=True)
                if better < score - max(noise, LIFT.margin * self.price):
                    graph, score = lifted, better
            if score > before - noise:
                break
            graph = direct_chordal(graph)
        return graph, score

    # --- undirected edges -------------------------------------------------------------------------------

    def _undirect(self, graph: AncestralGraph, score: float) -> tuple[AncestralGraph, float]:
        """Undirect the set of anteriors that gains most, while one gains."""
        while True:
            best, found = score - self.record.noise, None
            for candidate in self._undirected(graph):
                self.record.check()
                value = self.score(candidate)
                self.record.see(value, candidate)
                if value < best:
                    best, found = value, candidate
            if found is None:
                return graph, score
            graph, score = found, best

    def _undirected(self, graph: AncestralGraph) -> Iterator[AncestralGraph]:
        """Iterate over the graphs with one set of anteriors undirected."""
        step = [up | beside for up, beside in zip(graph.parents, graph.neighbors, strict=True)]
        anteriors = dict.fromkeys(closure(step, 1 << v) for v in range(len(graph)))
        for nodes in anteriors:
            if LIFT.smallest_region <= nodes.bit_count() <= LIFT.largest_region:
                candidate = undirected(graph, nodes)
                if candidate is not None:
                    self._thin(candidate, nodes)
                    if candidate.limits is None or candidate.limits.fits(candidate):
                        yield candidate

    def _thin(self, graph: AncestralGraph, nodes: int) -> None:
        """Take the undirected edges among nodes off that are not worth their price."""
        order = list(members(nodes))
        joined = np.array([[bool(graph.neighbors[v] >> u & 1) for u in order] for v in order])
        key = nodes, joined.tobytes()
        if key not in self._thinned:
            self._thinned[key] = self.thin(order, joined)
        for i, j in np.argwhere(np.triu(joined & ~self._thinned[key])).tolist():
            graph.set_edge(order[i], order[j], NO_EDGE)

    # --- single edges and latent causes -----------------------------------------------------------------

    def _single(self, graph: AncestralGraph, score: float, latents: bool) -> tuple[AncestralGraph, float]:
        """Change single edges."""
        pairs = [
            (x, y)
            for x in range(len(graph))
            for y in range(x + 1, len(graph))
            if self._near[x, y] or graph.adjacent(x) >> y & 1
        ]
        climb = Climb(self.scores, graph.copy(), self.price, pairs, self._kinds(latents))
        found = climb.run(self.record)
        return (found, climb.score) if climb.score < score - self.record.noise else (graph, score)

    def _kinds(self, latents: bool) -> tuple[int, ...]:
        kinds = (FORTH, BACK, BOTH, NO_EDGE) if latents else (FORTH, BACK, NO_EDGE)
        return (*kinds, UNDIRECTED) if self.selection else kinds

    def _bidirect(self, graph: AncestralGraph, score: float) -> tuple[AncestralGraph, float]:
        """Make a directed edge bidirected, and adapt the edges at its ends; keep what gains."""
        improved = True
        while improved:
            improved = False
            for x, y in [(cause, effect) for effect, causes in enumerate(graph.parents) for cause in members(causes)]:
                candidate = bidirected(graph, x, y) if graph.parents[y] >> x & 1 else None
                if candidate is None:
                    continue
                ends = {(min(v, u), max(v, u)) for v in (x, y) for u in members(candidate.adjacent(v))}
                climb = Climb(self.scores, candidate, self.price, sorted(ends), (NO_EDGE,))
                # What x <-> y is good for is that an edge becomes superfluous; only then other changes are tried.
                if climb.score > score - self.record.noise:
                    climb.run(self.record, 1)
                if climb.score > score - self.record.noise:
                    continue
                climb = Climb(self.scores, candidate, self.price, sorted(ends), (NO_EDGE, BOTH, FORTH, BACK))
                climb.run(self.record, LIFT.local_steps)
                if climb.score < score - self.record.noise:
                    graph, score, improved = candidate, climb.score, True
        return graph, score


def undirected(graph: AncestralGraph, nodes: int) -> AncestralGraph | None:
    """Return the graph in which an anterior set has undirected edges only; None where that cannot be.

    Examples
    --------
    >>> found = undirected(AncestralGraph.of_parents([0, 0, 0b011, 0b100]), 0b0111)     # 0 --> 2 <-- 1, 2 --> 3
    >>> found.neighbors == [0b110, 0b101, 0b011, 0], found.parents[3] == 0b100
    (True, True)
    """
    twin = graph.copy()
    for v in members(nodes):
        if graph.spouses[v] & nodes:
            return None
        for w in members(graph.spouses[v]):
            twin.set_edge(v, w, FORTH)
    for v in members(nodes):
        parents = list(members(graph.parents[v]))
        for i, u in enumerate(parents):
            twin.set_edge(u, v, UNDIRECTED)
            for w in parents[i + 1 :]:
                if not twin.adjacent(u) >> w & 1:
                    twin.set_edge(u, w, UNDIRECTED)
    return twin if twin.settle() else None


def bidirected(graph: AncestralGraph, x: int, y: int) -> AncestralGraph | None:
    """Return the graph with x <-> y in place of x --> y; None where that cannot be.

    What lies between them (x --> z, z an ancestor of y) forbids it. Then x --> z is turned round: a DAG is one of
    many with its class, and in another one x may come later.

    Examples
    --------
    >>> found = bidirected(AncestralGraph.of_parents([0, 0b001, 0b011]), 0, 2)     # 0 --> 1 --> 2, 0 --> 2
    >>> found.edge(0, 2) == BOTH, found.edge(0, 1) == BACK
    (True, True)
    """
    twin = graph.copy()
    if not graph.is_legal(x, y, BOTH):
        for z in members(graph.children[x] & graph.ancestors[y] & ~(1 << y)):
            twin.set_edge(z, x, FORTH)
    twin.set_edge(x, y, BOTH)
    return twin if twin.settle() else None
