"""The compiled searches over orders and ancestral graphs take the steps of their readable twins, and trust nothing."""

from __future__ import annotations

import math
import random
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel.engine import load
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.search.ancestral import KINDS, UNDIRECTED, AncestralGraph
from lmarvel.search.lift import lift
from lmarvel.search.record import OutOfTime, Record, edges_of, marks_of
from lmarvel.search.regressions import CompiledRegressions, GaussianLocal, Regressions
from lmarvel.search.stages import CompiledStages, ReadableStages
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

compiled = load()
pytestmark = pytest.mark.skipif(compiled is None, reason="the package was built without a compiler")

Matrix = np.ndarray
NO_GRAPH = r"needs 3 sets|no neighbours|not an ancestral graph"
Both = tuple[CompiledStages, ReadableStages]


def correlation(
    seed: int, variables: int, rows: int, latent: int = 2, selection: int = 2, degree: float = 2.5
) -> Matrix:
    n = variables + latent + selection
    dag = erdos_renyi(n, min(1.0, degree / (n - 1)), seed=seed)
    study = hide(dag, latent, selection, seed=seed + 1)
    return np.corrcoef(LinearSEM.random(dag, seed=seed + 2).sample(study, rows, seed=seed + 3).T)


def both(R: Matrix, rows: int) -> Both:
    price = 2 * math.log(rows)
    return CompiledStages(R, rows, price, Record(rows)), ReadableStages(R, rows, price, Record(rows))


def readable_regressions(R: Matrix, rows: float, price: float) -> Regressions:
    return Regressions(GaussianLocal(R, rows, price), len(R))


def some_graph(variables: int, seed: int, steps: int = 40) -> AncestralGraph:
    """An ancestral graph with edges of all kinds, by random legal changes."""
    rng, graph = random.Random(seed), AncestralGraph(variables)
    for _ in range(steps):
        x, y = rng.sample(range(variables), 2)
        kind = rng.choice((*KINDS, UNDIRECTED))
        if graph.is_legal(x, y, kind):
            graph.apply(x, y, kind)
    return graph


def sets_of(graph: AncestralGraph) -> tuple[object, ...]:
    return (
        graph.parents,
        graph.children,
        graph.spouses,
        graph.neighbors,
        graph.ancestors,
        graph.descendants,
        graph.n_edges,
    )


tables = st.builds(correlation, st.integers(0, 10**6), st.integers(4, 8), st.sampled_from([60, 300, 2000]))


@given(tables)
@settings(max_examples=10)
def test_order_searches_find_the_same(R: Matrix) -> None:
    fast, readable = both(R, 500)
    more = [list(range(len(R))), list(range(len(R)))[::-1]]
    ours, theirs = [], []
    found, expected = fast.orders(more, ours.append), readable.orders(more, theirs.append)
    assert found[:2] == expected[:2]
    assert found.score == pytest.approx(expected.score, abs=1e-8)
    assert [order[:2] for order in ours] == [order[:2] for order in theirs]


@given(tables, st.booleans(), st.booleans())
@settings(max_examples=25)
def test_climbs_meet_the_same_graphs(R: Matrix, selection: bool, latents: bool) -> None:
    fast, readable = both(R, 500)
    start = AncestralGraph.of_parents(fast.orders([], lambda order: None).parents)
    # Twice: from the DAG, and from where that led, with what is remembered.
    for _ in range(2):
        found, score = fast.climb(start, selection, latents)
        expected, wanted = readable.climb(start, selection, latents)
        assert sets_of(found) == sets_of(expected)
        assert score == pytest.approx(wanted, abs=1e-8)
        start = found
    ours, theirs = fast.record.graphs(), readable.record.graphs()
    assert [score for score, _ in ours] == pytest.approx([score for score, _ in theirs], abs=1e-8)
    assert {marks.tobytes() for _, marks in ours} == {marks.tobytes() for _, marks in theirs}


@given(tables, st.integers(0, 10**6))
def test_scores_of_any_graph_are_the_same(R: Matrix, seed: int) -> None:
    fast, readable = both(R, 400)
    graph = some_graph(len(R), seed)
    assert fast.score(graph) == pytest.approx(readable.score(graph), abs=1e-8)


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_maximal_graphs_are_the_same(variables: int, seed: int) -> None:
    fast, readable = both(np.eye(variables), 100)
    graph = some_graph(variables, seed)
    assert np.array_equal(fast.mag(graph), readable.mag(graph))
    assert sets_of(fast.directed(graph)) == sets_of(readable.directed(graph))


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_graphs_are_kept_by_their_edges(variables: int, seed: int) -> None:
    graph = some_graph(variables, seed)
    assert np.array_equal(marks_of(edges_of(graph)), graph.marks())


def test_a_graph_that_is_not_maximal_gets_its_edge() -> None:
    graph = AncestralGraph(4)  # 0 <-> 1 <-> 2 <-> 3, 1 --> 3, 2 --> 0: nothing separates 0 and 3
    for x, y, kind in ((0, 1, 3), (1, 2, 3), (2, 3, 3), (1, 3, 1), (2, 0, 1)):
        graph.apply(x, y, kind)
    fast, readable = both(np.eye(4), 100)
    assert fast.mag(graph)[0, 3] == fast.mag(graph)[3, 0] == 2
    assert np.array_equal(fast.mag(graph), readable.mag(graph))


@pytest.mark.parametrize("variables", [70, 140, 270])
def test_sets_of_more_than_one_word_are_the_same(variables: int) -> None:
    R = correlation(variables, variables, 1000, 0, 0, degree=0.8)
    fast, readable = both(R, 1000)
    start = AncestralGraph.of_parents(fast.orders([], lambda order: None).parents)
    assert fast.score(start) == pytest.approx(readable.score(start), abs=1e-8)
    assert np.array_equal(fast.mag(start), start.marks())
    graph, score = fast.climb(start, selection=True, latents=True)
    assert score == pytest.approx(readable.score(graph), abs=1e-8)
    assert score <= fast.score(start) + 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_larger_tables_give_the_same(seed: int) -> None:
    R = correlation(1000 * seed, 16, 2000, 3, 3, degree=2.5 + seed % 3)
    fast, readable = both(R, 2000)
    order, expected = (stage.orders([], lambda order: None) for stage in (fast, readable))
    assert order[:2] == expected[:2]
    start = AncestralGraph.of_parents(order.parents)
    (found, score), (wanted, other) = (stage.climb(start, True, True) for stage in (fast, readable))
    assert sets_of(found) == sets_of(wanted)
    assert score == pytest.approx(other, abs=1e-8)


def test_a_move_that_was_too_small_is_made_when_less_is_asked() -> None:
    R, order = correlation(3, 8, 500), list(range(8))
    sweepers = [kind.sweeper(order) for kind in (CompiledRegressions(R, 500, 12.4), readable_regressions(R, 500, 12.4))]
    for noise in (1e9, 20.0, 1e-6, 1e9, 1e-6):
        moved = [[sweeper.move(v, noise) for v in order] for sweeper in sweepers]
        assert moved[0] == moved[1]
    assert sweepers[0].result()[:2] == sweepers[1].result()[:2]
    assert sweepers[0].result()[0] != order


# --- time, and giving up ----------------------------------------------------------------------------------


def large() -> Matrix:
    return correlation(77, 60, 2000, 4, 3, degree=4.0)


@pytest.mark.parametrize("left", [-math.inf, -1.0, 0.0, 0.003])
def test_searches_end_when_the_time_is_up(left: float) -> None:
    R, price = large(), 2 * math.log(2000)
    begun = time.perf_counter()
    late = CompiledStages(R, 2000, price, Record(2000, time.monotonic() + left))
    met: list[object] = []
    with pytest.raises(OutOfTime):
        late.orders([], met.append)
    with pytest.raises(OutOfTime):
        late.climb(AncestralGraph(len(R)), True, True)
    assert time.perf_counter() - begun < 2.0
    assert late.record.graphs() if left > 0 else True


def test_what_was_met_before_the_time_was_up_is_kept() -> None:
    R = large()
    engine = compiled.Lifting(R, 2000, 15.2, np.ones_like(R, dtype=bool))
    none = [0] * len(R)
    finished, graph, score, met = engine.climb(none, none, none, 1e-6, True, True, math.inf, 0.2)
    assert not finished
    assert graph is None
    assert math.isnan(score)
    assert met
    assert marks_of(met[0][1]).shape == R.shape


def test_lift_answers_with_the_best_order_when_the_time_is_up() -> None:
    R = large()
    for seconds in (0.02 * 2**i for i in range(10)):
        try:
            found = lift(R, 2000, deadline=time.monotonic() + seconds)
        except OutOfTime:
            continue
        assert found.ended == "the time was up"
        assert found.used in ("order", "lift")
        return
    pytest.fail("no search was finished in time")


def test_a_flag_ends_both_searches() -> None:
    R, price = large(), 2 * math.log(2000)
    stages = CompiledStages(R, 2000, price, Record(2000))
    stop = Cancel()
    stop.set()
    token = CANCEL.set(stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            stages.orders([], lambda order: None)
        with pytest.raises(KeyboardInterrupt):
            stages.climb(AncestralGraph(len(R)), True, True)
    finally:
        CANCEL.reset(token)
    assert stages.score(AncestralGraph(len(R))) > 0  # it can be used again


def test_other_threads_go_on_but_not_with_the_same_search() -> None:
    R = large()
    engine = compiled.Lifting(R, 2000, 15.2, np.ones_like(R, dtype=bool))
    none, refused = [0] * len(R), []
    stop = threading.Event()

    def meddle() -> None:
        while not stop.wait(0.001):
            try:
                engine.score(none, none, none)
            except RuntimeError as error:
                refused.append(str(error))
                with pytest.raises(RuntimeError, match="another thread"):
                    engine.climb(none, none, none, 1e-6, True, True)
                if len(refused) == 5:
                    return

    other = threading.Thread(target=meddle)
    other.start()
    engine.climb(none, none, none, 1e-6, True, True, math.inf, 0.5)
    stop.set()
    other.join()
    assert refused == ["this search is under way in another thread"] * 5


# --- nothing is trusted -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sets",
    [
        ([0, 0], [0, 0, 0], [0, 0, 0]),  # too few
        ([0, 0, 0, 0], [0, 0, 0], [0, 0, 0]),
        ([0, 0, 8], [0, 0, 0], [0, 0, 0]),  # nodes that are not there
        ([0, 0, -1], [0, 0, 0], [0, 0, 0]),
        ([0, 0, 1 << 2000], [0, 0, 0], [0, 0, 0]),
        ([1, 0, 0], [0, 0, 0], [0, 0, 0]),  # a loop
        ([2, 1, 0], [0, 0, 0], [0, 0, 0]),  # a cycle of two
        ([4, 1, 2], [0, 0, 0], [0, 0, 0]),  # of three
        ([0, 0, 0], [2, 0, 0], [0, 0, 0]),  # half an edge
        ([0, 0, 0], [0, 0, 0], [0, 0, 1]),
        ([0, 1, 0], [2, 1, 0], [0, 0, 0]),  # two edges
        ([0, 1, 2], [4, 0, 1], [0, 0, 0]),  # 0 --> 1 --> 2 <-> 0
        ([0, 1, 0], [0, 0, 0], [0, 4, 2]),  # an arrowhead at a node with an undirected edge
    ],
)
def test_what_is_no_ancestral_graph_is_refused(sets: tuple[list[int], list[int], list[int]]) -> None:
    engine = compiled.Lifting(np.eye(3), 100, 9.0, np.ones((3, 3)))
    for ask in (engine.score, engine.mag, engine.directed):
        with pytest.raises(ValueError, match=NO_GRAPH):
            ask(*sets)
    with pytest.raises(ValueError, match=NO_GRAPH):
        engine.climb(*sets, 1e-6, True, True)


@pytest.mark.parametrize("S", [np.ones((2, 3)), np.zeros((0, 0)), np.full((2, 2), np.nan), np.ones(4), np.eye(1025)])
def test_what_is_no_covariance_is_refused(S: Matrix) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        compiled.Lifting(S, 100, 9.0, np.ones((2, 2)))
    with pytest.raises(ValueError):  # noqa: PT011
        compiled.search_orders(S, np.eye(2), 100, 9.0, 1e-6)


def test_sizes_and_numbers_must_fit() -> None:
    R = np.eye(3)
    with pytest.raises(ValueError, match="same size"):
        compiled.Lifting(R, 100, 9.0, np.ones((2, 2)))
    with pytest.raises(ValueError, match="one size"):
        compiled.search_orders(R, np.eye(2), 100, 9.0, 1e-6)
    for n, price in ((0, 9.0), (-5, 9.0), (100, 0.0), (100, math.nan), (math.inf, 9.0)):
        with pytest.raises(ValueError, match="positive"):
            compiled.Lifting(R, n, price, R)
        with pytest.raises(ValueError, match="positive"):
            compiled.search_orders(R, R, n, price, 1e-6)
    for noise in (-1.0, math.nan):
        with pytest.raises(ValueError, match="negative"):
            compiled.search_orders(R, R, 100, 9.0, noise)
        with pytest.raises(ValueError, match="negative"):
            compiled.Lifting(R, 100, 9.0, R).climb([0] * 3, [0] * 3, [0] * 3, noise, True, True)


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [0, 1, 3], [0, 1, 2, 0], [-1, 0, 1], [2**40, 0, 1]])
def test_an_order_of_other_things_is_refused(order: list[int]) -> None:
    with pytest.raises(ValueError, match="names each"):
        compiled.search_orders(np.eye(3), np.eye(3), 100, 9.0, 1e-6, [order])


def test_matrices_that_are_no_covariances_change_results_only() -> None:
    wild = np.array([[1.0, 3.0, -2.0], [3.0, 1.0, 5.0], [-2.0, 5.0, -1.0]])
    assert compiled.search_orders(wild, wild, 100, 9.0, 1e-6)[0]
    engine = compiled.Lifting(wild, 100, 9.0, np.ones((3, 3)))
    assert engine.climb([0, 1, 3], [0] * 3, [0] * 3, 1e-6, True, True)[0]


def test_objects_cannot_be_made_half() -> None:
    with pytest.raises(TypeError):
        compiled.Lifting.__new__(compiled.Lifting)
