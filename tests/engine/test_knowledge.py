"""With knowledge the engine gives what the readable code gives: graph, sets, counts, records, the PAG without it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import FCI, MAG, MBCS, RFCI, FisherZ, Knowledge, LMarvel, Moments
from lmarvel.engine.run import Stated, is_built, orient_graph
from lmarvel.estimators.base import PagEstimator
from lmarvel.knowledge.contradictions import known_of
from lmarvel.knowledge.statements import KnowledgeError
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import orient_mag
from lmarvel.orient.stated import stated_for_engine
from lmarvel.result.trace import Overruled
from tests.ci.tables_made import KINDS, twins
from tests.effort import examples
from tests.engine import test_cohort, test_equal, test_other_tests
from tests.engine.twins import assert_same, moments, population, tables
from tests.generators import mags

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")

METHODS: list[type[PagEstimator]] = [LMarvel, FCI, RFCI, MBCS]


@st.composite
def statements(draw: st.DrawFn, names: tuple[str, ...]) -> Knowledge:
    """Statements that do not contradict each other; nothing says that they are true."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return drawn_statements(rng, names, draw(st.integers(0, 3)))


def drawn_statements(rng: np.random.Generator, names: tuple[str, ...], most: int, unmeasured: bool = True) -> Knowledge:
    """Return up to so many statements of each kind, without those that contradict the ones before."""
    tier = rng.integers(0, 4, len(names))
    said: dict[str, Any] = {
        "selection": bool(rng.random() < 0.6),
        "latents": bool(rng.random() < 0.7),
        "tiers": [tiers for k in (1, 2, 3) if (tiers := [str(v) for v in np.array(names)[tier == k]])],
    }
    if rng.random() < 0.4:
        del said["tiers"]
    for part in ("causes", "not_causes", "edges", "no_edges", *(["unconfounded"] if unmeasured else [])):
        for _ in range(int(rng.integers(0, most + 1)) if len(names) > 1 else 0):
            a, b = rng.choice(len(names), 2, replace=False)
            said = _with(said, part, (names[a], names[b]), names)
    if rng.random() < 0.3:
        said = _with(said, "exogenous", names[rng.integers(len(names))], names)
    if unmeasured and rng.random() < 0.3 and len(names) > 1:
        said = _with(said, "randomised", names[rng.integers(len(names))], names)
    return Knowledge(**said)


def _with(said: dict[str, Any], part: str, more: Any, names: tuple[str, ...]) -> dict[str, Any]:
    longer = {**said, part: [*said.get(part, ()), more]}
    try:
        known_of(Knowledge(**longer), names)
    except KnowledgeError:
        return said
    return longer


# --- whole runs -------------------------------------------------------------------------------------------


@st.composite
def runs(draw: st.DrawFn, method: type[PagEstimator], most: int) -> tuple[Moments, dict[str, Any]]:
    table = draw(tables(most))
    lmarvel = method is LMarvel
    params = draw(test_equal.parameters(table) if lmarvel else test_cohort.parameters(method, table))
    return table, {**params, "knowledge": draw(statements(table.names))}


@pytest.mark.parametrize("method", METHODS)
@examples(80)
@given(data=st.data())
def test_a_run_is_the_same_to_the_last_bit(method: type[PagEstimator], data: st.DataObject) -> None:
    table, params = data.draw(runs(method, 14))
    assert_same(table, compiled=True, method=method, **params)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=1500, deadline=None)
@given(data=st.data())
def test_they_are_the_same_on_very_many_tables(method: type[PagEstimator], data: st.DataObject) -> None:
    table, params = data.draw(runs(method, 20))
    assert_same(table, compiled=True, method=method, **params)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [3, 4])
def test_budgets_end_both_at_every_single_test(method: type[PagEstimator], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = moments(rng, population(rng, 6, 2, 1, 3.0, True), 200, exact=False)
    how: dict[str, Any] = {"alpha": 0.05, "boundary": "tc", "knowledge": drawn_statements(rng, table.names, 2)}
    whole = assert_same(table, compiled=True, method=method, **how)
    for k in range(whole.stats.n_tests):
        assert assert_same(table, compiled=True, method=method, max_tests=k, **how).budget_ended is not None


@pytest.mark.parametrize("method", METHODS)
def test_there_may_be_any_number_of_variables(method: type[PagEstimator]) -> None:
    for p in (63, 64, 65, 130):
        rng = np.random.default_rng(p)
        table = moments(rng, population(rng, p, 6, 2, 2.0, False), 500, exact=False)
        knowledge = drawn_statements(rng, table.names, 4)
        assert_same(table, True, method, boundary="tc", max_tests=40_000, alpha=0.001, knowledge=knowledge)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_other_tests_go_the_same_way(method: type[PagEstimator], kind: str) -> None:
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        test, _ = twins(rng, kind, 700, 8)
        how = {"knowledge": drawn_statements(rng, test.names, 2), "max_tests": [2000, 60][seed % 2]}
        quick = method(test=test, **how).fit().result_
        slow = method(test=test_other_tests.left_alone(test), **how).fit().result_
        test_other_tests.assert_same(quick, slow)
        assert quick.unaided == slow.unaided


def test_every_phase_overrules_statements_in_the_same_way() -> None:
    phases: Counter[str] = Counter()
    for seed in range(60):
        for method in METHODS:
            rng = np.random.default_rng([seed, len(method.__name__)])
            shape = int(rng.integers(5, 12)), int(rng.integers(0, 4)), int(rng.integers(0, 2)), rng.uniform(1.5, 4)
            table = moments(rng, population(rng, *shape, bool(seed % 2)), int(rng.choice([60, 400, 3000])), exact=False)
            knowledge = drawn_statements(rng, table.names, 3)
            found = assert_same(table, True, method, alpha=0.05, max_tests=4000, knowledge=knowledge)
            phases.update(e.phase for e in found.trace if isinstance(e, Overruled))
    assert set(phases) >= {"adjacency", "removability", "collider-set"}, phases


def test_every_rule_is_used_in_the_same_way() -> None:
    """But for K2: K0 writes both marks of a cause, and no other rule then leaves a circle beside a tail."""
    rules: Counter[str] = Counter()
    for seed in (*range(60), 62, 373, 917, 1092, 1377):  # few graphs have a use for K4 or R10
        rng = np.random.default_rng(seed)
        shape = int(rng.integers(6, 12)), int(rng.integers(0, 4)), int(rng.integers(0, 2)), rng.uniform(2, 4)
        table = moments(rng, population(rng, *shape, bool(seed % 2)), 10**6, exact=True)
        how: dict[str, Any] = {"alpha": 1e-4, "boundary": "tc", "max_tests": 20_000}
        said = drawn_statements(rng, table.names, 5, unmeasured=False)
        found = assert_same(table, True, LMarvel, **how, knowledge=said)
        rules.update(e.rule for e in found.trace if isinstance(e, RuleApplication))
    assert set(rules) >= {"K0", "K1", "K3", "K4", "R0", "R1", "R2", "R3", "R4", "R8", "R9", "R10"}, rules


@pytest.mark.parametrize("method", METHODS)
def test_a_bootstrap_counts_the_graphs_with_knowledge(method: type[PagEstimator]) -> None:
    rng = np.random.default_rng(8)
    rows = rng.multivariate_normal(np.zeros(6), population(rng, 6, 1, 0, 2.0, False), size=300)
    knowledge = Knowledge(tiers=[["V0", "V1"], ["V2", "V3", "V4"]], edges=[("V0", "V5")])
    found = method(knowledge=knowledge).fit(rows, names=[f"V{i}" for i in range(6)], bootstrap=20).result_
    assert found.stability is not None
    assert found.stability.edge("V0", "V5") == 1.0


# --- orientation ------------------------------------------------------------------------------------------


@examples(200)
@given(mags(2, 12), st.booleans(), st.data())
def test_a_graph_is_oriented_in_the_same_way(mag: MAG, selection: bool, data: st.DataObject) -> None:
    known = known_of(data.draw(statements(mag.names)), mag.names)
    assert np.array_equal(
        orient_graph(np.asarray(mag.marks), selection, stated_for_engine(known)),
        orient_mag(mag, selection, known).marks,
    )


# --- what is handed to the engine -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (np.zeros((3, 3), np.uint8), "each pair"),
        (np.zeros((2, 3), np.uint8), "each pair"),
        (np.eye(2, dtype=np.uint8), "itself"),
        (np.array([[0, 64], [0, 0]], np.uint8), "none of what"),
        (np.array([[0, 32], [0, 0]], np.uint8), "unmeasured cause or not"),
        (np.array([[0, 8], [0, 0]], np.uint8), "adjacent or not"),
        (np.array([[0, 16], [8, 0]], np.uint8), "adjacent or not"),
        (np.zeros((2, 2), np.int8), "Buffer dtype"),
        (np.zeros(4, np.uint8), "dimensions"),
        (np.zeros((4, 4), np.uint8)[::2, ::2], "contiguous"),
    ],
)
def test_what_cannot_be_known_is_refused(pairs: np.ndarray, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = Stated(pairs, True, True, True)
    monkeypatch.setattr("lmarvel.skeleton.by_engine.stated_for_engine", lambda known: stated)
    with pytest.raises(ValueError, match=message):
        orient_graph(np.array([[0, 2], [3, 0]], np.int8), True, stated)
    with pytest.raises(ValueError, match=message):
        LMarvel(test=FisherZ(Moments(("A", "B"), 50, np.zeros(2), np.eye(2))), knowledge=Knowledge()).fit()
