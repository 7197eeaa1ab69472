"""Boxes that keep their distance: no two overlap, and they make way for edges that run through them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.deferred import late

spatial = late("scipy.spatial")


Points = NDArray[np.float64]

GAP = 32.0  # free space around a box, enough for a mark at each end of a short edge


def separate(places: Points, sizes: Points, rows: bool = False) -> Points:
    """Push boxes apart until a gap is free around each; with ``rows``, sideways only.

    A push moves a pair along the axis that needs less. Where pushing alone does not settle, the picture is
    blown up a little and pushed again, which ends: far enough apart, nothing overlaps. Once no time is left, it is
    blown up by much, which needs few pushes.
    """
    places = places.copy()
    places += np.linspace(0.0, 0.01, len(places))[:, None]  # tells apart what stands on the same spot
    while not _push(places, sizes, rows, rounds=60):
        places *= 2.0 if current().is_late() else 1.06
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
    clock = current()
    for done in range(rounds):
        if done and clock.is_late():
            break
        first, second = _near(places, sizes)
        offset = places[first] - places[second]
        miss = (sizes[first] + sizes[second]) / 2 + GAP - np.abs(offset)
        over = (miss > 1e-6).all(axis=1)
        if not over.any():
            return True
        first, second, offset, miss = first[over], second[over], offset[over], miss[over]
        sideways = rows | (miss[:, 0] < miss[:, 1])
        step = np.where(offset >= 0, 1.0, -1.0) * (miss * 0.51 + 0.05)
        step *= np.column_stack([sideways, ~sideways])
        move = np.zeros_like(places)
        np.add.at(move, first, step)
        np.subtract.at(move, second, step)
        crowd = np.bincount(np.concatenate([first, second]), minlength=len(places))
        places += move / np.sqrt(np.maximum(crowd, 1))[:, None]
    return False


def _near(places: Points, sizes: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs whose boxes can overlap, as two arrays."""
    reach = sizes.max(axis=0) + GAP
    pairs = spatial.cKDTree(places / reach).query_pairs(1.0, p=math.inf, output_type="ndarray")
    return pairs[:, 0], pairs[:, 1]
