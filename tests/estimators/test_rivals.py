"""No method that is as fast gives a graph whose score, in the score that fits the table, beats the answer of Lift."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lmarvel import Lift, LMarvel, LMarvelError, pag_to_mag
from lmarvel.ci.glm.kinds import KindTable
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.estimators.scoring import rivals_of, scored_table
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.kinds.by_kind import KindStages
from lmarvel.search.lift import is_compiled
from lmarvel.search.orders import Order
from lmarvel.search.record import Record
from lmarvel.simulate import AdditiveSEM, erdos_renyi, hide

pytestmark = pytest.mark.skipif(not is_compiled(), reason="the package was built without a compiler")
TESTS = {"skewed": {"noise": "exponential"}, "curved": {"function": "tanh"}}


def table_of(kind: str, seed: int, rows: int = 500) -> Dataset:
    study = hide(erdos_renyi(8, 0.3, seed=seed), 1, 0, seed=seed)
    values = AdditiveSEM.random(study.dag, seed=seed, **TESTS[kind]).sample(study, rows, seed=seed)  # type: ignore[arg-type]
    return Dataset.of(dict(zip(study.observed, values.T, strict=True)))


def stages_of(kind: str, data: Dataset) -> KindStages:
    table = scored_table(as_ci_test(kind, data), data, 2.0)
    assert isinstance(table, KindTable)
    return KindStages(table, Record(table.rows, math.inf, None), None, None)


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("seed", range(4))
def test_no_graph_of_correlations_scores_better(kind: str, seed: int) -> None:
    data = table_of(kind, seed)
    stages, found = stages_of(kind, data), Lift(test=kind).fit(data)
    graphs: list[Marks] = []
    for other in (LMarvel(), Lift(test="fisher-z", latents=False, selection=False)):
        try:
            graphs.append(np.asarray(pag_to_mag(other.fit(data).pag_).marks))
        except LMarvelError:  # a PAG of tests need not be legal
            continue
    assert graphs
    assert all(found.bic_ <= stages.score(AncestralGraph.of_marks(marks)) + 1e-6 for marks in graphs)


def test_a_search_that_ends_badly_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table_of("skewed", 1)
    p, usual = len(data.names), Lift(test="skewed").fit(data)

    def empty(stages: KindStages, more: object, see: object) -> Order:
        return Order([], [0] * p, stages.score(AncestralGraph.of_parents([0] * p)))

    monkeypatch.setattr(KindStages, "orders", empty)
    found = Lift(test="skewed").fit(data)
    assert found.result_.evidence.chose is not None
    assert found.result_.evidence.chose.stage == "lines"
    assert found.result_.pag.n_edges > 0
    assert usual.bic_ <= found.bic_ + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_no_turned_edge_within_the_class_scores_better(seed: int) -> None:
    data = table_of("skewed", seed)
    stages = stages_of("skewed", data)
    graph, score = stages.climb(AncestralGraph.of_marks(lines_of(data)), False, False)
    assert score == pytest.approx(stages.score(graph))
    assert score <= stages.score(AncestralGraph.of_marks(lines_of(data)))
    for y in range(len(graph)):
        for x in range(len(graph)):
            if graph.parents[y] >> x & 1 and graph.parents[y] == graph.parents[x] | 1 << x:
                turned = list(graph.parents)
                turned[y] ^= 1 << x
                turned[x] |= 1 << y
                assert score <= stages.score(AncestralGraph.of_parents(turned)) + 1e-5


def lines_of(data: Dataset) -> Marks:
    found = rivals_of(data, data.names, 2.0, 0.01, math.inf).lines
    assert found is not None
    return found


def test_rivals_stand_in_the_order_of_the_names() -> None:
    data = table_of("skewed", 0)
    names = data.names[::-1]
    one, other = (rivals_of(data, order, 2.0, 0.01, math.inf) for order in (data.names, names))
    assert one.lmarvel is not None
    assert other.lmarvel is not None
    assert np.array_equal(one.lmarvel[::-1, ::-1], other.lmarvel)
    assert np.array_equal(lines_of(data)[::-1, ::-1], other.lines)  # type: ignore[arg-type]


def test_tables_with_gaps_or_of_both_kinds_have_none() -> None:
    gaps = {"a": [1.0, None, 3.0, 2.0], "b": [2.0, 1.0, 4.0, 5.0]}
    words = {"a": ["x", "y", "x", "z"], "b": [2.0, 1.0, 4.0, 5.0]}
    for table in (gaps, words):
        assert rivals_of(Dataset.of(table), ("a", "b"), 2.0, 0.01, math.inf).lines is None


def test_tables_of_categories_begin_with_the_graph_of_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, size=(2, 2000))
    c = np.where(rng.random(2000) < 0.5, a, b)
    data = Dataset.of({name: np.array(list("xyz"))[column] for name, column in zip("abc", (a, b, c), strict=True)})
    usual = Lift().fit(data)

    def empty(stages: KindStages, more: object, see: object) -> Order:
        return Order([], [0] * 3, stages.score(AncestralGraph.of_parents([0] * 3)))

    monkeypatch.setattr(KindStages, "orders", empty)
    monkeypatch.setattr(KindStages, "climb", lambda stages, graph, *_: (graph, stages.score(graph)))
    found = Lift().fit(data)
    assert found.result_.evidence.chose is not None
    assert found.result_.evidence.chose.stage == "start"
    assert usual.bic_ <= found.bic_ + 1e-6
