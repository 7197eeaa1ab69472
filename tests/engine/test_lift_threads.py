"""Lift in threads: the same result with any number of them, and limits and interruptions end them all."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from lmarvel import Knowledge, Lift, ParameterError
from lmarvel.budget import memory
from lmarvel.datasets import CARS
from lmarvel.engine import load
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.errors import OutOfTime
from lmarvel.knowledge.closure import Known
from lmarvel.search.lift import LATE, LiftResult, lift, most_threads
from lmarvel.simulate import LinearSEM, bounded_parents, hide

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the package was built without a compiler")

Matrix = np.ndarray


def correlation(variables: int, parents: int, seed: int, rows: int = 1000) -> Matrix:
    dag = bounded_parents(variables, parents, seed=seed)
    study = hide(dag, round(0.1 * variables), round(0.05 * variables), seed=seed)
    return np.corrcoef(LinearSEM.random(dag, seed=seed).sample(study, rows, seed=seed).T)


def assert_same(one: LiftResult, other: LiftResult) -> None:
    """Every number to its last bit."""
    for field in fields(LiftResult):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "seen":
            assert a.edges == b.edges
        elif field.name == "candidates":
            assert [(c.used, c.score, c.mag.tolist(), c.pag.tolist()) for c in a] == [
                (c.used, c.score, c.mag.tolist(), c.pag.tolist()) for c in b
            ]
        else:
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


@pytest.mark.parametrize(
    ("variables", "parents", "seed", "options"),
    [
        (40, 2, 1, {}),
        (30, 4, 2, {}),
        (70, 3, 3, {"restarts": 3, "seed": 5}),
        (130, 3, 6, {}),
        (30, 3, 4, {"memory": 10_000}),
        (25, 3, 5, {"known": Knowledge(causes=[("X0", "X5")], not_causes=[("X3", "X1")])}),
    ],
)
def test_what_is_found_does_not_depend_on_the_number_of_threads(
    variables: int, parents: int, seed: int, options: dict[str, Any]
) -> None:
    R = correlation(variables, parents, seed)
    if "known" in options:
        names = [f"X{v}" for v in range(len(R))]
        options = {"known": Known.of(options["known"].statements, names)}
    one = lift(R, 1000, **options)
    for threads in (2, 4):
        assert_same(one, lift(R, 1000, threads=threads, **options))


def test_the_tables_have_hidden_nodes() -> None:
    """Else nothing above would be tried in threads beyond orders."""
    assert lift(correlation(40, 2, 1), 1000).hidden


@pytest.mark.parametrize("memory", [0, 50_000])
def test_trials_that_were_forgotten_come_out_the_same(memory: int) -> None:
    R = correlation(40, 2, 1)
    assert_same(lift(R, 1000), lift(R, 1000, memory=memory))


def test_a_time_limit_ends_all_threads() -> None:
    R = correlation(150, 5, 1)
    began = time.monotonic()
    with suppress(OutOfTime):  # before a first graph was found
        assert lift(R, 1000, threads=3, deadline=began + 0.3).ended == LATE
    assert time.monotonic() - began < 5


def test_a_flag_ends_all_threads() -> None:
    R, flag, ended = correlation(150, 5, 1), Cancel(), []

    def work() -> None:
        CANCEL.set(flag)
        try:
            lift(R, 1000, threads=3)
        except KeyboardInterrupt:
            ended.append("ended")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(0.3)
    flag.set()
    thread.join(30)
    assert ended == ["ended"]


@pytest.mark.parametrize("threads", [0, -1, 257, 2**31 - 1])
def test_a_number_of_threads_that_is_none_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="1 to 256 threads"):
        lift(np.eye(3), 100, threads=threads)


def test_the_estimator_takes_workers() -> None:
    one = Lift().fit(CARS).result_
    for n_jobs in (2, -1, 1000, 2**40):
        other = Lift(n_jobs=n_jobs).fit(CARS).result_
        assert (other.pag, other.bic) == (one.pag, one.bic)
    for wrong in (0, 1.5, "two", True):
        with pytest.raises(ParameterError, match="n_jobs must be a number of workers"):
            Lift(n_jobs=wrong).fit(CARS)  # type: ignore[arg-type]


def test_threads_are_no_more_than_their_tables_have_room_for() -> None:
    with memory.limited(400_000_000):
        assert (most_threads(10), most_threads(1000), most_threads(2048), most_threads(5000)) == (256, 12, 2, 1)


def test_sets_of_every_width_find_the_same() -> None:
    """Sets are as wide as the variables need: the same ten variables beside ever more that nothing is tied to."""
    R = correlation(12, 3, 11, rows=5000)
    p = len(R)
    one = lift(R, 5000)
    assert one.hidden
    for more in (70, 140, 300, 600, 1100):
        wide = np.eye(p + more)
        wide[:p, :p] = R
        found = lift(wide, 5000, threads=2)
        assert found.pag[:p, :p].tolist() == one.pag.tolist()
        assert not found.pag[p:].any()
        assert [node[:2] for node in found.hidden] == [node[:2] for node in one.hidden]
