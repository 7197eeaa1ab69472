"""Identification of effects in a PAG: IDP for P(y | do(x)) and CIDP for P(y | do(x), z), of Jaber, Ribeiro, Zhang &
Bareinboim (2022) [1]_.

**IDP.** Q[C] stands for the distribution of C when everything else is set by hand, P(c | do(v \\ c)). From Q[V] = P(v)
two steps lead to smaller ones:

* *Removal.* T is a set whose Q[T] is known, B a bucket (a component of ``o-o``) of the PAG over T. If no node outside
  B is both a possible descendant of B and in its pc-component, then Q[T - B] = Q[T] / Q_T(B | T - PossDe(B)).
* *Decomposition.* With R_B the region of B in C, Q[C] = Q[R_B] Q[R_(C - R_B)] / Q[R_B and R_(C - R_B)].

The *pc-component* of a node holds what a path joins to it whose inner nodes are all colliders and whose edges are all
invisible: with these the node may share an unmeasured cause, directly or in a chain. A *region* is the union of the
buckets that a pc-component meets. Where neither step can be made, no formula exists: some model with this PAG gives
the same data and another effect. Visibility is that of the whole PAG, always.

**With statements** (:mod:`lmarvel.effects.knowing.informed`) a graph is not the PAG of a class, and both steps are
taken for any set for which the equation holds in every model. *Removal* of B needs that no node outside B is a possible
descendant of B and in its pc-component, or a possible descendant and a possible ancestor of B. Then T - PossDe(B) with
B and without it are ancestral, and no district meets both B and its descendants. *Decomposition* holds for any R if
R' holds the districts of C - R: Q[C] = Q[R] Q[R'] / Q[R and R'], because each district is inside R or inside R'.

For one X, an invisible edge that may point from X to a possible ancestor of Y stops every removal of X, so an effect
is identified only if it is amenable (:mod:`lmarvel.effects.adjustment`).

**CIDP.** A conditional effect is a quotient, P(y, z | do(x)) / P(z | do(x)), but the numerator may not be identified
though the quotient is. Rule 2 of the do-calculus for PAGs moves variables between "set" and "seen" first: W that is
set and W that is seen come to the same for y, given x and z, if W is separated from y by x and z in the PAG without
edges into x and without visible arrows out of W.

1. A bucket that is partly set and partly among the possible ancestors of y and z cannot be cut, so what is set of it
   has to be seen instead; if rule 2 does not allow that, the effect is not identified.
2. What is seen and could as well be set is set: this makes the numerator as easy as it can be.
3. IDP decides about the numerator.

References
----------
.. [1] Jaber, Ribeiro, Zhang & Bareinboim, Causal identification under Markov equivalence: calculus, algorithm, and
   completeness, NeurIPS 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.effects.formula import Density, Formula, conditional, marginal, product, quotient, simplified
from lmarvel.effects.knowing.informed import Informed, Links, open_walk
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import closure, members
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.text import listing


@dataclass(frozen=True)
class Step:
    """One step of an identification, in words.

    Attributes
    ----------
    reached : int
        The set whose Q is known after it.
    words : str
        What was done, and why it may be.
    """

    reached: int
    words: str


@dataclass(frozen=True)
class Hedge:
    """Why no formula exists: Q[``inner``] is wanted, Q[``outer``] is what is left, and neither step can be made.

    Attributes
    ----------
    inner, outer : int
        What is wanted, and what it cannot be told from.
    stuck, partner : int
        A node that would have to be removed, and a node that it may affect while both may share an unmeasured cause.
    """

    inner: int
    outer: int
    stuck: int
    partner: int


@dataclass(frozen=True)
class Identification:
    """What IDP found: a formula, or why there is none."""

    formula: Formula | None
    steps: tuple[Step, ...]
    hedge: Hedge | None = None


class NotIdentified(Exception):
    """No step can be made."""

    def __init__(self, hedge: Hedge) -> None:
        super().__init__()
        self.hedge = hedge


def identify(ready: Prepared, x: int, y: int) -> Identification:
    """Decide whether P(y | do(x)) is the same in every model with this PAG, and give the formula if it is.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y")
    >>> identify(Prepared(pag), 1 << pag.index("X"), 1 << pag.index("Y")).formula.text(pag.names)
    'P(Y | X)'
    """
    run = _Run(ready)
    wanted = ready.possible_ancestors(y, ready.everything & ~x)
    are, them = ("is", "it") if y.bit_count() == 1 else ("are", "them")
    others = f": {run.names(wanted & ~y)} may act on {them}" if wanted & ~y else ""
    held = "is" if x.bit_count() == 1 else "are"
    run.note(
        wanted,
        f"Wanted: how {run.names(y)} {are} distributed when {run.names(x)} {held} set{others},"
        f" so Q[{run.names(wanted)}].",
    )
    try:
        whole = run.identify(wanted, ready.everything, Density(ready.everything, 0))
    except NotIdentified as failure:
        return Identification(None, tuple(run.steps), failure.hedge)
    if wanted & ~y:
        run.note(y, f"Sum over {run.names(wanted & ~y)}.")
    return Identification(simplified(marginal(whole, y), ready.separated), tuple(run.steps))


class _Run:
    """One run of the algorithm; it collects the steps."""

    def __init__(self, ready: Prepared) -> None:
        self.ready = ready
        self.steps: list[Step] = []

    def names(self, nodes: int) -> str:
        return listing(sorted(self.ready.named(nodes)))

    def note(self, reached: int, words: str) -> None:
        self.steps.append(Step(reached, words))

    def identify(self, c: int, t: int, q: Formula) -> Formula:
        """Return Q[c], where q is Q[t]."""
        while c != t:
            removed = self._remove(c, t, q)
            if removed is None:
                return self._decompose(c, t, q)
            t, q = removed
        return q

    def _remove(self, c: int, t: int, q: Formula) -> tuple[int, Formula] | None:
        """Remove a bucket outside c that can be; None if there is none.

        One that affects nothing else in t comes first: it is summed out, and the formula stays short.
        """
        ready = self.ready
        outside = [(b, ready.possible_descendants(b, t) & ~b) for b in self._removable(t) if not b & c]
        for b, below in sorted(outside, key=lambda item: item[1] != 0):
            if self._entangled(b, below, t):
                continue
            # Q[t] / Q_t(b | t - b - below), written without the quotient.
            above = t & ~below & ~b
            upper = marginal(q, above)
            self.note(t & ~b, self._removal_words(b, below, t))
            return t & ~b, product([upper, conditional(q, below, above | b)]) if below else upper
        return None

    def _removable(self, t: int) -> list[int]:
        """Return the sets that may be tried for removal."""
        return self.ready.removable(t) if isinstance(self.ready, Informed) else self.ready.buckets(t)

    def _entangled(self, b: int, below: int, t: int) -> int:
        """Return what keeps b from being removed: what it may affect while both may share an unmeasured cause."""
        clash = pc_component(self.ready, b, t) & below
        return clash if self.ready.exact else clash | self.ready.possible_ancestors(b, t) & below

    def _removal_words(self, b: int, below: int, t: int) -> str:
        if not below:
            return f"{self.names(b)} affects nothing else in {self.names(t)}: sum it out."
        return (
            f"{self.names(b)} shares no unmeasured cause with what it may affect ({self.names(below)}): setting it is"
            " like seeing it, so its own factor is divided out."
        )

    def _decompose(self, c: int, t: int, q: Formula) -> Formula:
        for b in self.ready.buckets(c) if self.ready.exact else [1 << v for v in members(c)]:
            first = region(self.ready, b, c)
            rest = region(self.ready, c & ~first, c) if first != c else c
            if rest != c:
                both = first & rest
                self.note(c, f"{self.names(first)} and {self.names(rest)} share no unmeasured cause: take them apart.")
                parts = [self.identify(part, t, q) for part in (first, rest)]
                whole = product(parts)
                return quotient(whole, self.identify(both, t, q), whole.of) if both else whole
        raise NotIdentified(self._hedge(c, t))

    def _hedge(self, c: int, t: int) -> Hedge:
        """Name a node that stands in the way, and what it is entangled with."""
        ready = self.ready
        for b in ready.buckets(t) if ready.exact else [1 << v for v in members(t & ~c)]:
            if b & c:
                if b & ~c:  # x o-o a with a wanted: not even the direction is known
                    return Hedge(c, t, next(members(b & ~c)), next(members(b & c)))
                continue
            clash = self._entangled(b, ready.possible_descendants(b, t) & ~b, t)
            if clash:
                return Hedge(c, t, next(members(b)), next(members(clash)))
        raise AssertionError("a removal was possible")


def pc_component(ready: Prepared, of: int, within: int) -> int:
    """Return the nodes that a collider path of invisible edges inside ``within`` joins to ``of``, which is included."""
    if isinstance(ready, Informed):
        return ready.pc_component(of, within)
    result = of
    for v in members(of):
        result |= _invisible(ready, v, within)
        entered = frontier = _invisible(ready, v, within, into_far=True)
        while frontier:  # colliders: entered by an arrowhead, left by one
            following = 0
            for w in members(frontier):
                result |= _invisible(ready, w, within, into_near=True)
                following |= _invisible(ready, w, within, into_near=True, into_far=True)
            frontier = following & ~entered
            entered |= frontier
    return result


def region(ready: Prepared, of: int, within: int) -> int:
    """Return the union of the buckets that the pc-component of ``of`` meets."""
    component = pc_component(ready, of, within)
    if not ready.exact:
        return component
    result = 0
    for b in ready.buckets(within):
        if b & component:
            result |= b
    return result


def _invisible(ready: Prepared, v: int, within: int, into_near: bool = False, into_far: bool = False) -> int:
    """Return what invisible edges lead to from v, those with arrowheads at v or at the other end if asked."""
    ends = 0
    for w, near, far in ready.graph.links[v]:
        if (into_near and near != ARROW) or (into_far and far != ARROW):
            continue
        if within >> w & 1 and not ready.visible[v] >> w & 1 and not ready.visible[w] >> v & 1:
            ends |= 1 << w
    return ends


# --- CIDP -------------------------------------------------------------------------------------------------


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
    return listing(sorted(ready.named(nodes)))


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
    candidates = ready.circles[stuck] & above or bucket & above
    return Hedge(above, ready.everything, stuck, next(members(candidates)))


# --- rule 2 -----------------------------------------------------------------------------------------------


def _rule_2(ready: Prepared, w: int, y: int, z: int, x: int) -> bool:
    """Tell whether setting w and seeing it come to the same for y, given that x is set and z is seen."""
    links = _manipulated(ready, into=x, out_of=w)
    return (
        not connected(links, w, y, x | z) if ready.exact else open_walk(ready, _loosened(links, w), w, y, x | z) is None
    )


def _manipulated(ready: Prepared, into: int, out_of: int) -> Links:
    """Return the edges without those into some nodes, and without the visible arrows out of others."""

    def kept(v: int, w: int, near: int, far: int) -> bool:
        if (into >> v & 1 and near == ARROW) or (into >> w & 1 and far == ARROW):
            return False
        cut = (out_of >> v & 1 and ready.visible[v] >> w & 1) or (out_of >> w & 1 and ready.visible[w] >> v & 1)
        return not cut

    return [[(w, a, b) for w, a, b in links if kept(v, w, a, b)] for v, links in enumerate(ready.graph.links)]


def _loosened(links: Links, out_of: int) -> Links:
    """Return the edges with an open mark where an invisible arrow leaves some nodes: a confounder may stand behind."""

    def open_mark(v: int, mark: int) -> int:
        return CIRCLE if out_of >> v & 1 and mark == TAIL else mark

    return [[(w, open_mark(v, a), open_mark(w, b)) for w, a, b in around] for v, around in enumerate(links)]


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
