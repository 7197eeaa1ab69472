"""Which graphs a search by score may walk over, where something is known beforehand.

A graph fits if its edges, marks and paths break no statement. Single moves are judged where they are
(:meth:`Limits.allows`); a graph in which several edges changed is judged as a whole (:meth:`Limits.fits`). Orders of
variables know only parents: :meth:`Limits.allowed` names those that no statement excludes, and :meth:`Limits.repaired`
turns the DAG of an order into one that fits. The compiled search has a twin (``engine/lift/limits.hpp``).
"""

from __future__ import annotations

import numpy as np

from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.knowledge.closure import Known
from lmarvel.search.ancestral import BOTH, FORTH, NO_EDGE, UNDIRECTED, AncestralGraph


class Limits:
    """What is known, as a search over ancestral graphs needs it.

    Examples
    --------
    >>> from lmarvel.knowledge import Knowledge
    >>> said = Knowledge(tiers=[["A"], ["B", "C"]], no_edges=[("B", "C")])
    >>> limits = Limits(Known.of(said.statements, ["A", "B", "C"]))
    >>> graph = limits.begun(3)
    >>> [graph.is_legal(*move) for move in ((0, 1, FORTH), (1, 0, FORTH), (1, 2, FORTH), (0, 2, BOTH))]
    [True, False, False, True]
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.never = [bits(np.flatnonzero(row).tolist()) for row in known.never]  # that a node is not anterior to
        self.not_from = [bits(np.flatnonzero(column).tolist()) for column in known.never.T]
        self.effects = [bits(np.flatnonzero(row).tolist()) for row in known.said_causes]
        by_tier = np.asarray(known.tier)
        tiered = bool((known.never == (by_tier[:, None] > by_tier[None, :])).all()) and 0 not in known.tier
        self.local = tiered and not any(self.effects)  # then no path breaks what no edge breaks

    def allows(self, graph: AncestralGraph, x: int, y: int, kind: int) -> bool:
        """Tell whether a graph that fits still does with this edge in place of the present one."""
        if not self._edge_fits(x, y, kind):
            return False
        if self.local or not (any(self.never) or any(self.effects)):
            return True
        twin = graph.copy()
        twin.limits = None
        twin.apply(x, y, kind)
        return self._paths_fit(twin)

    def fits(self, graph: AncestralGraph) -> bool:
        """Tell whether a graph breaks no statement."""
        n = len(graph)
        pairs = ((x, y) for x in range(n) for y in range(x + 1, n))
        return all(self._edge_fits(x, y, graph.edge(x, y)) for x, y in pairs) and self._paths_fit(graph)

    def _edge_fits(self, x: int, y: int, kind: int) -> bool:
        known = self.known
        if kind == NO_EDGE:
            return not known.required[x, y]
        if known.forbidden[x, y]:
            return False
        forth, back = self.never[x] >> y & 1, self.never[y] >> x & 1
        if kind == UNDIRECTED:
            return known.selection and not forth and not back
        if kind == BOTH:
            return not (known.unconfounded[x, y] or known.causes[x, y] or known.causes[y, x])
        return not (forth if kind == FORTH else back)

    def _paths_fit(self, graph: AncestralGraph) -> bool:
        up = [above | beside for above, beside in zip(graph.parents, graph.neighbors, strict=True)]
        if any(self.not_from[v] and closure(up, 1 << v) & self.not_from[v] for v in range(len(graph))):
            return False
        return all(not effects & ~graph.descendants[v] for v, effects in enumerate(self.effects))

    # --- graphs to begin with ---------------------------------------------------------------------------

    def begun(self, n: int) -> AncestralGraph:
        """Return a graph with the edges that must be there, and none else as far as possible."""
        return self._filled(AncestralGraph(n))

    def repaired(self, graph: AncestralGraph) -> AncestralGraph:
        """Return the graph itself if it fits, else one that does, with as many of its edges as possible."""
        twin = graph if self.fits(graph) else self._filled(graph)
        twin.limits = self
        return twin

    def _filled(self, graph: AncestralGraph) -> AncestralGraph:
        n = len(graph)
        found = AncestralGraph(n)
        for a, b in np.argwhere(self.known.said_causes).tolist():
            if not self.known.forbidden[a, b]:
                self._add(found, a, b, (FORTH,))
        for x, y in np.argwhere(np.triu(self.known.required)).tolist():
            self._add(found, x, y, (graph.edge(x, y), FORTH, 2, BOTH, UNDIRECTED))
        for a, b in np.argwhere(self.known.said_causes).tolist():
            self._join(found, a, b)
        found.limits = self
        for x in range(n):
            for y in members(graph.adjacent(x)):
                if x < y and not found.adjacent(x) >> y & 1:
                    self._add(found, x, y, (graph.edge(x, y),))
        return found

    def _add(self, graph: AncestralGraph, x: int, y: int, kinds: tuple[int, ...]) -> None:
        """Put the first of these edges that is legal and breaks nothing."""
        if graph.edge(x, y) != NO_EDGE:
            return
        for kind in kinds:
            if kind == NO_EDGE or not self._edge_fits(x, y, kind) or not graph.is_legal(x, y, kind):
                continue
            twin = graph.copy()
            twin.limits = None
            twin.apply(x, y, kind)
            if graph.limits is not None or self._never_fit(twin):
                graph.apply(x, y, kind)
                return

    def _never_fit(self, graph: AncestralGraph) -> bool:
        up = [above | beside for above, beside in zip(graph.parents, graph.neighbors, strict=True)]
        return not any(closure(up, 1 << v) & self.not_from[v] for v in range(len(graph)))

    def _join(self, graph: AncestralGraph, a: int, b: int) -> None:
        """Lead from a cause to an effect that is not adjacent to it, by a shortest way of edges that may be there."""
        if graph.descendants[a] >> b & 1:
            return
        origin, queue = {a: a}, [a]
        for v in queue:  # grows while it is read
            for w in range(len(graph)):
                if w not in origin and not self.known.forbidden[v, w] and not self.never[v] >> w & 1:
                    origin[w] = v
                    queue.append(w)
        way = [b]
        while way[-1] != a and way[-1] in origin:
            way.append(origin[way[-1]])
        for v, w in zip(way[:0:-1], way[-2::-1], strict=True):
            self._add(graph, v, w, (FORTH,))

    def allowed(self) -> list[int]:
        """Return for each variable those that no statement excludes as its parents, as a bit set."""
        apart = [bits(np.flatnonzero(row).tolist()) for row in self.known.forbidden]
        return [~(never | joined) for never, joined in zip(self.not_from, apart, strict=True)]

    def parts(self) -> dict[str, object]:
        """Return what the compiled search is handed."""
        known = self.known
        return {
            "required": known.required,
            "forbidden": known.forbidden,
            "never": known.never,
            "causes": known.causes,
            "effects": known.said_causes,
            "unconfounded": known.unconfounded,
            "selection": known.selection,
            "latents": known.latents,
            "local": self.local,
        }
