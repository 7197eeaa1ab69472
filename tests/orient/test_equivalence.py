"""MAG to PAG and back, Markov equivalence, and why a PAG is none."""

from __future__ import annotations

import re
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, MAG, PAG, GraphError, MixedGraph, explain_invalid, mag_to_pag, markov_equivalent, pag_to_mag
from lmarvel.graph.kinds import explain_not_ancestral, explain_not_maximal
from tests.generators import mags, random_mag
from tests.graph import literal
from tests.graph.literal import THOROUGH
from tests.truth.make_truth import load, marks_matrix

CIRCLE = 1


# --- there and back ---------------------------------------------------------------------------------------


@THOROUGH
@given(mags(6, 12))
def test_a_pag_has_a_member_with_this_pag(mag: MAG) -> None:
    pag = mag_to_pag(mag)
    member = pag_to_mag(pag)
    assert explain_not_ancestral(member) is None
    assert explain_not_maximal(member) is None
    assert mag_to_pag(member) == pag
    assert markov_equivalent(member, mag)


@given(mags(4, 6))
def test_the_member_has_the_separations_of_the_mag(mag: MAG) -> None:
    assert literal.separations(pag_to_mag(mag_to_pag(mag))) == literal.separations(mag)


@given(mags(6, 10), st.data())
def test_the_pag_does_not_depend_on_the_order_of_nodes(mag: MAG, data: st.DataObject) -> None:
    other = mag.reordered(data.draw(st.permutations(mag.names)))
    assert mag_to_pag(other) == mag_to_pag(mag)


def test_a_dag_is_read_as_the_mag_that_it_is() -> None:
    edges = ["A --> C", "B --> C", "C --> D"]
    assert mag_to_pag(DAG.from_edges(*edges)) == mag_to_pag(MAG.from_edges(*edges))


def test_a_large_pag_comes_back() -> None:
    pag = mag_to_pag(random_mag(np.random.default_rng(8), 300, latent=40, selection=5, degree=2.5))
    assert mag_to_pag(pag_to_mag(pag)) == pag


@pytest.mark.parametrize("graph", [PAG.from_edges("A --> B"), MixedGraph.from_edges("A --> B"), "A --> B", None])
def test_mag_to_pag_needs_a_mag(graph: object) -> None:
    with pytest.raises(GraphError, match=f"needs a MAG or DAG, not a {type(graph).__name__}"):
        mag_to_pag(graph)  # type: ignore[arg-type]


@pytest.mark.parametrize("graph", [MAG.from_edges("A --> B"), MixedGraph.from_edges("A --> B"), "A --> B", None])
def test_pag_to_mag_needs_a_pag(graph: object) -> None:
    with pytest.raises(GraphError, match=f"needs a PAG, not a {type(graph).__name__}"):
        pag_to_mag(graph)  # type: ignore[arg-type]


# --- equivalence ------------------------------------------------------------------------------------------


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[MAG, MAG]:
    """Draw a MAG on five nodes and one that differs from it in the marks of a few edges."""
    mag = draw(mags(5, 5))
    other = mag
    for edge in draw(st.lists(st.sampled_from(list(mag.edges()) or [None]), max_size=4)):
        if edge is not None:
            i, j = mag.index(edge.a), mag.index(edge.b)
            marks = other.marks.copy()
            marks[i, j], marks[j, i] = draw(st.sampled_from([(2, 3), (3, 2), (2, 2), (3, 3)]))
            graph = MixedGraph(mag.names, marks)
            if explain_not_ancestral(graph) is None and explain_not_maximal(graph) is None:
                other = MAG(mag.names, marks)
    return mag, other


@THOROUGH
@given(neighbours())
def test_equivalent_means_the_same_separations(pair: tuple[MAG, MAG]) -> None:
    a, b = pair
    assert markov_equivalent(a, b) == (literal.separations(a) == literal.separations(b))


def test_equivalence_on_four_nodes_is_that_of_the_truth() -> None:
    truth = load(4)
    rng = np.random.default_rng(4)
    order = np.argsort(truth["klass"], kind="stable")
    near = list(pairwise(order))  # mostly of one class
    far = rng.integers(0, len(order), size=(500, 2)).tolist()
    for i, j in [near[k] for k in rng.choice(len(near), 1000, replace=False)] + far:
        a, b = (MAG("ABCD", marks_matrix(truth["mags"][k], 4)) for k in (i, j))
        assert markov_equivalent(a, b) == (truth["klass"][i] == truth["klass"][j])


def test_a_dag_and_a_mag_can_be_compared() -> None:
    assert markov_equivalent(DAG.from_edges("A --> B", "B --> C"), MAG.from_edges("A --- B", "B --> C"))
    assert not markov_equivalent(
        DAG.from_edges("A --> B", "B --> C"), MAG.from_edges("A --> B", "B <-> C", "C <-> D").subgraph("ABC")
    )


def test_graphs_over_different_nodes_cannot_be_compared() -> None:
    with pytest.raises(GraphError, match="C, D is in one of them only"):
        markov_equivalent(MAG.from_edges("A --> B", nodes=list("ABC")), MAG.from_edges("A --> B", nodes=list("ABD")))


# --- legality ---------------------------------------------------------------------------------------------


def test_the_pags_of_the_truth_are_legal() -> None:
    for n, sample in ((4, None), (5, 400)):
        pags = load(n)["pag"]
        chosen = (
            range(len(pags)) if sample is None else np.random.default_rng(n).choice(len(pags), sample, replace=False)
        )
        for k in chosen:
            pag = PAG("ABCDE"[:n], marks_matrix(pags[k], n))
            assert explain_invalid(pag) is None
            assert mag_to_pag(pag_to_mag(pag)) == pag


def test_of_all_marks_on_three_nodes_only_the_pags_are_legal() -> None:
    legal = {mag_to_pag(mag) for mag in every_mag_on_three_nodes()}
    found = set()
    for marks in every_matrix(3, (1, 2, 3)):
        pag = PAG("ABC", marks)
        reason = explain_invalid(pag)
        if reason is None:
            found.add(pag)
        else:
            with pytest.raises(GraphError, match=re.escape(reason)):
                pag_to_mag(pag)
    assert found == legal


def every_matrix(n: int, marks: tuple[int, ...]) -> list[np.ndarray]:
    kinds = [(0, 0), *((a, b) for a in marks for b in marks)]
    pairs = list(combinations(range(n), 2))
    found = []
    for code in range(len(kinds) ** len(pairs)):
        matrix = np.zeros((n, n), dtype=np.int8)
        for i, j in pairs:
            matrix[i, j], matrix[j, i] = kinds[code % len(kinds)]
            code //= len(kinds)
        found.append(matrix)
    return found


def every_mag_on_three_nodes() -> list[MAG]:
    graphs = [MixedGraph("ABC", marks) for marks in every_matrix(3, (2, 3))]
    valid = [g for g in graphs if explain_not_ancestral(g) is None and explain_not_maximal(g) is None]
    return [MAG(g.names, g.marks) for g in valid]


ILLEGAL = {
    "circle cycle": (["A o-o B", "B o-o C", "C o-o D", "D o-o A"], "o-o edges among A, B, C, D hold a cycle"),
    "circle cycle beside other edges": (
        ["A o-o B", "B o-o C", "C o-o D", "D o-o E", "E o-o A", "E --> F", "A o-o G"],
        "o-o edges among A, B, C, D, E hold a cycle",
    ),
    "directed cycle": (["A --> B", "B --> C", "C --> A"], "directed cycle: [ABC] --> [ABC] --> [ABC] --> [ABC]"),
    "almost directed cycle": (["A --> B", "B --> C", "A <-> C"], "A <-> C and A is an ancestor of C"),
    "undirected meets arrowhead": (["A --> B", "B --- C"], "B --- C and an arrowhead from A"),
    "not maximal": (
        ["A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A"],
        "no set separates A and D, because of the inducing path A, B, C, D",
    ),
    "wrong circle": (["A o-> C", "B o-> C", "C o-o D"], "C o-o D should be C --> D"),
    "missing arrowhead": (["A o-> C", "B o-> C", "C --o D"], "C --o D should be C --> D"),
    "circle where R4 gives a tail": (["A o-> D", "B o-> D", "D --> C", "B o-> C"], "B o-> C should be B --> C"),
    "unfounded arrowhead": (["A o-> B"], "A o-> B should be A o-o B"),
    "unfounded tail": (["A --o B"], "B o-- A should be B o-o A|A --o B should be A o-o B"),
    "unfounded undirected edge": (["A --- B"], "A --- B should be A o-o B"),
    "circle beside a ring": (
        ["A --- B", "B --- C", "C --- D", "D --- A", "A o-o X"],
        "A o-o X should be A --o X|X o-o A should be X o-- A",
    ),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_an_illegal_pag_is_explained_by_its_nodes(case: str) -> None:
    edges, reason = ILLEGAL[case]
    explained = explain_invalid(PAG.from_edges(*edges))
    assert explained is not None
    assert re.search(reason, explained)


@pytest.mark.parametrize("case", ILLEGAL)
def test_an_illegal_pag_has_no_member(case: str) -> None:
    pag = PAG.from_edges(*ILLEGAL[case][0])
    reason = explain_invalid(pag)
    assert reason is not None
    with pytest.raises(GraphError, match=re.escape(f"no MAG has this PAG: {reason}")):
        pag_to_mag(pag)


@pytest.mark.parametrize("order", ["".join(p) for p in permutations("ABC")])
def test_the_mark_that_should_be_there_follows_from_the_colliders_of_the_pag(order: str) -> None:
    """A o-> B o-o C shows no collider at B, whatever the order of nodes; so no advice may make B one."""
    reason = explain_invalid(PAG.from_edges("A o-> B", "B o-o C", nodes=list(order)))
    assert reason is not None
    shown = re.fullmatch(r"(\w) (...) (\w) should be (\w) (...) (\w) in every MAG .*", reason)
    assert shown is not None
    a, _, b, *advice = shown.groups()
    assert advice in ([a, "o-o", b], ["B", "-->", "C"])


@given(mags(4, 8), st.data())
def test_a_pag_with_one_mark_changed_is_legal_only_if_some_mag_has_it(mag: MAG, data: st.DataObject) -> None:
    pag = mag_to_pag(mag)
    ends = np.argwhere(pag.marks)
    if not len(ends):
        return
    i, j = ends[data.draw(st.integers(0, len(ends) - 1))]
    marks = pag.marks.copy()
    marks[i, j] = data.draw(st.sampled_from([m for m in (1, 2, 3) if m != marks[i, j]]))
    changed = PAG(pag.names, marks)
    reason = explain_invalid(changed)
    if reason is None:
        assert mag_to_pag(pag_to_mag(changed)) == changed
    else:
        assert any(re.search(rf"\b{v}\b", reason) for v in pag.names)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (DAG.from_edges("A --> B"), None),
        (MAG.from_edges("A <-> B"), None),
        (MixedGraph.from_edges("A <-> B"), None),
        (MixedGraph.from_edges("A o-> B"), "the edge 'A o-> B' has a circle, and a MAG has none"),
        (MixedGraph.from_edges("A --- B", "C --> A"), "A has the undirected edge A --- B and an arrowhead from C"),
    ],
)
def test_other_graphs_are_read_as_mags(graph: MixedGraph, reason: str | None) -> None:
    explained = explain_invalid(graph)
    assert (explained is None) == (reason is None)
    assert reason is None or reason in (explained or "")
