"""Lift on covariances and tables: exact in the limit, legal always, free of the order of the columns."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from lmarvel import DAG, MAG, PAG, Dataset, LMarvel, MSeparation, bic, explain_invalid, mag_to_pag
from lmarvel.datasets import CARS
from lmarvel.errors import DataError, ParameterError
from lmarvel.search.lift import LiftResult, lift
from lmarvel.search.record import OutOfTime, Record
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide
from tests.reference.lift.hidden import HiddenSearch, best_of
from tests.reference.lift.hidden_local import Change, LocalSearch
from tests.reference.lift.hidden_model import HiddenFits, projected
from tests.reference.lift.lift import distinct
from tests.reference.lift.lift import lift as readable_lift
from tests.reference.lift.support import pags_of, support

UNDIRECTED, BIDIRECTED = 3, 2


def drawn(seed: int, nodes: int, latent: int, selection: int, degree: float = 2.5) -> tuple[Study, LinearSEM]:
    dag = erdos_renyi(nodes, degree / (nodes - 1), seed=seed)
    return hide(dag, latent, selection, seed=seed + 1), LinearSEM.random(dag, seed=seed + 2)


def correlation_of(covariance: np.ndarray) -> np.ndarray:
    scale = np.sqrt(covariance.diagonal())
    return covariance / np.outer(scale, scale)


def table(seed: int, nodes: int = 12, latent: int = 2, selection: int = 1, rows: int = 600) -> tuple[Study, np.ndarray]:
    study, model = drawn(seed, nodes, latent, selection)
    return study, model.sample(study, rows, seed=seed + 3)


def names_of(found: LiftResult) -> tuple[str, ...]:
    return tuple(f"X{v}" for v in range(len(found.pag)))


@pytest.mark.parametrize(
    "seed", [*range(500, 512), *(pytest.param(s, marks=pytest.mark.slow) for s in range(512, 532))]
)
def test_population_covariances_give_the_true_pag(seed: int) -> None:
    study, model = drawn(seed, 11, seed % 3, seed // 3 % 3)
    truth = study.pag
    start = LMarvel(test=MSeparation(study.mag)).fit(names=list(study.observed)).pag_
    found = lift(correlation_of(model.covariance(study)), 10**8, start=start.marks)
    assert np.array_equal(found.pag, truth.marks)


@pytest.mark.parametrize("seed", range(600, 606))
def test_what_is_returned_is_legal(seed: int) -> None:
    _, X = table(seed)
    found = lift(np.corrcoef(X.T), len(X))
    names = names_of(found)
    mag = MAG(names, found.mag)  # raises unless maximal and ancestral
    assert explain_invalid(PAG(names, found.pag)) is None
    assert np.array_equal(mag_to_pag(mag).marks, found.pag)
    for score, marks in found.seen:
        assert score <= min(s for s, _ in found.seen) + 100
        MAG(names, marks)
    assert len(found.seen) > 1


@pytest.mark.parametrize("seed", [610, 611, 612])
def test_the_order_of_the_columns_does_not_matter(seed: int) -> None:
    _, X = table(seed)
    R = np.corrcoef(X.T)
    order = np.random.default_rng(seed).permutation(len(R))
    plain, shuffled = lift(R, len(X)), lift(R[np.ix_(order, order)], len(X))
    assert np.array_equal(plain.pag[np.ix_(order, order)], shuffled.pag)
    assert shuffled.score == pytest.approx(plain.score, abs=1e-6)
    moved = [(node.kind, tuple(sorted(int(order[v]) for v in node.members))) for node in shuffled.hidden]
    assert sorted(moved) == sorted((node.kind, node.members) for node in plain.hidden)


def test_the_last_digits_of_correlations_do_not_matter() -> None:
    cars = Dataset.of(CARS)
    for seed in range(25):  # nearly collinear columns: many models fit alike, and some fits end at the border
        R = cars.resample(seed).moments.correlation()
        noise = np.random.default_rng(seed).normal(scale=1e-15, size=R.shape)
        moved = R + np.triu(noise, 1) + np.triu(noise, 1).T
        assert (lift(moved, 392).pag == lift(R, 392).pag).all()


@pytest.mark.parametrize("seed", [620, 621, 622, 623])
def test_the_score_is_that_of_the_likelihood(seed: int) -> None:
    _, X = table(seed)
    n, p = X.shape
    found = lift(np.corrcoef(X.T), n, selection=False)
    if found.hidden:
        pytest.skip("a model with hidden nodes is no ancestral graph")
    mag = MAG(names_of(found), found.mag)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    likelihood = bic(mag, standard) - math.log(n) * (p + mag.n_edges)
    assert found.score == pytest.approx(likelihood + 2 * math.log(n) * mag.n_edges, abs=1e-4)


def square() -> tuple[np.ndarray, int]:
    """Four variables joined in an undirected square: no graph without selection separates both pairs."""
    K = np.eye(4) * 1.5
    for x, y in ((0, 1), (1, 2), (2, 3), (3, 0)):
        K[x, y] = K[y, x] = 0.45
    return correlation_of(np.linalg.inv(K)), 2000


def test_selection_is_found_with_its_evidence() -> None:
    R, n = square()
    found = lift(R, n)
    assert np.count_nonzero((found.pag == UNDIRECTED) & (found.pag.T == UNDIRECTED)) == 8
    assert found.selection_gain > 0.75 * 2 * math.log(n)


def test_without_selection_nothing_is_undirected() -> None:
    R, n = square()
    found = lift(R, n, selection=False)
    assert not ((found.mag == UNDIRECTED) & (found.mag.T == UNDIRECTED)).any()
    assert found.selection_gain == 0
    assert all(node.kind == "latent" for node in found.hidden)


def test_without_latents_nothing_is_bidirected() -> None:
    R = np.eye(4) + 0.45 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    assert ((lift(R, 2000).mag == BIDIRECTED) & (lift(R, 2000).mag.T == BIDIRECTED)).any()
    found = lift(R, 2000, latents=False)
    assert not ((found.mag == BIDIRECTED) & (found.mag.T == BIDIRECTED)).any()


def test_a_latent_node_is_found_and_weighed() -> None:
    loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8, 0.0, 0.0])
    R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    found = lift(R, 1000)
    assert found.used == "hidden"
    assert [(node.kind, node.members) for node in found.hidden] == [("latent", (0, 1, 2, 3, 4))]
    assert found.hidden[0].gain > 20


def test_a_selected_pair_is_found_though_it_joins_its_ancestors() -> None:
    """Two colliders, selected on both: seven edges in an ancestral graph, five parameters with a selection node."""
    dag = DAG.from_edges("A --> C", "B --> C", "D --> E", "F --> E", "C --> S", "E --> S")
    study = Study(dag, selection=("S",))
    found = lift(correlation_of(LinearSEM.random(dag, seed=3).covariance(study)), 1000)
    assert np.array_equal(found.pag, study.pag.marks)
    assert found.used == "hidden"
    pair = tuple(sorted(study.observed.index(name) for name in ("C", "E")))
    assert [(node.kind, node.members) for node in found.hidden] == [("selection", pair)]
    assert found.hidden[0].gain > math.log(1000)
    assert found.selection_gain == 0  # a graph without selection has the same class


def test_a_hidden_node_that_the_score_does_not_miss_is_dropped() -> None:
    loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8])
    R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    search = HiddenSearch(HiddenFits(R, 1000, 13.8), Record(), ("latent", "selection"))
    model = search.run(search.fits.of_dag([0, 0b00001, 0b00011, 0b00111, 0b01111], range(5)))
    more = Change("selection", 0b00011)  # one more node, over a pair that is explained already
    idle = LocalSearch(search.fits, search.record, []).changed(model, more)
    assert idle is not None
    kept, nodes = search.simplified(idle)
    assert kept.selections == ()
    assert [(node.kind, node.nodes) for node in nodes] == [("latent", 0b11111)]
    assert kept.score < idle.score


def test_a_plain_tree_is_not_taken_for_a_selected_sample() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        X = rng.normal(size=(3000, 12))
        for v in range(1, 12):
            X[:, v] += 0.8 * X[:, rng.integers(v)]
        found = lift(np.corrcoef(X.T), len(X))
        assert not ((found.pag == UNDIRECTED) & (found.pag.T == UNDIRECTED)).any()


@pytest.mark.parametrize("steps", [1, 3, 10, 40])
def test_a_deadline_gives_the_best_graph_so_far(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock strikes so many looks after a first order is there, however fast the machine is.

    Readable: the compiled search has a clock of its own, see ``tests/engine/test_lift_twins.py``.
    """
    _, X = table(630, nodes=14, latent=2, selection=1)
    met, looks = [], iter(range(steps))
    see, check = Record.see_edges, Record.check

    def strike(record: Record) -> None:
        if met and next(looks, None) is None:
            raise OutOfTime
        check(record)

    monkeypatch.setattr(Record, "see_edges", lambda record, seen: (met.append(seen[0][0]), see(record, seen)))
    monkeypatch.setattr(Record, "check", strike)
    found = readable_lift(np.corrcoef(X.T), len(X))
    assert found.ended == "the time limit was reached"
    assert explain_invalid(PAG(names_of(found), found.pag)) is None
    assert found.score <= met[0]


def test_without_time_there_is_the_start_or_nothing() -> None:
    _, X = table(630, nodes=12, latent=1, selection=1)
    R = np.corrcoef(X.T)
    with pytest.raises(OutOfTime):
        lift(R, len(X), deadline=time.monotonic())
    start = lift(R, len(X)).pag
    found = lift(R, len(X), start=start, deadline=time.monotonic())
    assert np.array_equal(found.pag, start)
    assert (found.used, found.ended) == ("start", "the time limit was reached")


def test_a_search_that_cannot_end_in_time_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inverses of many columns take a second by themselves, and nobody looks at the clock meanwhile."""
    monkeypatch.setattr("lmarvel.search.lift.canonical_order", lambda R: pytest.fail("the search was begun"))
    with pytest.raises(OutOfTime):
        lift(np.eye(500), 1000, deadline=time.monotonic() + 0.01)


@pytest.mark.parametrize("left", [1.0, 1e-3])
def test_fits_that_do_not_come_to_their_end_are_told(left: float) -> None:
    """Eight variables that two causes nearly determine are too close to singular for some fits."""
    ended = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) + left * rng.normal(size=(200, 8))
        ended.append(lift(np.corrcoef(X.T), len(X)).converged)
    assert all(ended) == (left == 1.0)


def test_progress_names_the_stages() -> None:
    _, X = table(631)
    told: list[str] = []
    lift(np.corrcoef(X.T), len(X), progress=lambda stage, done, total: told.append(stage))
    assert list(dict.fromkeys(told)) == ["order", "lift", "hidden"]


def test_support_is_the_distance_to_another_mark() -> None:
    _, X = table(632)
    found = lift(np.corrcoef(X.T), len(X))
    near = pags_of(found.seen)
    figures = support(found.pag, found.score, near)
    assert figures.shape == found.pag.shape
    assert (figures >= 0).all()
    for score, marks in near:
        assert (figures[marks != found.pag] <= max(score - found.score, 0.0)).all()


@pytest.mark.parametrize("p", [1, 2])
def test_few_variables(p: int) -> None:
    found = lift(np.eye(p), 100)
    assert found.pag.shape == (p, p)
    assert not found.pag.any()


def test_bad_input_is_named() -> None:
    twins = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 1.0, 1.0]])
    with pytest.raises(DataError, match="variable number 2 is determined by those before it"):
        lift(twins, 100)
    with pytest.raises(DataError, match="4 rows are too few: a score needs at least 5 rows"):
        lift(np.eye(3), 4)
    with pytest.raises(DataError, match="number 0 and 1 is not a finite number"):
        lift(np.array([[1.0, math.nan], [math.nan, 1.0]]), 100)
    with pytest.raises(DataError, match="square"):
        lift(np.ones((2, 3)), 100)
    with pytest.raises(DataError, match="ones on the diagonal"):
        lift(np.diag([1.0, 2.0]), 100)
    with pytest.raises(ParameterError, match="penalty must be above 0"):
        lift(np.eye(2), 100, penalty=0)
    with pytest.raises(ParameterError, match="start must be a 2 x 2 matrix"):
        lift(np.eye(2), 100, start=np.zeros((3, 3), np.int8))


def test_a_selection_node_that_mimics_an_edge_is_no_rival() -> None:
    """With an error variance that grows without bound it fits as well as the edge, though its graph claims more."""
    rng = np.random.default_rng(7)
    rain, sprinkler = rng.normal(size=(2, 3000))
    wet = rain + sprinkler + rng.normal(size=3000)
    data = np.column_stack([rain, sprinkler, wet, wet + rng.normal(size=3000)])
    found = lift(np.corrcoef(data.T), 3000)
    away = support(found.pag, found.score, pags_of(found.seen))
    definite = found.pag > 1
    assert away[definite].min() > 10


def test_restarts_are_repeatable_and_never_make_the_orders_worse() -> None:
    study = hide(erdos_renyi(12, 0.3, seed=4), 1, 1, seed=4)
    R = np.corrcoef(LinearSEM.random(study.dag, seed=4).sample(study, 400, seed=4).T)
    plain, one, same = lift(R, 400), lift(R, 400, restarts=3, seed=5), lift(R, 400, restarts=3, seed=5)
    assert np.array_equal(one.pag, same.pag)
    assert one.score == same.score
    assert np.array_equal(plain.pag, lift(R, 400, seed=9).pag)  # nothing is drawn without restarts


def test_of_equal_models_with_one_graph_the_simplest_is_named() -> None:
    fits, empty = HiddenFits(np.eye(3), 100, 9.0), (np.zeros((4, 4)), np.zeros(4))
    # 0, 1 and 2 are joined: by a latent node and an edge, by a latent node of all three, and the same with more nodes.
    pair = fits.fit([0b1000, 0b1001, 0b011, 0], [], [3, 0, 1, 2], *empty, np.zeros((4, 0)))
    three = fits.fit([0b1000, 0b1001, 0b1011, 0], [], [3, 0, 1, 2], *empty, np.zeros((4, 0)))
    marks = [projected(model) for model in (pair, three)]
    assert np.array_equal(*marks)
    for noise in (-0.003, 0.0, 0.003):
        equal = [replace(pair, score=100.0), replace(three, score=100.0 + noise)]
        for models in (equal, equal[::-1]):
            kept, graphs = distinct(models, marks)
            assert [model.parents for model in kept] == [pair.parents]
            assert len(graphs) == 1
    clearly = [replace(pair, score=100.0), replace(three, score=99.9)]
    assert distinct(clearly, marks)[0][0].parents == three.parents


def test_scores_that_rounding_tells_apart_stay_in_their_order() -> None:
    for score in np.arange(0.0, 1e-4, 3e-6).tolist():  # wherever they lie
        assert best_of([score + 3e-10, score, score - 1.0, score - 3e-10, score - 0.001], 4) == [2, 4, 0, 1]
    assert best_of([math.inf, 1.0, math.inf], 3) == [1, 0, 2]
