"""What names and marks have to be before a graph is made of them, and the error where they are not.

A graph is a matrix, so its size grows with the square of its nodes: 20,000 nodes take 400 MB, and more are refused
before the matrix is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lmarvel.errors import GraphError
from lmarvel.graph.marks import ARROW, CIRCLE, NONE, TAIL, Edge, Mark, parse_edge, split_names
from lmarvel.text import counted, did_you_mean, listing, readable

MOST_NODES = 20_000
MOST_EDGES = 1_000_000  # in a file that is read; a list of them takes some 300 bytes per edge


def check_size(nodes: int, edges: int = 0) -> None:
    """Refuse a graph that is too large before the work and the memory go into it.

    Examples
    --------
    >>> check_size(40_000)
    Traceback (most recent call last):
    ...
    lmarvel.errors.GraphError: 40,000 nodes are too many: a graph holds at most 20,000, take a part of it
    """
    if nodes > MOST_NODES:
        raise GraphError(f"{nodes:,} nodes are too many: a graph holds at most {MOST_NODES:,}, take a part of it")
    if edges > MOST_EDGES:
        raise GraphError(f"{edges:,} edges are too many: at most {MOST_EDGES:,} are read, take a part of the graph")


def has_nodes(names: Iterable[str]) -> str:
    """Return which nodes a graph has, for a message."""
    return f"the graph has {listing(names, 12, 'no nodes')}"


def look_up(where: Mapping[str, int], name: str, edge: Edge | None = None) -> int:
    """Return the position of a name, or say which names there are."""
    try:
        return where[name]
    except KeyError:
        context = f" in the edge '{edge}'" if edge else ""
        meant = did_you_mean(name, where)
        raise GraphError(f"unknown node {name!r}{context}: {has_nodes(where)}{meant}") from None


def two_edges(old: Edge, new: Edge) -> str:
    """Return what is wrong with a second edge between a pair."""
    aligned = new if (new.a, new.b) == (old.a, old.b) else new.reversed()
    kind = "is given twice" if aligned == old else f"has two edges, '{old}' and '{new}'"
    return f"the pair {readable(old.a)}, {readable(old.b)} {kind}: a graph has one edge per pair"


def parse_edges(edges: Iterable[str | Edge]) -> tuple[list[str] | None, list[Edge]]:
    """Return the nodes of a line ``nodes: ...``, if there is one, and the edges of a text form."""
    declared: list[str] | None = None
    parsed: list[Edge] = []
    for item in edges:
        if isinstance(item, Edge):
            if Mark.NONE in (item.at_a, item.at_b):
                pair = f"{readable(item.a)}-{readable(item.b)}"
                raise GraphError(f"the edge {pair} lacks a mark: give both ends one")
            parsed.append(item)
            continue
        if not isinstance(item, str):
            raise GraphError(
                f"an edge is text like 'A --> B' or an Edge, not {item!r}; pass each as an argument of its own"
            )
        for line in item.splitlines():
            text = line.strip()
            if text.startswith("nodes:"):
                if declared is not None:
                    raise GraphError("there are two lines 'nodes: ...': keep one")
                declared = split_names(text.removeprefix("nodes:"))
            elif text and not text.startswith("#"):
                parsed.append(parse_edge(text))
    return declared, parsed


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as they are, if all are strings, none is empty and all differ."""
    result = tuple(names)
    for position, name in enumerate(result):
        if not isinstance(name, str):
            raise GraphError(f"node names are strings; number {position} is {name!r} of type {type(name).__name__}")
        if not name:
            raise GraphError(f"node number {position} has an empty name")
    if len(set(result)) < len(result):
        twice = sorted(name for name, count in Counter(result).items() if count > 1)
        raise GraphError(f"duplicate node name {', '.join(map(repr, twice))}: names must differ")
    return result


def checked_marks(names: tuple[str, ...], marks: ArrayLike) -> NDArray[np.int8]:
    """Return marks as a matrix that cannot be written to, if they are the marks of a graph over these names."""
    n = len(names)
    need = f"{counted(n, 'node')} {'needs' if n == 1 else 'need'} a {n} x {n} matrix of marks"
    try:
        array = np.asarray(marks)
    except ValueError:
        raise GraphError(f"{need}, with rows equally long") from None
    if array.size == 0 and n == 0:
        array = array.reshape(0, 0)
    if array.shape != (n, n):
        raise GraphError(f"{need}, not one of shape {array.shape}")
    shown = [readable(name) for name in names]
    for i, j in _impossible(array):
        pair = f"{shown[i]}-{shown[j]}"
        raise GraphError(f"impossible mark {array[i, j]} at {shown[j]} on the edge {pair}: marks are 0 to 3")
    matrix = np.array(array, dtype=np.int8)
    for i in np.flatnonzero(np.diag(matrix))[:1]:
        raise GraphError(f"self-loop at {shown[i]}")
    for i, j in _one_sided(matrix) if matrix.any() else ():
        raise GraphError(f"the edge {shown[i]}-{shown[j]} has a mark at one end only: give both or none")
    matrix.setflags(write=False)
    return matrix


def _impossible(array: NDArray[Any]) -> NDArray[np.intp]:
    """Return where the first value stands that is no mark."""
    if array.dtype.kind in "iu" and (not array.size or (array.min() >= NONE and array.max() <= TAIL)):
        return np.empty((0, 2), dtype=np.intp)  # the usual case, without a copy of what may be large
    return np.argwhere(~np.isin(array, (NONE, CIRCLE, ARROW, TAIL)))[:1]


def _one_sided(matrix: NDArray[np.int8], rows: int = 512) -> Iterator[tuple[int, int]]:
    """Iterate over the pairs with a mark at one end only; a strip of the matrix at a time, to save memory."""
    for top in range(0, len(matrix), rows):
        strip = (matrix[top : top + rows] == NONE) != (matrix[:, top : top + rows].T == NONE)
        if strip.any():
            yield from ((top + int(i), int(j)) for i, j in np.argwhere(strip))
