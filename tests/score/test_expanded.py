"""BIC on tables with levels: graphs of one class score the same, and the true class scores best."""

import numpy as np
import pytest

from lmarvel import DAG, M3HC, MAG, PAG, DataError, bic
from lmarvel.score.expanded import expanded
from lmarvel.simulate import MixedSEM, Study

CHAIN = DAG.from_edges("A --> B", "B --> C")
NAMES = ["A", "B", "C"]


def table(dag, rows=2000, seed=1):
    return MixedSEM.random(dag, {"B": "nominal", "C": "nominal"}, 4, seed=seed).sample(Study(dag), rows, seed=seed)


def test_graphs_of_one_class_score_the_same():
    data = table(CHAIN)
    members = [
        CHAIN,
        DAG.from_edges("B --> A", "B --> C", nodes=NAMES),
        MAG.from_edges("A --- B", "B --- C", nodes=NAMES),
        PAG.from_edges("A o-o B", "B o-o C", nodes=NAMES),
    ]
    scores = [bic(graph, data) for graph in members]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_true_class_scores_best(seed):
    data = table(CHAIN, seed=seed)
    others = [
        DAG.from_edges("A --> B", nodes=NAMES),
        DAG.from_edges("A --> B", "C --> B", nodes=NAMES),
        DAG.from_edges("A --> B", "B --> C", "A --> C", nodes=NAMES),
        MAG.from_edges("A <-> B", "B <-> C", nodes=NAMES),
    ]
    assert bic(CHAIN, data) < min(bic(graph, data) for graph in others)


def test_the_codes_and_the_order_of_columns_do_not_matter():
    data = table(CHAIN)
    other = {"C": np.array(["zyxw"["abcd".index(v)] for v in data["C"]]), "B": data["B"], "A": data["A"]}
    assert bic(CHAIN, other) == pytest.approx(bic(CHAIN, data), rel=1e-12)


def test_columns_of_a_variable_are_joined_and_stay_ancestral():
    graph = expanded(MAG.from_edges("A --- B", "C --> D"), [[0, 1], [2], [3], [4, 5]])
    assert str(graph).replace('"', "").splitlines()[1:] == [
        "A 1 --- A 2",
        "A 1 --- B",
        "A 2 --- B",
        "C --> D 1",
        "C --> D 2",
        "D 1 <-> D 2",
    ]


def test_m3hc_refuses_levels_and_names_the_method_that_takes_them():
    with pytest.raises(DataError, match="'B', 'C' has categories: use the method lift"):
        M3HC().fit(table(CHAIN, 300))
