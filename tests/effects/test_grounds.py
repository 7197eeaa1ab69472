"""No answer is stronger than its graph: open marks, rejected separations, what does not recur, another table."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import PAG, Lift, LMarvel, causes, effect
from lmarvel.datasets import CARS
from lmarvel.result.discovery import Discovery


@pytest.fixture(scope="module")
def cars() -> Discovery:
    return Lift().fit(CARS, bootstrap=20, seed=1).result_


def line(text: str, start: str) -> str:
    return next(one for one in text.splitlines() if one.startswith(start))


def test_a_claim_that_rests_on_a_rejected_separation_says_so_first(cars: Discovery) -> None:
    told = effect(cars, "Horsepower", "SecondsTo60", CARS)
    assert told.sentence.startswith("In doubt, for the data reject a separation that it rests on: Horsepower affects ")
    assert "The marks of all 5 edges that bear on it are open." in told.rests_on
    assert "MilesPerGallon and Displacement given Weight (p = 0.0044)" in told.rests_on
    assert told.to_dict()["sentence"] == told.sentence


def test_that_nothing_can_be_told_needs_no_caution(cars: Discovery) -> None:
    assert effect(cars, "Weight", "MilesPerGallon").sentence.startswith("Whether and how much Weight affects ")


def test_what_recurs_stands_behind_each_cause(cars: Discovery) -> None:
    counted = cars.stability
    assert counted is not None
    told = str(causes(cars, "Horsepower"))
    first = line(told, "MilesPerGallon causes Horsepower: MilesPerGallon --> Horsepower")
    edge = f"MilesPerGallon --> Horsepower in {cars.recurring('MilesPerGallon', 'Horsepower')} of 20 draws"
    assert first.endswith(f"(open; {REJECTED}; {edge})")  # it has no arrowhead: only the edge tells
    never = round(100 * counted.not_causes_share("SecondsTo60", "Horsepower"))
    assert line(told, "SecondsTo60 does not cause Horsepower").endswith(f"({never} % of 20 draws)")
    assert line(told, "Cylinders may cause").endswith("points back")  # nothing is claimed


REJECTED = "a mark rests on a separation that the data reject: MilesPerGallon, Displacement"


def colliding(rows: int, seed: int) -> dict[str, np.ndarray]:
    """A and B meet in X, which affects Y; weakly enough, in few rows, that other draws tell another story."""
    rng = np.random.default_rng(seed)
    a, b, u, e = rng.normal(size=(4, rows))
    x = 0.35 * a + 0.35 * b + u
    return {"A": a, "B": b, "X": x, "Y": 0.5 * x + e}


def test_a_claim_that_few_draws_make_is_called_unstable() -> None:
    found = LMarvel().fit(colliding(150, 2), bootstrap=100, seed=1).result_
    assert str(found.pag.edge("X", "Y")) == "X --> Y"
    assert found.stability is not None
    share = found.stability.causes_share("X", "Y")
    assert share < 0.5
    told = effect(found, "X", "Y", colliding(150, 2))
    words = f"{round(100 * share)} % of 100 draws"
    assert told.sentence.startswith(f"Not stable, for it recurs in {words}: X affects Y by ")
    assert f"How often it recurs that X causes Y: {words}." in told.rests_on


def test_a_claim_that_recurs_stands_alone() -> None:
    found = LMarvel().fit(colliding(3000, 4), bootstrap=20, seed=1).result_
    told = effect(found, "X", "Y", colliding(3000, 4))
    assert told.sentence.startswith("X affects Y by 0.")
    assert "another table" not in told.rests_on
    assert found.stability is not None
    share = f"{round(100 * found.stability.causes_share('X', 'Y'))} % of 20 draws"
    assert causes(found, "Y")["X"].firm == share
    assert causes(found, "Y").to_dict()["causes"][2]["firm"] == share


def test_draws_that_allow_for_selection_tell_nothing_of_what_has_no_arrowhead() -> None:
    """Nothing is claimed of A in any draw, for it may cause being in the sample; here no selection is assumed."""
    found = LMarvel().fit(colliding(3000, 4), bootstrap=20, seed=1).result_
    assert found.stability is not None
    assert found.stability.not_causes_share("A", "B") == 0
    told = effect(found, "A", "B")
    assert told.sentence.startswith("A does not affect B under any explanation")
    assert "recurs" not in told.rests_on


def test_a_refusal_for_selection_does_not_assume_that_there_is_none() -> None:
    pag = PAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A")
    told = effect(pag, "A", "C")
    assert "say that the sample was selected" in told.sentence
    assert told.rests_on == "This rests on the learned graph being right."
    assert "on a sample that was not selected" in effect(PAG.from_edges("A o-o B"), "A", "B").rests_on


def test_numbers_of_another_table_are_said_to_be() -> None:
    found = LMarvel().fit(colliding(3000, 4)).result_
    told = effect(found, "X", "Y", colliding(3000, 5))
    assert told.rests_on.endswith(
        " The graph was learned from another table than these numbers: that it is right for both is assumed."
    )
    assert "another table" not in effect(found, "Y", "X", colliding(3000, 5)).rests_on  # no numbers
