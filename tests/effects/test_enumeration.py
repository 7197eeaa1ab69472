"""Causes, adjustment and identification against all MAGs of all small classes, and against models of each of them."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from lmarvel import MAG, PAG, pag_to_mag
from lmarvel.effects.adjustment import adjustment_set, adjustment_sets, is_valid_adjustment, pair_of
from lmarvel.effects.causes import causes
from lmarvel.effects.formula import slope
from lmarvel.effects.identify import identify
from lmarvel.effects.pag_index import Prepared
from lmarvel.effects.ranges import class_members
from lmarvel.orient.equivalence import mag_to_pag
from tests.effects.classes import Models, classes, models, regression
from tests.truth.make_truth import load, marks_matrix

PAIRS = list(permutations(range(5), 2))
SAMPLE = classes()[::12][:-1]  # the last is that of all complete graphs, with thousands of MAGs


def subsets(x: int, y: int) -> list[tuple[int, ...]]:
    others = [v for v in range(5) if v not in (x, y)]
    return [z for size in range(4) for z in combinations(others, size)]


def truly_valid(truth: Models, x: int, y: int) -> set[tuple[int, ...]]:
    """The sets whose regression gives the total effect in every model."""
    effect = truth.effects[:, y, x]
    return {z for z in subsets(x, y) if np.allclose(regression(truth.covariance, x, y, z), effect, atol=1e-9)}


def named(pag: PAG, z: tuple[int, ...]) -> frozenset[str]:
    return frozenset(pag.names[v] for v in z)


def check_adjustment(pag: PAG, truth: Models) -> int:
    ready = Prepared(pag)
    found = 0
    for x, y in PAIRS:
        # Where x has no effect at all, sets that do not separate can be right as well: y before x, for one.
        if not ready.possible_ancestors(1 << y) >> x & 1:
            continue
        valid = {named(pag, z) for z in truly_valid(truth, x, y)}
        minimal = {z for z in valid if not any(other < z for other in valid)}
        assert {named(pag, z) for z in subsets(x, y) if is_valid_adjustment(ready, x, y, z)} == valid
        assert sorted(map(sorted, adjustment_sets(ready, x, y, minimal=False))) == sorted(map(sorted, valid))
        assert sorted(map(sorted, adjustment_sets(ready, x, y))) == sorted(map(sorted, minimal))
        one = adjustment_set(ready, x, y)
        assert (one is None) == (not valid)
        assert one is None or one in valid
        found += len(valid)
    return found


def check_identification(pag: PAG, truth: Models) -> int:
    ready = Prepared(pag)
    found = 0
    for x, y in PAIRS:
        told = identify(ready, 1 << x, 1 << y)
        if told.formula is None:
            assert adjustment_set(ready, x, y) is None, "adjustment identifies what IDP does not"
            assert told.hedge is not None
            assert not (truth.effects[:, y, x] == 0).all(), "an effect that is zero everywhere is identified"
            continue
        numbers = [slope(told.formula, covariance, x, y) for covariance in truth.covariance]
        np.testing.assert_allclose(numbers, truth.effects[:, y, x], rtol=1e-8, atol=1e-9)
        found += 1
    return found


def check_amenable(pag: PAG) -> None:
    """What is not amenable is not identified: the shortcut that classifies all pairs fast."""
    ready = Prepared(pag)
    for x, y in PAIRS:
        if pair_of(ready, x, y).invisible:
            assert identify(ready, 1 << x, 1 << y).formula is None


def check_causes(pag: PAG, truth: Models) -> None:
    for y in range(5):
        told = causes(pag, y)
        ancestors = [mag.ancestors(y) for mag in truth.mags]
        for cause in told:
            times = sum(cause.name in some for some in ancestors)
            right = "definite" if times == len(ancestors) else "possible" if times else "impossible"
            assert cause.status == right, (str(pag), cause)


@pytest.mark.parametrize("number", range(len(SAMPLE)))
def test_a_sample_of_the_classes(number: int) -> None:
    pag = SAMPLE[number]
    truth = models(pag, np.random.default_rng(number), most=60)
    check_adjustment(pag, truth)
    check_identification(pag, truth)
    check_amenable(pag)
    check_causes(pag, truth)


@pytest.mark.slow
def test_all_classes_of_five_nodes() -> None:
    sets = formulas = 0
    for number, pag in enumerate(classes()):
        truth = models(pag, np.random.default_rng(1000 + number), most=400)
        sets += check_adjustment(pag, truth)
        formulas += check_identification(pag, truth)
        check_amenable(pag)
        check_causes(pag, truth)
    assert len(classes()) == 313
    assert sets > 500
    assert formulas > 2_000


def test_the_walk_over_mark_changes_finds_every_class_of_four_nodes() -> None:
    truth = load(4)
    for number in range(len(truth["pag"])):
        all_marks = [marks_matrix(row, 4).astype(np.int8) for row in truth["mags"][truth["klass"] == number]]
        mags = {m.tobytes(): m for m in all_marks if not ((m == 3) & (m.T == 3)).any()}
        if mags:
            start = next(iter(mags.values()))
            assert {m.marks.tobytes() for m in class_members(MAG(tuple("ABCD"), start))} == set(mags)


def test_the_members_of_a_class_have_its_pag() -> None:
    for pag in SAMPLE[::4]:
        assert {mag_to_pag(mag) for mag in class_members(pag_to_mag(pag))} == {pag}
