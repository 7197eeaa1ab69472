"""No answer is stronger than its graph: open marks, rejected independences, what resamples lack, another table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lmarvel import PAG, Lift, LMarvel, causes, effect
from lmarvel.datasets import CARS
from lmarvel.deferred import Deferred
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.grounds import Grounds

REJECTED = "the data reject that MilesPerGallon and Displacement are independent given Weight (p = 0.0044)"


@pytest.fixture(scope="module")
def cars() -> Discovery:
    return Lift(test="fisher-z").fit(CARS, bootstrap=20, seed=1).result_


def test_all_cautions_come_before_the_number(cars: Discovery) -> None:
    told = effect(cars, "Horsepower", "SecondsTo60", CARS)
    curved = "relations are not straight lines (such as that of Displacement and Cylinders)"
    directions = "none of the 5 arrow directions that bear on it is established"
    assert told.cautions[:3] == (REJECTED, curved, directions)
    assert told.cautions[3].startswith("6 missing edges that bear on it are not established (such as Horsepower and ")
    assert (told.grade, told.badge) == ("open", "Identified, but unreliable")
    warning, number, *_ = str(told).splitlines()
    assert warning.startswith(f"Identified, but unreliable: {REJECTED}. Relations are not straight lines (")
    assert number.startswith("Under the learned graph, Horsepower affects SecondsTo60 by -0.0835 ")
    assert told.sentence == f"{warning} {number}"
    plain = told.to_dict()
    assert (plain["grade"], plain["cautions"], plain["badge"]) == ("open", list(told.cautions), told.badge)


def test_that_nothing_is_identified_needs_no_caution(cars: Discovery) -> None:
    told = effect(cars, "Weight", "MilesPerGallon")
    assert told.sentence.startswith("The effect of Weight on MilesPerGallon is not identified, because ")
    assert (told.grade, told.cautions) == (None, ())


def test_nothing_is_claimed_about_the_cars(cars: Discovery) -> None:
    for y in cars.pag.names:
        answer = causes(cars, y)
        assert answer.definite == answer.impossible == ()
    assert causes(cars, "Horsepower")["MilesPerGallon"].sentence == (
        "MilesPerGallon may cause Horsepower (the best-scoring graph has MilesPerGallon --> Horsepower)"
    )
    assert causes(cars, "Horsepower", "all")["MilesPerGallon"].sentence == (
        "MilesPerGallon causes Horsepower in the learned graph: MilesPerGallon --> Horsepower (open)"
    )
    assert REJECTED in causes(cars, "Horsepower")["MilesPerGallon"].cautions


def test_an_open_mark_is_shown_as_a_circle_on_the_way_to_a_possible_cause(cars: Discovery) -> None:
    assert "Displacement --> SecondsTo60" in str(cars.pag)
    assert causes(cars, "SecondsTo60")["Cylinders"].sentence == (
        "Cylinders may cause SecondsTo60: no edge of Cylinders o-o Displacement o-o SecondsTo60 points back"
    )


def colliding(rows: int, seed: int) -> dict[str, np.ndarray]:
    """A and B meet in X, which affects Y; weakly enough, in few rows, that resamples tell another story."""
    rng = np.random.default_rng(seed)
    a, b, u, e = rng.normal(size=(4, rows))
    x = 0.35 * a + 0.35 * b + u
    return {"A": a, "B": b, "X": x, "Y": 0.5 * x + e}


def test_a_claim_that_few_resamples_make_is_not_made() -> None:
    found = LMarvel().fit(colliding(150, 2), bootstrap=100, seed=1).result_
    assert str(found.pag.edge("X", "Y")) == "X --> Y"
    assert found.stability is not None
    share = round(100 * found.stability.causes_share("X", "Y"))
    assert share < 50
    told = effect(found, "X", "Y", colliding(150, 2))
    assert told.sentence.startswith("Identified, but unreliable: none of the 3 arrow directions ")
    cause = causes(found, "Y")["X"]
    assert cause.cautions == (f"the direction of X --> Y is not established (the same in {share} % of resamples)",)
    assert (cause.status, cause.grade, cause.learned) == ("possible", "open", "definite")


def test_a_claim_that_all_resamples_make_stands_alone() -> None:
    found = LMarvel().fit(colliding(8000, 12), bootstrap=20, seed=1).result_
    told = effect(found, "X", "Y", colliding(8000, 12))
    assert told.sentence.startswith("X affects Y by 0.")
    assert (told.grade, told.cautions, told.badge) == ("firm", (), "Identified")
    assert "another table" not in told.rests_on
    assert "The interval ignores uncertainty about the graph." in told.rests_on
    assert causes(found, "Y")["X"].grade == "firm"
    assert causes(found, "Y").to_dict()["causes"][2]["grade"] == "firm"  # type: ignore[index]
    nothing = effect(found, "A", "B")
    assert nothing.sentence == (
        "A does not affect B: no path from A to B in the learned graph;"
        " an effect below a partial correlation of about 0.03 would have been missed."
    )
    assert (nothing.value, nothing.badge) == (0.0, "No effect")


def test_what_was_not_checked_says_so() -> None:
    """Without resamples and without a score nothing speaks for a mark, and nothing is claimed."""
    checked = LMarvel().fit(colliding(3000, 4)).result_
    found = Discovery(checked.pag, {}, {}, checked.stats, settings=checked.settings)
    assert found.grades.basis == "none"
    cause = causes(found, "Y")["X"]
    assert (cause.grade, cause.sentence) == ("unchecked", "X may cause Y (not checked; the learned graph has X --> Y)")
    told = effect(found, "X", "Y", colliding(3000, 4))
    assert told.sentence.startswith("Identified, but unreliable: the learned graph was not checked by resamples (")
    assert effect(found, "A", "B").sentence.startswith(
        "No path from A to B in the learned graph, but this was not checked: the learned graph "
    )
    assert "(learning with a bootstrap checks it)" in told.sentence
    unusable = replace(found, later_grounds=Deferred.of(Grounds(skipped="unusable")))
    told = effect(unusable, "X", "Y", colliding(3000, 4))
    assert "was not checked by resamples, because no graph could be learned from any of them" in told.sentence
    assert "bootstrap" not in told.sentence


def test_a_refusal_for_selection_does_not_assume_that_there_is_none() -> None:
    pag = PAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A")
    told = effect(pag, "A", "C")
    assert "say that the sample was selected" in told.sentence
    assert told.rests_on == "This rests on the learned graph being right."
    assert "on a sample that was not selected" in effect(PAG.from_edges("A o-o B"), "A", "B").rests_on


def test_numbers_of_another_table_are_said_to_be() -> None:
    found = LMarvel().fit(colliding(3000, 4)).result_
    told = effect(found, "X", "Y", colliding(3000, 5))
    assert told.rests_on.endswith(" The graph was learned from another table: this assumes that it is right for both.")
    assert "another table" not in effect(found, "Y", "X", colliding(3000, 5)).rests_on  # no numbers
