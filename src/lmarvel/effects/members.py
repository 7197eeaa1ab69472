"""The MAGs of a Markov equivalence class, one after another, as long as somebody asks for more.

Two MAGs without undirected edges are Markov equivalent exactly if a sequence of single changes, A --> B into A <-> B
or back, leads from one to the other with every graph on the way a MAG of the class (Zhang & Spirtes 2005 [1]_). A
change is allowed if

1. there is no directed path from A to B beside the edge,
2. whatever has C --> A has C --> B, and whatever has C <-> A has C --> B or C <-> B,
3. no discriminating path for A ends in B.

So a walk over allowed changes finds the class, and the first of very many members cost little.

References
----------
.. [1] A transformational characterization of Markov equivalence for directed acyclic graphs with latent variables,
   UAI 2005.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.paths import Masks, closure, members


def class_members(mag: MAG, near: int = -1) -> Iterator[MAG]:
    """Iterate over the MAGs without undirected edges that are Markov equivalent to this one, itself the first.

    Those that differ in an edge between nodes of ``near`` (a bit set) come before those that differ elsewhere only.

    Examples
    --------
    >>> for one in class_members(MAG.from_edges("A --> B")):
    ...     print(one.edge("A", "B"))
    A --> B
    A <-> B
    A <-- B
    """
    queue, later, seen = deque([mag]), deque[MAG](), {mag.marks.tobytes()}
    while queue or later:
        one = (queue or later).popleft()
        yield one
        for marks, a, b in _changes(one):
            key = marks.tobytes()
            if key not in seen:
                seen.add(key)
                (queue if near >> a & 1 and near >> b & 1 else later).append(MAG._trusted(mag.names, marks))


def _changes(mag: MAG) -> Iterator[tuple[NDArray[np.int8], int, int]]:
    """Iterate over the marks that an allowed change of one of them makes, with the edge."""
    for a in range(len(mag)):
        for b in members(mag.masks.children[a] | mag.masks.spouses[a]):
            if _allowed(mag.masks, a, b):
                marks = mag.marks.copy()
                marks[b, a] = ARROW if marks[b, a] == TAIL else TAIL
                yield marks, a, b


def _allowed(masks: Masks, a: int, b: int) -> bool:
    """Tell whether the mark at a on a --> b or a <-> b may change."""
    if closure(masks.children, masks.children[a] & ~(1 << b)) >> b & 1:
        return False
    if masks.parents[a] & ~masks.parents[b]:
        return False
    if masks.spouses[a] & ~(1 << b) & ~masks.parents[b] & ~masks.spouses[b]:
        return False
    return not _discriminated(masks, a, b)


def _discriminated(masks: Masks, a: int, b: int) -> bool:
    """Tell whether a path c *-> .. <-> v <-* a discriminates a.

    All between c and a are colliders and parents of b, and c is not adjacent to b.
    """
    inner = masks.parents[b] & ~(1 << a)
    steps = {v: masks.spouses[v] & inner for v in members(inner)}
    apart = ~masks.adjacent[b] & ~(1 << b)
    reached = closure(steps, (masks.spouses[a] | masks.children[a]) & inner)
    return any((masks.parents[v] | masks.spouses[v]) & apart & ~(1 << a) for v in members(reached))
