"""Where the nodes of a drawing stand.

Each connected component is laid out by igraph in several ways, as layers where enough edges have a direction, and by
springs from several starts; nodes are exchanged where that undoes crossings, and the way that is easiest to read is
taken. Communities of a large component are set apart. Boxes are pushed apart until none touches another, the
components are packed into rows, and isolated nodes follow in a grid. The same graph always gets the same positions.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmarvel.budget.clock import current
from lmarvel.deferred import late
from lmarvel.drawing.readability import Component, crossings
from lmarvel.drawing.spacing import GAP, Points, separate
from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import closure, members
from lmarvel.graph.marks import ARROW
from lmarvel.graph.mixed import MixedGraph

igraph = late("igraph")


LAYOUTS = ("auto", "layered", "spring")
LAYER_GAP = 92.0
_MOST_LAYERED = 60  # with more nodes the layers get too wide to be read
_MOST_SPRINGS = 400  # Kamada-Kawai takes quadratic memory and more than quadratic time
_MOST_TRIED = 150  # with more nodes one start is enough
_MOST_WEIGHED = 1000  # with more edges, all pairs of which are looked at, no layout is easy to read
_FEWEST_APART = 25  # a smaller component shows its communities by itself, and is tried from more starts
_RINGS, _PLAIN = 9, 5  # starts of that kind; so many layouts without a crossing are enough to choose from
_LOADING = 0.75  # seconds to load igraph, and Matplotlib, which it loads where it is installed
ASPECT, _SCREEN = 1.5, 560.0  # the shape of a screen, and its height: a picture need not be smaller


def positions(graph: MixedGraph, sizes: Points, layout: str = "auto", aspect: float = ASPECT) -> Points:
    """Return the centre of each node's box, given the width and height of each; y grows downwards.

    ``aspect`` is the width of the picture over its height, as far as the graph can be drawn so.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MixedGraph.from_edges("A --> B", nodes=["A", "B", "C"])
    >>> places = positions(graph, np.full((3, 2), 30.0))
    >>> places.shape, bool(places[0, 1] < places[1, 1])
    ((3, 2), True)
    """
    if layout not in LAYOUTS:
        raise ParameterError(f"must be one of {', '.join(LAYOUTS)}, not {layout!r}", parameter="layout")
    placed = np.zeros((len(graph), 2))
    groups = components(graph)
    for nodes in groups:
        if len(nodes) > 1:
            placed[nodes] = _component(_Part.of(graph, nodes, sizes, aspect), layout)
    _pack([nodes for nodes in groups if len(nodes) > 1], placed, sizes, aspect)
    _grid([nodes[0] for nodes in groups if len(nodes) == 1], placed, sizes, aspect)
    return placed


def components(graph: MixedGraph) -> list[list[int]]:
    """Return the connected components as positions, the largest first."""
    seen = 0
    found: list[list[int]] = []
    for start in range(len(graph)):
        if not seen >> start & 1:
            group = closure(graph.masks.adjacent, 1 << start)
            seen |= group
            found.append(list(members(group)))
    return sorted(found, key=lambda group: (-len(group), group[0]))


# --- one component ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part(Component):
    """A connected component on positions of its own, and the shape of the picture that it should have."""

    aspect: float = ASPECT

    @classmethod
    def of(cls, graph: MixedGraph, nodes: list[int], sizes: Points, aspect: float) -> _Part:
        local = {v: k for k, v in enumerate(nodes)}
        ends, directed = [], []
        for v in nodes:
            for w, at_v, at_w in graph.links[v]:
                if v < w:
                    downwards = at_v != ARROW or at_w == ARROW
                    ends.append((local[v], local[w]) if downwards else (local[w], local[v]))
                    directed.append((at_v == ARROW) != (at_w == ARROW))
        return cls(sizes[nodes], np.array(ends, dtype=np.intp), np.array(directed), aspect)

    def network(self, directed: bool = False) -> Any:
        return igraph.Graph(n=len(self.sizes), edges=self.ends.tolist(), directed=directed)

    def hardness(self, places: Points) -> float:
        """Return how hard a layout is to read, on a screen into which it is made to fit."""
        across, down = np.ptp(places, axis=0) + self.sizes.max(axis=0)
        size = max(across / self.aspect, down)
        return self.cost(places) + 3.0 * math.sqrt(len(self.ends)) * math.log(max(size / _SCREEN, 1.0))


def _seconds(nodes: int) -> float:
    """Return about how long a component takes: of many nodes it is not weighed whether they are easy to read."""
    return nodes / (100 if nodes <= _MOST_SPRINGS else 700)


def _component(part: _Part, layout: str) -> Points:
    """Lay out connected nodes in the middle of their own picture."""
    n, tried = len(part.sizes), []
    layers = None
    if layout == "auto" and current().left() <= (0.0 if "igraph" in sys.modules else _LOADING) + _seconds(n):
        return _at_once(part)
    if layout == "layered" or (layout == "auto" and n <= _MOST_LAYERED and part.directed.mean() >= 0.5):
        layers = separate(_layered(part), part.sizes, rows=True)
        if layout == "layered":
            return layers
        tried.append(_filled(layers, part.aspect))
    loose = [_communities_apart(part, flat) for flat in _springs(part, layers)]
    if n > _MOST_SPRINGS or len(part.ends) > _MOST_WEIGHED:
        return _filled(separate(loose[0], part.sizes), part.aspect)
    if n > _FEWEST_APART:
        loose = [min(loose, key=part.hardness)]
    elif len(part.ends) <= 2 * n:  # with more edges there is no way without crossings
        loose += _rings(n, _RINGS if n <= _FEWEST_APART // 2 else _RINGS // 3)
    plain = 0
    for flat in loose:
        tried.append(_tight(part, part.untangled(separate(_roomy(flat, part.aspect), part.sizes))))
        plain += crossings(tried[-1], part.ends) == 0
        if plain == _PLAIN:
            break
    return min(tried, key=part.hardness)


def _roomy(places: Points, aspect: float) -> Points:
    """Pull a small layout apart to the size of a screen, so that there are free places to move to."""
    screen = np.array([aspect * _SCREEN, _SCREEN])
    found: Points = places * np.maximum(screen / np.maximum(np.ptp(places, axis=0), 1.0), 1.0)
    return found


def _tight(part: _Part, places: Points) -> Points:
    """Draw a layout together as far as it stays as easy to read, and fill a screen with it."""
    best = _filled(places, part.aspect)
    least = part.hardness(best)
    for factor in (0.85, 0.7, 0.55):
        tried = _filled(separate(places * factor, part.sizes), part.aspect)
        if (hard := part.hardness(tried)) < least:
            best, least = tried, hard
    return best


def _steady(work: Any, *arguments: Any, **options: Any) -> Any:
    """Run a step of igraph with its random numbers (Python's own) fixed, and leave them as they were."""
    state = random.getstate()
    random.seed(0)
    try:
        return work(*arguments, **options)
    finally:
        random.setstate(state)


def _layered(part: _Part) -> Points:
    """Causes above effects; igraph adds a waypoint to long edges, which only keep the columns apart here."""
    wide = float(np.quantile(part.sizes[:, 0], 0.8)) + GAP
    high = float(part.sizes[:, 1].max()) - 30.0 + LAYER_GAP
    found = _steady(part.network(directed=True).layout_sugiyama, hgap=wide, vgap=high, maxiter=200)
    return np.array(found.coords, dtype=np.float64)[: len(part.sizes)]


def _springs(part: _Part, layers: Points | None) -> Iterator[Points]:
    """Give layouts with adjacent nodes near each other, each from a start of its own; nothing is left to chance."""
    n, network = len(part.sizes), part.network()
    orders: list[Sequence[int]] = [range(n)]
    if n <= _MOST_TRIED:
        orders += [np.argsort(network.bfs(0)[0]).tolist(), np.argsort(network.dfs(0)[0]).tolist()]
    starts = [[(math.cos(2 * math.pi * k / n), math.sin(2 * math.pi * k / n)) for k in order] for order in orders]
    if layers is not None:
        middle = layers - layers.mean(axis=0)
        starts.append((middle / np.abs(middle).max()).tolist())
    for start in starts:
        if n <= _MOST_SPRINGS:
            found = _steady(network.layout_kamada_kawai, seed=start, maxiter=100 * n)
        else:
            found = _steady(network.layout_fruchterman_reingold, seed=start, niter=300, grid=False)
        flat = np.array(found.coords, dtype=np.float64)
        typical = float(np.median(np.hypot(*(flat[part.ends[:, 0]] - flat[part.ends[:, 1]]).T))) or 1.0
        crowd = min(max(len(part.ends) / n, 1.0), 2.0) ** 0.5  # more edges need more room between the boxes
        mean = part.sizes.mean(axis=0)
        ideal = np.array([mean[0] + 0.9 * GAP, mean[1] + 1.7 * GAP])
        yield _turned(flat, ideal * crowd / typical, part)


def _at_once(part: _Part) -> Points:
    """Return a ring, which takes no time and no library, for a run whose time is up; no edge runs over a box."""
    n, room = len(part.sizes), part.sizes.max(axis=0) + GAP
    angle = 2 * math.pi * np.arange(n) / n
    radius = max(n * float(np.hypot(*room)) / (2 * math.pi), float(room.max()))
    return np.column_stack([np.cos(angle), np.sin(angle)]) * radius


def _rings(n: int, many: int) -> list[Points]:
    """Return circles with the nodes in different orders: springs often end in one layout wherever they start."""
    shuffled = random.Random(0)
    angle = 2 * math.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return [circle[shuffled.sample(range(n), n)] for _ in range(many)]


def _turned(flat: Points, stretch: Points, part: _Part) -> Points:
    """Turn a layout so that, stretched, it fits into the picture, and causes stand above effects."""
    best, least = flat * stretch, math.inf
    arrows = part.ends[part.directed]
    for angle in np.linspace(0.0, 2 * math.pi, 48, endpoint=False).tolist():
        cos, sin = math.cos(angle), math.sin(angle)
        turned: Points = flat @ np.array([[cos, -sin], [sin, cos]]) * stretch
        across, down = np.ptp(turned, axis=0)
        upwards = float((turned[arrows[:, 0], 1] > turned[arrows[:, 1], 1]).sum()) / len(part.ends)
        size = max(across / part.aspect, down) * (1.0 + 0.8 * upwards)
        if size < least - 1e-6:
            best, least = turned, size
    return best


def _communities_apart(part: _Part, flat: Points) -> Points:
    """Draw groups of nodes with many edges among them together, and away from each other."""
    if len(flat) < _FEWEST_APART:
        return flat
    groups = np.array(_steady(part.network().community_multilevel).membership)
    moved: Points = flat.copy()
    for group in np.unique(groups).tolist():
        inside = groups == group
        centre = flat[inside].mean(axis=0)
        moved[inside] = 1.3 * centre + 0.95 * (flat[inside] - centre)
    return moved


def _filled(flat: Points, aspect: float) -> Points:
    """Pull a layout apart towards the shape of a screen: that costs no room there, and gives edges more."""
    across, down = np.maximum(np.ptp(flat, axis=0), 1.0)
    wider, higher = aspect * down / across, across / (max(aspect, 1.0) * aspect * down)
    filled: Points = flat * np.array([min(max(wider, 1.0), 1.6), min(max(higher, 1.0), 1.6)])
    return filled


# --- many components --------------------------------------------------------------------------------------


def _extent(nodes: list[int], placed: Points, sizes: Points) -> tuple[Points, Points]:
    half = sizes[nodes] / 2
    return (placed[nodes] - half).min(axis=0), (placed[nodes] + half).max(axis=0)


def _pack(groups: list[list[int]], placed: Points, sizes: Points, aspect: float) -> None:
    """Set components side by side in rows about as wide as a screen; in place."""
    spans = [_extent(nodes, placed, sizes) for nodes in groups]
    areas = [float(np.prod(high - low + GAP)) for low, high in spans]
    widest = max((float(high[0] - low[0]) for low, high in spans), default=0.0)
    width = max(widest, math.sqrt(sum(areas) * aspect))
    x = y = tall = 0.0
    for nodes, (low, high) in zip(groups, spans, strict=True):
        across, down = high - low
        if x and x + across > width + 1e-9:
            x, y, tall = 0.0, y + tall + 1.5 * GAP, 0.0
        placed[nodes] += np.array([x, y]) - low
        x, tall = x + across + 1.5 * GAP, max(tall, down)


def _grid(alone: list[int], placed: Points, sizes: Points, aspect: float) -> None:
    """Set isolated nodes in a grid below the rest; in place."""
    if not alone:
        return
    others = sorted(set(range(len(placed))) - set(alone))
    left, top, width = 0.0, 0.0, 0.0
    if others:
        low, high = _extent(others, placed, sizes)
        left, top, width = float(low[0]), float(high[1]) + 1.5 * GAP, float(high[0] - low[0])
    cell = sizes[alone].max(axis=0) + GAP
    square = math.ceil(math.sqrt(len(alone) * aspect * cell[1] / cell[0]))
    columns = min(len(alone), max(square, int((width + GAP) // cell[0]), 1))
    for k, v in enumerate(alone):
        row, column = divmod(k, columns)
        placed[v] = (left + (column + 0.5) * cell[0] - GAP / 2, top + row * cell[1] + sizes[v, 1] / 2)
