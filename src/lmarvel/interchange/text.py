"""The package's own text form: a line ``nodes: A B C``, then one edge per line, such as ``A o-> B``.

The kind of graph is not written down, so the most special kind that fits is read back.
"""

from __future__ import annotations

from lmarvel.errors import FormatError, GraphError
from lmarvel.graph.marks import parse_edge, split_names
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import Located, assemble


def dumps(graph: MixedGraph) -> str:
    """Return the text form of a graph.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B")), end="")
    nodes: A B
    A o-> B
    """
    return f"{graph}\n"


def loads(text: str) -> MixedGraph:
    """Read the text form; blank lines and lines that start with ``#`` are skipped.

    Examples
    --------
    >>> loads("A o-> B")
    <PAG: 2 nodes, 1 edge>
    """
    names: list[str] | None = None
    edges: list[Located] = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        try:
            if not entry.startswith("nodes:"):
                edges.append((parse_edge(entry), number))
            elif names is None:
                names = split_names(entry.removeprefix("nodes:"))
            else:
                raise FormatError("there are two lines 'nodes: ...': keep one", number)
        except GraphError as error:
            raise FormatError(str(error), number) from None
    if names is None and not edges:
        raise FormatError("there is no graph here: write edges such as 'A --> B', or a line 'nodes: A B C'")
    return assemble(names, edges)
