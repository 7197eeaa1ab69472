"""Average effects of causes with categories: doubly robust, by group, and between values that were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, Dataset, GraphError, ParameterError, effect
from lmarvel.budget.clock import Clock
from lmarvel.effects.numbers import doubly_robust
from lmarvel.effects.numbers.doubly_robust import logistic, scores
from lmarvel.effects.numbers.table import Columns
from lmarvel.errors import BudgetSpent

GRAPH = DAG.from_edges("Z --> X", "Z --> Y", "A --> X", "X --> Y", "X --> M")


def expit(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


def varied(seed: int, n: int = 2000) -> dict[str, Any]:
    """Return a table in which the effect of X on Y is 1 + Z: 1 on average, and larger where X is commoner."""
    rng = np.random.default_rng([seed, n])
    a, z = rng.normal(size=(2, n))
    x = (rng.random(n) < expit(a + 2 * z - 1)).astype(int)
    return {"A": a, "Z": z, "X": x, "Y": x * (1 + z) + z + rng.normal(size=n), "M": x + rng.normal(size=n)}


def test_the_interval_of_an_effect_that_varies_covers_its_average() -> None:
    found = [effect(GRAPH, "X", "Y", varied(seed)).estimates[0] for seed in range(20)]
    assert {one.method for one in found} == {"doubly robust"}
    assert sum(one.low < 1 < one.high for one in found) >= 17
    assert all(one.high - one.low < 0.6 for one in found)


def test_either_model_alone_being_right_is_enough() -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    z = rng.normal(size=n)
    wild = np.sin(5 * z)  # no spline with two bends follows it
    x = (rng.random(n) < expit(z)).astype(int)
    data = {"Z": z, "X": x, "Y": x + z + 3 * wild + rng.normal(size=n)}
    one = effect(DAG.from_edges("Z --> X", "Z --> Y", "X --> Y"), "X", "Y", data).estimates[0]
    assert abs(one.value - 1) < 3 * one.error < 0.2
    strange = (rng.random(n) < 0.5 + 0.4 * wild).astype(int)
    other = {"Z": z, "X": strange, "Y": strange + z + rng.normal(size=n)}
    one = effect(DAG.from_edges("Z --> X", "Z --> Y", "X --> Y"), "X", "Y", other).estimates[0]
    assert abs(one.value - 1) < 3 * one.error < 0.2


def test_risk_difference_and_ratio_of_a_randomised_cause_are_those_of_the_shares() -> None:
    rng = np.random.default_rng(2)
    n = 4000
    x = rng.integers(0, 2, n)
    y = (rng.random(n) < np.where(x == 1, 0.3, 0.1)).astype(int)
    told = effect(DAG.from_edges("X --> Y"), "X", "Y", {"X": x, "Y": y})
    one = told.estimates[0]
    assert one.value == pytest.approx(y[x == 1].mean() - y[x == 0].mean(), abs=1e-3)
    assert one.ratio is not None
    assert one.ratio[0] == pytest.approx(y[x == 1].mean() / y[x == 0].mean(), rel=0.01)
    assert one.ratio[1] < 3 < one.ratio[2]
    assert "X 1 in place of 0: chance of Y 1: risk ratio" in str(told)


def test_effects_by_group_are_those_of_the_groups() -> None:
    data = varied(3, 8000)
    told = effect(GRAPH, "X", "Y", {**data, "Z": np.where(data["Z"] > 0, "high", "low")}, by="Z")
    by = {one.contrast.partition(":")[0]: one for one in told.groups}
    assert set(by) == {"Z high", "Z low"}
    assert by["Z high"].low > by["Z low"].high
    assert "Within groups:" in str(told)
    halves = effect(GRAPH, "X", "Y", data, by="Z").groups
    assert [one.contrast.partition(":")[0].rpartition(" ")[0] for one in halves] == ["Z up to", "Z above"]
    for one, rows in zip(halves, (data["Z"] <= np.median(data["Z"]), data["Z"] > np.median(data["Z"])), strict=True):
        true = float(np.mean(1 + data["Z"][rows]))  # Z is a common cause within a half, too
        assert one.low < true < one.high
        assert one.high - one.low < 0.6


def test_groups_that_the_cause_may_affect_are_refused() -> None:
    with pytest.raises(GraphError, match="M may be affected by X"):
        effect(GRAPH, "X", "Y", varied(4), by="M")
    with pytest.raises(ParameterError, match="X is asked about"):
        effect(GRAPH, "X", "Y", varied(4), by="X")


def test_contrasts_between_values_that_were_asked_for() -> None:
    rng = np.random.default_rng(5)
    n = 3000
    x = rng.normal(50, 10, n)
    data = {"X": x, "Y": 0.2 * x + rng.normal(size=n)}
    graph = DAG.from_edges("X --> Y")
    one = effect(graph, "X", "Y", data).estimates[0]
    ten = effect(graph, "X", "Y", data, values=(40, 60)).estimates[0]
    assert ten.contrast == "X 60 in place of 40"
    assert (ten.value, ten.low, ten.high) == pytest.approx((20 * one.value, 20 * one.low, 20 * one.high))
    ill = {"X": x, "Y": (rng.random(n) < expit((x - 50) / 10)).astype(int)}
    truth = expit(1.0) - expit(-1.0)
    assert effect(graph, "X", "Y", ill, values=("40", "60")).estimates[0].value == pytest.approx(truth, abs=0.04)
    letters = {"X": np.array(list("abc"))[rng.integers(0, 3, n)], "Y": rng.normal(size=n)}
    turned = effect(graph, "X", "Y", letters, values=("c", "b")).estimates
    assert [one.contrast for one in turned] == ["X b in place of c"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("a", "d"), "name 'd', which is not a category of X: it has a, b, c"),
        (("a", "a"), "two different categories"),
        (("a",), "must be two values of the cause"),
        ("ab", "must be two values of the cause"),
    ],
)
def test_values_that_make_no_contrast_are_refused(values: Any, words: str) -> None:
    rng = np.random.default_rng(6)
    data = {"X": np.array(list("abc"))[rng.integers(0, 3, 90)], "Y": rng.normal(size=90)}
    with pytest.raises(ParameterError, match=words):
        effect(DAG.from_edges("X --> Y"), "X", "Y", data, values=values)


def test_clusters_widen_the_interval_and_weights_count_rows() -> None:
    data = varied(7, 400)
    copies = {name: np.repeat(column, 5) for name, column in data.items()}
    alone = effect(GRAPH, "X", "Y", data).estimates[0]
    clustered = effect(GRAPH, "X", "Y", Dataset.of(copies, cluster=np.repeat(np.arange(400), 5))).estimates[0]
    naive = effect(GRAPH, "X", "Y", copies).estimates[0]
    assert clustered.error == pytest.approx(alone.error, rel=0.3)
    assert naive.error < 0.7 * clustered.error


def test_the_same_seed_gives_the_same_numbers_and_rare_categories_are_refused_by_name() -> None:
    data = varied(8, 300)
    assert effect(GRAPH, "X", "Y", data).estimates == effect(GRAPH, "X", "Y", data).estimates
    few = {**data, "X": np.where(np.arange(300) < 3, "rare", "common")}
    with pytest.raises(Exception, match="X rare has 3 rows"):
        effect(DAG.from_edges("X --> Y", nodes=["A", "M", "X", "Y", "Z"]), "X", "Y", few)


@pytest.mark.slow
def test_boosted_trees_give_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(doubly_robust, "SPLITS", 1)
    data = varied(9, 1000)
    table = Columns(Dataset.of(data))
    trees = scores(table, "X", data["Y"], ["Z"], False, "boosting")
    assert trees.means[1] - trees.means[0] == pytest.approx(1.0, abs=0.35)
    with pytest.raises(ParameterError, match="'glm' or 'boosting'"):
        effect(GRAPH, "X", "Y", data, learner="forest")  # type: ignore[arg-type]


def test_regressions_end_with_the_time() -> None:
    """On 100,000 rows of categories a report went on for ten seconds beyond its budget of five."""
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(100), rng.normal(size=100)])
    with Clock(1e-9).running(), pytest.raises(BudgetSpent):
        logistic(design, (rng.random(100) < 0.5).astype(np.float64), np.ones(100))
