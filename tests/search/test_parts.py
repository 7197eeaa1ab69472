"""The parts of Lift: regressions, orders, graphs, undirected fits, hidden nodes."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import explain_not_ancestral
from lmarvel.graph.mixed import MixedGraph
from lmarvel.score.concentration import covariance_selection, newton_selection
from lmarvel.search.ancestral import KINDS, AncestralGraph, direct_chordal, pag_of
from lmarvel.search.climb import Climb
from lmarvel.search.orders import Order, Regressions, settle
from lmarvel.search.record import Record
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from tests.reference.lift.hidden_block import BlockProblem
from tests.reference.lift.hidden_model import HiddenFits
from tests.reference.lift.hidden_parts import maximal_cliques
from tests.reference.lift.stages import GaussianLocal


def correlations(p: int, seed: int, rows: int = 200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    for v in range(1, p):
        X[:, v] += X[:, rng.integers(v)] + 0.5 * X[:, rng.integers(v)]
    return np.corrcoef(X.T)


@pytest.mark.parametrize("seed", range(5))
def test_a_family_changes_only_by_what_it_names(seed: int) -> None:
    R, rng = correlations(9, seed), np.random.default_rng(seed)
    best = Regressions(GaussianLocal(R, 200, 10.6), 9)
    for _ in range(200):
        v, predecessors = int(rng.integers(9)), int(rng.integers(1 << 9))
        predecessors &= ~(1 << v)
        family = best(v, predecessors)
        for u in range(9):
            if u == v:
                continue
            other = best(v, predecessors ^ 1 << u)
            decisive = family.taken if predecessors >> u & 1 else family.tempting
            if not decisive >> u & 1:
                assert (other.score, other.parents) == (family.score, family.parents)


def plain_move(best: Regressions, order: list[int], v: int) -> tuple[float, list[int]]:
    """Score every place of v from scratch."""
    others = [u for u in order if u != v]
    found = []
    for place in range(len(order)):
        trial = [*others[:place], v, *others[place:]]
        before, score = 0, 0.0
        for u in trial:
            score += best(u, before).score
            before |= 1 << u
        found.append((score, trial))
    return min(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_settled_order_has_no_better_place_for_any_variable(seed: int) -> None:
    R = correlations(8, seed)
    best = Regressions(GaussianLocal(R, 200, 10.6), 8)
    found = settle(best, list(range(8)))
    assert isinstance(found, Order)
    for v in range(8):
        assert plain_move(best, found.order, v)[0] >= found.score - 1e-6


def test_legal_moves_are_exactly_those_that_leave_the_graph_ancestral() -> None:
    rng = np.random.default_rng(0)
    names = tuple("ABCDE")
    kinds_met = set()
    for _ in range(150):
        graph = AncestralGraph(5)
        for _ in range(12):
            x, y = (int(v) for v in rng.choice(5, 2, replace=False))
            kind = int(rng.choice(KINDS))
            trial = graph.copy()
            trial.set_edge(x, y, kind)
            ancestral = explain_not_ancestral(MixedGraph(names, trial.marks())) is None
            assert graph.is_legal(x, y, kind) == ancestral == trial.settle()
            if ancestral:
                kinds_met.add(kind)
                graph.apply(x, y, kind)
        twin = AncestralGraph.of_marks(graph.marks())
        assert np.array_equal(twin.marks(), graph.marks())
        assert twin.n_edges == graph.n_edges == np.count_nonzero(np.triu(graph.marks()))
    assert kinds_met == set(KINDS)


def test_directing_chordal_parts_keeps_class_and_score() -> None:
    graph = AncestralGraph(5)
    for x, y in ((0, 1), (1, 2), (0, 2), (2, 3)):
        graph.apply(x, y, 4)
    graph.apply(3, 4, 1)
    directed = direct_chordal(graph)
    assert not any(directed.neighbors)
    assert np.array_equal(pag_of(directed.marks()), pag_of(graph.marks()))
    scores = GaussianBlocks(correlations(5, 1), 200)
    assert minus_two_log_likelihood(scores, directed) == pytest.approx(minus_two_log_likelihood(scores, graph))


@pytest.mark.parametrize("seed", range(4))
def test_both_fits_of_an_undirected_graph_agree(seed: int) -> None:
    R, rng = correlations(7, seed), np.random.default_rng(seed)
    joined = np.triu(rng.random((7, 7)) < 0.5, 1)
    joined |= joined.T
    rows = covariance_selection(R, [np.flatnonzero(row).tolist() for row in joined])
    newton = newton_selection(R, joined)
    assert newton.converged
    assert newton.value == pytest.approx(rows.value, abs=1e-9)
    assert np.allclose(newton.K, rows.K, atol=1e-5)


def test_cliques_are_those_of_plain_search() -> None:
    rng = np.random.default_rng(3)
    joined = np.triu(rng.random((7, 7)) < 0.6, 1)
    joined |= joined.T
    adjacent = [sum(1 << int(u) for u in np.flatnonzero(row)) for row in joined]
    cliques = [
        mask
        for mask in range(1, 1 << 7)
        if all(joined[x, y] for x, y in permutations(members(mask), 2))
        and not any(not mask >> v & 1 and not mask & ~adjacent[v] for v in range(7))
    ]
    assert sorted(maximal_cliques(adjacent)) == cliques


def test_climbing_gains_are_differences_of_scores() -> None:
    R = correlations(6, 2)
    climb = Climb(GaussianBlocks(R, 200), AncestralGraph(6), 10.6, [(x, y) for y in range(6) for x in range(y)])
    rng = np.random.default_rng(1)
    for _ in range(60):
        x, y = climb.pairs[rng.integers(len(climb.pairs))]
        kind = int(rng.choice(KINDS))
        if kind == climb.graph.edge(x, y) or not climb.graph.is_legal(x, y, kind):
            continue
        before, gain = climb.score, climb.gain(x, y, kind)
        climb.apply(x, y, kind)
        assert climb.score == pytest.approx(before + gain, abs=1e-6)
        whole = minus_two_log_likelihood(climb.scores, climb.graph) + 10.6 * climb.graph.n_edges
        assert climb.score == pytest.approx(whole, abs=1e-6)
    climb.run(Record())
    assert climb.score <= before + 1e-6


def example() -> tuple[np.ndarray, list[int], list[int]]:
    """Six observed nodes, a latent one (6) over 2, 3, 4, a selection node under 0, 1 and 2; 5 is a parent of 4."""
    R = correlations(6, 4)
    latent = 1 << 6
    return R, [0, 0b000001, 0b000001 | latent, 0b000010 | latent, 0b100000 | latent, 0b000001, 0], [0b000111]


def test_gradient_and_information_of_a_hidden_model() -> None:
    R, parents, selections = example()
    problem = BlockProblem(R, 0b1011111, parents, selections, p=6)
    size = len(problem.heads) + problem.n_own + len(problem.loaded)
    x = np.random.default_rng(0).normal(size=size) * 0.3
    gradient, information = problem.derivatives(x)
    step = 1e-6
    for i in range(size):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        assert gradient[i] == pytest.approx((problem.value(up) - problem.value(down)) / (2 * step), abs=1e-6)
    assert np.linalg.eigvalsh(information).min() > -1e-9


def test_the_expected_information_is_the_hessian_where_the_model_fits() -> None:
    _, parents, selections = example()
    problem = BlockProblem(np.eye(6), 0b1011111, parents, selections, p=6)
    size = len(problem.heads) + problem.n_own + len(problem.loaded)
    x = np.random.default_rng(0).normal(size=size) * 0.3
    inverse, _ = problem._observed(*problem._matrices(x))
    problem.S = np.linalg.inv(inverse)
    gradient, information = problem.derivatives(x)
    assert np.abs(gradient).max() < 1e-12
    step = 1e-5
    for i in range(size):
        up = x.copy()
        up[i] += step
        assert np.allclose(problem.derivatives(up)[0] / step, information[i], atol=1e-3)


def test_blocks_add_up_to_the_whole_likelihood() -> None:
    R, parents, selections = example()
    fits = HiddenFits(R, 200, 10.6)
    start = np.zeros((7, 7))
    start[[2, 3, 4], 6] = 0.3
    V = np.zeros((7, 1))
    V[:3, 0] = 0.2
    model = fits.fit(parents, selections, [6, 0, 1, 2, 3, 5, 4], start, np.zeros(7), V)
    Sigma = model.covariance[:6, :6]
    whole = np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.solve(Sigma, R)) + 6 * math.log(2 * math.pi)
    assert model.score == pytest.approx(200 * whole + 10.6 * (8 + 3), abs=1e-6)


def test_a_model_without_hidden_nodes_scores_as_its_dag() -> None:
    R, parents = correlations(5, 6), [0, 0b1, 0b11, 0b100, 0b1001]
    graph = AncestralGraph.of_parents(parents)
    expected = minus_two_log_likelihood(GaussianBlocks(R, 200), graph) + 10.6 * graph.n_edges
    assert HiddenFits(R, 200, 10.6).of_dag(parents, range(5)).score == pytest.approx(expected, abs=1e-8)
