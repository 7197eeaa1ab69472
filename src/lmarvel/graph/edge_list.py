"""Lists of edges: a row for each, with its two ends, and the marks where they are not those of ``-->``.

The rows are separated cells in quotes or without, as spreadsheets and other programs write them::

    from,to,edge
    smoking,cancer
    smoking,"yellow fingers",-->
    # a comment
    age

The header says which column is which: ``from`` and ``to``, ``source`` and ``target``, ``parent`` and ``child``, or
``cause`` and ``effect``, in either order and any case of letters. Without a header the cause comes first, and there
are two columns. Cells are separated by commas, tabs or semicolons, and else by blanks. A row with one name only is
a node without edges. Lines that start with ``#`` are comments; a name that does stands in quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmarvel.errors import EdgeListError, GraphError
from lmarvel.graph.checks import MOST_EDGES, MOST_NODES
from lmarvel.graph.marks import Edge, Mark, parse_edge

HEADERS = (("from", "to"), ("source", "target"), ("parent", "child"), ("cause", "effect"))
_ORDINARY = re.compile(r"(?!.*(?:->|--|<-))[^\t\r\n{}]*")  # without a header, anything else is of another format

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class EdgeList:
    """What a list of edges holds.

    Attributes
    ----------
    names : dict from str to int
        The nodes in order of appearance, each with the line where it appears first.
    edges : tuple of (Edge, int)
        Each edge with its line.
    header : bool
        Whether a header was there.
    """

    names: dict[str, int]
    edges: tuple[tuple[Edge, int], ...]
    header: bool


def read_edge_list(text: str) -> EdgeList:
    """Read a list of edges, in time and memory that grow with its length only.

    Parameters
    ----------
    text : str
        The list; more than 20,000 nodes or 1,000,000 edges are refused.

    Examples
    --------
    >>> edge_list = read_edge_list("parent,child\\nsmoking,cancer\\nage\\n")
    >>> list(edge_list.names), [str(edge) for edge, _ in edge_list.edges]
    (['smoking', 'cancer', 'age'], ['smoking --> cancer'])
    >>> str(read_edge_list("to,from,edge\\nA,B,o->\\n").edges[0][0])
    'B o-> A'
    """
    if "\0" in text:
        raise EdgeListError("there is a null character: this is not a list of edges")
    names: dict[str, int] = {}
    edges: list[tuple[Edge, int]] = []
    alone: set[str] = set()
    order: tuple[int, int] | None = None
    for place, (line, cells) in enumerate(rows(text)):
        if place == 0:
            order = header_order(cells)
            if order is not None:
                continue
        ends, sign = _ends(cells, order, line)
        if len(ends) == 2:
            edges.append((_edge(ends[0], ends[1], sign, line), line))
        elif ends[0] in alone:
            raise EdgeListError(f"the node {ends[0]!r} is given twice: delete one of the rows", line)
        else:
            alone.add(ends[0])
        for name in ends:
            names.setdefault(name, line)
        if len(names) > MOST_NODES or len(edges) > MOST_EDGES:
            most = f"{MOST_NODES:,} nodes and {MOST_EDGES:,} edges"
            raise EdgeListError(f"this list is too long: at most {most} are read, take a part of it", line)
    return EdgeList(names, tuple(edges), order is not None)


def header_order(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of cause and effect if this is a header, else None.

    Examples
    --------
    >>> header_order(["Source", "Target"]), header_order(["effect", "cause", "edge"]), header_order(["A", "B"])
    ((0, 1), (1, 0), None)
    """
    if len(cells) not in (2, 3):
        return None
    head = (cells[0].strip().lower(), cells[1].strip().lower())
    if head in HEADERS:
        return 0, 1
    return (1, 0) if head[::-1] in HEADERS else None


def rows(text: str) -> Iterator[Row]:
    """Iterate over the rows that hold something, each with the line where it begins; trailing empty cells are cut."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=_separator(text), skipinitialspace=True, strict=True)
    while True:
        lines.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise EdgeListError(f"this is not a list of edges: {error}", lines.first) from None
        cells = [lines.without_margin(cell) for cell in cells]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield lines.first, cells


class _Lines:
    """The lines of a text for a CSV reader: blank ones and comments are left out, but not inside of quotes."""

    def __init__(self, text: str) -> None:
        self.lines = enumerate(io.StringIO(text, newline=""), start=1)
        self.begin()

    def begin(self) -> None:
        """Say that the next line begins a row."""
        self.fresh, self.row, self.first = True, "", 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for number, line in self.lines:
            if self.fresh and (not line.strip() or line.startswith("#")):
                continue
            if self.fresh:
                self.fresh, self.first = False, number
            self.row += line
            return line
        raise StopIteration

    def without_margin(self, cell: str) -> str:
        """Return a cell of the row without blanks around it, unless they stand in quotes."""
        bare = cell.strip()
        return cell if bare == cell or cell.replace('"', '""') + '"' in self.row else bare


def _separator(text: str) -> str:
    """Return the first of comma, tab and semicolon that stands outside of quotes and comments; else a blank."""
    bare = re.sub(r'"[^"]*"|^#.*$', "", text, flags=re.MULTILINE)
    return next((sign for sign in (",", "\t", ";") if sign in bare), " ")


def _ends(cells: list[str], order: tuple[int, int] | None, line: int) -> tuple[list[str], str]:
    """Return the ends of an edge, cause first, or a single node; and the sign of the edge, if there is one."""
    if len(cells) > (2 if order is None else 3):
        what = "cause,effect" if order is None else "from,to,edge"
        raise EdgeListError(f"an edge is '{what}', and this row has {len(cells)} cells: {_shown(cells)}", line)
    if order is None:
        for cell in cells:
            if not _ORDINARY.fullmatch(cell):
                raise EdgeListError(f"cannot read {cell!r} as a name; an edge is 'cause,effect'", line)
    sign = cells[2] if len(cells) == 3 else ""
    ends = cells[:2]
    if len(ends) == 2 and order == (1, 0):
        ends = ends[::-1]
    if not all(ends):
        if sign:
            raise EdgeListError(f"the edge {sign!r} leads nowhere: name both of its ends", line)
        raise EdgeListError("this row has no name in its first cell: an edge is 'from,to'", line)
    return ends, sign


def _shown(cells: list[str]) -> str:
    text = ",".join(cells)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _edge(a: str, b: str, sign: str, line: int) -> Edge:
    if not sign.strip():
        return Edge(a, b, Mark.TAIL, Mark.ARROW)
    try:
        edge = parse_edge(f"a {sign.strip()} b")
    except GraphError:
        raise EdgeListError(f"{sign!r} is not an edge: write '-->', '<->', '---', 'o->', 'o-o' ...", line) from None
    return Edge(a, b, edge.at_a, edge.at_b)
