"""Lift on tables of categories: scores held against the formula cell by cell, and graphs against the truth."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, Knowledge, Lift, Mark, mag_to_pag
from lmarvel.ci.glm.kinds import MOST_COUNTED, KindTable, kind_table
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load
from lmarvel.errors import DataError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG
from lmarvel.search.kinds.by_kind import lift_kinds
from tests.effort import examples
from tests.reference.kinds import regret

pytestmark = pytest.mark.skipif(load() is None, reason="the engine is not built")


def by_hand(table: KindTable, v: int, parents: int) -> float:
    """Return twice the length of the code of the counts, configuration by configuration."""
    sizes, n = table.categories.tolist(), table.codes.shape[1]
    others, r = list(members(parents)), sizes[v]
    weights = np.ones(n) if table.weights is None else table.weights
    total = 0.0
    for values in product(*(range(sizes[u]) for u in others)):
        here = np.all([table.codes[u] == value for u, value in zip(others, values, strict=True)], axis=0)
        here = np.broadcast_to(here, n)
        counts = [float(weights[here & (table.codes[v] == k)].sum()) for k in range(r)]
        total -= sum(count * math.log(count / sum(counts)) for count in counts if count)
    configurations = math.prod(sizes[u] for u in others)
    return 2 * (total + regret(weights.sum(), configurations * r) - regret(weights.sum(), configurations))


def drawn(seed: int, rows: int = 60, weighted: bool = False) -> KindTable:
    rng = np.random.default_rng(seed)
    columns = {
        name: [f"k{i}" for i in (*range(size), *rng.integers(0, size, rows - size))]
        for name, size in zip("abcd", rng.integers(2, 5, 4), strict=True)
    }
    weights = {"w": rng.uniform(0.5, 2.0, rows)} if weighted else {}
    data = Dataset.of({**columns, **weights}, weights="w" if weighted else None)
    return kind_table(data, data.names, 2.5)


@examples(60)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 15), st.booleans())
def test_the_score_is_the_length_of_the_code_of_the_counts(seed: int, v: int, parents: int, weighted: bool) -> None:
    table, parents = drawn(seed, weighted=weighted), parents & ~(1 << v)
    value, bends = table.scores().value(v, members(parents))
    assert value == pytest.approx(by_hand(table, v, parents), rel=1e-10)
    assert bends == ()


@examples(30)
@given(st.integers(0, 10_000), st.booleans())
def test_graphs_of_one_class_have_one_score(seed: int, weighted: bool) -> None:
    scores = drawn(seed, weighted=weighted).scores()
    one, other = ({0: (), 1: (0,), 2: (0, 1), 3: (1,)}, {1: (), 0: (1,), 2: (0, 1), 3: (1,)})
    totals = [sum(scores.value(v, parents)[0] for v, parents in dag.items()) for dag in (one, other)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-10)


def test_edges_of_categories_pay_what_goes_beyond_a_penalty_of_two() -> None:
    """Counts pay for their parameters themselves, as much as a penalty of 2 asks."""
    table = drawn(0)
    assert table.prices["edge"] == table.prices["category"] == pytest.approx(0.5 * math.log(60))


def test_the_rarest_of_many_categories_are_taken_together() -> None:
    names = [f"k{i}" for i in range(MOST_COUNTED + 50)]
    data = Dataset.of({"a": names * 2, "b": ["x", "y"] * len(names)})
    table = kind_table(data, data.names, 2.0)
    assert table.categories.tolist() == [MOST_COUNTED, 2]
    assert table.scores().value(0, (1,))[0] == pytest.approx(by_hand(table, 0, 0b10), rel=1e-10)


# --- graphs ---------------------------------------------------------------------------------------------------


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
    data = Dataset.of({"a": ["x", "y", "x", "y", "x"], "b": ["x"] * 5})
    with pytest.raises(DataError, match="'b' has one category"):
        kind_table(data, data.names, 2.0)


def test_one_row_is_not_scored() -> None:
    data = Dataset.of({"a": ["x", "y"], "b": ["x", "y"], "w": [1.0, 1e-3]}, weights="w")
    with pytest.raises(DataError, match="two rows"):
        lift_kinds(kind_table(data, data.names, 2.0))
