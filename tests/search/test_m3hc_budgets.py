"""M3HC under budgets, and what it refuses."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from lmarvel import DataError, FisherZ, LMarvelError, Moments, ParameterError
from lmarvel.ci.ledger import Ledger
from lmarvel.search.ancestral import GLYPHS, AncestralGraph
from lmarvel.search.m3hc import M3HCResult, m3hc
from lmarvel.search.scores import GaussianBlocks
from lmarvel.search.tabu import TabuClimb
from tests.search.m3hc_data import learn, study_data

BY_GLYPH = {glyph: kind for kind, glyph in GLYPHS.items()}


# --- budgets and bad input --------------------------------------------------------------------------------


def test_a_budget_of_tests_ends_the_restriction_and_the_search_goes_on() -> None:
    test = study_data(20, 8)
    found = m3hc(Ledger(test, max_tests=40), None, test.moments)
    assert found.ended == "max_tests=40 is used up while pairs were tested"
    assert found.undecided == found.untested
    assert set() < set(found.untested) <= set(found.candidates)
    assert found.unscored == ()
    assert found.bic < found.start_bic


def test_a_limit_on_conditioning_sets_is_told() -> None:
    test = study_data(20, 8)
    found = m3hc(Ledger(test, max_conditioning=1), None, test.moments)
    assert found.untested
    assert found.ended == "max_conditioning=1 limited the search while pairs were tested"


def test_a_budget_of_time_ends_the_search_and_leaves_all_open() -> None:
    test = study_data(20, 8)
    found = m3hc(Ledger(test, max_seconds=1e-9), None, test.moments)
    assert found.ended == "max_seconds is used up while pairs were tested"
    assert found.mag.n_edges == found.iterations == 0
    assert found.undecided == found.unscored == found.candidates == tuple(combinations(range(8), 2))


def stopped(test: FisherZ, after: int, **budgets: Any) -> M3HCResult:
    """Return what a search finds whose time is up after so many moves."""
    ledger = Ledger(test, max_seconds=1000, **budgets)

    def stop(phase: str, done: int, total: int) -> None:
        nonlocal after
        after -= phase == "search"
        if not after:
            ledger.meter.deadline = 0.0

    return m3hc(ledger, None, test.moments, progress=stop)


def test_time_that_runs_out_in_the_search_leaves_the_best_graph_so_far() -> None:
    found = stopped(study_data(20, 8), 1)
    assert found.ended == "max_seconds is used up while edges were changed"
    assert found.iterations == found.mag.n_edges == 1
    assert found.bic < found.start_bic
    assert found.untested == ()
    assert found.undecided == found.unscored


def test_both_budgets_are_told() -> None:
    found = stopped(study_data(20, 8), 1, max_tests=40)
    assert found.ended == (
        "max_tests=40 is used up while pairs were tested; max_seconds is used up while edges were changed"
    )
    assert set(found.undecided) == {*found.untested, *found.unscored}
    assert found.untested
    assert found.unscored


@pytest.mark.parametrize("seed", range(20, 24))
def test_a_pair_that_the_search_does_not_call_open_has_no_better_edge(seed: int) -> None:
    test = study_data(seed, 8)
    free = learn(test)
    met = set()
    for after in range(1, free.best_after + 3):
        found = stopped(test, after)
        assert found.moves == free.moves[:after]
        graph = AncestralGraph(8)
        for move in found.moves[: found.best_after]:
            graph.apply(move.x, move.y, BY_GLYPH[move.after])
        climb = TabuClimb(GaussianBlocks(test.correlation, test.n), graph, found.candidates)
        better = {
            (x, y)
            for x, y in found.candidates
            for kind in climb.kinds
            if kind != graph.edge(x, y) and graph.is_legal(x, y, kind) and climb.gain(x, y, kind) < -1e-5
        }
        assert better <= set(found.unscored)
        met.add((bool(better), bool(found.unscored)))
        if after > free.best_after:  # the best graph was looked at from all sides, and left behind
            assert found.unscored == ()
            assert found.mag == free.mag
    assert {(True, True), (False, False)} <= met


def test_the_number_of_moves_can_be_limited() -> None:
    test = study_data(20, 8)
    assert learn(test, max_iterations=3).iterations == 3
    assert learn(test, max_iterations=3).ended is None
    assert learn(test, max_iterations=0).mag.n_edges == 0
    assert learn(test, patience=5).iterations < learn(test).iterations


def test_progress_is_reported() -> None:
    test = study_data(20, 8)
    seen: list[tuple[str, int, int]] = []
    found = m3hc(Ledger(test), None, test.moments, progress=lambda *event: seen.append(event))
    assert seen[:8] == [("restriction", k, 8) for k in range(1, 9)]
    assert seen[-1] == ("search", 50, 50)
    assert len(seen) == 8 + found.iterations


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.0),
        ("alpha", 1.5),
        ("max_k", -1),
        ("max_k", 2.5),
        ("max_k", None),
        ("tabu", 0),
        ("patience", 0),
        ("patience", True),
        ("max_iterations", -1),
    ],
)
def test_parameters_are_checked(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        learn(study_data(20, 4), **{name: value})


def test_moments_and_test_must_match() -> None:
    test = study_data(20, 4)
    other = Moments(("A", "B", "C", "D"), 500, np.zeros(4), np.eye(4))
    with pytest.raises(ParameterError, match="same variables"):
        m3hc(Ledger(test), None, other)
    assert issubclass(ParameterError, LMarvelError)
    assert issubclass(DataError, LMarvelError)
