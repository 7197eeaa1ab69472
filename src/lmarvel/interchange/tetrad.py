"""The text form of Tetrad, which causal-learn prints too.

A line ``Graph Nodes:`` and below it the names between semicolons, then ``Graph Edges:`` and numbered edges such as
``1. A o-> B``. What Tetrad adds behind an edge (``dd nl``, ``pd pl`` and the like) and below the edges is passed
over, and so is what stands above the nodes. The form has no quotes, so names with blanks, commas or semicolons
cannot be written.
"""

from __future__ import annotations

import re

from lmarvel.errors import FormatError, GraphError
from lmarvel.graph.marks import Edge, arrow, parse_edge
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import Located, assemble, check_names, refuse_name

NODES, EDGES = "Graph Nodes:", "Graph Edges:"
_SECTION = re.compile(r"[A-Z](?!\S*\s+\S-\S\s).*:")  # a heading, not an edge without its number


def dumps(graph: MixedGraph) -> str:
    """Return a graph as Tetrad writes it.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B")), end="")
    Graph Nodes:
    A;B
    <BLANKLINE>
    Graph Edges:
    1. A o-> B
    """
    for name in graph.names:
        if re.search(r"[\s;,\x1c-\x1f\x85]", name):
            raise refuse_name(name, "Tetrad text", "it has no quotes, and the name holds a blank, comma or semicolon")
    edges = [f"{i}. {e.a} {arrow(e.at_a, e.at_b)} {e.b}" for i, e in enumerate(graph.edges(), start=1)]
    return "\n".join([NODES, ";".join(graph.names), "", EDGES, *edges, ""])


def loads(text: str) -> MixedGraph:
    """Read a graph of Tetrad.

    Examples
    --------
    >>> print(loads("Graph Nodes:\\nA,B,C\\n\\nGraph Edges:\\n1. A o-> B dd nl\\n"))
    nodes: A B C
    A o-> B
    """
    lines = [line.strip() for line in text.splitlines()]
    if NODES not in lines or EDGES not in lines[lines.index(NODES) :]:
        raise FormatError(f"a line '{NODES}', the names, and a line '{EDGES}' are needed")
    top = lines.index(NODES)
    middle = lines.index(EDGES, top)
    listed = " ".join(lines[top + 1 : middle]).strip()
    separator = ";" if ";" in listed else ","
    names = [name.strip() for name in listed.rstrip(separator).split(separator)] if listed else []
    check_names(names, top + 2)
    edges: list[Located] = []
    for number, line in enumerate(lines[middle + 1 :], start=middle + 2):
        if _SECTION.fullmatch(line):
            break
        if line:
            edges.append((_edge(line, number), number))
    return assemble(names, edges)


def _edge(line: str, number: int) -> Edge:
    words = re.sub(r"^[0-9]+\.\s+", "", line).split()
    if len(words) < 3:
        raise FormatError(f"cannot read the edge {line!r}: write it as '1. A o-> B'", number)
    try:
        edge = parse_edge(f"a {words[1]} b")
    except GraphError:
        raise FormatError(
            f"cannot read the edge {line!r}: {words[1]!r} is not one; names have no blanks", number
        ) from None
    return Edge(words[0], words[2], edge.at_a, edge.at_b)
