"""The test of products of residuals: its twins, what must not matter, what it sees, and hard tables."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lmarvel import DataError, Dataset, FisherZ, LMarvel
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.ci.registry import as_ci_test
from lmarvel.engine.run import is_built
from tests.ci.tables_made import levels
from tests.ci.test_glm import mixed_table

needs_engine = pytest.mark.skipif(not is_built(), reason="the engine is not built")


def asked(data: st.DataObject, variables: int) -> tuple[int, int, list[int]]:
    """Draw a pair and a set."""
    order = data.draw(st.permutations(range(variables)))
    return order[0], order[1], sorted(order[2 : 2 + data.draw(st.integers(0, 2))])


@needs_engine
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.data())
def test_compiled_and_readable_tests_agree(seed: int, weighted: bool, data: st.DataObject) -> None:
    table = mixed_table(seed, n=250, weighted=weighted)
    one, two = ResidualProducts(table), ResidualProducts(table, compiled=False)
    x, y, zs = asked(data, 6)
    for first, second in (
        (one.result(x, y, zs), two.result(x, y, zs)),
        (one.result_by_target(x, y, zs), two.result_by_target(x, y, zs)),
    ):
        assert first is not None
        assert second is not None
        assert first.df == second.df
        assert first.pvalue == pytest.approx(second.pvalue, rel=1e-2, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_neither_order_of_the_pair_nor_of_rows_nor_names_of_categories_matter(seed: int, data: st.DataObject) -> None:
    table = mixed_table(seed, n=250)
    x, y, zs = asked(data, 6)
    pvalue = ResidualProducts(table).pvalue(x, y, zs)
    assert ResidualProducts(table).pvalue(y, x, zs) == pytest.approx(pvalue, rel=1e-9)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(250)
    values = table.values()[rows]
    columns: dict[str, Any] = {name: values[:, v] for v, name in enumerate(table.names)}
    for name in ("three", "four"):
        shuffled = rng.permutation(["k", "l", "m", "n"])
        columns[name] = [shuffled[int(code)] for code in columns[name]]
    assert ResidualProducts(columns).pvalue(x, y, zs) == pytest.approx(pvalue, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(("x", "y"), [("a", "b"), ("a", "two"), ("three", "b"), ("three", "four"), ("count", "two")])
def test_weights_are_repeated_rows(x: str, y: str) -> None:
    table = mixed_table(5, n=200)
    times = np.random.default_rng(5).integers(1, 3, 200)
    columns = {name: table.values()[:, v] for v, name in enumerate(table.names)}
    said = {"categorical": ["three", "four"]}
    test = ResidualProducts(Dataset.of({**columns, "w": times.astype(float)}, weights="w", **said))
    repeated = ResidualProducts(Dataset.of({n: np.repeat(c, times) for n, c in columns.items()}, **said))
    at = (table.names.index(x), table.names.index(y), [5] if y != "four" else [0])
    one, two = test.result(*at), repeated.result(*at)
    assert one is not None
    assert two is not None
    assert one.df == two.df
    assert one.statistic / test.table.rows == pytest.approx(two.statistic / repeated.table.rows, rel=0.05)


def test_given_nothing_two_categories_are_tested_about_as_pearson_does() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 900)
    b = np.where(rng.random(900) < 0.05, a, rng.integers(0, 3, 900))
    found = ResidualProducts({"a": levels(a), "b": levels(b)}).result(0, 1, ())
    assert found is not None
    table = np.zeros((3, 3))
    np.add.at(table, (a, b), 1)
    assert found.df == 4
    assert found.statistic == pytest.approx(stats.chi2_contingency(table).statistic, rel=0.1)


def test_lines_bends_and_categories_are_seen() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=800)
    table = {
        "x": x,
        "line": 0.3 * x + rng.normal(size=800),
        "bend": x**2 + rng.normal(size=800),
        "group": levels((x + rng.normal(size=800) > 0).astype(int) + (np.abs(x) > 1)),
        "noise": rng.normal(size=800),
    }
    test = ResidualProducts(table)
    assert all(test.pvalue(0, v, ()) < 1e-4 for v in (1, 2, 3))
    assert test.pvalue(0, 4, (1, 2, 3)) > 0.01


def test_strong_common_causes_of_categories_are_taken_out() -> None:
    """The block Gaussian test takes chances for sums, and is wrong here."""
    rng = np.random.default_rng(2)
    rejected = {"products": 0, "blocks": 0}
    for _ in range(40):
        z = rng.normal(size=(2, 2000))
        ends = [(rng.random(2000) < 1 / (1 + np.exp(-2.5 * (z[0] + z[1])))) * 1 for _ in range(2)]
        data = {"x": ends[0], "y": ends[1], "z": z[0], "w": z[1]}
        rejected["products"] += ResidualProducts(data).pvalue(0, 1, (2, 3)) < 0.01
        rejected["blocks"] += FisherZ(data).pvalue(0, 1, (2, 3)) < 0.01
    assert rejected["products"] <= 3
    assert rejected["blocks"] >= 15


# --- hard tables ------------------------------------------------------------------------------------------


def test_a_category_with_one_row_is_no_dead_end() -> None:
    rng = np.random.default_rng(3)
    group = ["rare", *rng.choice(["a", "b"], 199)]
    test = ResidualProducts({"x": rng.normal(size=200), "y": levels(rng.integers(0, 2, 200)), "g": group})
    for x, y in permutations(range(3), 2):
        assert 0.0 < test.pvalue(x, y, [3 - x - y]) <= 1.0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_variable_that_the_set_determines_is_never_called_independent(compiled: bool) -> None:
    rng = np.random.default_rng(4)
    z = rng.integers(0, 4, 300)
    table = {
        "x": levels(z // 2),
        "y": rng.normal(size=300),
        "z": levels(z),
        "number": z + 0.0,
        "w": rng.normal(size=300),
    }
    test = ResidualProducts(Dataset.of(table), compiled)
    assert test.pvalue(0, 1, (2,)) == 0.0  # categories that categories determine
    assert test.pvalue(3, 1, (2,)) == 0.0  # a number that categories determine
    assert test.pvalue(4, 1, (2,)) > 0.001


def test_separated_categories_have_p_values() -> None:
    rng = np.random.default_rng(5)
    z, y = rng.normal(size=(2, 200))
    nearly = (z > 0).astype(int)
    nearly[:4] = 1 - nearly[:4]
    test = ResidualProducts({"x": levels(nearly), "y": y, "z": z})
    assert 0.0 < test.pvalue(0, 1, (2,)) <= 1.0
    assert test.pvalue(0, 2, ()) < 1e-6


def test_many_categories_are_no_dead_end() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 12, (2, 300))
    test = ResidualProducts({"a": levels(a), "b": levels(b), "c": rng.normal(size=300)})
    found = test.result(0, 1, ())
    assert found is not None
    assert found.df <= 30  # of 121 products, as many as the rows carry
    assert found.pvalue > 1e-3


def test_too_few_rows_are_refused_with_numbers() -> None:
    with pytest.raises(DataError, match=r"8 rows are too few: a test needs 5 for each of its columns"):
        ResidualProducts({"a": np.arange(8.0), "b": ["x", "y"] * 4})
    rng = np.random.default_rng(7)
    test = ResidualProducts({**{f"v{i}": rng.normal(size=60) for i in range(8)}, "g": ["x", "y"] * 30})
    assert test.result(0, 8, (1, 2, 3, 4)) is None
    assert test.pvalue(0, 8, (1, 2, 3, 4)) == 0.0
    assert test.largest_set < 4


def test_columns_that_determine_another_are_named() -> None:
    rng = np.random.default_rng(8)
    city, x = rng.permutation(np.repeat(np.arange(6), 20)), rng.normal(size=120)
    as_ci_test("mixed", Dataset.of({"country": levels(city // 3), "city": levels(city), "x": x}))  # categories may
    y = rng.normal(size=120)
    with pytest.raises(DataError, match=r"'z'.*'x'.*'y'"):
        as_ci_test("mixed", Dataset.of({"x": x, "y": y, "z": x + y, "city": levels(city)}))


# --- what `mixed` is --------------------------------------------------------------------------------------


def test_mixed_is_fishers_z_of_numbers_and_blocks_around_gaps() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 100))
    assert isinstance(as_ci_test("mixed", Dataset.of({"x": x, "y": y})).test, FisherZ)
    two = {"x": x, "y": y, "two": (x > 0) * 1}
    assert isinstance(as_ci_test("mixed", Dataset.of(two)).test, ResidualProducts)
    x[:5] = math.nan
    gaps = Dataset.of({**two, "x": x, "three": levels(rng.integers(0, 3, 100))}, missing="em")
    assert isinstance(as_ci_test("mixed", gaps).test, BlockGaussian)


@needs_engine
def test_the_engine_makes_the_same_tests() -> None:
    """A run of the engine and one of the readable methods, which ask the compiled test, agree in all records."""
    table = mixed_table(7, n=400)

    class Slow(ResidualProducts):
        """A subclass may make other tests, so the engine does not make them."""

    one, two = LMarvel(test=ResidualProducts(table)).fit().result_, LMarvel(test=Slow(table)).fit().result_
    assert np.array_equal(one.pag.marks, two.pag.marks)
    assert one.trace == two.trace
    assert one.stats.n_tests == two.stats.n_tests
    assert one.settings["boundary"] == "iamb"
