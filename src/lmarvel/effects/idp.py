"""Identification of P(y | do(x)) in a PAG: the algorithm IDP of Jaber, Ribeiro, Zhang & Bareinboim (2022) [1]_.

Q[C] stands for the distribution of C when everything else is set by hand, P(c | do(v \\ c)). From Q[V] = P(v) two
steps lead to smaller ones:

* *Removal.* T is a set whose Q[T] is known, B a bucket (a component of ``o-o``) of the PAG over T. If no node outside
  B is both a possible descendant of B and in its pc-component, then Q[T - B] = Q[T] / Q_T(B | T - PossDe(B)).
* *Decomposition.* With R_B the region of B in C, Q[C] = Q[R_B] Q[R_(C - R_B)] / Q[R_B and R_(C - R_B)].

The *pc-component* of a node holds what a path joins to it whose inner nodes are all colliders and whose edges are all
invisible: with these the node may share an unmeasured cause, directly or in a chain. A *region* is the union of the
buckets that a pc-component meets. Where neither step can be made, no formula exists: some model with this PAG gives
the same data and another effect. Visibility is that of the whole PAG, always.

For one X, an invisible edge that may point from X to a possible ancestor of Y stops every removal of X, so an effect
is identified only if it is amenable (:mod:`lmarvel.effects.adjustment`).

References
----------
.. [1] Jaber, Ribeiro, Zhang & Bareinboim, Causal identification under Markov equivalence: calculus, algorithm, and
   completeness, NeurIPS 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.effects.formula import Density, Formula, conditional, marginal, product, quotient, simplified
from lmarvel.effects.prepared import Prepared
from lmarvel.graph.marks import ARROW
from lmarvel.graph.paths import members
from lmarvel.wording import listing


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
        return listing(self.ready.named(nodes))

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
        outside = [(b, ready.possible_descendants(b, t) & ~b) for b in ready.buckets(t) if not b & c]
        for b, below in sorted(outside, key=lambda item: item[1] != 0):
            if pc_component(ready, b, t) & below:
                continue
            # Q[t] / Q_t(b | t - b - below), written without the quotient.
            above = t & ~below & ~b
            upper = marginal(q, above)
            self.note(t & ~b, self._removal_words(b, below, t))
            return t & ~b, product([upper, conditional(q, below, above | b)]) if below else upper
        return None

    def _removal_words(self, b: int, below: int, t: int) -> str:
        if not below:
            return f"{self.names(b)} affects nothing else in {self.names(t)}: sum it out."
        return (
            f"{self.names(b)} shares no unmeasured cause with what it may affect ({self.names(below)}): setting it is"
            " like seeing it, so its own factor is divided out."
        )

    def _decompose(self, c: int, t: int, q: Formula) -> Formula:
        for b in self.ready.buckets(c):
            one = region(self.ready, b, c)
            if one != c:
                other = region(self.ready, c & ~one, c)
                both = one & other
                self.note(c, f"{self.names(one)} and {self.names(other)} share no unmeasured cause: take them apart.")
                parts = [self.identify(part, t, q) for part in (one, other)]
                whole = product(parts)
                return quotient(whole, self.identify(both, t, q), whole.of) if both else whole
        raise NotIdentified(self._hedge(c, t))

    def _hedge(self, c: int, t: int) -> Hedge:
        """Name a node that stands in the way, and what it is entangled with."""
        ready = self.ready
        for b in ready.buckets(t):
            if b & c:
                if b & ~c:  # x o-o a with a wanted: not even the direction is known
                    return Hedge(c, t, next(members(b & ~c)), next(members(b & c)))
                continue
            clash = pc_component(ready, b, t) & ready.possible_descendants(b, t) & ~b
            if clash:
                return Hedge(c, t, next(members(b)), next(members(clash)))
        raise AssertionError("a removal was possible")


def pc_component(ready: Prepared, of: int, within: int) -> int:
    """Return the nodes that a collider path of invisible edges inside ``within`` joins to ``of``, which is included."""
    result = of
    for v in members(of):
        result |= _invisible(ready, v, within)
        entered = frontier = _invisible(ready, v, within, into_far=True)
        while frontier:  # colliders: entered by an arrowhead, left by one
            found = 0
            for w in members(frontier):
                result |= _invisible(ready, w, within, into_near=True)
                found |= _invisible(ready, w, within, into_near=True, into_far=True)
            frontier = found & ~entered
            entered |= frontier
    return result


def region(ready: Prepared, of: int, within: int) -> int:
    """Return the union of the buckets that the pc-component of ``of`` meets."""
    component = pc_component(ready, of, within)
    result = 0
    for b in ready.buckets(within):
        if b & component:
            result |= b
    return result


def _invisible(ready: Prepared, v: int, within: int, into_near: bool = False, into_far: bool = False) -> int:
    """Return what invisible edges lead to from v, those with arrowheads at v or at the other end if asked."""
    found = 0
    for w, near, far in ready.graph.links[v]:
        if (into_near and near != ARROW) or (into_far and far != ARROW):
            continue
        if within >> w & 1 and not ready.visible[v] >> w & 1 and not ready.visible[w] >> v & 1:
            found |= 1 << w
    return found
