"""Categories in an order, and counts: by scores, or as cuts of normal variables, whichever fits the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmarvel import Auto, Dataset, FisherZ, Lift
from lmarvel.ci.blocks import normal_scores
from lmarvel.ci.glm.ordinal import fitting_moments, is_monotone, latent_moments
from lmarvel.ci.registry import as_ci_test, chosen_for

CHAIN = [frozenset(pair) for pair in (("q0", "q1"), ("q1", "q2"), ("q2", "q3"), ("q3", "q4"))]


def cut(x: Any, shares: Any = (0.2, 0.5, 0.8)) -> Any:
    return np.digitize(x, np.quantile(x, shares))


def answers(n: int = 4000, seed: int = 100) -> dict[str, Any]:
    """Return five answers along a chain of what is behind them."""
    z = np.cumsum(np.random.default_rng(seed).normal(size=(5, n)), axis=0)
    return {f"q{i}": cut(x) for i, x in enumerate(z)}


def grades(n: int = 4000, seed: int = 101) -> dict[str, Any]:
    """Return five grades along a chain, each an effect of the grade before it."""
    rng = np.random.default_rng(seed)
    found = [rng.integers(0, 4, n)]
    for _ in range(4):
        found.append(cut(1.2 * found[-1] + rng.logistic(size=n)))
    return {f"q{i}": x for i, x in enumerate(found)}


def edges(found: Any) -> set[frozenset[str]]:
    return {frozenset(edge[:2]) for edge in found.pag.edges()}


@pytest.mark.parametrize("declared", [True, False])
def test_cuts_of_normal_variables_are_joined_where_these_are(declared: bool) -> None:
    """As codes, answers at the ends of the chain depend on each other given those between."""
    table = answers()
    data = Dataset.of(table, ordinal=list(table) if declared else [])
    found = Auto().fit(data).result_
    assert found.settings["test"] == "scores"
    assert "cuts of normal variables" in found.settings["test_chosen"]
    assert edges(found) == set(CHAIN)
    assert edges(Lift(test="fisher-z").fit(table).result_) > set(CHAIN)


def test_categories_that_act_themselves_count_by_their_scores() -> None:
    table = grades()
    data = Dataset.of(table, ordinal=list(table))
    assert chosen_for(data, measured=True) == ("scores", "scores: categories in an order count by their normal scores")
    assert not fitting_moments(data)[1]
    assert edges(Auto().fit(data).result_) == set(CHAIN)
    behind = FisherZ(latent_moments(data))
    assert behind.pvalue(0, 2, [1]) < 0.001 < 0.01 < as_ci_test("scores", data).pvalue(0, 2, [1])


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.6, 0.95])
@pytest.mark.parametrize("shares", [(0.5,), (0.1, 0.3), (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)])
def test_correlations_behind_cuts_are_found(rho: float, shares: tuple[float, ...]) -> None:
    z = np.random.default_rng(7).multivariate_normal([0, 0], [[1, rho], [rho, 1]], 100_000).T
    data = Dataset.of({"a": cut(z[0], shares), "b": cut(z[1], (0.3, 0.8)), "c": z[0]}, ordinal=["b"])
    R = latent_moments(data).correlation()
    assert R[0, 1] == pytest.approx(rho, abs=0.02)
    assert R[1, 2] == pytest.approx(rho, abs=0.02)


def test_a_weight_of_two_is_a_row_twice() -> None:
    table = answers(600)
    weights = np.repeat([1.0, 2.0], 300)
    twice = {name: np.concatenate([x, x[300:]]) for name, x in table.items()}
    one, other = (
        latent_moments(data).correlation() for data in (Dataset.of(table, weights=weights), Dataset.of(twice))
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_estimates_that_contradict_each_other_give_a_correlation_matrix() -> None:
    rng = np.random.default_rng(3)
    z = np.repeat(rng.normal(size=(1, 120)), 6, axis=0) + 0.1 * rng.normal(size=(6, 120))
    table = {f"q{i}": cut(x, sorted(rng.uniform(0.1, 0.9, 2))) for i, x in enumerate(z)}
    R = latent_moments(Dataset.of(table, ordinal=list(table))).correlation()
    assert np.linalg.eigvalsh(R)[0] > 0
    np.testing.assert_allclose(R.diagonal(), 1.0)


def test_what_rises_and_falls_again_is_left_to_counts_and_indicators() -> None:
    rng = np.random.default_rng(5)
    a, by_chance = rng.integers(0, 5, 2000), rng.integers(0, 5, 2000)
    b = np.where(rng.random(2000) < 0.3, by_chance, np.array([0, 3, 4, 3, 0])[a])
    c = (a - 2) ** 2 + rng.normal(size=2000)
    for table in ({"a": a, "b": b}, {"a": a, "c": c}):
        data = Dataset.of(table, ordinal=[name for name in table if name != "c"])
        assert not is_monotone(data)
        assert chosen_for(data, measured=True)[0] in ("g-square", "mixed")
        assert Auto().fit(data).pag_.n_edges == 1


def test_skewed_counts_count_by_their_normal_scores() -> None:
    """The log link makes the effect of a cause on a count a curve; of its score it is nearly a line."""
    rng = np.random.default_rng(11)
    a = rng.normal(size=2000)
    b = rng.poisson(np.exp(0.5 + 0.9 * a)).astype(float)
    c = rng.normal(size=2000) + 0.2 * b
    d = rng.normal(size=2000) + a
    data = Dataset.of({"a": a, "b": b, "c": c, "d": d})
    assert chosen_for(data, measured=True)[0] in ("scores", "rank")
    R = as_ci_test("scores", data).moments.correlation()  # type: ignore[union-attr]
    assert R[0, 1] == pytest.approx(np.corrcoef(a, normal_scores(b))[0, 1])
    assert R[0, 1] > np.corrcoef(a, b)[0, 1] + 0.02
    assert R[0, 3] == pytest.approx(np.corrcoef(a, d)[0, 1])  # numbers stay as they are


def test_categories_in_an_order_are_one_column_beside_others_without() -> None:
    rng = np.random.default_rng(13)
    city = np.array(["x", "y", "z"])[rng.integers(0, 3, 800)]
    z = np.cumsum(rng.normal(size=(3, 800)), axis=0)
    table = {"city": city, "a": cut(z[0]), "b": cut(z[1]), "c": z[2]}
    found = Auto().fit(Dataset.of(table, ordinal=["a", "b"])).result_
    assert found.settings["test"] == "mixed"
    assert {frozenset(("a", "b")), frozenset(("b", "c"))} <= edges(found)
    assert not any("city" in edge for edge in edges(found))


def test_gaps_do_not_stop_a_test_by_scores() -> None:
    table = {name: x.astype(float) for name, x in answers(600).items()}
    table["q0"][:50] = np.nan
    for missing in ("test-wise", "em"):
        found = Lift(test="scores").fit(Dataset.of(table, ordinal=["q1", "q2"], missing=missing)).result_
        assert set(CHAIN) & edges(found)
