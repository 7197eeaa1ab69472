"""IDP and CIDP: no formula disagrees with what setting a variable does."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from lmarvel import PAG
from lmarvel.effects.formula import slope
from lmarvel.effects.identify import identify, identify_given
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import bits
from tests.effects.models import random_model


def check_pairs(rng: np.random.Generator, pairs: int) -> Counter[str]:
    """Compare formulas with effects in random models until so many pairs were looked at."""
    told: Counter[str] = Counter()
    while told.total() < pairs:
        model = random_model(rng)
        ready, covariance = Prepared(model.pag), model.covariance
        for x, y in permutations(range(len(model.pag)), 2):
            formula = identify(ready, 1 << x, 1 << y).formula
            if formula is None:
                told["not identified"] += 1
                continue
            truth = model.effect(x, y)
            found = slope(formula, covariance, x, y)
            assert abs(found - truth) < 1e-8 * max(1, abs(truth)), (str(model.pag), x, y, found, truth)
            told["zero" if abs(truth) < 1e-12 else "effect"] += 1
    return told


def check_given(rng: np.random.Generator, pairs: int) -> Counter[str]:
    told: Counter[str] = Counter()
    while told["not identified"] + told["identified"] < pairs:
        model = random_model(rng, 8)
        ready, covariance = Prepared(model.pag), model.covariance
        for x, y in permutations(range(len(model.pag)), 2):
            others = [v for v in range(len(model.pag)) if v not in (x, y)]
            if not others:
                continue
            z = rng.permutation(others)[: int(rng.integers(1, min(3, len(others)) + 1))].tolist()
            formula = identify_given(ready, 1 << x, 1 << y, bits(z)).formula
            joint = identify(ready, 1 << x, 1 << y | bits(z)).formula
            if formula is None:
                assert joint is None, "the quotient of what is identified is identified"
                told["not identified"] += 1
                continue
            truth = model.effect(x, y, z)
            found = slope(formula, covariance, x, y)
            assert abs(found - truth) < 1e-8 * max(1, abs(truth)), (str(model.pag), x, y, z, found, truth)
            told["identified"] += 1
            told["by moving only"] += joint is None
            told["not zero"] += abs(truth) > 1e-9
    return told


def test_no_formula_disagrees_with_the_effect_of_setting() -> None:
    told = check_pairs(np.random.default_rng(1), 3_000)
    assert told["effect"] > 50
    assert told["not identified"] > 300


@pytest.mark.slow
def test_no_formula_disagrees_in_a_hundred_thousand_pairs() -> None:
    told = check_pairs(np.random.default_rng(2), 100_000)
    assert told["effect"] > 1_500


def test_no_conditional_formula_disagrees_with_the_effect_of_setting() -> None:
    told = check_given(np.random.default_rng(3), 1_500)
    assert told["not zero"] > 20
    assert told["by moving only"] > 50


@pytest.mark.slow
def test_no_conditional_formula_disagrees_in_many_pairs() -> None:
    assert check_given(np.random.default_rng(4), 30_000)["not zero"] > 500


# --- examples ---------------------------------------------------------------------------------------------


def identified(pag: PAG, x: str, y: str, z: str = "") -> bool:
    sets = (bits(map(pag.index, names.split())) for names in (x, y, z))
    return identify_given(Prepared(pag), *sets).formula is not None


def test_a_chain_that_tells_the_conditional_effect_only() -> None:
    chain = PAG.from_edges("X o-o Z", "Z o-o Y")
    assert not identified(chain, "X", "Y")
    assert identified(chain, "X", "Y", "Z")


def test_what_cannot_be_removed_is_named() -> None:
    pag = PAG.from_edges("X o-o Y")
    hedge = identify(Prepared(pag), 1, 2).hedge
    assert hedge is not None
    assert (hedge.stuck, hedge.partner) == (0, 1)


def test_the_steps_are_told() -> None:
    pag = PAG.from_edges("nodes: A B X Y", "A o-> X", "B o-> X", "X --> Y", "A --> Y")
    steps = [step.words for step in identify(Prepared(pag), 0b0100, 0b1000).steps]
    assert steps[0] == "Wanted: how Y is distributed when X is set: A may act on it, so Q[A, Y]."
    assert "shares no unmeasured cause" in steps[1]
    assert steps[-1] == "Sum over A."
