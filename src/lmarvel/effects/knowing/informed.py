"""A PAG with what is known beforehand, made ready for questions about effects.

Statements leave some of the MAGs of a class. Their common marks (:mod:`lmarvel.orient.stated`) make a graph that is no
PAG: theorems on whole classes do not hold for it. So each answer is read from it in a way that is right for every MAG
with these marks, taken by itself:

* *Possible steps.* A MAG has no directed path where the graph has no walk of possible steps.
* *Visible arrows.* An arrow is visible if it is in every such MAG, by the marks around it, or if it is stated that its
  ends share no unmeasured cause.
* *Blocked walks.* A node whose marks leave open whether it is a collider can be either. A set blocks a walk only if it
  blocks it both ways. One MAG is not enough to look at here. With X --> Y visible because it is stated, and A o-> X and
  A o-o Y, adjusting for A is right if A is no collider and wrong if it is one.
* *Districts.* In a MAG, variables tied together by unmeasured causes are joined by a collider path of invisible edges.
  So here a path counts if its inner nodes can be colliders (``pc_component``). The steps of IDP are taken for any set
  of nodes for which the equation between its factors holds in every such MAG (:mod:`lmarvel.effects.identify`).

All answers are then right, and some are missed: tests/effects/test_informed.py counts how many.
"""

from __future__ import annotations

from functools import cached_property

from lmarvel.effects.knowing.member import fitting_member
from lmarvel.effects.pag_index import Prepared, prepare
from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.knowledge import Knowledge, Known
from lmarvel.knowledge.contradictions import known_of
from lmarvel.orient.equivalence import explain_invalid, mag_to_pag, pag_to_mag

Links = list[list[tuple[int, int, int]]]


class Informed(Prepared):
    """The common marks of the MAGs that fit the statements, ready for questions.

    Attributes
    ----------
    plain : PAG
        The PAG of the whole class.
    known : Known
        What is known.

    Examples
    --------
    >>> ready = informed(PAG.from_edges("X o-o Y"), Knowledge(randomised=["X"]))
    >>> print(ready.graph.edge("X", "Y")), ready.named(ready.visible[0])
    X --> Y
    (None, ('Y',))
    """

    exact = False

    def __init__(self, graph: PAG, plain: PAG, known: Known) -> None:
        super().__init__(graph)
        self.plain, self.known = plain, known
        self.state_unconfounded(known.unconfounded)

    @cached_property
    def mag(self) -> MAG:
        """A MAG that fits; one of the class where the search for one finds none."""
        return self.member or pag_to_mag(self.plain)

    @cached_property
    def member(self) -> MAG | None:
        """A MAG that fits, if one was found."""
        return fitting_member(self.plain, self.known)

    def pc_component(self, of: int, within: int) -> int:
        """Return what a path of invisible edges inside ``within``, whose inner nodes can be colliders, joins to ``of``.

        It includes ``of``.
        """
        adjacent = self.graph.masks.adjacent
        links = [
            [(w, near) for w, near, _ in around if within >> w & 1 and not self._visible(v, w)]
            for v, around in enumerate(self.graph.links)
        ]
        result, seen = of, set()
        stack = [(v, w) for v in members(of) for w, _ in links[v]]
        while stack:
            u, v = stack.pop()
            if (u, v) in seen:
                continue
            seen.add((u, v))
            result |= 1 << v
            at_v = int(self.graph.marks[u, v])
            for w, near in links[v]:
                if w != u and may_collide(at_v, near, bool(adjacent[u] >> w & 1)):
                    stack.append((v, w))
        return result

    def told_apart(self, v: int, w: int) -> bool:
        """Tell whether it is stated that two variables share no unmeasured cause."""
        return bool(self.known.unconfounded[v, w])

    def said_never(self, x: int, y: int) -> bool:
        """Tell whether it is stated, or follows from what is, that x does not cause y."""
        return not self.may_cause(x) >> y & 1

    def may_cause(self, x: int) -> int:
        """Return what x may cause, and x."""
        return self._caused[x]

    @cached_property
    def _caused(self) -> list[int]:
        """What each variable may cause: along possible steps through what it may cause, itself included.

        An arrowhead at x on an edge with v says that x does not cause v, and so may a statement. A directed path from x
        passes no such v. In the PAG of a whole class no possible step leads around it, so this adds nothing there. A
        tail at the far end denies nothing: in a selected sample x --- v may be x --> v.
        """
        steps = [near & ~arrow for near, arrow in zip(self.graph.masks.adjacent, self.arrow_into, strict=True)]
        caused = []
        for x, denied in enumerate(self.known.never):
            allowed = (
                self.everything & ~self.arrow_into[x] & ~bits(v for v, is_denied in enumerate(denied) if is_denied)
            )
            caused.append(closure([step & allowed for step in steps], 1 << x))
        return caused

    def _visible(self, v: int, w: int) -> bool:
        return bool(self.visible[v] >> w & 1 or self.visible[w] >> v & 1)

    def removable(self, within: int) -> list[int]:
        """Return sets that IDP may try to remove from ``within``: nodes, buckets, and cycles of possible steps."""
        found = dict.fromkeys(1 << v for v in members(within))
        found |= dict.fromkeys(self.buckets(within))
        for v in members(within):
            found[self.possible_descendants(1 << v, within) & self.possible_ancestors(1 << v, within)] = None
        return list(found)


def may_collide(at_u: int, at_w: int, shielded: bool) -> bool:
    """Tell whether a node with these marks towards two others can be a collider between them."""
    return TAIL not in (at_u, at_w) if shielded else at_u == at_w == ARROW


def open_walk(ready: Prepared, links: Links, start: int, ends: int, given: int) -> list[int] | None:
    """Return a walk from a set to another that may be open in some MAG with these marks, or None.

    Each inner node can be a collider that may be an ancestor of ``given``, or can be none and is outside ``given``.
    ``links`` are the edges that are left; whether a node between two others is decided depends on the whole graph.
    """
    adjacent = ready.graph.masks.adjacent
    into = [bits(w for w, near, far in around if near != TAIL and far != ARROW) for around in links]
    opened = closure(into, given)
    layer = [(v, w, far) for v in members(start) for w, _, far in links[v]]
    before: dict[tuple[int, int], tuple[int, int] | None] = {(v, w): None for v, w, _ in layer}
    while layer:
        following = []
        for u, v, at_v in layer:
            if ends >> v & 1:
                return _traced((u, v), before)
            if start >> v & 1:
                continue
            for w, near, far in links[v]:
                if w == u or (v, w) in before:
                    continue
                shielded = bool(adjacent[u] >> w & 1)
                collider = opened >> v & 1 and may_collide(at_v, near, shielded)
                other = not given >> v & 1 and not at_v == near == ARROW
                if collider or other:
                    before[v, w] = (u, v)
                    following.append((v, w, far))
        layer = following
    return None


def _traced(state: tuple[int, int], before: dict[tuple[int, int], tuple[int, int] | None]) -> list[int]:
    walk = [state[1]]
    at: tuple[int, int] | None = state
    while at is not None:
        walk.append(at[0])
        at = before[at]
    return walk[::-1]


def informed(plain: PAG, knowledge: Knowledge) -> Prepared:
    """Return the class of a PAG, as far as it fits the statements, ready for questions; refuse what nothing fits.

    Examples
    --------
    >>> from lmarvel import effect
    >>> ready = informed(PAG.from_edges("X o-o Y"), Knowledge(randomised=["X"]))
    >>> effect(ready, "X", "Y").status
    'adjustment'
    """
    whole = prepare(plain)
    try:
        graph = mag_to_pag(whole.mag, knowledge=knowledge)
    except GraphError as error:
        raise GraphError(f"no effect can be read: {error}") from None
    return as_informed(graph, plain, known_of(knowledge, plain.names))


def as_informed(graph: PAG, plain: PAG, known: Known) -> Prepared:
    """Return a graph with what is known ready for questions; the PAG of a whole class is asked as such."""
    if not known.unconfounded.any() and (graph == plain or explain_invalid(graph) is None):
        return prepare(graph)
    prepare(plain)  # refuses what no MAG has
    return Informed(graph, plain, known)
