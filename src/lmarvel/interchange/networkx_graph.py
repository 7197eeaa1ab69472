"""Graphs of networkx, for ``graph.to_networkx()`` and ``MixedGraph.from_networkx(graph)``.

A graph becomes an undirected ``networkx.Graph``, because most edges of a PAG have no direction: each edge has an
attribute ``marks``, which maps both of its nodes to ``"o"`` (circle), ``">"`` (arrowhead) or ``"-"`` (tail). The kind
is the attribute ``kind`` of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from lmarvel.errors import FormatError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import GLYPHS, KINDS, assemble, mark_of
from lmarvel.text import readable


@runtime_checkable
class _Graph(Protocol):
    """What is asked of a graph of networkx, which is not imported for that."""

    nodes: Any
    edges: Any
    graph: Any

    def is_directed(self) -> bool: ...


def to_networkx(graph: MixedGraph) -> Any:
    """Return an undirected ``networkx.Graph`` whose edges carry their marks.

    Parameters
    ----------
    graph : MixedGraph
        Any graph. For a DAG as a ``DiGraph``, see :func:`to_digraph`.

    Returns
    -------
    networkx.Graph
        With ``result.edges["A", "B"]["marks"] == {"A": "o", "B": ">"}`` for ``A o-> B``.
    """
    result = _networkx().Graph(kind=next(name for name, kind in KINDS.items() if isinstance(graph, kind)))
    result.add_nodes_from(graph.names)
    for edge in graph.edges():
        result.add_edge(edge.a, edge.b, marks={edge.a: GLYPHS[edge.at_a], edge.b: GLYPHS[edge.at_b]})
    return result


def to_digraph(dag: DAG) -> Any:
    """Return a DAG as a plain ``networkx.DiGraph``; :func:`from_networkx` reads it back.

    Parameters
    ----------
    dag : DAG
        Other kinds of graph have edges that a ``DiGraph`` cannot hold, and are refused.

    Returns
    -------
    networkx.DiGraph
        With the same nodes, in the same order.
    """
    if not isinstance(dag, DAG):
        raise FormatError(f"a DiGraph holds a DAG only, and this is a {type(dag).__name__}: use to_networkx")
    result = _networkx().DiGraph()
    result.add_nodes_from(dag.names)
    result.add_edges_from((edge.a, edge.b) for edge in dag.edges())
    return result


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise FormatError("networkx is not installed: install it with 'pip install networkx'") from None
    return networkx


def from_networkx(graph: Any) -> MixedGraph:
    """Return a graph of networkx as a graph of this package.

    Parameters
    ----------
    graph : networkx graph
        Nodes are strings. An edge has the attribute ``marks`` of :func:`to_networkx`, or the attributes
        ``at_source`` and ``at_target`` (what ``networkx.read_graphml`` makes of a GraphML file of this package), or
        neither: then it is ``-->`` in a directed graph and ``---`` in an undirected one.

    Returns
    -------
    MixedGraph
        Of the kind that ``graph.graph["kind"]`` names, or else of the most special kind that fits.
    """
    if not isinstance(graph, _Graph):
        raise FormatError(f"this is a {type(graph).__name__}, not a graph of networkx")
    for node in graph.nodes:
        if not isinstance(node, str):
            raise FormatError(f"the node {node!r} is not a string: use networkx.relabel_nodes(graph, str)")
    kind = graph.graph.get("kind")
    edges = [(_edge(a, b, attributes, graph.is_directed()), None) for a, b, attributes in graph.edges(data=True)]
    return assemble(list(graph.nodes), edges, kind if kind in KINDS else None)


def _edge(a: str, b: str, attributes: Mapping[str, Any], directed: bool) -> Edge:
    shown = f"{readable(a)}-{readable(b)}"
    if "marks" in attributes:
        marks = attributes["marks"]
        if not isinstance(marks, Mapping) or set(marks) != {a, b}:
            raise FormatError(
                f"'marks' of the edge {shown} should map {a!r} and {b!r} to 'o', '>' or '-', not {marks!r}"
            )
        return Edge(a, b, mark_of(marks[a], shown), mark_of(marks[b], shown))
    if ("at_source" in attributes or "at_target" in attributes) and not directed:
        raise FormatError(f"the edge {shown} has 'at_source' or 'at_target' in an undirected graph: use 'marks'")
    at_a = mark_of(attributes["at_source"], shown) if "at_source" in attributes else Mark.TAIL
    plain = Mark.ARROW if directed else Mark.TAIL
    return Edge(a, b, at_a, mark_of(attributes["at_target"], shown) if "at_target" in attributes else plain)


MixedGraph.networkx.update(to=to_networkx, **{"from": from_networkx})
