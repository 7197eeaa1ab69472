"""Where on an edge a sign or a number can stand, clear of boxes, of other edges and of each other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.drawing.scene import Scene

WIDTH, HEIGHT = 40.0, 18.0
_PLACES = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68)
_SHORTEST = 76.0  # of a curve on which a number leaves enough of the line to be seen
_WALK = 25
_MOST = 400  # with more edges there is hardly room, and looking for it takes long


class LabelPlace(NamedTuple):
    """The parameter of a place on a curve, and whether a number fits there."""

    at: float
    free: bool


def label_places(scene: Scene) -> tuple[LabelPlace, ...]:
    """Return the best place on each line of a scene, in their order.

    Examples
    --------
    >>> from lmarvel.drawing.scene import compose
    >>> from lmarvel.graph.mixed import MixedGraph
    >>> label_places(compose(MixedGraph.from_edges("A --> B"), room=(600, 400)))
    (LabelPlace(at=0.5, free=True),)
    """
    if len(scene.lines) > _MOST:
        return (LabelPlace(0.5, False),) * len(scene.lines)
    boxes = np.array([(box.x, box.y, box.w / 2, box.h / 2) for box in scene.boxes]).reshape(-1, 4)
    walks = np.array([[line.curve.at(t) for t in np.linspace(0, 1, _WALK).tolist()] for line in scene.lines])
    points, owner = walks.reshape(-1, 2), np.repeat(np.arange(len(scene.lines)), _WALK)
    order = sorted(range(len(scene.lines)), key=lambda k: math.dist(walks[k, 0], walks[k, -1]))
    taken = np.zeros((0, 2))
    chosen = [LabelPlace(0.5, False)] * len(scene.lines)
    for k in order:
        places = np.array([scene.lines[k].curve.at(t) for t in _PLACES])
        reach = np.array([WIDTH, HEIGHT])
        low, high = places.min(axis=0) - reach, places.max(axis=0) + reach
        others = points[((points > low) & (points < high)).all(axis=1) & (owner != k)]
        clashes = 4 * _covering(places, boxes) + 2 * _covering(places, _sized(taken)) + _covering(places, _dots(others))
        best = int(clashes.argmin())
        free = not clashes[best] and math.dist(walks[k, 0], walks[k, -1]) >= _SHORTEST
        chosen[k] = LabelPlace(_PLACES[best], bool(free))
        taken = np.vstack([taken, places[best]])
    return tuple(chosen)


def _sized(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hstack([places, np.broadcast_to((WIDTH / 2, HEIGHT / 2), places.shape)])


def _dots(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hstack([places, np.zeros_like(places)])


def _covering(places: NDArray[np.float64], things: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many things (centre, half width, half height) a number at each place would touch."""
    away = np.abs(places[:, None] - things[None, :, :2]) - things[None, :, 2:] - (WIDTH / 2 + 2, HEIGHT / 2 + 2)
    touched: NDArray[np.intp] = (away < 0).all(axis=2).sum(axis=1)
    return touched
