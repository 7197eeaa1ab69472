"""What speaks for each part of Lift's graph: the records are true of the graph, of the data and of the scores."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from lmarvel import MAG, Discovery, FisherZ, Lift
from lmarvel.graph.bitsets import bits
from lmarvel.graph.marks import CIRCLE
from lmarvel.graph.separation import m_separated
from lmarvel.result.file.records import decode_event, encode_event
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, Supported, Weighed, moved
from lmarvel.search.ancestral import NO_EDGE, AncestralGraph
from lmarvel.search.evidence import evidence, separating
from lmarvel.search.lift import HiddenNode as FoundNode
from lmarvel.search.lift import lift
from lmarvel.search.record import MetGraphs, edges_of_marks
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood
from lmarvel.simulate import LinearSEM, erdos_renyi, hide
from tests.generators import random_study
from tests.reference.lift.support import pags_of, support

SEEDS = range(8)


@cache
def table(seed: int, variables: int = 11, rows: int = 500) -> dict[str, np.ndarray]:
    study = hide(erdos_renyi(variables, 2.5 / (variables - 1), seed=seed), 2, 1, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, data.T, strict=True))


@cache
def learned(seed: int) -> Discovery:
    return Lift().fit(table(seed)).result_


def of_kind(found: Discovery, kind: type) -> list:
    return [e for e in found.trace if isinstance(e, kind)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_part_has_its_record(seed: int) -> None:
    found = learned(seed)
    pairs = {kind: [frozenset((e.x, e.y)) for e in of_kind(found, kind)] for kind in (Weighed, LeftOut)}
    everything = {frozenset(pair) for pair in combinations(range(len(found.pag)), 2)}
    joined = {frozenset(map(int, pair)) for pair in np.argwhere(found.pag.marks)}
    assert sorted(map(sorted, pairs[Weighed])) == sorted(map(sorted, joined))
    assert sorted(map(sorted, pairs[LeftOut])) == sorted(map(sorted, everything - joined))
    assert {(e.x, e.y) for e in of_kind(found, Supported)} == set(map(tuple, np.argwhere(found.pag.marks > CIRCLE)))
    (chose,) = of_kind(found, Chose)
    assert chose.score == found.bic
    assert chose.price == pytest.approx(2 * math.log(500))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_recorded_of_tests_is_true(seed: int) -> None:
    found, test = learned(seed), FisherZ(table(seed))
    mag = found.mag
    assert mag is not None
    for e in of_kind(found, LeftOut):
        assert m_separated(mag, 1 << e.x, 1 << e.y, bits(e.given))
        for v in e.given:  # none is superfluous
            assert not m_separated(mag, 1 << e.x, 1 << e.y, bits(e.given - {v}))
        assert 0 <= e.loss <= found.evidence.chose.price + 1e-6
    for e in of_kind(found, Weighed):
        marks = mag.marks.copy()
        marks[e.x, e.y] = marks[e.y, e.x] = 0
        without = MAG._trusted(mag.names, marks)
        near = [mag.masks.adjacent[v] & ~bits((e.x, e.y)) for v in (e.x, e.y)]
        assert m_separated(without, 1 << e.x, 1 << e.y, bits(e.given)) or bits(e.given) in near
        assert 0 <= e.loss < math.inf
    for e in (*of_kind(found, LeftOut), *of_kind(found, Weighed)):
        assert e.pvalue == pytest.approx(test.pvalue(e.x, e.y, sorted(e.given)), rel=1e-6, abs=1e-300)
    assert all(e.distance is None or e.distance >= 0 for e in of_kind(found, Supported))


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_are_those_of_refitted_graphs(seed: int) -> None:
    R, n = np.corrcoef(np.column_stack(list(table(seed).values())).T), 500
    found = lift(R, n)
    scores = GaussianBlocks(R, n)
    records = evidence(found, R, n, lambda x, y, given: 0.5)
    met = support(found.pag, found.score, pags_of(found.seen))
    for e in records:
        if isinstance(e, Weighed):
            graph = AncestralGraph.of_marks(found.mag)
            graph.apply(e.x, e.y, NO_EDGE)
            score = minus_two_log_likelihood(scores, graph) + 2 * math.log(n) * graph.n_edges
            assert e.loss <= max(score - found.score, 0.0) + 1e-6
            assert all(e.loss <= score - found.score + 1e-6 for score, m in found.seen if not m[e.x, e.y])
        elif isinstance(e, Supported):
            assert (math.inf if e.distance is None else e.distance) <= met[e.x, e.y] + 1e-6


def test_a_mark_that_one_edge_more_undoes_is_worth_no_more_than_its_price() -> None:
    R = np.eye(3) + 0.5 * np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    records = evidence(lift(R, 500), R, 500, lambda x, y, given: 0.5)
    assert [e.distance for e in records if isinstance(e, Supported)] == [pytest.approx(2 * math.log(500))] * 2


def test_the_support_does_not_hang_on_what_the_search_met() -> None:
    R = np.eye(3) + 0.5 * np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    found = lift(R, 500)
    blind = replace(found, seen=MetGraphs([(found.score, edges_of_marks(found.mag))]))
    marks = [e for e in evidence(blind, R, 500, lambda x, y, given: 0.5) if isinstance(e, Supported)]
    assert [round(e.distance, 6) for e in marks] == [round(2 * math.log(500), 6)] * 2


@pytest.mark.parametrize("seed", range(30))
def test_separating_sets_of_random_mags_separate_and_are_minimal(seed: int) -> None:
    dag, latent, selection = random_study(np.random.default_rng(seed), 10, latent=2, selection=1, degree=3.0)
    mag = dag.project(latent, selection)
    anterior = [a | b for a, b in zip(mag.masks.parents, mag.masks.neighbors, strict=True)]
    for x, y in combinations(range(len(mag)), 2):
        if not mag.marks[x, y]:
            found = separating(mag, anterior, x, y)
            assert m_separated(mag, 1 << x, 1 << y, bits(found))
            assert all(not m_separated(mag, 1 << x, 1 << y, bits(found) & ~(1 << v)) for v in found)


def by_name(found: Discovery) -> set[tuple]:
    """The records without positions; figures are rounded."""
    names, plain = found.pag.names, set()
    for e in found.trace:
        if isinstance(e, Weighed | LeftOut):
            given = frozenset(names[v] for v in e.given)
            plain.add((type(e), frozenset((names[e.x], names[e.y])), round(e.loss, 4), given, round(e.pvalue, 6)))
        elif isinstance(e, Supported):
            plain.add((names[e.x], names[e.y], None if e.distance is None else round(e.distance, 4)))
    return plain


@pytest.mark.parametrize("seed", range(4))
def test_permuted_columns_give_the_same_records(seed: int) -> None:
    columns = table(seed)
    order = np.random.default_rng(seed).permutation(list(columns)).tolist()
    other = Lift().fit({name: columns[name] for name in order}).result_
    assert by_name(other) == by_name(learned(seed))
    assert {(k, frozenset(n)) for k, n, _ in other.hidden} == {(k, frozenset(n)) for k, n, _ in learned(seed).hidden}


RECORDS: list[Event] = [
    Chose("lift", 1234.5, 13.8, 0.0),
    Chose("hidden", 1234.5, 13.8, None),
    HiddenNode("latent", frozenset({0, 2}), 12.5),
    Weighed(0, 2, 34.2, frozenset({1}), 0.25),
    LeftOut(0, 1, 9.4, frozenset(), 0.5),
    Supported(2, 1, 12.0),
    Supported(1, 2, None),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda e: type(e).__name__)
def test_records_are_moved_and_written_and_come_back(record: Event) -> None:
    place = [2, 0, 1]
    back = np.argsort(place).tolist()
    assert moved(moved(record, place), back) == record
    names = ["A", "B", "C"]
    plain = encode_event(record, names)
    assert decode_event(plain, {name: i for i, name in enumerate(names)}) == record
    if isinstance(record, Supported | Weighed | LeftOut):
        assert {plain["x"], plain["y"]} == {names[record.x], names[record.y]}
        assert {names[v] for v in (moved(record, place).x, moved(record, place).y)} == {
            names[place[v]] for v in (record.x, record.y)
        }
    if isinstance(record, HiddenNode):
        assert moved(record, place).members == frozenset({2, 1})
        assert plain["members"] == ["A", "C"]


@pytest.mark.parametrize(
    "damage",
    [
        {"event": "weighed", "x": "A", "y": "B", "loss": -1.0, "given": [], "pvalue": 0.5},
        {"event": "weighed", "x": "A", "y": "A", "loss": 1.0, "given": [], "pvalue": 0.5},
        {"event": "left out", "x": "A", "y": "B", "loss": 1.0, "given": [], "pvalue": 1.5},
        {"event": "left out", "x": "A", "y": "B", "loss": None, "given": [], "pvalue": 0.5},
        {"event": "supported", "x": "A", "y": "A", "distance": 1.0},
        {"event": "supported", "x": "A", "y": "B", "distance": "far"},
        {"event": "chose", "stage": "lift", "score": 1.0, "price": -1.0, "selection_gain": 0.0},
    ],
)
def test_records_that_make_no_sense_are_refused(damage: dict) -> None:
    with pytest.raises(ValueError, match=r"loss|pair|p-value|number"):
        decode_event(damage, {"A": 0, "B": 1})


def test_no_record_is_infinite_or_below_zero() -> None:
    R = np.eye(3) + 0.5 * np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    found = replace(lift(R, 500), selection_gain=math.inf, hidden=(FoundNode("latent", (0, 1), -0.5),))
    chose, node, *_ = evidence(found, R, 500, lambda x, y, given: 0.5)
    assert chose.selection_gain is None
    assert node.loss == 0.0


def test_after_the_deadline_nothing_is_weighed() -> None:
    R = np.eye(3) + 0.5 * np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    records = evidence(lift(R, 500), R, 500, lambda x, y, given: 0.5, deadline=0.0)
    assert [type(e) for e in records] == [Chose]


def test_the_graph_is_weighed_when_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*given: object, **settings: object) -> tuple[Event, ...]:
        asked.append(settings)
        return evidence(*given, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr("lmarvel.estimators.lift.evidence", counted)
    method = Lift(penalty=1.5, max_seconds=60)
    found = method.fit(table(1)).result_
    assert not asked
    method.set_params(penalty=3.0)  # of the next run
    assert of_kind(found, Chose)[0].price == pytest.approx(1.5 * math.log(500))
    assert len(found.trace) == len(tuple(found.trace))
    assert len(asked) == 1
    assert found.trace == Lift(penalty=1.5).fit(table(1)).result_.trace
