"""A PAG made ready for questions about effects: who may cause whom, which arrows are visible, what separates two nodes.

All sets are bit sets (:mod:`lmarvel.graph.bitsets`), so that a question about a pair costs microseconds.

**Possible steps.** A step v to w is *possible* if the edge between them can be v --> w in some MAG of the class: no
arrowhead at v and no tail at w. A walk of possible steps has an unshielded path of possible steps among its nodes
(Zhang 2008, Lemma B.1), which can be made directed, so reachability decides who is a possible ancestor.

**Minimal separating sets.** A set of ancestors of x and y separates them in an ancestral graph exactly if it cuts them
apart in the *augmented* graph of these ancestors, which joins every two nodes that a collider path joins [1]_; and a
minimal one holds ancestors only. So the minimal sets are the minimal cuts of an undirected graph. From the cut nearest
to x, each further one is found by pushing one of its nodes to the side of x [2]_, with a polynomial number of steps
between one and the next.

References
----------
.. [1] Richardson & Spirtes, Ancestral graph Markov models, Annals of Statistics 30 (2002), section 3.
.. [2] Shen & Liang, Efficient enumeration of all minimal separators in a graph, Theoretical Computer Science 180
   (1997); for ancestral graphs, van der Zander, Liśkiewicz & Textor (2014).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members, union
from lmarvel.graph.kinds import ADMG, DAG, MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, arrow
from lmarvel.graph.mixed import MixedGraph, Node
from lmarvel.graph.separation import m_separated
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.text import counted, readable

Askable = PAG | MAG | DAG | ADMG  # what effects can be read from
MOST_STEPS = 6  # of a path that are written out in a line of many


class Prepared:
    """Bit sets of a PAG (or of a MAG, whose class has one member here) that adjustment and identification read.

    Attributes
    ----------
    graph : PAG or MAG
        The graph itself.
    everything : int
        All nodes.
    out, into : list of int
        For each node the nodes that a possible step leads to, and those it leads from.
    circles : list of int
        The nodes joined to each by ``o-o``.
    visible : list of int
        The nodes that a visible arrow leads to.

    Examples
    --------
    >>> ready = Prepared(PAG.from_edges("nodes: A B C D", "A o-> C", "B o-> C", "C --> D"))
    >>> ready.named(ready.possible_ancestors(1 << ready.graph.index("C")))
    ('A', 'B', 'C')
    """

    def __init__(self, graph: PAG | MAG) -> None:
        n = len(graph)
        self.graph = graph
        self.everything = (1 << n) - 1
        self.out, self.into, self.circles = [0] * n, [0] * n, [0] * n
        self.arrow_into = [0] * n  # w *-> v
        self.both_arrows = graph.masks.spouses
        for v, links in enumerate(graph.links):
            for w, near, far in links:
                if near != ARROW and far != TAIL:
                    self.out[v] |= 1 << w
                if far != ARROW and near != TAIL:
                    self.into[v] |= 1 << w
                if near == far == CIRCLE:
                    self.circles[v] |= 1 << w
                if near == ARROW:
                    self.arrow_into[v] |= 1 << w
        self.visible = [bits(b for b in members(graph.masks.children[a]) if self._is_visible(a, b)) for a in range(n)]

    def _is_visible(self, a: int, b: int) -> bool:
        """Tell whether no unmeasured cause of a and b can stand behind a --> b.

        Some c not adjacent to b has c *-> a, or a collider path into a whose inner nodes are all parents of b.
        """
        not_adjacent = ~self.graph.masks.adjacent[b] & ~(1 << b)
        if self.arrow_into[a] & not_adjacent:
            return True
        inner = self.graph.masks.parents[b]
        reached = frontier = self.both_arrows[a] & inner
        while frontier:
            following = 0
            for v in members(frontier):
                if self.arrow_into[v] & not_adjacent & ~(1 << a):
                    return True
                following |= self.both_arrows[v] & inner
            frontier = following & ~reached & ~(1 << a)
            reached |= frontier
        return False

    exact = True  # whether the graph is one, or that of a whole class, so that theorems on these hold

    def state_unconfounded(self, pairs: NDArray[np.bool_]) -> None:
        """Make arrows visible between two variables of which it is stated that they share no unmeasured cause."""
        for a, children in enumerate(self.graph.masks.children):
            self.visible[a] |= bits(b for b in members(children) if pairs[a, b])

    def told_apart(self, v: int, w: int) -> bool:
        """Tell whether it is stated that two variables share no unmeasured cause."""
        return False

    def said_never(self, x: int, y: int) -> bool:
        """Tell whether it is stated, or follows from what is, that x does not cause y."""
        return False

    def may_cause(self, x: int) -> int:
        """Return what x may cause as far as statements say, and x; possible steps say more."""
        return self.everything

    # --- sets ---------------------------------------------------------------------------------------------

    def possible_ancestors(self, of: int, within: int = -1) -> int:
        """Return the nodes with a walk of possible steps to ``of``, inside ``within``; ``of`` is included."""
        return _reach(self.into, of, within)

    def possible_descendants(self, of: int, within: int = -1) -> int:
        """Return the nodes that possible steps lead to from ``of``, inside ``within``; ``of`` is included."""
        return _reach(self.out, of, within)

    def bucket(self, v: int, within: int = -1) -> int:
        """Return the nodes that a path of ``o-o`` inside ``within`` joins to v, v included."""
        return _reach(self.circles, 1 << v, within)

    def buckets(self, within: int) -> list[int]:
        """Return the circle components of the graph over ``within``."""
        result, left = [], within
        while left:
            component = self.bucket(next(members(left)), within)
            result.append(component)
            left &= ~component
        return result

    @cached_property
    def mag(self) -> MAG:
        """A MAG of the class."""
        return self.graph if isinstance(self.graph, MAG) else pag_to_mag(self.graph)

    def separated(self, a: int, b: int, given: int) -> bool:
        """Tell whether ``given`` separates two sets: the same in every MAG of the class."""
        return m_separated(self.mag, a, b, given)

    # --- names --------------------------------------------------------------------------------------------

    def named(self, nodes: int | Iterable[int]) -> tuple[str, ...]:
        """Return the names of nodes, in the order of the graph (or of the path that they are)."""
        return tuple(self.graph.names[v] for v in (members(nodes) if isinstance(nodes, int) else nodes))

    def path_text(self, path: Iterable[int], shown: MixedGraph | None = None, most: int | None = None) -> str:
        """Return a path with the marks of its edges, or those of ``shown``; of one over ``most`` edges both ends."""
        nodes, marks = list(path), (shown or self.graph).marks
        if most is not None and len(nodes) > most + 1:
            first, last = self.path_text(nodes[:3], shown), self.path_text(nodes[-3:], shown)
            return f"{first} ... {last} ({len(nodes) - 1} edges)"
        parts = [readable(self.graph.names[nodes[0]])]
        for v, w in pairwise(nodes):
            parts += [arrow(int(marks[w, v]), int(marks[v, w])), readable(self.graph.names[w])]
        return " ".join(parts)

    def possible_path(self, start: int, ends: int, within: int = -1) -> list[int] | None:
        """Return a shortest path of possible steps from a node to one of ``ends``, or None."""
        before = {start: start}
        layer = [start]
        while layer:
            following = []
            for v in layer:
                if ends >> v & 1:
                    path = [v]
                    while path[-1] != start:
                        path.append(before[path[-1]])
                    return path[::-1]
                for w in members(self.out[v] & within):
                    if w not in before:
                        before[w] = v
                        following.append(w)
            layer = following
        return None


def _reach(step: list[int], start: int, within: int) -> int:
    reached = frontier = start & within if within != -1 else start
    while frontier:
        successors = 0
        for v in members(frontier):
            successors |= step[v]
        frontier = successors & within & ~reached
        reached |= frontier
    return reached


class Stated(Prepared):
    """A graph that a user states, a DAG or an ADMG: each arrow is an effect, each ``<->`` an unmeasured common cause.

    Other than in a MAG, no unmeasured cause stands behind an arrow, so every arrow is visible. All questions come down
    to walks, ancestors and districts, which need no ancestral graph.

    Examples
    --------
    >>> ready = Stated(DAG.from_edges("X --> Y"))
    >>> ready.named(ready.visible[0])
    ('Y',)
    """

    def __init__(self, graph: DAG | ADMG) -> None:
        self.stated = graph if isinstance(graph, ADMG) else ADMG(graph.names, tuple(graph.edges()))
        arrows = [edge for edge in self.stated.edges if edge.at_a != edge.at_b]
        joined = [edge for edge in self.stated.edges if edge.at_a == edge.at_b]
        index = {name: i for i, name in enumerate(self.stated.names)}
        causal = {frozenset(edge[:2]) for edge in arrows}
        single = [edge for edge in joined if frozenset(edge[:2]) not in causal]
        shown = MixedGraph.from_edges(*arrows, *single, nodes=self.stated.names)
        links = [list(around) for around in shown.links]
        confounded = [0] * len(links)
        for edge in joined:
            if frozenset(edge[:2]) in causal:  # a pair with both edges has both among its links
                for a, b in (edge[:2], edge[1::-1]):
                    links[index[a]].append((index[b], ARROW, ARROW))
                    confounded[index[a]] |= 1 << index[b]
        drawn = MAG._trusted(shown.names, shown.marks.copy())
        drawn.__dict__["links"] = tuple(map(tuple, links))
        super().__init__(drawn)
        self.visible = [mask & ~both for mask, both in zip(drawn.masks.children, confounded, strict=True)]

    @property
    def assumes(self) -> str:
        """What has to be true for answers to be."""
        unmeasured = ", unmeasured ones as <->" if any(self.both_arrows) else " and measured"
        return (
            f"This rests on the graph you gave being right. Every common cause is assumed to be in it{unmeasured}, and"
            " the sample not to be selected."
        )


def prepare(graph: Askable | Prepared) -> Prepared:
    """Make a graph ready for questions, unless it is; a PAG has to be that of some MAG."""
    if isinstance(graph, Prepared):
        return graph
    if isinstance(graph, DAG | ADMG):
        return Stated(graph)
    if not isinstance(graph, PAG | MAG):
        kind = type(graph).__name__
        hint = ": make it one of these, for instance with ADMG.from_edges" if isinstance(graph, MixedGraph) else ""
        raise GraphError(f"effects are read from a PAG, MAG, DAG or ADMG, not from a {kind}{hint}")
    ready = Prepared(graph)
    try:
        _ = ready.mag
    except GraphError as error:
        raise GraphError(
            f"no effect can be read from this PAG, because {error}. Tests on finite samples can contradict each other;"
            " Lift always gives a PAG that some MAG has"
        ) from None
    return ready


def node_set(graph: MixedGraph, nodes: Node | Iterable[Node]) -> int:
    """Return a node, or nodes, by name or position, as a bit set."""
    if isinstance(nodes, str | int):
        return 1 << graph.index(nodes)
    return bits(graph.index(v) for v in nodes)


def selection_near(graph: MixedGraph, nodes: int) -> str | None:
    """Return what selection edges (``---``, ``--o``) stand in a part of the graph that holds one of ``nodes``, or None.

    What no path joins to the pair is independent of it, selected or not. In the same part, the sample is another
    population than the one an effect is asked of.
    """
    if not ((graph.marks == TAIL) & (graph.marks.T != ARROW)).any():
        return None
    part = nodes
    while (wider := part | bits(w for v in members(part) for w in members(graph.masks.adjacent[v]))) != part:
        part = wider
    edges = [
        f"{readable(graph.names[v])} {arrow(at_v, at_w)} {readable(graph.names[w])}"
        for v in members(part)
        for w, at_v, at_w in graph.links[v]
        if at_v == TAIL and (at_w == CIRCLE or (at_w == TAIL and v < w))
    ]
    if not edges:
        return None
    shown = ", ".join(edges[:3]) + (f" and {counted(len(edges) - 3, 'more edge')}" if len(edges) > 3 else "")
    return f"{shown} {'says' if len(edges) == 1 else 'say'} that the sample was selected"


# --- minimal separating sets ------------------------------------------------------------------------------


def augmented(graph: MixedGraph, within: int, x: int, cut: int) -> list[int]:
    """Return who is joined to whom in the augmented graph over ``within``, edges between x and ``cut`` left out."""

    def kept(v: int, w: int) -> bool:
        return bool(within >> w & 1) and not (v == x and cut >> w & 1) and not (w == x and cut >> v & 1)

    n = len(graph)
    adjacent, arrows, spouses, into = [0] * n, [0] * n, [0] * n, [0] * n
    for v in members(within):
        for w, at_v, at_w in graph.links[v]:
            if kept(v, w):
                adjacent[v] |= 1 << w
                arrows[v] |= (1 << w) * (at_w == ARROW)  # the nodes that an edge of v points at
                into[v] |= (1 << w) * (at_v == ARROW)
                spouses[v] |= (1 << w) * (at_v == at_w == ARROW)
    joined = [0] * n
    for v in members(within):
        colliders = closure(spouses, arrows[v])
        joined[v] = (adjacent[v] | colliders | union(into, colliders)) & ~(1 << v)
    return joined


def minimal_separators(joined: list[int], x: int, y: int, allowed: int) -> Iterator[int]:
    """Iterate over the minimal sets inside ``allowed`` that cut x from y in an undirected graph.

    Examples
    --------
    >>> chain = [0b0010, 0b0101, 0b1010, 0b0100]  # 0 - 1 - 2 - 3
    >>> [bin(cut) for cut in minimal_separators(chain, 0, 3, 0b0110)]
    ['0b10', '0b100']
    """
    ends = 1 << x | 1 << y
    graph = _contracted(joined, allowed | ends)
    if graph[x] >> y & 1:
        return
    first = _boundary(graph, _component(graph, y, graph[x]))
    queue, seen = deque([first]), {first}
    while queue:
        cut = queue.popleft()
        yield cut
        side = _component(graph, x, cut)
        for v in members(cut & ~graph[y]):
            wall = _boundary(graph, side | 1 << v)
            following = _boundary(graph, _component(graph, y, wall))
            if following not in seen:
                seen.add(following)
                queue.append(following)


def _contracted(joined: list[int], nodes: int) -> list[int]:
    """Return the graph over ``kept`` in which a path through the other nodes is an edge."""
    result = [0] * len(joined)
    for v in members(nodes):
        through = {w: joined[w] & ~nodes for w in members(~nodes & ((1 << len(joined)) - 1))}
        passed = closure(through, joined[v] & ~nodes)
        result[v] = (joined[v] | union(joined, passed)) & nodes & ~(1 << v)
    return result


def _component(graph: list[int], of: int, without: int) -> int:
    """Return the nodes that a path outside ``without`` joins to a node, which is included."""
    reached = frontier = 1 << of
    while frontier:
        frontier = union(graph, frontier) & ~without & ~reached
        reached |= frontier
    return reached


def _boundary(graph: list[int], of: int) -> int:
    return union(graph, of) & ~of
