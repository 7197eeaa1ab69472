"""Graphs of causal-learn.

Its matrix holds at row i, column j the mark AT i on the edge between i and j (the other way round than here), with
-1 for a tail, 1 for an arrowhead and 2 for a circle.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from lmarvel.errors import FormatError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW, CIRCLE, NONE, TAIL, Edge
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import check_names, of_kind
from lmarvel.text import readable

_MARKS = {0: NONE, -1: TAIL, 1: ARROW, 2: CIRCLE}
_DOUBLE = (4, 5)  # a bidirected edge and another one between the same pair


@runtime_checkable
class _GeneralGraph(Protocol):
    """What is asked of a graph of causal-learn, which is not imported for that."""

    graph: Any

    def get_nodes(self) -> Any: ...

    def is_pag(self) -> bool: ...


@runtime_checkable
class _Result(Protocol):
    """What its PC returns."""

    G: Any


def to_causallearn(graph: MixedGraph) -> Any:
    """Return a ``causallearn.graph.GeneralGraph.GeneralGraph`` with the same nodes and edges.

    Parameters
    ----------
    graph : MixedGraph
        Any graph. A PAG is flagged as one (``is_pag()``).

    Returns
    -------
    GeneralGraph
        With a ``GraphNode`` for each node, in the same order.
    """
    try:
        from causallearn.graph.Edge import Edge as TheirEdge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError:
        raise FormatError("causal-learn is not installed: install it with 'pip install causal-learn'") from None
    nodes = {name: GraphNode(name) for name in graph.names}
    result = GeneralGraph(list(nodes.values()))
    for edge in map(_accepted, graph.edges()):
        ends = [Endpoint[mark.name] for mark in (edge.at_a, edge.at_b)]  # its names are ours
        result.add_edge(TheirEdge(nodes[edge.a], nodes[edge.b], *ends))
    result.set_pag(isinstance(graph, PAG))
    return result


def _accepted(edge: Edge) -> Edge:
    """Return the edge read so that ``add_edge`` takes it: it drops ``o--`` without a word, and adds ``--o``."""
    return edge.reversed() if edge.at_b == TAIL else edge


def from_causallearn(graph: Any) -> MixedGraph:
    """Return a graph of causal-learn as a graph of this package.

    Parameters
    ----------
    graph : GeneralGraph, or what holds one as ``G`` (the result of causal-learn's PC)
        The undirected edges of a CPDAG become ``---``, though they mean there that both directions are possible.

    Returns
    -------
    MixedGraph
        A PAG if it is flagged as one, else of the most special kind that fits.
    """
    if isinstance(graph, _Result):
        graph = graph.G
    if not isinstance(graph, _GeneralGraph):
        raise FormatError(
            f"this is a {type(graph).__name__}, not a GeneralGraph of causal-learn; FCI returns a pair, of which it is"
            " the first"
        )
    names = [str(node.get_name()) for node in graph.get_nodes()]
    check_names(names)
    codes = np.asarray(graph.graph).astype(int).reshape(len(names), len(names))
    for i, j in np.argwhere(~np.isin(codes, list(_MARKS)))[:1]:
        pair = f"{readable(names[i])} and {readable(names[j])}"
        if codes[i, j] in _DOUBLE:
            raise FormatError(f"{pair} have two edges: a graph has one edge per pair, remove one")
        raise FormatError(
            f"the edge between {pair} has the endpoint {codes[i, j]}, which is not a tail, arrow or circle"
        )
    marks = np.vectorize(_MARKS.__getitem__, otypes=[np.int8])(codes.T) if names else codes
    return of_kind(names, marks, "PAG" if graph.is_pag() else None)
