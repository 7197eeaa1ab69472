"""What is compiled gives the bits that NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel.data import rows as rows_module
from lmarvel.data.rows import (
    add_scatter,
    ascending,
    correlation_of,
    less,
    lower_inverse,
    means,
    merge,
    mirror,
    permuted,
    placed,
    scatter_of,
    strengths,
    within,
)

pytestmark = pytest.mark.skipif(rows_module.COMPILED is None, reason="the package was built without a compiler")


def readable(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run the NumPy of a function."""
    kept, rows_module.COMPILED = rows_module.COMPILED, None
    try:
        return work(*arguments)
    finally:
        rows_module.COMPILED = kept


def centred(rows: Any, origin: Any) -> tuple[Any, Any]:
    """Return rows less their means, and these."""
    mean = means(rows, origin)
    return less(rows, origin, mean, np.empty(rows.shape)), mean


def same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(2, 9), st.sampled_from("CFS"), st.integers(-9, 9))
def test_rows_are_centred_to_the_last_bit(seed: int, n: int, p: int, layout: str, size: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(loc=10.0**size, size=(n, p)) * 10.0 ** rng.integers(-3, 4, size=p)
    table = {"C": table, "F": np.asfortranarray(table), "S": np.repeat(table, 2, axis=1)[:, ::2]}[layout]
    table.flags.writeable = False
    origin = table[0].copy()
    for one, other in zip(centred(table, origin), readable(centred, table, origin), strict=True):
        assert same(one, other)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [3, 8, 17])
def test_what_is_no_number_shows_in_the_mean(odd: float, n: int) -> None:
    table = np.ones((n, 3))
    table[-1, 1] = odd
    with np.errstate(invalid="ignore"):
        assert same(centred(table, np.zeros(3))[1], readable(centred, table, np.zeros(3))[1])
    assert not within(centred(table, np.zeros(3))[1], -np.inf, np.inf)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_matrices_are_the_same_to_the_last_bit(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(p + 3, p)) * 10.0 ** rng.integers(-5, 5, size=p)
    covariance, order = table.T @ table, rng.permutation(p)
    correlation = correlation_of(covariance)
    assert same(correlation, readable(correlation_of, covariance))
    assert same(permuted(correlation, order), readable(permuted, correlation, order))
    marks = rng.integers(0, 4, size=(p, p)).astype(np.int8)
    assert same(placed(marks, order), readable(placed, marks, order))
    assert same(correlation_of(covariance, order), readable(correlation_of, covariance, order))
    for sums, copies in (strengths(covariance), readable(strengths, covariance)):
        assert np.allclose(sums, (correlation**2).sum(axis=1), rtol=1e-13)
        assert copies == (p > 1 and np.abs(correlation - np.eye(p)).max() > 1 - 1e-12)
    one, other = np.eye(p), np.eye(p)
    shift = rng.normal(size=p)
    merge(one, covariance, shift * 0.3, shift)
    readable(merge, other, covariance, shift * 0.3, shift)
    assert same(one, other)


@pytest.mark.parametrize("value", [1.0, -1.0, 1 - 1e-13, 1e-13 - 1])
def test_copies_are_found_wherever_they_are(value: float) -> None:
    for x, y in [(0, 1), (3, 0), (4, 3)]:
        matrix = np.eye(5)
        matrix[x, y] = value
        assert strengths(matrix)[1]
        assert readable(strengths, matrix)[1]
    assert not strengths(np.eye(5))[1]
    assert not readable(strengths, np.eye(5))[1]


@given(st.lists(st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 1.0 + 1e-7, 2.0, 3.0]), min_size=1, unique=True))
def test_numbers_are_in_ascending_order_if_they_are_apart(numbers: list[float]) -> None:
    found = ascending(np.array(numbers), 1e-8)
    assert found == readable(ascending, np.array(numbers), 1e-8)
    assert (found is None) == ({1.0, 1.0 + 1e-9} <= set(numbers))


@pytest.mark.parametrize("numbers", [[], [1.0], [0.0], [2.0], [1.0, np.nan], [np.inf]])
def test_bounds_are_not_within(numbers: list[float]) -> None:
    assert (
        within(np.array(numbers), 0.0, 2.0) == readable(within, np.array(numbers), 0.0, 2.0) == (numbers in ([], [1.0]))
    )


def test_shapes_that_do_not_fit_are_refused() -> None:
    compiled = rows_module.COMPILED
    assert compiled is not None
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.means(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.means(np.ones((0, 2)), np.ones(2))
    for origin, mean, out in ((3, 2, (3, 2)), (2, 3, (3, 2)), (2, 2, (2, 2)), (2, 2, (3, 3))):
        with pytest.raises(ValueError, match="shapes do not fit"):
            compiled.less(np.ones((3, 2)), np.ones(origin), np.ones(mean), np.empty(out))
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.mirror(np.ones((2, 3)), 1.0)
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.lower_inverse(np.ones((2, 3)))
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.merge(np.eye(3), np.eye(2), np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.permuted(np.eye(2), np.array([0, 2]))
    with pytest.raises(ValueError, match="shapes do not fit"):
        compiled.placed(np.eye(2, dtype=np.int8), np.array([0, -1]))
    for work in (compiled.correlation, compiled.strengths):
        with pytest.raises(ValueError, match="shapes do not fit"):
            work(np.ones((2, 3)))


def test_few_columns_are_multiplied_block_by_block() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 511, 7000, 40_000):
        rows = rng.normal(loc=100.0, size=(n, 4))
        centre, mean = centred(rows, rows[0].copy())
        one, other = scatter_of(rows, rows[0].copy(), mean), readable(scatter_of, rows, rows[0].copy(), mean)
        assert same(one, other)
        assert (one == one.T).all()
        np.testing.assert_allclose(one, centre.T @ centre, atol=1e-11 * n)
        kept = one.copy()
        scatter_of(2 * rows, rows[0].copy(), mean)
        assert (one == kept).all()  # what is written over is not what was returned


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_triangular_inverse_is_the_same_to_the_last_bit(seed: int, p: int) -> None:
    factor = np.tril(np.random.default_rng(seed).normal(size=(p, p))) + 3 * np.eye(p)
    inverse = lower_inverse(factor)
    assert same(inverse, readable(lower_inverse, factor))
    np.testing.assert_allclose(inverse @ factor, np.eye(p), atol=1e-7 * np.abs(inverse).max())


@given(st.integers(0, 2**32 - 1), st.integers(1, 150))
def test_a_triangle_is_mirrored_to_the_last_bit(seed: int, p: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(p, p))
    expected = np.tril(matrix) / 7.0
    expected += np.tril(expected, -1).T
    assert same(mirror(matrix.copy(), 7.0), expected)
    assert same(readable(mirror, matrix.copy(), 7.0), expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 1100), st.sampled_from("CF"))
def test_products_of_centred_rows_are_added_block_by_block(seed: int, n: int, layout: str) -> None:
    rng = np.random.default_rng(seed)
    rows = np.asarray(rng.normal(loc=1e6, size=(n, 3)), order=layout)
    start, more = rng.normal(size=(3, 3)), rng.normal(size=3)
    centre, mean = centred(rows, rows[0].copy())
    one, other = start.copy(), start.copy()
    add_scatter(one, rows, rows[0].copy(), mean, more)
    readable(add_scatter, other, rows, rows[0].copy(), mean, more)
    assert same(one, other)
    expected = np.tril(centre.T @ centre + np.outer(more, more))
    np.testing.assert_allclose(np.tril(one - start), expected, atol=1e-11 * n)
    assert (np.triu(one, 1) == np.triu(start, 1)).all()
