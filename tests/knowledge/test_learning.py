"""Knowledge in every method: exact with an oracle, fewer tests; on data it is kept, and conflicts are told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lmarvel import (
    DAG,
    FCI,
    M3HC,
    MAG,
    MBCS,
    RFCI,
    Auto,
    Discovery,
    Knowledge,
    Lift,
    LMarvel,
    MSeparation,
    explain_invalid,
    mag_to_pag,
)
from lmarvel.datasets import CARS
from lmarvel.estimators.compare import compare
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge.draw import true_statements
from lmarvel.report.build import page_of
from lmarvel.result.sources import costs_of
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide

TIERS = Knowledge(tiers=[["Cylinders", "Displacement", "Weight"], ["Horsepower"], ["SecondsTo60", "MilesPerGallon"]])
TESTING = (LMarvel, FCI, RFCI, MBCS)
ALL = (*TESTING, Lift, M3HC, Auto)


def random_mag(seed: int, n: int = 8) -> MAG:
    return hide(erdos_renyi(n + 2, 0.3, seed=seed), 1, 1, seed=seed).mag


@pytest.mark.parametrize("method", [LMarvel, FCI, MBCS])
def test_with_an_oracle_the_marks_are_those_of_the_class_that_fit(method):
    without = told = 0
    for seed in range(12):
        mag = random_mag(seed)
        counts = [{"tiers": 3}, {"causes": 2, "edges": 1}, {"not_causes": 4, "no_edges": 2}, {"exogenous": 1}][seed % 4]
        knowledge = true_statements(mag, **counts, seed=seed)
        plain, found = (method(test=MSeparation(mag), knowledge=k).fit() for k in (None, knowledge))
        assert plain.pag_ == mag_to_pag(mag)
        assert found.pag_ == mag_to_pag(mag, knowledge=knowledge)
        assert found.result_.unaided == plain.pag_
        assert found.result_.conflicts == ()
        assert found.result_.why_illegal is None
        without, told = without + plain.n_ci_tests_, told + found.n_ci_tests_
    assert told < without


def test_later_tiers_are_in_no_separating_set():
    mag = random_mag(3)
    knowledge = true_statements(mag, tiers=3, seed=0)
    tier = {name: k for k, names in enumerate(knowledge.tiers) for name in names}
    for method in TESTING:
        found = method(test=MSeparation(mag), knowledge=knowledge).fit().result_
        phases = {"adjacency", "removability", "possible-d-sep", "collider-set", "gaps"}
        for e in found.trace:
            if type(e).__name__ == "Separated" and e.phase in phases:
                names = found.pag.names
                assert all(tier[names[v]] <= max(tier[names[e.x]], tier[names[e.y]]) for v in e.sepset)


@pytest.mark.parametrize("method", ALL)
def test_on_data_the_result_fits_what_is_known(method):
    found = method(knowledge=TIERS).fit(CARS).result_
    late = {name: k for k, tier in enumerate(TIERS.tiers) for name in tier}
    for a, b, at_a, at_b in found.pag.edges():
        if late[a] != late[b]:
            assert (at_a if late[a] > late[b] else at_b) == ARROW
    if found.mag is not None:
        assert explain_invalid(found.mag, TIERS) is None


@pytest.mark.parametrize("method", ALL)
def test_edges_causes_and_gaps_are_kept(method):
    said = Knowledge(
        edges=[("Cylinders", "SecondsTo60")],
        no_edges=[("Displacement", "Weight")],
        causes=[("Weight", "Horsepower")],
        not_causes=[("MilesPerGallon", "Cylinders")],
    )
    found = method(knowledge=said).fit(CARS).result_
    assert found.pag.edge("Cylinders", "SecondsTo60") is not None
    assert found.pag.edge("Displacement", "Weight") is None
    if found.mag is not None:
        assert explain_invalid(found.mag, said) is None


def test_conflicts_are_kept_and_listed_with_the_p_value():
    said = Knowledge(edges=[("Cylinders", "SecondsTo60")], no_edges=[("Displacement", "Weight")])
    found = LMarvel(knowledge=said).fit(CARS).result_
    by_pair = {frozenset((c.a, c.b)): c for c in found.conflicts}
    separated = by_pair[frozenset(("Cylinders", "SecondsTo60"))]
    joined = by_pair[frozenset(("Displacement", "Weight"))]
    assert separated.statement == "you stated that Cylinders and SecondsTo60 are adjacent"
    assert separated.pvalue > 0.01 > joined.pvalue
    assert "the data contradict 2 statements; they were kept" in found.notes
    assert "yet the tests find them independent" in str(found.explain("Cylinders", "SecondsTo60"))
    assert "yet no set that was tried separates them" in str(found.explain("Displacement", "Weight"))


@pytest.mark.parametrize("method", TESTING)
def test_a_gap_that_only_a_statement_makes_brings_no_mark(method):
    mag = MAG.from_edges("A --> B", "B <-> C", "C --> D", "B --> D", "A --> D")  # said to have no edge A - D
    found = method(test=MSeparation(mag), knowledge=Knowledge(no_edges=[("A", "D")], causes=[("B", "D")])).fit().result_
    assert found.pag.edge("A", "D") is None
    assert [(c.a, c.b) for c in found.conflicts] == [("A", "D")]
    assert not any(use.rule == "R4" for use in found.rules)


def test_a_required_edge_is_told_once():
    mag = MAG.from_edges("A --> B", "B --> C", "C --> D", "A --> E", "E --> D")
    found = FCI(test=MSeparation(mag), knowledge=Knowledge(edges=[("A", "D")])).fit().result_
    assert sum(type(e).__name__ == "Overruled" for e in found.trace) == 1


def test_a_collider_that_a_statement_denies_is_a_conflict_and_brings_no_other_mark():
    truth = MSeparation(DAG.from_edges("A --> B", "C --> B"))
    found = LMarvel(test=truth, knowledge=Knowledge(causes=[("B", "A")])).fit().result_
    assert [(c.a, c.b, c.given, c.pvalue) for c in found.conflicts] == [("A", "B", (), 1.0)]
    assert found.pag.marks[found.pag.index("A"), found.pag.index("B")] == TAIL
    assert found.pag.marks[found.pag.index("C"), found.pag.index("B")] == CIRCLE


def test_the_only_way_from_a_cause_to_its_effect_is_directed_and_explained():
    truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
    found = LMarvel(test=truth, knowledge=Knowledge(causes=[("A", "C")])).fit().result_
    assert str(found.pag).splitlines()[1:] == ["A --> B", "B --> C"]
    assert "you stated that A causes C, and no other way is left" in str(found.explain("A", "B"))
    denied = LMarvel(test=truth, knowledge=Knowledge(not_causes=[("A", "C")])).fit().result_
    assert "A to B to C: otherwise A would be a cause of C, and you stated that it is not" in str(
        denied.explain("A", "B")
    )


def test_explanations_cite_statements_and_results_tell_sources():
    truth = MSeparation(DAG.from_edges("A --> B", "B --> C", "D --> C"))
    found = LMarvel(test=truth, knowledge=Knowledge(tiers=[["A", "D"], ["B", "C"]], selection=False)).fit().result_
    told = str(found.explain("A", "B"))
    assert "At B an arrowhead: you stated that nothing in tier 2 causes tier 1" in told
    assert "being in the sample" not in told
    assert found.source("A", "B") == "knowledge"
    assert found.source("D", "C") == "both"
    assert found.source("C", "B") == "together"
    assert found.source("B", "C") == "data"
    assert found.source("B", "A") is None
    assert found.sources == {"knowledge": 1, "both": 1, "together": 1, "data": 1}
    page = page_of(found)
    assert page["knowledge"]["statements"] == ["tiers: A, D < B, C", "no selection"]
    assert ["not determined", "from what was known"] in [edge["sources"] for edge in page["edges"]]


@pytest.mark.parametrize("method", [LMarvel, Lift])
def test_a_result_file_keeps_it(method, tmp_path):
    found = method(knowledge=TIERS).fit(CARS).result_
    found.save(tmp_path / "found.json")
    again = Discovery.load(tmp_path / "found.json")
    assert again == found
    assert again.knowledge == TIERS
    assert again.sources == found.sources
    assert str(again.explain("Weight", "MilesPerGallon")) == str(found.explain("Weight", "MilesPerGallon"))
    assert "knowledge" not in LMarvel().fit(CARS).result_.to_dict()
    assert "knowledge" not in json.loads((tmp_path / "found.json").read_text())["settings"]


def test_without_latents_and_selection_the_result_is_a_cpdag():
    dag = DAG.from_edges("A --> B", "B --> C", "A --> C", "D --> C", "C --> E")
    said = Knowledge(selection=False, latents=False)
    found = LMarvel(test=MSeparation(dag), knowledge=said).fit()
    assert str(found.pag_).splitlines()[1:] == ["A o-o B", "A --> C", "B --> C", "D --> C", "C --> E"]
    assert "unmeasured" not in found.result_.describe("A", "B")
    assert "sample" not in found.result_.describe("A", "B")


def test_lift_has_no_hidden_causes_where_there_are_none():
    study = hide(erdos_renyi(10, 0.3, seed=1), 2, 1, seed=1)
    data = LinearSEM.random(study.dag, seed=1).sample(study, 500, seed=1)
    mag = Lift(knowledge=Knowledge(selection=False, latents=False)).fit(data, names=study.observed).mag_
    assert not ((mag.marks == ARROW) & (mag.marks.T == ARROW)).any()
    assert not ((mag.marks == TAIL) & (mag.marks.T == TAIL)).any()


def test_the_order_of_columns_does_not_matter():
    table = {name: np.random.default_rng(i).normal(size=300) for i, name in enumerate("ABCD")}
    table["C"] = table["C"] + table["A"]
    table["D"] = table["D"] + table["C"] + table["B"]
    said = Knowledge(tiers=[["A", "B"], ["C", "D"]], no_edges=[("A", "D")])
    turned = {name: table[name] for name in "DBCA"}
    one, other = (LMarvel(knowledge=said).fit(t).pag_ for t in (table, turned))
    assert one == other


def test_what_is_no_knowledge_is_refused_and_parameters_join_it():
    with pytest.raises(ValueError, match="knowledge must be a Knowledge"):
        LMarvel(knowledge={"tiers": []}).fit(CARS)
    found = LMarvel(selection=False, knowledge=TIERS).fit(CARS).result_
    assert found.knowledge is not None
    assert not found.knowledge.selection
    assert LMarvel(knowledge=Knowledge(selection=False)).fit(CARS).result_.settings["selection"] is False


def test_comparison_scores_results_with_knowledge():
    compared = compare(CARS, ["lmarvel", "mbcs"], knowledge=TIERS)
    assert all(found.knowledge == TIERS for found in compared.results.values())


def test_a_study_draws_true_statements():
    study = Study(DAG.from_edges("A --> B", "B --> C", "U --> C", "U --> D"), ("U",))
    for seed in range(20):
        said = study.knowledge(tiers=2, causes=2, not_causes=2, edges=1, no_edges=1, exogenous=1, seed=seed)
        assert explain_invalid(study.mag, said) is None
        assert said.latents
        assert not said.selection


def test_what_statements_cost_the_score_is_told_and_kept():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000))
    data = {"A": a, "B": a + b, "C": a + b + c}
    said = Knowledge(no_edges=[("A", "B")], tiers=[["A"], ["B"], ["C"]])
    found = Lift(knowledge=said).fit(data).result_
    costs, price = costs_of(found), found.evidence.chose.price
    assert costs["no edge A - B"] > price > costs["tiers: A < B < C"]
    assert costs[""] >= costs["no edge A - B"] - 1e-6
    assert found.evidence.chose.score - costs[""] == pytest.approx(Lift().fit(data).bic_)
    assert [(c.a, c.b, c.loss) for c in found.conflicts] == [("A", "B", costs["no edge A - B"])]
    again = Discovery.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.conflicts == found.conflicts
    assert str(again.knowledge) == str(said)


def test_with_curves_only_statements_on_edges_are_weighed():
    said = Knowledge(no_edges=[("Displacement", "Weight")], tiers=[["Weight"], ["MilesPerGallon"]])
    found = Lift(knowledge=said).fit(CARS).result_
    assert found.settings["test"] == "curved"
    assert {*costs_of(found)} == {"no edge Displacement - Weight"}
    assert [(c.a, c.b) for c in found.conflicts] == [("Displacement", "Weight")]


def test_a_search_over_kinds_recovers_from_what_a_statement_excludes():
    some = Lift(knowledge=Knowledge(not_causes=[("MilesPerGallon", "Weight")])).fit(CARS)
    others = ["MilesPerGallon", "Cylinders", "Displacement", "Horsepower", "SecondsTo60"]
    more = Lift(knowledge=Knowledge(tiers=[["Weight"], others])).fit(CARS)
    assert some.bic_ <= more.bic_ + 1e-6  # it says less


def test_beside_m3hc_statements_cost_what_they_cost_lift():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000))
    data = {"A": a, "B": a + b, "C": a + b + c}
    said = Knowledge(no_edges=[("A", "B")])
    found = M3HC(knowledge=said).fit(data).result_
    assert costs_of(found) == pytest.approx(costs_of(Lift(knowledge=said).fit(data).result_))
    assert [(c.a, c.b, c.loss) for c in found.conflicts] == [("A", "B", costs_of(found)["no edge A - B"])]
    assert M3HC(knowledge=Knowledge(tiers=[["A"], ["B"], ["C"]])).fit(data).result_.conflicts == ()
