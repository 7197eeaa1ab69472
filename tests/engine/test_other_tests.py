"""Blocks and counts by the engine, by the compiled search, and by the readable code: the same results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import FCI, RFCI, LMarvel, SepsetQuery
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.g_square import GSquare
from lmarvel.ci.table_test import TableTest, _tests
from lmarvel.ci.test import Tried
from lmarvel.engine import load
from tests.ci.tables_made import KINDS, twins

pytestmark = pytest.mark.skipif(_tests is None, reason="the engine is not built: there is nothing to compare")


class Blocks(BlockGaussian):
    """The block Gaussian test that the engine leaves alone."""


class Counts(GSquare):
    """G-square that the engine leaves alone."""


def left_alone(test: TableTest) -> TableTest:
    if isinstance(test, BlockGaussian):
        return Blocks(test.dataset, test.blocks, test.compiled)
    assert isinstance(test, GSquare)
    return Counts(test.dataset, test.compiled)


def near(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-12)
    return one == other


# --- one test ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [40, 300, 2000])
def test_a_compiled_test_is_the_readable_one(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, len(kind)])
    quick, slow = twins(rng, kind, n if kind in ("plain", "rank") else max(n, 300), 7)
    afforded = 0
    for _ in range(60):
        x, y, *rest = rng.permutation(7).tolist()
        zs = rest[: rng.integers(0, 6)]
        one, other = quick.result(x, y, zs), slow.result(x, y, zs)
        assert quick.affords(x, y, zs) == slow.affords(x, y, zs) == (one is not None)
        if one is None or other is None:
            assert one is other is None
            assert quick.pvalue(x, y, zs) == 0.0
            continue
        afforded += 1
        assert one.pvalue == quick.result(y, x, zs)[0]  # type: ignore[index]
        if other.df == 0:
            assert one.pvalue == other.pvalue == 0.0
        else:
            assert one.df == other.df
            assert near(one.pvalue, other.pvalue)
            assert near(one.statistic, other.statistic)
    assert afforded > 5


# --- one search -------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_compiled_search_is_the_readable_one(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    quick, slow = twins(rng, data.draw(st.sampled_from(KINDS)), data.draw(st.sampled_from([250, 900])), 7)
    x, y, *rest = rng.permutation(7).tolist()
    cut = data.draw(st.integers(0, 2))
    always, pool = tuple(sorted(rest[:cut])), tuple(sorted(rest[cut:]))
    tried = (
        (Tried((), pool[:3], 0, 1, None, data.draw(st.sampled_from([1e-9, 0.9]))),) if data.draw(st.booleans()) else ()
    )
    query = SepsetQuery(
        x,
        y,
        pool,
        always,
        data.draw(st.sampled_from([None, 1, 3])),
        data.draw(st.sampled_from([1e-12, 0.01, 0.5])),
        tried,
        data.draw(st.sampled_from([None, None, 5])),
        min_size=data.draw(st.integers(0, 1)),
    )
    one, other = quick.find_sepset(query), slow.find_sepset(query)
    assert all(near(a, b) for a, b in zip(one, other, strict=True)), (one, other)


def test_a_search_that_lacks_rows_is_not_complete_and_calls_nothing_independent() -> None:
    quick, slow = twins(np.random.default_rng(3), "counts", 60, 7)
    for test in (quick, slow):
        answer = test.find_sepset(SepsetQuery(0, 1, (2, 3, 4, 5, 6), alpha=0.999999))
        assert answer.sepset is None
        assert not answer.complete
        assert answer.stopped is None
        assert sum(answer.tests_by_size[3:]) == 0


# --- a whole run ------------------------------------------------------------------------------------------


def assert_same(quick: Any, slow: Any) -> None:
    assert quick.pag == slow.pag
    assert quick.undecided == slow.undecided
    assert quick.budget_ended == slow.budget_ended
    assert quick.stats.tests == slow.stats.tests
    assert quick.boundaries == slow.boundaries
    assert quick.sepsets == slow.sepsets
    assert len(quick.trace) == len(slow.trace)
    for one, other in zip(quick.trace, slow.trace, strict=True):
        assert type(one) is type(other)
        assert all(near(a, b) for a, b in zip(astuple(one), astuple(other), strict=True)), (one, other)


SETTINGS: Sequence[dict[str, Any]] = (
    {},
    {"alpha": 0.2, "boundary": "iamb"},
    {"max_conditioning": 1},
    {"max_tests": 40},
    {"faithful": True, "boundary_alpha": 0.05},
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_the_engine_learns_what_the_readable_code_learns(kind: str, params: dict[str, Any]) -> None:
    for seed in range(2):
        test, _ = twins(np.random.default_rng([seed, 7]), kind, 700, 8)
        assert test.for_engine() is not None  # type: ignore[attr-defined]
        assert left_alone(test).for_engine() is None  # type: ignore[attr-defined]
        quick = LMarvel(test=test, **params).fit().result_
        slow = LMarvel(test=left_alone(test), **params).fit().result_
        assert_same(quick, slow)


@pytest.mark.parametrize("kind", ["counts", "gaps", "weights"])
@pytest.mark.parametrize("method", [FCI, RFCI])
def test_a_pair_whose_larger_sets_lack_rows_is_undecided_in_both(method: type[FCI | RFCI], kind: str) -> None:
    undecided = 0
    for seed in range(3):
        test, _ = twins(np.random.default_rng([seed, 5]), kind, 300, 8)
        quick = method(test=test, alpha=0.2, max_tests=2000).fit().result_
        assert_same(quick, method(test=left_alone(test), alpha=0.2, max_tests=2000).fit().result_)
        undecided += len(quick.undecided)
    assert undecided > 0


@pytest.mark.parametrize("kind", ["plain", "counts"])
def test_a_readable_method_finds_the_same_with_either_search(kind: str) -> None:
    quick, slow = twins(np.random.default_rng(11), kind, 600, 7)
    assert_same(FCI(test=quick).fit().result_, FCI(test=slow).fit().result_)


# --- what is handed to the engine -------------------------------------------------------------------------


def kernel(**changed: Any) -> Any:
    known: dict[str, Any] = {
        "codes": np.zeros((2, 20), np.uint16),
        "levels": np.full(2, 2, np.int32),
        "weights": None,
        "gaps": np.zeros(2, np.uint8),
        "rows": 20.0,
        "rows_a_cell": 5.0,
    }
    return load().Kernel(None, 20, None, tuple((known | changed).values()))


def test_what_the_engine_cannot_count_is_refused() -> None:
    assert kernel().result(0, 1, ()) is not None
    for changed in (
        {"codes": np.full((2, 20), 2, np.uint16)},
        {"codes": np.full((2, 20), 65535, np.uint16)},
        {"codes": np.zeros((2, 19), np.uint16)},
        {"levels": np.full(2, 0, np.int32)},
        {"levels": np.full(3, 2, np.int32)},
        {"weights": np.ones(3)},
        {"gaps": np.zeros(1, np.uint8)},
        {"rows": math.nan},
        {"rows_a_cell": 0.0},
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            kernel(**changed)
    for asked in ((0, 2, ()), (0, 1, (-1,)), (5, 1, ())):
        with pytest.raises(IndexError):
            kernel().result(*asked)


def test_blocks_that_do_not_fit_are_refused() -> None:
    make = load().Kernel
    R = np.eye(3)
    assert make(R, 50, np.array([0, 1, 3], np.int32)).result(0, 1, ())[0] == 1.0
    for wrong in ([0, 1, 4], [0, 1], [1, 1, 3], [0, 0, 3], [0, 4, 3], [3], []):
        with pytest.raises(ValueError):  # noqa: PT011
            make(R, 50, np.array(wrong, np.int32))
