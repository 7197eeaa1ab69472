"""Scores of categories: held against the formula cell by cell, and the search over them against the truth."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import DAG, Knowledge, Lift, Mark, mag_to_pag
from lmarvel.errors import DataError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG
from lmarvel.search.kinds.categories import CategoricalLocal, Categories, lift_categories


def by_hand(table: Categories, v: int, parents: int) -> float:
    """Return minus two log of the chance of the counts, configuration by configuration."""
    sizes = table.sizes.tolist()
    others, r = list(members(parents)), sizes[v]
    a = 1.0 / math.prod(sizes[u] for u in others)
    weights = np.ones(table.n) if table.weights is None else table.weights
    total = 0.0
    for values in product(*(range(sizes[u]) for u in others)):
        here = np.all([table.codes[:, u] == value for u, value in zip(others, values, strict=True)], axis=0)
        here = np.broadcast_to(here, table.n)
        counts = [float(weights[here & (table.codes[:, v] == k)].sum()) for k in range(r)]
        total += math.lgamma(a) - math.lgamma(a + sum(counts))
        total += sum(math.lgamma(a / r + count) - math.lgamma(a / r) for count in counts)
    return -2 * total


def drawn(seed: int, rows: int = 60, weighted: bool = False) -> Categories:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 4)
    codes = np.column_stack([np.r_[np.arange(size), rng.integers(0, size, rows - size)] for size in sizes])
    return Categories(codes, 2.5, rng.uniform(0.5, 2.0, rows) if weighted else None)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 15), st.booleans())
def test_the_score_is_the_chance_of_the_counts(seed: int, v: int, parents: int, weighted: bool) -> None:
    table, parents = drawn(seed, weighted=weighted), parents & ~(1 << v)
    assert CategoricalLocal(table).value(v, parents) == pytest.approx(by_hand(table, v, parents), rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 15))
def test_additions_and_removals_are_those_that_pay(seed: int, v: int, parents: int) -> None:
    table, parents = drawn(seed), parents & ~(1 << v)
    local = CategoricalLocal(table)
    value, steps = local.additions(v, parents)
    gains = {u: value - by_hand(table, v, parents | 1 << u) for u in range(4) if u != v and not parents >> u & 1}
    paying = sorted((u for u in gains if gains[u] > table.price + 1e-6), key=lambda u: -gains[u])
    assert [step.bit_length() - 1 for step in steps] == paying
    losses = {u: by_hand(table, v, parents & ~(1 << u)) - value for u in members(parents)}
    superfluous = [u for u in losses if losses[u] < table.price - 1e-6]
    removed = local.removal(v, parents)
    assert removed == (1 << min(superfluous, key=losses.__getitem__) if superfluous else 0)


def test_many_cells_without_rows_change_nothing() -> None:
    rng = np.random.default_rng(1)
    table = Categories(rng.integers(0, 6, (40, 5)))
    assert CategoricalLocal(table).value(0, 0b11110) == pytest.approx(by_hand(table, 0, 0b11110), rel=1e-10)


def noisy(rng: np.random.Generator, values: np.ndarray, size: int) -> np.ndarray:
    other = rng.integers(0, size, len(values))
    return np.where(rng.random(len(values)) < 0.15, other, values % size)


def collider(rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    c = noisy(rng, np.maximum(a, 2 * b), 3)
    words = np.array(["x", "y", "z"])
    return {"A": words[a], "B": words[b], "C": words[c], "D": words[noisy(rng, c, 3)]}


TRUTH = DAG.from_edges("A --> C", "B --> C", "C --> D")


@pytest.mark.parametrize("seed", range(3))
def test_lift_learns_a_table_of_categories(seed: int) -> None:
    found = Lift().fit(collider(5000, seed)).result_
    assert found.pag == mag_to_pag(MAG.from_edges(*map(str, TRUTH.edges())))
    assert found.verdict.fits


def test_the_order_of_columns_and_the_names_of_categories_do_not_matter() -> None:
    table = collider(800, 5)
    found = Lift().fit(table).pag_
    renamed = {name: np.char.translate(table[name], str.maketrans("xyz", "zxy")) for name in reversed(table)}
    assert Lift().fit(renamed).pag_.reordered(found.names) == found


def test_rows_that_repeat_are_weights() -> None:
    table = collider(400, 2)
    twice = {name: np.repeat(values, 2) for name, values in table.items()}
    weighted = Lift().fit({**table, "w": np.full(400, 2.0)}, weights="w").result_
    assert weighted.settings["rows"] == 400  # weights that are equal tell nothing
    assert Lift().fit(table).result_.bic == pytest.approx(weighted.bic)
    assert Lift().fit(twice).result_.bic != pytest.approx(weighted.bic)


def test_knowledge_is_kept() -> None:
    known = Knowledge(tiers=[["C", "D"], ["A", "B"]], selection=False)
    found = Lift(knowledge=known).fit(collider(2000, 0)).result_
    for early, late in product("CD", "AB"):
        edge = found.pag.edge(early, late)
        assert edge is None or edge.at_b == Mark.ARROW


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(DataError, match="two categories per variable"):
        lift_categories(Categories(np.zeros((5, 2), dtype=np.int64)))
