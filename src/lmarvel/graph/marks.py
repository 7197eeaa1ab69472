"""Edge marks, and the text form of an edge.

An edge has a mark at each end. A *tail* at X says that X is a cause of the other end or of selection, an
*arrowhead* that X is neither, and a *circle* (in a PAG only) that the data allow both. The text form
writes the two marks around a dash: ``A --> B``, ``A <-> B``, ``A --- B``, ``A o-> B``, ``A o-o B``.
"""

from __future__ import annotations

import json
import re
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import GraphError


class Mark(IntEnum):
    """The mark at one end of an edge; the numbers are the PAG codes that pcalg uses too.

    Examples
    --------
    >>> Mark.ARROW, int(Mark.TAIL)
    (<Mark.ARROW: 2>, 3)
    """

    NONE = 0
    CIRCLE = 1
    ARROW = 2
    TAIL = 3


NONE, CIRCLE, ARROW, TAIL = (int(m) for m in Mark)  # plain ints: faster to compare in inner loops

_LEFT = {"<": ARROW, "o": CIRCLE, "-": TAIL}
_RIGHT = {">": ARROW, "o": CIRCLE, "-": TAIL}
_LEFT_GLYPH = {mark: glyph for glyph, mark in _LEFT.items()}
_RIGHT_GLYPH = {mark: glyph for glyph, mark in _RIGHT.items()}

_NAME = r'"(?:[^"\\]|\\.)*"|[^\s",]+'
_EDGE = re.compile(rf"\s*({_NAME})\s+(\S+)\s+({_NAME})\s*")
_PLAIN = re.compile(r'(?!nodes:)[^\s",#\x1c-\x1e\x85\u2028\u2029][^\s",\x1c-\x1e\x85\u2028\u2029]*')


class Edge(NamedTuple):
    """An edge between two named nodes with the mark at each of them.

    Examples
    --------
    >>> edge = parse_edge("Smoking o-> Cancer")
    >>> edge.at_a, edge.at_b
    (<Mark.CIRCLE: 1>, <Mark.ARROW: 2>)
    >>> print(edge.reversed())
    Cancer <-o Smoking
    """

    a: str
    b: str
    at_a: Mark
    at_b: Mark

    def reversed(self) -> Edge:
        """Return the same edge, read from the other end."""
        return Edge(self.b, self.a, self.at_b, self.at_a)

    def __str__(self) -> str:
        return f"{quote(self.a)} {arrow(self.at_a, self.at_b)} {quote(self.b)}"


def arrow(at_a: int, at_b: int) -> str:
    """Return the three characters that stand between two nodes.

    Examples
    --------
    >>> arrow(Mark.CIRCLE, Mark.ARROW)
    'o->'
    """
    return f"{_LEFT_GLYPH[at_a]}-{_RIGHT_GLYPH[at_b]}"


def quote(name: str) -> str:
    """Return the name as it stands in a text form: bare where that is unambiguous, else in JSON quotes."""
    if _PLAIN.fullmatch(name):
        return name
    text = json.dumps(name, ensure_ascii=False)
    return "".join(c if len(f"a{c}b".splitlines()) == 1 else f"\\u{ord(c):04x}" for c in text)


def unquote(token: str) -> str:
    """Undo :func:`quote`."""
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except json.JSONDecodeError:
        raise GraphError(f"cannot read the quoted name {token}: use the quoting of JSON strings") from None


def split_names(text: str) -> list[str]:
    """Split a list of names, bare or quoted, separated by commas or blanks."""
    rest = re.sub(_NAME, "", text).replace(",", "").strip()
    if rest:
        raise GraphError(f"cannot read the node list {text.strip()!r}: stray {rest!r}")
    return [unquote(token) for token in re.findall(_NAME, text)]


def positions(matrix: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows and columns where a matrix is not 0 or False, as ``np.argwhere`` does, but much faster.

    NumPy walks through a matrix element by element, and through one long row of booleans in strides.

    Examples
    --------
    >>> positions(np.array([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    found = np.flatnonzero(matrix if matrix.dtype == bool else matrix != 0)
    return np.stack(np.divmod(found, max(matrix.shape[1], 1)), axis=1)


def parse_edge(text: str) -> Edge:
    """Read one edge such as ``A o-> B``; names with blanks, commas or quotes stand in JSON quotes.

    Examples
    --------
    >>> parse_edge('"blood pressure" <-> age').a
    'blood pressure'
    """
    match = _EDGE.fullmatch(text)
    if match is None:
        raise GraphError(f"cannot read the edge {text.strip()!r}: write it as 'A --> B', 'A o-> B', 'A <-> B' ...")
    left, glyph, right = match.groups()
    if len(glyph) != 3 or glyph[0] not in _LEFT or glyph[1] != "-" or glyph[2] not in _RIGHT:
        raise GraphError(
            f"cannot read the edge {text.strip()!r}: {glyph!r} is not an edge; the left mark is one of '<', 'o', '-',"
            " then '-', then the right mark, one of '>', 'o', '-'"
        )
    return Edge(unquote(left), unquote(right), Mark(_LEFT[glyph[0]]), Mark(_RIGHT[glyph[2]]))
