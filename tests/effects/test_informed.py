"""Effects under statements against enumeration: right in every MAG that fits, and how many answers are missed.

No answer is wrong. Over 312 classes (``test_all_classes``, 6,240 ordered pairs per kind of statements), answers that
the MAGs that fit allow and that are missed: at most 12 for causes, 0 for impossible causes, mixtures, tiers, randomised
variables, pairs without unmeasured causes and no latents. The orientation rules miss a mark there (docs/knowledge.md).
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from lmarvel import PAG, Knowledge, pag_to_mag
from lmarvel.effects.adjustment import adjustment_sets
from lmarvel.effects.causes import causes
from lmarvel.effects.classify import classify
from lmarvel.effects.formula import slope
from lmarvel.effects.knowing.informed import informed
from lmarvel.effects.pag_index import Prepared
from lmarvel.effects.ranges import effect_formula, fitting_members
from lmarvel.knowledge.contradictions import known_of
from tests.effects.classes import classes, regression
from tests.effects.informed import KINDS, Models, drawn, models

PAIRS = list(permutations(range(5), 2))
SAMPLE = classes()[::13][:-1]
EXACT = ("tiers", "randomised", "unconfounded", "latents")


def check_pair(ready: Prepared, truth: Models, x: int, y: int) -> str:
    """Hold the answer for a pair against all models; return its status."""
    told, true = classify(ready, x, y), truth.effects[:, y, x]
    if told.status == "none":
        np.testing.assert_allclose(true, 0, atol=1e-9)
    elif told.formula is not None:
        numbers = [slope(told.formula, covariance, x, y) for covariance in truth.covariance]
        np.testing.assert_allclose(numbers, true, rtol=1e-7, atol=1e-8)
    if told.status == "adjustment":
        for z in [told.adjustment, *adjustment_sets(ready, x, y)]:
            at = tuple(ready.graph.index(name) for name in z)
            np.testing.assert_allclose(regression(truth.covariance, x, y, at), true, rtol=1e-7, atol=1e-8)
    return told.status


def could_be(ready: Prepared, truth: Models, x: int, y: int) -> str:
    """Return what enumeration says: each member that fits identifies the effect, and all of them agree."""
    if np.abs(truth.effects[:, y, x]).max() < 1e-9:
        return "none"
    formulas = {effect_formula(member, x, y) for member in fitting_members(ready, most=10**6)}
    if None in formulas:
        return "not identified"
    for covariance in truth.covariance[:3]:
        values = [0.0 if isinstance(f, int) else slope(f, covariance, x, y) for f in formulas]
        if np.ptp(values) > 1e-6:
            return "not identified"
    return "identified"


def check_causes(ready: Prepared, truth: Models) -> Counter[str]:
    found: Counter[str] = Counter()
    for y in range(5):
        ancestors = [mag.ancestors(y) for mag in truth.mags]
        for cause in causes(ready, y):
            times = sum(cause.name in some for some in ancestors)
            right = "definite" if times == len(ancestors) else "possible" if times else "impossible"
            assert cause.status in (right, "possible"), (cause, right)
            found["missed"] += cause.status != right
            found["causes"] += 1
    return found


def tally(kind: str, pags: list[PAG], seed: int, most: int) -> Counter[str]:
    """Check all pairs of all classes with statements of a kind, and count answers, and what they miss."""
    rng, found = np.random.default_rng([seed, KINDS.index(kind)]), Counter[str]()
    for pag in pags:
        start = pag_to_mag(pag)
        knowledge = drawn(kind, start, rng)
        known = known_of(knowledge, pag.names)
        truth = models(pag, known, rng, most)
        ready = informed(pag, knowledge)
        assert truth.mags
        assert ready.exact or ready.member is not None
        found += check_causes(ready, truth)
        for x, y in PAIRS:
            status = check_pair(ready, truth, x, y)
            found[status] += 1
            best = could_be(ready, truth, x, y)
            if status == "not identified":
                found[f"short of {best}"] += best != "not identified"
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_of_the_classes(kind: str) -> None:
    found = tally(kind, SAMPLE, seed=1, most=40)
    assert found["none"] > 50
    assert found["adjustment"] > 10
    short = found["short of none"] + found["short of identified"]
    assert short == 0 if kind in EXACT else short < 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_classes(kind: str) -> None:
    found = tally(kind, classes()[:-1], seed=2, most=60)  # the last is that of all complete graphs
    print(kind, dict(found))  # the docstring of this file quotes this
    short = found["short of none"] + found["short of identified"]
    assert short == 0 if kind in EXACT else short < 0.02 * len(PAIRS) * len(classes())


def test_a_triangle_stays_one_when_its_first_arrow_is_cut() -> None:
    """A may be a collider between D and E, so that adjusting for it opens a path: the edge D - E is there."""
    edges = ("A o-> D", "A o-> E", "B o-> D", "B o-> E", "D --> C", "E --> C", "D o-o E")
    pag = PAG.from_edges("nodes: A B C D E", *edges)
    said = Knowledge(not_causes=[("E", "D")], causes=[("B", "E")], unconfounded=[("C", "*"), ("D", "E")])
    ready = informed(pag, said)
    truth = models(pag, known_of(said, pag.names), np.random.default_rng(0), 60)
    assert check_pair(ready, truth, pag.index("D"), pag.index("C")) == "not identified"
