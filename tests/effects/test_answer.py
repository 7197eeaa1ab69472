"""Answers with numbers: estimates and intervals, levels, ranges, refusals, files for other programs."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from lmarvel import (
    DAG,
    PAG,
    DataError,
    Dataset,
    GraphError,
    Lift,
    LMarvel,
    MSeparation,
    ParameterError,
    adjustment_set,
    adjustment_sets,
    all_effects,
    causes,
    effect,
    effect_spread,
    is_valid_adjustment,
    mag_to_pag,
)
from lmarvel.effects import exported, optimal_adjustment
from lmarvel.effects.formula import slope
from lmarvel.effects.numbers.estimating import adjusted_estimates, least_squares
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.pag_index import Prepared
from lmarvel.effects.ranges import effect_range
from lmarvel.interchange import dagitty
from tests.effects.models import model_of, random_model
from tests.generators import random_study

BACKDOOR = PAG.from_edges("nodes: A B X Y", "A o-> X", "B o-> X", "X --> Y", "A --> Y")


def table(rows: int, seed: int = 0, effect: float = 0.4) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b, e, u = rng.normal(size=(4, rows))
    x = a + b + e
    return {"A": a, "B": b, "X": x, "Y": effect * x + a + u}


# --- numbers ----------------------------------------------------------------------------------------------


def test_hc3_is_the_jackknife_like_sandwich_of_its_definition() -> None:
    rng = np.random.default_rng(1)
    design = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    outcome = design @ [1.0, 2.0, 3.0] + rng.normal(size=60) * np.abs(design[:, 1])
    value, error, freedom = least_squares(design, outcome, np.ones(60))
    inverse = np.linalg.inv(design.T @ design)
    residuals = outcome - design @ value
    meat = sum(
        (residuals[i] / (1 - design[i] @ inverse @ design[i])) ** 2 * np.outer(design[i], design[i]) for i in range(60)
    )
    np.testing.assert_allclose(error, np.sqrt(np.diag(inverse @ meat @ inverse)))
    np.testing.assert_allclose(value, np.linalg.lstsq(design, outcome, rcond=None)[0])
    assert freedom == 57


def test_a_weight_of_two_is_a_row_twice() -> None:
    data = table(50)
    weights = np.ones(50)
    weights[:10] = 2
    twice = {name: np.concatenate([column, column[:10]]) for name, column in data.items()}
    once = effect(BACKDOOR, "X", "Y", Dataset.of(data, weights=weights)).value
    assert once == pytest.approx(effect(BACKDOOR, "X", "Y", twice).value)


@pytest.mark.parametrize("bootstrap", [None, 60])
def test_the_interval_holds_the_truth_as_often_as_it_says(bootstrap: int | None) -> None:
    inside = 0
    for seed in range(100):
        one = effect(BACKDOOR, "X", "Y", table(120, seed), bootstrap=bootstrap).estimates[0]
        inside += one.low <= 0.4 <= one.high
    assert 87 <= inside <= 100


def test_the_answer_is_a_sentence_with_the_number_and_what_it_rests_on() -> None:
    told = effect(BACKDOOR, "X", "Y", table(5000))
    assert told.status == "adjustment"
    assert told.sentence == f"X affects Y by {told.estimates[0]} under every explanation of these data."
    assert "This rests on the learned graph being right, and on a sample that was not selected." in str(told)
    assert str(told).count("rests on") == 1
    assert [one.adjusted for one in (*told.estimates, *told.others)] == [("A",), ("A", "B")]
    assert told.disagreement is None
    assert told.formula == "P(Y | do(X)) = sum_{A, B} P(Y | A, B, X) P(A, B)"
    json.dumps(told.to_dict())


def test_valid_sets_that_disagree_are_told() -> None:
    data = table(5000)
    data["Y"] = data["Y"] + 3 * data["B"]  # B acts on Y, which the graph does not know
    told = effect(BACKDOOR, "X", "Y", data)
    assert told.disagreement is not None
    assert told.cautions == (told.disagreement,)
    assert told.sentence.startswith(
        f"Identified, but unreliable: {told.disagreement}. Under the learned graph, X affects"
    )
    assert told.badge == "Identified, but unreliable"


def test_an_interval_that_holds_zero_is_said_to() -> None:
    assert effect(BACKDOOR, "X", "Y", table(400, effect=0.0)).sentence.endswith("The interval includes 0.")


def test_no_effect_is_told_without_numbers() -> None:
    told = effect(BACKDOOR, "Y", "X", table(100))
    assert (told.status, told.value, told.estimates) == ("none", 0.0, ())
    assert told.sentence.startswith("Y does not affect X under any explanation of these data")


def test_without_data_the_answer_says_how_it_could_be_estimated() -> None:
    assert effect(BACKDOOR, "X", "Y").sentence.endswith("can be estimated by adjusting for A, B.")


def test_a_formula_gives_the_effect_where_no_set_does() -> None:
    """V has to be adjusted for, because of X <-> V --> Y, and must not be, because of X <-> V <-> W --> Y."""
    edges = ["I --> X", "X --> M", "M --> W", "W --> Y", "V --> Y", "U1 --> X", "U1 --> V", "U2 --> V", "U2 --> W"]
    dag = DAG.from_edges(*edges)
    rng = np.random.default_rng(2)
    model = model_of(dag, ["U1", "U2"], rng)
    pag = model.pag
    noise = rng.normal(size=(4000, len(dag))) * np.sqrt(model.noise)
    rows = noise @ np.linalg.inv(np.eye(len(dag)) - model.weights).T
    told = effect(pag, "X", "Y", Dataset.of(rows[:, model.observed], names=pag.names), bootstrap=50)
    assert told.status == "formula"
    assert told.formula == "P(Y | do(X)) = sum_{M, W, V} P(M | X) (sum_{I, X'} P(I, X', V) P(W, Y | I, X', M, V))"
    assert told.latex is not None
    assert told.latex.startswith(r"P(\text{Y} \mid \operatorname{do}(\text{X})) = \sum_{\text{M}, \text{W}, \text{V}} ")
    estimate, truth = told.estimates[0], model.effect(pag.index("X"), pag.index("Y"))
    assert estimate.low < truth < estimate.high
    assert "Formula: " in str(told)
    formula = told.identified.formula
    assert formula is not None
    exact = slope(formula, model.covariance, pag.index("X"), pag.index("Y"))
    assert exact == pytest.approx(truth, rel=1e-9)


def test_the_same_seed_draws_the_same_interval() -> None:
    one, two, three = (
        effect(BACKDOOR, "X", "Y", table(200), bootstrap=20, seed=seed).estimates[0] for seed in (1, 1, 2)
    )
    assert one == two
    assert one.low != three.low


# --- levels -----------------------------------------------------------------------------------------------


def test_a_binary_cause_is_compared_level_with_level_whatever_its_numbers() -> None:
    rng = np.random.default_rng(3)
    a, b, u = rng.normal(size=(3, 20_000))
    x = (a + b + rng.logistic(size=20_000) > 0).astype(float)
    data = {"A": a, "B": b, "X": 5 + 10 * x, "Y": 0.7 * x + a + u}
    one = effect(BACKDOOR, "X", "Y", data).estimates[0]
    assert one.contrast == "X 15 in place of 5"
    assert one.low < 0.7 < one.high


def test_a_binary_outcome_is_standardised() -> None:
    rng = np.random.default_rng(4)
    n = 6_000
    a, b = rng.normal(size=(2, n))
    x = (a + b + rng.logistic(size=n) > 0).astype(float)

    def chance(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(0.8 * x + a - 0.3)))

    truth = float(np.mean(chance(np.ones(n)) - chance(np.zeros(n))))
    data = {"A": a, "B": b, "X": x, "Y": (rng.random(n) < chance(x)).astype(float)}
    told = effect(BACKDOOR, "X", "Y", data, bootstrap=40)
    one = told.estimates[0]
    assert one.contrast == "X 1 in place of 0: chance of Y 1"
    assert abs(one.value - truth) < 4 * one.error
    crude = data["Y"][x == 1].mean() - data["Y"][x == 0].mean()
    assert abs(crude - truth) > 4 * one.error


def test_a_cause_on_a_scale_has_an_average_slope_on_a_binary_outcome() -> None:
    rng = np.random.default_rng(5)
    data = table(4_000)
    chance = 1 / (1 + np.exp(-(0.5 * data["X"] + data["A"])))
    data["Y"] = (rng.random(4_000) < chance).astype(float)
    one = effect(BACKDOOR, "X", "Y", data, bootstrap=30).estimates[0]
    assert abs(one.value - float(np.mean(0.5 * chance * (1 - chance)))) < 4 * one.error


def test_a_nominal_cause_and_outcome_give_a_number_for_each_pair_of_levels() -> None:
    rng = np.random.default_rng(6)
    n = 3000
    data = table(n)
    data["X"] = rng.integers(0, 3, n).astype(float)
    data["Y"] = (data["X"] + rng.integers(0, 2, n)) % 3
    told = effect(BACKDOOR, "X", "Y", data, nominal=["X", "Y"], bootstrap=20)
    assert len(told.estimates) == 2 * 3
    by = {one.contrast: one.value for one in told.estimates}
    assert by["X 1 in place of 0: chance of Y 0"] == pytest.approx(-0.5, abs=0.05)
    assert by["X 2 in place of 0: chance of Y 2"] == pytest.approx(0.5, abs=0.05)
    assert "X affects Y under every explanation of these data: X 1 in place of 0: chance of Y 0: -0." in told.sentence
    assert told.sentence.endswith("2 of the intervals include 0.")
    beside = str(told).partition("The same by other valid adjustment sets:\n")[2].splitlines()
    assert beside[0].startswith("  X 1 in place of 0: chance of Y 0: -0.")


def test_a_nominal_variable_that_is_adjusted_for_becomes_indicators() -> None:
    rng = np.random.default_rng(7)
    n = 20_000
    group = rng.integers(0, 3, n).astype(float)
    shift = np.array([0.0, 3.0, -1.0])[group.astype(int)]
    data = table(n)
    data["A"], data["X"] = group, shift + data["B"] + rng.normal(size=n)
    data["Y"] = 0.4 * data["X"] + shift + rng.normal(size=n)
    labels = adjusted_estimates(Columns(Dataset.of(data), ["A"]), "X", "Y", ["A"])[0]
    numbers = adjusted_estimates(Columns(Dataset.of(data)), "X", "Y", ["A"])[0]
    assert labels.low < 0.4 < labels.high
    assert numbers.low > 0.45


# --- given ------------------------------------------------------------------------------------------------


def test_an_effect_given_a_variable_is_that_among_equals() -> None:
    told = effect(BACKDOOR, "X", "Y", table(5000), given="A")
    assert told.formula == "P(Y | do(X), A) = P(Y | A, X)"
    assert told.sentence.startswith("Among those with the same A, X affects Y by 0.")
    assert told.estimates[0].method == "least squares, HC3"


def test_given_what_the_cause_affects_it_is_not_called_an_effect_in_a_group() -> None:
    data = table(3000)
    data["D"] = data["Y"] + np.random.default_rng(8).normal(size=3000)
    pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y", "Y --> D")
    told = effect(pag, "X", "Y", data, given=["D"], bootstrap=20)
    assert told.affected == ("D",)
    assert "D may be affected by X, so this is not an effect within a group that exists before." in told.sentence
    assert "among those with the same" not in told.sentence.lower()


def test_what_is_asked_about_cannot_be_given() -> None:
    with pytest.raises(GraphError, match="X is asked about: it cannot be given as well"):
        effect(BACKDOOR, "X", "Y", given="X")


# --- not identified ---------------------------------------------------------------------------------------


def test_where_it_cannot_be_told_the_reason_and_what_would_help_are_said() -> None:
    told = effect(BACKDOOR, "B", "X", table(500))
    assert told.status == "not identified"
    assert told.sentence == (
        "The effect of B on X is not identified, because the data do not show whether B affects X or an unmeasured"
        " cause affects both (path B o-> X). It would help if you measure what affects both B and X, or"
        " something that affects B and affects X through B only. Each of these statements, if true, would be enough: B"
        " is randomised; B and X share no unmeasured cause."
    )
    assert told.estimates == ()
    assert told.value is None


def test_a_sure_cause_of_unknown_size_is_called_a_cause() -> None:
    assert effect(BACKDOOR, "A", "Y").sentence.startswith("A causes Y. The size of the effect is not identified, ")


def test_the_range_holds_the_truth_of_every_member_that_tells_it() -> None:
    """In a model whose MAG tells the effect, the effect is among the values of the range."""
    rng = np.random.default_rng(9)
    looked = 0
    while looked < 8:
        model = random_model(rng, 5)
        ready = Prepared(model.pag)
        names = model.pag.names
        for x, y in permutations(range(len(names)), 2):
            if ready.possible_ancestors(1 << y) >> x & 1 and looked < 8:
                span = effect_range(ready, x, y, model.covariance, 150)
                if span.complete and span.untold == 0:
                    assert min(abs(value - model.effect(x, y)) for value in span.values) < 1e-8
                    looked += 1


def test_a_range_says_how_many_explanations_tell_nothing() -> None:
    told = effect(BACKDOOR, "A", "Y", table(2000)).range
    assert told is not None
    assert told.complete
    assert 0 < told.untold < told.looked_at
    assert str(told).startswith("Nothing bounds this effect: ")
    assert "The others put it between" in str(told)


def test_a_large_class_is_cut_short_with_a_message() -> None:
    names = [f"V{i}" for i in range(8)]
    pag = PAG.from_edges(*(f"{a} o-o {b}" for i, a in enumerate(names) for b in names[i + 1 :]))
    told = effect(pag, "V0", "V1", most=50).range
    assert told is not None
    assert (told.looked_at, told.complete) == (50, False)
    assert str(told).startswith("Nothing bounds this effect: 39 of the first 50 explanations do not identify it.")
    assert str(told).endswith("There are more explanations.")


# --- refusals ---------------------------------------------------------------------------------------------


def test_selection_in_the_same_part_of_the_graph_is_a_reason() -> None:
    selected = DAG.from_edges(
        "A --> S", "B --> S", "B --> T", "C --> T", "C --> R", "D --> R", "D --> Q", "A --> Q", "A --> Y"
    )
    pag = mag_to_pag(selected.project(selection=["S", "T", "R", "Q"]))
    told = effect(pag, "A", "Y")
    assert told.status == "not identified"
    assert "that the sample was selected" in told.sentence
    assert told.range is None
    assert causes(pag, "Y")["A"].status == "possible"
    assert "that the sample was selected" in str(causes(pag, "Y"))
    assert {one.status for one in all_effects(pag)} == {"not identified"}
    assert is_valid_adjustment(pag, "A", "Y").reason.startswith("no set is valid: ")
    assert adjustment_set(pag, "A", "Y") is None
    assert list(adjustment_sets(pag, "A", "Y")) == []
    assert optimal_adjustment(pag, "A", "Y", np.eye(5)) is None


def test_selection_elsewhere_does_not_matter() -> None:
    ring = ["A --> S", "B --> S", "B --> T", "C --> T", "C --> R", "D --> R", "D --> Q", "A --> Q"]
    dag = DAG.from_edges(*ring, "I --> X", "J --> X", "X --> Y")
    pag = mag_to_pag(dag.project(selection=["S", "T", "R", "Q"]))
    assert effect(pag, "X", "Y").status == "adjustment"


def test_a_pag_that_no_mag_has_is_refused() -> None:
    with pytest.raises(GraphError, match="no effect can be read from this PAG, because no MAG has this PAG"):
        effect(PAG.from_edges("A o-> C", "B o-> C", "C o-o D"), "C", "D")


def test_a_search_that_ended_early_is_refused() -> None:
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D")), max_tests=2).fit().result_
    with pytest.raises(GraphError, match="the search ended before 6 pairs of variables could be decided"):
        found.effect("A", "C")


def test_bad_settings_name_the_culprit() -> None:
    with pytest.raises(ParameterError, match="bootstrap must be a whole number of at least 2, not 1"):
        effect(BACKDOOR, "X", "Y", table(20), bootstrap=1)
    with pytest.raises(DataError, match="nominal names 'Q'"):
        effect(BACKDOOR, "X", "Y", table(20), nominal=["Q"])
    with pytest.raises(DataError, match="has no such column"):
        effect(BACKDOOR, "X", "Y", {"A": [1.0, 2, 3], "X": [1.0, 2, 4]})
    with pytest.raises(DataError, match="more rows are needed"):
        effect(BACKDOOR, "X", "Y", table(3))


# --- from start to end ------------------------------------------------------------------------------------


def test_from_a_table_to_the_effect() -> None:
    data = table(4000)
    found = Lift(selection=False).fit(data).result_
    assert found.causes("Y").definite == ("A", "X")
    told = found.effect("X", "Y", data)
    assert told.estimates[0].low < 0.4 < told.estimates[0].high
    assert "sample" not in told.rests_on


def test_the_spread_over_graphs_counts_what_they_say() -> None:
    data = table(3000)
    other = PAG.from_edges("nodes: A B X Y", "A o-> X", "B o-> X")
    illegal = PAG.from_edges("nodes: A B X Y", "A o-> X", "B o-> X", "X o-o Y")
    spread = effect_spread([BACKDOOR, BACKDOOR, other, illegal], "X", "Y", data)
    assert spread.statuses == {"adjustment": 2, "none": 1, "illegal": 1}
    assert spread.values[0] == 0.0
    assert spread.values[1] == spread.values[2] == pytest.approx(0.4, abs=0.1)
    assert spread.told == 0.75
    with pytest.raises(ParameterError, match="there are no graphs"):
        effect_spread([], "X", "Y", data)


def test_what_is_exported_is_a_dag_of_the_class_with_the_set() -> None:
    for one in all_effects(BACKDOOR):
        out = exported(BACKDOOR, one.x, one.y)
        assert mag_to_pag(out.dag.project(out.latent)) == BACKDOOR
        assert dagitty.loads(out.dagitty) == out.dag
        assert (out.adjustment is not None) == (one.status == "adjustment") or one.status == "none"
    assert "X [exposure]" in exported(BACKDOOR, "X", "Y").dagitty
    assert exported(BACKDOOR, "X", "Y").dowhy["adjustment"] == ["A"]


def test_all_pairs_are_plain_data() -> None:
    rows = [one.to_dict() for one in all_effects(BACKDOOR)]
    assert len(rows) == 12
    back = json.loads(json.dumps(rows))
    assert [row for row in back if (row["x"], row["y"]) == ("X", "Y")] == [
        {
            "x": "X",
            "y": "Y",
            "cause": "definite",
            "status": "adjustment",
            "adjustment": ["A", "B"],
            "because": "",
            "unless": "",
            "path": [],
        }
    ]


def test_with_selection_causes_are_never_told_wrongly() -> None:
    """Where the graph shows selection, definite causes are ancestors in the true DAG, and impossible ones are not."""
    rng = np.random.default_rng(10)
    told = {"definite": 0, "possible": 0, "impossible": 0}
    while told["definite"] < 15:
        study = random_study(rng, 7, latent=1, selection=1, degree=3.0, heavy=True)
        pag = mag_to_pag(study.mag)
        for y in pag.names:
            found = causes(pag, y)
            if found.selected is None:
                continue
            ancestors = study.dag.ancestors(y)
            for cause in found:
                told[cause.status] += 1
                assert cause.status != "definite" or cause.name in ancestors
                assert cause.status != "impossible" or cause.name not in ancestors
    assert told["impossible"] > 50
