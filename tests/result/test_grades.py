"""Grades of marks and of missing edges: what they rest on, where the thresholds lie, what caps them, what is shown."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import (
    DAG,
    FCI,
    M3HC,
    MAG,
    PAG,
    Discovery,
    Knowledge,
    Lift,
    LMarvel,
    MSeparation,
    Stability,
    Statistics,
    mag_to_pag,
)
from lmarvel.deferred import Deferred
from lmarvel.errors import ParameterError, ResultError
from lmarvel.orient.equivalence import orient_mag
from lmarvel.result.file.parts import checksum
from lmarvel.result.support.check import Implied, ModelCheck
from lmarvel.result.support.grades import GRADES, grade_named
from lmarvel.result.support.grounds import Bend, Grounds
from lmarvel.result.trace import Chose, LeftOut, Supported

MAG_ = MAG.from_edges("A --> C", "B --> C", "C --> D", "D --> E")
CHAIN = mag_to_pag(MAG_)  # A o-> C <-o B, C --> D --> E
BARE = PAG.from_edges(nodes=CHAIN.names)
SETTINGS = {"method": "Lift", "test": "fisher-z", "alpha": 0.01, "boundary": "none", "rows": 1000}
BEND = Bend("D", "E", 0.4, 1e-9)


def resampled(same: int, other: PAG = BARE, pag: PAG = CHAIN) -> Stability:
    """Return counts over 40 graphs, of which so many are the learned one."""
    return Stability.of([pag] * same + [other] * (40 - same))


def rejecting(*pairs: str) -> ModelCheck:
    """Return a check in which these pairs fail: "ADC" is A and D given C."""
    failed = tuple(Implied(pair[0], pair[1], frozenset(pair[2:]), 1e-6) for pair in pairs)
    return ModelCheck(0.01, (*failed, Implied("C", "E", frozenset("D"), 0.6)), pairs=6)


def result(
    same: int = 40,
    bends: tuple[Bend, ...] = (),
    check: ModelCheck | None = None,
    scored: bool = True,
    other: PAG = BARE,
    **changes: Any,
) -> Discovery:
    """Return a result with grounds of one's own; ``scored``: a search by score learned it, not tests."""
    found = Discovery(
        CHAIN,
        {},
        {},
        Statistics({}, {}),
        orient_mag(MAG_).log,
        SETTINGS,
        mag=MAG_ if scored else None,
        later_grounds=Deferred.of(Grounds(resampled(same, other), bends)),
        later_check=None if check is None else Deferred.of(check),
    )
    return replace(found, **changes)


def grades(found: Discovery) -> dict[str, str]:
    """Return the grades of all marks, "AC" that of the mark at C on A-C."""
    return {a + b: grade for a, b in permutations(found.pag.names, 2) if (grade := found.grade(a, b)) is not None}


def gap(found: Discovery, a: str, b: str) -> str | None:
    """Return the grade of a missing edge, the same from either end."""
    levels = found.grades.gaps
    x, y = found.pag.index(a), found.pag.index(b)
    assert levels[x, y] == levels[y, x]
    return grade_named(int(levels[x, y]))


ALL = ("AC", "BC", "CD", "DC", "DE", "ED")  # the marks of the chain that are not circles


# --- what they rest on ------------------------------------------------------------------------------------


def test_the_answers_of_an_oracle_are_exact() -> None:
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D"))).fit().result_
    assert found.grades.basis == "exact"
    assert grades(found) == dict.fromkeys(("AC", "BC", "CD", "DC"), "firm")
    assert gap(found, "A", "B") == gap(found, "A", "D") == "firm"
    assert found.shown("firm") == found.shown() == found.pag


def test_a_table_is_graded_by_resamples_whatever_the_method() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    b -= a * (a @ b) / (a @ a)  # so that no resample finds much of a chance association
    table = {"A": a, "B": b, "C": a + b + rng.normal(size=1000)}
    for method in (Lift(), M3HC(), LMarvel(), FCI()):
        found = method.fit(table).result_
        assert found.grades.basis == "resamples"
        assert grades(found) == {"AC": "firm", "BC": "firm"}
        assert gap(found, "A", "B") == "firm"


def test_without_resamples_a_score_grades_and_tests_leave_everything_unchecked() -> None:
    weighed = Supported(CHAIN.index("A"), CHAIN.index("C"), 42.0)
    by_score = result(trace=(Chose("lift", 1.0, 14.0, 0.0), weighed), later_grounds=Deferred.of(Grounds()))
    assert by_score.grades.basis == "score"
    assert grades(by_score) == {**dict.fromkeys(ALL, "unchecked"), "AC": "likely"}
    by_tests = result(scored=False, later_grounds=Deferred.of(Grounds()))
    assert by_tests.grades.basis == "none"
    assert grades(by_tests) == dict.fromkeys(ALL, "unchecked")
    assert gap(by_tests, "A", "B") == "unchecked"


def test_the_score_needs_three_penalties_and_no_doubt() -> None:
    at = CHAIN.index
    weighed = [Supported(at("A"), at("C"), 42.0), Supported(at("B"), at("C"), 41.99), Supported(at("D"), at("E"), None)]
    left_out = [LeftOut(at("A"), at("B"), 11.21, frozenset(), 0.5), LeftOut(at("A"), at("D"), 11.19, frozenset(), 0.5)]
    trace = (Chose("lift", 1.0, 14.0, 0.0), *weighed, *left_out)
    found = result(trace=trace, later_grounds=Deferred.of(Grounds()))
    assert [found.grade(*pair) for pair in ("AC", "BC", "DE", "CD")] == ["likely", "open", "likely", "unchecked"]
    assert [gap(found, *pair) for pair in ("AB", "AD", "BD")] == ["likely", "open", "unchecked"]
    doubted = replace(found, later_grounds=Deferred.of(Grounds(None, (BEND,))))
    assert [doubted.grade(*pair) for pair in ("AC", "DE", "CD")] == ["open", "open", "unchecked"]
    rejected = replace(found, later_check=Deferred.of(rejecting("BEC")))
    assert rejected.grade("A", "C") == "open"
    assert gap(rejected, "A", "B") == "open"


def test_a_tail_by_score_needs_five_penalties() -> None:
    at = CHAIN.index
    weighed = [Supported(at("D"), at("C"), 70.0), Supported(at("E"), at("D"), 69.99)]  # C --> D --> E
    trace = (Chose("lift", 1.0, 14.0, 0.0), *weighed)
    found = result(trace=trace, later_grounds=Deferred.of(Grounds()))
    assert [found.grade(*pair) for pair in ("DC", "ED")] == ["likely", "open"]


# --- thresholds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("same", "grade"), [(40, "firm"), (39, "firm"), (38, "likely"), (36, "likely"), (35, "open")])
def test_marks_are_firm_from_95_and_likely_from_90_percent_on(same: int, grade: str) -> None:
    for scored in (True, False):
        assert grades(result(same, scored=scored)) == dict.fromkeys(ALL, grade)


def test_a_mark_counts_the_resamples_that_have_its_edge_and_the_same_mark() -> None:
    circles = PAG.from_edges("A o-o C", "B o-> C", "C --> D", "D --> E", nodes=CHAIN.names)
    found = result(35, other=circles)
    assert grades(found) == {**dict.fromkeys(ALL, "firm"), "AC": "open"}
    assert found.grades.shares[CHAIN.index("A"), CHAIN.index("C")] == pytest.approx(35 / 40)


@pytest.mark.parametrize(("same", "grade"), [(40, "likely"), (39, "open")])
def test_one_doubt_asks_for_more_and_nothing_is_firm(same: int, grade: str) -> None:
    assert grades(result(same, check=rejecting("BEC"))).items() >= {"AC": grade, "BC": grade}.items()
    assert grades(result(same, (BEND,))) == dict.fromkeys(ALL, grade)  # also of edges that the bend does not touch


def test_with_two_doubts_every_mark_is_open() -> None:
    assert grades(result(40, (BEND,), rejecting("BEC"))) == dict.fromkeys(ALL, "open")
    assert (result(40, (BEND,), rejecting("BEC")).grades.doubts == 2).all()


TOUCHED = {**dict.fromkeys(("AC", "BC"), "likely"), **dict.fromkeys(("CD", "DC", "DE", "ED"), "open")}


def test_where_tests_decided_a_doubt_weighs_more() -> None:
    assert grades(result(40, (BEND,), scored=False)) == TOUCHED  # twice at the variables that bend
    assert grades(result(40, check=rejecting("BEC"), scored=False)) == dict.fromkeys(ALL, "open")


def test_a_bend_of_values_that_lie_far_out_weighs_more() -> None:
    assert grades(result(40, (BEND._replace(outlying=True),))) == TOUCHED
    assert grades(result(40, (BEND, Bend("B", "A", 0.2, 1e-4)))) == dict.fromkeys(ALL, "likely")  # two are one doubt


def test_a_category_is_a_doubt_of_its_own() -> None:
    kinds = [{"name": name, "kind": "nominal" if name == "A" else "continuous"} for name in CHAIN.names]
    found = result(40, check=rejecting("BEC"), data={"columns": kinds})
    assert (found.grade("A", "C"), found.grade("D", "E")) == ("open", "likely")
    near = dict.fromkeys(("AC", "BC", "CD", "DC"), "likely")  # the category, and edges that it is next to
    assert grades(result(40, data={"columns": kinds})) == {**dict.fromkeys(ALL, "firm"), **near}
    assert result(39, data={"columns": kinds}).grade("A", "C") == "open"


# --- caps -------------------------------------------------------------------------------------------------


def test_a_mark_that_rests_on_a_rejected_independence_is_open() -> None:
    found = result(40, check=rejecting("AB"))  # whose collider all other marks follow from
    assert grades(found) == dict.fromkeys(ALL, "open")
    assert gap(found, "A", "B") == "open"
    found = result(40, check=rejecting("CED"))  # the last step needs it
    assert grades(found).items() >= {"AC": "likely", "BC": "likely", "CD": "likely", "DE": "open", "ED": "open"}.items()


def test_what_chance_rejects_caps_nothing() -> None:
    implied = tuple(Implied("A", "B", frozenset(), p) for p in (0.009, *np.linspace(0.01, 1, 99)))
    check = ModelCheck(0.01, implied, pairs=100)
    assert check.failed
    assert grades(result(40, check=check)) == dict.fromkeys(ALL, "firm")


def test_every_mark_of_an_illegal_pag_is_open() -> None:
    illegal = PAG.from_edges("A o-> C", "B o-> C", "C o-o D", nodes=CHAIN.names)
    grounds = Deferred.of(Grounds(resampled(40, pag=illegal)))
    found = result(scored=False, pag=illegal, trace=(), later_grounds=grounds)
    assert found.why_illegal is not None
    assert grades(found) == {"AC": "open", "BC": "open"}
    assert gap(found, "A", "B") == gap(found, "D", "E") == "open"
    early = replace(found, undecided=(("C", "D"),))  # of a search that was not done nobody asks that
    assert grades(early) == {"AC": "firm", "BC": "firm"}


def test_what_was_stated_is_stated_whatever_speaks_against_it() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    table = {"A": a, "B": a + rng.normal(size=500), "C": rng.normal(size=500)}
    for method in (LMarvel, Lift):
        found = method(knowledge=Knowledge(tiers=[["A", "C"], ["B"]])).fit(table).result_
        assert found.source("A", "B") == "knowledge"
        assert found.grade("A", "B") == "stated"
        doubted = replace(found, later_grounds=Deferred.of(Grounds(None, (Bend("A", "B", 0.5, 1e-9),))))
        assert doubted.grade("A", "B") == "stated"
        assert doubted.shown("firm").edge("A", "B") == found.pag.edge("A", "B")


# --- missing edges ----------------------------------------------------------------------------------------


def without_ab(same: int, rows: int = 1000, **changes: Any) -> Discovery:
    """Return a result whose edge between A and B, which is missing, is there in all but so many resamples."""
    more = PAG.from_edges(*map(str, CHAIN.edges()), "A o-o B", nodes=CHAIN.names)
    return result(same, other=more, settings={**SETTINGS, "rows": rows}, **changes)


@pytest.mark.parametrize(("same", "grade"), [(39, "firm"), (38, "likely"), (32, "likely"), (31, "open")])
def test_missing_edges_are_firm_from_95_and_likely_from_80_percent_on(same: int, grade: str) -> None:
    found = without_ab(same)
    assert gap(found, "A", "B") == grade
    assert gap(found, "A", "D") == "firm"
    assert gap(found, "A", "C") is None
    assert not found.grades.gaps.diagonal().any()


def test_doubts_ask_for_more_of_missing_edges_too() -> None:
    bend = Bend("A", "B", 0.4, 1e-9)
    assert [gap(without_ab(same, bends=(bend,)), "A", "B") for same in (40, 36, 35)] == ["likely", "likely", "open"]
    by_tests = [gap(without_ab(same, bends=(bend,), scored=False), "A", "B") for same in (40, 39, 38)]
    assert by_tests == ["likely", "likely", "open"]
    assert gap(without_ab(40, check=rejecting("AB")), "A", "B") == "open"


@pytest.mark.parametrize(
    ("rows", "grade"), [(1000, "firm"), (163, "firm"), (162, "likely"), (71, "likely"), (70, "open")]
)
def test_few_rows_miss_strong_associations_so_that_a_missing_edge_says_less(rows: int, grade: str) -> None:
    found = without_ab(40, rows)  # -n log(1 - r^2) is 6.63 at the level, for r = .2 and .3
    assert gap(found, "A", "B") == grade
    assert (found.grades.noticed[0, 1] <= 0.2) == (grade == "firm")
    assert found.grade("A", "C") == "firm"


@pytest.mark.parametrize(("rows", "grade"), [(1000, "likely"), (226, "likely"), (225, "open")])
def test_missing_edges_of_categories_need_more_rows_and_are_never_firm(rows: int, grade: str) -> None:
    columns = [{"name": v, "kind": "nominal", "levels": list("xyz")} if v == "A" else {"name": v} for v in CHAIN.names]
    found = without_ab(40, rows, data={"columns": columns})  # with two degrees of freedom 9.22 is needed
    assert (gap(found, "A", "B"), gap(found, "B", "D")) == (grade, "firm")


# --- what is shown ----------------------------------------------------------------------------------------


def test_the_graph_to_show_has_circles_for_weaker_marks() -> None:
    circles = PAG.from_edges("A o-o C", "B o-> C", "C --> D", "D --> E", nodes=CHAIN.names)
    found = result(35, other=circles)
    assert found.shown("all") is found.pag
    assert found.shown() == circles
    likely = result(36, other=circles)
    assert (likely.shown(), likely.shown("firm")) == (CHAIN, circles)
    assert likely.shown("firm") is likely.shown("firm")  # of many variables it is large
    with pytest.raises(ParameterError, match="marks must be one of all, supported, firm, not 'open'"):
        found.shown("open")  # type: ignore[arg-type]


def test_grades_have_numbers_from_the_weakest_to_the_strongest() -> None:
    assert [grade_named(level) for level in range(6)] == [None, *GRADES]
    assert GRADES == ("unchecked", "open", "likely", "firm", "stated")


# --- files, and a bootstrap -------------------------------------------------------------------------------


def curved(rows: int = 600) -> dict[str, np.ndarray]:
    """Return a table with a collider and a bend."""
    rng = np.random.default_rng(5)
    a, b, d = rng.normal(size=(3, rows))
    c = a + b + rng.normal(size=rows)
    return {"A": a, "B": b, "C": c, "D": d, "E": d + d**2 + rng.normal(size=rows)}


@pytest.mark.parametrize("method", [Lift, LMarvel])
def test_a_file_keeps_the_grounds_and_gives_the_same_grades(method: Any, tmp_path: Path) -> None:
    found = method(test="fisher-z").fit(curved()).result_
    found.save(tmp_path / "r.json")
    back = Discovery.load(tmp_path / "r.json")
    assert found.grounds.resamples is not None
    assert found.grounds.bends
    for again in (back, pickle.loads(pickle.dumps(found))):
        assert again == found
        assert again.grounds == found.grounds
        assert np.array_equal(again.grades.marks, found.grades.marks)
        assert np.array_equal(again.grades.gaps, found.grades.gaps)
        assert again.shown() == found.shown()
        assert again.verdict == found.verdict
    plain = json.loads((tmp_path / "r.json").read_text())
    assert plain["grades"] == {
        "basis": "resamples",
        "marks": [
            [e.a, e.b, found.grade(e.b, e.a), found.grade(e.a, e.b)]
            for x, y in np.argwhere(np.triu(found.pag.marks)).tolist()
            if (e := found.pag.edge(found.pag.names[x], found.pag.names[y]))
            if (found.grade(e.a, e.b), found.grade(e.b, e.a)) != (None, None)
        ],
    }


def test_files_from_before_there_were_grades_are_read() -> None:
    found = LMarvel().fit(curved()).result_
    plain = found.to_dict()
    new = ("checksum", "resamples", "bends", "verdict", "grades")
    assert set(new) <= set(plain)
    content = {name: value for name, value in plain.items() if name not in new}
    old = Discovery.from_dict({**content, "checksum": checksum(content)})
    assert old.pag == found.pag
    assert old.grounds == Grounds()
    assert old.grades.basis == "none"
    assert set(grades(old).values()) == {"unchecked"}
    assert old.verdict.stable is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("bends", [[0, 0, 0.5, 0.001, False]]),
        ("bends", [[0, 99, 0.5, 0.001, False]]),
        ("bends", [[0, 1, 1.5, 0.001, False]]),
        ("bends", [[0, 1, 0.5, 7, False]]),
        ("bends", [[0, 1, 0.5, 0.001, 1]]),
        ("bends", [[0, 1, 0.5]]),
        ("resamples", {"replicates": 41, "drawn": 40, "seed": 0, "counts": ""}),
        ("resamples", []),
    ],
)
def test_damaged_grounds_are_refused(part: str, value: Any) -> None:
    plain = {name: v for name, v in LMarvel().fit(curved()).result_.to_dict().items() if name != "checksum"}
    content = {**plain, part: value}
    with pytest.raises(ResultError, match=f"'{part}' makes no sense"):
        Discovery.from_dict({**content, "checksum": checksum(content)})


def test_a_bootstrap_that_was_asked_for_takes_the_place_of_the_small_one(tmp_path: Path) -> None:
    found = LMarvel().fit(curved(), bootstrap=60, seed=3).result_
    assert found.resamples is found.stability
    assert found.grounds.resamples is None
    assert found.grounds.bends
    at = found.pag.index("A"), found.pag.index("C")
    assert found.grades.shares[at] == found.stability.marks[1][at] / 60
    assert "resamples" not in found.to_dict()
    small = LMarvel().fit(curved()).result_
    assert small.stability is None
    assert small.resamples.replicates == 40
    found.save(tmp_path / "r.json")
    back = Discovery.load(tmp_path / "r.json")
    assert np.array_equal(back.grades.marks, found.grades.marks)
