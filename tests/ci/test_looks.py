"""The glance that spares the search for bends."""

import numpy as np
import pytest

from lmarvel import Dataset
from lmarvel.budget.clock import Clock
from lmarvel.ci import registry
from lmarvel.ci.glm import looks
from lmarvel.errors import BudgetSpent
from lmarvel.simulate import AdditiveSEM, LinearSEM, bounded_parents, hide


def drawn(sem: type[LinearSEM] | type[AdditiveSEM], seed: int, rows: int, variables: int = 12, **how: str) -> Dataset:
    dag = bounded_parents(variables, 2, seed=seed)
    values = sem.random(dag, seed=seed, **how).sample(hide(dag, 1, 1, seed=seed), rows, seed=seed)
    return Dataset.of({f"X{i}": column for i, column in enumerate(values.T)})


@pytest.mark.parametrize("rows", [200, 2000])
@pytest.mark.parametrize("seed", range(5))
def test_linear_gaussian_tables_need_no_search(rows: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = drawn(LinearSEM, seed, rows)
    full = looks._bent(data, looks._AS_THEY_ARE, False)
    monkeypatch.setattr(looks, "_bent", None)  # nobody asks
    found = looks.curvature(data)
    assert found is not None
    assert not found.is_curved
    assert not full.is_curved
    assert found.share == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("curve", ["square", "product", "hidden under noise", "in a cube"])
def test_what_bends_is_searched(curve: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c, noise = rng.normal(size=(4, 1000))
    y = {
        "square": a**2 + noise,
        "product": a * b + noise,
        "hidden under noise": 5 * c + a**2 - b**2 + noise / 4,
        "in a cube": a**3 - 3 * a + noise,
    }[curve]
    data = Dataset.of({"a": a, "b": b, "c": c, "y": y})
    assert not looks._is_straight(data, list(data.names))


def test_what_is_weighted_or_lies_far_out_is_not_judged() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    assert looks._is_straight(Dataset.of({"a": a, "b": a + b}), ["a", "b"])
    weighted = Dataset.of({"a": a, "b": a + b, "w": np.where(a > 0, 2.0, 1.0)}, weights="w")
    assert not looks._is_straight(weighted, ["a", "b"])
    assert not looks._is_straight(Dataset.of({"a": a**5, "b": a + b}), ["a", "b"])
    assert not looks._is_straight(Dataset.of({"a": a, "b": b, "c": a + b}), ["a", "b", "c"])


def test_what_squares_of_normal_numbers_exceed_a_price_by() -> None:
    squares = np.random.default_rng(0).normal(size=2_000_000) ** 2
    for price in (0.0, 1.0, 7.6):
        assert looks._beyond(price) == pytest.approx(np.maximum(squares - price, 0).mean(), rel=0.03)


@pytest.mark.parametrize("look", ["has_skewed_noise", "curvature", "has_heavy_tails", "prefers_ranks"])
def test_no_look_is_begun_once_the_time_is_up(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a part of a second on a wide table: together more than a short budget leaves."""
    monkeypatch.setattr(registry, look, lambda data: pytest.fail(f"{look} was begun"))
    data = drawn(LinearSEM, 0, 200)
    with Clock(1e-9).running(), pytest.raises(BudgetSpent):
        registry.chosen_for(data, measured=True)


def test_ranks_are_broken_off_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(looks, "normal_scores", lambda column, weights: asked.append(column))
    with Clock(1e-9).running(), pytest.raises(BudgetSpent):
        looks.prefers_ranks(drawn(LinearSEM, 0, 200))
    assert asked == []
