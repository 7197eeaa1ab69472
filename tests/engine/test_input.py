"""Nothing that Python passes to the engine is trusted: wrong positions, lengths and sizes raise ValueError."""

from __future__ import annotations

import math
import pickle
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, MBCS, RFCI, FisherZ, LMarvel, LMarvelWarning
from lmarvel.ci.ledger import Ledger
from lmarvel.engine import run as engine
from lmarvel.engine.run import Task, from_precision, from_sets, is_built, lists_of
from lmarvel.estimators.base import PagEstimator
from lmarvel.experiments.methods import SecondFirst
from lmarvel.skeleton import by_engine
from tests.engine.twins import moments, population

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")

SETS = [{1}, {0, 2}, {1}]


def task(**changes: Any) -> Task:
    critical = np.full(4, 0.1)
    plain = Task(
        correlation=np.eye(3),
        n=100,
        method="lmarvel",
        alpha=0.01,
        boundary_alpha=0.01,
        threshold=0.8,
        assume_chordal=False,
        faithful=False,
        max_p=False,
        possible_d_sep="pruned",
        colliders="standard",
        selection=True,
        critical_alpha=critical,
        critical_threshold=critical,
        largest_set=3,
        max_tests=None,
        tests=0,
        seconds=math.inf,
        grace=0.4,
    )
    return plain._replace(**changes)


def test_a_right_task_is_done() -> None:
    found = from_sets(task(), SETS)
    assert found.marks.tolist() == [[0, 0, 0]] * 3
    assert found.counts == [(0, 0, 2)]


WRONG: list[dict[str, Any]] = [
    {"correlation": np.ones((3, 2))},
    {"correlation": np.ones((0, 0))},
    {"correlation": np.eye(3, dtype=np.float32)},
    {"correlation": np.asfortranarray(np.arange(9.0).reshape(3, 3))},
    {"correlation": np.ones(3)},
    {"n": 3},
    {"n": -5},
    {"largest_set": 97},
    {"largest_set": -1},
    {"critical_alpha": np.ones(3)},
    {"critical_threshold": np.ones(0)},
    {"tests": -1},
    {"max_tests": -1},
    {"method": "pc"},
    {"method": ""},
    {"possible_d_sep": "some"},
    {"colliders": "none"},
]


@pytest.mark.parametrize("changes", WRONG)
def test_a_wrong_task_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_sets(task(**changes), SETS)


@pytest.mark.parametrize(
    "sets",
    [[{1}, {0}], [{1}, {0}, set(), set()], [{3}, set(), set()], [{-1}, set(), set()], [{1}, set(), set()], [{0}] * 3],
)
def test_wrong_boundaries_are_refused(sets: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_sets(task(), sets)


def test_only_methods_that_cut_edges_begin_with_all_pairs() -> None:
    assert from_sets(task(method="fci"), None).marks.tolist() == [[0, 0, 0]] * 3
    with pytest.raises(ValueError, match="needs boundaries"):
        from_sets(task(), None)


@pytest.mark.parametrize("method", ["fci", "rfci", "mbcs"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 2.0])
def test_numbers_that_are_none_change_results_of_all_methods_and_never_memory(method: str, value: float) -> None:
    odd = np.full((3, 3), value)
    for changes in ({}, {"max_p": True}, {"colliders": "majority", "possible_d_sep": "classic"}):
        wrong = task(method=method, correlation=odd, alpha=value, critical_alpha=np.full(4, value), **changes)
        from_sets(wrong, None)
        from_sets(wrong, SETS, [(0, {1}, {1, 2})], [(0, -1, {1}), (0, 2, {1})])
        from_precision(wrong, odd, value, keep=True)


@pytest.mark.parametrize("truncated", [[(3, {1}, {1})], [(-1, {1}, {1})], [(0, {7}, {1})], [(0, {1}, {10**8})]])
def test_wrong_searches_that_were_cut_short_are_refused(truncated: Any) -> None:
    with pytest.raises(ValueError, match=r"no variable at position"):
        from_sets(task(), SETS, truncated)


@pytest.mark.parametrize("asked", [[(3, -1, {1})], [(0, -2, {1})], [(0, 3, {1})], [(0, 1, {9})], [(-1, 1, {2})]])
def test_wrong_tests_made_before_are_refused(asked: Any) -> None:
    with pytest.raises(ValueError, match=r"no variable at position"):
        from_sets(task(), SETS, (), asked)


@pytest.mark.parametrize(
    ("starts", "members"),
    [([0, 1, 3], [1, 0, 2]), ([0, 2, 1, 3], [1, 0, 2]), ([0, 1, 3, 9], [1, 0, 2, 1]), ([1, 1, 3, 4], [1, 0, 2, 1])],
)
def test_wrong_lengths_are_refused(starts: Any, members: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = np.array(starts, dtype=np.int64), np.array(members, dtype=np.int32)
    monkeypatch.setattr(engine, "lists_of", lambda sets: wrong)
    with pytest.raises(ValueError, match="lengths of the sets"):
        from_sets(task(), SETS)


def test_members_must_ascend(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, members = lists_of(SETS)
    monkeypatch.setattr(engine, "lists_of", lambda sets: (starts, members[::-1].copy()))
    with pytest.raises(ValueError, match="ascending"):
        from_sets(task(), SETS)


@pytest.mark.parametrize("precision", [np.eye(2), np.eye(4), np.ones((3, 2)), np.eye(3, dtype=np.int64)])
def test_a_wrong_precision_matrix_is_refused(precision: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_precision(task(), precision, 0.1, keep=True)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 2.0])
def test_numbers_that_are_none_change_results_and_never_memory(value: float) -> None:
    odd = np.full((3, 3), value)
    from_precision(task(correlation=odd), odd, value, keep=True)
    from_sets(task(correlation=odd, alpha=value, threshold=value, critical_alpha=np.full(4, value)), SETS)


# --- what goes on while it runs ---------------------------------------------------------------------------


def dense(p: int = 24) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((2000, 1)) + rng.standard_normal((2000, p))


def test_progress_is_told_and_what_it_raises_is_passed_on() -> None:
    rng = np.random.default_rng(5)
    table = moments(rng, population(rng, 8, 1, 0, 2.0, False), 500, exact=False)
    told: list[tuple[str, int, int]] = []
    LMarvel().fit(table, progress=lambda *said: told.append(said))
    skeleton = [said for said in told if said[0] == "skeleton"]
    assert skeleton == [("skeleton", k, 8) for k in range(1, len(skeleton) + 1)]

    def fail(*said: Any) -> None:
        if said[0] == "skeleton":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        LMarvel().fit(table, progress=fail)


def test_time_that_runs_out_ends_a_long_search() -> None:
    started = time.monotonic()
    found = LMarvel(max_seconds=0.3, boundary="tc", boundary_alpha=0.5).fit(dense()).result_
    assert time.monotonic() - started < 5
    assert found.budget_ended is not None
    assert "max_seconds is used up" in found.budget_ended
    assert found.undecided


@pytest.mark.parametrize("method", [FCI, RFCI, MBCS])
def test_time_that_runs_out_ends_the_other_methods_too(method: type[PagEstimator]) -> None:
    started = time.monotonic()
    found = method(max_seconds=0.3, boundary="none").fit(dense()).result_
    assert time.monotonic() - started < 5
    assert found.budget_ended is not None
    assert "max_seconds is used up" in found.budget_ended
    assert found.undecided


@pytest.mark.parametrize("method", [LMarvel, FCI, RFCI, MBCS])
def test_a_user_can_give_up(method: type[PagEstimator]) -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start without
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        method(boundary="tc", boundary_alpha=0.5, max_seconds=30).fit(dense(30))
    timer.join()


# --- without it -------------------------------------------------------------------------------------------


def test_without_the_engine_the_readable_code_runs_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    table = moments(rng, population(rng, 6, 1, 0, 2.0, False), 500, exact=False)
    quick = LMarvel().fit(table).result_
    monkeypatch.setattr(engine, "_engine", None)
    by_engine.say_that_it_is_slow.cache_clear()
    with pytest.warns(LMarvelWarning, match="engine was not built"):
        slow = LMarvel().fit(table).result_
    again = LMarvel().fit(table).result_  # warnings are errors here
    assert quick.trace == slow.trace == again.trace
    assert quick.pag == slow.pag


def test_a_test_of_ones_own_is_never_replaced() -> None:
    class Mine(FisherZ):
        """Every pair depends on each other."""

    table = moments(np.random.default_rng(1), np.eye(4), 100, exact=True)
    assert Ledger(FisherZ(table)).test.for_engine() is not None
    assert Ledger(Mine(table)).test.for_engine() is None
    assert Ledger(FisherZ(table, compiled=False)).test.for_engine() is None


def test_results_can_be_stored_before_and_after_they_were_read() -> None:
    rng = np.random.default_rng(8)
    found = LMarvel().fit(rng.standard_normal((200, 5))).result_
    again = pickle.loads(pickle.dumps(found))
    assert (again.trace, again.sepsets, again.boundaries, again.data) == (
        found.trace,
        found.sepsets,
        found.boundaries,
        found.data,
    )


def test_values_that_are_overwritten_later_change_nothing() -> None:
    rng = np.random.default_rng(9)
    for rows in (rng.standard_normal((200, 4)), rng.integers(0, 2, (200, 4)).astype(float)):
        first, changed = LMarvel().fit(rows.copy()).result_, LMarvel().fit(rows).result_
        rows[:] = rows[::-1].copy() if rows.max() == 1 else rows > 0  # the same sums, or columns of two values
        assert first.data is not None
        assert changed.data is not None
        assert dict(changed.data) == dict(first.data)


def test_the_order_of_conditions_that_the_engine_does_not_have_is_left_to_the_readable_code() -> None:
    assert LMarvel().for_engine(0.01) is not None
    assert SecondFirst().for_engine(0.01) is None
