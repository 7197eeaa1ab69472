"""M3HC: ancestral at every step, better than its start, and right where the truth is simple."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import DAG, MAG, DataError, FisherZ, LMarvelError, MixedGraph, Moments, ParameterError, mag_to_pag
from lmarvel.boundary.choose import markov_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.graph.kinds import explain_not_ancestral, explain_not_maximal
from lmarvel.score.m3hc import Climb, M3HCResult, m3hc, maximal
from lmarvel.score.ricf import bic, ricf
from lmarvel.score.scores import DistrictScores
from lmarvel.score.state import GLYPHS, MOVES, State
from tests.generators import random_study
from tests.score.models import Model

KINDS = {glyph: kind for kind, glyph in GLYPHS.items()}


def study_data(seed: int, n: int, rows: int = 500, selection: int = 0) -> FisherZ:
    """Return data from the MAG of a random study."""
    rng = np.random.default_rng(seed)
    mag = random_study(rng, n, latent=3, selection=selection, degree=2.5).mag
    return FisherZ(rng.multivariate_normal(np.zeros(n), Model(mag).random_sigma(rng), size=rows))


def learn(test: FisherZ, boundaries: list[set[int]] | None = None, **options: int) -> M3HCResult:
    return m3hc(Ledger(test), boundaries, test.moments, **options)


def drawn(rows: int, seed: int, **equations: object) -> FisherZ:
    """Return a table: each variable is a function of those before it, plus noise. U is not measured."""
    rng = np.random.default_rng(seed)
    table: dict[str, np.ndarray] = {}
    for name, equation in equations.items():
        table[name] = equation(table) + rng.normal(size=rows)  # type: ignore[operator]
    return FisherZ({name: column for name, column in table.items() if not name.startswith("U")})


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
    state = State(n)
    for move in found.moves:
        assert GLYPHS[state.edge(move.x, move.y)] == move.before
        state.apply(move.x, move.y, KINDS[move.after])
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
    state = State(9)
    n, logs = test.n, np.log(test.n)
    for move in found.moves[:40]:
        state.apply(move.x, move.y, KINDS[move.after])
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
    state, seen = State(8), [State(8).marks().tobytes()]
    for last, move in zip([None, *found.moves], found.moves, strict=False):
        assert last is None or (last.x, last.y) != (move.x, move.y)
        state.apply(move.x, move.y, KINDS[move.after])
        assert state.marks().tobytes() not in seen[-100:]
        seen.append(state.marks().tobytes())


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
    climb = Climb(DistrictScores(test.correlation, test.n), [pairs[i] for i in chosen])
    moves = 0
    while moves < 1000:
        index, kind = int(rng.integers(len(climb.pairs))), int(rng.choice(MOVES))
        x, y = climb.pairs[index]
        if climb.state.edge(x, y) == kind or not climb.state.is_legal(x, y, kind):
            continue
        before, gain = climb.bic, climb.gain(x, y, kind)
        climb.apply(index, kind)
        moves += 1
        assert climb.bic == pytest.approx(before + gain, abs=1e-6)
        graph = MixedGraph(test.names, climb.state.marks())
        fresh = Climb(DistrictScores(test.correlation, test.n), []).bic_of(graph)
        assert climb.bic == pytest.approx(fresh, abs=1e-6)
        if moves % 10 == 0:
            likelihood = test.n * ricf(graph, test.correlation).minus_two_log_likelihood
            assert climb.bic == pytest.approx(likelihood + np.log(test.n) * (n + graph.n_edges), abs=1e-6)
    assert climb.scores.fits > 100


def test_no_fit_is_made_twice() -> None:
    test = study_data(16, 8)
    climb = Climb(DistrictScores(test.correlation, test.n), list(combinations(range(8), 2)))
    ledger = Ledger(test)
    for _ in range(30):
        climb.step(ledger, set())
    fits = climb.scores.fits
    for index, (x, y) in enumerate(climb.pairs):
        climb._gains[index] = [None] * 4
        for kind in MOVES:
            if climb.state.is_legal(x, y, kind):
                climb.gain(x, y, kind)
    again = climb.scores.fits
    for x, y in climb.pairs:
        for kind in MOVES:
            if climb.state.is_legal(x, y, kind):
                climb.gain(x, y, kind)
    assert again >= fits
    assert climb.scores.fits == again


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
    state = State(6)
    for _ in range(30):
        x, y = sorted(rng.choice(6, 2, replace=False).tolist())
        kind = int(rng.choice(MOVES, p=[0.2, 0.2, 0.5, 0.1]))
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


# --- budgets and bad input --------------------------------------------------------------------------------


def test_a_budget_of_tests_ends_the_restriction_and_the_search_goes_on() -> None:
    test = study_data(20, 8)
    found = m3hc(Ledger(test, max_tests=40), None, test.moments)
    assert found.ended == "max_tests=40 is used up"
    assert found.undecided
    assert found.bic < found.start_bic


def test_a_budget_of_time_ends_the_search() -> None:
    test = study_data(20, 8)
    found = m3hc(Ledger(test, max_seconds=1e-9), None, test.moments)
    assert found.ended == "max_seconds is used up"
    assert found.mag.n_edges == found.iterations == 0


def test_time_that_runs_out_in_the_search_leaves_the_best_graph_so_far() -> None:
    test = study_data(20, 8)
    ledger = Ledger(test, max_seconds=1000)

    def stop(phase: str, done: int, total: int) -> None:
        if phase == "search":
            ledger.meter.deadline = 0.0

    found = m3hc(ledger, None, test.moments, progress=stop)
    assert found.ended == "max_seconds is used up"
    assert found.iterations == found.mag.n_edges == 1
    assert found.bic < found.start_bic


def test_the_number_of_moves_can_be_limited() -> None:
    test = study_data(20, 8)
    assert learn(test, max_iterations=3).iterations == 3
    assert learn(test, max_iterations=3).ended is None
    assert learn(test, max_iterations=0).mag.n_edges == 0
    assert learn(test, patience=5).iterations < learn(test).iterations


def test_progress_is_reported() -> None:
    test = study_data(20, 8)
    seen: list[tuple[str, int, int]] = []
    found = m3hc(Ledger(test), None, test.moments, progress=lambda *event: seen.append(event))
    assert seen[:8] == [("restriction", k, 8) for k in range(1, 9)]
    assert seen[-1] == ("search", 50, 50)
    assert len(seen) == 8 + found.iterations


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.0),
        ("alpha", 1.5),
        ("max_k", -1),
        ("max_k", 2.5),
        ("max_k", None),
        ("tabu", 0),
        ("patience", 0),
        ("patience", True),
        ("max_iterations", -1),
    ],
)
def test_parameters_are_checked(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        learn(study_data(20, 4), **{name: value})  # type: ignore[arg-type]


def test_moments_and_test_must_match() -> None:
    test = study_data(20, 4)
    other = Moments(("A", "B", "C", "D"), 500, np.zeros(4), np.eye(4))
    with pytest.raises(ParameterError, match="same variables"):
        m3hc(Ledger(test), None, other)
    assert issubclass(ParameterError, LMarvelError)
    assert issubclass(DataError, LMarvelError)
