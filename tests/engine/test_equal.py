"""The engine and the readable code give the same results, whatever the data and the settings."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import Moments
from lmarvel.engine.run import is_built
from lmarvel.orient.draft import RuleApplication
from tests.effort import examples
from tests.engine.twins import assert_same, moments, population, tables

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")

BOUNDARIES = ["auto", "auto", "tc", "iamb", "gs", "inter-iamb", "fast-iamb"]


@st.composite
def parameters(draw: st.DrawFn, table: Moments) -> dict[str, Any]:
    boundary = draw(st.sampled_from(BOUNDARIES))
    if boundary == "tc" and table.n < len(table.names) + 3:
        boundary = "iamb"
    return {
        "alpha": draw(st.sampled_from([0.001, 0.01, 0.05, 0.3])),
        "boundary": boundary,
        "boundary_alpha": draw(st.sampled_from([None, None, 0.0005, 0.01, 0.2])),
        "removal_threshold": draw(st.sampled_from([0.05, 0.3, 0.8])),
        "assume_chordal": draw(st.booleans()),
        "faithful": draw(st.booleans()),
        "selection": draw(st.booleans()),
        "max_conditioning": draw(st.sampled_from([None, None, None, 0, 1, 2, 4, 20])),
        "max_tests": draw(st.sampled_from([None, None, None, 0, 10, 50, 100, 200, 400])),
    }


@examples(80)
@given(st.data())
def test_the_engine_does_what_the_readable_code_does_to_the_last_bit(data: st.DataObject) -> None:
    table = data.draw(tables(most=20))
    assert_same(table, compiled=True, **data.draw(parameters(table)))


@settings(max_examples=40)
@given(st.data())
def test_it_agrees_with_the_readable_search_too(data: st.DataObject) -> None:
    table = data.draw(tables(most=8))
    assert_same(table, compiled=False, **data.draw(parameters(table)))


def test_budgets_end_both_at_every_single_test() -> None:
    rng = np.random.default_rng(3)
    table = moments(rng, population(rng, 7, 2, 1, 3.0, True), 200, exact=False)
    whole = assert_same(table, compiled=True, alpha=0.05)
    ends = [assert_same(table, compiled=True, alpha=0.05, max_tests=k).budget_ended for k in range(whole.stats.n_tests)]
    assert ends[-1] == f"max_tests={len(ends) - 1} is used up"


def test_boundaries_of_the_users_own_are_taken() -> None:
    rng = np.random.default_rng(4)
    table = moments(rng, population(rng, 6, 1, 0, 2.0, False), 300, exact=False)
    own = {a: [b for b in table.names if b != a] for a in table.names}
    assert assert_same(table, compiled=True, boundary=own).settings["boundary"] == "own"


@pytest.mark.parametrize("p", [63, 64, 65, 128, 150])
@pytest.mark.parametrize("n", [120, 2000])
@pytest.mark.parametrize("faithful", [True, False])
def test_sets_may_be_of_any_number_of_variables(p: int, n: int, faithful: bool) -> None:
    rng = np.random.default_rng(p)
    table = moments(rng, population(rng, p, 6, 2, 2.0, False), n, exact=False)
    for selection, max_tests in ((True, None), (False, 40 * p)):
        assert_same(table, compiled=True, faithful=faithful, selection=selection, max_tests=max_tests)


@pytest.mark.parametrize("limits", [{"max_conditioning": 1}, {"max_tests": 20_000}])
def test_boundaries_may_be_all_other_variables(limits: dict[str, int]) -> None:
    rng = np.random.default_rng(5)
    table = moments(rng, np.eye(45) + 0.2, 400, exact=False)  # pools of more than 64 are not for the compiled search
    own = {a: [b for b in table.names if b != a] for a in table.names}
    assert_same(table, compiled=True, boundary=own, **limits)


@pytest.mark.slow
def test_every_rule_is_used_in_the_same_way() -> None:
    assert len(rules_in(range(1500))) == 11


def test_nearly_every_rule_is_met() -> None:
    uses = rules_in(range(120))
    assert set(uses) >= {"R0", "R1", "R2", "R4", "R5", "R6", "R7", "R9"}, uses


def rules_in(seeds: range) -> Counter[str]:
    """Return how often each rule was used on populations with latent and selection variables."""
    uses: Counter[str] = Counter()
    for seed, heavy in itertools.product(seeds, (False, True)):
        rng = np.random.default_rng(seed)
        shape = int(rng.integers(6, 14)), int(rng.integers(0, 5)), int(rng.integers(0, 3)), rng.uniform(1.5, 4)
        table = moments(rng, population(rng, *shape, heavy), 10**7, exact=True)
        found = assert_same(table, compiled=True, alpha=1e-4, boundary="tc", max_tests=20_000)
        uses.update(e.rule for e in found.trace if isinstance(e, RuleApplication))
    return uses
