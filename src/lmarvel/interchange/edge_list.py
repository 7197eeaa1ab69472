"""A list of edges as CSV: the columns ``from`` and ``to``, and ``edge`` for the marks.

Without a third column, or where it is empty, an edge is directed. The third column holds signs such as ``o->`` or
``<->``. A row with one name only is a node without edges. Other headers that are read, and what else may stand in
such a list: see :mod:`lmarvel.graph.edge_list`. A header has to be there.
"""

from __future__ import annotations

from itertools import islice

from lmarvel.errors import EdgeListError, FormatError
from lmarvel.graph.edge_list import HEADERS, header_order, read_edge_list, rows
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import arrow
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import assemble, cell


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
    >>> print(loads("cause,effect\\nsmoking,cancer\\nage\\n"))
    nodes: smoking cancer age
    smoking --> cancer
    """
    try:
        edge_list = read_edge_list(text)
    except EdgeListError as error:
        raise FormatError(error.reason, error.line) from None
    if not edge_list.header:  # the first row of a CSV file may be anything: an edge is not guessed from it
        known = ", ".join(f"'{','.join(pair)}'" for pair in HEADERS)
        raise FormatError(f"the first row must be a header, one of {known}, with ',edge' behind it where marks follow")
    return assemble(list(edge_list.names), edge_list.edges)


def is_list(text: str) -> bool:
    """Tell whether a CSV text is a list of edges, or of pairs that lack a header, rather than a matrix.

    Examples
    --------
    >>> is_list("parent,child\\nA,B"), is_list(",A,B\\nA,0,2\\nB,3,0")
    (True, False)
    """
    try:
        first = [cells for _, cells in islice(rows(text), 2)]
    except EdgeListError:
        return True
    if not first:
        return False
    return header_order(first[0]) is not None or all(len(cells) == 2 and all(cells) for cells in first)
