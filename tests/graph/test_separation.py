"""m-separation and inducing paths against the enumeration of simple paths."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, GraphError, MixedGraph
from tests.generators import mags, random_dag
from tests.graph import literal
from tests.graph.literal import THOROUGH, separable_graphs


@THOROUGH
@given(separable_graphs(max_nodes=7))
def test_m_separation_is_that_of_the_definition(graph: MixedGraph) -> None:
    expected = literal.separations(graph)
    n = len(graph)
    for x in range(n):
        for y in range(x + 1, n):
            for zs in literal.subsets(v for v in range(n) if v not in (x, y)):
                separated = (x, y, zs) in expected
                assert graph.m_separated(x, y, zs) == graph.m_separated(y, x, zs) == separated


@THOROUGH
@given(mags(4, 7))
def test_m_separation_in_mags_is_that_of_the_definition(mag: MAG) -> None:
    n = len(mag)
    expected = literal.separations(mag)
    found = {
        (x, y, zs)
        for x in range(n)
        for y in range(x + 1, n)
        for zs in literal.subsets(v for v in range(n) if v not in (x, y))
        if mag.m_separated(x, y, zs)
    }
    assert found == expected


@THOROUGH
@given(separable_graphs(max_nodes=5), st.data())
def test_colliders_above_an_end_may_count_as_open(graph: MixedGraph, data: st.DataObject) -> None:
    x, y, *rest = data.draw(st.permutations(range(len(graph))))
    zs = data.draw(st.sets(st.sampled_from(rest))) if rest else set()
    assert graph.m_separated(x, y, zs) != literal.connected(graph, x, y, zs, ends_open=True)


@THOROUGH
@given(separable_graphs(min_nodes=3), st.data())
def test_sets_are_separated_if_every_pair_is(graph: MixedGraph, data: st.DataObject) -> None:
    role = data.draw(st.lists(st.sampled_from("xyz."), min_size=len(graph), max_size=len(graph)))
    xs, ys, zs = ([v for v, r in zip(graph.names, role, strict=True) if r == kind] for kind in "xyz")
    assert graph.m_separated(xs, ys, zs) == all(graph.m_separated(x, y, zs) for x in xs for y in ys)


@pytest.mark.parametrize(
    ("edges", "x", "y", "given_", "separated"),
    [
        (["A --> B", "B --> C"], "A", "C", [], False),  # chain
        (["A --> B", "B --> C"], "A", "C", ["B"], True),
        (["B --> A", "B --> C"], "A", "C", ["B"], True),  # fork
        (["A --> B", "C --> B"], "A", "C", [], True),  # collider
        (["A --> B", "C --> B"], "A", "C", ["B"], False),
        (["A --> B", "C --> B", "B --> D"], "A", "C", ["D"], False),  # its descendant
        (["A --- B", "B --- C"], "A", "C", ["B"], True),  # selection
        (["A --- B", "B --- C"], "A", "C", [], False),
        (["A <-> B", "B <-> C"], "A", "C", [], True),  # hidden causes
        (["A <-> B", "B <-> C", "C <-> D"], "A", "D", ["B", "C"], False),
        (["A <-> B", "B <-> C", "C <-> D"], "A", "D", ["B"], True),
        (["A --> B", "B <-> C", "C --> D"], "A", "D", ["B"], False),
        (["A --> B", "B <-> C", "C --> D"], "A", "D", ["B", "C"], True),
        (["A --- B", "B --> C", "D --> C"], "A", "D", [], True),
        (["A --- B", "B --> C", "D --> C"], "A", "D", ["C"], False),
        (["A --- B", "B --> C", "D --> C"], "A", "D", ["B", "C"], True),
    ],
)
def test_textbook_separations(edges: list[str], x: str, y: str, given_: list[str], separated: bool) -> None:
    assert MixedGraph.from_edges(*edges).m_separated(x, y, given_) == separated


def test_nodes_may_be_names_positions_or_collections_of_them() -> None:
    graph = MAG.from_edges("A --> B", "B --> C", "B --> D")
    assert graph.m_separated("A", "C", "B")
    assert graph.m_separated(0, 2, 1)
    assert graph.m_separated({"A"}, ("C", "D"), frozenset({"B"}))
    assert graph.m_separated(np.int64(0), np.array([2, 3]), iter(["B"]))
    assert not graph.m_separated("A", ["C", "D"])
    assert graph.m_separated([], ["C", "D"])


@pytest.mark.parametrize(
    ("x", "y", "given_", "culprit"),
    [("A", "A", [], "A"), ("A", "B", ["A"], "A"), ("A", ["B", "C"], ["C"], "C"), (["A", "B"], ["B", "A"], [], "A, B")],
)
def test_overlapping_sets_are_refused(x: str, y: str, given_: list[str], culprit: str) -> None:
    with pytest.raises(GraphError, match=f"disjoint sets; {culprit} is in"):
        MAG.from_edges("A --> B", "B --> C").m_separated(x, y, given_)


@pytest.mark.parametrize("edge", ["A o-o B", "A o-> B", "A --o B"])
def test_circles_are_refused(edge: str) -> None:
    with pytest.raises(GraphError, match=r"(A-B|B-A) has a circle: .*pag_to_mag"):
        MixedGraph.from_edges(edge, "B --> C").m_separated("A", "C")


@pytest.mark.parametrize("edge", ["C --> A", "C <-> A"])
def test_an_arrowhead_that_meets_an_undirected_edge_is_refused(edge: str) -> None:
    graph = MixedGraph.from_edges("A --- B", edge)
    with pytest.raises(GraphError, match="undirected edge A --- B meets the arrowhead at A from C"):
        graph.m_separated("B", "C")


def test_long_chains_need_no_deep_recursion() -> None:
    names = [f"V{i}" for i in range(3000)]
    chain = MAG.from_edges(*(f"{a} --> {b}" for a, b in pairwise(names)))
    assert not chain.m_separated("V0", "V2999")
    assert chain.m_separated("V0", "V2999", "V1500")
    assert len(chain.ancestors("V2999")) == 3000


def test_a_thousand_nodes_are_no_trouble() -> None:
    dag = random_dag(np.random.default_rng(0), 1000, 3.0)
    for v in dag.names[:50]:
        boundary = dag.markov_boundary(v)
        assert dag.m_separated(v, set(dag.names) - boundary - {v}, boundary)


# --- inducing paths ---------------------------------------------------------------------------------------


@THOROUGH
@given(separable_graphs(max_nodes=6), st.data())
def test_inducing_paths_are_shortest_of_the_enumeration(graph: MixedGraph, data: st.DataObject) -> None:
    x, y, *rest = data.draw(st.permutations(range(len(graph))))
    cut = data.draw(st.tuples(st.integers(0, len(rest)), st.integers(0, len(rest))).map(sorted))
    latent, selection = rest[: cut[0]], rest[cut[0] : cut[1]]
    paths = [p for p in literal.simple_paths(graph, x, y) if literal.is_inducing(graph, p, latent, selection)]
    found = graph.inducing_path(x, y, latent, selection)
    if not paths:
        assert found is None
    else:
        assert found is not None
        path = tuple(map(graph.index, found))
        assert path in paths
        assert len(path) == min(map(len, paths))


def test_inducing_paths_by_hand() -> None:
    graph = MixedGraph.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A")
    assert graph.inducing_path("A", "D") == ("A", "B", "C", "D")
    assert graph.inducing_path("B", "C") == ("B", "C")
    confounded = MixedGraph.from_edges("U --> A", "U --> B", "A --> S", "C --> S")
    assert confounded.inducing_path("A", "B") is None
    assert confounded.inducing_path("A", "B", latent=["U"]) == ("A", "U", "B")
    assert confounded.inducing_path("A", "C") is None
    assert confounded.inducing_path("A", "C", selection=["S"]) == ("A", "S", "C")
    assert confounded.inducing_path("B", "C", latent=["U"], selection=["S"]) is None
