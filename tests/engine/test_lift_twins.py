"""The compiled Lift ends at the graphs of its readable twin, whatever is known beforehand, and trusts nothing."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import Auto, DataError, Knowledge, Lift
from lmarvel.datasets import CARS
from lmarvel.engine import load
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.errors import LMarvelError
from lmarvel.knowledge.closure import Known
from lmarvel.search import lift as lifting
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.constants import LIFT
from lmarvel.search.lift import LiftResult, canonical_order, lift
from lmarvel.search.limits import Limits
from lmarvel.search.record import OutOfTime
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from lmarvel.simulate import LinearSEM, erdos_renyi, hide
from tests.reference.lift import hidden
from tests.reference.lift.lift import ReadableLift, searched

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the package was built without a compiler")

Matrix = np.ndarray


def correlation(
    seed: int, variables: int, rows: int, latent: int = 1, selection: int = 1, degree: float = 2.5
) -> Matrix:
    n = variables + latent + selection
    dag = erdos_renyi(n, min(1.0, degree / (n - 1)), seed=seed)
    study = hide(dag, latent, selection, seed=seed + 1)
    return np.corrcoef(LinearSEM.random(dag, seed=seed + 2).sample(study, rows, seed=seed + 3).T)


tables = st.builds(correlation, st.integers(0, 10**6), st.integers(4, 8), st.sampled_from([60, 300, 2000]))


def statements(variables: int, seed: int) -> Known:
    """What is known of the variables, by chance: it need not be true, but it does not contradict itself."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(variables).tolist()  # causes first
    pairs = [(f"X{order[i]}", f"X{order[j]}") for i in range(variables) for j in range(i + 1, variables)]
    chosen = [pairs[i] for i in rng.permutation(len(pairs))]
    counts = rng.integers(0, 3, size=4)
    names = [f"X{v}" for v in range(variables)]
    third = max(variables // 3, 1)
    tiers = [[names[v] for v in order[:third]], [names[v] for v in order[third:]]] if rng.random() < 0.3 else ()
    said = Knowledge(
        tiers=tiers,
        causes=chosen[: counts[0]],
        not_causes=[(b, a) for a, b in chosen[2 : 2 + counts[1]]],
        edges=chosen[4 : 4 + counts[2] // 2] if variables > 4 else (),
        no_edges=chosen[5 : 5 + counts[3]] if variables > 4 else (),
        exogenous=[names[order[0]]] if rng.random() < 0.3 else (),
        selection=bool(rng.random() < 0.7) and not tiers,
        latents=bool(rng.random() < 0.8),
        unconfounded=chosen[1 : 1 + rng.integers(0, 3)],
        randomised=[names[order[0]]] if rng.random() < 0.2 else (),
    )
    return Known.of(said.statements, names)


def at_the_border(search: ReadableLift) -> bool:
    """Whether a variance of a model is next to nothing: fits run along a valley there, as far as rounding says."""
    return any(min(met.log_variance) < -6 or max(met.log_variance) > 2 for met in search.hidden.met)


def agree(R: Matrix, n: int, **how: Any) -> LiftResult:
    """Hold the twins against each other; hidden nodes only where their fits end within the model."""
    ours = lift(R, n, **how)
    search = searched(R, n, **how)
    theirs = search.result(canonical_order(np.round(R, 11)))
    assert ours.ended is None
    assert ours.converged == theirs.converged
    border = at_the_border(search)
    pairs = zip(ours.candidates, theirs.candidates, strict=not border)
    for one, other in pairs:
        if border and "hidden" in (one.used, other.used):
            break
        assert one.used == other.used
        assert one.score == pytest.approx(other.score, abs=1e-2 if one.used == "hidden" else 1e-7)
        assert np.array_equal(one.mag, other.mag)
        assert np.array_equal(one.pag, other.pag)
    if border:
        return ours
    assert ours.used == theirs.used
    assert np.array_equal(ours.mag, theirs.mag)
    assert np.array_equal(ours.pag, theirs.pag)
    assert ours.score == pytest.approx(theirs.score, abs=1e-2)
    assert ours.selection_gain == pytest.approx(theirs.selection_gain, abs=2e-2)
    assert [node[:2] for node in ours.hidden] == [node[:2] for node in theirs.hidden]
    assert [node.gain for node in ours.hidden] == pytest.approx([node.gain for node in theirs.hidden], abs=2e-2)
    # At the edge of what is kept rounding decides.
    near = min(score for score, _ in theirs.seen) + LIFT.near - 1
    kept = [{marks.tobytes() for score, marks in found.seen if score < near} for found in (ours, theirs)]
    if len(theirs.seen) < LIFT.most_seen:
        assert kept[0] == kept[1]
    return ours


@settings(max_examples=12)
@given(tables, st.booleans(), st.booleans())
def test_graphs_and_candidates_are_the_same(R: Matrix, selection: bool, latents: bool) -> None:
    agree(R, 500, selection=selection, latents=latents)


@settings(max_examples=15)
@given(tables, st.integers(0, 10**6), st.booleans(), st.booleans())
def test_what_is_known_leads_to_the_same(R: Matrix, seed: int, selection: bool, latents: bool) -> None:
    known = statements(len(R), seed)
    found = agree(R, 500, known=known, selection=selection, latents=latents)
    limits = Limits(known)
    assert all(limits.fits(AncestralGraph.of_marks(candidate.mag)) for candidate in found.candidates[1:])


def with_constants(**changed: Any) -> pytest.MonkeyPatch:
    """Give the twins other constants, until this is undone."""
    patch = pytest.MonkeyPatch()
    for module in (lifting, hidden):
        patch.setattr(module, "LIFT", dataclasses.replace(LIFT, **changed))
    return patch


@settings(max_examples=15)
@given(
    st.builds(
        correlation, st.integers(0, 10**6), st.integers(6, 9), st.sampled_from([300, 2000]), degree=st.floats(2, 5)
    ),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_many_changes_are_ranked_alike_where_only_what_is_nearby_moves(R: Matrix, seed: int, few: bool) -> None:
    drawn = np.maximum(np.random.default_rng(seed).uniform(0, 3, size=R.shape), 1)
    # One change is tried in each part of the graph: that which is rated best decides.
    patch = with_constants(compared=1) if few else with_constants(few_variables=2, refreshed=1)
    try:
        agree(R, 2000, inflation=np.maximum(drawn, drawn.T) if seed % 2 else None)
    finally:
        patch.undo()


@pytest.mark.parametrize("changed", [{"brief": 0, "few_variables": 2}, {"most_near": 2**31 - 1}, {"refreshed": 0}])
def test_no_constant_makes_the_search_fail(changed: dict[str, int]) -> None:
    patch = with_constants(**{"most_near": 0, **changed})
    try:
        assert math.isfinite(lift(correlation(1, 12, 1000), 1000).score)
    finally:
        patch.undo()


@settings(max_examples=12)
@given(tables, st.integers(0, 10**6), st.booleans(), st.booleans())
def test_inflated_evidence_leads_to_the_same(R: Matrix, seed: int, selection: bool, latents: bool) -> None:
    drawn = np.maximum(np.random.default_rng(seed).uniform(0, 3, size=R.shape), 1)
    agree(R, 500, inflation=np.maximum(drawn, drawn.T), selection=selection, latents=latents)


@settings(max_examples=6)
@given(tables, st.integers(0, 10**6), st.booleans())
def test_a_graph_to_start_from_leads_to_the_same(R: Matrix, seed: int, informed: bool) -> None:
    start = lift(R, 80, restarts=1, seed=seed).pag  # of fewer rows: another graph
    known = statements(len(R), seed) if informed else None
    agree(R, 500, start=start, restarts=2, seed=seed, known=known)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 9))])
def test_larger_tables_give_the_same(seed: int) -> None:
    agree(correlation(100 * seed, 13, 800, 2, 2), 800)


@pytest.mark.parametrize("variables", [70, 140, 270])
def test_sets_of_more_than_one_word(variables: int) -> None:
    """Lifted DAGs of many variables have the score of the readable likelihood, and the order of the columns is free."""
    R = correlation(variables, variables, 1000, 0, 0, degree=0.8)
    found = lift(R, 1000, selection=False, latents=False)
    assert found.candidates[-1].mag.any()
    scores = GaussianBlocks(np.round(R, 11), 1000)
    for candidate in found.candidates:
        graph = AncestralGraph.of_marks(candidate.mag)
        score = minus_two_log_likelihood(scores, graph) + 2 * math.log(1000) * graph.n_edges
        assert candidate.score == pytest.approx(score, abs=1e-7)


@settings(max_examples=8)
@given(tables, st.sampled_from([0, 1, 5000, 10**5]))
def test_memory_changes_no_result(R: Matrix, memory: int) -> None:
    assert same(lift(R, 500, memory=memory), lift(R, 500, memory=2**30))


@pytest.mark.parametrize("memory", [0, 200_000])
def test_many_variables_need_no_memory(memory: int) -> None:
    R = correlation(5, 90, 1000, 3, 2, degree=2.5)
    known = statements(90, 1)
    assert same(lift(R, 1000, known=known, memory=memory), lift(R, 1000, known=known))


def same(one: LiftResult, other: LiftResult) -> bool:
    """Tell whether two results are the same to the last digit."""
    graphs = [[(score, marks.tobytes()) for score, marks in found.seen] for found in (one, other)]
    ends = [[(c.used, c.score, c.mag.tobytes(), c.pag.tobytes()) for c in found.candidates] for found in (one, other)]
    return graphs[0] == graphs[1] and ends[0] == ends[1] and one.hidden == other.hidden


def test_orders_of_more_than_one_word_are_the_same() -> None:
    R = correlation(3, 68, 1000, 0, 0, degree=0.6)
    agree(R, 1000, selection=False, latents=False)


@pytest.mark.parametrize(("seed", "selecting"), [(1, 0), (2, 1), (3, 2)])
def test_regions_that_are_not_the_whole_graph_are_the_same(seed: int, selecting: int) -> None:
    agree(correlation(seed, 26, 1000, 3, selecting, degree=1.8), 1000)


@pytest.mark.parametrize("variables", [30, 50, 110, 240])
def test_hidden_nodes_among_more_than_one_word(variables: int) -> None:
    loadings = np.zeros(variables)
    members = (0, 3, variables // 2, variables - 2, variables - 1)
    loadings[list(members)] = 0.8, -0.7, 0.7, 0.6, 0.8
    R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    found = lift(R, 1000)
    assert [(node.kind, node.members) for node in found.hidden] == [("latent", members)]


# --- time, and giving up ----------------------------------------------------------------------------------


def large() -> Matrix:
    return correlation(77, 60, 2000, 4, 3, degree=4.0)


@pytest.mark.parametrize("left", [-math.inf, -1.0, 0.0])
def test_without_time_there_is_nothing(left: float) -> None:
    begun = time.perf_counter()
    with pytest.raises(OutOfTime):
        lift(large(), 2000, deadline=time.monotonic() + left)
    assert time.perf_counter() - begun < 2.0


def test_the_best_so_far_is_the_answer_when_the_time_is_up() -> None:
    R, used = large(), set()
    for seconds in (0.005 * 1.5**i for i in range(20)):
        begun = time.monotonic()
        try:
            found = lift(R, 2000, deadline=begun + seconds)
        except OutOfTime:
            continue
        if found.ended is None:
            break
        assert found.ended == "the time limit was reached"
        assert time.monotonic() - begun < seconds + 2.0
        assert found.seen
        used.add(found.used)
    assert used <= {"order", "lift", "hidden"}
    assert used


def test_a_flag_ends_the_search() -> None:
    stop = Cancel()
    stop.set()
    token = CANCEL.set(stop)
    try:
        with pytest.raises(KeyboardInterrupt):  # whether to go on is asked every 20 ms
            lift(large(), 2000, progress=lambda *_: time.sleep(0.03))
    finally:
        CANCEL.reset(token)


def test_progress_is_told_and_may_end_the_search() -> None:
    told: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))
        if stage == "hidden" and done == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lift(large(), 2000, progress=progress)
    assert told[:2] == [("order", 0, 1), ("lift", 1, 3)]
    assert told[-2:] == [("hidden", 0, 60), ("hidden", 1, 60)]


def test_threads_search_side_by_side() -> None:
    R = [correlation(seed, 12, 500) for seed in range(4)]
    expected, found = [lift(S, 500).score for S in R], [0.0] * 4

    def work(i: int) -> None:
        found[i] = lift(R[i], 500).score

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


# --- nothing is trusted -----------------------------------------------------------------------------------


def asked(**other: Any) -> Any:
    """Call the engine with three variables, but for what is given."""
    told: dict[str, Any] = {
        "correlation": np.eye(3),
        "n": 100.0,
        "price": 9.0,
        "noise": 1e-6,
        "constants": dataclasses.asdict(LIFT),
        "selection": True,
        "latents": True,
    }
    return engine.lift(**(told | other))


def limited(**other: Any) -> dict[str, Any]:
    parts = {
        name: np.zeros((3, 3), bool) for name in ("required", "forbidden", "never", "causes", "effects", "unconfounded")
    }
    return {**parts, "selection": True, "latents": True, "local": False, **other}


def test_what_fits_is_taken() -> None:
    late, converged, answer, gain, candidates, hidden, met, models = asked(more=[[2, 0, 1]], limits=limited())
    assert (late, converged, gain, hidden, models) == (False, True, 0.0, [], [])
    assert answer[0] == candidates[0][0] == "order"
    assert not answer[2].any()
    assert met


@pytest.mark.parametrize(
    "other",
    [
        {"correlation": np.ones((2, 3))},
        {"correlation": np.zeros((0, 0))},
        {"correlation": np.full((2, 2), np.nan)},
        {"correlation": np.ones(4)},
        {"correlation": np.ones((3, 3))},  # singular
        {"correlation": np.eye(2049)},
        {"n": 0},
        {"n": math.inf},
        {"n": -5},
        {"price": 0.0},
        {"price": math.nan},
        {"noise": -1.0},
        {"noise": math.nan},
        {"memory": -1},
        {"memory": math.nan},
        {"memory": math.inf},
        {"memory": 2**62},
        {"constants": dataclasses.asdict(LIFT) | {"hidden_rounds": -1}},
        {"inflation": np.ones((2, 2))},
        {"inflation": np.ones((4, 4))},
        {"inflation": np.ones(9)},
        {"inflation": np.ones((3, 2))},
        {"inflation": np.full((3, 3), np.nan)},
        {"inflation": np.full((3, 3), np.inf)},
        {"inflation": np.full((3, 3), 0.999)},
        {"inflation": np.full((3, 3), -2.0)},
        {"inflation": np.array([[1.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])},  # not symmetric
        {"more": [[0, 0, 1]]},
        {"more": [[0, 1]]},
        {"more": [[0, 1, 3]]},
        {"more": [[0, 1, 2, 0]]},
        {"more": [[-1, 0, 1]]},
        {"more": [[2**40, 0, 1]]},
        {"start": np.zeros((2, 2), np.int8)},
        {"start": np.eye(3, dtype=np.int8)},
        {"start": np.array([[0, 2, 0], [0, 0, 0], [0, 0, 0]], np.int8)},  # half an edge
        {"start": np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.int8)},  # circles
        {"start": np.array([[0, 2, 3], [3, 0, 2], [2, 3, 0]], np.int8)},  # a cycle
        {"start": np.array([[0, 2, 2], [3, 0, 2], [2, 3, 0]], np.int8)},  # 0 --> 1 --> 2 <-> 0
        {"start": np.array([[0, 2, 0], [3, 0, 3], [0, 3, 0]], np.int8)},  # an arrowhead at an undirected edge
        {"limits": limited(never=np.zeros((2, 2), bool))},
        {"limits": limited(required=np.zeros((3, 4), bool))},
    ],
)
def test_what_does_not_fit_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        asked(**other)


def test_every_constant_is_asked_for_and_none_is_made_up() -> None:
    in_python = {"noise", "row_noise", "most_seen"}  # what these say is told in another way, or done with the result
    for field in dataclasses.fields(LIFT):
        constants = dataclasses.asdict(LIFT)
        del constants[field.name]
        if field.name in in_python:
            asked(constants=constants)
        else:
            with pytest.raises(ValueError, match=field.name):
                asked(constants=constants)


def test_wild_numbers_change_results_only() -> None:
    wild = np.array([[1.0, 3.0, -2.0], [3.0, 1.0, 5.0], [-2.0, 5.0, -1.0]])
    assert asked(correlation=wild)[2] is not None
    everything = np.ones((3, 3), bool)
    contradiction = limited(required=everything, forbidden=everything, never=everything, effects=everything)
    assert asked(limits=contradiction)[2] is not None


def test_without_the_engine_lift_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="at most 2,048 variables"):
        lift(np.eye(2049), 2000)
    monkeypatch.setattr(lifting, "_engine", None)
    with pytest.raises(LMarvelError, match="needs the compiled engine"):
        lift(np.eye(3), 100)
    with pytest.raises(LMarvelError, match="needs the compiled engine"):
        Lift().fit(CARS)
    assert "lmarvel: the compiled engine" in Auto().fit(CARS).result_.settings["chosen"]
