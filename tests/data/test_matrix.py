"""Covariance and correlation matrices in place of tables: the same graphs, checks and effects, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lmarvel import Auto, DataError, Dataset, Lift, LMarvel, Moments, effect, effect_learned_again
from lmarvel.data.resampling import NormalResampling, Resampling
from lmarvel.estimators import METHODS
from lmarvel.estimators.check import checked_on
from lmarvel.estimators.compare import compare

N = 2000
NAMES = ["A", "B", "X", "Y"]


def simulated(seed: int = 0) -> np.ndarray:
    a, b, e, f = np.random.default_rng(seed).normal(size=(4, N))
    x = a + b + e
    return np.column_stack([a, b, x, 0.5 * x + f])


ROWS = simulated()
COVARIANCE = np.cov(ROWS.T)
CORRELATION = np.corrcoef(ROWS.T)
MOMENTS = Moments.of(COVARIANCE, N, NAMES)


@pytest.mark.parametrize("method", [Auto, *METHODS.values()])
@pytest.mark.parametrize("matrix", [COVARIANCE, CORRELATION], ids=["covariance", "correlation"])
def test_a_matrix_teaches_what_the_table_does(method: Any, matrix: np.ndarray) -> None:
    found = method().fit(Moments.of(matrix, N, NAMES)).result_
    from_rows = method(test="fisher-z").fit(ROWS, names=NAMES).result_
    assert (found.pag, found.settings["rows"]) == (from_rows.pag, N)
    assert str(found)
    assert found.check is not None
    assert [(one.x, one.y) for one in found.check.implied] == [(one.x, one.y) for one in from_rows.check.implied]


def test_results_of_a_matrix_can_be_compared_and_checked() -> None:
    assert {found.pag for found in compare(MOMENTS).results.values()} == {Lift().fit(MOMENTS).pag_}
    told = checked_on(LMarvel().fit(MOMENTS).result_, Dataset.of(MOMENTS), None, None)
    assert len(told.implied) == 3


def test_an_effect_from_a_matrix_is_that_of_least_squares() -> None:
    found = Lift().fit(MOMENTS).result_
    by_matrix = effect(found, "X", "Y", MOMENTS)
    design = np.column_stack([np.ones(N), ROWS[:, 2]])
    value, residuals, *_ = np.linalg.lstsq(design, ROWS[:, 3], rcond=None)
    error = np.sqrt(residuals[0] / (N - 2) * np.linalg.inv(design.T @ design)[1, 1])
    assert by_matrix.estimates[0].value == pytest.approx(value[1], rel=1e-9)
    assert by_matrix.estimates[0].error == pytest.approx(error, rel=1e-6)
    drawn = effect(found, "X", "Y", MOMENTS, bootstrap=400)
    assert "parametric bootstrap" in drawn.estimates[0].method
    assert drawn.estimates[0].error == pytest.approx(error, rel=0.2)
    assert effect_learned_again(found, "X", "Y", MOMENTS, 10, seed=1).values


def test_the_divisor_of_a_covariance_does_not_matter() -> None:
    by_n = Moments.of(np.cov(ROWS.T, bias=True), N, NAMES)
    assert Lift().fit(by_n).pag_ == Lift().fit(MOMENTS).pag_
    one, other = (effect(Lift().fit(m).result_, "X", "Y", m).estimates[0] for m in (by_n, MOMENTS))
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.error == pytest.approx(other.error, rel=1e-12)


# --- a parametric bootstrap -------------------------------------------------------------------------------


def test_a_bootstrap_of_a_matrix_is_as_wide_as_one_of_rows() -> None:
    of_rows, of_matrix = Resampling(Dataset.of(ROWS, names=NAMES)), NormalResampling(Dataset.of(MOMENTS))
    spreads = [
        np.std([source.moments(1, i).correlation()[0, 2] for i in range(300)]) for source in (of_rows, of_matrix)
    ]
    assert spreads[1] == pytest.approx(spreads[0], rel=0.2)
    mean = np.mean([of_matrix.moments(1, i).covariance for i in range(300)], axis=0)
    assert np.allclose(mean, MOMENTS.covariance, atol=0.05)


def test_a_bootstrap_of_a_matrix_depends_on_the_seed_alone() -> None:
    one, two, other = (
        Lift().fit(MOMENTS, bootstrap=30, seed=seed, n_jobs=jobs).result_.stability
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert one is not None
    assert one == two
    assert one.replicates == 30
    assert other is not None
    assert other.seed == 2


# --- what a matrix may come in ----------------------------------------------------------------------------


FRAME = pd.DataFrame(COVARIANCE, columns=NAMES, index=NAMES)
GIVEN: dict[str, Any] = {
    "lists": (COVARIANCE.tolist(), NAMES),
    "pandas, with row names": (FRAME, None),
    "pandas, its rows in another order": (FRAME.loc[["Y", "A", "X", "B"]], None),
    "pandas, rows numbered": (FRAME.reset_index(drop=True), None),
    "Polars": (pl.DataFrame(COVARIANCE, schema=NAMES), None),
    "Polars, with row names": (pl.DataFrame({"name": NAMES, **FRAME.to_dict("list")}), None),
    "lower triangle": (np.where(np.tri(4) > 0, COVARIANCE, np.nan), NAMES),
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_a_matrix_is_the_same_in_any_dress(given: tuple[Any, list[str] | None]) -> None:
    found = Moments.of(given[0], N, given[1])
    assert (found.names, found.n) == (tuple(NAMES), N)
    assert np.array_equal(found.covariance, MOMENTS.covariance)


def test_means_are_kept_where_they_are_given() -> None:
    assert Moments.of(COVARIANCE, N, NAMES, mean=[1, 2, 3, 4]).mean.tolist() == [1, 2, 3, 4]
    with pytest.raises(DataError, match="mean must be 4 numbers"):
        Moments.of(COVARIANCE, N, NAMES, mean=[1, 2])


# --- what is refused --------------------------------------------------------------------------------------


def changed(entries: dict[tuple[int, int], float], matrix: np.ndarray = CORRELATION) -> np.ndarray:
    made = matrix.copy()
    for at, value in entries.items():
        made[at] = value
    return made


IMPOSSIBLE = {(0, 1): 0.9, (1, 0): 0.9, (0, 2): 0.9, (2, 0): 0.9, (1, 2): -0.9, (2, 1): -0.9}
TOTAL = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0]], dtype=float)
BAD: dict[str, tuple[Any, Any, str]] = {
    "not symmetric": (changed({(0, 1): 0.5}), N, "is not symmetric: 0.5 in row 'A', column 'B'"),
    "not positive definite": (changed(IMPOSSIBLE), N, "is not positive definite: .* correlations of 'X'"),
    "determined": (TOTAL @ COVARIANCE @ TOTAL.T, N, "the column 'Y' is determined by 'A', 'B'"),
    "copies": (changed({(0, 1): 1.0, (1, 0): 1.0}), N, "'A' and 'B' are copies"),
    "beyond one": (changed({(0, 1): 1.2, (1, 0): 1.2}), N, "of 'A' and 'B' would be 1.2"),
    "no variance": (changed({(2, 2): 0.0}), N, "the diagonal of the matrix is 0 at 'X'"),
    "negative variance": (changed({(2, 2): -1.0}), N, "the diagonal of the matrix is -1 at 'X'"),
    "an empty entry": (changed({(0, 1): np.nan, (1, 0): np.nan}), N, "not symmetric: nan in row 'A', column 'B'"),
    "not square": (ROWS, N, "has 2,000 rows and 4 columns"),
    "text": ({"A": ["x", "y"], "B": [0.5, 1.0]}, N, "has text in column 'A'"),
    "no n": (COVARIANCE, None, "n is missing: give the number of rows"),
    "n of a fraction": (COVARIANCE, 99.5, "n must be a whole number, not 99.5"),
    "n of text": (COVARIANCE, "many", "n must be a whole number, not 'many'"),
    "n of nan": (COVARIANCE, float("nan"), "n must be a whole number, not nan"),
    "n infinite": (COVARIANCE, float("inf"), "n must be a whole number, not inf"),
    "n true": (COVARIANCE, True, "n must be a whole number, not True"),
    "n too small": (COVARIANCE, 4, "n must be above 4, the number of columns, not 4"),
    "names of rows": (FRAME.rename(index={"Y": "Z"}), N, "do not match: the row 'Z' has no column"),
    "names of rows twice": (FRAME.rename(index={"Y": "A"}), N, "do not match: two rows have the same name"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_matrices_are_refused(case: tuple[Any, Any, str]) -> None:
    matrix, n, says = case
    names = NAMES if isinstance(matrix, np.ndarray) and matrix.shape[1] == 4 else None
    with pytest.raises(DataError, match=says) as refused:
        Moments.of(matrix, n, names)
    assert "\n" not in str(refused.value)


def test_names_must_be_as_many_as_columns() -> None:
    with pytest.raises(DataError, match="3 names for 4 columns"):
        Moments.of(COVARIANCE, N, ["A", "B", "C"])
    with pytest.raises(DataError, match="duplicate column name 'A'"):
        Moments.of(COVARIANCE, N, ["A", "A", "B", "C"])
    with pytest.raises(DataError, match="the diagonal of a correlation matrix is 1, and here it is"):
        Moments.of(COVARIANCE, N, NAMES, correlation=True)


def test_what_needs_rows_says_so() -> None:
    with pytest.raises(DataError, match="there are no rows behind moments"):
        LMarvel(test="rank").fit(MOMENTS)
    with pytest.raises(DataError, match="there are no rows behind moments, so that weights"):
        LMarvel().fit(MOMENTS, missing="drop")
