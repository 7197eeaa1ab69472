"""Theorem 1: X is removable from a MAG exactly if

1. each node adjacent to X is adjacent to each other child and neighbour of X, and
2. whenever X and all colliders of a collider path from X to Y are parents of Z, Y and Z are adjacent.

Removable means by definition that the m-separations among the other nodes are those of the induced subgraph.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lmarvel import MAG
from tests.paper.census import Census, all_classes, all_mags, sample_of_mags


def disagreements(census: Census) -> list[str]:
    return [
        f"{mag.names[x]} in\n{mag}"
        for x in census.nodes
        for mag, removable in zip(census.mags, census.removable(x), strict=True)
        if mag.is_removable(x) != removable
    ]


def test_on_every_mag_with_four_nodes() -> None:
    assert disagreements(all_mags()) == []


@pytest.mark.parametrize("census", [all_classes, sample_of_mags])
def test_on_mags_with_five_nodes(census: Callable[[], Census]) -> None:
    assert disagreements(census()) == []


def literally(mag: MAG, x: str) -> bool:
    """Evaluate the two conditions word for word, with all collider paths."""
    for y in mag.adjacent(x):
        if not mag.adjacent(y) | {y} >= mag.children(x) | mag.neighbors(x):
            return False
    for y in set(mag.names) - {x}:
        for path in mag.collider_paths(x, y):
            for z in set(mag.names) - set(path):
                if set(path[:-1]) <= mag.parents(z) and not mag.has_edge(y, z):
                    return False
    return True


def test_is_removable_reads_the_two_conditions_as_they_stand() -> None:
    for mag in (*all_mags().mags, *sample_of_mags().mags[::10]):
        assert all(mag.is_removable(x) == literally(mag, x) for x in mag.names)
