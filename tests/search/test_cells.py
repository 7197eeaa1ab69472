"""Scores by cells: held against models that are fitted row by row, and graphs against the truth."""

from __future__ import annotations

import math
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from lmarvel import DAG, Auto, Knowledge, Lift, Mark, mag_to_pag
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load
from lmarvel.errors import OutOfTime
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG
from lmarvel.search.kinds.by_kind import lift_kinds
from lmarvel.search.kinds.cells import CellScores, cell_table, fits_cells, regret
from tests.effort import examples

pytestmark = pytest.mark.skipif(load() is None, reason="the engine is not built")

Table = dict[str, np.ndarray]


def drawn(seed: int, rows: int = 200) -> Table:
    """Draw two categories and three numbers that depend on their combinations."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    a[:2], b[:3] = (0, 1), (0, 1, 2)
    x = rng.normal(size=6)[2 * b + a] + rng.normal(size=rows)
    y = rng.normal(size=2)[a] * x + rng.normal(size=rows)
    return {"a": np.array(["n", "y"])[a], "b": np.array(["r", "s", "t"])[b], "x": x, "y": y, "z": rng.normal(size=rows)}


def scores_of(table: Table, penalty: float = 2.0) -> CellScores:
    data = Dataset.of(table)
    return cell_table(data, data.names, penalty).scores()


# --- the three models, one at a time --------------------------------------------------------------------------


def residual_variance(y: np.ndarray, design: list[np.ndarray]) -> float:
    matrix = np.column_stack([np.ones(len(y)), *design])
    return float(np.mean((y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]) ** 2) / y.var())


def indicators(codes: np.ndarray) -> list[np.ndarray]:
    return [(codes == value).astype(float) for value in np.unique(codes)[1:]]


def code(keys: np.ndarray, values: int) -> float:
    counts = np.unique(keys, axis=0, return_counts=True)[1]
    n = len(keys)
    return 2 * (regret(n, values) - float(sum(count * math.log(count / n) for count in counts)))


@examples(30)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]), st.integers(0, 31))
def test_a_number_has_the_best_of_three_regressions(seed: int, v: int, parents: int) -> None:
    """Lines and a mean in each cell, lines and effects that add up, or counts of thirds: each parameter costs log n."""
    table, parents = drawn(seed), parents & ~(1 << v)
    names, local, n = list(table), scores_of(table), 200
    for u in (2, 3, 4):  # values far out count by their normal scores
        table[names[u]] = local.table.basis[local.table.starts[u]]
    y, log = table[names[v]], math.log(200)
    others = [table[names[u]] for u in members(parents)]
    lines = [column for column in others if column.dtype.kind == "f"]
    levels = [column for column in others if column.dtype.kind == "U"]
    cells = np.unique(np.column_stack([np.zeros(n, dtype=int), *levels]).astype(str), axis=0, return_inverse=True)[1]
    cells = cells.reshape(-1)
    by_cell, added = indicators(cells), [column for each in levels for column in indicators(each)]
    candidates = [
        n * math.log(residual_variance(y, [*lines, *chosen])) + log * (len(lines) + len(chosen))
        for chosen in (by_cell, added)
    ]
    third = [((3 * rankdata(c) - 1.5) // n).astype(int) if c.dtype.kind == "f" else c for c in (y, *others)]
    sizes = [3 if column.dtype.kind == "f" else len(np.unique(column)) for column in (y, *others)]
    if math.prod(sizes) < n:
        keys = np.column_stack([np.asarray(c).astype(str) for c in third])
        alone = code(keys[:, :1], 3)
        candidates.append(
            code(keys, math.prod(sizes)) - (code(keys[:, 1:], math.prod(sizes[1:])) if others else 0) - alone
        )
    assert local.value(v, parents) == pytest.approx(min(candidates), rel=1e-8, abs=1e-6)


@examples(20)
@given(st.integers(0, 10_000))
def test_within_one_model_graphs_of_one_class_have_one_score(seed: int) -> None:
    local = scores_of(drawn(seed))
    for model in (0, 1):
        forth, back = (
            sum(local._told(parents)[model] - local._told(parents | 1 << v)[model] for v, parents in dag)
            for dag in ([(0, 0), (2, 0b1), (3, 0b101)], [(2, 0), (0, 0b100), (3, 0b101)])
        )
        assert forth == pytest.approx(back, rel=1e-10)


def test_additions_and_removals_follow_the_value() -> None:
    local = scores_of(drawn(1, 600))
    for v, parents in ((2, 0b00000), (2, 0b00001), (3, 0b00101), (0, 0b00100)):
        now, steps = local.additions(v, parents)
        assert now == local.value(v, parents)
        gains = {
            1 << u: now - local.value(v, parents | 1 << u) - local.price
            for u in range(5)
            if u != v and not parents >> u & 1
        }
        assert steps == sorted((u for u, gain in gains.items() if gain > 1e-9), key=lambda u: -gains[u])
    assert local.removal(4, 0b1000) == 0b1000
    assert local.removal(2, 0b0011) == 0


def test_an_edge_pays_what_goes_beyond_a_penalty_of_one() -> None:
    assert scores_of(drawn(0), 2.5).price == pytest.approx(1.5 * math.log(200))


def test_keys_are_the_same_however_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(3)
    asked = [(v, sum(1 << u for u in chosen)) for v in range(5) for chosen in combinations(set(range(5)) - {v}, 3)]
    expected = [scores_of(table).value(*one) for one in asked]
    monkeypatch.setattr("lmarvel.search.kinds.cells._REMEMBERED", 1)
    local = scores_of(table)
    assert [local.value(*one) for one in asked] == expected


def test_rows_of_equal_weight_count_as_without_weights() -> None:
    table = drawn(5)
    weighted = Dataset.of({**table, "w": np.full(200, 3.0)}, weights="w")
    same = cell_table(weighted, tuple(table), 2.0).scores()
    assert same.value(2, 0b11) == pytest.approx(scores_of(table).value(2, 0b11))


def test_ties_are_in_one_third_whatever_the_sign() -> None:
    """Half of the rows are 0: these are one third, and neither lose nor gain rows when the number is turned."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.5, 0.0, rng.gamma(2, size=300) + 0.5)
    y = np.array(["n", "y"])[((x > 0) & (x < 2)).astype(int)]
    plain, turned_round = (scores_of({"x": column, "y": y, "z": y[::-1]}) for column in (x, -x))
    codes = plain._codes[0]
    assert len(set(codes[x == 0])) == 1
    assert (turned_round._codes[0] == codes.max() - codes).all() or len(set(codes)) < 3
    assert plain.value(1, 0b1) == pytest.approx(turned_round.value(1, 0b1))


def test_unequal_weights_are_scaled_where_rows_are_left_out() -> None:
    rng = np.random.default_rng(0)
    columns = {name: np.array(["n", "y"])[rng.integers(0, 2, 6000)] for name in "ab"}
    weights = np.tile([0.2, 1.8], 3000)
    data = Dataset.of({**columns, "x": rng.normal(size=6000), "w": weights}, weights="w")
    local = cell_table(data, ("a", "b", "x"), 2.0, every=2).scores()
    assert local._weights.sum() == pytest.approx(local.n)
    assert local.value(0, 0b10) > 0  # independent: an edge explains nothing


# --- when they are taken --------------------------------------------------------------------------------------


def turned(rows: int, seed: int) -> Table:
    """Draw sex --> effect <-- drug --> cost and age --> effect: the drug helps one sex and harms the other."""
    rng = np.random.default_rng(seed)
    sex, drug = rng.integers(0, 2, (2, rows))
    age = rng.normal(size=rows)
    effect = np.where(sex == 1, 1.2, -1.0) * drug + 0.7 * age + rng.normal(size=rows)
    return {
        "sex": np.array(["f", "m"])[sex],
        "drug": np.array(["no", "yes"])[drug],
        "age": age,
        "effect": effect,
        "cost": drug + rng.normal(size=rows),
    }


TRUTH = DAG.from_edges("sex --> effect", "drug --> effect", "age --> effect", "drug --> cost")


@pytest.mark.parametrize("seed", range(3))
def test_what_only_a_combination_shows_is_learned(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = turned(1000, seed)
    truth = mag_to_pag(MAG.from_edges(*map(str, TRUTH.edges())))
    assert Auto().fit(table).pag_.reordered(truth.names) == truth
    monkeypatch.setattr("lmarvel.estimators.scoring.fits_cells", lambda data: False)
    assert Auto().fit(table).pag_.reordered(truth.names) != truth  # effects that add up nearly cancel


def test_relations_that_the_score_sees_are_no_doubt() -> None:
    """Of straight lines through several cells something bent is left, which says nothing against the graph."""
    found = Auto().fit(turned(1000, 0)).result_
    assert found.grounds.bends == ()
    assert found.verdict.supported == found.verdict.directions == 3


@pytest.mark.parametrize("kind", ["number", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_a_random_column_changes_nothing_there(seed: int, kind: str) -> None:
    table, rng = turned(1000, seed), np.random.default_rng([seed, 7])
    extra = rng.normal(size=1000) if kind == "number" else np.array(list("pqr"))[rng.integers(0, 3, 1000)]
    before, after = (Auto().fit(columns).pag_ for columns in (table, {**table, "extra": extra}))
    assert {str(edge) for edge in before.edges()} == {str(edge) for edge in after.edges()}


def test_one_family_with_more_cells_than_rows_decides_nothing() -> None:
    table, rng = turned(700, 0), np.random.default_rng(1)
    numbers = rng.normal(size=(6, 700))
    table |= {f"x{i}": column for i, column in enumerate(numbers)}
    table["z"] = np.where(numbers.sum(axis=0) > 0, "hi", "lo")
    assert fits_cells(Dataset.of(table))


def test_few_rows_are_left_to_indicators() -> None:
    rng = np.random.default_rng(0)
    columns = {name: np.array(["n", "y"])[rng.integers(0, 2, 300)] for name in "abcdefg"}
    whole = {**columns, "x": rng.normal(size=300)}
    assert [fits_cells(Dataset.of({name: column[:n] for name, column in whole.items()})) for n in (99, 100)] == [
        False,
        True,
    ]


def test_effects_that_add_up_are_left_to_indicators() -> None:
    rng = np.random.default_rng(0)
    group, x = rng.integers(0, 3, 1000), rng.normal(size=1000)
    table = {"group": np.array(["r", "s", "t"])[group], "x": x, "y": 0.8 * group + x + rng.normal(size=1000)}
    assert not fits_cells(Dataset.of(table))
    bent = {**table, "y": 0.8 * group + x**2 + rng.normal(size=1000)}
    assert not fits_cells(Dataset.of(bent))  # a bend is no combination


def test_a_number_among_many_categories_leaves_them_to_their_counts() -> None:
    rng = np.random.default_rng(0)
    columns = {name: np.array(["n", "y"])[rng.integers(0, 2, 300)] for name in "abcde"}
    number = {"x": rng.normal(size=300)}
    assert fits_cells(Dataset.of({**columns, **number}))
    assert not fits_cells(Dataset.of({**dict(list(columns.items())[:4]), **number}))
    assert not fits_cells(Dataset.of(columns))


# --- statements and time --------------------------------------------------------------------------------------


def test_knowledge_is_kept() -> None:
    known = Knowledge(
        tiers=[["effect"], ["sex", "drug", "age", "cost"]],
        edges=[("age", "cost")],
        no_edges=[("drug", "effect")],
        selection=False,
    )
    found = Lift(knowledge=known).fit(turned(1000, 0)).result_
    edges = [edge for late in ("sex", "drug", "age", "cost") if (edge := found.pag.edge("effect", late)) is not None]
    assert edges
    assert all(edge.at_b == Mark.ARROW for edge in edges)
    assert found.pag.edge("age", "cost") is not None
    assert found.pag.edge("drug", "effect") is None


def test_no_graph_by_the_deadline_is_said() -> None:
    data = Dataset.of(turned(1000, 0))
    with pytest.raises(OutOfTime):
        lift_kinds(cell_table(data, data.names, 2.0), deadline=time.monotonic() - 1.0)
