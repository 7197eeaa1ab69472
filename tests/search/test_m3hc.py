"""M3HC: ancestral at every step, better than its start, and right where the truth is simple."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import DAG, MAG, FisherZ, MixedGraph, mag_to_pag
from lmarvel.ci.boundary_searches import markov_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.graph.kinds import explain_not_ancestral, explain_not_maximal, maximal
from lmarvel.score.ricf import bic, ricf
from lmarvel.score.scores import DistrictScores
from lmarvel.search.ancestral import GLYPHS, KINDS, AncestralGraph
from lmarvel.search.m3hc import m3hc
from lmarvel.search.scores import GaussianBlocks
from lmarvel.search.tabu import TabuClimb
from tests.generators import random_study
from tests.search.m3hc_data import drawn, learn, study_data

BY_GLYPH = {glyph: kind for kind, glyph in GLYPHS.items()}


# --- the whole method -------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 8), st.booleans(), st.sampled_from([0, 1]))
def test_every_graph_on_the_way_is_ancestral_and_the_result_is_better_than_the_start(
    seed: int, n: int, start_from_boundaries: bool, selection: int
) -> None:
    test = study_data(seed, n, selection=selection)
    ledger = Ledger(test)
    boundaries = [set(mb) for mb in markov_boundaries(ledger, "tc", 0.01).sets] if start_from_boundaries else None
    found = m3hc(ledger, boundaries, test.moments)
    assert found.bic <= found.start_bic + 1e-6
    assert (found.bic < found.start_bic - 1e-6) == (found.mag.n_edges > 0)
    state = AncestralGraph(n)
    for move in found.moves:
        assert GLYPHS[state.edge(move.x, move.y)] == move.before
        state.apply(move.x, move.y, BY_GLYPH[move.after])
        assert explain_not_ancestral(MixedGraph(test.names, state.marks())) is None
    assert explain_not_ancestral(found.mag) is None
    assert explain_not_maximal(found.mag) is None
    assert found.pag == mag_to_pag(found.mag)
    assert found.iterations == len(found.moves)


@pytest.mark.parametrize("seed", range(6))
def test_scores_are_those_of_a_fresh_fit(seed: int) -> None:
    test = study_data(seed, 9)
    found = learn(test)
    empty = MAG.from_edges(nodes=test.names)
    assert found.start_bic == pytest.approx(bic(empty, test), abs=1e-6)
    assert found.bic == pytest.approx(bic(found.mag, test), abs=1e-6)
    state = AncestralGraph(9)
    n, logs = test.n, np.log(test.n)
    for move in found.moves[:40]:
        state.apply(move.x, move.y, BY_GLYPH[move.after])
        graph = MixedGraph(test.names, state.marks())
        fresh = n * ricf(graph, test.moments.covariance).minus_two_log_likelihood + logs * (9 + graph.n_edges)
        assert move.bic == pytest.approx(fresh, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_graph_is_kept_and_no_graph_comes_back_within_the_tabu_list(seed: int) -> None:
    found = learn(study_data(seed, 8))
    bics = [move.bic for move in found.moves]
    best = min([found.start_bic, *bics])
    reached = found.start_bic if found.best_after == 0 else bics[found.best_after - 1]
    assert reached == pytest.approx(best, abs=1e-5)
    assert found.iterations - found.best_after <= 50
    state, seen = AncestralGraph(8), [AncestralGraph(8).marks().tobytes()]
    for last, move in zip([None, *found.moves], found.moves, strict=False):
        assert last is None or (last.x, last.y) != (move.x, move.y)
        state.apply(move.x, move.y, BY_GLYPH[move.after])
        assert state.marks().tobytes() not in seen[-100:]
        seen.append(state.marks().tobytes())


@pytest.mark.parametrize("seed", range(4))
def test_the_search_begins_where_it_is_told_to(seed: int) -> None:
    test = study_data(seed, 8)
    free = learn(test)
    rng = np.random.default_rng(seed)
    start = random_study(rng, 8, latent=3, selection=0, degree=2.5).mag
    start = MAG(test.names, start.marks)
    found = learn(test, start=start)
    assert found.refused is None
    assert found.start_bic == pytest.approx(bic(start, test), abs=1e-6)
    assert found.bic <= found.start_bic + 1e-6
    joined = {(x, y) for x, y in combinations(range(8), 2) if start.has_edge(x, y)}
    assert set(found.candidates) == {*free.candidates, *joined}
    assert learn(test, start=start, max_iterations=0).mag == start
    graph = AncestralGraph.of_marks(start.marks)
    for move in found.moves:
        assert GLYPHS[graph.edge(move.x, move.y)] == move.before
        graph.apply(move.x, move.y, BY_GLYPH[move.after])
    assert learn(test, start=free.mag).bic <= free.bic + 1e-6


def test_a_start_that_the_search_cannot_take_is_refused_and_it_begins_without_edges() -> None:
    test = study_data(3, 4)
    ring = MAG(test.names, MAG.from_edges("A --- B", "B --- C", "C --- D", "A --- D").marks)
    for options in ({}, {"undirected": True, "selection": False}):
        found = learn(test, start=ring, **options)
        assert found.refused == "it has undirected edges, which this search does not know"
        assert found.start_bic == learn(test).start_bic
        assert found.moves == learn(test).moves
    assert learn(test, start=ring, undirected=True).refused is None
    few = FisherZ(np.random.default_rng(0).normal(size=(6, 8)))
    dense = MAG.from_edges(*(f"X{i} --> X{j}" for i, j in combinations(range(8), 2)), nodes=few.names)
    assert learn(few, start=dense).refused == "its likelihood has no maximum on these data"


def test_two_runs_are_equal() -> None:
    first, second = (learn(study_data(11, 10)) for _ in range(2))
    assert first == second


def test_the_compiled_and_the_readable_search_lead_to_the_same_graph() -> None:
    test = study_data(12, 9)
    readable = FisherZ(test.moments, compiled=False)
    assert learn(test) == learn(readable)


def test_the_first_moves_go_up_greedily() -> None:
    test = study_data(13, 8)
    found = learn(test)
    first = found.moves[0]
    gains = []
    for x, y in found.candidates:
        joined = DAG.from_edges(f"X{x} --> X{y}", nodes=test.names)
        gains.append(bic(joined, test))
    assert first.bic == pytest.approx(min(gains), abs=1e-6)


# --- known structures -------------------------------------------------------------------------------------


def test_a_collider_is_found() -> None:
    test = drawn(
        20_000,
        1,
        A=lambda t: 0,
        B=lambda t: 0,
        C=lambda t: t["A"] - t["B"],
        D=lambda t: 0.8 * t["C"],
    )
    truth = DAG.from_edges("A --> C", "B --> C", "C --> D", nodes=list("ABCD"))
    assert learn(test).pag == mag_to_pag(truth)


def test_a_latent_confounder_is_found() -> None:
    test = drawn(
        20_000,
        2,
        U=lambda t: 0,
        A=lambda t: 0,
        B=lambda t: 0,
        C=lambda t: t["A"] + t["U"],
        D=lambda t: t["B"] - t["U"],
        E=lambda t: t["C"],
    )
    truth = MAG.from_edges("A --> C", "B --> D", "C <-> D", "C --> E", nodes=list("ABCDE"))
    found = learn(test)
    assert found.pag == mag_to_pag(truth)
    assert found.bic == pytest.approx(bic(truth, test), abs=1e-6)
    assert found.fits > 0


def ring(rows: int = 20_000) -> FisherZ:
    """Return data of A --- B --- C --- D --- A, which no graph without undirected edges has."""
    K = np.eye(4)
    for i in range(4):
        K[i, (i + 1) % 4] = K[(i + 1) % 4, i] = 0.4
    return FisherZ(np.random.default_rng(8).multivariate_normal(np.zeros(4), np.linalg.inv(K), size=rows))


def test_selection_is_found_by_a_search_that_knows_undirected_edges() -> None:
    test = ring()
    truth = MAG(test.names, MAG.from_edges("A --- B", "B --- C", "C --- D", "A --- D").marks)
    chain = MAG(test.names, MAG.from_edges("A --- B", "B --- C", "C --- D").marks)
    found = learn(test, undirected=True, start=chain)
    first = found.moves[0]
    assert (first.x, first.y, first.before, first.after) == (0, 3, "   ", "---")
    assert found.mag == truth
    assert found.pag == mag_to_pag(truth)
    assert found.bic == pytest.approx(bic(truth, test), abs=1e-6)
    assert learn(test).bic > found.bic + 1


def test_undirected_edges_are_tried_only_where_they_are_asked_for_and_the_sample_may_be_selected() -> None:
    test = ring()
    plain, ruled_out = learn(test), learn(test, undirected=True, selection=False)
    assert "---" in {move.after for move in learn(test, undirected=True).moves}
    assert "---" not in {move.after for move in plain.moves}
    assert ruled_out.moves == plain.moves


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 8))
def test_with_undirected_edges_every_graph_is_ancestral_and_every_score_that_of_a_fresh_fit(seed: int, n: int) -> None:
    test = study_data(seed, n, selection=2)
    found = learn(test, undirected=True, max_iterations=40)
    graph = AncestralGraph(n)
    for move in found.moves:
        graph.apply(move.x, move.y, BY_GLYPH[move.after])
        shown = MixedGraph(test.names, graph.marks())
        assert explain_not_ancestral(shown) is None
    if found.moves:
        fresh = test.n * ricf(shown, test.moments.covariance).minus_two_log_likelihood
        assert found.moves[-1].bic == pytest.approx(fresh + np.log(test.n) * (n + shown.n_edges), abs=1e-5)
    assert explain_not_maximal(found.mag) is None
    assert found.bic == pytest.approx(bic(found.mag, test), abs=1e-5)
    assert found.pag == mag_to_pag(found.mag)


def test_a_chain_and_a_gap_are_found() -> None:
    test = drawn(20_000, 3, A=lambda t: 0, B=lambda t: t["A"], C=lambda t: -t["B"], D=lambda t: 0)
    assert learn(test).pag == mag_to_pag(DAG.from_edges("A --> B", "B --> C", nodes=list("ABCD")))


def test_independent_variables_get_no_edges() -> None:
    rng = np.random.default_rng(4)
    test = FisherZ(rng.normal(size=(2000, 6)))
    found = learn(test, alpha=0.001)
    assert found.mag.n_edges == 0
    assert found.bic == found.start_bic


def test_boundaries_limit_the_pairs() -> None:
    test = study_data(14, 8)
    boundaries: list[set[int]] = [set() for _ in range(8)]
    boundaries[0], boundaries[1] = {1}, {0}
    assert set(learn(test, boundaries).candidates) <= {(0, 1)}


# --- the score on the way ---------------------------------------------------------------------------------


def test_the_incremental_score_is_that_of_a_fresh_start_after_each_of_1000_random_moves() -> None:
    n = 8
    test = study_data(15, n, rows=300)
    rng = np.random.default_rng(15)
    pairs = list(combinations(range(n), 2))
    chosen = sorted(rng.choice(len(pairs), 14, replace=False).tolist())
    scores = GaussianBlocks(test.correlation, test.n)
    climb = TabuClimb(scores, AncestralGraph(n), [pairs[i] for i in chosen], KINDS)
    moves = 0
    while moves < 1000:
        index, kind = int(rng.integers(len(climb.pairs))), int(rng.choice(KINDS))
        x, y = climb.pairs[index]
        if climb.graph.edge(x, y) == kind or not climb.graph.is_legal(x, y, kind):
            continue
        before, gain = climb.score, climb.gain(x, y, kind)
        climb.apply(x, y, kind)
        moves += 1
        assert climb.score == pytest.approx(before + gain, abs=1e-6)
        graph = MixedGraph(test.names, climb.graph.marks())
        fresh = TabuClimb(GaussianBlocks(test.correlation, test.n), climb.graph.copy(), []).score
        assert climb.score == pytest.approx(fresh, abs=1e-6)
        if moves % 10 == 0:
            likelihood = test.n * ricf(graph, test.correlation).minus_two_log_likelihood
            assert climb.score == pytest.approx(likelihood + np.log(test.n) * (n + graph.n_edges), abs=1e-6)
        assert climb.score_of(AncestralGraph.of_marks(graph.marks)) == climb.score
    assert scores.fits > 100


def test_no_fit_is_made_twice() -> None:
    test = study_data(16, 8)
    scores = GaussianBlocks(test.correlation, test.n)
    climb = TabuClimb(scores, AncestralGraph(8), list(combinations(range(8), 2)), KINDS)
    ledger = Ledger(test)
    for _ in range(30):
        climb.step(ledger.meter, set())
    fits = scores.fits
    for index, (x, y) in enumerate(climb.pairs):
        climb._gains[index].clear()
        for kind in KINDS:
            if climb.graph.is_legal(x, y, kind):
                climb.gain(x, y, kind)
    again = scores.fits
    for x, y in climb.pairs:
        for kind in KINDS:
            if climb.graph.is_legal(x, y, kind):
                climb.gain(x, y, kind)
    assert again >= fits
    assert scores.fits == again


def test_a_district_too_large_for_the_rows_scores_infinity() -> None:
    rng = np.random.default_rng(17)
    R = np.corrcoef(rng.normal(size=(50, 4)).T)
    scores = DistrictScores(R, n=3)
    assert scores.of(0b0001, [0b0010, 0, 0, 0], [0] * 4) < np.inf
    assert scores.of(0b0001, [0b0110, 0, 0, 0], [0] * 4) == np.inf
    assert scores.of(0b0011, [0b0100, 0, 0, 0], [0b10, 0b01, 0, 0]) == np.inf


def test_copies_of_a_variable_are_never_joined() -> None:
    rng = np.random.default_rng(18)
    a, b = rng.normal(size=(2, 500))
    data = np.column_stack([a, a, a + b, b])
    test = FisherZ(data)
    assert explain_not_ancestral(learn(test).mag) is None
    assert not learn(test).mag.has_edge(0, 1)


def test_fewer_rows_than_columns() -> None:
    rng = np.random.default_rng(19)
    test = FisherZ(rng.normal(size=(20, 40)) + rng.normal(size=(20, 1)))
    found = learn(test)
    assert found.bic <= found.start_bic + 1e-6


# --- making it maximal ------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_the_completed_graph_is_a_mag_with_more_edges_only(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = AncestralGraph(6)
    for _ in range(30):
        x, y = sorted(rng.choice(6, 2, replace=False).tolist())
        kind = int(rng.choice(KINDS, p=[0.2, 0.2, 0.4, 0.1, 0.1]))
        if state.is_legal(x, y, kind):
            state.apply(x, y, kind)
    names = tuple("ABCDEF")
    graph = MixedGraph(names, state.marks())
    mag, added = maximal(names, state.marks())
    assert explain_not_ancestral(mag) is None
    assert explain_not_maximal(mag) is None
    assert mag.n_edges == graph.n_edges + len(added)
    for x, y in combinations(range(6), 2):
        if (x, y) in added:
            assert str(mag.edge(x, y)) == f"{names[x]} <-> {names[y]}"
        else:
            assert mag.edge(x, y) == graph.edge(x, y)
