"""Test-wise deletion: each test uses the rows that have its variables, stays at its level, and never calls what was not
seen together independent."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from lmarvel import Dataset, FisherZ, SepsetQuery
from lmarvel.ci.g_square import GSquare
from lmarvel.ci.missing.test_wise import TestWise
from lmarvel.ci.registry import as_ci_test

N = 600


def chain(rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Draw a --> b --> c, and d."""
    a = rng.normal(size=n)
    b = a + rng.normal(size=n)
    c = b + rng.normal(size=n)
    return np.column_stack([a, b, c, rng.normal(size=n)])


def lost(rng: np.random.Generator, values: np.ndarray, share: float = 0.35) -> np.ndarray:
    """Lose values of b and c by what they are: not at random."""
    torn = values.copy()
    for v in (1, 2):
        torn[rng.random(len(torn)) < 2 * share / (1 + np.exp(-3 * values[:, v])), v] = np.nan
    return torn


def complete(values: np.ndarray, columns: list[int]) -> np.ndarray:
    return values[~np.isnan(values[:, columns]).any(axis=1)][:, columns]


NAMES = ("a", "b", "c", "d")


def test_each_test_is_that_of_the_rows_that_have_its_variables() -> None:
    rng = np.random.default_rng(0)
    values = lost(rng, chain(rng))
    test = TestWise(Dataset.of(values, NAMES))
    for x, y in combinations(range(4), 2):
        rest = [v for v in range(4) if v not in (x, y)]
        for given in ([], [rest[0]], [rest[1]], rest):
            used = complete(values, [x, y, *given])
            same = FisherZ(used).pvalue(0, 1, range(2, 2 + len(given)))
            assert test.pvalue(x, y, given) == pytest.approx(same, rel=1e-9)
            assert test.rows_for(x, y, given) == len(used)


def test_weights_count_as_the_rows_that_tell_as_much() -> None:
    rng = np.random.default_rng(1)
    values, weights = lost(rng, chain(rng)), rng.uniform(0.2, 3, N)
    test = TestWise(Dataset.of(values, NAMES, weights=weights))
    there = ~np.isnan(values[:, 1])
    same = FisherZ(Dataset.of(values[there][:, [0, 1]], weights=weights[there]))
    assert test.pvalue(0, 1, []) == pytest.approx(same.pvalue(0, 1, []), rel=1e-6)


@pytest.mark.parametrize("name", ["fisher-z", "rank", "mixed", "curved", "g-square"])
def test_without_gaps_nothing_changes(name: str) -> None:
    rng = np.random.default_rng(2)
    values = chain(rng)
    levelled = name in ("mixed", "g-square")
    columns: dict[str, Any] = {
        n: [f"v{x > 0}" for x in v] if levelled else v for n, v in zip(NAMES, values.T, strict=True)
    }
    plain, said = (as_ci_test(name, Dataset.of(columns, missing=how)) for how in ("refuse", "test-wise"))
    assert type(plain.test) is type(said.test)
    assert plain.pvalue(0, 2, (1,)) == said.pvalue(0, 2, (1,))


@pytest.mark.parametrize("name", ["rank", "mixed", "curved"])
def test_every_test_of_a_table_can_be_wrapped(name: str) -> None:
    rng = np.random.default_rng(3)
    values = lost(rng, chain(rng))
    group = rng.integers(0, 3, N)
    columns: dict[str, Any] = dict(zip(NAMES, values.T, strict=True)) | {"g": [f"g{k}" for k in group]}
    if name == "rank":
        del columns["g"]
    data = Dataset.of(columns)
    test = as_ci_test(name, data)
    assert isinstance(test.test, TestWise)
    used = Dataset.of({n: np.asarray(v)[~np.isnan(values[:, [1, 2]]).any(axis=1)] for n, v in columns.items()})
    for given in ((), (0,), (0, 3)):
        assert test.pvalue(1, 2, given) == pytest.approx(as_ci_test(name, used).pvalue(1, 2, given), rel=1e-6)
    assert test.pvalue(1, 2, ()) < 0.01


def rejected(rng: np.random.Generator, tables: int, make: Any) -> float:
    """Return the share of tables in which a and c are called dependent given b."""
    wrong = 0
    for _ in range(tables):
        wrong += make(lost(rng, chain(rng, 400))) <= 0.05
    return wrong / tables


def test_tests_stay_at_their_level_where_values_are_lost_by_what_they_are() -> None:
    """a and d are independent; d is lost by a third, e, which a and d cause: complete rows are a selected sample."""
    rng = np.random.default_rng(4)
    test_wise = list_wise = 0
    tables = 400
    for _ in range(tables):
        a, d = rng.normal(size=(2, 400))
        e = a + d + 0.5 * rng.normal(size=400)
        gone = rng.random(400) < 1 / (1 + np.exp(-4 * e))
        values = np.column_stack([a, d, np.where(gone, np.nan, e)])
        test_wise += TestWise(Dataset.of(values)).pvalue(0, 1, []) <= 0.05
        list_wise += FisherZ(values[~gone]).pvalue(0, 1, []) <= 0.05
    assert 0.025 <= test_wise / tables <= 0.08
    assert list_wise / tables > 0.9


def test_a_test_given_what_decides_the_loss_stays_at_its_level() -> None:
    size = rejected(np.random.default_rng(5), 400, lambda rows: TestWise(Dataset.of(rows, NAMES)).pvalue(0, 2, [1]))
    assert 0.02 <= size <= 0.085


def test_what_was_never_seen_together_is_not_called_independent() -> None:
    rng = np.random.default_rng(6)
    values = chain(rng)
    values[::2, 0], values[1::2, 2] = np.nan, np.nan
    data = Dataset.of(values, NAMES)
    test = as_ci_test("fisher-z", data)
    assert test.pvalue(0, 2, ()) == 0.0
    assert test.rows_for is not None
    assert test.rows_for(0, 2, ()) is None
    found = test.find_sepset(SepsetQuery(0, 2, pool=(1, 3)))
    assert (found.sepset, found.complete, sum(found.tests_by_size)) == (None, False, 0)
    assert data.gaps().apart == (("a", "c"),)


def test_levels_never_seen_together_are_left_open_by_g_square() -> None:
    rng = np.random.default_rng(7)
    columns = {n: [f"v{k}" for k in rng.integers(0, 2, N)] for n in "abc"}
    columns["a"] = [None if i % 2 else v for i, v in enumerate(columns["a"])]
    columns["b"] = [v if i % 2 else None for i, v in enumerate(columns["b"])]
    test = as_ci_test("g-square", Dataset.of(columns))
    assert isinstance(test.test, GSquare)
    assert test.rows_for is not None
    assert (test.rows_for(0, 1, ()), test.rows_for(0, 2, ()), test.apart) == (None, N // 2, 1)
    assert not test.find_sepset(SepsetQuery(0, 1, pool=(2,))).complete


def test_parts_are_remembered_within_a_bound_and_answers_do_not_depend_on_it() -> None:
    rng = np.random.default_rng(8)
    values = np.where(rng.random((N, 6)) < 0.1, np.nan, rng.normal(size=(N, 6)) + rng.normal(size=(N, 1)))
    data = Dataset.of(values)
    much, little = TestWise(data), TestWise(data, memory=1000)
    for x, y, z in combinations(range(6), 3):
        assert much.pvalue(x, y, [z]) == little.pvalue(x, y, [z])
    assert len(little._parts) < len(much._parts) == 20


def test_no_order_of_columns_matters() -> None:
    rng = np.random.default_rng(9)
    values = lost(rng, chain(rng))
    test = TestWise(Dataset.of(values, NAMES))
    turned = TestWise(Dataset.of(values[:, ::-1], NAMES[::-1]))
    assert [test.names[v] for v in test.canonical_order()] == [turned.names[v] for v in turned.canonical_order()]
    moved = test.reordered([3, 1, 0, 2])
    assert moved.names == ("d", "b", "a", "c")
    assert moved.pvalue(1, 3, [2]) == test.pvalue(1, 2, [0])
    assert moved.moments is None


@pytest.mark.parametrize("name", ["fisher-z", "rank", "mixed", "curved", "g-square"])
def test_repeated_rows_of_clusters_tell_no_more_than_the_rows_once(name: str) -> None:
    """Clusters and gaps meet: each test counts the independent rows among those that have its variables."""
    rng = np.random.default_rng(11)
    a, d = rng.normal(size=(2, 240))
    values = np.column_stack([a, a + rng.normal(size=240), d, a + d + rng.normal(size=240)])
    if name == "g-square":
        values = (values > 0).astype(float)
    elif name == "mixed":
        values[:, 3] = np.digitize(values[:, 3], [-1, 1])
    values[rng.random((240, 4)) < [0.0, 0.3, 0.2, 0.0]] = np.nan
    which = np.repeat(np.arange(240), 4)
    said = {"categorical": ["X3"]} if name == "mixed" else {}
    once = as_ci_test(name, Dataset.of(values, **said))
    again = as_ci_test(name, Dataset.of(values[which], cluster=which, **said))
    assert (once.rows, again.rows) == (240, 240)
    exact = name not in ("mixed", "curved")  # the knots of splines are quantiles, which move where rows are repeated
    for given in ((), (0,), (0, 3)):
        expected = pytest.approx(once.pvalue(1, 2, given), rel=1e-6 if exact else 0.03)
        assert again.pvalue(1, 2, given) == expected
