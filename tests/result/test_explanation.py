"""Explanations are true: every set that they cite separates, every use of a rule is valid where it was made."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from lmarvel import (
    DAG,
    FCI,
    M3HC,
    MAG,
    MBCS,
    PAG,
    RFCI,
    Discovery,
    FisherZ,
    GraphError,
    LMarvel,
    MSeparation,
    Statistics,
)
from lmarvel.datasets import CARS
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.rules import RULES
from lmarvel.orient.tails import paths_of_r10
from lmarvel.report import page_of
from lmarvel.result.trace import Adjacent, Moved, Separated
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide
from tests.generators import random_study, studies
from tests.orient import statements
from tests.orient.test_examples import EXAMPLES

EXACT = [LMarvel, FCI, MBCS]


def learned(study, method):
    return method(test=MSeparation(study.dag, study.latent, study.selection), boundary="tc").fit().result_


def replay(found):
    """Check each use of a rule on the marks as they stood, and what the explanation says that it rests on."""
    names, pag = found.pag.names, found.pag
    m = [[CIRCLE if mark else 0 for mark in row] for row in pag.marks]
    before_r5 = None
    for use in found.rules:
        if use.rule == "R5" and before_r5 is None:
            before_r5 = [row[:] for row in m]
        c10 = paths_of_r10(use)[1] if use.rule == "R10" else None
        assert statements.holds(use.rule, before_r5 if use.rule == "R5" else m, use.nodes, c10), use
        if use.rule in ("R0", "R4"):
            inside = names[use.nodes[-2]] in found.sepsets[names[use.nodes[0]], names[use.nodes[-1]]]
            assert inside == any(mark == TAIL for _, _, mark in use.written)
        ends, gaps = RULES[use.rule].premises(use, lambda end: m[end[0]][end[1]])
        assert all(m[x][y] in (ARROW, TAIL) for x, y in ends), use
        assert all(not m[x][y] for x, y in gaps), use
        for x, y, mark in use.written:
            assert m[x][y] == CIRCLE
            m[x][y] = mark
    assert np.array_equal(m, pag.marks)


def check(found, mag):
    """Check every explanation of a run with an oracle."""
    names, mag = found.pag.names, mag.reordered(found.pag.names)
    uses = set(found.rules)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i == j:
                continue
            told = found.explain(a, b)
            edge = found.pag.edge(a, b)
            if edge is None:
                assert told.marks == ()
                assert isinstance(told.adjacency.event, Separated)
            else:
                assert str(edge) == told.title
                assert isinstance(told.adjacency.event, Adjacent)
                for (x, y), reason in zip(((j, i), (i, j)), told.marks, strict=True):
                    mark = found.pag.marks[x, y]
                    assert (reason.event is None) == (mark == CIRCLE)
                    if reason.event is not None:
                        assert (x, y, mark) in reason.event.written
            for reason in told.reasons():
                if isinstance(reason.event, Separated):
                    assert mag.m_separated(reason.event.x, reason.event.y, reason.event.sepset), reason
                elif isinstance(reason.event, RuleApplication):
                    assert reason.event in uses


@settings(deadline=None)
@given(studies(max_nodes=9))
def test_with_an_oracle_all_that_is_cited_is_true(drawn):
    study = Study(*drawn)
    for method in EXACT:
        found = learned(study, method)
        replay(found)
        check(found, study.mag)


@pytest.mark.parametrize("seed", range(6))
def test_rfci_cites_sets_that_separate(seed):
    study = Study(*random_study(np.random.default_rng(seed), 8, latent=2, selection=1, degree=3.0))
    check(learned(study, RFCI), study.mag)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_rule_is_explained(example):
    mag = MAG.from_edges(*example.mag.split(", "))
    found = LMarvel(test=MSeparation(mag)).fit().result_
    replay(found)
    check(found, mag)
    cited = {r.event.rule for e in found.pag.edges() for r in found.explain(e.a, e.b).reasons() if is_rule(r.event)}
    assert example.rule in cited


def is_rule(event):
    return isinstance(event, RuleApplication)


# --- with data --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [LMarvel, FCI, RFCI, MBCS])
def test_p_values_are_those_of_the_test(method):
    study = hide(erdos_renyi(12, 0.3, seed=2), 2, 1, seed=3)
    data = LinearSEM.random(study.dag, seed=4).sample(study, 400, seed=5)
    model = method(boundary="tc").fit(dict(zip(study.observed, data.T, strict=True)))
    found = model.result_
    test = FisherZ(data, names=study.observed)
    closest = 0
    for x in range(len(test.names)):
        for y in range(x):
            for reason in found.explain(test.names[x], test.names[y]).reasons():
                event = reason.event
                if isinstance(event, Separated) and np.isnan(event.pvalue):  # tested with all pairs at once
                    assert "are independent given all other variables" in reason.text
                    assert test.pvalue(event.x, event.y, sorted(event.sepset)) > found.settings["boundary_alpha"]
                elif isinstance(event, Separated):
                    assert test.pvalue(event.x, event.y, sorted(event.sepset)) == pytest.approx(event.pvalue)
                    assert event.pvalue > 0.01 or event.phase == "update"
                elif isinstance(event, Adjacent) and event.strongest is not None:
                    p = test.pvalue(event.x, event.y, sorted(event.strongest))
                    assert p == pytest.approx(event.pvalue, rel=1e-6)
                    assert ("the tests disagree" in reason.text) == (event.pvalue > 0.01)
                    closest += 1
    assert closest > 3


def test_a_search_by_score_is_explained_by_its_moves():
    found = M3HC().fit(CARS).result_
    edge = next(found.pag.edges())
    told = found.explain(edge.a, edge.b)
    assert isinstance(told.adjacency.event, Moved)
    assert "the search by score chose it, with a BIC of" in str(told)
    assert "what separates these two" not in str(told)


def test_words():
    truth = DAG.from_edges("A --> C", "B --> C", "C --> D", "X --> S", "Y --> S")
    found = LMarvel(test=MSeparation(truth, selection=["S"])).fit().result_
    assert "At C an arrowhead: R0, C is a collider between A and B" in str(found.explain("A", "C"))
    assert "At A a circle: no rule decides this end" in str(found.explain("A", "C"))
    assert str(found.explain("A", "B")).startswith(
        "A and B are not adjacent\nMeaning: no association was found.\nNo edge: "
    )
    ring = DAG.from_edges(*(f"V{i} --> S{i}" for i in range(4)), *(f"V{(i + 1) % 4} --> S{i}" for i in range(4)))
    told = LMarvel(test=MSeparation(ring, selection=[f"S{i}" for i in range(4)])).fit().result_.explain("V0", "V1")
    assert told.meaning == "sample selection: both affect who is in the sample."
    assert "form a cycle of circles without a chord: only selection explains it" in str(told)
    assert told.to_dict()["why"][1]["because"]


def test_what_was_told_is_not_told_again():
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D"))).fit().result_
    told = str(found.explain("C", "D"))
    assert told.endswith("At D an arrowhead: R1, as above")


def test_long_chains_are_cut_where_they_would_not_end():
    names = [f"X{i}" for i in range(400)]
    chain = DAG.from_edges("A --> X0", "B --> X0", *(f"{a} --> {b}" for a, b in pairwise(names)))
    found = LMarvel(test=MSeparation(chain)).fit().result_
    told = str(found.explain("X398", "X399"))
    assert "(explained with its own edge)" in told
    assert 40 < told.count("\n") < 200
    assert str(found.explain("X398", "X399", depth=1)).count("\n") < 10
    assert len(json.dumps(page_of(found))) < 3_000_000
    assert again(found) == found


def again(found):
    return Discovery.from_dict(json.loads(json.dumps(found.to_dict())))


def test_budgets_clashes_and_graphs_without_a_trace_are_said():
    hurried = LMarvel(max_tests=16).fit(CARS).result_
    a, b = hurried.undecided[0]
    assert "Edge: undecided: the search ended before the edge was shown to be there" in str(hurried.explain(a, b))
    bare = Discovery(PAG.from_edges("A --> B", nodes=["A", "B", "C"]), {}, {}, Statistics({}, {}))
    assert "its origin is not in the trace" in str(bare.explain("A", "B"))
    assert "no separating set was found" in str(bare.explain("A", "B"))
    assert "no test separated them" in str(bare.explain("A", "C"))
    clash = RuleApplication("R0", (0, 1, 2), (), ((0, 1, ARROW),))
    torn = Discovery(PAG.from_edges("A --- B", "B o-o C"), {}, {}, Statistics({}, {}), (clash,))
    assert "R0 wanted an arrowhead here: the tests contradict each other" in str(torn.explain("A", "B"))


def test_the_closest_set_is_the_closest_of_all_that_were_tested(monkeypatch):
    asked = {}
    original = FisherZ.find_sepset

    def recording(self, query):
        answer = original(self, query)
        if answer.sepset is None and answer.strongest is not None:
            pair = frozenset((self.names[query.x], self.names[query.y]))
            asked.setdefault(pair, []).append(answer.pvalue)
        return answer

    monkeypatch.setattr(FisherZ, "find_sepset", recording)
    disagree = 0
    for seed in range(30):
        study = hide(erdos_renyi(10, 0.35, seed=seed), 2, 1, seed=seed)
        data = LinearSEM.random(study.dag, seed=seed).sample(study, 150, seed=seed)
        asked.clear()
        found = LMarvel(faithful=True).fit(data).result_
        names = found.pag.names
        for event in found.trace:
            if isinstance(event, Adjacent) and found.pag.marks[event.x, event.y]:
                assert event.pvalue >= max(asked.get(frozenset((names[event.x], names[event.y])), [0.0])) - 1e-12
                disagree += event.pvalue > 0.01
    assert disagree > 0  # such edges exist, and are said to be so


def test_where_nothing_was_decided_nothing_is_claimed():
    for options in ({"max_tests": 0}, {"max_conditioning": 0}):
        found = LMarvel(**options).fit(CARS).result_
        told = str(found.explain("Weight", "Cylinders"))
        assert "Edge: undecided" in told
        assert "separates them" not in told
        assert "At Weight a circle: not examined" in told


def test_without_moves_a_search_by_score_is_still_one():
    rng = np.random.default_rng(1)
    found = M3HC().fit({"A": rng.normal(size=200), "B": rng.normal(size=200)}).result_
    assert found.pag.n_edges == 0
    assert "the search by score left the edge out" in str(found.explain("A", "B"))
    assert found.describe("A", "B") == "A, B: not adjacent. The search by score left the edge out."


def test_nonsense_is_refused():
    found = LMarvel().fit(CARS).result_
    with pytest.raises(GraphError, match="unknown node 'Wheels'"):
        found.explain("Weight", "Wheels")
    with pytest.raises(GraphError, match="was given twice"):
        found.explain("Weight", "Weight")
