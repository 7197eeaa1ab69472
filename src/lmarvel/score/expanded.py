"""A graph over variables as one over their columns, for tables in which a variable is several of them.

A variable with levels is an indicator for each level but one (:mod:`lmarvel.ci.blocks`). Where x --> y, every column of
x is a parent of every column of y, and so for the other edges. The columns of one variable are joined without
constraint: by <->, or by --- where the variable has undirected edges, since there no arrowhead may be. So the graph
over columns is ancestral if the one over variables is, and its parameters are those of the block regressions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.mixed import MixedGraph


def expanded(graph: MixedGraph, columns: Sequence[Sequence[int]]) -> MixedGraph:
    """Return the graph over columns; ``columns[v]`` are the positions of those of variable v.

    Examples
    --------
    >>> from lmarvel import DAG
    >>> print(expanded(DAG.from_edges("A --> B"), [[0], [1, 2]]))
    nodes: A "B 1" "B 2"
    A --> "B 1"
    A --> "B 2"
    "B 1" <-> "B 2"
    """
    owner = np.empty(sum(map(len, columns)), dtype=np.intp)
    names = [""] * len(owner)
    for v, own in enumerate(columns):
        owner[list(own)] = v
        for i, column in enumerate(own):
            names[column] = graph.names[v] if len(own) == 1 else f"{graph.names[v]} {i + 1}"
    marks = np.asarray(graph.marks)[np.ix_(owner, owner)]
    undirected = np.array([mask != 0 for mask in graph.masks.neighbors], dtype=bool)[owner]
    inside = owner[:, None] == owner
    marks = np.where(inside, np.where(undirected[:, None], TAIL, ARROW), marks).astype(np.int8)
    np.fill_diagonal(marks, 0)
    return MixedGraph._trusted(tuple(names), marks)
