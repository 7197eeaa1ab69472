"""Appendix A.2: in a DAG removability is MARVEL's, and why MARVEL's tests do not do for MAGs.

MARVEL (Mokhtarian, Akbari, Ghassami & Kiyavash 2021) learns DAGs without latent variables. Its rule for a DAG: X is
removable exactly if for each child Z of X, every other neighbour of X is adjacent to Z, and every parent of a child of
X that is a parent of Z is a parent of Z too. Its tests look at the neighbours of X and at those that share a child with
X, and so they see collider paths of two edges only. In a MAG these can be longer.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DAG, MAG, LMarvel, MSeparation, mag_to_pag, why_not_removable
from lmarvel.graph.bitsets import members
from tests.paper.census import all_mags, subsets


def marvel_rule(dag: DAG, x: str) -> bool:
    """MARVEL's rule on a DAG: neighbours of X, and parents of children of X, belong to each child of X."""
    children = dag.children(x)
    first = all(dag.adjacent(x) <= dag.adjacent(z) | {z} for z in children)
    return first and all(dag.parents(y) <= dag.parents(z) for z in children for y in children & dag.parents(z))


def dags(names: str) -> list[DAG]:
    """All DAGs over these names whose edges follow the order of the names."""
    pairs = list(combinations(names, 2))
    masks = range(2 ** len(pairs))
    return [DAG.from_edges(*("{} --> {}".format(*pairs[i]) for i in members(m)), nodes=list(names)) for m in masks]


def test_removability_in_a_dag_is_marvels_rule() -> None:
    for dag in dags("ABCDE"):
        assert all(dag.is_removable(x) == marvel_rule(dag, x) for x in dag.names)


@given(st.sets(st.sampled_from(list(combinations("ABCDEFGH", 2)))))
def test_on_larger_dags(edges: set[tuple[str, str]]) -> None:
    dag = DAG.from_edges(*(f"{a} --> {b}" for a, b in edges), nodes=list("ABCDEFGH"))
    assert all(dag.is_removable(x) == marvel_rule(dag, x) for x in dag.names)


# --- MARVEL's tests ---------------------------------------------------------------------------------------


def never_separated(graph: MAG, a: str, b: str, pool: set[str], always: set[str]) -> bool:
    """Tell whether no subset of the pool, together with ``always``, separates a and b."""
    rest = sorted(pool - {a, b} - always)
    return not any(graph.m_separated(a, b, {*w, *always}) for w in subsets(rest))


def marvel_tests(graph: MAG, x: str) -> bool:
    """Decide by tests as MARVEL does: all that it asks is answered by the graph.

    Condition 1: no two neighbours of X are separated given X and a subset of the boundary of X. Condition 2: for each
    collider X, Y, T whose ends are not adjacent, no neighbour of X is separated from T given X, Y and such a subset.
    """
    boundary = set(graph.markov_boundary(x))
    near = {y for y in boundary if never_separated(graph, x, y, boundary, set())}
    if not all(never_separated(graph, y, w, boundary, {x}) for y, w in combinations(sorted(near), 2)):
        return False
    for t in boundary - near:
        apart = next(w for w in subsets(sorted(boundary - {t})) if graph.m_separated(x, t, w))
        for y in near - set(apart):
            if never_separated(graph, y, t, boundary | {x}, set()):  # x --> y <-- t
                others = near - {y}
                if not all(never_separated(graph, z, t, boundary, {x, y}) for z in others):
                    return False
    return True


def test_marvels_tests_are_right_in_dags() -> None:
    for dag in dags("ABCD"):
        mag = MAG(dag.names, dag.marks)
        assert all(marvel_tests(mag, x) == dag.is_removable(x) for x in dag.names)


# --- the example ------------------------------------------------------------------------------------------

EXAMPLE = MAG.from_edges("X --> V1", "V1 <-> V2", "Y --> V2", "X --> Z", "V1 --> Z", "V2 --> Z")


def test_in_the_example_marvels_tests_say_removable() -> None:
    assert EXAMPLE.adjacent("X") == {"V1", "Z"}
    assert marvel_tests(EXAMPLE, "X")


def test_in_the_example_x_is_not_removable() -> None:
    witness = why_not_removable(EXAMPLE, "X")
    assert witness is not None
    assert (witness.condition, witness.path) == (2, ("Z", "X", "V1", "V2", "Y"))
    assert EXAMPLE.m_separated("Y", "Z", ["X", "V1", "V2"])
    without = EXAMPLE.project(latent=["X"])
    assert without.has_edge("Y", "Z")
    assert not EXAMPLE.has_edge("Y", "Z")


def test_the_example_is_learned() -> None:
    model = LMarvel(test=MSeparation(EXAMPLE), assume_chordal=True).fit()
    assert model.pag_ == mag_to_pag(EXAMPLE)
    assert model.result_.removal_order[0] != "X"


def test_the_example_is_a_smallest_one() -> None:
    for mag in all_mags().chordal:
        assert all(marvel_tests(mag, x) == mag.is_removable(x) for x in mag.names)


@pytest.mark.parametrize(
    "edges", [("X --> Y", "X --> Z"), ("Y --> X", "X --> Z"), ("X <-> Y", "X --> Z"), ("X --- Y", "X --- Z")]
)
def test_the_appendix_points_at_the_wrong_drawing(edges: tuple[str, str]) -> None:
    """It means the drawing of Condition 2, where V1 and V2 are. In that of Condition 1 MARVEL's tests are right."""
    mag = MAG.from_edges(*edges)
    witness = why_not_removable(mag, "X")
    assert witness is not None
    assert witness.condition == 1
    assert not marvel_tests(mag, "X")
