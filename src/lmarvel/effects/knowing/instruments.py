"""Instruments: a variable that moves the cause and reaches the outcome through the cause only.

W is an instrument for X on Y given Z if X affects neither W nor Z, W and X are associated given Z, and W and Y are
m-separated given Z once the arrows out of X are removed. In a linear model Cov(W, Y | Z) / Cov(W, X | Z) is then the
effect, whatever unmeasured cause X and Y share.

**What the data show of it.** If X and Y share an unmeasured cause and X affects Y, a MAG joins every cause W of X to Y:
the collider X is an ancestor of Y. So the data cannot tell an instrument from a variable that affects Y by itself, and
the assumption has to be stated. It says that the edge W - Y, if there is one, comes through X only. What is left is
decided in every MAG of the class: without that edge, and without X (into which all its edges point once the arrows out
of it are gone, and which nothing given is affected by), no walk between W and Y may be open given Z.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice

from lmarvel.effects.knowing.informed import open_walk
from lmarvel.effects.pag_index import Prepared, Stated, selection_near
from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.bitsets import bits, members
from lmarvel.graph.kinds import ADMG
from lmarvel.graph.marks import TAIL
from lmarvel.graph.mixed import Node
from lmarvel.text import readable

LARGEST = 3  # of the sets that are tried before the largest one
TRIED = 1000


def instrument_set(ready: Prepared, w: int, x: int, y: int) -> int | None:
    """Return a small set given which w is an instrument for x on y, if what has to be stated is true; or None.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> ready = Prepared(PAG.from_edges("nodes: W X Y", "W o-o X", "X o-o Y", "W o-o Y"))
    >>> instrument_set(ready, 0, 1, 2)
    0
    """
    if selection_near(ready.graph, 1 << x | 1 << y | 1 << w) is not None:
        return None
    affected = definite_descendants(ready, w)
    if affected >> y & 1 and not ready.possible_descendants(1 << w) >> x & 1:
        return None  # it affects y, and not through x
    outside = ready.possible_ancestors(1 << w | 1 << y) & ~affected & ~(1 << x | 1 << y)
    allowed = list(members(outside & ~_reached(ready, w, x)))
    small = chain.from_iterable(combinations(allowed, size) for size in range(min(LARGEST, len(allowed)) + 1))
    cut = _without_outgoing(ready, x) if isinstance(ready, Stated) else None
    links = [
        [link for link in around if link[0] != x and {v, link[0]} != {w, y}] if v != x else []
        for v, around in enumerate(ready.graph.links)
    ]
    for z in map(bits, (*islice(small, TRIED), tuple(allowed))):
        if ready.separated(1 << w, 1 << x, z):
            continue
        if cut.separated(1 << w, 1 << y, z) if cut else open_walk(ready, links, 1 << w, 1 << y, z) is None:
            return z
    return None


def _reached(ready: Prepared, w: int, x: int) -> int:
    """Return what x may affect; through w it does not, if w is an instrument."""
    return ready.possible_descendants(1 << x, ready.everything & ~(1 << w))


def _without_outgoing(ready: Stated, x: int) -> Prepared:
    """Return a graph that a user states without the arrows out of a variable."""
    name = ready.graph.names[x]
    out = [
        edge
        for edge in ready.stated.edges
        if (edge.a == name and edge.at_a == TAIL) or (edge.b == name and edge.at_b == TAIL)
    ]
    return Stated(ADMG(ready.stated.names, [edge for edge in ready.stated.edges if edge not in out]))


def surely_affected(ready: Prepared, x: int, w: int) -> bool:
    """Tell whether a directed path leads from x to w in every explanation."""
    return bool(definite_descendants(ready, x) >> w & 1)


def definite_descendants(ready: Prepared, x: int) -> int:
    """Return what a directed path leads to from x, x included."""
    reached = frontier = 1 << x
    while frontier:
        following = 0
        for v in members(frontier):
            following |= ready.graph.masks.children[v]
        frontier = following & ~reached
        reached |= frontier
    return reached


def could_be_instruments(ready: Prepared, x: int, y: int) -> Iterator[tuple[int, int]]:
    """Iterate over the variables next to x that could be instruments for x on y, each with what has to be given."""
    for w, at_x, _ in ready.graph.links[x]:
        if w != y and at_x != TAIL:
            z = None if surely_affected(ready, x, w) or surely_affected(ready, y, w) else instrument_set(ready, w, x, y)
            if z is not None:
                yield w, z


def stated_instrument(ready: Prepared, name: Node, x: int, y: int) -> tuple[int, int]:
    """Return a variable that is stated to be an instrument, and what has to be given; refuse what cannot be one."""
    w = ready.graph.index(name)
    a, b, c = (readable(ready.graph.names[v]) for v in (w, x, y))
    if w in (x, y):
        raise ParameterError(f"{a} is asked about: it cannot be the instrument", parameter="instrument")
    for v, other in ((x, b), (y, c)):
        if surely_affected(ready, v, w):
            raise GraphError(f"{a} is not an instrument for the effect of {b} on {c}, because {other} affects {a}")
    z = instrument_set(ready, w, x, y)
    if z is None:
        raise GraphError(
            f"{a} is not an instrument for the effect of {b} on {c}: given no set of variables that was tried, {a} is"
            f" associated with {b} and every other path between {a} and {c} is blocked"
        )
    return w, z
