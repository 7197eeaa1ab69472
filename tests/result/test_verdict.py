"""The verdict: each of its sentences, in the singular and the plural, and that it comes first and stands in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, FCI, PAG, Discovery, Knowledge, Lift, LMarvel, MSeparation, Stability, Statistics
from lmarvel.cli.text import as_text
from lmarvel.datasets import CARS
from lmarvel.deferred import Deferred
from lmarvel.report import page_of
from lmarvel.result.support.check import Implied, ModelCheck
from lmarvel.result.support.grounds import Bend, Grounds
from lmarvel.result.verdict import Verdict

FITTING = Verdict(
    variables=6,
    rows=1392,
    associations=8,
    stable=7,
    directions=5,
    supported=4,
    stated=0,
    undecided=0,
    tested=7,
    rejected=0,
    expected=0.07,
    fits=True,
    legal=True,
)
ASK = "Next: ask why (explain), what causes a variable (causes), and by how much (effect)."
STATE = "Next: state what you know, such as an order in time (tiers), or collect more rows."


def lines(**changes: Any) -> list[str]:
    """Return the sentences of a verdict that differs from one on a graph that fits."""
    return list(replace(FITTING, **changes).lines)


def test_a_graph_that_fits() -> None:
    assert lines() == [
        "8 associations among 6 variables (1,392 rows); 7 of them appear in at least 90 % of resamples.",
        "4 of 5 arrow directions are supported by the data.",
        "The graph fits: the data reject 0 of 7 implied independences (0.07 expected by chance).",
        ASK,
    ]
    assert str(FITTING) == "\n".join(lines())
    assert FITTING._repr_mimebundle_() == {"text/plain": str(FITTING)}
    assert repr(FITTING).startswith("Verdict(variables=6, rows=1392, associations=8, ")


# --- associations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"stable": None}, "8 associations among 6 variables (1,392 rows)."),
        ({"stable": 1}, "8 associations among 6 variables (1,392 rows); 1 of them appears in"),
        ({"stable": 8}, "8 associations among 6 variables (1,392 rows); all of them appear in at least 90 %"),
        ({"associations": 2, "stable": 2}, "2 associations among 6 variables (1,392 rows); both of them appear in"),
        ({"stable": 0}, "8 associations among 6 variables (1,392 rows); 0 of them appear in"),
        ({"associations": 1, "stable": 1}, "1 association among 6 variables (1,392 rows); it appears in at least 90 %"),
        ({"associations": 1, "stable": 0}, "1 association among 6 variables (1,392 rows); it does not appear in"),
        ({"rows": None, "stable": None}, "8 associations among 6 variables."),
        ({"rows": 1, "variables": 1, "stable": None}, "8 associations among 1 variable (1 row)."),
    ],
)
def test_the_first_sentence_counts_associations(changes: dict[str, Any], first: str) -> None:
    assert lines(**changes)[0].startswith(first)


def test_without_an_association_nothing_is_said_of_directions() -> None:
    none = {"associations": 0, "stable": None, "directions": 0, "supported": 0}
    assert lines(**none) == [
        "No association was found among 6 variables (1,392 rows).",
        "The graph fits: the data reject 0 of 7 implied independences (0.07 expected by chance).",
        "Next: collect more rows, or look for curves (test 'curved').",
    ]
    assert lines(**none, undecided=14, tested=0, fits=None) == [
        "No association was established among 6 variables (1,392 rows).",
        "The search ended early: 14 pairs left undecided.",
        "Next: give the search more time, or fewer variables.",
    ]
    assert lines(**none, undecided=15, tested=0, fits=None) == [
        "Nothing was learned about 6 variables (1,392 rows): the search ended before it decided anything.",
        "Next: give the search more time, or fewer variables.",
    ]


@pytest.mark.parametrize(("undecided", "left"), [(1, "1 pair left undecided."), (1200, "1,200 pairs left undecided.")])
def test_pairs_that_were_left_undecided_are_counted(undecided: int, left: str) -> None:
    said = lines(undecided=undecided, tested=0, fits=None)
    assert said[2:] == [f"The search ended early: {left}", "Next: give the search more time, or fewer variables."]


# --- directions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((0, 0, 0), "The data determine no arrow direction."),
        ((5, 0, 0), "0 of 5 arrow directions are supported by the data."),
        ((5, 1, 0), "1 of 5 arrow directions is supported by the data."),
        ((1, 1, 0), "1 of 1 arrow direction is supported by the data."),
        ((1, 0, 0), "0 of 1 arrow direction is supported by the data."),
        ((5, 3, 1), "2 of 5 arrow directions are supported by the data. 1 is as you stated."),
        ((5, 2, 2), "0 of 5 arrow directions are supported by the data. 2 are as you stated."),
    ],
)
def test_the_second_sentence_counts_directions(counts: tuple[int, int, int], sentence: str) -> None:
    directions, supported, stated = counts
    assert lines(directions=directions, supported=supported, stated=stated)[1] == sentence


@pytest.mark.parametrize(
    ("directions", "sentence"),
    [
        (1, "1 arrow direction followed from the answers of the test."),
        (4, "4 arrow directions followed from the answers of the test."),
    ],
)
def test_what_an_oracle_answered_is_not_called_supported_by_data(directions: int, sentence: str) -> None:
    exact = {"rows": None, "stable": None, "tested": 0, "fits": None}
    assert lines(**exact, directions=directions, supported=directions)[1:] == [sentence, ASK]


# --- fit, and what to do next -----------------------------------------------------------------------------


def test_a_graph_that_does_not_fit_is_not_read_for_causes() -> None:
    failing: dict[str, Any] = {"rejected": 1, "fits": False}
    told = "The data reject 1 of 7 implied independences (0.07 expected by chance): "
    code = "Next: see which independences fail (check), and whether numbers are codes of categories."
    assert lines(**failing)[2:] == [f"{told}marks that rest on these are not shown.", code]
    assert lines(**failing, supported=0)[2:] == [f"{told}do not read causes from this graph.", code]
    assert lines(**failing, tested=1)[2].startswith("The data reject 1 of 1 implied independence (")


def test_rejections_that_chance_explains_are_told_and_fit() -> None:
    assert lines(tested=395, rejected=4, expected=3.95)[2] == (
        "The graph fits: the data reject 4 of 395 implied independences (4 expected by chance)."
    )


def test_where_nothing_was_tested_nothing_is_said_of_the_fit() -> None:
    assert len(lines(tested=0, fits=None)) == 3


def test_tests_that_contradict_each_other_come_before_the_fit() -> None:
    assert lines(legal=False, supported=0)[2:] == [
        "The tests contradict each other: no causal graph has exactly these marks. Do not read causes from it.",
        "Next: use the method 'auto', or state what you know (tiers).",
    ]


def test_a_curve_is_named_with_what_sees_it() -> None:
    told = "Next: relations are not straight lines (A and \"B\\nb\", say): try the test 'curved'."
    assert lines(curved=("A", "B\nb"))[-1] == told
    assert lines(curved=("A", "B\nb"), fits=False, rejected=3)[-1] == told
    assert lines(curved=("A", "B"), legal=False)[-1].startswith("Next: use the method 'auto'")


@pytest.mark.parametrize(("supported", "next_"), [(2, STATE), (3, ASK), (0, STATE)])
def test_where_few_directions_are_supported_knowledge_helps(supported: int, next_: str) -> None:
    assert lines(supported=supported)[-1] == next_
    assert lines(directions=4, supported=2)[-1] == ASK


@pytest.mark.parametrize("changes", [{}, {"fits": False}, {"legal": False}, {"curved": ("A", "B")}, {"stated": 2}])
def test_no_sentence_is_long(changes: dict[str, Any]) -> None:
    for line in lines(**changes):
        assert all(len(sentence.split()) <= 25 for sentence in line.split(". "))


# --- of results -------------------------------------------------------------------------------------------


def made(*edges: str, **changes: Any) -> Discovery:
    """Return a result of a table with this PAG, of which 40 resamples learned the same."""
    pag = PAG.from_edges(*edges)
    found = Discovery(pag, {}, {}, Statistics({}, {}), settings={"rows": 1000, "test": "fisher-z", "alpha": 0.01})
    return replace(found, **{"later_grounds": Deferred.of(Grounds(Stability.of([pag] * 40)))} | changes)


def test_the_figures_are_those_of_the_result() -> None:
    implied = (Implied("A", "D", frozenset("C"), 1e-6), Implied("A", "B", frozenset(), 0.4))
    found = made("A o-> C", "B o-> C", "C --> D", later_check=Deferred.of(ModelCheck(0.01, implied, pairs=3)))
    assert found.verdict == Verdict(4, 1000, 3, 3, 3, 0, 0, 0, 2, 1, 0.02, False, True)
    fits = replace(found, later_check=Deferred.of(ModelCheck(0.01, implied[1:], pairs=3)))
    assert fits.verdict == Verdict(4, 1000, 3, 3, 3, 3, 0, 0, 1, 0, 0.01, True, True)
    nothing = replace(found, later_check=Deferred.of(ModelCheck(0.01, (), pairs=3)))
    assert nothing.verdict.fits is None


def test_an_edge_counts_as_one_direction_and_needs_all_its_arrowheads() -> None:
    learned = ("A o-> C", "C <-> D", "B o-> D")
    weaker = PAG.from_edges("A o-> C", "C o-> D", "B o-> D", nodes=["A", "C", "D", "B"])
    pag = PAG.from_edges(*learned)
    grounds = Deferred.of(Grounds(Stability.of([pag] * 30 + [weaker] * 10)))
    verdict = made(*learned, later_grounds=grounds).verdict
    assert (verdict.directions, verdict.supported) == (3, 2)
    assert made(*learned).verdict.supported == 3


def test_stable_edges_are_those_in_at_least_90_percent_of_resamples() -> None:
    one, none = PAG.from_edges("A o-o B", "B o-o C"), PAG.from_edges("A o-o B", nodes=["A", "B", "C"])
    for missing, stable in ((4, 2), (5, 1)):
        grounds = Deferred.of(Grounds(Stability.of([one] * (40 - missing) + [none] * missing)))
        assert made("A o-o B", "B o-o C", later_grounds=grounds).verdict.stable == stable
    assert made("A o-o B", later_grounds=Deferred.of(Grounds())).verdict.stable is None


def test_an_illegal_pag_supports_no_direction() -> None:
    verdict = made("A o-> C", "B o-> C", "C o-o D").verdict
    assert (verdict.legal, verdict.directions, verdict.supported) == (False, 2, 0)
    assert made("A o-> C", "B o-> C", "C o-o D", undecided=(("C", "D"),)).verdict.legal


def test_the_strongest_bend_is_named() -> None:
    bends = (Bend("A", "B", 0.6, 1e-9), Bend("C", "B", 0.3, 1e-5))
    grounds = Deferred.of(Grounds(None, bends))
    assert made("A o-> B", "C o-> B", later_grounds=grounds).verdict.curved == ("A", "B")
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    assert LMarvel().fit({"A": a, "B": a + a**2 + rng.normal(size=500)}).result_.verdict.curved == ("A", "B")


def test_a_search_that_was_cut_short_counts_no_undecided_pair_as_an_association() -> None:
    found = LMarvel(max_tests=1, boundary="gs").fit(CARS).result_
    assert found.nothing_learned
    assert (found.verdict.associations, found.verdict.undecided) == (0, 15)
    rng = np.random.default_rng(0)
    table = {f"V{v}": column for v, column in enumerate(rng.normal(size=(60, 200)))}
    some = FCI(boundary="none", max_tests=1768).fit(table).result_  # most pairs are separated, the others undecided
    assert 0 < len(some.undecided) == some.pag.n_edges < 60 * 59 // 2
    assert some.verdict.associations == 0
    decided = made("A o-o B", "B o-o C", undecided=(("A", "B"),), later_grounds=Deferred.of(Grounds())).verdict
    assert (decided.associations, decided.undecided) == (1, 1)


def test_an_oracle_gives_neither_rows_nor_a_fit() -> None:
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D"))).fit().result_
    assert found.verdict == Verdict(4, None, 3, None, 3, 3, 0, 0, 0, 0, 0.0, None, True)


def test_directions_that_were_stated_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    table = {"A": a, "B": a + rng.normal(size=500)}
    found = Lift(knowledge=Knowledge(tiers=[["A"], ["B"]])).fit(table).result_
    assert (found.verdict.directions, found.verdict.supported, found.verdict.stated) == (1, 1, 1)
    assert found.verdict.lines[1] == "0 of 1 arrow direction is supported by the data. 1 is as you stated."


# --- surfaces ---------------------------------------------------------------------------------------------


def test_the_verdict_comes_first_on_every_surface(tmp_path: Path) -> None:
    found = Lift(test="fisher-z").fit(CARS).result_
    text = str(found.verdict)
    assert text.splitlines()[:2] == [
        "8 associations among 6 variables (392 rows); 4 of them appear in at least 90 % of resamples.",
        "0 of 5 arrow directions are supported by the data.",
    ]
    assert str(found).startswith(text)
    assert as_text(found).startswith(text)
    assert as_text(found, details=True).startswith(text)
    assert page_of(found)["verdict"] == text.splitlines()
    html = found._repr_html_()
    assert html.index("8 associations among 6 variables") < html.index("<svg")
    found.save(tmp_path / "r.json")
    plain = json.loads((tmp_path / "r.json").read_text())
    assert plain["verdict"] == json.loads(json.dumps(found.verdict.to_dict()))
    assert plain["verdict"]["text"] == text.splitlines()
    assert plain["grades"]["basis"] == "resamples"
    assert {tuple(mark[2:]) for mark in plain["grades"]["marks"]} <= {("open", "open"), (None, "open"), ("open", None)}


def test_as_plain_data_it_has_figures_next_and_text() -> None:
    plain = replace(FITTING, curved=("A", "B")).to_dict()
    assert plain["curved"] == ("A", "B")
    assert plain["next"] == "relations are not straight lines (A and B, say): try the test 'curved'."
    assert plain["text"][-1] == f"Next: {plain['next']}"
    assert {name: plain[name] for name in ("associations", "stable", "directions", "supported", "fits")} == {
        "associations": 8,
        "stable": 7,
        "directions": 5,
        "supported": 4,
        "fits": True,
    }


def test_no_arrow_is_shown_where_none_is_supported() -> None:
    text = as_text(Lift(test="fisher-z").fit(CARS).result_)
    assert not any(arrow in text for arrow in ("-->", "<--", "<->", "o->", "<-o"))
    assert len(text.splitlines()) < 25
