"""Numbers from tables with text, gaps, weights and clusters: what a dataset says of its columns holds for effects."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from lmarvel import PAG, DataError, Dataset, Discovery, GraphError, Knowledge, Lift, LMarvel, effect
from lmarvel.budget.clock import Clock
from lmarvel.data import Kind
from lmarvel.effects import exported
from lmarvel.effects.numbers.table import Columns
from lmarvel.errors import BudgetSpent
from tests.effects.test_answer import BACKDOOR, table

OPEN = PAG.from_edges("A o-o B", "nodes: A B")


def lettered(n: int = 400, levels: str = "kml") -> dict[str, Any]:
    """Return a table whose cause is text: its effect is 0, 1, 2 by level, against a confounder."""
    rng = np.random.default_rng(5)
    a, b, noise = rng.normal(size=(3, n))
    x = np.clip(np.round(0.8 * a + b + rng.normal(size=n)) + 1, 0, len(levels) - 1).astype(int)
    names = np.array(sorted(levels))
    return {"A": a, "B": b, "X": names[x], "Y": x + a + noise}


def test_text_is_compared_level_by_level_without_being_told() -> None:
    told = effect(BACKDOOR, "X", "Y", lettered())
    assert [one.contrast for one in told.estimates] == ["X l in place of k", "X m in place of k"]
    first, second = told.estimates
    assert first.low < 1 < first.high
    assert second.low < 2 < second.high


def test_an_outcome_of_text_is_standardised_by_the_chance_of_its_levels() -> None:
    data = table(400)
    data["Y"] = np.where(data["Y"] > 0, "yes", "no")
    told = effect(BACKDOOR, "X", "Y", data, bootstrap=20)
    assert [one.contrast for one in told.estimates] == ["one unit more of X: chance of Y yes"]
    assert told.estimates[0].method.startswith("logistic, standardised")


def test_labels_by_word_and_labels_by_option_are_the_same_thing() -> None:
    data = table(300)
    data["X"] = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    by_option = effect(BACKDOOR, "X", "Y", data, nominal=["X"])
    by_dataset = effect(BACKDOOR, "X", "Y", Dataset.of(data, categorical=["X"]))
    assert by_option.estimates == by_dataset.estimates
    assert [one.contrast for one in by_option.estimates] == ["X 1 in place of 0", "X 2 in place of 0"]


def test_a_label_by_option_leaves_those_of_the_dataset() -> None:
    data = Dataset.of({**lettered(), "A": np.arange(400) % 3, "B": np.arange(400) % 5}, categorical=["A"])
    kinds = Columns(data, ["B"]).kind
    assert [kinds(name) for name in "ABX"] == [Kind.NOMINAL] * 3


def test_rows_with_gaps_are_dropped_where_that_was_said_and_completed_elsewhere() -> None:
    data = table(300)
    whole = {name: column[5:] for name, column in data.items()}
    data["X"] = np.concatenate([np.full(5, np.nan), data["X"][5:]])
    told = effect(BACKDOOR, "X", "Y", Dataset.of(data, missing="drop"))
    assert told.estimates == effect(BACKDOOR, "X", "Y", whole).estimates
    for way in ("test-wise", "em"):
        (filled,) = effect(BACKDOOR, "X", "Y", Dataset.of(data, missing=way)).estimates
        assert filled.method == "least squares, HC3; 20 imputations"
        assert filled.value == pytest.approx(told.estimates[0].value, abs=0.02)
    with pytest.raises(DataError, match="missing values in 1 of"):
        effect(BACKDOOR, "X", "Y", Dataset.of(data, missing="refuse"))


def test_weights_count_rows_as_often_as_they_say() -> None:
    data = table(200)
    times = np.arange(200) % 3
    doubled = {name: np.repeat(column, times) for name, column in data.items()}
    weighted = effect(BACKDOOR, "X", "Y", Dataset.of(data, weights=times))
    assert weighted.value == pytest.approx(effect(BACKDOOR, "X", "Y", doubled).value, rel=1e-9)


def test_rows_of_a_cluster_are_drawn_together() -> None:
    data = table(100)
    copies = {name: np.repeat(column, 20) for name, column in data.items()}
    alone = effect(BACKDOOR, "X", "Y", data).estimates[0]
    naive = effect(BACKDOOR, "X", "Y", copies).estimates[0]
    told = effect(BACKDOOR, "X", "Y", Dataset.of(copies, cluster=np.repeat(np.arange(100), 20))).estimates[0]
    assert told.method == "least squares; bootstrap of 200 replicates"
    assert naive.error < 0.3 * alone.error
    assert told.error == pytest.approx(alone.error, rel=0.25)


def test_two_numbers_are_levels_also_in_the_range() -> None:
    rng = np.random.default_rng(2)
    ill = rng.integers(0, 2, 500)
    y = 3 * ill + rng.normal(size=500)
    near, far = (effect(OPEN, "A", "B", {"A": ill * unit, "B": y}).range for unit in (1, 100))
    assert near is not None
    assert far is not None
    assert near.values == pytest.approx(far.values)


def test_no_range_is_told_of_labels() -> None:
    span = effect(OPEN, "A", "B", {"A": lettered()["X"], "B": lettered()["Y"]}).range
    assert span is not None
    assert span.values == ()


def test_selection_is_refused_with_the_edge_that_shows_it() -> None:
    pag = PAG.from_edges("X --- A", "A --- Y", "Y --- B", "B --- X")
    told = effect(pag, "X", "Y")
    assert told.status == "not identified"
    assert "because X --- A, X --- B, A --- Y and 1 more edge say that the sample was selected" in told.sentence
    assert "It would help if you have a sample that nobody was selected into" in told.sentence
    with pytest.raises(GraphError, match="say that the sample was selected, and the other program would treat it"):
        exported(pag, "X", "Y")


def test_what_was_said_beforehand_reaches_the_effect() -> None:
    rng = np.random.default_rng(0)
    age, e, f = rng.normal(size=(3, 1000))
    data = {"age": age, "school": 0.6 * age + e, "pay": 0.7 * (0.6 * age + e) + f}
    found = LMarvel(knowledge=Knowledge(tiers=[["age"], ["school", "pay"]])).fit(data).result_
    assert str(found.pag) != str(found.unaided)
    assert effect(found.unaided, "school", "pay").status == "not identified"
    told = found.effect("school", "pay", data)
    assert told.status == "adjustment"
    assert told.value == pytest.approx(0.7, abs=0.1)
    assert told.statements == ("tiers: age < school, pay",)
    assert "\nYou stated: tiers: age < school, pay.\n" in str(told)
    assert "This rests on the learned graph being right and on what you stated" in told.rests_on
    again = Discovery.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.effect("school", "pay", data).sentence == told.sentence


@pytest.mark.parametrize("method", [LMarvel, Lift])
def test_what_was_just_assumed_is_not_asked_for(method: type[LMarvel] | type[Lift]) -> None:
    rng = np.random.default_rng(2)
    drug, e = rng.normal(size=(2, 1000))
    data = {"drug": drug, "pain": -0.5 * drug + e}
    without = method().fit(data).result_.effect("drug", "pain", data)
    assert without.status == "not identified"
    assert without.sentence.endswith("This statement, if true, would be enough: drug is randomised.")
    told = method(knowledge=Knowledge(unconfounded=[("drug", "pain")])).fit(data).result_.effect("drug", "pain", data)
    assert told.status == "not identified"
    assert told.identified.because.startswith("the data do not show whether drug affects pain or pain affects drug")
    assert told.identified.unless == "you state which of drug and pain comes first"
    for known in (Knowledge(randomised=["drug"]), Knowledge(tiers=[["drug"], ["pain"]], latents=False)):
        told = method(knowledge=known).fit(data).result_.effect("drug", "pain", data)
        assert told.status == "adjustment"
        assert told.value == pytest.approx(-0.5, abs=0.1)
        assert told.grade == "stated"


def test_what_was_said_beforehand_counts_where_it_changes_no_mark() -> None:
    data = table(2000)
    found = Lift(knowledge=Knowledge(tiers=[["A", "B"], ["X"], ["Y"]])).fit(data).result_
    told = found.effect("X", "Y", data)
    assert told.status == "adjustment"
    assert "left out" not in told.rests_on


@pytest.mark.parametrize("how", ["gaps", "resamples"])
def test_an_estimate_that_takes_long_ends_with_the_budget(how: str) -> None:
    """Each of these loops can take seconds on an ordinary table, and a report asks for many estimates."""
    data = table(400)
    if how == "gaps":
        data["A"][::7] = np.nan
    columns = Columns(Dataset.of(data))
    with Clock(1e-9).running(), pytest.raises(BudgetSpent):
        next(columns.completed(0)) if how == "gaps" else columns.drawn(np.random.default_rng(0))
