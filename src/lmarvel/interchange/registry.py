"""All file formats by name, and reading and writing of files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lmarvel.errors import FormatError, GraphError
from lmarvel.files import write_text
from lmarvel.graph.files import MOST_BYTES, read_text
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange import dagitty, dot, edge_list, graphml, json_graph, mermaid, pcalg, tetrad, text
from lmarvel.interchange.assemble import refuse_name
from lmarvel.text import did_you_mean

MOST_RESULT_BYTES = 2**30


class Format(NamedTuple):
    """A file format: its name, its endings, and its two functions; one that cannot be read has no ``loads``.

    Examples
    --------
    >>> FORMATS["dot"].endings
    ('.dot', '.gv')
    """

    name: str
    title: str
    endings: tuple[str, ...]
    dumps: Callable[[MixedGraph], str]
    loads: Callable[[str], MixedGraph] | None


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("text", "text of lmarvel", (".txt",), text.dumps, text.loads),
        Format("json", "JSON of lmarvel", (".json",), json_graph.dumps, json_graph.loads),
        Format("dot", "DOT of Graphviz", (".dot", ".gv"), dot.dumps, dot.loads),
        Format("graphml", "GraphML", (".graphml", ".xml"), graphml.dumps, graphml.loads),
        Format("edges", "list of edges as CSV", (".csv",), edge_list.dumps, edge_list.loads),
        Format("pcalg", "matrix of pcalg (amat.pag) as CSV", (".csv",), pcalg.dumps, pcalg.loads),
        Format("tetrad", "text of Tetrad", (".tetrad",), tetrad.dumps, tetrad.loads),
        Format("dagitty", "DAGitty", (".dagitty",), dagitty.dumps, dagitty.loads),
        Format("mermaid", "Mermaid", (".mmd",), mermaid.dumps, None),
    )
}
_BRACED = {"dagitty": dagitty.DIALECT, "dot": dot.DIALECT}


def loads(content: str, format: str) -> MixedGraph:
    """Read a graph from text in a format.

    Parameters
    ----------
    content : str
        The text.
    format : str
        A key of ``FORMATS``.

    Returns
    -------
    MixedGraph
        Of the kind that the text names, or else of the most special kind that fits.

    Examples
    --------
    >>> print(loads("dag { smoking -> cancer }", "dagitty"))
    nodes: smoking cancer
    smoking --> cancer
    """
    form = check_format(format)
    if form.loads is None:
        raise FormatError(f"{form.title} can be written only, not read: it is made for drawing")
    if not content.strip():
        raise FormatError("this is empty: there is no graph in it")
    try:
        return form.loads(content)
    except GraphError as error:
        raise FormatError(str(error)) from None


def dumps(graph: MixedGraph, format: str) -> str:
    """Return a graph as text in a format.

    Parameters
    ----------
    graph : MixedGraph
        Any graph.
    format : str
        A key of ``FORMATS``.

    Returns
    -------
    str
        The text. A variable name that the format cannot hold raises :class:`FormatError`.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B"), "edges"), end="")
    from,to,edge
    A,B,o->
    """
    return check_format(format).dumps(graph)


def read_graph(path: str | Path, format: str | None = None) -> MixedGraph:
    """Read a graph from a file.

    Parameters
    ----------
    path : str or Path
        The file, in UTF-8; of at most 64 MB, or 1 GB where it ends in ``.json`` and may be a whole result.
    format : str, optional
        A key of ``FORMATS``. Without it the ending decides; ``.csv`` may hold a list of edges or a matrix of pcalg,
        and ``.txt`` this package's text or that of Tetrad, DAGitty or DOT, and the content decides which.

    Returns
    -------
    MixedGraph
        Of the kind that the file names, or else of the most special kind that fits: a PAG if there is a circle,
        else a DAG, else a MAG, else a plain mixed graph.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "graph.dot"
    >>> _ = path.write_text("digraph { smoking -> cancer; smoking -> tar }")
    >>> print(read_graph(path))
    nodes: smoking cancer tar
    smoking --> cancer
    smoking --> tar
    """
    path = Path(path)
    content, name = read_content(path, format)
    try:
        return loads(content, name)
    except FormatError as error:
        raise error.within(path) from None


def read_content(path: Path, format: str | None = None) -> tuple[str, str]:
    """Return the text of a graph file, and the name of its format, guessed where it is not given."""
    form = None if format is None else check_format(format)
    if form is None:
        by_ending(path)
    try:
        content = read_text(path, MOST_RESULT_BYTES if path.suffix.lower() == ".json" else MOST_BYTES)
    except GraphError as error:
        raise FormatError(str(error), path=path) from None
    return content, form.name if form else sniff(content, path)


def write_graph(graph: MixedGraph, path: str | Path, format: str | None = None) -> None:
    """Write a graph to a file, whole or not at all.

    Parameters
    ----------
    graph : MixedGraph
        Any graph.
    path : str or Path
        The file; it is replaced if it is there.
    format : str, optional
        A key of ``FORMATS``. Without it the ending decides; ``.csv`` becomes a list of edges.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "graph.csv"
    >>> write_graph(MixedGraph.from_edges("A --> B"), path, format="pcalg")
    >>> print(path.read_text(), end="")
    "",A,B
    A,0,2
    B,3,0
    """
    path = Path(path)
    form = by_ending(path)[0] if format is None else check_format(format)
    for name in graph.names:
        if any("\ud800" <= sign <= "\udfff" for sign in name):
            raise refuse_name(name, "a file", "it holds half of a surrogate pair, which UTF-8 cannot write")
    write_text(path, form.dumps(graph))


def by_ending(path: Path) -> list[Format]:
    """Return the formats whose ending a path has, the first one being that to write.

    Examples
    --------
    >>> [form.name for form in by_ending(Path("graph.csv"))]
    ['edges', 'pcalg']
    """
    forms = [form for form in FORMATS.values() if path.suffix.lower() in form.endings]
    if not forms:
        known = ", ".join(dict.fromkeys(ending for form in FORMATS.values() for ending in form.endings))
        raise FormatError(
            f"cannot infer the format of {path.name or str(path)!r} by its ending: use one of {known}, or name the"
            f" format, one of {', '.join(FORMATS)}"
        )
    return forms


def sniff(content: str, path: Path) -> str:
    """Return the name of the format of a file, by its ending and, where that leaves a choice, its content.

    Examples
    --------
    >>> sniff("from,to\\nA,B\\n", Path("graph.csv")), sniff("pag { A @-> B }", Path("graph.txt"))
    ('edges', 'dagitty')
    """
    name = by_ending(path)[0].name
    if name == "edges" and content.strip():
        return "edges" if edge_list.is_list(content) else "pcalg"
    if name != "text":
        return name
    if re.search(rf"^\s*{tetrad.NODES}\s*$", content, re.MULTILINE):
        return "tetrad"
    header = re.match(r'\s*(?:strict\s+)?(\w+)(?:\s*"[^"]*"|\s+[\w.]+)?\s*\{', content, re.IGNORECASE)
    word = header.group(1).lower() if header else ""
    return next((form for form, dialect in _BRACED.items() if word in dialect.headers), "text")


def check_format(name: str) -> Format:
    """Return a format by name, or say which there are."""
    if name not in FORMATS:
        raise FormatError(f"there is no format {name!r}: use one of {', '.join(FORMATS)}{did_you_mean(name, FORMATS)}")
    return FORMATS[name]
