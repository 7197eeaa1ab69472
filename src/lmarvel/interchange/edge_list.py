"""A list of edges as CSV: the columns ``from`` and ``to``, and ``edge`` for the marks.

Without a third column, or where it is empty, an edge is directed. The third column holds signs such as ``o->`` or
``<->``. A row with one name only is a node without edges.
"""

from __future__ import annotations

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark, arrow, parse_edge
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import Located, assemble
from lmarvel.interchange.errors import FormatError
from lmarvel.interchange.table import cell, refuse_other_separator, rows

HEADERS = (("from", "to"), ("source", "target"))


def dumps(graph: MixedGraph) -> str:
    """Return the edges of a graph, then the nodes without any; a DAG needs two columns only.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B", nodes=["A", "B", "C"])), end="")
    from,to,edge
    A,B,o->
    C,,
    """
    plain = isinstance(graph, DAG)
    table = [["from", "to", "edge"]]
    table += [[cell(e.a), cell(e.b), arrow(e.at_a, e.at_b)] for e in graph.edges()]
    table += [[cell(name), "", ""] for name in graph.names if not graph.adjacent(name)]
    return "".join(",".join(row[:2] if plain else row) + "\n" for row in table)


def loads(text: str) -> MixedGraph:
    """Read a list of edges.

    Examples
    --------
    >>> print(loads("from,to\\nsmoking,cancer\\nage\\n"))
    nodes: smoking cancer age
    smoking --> cancer
    """
    (line, header), *body = rows(text)
    refuse_other_separator(line, header)
    if not is_header(header):
        raise FormatError("the first row must be the header 'from,to' or 'from,to,edge'", line)
    edges: list[Located] = []
    names: dict[str, None] = {}
    alone: set[str] = set()
    for number, cells in body:
        if len(cells) > 3:
            raise FormatError(f"this row has {len(cells)} cells: at most from, to and edge are read", number)
        a, b, sign = [*cells, "", ""][:3]
        if not a:
            raise FormatError("this row has no name in its first cell: write 'from,to'", number)
        if b:
            edges.append((_edge(a, b, sign, number), number))
        elif sign:
            raise FormatError(f"the edge {sign!r} from {a!r} leads nowhere: name its other end", number)
        elif a in alone:
            raise FormatError(f"the node {a!r} is given twice: delete one of the rows", number)
        else:
            alone.add(a)
        names.update(dict.fromkeys(name for name in (a, b) if name))
    return assemble(list(names), edges)


def is_header(cells: list[str]) -> bool:
    """Tell whether this is the first row of a list of edges."""
    head = tuple(name.strip().lower() for name in cells)
    return head[:2] in HEADERS and len(head) <= 3


def _edge(a: str, b: str, sign: str, line: int) -> Edge:
    if not sign.strip():
        return Edge(a, b, Mark.TAIL, Mark.ARROW)
    try:
        edge = parse_edge(f"a {sign.strip()} b")
    except GraphError:
        raise FormatError(f"{sign!r} is no edge: write '-->', '<->', '---', 'o->', 'o-o' ...", line) from None
    return Edge(a, b, edge.at_a, edge.at_b)
