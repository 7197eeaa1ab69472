"""The compiled search over hidden nodes and its readable twin say the same, and refuse what does not fit."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel.engine import load
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.graph.paths import members
from lmarvel.search.hidden import HiddenSearch
from lmarvel.search.hidden_compiled import CompiledHiddenSearch, Search, hidden_search
from lmarvel.search.hidden_model import HiddenFits, HiddenModel, projected
from lmarvel.search.orders import search_orders
from lmarvel.search.record import OutOfTime, Record
from lmarvel.search.regressions import CompiledRegressions
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the package was built without a compiler")

Matrix = np.ndarray
PRICE = 13.8


def correlation(seed: int, variables: int, rows: int, latent: int = 1, selection: int = 1) -> Matrix:
    dag = erdos_renyi(variables + latent + selection, min(1.0, 3.0 / (variables + 1)), seed=seed)
    study = hide(dag, latent, selection, seed=seed + 1)
    return np.corrcoef(LinearSEM.random(dag, seed=seed + 2).sample(study, rows, seed=seed + 3).T)


def searched(R: Matrix, n: int, kinds: tuple[Any, ...], compiled: bool) -> Search:
    """Search from the best DAG, by one of the twins."""
    search = hidden_search(R, n, PRICE, Record(n), kinds, compiled)
    order = search_orders(CompiledRegressions(R, n, PRICE), R, n)
    search.run(search.of_dag(order.parents, order.order))
    return search


def same(ours: HiddenModel, theirs: HiddenModel) -> bool:
    return ours.parents == theirs.parents and ours.selections == theirs.selections and ours.order == theirs.order


def agree(R: Matrix, n: int, kinds: tuple[Any, ...]) -> int:
    """Hold the models that the twins met against each other, up to the first at the border; return how many.

    Where a variance is next to nothing a fit runs along a valley, and rounding decides how far.
    """
    fast, readable = searched(R, n, kinds, True), searched(R, n, kinds, False)
    assert isinstance(fast, CompiledHiddenSearch)
    assert isinstance(readable, HiddenSearch)
    for done, (ours, theirs) in enumerate(zip(fast.met, readable.met, strict=False)):
        if min(theirs.log_variance) < -6 or max(theirs.log_variance) > 2:
            return done
        assert same(ours, theirs)
        assert ours.score == pytest.approx(theirs.score, rel=1e-8)
        assert np.allclose(ours.B, theirs.B, atol=1e-3)
        assert np.array_equal(projected(ours), projected(theirs, compiled=False))
    assert len(fast.met) == len(readable.met)
    best = min(readable.met, key=lambda met: met.score)
    (ours, kept), (theirs, known) = fast.simplified(best), readable.simplified(best)
    assert same(ours, theirs)
    assert [node[:2] for node in kept] == [node[:2] for node in known]
    assert [node.by for node in kept] == pytest.approx([node.by for node in known], abs=1e-2)
    return len(readable.met)


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.integers(3, 9),
    st.sampled_from([200, 2000]),
    st.sampled_from([("latent",), ("selection",), ("selection", "latent"), ("latent", "selection")]),
)
def test_the_same_models_are_met(seed: int, variables: int, rows: int, kinds: tuple[str, ...]) -> None:
    agree(correlation(seed, variables, rows), rows, kinds)


@pytest.mark.parametrize(("variables", "seed"), [(20, 1), pytest.param(45, 3, marks=pytest.mark.slow)])
def test_the_same_models_are_met_among_more_variables(variables: int, seed: int) -> None:
    assert agree(correlation(seed, variables, 1000, 3, 1), 1000, ("selection", "latent")) > 10


@pytest.mark.parametrize("variables", [110, 240])
def test_sets_of_more_than_two_words(variables: int) -> None:
    R = correlation(variables, variables, 2000, 0, 0)
    fast, readable = CompiledHiddenSearch(R, 2000, PRICE, Record(), ()), HiddenFits(R, 2000, PRICE)
    parents = [0b11 << v - 2 if v > 1 else 0 for v in range(len(R))]
    ours, theirs = (search.of_dag(parents, range(len(R))) for search in (fast, readable))
    assert same(ours, theirs)
    assert ours.score == pytest.approx(theirs.score, rel=1e-12)
    assert np.allclose(ours.B, theirs.B, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(0, 4), st.integers(0, 3))
def test_projections_are_the_same(seed: int, observed: int, latent: int, selection: int) -> None:
    rng = np.random.default_rng(seed)
    m = observed + latent
    order = rng.permutation(m)
    parents = [0] * m
    for i, v in enumerate(order):
        for u in order[:i]:
            parents[v] |= int(rng.random() < 0.3) << int(u)
    selections = tuple(int(rng.integers(1, 1 << observed)) for _ in range(selection))
    empty = np.zeros((m, m)), np.zeros(m), np.zeros((m, selection))
    model = HiddenModel(observed, tuple(parents), selections, tuple(order.tolist()), *empty, 0.0)
    assert np.array_equal(projected(model), projected(model, compiled=False))


def test_equal_models_do_not_hang_on_the_last_bit() -> None:
    R = correlation(4, 12, 800, 2, 2)
    shaken = R * (1 + 1e-13 * np.random.default_rng(0).normal(size=R.shape))
    shaken = (shaken + shaken.T) / 2
    np.fill_diagonal(shaken, 1.0)
    plain, other = (searched(S, 800, ("selection", "latent"), True).met for S in (R, shaken))
    assert all(same(a, b) for a, b in zip(plain, other, strict=True))


# --- budgets ------------------------------------------------------------------------------------------------


def prepared(record: Record) -> tuple[CompiledHiddenSearch, HiddenModel]:
    R = correlation(9, 25, 2000, 3, 2)
    search = CompiledHiddenSearch(R, 2000, 15.2, record, ("selection", "latent"))
    order = search_orders(CompiledRegressions(R, 2000, 15.2), R, 2000)
    return search, search.of_dag(order.parents, order.order)


def test_a_deadline_ends_the_search_with_what_it_met() -> None:
    search, model = prepared(Record(2000, deadline=time.monotonic() - 1.0))
    with pytest.raises(OutOfTime):
        search.run(model)
    assert [met.parents for met in search.met] == [model.parents]


def test_progress_is_told_and_may_end_the_search() -> None:
    told = []

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))
        if len(told) == 2:
            raise ZeroDivisionError

    search, model = prepared(Record(2000, progress=progress))
    with pytest.raises(ZeroDivisionError):
        search.run(model)
    assert [(stage, total) for stage, _, total in told] == [("hidden", 12)] * 2


def test_a_flag_ends_the_search() -> None:
    stop = Cancel()
    stop.set()
    # Whether to go on is asked every 20 ms, so the first report takes longer than that.
    search, model = prepared(Record(2000, progress=lambda *_: time.sleep(0.03)))
    token = CANCEL.set(stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.run(model)
    finally:
        CANCEL.reset(token)


def test_one_thread_at_a_time() -> None:
    failures: list[str] = []

    def progress(*_: object) -> None:
        for work in (lambda: search.run(model), search._search.met, lambda: search.simplified(model)):
            try:
                work()
            except RuntimeError as error:
                failures.append(str(error))

    search, model = prepared(Record(2000, progress=progress))
    search.run(model)
    assert len(failures) >= 3
    assert all("under way" in failure for failure in failures)


# --- nothing is trusted -------------------------------------------------------------------------------------


def parts(**other: Any) -> tuple[Any, ...]:
    """A model of two observed nodes and a latent one, but for what is given."""
    plain = {
        "parents": (0b100, 0b101, 0),
        "selections": (0b11,),
        "order": (2, 0, 1),
        "B": np.zeros((3, 3)),
        "log_variance": np.zeros(3),
        "V": np.zeros((3, 1)),
        "score": 0.0,
    }
    return tuple((plain | other).values())


def small() -> Any:
    return engine.HiddenSearch(np.eye(2), 100.0, 9.0, 1e-6, ("latent", "selection"))


@pytest.mark.parametrize(
    "other",
    [
        {"parents": (0b100, 0b101)},
        {"parents": ()},
        {"parents": (0b1000, 0, 0)},
        {"parents": (-1, 0, 0)},
        {"parents": (1 << 2000, 0, 0)},
        {"parents": (0b001, 0, 0)},
        {"parents": (0b010, 0b001, 0)},
        {"selections": (0b1000,)},
        {"selections": (0b11, 0b11)},
        {"order": (0, 1)},
        {"order": (2, 0, 0)},
        {"order": (2, 0, 3)},
        {"order": (0, 1, 2)},
        {"B": np.zeros((2, 2))},
        {"log_variance": np.zeros(2)},
        {"V": np.zeros((3, 2))},
        {"parents": (0,) * 80, "order": tuple(range(80))},
    ],
)
def test_models_that_do_not_fit_are_refused(other: dict[str, Any]) -> None:
    small().fitted(parts())
    for ask in (lambda s: s.fitted(parts(**other)), lambda s: s.run(parts(**other), math.inf)):
        with pytest.raises(ValueError):  # noqa: PT011
            ask(small())
    with pytest.raises(ValueError):  # noqa: PT011
        small().simplified(parts(**other), math.inf)


def test_settings_that_do_not_fit_are_refused() -> None:
    good = [np.eye(2), 100.0, 9.0, 1e-6, ("latent",)]
    bad = [
        (0, np.ones((2, 3))),
        (0, np.zeros((0, 0))),
        (0, np.full((2, 2), np.nan)),
        (1, 0.0),
        (1, math.inf),
        (2, -1.0),
        (3, -1.0),
        (3, math.nan),
        (4, ("spouse",)),
    ]
    for place, value in bad:
        with pytest.raises(ValueError):  # noqa: PT011
            engine.HiddenSearch(*[value if i == place else item for i, item in enumerate(good)])
    with pytest.raises(TypeError):
        engine.HiddenSearch.__new__(engine.HiddenSearch)


@pytest.mark.parametrize(
    ("parents", "observed", "selections"),
    [([], 0, 0), ([0], 2, 0), ([0], -1, 0), ([0, 0], 1, 2), ([0, 0], 1, -1), ([0b100, 0], 2, 0), ([-1, 0], 2, 0)],
)
def test_graphs_that_cannot_be_projected_are_refused(parents: list[int], observed: int, selections: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        engine.project(parents, observed, selections)


def test_what_is_no_dag_does_no_harm() -> None:
    assert engine.project([0b10, 0b01], 2, 0).shape == (2, 2)
    assert engine.project([0b1], 1, 0).tolist() == [[0]]


def test_members_travel_whole() -> None:
    fast = CompiledHiddenSearch(np.eye(70), 100, 9.0, Record(), ())
    parents = [0] * 69 + [1 << 68 | 1 << 40 | 1]
    assert list(members(fast.of_dag(parents, range(70)).parents[69])) == [0, 40, 68]
