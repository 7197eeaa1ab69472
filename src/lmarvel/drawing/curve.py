"""Edges as quadratic Bézier curves: cut at the borders of boxes, bent around other boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Floats = NDArray[np.float64]
Rectangle = tuple[float, ...]  # centre, half width, half height

CLEARANCE = 7.0  # free space that an edge keeps from boxes it passes
AIR = 1.2  # between the border of a box and the end of an edge
ROUND = 7.0  # radius of the corners of a box
CROWD = 12.0  # marks nearer to each other than this run together
_THROUGH = 20.0  # what running through a box costs; all else together costs less
_FURTHEST = 260.0  # no curve leaves the straight line by more
_SIZES = (0.05, 0.1, 0.15, 0.2, 0.26, 0.33, 0.42, 0.52, 0.65)
_BENDS = (0.0, *(sign * size for size in _SIZES for sign in (1, -1)))
_STEPS = np.linspace(0.0, 1.0, 41)


class Curve(NamedTuple):
    """A quadratic Bézier curve; a straight line where the control point lies midway."""

    start: Point
    control: Point
    end: Point

    def at(self, t: float) -> Point:
        """Return the point at parameter t, which runs from 0 to 1."""
        s = 1.0 - t
        x, y = (s * s * p + 2 * s * t * c + t * t * q for p, c, q in zip(*self, strict=True))
        return x, y

    def part(self, t0: float, t1: float) -> Curve:
        """Return the piece between two parameters, which is again such a curve."""
        s0, s1 = 1.0 - t0, 1.0 - t1
        x, y = (s0 * s1 * p + (s0 * t1 + t0 * s1) * c + t0 * t1 * q for p, c, q in zip(*self, strict=True))
        return Curve(self.at(t0), (x, y), self.at(t1))

    def moved(self, x: float, y: float) -> Curve:
        """Return the curve, shifted."""
        start, control, end = ((u + x, v + y) for u, v in self)
        return Curve(start, control, end)

    def reversed(self) -> Curve:
        """Return the same curve, walked from its end."""
        return Curve(self.end, self.control, self.start)

    def shortened_by(self, length: float) -> Curve:
        """Return the curve without its last stretch, as far from the end as ``length`` (at most nearly all)."""
        low, high = 0.0, 1.0
        for _ in range(30):
            t = (low + high) / 2
            if math.dist(self.at(t), self.end) > length:
                low = t
            else:
                high = t
        return self.part(0.0, max(low, 0.02))

    @property
    def straight(self) -> bool:
        """Tell whether the control point lies midway, but for rounding."""
        middle = ((self.start[0] + self.end[0]) / 2, (self.start[1] + self.end[1]) / 2)
        return math.dist(middle, self.control) < 0.05


def clipped(curve: Curve, first: Rectangle, last: Rectangle) -> Curve:
    """Return the part of a curve between centres that lies outside the two boxes."""
    start = _leaving(curve, first)
    end = 1.0 - _leaving(curve.reversed(), last)
    return curve.part(start, end) if start < end else curve.part(0.49, 0.51)


def _leaving(curve: Curve, box: Rectangle) -> float:
    """Return the parameter at which a curve from the centre of a box with round corners leaves it."""
    x, y, half_w, half_h = box
    (px, py), (cx, cy), (qx, qy) = curve  # the curve is written out: this is done very often
    inside, outside = 0.0, 1.0
    for _ in range(18):
        t = (inside + outside) / 2
        s = 1.0 - t
        a, b, c = s * s, 2 * s * t, t * t
        over = max(abs(a * px + b * cx + c * qx - x) - half_w + ROUND, 0.0)
        above = max(abs(a * py + b * cy + c * qy - y) - half_h + ROUND, 0.0)
        beyond = math.hypot(over, above) - ROUND
        if beyond <= AIR:
            inside = t
        else:
            outside = t
    return outside


def route(first: Rectangle, last: Rectangle, others: Floats, taken: Iterable[Point]) -> tuple[Curve, bool]:
    """Return the curve between two boxes that costs least, and whether it keeps out of all other boxes.

    Running through a box costs most, passing one closely or ending where another edge ends costs less, and a
    bend costs a little.
    """
    a, b = first[:2], last[:2]
    across = (a[1] - b[1], b[0] - a[0])
    length = max(math.hypot(*across), 1.0)
    furthest = _FURTHEST / length
    others = _within(others, a, b, min(max(_BENDS) * length, _FURTHEST) + CLEARANCE)
    best, least = Curve((0.0, 0.0), (0.0, 0.0), (0.0, 0.0)), math.inf
    for bend in _BENDS:
        cost = 2 * abs(bend)
        if cost >= least or abs(bend) > furthest:
            break
        # A curve comes half as far as its control point.
        control = ((a[0] + b[0]) / 2 + 2 * bend * across[0], (a[1] + b[1]) / 2 + 2 * bend * across[1])
        whole = Curve((a[0], a[1]), control, (b[0], b[1]))
        cost += _obstruction(whole, others)
        if cost >= least:
            continue
        piece = clipped(whole, first, last)
        cost += 0.45 * sum(math.dist(end, other) < CROWD for end in (piece.start, piece.end) for other in taken)
        if cost < least:
            best, least = piece, cost
    return best, least < _THROUGH


def _within(boxes: Floats, a: Rectangle, b: Rectangle, reach: float) -> Floats:
    """Return the boxes that a curve between two points can meet if it comes no further off the line than this."""
    near = np.ones(len(boxes), dtype=bool)
    for k in (0, 1):
        low, high = min(a[k], b[k]) - reach, max(a[k], b[k]) + reach
        near &= (boxes[:, k] + boxes[:, k + 2] > low) & (boxes[:, k] - boxes[:, k + 2] < high)
    return boxes[near]


def _obstruction(curve: Curve, boxes: Floats) -> float:
    """Return what it costs to draw a curve across these boxes."""
    if not len(boxes):
        return 0.0
    t = _STEPS[:, None]
    a, control, b = (np.array(point) for point in curve)
    walk = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    x = np.abs(walk[:, None, 0] - boxes[None, :, 0]) - boxes[:, 2]
    y = np.abs(walk[:, None, 1] - boxes[None, :, 1]) - boxes[:, 3]
    distance = np.maximum(x, y).min(axis=0)
    return float(_THROUGH * (distance < 2.0).sum() + 0.6 * (distance < CLEARANCE).sum())
