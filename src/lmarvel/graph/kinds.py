"""The kinds of graph: DAG, MAG, PAG and ADMG.

A DAG and a MAG are valid by construction: an invalid one raises, and the message says which edges break
the rule. A PAG is only checked for well-formed marks, because finite samples can give a PAG that no MAG
has; :func:`lmarvel.explain_invalid` tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, district, members
from lmarvel.graph.checks import checked_names, look_up, parse_edges
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, Mark
from lmarvel.graph.mixed import MixedGraph, Node, Nodes
from lmarvel.graph.projection import project
from lmarvel.graph.separation import has_inducing_path, inducing_path
from lmarvel.text import counted, readable


class DAG(MixedGraph):
    """A directed acyclic graph: the full causal story, hidden variables included.

    Examples
    --------
    >>> dag = DAG.from_edges("U --> A", "U --> B", "A --> S", "C --> S")
    >>> print(dag.project(latent=["U"], selection=["S"]))
    nodes: A B C
    A --> B
    A --- C
    """

    def _check(self) -> None:
        for edge in self.edges():
            if (edge.at_a, edge.at_b) != (TAIL, ARROW):
                raise GraphError(f"a DAG has directed edges only, not '{edge}'")
        _refuse(explain_cycle(self))

    def project(self, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> MAG:
        """Return the MAG over the other nodes, conditioned on ``selection`` (Definition 2)."""
        return MAG._trusted(*project(self, latent, selection))


class MAG(MixedGraph):
    """A maximal ancestral graph: what a DAG with hidden variables looks like from outside.

    Examples
    --------
    >>> MAG.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    Traceback (most recent call last):
    ...
    lmarvel.errors.GraphError: not maximal: no set separates A and D, because of the inducing path A, B, C, D
    """

    def _check(self) -> None:
        _refuse(explain_not_ancestral(self) or explain_not_maximal(self))

    def project(self, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> MAG:
        """Return the MAG after marginalising over ``latent`` and conditioning on ``selection``."""
        return MAG._trusted(*project(self, latent, selection))


class PAG(MixedGraph):
    """A partial ancestral graph: the marks that all MAGs of a Markov equivalence class share.

    Examples
    --------
    >>> pag = PAG.from_edges("A o-> C", "B o-> C", "C --> D")
    >>> pag.possible_parents("C") == {"A", "B"}
    True
    """

    def possible_parents(self, node: Node) -> frozenset[str]:
        """Return the nodes Y whose edge with X can be Y --> X."""
        return self._linked(node, (ARROW, CIRCLE), (TAIL, CIRCLE))

    def possible_ancestors(self, nodes: Nodes) -> frozenset[str]:
        """Return every node that is an ancestor of one of ``nodes`` in some MAG of the class, they themselves included.

        Examples
        --------
        >>> sorted(PAG.from_edges("A o-> C", "B <-> C", "C --> D").possible_ancestors("D"))
        ['A', 'C', 'D']
        """
        return self._named(members(closure(self._possible_steps(TAIL, ARROW), self._mask(nodes))))

    def possible_descendants(self, nodes: Nodes) -> frozenset[str]:
        """Return every node that is a descendant of one of ``nodes`` in some MAG of the class, they included."""
        return self._named(members(closure(self._possible_steps(ARROW, TAIL), self._mask(nodes))))

    def _possible_steps(self, near: int, far: int) -> list[int]:
        """Return for each node where its edges lead without the mark ``near`` at it and ``far`` at the other end."""
        return [bits(w for w, at_v, at_w in links if at_v != near and at_w != far) for links in self.links]


class ADMG:
    """An acyclic directed mixed graph: directed and bidirected edges, both allowed between one pair.

    It serves as a truth for :class:`lmarvel.MSeparation`, and is projected like a DAG in which each
    bidirected edge is a latent common cause.

    Examples
    --------
    >>> admg = ADMG.from_edges("X --> Y", "X <-> Y", "Z --> X")
    >>> dag, latent = admg.canonical_dag()
    >>> print(dag.project(latent))
    nodes: X Y Z
    X --> Y
    Z --> X
    Z --> Y
    """

    def __init__(self, names: Sequence[str], edges: Iterable[Edge]) -> None:
        self.names = checked_names(names)
        self.edges = tuple(edges)
        where = {name: i for i, name in enumerate(self.names)}
        seen = set()
        for edge in self.edges:
            kind = "bidirected" if edge.at_a == edge.at_b == ARROW else "directed"
            if kind == "directed" and {edge.at_a, edge.at_b} != {Mark.TAIL, Mark.ARROW}:
                raise GraphError(f"an ADMG has directed and bidirected edges only, not '{edge}'")
            pair = frozenset(look_up(where, name, edge) for name in edge[:2])
            if len(pair) == 1:
                raise GraphError(f"self-loop at {readable(edge.a)}: '{edge}'")
            if (pair, kind) in seen:
                raise GraphError(f"the pair {readable(edge.a)}, {readable(edge.b)} has two {kind} edges")
            seen.add((pair, kind))
        self.canonical_dag()  # refuses a directed cycle

    @classmethod
    def from_edges(cls, *edges: str | Edge, nodes: Iterable[str] | None = None) -> ADMG:
        """Build an ADMG from its text form, as :meth:`MixedGraph.from_edges` does."""
        declared, parsed = parse_edges(edges)
        if nodes is not None and declared is not None:
            raise GraphError("the nodes are given twice: as an argument and in a line 'nodes: ...'")
        if nodes is not None:
            declared = [nodes] if isinstance(nodes, str) else list(nodes)
        names = declared
        return cls(names if names is not None else list(dict.fromkeys(v for e in parsed for v in e[:2])), parsed)

    def canonical_dag(self) -> tuple[DAG, tuple[str, ...]]:
        """Return the DAG with a latent parent for each bidirected edge, and the names of those latents."""
        directed = [e for e in self.edges if e.at_a != e.at_b]
        confounded = [e for e in self.edges if e.at_a == e.at_b]
        taken, latents = set(self.names), []
        for number in range(len(confounded)):
            name = f"L{number}"
            while name in taken:
                name += "'"
            taken.add(name)
            latents.append(name)
        forks = [
            Edge(name, end, Mark.TAIL, Mark.ARROW)
            for name, edge in zip(latents, confounded, strict=True)
            for end in edge[:2]
        ]
        return DAG.from_edges(*directed, *forks, nodes=[*self.names, *latents]), tuple(latents)

    def __repr__(self) -> str:
        return f"<ADMG: {counted(len(self.names), 'node')}, {counted(len(self.edges), 'edge')}>"


# --- why a graph is not of its kind -----------------------------------------------------------------------


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise GraphError(reason)


Fault = tuple[str, tuple[int, ...]]
"""What is wrong with a graph, and the nodes that show it; :func:`describe_fault` finds the words."""


def explain_cycle(graph: MixedGraph) -> str | None:
    """Return a sentence that names a directed cycle, or None where there is none."""
    cycle = _directed_cycle(graph)
    return None if cycle is None else _cycle_words(graph, cycle)


def _directed_cycle(graph: MixedGraph) -> tuple[int, ...] | None:
    """Return a directed cycle, its first node again at the end, or None where there is none."""
    children, parents = graph.masks.children, graph.masks.parents
    degree = [mask.bit_count() for mask in parents]
    free = [v for v, d in enumerate(degree) if d == 0]
    done = 0
    while free:
        v = free.pop()
        done += 1
        for w in members(children[v]):
            degree[w] -= 1
            if degree[w] == 0:
                free.append(w)
    if done == len(graph):
        return None
    stuck = sum(1 << v for v, d in enumerate(degree) if d > 0)
    walk: dict[int, None] = {}
    up = next(members(stuck))  # every stuck node has a stuck parent: walking up must close a cycle
    while up not in walk:
        walk[up] = None
        up = next(members(parents[up] & stuck))
    way = list(walk)
    return tuple([*way[way.index(up) :], up][::-1])


def _cycle_words(graph: MixedGraph, nodes: Sequence[int], most: int = 20) -> str:
    """Return a cycle in words, the middle of a long one left out."""
    cycle = [readable(graph.names[v]) for v in nodes]
    if len(cycle) > most:
        left = len(cycle) - most
        cycle = [*cycle[: most // 2], f"... ({counted(left, 'node')} more) ...", *cycle[-most // 2 :]]
    return "directed cycle: " + " --> ".join(cycle)


def explain_not_ancestral(graph: MixedGraph) -> str | None:
    """Return a sentence on the first reason why a graph is not ancestral, or None."""
    fault = find_not_ancestral(graph)
    return None if fault is None else describe_fault(graph, fault)


def find_not_ancestral(graph: MixedGraph) -> Fault | None:
    """Return the first reason why a graph is not ancestral, or None."""
    masks = graph.masks
    for x, links in enumerate(graph.links):
        for y, near, far in links:
            if x < y and CIRCLE in (near, far):
                return "circle", (x, y)
    cycle = _directed_cycle(graph)
    if cycle is not None:
        return "cycle", cycle
    for v in range(len(graph)):
        entering = masks.parents[v] | masks.spouses[v]
        if masks.neighbors[v] and entering:
            return "undirected arrow", (v, next(members(entering)), next(members(masks.neighbors[v])))
        if masks.spouses[v]:
            for w in members(closure(masks.parents, 1 << v) & masks.spouses[v]):
                return "almost cycle", (w, v)
    return None


def explain_not_maximal(graph: MixedGraph) -> str | None:
    """Return a sentence on a non-adjacent pair of an ancestral graph that no set separates, or None."""
    fault = find_not_maximal(graph)
    return None if fault is None else describe_fault(graph, fault)


def find_not_maximal(graph: MixedGraph) -> Fault | None:
    """Return an inducing path between two nodes of an ancestral graph that are not adjacent, or None."""
    for x, y in inseparable(graph):
        return "inducing path", tuple(inducing_path(graph, x, y, 0, 0) or ())
    return None


def describe_fault(graph: MixedGraph, fault: Fault) -> str:
    """Return in words what is wrong with a graph.

    Examples
    --------
    >>> describe_fault(MixedGraph.from_edges("A <-> B", "B --> C", "C --> A"), ("almost cycle", (1, 0)))
    'not ancestral: almost directed cycle, B <-> A and B is an ancestor of A'
    """
    kind, nodes = fault
    names = [readable(graph.names[v]) for v in nodes]
    if kind == "circle":
        edge = next(e for e in graph.subgraph(nodes).edges())
        return f"the edge '{edge}' has a circle, and a MAG has none"
    if kind == "cycle":
        return f"not ancestral: {_cycle_words(graph, nodes)}"
    if kind == "undirected arrow":
        v, u, w = names
        return f"not ancestral: {v} has the undirected edge {v} --- {w} and an arrowhead from {u}"
    if kind == "almost cycle":
        w, v = names
        return f"not ancestral: almost directed cycle, {w} <-> {v} and {w} is an ancestor of {v}"
    pair = f"{names[0]} and {names[-1]}"
    return f"not maximal: no set separates {pair}, because of the inducing path {', '.join(names)}"


def inseparable(graph: MixedGraph) -> Iterator[tuple[int, int]]:
    """Iterate over the pairs of an ancestral graph that are not adjacent and that no set separates, ascending.

    An inducing path joins them. Its inner nodes are colliders, and ancestors of x or y. The one next to x has an
    arrowhead from it, so that it is an ancestor of y; the one next to y likewise of x. Neither is a child: with
    x --> v, x would be an ancestor of y, and so would be the node next to y, which has an arrowhead from y. So the path
    runs inside a district, and y is a descendant of a spouse of x.
    """
    masks = graph.masks
    for x, spouses in enumerate(masks.spouses):
        near = closure(masks.children, spouses) & ~masks.adjacent[x] if spouses else 0
        near = near >> (x + 1) << (x + 1)
        for y in members(near & district(graph, x)) if near else ():
            if has_inducing_path(graph, x, y, 0, 0):
                yield x, y


def maximal(names: tuple[str, ...], marks: NDArray[np.int8]) -> tuple[MAG, list[tuple[int, int]]]:
    """Join the pairs of an ancestral graph that an inducing path makes inseparable; return the MAG and these pairs.

    x <-> y keeps the separations, and the graph ancestral (Richardson & Spirtes 2002, Theorem 5.1): if x were an
    ancestor of y, the path would end in v <-> y with v an ancestor of x or y, hence of y, and the graph would not have
    been ancestral. So both ends of the path are arrowheads, and neither node has an undirected edge.

    Examples
    --------
    >>> graph = MixedGraph.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    >>> mag, added = maximal(graph.names, graph.marks)
    >>> [str(mag.edge(x, y)) for x, y in added]
    ['A <-> D']
    """
    added = list(inseparable(MixedGraph(names, marks)))
    complete = marks.copy()
    for x, y in added:
        complete[x, y] = complete[y, x] = ARROW
    return MAG(names, complete), added


def is_chordal_undirected(graph: MixedGraph) -> bool:
    """Tell whether the undirected part has no chordless cycle of four or more: what Theorem 2 assumes.

    Examples
    --------
    >>> ring = MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A")
    >>> is_chordal_undirected(ring), is_chordal_undirected(ring.subgraph(["A", "B", "C"]))
    (False, True)
    """
    return find_unsimplicial(graph.masks.neighbors) == 0


def find_unsimplicial(adjacent: list[int]) -> int:
    """Take simplicial nodes off an undirected graph while there are any; return what is left as a bit set.

    A graph is chordal exactly if nothing is left (Fulkerson & Gross 1965). What is left holds a chordless
    cycle.

    Examples
    --------
    >>> find_unsimplicial([0b1010, 0b0101, 0b1010, 0b0101])  # a ring of four
    15
    """
    left = (1 << len(adjacent)) - 1
    queue = list(range(len(adjacent)))
    while queue:
        v = queue.pop()
        if not left >> v & 1:
            continue
        around = adjacent[v] & left
        if all(not around & ~adjacent[w] & ~(1 << w) for w in members(around)):
            left &= ~(1 << v)
            queue.extend(members(around))
    return left


def maximum_cardinality_order(adjacent: list[int]) -> list[int]:
    """Number the nodes so that in a chordal graph the earlier neighbours of each form a clique.

    Maximum cardinality search (Tarjan & Yannakakis 1984): next comes a node with most numbered neighbours.
    Neighbours are bit sets; the result has the number of each node.

    Examples
    --------
    >>> maximum_cardinality_order([0b010, 0b101, 0b010])
    [0, 1, 2]
    """
    buckets: list[set[int]] = [set(range(len(adjacent)))]
    weight = [0] * len(adjacent)
    order = [0] * len(adjacent)
    done = 0
    for number in range(len(adjacent)):
        while not buckets[-1]:
            buckets.pop()
        v = min(buckets[-1])
        buckets[-1].remove(v)
        done |= 1 << v
        order[v] = number
        for w in members(adjacent[v] & ~done):
            buckets[weight[w]].remove(w)
            weight[w] += 1
            if weight[w] == len(buckets):
                buckets.append(set())
            buckets[weight[w]].add(w)
    return order
