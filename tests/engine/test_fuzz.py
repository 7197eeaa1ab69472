"""Random hostile calls of all compiled entries: several arguments are wrong at a time, share memory, or change.

``make sanitize`` makes 100,000 of them on an engine with sanitizers (``LMARVEL_FUZZ_CALLS``); the usual tests make a
few. A refused call must leave what it was made on usable: the right call gives what it gave before, bit for bit.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel.engine.run import is_built
from tests.engine import test_hostile_kinds as kinds
from tests.engine.test_hostile import (
    BLOCKS,
    COUNTS,
    CRITICAL,
    ENGINE,
    ENTRIES,
    QUERY,
    REFUSALS,
    ROWS,
    SCALARS,
    SHORT,
    WEIGHED,
    Fickle,
    Owner,
    correlation,
    hostile,
    shown,
)

pytestmark = [
    pytest.mark.skipif(not is_built() or ROWS is None, reason="not everything was built"),
    pytest.mark.filterwarnings("ignore"),
]
CALLS = int(os.environ.get("LMARVEL_FUZZ_CALLS", "4000"))
PARTS = 8
KINDS = {
    "score of a number": (kinds.ask, (*kinds.parts(), 0, (1, 2))),
    "score of categories": (kinds.ask, (*kinds.parts(), 1, (2, 0))),
    "search of kinds": (kinds.search, (*kinds.parts(), *kinds.SEARCH)),
}
_LONGEST = 1.0  # seconds of an entry whose arrays change
_MOST_KEPT = 400  # wrong values of an argument


class Changing:
    """An array that is another one each time somebody looks: shorter, of another type, or of other values."""

    def __init__(self, array: np.ndarray) -> None:
        self.looks = itertools.cycle((array, array[:0], array.astype(object), array * 0 - 1, array.ravel()))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        found = next(self.looks)
        return found if dtype is None else found.astype(dtype)

    def __len__(self) -> int:
        return len(next(self.looks))

    def __getitem__(self, index: Any) -> Any:
        return next(self.looks)[index]


def wrong_values(value: Any, rng: random.Random) -> list[Any]:
    """Return what may stand in place of a value; of very many a part."""
    found = list(itertools.islice(hostile(value), 4 * _MOST_KEPT))
    if isinstance(value, np.ndarray):
        found.append(Changing(value))
    return rng.sample(found, min(_MOST_KEPT, len(found)))


def spoiled(right: tuple[Any, ...], wrong: list[list[Any]], rng: random.Random) -> list[Any]:
    """Return the arguments with one to three of them replaced, by wrong values or by each other."""
    given_ = [value.copy() if isinstance(value, np.ndarray) else value for value in right]
    for at in rng.sample(range(len(given_)), min(len(given_), rng.randint(1, 3))):
        given_[at] = rng.choice(given_) if rng.random() < 0.2 else rng.choice(wrong[at])  # the same memory twice
    return given_


def outcome(call: Callable[..., Any], arguments: Any) -> bytes:
    """Return what a call gives, as bytes; the order of memory does not matter."""
    return pickle.dumps(call(*arguments))


@pytest.mark.parametrize("part", range(PARTS))
def test_no_combination_of_arguments_ends_the_interpreter(part: int) -> None:
    rng, entries = random.Random(part), sorted((ENTRIES | KINDS).items())
    entries = [entry for k, entry in enumerate(entries) if k % PARTS == part]
    refused, unnamed = 0, set[str]()
    for name, (call, right) in entries:
        wrong = [wrong_values(value, rng) for value in right]
        for _ in range(CALLS // PARTS // len(entries) + 1):
            try:
                call(*spoiled(right, wrong, rng))
            except REFUSALS as error:
                unnamed |= {name} if "Unknown exception" in str(error) else set()
                refused += 1
    assert unnamed == set()
    assert refused > CALLS // PARTS // 4


def own_arrays(value: Any, found: list[np.ndarray], passed: Callable[..., Any]) -> Any:
    """Return a copy of arguments with arrays passed in some way, and note the arrays in it."""
    if isinstance(value, np.ndarray):
        found.append(value.copy())
        return passed(found[-1])
    if type(value) in (tuple, list):
        return type(value)(own_arrays(part, found, passed) for part in value)
    return value


@pytest.mark.parametrize("passed", [lambda array: array, shown, Owner], ids=["array", "view", "object"])
@pytest.mark.parametrize("name", ENTRIES | KINDS)
def test_arrays_may_change_in_another_thread_while_they_are_read(name: str, passed: Callable[..., Any]) -> None:
    """Positions and lengths that were checked are no longer there when they are used, unless they were copied."""
    call, right = (ENTRIES | KINDS)[name]
    arrays: list[np.ndarray] = []
    arguments, rng, stop = own_arrays(right, arrays, passed), np.random.default_rng(0), threading.Event()
    kept = [array.copy() for array in arrays]

    def scribble() -> None:
        while not stop.is_set():
            for array, before in zip(arrays, kept, strict=True):
                wrong = rng.integers(0, 256, array.view(np.uint8).shape)
                array.view(np.uint8)[...] = wrong
                if wrong.flat[0] % 8 == 0:  # the other thread may run: it seldom begins with what is wrong,
                    time.sleep(0)
                array[...] = before
                time.sleep(0)  # and what it has checked is wrong for a moment while it works without Python's lock

    thread, usual = threading.Thread(target=scribble), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    began = time.thread_time()
    try:
        for _ in range(max(CALLS // 100, 1)):
            with contextlib.suppress(*REFUSALS):
                call(*arguments)
            if time.thread_time() - began > _LONGEST:
                break
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(usual)
    call(*right)


LARGE = np.full((300, 300), 0.3) + 0.7 * np.eye(300)


@pytest.mark.parametrize(
    ("name", "matrix"),
    [("correlation_in_order", LARGE), ("permuted", LARGE), ("placed", np.ones((300, 300), np.int8))],
)
def test_positions_may_change_while_a_large_matrix_is_read(name: str, matrix: np.ndarray) -> None:
    """Long enough without Python's lock that another thread writes: this ended the interpreter within a second."""
    order = np.arange(300)[::-1].copy()
    right, stop = order.copy(), threading.Event()
    wrong = np.random.default_rng(0).integers(-(2**62), 2**62, 300)

    def scribble() -> None:
        while not stop.is_set():
            order[...] = wrong
            order[...] = right
            time.sleep(0)

    expected, thread, usual = (
        getattr(ROWS, name)(matrix, right),
        threading.Thread(target=scribble),
        sys.getswitchinterval(),
    )
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(1000):
            with contextlib.suppress(ValueError):
                assert np.array_equal(getattr(ROWS, name)(matrix, order), expected)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(usual)


HELD = {  # objects that live on, and calls of them with the answers that they give
    "partial": (lambda: ENGINE.Kernel(correlation(), 100), "result", (0, 1, (2, 3))),
    "search": (lambda: ENGINE.Kernel(correlation(), 100), "search", (QUERY, 2, 5.0, None, CRITICAL)),
    "blocks": (lambda: ENGINE.Kernel(correlation(), 100, BLOCKS), "result", (0, 1, (2,))),
    "counts": (lambda: ENGINE.Kernel(None, 60, None, COUNTS), "search", (SHORT, 1, 5.0)),
    "weighed": (lambda: ENGINE.Kernel(None, 60, None, WEIGHED), "result", (0, 1, (2,))),
    "kinds": (lambda: kinds.made(*kinds.parts()), "value", (0, (1, 2))),
}


@pytest.mark.parametrize("name", HELD)
@given(seed=st.integers(0, 2**32))
def test_a_refused_call_leaves_the_object_usable(name: str, seed: int) -> None:
    make, method, right = HELD[name]
    held, rng = make(), random.Random(seed)
    expected = outcome(getattr(make(), method), right)
    assert outcome(getattr(held, method), right) == expected
    wrong = [wrong_values(value, rng) for value in right]
    for _ in range(20):
        try:
            getattr(held, method)(*spoiled(right, wrong, rng))
        except REFUSALS:
            assert outcome(getattr(held, method), right) == expected
    assert outcome(getattr(held, method), right) == expected


def test_wrong_values_are_wrong_in_many_ways() -> None:
    values = wrong_values(correlation(), random.Random(0))
    assert sum(isinstance(value, Fickle) for value in values) == 1
    assert sum(isinstance(value, np.ndarray) for value in values) > 20
    assert any(isinstance(value, float) and math.isnan(value) for value in SCALARS)
