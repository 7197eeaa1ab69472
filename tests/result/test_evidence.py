"""What a result says of how well it is supported: by itself, in explanations, text, files and the report."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, M3HC, MAG, PAG, Discovery, Lift, LMarvel, MSeparation, Statistics, mag_to_pag
from lmarvel.cli.text import as_text
from lmarvel.errors import GraphError, ParameterError
from lmarvel.orient.equivalence import orient_mag
from lmarvel.report import page_of
from lmarvel.result.evidence_wording import hidden_node
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, Supported, Weighed

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
    Supported(0, 1, 12.04),
    Supported(2, 1, 13.0),
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
    assert found.support("A", "B") == {"A": None, "B": 12.04}
    assert found.support("D", "B") == {"D": math.inf, "B": 2.0}
    with pytest.raises(GraphError, match="A and C are not adjacent"):
        found.support("A", "C")


def test_an_edge_has_the_word_of_its_weaker_mark() -> None:
    found = chain()
    assert {(e.a, e.b): found.support_word(e.a, e.b) for e in found.pag.edges()} == {
        ("A", "B"): "open",  # 12.04 of 14
        ("C", "B"): "likely",  # 13 of 14
        ("B", "D"): "open",  # 2 and none met
    }
    assert scored("A --> B", "B --> C").support_word("A", "B") is None  # circles say nothing


def test_the_cautious_graph_has_circles_for_weak_marks() -> None:
    found = chain()
    assert found.cautious("open") == found.pag
    assert found.cautious() == PAG.from_edges("A o-o B", "C o-> B", "B o-> D", nodes=[*"ABCD"])
    assert found.cautious("firm") == PAG.from_edges("A o-o B", "C o-o B", "B o-> D", nodes=[*"ABCD"])
    with pytest.raises(ParameterError, match="level must be one of firm, likely, open"):
        found.cautious("sure")


def test_where_hidden_nodes_are_at_work_every_word_is_a_step_weaker() -> None:
    records = (Supported(0, 1, 45.0), Supported(2, 1, 13.0), Supported(3, 1, 45.0), Supported(1, 3, None))
    for hidden, words in (((), ("firm", "likely", "firm")), ((NODE,), ("likely", "open", "likely"))):
        found = scored("A --> B", "C --> B", "B --> D", records=(*records, *hidden))
        assert tuple(found.support_word(a, b) for a, b in ("AB", "CB", "BD")) == words


def test_a_mark_that_nobody_weighed_is_open() -> None:
    found = scored("A --> B", "C --> B")  # the time was up
    assert found.support_word("A", "B") == "open"
    assert found.cautious() == PAG.from_edges("A o-o B", "C o-o B", nodes=[*"ABC"])
    assert "the time did not suffice" in str(found.explain("A", "B"))


def test_methods_without_records_say_what_they_said() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    data = {"A": a, "B": b, "C": a + b + rng.normal(size=500)}
    for method in (M3HC(), LMarvel()):
        found = method.fit(data).result_
        assert found.support("A", "C") == {"A": None, "C": None}
        assert found.support_word("A", "C") is None
        assert found.hidden == ()
        assert found.selection_gain is None
        assert "firm" not in str(found.explain("A", "C")) + as_text(found)
        with pytest.raises(ParameterError, match="Lift's does"):
            found.cautious()
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
    assert told.adjacency.text == "Edge: without it the score worsens by 34.2, refitted; p = 3e-12 given nothing"
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
    assert told.marks[1].text.endswith("; with another mark here the score worsens by 13.0 (likely)")
    assert told.meaning.startswith("likely, not firm: B is not a cause of C.")
    told = chain().explain("B", "D")
    assert told.meaning.startswith("open, for other marks fit nearly as well or were not ruled out: B is a cause of D")
    assert told.marks[1].text.endswith("no graph that was met has another mark here (firm)")
    firm = scored("A --> B", "C --> B", records=(Supported(0, 1, 45.0), Supported(2, 1, 45.0)))
    assert firm.explain("A", "B").meaning.startswith("B is not a cause of A.")


def test_selection_is_told_with_what_speaks_for_it() -> None:
    found = ring()
    gain = found.evidence.chose.selection_gain
    assert set(map(str, found.pag.edges())) == {"A --- B", "A --- D", "B --- C", "C --- D"}
    assert gain > 10
    said = f"the best graph without selection is worse by {gain:,.1f}"
    assert said in found.explain("A", "B").meaning.lower()
    assert f"Selection: {said}" in as_text(found)
    assert f"Selection: {said}" in page_of(found)["hidden"]
    assert "or a test erred" not in as_text(found) + str(found.explain("A", "B"))
    unmet = scored("A --- B", "B --- C", "C --- D", "A --- D", gain=None)
    assert "No graph without selection was met." in unmet.describe_edge("A", "B")


def test_where_tests_decided_selection_may_be_an_error() -> None:
    K = np.eye(4) + 0.35 * np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    X = np.random.default_rng(3).multivariate_normal(np.zeros(4), np.linalg.inv(K), size=2000)
    found = LMarvel().fit(dict(zip("ABCD", X.T, strict=True))).result_
    assert found.explain("A", "B").meaning == "selection: both influence being in the sample, or a test erred."
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
    assert exact.describe_edge("A", "B") == "selection: both influence being in the sample."
    assert not any("erred" in note for note in exact.notes)
    ruled_out = replace(exact, settings={**exact.settings, "test": "fisher-z", "selection": False})
    assert "erred" not in ruled_out.describe_edge("A", "B")


# --- text and report --------------------------------------------------------------------------------------


def test_the_text_has_a_column_of_support_and_the_hidden_nodes() -> None:
    text = as_text(replace(chain(), stats=Statistics({"x": {0: 1}}, {"search": 1.0})))
    assert re.search(r"^  A o-> B   open$", text, re.MULTILINE)
    assert re.search(r"^  C o-> B   likely$", text, re.MULTILINE)
    assert "How well the marks are supported" in text
    assert "Score    100.0 (stage lift; an edge costs 14.0)" in text
    assert "Hidden nodes" not in text
    assert "Selection:" not in text
    told = "A, B and C: one unmeasured cause of these three fits (without it the score worsens by 34.1)"
    assert told in as_text(replace(hidden_chain(), stats=Statistics({"x": {0: 1}}, {"search": 1.0})))


def test_the_page_has_support_loss_and_hidden_nodes() -> None:
    page = page_of(chain())
    assert {(e["a"], e["b"]): (e["support"], e["loss"]) for e in page["edges"]} == {
        ("A", "B"): ("open", 34.2),
        ("C", "B"): ("likely", 12.0),
        ("B", "D"): ("open", None),
    }
    assert page["hidden"] == []
    assert page_of(hidden_chain())["hidden"][0].startswith("A, B and C: one unmeasured cause of these three fits")
    assert [entry["word"] for entry in page["supports"]] == ["firm", "likely", "open"]
    assert ["Score", "100.0"] in page["statistics"]
    plain = page_of(LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit().result_)
    assert plain["hidden"] == plain["supports"] == []
