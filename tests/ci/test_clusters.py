"""Rows that belong together count as the independent rows that tell as much, in every test and score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, Auto, DataError, Dataset, FisherZ, Lift, LMarvel
from lmarvel.ci.fisher_z import ClusteredZ
from lmarvel.ci.g_square import GSquare
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.view import design_effect, shared_within

CLUSTERS, ROWS = 50, 20


def draw(rng: np.random.Generator, shared: Any, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return clusters, and independent columns with an intraclass correlation."""
    r = np.broadcast_to(shared, columns)
    which = np.repeat(np.arange(CLUSTERS), ROWS)
    own = rng.normal(size=(CLUSTERS * ROWS, columns))
    return which, np.sqrt(r) * rng.normal(size=(CLUSTERS, columns))[which] + np.sqrt(1 - r) * own


def once(seed: int, categories: bool = False) -> dict[str, Any]:
    """Return a table of a chain and a column beside it."""
    rng = np.random.default_rng(seed)
    a, d = rng.normal(size=(2, 240))
    b = a + rng.normal(size=240)
    c = b + rng.normal(size=240)
    table: dict[str, Any] = {"a": a, "b": b, "c": c, "d": d}
    if categories:
        return {name: [f"c{int(v > 0)}" for v in values] for name, values in table.items()}
    return table


def repeated(table: dict[str, Any], times: int) -> tuple[dict[str, Any], np.ndarray]:
    rows = np.repeat(np.arange(240), times)
    return {name: [values[i] for i in rows] for name, values in table.items()}, rows


METHODS = [LMarvel(), FCI(), Lift(), Auto()]


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_clusters_of_one_row_change_nothing(method: Any, categories: bool) -> None:
    table = once(1, categories)
    plain = method.fit(table).result_
    found = method.fit(table, cluster=np.arange(240)).result_
    assert found.pag == plain.pag
    assert found.stats.n_tests == plain.stats.n_tests
    assert found.bic == plain.bic
    assert found.settings["rows"] == 240


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_repeated_rows_give_the_answer_of_the_rows_once(method: Any, categories: bool) -> None:
    table = once(2, categories)
    plain = method.fit(table).result_
    many, rows = repeated(table, 4)
    found = method.fit(many, cluster=rows).result_
    assert found.settings["rows"] == 240
    assert found.pag == plain.pag
    assert dict(found.sepsets) == dict(plain.sepsets)
    assert found.bic == pytest.approx(plain.bic)
    assert method.fit(many).result_.settings["rows"] == 960  # without clusters they are taken for rows of their own


def test_p_values_of_repeated_rows_are_those_of_the_rows_once() -> None:
    table = once(3)
    many, rows = repeated(table, 3)
    test, plain = as_ci_test("fisher-z", Dataset.of(many, cluster=rows)), FisherZ(table)
    assert isinstance(test.test, ClusteredZ)
    for given in ((), (1,), (1, 3)):
        assert test.pvalue(0, 2, given) == pytest.approx(plain.pvalue(0, 2, given), rel=1e-6)
    counts = once(3, categories=True)
    many, rows = repeated(counts, 4)
    assert GSquare(Dataset.of(many, cluster=rows)).pvalue(0, 2, (1,)) == GSquare(counts).pvalue(0, 2, (1,))


@pytest.mark.parametrize("shared", [0.3, 0.5, (0.6, 0.6, 0.1, 0.1, 0.1)])
def test_true_independences_are_kept(shared: Any) -> None:
    """At 0.01, of 150 tables, given up to three common causes; rows taken as independent reject a tenth and more."""
    rng = np.random.default_rng(4)
    rejected, naive = np.zeros(4), np.zeros(4)
    for _ in range(150):
        which, noise = draw(rng, shared)
        for k in range(4):
            values = noise.copy()
            values[:, :2] += 0.6 * noise[:, 2 : 2 + k].sum(axis=1)[:, None]
            given = tuple(range(2, 2 + k))
            rejected[k] += as_ci_test("fisher-z", Dataset.of(values, cluster=which)).pvalue(0, 1, given) <= 0.01
            naive[k] += FisherZ(values).pvalue(0, 1, given) <= 0.01
    assert rejected.max() / 150 <= 0.04
    assert naive.min() / 150 > 0.06


def test_counts_and_indicators_use_the_effective_rows() -> None:
    rng = np.random.default_rng(5)
    rejected = {"g-square": 0, "mixed": 0}
    for _ in range(100):
        which, noise = draw(rng, 0.5, 2)
        for name, cuts in (("g-square", [0.0]), ("mixed", [-0.5, 0.5])):
            table = {v: [f"c{k}" for k in np.digitize(noise[:, i], cuts)] for i, v in enumerate("xy")}
            rejected[name] += as_ci_test(name, Dataset.of(table, cluster=which)).pvalue(0, 1, ()) <= 0.01
    assert max(rejected.values()) <= 4


def test_the_design_effect_is_that_of_the_model() -> None:
    rng = np.random.default_rng(6)
    which, values = draw(rng, 0.5, 30)

    def effect(rows: np.ndarray, levels: bool) -> float:
        return design_effect(which, shared_within(rows, [levels] * 30, which))

    assert effect(values, levels=False) == pytest.approx(1 + 19 * 0.25, rel=0.15)
    assert effect(rng.normal(size=values.shape), levels=False) < 1.1
    labels = (values > 0).astype(float)
    assert 1.5 < effect(labels, levels=True) < 4.5  # a median split has two thirds of the correlation


def test_the_verdict_says_what_the_rows_count_as() -> None:
    which, values = draw(np.random.default_rng(7), 0.4)
    found = LMarvel().fit(values, cluster=which).result_
    rows = found.settings["rows"]
    assert 200 < rows < 500
    assert f"(1,000 rows in 50 clusters count as about {rows})" in str(found.verdict)
    alone = LMarvel().fit(values[:50], cluster=np.arange(50)).result_
    assert "(50 rows in 50 clusters)" in str(alone.verdict)


def test_no_order_of_columns_matters() -> None:
    which, values = draw(np.random.default_rng(8), 0.3)
    values[:, 1] += values[:, 0]
    table = dict(zip("abcde", values.T, strict=True))
    turned = dict(reversed(table.items()))
    one, two = (LMarvel().fit(t, cluster=which).result_ for t in (table, turned))
    assert {frozenset(e[:2]) for e in one.pag.edges()} == {frozenset(e[:2]) for e in two.pag.edges()}
    assert one.stats.n_tests == two.stats.n_tests


def test_clusters_of_another_number_of_rows_are_refused() -> None:
    with pytest.raises(DataError, match="49"):
        LMarvel().fit(np.random.default_rng(9).normal(size=(50, 3)), cluster=np.arange(49))
