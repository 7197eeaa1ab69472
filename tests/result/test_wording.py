"""The words of a result are true, honest about numbers, and the same everywhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, FCI, M3HC, MBCS, PAG, Discovery, LMarvel, MSeparation, Statistics
from lmarvel.datasets import CARS
from lmarvel.report import page_of
from lmarvel.result.power import power, powerless, powerless_note, smallest_noticed, straight_only
from lmarvel.result.trace import Adjacent, BudgetEnded
from lmarvel.result.wording import open_pairs, p_is, rounded, undecided_note
from lmarvel.simulate import LinearSEM, erdos_renyi, hide
from lmarvel.text import counted, printable, readable
from tests.cli.running import confounded, run, write_csv

SELECTED = DAG.from_edges("L1 --> A", "L1 --> S", "L2 --> S", "L2 --> B", "C --> A", "D --> B")


def sampled(seed: int, rows: int = 150) -> dict[str, np.ndarray]:
    study = hide(erdos_renyi(10, 0.35, seed=seed), 2, 1, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, data.T, strict=True))


# --- numbers ----------------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.floats(1e-6, 1))
def test_a_rounded_number_is_on_the_right_side_of_the_level(p: float, level: float) -> None:
    shown = float(rounded(p, level))
    assert (shown > level) == (p > level)
    assert (shown < level) == (p < level)
    assert shown == pytest.approx(p, rel=0.05)


def test_p_values_beyond_all_numbers_are_below_the_smallest() -> None:
    assert (p_is(0.0), p_is(1e-308), p_is(2e-300)) == ("p < 1e-300", "p < 1e-300", "p = 2e-300")
    assert (p_is(0.0099, 0.01), p_is(0.00999, 0.01), p_is(0.01001, 0.01)) == (
        "p = 0.0099",
        "p = 0.00999",
        "p = 0.01001",
    )


def test_one_of_a_thing_is_told_in_the_singular() -> None:
    assert [counted(n, "pair") for n in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]
    assert "1 pair is undecided, and it stays as an edge" in undecided_note("x", 1, False)
    assert "2 pairs are undecided, and they stay as edges" in undecided_note("x", 2, False)
    assert [open_pairs(n) for n in (0, 1)] == ["no pair is undecided", "1 pair is undecided"]
    assert undecided_note(None, 2, False, are_edges=False) == "the search ended early: 2 pairs are undecided"


def test_what_does_not_show_is_escaped() -> None:
    assert readable("\x1b[31mred\n") == '"\\u001b[31mred\\n"'
    assert printable("ü\n\x1b[31m\x9b\u202e") == "ü\n\\u001b[31m\\u009b\\u202e"


# --- what the rows can show -------------------------------------------------------------------------------


def test_what_goes_unnoticed() -> None:
    settings = {"rows": 392, "alpha": 0.01, "test": "fisher-z"}
    assert power(settings) == "with 392 rows, correlations below 0.13 go unnoticed (level 0.01)"
    assert straight_only(settings) == "curved relations are not looked for (--test curved does)"
    assert straight_only({**settings, "test": "curved"}) is None
    assert powerless(settings) is None
    assert power({**settings, "test": "Mine"}) is None
    assert power({"alpha": 0.01, "test": "fisher-z"}) is None
    few = powerless({**settings, "rows": 4})
    assert few is not None
    assert (
        powerless_note(**few)
        == "the rows cannot show anything: with 4 rows only correlations above 0.99 would be noticed"
    )
    assert powerless({**settings, "rows": 7})
    assert smallest_noticed(5000, 5e-324) < 1


@pytest.mark.parametrize("rows", [20, 100])
def test_the_smallest_correlation_is_that_of_the_test(rows: int) -> None:
    from lmarvel import FisherZ

    rng = np.random.default_rng(0)
    x, e = np.linalg.qr(rng.normal(size=(rows, 2)) - 0.0)[0].T
    x, e = x - x.mean(), e - e.mean()
    e -= x * (x @ e) / (x @ x)
    x, e = x / np.linalg.norm(x), e / np.linalg.norm(e)
    smallest = smallest_noticed(rows, 0.01)
    for r, noticed in ((smallest * 1.001, True), (smallest * 0.999, False)):
        test = FisherZ({"x": x, "y": r * x + np.sqrt(1 - r * r) * e})
        assert (test.pvalue(0, 1, []) <= 0.01) == noticed


def test_rows_that_cannot_show_anything_are_said_not_to(tmp_path) -> None:
    rng = np.random.default_rng(3)
    path = write_csv(tmp_path / "few.csv", {name: rng.normal(size=5) for name in "ab"})
    done = run("learn", path)
    assert done.out.startswith(
        "The rows cannot show anything: with 5 rows only correlations above 0.95 would be noticed.\n"
    )
    assert "\n  no edges\n" in done.out
    assert "The graph fits" not in done.out
    assert "every pair of variables is independent" not in done.out
    assert done.out.count("cannot show anything") == 1
    found = LMarvel().fit(path).result_
    assert any("cannot show anything" in note for note in found.notes)
    assert any("cannot show anything" in note for note in page_of(found)["warnings"])


# --- selection --------------------------------------------------------------------------------------------


def test_latent_causes_that_selection_ties_together_are_not_called_one() -> None:
    assert str(SELECTED.project(["L1", "L2"], ["S"]).edge("A", "B")) == "A <-> B"
    found = LMarvel(test=MSeparation(SELECTED, ["L1", "L2"], ["S"])).fit().result_
    assert "share an unmeasured" not in found.describe("A", "B")
    assert "linked by sample selection" in found.describe("A", "B")


def test_without_selection_no_word_is_lost_on_it(tmp_path) -> None:
    path = write_csv(tmp_path / "data.csv", confounded())
    out = run("learn", path, "--no-selection", "-o", tmp_path / "r.json", "--report", tmp_path / "r.html").out
    told = run("explain", tmp_path / "r.json", "B").out + run("explain", tmp_path / "r.json", "B", "C").out
    page = (tmp_path / "r.html").read_text().split("page-data")[1]
    assert "they share an unmeasured common cause" in out
    for text in (out, told, page):
        assert "in the sample" not in text
        assert "linked by" not in text


# --- what happened ----------------------------------------------------------------------------------------


def test_a_circle_agrees_with_both_marks_only_in_a_legal_pag() -> None:
    legal = Discovery(PAG.from_edges("A o-> C", "B o-> C"), {}, {}, Statistics({}, {}))
    assert "a tail and an arrowhead both agree with the tests" in str(legal.explain("A", "C"))
    illegal = Discovery(PAG.from_edges("A o-> C", "B o-> C", "C o-o D"), {}, {}, Statistics({}, {}))
    told = str(illegal.explain("A", "C"))
    assert "At A a circle: no rule decides this end\n" in told
    assert "both agree" not in told
    scored = M3HC().fit(confounded(500)).result_
    assert "agree with the tests" not in str(scored.explain("A", "B"))


@pytest.mark.parametrize(("rule", "word"), [("majority", "most"), ("conservative", "all")])
def test_colliders_by_many_sets_are_explained_so(rule: str, word: str) -> None:
    found = FCI(colliders=rule).fit(confounded()).result_
    told = str(found.explain("A", "B"))
    assert (
        f"B is a collider between A and C: of the sets of neighbours that separate these two, {word} leave it out"
        in told
    )
    assert "what separates these two" not in told
    assert "what separates these two leaves it out" in str(FCI().fit(confounded()).result_.explain("A", "B"))


def test_boundaries_that_were_given_were_not_searched() -> None:
    own = {"A": ["B"], "B": ["A", "C"], "C": ["B", "D"], "D": ["C"]}
    found = LMarvel(boundary=own).fit(confounded()).result_
    told = str(found.explain("A", "D"))
    assert "not in each other's boundary, as these were given" in told
    assert "search for Markov boundaries" not in told
    assert "They are not in each other's Markov boundary, as these were given." in found.describe("A", "D")


def test_without_boundaries_none_are_spoken_of() -> None:
    truth = MSeparation(DAG.from_edges("A --> B"))
    assert "Markov boundary" not in str(FCI(test=truth).fit().result_.explain("A", "B"))
    assert "Markov boundary" in str(MBCS(test=truth).fit().result_.explain("A", "B"))


def test_what_ended_a_search_is_what_the_trace_says() -> None:
    graph = PAG.from_edges("A o-o B", "B o-o C")
    found = Discovery(graph, {}, {}, Statistics({}, {}), undecided=(("A", "B"),))
    assert found.budget_ended is None
    assert found.notes[0].startswith("the search ended early: 1 pair is undecided")
    ended = (BudgetEnded("25 rows are too few for sets of 22"), BudgetEnded("max_tests=3 is used up"))
    found = Discovery(graph, {}, {}, Statistics({}, {}), ended, undecided=(("A", "B"),))
    assert found.budget_ended == "25 rows are too few for sets of 22; max_tests=3 is used up"


# --- contested edges --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def contested() -> Discovery:
    tried = (LMarvel(faithful=True).fit(sampled(seed)).result_ for seed in range(60))
    return next(found for found in tried if found.contested)


def test_edges_on_which_the_tests_disagree_are_listed(contested: Discovery) -> None:
    kept = {frozenset((e.x, e.y)): e for e in contested.trace if isinstance(e, Adjacent)}
    index = contested.pag.index
    for a, b, given_, p in contested.contested:
        event = kept[frozenset((index(a), index(b)))]
        assert contested.pag.has_edge(a, b)
        assert p == event.pvalue > 0.01
        assert given_ == {contested.pag.names[v] for v in event.strongest}
        assert "the tests disagree" in str(contested.explain(a, b))
    assert contested.to_dict()["contested"] == [
        {"pair": [a, b], "given": sorted(s), "pvalue": p} for a, b, s, p in contested.contested
    ]
    assert Discovery.from_dict(json.loads(json.dumps(contested.to_dict()))).contested == contested.contested


def test_edges_on_which_the_tests_disagree_are_shown_everywhere(contested: Discovery, tmp_path) -> None:
    from lmarvel.cli.text import as_text

    many = len(contested.contested)
    assert as_text(contested).count("the tests disagree: independent given ") == many
    assert f"the tests disagree on {counted(many, 'edge')}" in as_text(contested)
    contested.save(tmp_path / "r.json")
    a, b, _, _ = contested.contested[0]
    assert "the tests disagree: independent given " in run("explain", tmp_path / "r.json", a).out
    assert "the tests disagree" in run("explain", tmp_path / "r.json", a, b).out
    assert disputed(contested) == {frozenset((a, b)) for a, b, _, _ in contested.contested}


def test_sure_edges_are_not_contested() -> None:
    found = LMarvel().fit(CARS).result_
    assert found.contested == ()
    assert disputed(found) == set()


def disputed(found: Discovery) -> set[frozenset[str]]:
    """Return the edges on which the report's picture says that the tests disagree."""
    return {
        frozenset((edge["a"], edge["b"]))
        for edge in page_of(found)["edges"]
        for sign in edge["signs"]
        if sign["badge"] == "Contradicted" and "the tests disagree" in sign["text"]
    }
