"""How hard a layout is to read, and how to make it easier: nodes move to free places where that undoes crossings.

Edges that cross, edges through boxes, effects above their causes and long edges are hard to read. Edges count as
straight lines between the centres of boxes; the curves that are drawn in the end stay near them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.drawing.spacing import GAP, Points

Ends = NDArray[np.intp]  # one row per edge: its two nodes, the cause of a directed edge first
Flags = NDArray[np.bool_]

CROSSING, THROUGH, UPWARDS, LENGTH = 2.0, 2.0, 0.6, 0.5
_SWEEPS, _FEW = 2, 25  # a small layout is gone through as long as it gets better, though not for ever
_CANDIDATES = 90  # places that a node may move to
_MOST_EDGES = 400  # with more edges, a move takes long and undoes little


@dataclass(frozen=True)
class Component:
    """A component: the sizes of its boxes, its edges, and which of them have a direction."""

    sizes: Points
    ends: Ends
    directed: Flags

    @cached_property
    def touching(self) -> list[NDArray[np.intp]]:
        """The edges of each node."""
        return [np.flatnonzero((self.ends == v).any(axis=1)) for v in range(len(self.sizes))]

    def cost(self, places: Points) -> float:
        """Return how hard a layout is to read, however large it is.

        Examples
        --------
        >>> pair = Component(np.full((4, 2), 10.0), np.array([[0, 1], [2, 3]]), np.array([False, False]))
        >>> square = np.array([[0.0, 0.0], [99.0, 99.0], [99.0, 0.0], [0.0, 99.0]])
        >>> pair.cost(square) > pair.cost(square[[0, 2, 1, 3]])
        True
        """
        start, end = places[self.ends[:, 0]], places[self.ends[:, 1]]
        spans = np.hypot(*(start - end).T)
        upwards = float((self.directed & (start[:, 1] > end[:, 1] - 1.0)).sum())
        hit = _through(start, end, places, self.sizes / 2)
        edge = np.arange(len(self.ends))
        hit[edge, self.ends[:, 0]] = hit[edge, self.ends[:, 1]] = False
        long = float(_burden(spans / self._typical(places)).sum())
        tangled = CROSSING * crossings(places, self.ends) + THROUGH * float(hit.sum())
        return tangled + UPWARDS * upwards + LENGTH * long

    def untangled(self, places: Points) -> Points:
        """Return the layout with nodes moved to free places, one after the other, as long as that makes it easier."""
        if len(self.ends) > _MOST_EDGES:
            return places
        lattice, typical = _lattice(places), self._typical(places)
        places = places.copy()
        for _ in range(_SWEEPS if len(places) > _FEW else 5 * _SWEEPS):
            moved = [self._move(v, places, lattice, typical) for v in range(len(places))]
            if not any(moved):
                break
        return places

    def _move(self, v: int, places: Points, lattice: Points, typical: float) -> bool:
        """Move a node to the free place at which its edges are easiest to read, in place; tell whether it moved."""
        candidates = np.vstack([places[v], self._free(v, places, lattice)])
        costs = self._costs(v, candidates, places, typical)
        best = int(costs.argmin())
        if costs[best] > costs[0] - 0.25:
            return False
        places[v] = candidates[best]
        return True

    def _free(self, v: int, places: Points, lattice: Points) -> Points:
        """Return the places of a lattice, and near the middle of the neighbours, at which the box of a node is free."""
        others = [w for k in self.touching[v] for w in self.ends[k].tolist() if w != v]
        step = self.sizes[v] + GAP
        near = places[others].mean(axis=0) + step * np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1.0)])
        candidates: Points = np.vstack([lattice, near])
        away = np.abs(candidates[:, None] - places[None]) - (self.sizes[v] + self.sizes) / 2 - 0.75 * GAP
        taken = (away < 0).all(axis=2)
        taken[:, v] = False
        free: Points = candidates[~taken.any(axis=1)]
        return free

    def _costs(self, v: int, candidates: Points, places: Points, typical: float) -> NDArray[np.float64]:
        """Return what a node costs at each of these places."""
        mine = self.touching[v]
        rest = np.setdiff1d(np.arange(len(self.ends)), mine)
        first = self.ends[mine, 0] == v
        others = np.where(first, self.ends[mine, 1], self.ends[mine, 0])
        start = np.repeat(candidates, len(mine), axis=0)  # of each edge from each place
        end = np.tile(places[others], (len(candidates), 1))
        crossed = _crossed(start, end, places[self.ends[rest, 0]], places[self.ends[rest, 1]])
        crossed &= ~(self.ends[rest][None] == np.tile(others, len(candidates))[:, None, None]).any(axis=2)
        hit = _through(start, end, places, self.sizes / 2)
        hit[:, v] = False
        hit[np.arange(len(end)), np.tile(others, len(candidates))] = False
        rise = np.where(np.tile(first, len(candidates)), start[:, 1] - end[:, 1], end[:, 1] - start[:, 1])
        upwards = np.tile(self.directed[mine], len(candidates)) & (rise > -1.0)
        long = _burden(np.hypot(*(start - end).T) / typical)
        each = CROSSING * crossed.sum(axis=1) + THROUGH * hit.sum(axis=1) + UPWARDS * upwards + LENGTH * long
        covers = _through(places[self.ends[rest, 0]], places[self.ends[rest, 1]], candidates, self.sizes[v] / 2)
        costs: NDArray[np.float64] = each.reshape(len(candidates), -1).sum(axis=1) + THROUGH * covers.sum(axis=0)
        return costs

    def _typical(self, places: Points) -> float:
        """Return how far apart neighbours are that share the room evenly."""
        return math.sqrt(float(np.prod(np.ptp(places, axis=0) + self.sizes.mean(axis=0))) / len(places))


def _burden(spans: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how hard edges are to follow for their lengths: one long edge is harder than two of half the length."""
    burden: NDArray[np.float64] = spans * np.maximum(spans, 1.0)
    return burden


def _lattice(places: Points) -> Points:
    """Return evenly spread places all over a layout."""
    low, high = places.min(axis=0), places.max(axis=0)
    wide, tall = np.maximum(high - low, 1.0)
    columns = max(
        round(math.sqrt(_CANDIDATES * wide / tall / 2)), 2
    )  # boxes are about twice as wide as high, gaps included
    lines = max(_CANDIDATES // columns, 2)
    return np.stack(
        np.meshgrid(np.linspace(low[0], high[0], columns), np.linspace(low[1], high[1], lines)), axis=-1
    ).reshape(-1, 2)


def crossings(places: Points, ends: Ends) -> int:
    """Return how many pairs of edges cross; edges with a common node do not.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> crossings(square, np.array([[0, 1], [2, 3]])), crossings(square, np.array([[0, 2], [1, 3]]))
    (1, 0)
    """
    start, end = places[ends[:, 0]], places[ends[:, 1]]
    shared = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
    return int((_crossed(start, end, start, end) & ~shared).sum()) // 2


def _crossed(a: Points, b: Points, c: Points, d: Points) -> Flags:
    """Tell which lines from a to b (rows) cross which lines from c to d (columns)."""
    ax, ay, bx, by = a[:, 0, None], a[:, 1, None], b[:, 0, None], b[:, 1, None]
    cx, cy, dx, dy = c[:, 0], c[:, 1], d[:, 0], d[:, 1]
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    crossed: Flags = (ux * (cy - ay) - uy * (cx - ax)) * (ux * (dy - ay) - uy * (dx - ax)) < 0
    crossed &= (vx * (ay - cy) - vy * (ax - cx)) * (vx * (by - cy) - vy * (bx - cx)) < 0
    return crossed


def _through(start: Points, end: Points, places: Points, half: Points) -> Flags:
    """Tell which straight lines (rows) run through which boxes (columns)."""
    along = end - start
    length = np.maximum(np.hypot(*along.T), 1.0)
    ux, uy = along[:, 0, None] / length[:, None], along[:, 1, None] / length[:, None]
    dx, dy = places[:, 0] - start[:, 0, None], places[:, 1] - start[:, 1, None]
    reach = dx * ux + dy * uy
    need = np.abs(uy) * half[..., 0] + np.abs(ux) * half[..., 1]
    through: Flags = (reach > 0) & (reach < length[:, None]) & (np.abs(dy * ux - dx * uy) < need)
    return through
