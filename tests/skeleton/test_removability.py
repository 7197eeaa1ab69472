"""Algorithm 2 with an oracle: each condition is what Theorem 2 states, and their order makes no difference."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from tests.effort import examples
from tests.generators import mags
from tests.skeleton.asking import CYCLE, WRONG_IF_CHORDAL_IS_ASSUMED

from lmarvel import MAG, LMarvel, MSeparation
from lmarvel.ci.boundaries import total_conditioning
from lmarvel.ci.ledger import Ledger
from lmarvel.experiments.methods import SecondFirst
from lmarvel.result.trace import Kept
from lmarvel.skeleton.chordless import Suspect
from lmarvel.skeleton.lmarvel import (
    Levels,
    Search,
    condition_1,
    condition_2,
    find_adjacent,
    is_removable,
    pairs_to_check,
)


def begun(mag: MAG, **switches: bool) -> Search:
    ledger = Ledger(MSeparation(mag))
    return Search(ledger, total_conditioning(ledger, 0.01), Levels(**switches))


def separated(mag: MAG, y: int, z: int, boundary: set[int], x: int | None = None) -> bool:
    """Tell whether some W inside the boundary without y and z separates the two, with x if there is one."""
    inside = sorted(boundary - {y, z})
    every = chain.from_iterable(combinations(inside, size) for size in range(len(inside) + 1))
    return any(mag.m_separated(y, z, {*w, *([] if x is None else [x])}) for w in every)


@examples(40)
@given(mags(min_nodes=6, max_nodes=9))
def test_the_conditions_are_those_of_theorem_2(mag: MAG) -> None:
    for x in range(len(mag)):
        search = begun(mag)
        find_adjacent(search, x)
        for y, z in pairs_to_check(search, x):
            second = condition_2(search, x, y, z)
            first = condition_1(search, x, y, z)
            assert bool(first) == separated(mag, y, z, search.mb[x])
            assert bool(second) == (not separated(mag, y, z, search.mb[x], x))
            assert first.answer.complete
            assert second.answer.complete
            if not second:
                assert second.answer.sepset is not None
                assert x in second.answer.sepset


@examples(40)
@given(mags(min_nodes=6, max_nodes=9))
def test_pairs_that_are_passed_over_meet_a_condition(mag: MAG) -> None:
    for x in range(len(mag)):
        search = begun(mag)
        find_adjacent(search, x)
        left = {frozenset(pair) for pair in pairs_to_check(search, x)}
        for y in search.adjacent[x] & search.mb[x]:
            for z in search.mb[x] - {y}:
                if frozenset((y, z)) not in left:
                    holds_1 = separated(mag, y, z, set(range(len(mag))) - {x})
                    assert holds_1 or not separated(mag, y, z, search.mb[x], x)


@examples(40)
@given(mags(min_nodes=6, max_nodes=9, heavy=False))
def test_a_variable_is_kept_exactly_if_it_is_not_removable(mag: MAG) -> None:
    for x, name in enumerate(mag.names):
        search = begun(mag, assume_chordal=True)
        find_adjacent(search, x)
        removable = is_removable(search, x)
        assert removable == (not any(isinstance(event, Kept) for event in search.trace))
        if mag.is_removable(name):
            assert removable
        elif not removable:
            kept = next(event for event in search.trace if isinstance(event, Kept))
            assert mag.m_separated(kept.y, kept.z, kept.sepset)


def test_a_variable_that_a_known_separating_set_needs_is_removed_under_the_assumption_only() -> None:
    for assumed in (True, False):
        search = begun(CYCLE, assume_chordal=assumed)
        find_adjacent(search, 0)
        assert is_removable(search, 0) == assumed
        assert not CYCLE.is_removable(CYCLE.names[0])
        assert search.suspects == []


def test_without_the_assumption_neighbours_on_a_chordless_cycle_that_look_adjacent_are_suspects() -> None:
    mag = WRONG_IF_CHORDAL_IS_ASSUMED  # whose neighbours D and E of A only C could separate
    a, d, e = map(mag.names.index, "ADE")
    for assumed in (True, False):
        search = begun(mag, assume_chordal=assumed)
        find_adjacent(search, a)
        assert is_removable(search, a)
        assert search.suspects == ([] if assumed else [Suspect(a, *sorted((d, e)), 0)])


@examples(25)
@given(mags(min_nodes=6, max_nodes=9))
@pytest.mark.parametrize("faithful", [False, True])
def test_with_an_oracle_the_order_of_the_conditions_makes_no_difference(faithful: bool, mag: MAG) -> None:
    test = MSeparation(mag)
    first, second = (method(test=test, faithful=faithful).fit().pag_ for method in (LMarvel, SecondFirst))
    assert first == second
