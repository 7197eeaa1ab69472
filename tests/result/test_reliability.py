"""The check of a result: made after learning, kept in its file, and told where marks rest on what the data reject."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from lmarvel import Discovery, LMarvel, MSeparation
from lmarvel.cli.text import as_text
from lmarvel.datasets import CARS
from lmarvel.deferred import Deferred
from lmarvel.errors import ResultError
from lmarvel.graph.kinds import DAG
from lmarvel.result.file.parts import checksum
from lmarvel.result.support.check import Implied, ModelCheck
from lmarvel.result.support.frequencies import Stability
from lmarvel.result.support.grounds import Grounds
from lmarvel.result.support.reliability import Doubt

CHAIN = DAG.from_edges("A --> C", "B --> C", "C --> D", "D --> E")


def checked(*failed):
    """Return a result of a perfect test, as if of a table, with a check in which these pairs fail."""
    found = LMarvel(test=MSeparation(CHAIN)).fit().result_
    implied = tuple(Implied(a, b, frozenset(given), 0.001) for a, b, *given in failed)
    check = ModelCheck(0.01, (*implied, Implied("C", "E", frozenset("D"), 0.6)), pairs=6)
    grounds = Grounds(Stability.of([found.pag] * 40))
    settings = {**found.settings, "rows": 1000}
    return replace(found, settings=settings, later_check=Deferred.of(check), later_grounds=Deferred.of(grounds))


def test_marks_are_flagged_that_rest_on_a_rejected_separation_however_far_back():
    found = checked(("A", "B"))  # C is a collider between them; C --> D and D --> E follow from that
    for a, b in (("A", "C"), ("B", "C"), ("C", "D"), ("D", "E")):
        assert [(one.x, one.y) for one in found.rests_on_rejected(a, b)] == [("A", "B")]
        why = "a mark rests on an independence that the data reject: A, B"
        assert found.doubts[frozenset((a, b))] == (Doubt("rejected", why),)
    assert not found.rests_on_rejected("C", "A")  # a circle rests on nothing
    assert "The mark at E rests on an independence that the data reject: A and B given nothing" in str(
        found.explain("D", "E")
    )
    assert "  D --> E   firm; edge 100 %\n" in as_text(checked())
    assert "  D o-o E   edge 100 %\n" in as_text(found)
    assert "  D --> E   open; edge 100 %\n" in as_text(found, marks="all")


def test_marks_that_rest_on_others_are_not_flagged():
    found = checked(("A", "D", "C"))  # which R1 needs for C --> D, and nothing before it
    flagged = {frozenset(pair) for pair in (("C", "D"), ("D", "E"))}
    assert set(found.doubts) == flagged
    assert not found.rests_on_rejected("A", "C")
    assert "The data reject that A and D given C are independent (p = 0.001)" in str(found.explain("A", "D"))
    assert not checked().doubts


def test_every_result_of_a_table_has_a_check_and_files_keep_it(tmp_path):
    found = LMarvel().fit(CARS).result_
    assert found.check.pairs == 15 - found.pag.n_edges == len(found.check.implied)
    assert "Check    The data reject 0 of 8 found independences" in as_text(found, details=True)
    path = tmp_path / "cars.json"
    found.save(path)
    assert Discovery.load(path).check == found.check
    assert pickle.loads(pickle.dumps(found)).check == found.check
    assert LMarvel(test=MSeparation(CHAIN)).fit().result_.check is None


def test_it_is_made_when_somebody_looks_and_once():
    calls = []

    def make():
        calls.append(0)
        return ModelCheck(0.01, (), pairs=0)

    later = Deferred(make)
    assert not calls
    assert later.made is later.made
    assert len(calls) == 1


def test_a_budget_that_left_pairs_open_leaves_nothing_to_check():
    assert LMarvel(max_tests=3).fit(CARS).result_.check is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("implied", [[0, 0, [], 0.5]]),
        ("implied", [[0, 4, [], 0.5]]),  # these two are adjacent
        ("implied", [[0, 99, [], 0.5]]),
        ("implied", [[0, 1, [0], 0.5]]),
        ("implied", [[0, 1, [], 1.5]]),
        ("implied", [[0, 1, [], 0.5], [0, 2, [], 0.1]]),
        ("source", "oracle"),
        ("pairs", 2),
        ("level", 7),
        ("untestable", -1),
    ],
)
def test_damaged_checks_are_refused(part, value):
    plain = LMarvel().fit(CARS).result_.to_dict()
    content = {name: v for name, v in plain.items() if name != "checksum"}
    content["check"] = {**plain["check"], part: value}
    with pytest.raises(ResultError, match="'check' makes no sense"):
        Discovery.from_dict({**content, "checksum": checksum(content)})


def test_files_without_a_check_and_a_bootstrap_are_read():
    plain = LMarvel().fit(CARS, bootstrap=3).result_.to_dict()
    content = {name: v for name, v in plain.items() if name not in ("checksum", "check", "stability")}
    old = Discovery.from_dict({**content, "checksum": checksum(content)})
    assert old.check is old.stability is None
    assert np.array_equal(old.pag.marks, LMarvel().fit(CARS).pag_.marks)
