"""Mermaid flowcharts, which Markdown pages show as drawings. They can be written only.

Mermaid draws ``-->``, ``<->``, ``---``, ``o-o`` and ``--o``; it has no edge with a circle at one end and an arrowhead
at the other, so that is drawn as an arrow with the label ``o->``.
"""

from __future__ import annotations

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge
from lmarvel.graph.mixed import MixedGraph

_SIGNS = {
    (TAIL, ARROW): "-->",
    (ARROW, ARROW): "<-->",
    (TAIL, TAIL): "---",
    (CIRCLE, CIRCLE): "o--o",
    (TAIL, CIRCLE): "--o",
    (CIRCLE, ARROW): '-->|"o-#gt;"|',
}


def dumps(graph: MixedGraph) -> str:
    """Return a graph as a flowchart; names become labels, with every sign escaped that Mermaid could act upon.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B", "A --> C")), end="")
    flowchart LR
        n0["A"]
        n1["B"]
        n2["C"]
        n0 -->|"o-#gt;"| n1
        n0 --> n2
    """
    nodes = [f'n{i}["{_label(name)}"]' for i, name in enumerate(graph.names)]
    edges = [_edge(graph, edge) for edge in graph.edges()]
    return "".join(f"{line}\n" for line in ["flowchart LR", *(f"    {line}" for line in [*nodes, *edges])])


def _edge(graph: MixedGraph, edge: Edge) -> str:
    if (edge.at_a, edge.at_b) not in _SIGNS:
        edge = edge.reversed()
    return f"n{graph.index(edge.a)} {_SIGNS[edge.at_a, edge.at_b]} n{graph.index(edge.b)}"


def _label(name: str) -> str:
    return "".join(map(_escaped, name))


def _escaped(sign: str) -> str:
    """Return a character as it may stand in a label: letters, digits and inner blanks as they are."""
    if sign.isalnum() or sign in " _.":
        return sign
    if sign.isspace():
        return " "
    if not sign.isprintable():
        return "\ufffd"
    return f"#{ord(sign)};"
