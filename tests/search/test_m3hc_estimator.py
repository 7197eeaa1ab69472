"""M3HC as an estimator: where it begins, and what it says of a run that a budget cut short."""

from __future__ import annotations

import json
import time
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from lmarvel import M3HC, Discovery, FisherZ, LMarvel, ParameterError, bic, explain_invalid, pag_to_mag
from lmarvel.cli.options import method_options
from lmarvel.result.trace import Began, Moved
from lmarvel.search.lift import LiftResult, lift
from tests.search.test_m3hc import ring, study_data

ILLEGAL = 9  # the seed of a table of which L-MARVEL learns a PAG that no MAG has


def fitted(test: FisherZ, **options: object) -> Discovery:
    return M3HC(test=test, **options).fit().result_  # type: ignore[arg-type]


def began(found: Discovery) -> list[Began]:
    return [event for event in found.trace if isinstance(event, Began)]


# --- where the climb begins -------------------------------------------------------------------------------


def test_without_a_start_there_is_no_record_of_one() -> None:
    found = fitted(study_data(0, 8))
    assert began(found) == []
    assert (found.settings["start"], found.settings["undirected"]) == ("empty", False)


@pytest.mark.parametrize("seed", range(4))
def test_the_climb_begins_with_a_mag_of_l_marvels_pag(seed: int) -> None:
    test = study_data(seed, 8)
    pag = LMarvel(test=test).fit().pag_
    still = fitted(test, start="lmarvel", max_iterations=0)
    assert still.trace[0] == Began("lmarvel", "a MAG of L-MARVEL's PAG")
    assert still.pag == pag
    edge = next(pag.edges())
    assert "the graph that the search by score chose has it" in str(still.explain(edge.a, edge.b))
    found = fitted(test, start="lmarvel")
    assert found.bic is not None
    assert found.bic <= bic(pag_to_mag(pag), test) + 1e-6
    assert explain_invalid(found.pag) is None


def test_the_tests_of_l_marvel_count_and_a_test_of_both_counts_once() -> None:
    test = study_data(1, 8)
    plain, begun = fitted(test).stats, fitted(test, start="lmarvel").stats
    alone = LMarvel(test=test).fit().result_.stats
    assert "adjacency" in begun.tests
    assert "adjacency" not in plain.tests
    assert max(plain.n_tests, alone.n_tests) <= begun.n_tests < plain.n_tests + alone.n_tests


def test_an_illegal_pag_is_no_start_and_the_result_says_so() -> None:
    test = study_data(ILLEGAL, 8, rows=300)
    why = explain_invalid(LMarvel(test=test).fit().pag_)
    found, plain = fitted(test, start="lmarvel"), fitted(test)
    assert found.trace[0] == Began("empty", f"L-MARVEL's PAG is not legal: no MAG has this PAG: {why}")
    assert found.settings["start"] == "lmarvel"
    assert (found.pag, found.bic, found.trace[1:]) == (plain.pag, plain.bic, plain.trace)


def test_l_marvel_cut_short_is_no_start() -> None:
    test = study_data(1, 8)
    most = fitted(test).stats.tests["boundary"]
    found = fitted(test, start="lmarvel", max_tests=sum(most.values()) + 3)
    assert found.trace[0] == Began("empty", "L-MARVEL was cut short")
    assert "max_tests" in str(found.budget_ended)


def test_undirected_edges_of_the_start_need_a_climb_that_knows_them() -> None:
    test = ring()
    edges = {(f"X{i}", f"X{j}", "---") for i, j in ((0, 1), (1, 2), (2, 3), (0, 3))}
    for start in ("lmarvel", "lift"):
        found = fitted(test, start=start, undirected=True)
        assert found.trace[0].graph == start  # type: ignore[union-attr]
        assert {(e.a, e.b, "---") for e in found.pag.edges() if str(e) == f"{e.a} --- {e.b}"} == edges
    told = "a MAG of L-MARVEL's PAG was not taken: it has undirected edges, which this search does not know"
    assert began(fitted(test, start="lmarvel")) == [Began("empty", told)]
    for options in ({"start": "lift"}, {"start": "lift", "undirected": True, "selection": False}):
        found = fitted(test, **options)
        assert found.trace[0] == Began("lift", "Lift's MAG")
        assert found.mag is not None
        assert not any(" --- " in str(edge) for edge in found.mag.edges())


def test_lift_makes_no_test_and_is_left_alone_where_it_has_no_graph() -> None:
    test = study_data(2, 8)
    found = fitted(test, start="lift")
    assert found.trace[0] == Began("lift", "Lift's MAG")
    assert found.stats.tests == fitted(test).stats.tests
    few = FisherZ(np.random.default_rng(0).normal(size=(4, 8)))
    (record,) = began(fitted(few, start="lift"))
    assert record.graph == "empty"
    assert record.reason.startswith("Lift has no graph: 4 rows are too few")


@pytest.mark.parametrize("options", [{"start": "lmarvel"}, {"start": "lift", "undirected": True}])
def test_the_order_of_columns_does_not_matter(options: dict[str, object]) -> None:
    data = study_data(3, 8, selection=2)
    order = np.random.default_rng(0).permutation(8).tolist()
    turned = FisherZ(data.moments.take(order))
    first, second = fitted(data, **options), fitted(turned, **options)
    assert all(first.pag.edge(a, b) == second.pag.edge(a, b) for a, b in combinations(data.names, 2))
    assert first.bic == pytest.approx(second.bic, abs=1e-6)


def test_a_result_with_its_start_comes_back_from_its_file() -> None:
    for options in ({"start": "lmarvel"}, {"start": "lift", "undirected": True}):
        found = fitted(study_data(3, 8, selection=2), **options)
        assert Discovery.from_dict(json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "fci"}, "start must be one of empty, lmarvel, lift, not 'fci'"),
        ({"start": None}, "start must be one of"),
        ({"start": "lmarvel", "boundary": "none"}, "needs Markov boundaries"),
        ({"undirected": "yes"}, "undirected must be True or False"),
    ],
)
def test_parameters_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fitted(study_data(3, 4), **options)


def test_the_command_line_says_what_the_options_are_for() -> None:
    options = method_options()
    assert options["undirected"].help == (
        "m3hc: Whether the climb tries undirected edges too, which say that the sample was selected."
    )
    assert options["start"].choices == ("empty", "lmarvel", "lift")
    assert options["start"].help.startswith("m3hc: Where the climb begins: ")


# --- cut short --------------------------------------------------------------------------------------------


def test_tests_that_ran_out_leave_pairs_open_and_the_note_says_why() -> None:
    test = study_data(20, 8)
    found = fitted(test, boundary="none", max_tests=40)
    assert found.undecided
    assert found.undecided_note == (
        "the search ended early (max_tests=40 is used up while pairs were tested):"
        f" {len(found.undecided)} pairs are undecided"
    )
    assert found.notes[0] == found.undecided_note
    assert Discovery.from_dict(found.to_dict()) == found


def test_time_that_ran_out_in_the_climb_leaves_pairs_open_and_the_note_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = 0.0
    monkeypatch.setattr("lmarvel.ci.ledger.time", SimpleNamespace(monotonic=lambda: time.monotonic() + late))

    def stop(phase: str, done: int, total: int) -> None:
        nonlocal late
        late = 1e6 * (phase == "search")

    test = study_data(20, 8)
    found = M3HC(test=test, max_seconds=1000).fit(progress=stop).result_
    assert sum(isinstance(event, Moved) for event in found.trace) == found.pag.n_edges == 1
    assert found.undecided_note == (
        "the search ended early (max_seconds is used up while edges were changed):"
        f" {len(found.undecided)} pairs are undecided"
    )
    # What goes on to change in a run without a limit was open.
    late = 0.0
    whole = M3HC(test=test, max_seconds=1000).fit().result_
    names = test.names
    changed = {
        frozenset(pair)
        for pair in combinations(names, 2)
        if whole.mag is not None and found.mag is not None and whole.mag.edge(*pair) != found.mag.edge(*pair)
    }
    open_pairs = set(map(frozenset, found.undecided))
    assert changed
    assert changed <= open_pairs
    a, b = next(pair for pair in found.undecided if not found.pag.has_edge(*pair))
    told = "the search by score left the edge out, but ended before the pair was settled"
    assert told in str(found.explain(a, b))
    assert told[1:] in found.describe(a, b)
    assert "but ended" not in whole.describe(a, b)


def test_a_limit_on_conditioning_sets_is_the_reason_of_what_it_leaves_open() -> None:
    found = fitted(study_data(20, 8), max_conditioning=1)
    assert found.undecided
    assert found.budget_ended == "max_conditioning=1 limited the search while pairs were tested"


def test_lift_cut_short_is_a_start_and_the_record_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(stage: str, done: int, total: int) -> None:
        if stage == "lift":  # orders are there
            time.sleep(0.6)

    def cut_short(correlation: np.ndarray, n: int, **how: object) -> LiftResult:
        how |= {"deadline": time.monotonic() + 0.5, "progress": slow}
        return lift(correlation, n, **how)  # type: ignore[arg-type]

    monkeypatch.setattr("lmarvel.estimators.scored.lift", cut_short)
    found = fitted(study_data(20, 8), start="lift", max_seconds=1000)
    assert found.trace[0] == Began("lift", "Lift's MAG, cut short: the time limit was reached")
    assert found.budget_ended is None  # the climb itself came to its end
    assert found.pag.n_edges


def test_lift_without_a_graph_in_its_time_is_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.search.record.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 1e6))
    found = fitted(study_data(20, 8), start="lift", max_seconds=1000)
    assert found.trace[0] == Began("empty", "Lift had no graph when its share of the time limit was reached")
    assert found.budget_ended is None
    assert found.pag.n_edges
