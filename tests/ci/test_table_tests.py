"""The tests for tables that are not all numbers: formulas, invariances, what is refused, what is chosen."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lmarvel import PAG, DataError, Dataset, FisherZ, Lift, LMarvel, ParameterError
from lmarvel.ci.block_gaussian import BlockGaussian, chi_square_tail
from lmarvel.ci.blocks import blocks_of, indicators, normal_scores
from lmarvel.ci.g_square import Cumulants, GSquare, cumulants_given_margins, tail
from lmarvel.ci.registry import TESTS, as_ci_test, chosen_for
from lmarvel.ci.table_test import TableTest, _tests
from tests.ci.tables_made import KINDS, discrete, levels, mixed, on_blocks, twins, with_gaps

# --- formulas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1, 2, 3, 8, 51, 400, 5001])
def test_the_tail_of_the_chi_square_distribution(df: int) -> None:
    for share in (0.05, 0.7, 1.0, 1.3, 2.0, 8.0):
        p = stats.chi2.sf(share * df, df)
        assert math.isclose(chi_square_tail(share * df, df), p, rel_tol=1e-7, abs_tol=1e-290)
    assert chi_square_tail(0.0, df) == 1.0
    assert chi_square_tail(math.inf, df) == 0.0


@pytest.mark.parametrize("df", [10**6 + 1, 10**9, 10**9 + 1, 2**53, 2**62])
def test_the_tail_with_very_many_degrees_of_freedom_ends(df: int) -> None:
    for z in (-3.0, 0.0, 1.0, 4.0):
        statistic = df + z * math.sqrt(2.0 * df)
        assert math.isclose(chi_square_tail(statistic, df), stats.chi2.sf(statistic, df), rel_tol=1e-4)
    assert chi_square_tail(1e3 * df, df) == 0.0
    assert math.isnan(chi_square_tail(math.nan, df))


@pytest.mark.parametrize("compiled", [True, False])
def test_single_columns_are_tested_by_fishers_z_to_the_last_bit(compiled: bool) -> None:
    data = mixed(np.random.default_rng(0), 500, 5)
    blocks, numbers = on_blocks(data, compiled=compiled), FisherZ({k: v for k, v in data.items() if k != "V2"})
    one, other = blocks.correlation, numbers.correlation
    kept = [0, 1, 4, 5]
    if not np.array_equal(one[np.ix_(kept, kept)], other):  # a product of more columns may round otherwise
        assert np.abs(one[np.ix_(kept, kept)] - other).max() < 1e-14
        return
    for x, y, zs in ((0, 1, ()), (0, 3, (1,)), (1, 4, (0, 3))):
        place = {0: 0, 1: 1, 3: 2, 4: 3}
        assert blocks.pvalue(x, y, zs) == numbers.pvalue(place[x], place[y], [place[z] for z in zs])


def test_rounding_that_leaves_two_correlations_of_a_pair_unequal_does_not_part_the_twins() -> None:
    unequal = 0
    for seed in range(20):
        data = mixed(np.random.default_rng(seed), 500, 5)
        compiled, readable = (on_blocks(data, compiled=flag) for flag in (True, False))
        unequal += not np.array_equal(compiled.correlation, compiled.correlation.T)
        for x, y in ((0, 1), (0, 3), (1, 4), (4, 1)):
            assert compiled.pvalue(x, y, ()) == readable.pvalue(x, y, ())
    assert unequal


def test_lambda_is_that_of_wilks() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 400), rng.integers(0, 4, 400)
    c = rng.normal(size=400) + a
    test = on_blocks({"a": levels(a), "b": levels(b), "c": c})
    X, Y, Z = (np.eye(k)[codes][:, 1:] for k, codes in ((3, a), (4, b), (2, np.zeros(400, int))))
    Z = np.column_stack([np.ones(400), c])
    left = [M - Z @ np.linalg.lstsq(Z, M, rcond=None)[0] for M in (X, Y)]
    S = np.cov(np.column_stack(left).T)
    wilks = np.linalg.det(S) / (np.linalg.det(S[:2, :2]) * np.linalg.det(S[2:, 2:]))
    found = test.result(0, 1, (2,))
    assert found is not None
    assert found.df == 6
    assert math.isclose(found.statistic, -(400 - 1 - 1 - (2 + 3 + 1) / 2) * math.log(wilks), rel_tol=1e-9)


def test_g_square_is_pearsons_statistic_where_tables_are_full() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3, 20_000), rng.integers(0, 2, 20_000)
    counts = np.zeros((3, 2))
    np.add.at(counts, (a, b), 1)
    expected = stats.chi2_contingency(counts, correction=False)
    found = GSquare({"a": levels(a), "b": levels(b)}).result(0, 1, ())
    assert found is not None
    assert found.df == expected.dof == 2
    assert math.isclose(found.statistic, expected.statistic, rel_tol=1e-9)
    assert math.isclose(found.pvalue, expected.pvalue, rel_tol=1e-2)


def test_empty_rows_and_columns_of_a_stratum_have_no_degrees_of_freedom() -> None:
    z = np.repeat([0, 1], 200)
    rng = np.random.default_rng(3)
    x = np.where(z == 0, rng.integers(0, 2, 400), rng.integers(0, 3, 400))  # the third level is in one stratum only
    test = GSquare({"x": levels(x), "y": levels(rng.integers(0, 2, 400)), "z": levels(z)})
    found = test.result(0, 1, (2,))
    assert found is not None
    assert found.df == 1 + 2


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([2, 3], [4, 1]),
        ([2, 2, 1], [3, 2]),
        ([1, 2], [1, 1, 1]),
        ([5, 1], [4, 2]),
        ([3, 2, 2], [4, 2, 1]),
        ([6, 1], [3, 4]),
        ([2, 2, 2, 2], [4, 3, 1]),
    ],
)
def test_moments_given_the_margins_are_exact(rows: list[int], columns: list[int]) -> None:
    one, two = np.repeat(range(len(rows)), rows), np.repeat(range(len(columns)), columns)
    of_rows, of_columns = np.eye(len(rows))[one], np.eye(len(columns))[two]
    orders = np.array(list(permutations(range(len(two)))))
    counts = np.einsum("ia,pib->pab", of_rows, of_columns[orders])
    expected = np.outer(rows, columns) / sum(rows)
    found = ((counts - expected) ** 2 / expected).sum(axis=(1, 2))
    told = cumulants_given_margins(np.array(rows, float), np.array(columns, float))
    np.testing.assert_allclose(told[:2], (found.mean(), found.var()), atol=1e-9)
    if sum(rows) >= 6:  # below it is that of a gamma distribution
        assert math.isclose(told.third, ((found - found.mean()) ** 3).mean(), abs_tol=1e-9)


def test_with_many_rows_the_cumulants_are_those_of_chi_square() -> None:
    told = cumulants_given_margins(np.full(3, 4e6), np.array([2e6, 4e6, 1e6, 5e6]))
    np.testing.assert_allclose(told, (6, 2 * 6, 8 * 6), rtol=1e-5)
    for statistic in (0.5, 6.0, 30.0):
        assert math.isclose(tail(statistic, told), stats.chi2.sf(statistic, 6), rel_tol=1e-4)


@pytest.mark.parametrize(
    "known",
    [
        stats.beta(1.5, 40, scale=90),
        stats.beta(30, 2, scale=40),
        stats.betaprime(3, 12, scale=7),
        stats.betaprime(60, 400, scale=90),
        stats.gamma(2.3, scale=5),
        stats.gamma(200, scale=2),
    ],
)
def test_the_tail_is_that_of_the_distribution_with_these_cumulants(known: Any) -> None:
    mean, variance, skewness = (float(moment) for moment in known.stats("mvs"))
    cumulants = Cumulants(mean, variance, skewness * variance**1.5)
    for share in (0.999, 0.7, 0.5, 0.05, 1e-3, 1e-12):
        statistic = float(known.isf(share))
        assert math.isclose(tail(statistic, cumulants), share, rel_tol=1e-4)
        if _tests is not None:
            compiled = _tests.tail_by_chance(statistic, *cumulants)
            assert math.isclose(compiled, tail(statistic, cumulants), rel_tol=1e-9)
    assert tail(0.0, cumulants) == 1.0


def test_levels_with_one_or_two_rows_in_a_stratum_are_taken_together_or_left_out() -> None:
    rng = np.random.default_rng(21)
    x = np.repeat([0, 1, 2, 3], [60, 60, 2, 2])  # the last two together have four rows
    y = np.repeat([0, 1], 62)[rng.permutation(124)]
    two_with_y = {"x": levels(x), "y": levels(y)}
    merged = {"x": levels(np.minimum(x, 2)), "y": levels(y)}
    assert GSquare(two_with_y).result(0, 1, ()) == GSquare(merged).result(0, 1, ())
    kept = x != 3
    kept &= np.cumsum(x == 2) <= 2
    left = {"x": levels(x[kept]), "y": levels(y[kept])}  # now the third has two rows and nobody to go with
    without = {"x": levels(x[x < 2]), "y": levels(y[x < 2])}
    for compiled in (True, False):
        assert GSquare(left, compiled).result(0, 1, ()) == GSquare(without, compiled).result(0, 1, ())


@pytest.mark.parametrize("compiled", [True, False])
def test_where_all_levels_have_few_rows_they_are_compared_as_they_are(compiled: bool) -> None:
    z = np.repeat(np.arange(20), 20)
    x, y = (np.where(np.arange(400) % 20 == at, 1, 0) for at in (3, 11))  # one row of each stratum
    found = GSquare({"x": levels(x), "y": levels(y), "z": levels(z)}, compiled).result(0, 1, (2,))
    assert found is not None
    assert found.df == 20
    assert 0.2 < found.pvalue < 1  # never the same row, as in one stratum out of 20


# --- what must not matter ---------------------------------------------------------------------------------


def marks_by_name(pag: PAG) -> dict[tuple[str, str], int]:
    names = pag.names
    return {(a, b): int(pag.marks[i, j]) for i, a in enumerate(names) for j, b in enumerate(names)}


@pytest.mark.parametrize("name", ["mixed", "curved", "rank", "g-square"])
def test_neither_the_codes_of_levels_nor_the_order_of_columns_matter(name: str) -> None:
    rng = np.random.default_rng(4)
    table: dict[str, Any] = discrete(rng, 1500, 7, most=3) if name == "g-square" else mixed(rng, 800, 8)
    swapped = {f"l{i}": f"m{j}" for i, j in ((0, 2), (1, 0), (2, 1))}
    other = {
        column: [swapped[v] for v in values] if isinstance(values, list) else values
        for column, values in reversed(table.items())
    }
    one, two = (LMarvel(test=name).fit(data).result_ for data in (table, other))
    assert marks_by_name(one.pag) == marks_by_name(two.pag)
    assert {frozenset(pair): s for pair, s in one.sepsets.items()} == {
        frozenset(pair): s for pair, s in two.sepsets.items()
    }
    assert one.stats.n_tests == two.stats.n_tests


def test_ranks_do_not_depend_on_the_scale() -> None:
    a = np.random.default_rng(5).normal(size=200)
    assert np.allclose(normal_scores(a), normal_scores(np.exp(3 * a)))
    assert np.allclose(normal_scores(a, np.full(200, 2.0)), normal_scores(a))
    ties = normal_scores(np.array([1.0, 1.0, 7.0, 7.0]))
    assert ties[0] == ties[1] == -ties[2]


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, (300, 3))
    table = {f"V{i}": np.array(levels(codes[:, i])) for i in range(3)}
    weights = np.repeat([1.0, 2.0], 150)
    doubled = {k: np.concatenate([v, v[150:]]).tolist() for k, v in table.items()}
    whole, light = GSquare(doubled), GSquare(Dataset.of({k: v.tolist() for k, v in table.items()}, weights=weights))
    one, other = whole.result(0, 1, (2,)), light.result(0, 1, (2,))
    assert one is not None
    assert other is not None
    assert one.df == other.df
    assert math.isclose(one.statistic * light.n / whole.n, other.statistic, rel_tol=1e-9)
    resampled = Dataset.of({k: v.tolist() for k, v in table.items()}).resample(1)
    assert GSquare(resampled).n == 300


def test_rows_with_gaps_are_left_out_of_the_tests_that_need_them_alone() -> None:
    rng = np.random.default_rng(8)
    table = discrete(rng, 800, 5, most=2)
    gappy = GSquare(with_gaps(np.random.default_rng(9), table, 0.2))
    whole = GSquare(table)
    assert gappy.result(0, 2, (4,)) == whole.result(0, 2, (4,))
    kept = gappy._codes[1] != 65535
    part = GSquare({k: [v for v, keep in zip(column, kept, strict=True) if keep] for k, column in table.items()})
    one, other = gappy.result(0, 1, (2,)), part.result(0, 1, (2,))
    assert one is not None
    assert other is not None
    assert one.df == other.df
    assert math.isclose(one.pvalue, other.pvalue, rel_tol=1e-9)


# --- what they find ---------------------------------------------------------------------------------------


def test_curves_are_seen_by_the_curved_test_alone() -> None:
    rng = np.random.default_rng(10)
    a = rng.normal(size=1000)
    table = {"a": a, "b": a**2 + rng.normal(size=1000), "c": rng.normal(size=1000)}
    straight, bent = (as_ci_test(name, Dataset.of(table)) for name in ("fisher-z", "curved"))
    assert bent.pvalue(0, 1, []) < 1e-20 < straight.pvalue(0, 1, [])
    assert bent.pvalue(0, 2, []) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_strong_dependences_are_told_from_stronger_ones(kind: str) -> None:
    test, _ = twins(np.random.default_rng(12), kind, 700, 7)
    growth = test.growth(0)
    evidence, critical = growth.candidates(0.01)
    assert evidence[0] == -math.inf
    for v in range(1, 7):
        assert (evidence[v] > critical) == (test.pvalue(0, v, []) <= 0.01)


def test_evidence_goes_on_where_p_values_end() -> None:
    rng = np.random.default_rng(13)
    a = rng.integers(0, 2, 6000)
    copy = {share: np.where(rng.random(6000) < share, 1 - a, a) for share in (0.02, 0.1)}
    test = GSquare({"a": levels(a), "near": levels(copy[0.02]), "far": levels(copy[0.1])})
    assert test.pvalue(0, 1, []) == test.pvalue(0, 2, []) == 0.0
    assert test.evidence(0, 1, []) > test.evidence(0, 2, []) > 700


def test_a_set_that_determines_a_variable_separates_it_from_nothing() -> None:
    rng = np.random.default_rng(14)
    a, b = rng.integers(0, 2, (2, 900))
    table = {"a": levels(a), "b": levels(b), "ab": levels(2 * a + b), "c": rng.normal(size=900)}
    tests: list[TableTest] = [on_blocks(table, compiled=compiled) for compiled in (True, False)]
    del table["c"]
    tests += [GSquare(table, compiled=compiled) for compiled in (True, False)]
    for test in tests:
        assert test.pvalue(0, 1, (2,)) == 0.0


@pytest.mark.parametrize("form", ["plain", "rank"])
def test_moments_of_blocks_are_found_around_gaps(form: Any) -> None:
    rng = np.random.default_rng(22)
    n = 6000
    code = rng.integers(0, 3, n)
    number = np.array([0.0, 2.0, 1.0])[code] + rng.normal(size=n)
    last = number + rng.normal(size=n)
    whole: dict[str, Any] = {"code": levels(code), "number": number, "last": last}
    lost = rng.random(n) < np.where(last > 1, 0.4, 0.05)  # whether a level was noted depends on what was observed
    gappy = whole | {"code": [None if gone else level for gone, level in zip(lost, whole["code"], strict=True)]}
    known, em, drop = (
        on_blocks(Dataset.of(table, missing=missing), form)
        for table, missing in ((whole, "refuse"), (gappy, "em"), (gappy, "drop"))
    )
    away = [np.abs(test.blocks.moments.mean - known.blocks.moments.mean).max() for test in (em, drop)]
    assert away[0] < 0.03 < away[1]
    assert drop.n < em.n < n
    assert em.pvalue(0, 2, (1,)) > 0.001 > em.pvalue(0, 2, ())


def test_auto_learns_from_levels_beside_numbers_with_gaps() -> None:
    rng = np.random.default_rng(23)
    code = rng.integers(0, 3, 900)
    number = np.array([0.0, 2.0, 1.0])[code] + rng.normal(size=900)
    last = np.where(rng.random(900) < 0.2, np.nan, number + rng.normal(size=900))
    found = LMarvel().fit({"code": levels(code), "number": number, "last": last}, missing="em").result_
    assert found.settings["test"] == "mixed"
    assert found.sepsets["code", "last"] == {"number"}


# --- what is refused --------------------------------------------------------------------------------------


def table_with(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(15)
    return {"a": levels(rng.integers(0, 3, 60)), "b": rng.normal(size=60), **more}


def test_bad_tables_are_refused_by_name() -> None:
    rng = np.random.default_rng(16)
    with pytest.raises(DataError, match="'b' has numbers"):
        as_ci_test("g-square", Dataset.of(table_with()))
    with pytest.raises(DataError, match="'a' has categories without an order: use test='mixed'"):
        as_ci_test("fisher-z", Dataset.of(table_with()))
    wide = {name: levels(rng.permutation(np.repeat(np.arange(6), 10))) for name in "ab"}
    with pytest.raises(DataError, match=r"60 rows are too few to test .* which needs 180"):
        GSquare(wide)
    city = rng.permutation(np.repeat(np.arange(6), 10))
    twice = {"city": levels(city), "b": (b := rng.normal(size=60)), "c": 2 * b}
    with pytest.raises(DataError, match="'b' determines 'c'"):
        as_ci_test("mixed", Dataset.of(twice))
    height = b + np.arange(6)[city]
    with pytest.raises(DataError, match="'height' is determined by 'city', 'b'"):
        as_ci_test("mixed", Dataset.of({"city": levels(city), "b": b, "height": height}))
    with pytest.raises(DataError, match=r"'b' .*: test='curved' needs whole rows"):
        as_ci_test("curved", Dataset.of(table_with(b=[None, *rng.normal(size=59)]), missing="em"))
    with pytest.raises(DataError, match="has one category"):
        indicators(np.zeros(5, int), name="a")
    with pytest.raises(
        ParameterError, match="'auto', 'fisher-z', 'rank', 'scores', 'skewed', 'g-square', 'mixed', 'curved'"
    ):
        LMarvel(test="chi").fit(table_with())


def test_categories_may_determine_each_other_and_hide_no_edge() -> None:
    """A copy, a coarser category and the number of a category: what depends on them still does."""
    rng = np.random.default_rng(18)
    city = rng.integers(0, 6, 900)
    table: dict[str, Any] = {"city": levels(city), "copy": levels(5 - city), "country": levels(city // 3)}
    table |= {"height": 100.0 * city**2, "rain": city + rng.normal(size=900), "noise": rng.normal(size=900)}
    for options in ({}, {"boundary": "tc"}, {"boundary": "iamb"}):
        found = LMarvel(test="mixed", **options).fit(table).result_
        joined = {frozenset(edge[:2]) for edge in found.pag.edges()}
        assert {frozenset((place, "rain")) for place in ("city", "copy", "height")} <= joined
        assert frozenset(("city", "copy")) in joined
        assert not any("noise" in pair for pair in joined)
    [said] = [note for note in found.notes if "determines" in note]
    assert "city determines country and height" in said
    assert "copy is a copy of city" in said
    assert Lift(test="mixed").fit(table).result_.pag.n_edges >= 4


def test_a_category_with_one_row_decides_nothing() -> None:
    """As an indicator of its own it would be an outlier of sixty standard deviations beside another such row."""
    rng = np.random.default_rng(19)
    a, b = rng.integers(0, 3, (2, 400))
    a[7], b[7] = 3, 3
    rare, plain = ({"a": levels(x), "b": levels(y)} for x, y in ((a, b), (np.delete(a, 7), np.delete(b, 7))))
    p = [as_ci_test("mixed", Dataset.of(table)).pvalue(0, 1, ()) for table in (rare, plain)]
    assert p[0] == pytest.approx(p[1], abs=0.05)
    assert min(p) > 0.01
    codes = np.array([0] * 50 + [1] * 9 + [2, 3, 4])
    assert [column.sum() for column in indicators(codes)] == [9, 3]
    assert [column.sum() for column in indicators(codes[:-2])] == [9]
    assert [column.sum() for column in indicators(np.array([0, 0, 0, 1]))] == [1]


def test_total_conditioning_needs_rows_for_all_columns() -> None:
    rng = np.random.default_rng(17)
    table = {f"V{v}": levels(rng.permutation(np.repeat(np.arange(4), 10))) for v in range(14)}
    found = LMarvel(test="mixed").fit(table).result_
    assert found.settings["boundary"] == "iamb"


# --- what is chosen ---------------------------------------------------------------------------------------


def test_auto_chooses_by_the_kinds() -> None:
    rng = np.random.default_rng(18)
    assert chosen_for(Dataset.of(rng.normal(size=(50, 3)))) == ("fisher-z", None)
    assert chosen_for(Dataset.of(table_with())) == ("mixed", "mixed: 1 of 2 columns has categories")
    many, few = (Dataset.of({k: levels(rng.integers(0, 2, n)) for k in "abcd"}) for n in (400, 70))
    assert chosen_for(many)[0] == "g-square"
    assert chosen_for(few)[0] == "mixed"
    settings = LMarvel().fit(many).result_.settings
    assert settings["test"] == "g-square"
    assert settings["test_chosen"] == "g-square: all columns have categories, and 400 rows are enough for sets of 2"
    assert "test_chosen" not in LMarvel().fit(rng.normal(size=(50, 3))).result_.settings


def test_auto_sees_curves_beside_categories_with_any_number_of_rows() -> None:
    rng = np.random.default_rng(20)
    cause = rng.normal(size=1200)
    table = {"cause": cause, "ill": levels(cause + rng.normal(size=1200) > 1), "dose": cause**2 + rng.normal(size=1200)}
    for rows in (300, 999, 1000, 1200):
        part = Dataset.of({k: v[:rows] for k, v in table.items()})
        assert chosen_for(part) == ("mixed", "mixed: 1 of 3 columns has categories")
    found = LMarvel().fit(table).pag_
    assert found.has_edge("cause", "dose")
    assert not found.has_edge("ill", "dose")


def test_numbers_alone_are_tested_as_before() -> None:
    table = np.random.default_rng(19).normal(size=(300, 4))
    table[:, 3] += table[:, 0]
    one, other = LMarvel(test="mixed").fit(table).result_, LMarvel(test="fisher-z").fit(table).result_
    assert one.trace == other.trace
    assert isinstance(as_ci_test("rank", Dataset.of(table)).test, FisherZ)


def test_every_test_says_when_to_use_it() -> None:
    assert all(len(test.use) > 30 for test in TESTS.values())


def test_blocks_stay_together_in_another_order() -> None:
    data = Dataset.of(mixed(np.random.default_rng(20), 200, 6))
    blocks = blocks_of(data)
    turned = blocks.take([5, 2, 0, 1, 3, 4])
    assert turned.names == ("V5", "V2", "V0", "V1", "V3", "V4")
    assert [len(turned.columns(v)) for v in range(6)] == [2, 2, 1, 1, 1, 1]
    one, other = BlockGaussian(data, blocks), BlockGaussian(data, turned)
    assert math.isclose(one.pvalue(0, 5, (2,)), other.pvalue(2, 0, (1,)), rel_tol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["plain", "rank"])
def test_blocks_have_the_moments_of_their_columns(form: Any, weighted: bool) -> None:
    rng = np.random.default_rng(4)
    n = 2500
    code, number = rng.integers(0, 4, n), 1e6 + rng.normal(size=n)
    weights = rng.integers(0, 3, n).astype(float) if weighted else None
    table = {"a": number, "b": levels(code), "c": number + code + rng.normal(size=n), "d": code * 2 - 1 > 2}
    data = Dataset.of(table, weights=weights)
    blocks = blocks_of(data, form)
    assert blocks_of(data, form) is blocks  # they are made once
    columns: list[Any] = []
    for name in table:
        values = np.asarray(table[name], dtype=float) if name in "ac" else None
        if values is None:
            codes = code if name == "b" else (code * 2 - 1 > 2).astype(int)
            columns += indicators(codes, weights)
        else:
            columns.append(values if form == "plain" else normal_scores(values, weights))
    expected = np.cov(columns, bias=True, aweights=weights)
    np.testing.assert_allclose(blocks.moments.covariance, expected, atol=1e-9)
    np.testing.assert_allclose(blocks.moments.mean, np.average(columns, axis=1, weights=weights), atol=1e-9)


def test_codes_are_not_taken_for_levels_that_look_like_them() -> None:
    for values, expected in (
        ([-1, 1, 1, -1], [0, 1, 1, 0]),
        ([0, 0.5, 2, 2], [0, 1, 2, 2]),
        ([1, 2, 3, 1], [0, 1, 2, 0]),
    ):
        data = Dataset.of({"a": values, "b": [1.0, 5.0, 2.0, 4.0][: len(values)]}, categorical=["a"])
        assert data.codes()[:, 0].tolist() == expected
