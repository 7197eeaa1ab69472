"""Lift over groups of columns: with one column each it is Lift without hidden nodes, with more it finds the truth."""

from collections.abc import Sequence

import numpy as np
import pytest

from lmarvel import DataError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.metrics import compare_graphs
from lmarvel.search.kinds.grouped import Groups
from lmarvel.search.kinds.grouped_lift import LiftSearch, lift_groups
from lmarvel.search.lift import canonical_order, lift
from lmarvel.search.record import OutOfTime, Record
from lmarvel.simulate import LinearSEM, MixedSEM, erdos_renyi, hide
from tests.reference.lift.stages import ReadableStages


def expanded(columns):
    """Indicators for text, numbers as they are."""
    blocks, places, at = [], [], 0
    for column in columns.values():
        if column.dtype.kind == "U":
            levels = np.unique(column)[1:]
            part = np.stack([column == level for level in levels], axis=1).astype(float)
        else:
            part = column[:, None].astype(float)
        blocks.append(part)
        places.append(tuple(range(at, at + part.shape[1])))
        at += part.shape[1]
    return np.corrcoef(np.hstack(blocks).T), tuple(places)


@pytest.mark.parametrize("seed", range(3))
def test_single_columns_give_what_lift_finds_without_hidden_nodes(seed):
    study = hide(erdos_renyi(12, 0.25, seed=seed), 1, seed % 2, seed=seed)
    R = np.corrcoef(LinearSEM.random(study.dag, seed=seed).sample(study, 600, seed=seed).T)
    found = lift_groups(Groups(R, tuple((c,) for c in range(len(R))), 600, 2.0))
    columns = canonical_order(R)
    record = Record(600)
    ordered = R[np.ix_(columns, columns)]
    search = LiftSearch(ReadableStages(ordered, 600, 2 * np.log(600), record), True, True, record)
    search.run(None)
    expected = search.result(columns)
    assert found.score == pytest.approx(expected.score, abs=1e-5)
    np.testing.assert_array_equal(found.pag, expected.pag)


def test_levels_are_better_seen_as_groups_than_as_numbers():
    grouped, coded = [], []
    for seed in range(5):
        study = hide(erdos_renyi(12, 0.15, seed=seed), 1, 0, seed=seed)
        model = MixedSEM.random(study.dag, ["continuous", "nominal"], 4, seed=seed)
        table = model.sample(study, 2000, seed=seed)
        R, columns = expanded(table)
        truth = model.truth(study).pag
        found = lift_groups(Groups(R, columns, 2000, 2.0))
        numbers = np.stack([np.unique(c, return_inverse=True)[1] if c.dtype.kind == "U" else c for c in table.values()])
        plain = lift(np.corrcoef(numbers), 2000)
        grouped.append(compare_graphs(PAG._trusted(truth.names, found.pag), truth).skeleton.f1)
        coded.append(compare_graphs(PAG._trusted(truth.names, plain.pag), truth).skeleton.f1)
    assert np.mean(grouped) > np.mean(coded) + 0.05
    assert np.mean(grouped) > 0.8


def test_the_order_of_variables_does_not_matter():
    rng = np.random.default_rng(2)
    study = hide(erdos_renyi(9, 0.3, seed=2), 1, 0, seed=2)
    table = MixedSEM.random(study.dag, ["continuous", "nominal"], seed=2).sample(study, 800, seed=2)
    R, columns = expanded(table)
    found = lift_groups(Groups(R, columns, 800, 2.0))
    order = rng.permutation(len(columns))
    turned = lift_groups(Groups(R, tuple(columns[v] for v in order), 800, 2.0))
    np.testing.assert_array_equal(turned.pag, found.pag[np.ix_(order, order)])
    assert turned.score == pytest.approx(found.score)


def test_what_cannot_be_scored_is_refused():
    R = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    with pytest.raises(DataError, match="the variable number 1 is determined by those before it"):
        lift_groups(Groups(R, ((0,), (1,), (2,)), 100, 2.0))
    with pytest.raises(DataError, match="4 rows are too few for 3 columns"):
        lift_groups(Groups(np.eye(3), ((0,), (1, 2)), 4, 2.0))
    with pytest.raises(OutOfTime):
        lift_groups(Groups(np.eye(3), ((0,), (1, 2)), 100, 2.0), deadline=0.0)


def test_a_test_takes_away_edges_of_triangles_that_have_a_category() -> None:
    """Whatever the test says, a triangle of numbers alone stays as the score has it."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 2000))
    columns = np.array([a, a + b, 2 * a + (a + b) + c])  # a triangle
    groups = Groups(np.corrcoef(columns), ((0,), (1,), (2,)), n=2000, penalty=2.0)

    def independent(x: int, y: int, given: Sequence[int]) -> float:
        return float(sorted((x, y)) == [0, 2] and list(given) == [1])

    def joined(among: list[int]) -> bool:
        return bool(lift_groups(groups, pvalue=independent, among=among).pag[0, 2])

    assert [joined(among) for among in ([], [1], [0])] == [True, False, False]
