"""Who causes Y: surely, possibly, or not at all, under every explanation of the data that a PAG stands for.

X is an ancestor of Y

* in *no* MAG of the class if no walk of possible steps leads from X to Y;
* in *every* MAG if directed edges lead from X to Y, or if two unshielded paths of possible steps do whose first nodes
  U and W are not adjacent: X is no collider between U and W, so one of the two leaves X in each MAG, and an
  unshielded path of possible steps that is once directed stays so (the reasoning of Zhang's rules R9 and R10;
  Roumpelaki et al. 2016). Paths may end in any node of which it is known that it causes Y;
* in *some* MAGs otherwise.

Where ``---`` or ``--o`` shows that the sample was selected, a tail at X says no more than that X causes the other end
or being in the sample. X is then a definite cause only if it has an arrowhead, which excludes the second, and steps
along ``---`` are possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from lmarvel.effects.caveats import beside, edges_among, what_it_rests_on
from lmarvel.effects.pag_index import Prepared, selection_near
from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, closure, members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW
from lmarvel.graph.mixed import Node
from lmarvel.result.discovery import Discovery
from lmarvel.text import ShownAsText, listing, readable

Status = Literal["definite", "possible", "impossible"]
_CLAIMS: dict[Status, str] = {
    "definite": "{x} causes {y}",
    "possible": "{x} may cause {y}",
    "impossible": "{x} does not cause {y}",
}
_CLAIMED: dict[Status, bool | None] = {"definite": True, "possible": None, "impossible": False}


@dataclass(frozen=True)
class Cause:
    """What the graph says about one variable as a cause of another.

    Attributes
    ----------
    name : str
        The variable.
    status : 'definite', 'possible' or 'impossible'
        Whether it is an ancestor under every explanation, under some, or under none.
    reason : str
        Why.
    path : tuple of str
        A path that shows it; empty for impossible causes.
    firm : str
        How firm that is, where something tells: how well the marks of the path are supported, whether they rest on a
        separation that the data reject, and how often it recurs.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "D")["A"]
    Cause(name='A', status='possible', reason='no edge of A o-> C --> D points back', path=('A', 'C', 'D'), firm='')
    """

    name: str
    status: Status
    reason: str
    path: tuple[str, ...] = ()
    firm: str = ""


@dataclass(frozen=True)
class Causes(ShownAsText):
    """The causes of a variable; iterate over them, look one up by name, or print them.

    Attributes
    ----------
    of : str
        The variable.
    all : tuple of Cause
        All other variables, in the order of the graph.
    selected : str or None
        What shows that the sample was selected, if anything does; definite causes are fewer then.
    rests_on : str
        What has to be true for the answer to be.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> answer = causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "D")
    >>> answer.definite, answer.possible, answer.impossible
    (('C',), ('A', 'B'), ())
    """

    of: str
    all: tuple[Cause, ...]
    selected: str | None
    rests_on: str

    @property
    def definite(self) -> tuple[str, ...]:
        """The variables that cause it under every explanation."""
        return self._with("definite")

    @property
    def possible(self) -> tuple[str, ...]:
        """The variables that cause it under some explanations and not under others."""
        return self._with("possible")

    @property
    def impossible(self) -> tuple[str, ...]:
        """The variables that cause it under no explanation."""
        return self._with("impossible")

    def _with(self, status: Status) -> tuple[str, ...]:
        return tuple(cause.name for cause in self.all if cause.status == status)

    def __iter__(self) -> Iterator[Cause]:
        return iter(self.all)

    def __getitem__(self, name: str) -> Cause:
        for cause in self.all:
            if cause.name == name:
                return cause
        raise GraphError(
            f"{name!r} is not among the other variables: {listing(sorted(cause.name for cause in self.all))}"
        )

    def __str__(self) -> str:
        y = readable(self.of)
        lines = [
            f"{_CLAIMS[cause.status].format(x=readable(cause.name), y=y)}: {cause.reason}"
            + (f" ({cause.firm})" if cause.firm else "")
            for status in _CLAIMS
            for cause in self.all
            if cause.status == status
        ]
        return "\n".join([*lines, *([f"{self.selected}."] if self.selected else []), self.rests_on])

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        plain = [{**c.__dict__, "path": list(c.path)} for c in self.all]
        return {"of": self.of, "causes": plain, "selected": self.selected, "rests_on": self.rests_on}


def causes(result: Discovery | PAG | MAG | Prepared, y: Node) -> Causes:
    """Return which variables cause ``y`` under every explanation of the data, under some, and under none.

    Parameters
    ----------
    result : Discovery, PAG or MAG
        What was learned.
    y : str
        The variable that is asked about.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> print(causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "C"))
    A may cause C: no edge of A o-> C points back
    B may cause C: no edge of B o-> C points back
    D does not cause C: no path leads from D to C without an edge that points back
    This rests on the learned graph being right, and on a sample that was not selected.
    """
    ready = (
        result if isinstance(result, Prepared) else Prepared(result.pag if isinstance(result, Discovery) else result)
    )
    graph = ready.graph
    j = graph.index(y)
    selected = selection_near(graph, 1 << j)
    steps = ready.out if selected is None else [_not_pointing(graph, v) for v in range(len(graph))]
    sure = definite_ancestors(ready, j) if selected is None else _despite_selection(graph, j)
    described = [_describe(ready, v, j, sure, steps) for v in range(len(graph)) if v != j]
    firm = tuple(
        replace(cause, firm=beside(result, cause.path, cause.name, graph.names[j], _CLAIMED[cause.status]))
        for cause in described
    )
    edges = edges_among(result, ready.named(ready.possible_ancestors(1 << j)), border=True)
    return Causes(graph.names[j], firm, selected, what_it_rests_on(result, edges, selected is not None))


def _describe(ready: Prepared, v: int, y: int, sure: int, steps: list[int]) -> Cause:
    name, to = ready.graph.names[v], readable(ready.graph.names[y])
    if sure >> v & 1:
        directed = _shortest(ready.graph.masks.children, v, y)
        if directed:
            return Cause(name, "definite", ready.path_text(directed), ready.named(directed))
        path = ready.possible_path(v, sure & ~(1 << v)) or [v]
        path += _shortest(ready.graph.masks.children, path[-1], y)[1:]
        why = (
            f"{readable(name)} stands between two unshielded ways that lead to {to}, and at least one of them leaves it"
        )
        return Cause(name, "definite", why, ready.named(path))
    possible = _shortest(steps, v, y)
    if possible:
        return Cause(name, "possible", f"no edge of {ready.path_text(possible)} points back", ready.named(possible))
    return Cause(name, "impossible", f"no path leads from {readable(name)} to {to} without an edge that points back")


def definite_ancestors(ready: Prepared, y: int) -> int:
    """Return the nodes that are ancestors of y in every MAG of the class, y included."""
    parents = ready.graph.masks.parents
    sure = closure(parents, 1 << y)
    while True:
        starts = _good_starts(ready, sure)
        new = bits(x for x, firsts in starts.items() if _two_apart(ready, firsts))
        if not new & ~sure:
            return sure
        sure = closure(parents, sure | new)


def _good_starts(ready: Prepared, ends: int) -> dict[int, int]:
    """Return for each x outside ``ends`` where unshielded paths of possible steps that lead there go first."""
    adjacent, into = ready.graph.masks.adjacent, ready.into
    good: dict[int, int] = {}
    stack = [(v, w) for w in members(ends) for v in members(into[w] & ~ends)]
    for v, w in stack:
        good[v] = good.get(v, 0) | 1 << w
    while stack:
        v, w = stack.pop()  # a good way starts v, w; before it u, with u and w not adjacent
        for u in members(into[v] & ~adjacent[w] & ~(1 << w) & ~ends):
            if not good.get(u, 0) >> v & 1:
                good[u] = good.get(u, 0) | 1 << v
                stack.append((u, v))
    return good


def _two_apart(ready: Prepared, firsts: int) -> bool:
    """Tell whether two of the nodes are not adjacent."""
    return any(firsts & ~ready.graph.masks.adjacent[u] & ~(1 << u) for u in members(firsts))


def _not_pointing(graph: PAG | MAG, v: int) -> int:
    """Return the nodes whose edge with v has no arrowhead at v."""
    return bits(w for w, near, _ in graph.links[v] if near != ARROW)


def _despite_selection(graph: PAG | MAG, y: int) -> int:
    """Return the ancestors of y by directed edges that have an arrowhead, so that they do not cause selection."""
    pointed = bits(v for v, links in enumerate(graph.links) if any(near == ARROW for _, near, _ in links))
    return closure(graph.masks.parents, 1 << y) & pointed


def _shortest(step: list[int], start: int, end: int) -> list[int]:
    """Return a shortest path along the steps, empty if there is none."""
    before, layer = {start: start}, [start]
    while layer and end not in before:
        following = []
        for v in layer:
            for w in members(step[v]):
                if w not in before:
                    before[w] = v
                    following.append(w)
        layer = following
    if end not in before:
        return []
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
