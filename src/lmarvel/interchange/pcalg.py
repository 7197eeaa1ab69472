"""The adjacency matrix of pcalg for MAGs and PAGs (its type ``amat.pag``) as CSV.

The first row and the first column hold the names. The cell in row i and column j is the mark AT j on the edge
between i and j: 0 no edge, 1 circle, 2 arrowhead, 3 tail. So ``A --> B`` has a 2 in row A, column B, and a 3 in row
B, column A. In R: ``write.csv(fit@amat, "graph.csv")`` and ``as.matrix(read.csv("graph.csv", row.names = 1,
check.names = FALSE))``.

The other coding of pcalg, ``amat.cpdag`` for DAGs and CPDAGs, means other things by 0 and 1. It is recognised where a
mark stands at one end only, and refused; a matrix of undirected edges only looks the same in both.
"""

from __future__ import annotations

import numpy as np

from lmarvel.errors import FormatError
from lmarvel.graph.marks import CIRCLE, NONE
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import cell, check_names, of_kind, refuse_other_separator, rows
from lmarvel.text import counted

CODES = {"0": 0, "1": 1, "2": 2, "3": 3}


def dumps(graph: MixedGraph) -> str:
    """Return the matrix of a graph, with names.

    Examples
    --------
    >>> print(dumps(MixedGraph.from_edges("A o-> B")), end="")
    "",A,B
    A,0,2
    B,1,0
    """
    names = [cell(name) for name in graph.names]
    lines = [[name, *map(str, row)] for name, row in zip(names, graph.marks.tolist(), strict=True)]
    return "".join(",".join(line) + "\n" for line in [['""', *names], *lines])


def loads(text: str) -> MixedGraph:
    """Read such a matrix.

    Examples
    --------
    >>> print(loads(",A,B\\nA,0,2\\nB,3,0\\n"))
    nodes: A B
    A --> B
    """
    (line, header), *body = rows(text)
    refuse_other_separator(line, header)
    shifted = bool(body) and len(body[0][1]) == len(header) + 1  # R's write.table has no cell over the row names
    names = header if shifted else header[1:]
    check_names(names, line)
    if len(body) != len(names):
        have = f"{counted(len(names), 'column')} {'has' if len(names) == 1 else 'have'} a name"
        follow = f"{counted(len(body), 'row')} {'follows' if len(body) == 1 else 'follow'}"
        raise FormatError(f"{have} and {follow}: the matrix must be square")
    marks = np.array([_row(names, i, *row) for i, row in enumerate(body)], dtype=np.int8).reshape(
        len(names), len(names)
    )
    if np.isin(marks, (NONE, CIRCLE)).all() and ((marks == NONE) != (marks.T == NONE)).any():
        raise FormatError(
            "this looks like the coding amat.cpdag of pcalg, where a 1 stands for an edge and not for a circle:"
            " only amat.pag, with the marks 1, 2 and 3, is read"
        )
    return of_kind(names, marks)


def _row(names: list[str], position: int, line: int, cells: list[str]) -> list[int]:
    if len(cells) != len(names) + 1:
        raise FormatError(
            f"this row has {counted(len(cells), 'cell')}, and {len(names) + 1} are needed: a name and the marks", line
        )
    if cells[0] != names[position]:
        raise FormatError(
            f"row {position + 1} is called {cells[0]!r} and column {position + 1} {names[position]!r}: rows and columns"
            " must have the same names in the same order",
            line,
        )
    for name, code in zip(names, cells[1:], strict=True):
        if code.strip() not in CODES:
            raise FormatError(f"{code!r} in column {name!r} is not a mark: use 0, 1, 2 or 3", line)
    return [CODES[code.strip()] for code in cells[1:]]
