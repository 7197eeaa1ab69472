"""Five everyday questions on tables with known truth: each ends in the truth, or in what would settle it.

Where the answer is "not identified", what :func:`lmarvel.settle` names, being true of the table, is stated, and the
answer then covers the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lmarvel import Discovery, Knowledge, Lift, mediation, settle
from lmarvel.effects import Effect, Way

Rows = dict[str, np.ndarray]
SEEDS = (1, 2, 3)


def learned(rows: Rows, *statements: str) -> Discovery:
    said = Knowledge.parse("\n".join(statements)) if statements else None
    return Lift(knowledge=said).fit(rows).result_


def covers(told: Effect, true: float) -> bool:
    assert told.status in ("adjustment", "formula"), str(told)
    [estimate] = told.estimates
    return estimate.low <= true <= estimate.high


def way_with(result: Discovery, x: str, y: str, *statements: str) -> Way:
    """Return the way to settle a question that consists of these statements; the question has to be open."""
    assert result.effect(x, y).status == "not identified"
    told = settle(result, x, y)
    return next(way for way in told.ways if set(way.statements) == set(statements))


def often(held: list[bool]) -> bool:
    """Of intervals that miss the truth once in twenty, more than one of three hardly ever does."""
    return sum(held) >= len(held) - 1


# --- smoking and lung function ----------------------------------------------------------------------------


def smoking(seed: int, hidden: float, without: tuple[str, ...] = ()) -> Rows:
    """Smoking lowers fev by 0.4 per unit; tax affects smoking only; ``hidden`` affects smoking and fev."""
    age, tax, u, e, f = np.random.default_rng(seed).normal(size=(5, 3000))
    smokes = 0.7 * age - 0.8 * tax + hidden * u + e
    rows = {"age": age, "tax": tax, "smoking": smokes, "fev": -0.4 * smokes - 0.5 * age - hidden * u + f}
    return {name: values for name, values in rows.items() if name not in without}


def test_smoking_without_tax_is_settled_by_an_order_and_no_hidden_cause() -> None:
    said = ("tiers: age < smoking < fev", "no unmeasured causes of smoking")
    held = []
    for seed in SEEDS:
        rows = smoking(seed, 0.0, without=("tax",))
        assert way_with(learned(rows), "smoking", "fev", *said).adjustment == ("age",)
        held.append(covers(learned(rows, *said).effect("smoking", "fev", rows), -0.4))
    assert often(held)


def test_smoking_with_tax_as_a_witness_needs_no_statement() -> None:
    rows = [smoking(seed, 0.0) for seed in SEEDS]
    assert often([covers(learned(one).effect("smoking", "fev", one), -0.4) for one in rows])


def test_smoking_with_a_hidden_cause_is_settled_by_tax_as_an_instrument() -> None:
    held = []
    for seed in SEEDS:
        rows = smoking(seed, 1.0)
        found = learned(rows)
        assert found.effect("smoking", "fev", rows).status == "not identified"
        assert "tax" in dict(settle(found, "smoking", "fev").instruments)
        told = found.effect("smoking", "fev", rows, instrument="tax").instrument
        assert told is not None
        held.append(told.covers(-0.4))
    assert often(held)


# --- discount and churn -----------------------------------------------------------------------------------


def discount(seed: int) -> tuple[Rows, float]:
    """Heavy users get discounts more often and leave less often; return the true difference of chances, too."""
    rng = np.random.default_rng(seed)
    usage = rng.normal(size=2000)
    given = rng.random(2000) < 1 / (1 + np.exp(-1.2 * usage))

    def leaves(with_discount: Any) -> Any:
        return 1 / (1 + np.exp(0.9 * usage + 0.8 * with_discount))

    churn = rng.random(2000) < leaves(given)
    labels = {"discount": np.where(given, "yes", "no"), "churn": np.where(churn, "yes", "no")}
    return {"usage": usage, **labels}, float(np.mean(leaves(1) - leaves(0)))


def test_discount_and_churn() -> None:
    said = ("tiers: usage < discount < churn", "no unmeasured causes of discount")
    held = []
    for seed in SEEDS:
        rows, true = discount(seed)
        assert way_with(learned(rows), "discount", "churn", *said).adjustment == ("usage",)
        held.append(covers(learned(rows, *said).effect("discount", "churn", rows), true))
    assert often(held)


# --- education and wage -----------------------------------------------------------------------------------


def test_education_and_wage_with_hidden_ability() -> None:
    held, naive = [], []
    for seed in SEEDS:
        ability, distance, e, f = np.random.default_rng(seed).normal(size=(4, 3000))
        education = ability - 0.7 * distance + e
        rows = {"distance": distance, "education": education, "wage": 0.5 * education + ability + f}
        found = learned(rows)
        assert way_with(found, "education", "wage", "education is randomised").status == "adjustment"
        assert dict(settle(found, "education", "wage").instruments) == {"distance": ()}
        told = found.effect("education", "wage", rows, instrument="distance").instrument
        assert told is not None
        held.append(told.covers(0.5))
        wrong = learned(rows, "tiers: distance < education < wage", "no unmeasured causes of education")
        naive.append(covers(wrong.effect("education", "wage", rows), 0.5))
    assert often(held)
    assert not any(naive)  # what is not true does not give the truth


# --- a randomised drug ------------------------------------------------------------------------------------


def test_a_randomised_drug() -> None:
    held = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        severity, e = rng.normal(size=(2, 1000))
        drug = rng.random(1000) < 0.5
        rows = {"severity": severity, "drug": np.where(drug, "yes", "no"), "recovery": drug - 0.8 * severity + e}
        assert way_with(learned(rows), "drug", "recovery", "drug is randomised").adjustment == ()
        held.append(covers(learned(rows, "drug is randomised").effect("drug", "recovery", rows), 1.0))
    assert often(held)


# --- advert and sales -------------------------------------------------------------------------------------


def test_advert_and_sales_in_all_and_through_visits() -> None:
    in_all, through = [], []
    for seed in SEEDS:
        season, budget, e, f, g = np.random.default_rng(seed).normal(size=(5, 3000))
        advert = 0.8 * season + budget + e
        visits = 0.7 * advert + f
        sales = 0.6 * visits + 0.9 * season + g
        rows = {"season": season, "budget": budget, "advert": advert, "visits": visits, "sales": sales}
        found = learned(rows)
        in_all.append(covers(found.effect("advert", "sales", rows), 0.42))
        split = mediation(found, "advert", "sales", "visits", rows)
        assert split.direct is not None
        assert split.indirect is not None
        through.append(split.direct.low < 0 < split.direct.high and split.indirect.low < 0.42 < split.indirect.high)
        assert way_with(found, "season", "sales", "season is randomised").status == "adjustment"
    assert often(in_all)
    assert often(through)
