"""Where the nodes of a drawing stand.

Each connected component is laid out by igraph, as layers where most edges have a direction and there are few
nodes, and by springs elsewhere. Boxes are then pushed apart until none touches another, the components are
packed into rows, and isolated nodes follow in a grid. The same graph always gets the same positions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.marks import ARROW
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.paths import closure, members

Points = NDArray[np.float64]

LAYOUTS = ("auto", "layered", "spring")
GAP = 32.0  # free space around a box, enough for a mark at each end of a short edge
LAYER_GAP = 92.0
_MOST_LAYERED = 30  # with more nodes the layers get too wide to be read
_MOST_SPRINGS = 400  # Kamada-Kawai takes quadratic memory and more than quadratic time
_WIDEST = 2.2  # layers wider than this, for their height, are hard to follow
_ASPECT = 1.5


def positions(graph: MixedGraph, sizes: Points, layout: str = "auto") -> Points:
    """Return the centre of each node's box, given the width and height of each; y grows downwards.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MixedGraph.from_edges("A --> B", nodes=["A", "B", "C"])
    >>> places = positions(graph, np.full((3, 2), 30.0))
    >>> places.shape, bool(places[0, 1] < places[1, 1])
    ((3, 2), True)
    """
    if layout not in LAYOUTS:
        raise ParameterError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    placed = np.zeros((len(graph), 2))
    groups = components(graph)
    for nodes in groups:
        if len(nodes) > 1:
            placed[nodes] = _component(graph, nodes, sizes[nodes], layout)
    _pack([nodes for nodes in groups if len(nodes) > 1], placed, sizes)
    _grid([nodes[0] for nodes in groups if len(nodes) == 1], placed, sizes)
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


def _component(graph: MixedGraph, nodes: list[int], sizes: Points, layout: str) -> Points:
    """Lay out the connected nodes in the middle of their own picture."""
    local = {v: k for k, v in enumerate(nodes)}
    pairs, directed = [], 0
    for v in nodes:
        for w, at_v, at_w in graph.links[v]:
            if v < w:
                directed += (at_v == ARROW) != (at_w == ARROW)
                downwards = at_v != ARROW or at_w == ARROW
                pairs.append((local[v], local[w]) if downwards else (local[w], local[v]))
    few = len(nodes) <= _MOST_LAYERED and directed >= 0.6 * len(pairs)
    if layout == "layered" or (layout == "auto" and few):
        flat = separate(_layered(len(nodes), pairs, sizes), sizes, rows=True)
        across, down = np.ptp(flat, axis=0)
        if layout == "layered" or across <= _WIDEST * (down + LAYER_GAP):
            return flat
    return _filled(separate(_springs(len(nodes), pairs, sizes), sizes))


def _igraph(n: int, pairs: Sequence[tuple[int, int]], directed: bool) -> Any:
    import igraph

    return igraph.Graph(n=n, edges=pairs, directed=directed)


def _steady(work: Any, *arguments: Any, **options: Any) -> Points:
    """Run a layout with igraph's random numbers (Python's own) fixed, and leave them as they were."""
    state = random.getstate()
    random.seed(0)
    try:
        return np.array(work(*arguments, **options).coords, dtype=np.float64)
    finally:
        random.setstate(state)


def _layered(n: int, pairs: Sequence[tuple[int, int]], sizes: Points) -> Points:
    """Causes above effects; igraph adds a waypoint to long edges, which only keep the columns apart here."""
    wide = float(np.quantile(sizes[:, 0], 0.8)) + GAP
    flat = _steady(_igraph(n, pairs, True).layout_sugiyama, hgap=wide, vgap=LAYER_GAP, maxiter=200)
    return flat[:n]


def _springs(n: int, pairs: Sequence[tuple[int, int]], sizes: Points) -> Points:
    """Adjacent nodes near each other; a circle is the start, so that nothing is left to chance."""
    network = _igraph(n, pairs, False)
    start = [(math.cos(2 * math.pi * k / n), math.sin(2 * math.pi * k / n)) for k in range(n)]
    if n <= _MOST_SPRINGS:
        flat = _steady(network.layout_kamada_kawai, seed=start, maxiter=100 * n)
    else:
        flat = _steady(network.layout_fruchterman_reingold, seed=start, niter=300, grid=False)
    ends = np.array(pairs)
    typical = float(np.median(np.hypot(*(flat[ends[:, 0]] - flat[ends[:, 1]]).T))) or 1.0
    crowd = min(max(len(pairs) / n, 1.0), 2.0) ** 0.5  # more edges need more room between the boxes
    ideal = np.array([np.mean(sizes[:, 0]) + 0.9 * GAP, np.mean(sizes[:, 1]) + 1.7 * GAP])
    return _turned(flat, ideal * crowd / typical)


def _turned(flat: Points, stretch: Points) -> Points:
    """Turn a layout so that, stretched, it fits best into a picture that is wider than high."""
    best, least = flat * stretch, math.inf
    for angle in np.linspace(0.0, math.pi, 24, endpoint=False).tolist():
        cos, sin = math.cos(angle), math.sin(angle)
        turned: Points = flat @ np.array([[cos, -sin], [sin, cos]]) * stretch
        across, down = np.ptp(turned, axis=0)
        size = max(across / _ASPECT, down)
        if size < least - 1e-6:
            best, least = turned, size
    return best


def _filled(flat: Points) -> Points:
    """Pull a layout apart towards the shape of a screen: that costs no room there, and gives edges more."""
    across, down = np.maximum(np.ptp(flat, axis=0), 1.0)
    wider, higher = _ASPECT * down / across, across / (2 * _ASPECT * down)
    filled: Points = flat * np.array([min(max(wider, 1.0), 1.6), min(max(higher, 1.0), 1.6)])
    return filled


# --- no two boxes overlap ---------------------------------------------------------------------------------


def separate(places: Points, sizes: Points, rows: bool = False) -> Points:
    """Push boxes apart until a gap is free around each; with ``rows``, sideways only.

    A push moves a pair along the axis that needs less. Where pushing alone does not settle, the picture is
    blown up a little and pushed again, which ends: far enough apart, nothing overlaps.
    """
    places = places.copy()
    places += np.linspace(0.0, 0.01, len(places))[:, None]  # tells apart what stands on the same spot
    while not _push(places, sizes, rows, rounds=60):
        places *= 1.06
    return places


def moved_aside(places: Points, sizes: Points, edges: Sequence[tuple[int, int]]) -> Points:
    """Move the boxes that lie on the straight lines of these edges off them, then push boxes apart again."""
    places = places.copy()
    for i, j in edges:
        along = places[j] - places[i]
        length = math.hypot(*along) or 1.0
        across = np.array([-along[1], along[0]]) / length
        reach = (places - places[i]) @ along / length**2
        off = (places - places[i]) @ across
        need = sizes @ np.abs(across) / 2 + GAP / 2
        hit = (reach > 0) & (reach < 1) & (np.abs(off) < need)
        hit[[i, j]] = False
        push = np.where(off >= 0, need - off, -need - off)
        places[hit] += push[hit, None] * across
    return separate(places, sizes)


def _push(places: Points, sizes: Points, rows: bool, rounds: int) -> bool:
    """Push overlapping pairs apart, in place; tell whether none is left."""
    for _ in range(rounds):
        first, second = _near(places, sizes)
        apart = places[first] - places[second]
        miss = (sizes[first] + sizes[second]) / 2 + GAP - np.abs(apart)
        over = (miss > 1e-6).all(axis=1)
        if not over.any():
            return True
        first, second, apart, miss = first[over], second[over], apart[over], miss[over]
        sideways = rows | (miss[:, 0] < miss[:, 1])
        step = np.where(apart >= 0, 1.0, -1.0) * (miss * 0.51 + 0.05)
        step *= np.column_stack([sideways, ~sideways])
        move = np.zeros_like(places)
        np.add.at(move, first, step)
        np.subtract.at(move, second, step)
        crowd = np.bincount(np.concatenate([first, second]), minlength=len(places))
        places += move / np.sqrt(np.maximum(crowd, 1))[:, None]
    return False


def _near(places: Points, sizes: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs whose boxes can overlap, as two arrays."""
    from scipy.spatial import cKDTree

    reach = sizes.max(axis=0) + GAP
    pairs = cKDTree(places / reach).query_pairs(1.0, p=math.inf, output_type="ndarray")
    return pairs[:, 0], pairs[:, 1]


# --- many components --------------------------------------------------------------------------------------


def _extent(nodes: list[int], placed: Points, sizes: Points) -> tuple[Points, Points]:
    half = sizes[nodes] / 2
    return (placed[nodes] - half).min(axis=0), (placed[nodes] + half).max(axis=0)


def _pack(groups: list[list[int]], placed: Points, sizes: Points) -> None:
    """Set components side by side in rows about as wide as a screen; in place."""
    spans = [_extent(nodes, placed, sizes) for nodes in groups]
    areas = [float(np.prod(high - low + GAP)) for low, high in spans]
    widest = max((float(high[0] - low[0]) for low, high in spans), default=0.0)
    width = max(widest, math.sqrt(sum(areas) * _ASPECT))
    x = y = tall = 0.0
    for nodes, (low, high) in zip(groups, spans, strict=True):
        across, down = high - low
        if x and x + across > width + 1e-9:
            x, y, tall = 0.0, y + tall + 1.5 * GAP, 0.0
        placed[nodes] += np.array([x, y]) - low
        x, tall = x + across + 1.5 * GAP, max(tall, down)


def _grid(alone: list[int], placed: Points, sizes: Points) -> None:
    """Set isolated nodes in a grid below the rest; in place."""
    if not alone:
        return
    others = sorted(set(range(len(placed))) - set(alone))
    left, top, width = 0.0, 0.0, 0.0
    if others:
        low, high = _extent(others, placed, sizes)
        left, top, width = float(low[0]), float(high[1]) + 1.5 * GAP, float(high[0] - low[0])
    cell = sizes[alone].max(axis=0) + GAP
    square = math.ceil(math.sqrt(len(alone) * _ASPECT * cell[1] / cell[0]))
    columns = min(len(alone), max(square, int((width + GAP) // cell[0]), 1))
    for k, v in enumerate(alone):
        row, column = divmod(k, columns)
        placed[v] = (left + (column + 0.5) * cell[0] - GAP / 2, top + row * cell[1] + sizes[v, 1] / 2)
