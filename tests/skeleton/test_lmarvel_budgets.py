"""L-MARVEL with an oracle under budgets: what they leave open is told, and nothing is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.generators import mags
from tests.skeleton.asking import CYCLE, WRONG_IF_CHORDAL_IS_ASSUMED, Recorder, edges, learn, pairs

from lmarvel import MAG, LMarvel
from lmarvel.result.discovery import Discovery
from lmarvel.result.trace import BudgetEnded

# --- budgets ----------------------------------------------------------------------------------------------


def check_what_a_budget_leaves(mag: MAG, found: Discovery) -> None:
    """No true edge is lost, and every edge that is not known to be true is listed."""
    undecided = {frozenset(pair) for pair in found.undecided}
    assert edges(mag) <= edges(found.pag)
    assert undecided <= edges(found.pag)
    assert edges(found.pag) - undecided <= edges(mag)


@given(mags(max_nodes=9), st.integers(0, 400))
def test_max_tests_is_never_exceeded_and_what_it_leaves_open_is_told(mag: MAG, limit: int) -> None:
    test = Recorder(mag)
    model = LMarvel(test=test, max_tests=limit).fit()
    assert model.n_ci_tests_ == len(test.asked) <= limit
    check_what_a_budget_leaves(mag, model.result_)


@given(mags(max_nodes=9), st.integers(0, 400))
def test_max_tests_with_boundaries_found_all_at_once(mag: MAG, limit: int) -> None:
    model = learn(mag, max_tests=limit)
    assert model.n_ci_tests_ <= limit
    check_what_a_budget_leaves(mag, model.result_)


def test_every_limit_on_the_graph_that_needs_the_most_care() -> None:
    mag = WRONG_IF_CHORDAL_IS_ASSUMED
    needed = learn(mag).n_ci_tests_
    for limit in range(needed + 1):
        model = learn(mag, max_tests=limit)
        assert model.n_ci_tests_ <= limit
        check_what_a_budget_leaves(mag, model.result_)


@given(mags(max_nodes=9))
def test_a_budget_that_suffices_changes_nothing(mag: MAG) -> None:
    free = learn(mag)
    bound = learn(mag, max_tests=free.n_ci_tests_, max_seconds=600.0, max_conditioning=len(mag))
    assert bound.pag_ == free.pag_
    assert bound.result_.undecided == ()
    assert not any(isinstance(e, BudgetEnded) for e in bound.result_.trace)


def test_a_spent_budget_is_in_the_trace() -> None:
    model = learn(CYCLE, max_tests=6)
    assert [e.reason for e in model.result_.trace if isinstance(e, BudgetEnded)] == ["max_tests=6 is used up"]
    assert model.result_.undecided != ()


def test_max_seconds_ends_a_slow_run() -> None:
    names = [f"V{i}" for i in range(9)]

    def slow(x: str, y: str, given: tuple[str, ...]) -> float:
        time.sleep(0.002)
        return 0.0

    begin = time.monotonic()
    model = LMarvel(test=slow, max_seconds=0.2).fit(names=names)  # 4,608 tests without the limit
    assert time.monotonic() - begin < 3.0
    assert {frozenset(pair) for pair in model.result_.undecided} <= pairs(names) == edges(model.pag_)
    assert model.result_.undecided != ()
    assert any(isinstance(e, BudgetEnded) for e in model.result_.trace)


@given(mags(max_nodes=9), st.integers(0, 4))
def test_max_conditioning_is_respected_and_what_it_leaves_open_is_told(mag: MAG, limit: int) -> None:
    test = Recorder(mag)
    own = {v: mag.markov_boundary(v) for v in mag.names}
    model = LMarvel(test=test, boundary=own, max_conditioning=limit).fit()
    assert all(len(given) <= limit for _, given in test.asked)
    check_what_a_budget_leaves(mag, model.result_)


@given(mags(max_nodes=9), st.integers(0, 4))
def test_max_conditioning_holds_for_boundaries_too_and_loses_no_edge(mag: MAG, limit: int) -> None:
    test = Recorder(mag)
    model = LMarvel(test=test, max_conditioning=limit).fit()
    assert all(len(given) <= limit for _, given in test.asked)
    check_what_a_budget_leaves(mag, model.result_)


HARD_UNDER_A_LIMIT = {
    # At 0 no set shows that A is needed to separate C and D, so A is removed, and with it what separates them.
    "removed too early": (0, ["A --> B", "A --> C", "A --> D", "C --> B", "D --> B"]),
    # Removing E parts A and D, which {B, C} shows, a set over the limit: they stay in each other's boundary.
    "not parted": (1, ["B --> A", "C --> A", "B --> D", "C --> D", "A --> E", "D --> E"]),
    # The same for B and C when A is removed; when they are looked at, their boundaries have shrunk below the limit.
    "not parted in time": (
        1,
        ["B --> A", "C --> A", "D --> B", "E --> B", "C --> E", "C --> F", "E <-> F"],
    ),
}


@pytest.mark.parametrize(("limit", "lines"), HARD_UNDER_A_LIMIT.values(), ids=HARD_UNDER_A_LIMIT)
def test_a_pair_that_a_limit_leaves_unseparated_does_not_pass_for_adjacent(limit: int, lines: list[str]) -> None:
    mag = MAG.from_edges(*lines)
    mag = mag.reordered(sorted(mag.names))
    model = learn(mag, boundary={v: mag.markov_boundary(v) for v in mag.names}, max_conditioning=limit)
    check_what_a_budget_leaves(mag, model.result_)


def test_max_conditioning_zero_leaves_a_chain_open() -> None:
    chain = MAG.from_edges("A --> B", "B --> C")
    model = learn(chain, max_conditioning=0)
    assert edges(chain) <= edges(model.pag_)
    assert ("A", "C") in model.result_.undecided
