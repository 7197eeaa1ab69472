"""How fragile a number is: the unmeasured cause that would explain it away, and why there should be none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from lmarvel import DAG, Dataset, Lift, LMarvel, MSeparation, effect
from lmarvel.effects.adjustment import pair_of
from lmarvel.effects.numbers.estimate import Estimation, t_quantile
from lmarvel.effects.numbers.estimating import adjusted_estimates, least_squares
from lmarvel.effects.numbers.sensitivity import e_value, robustness_value, sensitivity, share_that_moves
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.numbers.witness import _room, witnesses
from lmarvel.effects.pag_index import prepare

Vector = np.ndarray


def coefficients(outcome: Vector, *regressors: Vector) -> Vector:
    return least_squares(np.column_stack([np.ones(len(outcome)), *regressors]), outcome, np.ones(len(outcome)))[0][1:]


def left(outcome: Vector, *regressors: Vector) -> Vector:
    design = np.column_stack([np.ones(len(outcome)), *regressors])
    return outcome - design @ np.linalg.lstsq(design, outcome, rcond=None)[0]


def explained(of: Vector, by: Vector, *given: Vector) -> float:
    return 1 - left(of, by, *given).var() / left(of, *given).var()


def test_published_values() -> None:
    assert robustness_value(4.18445, 783) == pytest.approx(0.1388, abs=5e-5)  # Cinelli & Hazlett 2020, section 5
    assert robustness_value(4.18445, 783, 0.05) == pytest.approx(0.0763, abs=5e-5)
    assert robustness_value(1.5, 783, 0.05) == 0
    assert e_value(3.9) == pytest.approx(7.26, abs=5e-3)  # VanderWeele & Ding 2017
    assert e_value(1.8) == pytest.approx(3.0, abs=5e-3)
    assert e_value(1.0) == 1


def test_an_unmeasured_cause_moves_the_estimate_by_what_the_formula_says() -> None:
    rng = np.random.default_rng(1)
    z, u, e, f = rng.normal(size=(4, 400))
    x = z + 0.7 * u + e
    y = 0.5 * x + z + 0.9 * u + f
    table = Columns(Dataset.of({"z": z, "x": x, "y": y}))
    (told,) = sensitivity(table, "x", "y", adjusted_estimates(table, "x", "y", ["z"]))
    of_x, of_y = explained(x, u, z), explained(y, u, x, z)
    moved = coefficients(y, x, z)[0] - coefficients(y, x, z, u)[0]
    assert moved == pytest.approx(told.scale * np.sqrt(of_x * of_y / (1 - of_x)))
    low, high = told.within(max(of_x, of_y))
    assert low < coefficients(y, x, z, u)[0] < high
    assert told.within(told.to_zero)[0] < 0 == pytest.approx(told.within(told.to_include_zero)[0], abs=1e-12)
    assert share_that_moves(abs(told.value) / told.scale) == told.to_zero
    assert told.strongest is not None
    assert told.strongest.of_x == pytest.approx(explained(x, z))
    assert told.strongest.of_y == pytest.approx(explained(y, z, x))


@pytest.mark.parametrize("freedom", [0.5, 1, 2.5, 30, 1e3, 1e6, 1e12, np.inf])
def test_quantiles_are_those_of_scipy(freedom: float) -> None:
    for share in (0.025, 0.5, 0.9, 0.975, 1 - 1e-9):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-9, abs=1e-12)


def test_the_robustness_value_is_that_of_the_classical_t_value() -> None:
    rng = np.random.default_rng(2)
    z, e, f = rng.normal(size=(3, 200))
    x, n = z + e, 200
    y = 0.3 * x + f
    (told,) = sensitivity(
        table := Columns(Dataset.of({"z": z, "x": x, "y": y})), "x", "y", adjusted_estimates(table, "x", "y", ["z"])
    )
    residuals = left(y, x, z)
    error = np.sqrt(residuals @ residuals / (n - 3) / (left(x, z) @ left(x, z)))
    assert told.to_zero == pytest.approx(robustness_value(coefficients(y, x, z)[0] / error, n - 3))
    wider = sensitivity(table, "x", "y", adjusted_estimates(table, "x", "y", ["z"], Estimation(values=(1, 3))))
    estimate = adjusted_estimates(table, "x", "y", ["z"], Estimation(values=(1, 3)))
    (same,) = sensitivity(table, "x", "y", estimate, Estimation(values=(1, 3)))
    assert same.to_zero == pytest.approx(told.to_zero)
    assert wider[0].to_zero != pytest.approx(told.to_zero)  # without the values, it is in other units


def test_categories_are_compared_one_by_one() -> None:
    rng = np.random.default_rng(3)
    z, f = rng.normal(size=(2, 900))
    group = rng.integers(0, 3, 900)
    y = 0.8 * (group == 1) + 0.1 * (group == 2) + z + f
    table = Columns(Dataset.of({"g": [f"c{k}" for k in group], "z": z, "y": y}))
    estimates = adjusted_estimates(table, "g", "y", ["z"])
    told = sensitivity(table, "g", "y", estimates)
    assert [one.contrast for one in told] == [one.contrast for one in estimates]
    for one, code, other in zip(told, (1, 2), (2, 1), strict=True):
        cause, rest = (group == code).astype(float), (group == other).astype(float)
        assert one.scale == pytest.approx(left(y, cause, rest, z).std() / left(cause, rest, z).std())
    assert told[0].to_zero > told[1].to_zero
    assert told[1].to_include_zero == 0
    assert "the interval includes 0" in str(told[1])


def test_risk_ratios_have_e_values() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=3000)
    x = rng.random(3000) < 1 / (1 + np.exp(-z))
    ill = rng.random(3000) < 0.1 + 0.2 * x + 0.05 * (z > 0)
    table = Columns(Dataset.of({"x": x.astype(int), "ill": ill.astype(int), "z": z}))
    (told,) = sensitivity(table, "x", "ill", adjusted_estimates(table, "x", "ill", ["z"]))
    assert told.ratio is not None
    assert told.e_values == (e_value(told.ratio[0]), e_value(told.ratio[1]))
    assert f"Risk ratios of {told.e_values[0]:.3g} with both x and ill would bring the risk ratio to 1" in str(told)
    assert "include 1" in str(told)


def test_nothing_to_explain_away_and_nothing_left() -> None:
    x = np.arange(50.0)
    table = Columns(Dataset.of({"x": x, "y": 2 * x + np.where(np.arange(50) % 2, 1e-9, -1e-9), "w": x**2}))
    (told,) = sensitivity(table, "x", "y", adjusted_estimates(table, "x", "y", []))
    assert told.to_zero == pytest.approx(1)
    assert told.strongest is None
    assert sensitivity(table, "x", "y", []) == ()


def test_answers_say_how_fragile_they_are() -> None:
    rng = np.random.default_rng(5)
    a, b, e, f = rng.normal(size=(4, 1000))
    x = a + b + e
    table = {"A": a, "B": b, "X": x, "Y": 0.4 * x + a + f}
    told = Lift().fit(table).result_.effect("X", "Y", table)
    text = str(told)
    assert "excludes an unmeasured common cause of X and Y, because B affects X or shares a cause with it" in text
    assert "would bring this to 0" in text
    assert "For scale: A, the strongest variable adjusted for, explains" in text
    plain = json.loads(json.dumps(told.to_dict()))
    assert plain["sensitivity"][0]["robustness"] == told.sensitivity[0].to_zero
    assert plain["witnesses"][0]["path"] == ["B", "X"]
    assert plain["witnesses"][0]["independence"]["given"] == ["A", "X"]
    stated = effect(DAG.from_edges("A --> X", "B --> X", "X --> Y", "A --> Y"), "X", "Y", table)
    assert not stated.witnesses  # the graph is taken at its word
    assert stated.sensitivity


def test_a_witness_may_stand_at_the_end_of_a_path() -> None:
    edges = ("C --> D", "U --> D", "U --> X", "T --> X", "T --> V", "D --> V", "X --> V")
    result = LMarvel(test=MSeparation(DAG.from_edges(*edges), ["U"])).fit().result_
    assert not result.pag.has_edge("C", "X")
    ready = prepare(result.pag)
    (told,) = witnesses(ready, pair_of(ready, ready.graph.index("X"), ready.graph.index("V")), result)
    assert told.path == ("C", "D", "X")
    assert "because C is tied to X by C o-> D <-> X and shows no association with V" in str(told)


def test_the_bias_that_the_test_of_visibility_leaves_room_for() -> None:
    """A confounder that moves the effect by d makes the partial correlation that goes with d."""
    rng = np.random.default_rng(6)
    c, u, e, f = rng.normal(size=(4, 200_000))
    x = 0.5 * c + u + e
    y = x + 0.3 * u + f
    noticed = np.corrcoef(left(c, x), left(y, x))[0, 1]
    bias = _room(np.cov(np.array([c, x, y])), 0, 1, 2, [], abs(noticed))
    assert bias == pytest.approx(coefficients(y, x, c)[0] - 1, rel=0.05)


def test_a_weak_test_of_visibility_is_a_caution() -> None:
    rng = np.random.default_rng(7)
    a, b, e, f = rng.normal(size=(4, 2000))
    for strength, cautious in ((1.0, False), (0.15, True)):
        x = strength * b + strength * a + e
        table = {"A": a, "B": b, "X": x, "Y": 0.5 * x + f}
        told = effect(Lift().fit(table).result_, "X", "Y", table)
        assert told.witnesses[0].bias is not None
        assert (told.witnesses[0].bias > 0.25) == cautious
        assert any("would have been missed" in one for one in told.cautions) == cautious
