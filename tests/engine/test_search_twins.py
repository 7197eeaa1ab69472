"""The compiled part of Lift and its readable twins say the same, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lmarvel.engine import load
from lmarvel.search.hidden_block import BlockProblem
from lmarvel.search.lift import lift
from lmarvel.search.orders import forward, search_orders, settle
from lmarvel.search.regressions import CompiledRegressions, GaussianLocal, Regressions
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

compiled = load()
pytestmark = pytest.mark.skipif(compiled is None, reason="the package was built without a compiler")

Matrix = np.ndarray


def correlation(seed: int, variables: int, rows: int, latent: int = 1, selection: int = 1) -> Matrix:
    dag = erdos_renyi(variables + latent + selection, min(1.0, 2.5 / (variables + 1)), seed=seed)
    study = hide(dag, latent, selection, seed=seed + 1)
    return np.corrcoef(LinearSEM.random(dag, seed=seed + 2).sample(study, rows, seed=seed + 3).T)


tables = st.builds(correlation, st.integers(0, 10**6), st.integers(3, 14), st.sampled_from([40, 200, 2000]))


def both(R: Matrix, n: int, price: float) -> tuple[Regressions, CompiledRegressions]:
    return Regressions(GaussianLocal(R, n, price), len(R)), CompiledRegressions(R, n, price)


@given(tables, st.integers(0, 2**20), st.sampled_from([2.0, 8.0, 15.0]))
def test_families_are_the_same(R: Matrix, chosen: int, price: float) -> None:
    readable, fast = both(R, 200, price)
    for v in range(len(R)):
        predecessors = chosen & ((1 << len(R)) - 1) & ~(1 << v)
        ours, theirs = fast(v, predecessors), readable(v, predecessors)
        assert ours[1:] == theirs[1:]
        assert ours.score == pytest.approx(theirs.score, rel=1e-12)


@given(tables, st.randoms(use_true_random=False))
def test_orders_settle_at_the_same_place(R: Matrix, random: object) -> None:
    order = list(range(len(R)))
    random.shuffle(order)  # type: ignore[attr-defined]
    readable, fast = both(R, 500, 12.4)
    assert settle(fast, order)[:2] == settle(readable, order)[:2]
    assert forward(fast) == forward(readable)
    found = search_orders(fast, R, 500)
    assert found[:2] == search_orders(readable, R, 500)[:2]


@pytest.mark.parametrize("variables", [70, 140, 300])
def test_sets_of_more_than_one_word_are_the_same(variables: int) -> None:
    R = correlation(variables, variables, 1000, 2, 0)
    readable, fast = both(R, 1000, 13.8)
    order = list(range(len(R)))
    ours, theirs = settle(fast, order, 1), settle(readable, order, 1)
    assert ours[:2] == theirs[:2]
    assert ours.score == pytest.approx(theirs.score, rel=1e-12)
    everything = (1 << len(R)) - 2
    assert fast(0, everything)[1:] == readable(0, everything)[1:]


def block(rng: np.random.Generator) -> tuple[BlockProblem, Matrix]:
    """A block of five nodes with a latent and a selection node, and one parent outside."""
    R = correlation(int(rng.integers(10**6)), 6, 300, 0, 0)
    parents = [0b1000000, 0b1000001, 0b1000000, 0b0000110, 0b0100000, 0, 0]
    problem = BlockProblem(R, 0b1011111, parents, [0b0011000], p=6)
    size = len(problem.heads) + problem.n_own + len(problem.loaded)
    return problem, rng.normal(0.0, 0.3, size)


@given(st.integers(0, 10**6))
def test_likelihoods_of_blocks_are_the_same(seed: int) -> None:
    problem, x = block(np.random.default_rng(seed))
    fast = problem.likelihood()
    assert fast is not problem
    assert fast.value(x) == pytest.approx(problem.value(x), rel=1e-10)
    # Over many steps rounding may lead to another of several maxima, and next to a variance of nothing it grows.
    at = problem.fit(x, 1e-10, 3)
    assume((at > -6).all())
    assert np.allclose(fast.fit(x, 1e-10, 3), at, atol=1e-6)
    assert fast.value(fast.fit(x, 1e-10, 60)) < fast.value(x)


@pytest.mark.parametrize("seed", range(4))
def test_lift_finds_the_same(seed: int) -> None:
    R = correlation(100 * seed, 13, 800, 2, 2)
    fast, readable = lift(R, 800), lift(R, 800, compiled=False)
    assert np.array_equal(fast.mag, readable.mag)
    assert np.array_equal(fast.pag, readable.pag)
    assert fast.used == readable.used
    assert fast.score == pytest.approx(readable.score, abs=1e-3)


# --- nothing is trusted -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("v", "predecessors"), [(-1, 0), (3, 0), (10**6, 0), (0, 0b1), (0, 0b1000), (0, -2), (0, 1 << 2000)]
)
def test_a_variable_that_is_not_there_is_refused(v: int, predecessors: int) -> None:
    with pytest.raises(ValueError, match="no "):
        CompiledRegressions(np.eye(3), 100, 9.0)(v, predecessors)


@pytest.mark.parametrize("order", [[0, 0], [0, 3], [-1], [0, 1, 2, 0], [2**31]])
def test_an_order_of_other_things_is_refused(order: list[int]) -> None:
    with pytest.raises(ValueError, match="names each variable once"):
        CompiledRegressions(np.eye(3), 100, 9.0).sweeper(order)


@pytest.mark.parametrize("place", [-5, 3, 10**9])
def test_a_move_of_what_is_not_there_moves_nothing(place: int) -> None:
    sweeper = CompiledRegressions(np.eye(3), 100, 9.0).sweeper([0, 1, 2])
    assert not sweeper.move(place, 1e-6)


@pytest.mark.parametrize("S", [np.ones((2, 3)), np.zeros((0, 0)), np.full((2, 2), np.nan), np.ones(4)])
def test_what_is_no_covariance_is_refused(S: Matrix) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        compiled.Regressions(S, 100.0, 9.0)


def test_blocks_of_wrong_sizes_are_refused() -> None:
    none = np.empty(0, dtype=np.intp)
    for own, nodes, heads in ((0, 2, none), (3, 3, none), (2, 1, none), (2, 2, np.array([5])), (2, 2, np.array([-1]))):
        with pytest.raises(ValueError):  # noqa: PT011
            compiled.BlockLikelihood(np.eye(2), own, nodes, 0, heads, heads, none, none)
    with pytest.raises(ValueError, match="two ends"):
        compiled.BlockLikelihood(np.eye(2), 2, 2, 0, np.array([0]), none, none, none)
    with pytest.raises(ValueError, match="no node number"):
        compiled.BlockLikelihood(np.eye(2), 2, 2, 0, none, none, np.array([0]), np.array([0]))
    fit = compiled.BlockLikelihood(np.eye(2), 2, 2, 0, none, none, none, none)
    with pytest.raises(ValueError, match="has 2 parameters"):
        fit.value(np.zeros(5))


def test_objects_cannot_be_made_or_changed_half() -> None:
    for kind in (compiled.Regressions, compiled.Sweeper, compiled.BlockLikelihood):
        with pytest.raises(TypeError):
            kind.__new__(kind)
    best = compiled.Regressions(np.eye(3), 100.0, 9.0)
    sweeper = best.sweeper([2, 0, 1])
    best.__init__(np.eye(2), 100.0, 9.0)  # says nothing, and changes nothing
    assert sweeper.result()[:2] == ([2, 0, 1], [0, 0, 0])


def test_noise_is_not_negative_and_places_are_whole() -> None:
    best = compiled.Regressions(np.eye(3), 100.0, 9.0)
    for noise in (-1e9, float("nan")):
        with pytest.raises(ValueError, match="negative"):
            best.sweeper([0, 1, 2]).move(0, noise)
    with pytest.raises(TypeError):
        best.sweeper([0.5, 0])
    assert not Regressions(GaussianLocal(np.eye(3), 100.0, 9.0), 3).sweeper([0, 1]).move(2, 1e-6)
