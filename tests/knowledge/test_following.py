"""Marks that hold only with what was stated are called so, and no share of resamples speaks for them."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from lmarvel import Discovery, Knowledge, Lift, LMarvel, causes
from lmarvel.report.grading import Grading
from lmarvel.result.display import edge_lines
from lmarvel.result.sources import by_statements
from tests.cli.running import run, write_csv

TIERS = Knowledge(tiers=[["A"], ["B", "C", "D"]])


def chain(n: int = 1000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    a, e, f, g = rng.normal(size=(4, n))
    b = a + e
    c = 0.7 * b + f
    return {"A": a, "B": b, "C": c, "D": 0.6 * c + g}


@pytest.fixture(scope="module", params=[Lift, LMarvel])
def found(request: pytest.FixtureRequest) -> Discovery:
    method = request.param
    learned: Discovery = method(knowledge=TIERS).fit(chain(), bootstrap=40, seed=1).result_
    assert [str(edge) for edge in learned.pag.edges()] == ["A o-> B", "B --> C", "C --> D"]
    return learned


def test_each_mark_says_whether_it_was_stated_or_follows(found: Discovery) -> None:
    assert by_statements(found, "A", "B") == "stated"
    assert {by_statements(found, *ends) for ends in (("B", "C"), ("C", "B"), ("C", "D"), ("D", "C"))} == {"follows"}
    assert by_statements(found, "B", "A") is None  # a circle
    alone = Lift().fit(chain()).result_
    assert by_statements(alone, "A", "B") is None


def test_the_verdict_counts_no_direction_that_the_data_alone_do_not_give(found: Discovery) -> None:
    verdict = found.verdict
    assert (verdict.directions, verdict.supported, verdict.stated, verdict.following) == (3, 3, 1, 2)
    assert verdict.lines[1] == (
        "0 of 3 arrow directions are supported by the data alone. 1 is as you stated. 2 follow from your statements and"
        " the data together."
    )
    assert verdict.to_dict()["following"] == 2
    assert "following" not in Lift().fit(chain()).result_.verdict.to_dict()


def test_no_share_of_resamples_is_shown_for_such_a_mark(found: Discovery) -> None:
    shown = [re.sub(" +", " ", line).strip() for line in edge_lines(found)]
    of_statements = "follows from your statements; edge 100 %; marks from statements / from statements"
    assert shown[1:] == [f"B --> C {of_statements}", f"C --> D {of_statements}"]
    assert shown[0].startswith("A o-> B stated; edge 100 %; marks ")
    assert shown[0].endswith(" / stated")
    told = str(found.explain("B", "C"))
    assert "mark at B: tail, follows from your statements" in told
    assert "firm" not in told
    assert "(given your statements)" in told
    assert "mark at B: arrowhead, as you stated" in str(found.explain("A", "B"))
    assert "B does not cause A" not in {claim for _, claim in found.claims()}  # which was stated
    assert "B causes C" in {claim for _, claim in found.claims()}


def test_the_report_says_the_same(found: Discovery) -> None:
    grading, edge = Grading(found), found.pag.edge("B", "C")
    assert edge is not None
    page = grading.to_dict(edge)
    assert (page["follows_a"], page["follows_b"]) == (True, True)
    assert page["resamples"] == "edge 100 %; marks from statements / from statements"
    assert page["meaning"] == "B causes C, given your statements. C does not cause B, given your statements."
    assert page["firmness"][1:] == [
        "Mark at B (tail): follows from your statements.",
        "Mark at C (arrowhead): follows from your statements.",
    ]
    stated = found.pag.edge("A", "B")
    assert stated is not None
    assert "follows_b" not in grading.to_dict(stated)


def test_claims_on_causes_name_the_statements_that_they_need(found: Discovery) -> None:
    assert causes(found, "D")["C"].sentence == "C causes D, given your statements: C --> D"
    assert causes(found, "B")["C"].sentence.startswith("C does not cause B, given your statements: ")
    assert causes(found, "A")["B"].sentence.startswith("B does not cause A, as you stated: ")
    alone = Lift().fit(chain()).result_
    told = " ".join(cause.sentence for y in "ABCD" for cause in causes(alone, y))
    assert "statements" not in told


def test_what_the_data_give_by_themselves_keeps_its_grade() -> None:
    rng = np.random.default_rng(6)
    a, b, e, f = rng.normal(size=(4, 1500))
    x = a + b + e
    table = {"A": a, "B": b, "X": x, "Y": 0.8 * x + f}
    said = Lift(knowledge=Knowledge(not_causes=[("Y", "A")])).fit(table).result_
    alone = Lift().fit(table).result_
    assert said.pag == alone.pag
    for near, far in permutations(table, 2):
        assert by_statements(said, near, far) is None
        assert said.grade(near, far) == alone.grade(near, far)
    assert "given your statements" not in causes(said, "Y")["X"].sentence


def test_the_command_line_says_it(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "data.csv", chain())
    done = run("learn", data, "--method", "lift", "--tiers", "A < B,C,D", "-o", tmp_path / "result.json")
    assert done.code == 0
    assert re.search(r"B --> C +follows from your statements; edge \d+ %", done.out)
    assert ", given your statements" in run("causes", tmp_path / "result.json", "D").out
