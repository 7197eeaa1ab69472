"""Fisher's z test: against textbook formulas, at its limits, and where matrices are singular."""

import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from lmarvel import CITestError, DataError, FisherZ, LMarvel, LMarvelWarning, Moments, SepsetQuery, moments_of
from lmarvel.ci import fisher_z
from lmarvel.ci.fisher_z import kernel_name
from lmarvel.ci.growth import pvalue_of, squared_partial_correlation

BUILT = fisher_z._tests is not None
both_ways = pytest.mark.parametrize("compiled", [True, False])


def correlated(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p))) + rng.normal(size=p)


def population(covariance: np.ndarray, n: int) -> Moments:
    return Moments(tuple(f"X{i}" for i in range(len(covariance))), n, np.zeros(len(covariance)), covariance)


def residual(table: np.ndarray, v: int, given: list[int]) -> np.ndarray:
    """Return what a regression on ``given`` leaves of a column."""
    design = np.column_stack([np.ones(len(table)), table[:, given]])
    return table[:, v] - design @ np.linalg.lstsq(design, table[:, v], rcond=None)[0]


def textbook(r: float, n: int, k: int) -> float:
    return float(2 * norm.sf(math.sqrt(n - k - 3) * abs(math.atanh(r))))


# --- p-values ---------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("size", [0, 1, 2, 5, 8])
def test_the_pvalue_is_that_of_the_correlation_of_regression_residuals(size: int, compiled: bool) -> None:
    rng = np.random.default_rng(size)
    table = correlated(rng, 60, 12)
    test = FisherZ(table, compiled=compiled)
    for _ in range(20):
        x, y, *given = rng.permutation(12)[: size + 2].tolist()
        r = np.corrcoef(residual(table, x, given), residual(table, y, given))[0, 1]
        assert test.pvalue(x, y, given) == pytest.approx(textbook(r, 60, size), rel=1e-9)


@both_ways
@pytest.mark.parametrize("size", [3, 70])  # deeper than the kernel's buffers, too
def test_the_pvalue_is_that_of_the_inverse_correlation_matrix(size: int, compiled: bool) -> None:
    rng = np.random.default_rng(1)
    table = correlated(rng, 400, size + 2)
    precision = np.linalg.inv(np.corrcoef(table.T))
    r = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
    given = list(range(2, size + 2))
    assert FisherZ(table, compiled=compiled).pvalue(0, 1, given) == pytest.approx(textbook(r, 400, size), rel=1e-9)


@both_ways
def test_neither_the_order_of_the_pair_nor_of_the_set_matters(compiled: bool) -> None:
    test = FisherZ(correlated(np.random.default_rng(2), 100, 6), compiled=compiled)
    p = test.pvalue(0, 1, [2, 3, 5])
    assert test.pvalue(1, 0, [2, 3, 5]) == pytest.approx(p, rel=1e-12)
    assert test.pvalue(0, 1, [5, 2, 3]) == pytest.approx(p, rel=1e-12)


def test_scale_shift_and_sign_of_columns_do_not_matter() -> None:
    table = correlated(np.random.default_rng(3), 100, 4)
    moved = table * [1e6, -1e-6, 3.0, -1.0] + [5.0, 0.0, -1e3, 2.0]
    assert FisherZ(moved).pvalue(0, 1, [2, 3]) == pytest.approx(FisherZ(table).pvalue(0, 1, [2, 3]), rel=1e-7)


@both_ways
def test_pvalues_of_independent_variables_are_uniform(compiled: bool) -> None:
    rng = np.random.default_rng(4)
    pvalues = sorted(FisherZ(rng.normal(size=(30, 5)), compiled=compiled).pvalue(0, 1, [2, 3, 4]) for _ in range(2000))
    assert np.abs(np.array(pvalues) - np.linspace(0, 1, 2000)).max() < 1.63 / math.sqrt(2000)  # Kolmogorov, 1 %


# --- limits -----------------------------------------------------------------------------------------------


@both_ways
def test_a_set_that_leaves_no_degree_of_freedom_is_refused(compiled: bool) -> None:
    test = FisherZ(np.random.default_rng(5).normal(size=(8, 9)), compiled=compiled)
    assert test.largest_set == 4
    assert 0 <= test.pvalue(0, 1, [2, 3, 4, 5]) <= 1
    with pytest.raises(CITestError, match="8 rows are too few to condition on 5 variables: 9 are needed"):
        test.pvalue(0, 1, [2, 3, 4, 5, 6])


def test_fewer_than_four_rows_are_refused() -> None:
    with pytest.raises(DataError, match="3 rows are too few"):
        FisherZ([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]])


@both_ways
def test_a_search_that_the_rows_cut_short_says_that_it_is_not_complete(compiled: bool) -> None:
    equal = population(np.full((8, 8), 0.999) + 0.001 * np.eye(8), n=7)
    answer = FisherZ(equal, compiled=compiled).find_sepset(SepsetQuery(0, 1, tuple(range(2, 8)), alpha=0.9))
    assert len(answer.tests_by_size) == 4  # sets of 0 to 3
    assert answer.sepset is not None or not answer.complete


@both_ways
def test_there_may_be_more_rows_than_a_short_integer_counts(compiled: bool) -> None:
    chain = population(np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]), n=3_000_000_000)
    assert FisherZ(chain, compiled=compiled).find_sepset(SepsetQuery(0, 2, (1,))).sepset == {1}


@both_ways
def test_a_budget_may_be_any_whole_number(compiled: bool) -> None:
    test = FisherZ(population(np.eye(3), 50), compiled=compiled)
    assert test.find_sepset(SepsetQuery(0, 1, (2,), max_tests=10**30)).sepset == set()


@given(st.floats(1e-12, 0.999), st.integers(0, 120), st.integers(130, 10**6))
def test_critical_values_are_where_the_pvalue_is_alpha(alpha: float, size: int, n: int) -> None:
    test = FisherZ(population(np.eye(2), n))
    critical = test.critical_at(alpha, size)
    assert test.critical(alpha)[size] == pytest.approx(critical, rel=1e-12)
    assert pvalue_of(critical, n - size - 3) == pytest.approx(alpha, rel=1e-6)
    assert pvalue_of(critical * 1.001, n - size - 3) < alpha < pvalue_of(critical * 0.999, n - size - 3)


def test_critical_values_reach_as_far_as_the_rows() -> None:
    assert len(FisherZ(population(np.eye(2), 10)).critical(0.01)) == 7


# --- all pairs given the rest -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(50, 3), (200, 20), (45, 40)])
def test_all_pairs_given_the_rest_are_what_single_tests_say(n: int, p: int) -> None:
    test = FisherZ(correlated(np.random.default_rng(p), n, p))
    for alpha in (0.3, 0.01, 1e-6):
        dependent = test.dependent_given_rest(alpha)
        assert not dependent.diagonal().any()
        for x, y in combinations(range(p), 2):
            p_single = test.pvalue(x, y, [z for z in range(p) if z not in (x, y)])
            assert dependent[x, y] == dependent[y, x] == (p_single <= alpha)


def test_many_variables_give_the_same_by_another_route() -> None:
    """Beyond 400 variables LAPACK inverts from the Cholesky factor."""
    p, n = 430, 1500
    test = FisherZ(np.random.default_rng(6).normal(size=(n, p)) @ (np.eye(p) + 0.5 * np.eye(p, k=1)))
    precision = np.linalg.inv(test.correlation)
    scale = np.sqrt(np.diag(precision))
    expected = 2 * norm.sf(math.sqrt(n - p - 1) * np.abs(np.arctanh(precision / np.outer(scale, scale) * 0.999999999)))
    dependent = test.dependent_given_rest(0.05)
    clear = (np.abs(expected - 0.05) > 1e-6) & ~np.eye(p, dtype=bool)
    assert 1000 < np.count_nonzero(dependent) < p * p / 2
    assert (dependent == dependent.T).all()
    assert (dependent == (expected <= 0.05))[clear].all()
    for x, y in np.argwhere(clear)[::60_013].tolist():
        assert dependent[x, y] == (test.pvalue(x, y, [z for z in range(p) if z not in (x, y)]) <= 0.05)


def test_all_pairs_given_the_rest_need_two_rows_more_than_variables() -> None:
    rng = np.random.default_rng(7)
    assert FisherZ(rng.normal(size=(12, 10))).dependent_given_rest(0.5).shape == (10, 10)
    with pytest.raises(CITestError, match="10 variables needs at least 12 rows, there are 11"):
        FisherZ(rng.normal(size=(11, 10))).dependent_given_rest(0.5)


@pytest.mark.parametrize("p", [10, 410])
def test_collinear_columns_are_named_instead_of_inverted(p: int) -> None:
    table = np.random.default_rng(8).normal(size=(p + 100, p))
    table[:, 7] = table[:, 2] - 3 * table[:, 4]
    with pytest.raises(DataError, match="column 'X7' is determined by 'X2', 'X4'"):
        FisherZ(table).dependent_given_rest(0.01)


# --- near-singular submatrices ----------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6])
def test_a_conditioning_variable_that_the_others_determine_adds_nothing(noise: float, compiled: bool) -> None:
    rng = np.random.default_rng(9)
    table = correlated(rng, 300, 6)
    table[:, 5] = table[:, 2] + table[:, 3] + noise * rng.normal(size=300)
    test = FisherZ(table, compiled=compiled)
    alone = squared_partial_correlation(test.correlation, 0, 1, [2, 3])
    for order in ([2, 3, 5], [5, 3, 2], [3, 5, 2]):
        assert test.pvalue(0, 1, order) == pytest.approx(pvalue_of(alone, 300 - 3 - 3), abs=1e-3)


@both_ways
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6])
def test_a_variable_that_the_set_determines_is_never_found_independent(noise: float, compiled: bool) -> None:
    rng = np.random.default_rng(10)
    table = correlated(rng, 300, 5)
    table[:, 4] = table[:, 0] + noise * rng.normal(size=300)
    test = FisherZ(table, compiled=compiled)
    assert test.pvalue(0, 1, [4]) == 0.0  # X0 given its copy
    assert test.pvalue(1, 4, [0, 2]) == 0.0
    assert test.pvalue(0, 4, []) == 0.0
    assert test.find_sepset(SepsetQuery(0, 1, (4,), alpha=0.5, max_size=1)).sepset != {4}


@both_ways
def test_less_extreme_copies_are_tested_as_any_other_variable(compiled: bool) -> None:
    rng = np.random.default_rng(11)
    table = correlated(rng, 300, 5)
    table[:, 4] = table[:, 0] + 1e-3 * rng.normal(size=300)
    r = np.corrcoef(residual(table, 0, [4]), residual(table, 1, [4]))[0, 1]
    assert FisherZ(table, compiled=compiled).pvalue(0, 1, [4]) == pytest.approx(textbook(r, 300, 1), rel=1e-6)


@both_ways
@given(seed=st.integers(0, 10**6), exact=st.booleans())
def test_pvalues_are_probabilities_whatever_the_matrix(compiled: bool, seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(8, 3 if exact else 8)) * 10.0 ** rng.integers(-6, 1, size=(8, 1))
    test = FisherZ(population(loadings @ loadings.T + 1e-30 * np.eye(8), 50), compiled=compiled)
    for _ in range(10):
        x, y, *given = rng.permutation(8)[: rng.integers(2, 9)].tolist()
        assert 0.0 <= test.pvalue(x, y, given) <= 1.0


# --- without the kernel -----------------------------------------------------------------------------------


@pytest.mark.skipif(not BUILT, reason="the kernel is not built")
def test_the_active_search_is_the_compiled_one_where_it_was_built() -> None:
    assert kernel_name() == "compiled"
    assert FisherZ(population(np.eye(3), 50)).compiled


def test_everything_works_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    table = moments_of(correlated(np.random.default_rng(12), 500, 10))
    expected = LMarvel().fit(table).result_
    monkeypatch.setattr(fisher_z, "_tests", None)
    assert kernel_name() == "readable"
    fisher_z._say_that_it_is_slow.cache_clear()
    with pytest.warns(LMarvelWarning, match="the compiled search was not built"):
        assert not FisherZ(table, compiled=True).compiled
    found = LMarvel().fit(table).result_  # said once is enough
    assert found.pag == expected.pag
    assert found.stats.tests == expected.stats.tests


def test_the_package_imports_without_the_kernel() -> None:
    code = (
        "import sys; sys.modules['lmarvel.engine._engine'] = None\n"
        "from lmarvel.ci.fisher_z import kernel_name; print(kernel_name())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "readable\n"
