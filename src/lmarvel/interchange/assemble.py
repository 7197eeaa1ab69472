"""What readers and writers of graphs share: from names and edges to a graph of the right kind, and cells of CSV.

A reader hands on its edges, each with its line in the text, and :func:`assemble` checks them. Where the text does not
name the kind of the graph, it is the most special kind that fits: a PAG if there are circles, else a DAG, a MAG or a
mixed graph.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from lmarvel.errors import FormatError, GraphError
from lmarvel.graph.checks import check_size
from lmarvel.graph.kinds import DAG, MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.text import readable

KINDS: dict[str, type[MixedGraph]] = {kind.__name__: kind for kind in (DAG, MAG, PAG, MixedGraph)}
GLYPHS = {CIRCLE: "o", ARROW: ">", TAIL: "-"}
WORDS = {CIRCLE: "circle", ARROW: "arrow", TAIL: "tail"}
_MARKS = {
    **{glyph: Mark(mark) for mark, glyph in GLYPHS.items()},
    **{word: Mark(mark) for mark, word in WORDS.items()},
    "<": Mark.ARROW,
}

Located = tuple[Edge, int | None]


def assemble(names: Sequence[str] | None, located: Iterable[Located], kind: str | None = None) -> MixedGraph:
    """Build a graph from edges, each with the line where it stands; faults are reported with that line.

    Without ``names`` the nodes are those of the edges, in order of appearance. Without ``kind`` the graph is of
    the most special kind that fits.
    """
    edges = list(located)
    if names is None:
        names = list(dict.fromkeys(name for edge, _ in edges for name in edge[:2]))
    where = {name: i for i, name in enumerate(check_names(names))}
    try:
        check_size(len(names), len(edges))
    except GraphError as error:
        raise FormatError(str(error)) from None
    marks = np.zeros((len(names), len(names)), dtype=np.int8)
    for edge, line in edges:
        for name in edge[:2]:
            if name not in where:
                raise FormatError(f"the edge '{edge}' names {name!r}, which is not among the nodes: add it there", line)
        i, j = where[edge.a], where[edge.b]
        if i == j:
            raise FormatError(f"the edge '{edge}' joins {edge.a!r} to itself: delete it", line)
        if marks[i, j]:
            old = Edge(edge.a, edge.b, Mark(marks[j, i]), Mark(marks[i, j]))
            raise FormatError(two_edges(old, edge), line)
        marks[i, j], marks[j, i] = edge.at_b, edge.at_a
    return of_kind(names, marks, kind)


def check_names(names: Sequence[str], line: int | None = None) -> Sequence[str]:
    """Return names as they are, if none is empty and all differ."""
    if "" in names:
        raise FormatError("a node has an empty name: give it one", line)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise FormatError(f"the node {twice!r} is given twice: names must differ", line)
    return names


def two_edges(old: Edge, new: Edge) -> str:
    """Return what is wrong with a second edge between a pair."""
    if old == new:
        return f"the edge '{new}' is given twice: delete one"
    pair = f"{readable(new.a)} and {readable(new.b)}"
    return f"{pair} have two edges, '{old}' and '{new}': a graph has one edge per pair, delete one"


def of_kind(names: Sequence[str], marks: ArrayLike, kind: str | None = None) -> MixedGraph:
    """Return the graph as the kind that the text names, or else as the most special kind that fits."""
    try:
        if kind is None:
            return most_special(MixedGraph(names, marks))
        if kind not in KINDS:
            raise FormatError(f"there is no kind of graph {kind!r}: use one of {', '.join(KINDS)}")
        return KINDS[kind](names, marks)
    except GraphError as error:
        claim = f"this is declared as a {kind}, but is not one: " if kind else ""
        raise FormatError(f"{claim}{error}") from None


def most_special(graph: MixedGraph) -> MixedGraph:
    """Return the graph as a PAG if it has circles, else as a DAG, a MAG or a mixed graph, whichever fits first.

    Examples
    --------
    >>> most_special(MixedGraph.from_edges("A --> B"))
    <DAG: 2 nodes, 1 edge>
    """
    if (graph.marks == CIRCLE).any():
        return PAG(graph.names, graph.marks)
    for kind in (DAG, MAG):
        with suppress(GraphError):
            return kind(graph.names, graph.marks)
    return MixedGraph(graph.names, graph.marks)


def mark_of(text: object, edge: str, line: int | None = None) -> Mark:
    """Read a mark that stands alone: ``circle``, ``arrow``, ``tail``, or its sign."""
    if isinstance(text, str) and text.strip().lower() in _MARKS:
        return _MARKS[text.strip().lower()]
    raise FormatError(f"{text!r} is not a mark of the edge {edge}: use 'circle', 'arrow' or 'tail'", line)


def refuse_name(name: str, form: str, why: str) -> FormatError:
    """Return the error for a variable whose name a format has no way to write."""
    return FormatError(f"{form} cannot hold the variable name {name!r}: {why}. Rename it, or choose another format")


# --- cells of CSV -----------------------------------------------------------------------------------------


def rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV text that are not blank, each with the line where it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    numbered: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if cells:
                numbered.append((reader.line_num, cells))
    except csv.Error as error:
        raise FormatError(f"this is not CSV: {error}", reader.line_num) from None
    if not numbered:
        raise FormatError("there is no table here")
    return numbered


def cell(name: str) -> str:
    """Return a name as a cell: in quotes where it holds anything odd."""
    if "\x00" in name:
        raise refuse_name(name, "CSV", "it holds a null character")
    if re.fullmatch(r"[\w.:+*/()-]+", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def refuse_other_separator(line: int, header: list[str]) -> None:
    """Raise if the header is a single cell because the table is separated by something else."""
    for sign, called in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and sign in header[0]:
            raise FormatError(f"this table is separated by {called}: save it with commas", line)
