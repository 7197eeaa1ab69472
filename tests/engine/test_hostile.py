"""Whatever is passed to a compiled function, the interpreter lives: an answer or an exception, never a crash.

Each entry is called as it should be, and then with one argument (or one part of it) replaced by something hostile.
"""

from __future__ import annotations

import functools
import itertools
import math
import pickle
import random
import re
import shutil
import subprocess
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import CITestError
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.blocks import blocks_of
from lmarvel.ci.test import SepsetQuery, Tried
from lmarvel.data.dataset import Dataset
from lmarvel.data.rows import COMPILED as ROWS
from lmarvel.data.rows import placed
from lmarvel.engine import load
from lmarvel.engine.run import Task, is_built
from lmarvel.search.constants import LIFT

pytestmark = pytest.mark.skipif(not is_built() or ROWS is None, reason="not everything was built")

ENGINE = load()
HUGE = 10**8
ENGINE_SOURCES = Path(__file__).resolve().parents[2] / "src" / "lmarvel" / "engine"  # which are not installed
P = 4


class Fickle:
    """A position that is another one each time it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __index__(self) -> int:
        self.asked += 1
        return 0 if self.asked == 1 else HUGE

    def __hash__(self) -> int:
        return 0


SCALARS: list[Any] = [None, -1, 0, 1, 2, 3, P, HUGE, -HUGE, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), 2**200]
SCALARS += [math.nan, math.inf, -math.inf, 1e308, "x", b"", (), [], [HUGE], (-1,), (HUGE,), (2**40,), {}, object()]


REFUSALS = (ValueError, TypeError, IndexError, OverflowError, AttributeError, KeyError, MemoryError)
REFUSALS += (BufferError, RuntimeError)  # bytes are no place to write to; a matrix of zeros has no fit


def arrays_like(array: np.ndarray) -> Iterator[Any]:
    """Iterate over arrays that are like this one, but wrong."""
    frozen = array.copy()
    frozen.flags.writeable = False
    yield from (frozen, np.asfortranarray(array), np.repeat(array, 2, axis=-1)[..., ::2], array[:0], array[:-1])
    yield from (array[..., :0], array[..., :-1], array.ravel(), array[None], np.zeros((0, 0)), np.array(1.0))
    yield from (np.full_like(array, first) for first in (*array.flat[:1], *array.flat[-1:]))
    yield np.repeat(array, 50, axis=0)
    yield from (array.astype(kind) for kind in (np.float32, np.int8, np.int32, np.int64, np.uint16, object, complex))
    numbers = (-1, 1, HUGE, -HUGE, 2**31 - 1) if array.dtype.kind in "iu" else (-1, 0, 1e308, math.nan, math.inf)
    for number in numbers:
        info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        if info is None or info.min <= number <= info.max:
            yield np.full_like(array, number)
            some = array.copy()
            some.ravel()[-1:] = number
            yield some


def hostile(value: Any) -> Iterator[Any]:
    """Iterate over what may stand in place of a value."""
    yield from SCALARS
    yield Fickle()
    if isinstance(value, np.ndarray):
        yield from arrays_like(value)
    elif isinstance(value, SepsetQuery):
        for field in value._fields:
            yield from (value._replace(**{field: other}) for other in hostile(getattr(value, field)))
    elif isinstance(value, tuple | list):
        if type(value) in (tuple, list):
            yield from (value[:-1], value + value, value * 50, value[:1] * len(value), value[-1:] * 500)
        else:
            yield ()
        for i, part in enumerate(value):
            for other in hostile(part):
                changed = [*value[:i], other, *value[i + 1 :]]
                yield type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)


def refusals(call: Callable[..., Any], right: Sequence[Any]) -> int:
    """Call with what is right, then with each argument replaced in turn; return how often that was refused."""
    call(*right)
    refused = 0
    for at, value in enumerate(right):
        for other in hostile(value):
            try:
                call(*right[:at], other, *right[at + 1 :])
            except REFUSALS:
                refused += 1
    return refused


def correlation() -> np.ndarray:
    return np.full((P, P), 0.3) + 0.7 * np.eye(P)


def sets(*members: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, members)]).astype(np.int64)
    return starts, np.array(list(itertools.chain(*members)), dtype=np.int32)


CRITICAL = np.full(P + 1, 0.01)
CHAIN = sets((1,), (0, 2), (1, 3), (2,))
PLAIN = (100, "lmarvel", 0.01, 0.01, 0.8, False, False, False, "pruned", "standard", True, CRITICAL, CRITICAL)
BUDGET = (3, None, 0, 5.0, 0.1)
FCI = (100, "fci", *PLAIN[2:])
BLOCKS = np.array([0, 1, 2, 4], dtype=np.int32)
CODES = np.array([[0, 1, 0, 1, 2, 0] * 10, [0, 1, 1, 0, 0, 1] * 10, [1, 0] * 30], dtype=np.uint16)
COUNTS = (CODES, np.array([3, 2, 2], np.int32), None, np.zeros(3, np.uint8), 60.0, 1.0)
WEIGHED = (CODES, np.array([3, 2, 2], np.int32), np.ones(60), np.zeros(3, np.uint8), 60.0, 1.0)
STATED = np.array([[0, 8, 5, 16], [8, 0, 0, 0], [2, 2, 0, 0], [16, 0, 2, 0]], np.uint8)
QUERY = SepsetQuery(0, 1, (2, 3), always=(), tried=(Tried((2,), (3,), 0, 1, (3,), 0.5),))
SHORT = SepsetQuery(0, 1, (2,), tried=(Tried((), (2,), 0, 0, None, 0.5),))
LIFTED = (np.full((P, P), 0.3) + 0.7 * np.eye(P), 100.0, 4.0, 1e-6, tuple(asdict(LIFT).values()), True, True, 0.2)
EDGES = np.array([P, 8 * (0 * P + 1) + 1, 8 * (1 * P + 2) + 1], np.uint32)
MARKS = np.array([[0, 2, 0, 0], [3, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 0]], np.int8)


def run(*arguments: Any) -> Any:
    *plain, boundaries = arguments
    task = Task(*plain)
    found = ENGINE.run(task, **boundaries) if isinstance(boundaries, dict) else ENGINE.run(task, sets=boundaries)
    return [found[-1].array(name) for name in ("sets", "events", "found", "rules", "uses", "undecided")]


def lift(
    R: Any, n: Any, price: Any, noise: Any, constants: Any, selection: Any, latents: Any, seconds: Any, *parts: Any
) -> Any:
    """Call Lift with its constants as a tuple, and perhaps a start, orders, what is known as two tuples, and memory."""
    told: dict[str, Any] = {}
    if parts:
        start, more, matrices, flags, memory = parts
        names = ("required", "forbidden", "never", "causes", "effects", "unconfounded")
        limits = dict(zip(names, matrices, strict=True)) | dict(
            zip(("selection", "latents", "local"), flags, strict=True)
        )
        told = {"start": start, "more": more, "limits": limits, "memory": memory}
    named = dict(zip(asdict(LIFT), constants, strict=True))
    return ENGINE.lift(R, n, price, noise, named, selection, latents, seconds=seconds, **told)


def weigh(*arguments: Any) -> Any:
    *graph, threads = arguments
    return ENGINE.weigh(*graph, near=50.0, all_gaps=True, seconds=0.2, threads=threads)


def models() -> tuple[Any, ...]:
    """Return the basis columns of a number with a bend, of three categories, and of a count, with weights."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    g = np.r_[0, 1, 2, rng.integers(0, 3, 37)]
    none = np.zeros(40)
    basis = np.array([x, x**2, (g == 1) * 1.0, (g == 2) * 1.0, np.abs(np.round(4 * y))])
    starts, categories = np.array([0, 2, 4, 5], np.int32), np.array([0, 3, 0], np.int32)
    codes = np.array([none, g, none], np.uint16)
    return basis, starts, categories, codes, rng.uniform(0.5, 2, 40), np.array([0.0, 0.0, 1.0])


def made(kind: Callable[..., Any], method: str, size: int) -> Callable[..., Any]:
    """Return a call of a method of an object, which is made of the first arguments."""
    return lambda *arguments: getattr(kind(*arguments[:size]), method)(*arguments[size:])


def entries() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    R = correlation()
    order = np.arange(P)[::-1].copy()
    rows, vector = np.arange(40.0).reshape(10, P), np.arange(1.0, P + 1)
    known = np.eye(P, k=1, dtype=bool)
    return {
        "run on sets": (run, (R, *PLAIN, *BUDGET, None, None, CHAIN)),
        "fci on sets": (run, (R, *FCI, *BUDGET, None, None, CHAIN)),
        "run on blocks": (run, (R, *FCI, *BUDGET, BLOCKS, None, sets((1,), (0, 2), (1,)))),
        "run on counts": (run, (None, 60, "mbcs", *PLAIN[2:], *BUDGET, None, COUNTS, sets((1,), (0, 2), (1,)))),
        "precision": (
            lambda k, limit, keep: run(R, *PLAIN, *BUDGET, {"precision": k, "limit": limit, "keep_precision": keep}),
            (np.linalg.inv(R), 0.01, True),
        ),
        "rest": (lambda rest: run(R, *PLAIN, *BUDGET, {"sets": CHAIN, "rest": rest}), (R,)),
        "truncated": (
            lambda cut: run(R, *PLAIN, *BUDGET, {"sets": CHAIN, "truncated": cut}),
            ((np.array([1], np.int32), *sets((0,)), *sets((0, 2))),),
        ),
        "asked": (
            lambda asked: run(R, *PLAIN, *BUDGET, {"sets": CHAIN, "asked": asked}),
            ((np.array([0, 1], np.int32), np.array([-1, 2], np.int32), *sets((), (3,))),),
        ),
        "stated": (
            lambda said: run(R, *FCI, *BUDGET, None, None, said, {"complete": True}),
            ((STATED, False, False, True),),
        ),
        "orient as stated": (
            ENGINE.orient,
            (np.array([[0, 2], [3, 0]], np.int8), True, (STATED[:2, :2].copy(), True, True, True)),
        ),
        "orient": (ENGINE.orient, (np.array([[0, 2], [3, 0]], np.int8), True)),
        "uses of rules": (ENGINE.uses_of_rules, (np.array([[0, 2], [3, 0]], np.int8), True)),
        "judge mag": (ENGINE.judge_mag, (MARKS,)),
        "judge pag": (ENGINE.judge_pag, (MARKS,)),
        "separate": (ENGINE.separating_sets, (MARKS, np.array([0, 0], np.int32), np.array([2, 3], np.int32))),
        "boundaries": (ENGINE.boundaries, (R, 100, 2.5, "iamb", 3, None, 0, 5.0, False)),
        "inter-iamb": (ENGINE.boundaries, (R, 100, 2.5, "inter-iamb", 3, 1000, 0, 5.0, True)),
        "tail": (ENGINE.tail, (3.0, 2)),
        "blocks": (made(ENGINE.Kernel, "result", 3), (R, 100, BLOCKS, 0, 1, (2,))),
        "counts": (made(ENGINE.Kernel, "result", 4), (None, 60, None, WEIGHED, 0, 1, (2,))),
        "given rest": (made(ENGINE.Kernel, "given_rest", 3), (R, 100, BLOCKS, np.linalg.inv(R))),
        "search blocks": (made(ENGINE.Kernel, "search", 3), (R, 100, BLOCKS, SHORT, 1, 5.0)),
        "search counts": (made(ENGINE.Kernel, "search", 4), (None, 60, None, COUNTS, SHORT, 1, 5.0)),
        "partial": (made(ENGINE.Kernel, "result", 2), (R, 100, 0, 1, (2, 3))),
        "search": (made(ENGINE.Kernel, "search", 2), (R, 100, QUERY, 2, 5.0, None, CRITICAL)),
        "lift": (lift, (R, 100.0, 4.0, 1e-6, tuple(asdict(LIFT).values()), True, True, 0.2)),
        "lift from": (
            lambda *parts: lift(*LIFTED, *parts),
            (MARKS, ([0, 1, 2, 3],), (known,) * 6, (True, True, False), 10_000),
        ),
        "weigh": (
            weigh,
            (
                R,
                100.0,
                4.0,
                1e-6,
                210.0,
                MARKS,
                (MARKS > 0).astype(np.int8),
                ((211.0, EDGES), (214.0, EDGES[:2].copy())),
                True,
                True,
                2,
            ),
        ),
        "models": (made(ENGINE.Kernel, "result", 5), (None, 40, None, None, models(), 0, 1, (2,))),
        "by target": (made(ENGINE.Kernel, "by_target", 5), (None, 40, None, None, models(), 2, 0, (1,))),
        "search models": (made(ENGINE.Kernel, "search", 5), (None, 40, None, None, models(), SHORT, 1, 5.0)),
        "run on models": (
            lambda table: run(None, 40, "fci", *PLAIN[2:], *BUDGET, None, None, None, table, sets((1,), (0, 2), (1,))),
            (models(),),
        ),
        "fit": (made(ENGINE.GlmFits, "fit", 6), (*models()[:5], 10_000, 1, (4, 0), True)),
        "tail by chance": (ENGINE.tail_by_chance, (3.0, 2.0, 4.0, 16.0)),
        "means": (ROWS.means, (rows, vector)),
        "less": (ROWS.less, (rows, vector, vector, np.empty((10, P)))),
        "within": (ROWS.within, (vector, 0.0, 9.0)),
        "merge": (ROWS.merge, (R.copy(), R.copy(), vector, vector)),  # which writes, as the next one does
        "mirror": (ROWS.mirror, (R.copy(), 2.0)),
        "lower inverse": (ROWS.lower_inverse, (np.tril(R),)),
        "correlation": (ROWS.correlation, (R,)),
        "in order": (ROWS.correlation_in_order, (R, order)),
        "strengths": (ROWS.strengths, (R,)),
        "permuted": (ROWS.permuted, (R, order)),
        "placed": (ROWS.placed, (np.ones((P, P), np.int8), order)),
        "ascending": (ROWS.ascending, (vector, 1e-8)),
    }


ENTRIES = entries() if is_built() and ROWS is not None else {}


@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:invalid value", "ignore:NumPy will stop allowing")
@pytest.mark.parametrize("name", ENTRIES)
def test_no_argument_ends_the_interpreter(name: str) -> None:
    assert refusals(*ENTRIES[name]) > 10


@pytest.mark.parametrize("kind", ["Kernel", "Columns"])
def test_what_was_not_made_cannot_be_asked(kind: str) -> None:
    with pytest.raises(TypeError):
        getattr(ENGINE, kind).__new__(getattr(ENGINE, kind))


# --- repeats, and what overlaps ---------------------------------------------------------------------------


KERNELS = {
    "fisher-z": lambda: ENGINE.Kernel(correlation(), 100),
    "blocks": lambda: ENGINE.Kernel(correlation(), 100, BLOCKS),
    "counts": lambda: ENGINE.Kernel(None, 60, None, COUNTS),
}
NODES = st.lists(st.integers(0, 2), max_size=40).map(tuple)


@pytest.mark.parametrize("kind", KERNELS)
@given(x=st.integers(0, 2), y=st.integers(0, 2), pool=NODES, always=NODES, top=st.integers(-1, 40))
def test_a_question_that_names_a_variable_twice_is_refused(
    kind: str, x: int, y: int, pool: tuple[int, ...], always: tuple[int, ...], top: int
) -> None:
    """Such a set had more members than there are columns, and was written behind the end of what is kept of it."""
    kernel, named = KERNELS[kind](), (x, y, *always, *pool)
    distinct = len(set(named)) == len(named)
    ask = functools.partial(kernel.result, x, y, (*always, *pool))
    search = functools.partial(
        kernel.search, SepsetQuery(x, y, pool, always), min(top, len(pool)), 5.0, None, np.full(100, 0.01)
    )
    for call in (ask, search):
        if distinct:
            call()
        else:
            with pytest.raises(ValueError, match="named once"):
                call()


@pytest.mark.parametrize("compiled", [True, False])
def test_the_block_test_refuses_repeats_by_name(compiled: bool) -> None:
    rng = np.random.default_rng(0)
    numbers = {name: rng.normal(size=60) for name in "abc"}
    data = Dataset.of({**numbers, "group": [f"g{i}" for i in rng.integers(0, 3, 60)]})
    test = BlockGaussian(data, blocks_of(data), compiled)
    for given_twice in ((2, 2), (2, 2, 2), (3, 2) * 500):
        with pytest.raises(CITestError, match="twice"):
            test.pvalue(0, 1, given_twice)
        with pytest.raises(CITestError, match="twice"):
            test.find_sepset(SepsetQuery(0, 1, given_twice))


def test_what_was_checked_stays_as_it_was() -> None:
    """A kernel lives on: who changes the arrays that it was made of does not change it."""
    starts, codes = BLOCKS.copy(), CODES.copy()
    blocks = ENGINE.Kernel(correlation(), 100, starts)
    counts = ENGINE.Kernel(None, 60, None, (codes, *COUNTS[1:]))
    before = blocks.result(0, 1, (2,)), counts.result(0, 1, (2,))
    starts[:] = HUGE
    codes[:] = 60_000
    assert (blocks.result(0, 1, (2,)), counts.result(0, 1, (2,))) == before


class Owner:
    """An object that gives its own array, even if a copy is asked for."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array


def shown(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array that can be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("passed", [shown, Owner])
def test_what_only_looks_unchangeable_is_copied(passed: Callable[[np.ndarray], Any]) -> None:
    starts, codes, table = BLOCKS.copy(), CODES.copy(), models()
    kernels = [
        ENGINE.Kernel(correlation(), 100, passed(starts)),
        ENGINE.Kernel(None, 60, None, (passed(codes), *WEIGHED[1:])),
        ENGINE.Kernel(None, 40, None, None, tuple(map(passed, table))),
    ]
    before = [kernel.result(0, 1, (2,)) for kernel in kernels]
    starts[:] = HUGE
    codes[:] = 60_000
    for array in table:
        array[:] = 60_000
    assert [kernel.result(0, 1, (2,)) for kernel in kernels] == before


def test_memory_that_nobody_can_write_to_is_not_copied() -> None:
    """A table may be large: what is frozen, as the tests make it, is read where it stands."""
    codes = np.zeros((2, 5_000_000), np.uint16)
    codes[:, ::2] = 1
    codes.flags.writeable = False
    tracemalloc.start()
    try:
        kept = [
            ENGINE.Kernel(
                None, 5_000_000, None, (given_, np.array([2, 2], np.int32), None, np.zeros(2, np.uint8), 5e6, 1.0)
            )
            for given_ in (codes, codes[:])
        ]
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(kept) == 2
    assert held < codes.nbytes / 10


class Contrary(int):
    """A number that compares as its opposite."""

    def __lt__(self, other: int) -> bool:
        return int(self) > int(other)


def test_numbers_that_lie_about_their_order_are_refused() -> None:
    fits = ENGINE.GlmFits(*models()[:5], 10_000)
    expected = fits.fit(1, (0, 4))
    assert fits.fit(1, (Contrary(0), Contrary(4)))[0] == expected[0]
    with pytest.raises(ValueError, match="twice"):
        fits.fit(1, (Contrary(0), Contrary(4), Contrary(0)))


class Shifting:
    """A number that is right when it is looked at first, and not a number later."""

    def __init__(self, number: float) -> None:
        self.looks = itertools.chain((number,), itertools.repeat(math.nan))

    def __float__(self) -> float:
        return next(self.looks)

    def __ge__(self, other: object) -> bool:
        return True


def test_a_number_is_looked_at_once() -> None:
    *numbers, met, selection, latents, threads = ENTRIES["weigh"][1]
    before = weigh(*numbers, met, selection, latents, threads)
    again = weigh(*numbers, tuple((Shifting(score), edges) for score, edges in met), selection, latents, threads)
    assert pickle.dumps(again) == pickle.dumps(before)
    constants = asdict(LIFT) | {"near": Shifting(LIFT.near), "tie": Shifting(LIFT.tie)}
    found = ENGINE.lift(*LIFTED[:4], constants, True, True)
    assert pickle.dumps(found) == pickle.dumps(ENGINE.lift(*LIFTED[:4], asdict(LIFT), True, True))


@pytest.mark.parametrize(
    ("field", "value"), [("blocks", BLOCKS), ("stated", (STATED[:3, :3].copy(), False, False, True))]
)
def test_a_task_is_looked_at_once(field: str, value: Any) -> None:
    """What is there at the first look, and not at the second, left the engine without a table."""
    plain = Task(correlation(), *FCI, *BUDGET, BLOCKS, None)

    class Once:
        looks = 0

        def __getattr__(self, name: str) -> Any:
            if name != field:
                return getattr(plain, name)
            self.looks += 1
            return value if self.looks == 1 else None

    for boundaries in ({"sets": sets((1,), (0, 2), (1,))}, {"complete": True}):
        expected = ENGINE.run(plain._replace(**{field: value}), **boundaries)
        assert np.array_equal(ENGINE.run(Once(), **boundaries)[0], expected[0])


def test_fits_that_are_in_use_are_refused() -> None:
    """Two threads that asked one object for fits ended the interpreter."""
    rng = np.random.default_rng(0)
    p, n = 20, 2_000
    table = (
        rng.normal(size=(p, n)),
        np.arange(p + 1, dtype=np.int32),
        np.zeros(p, np.int32),
        np.zeros((p, n), np.uint16),
    )
    fits = ENGINE.GlmFits(*table, None, 100_000)
    refused = []

    def ask(seed: int) -> None:
        own = random.Random(seed)
        for _ in range(200):
            v, *columns = own.sample(range(p), 8)
            try:
                fits.fit(v, columns, True)
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(refused) <= {"these fits are in use: one thread may ask at a time"}
    alone = ENGINE.GlmFits(*table, None, 100_000).fit(0, range(1, 8))
    assert fits.fit(0, range(1, 8))[0] == pytest.approx(alone[0])


def test_nothing_is_written_over_what_is_read() -> None:
    rows, vector, R = np.arange(40.0).reshape(10, P), np.arange(1.0, P + 1), correlation()
    for out, origin in ((rows, vector), (np.empty((10, P)), None)):
        with pytest.raises(ValueError, match="overlap"):
            ROWS.less(rows, out[3] if origin is None else origin, vector, out)
    for product, scaled in ((R, vector), (R.copy(), R[1])):
        with pytest.raises(ValueError, match="overlap"):
            ROWS.merge(R, product, scaled, vector)


def test_a_place_is_taken_once() -> None:
    marks = np.ones((P, P), np.int8)
    for place in (np.zeros(P, np.intp), np.array([0, 1, 2, 2])):
        with pytest.raises(ValueError, match="twice"):
            ROWS.placed(marks, place)
        with pytest.raises(ValueError, match="twice"):
            placed(np.asfortranarray(marks)[:, ::-1], place)


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [0, 0, 0, 0], [1, 2, 1, 3]])
def test_an_order_with_repeats_gives_what_numpy_gives(order: list[int]) -> None:
    rng, at = np.random.default_rng(0), np.array(order)
    covariance = np.cov(rng.normal(size=(P, 50)) * np.array([[1e-3], [1.0], [7.0], [1e4]]))
    assert np.array_equal(ROWS.permuted(covariance, at), covariance[np.ix_(at, at)])
    expected = ROWS.correlation(covariance)[np.ix_(at, at)]
    assert np.array_equal(ROWS.correlation_in_order(covariance, at), expected)


# --- what goes wrong inside -------------------------------------------------------------------------------


def test_a_failure_inside_is_named() -> None:
    """A correlation matrix that is none has no fit: that is said, and not that something unknown happened."""
    with pytest.raises(ValueError, match="singular"):
        lift(np.zeros((P, P)), 100.0, 4.0, 1e-6, tuple(asdict(LIFT).values()), True, True, 0.2)


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no compiler")
def test_what_ends_a_call_is_told_by_its_own_name(tmp_path: Path) -> None:
    source = tmp_path / "endings.cpp"
    source.write_text("""
        #include <cstdio>
        #include <stdexcept>
        #include "base/status.hpp"
        template <class Work> void show(Work work) {
            const lmarvel::Ending ending = lmarvel::ending_of(work);
            std::printf("%d %s|", ending.status, ending.what);
        }
        int main() {
            show([] {});
            show([] { throw lmarvel::Interrupted{}; });
            show([] { throw std::bad_alloc{}; });
            show([] { throw std::length_error("too long"); });
            show([] { throw lmarvel::BudgetSpent{lmarvel::Reason::TESTS}; });
            show([] { throw std::runtime_error(std::string(1000, 'x')); });
            show([] { throw std::invalid_argument("no such thing"); });
        }
    """)
    header = next(ENGINE_SOURCES.rglob("status.hpp"))
    program = tmp_path / "endings"
    command = ["c++", "-std=c++17", f"-I{header.parents[1]}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("|")
    assert told[:5] == ["0 ", "1 ", "2 ", "3 too long", "3 a budget ran out"]
    assert told[5:7] == ["3 " + "x" * 199, "4 no such thing"]


def test_the_sources_have_no_unguarded_extensions() -> None:
    """Microsoft's compiler has to understand them, too; what only some know stands in few files, behind `#if`."""
    allowed = {"wide.hpp", "words.hpp", "gsquare_bits.cpp"}
    extension = re.compile(
        r"__restrict|__attribute__|__builtin_|__int128|\bM_PI\b|\btypeof\b|\balloca\b|catch \(\.\.\.\) \{"
    )
    found = {
        path.name
        for path in ENGINE_SOURCES.rglob("*.[ch]pp")
        if extension.search(re.sub(r"//.*", "", path.read_text()))
    }
    assert found == allowed
