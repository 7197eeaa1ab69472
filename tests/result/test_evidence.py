"""What a result says of how well it is supported: by itself, in explanations, text, files and the report."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, M3HC, MAG, PAG, Discovery, Lift, LMarvel, MSeparation, Statistics, mag_to_pag
from lmarvel.cli.text import as_text
from lmarvel.deferred import Deferred
from lmarvel.errors import GraphError, ParameterError
from lmarvel.orient.equivalence import orient_mag
from lmarvel.report import page_of
from lmarvel.result.evidence_wording import hidden_node
from lmarvel.result.support.evidence import refused_nodes, selected_edges
from lmarvel.result.support.grounds import Grounds
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, RefusedNode, Supported, Weighed

PRICE = 14.0


def scored(*edges: str, records: tuple[Event, ...] = (), gain: float | None = 0.0) -> Discovery:
    """Return a result as Lift gives it, with records of one's own."""
    mag = MAG.from_edges(*edges)
    pag = mag_to_pag(mag)
    trace = (Chose("lift", 100.0, PRICE, gain), *records, *orient_mag(mag).log)
    settings = {"method": "Lift", "alpha": 0.01, "boundary": "none", "boundary_alpha": 0.01, "rows": 1096}
    return Discovery(pag, {}, {}, Statistics({}, {}), trace, settings, mag=mag, bic=100.0)


NODE = HiddenNode("latent", frozenset({0, 1, 2}), 34.13)
RECORDS = (
    Weighed(0, 1, 34.16, frozenset(), 3e-12),
    Weighed(2, 1, 12.0, frozenset({3}), 0.31),
    LeftOut(0, 2, 9.41, frozenset(), 0.31),
    LeftOut(0, 3, 0.0, frozenset({1}), 0.004),
    Supported(0, 1, 41.9),  # of 42, three penalties
    Supported(2, 1, 42.0),
    Supported(3, 1, 2.0),
    Supported(1, 3, None),
)


def chain(*more: Event) -> Discovery:
    """A o-> B <-o C and B --> D: A at 0, B at 1, C at 2, D at 3."""
    return scored("A --> B", "C --> B", "B --> D", records=(*RECORDS, *more))


def hidden_chain() -> Discovery:
    return chain(NODE)


@cache
def ring(rows: int = 2000) -> Discovery:
    """Four variables in a ring that only selection explains."""
    K = np.eye(4) + 0.35 * np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    X = np.random.default_rng(3).multivariate_normal(np.zeros(4), np.linalg.inv(K), size=rows)
    return Lift().fit(dict(zip("ABCD", X.T, strict=True))).result_


@cache
def factor(rows: int = 2000) -> Discovery:
    """Six variables with one unmeasured cause."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=rows)
    return Lift().fit({name: u + 0.8 * rng.normal(size=rows) for name in "ABCDEF"}).result_


# --- the result -------------------------------------------------------------------------------------------


def test_support_is_told_for_each_end() -> None:
    found = chain()
    assert found.support("A", "B") == {"A": None, "B": 41.9}
    assert found.support("D", "B") == {"D": math.inf, "B": 2.0}
    with pytest.raises(GraphError, match="A and C are not adjacent"):
        found.support("A", "C")


def test_each_mark_has_the_grade_of_its_own_distance() -> None:
    found = chain()
    assert found.grades.basis == "score"
    assert {a + b: found.grade(a, b) for e in found.pag.edges() for a, b in ((e.a, e.b), (e.b, e.a))} == {
        "AB": "open",  # 41.9 of 42
        "BA": None,  # circles say nothing
        "CB": "likely",  # 42 of 42
        "BC": None,
        "BD": "likely",  # no other was met
        "DB": "open",  # 2 of 42
    }
    assert scored("A --> B", "B --> C").grade("A", "B") is None


def test_the_graph_to_show_has_circles_for_weak_marks() -> None:
    found = chain()
    assert found.shown("all") == found.pag
    assert found.shown() == PAG.from_edges("A o-o B", "C o-> B", "B o-> D", nodes=[*"ABCD"])
    assert found.shown("firm") == PAG.from_edges("A o-o B", "C o-o B", "B o-o D", nodes=[*"ABCD"])
    with pytest.raises(ParameterError, match="marks must be one of all, supported, firm, not 'sure'"):
        found.shown("sure")  # type: ignore[arg-type]


def test_where_hidden_nodes_are_at_work_every_mark_is_open() -> None:
    records = (Supported(0, 1, 45.0), Supported(2, 1, 13.0), Supported(3, 1, 75.0), Supported(1, 3, None))
    for hidden, grades in (((), ["likely", "open", "likely", "likely"]), ((NODE,), ["open"] * 4)):
        found = scored("A --> B", "C --> B", "B --> D", records=(*records, *hidden))
        assert [found.grade(a, b) for a, b in ("AB", "CB", "BD", "DB")] == grades


def test_refused_nodes_are_listed_unless_they_explain_one_edge_only() -> None:
    of_two, of_three = frozenset({0, 1}), frozenset({0, 1, 2})
    refused = [RefusedNode(kind, nodes) for kind in ("latent", "selection") for nodes in (of_two, of_three)]
    found = chain(*refused)
    assert refused_nodes(found) == (("latent", tuple("AB")), ("latent", tuple("ABC")), ("selection", tuple("ABC")))
    assert refused_nodes(chain(RefusedNode("selection", of_two))) == ()
    lines = as_text(found).partition("\nNot claimed\n")[2].partition("\n\n")[0].splitlines()
    assert [line.partition(":")[0].strip() for line in lines] == ["A and B", "A, B and C", "A, B and C"]
    assert "Not claimed" not in as_text(chain(RefusedNode("selection", of_two)))


def test_a_mark_that_nobody_weighed_is_unchecked() -> None:
    found = scored("A --> B", "C --> B")  # the time limit was reached
    assert found.grade("A", "B") == "unchecked"
    assert found.shown() == PAG.from_edges("A o-o B", "C o-o B", nodes=[*"ABC"])
    assert "Direction not checked (time limit); the best-scoring graph has A o-> B." in found.describe("A", "B")


def test_methods_without_records_say_what_they_said() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    data = {"A": a, "B": b, "C": a + b + rng.normal(size=500)}
    for method in (M3HC(), LMarvel()):
        found = method.fit(data).result_
        assert found.support("A", "C") == {"A": None, "C": None}
        assert found.grades.basis == "resamples"
        assert found.hidden == ()
        assert found.selection_gain is None
        assert "score" not in "".join(str(found.explain("A", "C")).split("Edge: in")[1:])
        unsampled = replace(found, later_grounds=Deferred.of(Grounds()))
        assert (unsampled.grades.basis, unsampled.grade("A", "C")) == ("none", "unchecked")
    assert "the search by score chose it" in str(M3HC().fit(data).result_.explain("A", "C"))
    assert "the search by score left the edge out" in str(M3HC().fit(data).result_.explain("A", "B"))


def test_hidden_nodes_are_told_by_name() -> None:
    assert hidden_chain().hidden == (("latent", ("A", "B", "C"), 34.13),)
    found = factor()
    (node,) = found.hidden
    assert node[:2] == ("latent", tuple("ABCDEF"))
    assert node[2] > 100


def test_hidden_nodes_in_words() -> None:
    assert hidden_node("latent", tuple("ABCDE"), 34.13) == (
        "A, B, C, D and E: one unmeasured cause of these five fits (without it the score worsens by 34.1)"
    )
    assert hidden_node("selection", tuple("ABCD"), 0.0) == (
        "A, B, C and D: a sample selected on these four fits (without it the score is as good)"
    )


@pytest.mark.parametrize("make", [chain, hidden_chain, ring, factor])
def test_everything_comes_back_from_a_file(make: Any, tmp_path: Any) -> None:
    found = make()
    found.save(tmp_path / "r.json")
    back = Discovery.load(tmp_path / "r.json")
    assert back == found
    assert back.hidden == found.hidden
    assert as_text(replace(back, stats=Statistics({"x": {}}, {}))) == as_text(
        replace(found, stats=Statistics({"x": {}}, {}))
    )
    for edge in found.pag.edges():
        assert back.support(edge.a, edge.b) == found.support(edge.a, edge.b)
        assert str(back.explain(edge.a, edge.b)) == str(found.explain(edge.a, edge.b))
    kinds = {event["event"] for event in json.loads((tmp_path / "r.json").read_text())["trace"]}
    assert "chose" in kinds


# --- explanations -----------------------------------------------------------------------------------------


def test_an_edge_cites_score_and_test() -> None:
    told = chain().explain("A", "B")
    assert told.adjacency.text == "Edge: removing it worsens the score by 34.2; p = 3e-12 given nothing"
    assert told.adjacency.event == RECORDS[0]
    weak = chain().explain("C", "B").adjacency.text
    assert weak.endswith("p = 0.31 given D; a test at 0.01 alone would not show the edge")


def test_a_gap_cites_the_set_the_test_and_the_score() -> None:
    told = chain().explain("A", "C").adjacency
    assert told.text == (
        "No edge: A and C: the graph implies independence given nothing (p = 0.31); the best graph with the edge is"
        " worse by 9.4"
    )
    assert told.event == RECORDS[2]
    against = chain().explain("A", "D").adjacency.text
    assert "(p = 0.004, though a test at 0.01 alone would say dependent)" in against
    assert against.endswith("the best graph with the edge is as good")


def test_a_mark_says_how_firm_it_is_and_the_meaning_too() -> None:
    told = chain().explain("C", "B")
    assert told.marks[1].text.endswith("; another mark here worsens the score by 42.0 (an edge costs 14.0)")
    assert told.meaning.startswith("B probably does not cause C. C may cause B")
    told = chain().explain("B", "D")
    assert told.meaning.startswith("D probably does not cause B. B may cause D")
    assert told.meaning.endswith(" Direction not established (the best-scoring graph has B --> D).")
    assert told.marks[1].text.endswith("no graph that was met has another mark here")
    told = chain().explain("A", "B")
    assert told.meaning.startswith("associated whichever measured variables are held fixed.")
    assert told.meaning.endswith(" Direction not established (the best-scoring graph has A o-> B).")


def test_selection_is_told_with_what_speaks_for_it() -> None:
    found = ring()
    gain = found.evidence.chose.selection_gain
    assert set(map(str, found.pag.edges())) == {"A --- B", "A --- D", "B --- C", "C --- D"}
    assert gain > 10
    said = f"the best graph without selection is worse by {gain:,.1f}"
    assert said in found.explain("A", "B").meaning.lower()
    assert f"Sample selection: {said}" in as_text(found)
    assert f"Sample selection: {said}" in page_of(found)["hidden"]
    assert "or a test erred" not in as_text(found) + str(found.explain("A", "B"))
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    weighed = tuple(Supported(x, y, None) for pair in pairs for x, y in (pair, pair[::-1]))
    unmet = scored("A --- B", "B --- C", "C --- D", "A --- D", records=weighed, gain=None)
    assert unmet.describe_edge("A", "B").startswith("sample selection: both probably affect who is in the sample.")
    assert "No graph without selection was met." in unmet.describe_edge("A", "B")


def test_where_tests_decided_selection_may_be_an_error() -> None:
    K = np.eye(4) + 0.35 * np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    X = np.random.default_rng(4).multivariate_normal(np.zeros(4), np.linalg.inv(K), size=3000)
    found = LMarvel().fit(dict(zip("ABCD", X.T, strict=True))).result_
    assert found.explain("A", "B").meaning == "sample selection: both affect who is in the sample, or a test erred."
    assert any(note.startswith("4 edges speak of selection, or a test erred") for note in found.notes)
    assert "or a test erred" in as_text(found)


def test_a_tail_that_selection_gave_is_marked_too() -> None:
    """R6 writes the tail at C of C --> E, behind the ring."""
    edges = ("A --- B", "B --- C", "C --- D", "A --- D", "C --> E")
    mag = MAG.from_edges(*edges)
    found = Discovery(mag_to_pag(mag), {}, {}, Statistics({}, {}), orient_mag(mag).log, {"test": "fisher-z"})
    assert any(use.rule == "R6" for use in found.rules)
    assert found.describe_edge("C", "E").endswith(", or a test erred.")


def test_an_oracle_does_not_err_and_what_was_ruled_out_is_not_spoken_of() -> None:
    dag = DAG.from_edges("A --> S", "B --> S", "B --> T", "C --> T", "C --> U", "D --> U", "D --> V", "A --> V")
    exact = LMarvel(test=MSeparation(dag, selection=[*"STUV"])).fit().result_
    assert exact.describe_edge("A", "B") == "sample selection: both affect who is in the sample."
    assert not any("erred" in note for note in exact.notes)
    ruled_out = replace(exact, settings={**exact.settings, "test": "fisher-z", "selection": False})
    assert "erred" not in ruled_out.describe_edge("A", "B")


# --- text and report --------------------------------------------------------------------------------------


def test_the_text_has_a_column_of_grades_and_the_hidden_nodes() -> None:
    found = replace(chain(), stats=Statistics({"x": {0: 1}}, {"search": 1.0}))
    text = as_text(found, details=True)
    for line in ("A o-o B", "C o-> B   likely", "B o-> D   likely"):
        assert re.search(rf"^  {line}$", text, re.MULTILINE)
    assert re.search(r"^  B --> D   open; likely$", as_text(found, marks="all"), re.MULTILINE)
    assert "\nGrades\n  likely    another mark worsens the score by three penalties per edge (a tail by five)" in text
    assert "resamples" not in text
    assert "\nGrades\n" not in as_text(found)
    assert "Score    100.0 (stage lift; penalty 14.0 per edge)" in text
    assert "Hidden nodes" not in text
    assert "Sample selection:" not in text
    told = "A, B and C: one unmeasured cause of these three fits (without it the score worsens by 34.1)"
    assert told in as_text(replace(hidden_chain(), stats=Statistics({"x": {0: 1}}, {"search": 1.0})))


def test_the_page_has_grades_loss_and_hidden_nodes() -> None:
    page = page_of(chain())
    assert {(e["a"], e["b"]): (e["grade_a"], e["grade_b"], e["loss"]) for e in page["edges"]} == {
        ("A", "B"): (None, "open", 34.2),
        ("C", "B"): (None, "likely", 12.0),
        ("B", "D"): ("open", "likely", None),
    }
    assert page["hidden"] == []
    assert page_of(hidden_chain())["hidden"][0].startswith("A, B and C: one unmeasured cause of these three fits")
    assert [entry["word"] for entry in page["grades"]] == ["likely", "open"]
    assert page["grades"][0]["meaning"].startswith("another mark worsens the score by 42.0 or more")
    assert ["Score", "100.0"] in page["statistics"]
    plain = page_of(LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit().result_)
    assert plain["hidden"] == plain["grades"] == []


def test_edges_of_a_selection_node_are_one_finding() -> None:
    mag = MAG.from_edges("A --- B", "B --- C", "A --- C", "A --> D")
    node = ("selection", ("A", "C"), 40.0)
    model: Any = SimpleNamespace(mag=mag, hidden=(node,))
    assert selected_edges(model) == (
        "3 edges among A, B and C may exist only because the sample was selected: read them as one finding"
    )
    for other in (SimpleNamespace(mag=mag, hidden=()), SimpleNamespace(mag=None, hidden=(node,))):
        assert selected_edges(other) is None  # type: ignore[arg-type]
