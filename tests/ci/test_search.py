"""The search for a separating set: its order, its answers, what it skips because it was tried, and its budgets."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import SepsetQuery, find_sepset
from lmarvel.ci.search import readable_search
from lmarvel.ci.test import SepsetAnswer, Tried
from tests.effort import examples


class Answers:
    """A test that answers by a function of the conditioning set, and writes down what it was asked."""

    def __init__(self, pvalue: Callable[[frozenset[int]], float], n: int = 8) -> None:
        self.names = tuple(f"V{i}" for i in range(n))
        self.of = pvalue
        self.asked: list[tuple[int, ...]] = []

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        self.asked.append(tuple(given))
        return self.of(frozenset(given))


def dependent(given: frozenset[int]) -> float:
    return 0.0


# --- order and answers ------------------------------------------------------------------------------------


def test_sets_are_visited_by_size_and_then_in_pool_order() -> None:
    test = Answers(dependent)
    readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6)))
    assert test.asked == [(), (3,), (5,), (6,), (3, 5), (3, 6), (5, 6), (3, 5, 6)]


def test_members_of_every_set_come_along_and_sets_are_sorted() -> None:
    test = Answers(dependent)
    readable_search(test, SepsetQuery(0, 1, pool=(3, 6), always=(7, 2)))
    assert test.asked == [(2, 7), (2, 3, 7), (2, 6, 7), (2, 3, 6, 7)]


def test_max_size_counts_what_is_taken_from_the_pool() -> None:
    test = Answers(dependent)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), always=(2,), max_size=1))
    assert test.asked == [(2,), (2, 3), (2, 5), (2, 6)]
    assert answer.complete
    assert answer.tests_by_size == (0, 1, 3)


def test_min_size_skips_what_is_smaller() -> None:
    test = Answers(dependent)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), always=(2,), max_size=2, min_size=2))
    assert test.asked == [(2, 3, 5), (2, 3, 6), (2, 5, 6)]
    assert answer.tests_by_size == (0, 0, 0, 3)


def test_first_set_above_alpha_is_the_answer() -> None:
    test = Answers(lambda z: 0.2 if z == {5} else 0.9 if z == {3, 6} else 0.001 * len(z))
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), alpha=0.05))
    assert answer == SepsetAnswer(frozenset({5}), 0.2, (1, 2, 0, 0), frozenset({5}), (5,), True)


def test_a_pvalue_equal_to_alpha_does_not_separate() -> None:
    assert readable_search(Answers(lambda z: 0.05), SepsetQuery(0, 1, pool=(2,), alpha=0.05)).sepset is None


def test_without_a_separating_set_the_closest_is_told() -> None:
    test = Answers(lambda z: {frozenset({3}): 0.004, frozenset({3, 5}): 0.009}.get(z, 0.001))
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5)))
    assert answer == SepsetAnswer(None, 0.009, (1, 2, 1), frozenset({3, 5}), None, True)


def test_an_empty_range_of_sizes_asks_nothing() -> None:
    test = Answers(dependent)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(2, 3), max_size=-1))
    assert (answer.sepset, answer.pvalue, answer.complete, test.asked) == (None, 0.0, True, [])


@given(st.sets(st.integers(2, 7)), st.sets(st.integers(2, 7)), st.floats(0, 1))
def test_answer_is_the_first_success_of_all_sets_in_order(pool: set[int], always: set[int], alpha: float) -> None:
    of = lambda z: (hash(z) % 997) / 997  # noqa: E731
    members, fixed = tuple(sorted(pool - always)), tuple(sorted(always))
    sets = [frozenset((*fixed, *w)) for size in range(len(members) + 1) for w in combinations(members, size)]
    expected = next((z for z in sets if of(z) > alpha), None)
    answer = readable_search(Answers(of), SepsetQuery(0, 1, members, fixed, alpha=alpha))
    assert answer.sepset == expected
    visited = sets if expected is None else sets[: sets.index(expected) + 1]
    assert Counter({k: c for k, c in enumerate(answer.tests_by_size) if c}) == Counter(map(len, visited))
    assert answer.pvalue == (of(expected) if expected is not None else max(map(of, sets)))


def test_a_search_of_the_tests_own_is_used() -> None:
    own = SepsetAnswer(frozenset({7}), 1.0, (), None, None, True)

    class WithSearch(Answers):
        def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
            return own

    assert find_sepset(WithSearch(dependent), SepsetQuery(0, 1, pool=(2,))) is own
    assert find_sepset(Answers(dependent), SepsetQuery(0, 1, pool=(2,))).sepset is None


# --- what was tried before --------------------------------------------------------------------------------


def test_tried_sets_are_skipped_where_their_level_rules_success_out() -> None:
    test = Answers(dependent)
    tried = Tried((), (3, 5), 0, 2, None, level=0.01)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), alpha=0.01, tried=(tried,)))
    assert test.asked == [(6,), (3, 6), (5, 6), (3, 5, 6)]
    assert answer.tests_by_size == (0, 1, 2, 1)


def test_tried_sets_are_tested_but_not_counted_where_their_level_allows_success() -> None:
    test = Answers(lambda z: 0.3)
    tried = Tried((), (3, 5), 1, 2, None, level=0.3)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), alpha=0.5, tried=(tried,)))
    assert (3,) not in test.asked  # 0.3 is below 0.5
    again = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), alpha=0.1, tried=(tried._replace(smallest=0),)))
    assert again.sepset == frozenset()
    assert sum(again.tests_by_size) == 0
    assert answer.tests_by_size == (1, 1, 2, 1)


def test_the_lowest_of_several_levels_counts() -> None:
    test = Answers(dependent)
    tried = (Tried((), (3,), 0, 1, None, level=0.9), Tried((), (3, 5), 0, 2, None, level=0.001))
    readable_search(test, SepsetQuery(0, 1, pool=(3, 5), tried=tried))
    assert test.asked == []


@st.composite
def families(draw: st.DrawFn) -> Tried:
    """A family as a search leaves it behind: finished, or stopped at some set."""
    always = tuple(sorted(draw(st.sets(st.integers(2, 7), max_size=2))))
    pool = tuple(sorted(draw(st.sets(st.integers(2, 7), max_size=5)) - set(always)))
    stop = draw(st.none() | st.sampled_from([w for k in range(len(pool) + 1) for w in combinations(pool, k)]))
    largest = draw(st.integers(0, len(pool))) if stop is None else len(stop) - 1
    return Tried(always, pool, 0, largest, stop, draw(st.sampled_from([0.005, 0.3])))


def sets_of(family: Tried) -> set[frozenset[int]]:
    """Enumerate a family: all subsets up to a size, and those of the next size before the one at which it stopped."""
    finished = [w for size in range(family.largest + 1) for w in combinations(family.pool, size)]
    begun = list(combinations(family.pool, family.largest + 1)) if family.stop is not None else []
    return {frozenset((*family.always, *w)) for w in (*finished, *begun[: begun.index(family.stop) if begun else 0])}


@examples(100)
@given(families(), st.sets(st.integers(2, 7)), st.sets(st.integers(2, 7), max_size=2))
def test_exactly_the_sets_of_a_family_are_skipped(family: Tried, pool: set[int], always: set[int]) -> None:
    """... whatever its pool and fixed members, and those of the search."""
    test, fixed, members = Answers(dependent), tuple(sorted(always)), tuple(sorted(pool - always))
    answer = readable_search(test, SepsetQuery(0, 1, members, fixed, alpha=0.5, tried=(family,)))
    sets = {frozenset((*fixed, *w)) for size in range(len(members) + 1) for w in combinations(members, size)}
    assert set(map(frozenset, test.asked)) == sets - sets_of(family)
    assert sum(answer.tests_by_size) == len(sets - sets_of(family))


# --- budgets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", range(8))
def test_search_gives_up_before_a_test_beyond_the_limit(limit: int) -> None:
    test = Answers(dependent)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5, 6), max_tests=limit))
    order = [(), (3,), (5,), (6,), (3, 5), (3, 6), (5, 6), (3, 5, 6)]
    assert test.asked == order[:limit]
    assert not answer.complete
    assert answer.sepset is None
    assert answer.stopped == order[limit]
    assert sum(answer.tests_by_size) == limit


def test_a_limit_that_suffices_is_no_limit() -> None:
    assert readable_search(Answers(dependent), SepsetQuery(0, 1, pool=(3, 5, 6), max_tests=8)).complete


def test_what_is_not_counted_does_not_use_the_limit_up() -> None:
    tried = Tried((), (3, 5), 0, 2, None, level=0.3)
    answer = readable_search(Answers(dependent), SepsetQuery(0, 1, (3, 5, 6), alpha=0.1, tried=(tried,), max_tests=4))
    assert sum(answer.tests_by_size) == 4
    assert answer.complete


def test_search_gives_up_after_the_deadline() -> None:
    test = Answers(dependent)
    answer = readable_search(test, SepsetQuery(0, 1, pool=(3, 5), deadline=time.monotonic() - 1))
    assert (answer.complete, answer.stopped, test.asked) == (False, (), [])


def test_search_looks_at_the_clock_now_and_then() -> None:
    def slow(given: frozenset[int]) -> float:
        time.sleep(0.001)
        return 0.0

    test = Answers(slow, n=20)
    answer = readable_search(test, SepsetQuery(0, 1, pool=tuple(range(2, 20)), deadline=time.monotonic() + 0.05))
    assert not answer.complete
    assert len(test.asked) < 1_000
