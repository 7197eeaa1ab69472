"""Evidence in threads: the same numbers with any number of them, and limits and interruptions end them all."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import Auto, Lift
from lmarvel.datasets import CARS
from lmarvel.engine import load
from lmarvel.engine.run import Cancel
from lmarvel.search import evidence as module
from lmarvel.search.lift import LiftResult, lift
from lmarvel.simulate import LinearSEM, bounded_parents, hide

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the package was built without a compiler")

ROWS, PRICE = 1000, 14.0
Matrix = np.ndarray


def correlation(variables: int, parents: int, seed: int) -> Matrix:
    dag = bounded_parents(variables, parents, seed=seed)
    study = hide(dag, round(0.1 * variables), round(0.05 * variables), seed=seed)
    return np.corrcoef(LinearSEM.random(dag, seed=seed).sample(study, ROWS, seed=seed).T)


@cache
def large() -> tuple[Matrix, LiftResult]:
    """Return a table with several hundred changes to look at."""
    R = correlation(90, 4, 1)
    return R, lift(R, ROWS)


def weigh(R: Matrix, found: LiftResult, **how: Any) -> tuple[Any, ...]:
    told = (found.score, found.mag, found.pag, found.seen.edges, True, True)
    return engine.weigh(R, ROWS, PRICE, 1e-6, *told, **{"near": 4 * PRICE, "all_gaps": True} | how)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(2, 4), st.booleans())
def test_no_bit_depends_on_the_number_of_threads(seed: int, variables: int, parents: int, all_gaps: bool) -> None:
    R = correlation(variables, parents, seed)
    found = lift(R, ROWS)
    one, *others = (pickle.dumps(weigh(R, found, all_gaps=all_gaps, threads=threads)) for threads in (1, 2, 3, 4))
    assert others == [one] * 3


def test_no_bit_of_many_variables_depends_on_it() -> None:
    R, found = large()
    one, *others = (pickle.dumps(weigh(R, found, threads=threads)) for threads in (1, 2, 3, 4, 64))
    assert others == [one] * 4


@pytest.mark.parametrize("threads", [1, 3])
def test_a_time_limit_ends_all_threads_and_leaves_what_was_found(threads: int) -> None:
    R, found = large()
    late, *whole, marks = weigh(R, found)
    assert not late
    lates = set()
    for seconds in (0.0, *(0.0005 * 2**k for k in range(9)), 60.0):
        late, *parts, some = weigh(R, found, threads=threads, seconds=seconds)
        lates.add(late)
        for part, complete in zip(parts, whole, strict=True):
            xs, ys, losses, starts, members = part
            assert all(
                np.array_equal(column, all_of[: len(column)]) for column, all_of in zip(part, complete, strict=True)
            )
            assert len(xs) == len(ys) == len(losses) == len(starts) - 1
            assert len(members) == starts[-1]
            assert late or len(xs) == len(complete[0])
        assert all(len(column) in (0, len(all_of)) for column, all_of in zip(some, marks, strict=True))
    assert lates == {False, True}


def test_a_flag_ends_all_threads() -> None:
    R, flag = correlation(400, 2, 1), Cancel()
    found = lift(R, ROWS)
    flag.set()
    with pytest.raises(KeyboardInterrupt):  # which is asked for every 20 ms
        weigh(R, found, threads=3, cancel=flag)
    assert not weigh(*large(), threads=3, cancel=Cancel())[0]


@pytest.mark.parametrize("threads", [0, -1, 257, 2**31 - 1])
def test_a_number_of_threads_that_is_none_is_refused(threads: int) -> None:
    R, found = large()
    with pytest.raises(ValueError, match="1 to 256 threads"):
        weigh(R, found, threads=threads)


@pytest.mark.parametrize("method", [Lift, Auto])
def test_the_estimator_passes_its_workers_on(method: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Asked:
        def weigh(self, *told: Any, **how: Any) -> Any:
            asked.append(how["threads"])
            return engine.weigh(*told, **how)

    monkeypatch.setattr(module, "_engine", Asked())
    one, two = (method(test="fisher-z", n_jobs=n_jobs).fit(CARS).result_ for n_jobs in (1, 2))
    assert one.trace == two.trace
    assert asked == [1, 2]
