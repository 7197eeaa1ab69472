"""The geometry of a drawing: boxes, edges that end in marks at their borders, and what stands on edges.

Units are SVG pixels, and y grows downwards. Every writer draws this scene, so a picture is the same in each format.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.drawing.curve import Curve, Point, route
from lmarvel.drawing.labels import FONT_SIZE, ems, one_line, rows, shortened, wrapped
from lmarvel.drawing.layout import ASPECT, positions
from lmarvel.drawing.spacing import moved_aside
from lmarvel.errors import GraphError
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge
from lmarvel.graph.mixed import MixedGraph

MOST_EDGES = 10_000  # more than this is a black disc, and takes minutes
BOX_HEIGHT = 30.0
ROW_HEIGHT = 16.0
RADIUS = 4.6  # of a circle mark
HEAD = 12.0  # length of an arrowhead
HEAD_WIDTH = 5.2  # half of its base
TAIL_LENGTH, TAIL_WIDTH = 11.0, 3.2  # of a hollow tail, and half of its width
OUTLINE = 1.5  # of hollow marks
STROKE = 1.8
THINNEST, THICKEST = 0.8, 2.6  # of the weakest edge (or one that no resample has), and of the strongest
FAINTEST = 0.35  # of an edge that no resample has
RAILS = 2.6  # how much wider than a line the two rails of an undirected edge are together
MARGIN = 24.0
TITLE_HEIGHT = 36.0
CAPTION_SIZE, CAPTION_ROW = 12.0, 16.0
CAPTION_LEAST = 250.0  # a narrower picture is widened, so that its caption does not become a column of words
_TURNS = 6
_MOST_PULLED = 3.0  # how far a small picture is pulled apart to fill the room it gets
_MOST_MOVED = 200  # with more nodes, moving boxes aside takes too long


@dataclass(frozen=True, slots=True)
class Style:
    """How a family of edges is drawn: a colour, and dashes or a double line that tell it apart without colour."""

    family: str
    colour: str
    dash: tuple[float, ...] = ()
    double: bool = False


DIRECTED = Style("directed", "#1558a8")
BIDIRECTED = Style("bidirected", "#b42318", (7.0, 4.0))
UNDIRECTED = Style("undirected", "#7a2fa0", double=True)  # two tails are the strongest claim, and look it
PARTIAL = Style("partial", "#4d5561")


@dataclass(frozen=True, slots=True)
class Box:
    """A node: its centre, its size, its label in rows, and its whole name."""

    name: str
    rows: tuple[str, ...]
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class Circle:
    """An open circle at an end of an edge."""

    centre: Point


@dataclass(frozen=True, slots=True)
class Arrowhead:
    """A triangle, the tip first; filled, or outlined where the mark is not established."""

    corners: tuple[Point, Point, Point]
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class HollowTail:
    """The outlined end of a line, where a tail is not established."""

    corners: tuple[Point, Point, Point, Point]


Floats = NDArray[np.float64]
Rows = tuple[str, ...]
Shares = Mapping[frozenset[str], float]
Curves = dict[tuple[str, str], Curve]
Shape = Circle | Arrowhead | HollowTail | None
Ends = Collection[tuple[str, str]]
"""Ends of edges: (a, b) is that of a-b at b."""


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: the curve from box to box, its visible part between the marks, and the shape of each mark."""

    edge: Edge
    style: Style
    whole: Curve
    curve: Curve
    at_a: Shape
    at_b: Shape
    share: float | None = None  # of the resamples that have the edge
    strength: float | None = None  # from 0 to 1

    @property
    def width(self) -> float:
        """How thick the line is: by its strength, or where that is not known by its share of resamples."""
        known = self.share if self.strength is None else self.strength
        return STROKE if known is None else THINNEST + (THICKEST - THINNEST) * known

    @property
    def opacity(self) -> float:
        """How well it is seen: what few resamples have is faint."""
        return 1.0 if self.share is None else FAINTEST + (1.0 - FAINTEST) * self.share


class Scene(NamedTuple):
    """All that is drawn, and how much room it takes."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float
    title: str | None
    caption: tuple[str, ...] = ()  # in rows, below all else


def style_of(edge: Edge) -> Style:
    """Return how an edge is drawn."""
    marks = {edge.at_a, edge.at_b}
    if CIRCLE in marks:
        return PARTIAL
    if marks == {ARROW}:
        return BIDIRECTED
    return UNDIRECTED if marks == {TAIL} else DIRECTED


def box_sizes(labels: Sequence[Rows]) -> Floats:
    """Return the width and height of each node's box, which is as wide as the rows of its label need."""
    sizes = [(max(*map(ems, label), 0.0) * FONT_SIZE + 20.0, len(label)) for label in labels]
    found = [(max(wide, 36.0), BOX_HEIGHT + ROW_HEIGHT * (lines - 1)) for wide, lines in sizes]
    return np.array(found, dtype=np.float64).reshape(-1, 2)


def place_boxes(graph: MixedGraph, layout: str = "auto") -> tuple[Box, ...]:
    """Return the boxes of the nodes in the order of the graph; the picture begins at (0, 0).

    Examples
    --------
    >>> [box.name for box in place_boxes(MixedGraph.from_edges("A --> B"))]
    ['A', 'B']
    """
    return compose(graph, layout).boxes


def compose(
    graph: MixedGraph,
    layout: str = "auto",
    title: str | None = None,
    shares: Shares | None = None,
    strengths: Shares | None = None,
    room: Point | None = None,
    hollow: Ends = (),
    caption: str | None = None,
) -> Scene:
    """Lay out a graph and work out every shape of its drawing.

    ``shares`` says which share of resamples has an edge, ``strengths`` how strong edges are, from 0 to 1. The picture
    has the shape of ``room``, if there is any, and is pulled apart to fill it. No label covers another, and edges run
    around boxes where there is a way. The marks at the ends in ``hollow`` are outlined, and the caption is below all
    else. A graph of more than ``MOST_EDGES`` edges is refused.
    """
    if graph.n_edges > MOST_EDGES:
        raise GraphError(
            f"a drawing of {graph.n_edges:,} edges shows nothing: at most {MOST_EDGES:,} are drawn; draw a part of it:"
            " graph.subgraph([...])"
        )
    heading = shortened(one_line(title), 80.0) if title else None
    labels = [rows(one_line(name)) for name in graph.names]
    sizes = box_sizes(labels)
    centres = positions(graph, sizes, layout, ASPECT if room is None else room[0] / room[1])
    if room is not None and len(graph):
        centres = _filling(centres, sizes, room)
    placed, curves = _spread(graph, centres, sizes)
    top = MARGIN + (TITLE_HEIGHT if heading else 0.0)
    reach = np.array([curve.at(t) for curve in curves.values() for t in (0.3, 0.5, 0.7)]).reshape(-1, 2)
    every = np.vstack([placed - sizes / 2, placed + sizes / 2, reach, np.zeros((0 if len(graph) else 1, 2))])
    shift = np.array([MARGIN, top]) - every.min(axis=0)
    wide, high = every.max(axis=0) + shift + MARGIN
    wide = max(wide, 160.0, ems(heading) * FONT_SIZE * 1.25 + 2 * MARGIN if heading else 0.0)
    below = wrapped(caption, max(wide - 2 * MARGIN, CAPTION_LEAST) / CAPTION_SIZE) if caption else ()
    needed = max(map(ems, below), default=0.0) * CAPTION_SIZE + 2 * MARGIN
    if below and needed > wide:
        shift[0] += (needed - np.ptp(every[:, 0])) / 2 - MARGIN
        wide = needed
    told, strong, open_ends = shares or {}, strengths or {}, frozenset(hollow)
    lines = tuple(
        replace(
            _line(edge, curves[edge.a, edge.b].moved(*shift.tolist()), open_ends),
            share=told.get(pair),
            strength=strong.get(pair),
        )
        for edge in graph.edges()
        for pair in [frozenset((edge.a, edge.b))]
    )
    high += CAPTION_ROW * len(below)
    size = round(float(wide), 1), round(float(high), 1)
    return Scene(_boxes(graph.names, labels, placed + shift, sizes), lines, *size, heading, below)


def _boxes(names: Sequence[str], labels: Sequence[Rows], centres: Floats, sizes: Floats) -> tuple[Box, ...]:
    return tuple(
        Box(name, label, round(x, 2), round(y, 2), round(w, 2), h)
        for name, label, (x, y), (w, h) in zip(names, labels, centres.tolist(), sizes.tolist(), strict=True)
    )


def _filling(centres: Floats, sizes: Floats, room: Point) -> Floats:
    """Pull places apart where there is room for it; what is near stays near."""
    across, down = np.maximum(np.ptp(centres, axis=0), 1.0)
    free = np.array(room) - sizes.max(axis=0, initial=0.0) - 2 * MARGIN
    found: Floats = centres * np.clip(free / (across, down), 1.0, _MOST_PULLED)
    return found


def _spread(graph: MixedGraph, places: Floats, sizes: Floats) -> tuple[Floats, Curves]:
    """Return places at which the fewest edges run through boxes, and the edges.

    While some do, and there is time, the boxes in their way are moved aside, and all get a little more room.
    """
    best: tuple[Floats, Curves] = places, {}
    fewest = graph.n_edges + 1
    for _ in range(_TURNS if len(graph) <= _MOST_MOVED else 1):
        curves, stuck = _route_all(graph, np.hstack([places, sizes / 2]))
        if len(stuck) < fewest:
            best, fewest = (places, curves), len(stuck)
        if not stuck or current().is_late():
            break
        places = moved_aside(places * 1.03, sizes, stuck)
    return best


def _route_all(graph: MixedGraph, table: Floats) -> tuple[Curves, list[tuple[int, int]]]:
    """Route the edges around the boxes in their way, short ones first; list those that run through one.

    Once no time is left, edges run straight.
    """
    rectangles = [tuple(row) for row in table.tolist()]
    taken: list[list[Point]] = [[] for _ in rectangles]
    curves: Curves = {}
    stuck = []
    clock, nothing = current(), table[:0]
    ends = [(edge, graph.index(edge.a), graph.index(edge.b)) for edge in graph.edges()]
    for edge, i, j in sorted(ends, key=lambda e: math.dist(rectangles[e[1]][:2], rectangles[e[2]][:2])):
        others = nothing if clock.is_late() else np.delete(table, [i, j], axis=0)
        curve, free = route(rectangles[i], rectangles[j], others, [*taken[i], *taken[j]])
        taken[i].append(curve.start)
        taken[j].append(curve.end)
        curves[edge.a, edge.b] = curve
        if not free:
            stuck.append((i, j))
    return curves, stuck


def _line(edge: Edge, curve: Curve, hollow: Ends) -> Line:
    """Set a mark at each end of an edge."""
    at_b, front = _mark(edge.at_b, curve, (edge.a, edge.b) in hollow)
    at_a, back = _mark(edge.at_a, front.reversed(), (edge.b, edge.a) in hollow)
    return Line(edge, style_of(edge), curve, back.reversed(), at_a, at_b)


def _mark(mark: int, curve: Curve, hollow: bool) -> tuple[Shape, Curve]:
    """Return the shape of the mark at the end of a curve, and the curve without the part under the shape."""
    if mark == TAIL and not hollow:
        return None, curve
    if mark == CIRCLE:
        rest = curve.shortened_by(2 * RADIUS + STROKE / 2)
        (x, y), (u, v) = curve.end, rest.end
        return Circle(((x + u) / 2, (y + v) / 2)), rest
    rest = curve.shortened_by(TAIL_LENGTH if mark == TAIL else HEAD)
    (x, y), (u, v) = curve.shortened_by(OUTLINE).end if hollow else curve.end, rest.end
    length = float(np.hypot(x - u, y - v)) or 1.0
    across = np.array([v - y, x - u]) / length * (TAIL_WIDTH if mark == TAIL else HEAD_WIDTH)
    (left, top), (right, bottom) = across.tolist(), (-across).tolist()
    base = ((u + left, v + top), (u + right, v + bottom))
    if mark == TAIL:
        return HollowTail(((x + right, y + bottom), (x + left, y + top), *base)), rest
    return Arrowhead(((x, y), *base), hollow), rest
