"""Scores of a learned graph against the true one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, PAG, GraphError, mag_to_pag
from lmarvel.graph.metrics import MARKS, Rate, compare_boundaries, compare_graphs, structural_hamming_distance
from tests.generators import random_mag, shuffled

TRUTH = PAG.from_edges("A o-> C", "B o-> C", "C --> D", "D --- E")


def test_a_graph_against_itself_is_perfect():
    scores = compare_graphs(TRUTH, TRUTH)
    assert scores.skeleton.f1 == scores.marks.f1 == 1.0
    assert scores.hamming == 0
    assert scores.extra == scores.missing == ()


def test_an_example_by_hand():
    learned = PAG.from_edges("C o-o A", "C --> D", "A --> E", "D <-> E", nodes=TRUTH.names)
    scores = compare_graphs(learned, TRUTH)
    assert scores.skeleton == Rate(right=3, found=4, true=4)
    assert scores.missing == (("C", "B"),)
    assert scores.extra == (("A", "E"),)
    # Of the 8 learned marks these are right: the circle at A of A-C, both marks of C-D.
    assert scores.marks == Rate(right=3, found=8, true=8)
    # One edge to delete, one to add; an arrowhead at C, two tails at D and E.
    assert scores.hamming == 5
    assert scores.confusion["arrowhead", "circle"] == 1
    assert scores.confusion["tail", "arrowhead"] == 2
    assert scores.confusion["none", "tail"] == 1
    assert scores.mark("tail") == Rate(right=1, found=2, true=3)


def test_nothing_learned_is_precise_and_recalls_nothing():
    scores = compare_graphs(PAG.from_edges(nodes=TRUTH.names), TRUTH)
    assert (scores.skeleton.precision, scores.skeleton.recall, scores.skeleton.f1) == (1.0, 0.0, 0.0)


def test_two_empty_graphs_agree():
    empty = PAG.from_edges(nodes=["A", "B"])
    assert compare_graphs(empty, empty).skeleton.f1 == 1.0


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_properties(seed, n):
    rng = np.random.default_rng(seed)
    one, two = (mag_to_pag(random_mag(rng, n)) for _ in range(2))
    two = two.relabel(dict(zip(two.names, [f"tmp{i}" for i in range(n)], strict=True)))
    two = shuffled(rng, two.relabel({f"tmp{i}": name for i, name in enumerate(one.names)}))
    scores, back = compare_graphs(one, two), compare_graphs(two, one)
    edges = [{frozenset((e.a, e.b)) for e in g.edges()} for g in (one, two)]
    assert scores.skeleton == Rate(len(edges[0] & edges[1]), len(edges[0]), len(edges[1]))
    assert len(scores.extra) == len(edges[0] - edges[1])
    assert len(scores.missing) == len(edges[1] - edges[0])
    assert scores.hamming == back.hamming == structural_hamming_distance(one, two)
    assert (scores.hamming == 0) == (one == two)
    assert (scores.skeleton.precision, scores.skeleton.recall) == (back.skeleton.recall, back.skeleton.precision)
    assert sum(scores.confusion.values()) == n * (n - 1)
    right = sum(scores.confusion[name, name] for name in MARKS.values() if name != "none")
    assert right == scores.marks.right
    assert all(scores.confusion[a, b] == back.confusion[b, a] for a, b in scores.confusion)


def test_other_variables_are_refused():
    with pytest.raises(GraphError, match="different variables \\(learned only: X; true only: A, B, C, D, E\\)"):
        compare_graphs(PAG.from_edges(nodes=["X"]), TRUTH)
    with pytest.raises(GraphError, match="unknown mark 'none'"):
        compare_graphs(TRUTH, TRUTH).mark("none")


def test_a_name_that_would_break_the_message_stands_in_quotes():
    with pytest.raises(GraphError, match=r'learned only: "a\\nb"; true only: C\)'):
        compare_graphs(PAG.from_edges(nodes=["a\nb"]), PAG.from_edges(nodes=["C"]))


# --- Markov boundaries ------------------------------------------------------------------------------------


def test_boundaries_are_scored_by_member():
    truth = MAG.from_edges("A --> C", "B --> C", "C --> D")
    right = {v: truth.markov_boundary(v) for v in truth.names}
    assert compare_boundaries(right, truth) == Rate(8, 8, 8)
    wrong = right | {"A": {"C", "D"}, "D": ["A", "C"]}
    assert compare_boundaries(wrong, truth) == Rate(7, 9, 8)
    assert compare_boundaries(dict.fromkeys("ABCD", ()), truth).recall == 0


def test_boundaries_over_other_variables_are_refused():
    truth = MAG.from_edges("A --> C", "B --> C")
    with pytest.raises(GraphError, match=r"different variables \(true only: C\)"):
        compare_boundaries({"A": ["B"], "B": ["A"]}, truth)
    with pytest.raises(GraphError, match="a boundary holds X, which is not a variable of the true graph"):
        compare_boundaries({"A": ["X"], "B": [], "C": []}, truth)
