"""The page says of an edge what its grades allow, with the share of resamples, and nothing more."""

from __future__ import annotations

import pytest

from lmarvel import PAG, Discovery
from lmarvel.report import page_of
from lmarvel.report.grading import Grading, rejections
from lmarvel.result.support.check import Implied
from tests.effects.graded import graded as made
from tests.report.graded import GRAPH, graded, likely, stated, unchecked


def meaning(found: Discovery, a: str, b: str) -> str:
    edge = found.pag.edge(a, b)
    assert edge is not None
    return Grading(found).meaning(edge)


def test_firm_marks_say_causes() -> None:
    assert meaning(graded(), "C", "D") == "C causes D. D does not cause C."
    shared = ", or they may share an unmeasured common cause"
    assert meaning(graded(), "A", "C") == f"C does not cause A. A may cause C{shared}."


def test_likely_marks_say_probably() -> None:
    assert meaning(likely(), "C", "D") == "C probably causes D. D probably does not cause C."


def test_open_marks_claim_nothing() -> None:
    assert meaning(graded(), "E", "F") == "direction not established (the learned graph has E --> F)."
    assert meaning(graded(), "C", "E") == (
        "E does not cause C. Whether C causes E is not established (the learned graph has C --> E)."
    )


def test_unchecked_is_not_open() -> None:
    found = unchecked()
    assert meaning(found, "C", "D") == "direction not checked (time limit); the learned graph has C --> D."
    edge = page_of(found)["edges"][2]
    assert (edge["grade_a"], edge["grade_b"], edge["share"], edge["resamples"]) == (
        "unchecked",
        "unchecked",
        None,
        None,
    )
    assert edge["firmness"][0] == "Mark at C (tail): not checked (time limit)."
    assert "open" not in str(edge["firmness"])


def test_stated_marks_say_so() -> None:
    found = stated()
    assert meaning(found, "C", "D").startswith("D does not cause C, as you stated. C may cause D")
    edge = page_of(found)["edges"][0]
    assert (edge["grade_a"], edge["grade_b"]) == (None, "stated")
    assert edge["firmness"] == ["100 % of 1 resample have an edge here.", "Mark at D (arrowhead): as you stated."]
    assert edge["sources"] == ["not determined", "from what was known"]


def test_an_illegal_graph_and_circles_claim_nothing() -> None:
    illegal = PAG.from_edges("A <-> B", "A --- C", "C o-o D")
    found = made(illegal, [illegal])
    assert found.why_illegal  # which caps all grades
    assert meaning(found, "A", "B") == "direction not established (the learned graph has A <-> B)."
    assert meaning(found, "C", "D") == "associated; the data do not determine the direction."


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        (
            "A <-> B",
            "neither causes the other: they share an unmeasured common cause (or several, linked by sample selection).",
        ),
        ("A --- B", "both affect who is in the sample."),
        ("A --> B", "A causes B, or affects who is in the sample. B does not cause A."),
        (
            "A o-> B",
            "B does not cause A. A may cause B or affect who is in the sample,"
            " or they may share an unmeasured common cause.",
        ),
        ("A o-- B", "B causes A, or affects who is in the sample."),
    ],
)
def test_selection_is_told_apart(edge: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pag = PAG.from_edges(edge)
    monkeypatch.setattr(Discovery, "why_illegal", None)
    assert meaning(made(pag, [pag]), "A", "B") == words


def test_shares_have_units_and_a_reference() -> None:
    edge = page_of(graded())["edges"][3]
    assert edge["text"] == "C --> E"
    assert (edge["grade_a"], edge["grade_b"], edge["share"]) == ("open", "firm", 1.0)
    assert edge["resamples"] == "edge 100 %; marks 50 % / 100 %"
    assert edge["firmness"] == [
        "100 % of 20 resamples have an edge here.",
        "Mark at C (tail): open; 50 % of resamples have the edge with this mark.",
        "Mark at E (arrowhead): firm; 100 % of resamples have the edge with this mark.",
    ]


def test_the_legend_explains_the_grades_that_occur() -> None:
    grades = {one["word"]: one["meaning"] for one in page_of(graded())["grades"]}
    assert list(grades) == ["firm", "open"]
    assert "97.5 % of 20 resamples" in grades["firm"]
    assert [one["word"] for one in page_of(unchecked())["grades"]] == ["unchecked"]


def test_marks_on_rejected_independences_say_which(monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(GRAPH, [GRAPH] * 20, (Implied("A", "B", frozenset(), 1e-6), Implied("D", "E", frozenset("C"), 0.4)))
    one = Implied("A", "B", frozenset(), 1e-6)
    monkeypatch.setattr(Discovery, "rests_on_rejected", lambda self, near, far: (one,) if far == "C" else ())
    edge = found.pag.edge("A", "C")
    assert edge is not None
    why = "the mark at C rests on an independence that the data reject: A and B given nothing (p = 1e-06)"
    assert list(rejections(found, edge)) == [why]
    monkeypatch.setattr(Discovery, "rests_on_rejected", lambda self, near, far: (one, one))
    [both] = rejections(found, edge)
    assert both.startswith("both marks rest on an independence that the data reject: ")
    assert both.endswith(" and 1 more")


def test_what_makes_grades_stricter_is_said() -> None:
    found = made(GRAPH, [GRAPH] * 20, (Implied("A", "B", frozenset(), 1e-6), Implied("D", "F", frozenset("C"), 0.4)))
    assert not found.verdict.fits
    edge = page_of(found)["edges"][2]
    assert (
        edge["firmness"][-1]
        == "Grades are stricter here, because the data reject independences that the graph implies."
    )
    assert not any("stricter" in line for one in page_of(graded())["edges"] for line in one["firmness"])


def test_hostile_names_are_not_read_as_patterns() -> None:
    wild = GRAPH.relabel({"C": "{x} {0}", "D": "%s"})
    assert meaning(made(wild, [wild] * 20, settings={"selection": False}), "{x} {0}", "%s").startswith(
        "{x} {0} causes %s."
    )
