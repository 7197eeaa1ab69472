"""Tables with fewer than two rows per column are learned by score, with more to pay for each edge."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import Auto, DataError, Discovery, Lift, LMarvel
from lmarvel.graph.metrics import Scores, compare_graphs
from lmarvel.orient.study import Study
from lmarvel.search.few_rows import price_of, usable
from lmarvel.search.lift import is_compiled
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

pytestmark = pytest.mark.skipif(not is_compiled(), reason="the package was built without a compiler")


def wide(seed: int, variables: int = 60, rows: int = 55) -> tuple[Study, dict[str, np.ndarray]]:
    study = hide(erdos_renyi(variables + 5, 2.0 / (variables + 4), seed=seed), 5, 0, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return study, dict(zip(study.observed, data.T, strict=True))


def scores(found: Discovery, study: Study) -> Scores:
    return compare_graphs(found.pag, study.pag)


def test_more_is_learned_than_by_tests_and_hardly_an_edge_is_false() -> None:
    right = {"lift": 0, "lmarvel": 0}
    found = 0
    for seed in range(3):
        study, table = wide(seed)
        by_score = scores(Lift(test="fisher-z").fit(table).result_, study)
        by_tests = scores(LMarvel().fit(table).result_, study)
        right["lift"] += by_score.marks.right
        right["lmarvel"] += by_tests.marks.right
        found += by_score.skeleton.found
        assert by_score.skeleton.precision > 0.8
        assert by_score.skeleton.recall > by_tests.skeleton.recall
    assert right["lift"] > 1.5 * right["lmarvel"]
    assert found > 100


def test_auto_takes_lift_and_says_what_an_edge_costs() -> None:
    _, table = wide(1)
    found = Auto(test="fisher-z").fit(table).result_
    assert found.settings["chosen"] == "lift: 55 rows are few for 60 columns, so each edge must improve the score more"
    assert found.evidence.chose is not None
    assert found.evidence.chose.price == pytest.approx(np.log(55) + 2 * np.log(60))
    shown = {name: column[:40] for name, column in table.items()}
    assert Auto(test="fisher-z").fit(shown).result_.settings["chosen"].startswith("lmarvel: 40 rows are few")


def test_a_copy_of_a_column_is_named_though_correlations_are_shrunk() -> None:
    _, table = wide(2)
    first, second = list(table)[:2]
    with pytest.raises(DataError, match=f"{first}|{second}"):
        Lift(test="fisher-z").fit(table | {second: -3 * table[first] + 1})


def test_nothing_changes_from_two_rows_per_variable_on() -> None:
    R = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert usable(R, 4) is R
    assert price_of(4, 2, 2.0) == 2 * np.log(4)
    assert usable(R, 3)[0, 1] < 0.5
    for rows in range(5, 400):  # few rows never make an edge cheaper
        assert price_of(rows, 200, 2.0) >= 2 * np.log(rows)
