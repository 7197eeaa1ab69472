"""Theorem 2: X is removable exactly if for each Y in Adj(X) and Z in Mb(X) at least one of these holds:

1. some W inside Mb(X) - {Y, Z} separates Y and Z;
2. no such W makes W + {X} separate them.

Assumed is that the undirected edges of the MAG form no chordless cycle of four or more nodes. "Only if" needs no such
assumption. Both conditions are evaluated here as they stand, over every W.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from tests.paper.census import Array, Census, all_classes, all_mags, sample_of_mags, subsets

censuses = pytest.mark.parametrize("census", [all_mags, all_classes, sample_of_mags])


def passes_the_conditions(census: Census, x: int) -> Array:
    """Say in which graphs every pair passes Condition 1 or 2."""
    passed = np.ones(census.size, dtype=bool)
    for y, z in permutations(set(census.nodes) - {x}, 2):
        first, second = np.zeros(census.size, dtype=bool), np.ones(census.size, dtype=bool)
        for w in subsets(set(census.nodes) - {x, y, z}):
            inside = np.logical_and.reduce([census.in_boundary(x, v) for v in w], initial=True)
            first |= inside & census.separated(y, z, w)
            second &= ~(inside & census.separated(y, z, {*w, x}))
        passed &= first | second | ~(census.adjacent(x, y) & census.in_boundary(x, z))
    return passed


@censuses
def test_conditions_decide_removability_without_chordless_cycles(census: Callable[[], Census]) -> None:
    chordal = census().only(~census().has_chordless_cycle)
    for x in chordal.nodes:
        assert np.array_equal(passes_the_conditions(chordal, x), chordal.removable(x))


@censuses
def test_a_removable_variable_always_passes(census: Callable[[], Census]) -> None:
    for x in census().nodes:
        assert (passes_the_conditions(census(), x) >= census().removable(x)).all()


def test_on_five_nodes_a_chordless_cycle_can_let_a_variable_pass_that_is_not_removable() -> None:
    cyclic = all_classes().only(all_classes().has_chordless_cycle)
    wrong = [passes_the_conditions(cyclic, x) & ~cyclic.removable(x) for x in cyclic.nodes]
    assert np.any(wrong)
