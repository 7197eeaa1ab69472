"""The mixed graph, on which DAGs, MAGs and PAGs stand.

A mixed graph is a matrix of marks: ``marks[i, j]`` is the mark AT j on the edge i-j, and 0 where there is
no edge. It never changes after it was made. Methods take node names (or their indices) and return sets of
names; the algorithms of this package use the index-based :meth:`MixedGraph.links` and :mod:`bit sets
<lmarvel.graph.bitsets>` underneath.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lmarvel.errors import GraphError
from lmarvel.graph import bitsets, separation
from lmarvel.graph.checks import check_size, checked_marks, checked_names, has_nodes, look_up, parse_edges, two_edges
from lmarvel.graph.marks import ARROW, CIRCLE, NONE, TAIL, Edge, Mark, positions, quote
from lmarvel.text import counted, readable

Node = str | int
Nodes = Node | Iterable[Node]
Self = TypeVar("Self", bound="MixedGraph")


class MixedGraph:
    """A graph with at most one edge per pair, and a mark (tail, arrowhead, circle) at each end.

    Parameters
    ----------
    names : sequence of str
        The nodes, in the order of the matrix.
    marks : array_like of shape (n, n)
        ``marks[i, j]`` is the :class:`Mark` at j on the edge i-j, 0 where there is none.

    Examples
    --------
    >>> g = MixedGraph.from_edges("A --> B", "B <-> C", nodes=["A", "B", "C", "D"])
    >>> sorted(g.parents("B")), sorted(g.spouses("B")), sorted(g.adjacent("D"))
    (['A'], ['C'], [])
    >>> print(g)
    nodes: A B C D
    A --> B
    B <-> C
    >>> MixedGraph.from_edges(str(g)) == g
    True
    """

    __slots__ = ("__dict__", "marks", "names")

    names: tuple[str, ...]
    marks: NDArray[np.int8]
    picture: ClassVar[Callable[[MixedGraph], str | None] | None] = None
    """How a notebook shows a graph: :mod:`lmarvel.drawing`, which stands above this room, puts its function here."""
    networkx: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    """How a graph becomes one of networkx, and back: :mod:`lmarvel.interchange` puts its functions here."""

    def __init__(self, names: Sequence[str], marks: ArrayLike) -> None:
        known = checked_names(names)
        self._fill(known, checked_marks(known, marks))
        self._check()

    def _check(self) -> None:
        """Raise :class:`GraphError` unless the graph is of its class's kind."""

    @classmethod
    def _trusted(cls: type[Self], names: tuple[str, ...], marks: NDArray[np.int8]) -> Self:
        """Make a graph whose validity the caller has proved, without checking it again."""
        graph = cls.__new__(cls)
        graph._fill(names, marks)
        return graph

    def _fill(self, names: tuple[str, ...], marks: NDArray[np.int8]) -> None:
        """Set names and marks, once and for all."""
        marks.setflags(write=False)
        object.__setattr__(self, "names", names)  # past the guard in __setattr__
        object.__setattr__(self, "marks", marks)

    @classmethod
    def from_edges(cls: type[Self], *edges: str | Edge, nodes: Iterable[str] | None = None) -> Self:
        """Build a graph from its text form: one edge per argument, or many lines in one.

        Without ``nodes`` (and without a line ``nodes: A B C``) the nodes are those named, in order of
        appearance; with it, an edge to any other node is an error. Blank lines and lines that start with
        ``#`` are skipped.
        """
        declared, parsed = parse_edges(edges)
        if nodes is not None:
            if declared is not None:
                raise GraphError("the nodes are given twice: as an argument and in a line 'nodes: ...'")
            declared = [nodes] if isinstance(nodes, str) else list(nodes)
        mentioned = dict.fromkeys(name for edge in parsed for name in edge[:2])
        names = checked_names(list(mentioned) if declared is None else declared)
        check_size(len(names))
        where = {name: i for i, name in enumerate(names)}
        marks = np.zeros((len(names), len(names)), dtype=np.int8)
        for edge in parsed:
            i, j = (look_up(where, name, edge) for name in edge[:2])
            if i == j:
                raise GraphError(f"self-loop at {readable(edge.a)}: '{edge}'")
            if marks[i, j]:
                i, j = min(i, j), max(i, j)
                old = Edge(names[i], names[j], Mark(marks[j, i]), Mark(marks[i, j]))
                raise GraphError(two_edges(old, edge))
            marks[i, j], marks[j, i] = edge.at_b, edge.at_a
        return cls(names, marks)

    # --- identity ---------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Equal kind, equal nodes (in any order) and equal marks."""
        if not isinstance(other, MixedGraph) or type(self) is not type(other):
            return NotImplemented
        if self.names == other.names:
            return bool(np.array_equal(self.marks, other.marks))
        if set(self.names) != set(other.names):
            return False
        order = [other._index[name] for name in self.names]
        return bool(np.array_equal(self.marks, other.marks[np.ix_(order, order)]))

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(self.names), int(np.count_nonzero(self.marks))))

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} never changes: build a new one instead of setting {key}")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a {type(self).__name__} never changes: {key} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._trusted, (self.names, self.marks)

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        head = "nodes: " + " ".join(map(quote, self.names))
        return "\n".join([head.rstrip(), *map(str, self.edges())])

    def to_networkx(self) -> Any:
        """Return an undirected ``networkx.Graph``: each edge maps its two nodes to their marks.

        The attribute ``marks`` of an edge has ``"o"`` for a circle, ``">"`` for an arrowhead and ``"-"`` for a tail.
        The kind of the graph, such as ``"PAG"``, is ``graph["kind"]``. Needs networkx.

        Examples
        --------
        >>> found = MixedGraph.from_edges("A o-> B").to_networkx()
        >>> found.edges["A", "B"]["marks"]
        {'A': 'o', 'B': '>'}
        """
        return self.networkx["to"](self)

    @classmethod
    def from_networkx(cls: type[Self], graph: Any) -> Self:
        """Return a graph of networkx; without marks, edges are ``-->`` in a directed graph, else ``---``.

        Examples
        --------
        >>> import networkx
        >>> MixedGraph.from_networkx(networkx.DiGraph([("A", "B")]))
        <DAG: 2 nodes, 1 edge>
        """
        found: MixedGraph = cls.networkx["from"](graph)
        return found if isinstance(found, cls) else cls(found.names, found.marks)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'node')}, {counted(self.n_edges, 'edge')}>"

    def _repr_svg_(self) -> str | None:
        """Show the graph in a notebook; one that is too large to be drawn shows its numbers only."""
        return None if MixedGraph.picture is None else MixedGraph.picture(self)

    # --- edges ------------------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, node: Node) -> int:
        """Return the position of a node, given by name (or by position, which is checked)."""
        if isinstance(node, str):
            return look_up(self._index, node)
        if isinstance(node, int | np.integer) and 0 <= node < len(self.names):
            return int(node)
        raise GraphError(f"unknown node {node!r}: {has_nodes(self.names)}")

    @cached_property
    def links(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """For each node v, its edges as triples (w, mark at v, mark at w), by position."""
        by_node: list[list[tuple[int, int, int]]] = [[] for _ in self.names]
        heads, tails = positions(self.marks).T
        at_far, at_near = self.marks[heads, tails].tolist(), self.marks[tails, heads].tolist()
        for v, w, near, far in zip(heads.tolist(), tails.tolist(), at_near, at_far, strict=True):
            by_node[v].append((w, near, far))
        return tuple(map(tuple, by_node))

    @cached_property
    def masks(self) -> bitsets.Masks:
        """For each node, bit sets of its parents, children, spouses, neighbours and adjacent nodes."""
        return bitsets.build_masks(self)

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return int(np.count_nonzero(self.marks)) // 2

    def edges(self) -> Iterator[Edge]:
        """Iterate over the edges by position of their ends; directed edges read ``A --> B``."""
        for i, links in enumerate(self.links):
            for j, at_i, at_j in links:
                if i < j:
                    edge = Edge(self.names[i], self.names[j], Mark(at_i), Mark(at_j))
                    yield edge.reversed() if at_i == ARROW and at_j != ARROW else edge

    def edge(self, a: Node, b: Node) -> Edge | None:
        """Return the edge between two nodes, read from ``a``; None where they are not adjacent."""
        i, j = self.index(a), self.index(b)
        if not self.marks[i, j]:
            return None
        return Edge(self.names[i], self.names[j], Mark(self.marks[j, i]), Mark(self.marks[i, j]))

    def has_edge(self, a: Node, b: Node) -> bool:
        """Tell whether two nodes are adjacent."""
        return bool(self.marks[self.index(a), self.index(b)])

    # --- the paper's vocabulary -------------------------------------------------------------------------

    def _named(self, nodes: Iterable[int]) -> frozenset[str]:
        return frozenset(self.names[v] for v in nodes)

    def _linked(self, node: Node, here: tuple[int, ...], there: tuple[int, ...]) -> frozenset[str]:
        links = self.links[self.index(node)]
        return self._named(w for w, near, far in links if near in here and far in there)

    def _mask(self, nodes: Nodes) -> int:
        """Return nodes as a bit set."""
        if isinstance(nodes, str | int | np.integer):
            return 1 << self.index(nodes)
        return bitsets.bits(self.index(v) for v in nodes)

    def adjacent(self, node: Node) -> frozenset[str]:
        """Adj(X): the nodes that share an edge with X, of any kind."""
        return self._named(w for w, _, _ in self.links[self.index(node)])

    def parents(self, node: Node) -> frozenset[str]:
        """Pa(X): the nodes Y with Y --> X."""
        return self._linked(node, (ARROW,), (TAIL,))

    def children(self, node: Node) -> frozenset[str]:
        """Ch(X): the nodes Y with X --> Y."""
        return self._linked(node, (TAIL,), (ARROW,))

    def spouses(self, node: Node) -> frozenset[str]:
        """The nodes Y with X <-> Y."""
        return self._linked(node, (ARROW,), (ARROW,))

    def neighbors(self, node: Node) -> frozenset[str]:
        """N(X): the nodes Y with X --- Y."""
        return self._linked(node, (TAIL,), (TAIL,))

    def district(self, node: Node) -> frozenset[str]:
        """Dis(X): the nodes that a path of bidirected edges joins to X, X itself left out."""
        v = self.index(node)
        return self._named(bitsets.members(bitsets.district(self, v) & ~(1 << v)))

    def pa_plus(self, node: Node) -> frozenset[str]:
        """Pa+(X): parents, district, parents of the district, and neighbours of X, without X itself."""
        return self._named(bitsets.members(bitsets.pa_plus(self, self.index(node))))

    def delta_plus_in(self) -> int:
        """Delta+_in: the largest size of Pa+ over all nodes, the measure of the paper's complexity bound."""
        return max((bitsets.pa_plus(self, v).bit_count() for v in range(len(self))), default=0)

    def ancestors(self, nodes: Nodes) -> frozenset[str]:
        """Anc(X): every node with a directed path to one of ``nodes``, they themselves included."""
        return self._named(bitsets.members(bitsets.closure(self.masks.parents, self._mask(nodes))))

    def descendants(self, nodes: Nodes) -> frozenset[str]:
        """De(X): every node that a directed path from one of ``nodes`` reaches, they themselves included."""
        return self._named(bitsets.members(bitsets.closure(self.masks.children, self._mask(nodes))))

    def markov_boundary(self, node: Node) -> frozenset[str]:
        """Mb(X): the nodes that a collider path joins to X (its edges have no circles)."""
        separation.require_marks(self)
        return self._named(bitsets.members(bitsets.collider_connected(self, self.index(node))))

    def collider_paths(self, a: Node, b: Node) -> Iterator[tuple[str, ...]]:
        """Iterate over all collider paths between two nodes: every inner node is a collider."""
        for path in bitsets.collider_paths(self, self.index(a), self.index(b)):
            yield tuple(self.names[v] for v in path)

    def inducing_path(
        self, a: Node, b: Node, latent: Iterable[Node] = (), selection: Iterable[Node] = ()
    ) -> tuple[str, ...] | None:
        """Return a shortest inducing path between two nodes relative to <L, S>, or None.

        Every non-collider on it is latent, and every collider is an ancestor of an end or of ``selection``.
        """
        separation.require_marks(self)
        i, j = self.index(a), self.index(b)
        path = separation.inducing_path(self, i, j, self._mask(latent), self._mask(selection))
        return None if path is None else tuple(self.names[v] for v in path)

    def m_separated(self, x: Nodes, y: Nodes, given: Nodes = ()) -> bool:
        """Tell whether ``given`` m-separates ``x`` from ``y`` (nodes, or sets of them).

        Time is linear in the number of edges. Not defined for graphs with circles, nor where an undirected
        edge meets an arrowhead: these are refused.

        Examples
        --------
        >>> g = MixedGraph.from_edges("A --> C", "B --> C", "C --> D")
        >>> g.m_separated("A", "B"), g.m_separated("A", "B", ["D"])
        (True, False)
        """
        separation.require_marks(self)
        xs, ys, zs = self._mask(x), self._mask(y), self._mask(given)
        shared = (xs & ys) | (zs & (xs | ys))
        if shared:
            culprits = ", ".join(sorted(map(readable, self._named(bitsets.members(shared)))))
            raise GraphError(f"m-separation needs disjoint sets; {culprits} is in more than one")
        return separation.m_separated(self, xs, ys, zs)

    def is_removable(self, node: Node) -> bool:
        """Tell whether X can be removed without changing the m-separations of the rest (Theorem 1).

        Examples
        --------
        >>> g = MixedGraph.from_edges("Y <-> W", "W --> T", "W --> Z", "T --> Z")   # Figure 1b of the paper
        >>> [v for v in g.names if g.is_removable(v)]
        ['Y', 'T', 'Z']
        """
        separation.require_marks(self)
        return bitsets.is_removable(self, self.index(node))

    # --- new graphs from old ----------------------------------------------------------------------------

    def subgraph(self: Self, nodes: Iterable[Node]) -> Self:
        """Return the induced subgraph over ``nodes``, in the order of this graph."""
        keep = sorted({self.index(v) for v in nodes})
        names = tuple(self.names[v] for v in keep)
        return type(self)._trusted(names, self.marks[np.ix_(keep, keep)])

    def relabel(self: Self, names: Mapping[str, str]) -> Self:
        """Return the graph with nodes renamed; those not in ``names`` keep theirs."""
        for old in names:
            look_up(self._index, old)
        return type(self)._trusted(checked_names([names.get(v, v) for v in self.names]), self.marks.copy())

    def reordered(self: Self, names: Sequence[str]) -> Self:
        """Return the same graph with its nodes in another order."""
        if len(names) != len(self) or set(names) != set(self.names):
            raise GraphError(f"the new order must hold each node once; {has_nodes(self.names)}")
        order = [self._index[v] for v in names]
        return type(self)._trusted(tuple(names), self.marks[np.ix_(order, order)])

    def skeleton(self) -> MixedGraph:
        """Return the graph with a circle at every end: what is adjacent, and nothing else."""
        return MixedGraph._trusted(self.names, np.where(self.marks != NONE, CIRCLE, NONE).astype(np.int8))
