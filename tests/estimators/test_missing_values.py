"""Tables with missing values, from the table to the verdict: what is learned, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import Auto, Dataset, Discovery, Lift, LMarvel, LMarvelWarning, effect
from lmarvel.data.missing.em import imputed
from lmarvel.data.missing.gaps import Gaps
from lmarvel.estimators import METHODS
from lmarvel.estimators.check import checked_on

NAMES = ["A", "B", "X", "C", "Y"]
TRUE = {"A o-> X", "B o-> X", "X --> Y", "C o-> Y"}


def drawn(n: int = 1500, seed: int = 0) -> np.ndarray:
    """Draw A, B --> X --> Y <-- C."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    x = a + b + rng.normal(size=n)
    return np.column_stack([a, b, x, c, 0.7 * x + c + rng.normal(size=n)])


def torn(values: np.ndarray, seed: int = 1) -> np.ndarray:
    """Lose a quarter of A, X and Y by what they are."""
    rng, found = np.random.default_rng(seed), values.copy()
    for v in (0, 2, 4):
        found[rng.random(len(values)) < 0.5 / (1 + np.exp(-2 * values[:, v])), v] = np.nan
    return found


def edges(result: Discovery) -> set[str]:
    return {str(edge) for edge in result.pag.edges()}


@pytest.mark.parametrize("method", [*METHODS.values(), Auto])
def test_every_method_learns_from_a_table_with_gaps(method: Any) -> None:
    found = method().fit(torn(drawn()), names=NAMES).result_
    assert edges(found) == TRUE
    assert found.settings["missing"] == "test-wise"


@pytest.mark.parametrize("method", [LMarvel, Lift])
def test_nothing_changes_where_nothing_is_missing(method: Any) -> None:
    values = drawn(400)
    plain, said = (method().fit(values, names=NAMES, missing=how).result_ for how in (None, "test-wise"))
    assert "missing" not in said.settings
    assert "missing" not in plain.verdict.to_dict()
    assert (plain.pag, str(plain), plain.stats.n_tests) == (said.pag, str(said), said.stats.n_tests)


def test_a_table_without_a_complete_row_is_learned_from() -> None:
    values, rng = drawn(3000), np.random.default_rng(2)
    values[np.arange(3000), rng.integers(0, 5, 3000)] = np.nan
    for method in (LMarvel, Lift):
        assert edges(method().fit(values, names=NAMES).result_) == TRUE


def test_the_verdict_says_what_is_missing_and_how_many_rows_claims_rest_on(tmp_path: Path) -> None:
    values = torn(drawn())
    found = LMarvel().fit(values, names=NAMES).result_
    there = ~np.isnan(values)
    pairs = [int((there[:, x] & there[:, y]).sum()) for x in range(5) for y in range(x)]
    line = f"{np.isnan(values).sum():,} values are missing: each test uses the rows that have its variables"
    assert f"{line} ({min(pairs):,} to {max(pairs):,} rows per pair)." in found.verdict.lines
    assert (found.verdict.fewest_rows, found.verdict.most_rows) == (min(pairs), max(pairs))
    assert any("stay sound even if a value decides whether it is missing" in note for note in found.notes)
    used = int(there[:, [0, 2]].all(axis=1).sum())
    assert f"Rows: {used:,} of 1,500 rows have A and X" in found.explain("A", "X").reliability
    given = int(there[:, [0, 2, 4]].all(axis=1).sum())
    assert found.sepsets["A", "Y"] == {"C", "X"}
    assert f"Rows: {given:,} of 1,500 rows have A, Y, C and X" in found.explain("A", "Y").reliability
    found.save(tmp_path / "result.json")
    loaded = Discovery.load(tmp_path / "result.json")
    assert loaded.verdict.lines == found.verdict.lines
    assert loaded.explain("A", "Y") == found.explain("A", "Y")


def test_a_score_says_what_it_assumes() -> None:
    found = Lift().fit(torn(drawn()), names=NAMES).result_
    assert any("the score fills missing values from the rest of their row" in note for note in found.notes)
    assert found.resamples is not None
    assert found.verdict.supported == found.verdict.directions == 4


def test_the_check_and_a_bootstrap_work_with_gaps() -> None:
    values = torn(drawn(500))
    for method in (LMarvel, Lift):
        found = method().fit(values, names=NAMES, bootstrap=5, seed=1).result_
        assert found.check is not None
        assert found.check == checked_on(found, Dataset.of(values, NAMES))
        assert len(found.check.implied) == 6
        assert found.stability is not None
        assert found.stability.replicates == 5


@pytest.mark.parametrize("method", [LMarvel, Lift])
def test_a_pair_never_seen_together_is_named_and_left_open(method: Any) -> None:
    values = drawn(1000)
    values[::2, 0], values[1::2, 3] = np.nan, np.nan
    found = method().fit(values, names=NAMES).result_
    assert list(found.undecided) == [("A", "C")]
    assert "1 pair stays undecided: fewer than 20 rows have both variables (A and C)." in found.verdict.lines
    assert not any("ended early" in line for line in found.verdict.lines)
    assert "independent" not in found.explain("A", "C").adjacency.text
    assert found.check is not None
    assert frozenset(("A", "C")) not in {frozenset((one.x, one.y)) for one in found.check.implied}


def test_rows_without_a_value_are_left_out_and_counted() -> None:
    values = drawn(300)
    more = np.vstack([values, np.full((2, 5), np.nan)])
    with pytest.warns(LMarvelWarning, match="left out 2 rows in which every value is missing"):
        found = LMarvel().fit(more, names=NAMES).result_
    assert (found.settings["rows"], found.settings["empty_rows"]) == (300, 2)
    assert "2 rows hold no value and were left out" in found.notes
    assert found.pag == LMarvel().fit(values, names=NAMES).result_.pag


def test_weights_stay_with_their_rows_where_empty_ones_are_left_out() -> None:
    values, weights = drawn(300), np.arange(1.0, 301)
    more = np.insert(values, 100, np.nan, axis=0)
    data = Dataset.of(more, NAMES, weights=np.insert(weights, 100, 9.0))
    same = Dataset.of(values, NAMES, weights=weights)
    with pytest.warns(LMarvelWarning, match="left out 1 row"):
        _ = data.moments
    np.testing.assert_allclose(data.moments.covariance, same.moments.covariance)
    assert data.weights is not None
    assert len(data.weights) == 300


def test_categories_and_mixtures_with_gaps_are_scored() -> None:
    rng, n = np.random.default_rng(3), 2000
    a, b = rng.integers(0, 2, (2, n))
    c = (a | b) ^ (rng.random(n) < 0.1)
    gone = rng.integers(0, 5, n)  # at most one value of a row is lost
    table = {
        name: [None if gone[i] == j else f"v{k}" for i, k in enumerate(column)]
        for j, (name, column) in enumerate(zip("abc", (a, b, c), strict=True))
    }
    assert edges(Lift().fit(table).result_) == {"a o-> c", "b o-> c"}
    number = {"x": np.where(rng.random(n) < 0.2, np.nan, 2.0 * c + rng.normal(size=n))}
    found = Auto().fit(table | number).result_
    assert {frozenset((e.a, e.b)) for e in found.pag.edges()} == {frozenset("ac"), frozenset("bc"), frozenset("cx")}


# --- effects ----------------------------------------------------------------------------------------------


def test_an_effect_is_estimated_by_multiple_imputation_and_its_interval_covers() -> None:
    """Y is lost by C, X by A: complete rows are still right here, but fewer, so their interval is wider."""
    found = Lift().fit(drawn(), names=NAMES).result_
    covered, narrower = 0, 0
    for seed in range(20):
        values, rng = drawn(300, 100 + seed), np.random.default_rng(seed)
        values[rng.random(300) < 0.6 / (1 + np.exp(-2 * values[:, 3])), 4] = np.nan
        values[rng.random(300) < 0.6 / (1 + np.exp(-2 * values[:, 0])), 2] = np.nan
        (one,) = effect(found.pag, "X", "Y", Dataset.of(values, NAMES), seed=seed).estimates
        (other,) = effect(found.pag, "X", "Y", Dataset.of(values, NAMES, missing="drop")).estimates
        assert one.method == "least squares, HC3; 20 imputations"
        covered += one.low <= 0.7 <= one.high
        narrower += one.error < other.error
    assert covered >= 17
    assert narrower >= 14


def test_an_effect_on_a_category_is_imputed_and_the_same_with_the_same_seed() -> None:
    values = torn(drawn(400))
    outcome = [None if np.isnan(v) else "high" if v > 0 else "low" for v in values[:, 4]]
    table = dict(zip(NAMES[:4], values.T[:4], strict=True)) | {"Y": outcome}
    pag = Lift().fit(drawn(), names=NAMES).result_.pag
    one, same, other = (effect(pag, "X", "Y", table, seed=seed) for seed in (1, 1, 2))
    assert one.estimates == same.estimates != other.estimates
    assert "20 imputations" in one.estimates[0].method
    assert "Missing values were imputed" in one.rests_on


def test_completed_tables_keep_what_was_observed_and_draw_categories_that_exist() -> None:
    rng = np.random.default_rng(4)
    code = rng.integers(0, 3, 500).astype(float)
    number = code + 0.3 * rng.normal(size=500)
    values = np.where(rng.random((500, 2)) < 0.3, np.nan, np.column_stack([code, number]))
    one, other = imputed(values, [3, 0], 2, seed=5)
    there = ~np.isnan(values)
    np.testing.assert_array_equal(one[there], values[there])
    assert set(np.unique(one[:, 0])) == {0.0, 1.0, 2.0}
    assert not np.isnan(one).any()
    assert (one != other).any()
    both = ~there[:, 0] & there[:, 1]
    assert np.corrcoef(one[both].T)[0, 1] > 0.6


def test_gaps_of_a_result_file_are_checked() -> None:
    with pytest.raises(ValueError, match="no pattern of gaps"):
        Gaps.of_plain(["a", "b"], [[[2], 3]])
