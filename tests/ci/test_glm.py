"""Generalised linear models: basis columns, the compiled fits beside the readable ones, and what both promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import Dataset
from lmarvel.ci.glm.basis import by_frequency, glm_table, natural_spline
from lmarvel.ci.glm.fits import GlmFits
from lmarvel.engine.run import is_built
from lmarvel.errors import DataError

needs_engine = pytest.mark.skipif(not is_built(), reason="the engine is not built")


def mixed_table(seed: int, n: int = 120, weighted: bool = False) -> Dataset:
    """Return two numbers, a count, two values, three and four categories, that depend on each other."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    b += a**2
    count = rng.poisson(np.exp(0.5 * a))
    two = rng.random(n) < 1 / (1 + np.exp(-2 * a))
    three = (np.column_stack([np.zeros(n), b, 2 * two]) + rng.gumbel(size=(n, 3))).argmax(axis=1)
    four = rng.choice(4, size=n, p=[0.1, 0.2, 0.3, 0.4])
    columns = {
        "a": a,
        "b": b,
        "count": count.astype(float),
        "two": two.astype(int),
        "three": [f"t{i}" for i in three],
        "four": [f"f{i}" for i in four],
    }
    if weighted:
        return Dataset.of({**columns, "w": rng.integers(1, 4, n).astype(float)}, weights="w")
    return Dataset.of(columns)


@needs_engine
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.data())
def test_compiled_fits_equal_readable_ones(seed: int, weighted: bool, data: st.DataObject) -> None:
    table = glm_table(mixed_table(seed, weighted=weighted))
    v = data.draw(st.integers(0, 5))
    others = [c for c in range(table.starts[-1]) if c not in table.columns(v)]
    columns = data.draw(st.lists(st.sampled_from(others), unique=True, max_size=6))
    one = GlmFits(table).fit(v, columns, residuals=True)
    two = GlmFits(table, compiled=False).fit(v, columns, residuals=True)
    assert one.converged
    assert two.converged
    assert one.loglik == pytest.approx(two.loglik, abs=2e-5)
    assert one.residuals is not None
    assert two.residuals is not None
    np.testing.assert_allclose(one.residuals, two.residuals, atol=2e-3)


@needs_engine
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_one_more_column_never_loses_likelihood(seed: int, data: st.DataObject) -> None:
    table = glm_table(mixed_table(seed))
    v = data.draw(st.integers(0, 5))
    others = [c for c in range(table.starts[-1]) if c not in table.columns(v)]
    columns = data.draw(st.lists(st.sampled_from(others), unique=True, min_size=1, max_size=6))
    fits = GlmFits(table)
    assert fits.fit(v, columns).loglik >= fits.fit(v, columns[:-1]).loglik - 0.01  # what the ridge may cost


@needs_engine
@pytest.mark.parametrize("v", [0, 3, 4])
def test_weights_are_repeated_rows(v: int) -> None:
    rng = np.random.default_rng(3)
    values = mixed_table(3, n=90).values()
    columns = dict(zip(["a", "b", "count", "two", "three", "four"], values.T, strict=True))
    times = rng.integers(1, 3, 90)  # up to 200 rows knots stand at the same shares
    said = {"categorical": ["three", "four"]}
    weighted = glm_table(Dataset.of({**columns, "w": times.astype(float)}, weights="w", **said))
    repeated = glm_table(Dataset.of({n: np.repeat(c, times) for n, c in columns.items()}, **said))
    weighted = replace(weighted, weights=times.astype(float))  # a table scales its weights to the effective rows
    chosen = [c for c in range(weighted.starts[-1]) if c not in weighted.columns(v)][:5]
    one, two = GlmFits(weighted).fit(v, chosen), GlmFits(repeated).fit(v, chosen)
    assert one.loglik == pytest.approx(two.loglik, abs=1e-5)
    np.testing.assert_allclose(one.coefficients, two.coefficients, atol=1e-3)


@needs_engine
@pytest.mark.parametrize("compiled", [True, False])
def test_separated_categories_have_finite_fits(compiled: bool) -> None:
    x = np.linspace(-1, 1, 60)
    fits = GlmFits(glm_table(Dataset.of({"x": x, "y": (x > 0).astype(int)})), compiled)
    fit = fits.fit(1, fits.table.columns(0), residuals=True)
    assert -1.5 < fit.loglik <= 0.0
    assert np.isfinite(fit.coefficients).all()


@needs_engine
@pytest.mark.parametrize("compiled", [True, False])
def test_copies_among_the_columns_change_nothing(compiled: bool) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 80))
    y += x
    fits = GlmFits(glm_table(Dataset.of({"x": x, "copy": 3 * x + 1, "y": y}), bends=0), compiled)
    assert fits.fit(2, [0, 1]).loglik == pytest.approx(fits.fit(2, [0]).loglik, abs=1e-6)


@needs_engine
def test_fits_are_remembered_within_bounds() -> None:
    table = glm_table(mixed_table(1))
    fits = GlmFits(table)
    first = fits.fit(4, [0, 1], residuals=True)
    fits.fit(4, [1, 0])
    assert fits._compiled.fitted == 1
    small = GlmFits(table, most_bytes=0)
    for columns in ([0, 1], [0], [0, 1]):
        again = small.fit(4, columns, residuals=True)
    assert small._compiled.fitted == 3
    assert again.loglik == first.loglik
    np.testing.assert_array_equal(again.residuals, first.residuals)


def test_a_spline_is_straight_beyond_its_knots() -> None:
    x = np.sort(np.random.default_rng(0).normal(size=400))
    for column in natural_spline(x, 3):
        slopes = np.diff(column) / np.diff(x)
        np.testing.assert_allclose(slopes[-8:], slopes[-1], rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(slopes[:8], slopes[0], rtol=1e-4, atol=1e-7)


def test_basis_columns_are_orthonormal_and_follow_no_scale() -> None:
    x = np.random.default_rng(0).exponential(size=300)
    columns = np.array(natural_spline(x, 3))
    np.testing.assert_allclose(columns @ columns.T / 300, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(columns, natural_spline(5 * x + 2, 3), atol=1e-6)


@pytest.mark.parametrize(("values", "width"), [([0.0, 1.0, 2.0] * 20, 2), ([1.0, 2.0] + [0.0] * 98, 1)])
def test_numbers_with_few_values_have_fewer_bends(values: list[float], width: int) -> None:
    assert len(natural_spline(np.array(values), 3)) == width


def test_gaps_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="missing values in 'a'"):
        glm_table(Dataset.of({"a": [1.0, None, 2.0, 3.0], "b": ["x", "y", "x", "y"]}, missing="em"))


def test_the_rarest_of_many_categories_are_taken_together() -> None:
    code = np.repeat(np.arange(60), np.arange(60, 0, -1))
    assert (by_frequency(code, None, "many") == np.minimum(code, 39)).all()
