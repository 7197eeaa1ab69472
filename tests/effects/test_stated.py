"""Effects in a graph that a user states: a DAG, or an ADMG whose bidirected edges are unmeasured common causes."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from lmarvel import ADMG, DAG, MAG, DataError, Dataset, GraphError, MixedGraph, adjustment_sets, all_effects, effect
from lmarvel.effects import exported
from lmarvel.effects.formula import slope
from lmarvel.effects.pag_index import prepare
from tests.effects.models import Model, model_of


def random_admg(rng: np.random.Generator) -> tuple[ADMG, Model]:
    """Return an ADMG with one edge per pair, and a linear model of it."""
    n = int(rng.integers(3, 7))
    names = [f"V{i}" for i in rng.permutation(n)]
    edges = [
        f"{a} {'-->' if rng.random() < 0.7 else '<->'} {b}" for a, b in combinations(names, 2) if rng.random() < 0.6
    ]
    admg = ADMG.from_edges(*edges, nodes=names)
    dag, latent = admg.canonical_dag()
    model = model_of(dag, latent, rng)
    return admg, model._replace(observed=[dag.index(name) for name in names])


def test_whatever_is_identified_has_the_value_that_setting_the_variable_gives() -> None:
    rng, found = np.random.default_rng(3), {"none": 0, "adjustment": 0, "formula": 0, "not identified": 0}
    for _ in range(250):
        admg, model = random_admg(rng)
        ready = prepare(admg)
        for told in all_effects(ready):
            i, j = ready.graph.index(told.x), ready.graph.index(told.y)
            true = model.effect(i, j)
            found[told.status] += 1
            if told.status == "none":
                assert true == pytest.approx(0.0, abs=1e-9)
            elif told.formula is not None:
                assert slope(told.formula, model.covariance, i, j) == pytest.approx(true, abs=1e-6)
    assert min(found.values()) > 20


def test_every_effect_in_a_dag_is_identified_by_adjustment() -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        pairs = [pair for pair in combinations("ABCDEF", 2) if rng.random() < 0.5]
        dag = DAG.from_edges(*(f"{a} --> {b}" for a, b in pairs), nodes=list("ABCDEF"))
        assert {told.status for told in all_effects(dag)} <= {"none", "adjustment"}
        for x, y in permutations("ABCDEF", 2):
            causal = y in dag.descendants(x)
            assert (effect(dag, x, y).status == "adjustment") is causal
            if causal:
                assert frozenset(dag.parents(x)) in set(adjustment_sets(dag, x, y, minimal=False))


@pytest.mark.parametrize(
    ("edges", "status"),
    [
        (["X --> M", "M --> Y", "X <-> Y"], "formula"),  # the front door
        (["Z --> X", "X --> Y", "Z <-> Y"], "adjustment"),
        (["W --> Z", "Z --> X", "X --> Y", "W <-> X", "W <-> Y"], "formula"),  # the napkin
        (["X --> M", "M --> Y", "X <-> M2", "M2 --> M", "M2 <-> Y"], "formula"),
        (["X --> Z", "Z --> Y", "W --> Y", "X <-> W", "W <-> Z"], "not identified"),
    ],
)
def test_textbook_graphs(edges: list[str], status: str) -> None:
    assert effect(ADMG.from_edges(*edges), "X", "Y").status == status


def table(rows: int = 500) -> dict[str, np.ndarray]:
    z, e, f = np.random.default_rng(1).normal(size=(3, rows))
    x = z + e
    return {"Z": z, "X": x, "Y": 0.5 * x + z + f}


CONFOUNDED = DAG.from_edges("Z --> X", "Z --> Y", "X --> Y")


def test_a_dag_of_the_user_gives_a_number_and_says_whose_graph_it_is() -> None:
    told = effect(CONFOUNDED, "X", "Y", table())
    assert told.identified.adjustment == ("Z",)
    assert told.value == pytest.approx(0.5, abs=0.15)
    assert "in the graph you gave" in told.sentence
    assert "This rests on the graph you gave being right" in told.rests_on
    assert "in it and measured" in told.rests_on
    assert "learn" not in str(told)
    assert "explanation" not in str(told)


def test_no_effect_and_no_number_are_of_the_graph_as_well() -> None:
    assert effect(CONFOUNDED, "Y", "X").sentence.startswith("Y does not affect X in the graph you gave: ")
    assert "can be estimated in the graph you gave by adjusting for Z" in effect(CONFOUNDED, "X", "Y").sentence
    hidden = effect(ADMG.from_edges("X --> Z", "Z --> Y", "W --> Y", "X <-> W", "W <-> Z"), "X", "Y", range_table())
    assert hidden.sentence.startswith("X affects Y in the graph you gave, but by how much cannot be told")
    assert "unmeasured ones as <->" in hidden.rests_on
    assert hidden.range is None


def range_table() -> dict[str, np.ndarray]:
    return dict(zip("XZYW", np.random.default_rng(2).normal(size=(4, 100)), strict=True))


def test_a_variable_that_the_table_lacks_is_named_with_what_to_do() -> None:
    dag = DAG.from_edges("U --> X", "U --> Y", "X --> Y", "Z --> X")
    for data in (table(), Dataset.of(table())):
        with pytest.raises(DataError, match="no column 'U', which the graph has: .* write <-> between"):
            effect(dag, "X", "Y", data)


def test_graphs_that_cannot_be_read_say_what_to_do() -> None:
    with pytest.raises(GraphError, match=r"X and Y have an arrow and an unmeasured common cause.* dag\.project"):
        effect(ADMG.from_edges("X --> Y", "X <-> Y"), "X", "Y")
    with pytest.raises(GraphError, match=r"not from a MixedGraph: .*ADMG\.from_edges"):
        effect(MixedGraph.from_edges("X --> Y"), "X", "Y")  # type: ignore[arg-type]


def test_the_arrow_of_a_mag_may_still_hide_an_unmeasured_cause() -> None:
    assert effect(MAG.from_edges("X --> Y"), "X", "Y").status == "not identified"
    assert effect(DAG.from_edges("X --> Y"), "X", "Y").status == "adjustment"


def test_a_stated_graph_is_exported_as_it_is() -> None:
    assert exported(CONFOUNDED, "X", "Y").dag == CONFOUNDED
    assert exported(CONFOUNDED, "X", "Y").adjustment == ("Z",)
