"""Which variables of a MAG are removable, and why another is not: Theorem 1 with a witness.

A removable variable can be taken out of a MAG without changing what the rest shows. Theorem 1 of the paper has two
conditions for it; one that is not removable breaks one of them at a pair of variables that can be named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lmarvel.graph.bitsets import members
from lmarvel.graph.mixed import MixedGraph, Node
from lmarvel.graph.separation import require_marks
from lmarvel.text import readable

_Broken = tuple[int, list[int]]


@dataclass(frozen=True)
class NotRemovable:
    """Why X is not removable: Y and Z are not adjacent, and without X nothing separates them.

    Attributes
    ----------
    x, y, z : str
        The variable, and the two that removing it would join.
    condition : int
        Which condition of Theorem 1 is broken. 1: Y is adjacent to X, and Z is a child or neighbour of X. 2: a collider
        path leads from X to Y, and X and all colliders on it are parents of Z.
    path : tuple of str
        From Z by X to Y: the path that only X, which is not a collider on it, can block.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> witness = why_not_removable(MAG.from_edges("A --> B", "B --> C"), "B")
    >>> witness.condition, witness.path
    (1, ('C', 'B', 'A'))
    """

    x: str
    y: str
    z: str
    condition: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        x, y, z = map(readable, (self.x, self.y, self.z))
        if self.condition == 1:
            why = f"{y} is adjacent to {x}, and {z} is a child or neighbour of {x}"
        else:
            nodes = ", ".join(map(readable, self.path[1:]))
            why = f"the collider path {nodes} leads from {x} to {y}, and all on it but {y} are parents of {z}"
        return f"{x} is not removable: {y} and {z} are not adjacent, but {why}, so without {x} nothing separates them"


def removable(graph: MixedGraph) -> tuple[str, ...]:
    """Return the variables of a MAG that are removable (Theorem 1), in the order of the graph.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> removable(MAG.from_edges("Y <-> W", "W --> T", "W --> Z", "T --> Z"))  # Figure 1b of the paper
    ('Y', 'T', 'Z')
    """
    return tuple(name for name in graph.names if graph.is_removable(name))


def why_not_removable(graph: MixedGraph, node: Node) -> NotRemovable | None:
    """Return a witness that a variable of a MAG is not removable, or None if it is.

    Parameters
    ----------
    graph : MAG
    node : str or int
        The variable, by name or position.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> mag = MAG.from_edges("X --> V1", "V1 <-> V2", "Y --> V2", "X --> Z", "V1 --> Z", "V2 --> Z")
    >>> witness = why_not_removable(mag, "X")
    >>> witness.y, witness.z, witness.condition
    ('Y', 'Z', 2)
    >>> print(witness)  # doctest: +NORMALIZE_WHITESPACE
    X is not removable: Y and Z are not adjacent, but the collider path X, V1, V2, Y leads from X to Y, and all on it
    but Y are parents of Z, so without X nothing separates them
    >>> why_not_removable(mag, "Z") is None
    True
    """
    require_marks(graph)
    x = graph.index(node)
    broken = next(_condition_1(graph, x), None) or next(_condition_2(graph, x), None)
    if broken is None:
        return None
    condition, path = broken
    names = tuple(graph.names[v] for v in path)
    return NotRemovable(graph.names[x], names[-1], names[0], condition, names)


def _condition_1(graph: MixedGraph, x: int) -> Iterator[_Broken]:
    """Iterate over Z, X, Y where Y in Adj(X) and Z in Ch(X) + N(X) are not adjacent."""
    masks = graph.masks
    for z in members(masks.children[x] | masks.neighbors[x]):
        for y in members(masks.adjacent[x] & ~masks.adjacent[z] & ~(1 << z)):
            yield 1, [z, x, y]


def _condition_2(graph: MixedGraph, x: int) -> Iterator[_Broken]:
    """Iterate over Z, X, V1 .. Vm, Y, a shortest collider path for each Y, where Y and Z are not adjacent."""
    masks = graph.masks
    for z in members(masks.children[x]):
        inside = masks.parents[z]
        before: dict[int, int] = dict.fromkeys(members((masks.children[x] | masks.spouses[x]) & inside), x)
        queue = list(before)
        for v in queue:  # grows as it is read
            new = masks.spouses[v] & inside & ~(1 << x)
            for w in members(new):
                if w not in before:
                    before[w] = v
                    queue.append(w)
        for v in queue:
            for y in members((masks.parents[v] | masks.spouses[v]) & ~masks.adjacent[z] & ~(1 << z) & ~(1 << x)):
                path = [y, v]
                while path[-1] != x:
                    path.append(before[path[-1]])
                yield 2, [z, *reversed(path)]
