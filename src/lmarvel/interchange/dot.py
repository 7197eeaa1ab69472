"""DOT, the language of Graphviz.

An edge is written with ``dir=both`` and a shape for the mark at each end: ``normal`` for an arrowhead, ``odot`` for
a circle, ``none`` for a tail. Read back are the graphs that people and other programs write: a plain ``a -> b`` has
a tail and an arrowhead, ``a -- b`` two tails. A shape that is given counts even where ``dir`` is not, though
Graphviz would not draw it. Where all nodes are numbers with labels, as causal-learn writes them, the labels are the
names.
"""

from __future__ import annotations

import re

from lmarvel.errors import FormatError
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import KINDS, Located, assemble, refuse_name
from lmarvel.interchange.dot_syntax import Attributes, Dialect, Document, EdgeStatement, parse
from lmarvel.text import readable

SHAPES = {ARROW: "normal", CIRCLE: "odot", TAIL: "none"}
_READ = {
    **dict.fromkeys(("none", "tail"), Mark.TAIL),
    **dict.fromkeys(("odot", "dot", "circle"), Mark.CIRCLE),
    **dict.fromkeys(("normal", "onormal", "vee", "open", "empty", "halfopen"), Mark.ARROW),
}
DIALECT = Dialect(
    title="DOT",
    headers=("digraph", "graph"),
    operators=("->", "--"),
    string=r'"(?:[^"\\]|\\.)*"',
    unescape=lambda text: re.sub(r"\\(\\|\"|\r?\n)", _unescaped, text),
    circle="write A -> B [dir=both, arrowtail=odot]",
    keywords=("graph", "node", "edge", "subgraph"),
    markup=True,
)


def dumps(graph: MixedGraph) -> str:
    """Return a graph in DOT, to be drawn by Graphviz; its kind is kept as an attribute.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B")), end="")
    digraph {
      graph [kind="MixedGraph"];
      "A";
      "B";
      "A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal];
    }
    """
    kind = next(name for name, kind in KINDS.items() if isinstance(graph, kind))
    quoted = {name: _quote(name) for name in graph.names}
    lines = [f'  graph [kind="{kind}"];', *(f"  {name};" for name in quoted.values())]
    for edge in graph.edges():
        shapes = f"arrowtail={SHAPES[edge.at_a]}, arrowhead={SHAPES[edge.at_b]}"
        lines.append(f"  {quoted[edge.a]} -> {quoted[edge.b]} [dir=both, {shapes}];")
    return "\n".join(["digraph {", *lines, "}", ""])


def loads(text: str) -> MixedGraph:
    """Read a graph in DOT; positions, colours and the like are passed over.

    Examples
    --------
    >>> print(loads('digraph { a -> b -> c; a -> "d e" [dir=both, arrowtail=odot] }'))
    nodes: a b c "d e"
    a --> b
    a o-> "d e"
    b --> c
    """
    document = parse(text, DIALECT)
    names = _names(document)
    edges: list[Located] = [(_edge(statement, names), statement.line) for statement in document.edges]
    if document.strict:  # then an edge may be repeated, and counts once
        edges = list({edge: (edge, line) for edge, line in edges}.values())
    kind = document.attributes.get("kind")
    return assemble(list(names.values()), edges, kind if kind in KINDS else None)


def _names(document: Document) -> dict[str, str]:
    """Return the name of each node by its identifier."""
    labels = [attributes.get("label", "") for attributes in document.nodes.values()]
    numbered = all(re.fullmatch("[0-9]+", node) for node in document.nodes)
    if labels and numbered and all(labels) and len(set(labels)) == len(labels):
        return dict(zip(document.nodes, labels, strict=True))
    return {node: node for node in document.nodes}


def _edge(statement: EdgeStatement, names: dict[str, str]) -> Edge:
    attributes, line = statement.attributes, statement.line
    direction = attributes.get("dir")
    if direction not in (None, "forward", "back", "both", "none"):
        raise FormatError(f"dir={readable(direction)} is not a direction: use forward, back, both or none", line)
    if direction is None:
        head = _mark(attributes, "arrowhead", line, Mark.ARROW if statement.operator == "->" else Mark.TAIL)
        tail = _mark(attributes, "arrowtail", line, Mark.TAIL)
    else:
        head = _mark(attributes, "arrowhead", line, Mark.ARROW) if direction in ("forward", "both") else Mark.TAIL
        tail = _mark(attributes, "arrowtail", line, Mark.ARROW) if direction in ("back", "both") else Mark.TAIL
    return Edge(names[statement.a], names[statement.b], tail, head)


def _mark(attributes: Attributes, key: str, line: int, otherwise: Mark) -> Mark:
    shape = attributes.get(key)
    if shape is None:
        return otherwise
    if shape not in _READ:
        raise FormatError(f"{key}={readable(shape)} is not a mark: use normal, odot or none", line)
    return _READ[shape]


def _quote(name: str) -> str:
    """Return a name in quotes. DOT keeps backslashes as they are, in pairs, and knows only the escaped quote."""
    if "\x00" in name:
        raise refuse_name(name, "DOT", "it holds a null character")
    text = name.replace('"', '\\"')
    if _unquoted(f'"{text}"') != name:
        raise refuse_name(name, "DOT", "a backslash before a quote, a line end or the end of a name cannot be written")
    return f'"{text}"'


def _unquoted(text: str) -> str | None:
    return DIALECT.unescape(text[1:-1]) if re.fullmatch(DIALECT.string, text, re.DOTALL) else None


def _unescaped(match: re.Match[str]) -> str:
    """Return what an escape stands for: a quote, nothing for a line that goes on, itself for two backslashes."""
    escaped = match.group(1)
    return {'"': '"', "\\": "\\\\"}.get(escaped, "")
