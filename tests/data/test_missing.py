"""Gaps: refused with all of them named, dropped, or the most likely moments found around them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from lmarvel import DataError, Dataset, LMarvel, moments_of
from lmarvel.data.missing.em import em_moments, observed_pairs

NAMES = ("a", "b", "c")
MIX = np.array([[1.0, 0.6, 0.2], [0.0, 1.0, -0.5], [0.0, 0.0, 1.0]])


def with_gaps(n: int, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3)) @ MIX + [3.0, -1.0, 100.0]
    rows[rng.uniform(size=rows.shape) < share] = np.nan
    return rows[~np.isnan(rows).all(axis=1)]


def likelihood(rows: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
    """The log likelihood of what was observed; rows with the same gaps are taken together."""
    patterns, at = np.unique(~np.isnan(rows), axis=0, return_inverse=True)
    total = 0.0
    for k, seen in enumerate(patterns):
        some = rows[at.ravel() == k][:, seen]
        total += float(np.sum(multivariate_normal.logpdf(some, mean[seen], covariance[np.ix_(seen, seen)])))
    return total


def test_em_finds_the_maximum_of_the_likelihood() -> None:
    rows = with_gaps(80, 0.25)
    mean, covariance = em_moments(rows, NAMES)
    at = np.tril_indices(3)

    def loss(theta: np.ndarray) -> float:
        lower = np.zeros((3, 3))
        lower[at] = theta[3:]
        return -likelihood(rows, theta[:3], lower @ lower.T)

    start = np.concatenate([mean, np.linalg.cholesky(covariance)[at]])
    best = minimize(loss, start + 0.01, method="BFGS", options={"gtol": 1e-5})
    assert loss(start) <= best.fun + 1e-5
    lower = np.zeros((3, 3))
    lower[at] = best.x[3:]
    np.testing.assert_allclose(mean, best.x[:3], atol=1e-3)
    np.testing.assert_allclose(covariance, lower @ lower.T, atol=2e-3)


def test_without_gaps_em_gives_the_usual_moments() -> None:
    rows = with_gaps(50, 0.0)
    mean, covariance = em_moments(rows, NAMES)
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True), rtol=1e-9)


def test_a_monotone_pattern_has_the_known_solution() -> None:
    """Anderson (1957): with x complete and y not, y is regressed on x among the complete rows."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = 2.0 * x + rng.normal(size=60)
    seen = np.arange(60) < 35
    rows = np.column_stack([x, np.where(seen, y, np.nan)])
    mean, covariance = em_moments(rows, ("x", "y"))
    centred = x[seen] - x[seen].mean()
    slope = centred @ y[seen] / (centred @ centred)
    rest = np.var(y[seen] - slope * x[seen])
    assert mean[1] == pytest.approx(y[seen].mean() + slope * (x.mean() - x[seen].mean()), abs=1e-6)
    assert covariance[0, 1] == pytest.approx(slope * x.var(), abs=1e-6)
    assert covariance[1, 1] == pytest.approx(rest + slope**2 * x.var(), abs=1e-5)


def test_whole_weights_are_as_if_rows_were_repeated() -> None:
    rows = with_gaps(60, 0.2)
    weights = np.random.default_rng(1).integers(0, 3, len(rows))
    one, other = em_moments(rows, NAMES, weights), em_moments(np.repeat(rows, weights, axis=0), NAMES)
    for found, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_scale_of_columns_means_nothing() -> None:
    rows, scale = with_gaps(60, 0.2), np.array([1e-6, 1.0, 1e6])
    (mean, covariance), (wide, spread) = em_moments(rows, NAMES), em_moments(rows * scale, NAMES)
    np.testing.assert_allclose(mean * scale, wide, rtol=1e-6)
    np.testing.assert_allclose(covariance * np.outer(scale, scale), spread, rtol=1e-6)


def test_the_rows_that_em_counts_are_those_of_observed_pairs() -> None:
    rows = with_gaps(100, 0.2)
    seen = ~np.isnan(rows)
    share = np.mean([(seen[:, i] & seen[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))])
    assert observed_pairs(rows) == pytest.approx(share)
    data = Dataset.of(rows, NAMES, missing="em")
    assert data.effective_rows == pytest.approx(share * len(rows))
    assert data.moments.n == round(share * len(rows))
    np.testing.assert_array_equal(data.moments.covariance, em_moments(rows, NAMES)[1])


def test_em_on_a_table_without_gaps_changes_nothing() -> None:
    rows = with_gaps(50, 0.0)
    np.testing.assert_array_equal(Dataset.of(rows, missing="em").moments.covariance, moments_of(rows).covariance)


@pytest.mark.parametrize("rows", [np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan], [4.0, np.nan]])])
def test_a_column_without_values_is_refused(rows: np.ndarray) -> None:
    with pytest.raises(DataError, match=r"'X1' has no values|empty column 'X1'"):
        _ = Dataset.of(rows, missing="em").moments


def test_em_comes_nearer_than_complete_rows_where_gaps_depend_on_what_was_seen() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(4000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    rows[rows[:, 0] > 0.3, 1] = np.nan  # at random given the first column
    em, complete = (Dataset.of(rows, missing=how).moments for how in ("em", "drop"))
    assert abs(em.covariance[1, 1] - 1.0) < 0.1 < abs(complete.covariance[1, 1] - 1.0)


# --- dropping ---------------------------------------------------------------------------------------------

COLUMNS: dict[str, list[Any]] = {
    "x": [1.0, 2.0, None, 4.0, 0.5, 3.0, 2.5, 1.5],
    "y": [0.1, 0.4, 0.3, None, 0.9, 0.7, 0.2, 0.6],
    "g": ["u", "v", "u", "v", "u", "v", "w", None],
}
MASKED = {
    "x": np.ma.masked_array([1.0, 2.0, 9.0, 4.0, 0.5, 3.0, 2.5, 1.5], [0, 0, 1, 0, 0, 0, 0, 0]),
    "y": np.ma.masked_array([0.1, 0.4, 0.3, 9.0, 0.9, 0.7, 0.2, 0.6], [0, 0, 0, 1, 0, 0, 0, 0]),
    "g": np.ma.masked_array(["u", "v", "u", "v", "u", "v", "w", "z"], [0, 0, 0, 0, 0, 0, 0, 1]),
}


def csv(folder: Path, blank: str = "") -> Path:
    path = folder / "data.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False, na_rep=blank)
    return path


def parquet(folder: Path) -> Path:
    pl.DataFrame(COLUMNS).write_parquet(folder / "data.parquet")
    return folder / "data.parquet"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "None": lambda _: COLUMNS,
    "masks": lambda _: MASKED,
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas NA": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(),
    "Polars": lambda _: pl.DataFrame(COLUMNS),
    "Parquet": parquet,
    **{
        f"CSV with {word!r}": lambda folder, word=word: csv(folder, word)
        for word in ("", "NA", "n/a", "#N/A", "<NA>", "-", "?", ".")
    },
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_gaps_of_every_make_are_counted_and_dropped(make: Callable[[Path], Any], tmp_path: Path) -> None:
    source = make(tmp_path)
    assert Dataset.of(source).missing == (1, 1, 1)
    data = Dataset.of(source, missing="drop")
    assert (data.n, data.dropped, data.missing) == (5, 3, (0, 0, 0))
    assert data.levels[2] == ("u", "v", "w")
    assert data.rows()[:, 0].tolist() == [1.0, 2.0, 0.5, 3.0, 2.5]


def test_levels_that_lost_their_rows_are_gone() -> None:
    data = Dataset.of({"g": ["u", "v", "u", "v", "w"], "x": [1.0, 2.0, 0.5, 0.1, None]}, missing="drop")
    assert data.levels[0] == ("u", "v")
    assert data.codes()[:, 0].tolist() == [0, 1, 0, 1]


def test_weights_and_clusters_lose_the_same_rows() -> None:
    columns = COLUMNS | {"w": [1.0, 2, 3, 4, 5, 6, 7, 8], "site": list("aabbccdd")}
    data = Dataset.of(columns, drop=["g"], missing="drop", weights="w", cluster="site")
    assert data.names == ("x", "y")
    assert data.weights is not None
    assert data.weights.tolist() == [1, 2, 5, 6, 7, 8]
    assert data.clusters is not None
    assert data.clusters.tolist() == [0, 0, 2, 2, 3, 3]


def test_dropping_is_told_in_the_result_and_gives_what_complete_rows_give() -> None:
    rows = with_gaps(200, 0.1)
    found = LMarvel(test="fisher-z").fit(rows, missing="drop").result_
    complete = rows[~np.isnan(rows).any(axis=1)]
    assert found.pag == LMarvel(test="fisher-z").fit(complete).pag_
    assert (found.settings["dropped_rows"], found.settings["rows"]) == (len(rows) - len(complete), len(complete))


def test_a_table_without_a_complete_row_says_so() -> None:
    with pytest.raises(DataError, match="none of the 3 rows is complete; most values are missing in 'X1'"):
        _ = Dataset.of([[1, None], [None, 2], [3, None]], missing="drop").moments


def test_everything_that_is_wrong_is_named_at_once_with_a_way_out() -> None:
    rng = np.random.default_rng(0)
    table = {
        "ok": rng.normal(size=40),
        "also": np.r_[np.nan, rng.normal(size=39)],
        "flat": np.ones(40),
        "name": [f"n{i}" for i in range(40)],
        "more": rng.normal(size=40),
    }
    table["twice"] = 2 * table["ok"]
    with pytest.raises(
        DataError, match=r"missing values in 1 of 6 columns: 'also' \(1\); column 'flat' is constant; .*'name' has 40"
    ) as caught:
        _ = Dataset.of(table, missing="refuse").moments
    assert "'twice' is a copy of 'ok'" in str(caught.value)
    assert """Dataset.of(data, drop=['flat', 'name', 'twice'], missing="test-wise")""" in str(caught.value)
    with pytest.raises(DataError, match=r"^column 'flat' is constant; .*'name' has 40") as caught:
        _ = Dataset.of(table).moments
    assert "Dataset.of(data, drop=['flat', 'name', 'twice'])" in str(caught.value)
    assert Dataset.of(table, drop=["flat", "name", "twice"], missing="drop").moments.n == 39
