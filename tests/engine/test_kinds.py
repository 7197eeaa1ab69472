"""Scores that know the kinds of columns: the engine's are those of the readable twin, and so is its search."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel.ci.glm.kinds import KindTable, kind_table
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load
from lmarvel.graph.bitsets import bits, members
from lmarvel.search.constants import LIFT
from lmarvel.search.kinds.by_kind import lift_kinds
from lmarvel.search.orders import Regressions, forward, from_orders
from tests.effort import examples
from tests.reference.kinds import KindTwin, code_length, regret, shape_gain

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the engine is not built")

SEEDS = st.integers(0, 10_000)
WORDS = np.array([f"k{i}" for i in range(8)])
SWEEPS = (LIFT.max_sweeps, LIFT.family_rounds, LIFT.family_sweeps, LIFT.family_hope)


def numbers(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw numbers along lines, bends and a product, with noise that is Gaussian or not."""
    noise = rng.permutation([rng.normal(size=n), rng.laplace(size=n), rng.gamma(1.0, size=n), rng.uniform(-2, 2, n)])
    a, b = noise[0], noise[1] * rng.uniform(0.5, 2)
    c = rng.normal() * a + rng.normal() * b + rng.choice([0.0, 0.7]) * a**2 + noise[2]
    return {"a": a, "b": b, "c": c, "d": rng.normal() * c + rng.choice([0.0, 0.6]) * a * b + noise[3]}


def categories(rng: np.random.Generator, n: int, most: int = 4) -> dict[str, Any]:
    """Draw categories, of which later ones depend on the sum of those before them."""
    found: list[np.ndarray] = []
    for _ in range(4):
        size = int(rng.integers(2, most + 1))
        random = np.r_[np.arange(size), rng.integers(0, size, n - size)]
        found.append(np.where(rng.random(n) < 0.4, sum(found, np.zeros(n, dtype=int)) % size, random))
    return {name: WORDS[codes] for name, codes in zip("efgh", found, strict=True)}


def mixed(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw two numbers and three categories that depend on each other either way."""
    g = np.r_[np.arange(3), rng.integers(0, 3, n - 3)]
    x = rng.normal() * g + rng.normal(size=n)
    y = rng.normal() * x + (g == 1) * x + rng.laplace(size=n)
    h = rng.random(n) < 1 / (1 + np.exp(-rng.normal() * y - rng.choice([0.0, 1.0]) * (x**2 - 1)))
    k = np.where(rng.random(n) < 0.5, (g + h) % 3, g)
    return {"x": x, "g": WORDS[g], "h": WORDS[h.astype(int)], "y": y, "k": WORDS[k]}


def drawn(made: dict[str, Any], rng: np.random.Generator, weighted: bool, penalty: float = 2.2) -> KindTable:
    if weighted:
        made = {**made, "w": rng.uniform(0.3, 2.0, len(next(iter(made.values()))))}
    data = Dataset.of(made, weights="w" if weighted else None)
    return kind_table(data, data.names, penalty)


def scores(table: KindTable, prices: dict[str, float] | None = None) -> Any:
    parts = (table.basis, table.starts, table.categories, table.codes, table.weights, table.products)
    return engine.KindScores(*parts, table.prices if prices is None else prices)


def families(p: int) -> Iterator[tuple[int, int]]:
    return ((v, parents) for v in range(p) for parents in range(1 << p) if not parents >> v & 1)


def compare(
    table: KindTable, prices: dict[str, float] | None = None, every: int = 1, **within: float
) -> list[tuple[int, ...]]:
    """Hold the engine against the twin for every so many-th family; return which bends were taken."""
    compiled, twin, met = scores(table, prices), KindTwin(table, prices), []
    for v, parents in itertools.islice(families(len(table)), 0, None, every):
        value, bends = compiled.value(v, members(parents))
        assert value == pytest.approx(twin.value(v, parents), **within), (v, parents)
        assert list(bends) == twin.modelled(v, parents)[1]
        met.append(bends)
    return met


# --- values ---------------------------------------------------------------------------------------------------


@examples(12)
@given(SEEDS, st.sampled_from([60, 300, 800]), st.booleans())
def test_least_squares_with_bends_and_products(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(numbers(rng, n), rng, weighted)
    assert table.products
    compare(table, table.prices | {"shape": math.inf}, rel=1e-6)


@examples(12)
@given(SEEDS, st.sampled_from([60, 300, 800]), st.booleans())
def test_least_squares_with_the_shape_of_noise(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    compare(drawn(numbers(rng, n), rng, weighted), abs=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_many_rows_some_are_looked_at(weighted: bool) -> None:
    rng = np.random.default_rng(5)
    table = drawn(numbers(rng, 6_500), rng, weighted)
    assert len(KindTwin(table).weights[::3]) < 3_000
    taken = compare(table, every=3, abs=0.02)
    products = range(table.starts[len(table)], table.starts[-1])
    assert any(taken)
    assert any(set(bends) & set(products) for bends in taken)


@examples(25)
@given(SEEDS, st.sampled_from([12, 60, 400]), st.booleans())
def test_counts(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(categories(rng, n), rng, weighted)
    assert table.counted
    compare(table, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [6, 70])
def test_counts_where_most_cells_have_no_rows(size: int, weighted: bool) -> None:
    """With many parents configurations are counted anew, and with many categories cells, too."""
    rng = np.random.default_rng(1)
    columns = {name: [f"k{i}" for i in (*range(size), *rng.integers(0, size, 50))] for name in "abcde"}
    compare(drawn(columns, rng, weighted), rel=1e-9)


def test_more_configurations_than_a_number_can_say() -> None:
    rng = np.random.default_rng(0)
    columns = {f"v{i}": WORDS[np.r_[np.arange(8), rng.integers(0, 8, 30)]] for i in range(400)}
    value, _ = drawn(columns, rng, False).scores().value(0, range(1, 400))
    assert value == pytest.approx(2 * 38 * math.log(8), rel=0.01)  # each row is alone: nothing is learned


@examples(10)
@given(SEEDS, st.sampled_from([80, 400]), st.booleans())
def test_numbers_and_categories(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(mixed(rng, n), rng, weighted)
    assert table.products
    assert not table.counted
    compare(table, abs=0.02)


def test_bends_of_numbers_are_taken_by_categories() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 1_500))
    h = rng.random(1_500) < 1 / (1 + np.exp(2 - 2 * x**2 - y))
    taken = compare(drawn({"x": x, "y": y, "h": WORDS[h.astype(int)]}, rng, False), abs=0.02)
    assert (1, 2) in taken


def test_a_category_without_rows_hides_nothing() -> None:
    """Its indicator is zero in all rows: the determinant of what is left must not depend on it."""
    rng = np.random.default_rng(2)
    g = rng.integers(0, 3, 600)
    codes = np.array([np.zeros(600), np.array([0, 1, 3])[g]], dtype=np.uint16)
    x = 1.0 * g + rng.normal(size=600)
    basis = np.array([(x - x.mean()) / x.std(), *((codes[1] == a) * 1.0 for a in (1, 2, 3))])
    starts, sizes = np.array([0, 1, 4], dtype=np.int32), np.array([0, 4], dtype=np.int32)
    table = KindTable(basis, starts, sizes, codes, None, (), 600.0, 2.0)
    _, met = table.scores().search(1e-6, *SWEEPS)
    assert sorted(map(len, met[-1][1])) == [0, 1]
    compare(table, abs=0.02)


def exact_regret(n: int, k: int) -> float:
    """Return the regret by the recursion over the number of values (Kontkanen & Myllymaki 2007)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.arange(n + 1)
        log = np.where(h > 0, h * np.log(h / n), 0.0)
    terms = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + log[i] + log[n - i] for i in h]
    sums = [1.0, math.fsum(map(math.exp, terms))]
    for values in range(1, k - 1):
        sums.append(sums[-1] + n / values * sums[-2])
    return math.log(sums[k - 1])


@pytest.mark.parametrize("n", [5, 60, 500])
@pytest.mark.parametrize("k", [2, 3, 9, 80, 300])
def test_the_regret_is_close_to_the_exact_one(n: int, k: int) -> None:
    assert regret(n, k) == pytest.approx(exact_regret(n, k), abs=0.1)


def test_readable_parts_by_hand() -> None:
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    assert code_length(codes, [2, 2], np.ones(4)) == pytest.approx(2 * (regret(4, 4) - regret(4, 2)))
    rng = np.random.default_rng(0)
    ones = np.ones(5_000)
    assert shape_gain(rng.normal(size=5_000), ones, 5_000.0, 34.0) == 0.0
    e = rng.laplace(size=5_000)  # the entropies of both densities tell what there is to gain
    gain = 2 * 5_000 * (0.5 * math.log(2 * math.pi * math.e * 2) - math.log(2 * math.e))
    assert shape_gain(e, ones, 5_000.0, 34.0) == pytest.approx(gain, rel=0.15)


# --- weights --------------------------------------------------------------------------------------------------


@examples(8)
@given(SEEDS, st.sampled_from([numbers, categories, mixed]))
def test_whole_weights_are_repeated_rows(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(kind(rng, 150), rng, False)
    times = np.r_[np.ones(8), rng.integers(0, 4, 142)]
    again = np.repeat(np.arange(150), times.astype(int))
    basis, codes = table.basis[:, again], table.codes[:, again]
    weighted = scores(replace(table, weights=times), table.prices)
    repeated = scores(replace(table, basis=basis.copy(), codes=codes.copy()), table.prices)
    for v, parents in families(len(table)):
        one, other = weighted.value(v, members(parents)), repeated.value(v, members(parents))
        assert one[0] == pytest.approx(other[0], rel=1e-7, abs=0.02)
        assert one[1] == other[1]


# --- the search -----------------------------------------------------------------------------------------------


def searched(twin: KindTwin, p: int) -> float:
    best = Regressions(twin, p)
    starts = (forward(best), range(p), range(p)[::-1])
    return from_orders(best, [list(start) for start in starts], LIFT.noise).score


@examples(12)
@given(SEEDS, st.sampled_from([numbers, categories, mixed]))
def test_the_search_is_as_good_as_the_readable_one(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(kind(rng, 300), rng, False)
    twin, compiled, p = KindTwin(table), scores(table), len(table)
    late, met = compiled.search(LIFT.noise, *SWEEPS)
    assert not late
    assert len(met) == 4
    for score, parents in met:
        values = [compiled.value(v, chosen)[0] for v, chosen in enumerate(parents)]
        assert score == pytest.approx(sum(values) + table.prices["edge"] * sum(map(len, parents)), rel=1e-9)
    score, parents = met[-1]
    assert score <= min(score for score, _ in met) + LIFT.noise
    own = sum(twin.value(v, bits(chosen)) + twin.price * len(chosen) for v, chosen in enumerate(parents))
    assert score == pytest.approx(own, abs=0.1)
    assert score <= searched(twin, p) + 0.1


def test_a_search_keeps_to_limits_and_starts_from_orders() -> None:
    rng = np.random.default_rng(3)
    table = drawn(mixed(rng, 400), rng, False)
    p = len(table)
    none, every = np.zeros((p, p), dtype=bool), np.ones((p, p), dtype=bool)
    limits = {
        "required": none,
        "forbidden": every,
        "never": none,
        "causes": none,
        "effects": none,
        "unconfounded": none,
    }
    told = limits | {"selection": False, "latents": False, "local": False}
    _, met = scores(table).search(LIFT.noise, *SWEEPS, limits=told, more=[range(p)])
    assert len(met) == 5
    assert met[-1][1] == [[]] * p
    late, met = scores(table).search(LIFT.noise, *SWEEPS, seconds=0.0)
    assert late
    assert not met


@examples(10)
@given(SEEDS, st.sampled_from([numbers, categories, mixed]), st.booleans())
def test_the_order_of_columns_and_the_names_of_categories_do_not_matter(seed: int, kind: Any, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    made = kind(rng, 300)
    if weighted:
        made["w"] = rng.uniform(0.3, 2.0, 300)
    names = [name for name in made if name != "w"]
    renamed = dict(zip(WORDS, rng.permutation(WORDS), strict=True))
    other = {
        name: np.array([renamed[word] for word in made[name]]) if made[name].dtype.kind == "U" else made[name]
        for name in made
    }
    order = rng.permutation(len(names))
    one, two = (Dataset.of(of, weights="w" if weighted else None) for of in (made, other))
    found = lift_kinds(kind_table(one, names, 2.2))
    moved = lift_kinds(kind_table(two, [names[v] for v in order], 2.2))
    assert moved.score == pytest.approx(found.score, abs=0.02)
    assert np.array_equal(moved.pag, found.pag[np.ix_(order, order)])


def test_scores_in_use_are_not_asked_again() -> None:
    rng = np.random.default_rng(0)
    values = rng.gamma(1.0, size=(1_500, 60)) @ (np.eye(60) + np.triu(rng.normal(size=(60, 60)), 1) / 4)
    compiled = scores(drawn({f"v{i}": column for i, column in enumerate(values.T)}, rng, False))
    late: list[bool] = []
    thread = threading.Thread(target=lambda: late.append(compiled.search(LIFT.noise, *SWEEPS, seconds=0.5)[0]))
    thread.start()
    time.sleep(0.1)
    with pytest.raises(RuntimeError, match="in use"):
        compiled.value(0, ())
    thread.join()
    assert late == [True]
    compiled.value(0, ())
