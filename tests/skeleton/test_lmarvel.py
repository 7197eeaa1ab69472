"""L-MARVEL with an oracle: separating sets, distinct tests, budgets, the trace, and what it accepts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.generators import Study, mags, random_dag, random_mag, studies
from tests.skeleton.asking import CYCLE, WRONG_IF_CHORDAL_IS_ASSUMED, Recorder, edges, learn, pairs

from lmarvel import DAG, MAG, CITestError, LMarvel, MSeparation, ParameterError, mag_to_pag
from lmarvel.ci.boundaries import Boundaries, total_conditioning
from lmarvel.ci.ledger import Ledger
from lmarvel.result.sepsets import NamedSepsets, Sepsets
from lmarvel.result.trace import Adjacent, Kept, LeftBoundary, NoneRemovable, Removed, Separated
from lmarvel.skeleton.lmarvel import Levels, lmarvel

# --- separating sets --------------------------------------------------------------------------------------


@examples(40)
@given(studies())
def test_every_separating_set_separates(study: Study) -> None:
    model = LMarvel(test=MSeparation(study.dag, study.latent, study.selection)).fit()
    assert {frozenset(pair) for pair in model.sepsets_} == pairs(study.mag.names) - edges(study.mag)
    for (a, b), sepset in model.sepsets_.items():
        assert study.mag.m_separated(a, b, sepset)


@given(mags())
def test_separating_sets_in_the_trace_separate(mag: MAG) -> None:
    found = learn(mag).result_
    for e in found.trace:
        if isinstance(e, Separated):
            assert mag.m_separated(e.x, e.y, e.sepset)
        elif isinstance(e, LeftBoundary):
            assert mag.m_separated(e.y, e.z, e.given)
        elif isinstance(e, Kept):
            assert e.x in e.sepset
            assert mag.m_separated(e.y, e.z, e.sepset)


def implied(*sets: set[int], method: str = "iamb", cut: dict | None = None) -> Sepsets:
    return Sepsets(Boundaries.of(sets, method, 0.01, cut))


def test_pairs_outside_each_others_boundary_have_the_smaller_boundary() -> None:
    sepsets = implied({1}, {0, 2, 3}, {1, 3}, {1, 2})
    assert sepsets.lookup(0, 2) == sepsets.lookup(2, 0) == {1}
    assert sepsets.tested(0, 2) is None
    assert len(sepsets) == 0


def test_total_conditioning_tested_such_pairs_given_all_others() -> None:
    sepsets = implied({1}, {0, 2, 3}, {1, 3}, {1, 2}, method="tc")
    assert sepsets.tested(0, 2) == sepsets.tested(2, 0) == {1, 3}
    assert list(sepsets.pairs()) == [(0, 2), (0, 3)]
    assert len(sepsets) == 2


def test_stored_sets_come_first_and_are_symmetric() -> None:
    sepsets = implied({1}, {0, 2, 3}, {1, 3}, {1, 2})
    sepsets.store(3, 2, frozenset({1}))
    sepsets.store(0, 2, frozenset({1, 3}))
    assert sepsets.lookup(2, 3) == sepsets.tested(3, 2) == {1}
    assert sepsets.lookup(0, 2) == {1, 3}
    assert dict(sepsets.found) == {(2, 3): {1}, (0, 2): {1, 3}}
    assert list(sepsets.pairs()) == [(0, 2), (2, 3)]
    assert len(sepsets) == 2


def test_boundaries_that_were_cut_short_give_one_set_for_both_orders() -> None:
    cut = {0: (frozenset({1}), frozenset({1, 3})), 2: (frozenset({3}), frozenset({1, 3}))}
    sepsets = implied({1}, {0, 2, 3}, {1, 3}, {1, 2}, cut=cut)
    assert sepsets.lookup(0, 2) == sepsets.lookup(2, 0) == {1}


def test_adjacent_pairs_and_a_variable_with_itself_have_no_separating_set() -> None:
    sepsets = implied({1}, {0, 2}, {1}, method="tc")
    for pair in ((0, 1), (1, 0), (1, 1)):
        assert sepsets.lookup(*pair) is sepsets.tested(*pair) is None


@pytest.mark.parametrize("place", [[0, 1, 2, 3], [3, 0, 2, 1]])
def test_moved_sets_speak_of_the_same_variables(place: list[int]) -> None:
    sepsets = implied({1}, {0, 2, 3}, {1, 3}, {1, 2}, method="tc", cut={0: (frozenset({1}), frozenset({1}))})
    sepsets.store(2, 3, frozenset({1}))
    moved = sepsets.moved(place)
    for x, y in combinations(range(4), 2):
        for before, after in ((sepsets.lookup, moved.lookup), (sepsets.tested, moved.tested)):
            sepset = before(x, y)
            assert after(place[x], place[y]) == (None if sepset is None else {place[v] for v in sepset})


def test_separating_sets_by_name() -> None:
    named = NamedSepsets(implied({1}, {0, 2}, {1}, method="tc"), ("A", "B", "C"))
    assert named["A", "C"] == named["C", "A"] == {"B"}
    assert list(named) == [("A", "C")]
    assert len(named) == 1
    assert ("A", "B") not in named
    assert ("A", "X") not in named


# --- distinct tests ---------------------------------------------------------------------------------------


@examples(40)
@given(mags(max_nodes=9), st.booleans())
def test_no_question_is_asked_twice_and_each_is_counted_once(mag: MAG, assume_chordal: bool) -> None:
    test = Recorder(mag)
    model = LMarvel(test=test, assume_chordal=assume_chordal).fit()
    assert max(Counter(test.asked).values()) == 1
    assert model.n_ci_tests_ == len(test.asked)


def test_on_small_graphs_each_question_is_counted_once() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        test = Recorder(random_mag(rng, int(rng.integers(2, 7)), latent=2, selection=int(rng.integers(3)), degree=3.0))
        assert LMarvel(test=test).fit().n_ci_tests_ == len(set(test.asked)) == len(test.asked)


@given(mags(max_nodes=9))
def test_the_oracles_own_way_to_find_boundaries_changes_nothing(mag: MAG) -> None:
    """... but the way: the same PAG, the same separating sets, the same count."""
    mag = mag.reordered(sorted(mag.names))  # the order in which a test of one's own is asked
    one, other = LMarvel(test=Recorder(mag), boundary="tc").fit(), learn(mag)
    assert one.pag_ == other.pag_
    assert dict(one.sepsets_) == dict(other.sepsets_)
    assert one.result_.stats.tests == other.result_.stats.tests


@given(mags())
def test_phases_and_sizes_add_up(mag: MAG) -> None:
    test = Recorder(mag)
    stats = LMarvel(test=test, boundary="tc").fit().result_.stats
    assert stats.n_tests == sum(sum(sizes.values()) for sizes in stats.tests.values()) == sum(stats.by_size().values())
    assert stats.by_size() == Counter(len(given) for _, given in set(test.asked))
    assert set(stats.tests) <= {"boundary", "adjacency", "removability", "update", "completion", "chordless", "gaps"}
    n = len(mag)
    assert stats.tests["boundary"] == {n - 2: n * (n - 1) // 2}
    assert stats.mean_conditioning_size == pytest.approx(np.mean([len(given) for _, given in test.asked]))


def test_where_colliders_clear_all_suspects_the_general_algorithm_asks_what_the_papers_asks() -> None:
    dag = DAG.from_edges("A --> C", "B --> C", "C --> D", "E --> D")
    assert LMarvel(test=MSeparation(dag)).fit().n_ci_tests_ == (
        LMarvel(test=MSeparation(dag), assume_chordal=True).fit().n_ci_tests_
    )


# --- names and order --------------------------------------------------------------------------------------


@given(mags(max_nodes=10), st.randoms(use_true_random=False))
def test_reordered_variables_give_the_same_pag(mag: MAG, rng: random.Random) -> None:
    order = rng.sample(mag.names, len(mag))
    model = learn(mag.reordered(order))
    assert model.pag_.names == tuple(order)
    assert model.pag_ == learn(mag).pag_


@given(mags())
def test_renamed_variables_give_the_renamed_result(mag: MAG) -> None:
    renaming = {v: f"new {v}" for v in mag.names}
    one, other = learn(mag), learn(mag.relabel(renaming))
    assert other.pag_ == one.pag_.relabel(renaming)
    assert other.result_.trace == one.result_.trace
    assert other.result_.removal_order == tuple(renaming[v] for v in one.result_.removal_order)
    renamed = {(renaming[a], renaming[b]): {renaming[v] for v in z} for (a, b), z in one.sepsets_.items()}
    assert dict(other.sepsets_) == renamed


# --- what is accepted -------------------------------------------------------------------------------------


@given(mags())
def test_own_boundaries_are_accepted(mag: MAG) -> None:
    own = {v: mag.markov_boundary(v) for v in mag.names}
    model = learn(mag, boundary=own)
    assert model.pag_ == mag_to_pag(mag)
    assert model.boundaries_ == own
    assert "boundary" not in model.result_.stats.tests


def test_variables_without_a_boundary_need_not_be_listed() -> None:
    mag = MAG.from_edges("A --> B", nodes=["A", "B", "C"])
    model = learn(mag, boundary={"A": ["B"], "B": ["A"]})
    assert model.pag_ == mag_to_pag(mag)
    assert model.boundaries_["C"] == frozenset()


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        ({"A": ["B"]}, "symmetric"),
        ({"A": ["A"]}, "symmetric"),
        ({"A": ["Z"]}, "unknown variable 'Z'"),
        ({"Z": []}, "unknown variable 'Z'"),
        ("by magic", "by magic"),
    ],
)
def test_bad_boundaries_are_refused(boundary: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        learn(CYCLE, boundary=boundary)


@given(mags(max_nodes=8))
def test_a_plain_function_is_accepted(mag: MAG) -> None:
    model = LMarvel(test=lambda x, y, given: float(mag.m_separated(x, y, given))).fit(names=mag.names)
    assert model.pag_ == mag_to_pag(mag)


def test_a_plain_function_needs_names() -> None:
    with pytest.raises(CITestError, match="names"):
        LMarvel(test=lambda x, y, given: 0.5).fit()


@pytest.mark.parametrize(
    ("names", "message"),
    [(["A", "A"], "duplicate variable name A"), (["A", ""], "non-empty"), (["A", 1], "non-empty strings")],
)
def test_bad_names_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(CITestError, match=message):
        LMarvel(test=lambda x, y, given: 0.5).fit(names=names)


def test_names_that_the_test_does_not_know_are_refused() -> None:
    with pytest.raises(CITestError, match="does not know the variable X"):
        LMarvel(test=MSeparation(CYCLE)).fit(names=["A", "B", "C", "X"])
    with pytest.raises(CITestError, match="order"):
        LMarvel(test=MSeparation(CYCLE)).fit(names=["B", "A", "C", "D"])


@pytest.mark.parametrize("name", ["alpha", "boundary_alpha", "removal_threshold"])
@pytest.mark.parametrize("value", [0, 1, -0.1, "0.05", float("nan")])
def test_levels_outside_zero_and_one_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        learn(CYCLE, **{name: value})


@pytest.mark.parametrize("name", ["max_tests", "max_conditioning", "max_seconds"])
@pytest.mark.parametrize("value", [-1, "9", float("nan")])
def test_bad_budgets_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        learn(CYCLE, **{name: value})


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs_are_learned(n: int) -> None:
    mag = MAG(("A", "B")[:n], np.zeros((n, n)))
    assert learn(mag).pag_ == mag_to_pag(mag)


# --- large graphs -----------------------------------------------------------------------------------------


def is_learned(dag: DAG) -> bool:
    return LMarvel(test=MSeparation(dag)).fit().pag_ == mag_to_pag(dag)


def test_a_chain_of_1100_variables_is_learned() -> None:
    assert is_learned(DAG.from_edges(*(f"V{i} --> V{i + 1}" for i in range(1_099))))


def test_a_tree_of_1100_variables_with_colliders_is_learned() -> None:
    rng = np.random.default_rng(3)
    parents = [int(rng.integers(max(0, v - 40), v)) for v in range(1, 1_100)]
    edges = [f"V{p} {rng.choice(['-->', '<--'])} V{v}" for v, p in enumerate(parents, 1)]
    assert is_learned(DAG.from_edges(*edges))


def test_a_sparse_graph_of_400_variables_is_learned() -> None:
    assert is_learned(random_dag(np.random.default_rng(1), 400, degree=1.5))


# --- the trace --------------------------------------------------------------------------------------------


@given(mags())
def test_each_variable_is_removed_once_or_remains_at_the_end(mag: MAG) -> None:
    found = learn(mag).result_
    rest = [e.remaining for e in found.trace if isinstance(e, NoneRemovable)]
    assert len(rest) <= 1
    left = {mag.names[v] for remaining in rest for v in remaining}
    assert Counter(found.removal_order) == Counter(set(mag.names) - left)


@given(mags())
def test_each_pair_is_decided_once_and_the_trace_tells_where(mag: MAG) -> None:
    found = learn(mag).result_
    decided = Counter(frozenset((e.x, e.y)) for e in found.trace if isinstance(e, Adjacent))
    assert set(decided.values()) <= {1}
    assert {frozenset(mag.names[v] for v in pair) for pair in decided} >= edges(mag)
    separated = {frozenset((mag.names[e.x], mag.names[e.y])) for e in found.trace if isinstance(e, Separated)}
    assert separated.isdisjoint(edges(mag))


@given(mags(heavy=False))
def test_what_is_removed_has_the_boundary_of_the_marginal(mag: MAG) -> None:
    """Where removals are right, the boundary and neighbours at removal are those of the MAG over what remained."""
    remaining = set(mag.names)
    for e in learn(mag).result_.trace:
        if isinstance(e, Removed):
            part = mag.project(latent=set(mag.names) - remaining)
            x = mag.names[e.x]
            assert {mag.names[v] for v in e.boundary} == part.markov_boundary(x)
            assert {mag.names[v] for v in e.adjacent} == part.adjacent(x)
            remaining.remove(x)


def test_a_bare_chordless_cycle_has_nothing_to_remove() -> None:
    found = learn(CYCLE).result_
    assert NoneRemovable(frozenset(range(4))) in found.trace
    assert found.removal_order == ()
    assert found.pag == mag_to_pag(CYCLE)


@given(mags())
def test_progress_is_reported_after_each_removal(mag: MAG) -> None:
    seen: list[tuple[str, int, int]] = []
    ledger = Ledger(MSeparation(mag))
    learned = lmarvel(ledger, total_conditioning(ledger, 0.01), Levels(), progress=lambda *step: seen.append(step))
    removals = sum(isinstance(e, Removed) for e in learned.trace)
    assert seen == [("skeleton", k, len(mag)) for k in range(1, removals + 1)]


def test_progress_of_fit_names_the_phase() -> None:
    seen: list[tuple[str, int, int]] = []
    LMarvel(test=MSeparation(WRONG_IF_CHORDAL_IS_ASSUMED)).fit(progress=lambda *step: seen.append(step))
    assert [step for step in seen if step[0] == "skeleton"] == [("skeleton", k, 5) for k in range(1, 6)]
