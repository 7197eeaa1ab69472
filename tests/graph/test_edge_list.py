"""Lists of edges, which simulation and the file formats read with one reader."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from lmarvel import DAG, DataError, GraphError
from lmarvel.errors import EdgeListError, FormatError
from lmarvel.graph.checks import MOST_EDGES, MOST_NODES
from lmarvel.graph.edge_list import HEADERS, read_edge_list
from lmarvel.interchange.registry import read_graph
from lmarvel.simulate import load_network


def edges(text: str) -> list[str]:
    return [str(edge) for edge, _ in read_edge_list(text).edges]


@pytest.mark.parametrize(("cause", "effect"), HEADERS)
def test_headers_say_which_column_is_the_cause(cause: str, effect: str) -> None:
    assert edges(f"{cause},{effect}\nA,B\n") == ["A --> B"]
    assert edges(f"{cause.upper()}, {effect.title()} ,edge\nA,B\n") == ["A --> B"]
    assert edges(f"{effect},{cause}\nA,B\n") == ["B --> A"]
    assert edges(f"{effect}\t{cause}\tedge\nA\tB\to->\n") == ["B o-> A"]


@pytest.mark.parametrize("header", [",".join(pair) for pair in HEADERS])
def test_simulation_and_the_file_formats_read_the_same_list(header: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(f"# mine\n{header}\nA, B \n# a, comment\n\nB ,C\nlonely\n", encoding="utf-8")
    wanted = DAG.from_edges("A --> B", "B --> C", nodes=["A", "B", "C", "lonely"])
    assert read_graph(path) == wanted
    assert load_network(path) == wanted


@pytest.mark.parametrize("sign", [",", ";", "\t", " "])
def test_separators(sign: str) -> None:
    (edge, _), *_ = read_edge_list(f'from{sign}to\nA{sign}"B{sign}c"\n').edges
    assert edge[:2] == ("A", f"B{sign}c")
    assert edges(f"A{sign}B\nB{sign}C") == ["A --> B", "B --> C"]
    assert edges(f"# a, comment; with\tall\nA{sign}B") == ["A --> B"]


def test_quotes_keep_what_stands_in_them() -> None:
    found = read_edge_list('from,to\n" a ","b\n# c"\n x ,"#d"\n"with ""quotes"" ",y\n')
    assert list(found.names) == [" a ", "b\n# c", "x", "#d", 'with "quotes" ', "y"]


def test_the_line_of_a_fault_counts_comments_and_lines_in_quotes() -> None:
    with pytest.raises(EdgeListError) as caught:
        read_edge_list('# head\nfrom,to\n\n"A\nB",C\nD,E,F,G\n')
    assert caught.value.line == 6


def test_without_a_header_a_row_has_a_cause_and_an_effect() -> None:
    assert edges("A,B\n") == ["A --> B"]
    with pytest.raises(EdgeListError, match="an edge is 'cause,effect', and this row has 3 cells: 'A,B,-->'"):
        read_edge_list("A,B,-->\n")
    with pytest.raises(EdgeListError, match=r"cannot read 'digraph \{ A -> B' as a name"):
        read_edge_list("digraph { A -> B; }")


def test_a_null_character_is_refused() -> None:
    with pytest.raises(EdgeListError, match="null character"):
        read_edge_list("from,to\nA\0,B\n")


# --- size -------------------------------------------------------------------------------------------------


def test_a_list_of_too_many_nodes_is_refused_before_any_matrix(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("from,to\n" + "".join(f"X{i},X{i + 1}\n" for i in range(40_000)), encoding="utf-8")
    tracemalloc.start()
    with pytest.raises(DataError, match="line 20001: this list is too long: at most 20,000 nodes"):
        load_network(path)
    with pytest.raises(FormatError, match=r"large\.csv, line 20001: this list is too long"):
        read_graph(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # a matrix would take 1.6 GB


def test_a_list_of_too_many_edges_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.graph.edge_list.MOST_EDGES", 3)
    assert len(edges("A,B\nA,C\nA,D\n")) == 3
    with pytest.raises(EdgeListError, match="line 4: this list is too long"):
        read_edge_list("A,B\nA,C\nA,D\nA,E\n")
    assert MOST_EDGES == 1_000_000


def test_reading_takes_time_in_proportion_to_the_length() -> None:
    def seconds(n: int) -> float:
        text = "".join(f"X{i},X{i + 1}\n" for i in range(n))
        began = time.process_time()
        read_edge_list(text)
        return time.process_time() - began

    small, large = (min(seconds(n) for _ in range(3)) for n in (4_000, 16_000))
    assert large < 12 * small + 0.05  # four times the length; a square would make it sixteen times


def test_a_graph_of_too_many_nodes_is_refused_whoever_builds_it() -> None:
    names = [f"X{i}" for i in range(MOST_NODES + 1)]
    with pytest.raises(GraphError, match="20,001 nodes are too many: a graph holds at most 20,000"):
        DAG.from_edges(nodes=names)
