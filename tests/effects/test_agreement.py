"""Causes and effect never contradict each other: with statements, with selection, and where pairs are undecided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from lmarvel import Discovery, GraphError, causes, effect, mag_to_pag
from lmarvel.effects.pag_index import selection_near
from lmarvel.knowledge.draw import true_statements
from lmarvel.result.support.grades import GRADES
from tests.effects.graded import RESAMPLES, graded, random_result, varied
from tests.generators import random_study

Seen = Counter[tuple[str, str | None]]


def stated_result(rng: np.random.Generator, selection: int) -> Discovery:
    """Return a result with random grades, learned with statements that are true of a random study."""
    study = random_study(rng, 6, latent=int(rng.integers(3)), selection=selection, degree=float(rng.uniform(1.5, 3.5)))
    counts = {kind: int(rng.integers(2)) for kind in ("causes", "not_causes", "exogenous", "unconfounded")}
    counts |= {"tiers": int(rng.integers(4)), "randomised": int(rng.random() < 0.3)}
    said = true_statements(study.mag, **counts, seed=rng)
    plain, pag = mag_to_pag(study.mag), mag_to_pag(study.mag, knowledge=said)
    edges, ends = rng.choice((0, 0.06, 0.3), (2, 6, 6), p=(0.7, 0.2, 0.1))
    resamples = [varied(rng, pag, edges, ends) for _ in range(RESAMPLES)]
    return graded(pag, resamples, knowledge=said, unaided=plain) if said.statements else graded(pag, resamples)


def check_agreement(result: Discovery, seen: Seen) -> None:
    """Ask both about every pair, and compare what they say."""
    for x, y in permutations(result.pag.names, 2):
        cause, told = causes(result, y)[x], effect(result, x, y, most=1)
        seen[told.status, told.grade] += 1
        if told.status == "none":
            assert (cause.learned, cause.grade) == ("impossible", told.grade)
            assert ("does not affect" in told.sentence) == ("does not cause" in cause.sentence)
            assert ("probably" in told.sentence) == ("probably" in cause.sentence)
            assert ("as you stated" in told.sentence) == ("as you stated" in cause.sentence)
        if told.status in ("adjustment", "formula"):
            assert cause.learned != "impossible"
            assert told.grade is not None
            assert cause.grade is None or GRADES.index(told.grade) <= GRADES.index(cause.grade)
        if cause.status == "impossible":
            where = 1 << result.pag.index(x) | 1 << result.pag.index(y)
            assert told.status == "none" or selection_near(result.pag, where) is not None
        if cause.status == "definite" and told.status == "not identified":
            assert f"{x} causes {y}" in told.sentence or f"{x} probably causes {y}" in told.sentence


@pytest.mark.parametrize("selection", [0, 1])
def test_with_statements(selection: int) -> None:
    rng, seen = np.random.default_rng([27, selection]), Seen()
    for _ in range(25):
        check_agreement(stated_result(rng, selection), seen)
    assert seen["none", "stated"] > 20
    assert seen["none", "firm"] > 20
    assert sum(count for (status, _), count in seen.items() if status == "not identified") > 20
    assert selection or sum(count for (status, _), count in seen.items() if status == "adjustment") > 10


def test_where_pairs_are_undecided_effects_are_refused_and_causes_claim_no_more_than_before() -> None:
    """A pair that a budget left out may have any edge: no claim on causes is new, or firmer, for that."""
    rng, claims = np.random.default_rng(28), 0
    for _ in range(25):
        whole = random_result(rng)
        missing = [pair for pair in combinations(whole.pag.names, 2) if whole.pag.edge(*pair) is None]
        if not missing:
            continue
        left = [missing[k] for k in rng.permutation(len(missing))[: int(rng.integers(1, 4))]]
        result = replace(whole, undecided=tuple(left))
        for x, y in permutations(result.pag.names, 2):
            with pytest.raises(GraphError, match="could be decided, so no effect can be read"):
                effect(result, x, y)
            now, before = causes(result, y)[x], causes(whole, y)[x]
            assert now.status in (before.status, "possible")
            if now.status != "possible":
                claims += 1
                assert now.grade is not None
                assert before.grade is not None
                assert GRADES.index(now.grade) <= GRADES.index(before.grade)
        for x, y in left:
            assert {causes(result, y)[x].status, causes(result, x)[y].status} <= {"possible", "definite"}
    assert claims > 50
