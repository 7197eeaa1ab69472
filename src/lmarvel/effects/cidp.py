"""Identification of P(y | do(x), z) in a PAG: the algorithm CIDP of Jaber, Ribeiro, Zhang & Bareinboim (2022).

A conditional effect is a quotient, P(y, z | do(x)) / P(z | do(x)), but the numerator may not be identified though the
quotient is. Rule 2 of the do-calculus for PAGs moves variables between "set" and "seen" first: W that is set and W
that is seen come to the same for y, given x and z, if W is separated from y by x and z in the PAG without edges into
x and without visible arrows out of W.

1. A bucket that is partly set and partly among the possible ancestors of y and z cannot be cut, so what is set of it
   has to be seen instead; if rule 2 does not allow that, the effect is not identified.
2. What is seen and could as well be set is set: this makes the numerator as easy as it can be.
3. IDP decides about the numerator.
"""

from __future__ import annotations

from lmarvel.effects.formula import conditional, simplified
from lmarvel.effects.idp import Hedge, Identification, Step, identify
from lmarvel.effects.prepared import Prepared
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.graph.paths import closure, members
from lmarvel.wording import listing

Links = list[list[tuple[int, int, int]]]


def identify_given(ready: Prepared, x: int, y: int, z: int) -> Identification:
    """Decide whether P(y | do(x), z) is the same in every model with this PAG, and give the formula if it is.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("nodes: Z X Y", "Z o-o X", "X o-o Y", "Z o-o Y")
    >>> identify_given(Prepared(pag), 0b010, 0b100, 0b001).formula is None
    True
    >>> chain = PAG.from_edges("nodes: X Z Y", "X o-o Z", "Z o-o Y")
    >>> identify_given(Prepared(chain), 0b001, 0b100, 0b010).formula.text(chain.names)
    'P(Y | Z)'
    """
    if not z:
        return identify(ready, x, y)
    steps: list[Step] = []
    while (bucket := _split_bucket(ready, x, y | z)) is not None:
        moved = bucket & x
        if not _rule_2(ready, moved, y, z, x & ~moved):
            return Identification(None, tuple(steps), _undirected(ready, bucket, x, y | z))
        x, z = x & ~moved, z | moved
        steps.append(Step(z, f"Given the rest, seeing {_names(ready, moved)} and setting it come to the same: see it."))
    while moved := _as_well_set(ready, x, y, z):
        x, z = x | moved, z & ~moved
        steps.append(Step(z, f"Given the rest, seeing {_names(ready, moved)} and setting it come to the same: set it."))
    joint = identify(ready, x, y | z)
    if joint.formula is None:
        return Identification(None, (*steps, *joint.steps), joint.hedge)
    steps += joint.steps
    if z:
        steps.append(Step(y, f"Divide by the same, summed over {_names(ready, y)}."))
    whole = conditional(joint.formula, y, z)
    return Identification(simplified(whole, ready.separated), tuple(steps))


def _names(ready: Prepared, nodes: int) -> str:
    return listing(ready.named(nodes))


def _split_bucket(ready: Prepared, x: int, wanted: int) -> int | None:
    """Return a bucket that meets the possible ancestors of what is wanted, x left out, and is not inside them."""
    above = ready.possible_ancestors(wanted, ready.everything & ~x)
    for bucket in ready.buckets(ready.everything):
        if bucket & above and bucket & ~above and bucket & x:
            return bucket
    return None


def _as_well_set(ready: Prepared, x: int, y: int, z: int) -> int:
    """Return what is seen of a bucket and may as well be set; nothing if there is no such bucket."""
    for bucket in ready.buckets(ready.everything):
        if bucket & z and _rule_2(ready, bucket & z, y, z & ~bucket, x):
            return bucket & z
    return 0


def _undirected(ready: Prepared, bucket: int, x: int, wanted: int) -> Hedge:
    above = ready.possible_ancestors(wanted, ready.everything & ~x)
    stuck = next(members(bucket & x))
    near = ready.circles[stuck] & above or bucket & above
    return Hedge(above, ready.everything, stuck, next(members(near)))


# --- rule 2 -----------------------------------------------------------------------------------------------


def _rule_2(ready: Prepared, w: int, y: int, z: int, x: int) -> bool:
    """Tell whether setting w and seeing it come to the same for y, given that x is set and z is seen."""
    return not connected(_manipulated(ready, into=x, out_of=w), w, y, x | z)


def _manipulated(ready: Prepared, into: int, out_of: int) -> Links:
    """Return the edges without those into some nodes, and without the visible arrows out of others."""

    def kept(v: int, w: int, near: int, far: int) -> bool:
        if (into >> v & 1 and near == ARROW) or (into >> w & 1 and far == ARROW):
            return False
        cut = (out_of >> v & 1 and ready.visible[v] >> w & 1) or (out_of >> w & 1 and ready.visible[w] >> v & 1)
        return not cut

    return [[(w, a, b) for w, a, b in links if kept(v, w, a, b)] for v, links in enumerate(ready.graph.links)]


def connected(links: Links, a: int, b: int, given: int) -> bool:
    """Tell whether a walk of definite status is open between two sets.

    Each inner node is a collider that may be an ancestor of ``given``, or surely none and outside ``given``.
    """
    adjacent = [0] * len(links)
    into = [0] * len(links)
    for v, around in enumerate(links):
        for w, near, far in around:
            adjacent[v] |= 1 << w
            into[v] |= (1 << w) * (near != TAIL and far != ARROW)
    opened = closure(into, given)
    stack = [(v, w, far) for v in members(a) for w, _, far in links[v]]
    seen = {(v, w) for v, w, _ in stack}
    while stack:
        u, v, at_v = stack.pop()
        if b >> v & 1:
            return True
        if a >> v & 1:
            continue
        for w, near, far in links[v]:
            if w == u or (v, w) in seen:
                continue
            if at_v == near == ARROW:
                passes = opened >> v & 1
            elif TAIL in (at_v, near) or (at_v == near == CIRCLE and not adjacent[u] >> w & 1):
                passes = not given >> v & 1
            else:
                continue
            if passes:
                seen.add((v, w))
                stack.append((v, w, far))
    return False
