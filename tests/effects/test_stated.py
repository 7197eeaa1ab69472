"""Effects in a graph that a user states: a DAG, or an ADMG whose bidirected edges are unmeasured common causes."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from lmarvel import (
    ADMG,
    DAG,
    MAG,
    DataError,
    Dataset,
    GraphError,
    Mark,
    MixedGraph,
    adjustment_sets,
    all_effects,
    effect,
)
from lmarvel.effects import exported
from lmarvel.effects.formula import slope
from lmarvel.effects.pag_index import prepare
from lmarvel.errors import FormatError
from lmarvel.graph.projection import without_latent
from lmarvel.interchange.truth import read_stated
from tests.effects.models import Model, model_of


def random_admg(rng: np.random.Generator) -> tuple[ADMG, Model]:
    """Return the ADMG of a DAG without its latent variables, in which pairs can have two edges, and a linear model."""
    n = int(rng.integers(4, 9))
    names = [f"V{i}" for i in rng.permutation(n)]
    pairs = [pair for pair in combinations(names, 2) if rng.random() < 0.45]
    dag = DAG.from_edges(*(f"{a} --> {b}" for a, b in pairs), nodes=names)
    latent = names[: int(rng.integers(0, 3))]
    return ADMG(*without_latent(dag, latent)), model_of(dag, latent, rng)


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


def test_an_effect_given_others_has_the_value_that_setting_the_variable_gives() -> None:
    rng, found = np.random.default_rng(11), {"none": 0, "formula": 0, "not identified": 0}
    for _ in range(500):
        admg, model = random_admg(rng)
        if len(admg.names) < 4:
            continue
        names = admg.names
        x, y, *given = rng.permutation(len(names))[: int(rng.integers(3, 5))].tolist()
        told = effect(admg, names[x], names[y], given=[names[v] for v in given])
        found[told.status] += 1
        true = model.effect(x, y, given)
        if told.status == "none":
            assert true == pytest.approx(0.0, abs=1e-8)
        elif told.identified.formula is not None:
            assert slope(told.identified.formula, model.covariance, x, y) == pytest.approx(true, abs=1e-6)
    assert min(found.values()) > 5


def tian_identifies(admg: ADMG, x: str, y: str) -> bool:
    """Decide as Tian and Pearl do, on names: every district of what y needs has to come out of its own in the graph."""
    arrows = {(e.a, e.b) if e.at_b == Mark.ARROW else (e.b, e.a) for e in admg.edges if e.at_a != e.at_b}
    joined = {frozenset(e[:2]) for e in admg.edges if e.at_a == e.at_b}

    def ancestors(of: set[str], within: set[str]) -> set[str]:
        more = of | {a for a, b in arrows if b in of and a in within}
        return of if more == of else ancestors(more, within)

    def district(of: set[str], within: set[str]) -> set[str]:
        more = of | {v for v in within for w in of if frozenset((v, w)) in joined}
        return of if more == of else district(more, within)

    everything = set(admg.names)
    needed = ancestors({y}, everything - {x})
    for v in needed:
        wanted, outer = district({v}, needed), district({v}, everything)
        while (above := ancestors(wanted, outer)) != wanted:
            if above == outer:
                return False
            outer = district(wanted, above)
    return True


def test_no_formula_is_missed() -> None:
    rng = np.random.default_rng(5)
    found = {True: 0, False: 0}
    for _ in range(250):
        admg, _ = random_admg(rng)
        for told in all_effects(admg):
            identified = tian_identifies(admg, told.x, told.y)
            assert (told.status != "not identified") is identified, (admg.edges, told)
            found[identified] += 1
    assert min(found.values()) > 100


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
        (["X --> Y", "X <-> Y"], "not identified"),  # the bow
        (["Z --> X", "X --> Y", "X <-> Y"], "not identified"),  # an instrument, which needs a linear model
        (["Z --> X", "Z <-> X", "X --> Y", "Z --> Y"], "adjustment"),
        (["Z --> X", "Z <-> X", "X --> Y", "Z <-> Y"], "not identified"),
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
    told = effect(CONFOUNDED, "X", "Y")
    identified = "The effect of X on Y is identified in the graph you gave, and can be estimated by adjusting for Z."
    assert (told.sentence, told.badge) == (identified, "Identified")
    hidden = effect(ADMG.from_edges("X --> Z", "Z --> Y", "W --> Y", "X <-> W", "W <-> Z"), "X", "Y", range_table())
    assert hidden.sentence.startswith(
        "X causes Y in the graph you gave. The size of the effect is not identified, because"
    )
    assert "unmeasured ones as <->" in hidden.rests_on
    assert hidden.range is None


def test_a_stated_graph_has_no_grade_and_only_its_own_numbers_speak_against_it() -> None:
    for told in (effect(CONFOUNDED, "X", "Y", table()), effect(CONFOUNDED, "Y", "X"), effect(CONFOUNDED, "Z", "X")):
        assert (told.grade, told.cautions, told.reliable) == (None, (), True)
    wrong = effect(DAG.from_edges("W --> X", "X --> Y", "Z --> X"), "X", "Y", {**table(), "W": table()["Z"] ** 3})
    assert wrong.badge == "Identified, but unreliable"
    first, second = str(wrong).splitlines()[:2]
    assert first.startswith("Identified, but unreliable: valid sets disagree (adjusting for ")
    assert second.startswith("In the graph you gave, X affects Y by ")
    assert "learn" not in str(wrong)


def range_table() -> dict[str, np.ndarray]:
    return dict(zip("XZYW", np.random.default_rng(2).normal(size=(4, 100)), strict=True))


def test_a_variable_that_the_table_lacks_is_named_with_what_to_do() -> None:
    dag = DAG.from_edges("U --> X", "U --> Y", "X --> Y", "Z --> X")
    for data in (table(), Dataset.of(table())):
        with pytest.raises(DataError, match=r"no column 'U', which the graph has: .* write <-> between"):
            effect(dag, "X", "Y", data)


def test_graphs_that_cannot_be_read_say_what_to_do() -> None:
    with pytest.raises(GraphError, match=r"not from a MixedGraph: .*ADMG\.from_edges"):
        effect(MixedGraph.from_edges("X --> Y"), "X", "Y")  # type: ignore[arg-type]


def test_the_arrow_of_a_mag_may_still_hide_an_unmeasured_cause() -> None:
    assert effect(MAG.from_edges("X --> Y"), "X", "Y").status == "not identified"
    assert effect(DAG.from_edges("X --> Y"), "X", "Y").status == "adjustment"


def test_a_stated_graph_is_exported_as_it_is() -> None:
    assert exported(CONFOUNDED, "X", "Y").dag == CONFOUNDED
    assert exported(CONFOUNDED, "X", "Y").adjustment == ("Z",)
    assert len(exported(ADMG.from_edges("X --> Y", "X <-> Y"), "X", "Y").latent) == 1


def test_a_file_may_have_an_arrow_and_an_unmeasured_cause_of_one_pair(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# my graph\nZ --> X\nX --> Y  # known\nX <-> Y\n")
    found = read_stated(path)
    assert isinstance(found, ADMG)
    assert found.edges == ADMG.from_edges("Z --> X", "X --> Y", "X <-> Y").edges
    path.write_text("X --> Y\nY --> X\nX <-> Y\n")
    with pytest.raises(FormatError, match="line 2: Y and X have two edges"):
        read_stated(path)


def test_the_projection_keeps_an_arrow_and_an_unmeasured_cause_of_one_pair() -> None:
    dag = DAG.from_edges("U --> W", "W --> X", "U --> Y", "X --> L", "L --> Y")
    names, edges = without_latent(dag, ["U", "W", "L"])
    assert names == ("X", "Y")
    assert sorted(map(str, edges)) == ["X --> Y", "X <-> Y"]
