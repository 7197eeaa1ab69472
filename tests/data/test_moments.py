"""Moments: accuracy, batches, and what no test can be run on."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DataError, LMarvel, Moments, moments_of
from lmarvel.data.moments import SMALL
from lmarvel.data.table import open_table


def exact_covariance(table: np.ndarray) -> np.ndarray:
    """Return the covariance by rational arithmetic."""
    rows = [[Fraction(float(value)) for value in row] for row in table]
    n, p = table.shape
    means = [sum(row[j] for row in rows) / n for j in range(p)]
    return np.array(
        [
            [float(sum((row[i] - means[i]) * (row[j] - means[j]) for row in rows) / n) for j in range(p)]
            for i in range(p)
        ]
    )


@pytest.fixture(autouse=True, scope="module", params=[SMALL, 0], ids=["few columns", "many columns"])
def columns(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run everything both as few columns are added up, and as many are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmarvel.data.moments.SMALL", request.param)
        yield


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", 1)
    return 16  # rows a batch, whatever the width


# --- accuracy ---------------------------------------------------------------------------------------------


def test_moments_are_those_of_numpy() -> None:
    table = np.random.default_rng(0).normal(size=(1000, 5))
    found = moments_of(table)
    np.testing.assert_allclose(found.mean, table.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(found.covariance, np.cov(table.T, bias=True), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.correlation(), np.corrcoef(table.T), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("batch_bytes", [1, 5000, 1 << 26])
def test_a_mean_of_1e9_costs_no_accuracy(batch_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", batch_bytes)
    rng = np.random.default_rng(1)
    table = rng.normal(size=(2000, 3))
    table[:, 1] += table[:, 0]
    table += [1e9, -1e9, 0.0]
    np.testing.assert_allclose(moments_of(table).covariance, exact_covariance(table), rtol=1e-9, atol=1e-9)
    assert moments_of(table).covariance[0, 0] == pytest.approx(1, abs=0.15)


def test_a_first_row_far_from_the_others_costs_no_accuracy(small_batches: int) -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(loc=1e9, size=(200, 2))
    table[0] = [0.0, -3e9]
    np.testing.assert_allclose(moments_of(table).covariance, exact_covariance(table), rtol=1e-12)


def test_means_that_drift_from_batch_to_batch_cost_no_accuracy(small_batches: int) -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(333, 3)) + np.linspace(0, 1e7, 333)[:, None] * [1.0, -1.0, 0.0]
    np.testing.assert_allclose(moments_of(table).covariance, exact_covariance(table), rtol=1e-12)


@given(st.integers(2, 70), st.integers(0, 10**6))
def test_any_number_of_rows_fits_the_batches(n: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + [0.0, 5.0, 1e6]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmarvel.data.scan.BATCH_BYTES", 1)
        found = moments_of(table)
    assert found.n == n
    np.testing.assert_allclose(found.mean, table.mean(axis=0), rtol=1e-9, atol=1e-12)
    scale = np.sqrt(np.outer(table.var(axis=0), table.var(axis=0)))
    np.testing.assert_allclose(found.covariance / scale, np.cov(table.T, bias=True) / scale, atol=1e-9)


def test_batches_have_the_asked_number_of_rows_whatever_the_source() -> None:
    table = open_table(np.arange(30.0).reshape(15, 2) ** 1.5)
    assert [len(batch) for batch in table.batches(4)] == [4, 4, 4, 3]


def test_results_are_bit_identical_from_run_to_run() -> None:
    table = np.random.default_rng(4).normal(size=(5000, 40))
    first = moments_of(table)
    for _ in range(3):
        np.testing.assert_array_equal(moments_of(table.copy()).covariance, first.covariance)


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e20, 1e140])
def test_scales_do_not_change_the_correlations(scale: float) -> None:
    table = np.random.default_rng(5).normal(size=(100, 3)) @ np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    scaled = table * [scale, 1.0, 1 / scale]
    np.testing.assert_allclose(moments_of(scaled).correlation(), moments_of(table).correlation(), rtol=1e-12)


# --- refused ----------------------------------------------------------------------------------------------


def test_one_row_is_refused() -> None:
    with pytest.raises(DataError, match="the table has one row"):
        moments_of([[1.0, 2.0]])


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e-300])
def test_a_constant_column_is_named(value: float, small_batches: int) -> None:
    table = np.random.default_rng(6).normal(size=(100, 4))
    table[:, [1, 3]] = value
    with pytest.raises(DataError, match="columns 'X1' and 'X3' are constant: drop them"):
        moments_of(table)


def test_a_column_that_changes_once_is_not_constant(small_batches: int) -> None:
    table = np.random.default_rng(7).normal(size=(100, 2))
    table[:, 1] = 1e6
    table[77, 1] += 1e-6
    assert moments_of(table).covariance[1, 1] == pytest.approx(1e-12 * 99 / 100**2, rel=1e-3)


@pytest.mark.parametrize("scale", [1e-170, 1e170, 1e300, 1.7e308])
def test_a_column_whose_variance_is_out_of_range_is_named_without_a_warning(scale: float) -> None:
    table = np.random.default_rng(8).uniform(-1, 1, size=(100, 3))
    table[:, 1] *= scale
    with pytest.raises(DataError, match=r"'X1' (is|are) .*: rescale"):
        moments_of(table)


def test_copies_are_named() -> None:
    table = np.random.default_rng(9).normal(size=(200, 5))
    table[:, 4] = -3 * table[:, 1] + 7
    with pytest.raises(DataError, match="the columns 'X1' and 'X4' are copies of each other"):
        LMarvel().fit(table)


def test_copies_are_named_also_with_fewer_rows_than_columns() -> None:
    table = np.random.default_rng(10).normal(size=(20, 300))
    table[:, 290] = table[:, 3]
    with pytest.raises(DataError, match="the columns 'X3' and 'X290' are copies"):
        LMarvel().fit(table)


COLLINEAR = {
    "c = a + 2b": ("abc", lambda t: t["a"] + 2 * t["b"], "c", "the column 'c' is determined by 'a', 'b':"),
    "b = c - d, a apart": ("acdb", lambda t: t["c"] - t["d"], "b", "the column 'b' is determined by 'c', 'd':"),
    "a total": ("abcde", lambda t: t["a"] + t["b"] + t["c"] + t["d"], "e", "'e' is determined by 'a', 'b', 'c', 'd':"),
    "percentages": ("abc", lambda t: 100 - t["a"] - t["b"], "c", "the column 'c' is determined by 'a', 'b':"),
    "scales apart": ("abc", lambda t: 1e4 * t["a"] + 1e-3 * 1e6 * t["b"], "c", "'c' is determined by 'a', 'b':"),
}


@pytest.mark.parametrize("case", COLLINEAR)
@pytest.mark.parametrize("boundary", ["auto", "iamb"])
def test_a_collinear_set_is_named(case: str, boundary: str) -> None:
    names, combine, last, message = COLLINEAR[case]
    rng = np.random.default_rng(11)
    table = {name: rng.normal(size=300) for name in names}
    table[last] = combine(table)
    with pytest.raises(DataError, match=message):
        LMarvel(boundary=boundary).fit(table)
    moments = moments_of(table)
    with pytest.raises(DataError, match=message):
        moments.check_collinear(moments.correlation())
    with pytest.raises(DataError, match=message):
        moments.precision(moments.correlation())


def test_usable_columns_are_neither_copies_nor_collinear() -> None:
    table = np.random.default_rng(14).normal(size=(50, 4))
    good = moments_of(table)
    good.check_usable(good.correlation())
    few = moments_of(table[:4])  # collinear in the sample, as any table with so few rows
    few.check_usable(few.correlation())
    copy = moments_of(np.column_stack([table[:4], table[:4, 1]]))
    with pytest.raises(DataError, match="'X1' and 'X4' are copies"):
        copy.check_usable(copy.correlation())
    total = moments_of(np.column_stack([table, table[:, 0] - table[:, 2]]))
    with pytest.raises(DataError, match="'X4' is determined by 'X0', 'X2'"):
        total.check_usable(total.correlation())


def test_nearly_collinear_columns_are_not_refused() -> None:
    rng = np.random.default_rng(12)
    table = rng.normal(size=(300, 3))
    table[:, 2] = table[:, 0] + table[:, 1] + 1e-3 * rng.normal(size=300)
    assert LMarvel().fit(table).pag_.n_edges == 2  # a collider


@pytest.mark.parametrize("p", [5, 400, 530])
def test_the_precision_is_the_inverse_by_either_route(p: int) -> None:
    moments = moments_of(np.random.default_rng(13).normal(size=(2 * p, p)))
    correlation = moments.correlation()
    before = correlation.copy()
    precision = moments.precision(correlation)
    np.testing.assert_allclose(precision @ correlation, np.eye(p), atol=1e-8)
    np.testing.assert_allclose(precision, precision.T, atol=1e-12)
    np.testing.assert_array_equal(correlation, before)


def test_moments_can_be_given_in_place_of_data() -> None:
    moments = Moments(("A", "B", "C"), 1000, np.zeros(3), np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]))
    found = LMarvel().fit(moments)
    assert found.result_.settings["rows"] == 1000
    assert [str(edge) for edge in found.pag_.edges()] == ["A o-o B", "B o-o C"]
