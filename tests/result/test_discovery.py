"""The result in words: what an edge means, where it came from, and the counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from lmarvel import DAG, PAG, Discovery, LMarvel, MSeparation, Statistics
from lmarvel.graph.marks import parse_edge
from lmarvel.result.trace import Adjacent, Removed, Separated
from lmarvel.result.wording import edge_kinds, meaning
from tests.generators import Study, random_study, studies

STUDY = DAG.from_edges("Diet --> Lipids", "Gene --> Lipids", "Gene --> Heart", "Stress --> Heart", "Heart --> Fatigue")


@pytest.fixture(scope="module")
def found() -> Discovery:
    return LMarvel(test=MSeparation(STUDY, latent=["Gene"])).fit().result_


def result_of(*edges: str, **parts: object) -> Discovery:
    """A result with this PAG, without a run."""
    return Discovery(PAG.from_edges(*edges), {}, {}, Statistics({}, {}), **parts)  # type: ignore[arg-type]


# --- meaning ----------------------------------------------------------------------------------------------

MEANINGS = {
    "A --> B": "A causes B, or affects who is in the sample; B does not cause A.",
    "A <-> B": "neither causes the other or affects who is in the sample; an unmeasured common cause (or several,"
    " linked by sample selection) makes them associated.",
    "A --- B": "sample selection: both affect who is in the sample.",
    "A o-> B": "B does not cause A. A may cause B or affect who is in the sample, or an unmeasured common cause (or"
    " several, linked by sample selection) may make them associated.",
    "A o-o B": "associated whichever measured variables are held fixed. The data do not show why: either may cause the"
    " other, they may share an unmeasured common cause, or sample selection may link them.",
    "A o-- B": "B causes A, or affects who is in the sample; the data do not show whether A does, too.",
}


@pytest.mark.parametrize("edge", MEANINGS)
def test_an_edge_means_the_same_from_either_end(edge: str) -> None:
    assert meaning(parse_edge(edge)) == MEANINGS[edge]
    assert meaning(parse_edge(edge).reversed()) == MEANINGS[edge]


UNSELECTED = {
    "A --> B": "A causes B; B does not cause A.",
    "A <-> B": "neither causes the other: they share an unmeasured common cause.",
    "A --- B": "only sample selection explains it, and you ruled that out: the data contradict you.",
    "A o-> B": "B does not cause A. A may cause B, or they may share an unmeasured cause.",
    "A o-o B": "associated whichever measured variables are held fixed. The data do not show why: either may cause the"
    " other, or they may share an unmeasured common cause.",
    "A o-- B": "B causes A.",
}


@pytest.mark.parametrize("edge", MEANINGS)
def test_where_selection_is_ruled_out_nothing_is_said_of_it(edge: str) -> None:
    assert meaning(parse_edge(edge), selection=False) == UNSELECTED[edge]
    assert meaning(parse_edge(edge).reversed(), selection=False) == UNSELECTED[edge]
    if edge != "A --- B":  # which selection alone explains
        assert "sample" not in meaning(parse_edge(edge), selection=False)


@pytest.mark.parametrize("edge", ["A --> B", "A o-- B"])
def test_a_settled_tail_is_a_cause_of_the_other_end(edge: str) -> None:
    for reading in (parse_edge(edge), parse_edge(edge).reversed()):
        assert meaning(reading, settled=True) == MEANINGS[edge].replace(", or affects who is in the sample", "")


def test_a_settled_circle_may_not_cause_selection_either() -> None:
    told = meaning(parse_edge("A o-> B"), settled=True)
    assert told == MEANINGS["A o-> B"].replace(" or affect who is in the sample", "")
    assert told == meaning(parse_edge("B <-o A"), settled=True)


@pytest.mark.parametrize("edge", ["A <-> B", "A --- B", "A o-o B"])
def test_other_edges_have_nothing_to_settle(edge: str) -> None:
    assert meaning(parse_edge(edge), settled=True) == MEANINGS[edge]


def test_names_stand_in_the_sentence_as_they_are() -> None:
    assert meaning(parse_edge('"{a} %s" --> "B; b"')).startswith("{a} %s causes B; b, or")


def test_the_legend_has_every_kind_of_edge() -> None:
    kinds = edge_kinds()
    assert set(kinds) == {"-->", "<->", "---", "o->", "o-o", "o--"}
    assert all(kinds[glyph] == MEANINGS[f"A {glyph} B"] for glyph in kinds)


# --- describe ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ("Lipids", "Heart", "Lipids <-> Heart: " + MEANINGS["A <-> B"]),
        ("Heart", "Lipids", "Heart <-> Lipids: " + MEANINGS["A <-> B"]),
        ("Heart", "Fatigue", "Heart --> Fatigue: Heart causes Fatigue; Fatigue does not cause Heart."),
        ("Fatigue", "Heart", "Fatigue <-- Heart: Heart causes Fatigue; Fatigue does not cause Heart."),
        ("Diet", "Stress", "Diet, Stress: not adjacent. They are independent."),
        ("Stress", "Fatigue", "Stress, Fatigue: not adjacent. They are independent given Heart."),
        ("Fatigue", "Stress", "Fatigue, Stress: not adjacent. They are independent given Heart."),
    ],
)
def test_describe(found: Discovery, a: str, b: str, text: str) -> None:
    assert found.describe(a, b) == text


def test_a_tail_is_settled_only_where_another_arrowhead_shows_it() -> None:
    assert "or affects who is in the sample" in result_of("A --> B").describe("A", "B")
    assert "or affects who is in the sample" not in result_of("C <-> A", "A --> B").describe("A", "B")
    assert "or affects who is in the sample" not in result_of("C o-> A", "A --> B").describe("B", "A")
    assert "or affects who is in the sample" in result_of("C o-o A", "A --o B").describe("A", "B")
    assert "or affects who is in the sample" in result_of("A --> B", "C --> B").describe("A", "B")


def test_describe_speaks_of_every_pair(found: Discovery) -> None:
    names = found.pag.names
    for a in names:
        for b in names:
            if a != b:
                assert a in found.describe(a, b)
                assert b in found.describe(a, b)
                assert found.pag.has_edge(a, b) != ("not adjacent" in found.describe(a, b))


def test_a_pair_that_a_budget_left_open_is_not_described_as_dependent() -> None:
    found = LMarvel(test=MSeparation(STUDY, latent=["Gene"]), max_tests=0).fit().result_
    assert ("Diet", "Stress") in found.undecided
    text = found.describe("Diet", "Stress")
    assert "associated whichever" not in text
    assert "undecided" in text


# --- origin -----------------------------------------------------------------------------------------------


def test_the_origin_of_an_edge_cites_the_search_and_the_rules(found: Discovery) -> None:
    origin = found.origin("Heart", "Fatigue")
    assert origin == found.origin("Fatigue", "Heart")
    assert origin.startswith("no separating set in the adjacency search; ")
    assert "tail at Heart by R1 on " in origin
    assert "arrowhead at Fatigue by R1 on " in origin
    assert "by R0 on " in found.origin("Lipids", "Heart")


def test_an_edge_with_circles_only_comes_from_the_search_alone() -> None:
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit().result_
    assert found.origin("A", "B") == "no separating set in the adjacency search"


@given(studies(4, 9))
def test_every_edge_and_every_mark_has_an_origin(study: Study) -> None:
    found = LMarvel(test=MSeparation(*study)).fit().result_
    for edge in found.pag.edges():
        search, *marks = found.origin(edge.a, edge.b).split("; ")
        assert search.startswith("no separating set in the ")
        expected = {
            f"{mark.name.lower().replace('arrow', 'arrowhead')} at {name}"
            for name, mark in ((edge.a, edge.at_a), (edge.b, edge.at_b))
            if mark.name != "CIRCLE"
        }
        assert {text.split(" by R")[0] for text in marks} == expected
        assert len(marks) == len(expected)


# --- what happened ----------------------------------------------------------------------------------------


@given(studies(4, 9, heavy=False))
def test_the_removal_order_holds_each_variable_at_most_once(study: Study) -> None:
    found = LMarvel(test=MSeparation(*study)).fit().result_
    order = found.removal_order
    assert len(set(order)) == len(order)
    assert set(order) | set(found.none_removable) == set(found.pag.names)
    assert set(order) & set(found.none_removable) == set()


def test_the_removal_order_is_that_of_the_trace(found: Discovery) -> None:
    assert found.removal_order == tuple(found.pag.names[e.x] for e in found.trace if isinstance(e, Removed))
    assert sorted(found.removal_order) == sorted(found.pag.names)


def test_the_rules_are_those_of_the_trace(found: Discovery) -> None:
    assert {step.rule for step in found.rules} == {"R0", "R1"}
    assert set(found.rules) <= set(found.trace)


@given(studies(4, 9))
def test_the_trace_decides_each_pair_once(study: Study) -> None:
    found = LMarvel(test=MSeparation(*study)).fit().result_
    adjacent = [frozenset((e.x, e.y)) for e in found.trace if isinstance(e, Adjacent)]
    assert len(set(adjacent)) == len(adjacent)
    separated = {frozenset((e.x, e.y)) for e in found.trace if isinstance(e, Separated)}
    edges = {frozenset((found.pag.index(e.a), found.pag.index(e.b))) for e in found.pag.edges()}
    assert edges == set(adjacent) - separated


def test_a_whole_run_leaves_nothing_open(found: Discovery) -> None:
    assert found.undecided == ()
    assert found.budget_ended is None
    assert found.none_removable == frozenset()


def test_a_spent_budget_is_named() -> None:
    found = LMarvel(test=MSeparation(STUDY, latent=["Gene"]), max_tests=12).fit().result_
    assert found.undecided
    assert "max_tests=12" in (found.budget_ended or "")


# --- statistics -------------------------------------------------------------------------------------------


def test_statistics_add_up() -> None:
    stats = Statistics({"boundary": {3: 6}, "adjacency": {0: 4, 1: 2}, "update": {1: 1}}, {"skeleton": 0.5})
    assert stats.n_tests == 13
    assert stats.by_size() == {0: 4, 1: 3, 3: 6}
    assert list(stats.by_size()) == [0, 1, 3]
    assert stats.mean_conditioning_size == pytest.approx((0 * 4 + 1 * 3 + 3 * 6) / 13)


def test_statistics_of_nothing_are_zero() -> None:
    empty = Statistics({}, {})
    assert (empty.n_tests, empty.by_size(), empty.mean_conditioning_size) == (0, {}, 0.0)


@pytest.mark.parametrize("options", [{"latent": 4, "selection": 3, "degree": 4.0}, {"heavy": True}], ids=str)
def test_the_statistics_count_each_question_once(options: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        asking = Asking(MSeparation(*random_study(rng, int(rng.integers(5, 12)), **options)))  # type: ignore[arg-type]
        stats = LMarvel(test=asking).fit().result_.stats
        assert stats.n_tests == len(asking.questions)
        sizes = [len(given_) for _, given_ in asking.questions]
        assert stats.by_size() == {size: sizes.count(size) for size in sorted(set(sizes))}


class Asking:
    """A test that keeps the different questions it was asked."""

    def __init__(self, oracle: MSeparation) -> None:
        self.names = oracle.names
        self.oracle = oracle
        self.questions: set[tuple[frozenset[int], frozenset[int]]] = set()

    def pvalue(self, x: int, y: int, given_: Sequence[int]) -> float:
        self.questions.add((frozenset((x, y)), frozenset(given_)))
        return self.oracle.pvalue(x, y, given_)


def test_seconds_are_kept_by_phase(found: Discovery) -> None:
    assert {"boundary", "skeleton", "orientation"} <= set(found.stats.seconds)
    assert all(s >= 0 for s in found.stats.seconds.values())


# --- legality ---------------------------------------------------------------------------------------------


def test_a_true_graph_gives_a_legal_pag(found: Discovery) -> None:
    assert found.why_illegal is None


def test_why_illegal_names_the_nodes() -> None:
    assert result_of("A o-> C", "B o-> C", "C o-o D").why_illegal == (
        "C o-o D should be C --> D in every MAG with these adjacencies and colliders"
    )
    ring = result_of("A o-o B", "B o-o C", "C o-o D", "D o-o A").why_illegal
    assert ring is not None
    assert "A, B, C, D" in ring


def test_contradictory_tests_give_a_pag_that_says_why_it_is_none() -> None:
    separators = {frozenset("AD"): set("BE"), frozenset("BE"): set("AC")}  # no graph separates these pairs only thus
    everything = {v: [w for w in "ABCDE" if w != v] for v in "ABCDE"}

    def test(x: str, y: str, given_: tuple[str, ...]) -> float:
        return float(separators.get(frozenset((x, y))) == set(given_))

    found = LMarvel(test=test, boundary=everything).fit(names=list("ABCDE")).result_
    assert found.why_illegal == "not ancestral: almost directed cycle, C <-> D and C is an ancestor of D"
