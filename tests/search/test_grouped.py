"""Variables of several columns: with one column each they score as single ones, with more as their joint density."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import ParameterError
from lmarvel.search.ancestral import BOTH, FORTH, UNDIRECTED, AncestralGraph
from lmarvel.search.kinds.grouped import (
    GroupedBlocks,
    GroupedLocal,
    Groups,
    given_rest,
    predictability,
    smallest_boundary_last,
    thin,
)
from lmarvel.search.orders import Regressions, settle
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from tests.reference.lift.stages import GaussianLocal
from tests.reference.lift.stages import smallest_boundary_last as single_boundary_last
from tests.reference.lift.stages import thin as single_thin


def correlation(q, seed):
    factor = np.random.default_rng(seed).normal(size=(q, 2 * q))
    S = factor @ factor.T
    scale = np.sqrt(S.diagonal())
    return S / np.outer(scale, scale)


def single(q, seed, n=300):
    return Groups(correlation(q, seed), tuple((c,) for c in range(q)), n, 2.0)


GROUPED = ((0,), (1, 2), (3,), (4, 5, 6), (7,))


def grouped(seed, n=400, penalty=2.0):
    return Groups(correlation(8, seed), GROUPED, n, penalty)


@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 63))
def test_single_columns_score_as_the_readable_regressions(seed, v, parents):
    groups = single(6, seed)
    ours, theirs = GroupedLocal(groups), GaussianLocal(groups.correlation, groups.n, groups.price)
    parents &= ~(1 << v)
    assert ours.value(v, parents) == pytest.approx(theirs.value(v, parents), abs=1e-7)
    (value, steps), (expected, expected_steps) = ours.additions(v, parents), theirs.additions(v, parents)
    assert value == pytest.approx(expected, abs=1e-7)
    assert steps == expected_steps
    if parents:
        assert ours.removal(v, parents) == theirs.removal(v, parents)


@given(st.integers(0, 10_000))
def test_single_columns_score_as_single_blocks(seed):
    groups = single(5, seed)
    graph = AncestralGraph(5)
    for x, y, kind in ((0, 1, FORTH), (2, 1, BOTH), (2, 3, BOTH), (0, 4, UNDIRECTED)):
        if graph.is_legal(x, y, kind):
            graph.apply(x, y, kind)
    ours = minus_two_log_likelihood(GroupedBlocks(groups), graph)
    assert ours == pytest.approx(minus_two_log_likelihood(GaussianBlocks(groups.correlation, 300), graph), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_single_columns_give_the_orders_and_the_thinning_of_single_ones(seed):
    groups = single(6, seed)
    R, n, price = groups.correlation, groups.n, groups.price
    assert smallest_boundary_last(groups) == single_boundary_last(R, n, price)
    np.testing.assert_allclose(predictability(groups), np.log(np.linalg.inv(R).diagonal()))
    everything = ~np.eye(6, dtype=bool)
    np.testing.assert_array_equal(thin(groups, range(6), everything), single_thin(R, everything, n, price))


def log_det(R, columns):
    return np.linalg.slogdet(R[np.ix_(columns, columns)])[1]


@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 31))
def test_a_regression_is_a_ratio_of_joint_densities(seed, v, parents):
    groups = grouped(seed)
    parents &= ~(1 << v)
    above, own = groups.columns_of(parents), list(GROUPED[v])
    density = log_det(groups.correlation, above + own) - log_det(groups.correlation, above)
    expected = groups.n * (density + len(own) * (1 + math.log(2 * math.pi)))
    expected += sum(groups.surplus[u, v] for u in range(5) if parents >> u & 1)
    assert GroupedLocal(groups).value(v, parents) == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 31))
def test_a_parent_is_offered_exactly_if_it_pays(seed, v, parents):
    groups = grouped(seed)
    parents &= ~(1 << v)
    local = GroupedLocal(groups)
    value, steps = local.additions(v, parents)
    gains = {
        1 << u: value - local.value(v, parents | 1 << u) - local.price
        for u in range(5)
        if u != v and not parents >> u & 1
    }
    assert set(steps) == {step for step, gain in gains.items() if gain > 1e-7}
    assert steps == sorted(steps, key=lambda step: -gains[step])


@given(st.integers(0, 10_000))
def test_graphs_of_one_class_score_the_same(seed):
    """x --> y, x <-- y, x <-> y and x --- y between two variables of several columns are one model."""
    groups = grouped(seed)
    scores = set()
    for kind in (FORTH, BOTH, UNDIRECTED):
        for x, y in ((1, 3), (3, 1)):
            graph = AncestralGraph(5)
            graph.apply(x, y, kind)
            scores.add(round(minus_two_log_likelihood(GroupedBlocks(groups), graph), 5))
    assert len(scores) == 1


def test_an_undirected_square_fits_the_blocks_of_the_concentration():
    groups = grouped(3)
    graph = AncestralGraph(5)
    for x, y in ((0, 1), (1, 3), (3, 4), (4, 0)):
        graph.apply(x, y, UNDIRECTED)
    chordal = graph.copy()
    chordal.apply(0, 3, UNDIRECTED)
    directed = AncestralGraph.of_parents([0, 0b01001, 0, 0b00001, 0b01001])  # the same, chordal
    scores = GroupedBlocks(groups)
    square, chord, dag = (minus_two_log_likelihood(scores, g) for g in (graph, chordal, directed))
    assert chord == pytest.approx(dag, abs=1e-5)
    assert square > chord - groups.surplus[0, 3] - 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_what_a_pair_is_worth_given_the_rest_is_its_likelihood_ratio(seed):
    groups = grouped(seed)
    worth = given_rest(groups)
    np.testing.assert_allclose(worth, worth.T)
    everything = list(range(8))
    for x, y in ((0, 1), (1, 3), (2, 3), (0, 4)):
        rest = [c for c in everything if c not in (*GROUPED[x], *GROUPED[y])]
        R = groups.correlation
        with_x, with_y = rest + list(GROUPED[x]), rest + list(GROUPED[y])
        ratio = log_det(R, with_x) + log_det(R, with_y) - log_det(R, rest) - log_det(R, everything)
        assert worth[x, y] == pytest.approx(groups.n * ratio, rel=1e-5)


def test_the_collider_of_a_nominal_variable_is_found():
    rng = np.random.default_rng(1)
    n = 3000
    a, b = rng.normal(size=(2, n))
    scores = np.stack([0 * a, 1.5 * a, 1.5 * b], axis=1) + rng.gumbel(size=(n, 3))
    level = scores.argmax(axis=1)
    table = np.column_stack([a, b, level == 1, level == 2])
    groups = Groups(np.corrcoef(table.T), ((0,), (1,), (2, 3)), n, 2.0)
    found = settle(Regressions(GroupedLocal(groups), 3), [2, 0, 1])
    assert found.parents == [0, 0, 0b011]


@pytest.mark.parametrize(
    ("columns", "message"), [(((0,), (0, 1)), "exactly one variable"), (((0, 1), ()), "number 1 has no columns")]
)
def test_columns_that_do_not_add_up_are_refused(columns, message):
    with pytest.raises(ParameterError, match=message):
        Groups(np.eye(2), columns, 100, 2.0)
