"""Adjustment sets in a PAG: the generalised adjustment criterion of Perković, Textor, Kalisch & Maathuis (2018) [1]_.

Adjusting for Z means P(y | do(x)) = sum over z of P(y | x, z) P(z); in a linear model, the coefficient of x in the
regression of y on x and Z. It is right in every model with this PAG exactly if

1. *amenable*: every path of possible steps from X to Y starts with a visible arrow out of X;
2. *forbidden*: Z holds no possible descendant of a node, other than X, on such a path;
3. *blocked*: Z blocks every other path between X and Y.

Given 1 and 2, the third is the same in every MAG of the class. So one MAG is enough to look at, without the first
arrows of the paths of 1: there Z has to separate X from Y. If any set does, the possible ancestors of X and Y that
are not forbidden do.

References
----------
.. [1] Complete graphical characterization and construction of adjustment sets in Markov equivalence classes of
   ancestral graphs, Journal of Machine Learning Research 18 (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

from lmarvel.effects.knowing.informed import Links, open_walk
from lmarvel.effects.pag_index import (
    Askable,
    Prepared,
    augmented,
    minimal_separators,
    node_set,
    prepare,
    selection_near,
)
from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.graph.mixed import Node
from lmarvel.text import listing, readable

TRIED = 200  # sets that are valid in one graph and are tried in all that fit


@dataclass(frozen=True)
class Pair:
    """What adjustment needs to know of a pair, as bit sets.

    Attributes
    ----------
    x, y : int
        Their positions.
    first : int
        The nodes next to X on paths of possible steps from X to Y.
    invisible : int
        Those of them whose edge with X is not a visible arrow; the pair is amenable if there are none.
    between : int
        The nodes on such paths, X left out.
    forbidden : int
        Their possible descendants, X left out.
    """

    x: int
    y: int
    first: int
    invisible: int
    between: int
    forbidden: int


def pair_of(ready: Prepared, x: int, y: int) -> Pair:
    """Collect the sets of a pair."""
    others = ready.may_cause(x) & ~(1 << x)
    above = ready.possible_ancestors(1 << y, others)
    first = ready.out[x] & above
    between = ready.possible_descendants(first, others) & above
    forbidden = ready.possible_descendants(between) & others
    return Pair(x, y, first, first & ~ready.visible[x], between, forbidden)


def canonical_set(ready: Prepared, pair: Pair) -> int | None:
    """Return possAn(X, Y) without X, Y and what is forbidden, if it is valid; if not, no set is."""
    if pair.invisible:
        return None
    ends = 1 << pair.x | 1 << pair.y
    z = ready.possible_ancestors(ends) & ~ends & ~pair.forbidden
    if ready.exact or blocks(ready, pair, z):
        return z if blocks(ready, pair, z) else None
    return next(minimal_sets(ready, pair), None)


def blocks(ready: Prepared, pair: Pair, z: int) -> bool:
    """Tell whether Z, which holds nothing forbidden, blocks every path that is not one of possible steps out of X."""
    return _open_walk(ready, pair, z) is None


def _open_walk(ready: Prepared, pair: Pair, z: int) -> list[int] | None:
    """Return a shortest walk in the MAG that Z leaves open between X and Y, its first arrows out of X left out.

    Arrows out of X matter at the start only: a walk that comes back to X is no shorter than one that starts there.
    With statements, it is a walk that may be open in some MAG that fits.
    """
    if not ready.exact:
        return open_walk(ready, _without_first(ready, pair), 1 << pair.x, 1 << pair.y, z)
    links = ready.mag.links
    anterior = closure(ready.mag.masks.parents, z)
    start = [(w, far == ARROW) for w, _, far in links[pair.x] if not pair.first >> w & 1]
    before: dict[tuple[int, bool], tuple[int, bool] | None] = dict.fromkeys(start)
    layer = start
    while layer:
        following = []
        for state in layer:
            v, into = state
            if v == pair.y:
                return [pair.x, *_traced(state, before)]
            in_z, opened = z >> v & 1, anterior >> v & 1
            for w, near, far in links[v]:
                collider = into and near == ARROW
                if w == pair.x or (not opened if collider else in_z):
                    continue
                nearer = (w, far == ARROW)
                if nearer not in before:
                    before[nearer] = state
                    following.append(nearer)
        layer = following
    return None


def _without_first(ready: Prepared, pair: Pair) -> Links:
    """Return the edges of the graph without the first arrows out of X on the way to Y."""

    def kept(v: int, w: int) -> bool:
        return not (v == pair.x and pair.first >> w & 1) and not (w == pair.x and pair.first >> v & 1)

    return [[link for link in links if kept(v, link[0])] for v, links in enumerate(ready.graph.links)]


def _traced(state: tuple[int, bool], before: dict[tuple[int, bool], tuple[int, bool] | None]) -> list[int]:
    walk = []
    at: tuple[int, bool] | None = state
    while at is not None:
        walk.append(at[0])
        at = before[at]
    return walk[::-1]


def minimal_sets(ready: Prepared, pair: Pair) -> Iterator[int]:
    """Iterate over the valid sets of which no proper subset is valid, as they are found.

    With statements, sets of one MAG that fits are tried on all of them. Where none of these is valid and the largest
    set is, it is given without what it does not need.
    """
    if pair.invisible:
        return
    graph, ends = ready.mag, 1 << pair.x | 1 << pair.y
    parents = list(graph.masks.parents)
    for v in members(pair.first):
        parents[v] &= ~(1 << pair.x)
    within = closure(parents, ends)
    joined = augmented(graph, within, pair.x, pair.first)
    found = minimal_separators(joined, pair.x, pair.y, within & ~ends & ~pair.forbidden)
    if ready.exact:
        yield from found
        return
    valid = (z for z in islice(found, TRIED) if blocks(ready, pair, z))
    first = next(valid, None)
    if first is not None:
        yield first
        yield from valid
        return
    z = ready.possible_ancestors(ends) & ~ends & ~pair.forbidden
    if blocks(ready, pair, z):
        yield _without_needless(ready, pair, z)


def _without_needless(ready: Prepared, pair: Pair, z: int) -> int:
    """Return a valid set without the members that it is valid without, one after the other."""
    for v in members(z):
        if blocks(ready, pair, z & ~(1 << v)):
            z &= ~(1 << v)
    return z


# --- by name ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """Whether a set is valid for adjustment, and what is wrong with it if not; it is true or false like the answer.

    Attributes
    ----------
    valid : bool
        The answer.
    reason : str
        Why, in words.
    path : tuple of str
        The path that decides: one that may be causal and is not amenable, one to a forbidden node, or an open one.

    Examples
    --------
    >>> bool(Verdict(True, "it blocks every path that is not causal", ()))
    True
    """

    valid: bool
    reason: str
    path: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


def is_valid_adjustment(graph: Askable | Prepared, x: Node, y: Node, z: Node | Iterable[Node] = ()) -> Verdict:
    """Tell whether adjusting for ``z`` gives the effect of x on y in every model with this PAG, and if not, why not.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> M", "M --> Y", "A --> Y")
    >>> print(is_valid_adjustment(pag, "X", "Y", ["M"]).reason)
    M lies on a path on which X may affect Y: X --> M --> Y
    >>> verdict = is_valid_adjustment(pag, "X", "Y", [])
    >>> print(verdict.reason)
    the path X <-o A --> Y is open
    >>> bool(is_valid_adjustment(pag, "X", "Y", ["A"]))
    True
    """
    ready = prepare(graph)
    i, j = checked_pair(ready, x, y)
    chosen = node_set(ready.graph, z)
    if chosen & (1 << i | 1 << j):
        raise GraphError(
            f"{readable(ready.graph.names[i if chosen >> i & 1 else j])} cannot be adjusted for: it is asked about"
        )
    selected = selection_near(ready.graph, 1 << i | 1 << j)
    if selected is not None:
        return Verdict(False, f"no set is valid: {selected}")
    pair = pair_of(ready, i, j)
    if pair.invisible:
        path, why = not_amenable(ready, pair)
        return Verdict(False, f"no set is valid: {why}", path)
    if chosen & pair.forbidden:
        return _forbidden(ready, pair, next(members(chosen & pair.forbidden)))
    walk = _open_walk(ready, pair, chosen)
    if walk is None:
        a, b = readable(ready.graph.names[i]), readable(ready.graph.names[j])
        return Verdict(True, f"it has nothing that {a} may affect on the way to {b}, and blocks every other path")
    return Verdict(
        False, f"the path {ready.path_text(walk)} is open{_opened_by(ready, walk, chosen)}", ready.named(walk)
    )


def _forbidden(ready: Prepared, pair: Pair, v: int) -> Verdict:
    others = ready.everything & ~(1 << pair.x)
    name = readable(ready.graph.names[v])
    x, y = readable(ready.graph.names[pair.x]), readable(ready.graph.names[pair.y])
    if pair.between >> v & 1:
        head = ready.possible_path(pair.x, 1 << v, others) or []
        tail = ready.possible_path(v, 1 << pair.y, others) or []
        path = [*head, *tail[1:]]
        return Verdict(
            False, f"{name} lies on a path on which {x} may affect {y}: {ready.path_text(path)}", ready.named(path)
        )
    paths = (ready.possible_path(u, 1 << v) for u in members(pair.between))
    shortest = min((path for path in paths if path), key=len)
    source = readable(ready.graph.names[shortest[0]])
    where = "" if shortest[0] == pair.y else f", which lies on a path on which {x} may affect {y}"
    return Verdict(
        False, f"{name} may be affected by {source}{where}: {ready.path_text(shortest)}", ready.named(shortest)
    )


def _opened_by(ready: Prepared, walk: list[int], z: int) -> str:
    """Say which colliders of an open walk are opened by the set, and by what."""
    marks = ready.mag.marks
    colliders = [
        v for u, v, w in zip(walk, walk[1:], walk[2:], strict=False) if marks[u, v] == ARROW and marks[w, v] == ARROW
    ]
    if not colliders:
        return ""
    below = [v for v in colliders if not z >> v & 1]
    by = f"{listing(sorted(ready.named(bits(colliders))))}, where two arrowheads meet"
    return f", opened at {by}" + (": a variable that it affects is adjusted for" if below else "")


def not_amenable(ready: Prepared, pair: Pair) -> tuple[tuple[str, ...], str]:
    """Return a path of possible steps that does not start with a visible arrow, and why that matters."""
    others = ready.everything & ~(1 << pair.x)
    tails = [ready.possible_path(v, 1 << pair.y, others) for v in members(pair.invisible)]
    path = [pair.x, *min((tail for tail in tails if tail), key=len)]
    x, v = readable(ready.graph.names[pair.x]), readable(ready.graph.names[path[1]])
    near, far = int(ready.graph.marks[path[1], pair.x]), int(ready.graph.marks[pair.x, path[1]])
    if near == CIRCLE == far and ready.told_apart(pair.x, path[1]):
        why = f"the data do not show whether {x} affects {v} or {v} affects {x}"
    elif near == CIRCLE == far:
        why = f"the data do not show whether {x} affects {v}, {v} affects {x}, or an unmeasured cause affects both"
    elif near == CIRCLE:
        why = f"the data do not show whether {x} affects {v} or an unmeasured cause affects both"
    else:
        why = f"the data do not exclude that, beside the effect of {x} on {v}, an unmeasured cause affects both"
    return ready.named(path), f"{why} (path {ready.path_text(path)})"


def adjustment_set(graph: Askable | Prepared, x: Node, y: Node) -> frozenset[str] | None:
    """Return a valid adjustment set, or None if there is none.

    It is the largest of its kind: all possible ancestors of x and y that are not forbidden.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> sorted(adjustment_set(pag, "X", "Y"))
    ['A', 'B']
    >>> adjustment_set(pag, "A", "Y") is None
    True
    """
    ready = prepare(graph)
    i, j = checked_pair(ready, x, y)
    z = canonical_set(ready, pair_of(ready, i, j)) if selection_near(ready.graph, 1 << i | 1 << j) is None else None
    return None if z is None else frozenset(ready.named(z))


def adjustment_sets(graph: Askable | Prepared, x: Node, y: Node, *, minimal: bool = True) -> Iterator[frozenset[str]]:
    """Iterate over the valid adjustment sets: the minimal ones, or all of them, the smaller ones first.

    They are found while one iterates, so the first ones of very many cost little.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> [sorted(z) for z in adjustment_sets(pag, "X", "Y")]
    [['A']]
    >>> [sorted(z) for z in adjustment_sets(pag, "X", "Y", minimal=False)]
    [['A'], ['A', 'B']]
    """
    ready = prepare(graph)
    i, j = checked_pair(ready, x, y)
    if selection_near(ready.graph, 1 << i | 1 << j) is not None:
        return iter(())
    pair = pair_of(ready, i, j)
    sets = minimal_sets(ready, pair) if minimal else all_sets(ready, pair)
    return (frozenset(ready.named(z)) for z in sets)


def all_sets(ready: Prepared, pair: Pair, within: int = -1) -> Iterator[int]:
    """Iterate over all valid sets, of nodes of ``within``, the smaller ones first."""
    if canonical_set(ready, pair) is None:
        return
    allowed = list(members(ready.everything & within & ~pair.forbidden & ~(1 << pair.x | 1 << pair.y)))
    for size in range(len(allowed) + 1):
        for chosen in combinations(allowed, size):
            if blocks(ready, pair, bits(chosen)):
                yield bits(chosen)


def checked_pair(ready: Prepared, x: Node, y: Node) -> tuple[int, int]:
    """Return the positions of two different variables."""
    i, j = ready.graph.index(x), ready.graph.index(y)
    if i == j:
        raise GraphError(f"an effect has a cause and an outcome, and {readable(ready.graph.names[i])} was given twice")
    return i, j
