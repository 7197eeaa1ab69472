"""Messages count in plain English, and show names that would break them in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import lmarvel
from lmarvel import ADMG, DAG, MAG, GraphError, MixedGraph
from lmarvel.text import counted, readable

ODD = "two\nlines\x1b[31m"
SHOWN = '"two\\nlines\\u001b[31m"'


def test_one_is_singular() -> None:
    assert [counted(n, "edge") for n in (0, 1, 2, 12_345)] == ["0 edges", "1 edge", "2 edges", "12,345 edges"]
    assert repr(DAG.from_edges("A --> B")) == "<DAG: 2 nodes, 1 edge>"
    assert repr(DAG.from_edges(nodes=["A"])) == "<DAG: 1 node, 0 edges>"
    assert repr(ADMG.from_edges("A --> B")) == "<ADMG: 2 nodes, 1 edge>"
    with pytest.raises(GraphError, match="1 node needs a 1 x 1 matrix of marks"):
        MixedGraph(["A"], [[0, 0]])


def test_there_is_one_way_to_show_names() -> None:
    assert (readable("blood pressure"), readable(ODD)) == ("blood pressure", SHOWN)


@pytest.mark.parametrize(
    "build",
    [
        lambda: MixedGraph([ODD, "B"], [[2, 0], [0, 0]]),
        lambda: MixedGraph([ODD, "B"], [[0, 9], [1, 0]]),
        lambda: MixedGraph([ODD, "B"], [[0, 1], [0, 0]]),
        lambda: MixedGraph.from_edges(*(lmarvel.Edge(ODD, "B", lmarvel.Mark(k), lmarvel.Mark.ARROW) for k in (1, 3))),
        lambda: DAG([ODD, "B", "C"], [[0, 2, 3], [3, 0, 2], [2, 3, 0]]),
        lambda: MAG([ODD, "B", "C"], [[0, 3, 3], [3, 0, 0], [2, 0, 0]]),
        lambda: MixedGraph([ODD, "B"], [[0, 1], [1, 0]]).m_separated(ODD, "B"),
        lambda: MixedGraph([ODD, "B"], [[0, 2], [3, 0]]).index("C"),
        lambda: DAG([ODD, "B"], [[0, 2], [3, 0]]).project([ODD], [ODD]),
        lambda: DAG([ODD, "B"], [[0, 2], [3, 0]]).project([ODD, ODD]),
    ],
)
def test_a_name_that_would_break_a_message_stands_in_quotes(build: Callable[[], object]) -> None:
    with pytest.raises(GraphError) as caught:
        build()
    assert SHOWN in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_long_cycle_is_not_told_in_full() -> None:
    n = 3_000
    with pytest.raises(GraphError, match=re.escape("... (2,981 nodes more) ...")) as caught:
        DAG.from_edges(*(f"X{i} --> X{(i + 1) % n}" for i in range(n)))
    assert len(str(caught.value)) < 400


def test_a_graph_never_changes() -> None:
    graph = DAG.from_edges("A --> B")
    for key in ("names", "marks", "other"):
        with pytest.raises(AttributeError, match="a DAG never changes"):
            setattr(graph, key, ())
    assert graph.names == ("A", "B")


@pytest.mark.parametrize("room", ["graph", "interchange", "simulate", "drawing"])
def test_attributes_are_not_asked_for_by_name(room: str) -> None:
    for path in (Path(lmarvel.__file__).parent / room).rglob("*.py"):
        assert not re.search(r"\b(get|has)attr\(", path.read_text(encoding="utf-8")), path
