"""Unequal noise, bends and interactions do not pass for hidden nodes, and real ones are found beside them."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import Dataset, Discovery, Lift
from lmarvel.errors import ParameterError
from lmarvel.estimators import lift as estimator
from lmarvel.search import inflation as inflated
from lmarvel.search.inflation import inflation
from lmarvel.search.lift import is_compiled, lift
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

compiled = pytest.mark.skipif(not is_compiled(), reason="the package was built without a compiler")
PRICE = 13.0


def unequal(seed: int, rows: int = 500) -> dict[str, np.ndarray]:
    """Draw seven effects of X, with nothing hidden: the noise grows with X and with Y0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    table = {"X": x}
    for i in range(7):
        noise = rng.normal(size=rows) * (0.5 + np.abs(x)) * (0.5 + np.abs(table.get("Y0", x) / 2)) / 1.7
        effect = 0.7 * x * (1 if i % 2 else -1) + (0.6 * table["Y0"] if i in (3, 5) else 0)
        table[f"Y{i}"] = effect + noise
    return table


def confounded(seed: int, rows: int = 2000) -> dict[str, np.ndarray]:
    """Draw five effects of one unmeasured cause, whose noise grows with X."""
    rng = np.random.default_rng(seed)
    u, x = rng.normal(size=(2, rows))
    noise = (0.5 + np.abs(x)) / 1.3
    return {"X": x} | {f"Y{i}": u + 0.5 * x * (i == 0) + noise * rng.normal(size=rows) for i in range(5)}


def interacting(seed: int, rows: int = 500) -> dict[str, np.ndarray]:
    """Draw five effects of A and B and of their product, with nothing hidden; then effects of these, along lines."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, rows))
    table = {"A": a, "B": b}
    for i in range(5):
        weights, noise = rng.uniform(0.4, 0.8, 3) * rng.choice([-1, 1], 3), rng.normal(size=rows)
        table[f"Y{i}"] = weights @ np.array([a, b, a * b]) + noise
    for i in range(4):
        table[f"Z{i}"] = 0.7 * table[f"Y{i}"] + rng.normal(size=rows)
    return table


def learned(table: dict[str, np.ndarray]) -> Discovery:
    return Lift(test="fisher-z").fit(table).result_


def rows_of(table: dict[str, np.ndarray]) -> np.ndarray:
    return np.column_stack(list(table.values()))


# --- factors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rows", [200, 500, 2000])
def test_gaussian_tables_are_not_inflated(seed: int, rows: int) -> None:
    study = hide(erdos_renyi(15, 0.2, seed=seed), 2, 1, seed=seed)
    X = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    assert inflation(X, PRICE) is None


def test_independent_heavy_tails_are_not_inflated_much() -> None:
    factor = inflation(np.random.default_rng(1).standard_t(5, size=(5000, 6)), PRICE)
    assert factor is None or factor.max() < 2


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_grows_together_is_inflated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = np.exp(rng.normal(size=4000) / 2)
    a, b, c = rng.normal(size=(3, 4000))
    factor = inflation(np.column_stack([scale * a, scale * b, c]), PRICE)
    assert factor is not None
    assert 1.9 < factor[0, 1] < 4.5  # exp(1) = 2.7 but for chance
    assert factor[0, 2] == factor[1, 2] == factor[2, 2] == 1


def test_bends_are_inflated() -> None:
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 2000))
    factor = inflation(np.column_stack([x, x + 0.3 * x**2 + y, z]), PRICE)
    assert factor is not None
    assert factor[0, 1] > 5


@pytest.mark.parametrize("rows", [500, 3000])
def test_interactions_are_inflated(rows: int) -> None:
    X = rows_of(interacting(0, rows))
    factor = inflation(X, PRICE)
    assert factor is not None
    assert (factor[:7, :7] + np.eye(7) > 1.5).all()  # the two causes, and the effects of their product


def test_the_statistics_of_products_are_those_of_regressions() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    z = inflated._of_products(X, X / 400, X.T @ X / 400, 1, np.full(400, 1 / 400), 400.0)
    for w in (2, 3, 4):
        lines = np.column_stack([np.ones(400), X[:, 1], X[:, w]])
        left = lambda y, lines=lines: y - lines @ np.linalg.lstsq(lines, y, rcond=None)[0]  # noqa: E731
        for v in range(5):
            product, y = left(X[:, 1] * X[:, w]), left(X[:, v])
            robust = abs(product @ y) / np.sqrt((product**2) @ (y**2))
            assert z[w - 2, v] == pytest.approx(0.0 if v in (1, w) else robust, rel=1e-8)


def test_thinned_rows_tell_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows_of(interacting(0, 6000))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    share = np.full(len(X), 1 / len(X))
    whole = inflated._interactions(X, share)
    monkeypatch.setattr(inflated, "_MOST_WORK", len(X) * 11**3 // 3)
    some = inflated._interactions(X, share)
    assert np.allclose(whole[:7, :7], some[:7, :7], rtol=0.4)
    assert not np.array_equal(whole, some)


def test_scale_and_order_of_columns_do_not_matter() -> None:
    X = rows_of(unequal(6))
    factor, moved = inflation(X, PRICE), inflation(5 - 3 * X[:, ::-1], PRICE)
    assert factor is not None
    assert moved is not None
    assert np.allclose(factor[::-1, ::-1], moved, atol=1e-5)


def test_a_weight_counts_as_so_many_equal_rows() -> None:
    X = rows_of(unequal(6))
    assert np.array_equal(inflation(X, PRICE), inflation(X, PRICE, np.full(len(X), 3.0)))  # type: ignore[arg-type]
    some = np.arange(len(X)) < 300
    assert np.allclose(inflation(X[some], PRICE), inflation(X, PRICE, some * 1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("X", [np.ones((100, 3)), np.eye(4), np.zeros((0, 2)), np.arange(100.0)[:, None] * [1, 2]])
def test_tables_that_tell_nothing_are_not_inflated(X: np.ndarray) -> None:
    found = inflation(X, PRICE)
    assert found is None or np.isfinite(found).all()


# --- hidden nodes -----------------------------------------------------------------------------------------


@compiled
@pytest.mark.parametrize("seed", [6, 20, 24])
def test_unequal_noise_is_no_hidden_node(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = learned(unequal(seed))
    assert not found.hidden
    refused = {(node.kind, node.members) for node in found.evidence.refused}
    monkeypatch.setattr(estimator, "inflation_of", lambda *told: None)
    before = learned(unequal(seed))
    assert before.hidden
    assert refused == {(node.kind, node.members) for node in before.evidence.hidden}
    assert not before.evidence.refused


@compiled
@pytest.mark.parametrize("seed", [4, 6, 7, 18])
def test_interactions_are_no_hidden_node(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = learned(interacting(seed))
    assert not found.hidden
    assert found.evidence.refused
    monkeypatch.setattr(inflated, "_interactions", lambda X, share: np.zeros((X.shape[1],) * 2))
    assert learned(interacting(seed)).hidden


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_a_real_cause_beside_unequal_noise_is_found(seed: int) -> None:
    found = learned(confounded(seed))
    assert [(kind, nodes) for kind, nodes, _ in found.hidden] == [("latent", ("Y0", "Y1", "Y2", "Y3", "Y4"))]
    assert not found.evidence.refused


@compiled
@pytest.mark.parametrize("seed", range(3))
def test_a_real_cause_beside_an_interaction_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, x, w = rng.normal(size=(3, 2000))
    effects = {f"Y{i}": u + 0.4 * (x + w + x * w) * (i == 0) + 0.6 * rng.normal(size=2000) for i in range(5)}
    found = learned({"X": x, "W": w} | effects)
    assert [(kind, nodes) for kind, nodes, _ in found.hidden] == [("latent", tuple(effects))]


@compiled
def test_what_was_refused_is_said_and_kept_in_files() -> None:
    found = learned(unequal(6))
    again = Discovery.from_dict(found.to_dict())
    assert again.evidence.refused == found.evidence.refused != ()


@compiled
def test_correlations_alone_are_not_inflated() -> None:
    moments = Dataset.of(unequal(6)).moments
    assert Lift(test="fisher-z").fit(moments).result_.hidden


@compiled
def test_gaps_and_ranks_are_looked_at() -> None:
    table = unequal(6)
    for model in (Lift(test="rank"), Lift(test="fisher-z")):
        assert not model.fit(table).result_.hidden
    table["Y1"] = np.where(np.arange(500) % 50 == 0, np.nan, table["Y1"])
    assert not Lift(test="fisher-z").fit(table).result_.hidden


@compiled
@pytest.mark.parametrize(
    "wrong",
    [np.ones(3), np.ones((2, 2)), np.full((3, 3), np.nan), np.full((3, 3), np.inf), np.full((3, 3), 0.5)],
)
def test_factors_that_are_none_are_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="inflation must be a symmetric 3 x 3 matrix"):
        lift(np.eye(3), 100, inflation=wrong)
