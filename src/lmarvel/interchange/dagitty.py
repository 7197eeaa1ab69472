"""DAGitty, the language of dagitty.net and of the R package dagitty.

``pag { A; "B c"; A @-> "B c" }``: a circle is written ``@``. The header names the kind: ``pag``, ``mag`` and ``dag``
are a PAG, a MAG and a DAG. A ``dag`` may hold ``<->``, which stands for an unmeasured common cause: it is read as the
most special kind that fits, or by :func:`loads_study` with a latent variable. In a ``pdag`` the edge ``--`` means
that both directions are possible, which is not what it means in a MAG: it is read as a plain mixed graph. Layout
and other attributes are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lmarvel.errors import FormatError, GraphError
from lmarvel.graph.kinds import ADMG, DAG, MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import Located, assemble, most_special, refuse_name
from lmarvel.interchange.dot_syntax import Dialect, Document, parse

DIALECT = Dialect(
    title="DAGitty",
    headers=("dag", "mag", "pag", "pdag"),
    operators=("->", "<-", "<->", "--", "@->", "<-@", "@-@", "@--", "--@"),
    string=r'"(?:[^"\\]|\\"|\\(?!"))*"',
    unescape=lambda text: re.sub(r'\\("|[\r\n]+)', lambda match: match.group(1).strip("\r\n"), text),
    circle="write A @-> B",
)
LATENT, SELECTED = ("latent", "unobserved"), ("selected",)
_LEFT = {"<": Mark.ARROW, "@": Mark.CIRCLE, "-": Mark.TAIL}
_RIGHT = {">": Mark.ARROW, "@": Mark.CIRCLE, "-": Mark.TAIL}
_SIGNS = {
    (TAIL, ARROW): "->",
    (ARROW, TAIL): "<-",
    (ARROW, ARROW): "<->",
    (TAIL, TAIL): "--",
    (CIRCLE, ARROW): "@->",
    (ARROW, CIRCLE): "<-@",
    (CIRCLE, CIRCLE): "@-@",
    (CIRCLE, TAIL): "@--",
    (TAIL, CIRCLE): "--@",
}


def dumps(graph: MixedGraph, latent: Iterable[str] = (), selection: Iterable[str] = ()) -> str:
    """Return a graph in DAGitty's language.

    Parameters
    ----------
    graph : MixedGraph
        A graph that is no DAG, MAG or PAG is written as the most special of them, and as a PAG if it is none.
    latent, selection : iterables of str
        The nodes to mark as latent and as selected.

    Examples
    --------
    >>> print(dumps(DAG.from_edges("U --> A", "U --> B"), latent=["U"]), end="")
    dag {
    U [latent]
    A
    B
    U -> A
    U -> B
    }
    """
    roles = {**dict.fromkeys(latent, " [latent]"), **dict.fromkeys(selection, " [selected]")}
    for name in roles:
        if name not in graph.names:
            raise FormatError(f"{name!r} is declared latent or selected, but is not a node of the graph")
    quoted = {name: _quote(name) for name in graph.names}
    lines = [f"{text}{roles.get(name, '')}" for name, text in quoted.items()]
    lines += [f"{quoted[e.a]} {_SIGNS[e.at_a, e.at_b]} {quoted[e.b]}" for e in graph.edges()]
    return "\n".join([f"{_header(graph)} {{", *lines, "}", ""])


def loads(text: str) -> MixedGraph:
    """Read a graph in DAGitty's language; roles of nodes are passed over, see :func:`loads_study`.

    Examples
    --------
    >>> print(loads('pag { A @-> B; B -> "C d" }'))
    nodes: A B "C d"
    A o-> B
    B --> "C d"
    """
    document = parse(text, DIALECT)
    edges = _edges(document)
    kind = {"pag": "PAG", "mag": "MAG", "pdag": "MixedGraph", "dag": "DAG"}[document.header]
    mixed = any((edge.at_a, edge.at_b) == (ARROW, ARROW) for edge, _ in edges)
    if kind != "DAG" or not mixed:
        return assemble(list(document.nodes), edges, kind)
    try:
        return assemble(list(document.nodes), edges)
    except FormatError as error:
        hint = "lmarvel.interchange.dagitty.loads_study reads every <-> as a latent common cause"
        raise FormatError(f"{error.reason}; {hint}", error.line) from None


def loads_study(text: str) -> tuple[DAG, tuple[str, ...], tuple[str, ...]]:
    """Read a ``dag`` with the roles of its nodes; each ``<->`` becomes a latent common cause.

    Returns
    -------
    dag, latent, selection : DAG, tuple of str, tuple of str
        What :meth:`lmarvel.DAG.project` needs.

    Examples
    --------
    >>> dag, latent, selection = loads_study("dag { U [latent] S [selected] U -> A; U -> B; A -> S; C -> S }")
    >>> print(dag.project(latent, selection))
    nodes: A B C
    A --> B
    A --- C
    """
    document = parse(text, DIALECT)
    if document.header != "dag":
        raise FormatError(f"roles of nodes are read from a 'dag', and this is a '{document.header}'")
    edges = [edge for edge, _ in _edges(document)]
    try:
        dag, confounders = ADMG(list(document.nodes), edges).canonical_dag()
    except GraphError as error:
        raise FormatError(str(error)) from None
    latent = tuple(name for name, attributes in document.nodes.items() if not attributes.keys().isdisjoint(LATENT))
    selection = tuple(name for name, attributes in document.nodes.items() if not attributes.keys().isdisjoint(SELECTED))
    for name in latent:
        if name in selection:
            raise FormatError(f"{name!r} is both latent and selected: give it one role")
    return dag, (*latent, *confounders), selection


def _edges(document: Document) -> list[Located]:
    return [(Edge(e.a, e.b, _LEFT[e.operator[0]], _RIGHT[e.operator[-1]]), e.line) for e in document.edges]


def _header(graph: MixedGraph) -> str:
    known = graph if isinstance(graph, DAG | MAG | PAG) else most_special(graph)
    return {DAG: "dag", MAG: "mag"}.get(type(known), "pag")


def _quote(name: str) -> str:
    """Return a name as DAGitty writes it: it knows the escaped quote, and takes any other backslash as it is."""
    if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    if re.search(r"[\x00-\x1f\x7f]", name):
        raise refuse_name(name, "DAGitty", "it holds a line end, a tab or another control character")
    if name.endswith("\\"):
        raise refuse_name(name, "DAGitty", "it ends in a backslash")
    return '"' + name.replace('"', '\\"') + '"'
