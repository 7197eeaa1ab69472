"""The signs on edges say what the result says of them, and no more."""

from __future__ import annotations

from itertools import pairwise

from lmarvel import DAG, Knowledge, LMarvel, MSeparation
from lmarvel.datasets import CARS
from lmarvel.report import page_of
from lmarvel.report.signs import Signs
from lmarvel.result.support.reliability import unfounded
from lmarvel.simulate import LinearSEM, hide, load_network
from tests.result.test_wording import sampled

CHAIN = MSeparation(DAG.from_edges("A --> B", "B --> C"))


def badges(found):
    signs = Signs(found)
    return {str(edge): [sign.badge for sign in signs.on(edge)] for edge in found.pag.edges()}


def test_a_sound_result_has_no_signs():
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D"))).fit().result_
    assert set(map(tuple, badges(found).values())) == {()}
    page = page_of(found)
    assert page["signs"] == []


def test_edges_of_a_cycle_are_contradicted():
    found = LMarvel().fit(CARS).result_
    assert "directed cycle" in found.why_illegal
    cycle = found.why_illegal.split("directed cycle: ")[1].split(" --> ")
    told = badges(found)
    for a, b in pairwise(cycle):
        assert "Contradicted" in told[str(found.pag.edge(a, b))]
    assert told["Displacement --> Cylinders"] == []
    assert [sign["badge"] for sign in page_of(found)["signs"]] == ["Contradicted"]


def test_what_the_search_left_open_is_undecided():
    found = LMarvel(max_tests=16).fit(CARS).result_
    told = badges(found)
    undecided = {str(found.pag.edge(a, b)) for a, b in found.undecided}
    assert undecided
    assert {text for text, words in told.items() if "Undecided" in words} == undecided


def test_contested_edges_say_which_test_disagrees():
    tried = (LMarvel(faithful=True).fit(sampled(seed)).result_ for seed in range(60))
    found = next(result for result in tried if result.contested)
    a, b, *_ = found.contested[0]
    sign = next(one for one in Signs(found).on(found.pag.edge(a, b)) if one.badge == "Contradicted")
    assert "the tests disagree: independent given" in sign.text.lower()


def test_marks_on_rejected_separations_are_marked():
    study = hide(load_network("insurance"), 3, 2, seed=0)
    model = LinearSEM.random(study.dag, seed=0)
    tried = (LMarvel().fit(model.sample(study, 1100, seed=seed)).result_ for seed in range(20))
    found = next(one for one in tried if any(unfounded(one, edge.a, edge.b) for edge in one.pag.edges()))
    told = badges(found)
    for edge in found.pag.edges():
        assert ("Doubtful" in told[str(edge)]) == (unfounded(found, edge.a, edge.b) is not None)


def test_what_was_known_is_marked_where_the_data_do_not_say_it():
    found = LMarvel(test=CHAIN, knowledge=Knowledge(tiers=[["A"], ["B", "C"]])).fit().result_
    signs = Signs(found)
    assert badges(found) == {"A o-> B": ["From statements"], "B --> C": ["From statements"]}
    assert signs.on(found.pag.edge("A", "B"))[0].text == "the mark at B follows from what you stated"
    assert signs.on(found.pag.edge("B", "C"))[0].text == "both marks follow from what you stated"


def test_a_statement_that_the_tests_deny_is_marked():
    found = LMarvel(test=CHAIN, knowledge=Knowledge(edges=[("A", "C")])).fit().result_
    told = badges(found)
    assert told[str(found.pag.edge("A", "C"))] == ["Contradicted", "From statements"]
    text = Signs(found).on(found.pag.edge("A", "C"))[0].text
    assert "you stated that A and C are adjacent" in text


def test_where_nothing_was_learned_nothing_is_told_of_pairs():
    found = LMarvel(max_tests=1).fit(CARS).result_
    assert found.nothing_learned
    page = page_of(found)
    assert page["edges"] == []
    assert page["gaps"] == {"why": "The search ended before a single pair was decided."}
