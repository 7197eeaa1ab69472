"""What a format wrote it reads back, whatever the variables are called, or it says that it cannot write them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import DAG, MAG, PAG, Edge, Mark, MixedGraph
from lmarvel.errors import FormatError
from lmarvel.interchange.registry import FORMATS, dumps, loads, read_graph, write_graph
from tests.effort import examples
from tests.interchange.graphs import HOSTILE, NAMING, NASTY, READABLE, graphs

CONTROL = {"\x00", "bell\x07", "\x1c", "\x7f"}
BACKSLASH = {"\\", "end\\"}
REFUSED = {
    "text": set(),
    "json": set(),
    "dot": {"\x00", 'slash\\"quote', "slash\\\nline"} | BACKSLASH,
    "graphml": {"\x00", "bell\x07", "\x1c", "\uffff"},
    "edges": {"\x00"},
    "pcalg": {"\x00"},
    "tetrad": {name for name in HOSTILE + NASTY if any(sign.isspace() or sign in ";," for sign in name)},
    "dagitty": CONTROL | BACKSLASH | {"\ttab", "two\nlines", "carriage\rreturn", "slash\\\nline"},
}
T = TypeVar("T")
PLAIN = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5)


def same(a: MixedGraph, b: MixedGraph) -> bool:
    """Tell whether nodes and marks are equal, whatever the kind."""
    return MixedGraph(a.names, a.marks) == MixedGraph(b.names, b.marks)


def tried(action: Callable[..., T], *arguments: object) -> T | FormatError:
    """What an action returns, or the error that it raises; no other error may come."""
    try:
        return action(*arguments)
    except FormatError as error:
        return error


@pytest.mark.parametrize("form", READABLE)
@given(graphs())
def test_any_graph_comes_back_or_is_refused_by_name(form: str, graph: MixedGraph) -> None:
    written = tried(dumps, graph, form)
    if isinstance(written, FormatError):
        assert any(repr(name) in str(written) for name in graph.names)
        return
    back = loads(written, form)
    assert same(back, graph)
    if form in NAMING:
        assert type(back) is type(graph)
    if form != "edges":
        assert back.names == graph.names


@pytest.mark.parametrize("form", READABLE)
@settings(max_examples=25)
@given(graph=graphs(PLAIN))
def test_names_of_letters_and_digits_are_never_refused(form: str, graph: MixedGraph) -> None:
    assert same(loads(dumps(graph, form), form), graph)


@pytest.mark.parametrize("form", READABLE)
def test_only_names_that_the_format_has_no_way_to_write_are_refused(form: str) -> None:
    refused = set()
    for name in HOSTILE + NASTY:
        graph = PAG.from_edges(Edge(name, "plain", Mark.CIRCLE, Mark.ARROW), nodes=["other", name, "plain"])
        written = tried(dumps, graph, form)
        if isinstance(written, FormatError):
            assert repr(name) in str(written)
            assert "choose another format" in str(written)
            refused.add(name)
        else:
            assert same(loads(written, form), graph)
    assert refused == REFUSED[form]


@pytest.mark.parametrize("form", READABLE)
def test_all_hostile_names_at_once_go_through_a_file(form: str, tmp_path: Path) -> None:
    fit = [name for name in HOSTILE if name not in REFUSED[form]]
    edges = [Edge(a, b, Mark.CIRCLE, Mark.ARROW) for a, b in pairwise(fit)]
    graph = PAG.from_edges(*edges, nodes=[*fit, "lonely"])
    path = tmp_path / f"graph{FORMATS[form].endings[0]}"
    write_graph(graph, path, form)
    assert read_graph(path) == graph


@pytest.mark.parametrize("form", READABLE)
@pytest.mark.parametrize("at_a", [Mark.CIRCLE, Mark.ARROW, Mark.TAIL])
@pytest.mark.parametrize("at_b", [Mark.CIRCLE, Mark.ARROW, Mark.TAIL])
def test_every_pair_of_marks_comes_back_at_the_right_ends(form: str, at_a: Mark, at_b: Mark) -> None:
    graph = MixedGraph.from_edges(Edge("A", "B", at_a, at_b))
    edge = loads(dumps(graph, form), form).edge("A", "B")
    assert edge == Edge("A", "B", at_a, at_b)


@pytest.mark.parametrize("form", READABLE)
def test_a_graph_without_edges_or_even_nodes_comes_back(form: str) -> None:
    for nodes in ([], ["A"], ["A", "B"]):
        back = loads(dumps(DAG.from_edges(nodes=nodes), form), form)
        assert back.names == tuple(nodes)
        assert back.n_edges == 0


@pytest.mark.parametrize("form", ["text", "edges", "pcalg", "tetrad"])
@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        (["A o-> B"], PAG),
        (["A --> B", "B --> C"], DAG),
        (["A <-> B", "B --> C"], MAG),
        (["A --- B", "B --- C"], MAG),
        (["A --> B", "B --> C", "C --> A"], MixedGraph),
        (["A --> B", "B --- C"], MixedGraph),
    ],
)
def test_a_format_without_kinds_is_read_as_the_most_special_one(form: str, edges: list[str], kind: type) -> None:
    assert type(loads(dumps(MixedGraph.from_edges(*edges), form), form)) is kind


@given(st.sampled_from(READABLE), graphs(PLAIN), st.integers(0, 400), st.text(max_size=4), st.integers(0, 6))
@examples(120)
def test_damaged_text_is_read_or_refused_but_never_breaks_the_reader(
    form: str, graph: MixedGraph, where: int, put: str, drop: int
) -> None:
    whole = dumps(graph, form)
    damaged = whole[:where] + put + whole[where + drop :]
    assert isinstance(tried(loads, damaged, form), MixedGraph | FormatError)


@given(st.sampled_from(READABLE), st.text('{}[]<>"\\;,:=+-@o\n #/*ab01', max_size=30))
@examples(120)
def test_noise_is_refused_with_a_format_error(form: str, noise: str) -> None:
    heads = {"dot": "digraph {", "dagitty": "pag {", "edges": "from,to\n", "tetrad": "Graph Nodes:\nA\nGraph Edges:\n"}
    assert isinstance(tried(loads, heads.get(form, "") + noise, form), MixedGraph | FormatError)
