"""Files of graphs: what is no text, no file or far too much is refused in a line."""

from __future__ import annotations

import gzip
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from lmarvel import DataError, GraphError
from lmarvel.errors import FormatError
from lmarvel.graph.files import MOST_BYTES, read_text
from lmarvel.interchange.registry import read_graph
from lmarvel.interchange.truth import read_truth
from lmarvel.simulate import load_network

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices")


def test_text_is_read_packed_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfA \xc3\xa9")
    (tmp_path / "a.txt.GZ").write_bytes(gzip.compress("A é".encode()))
    assert read_text(tmp_path / "a.txt") == read_text(tmp_path / "a.txt.GZ") == "A é"


@posix
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    os.mkfifo(path)
    for read, error in ((read_graph, FormatError), (read_truth, FormatError), (load_network, DataError)):
        with pytest.raises(error, match=r"graph\.csv: this is a pipe or a device, not a file"):
            read(path)


@posix
def test_a_device_that_never_ends_is_not_read() -> None:
    with pytest.raises(GraphError, match="a pipe or a device"):
        read_text(Path("/dev/zero"))
    with pytest.raises(FormatError, match="/dev/zero: this is a pipe or a device"):
        read_graph("/dev/zero", format="dot")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="this is a directory, not a file"):
        read_text(tmp_path)
    (tmp_path / "net.csv").mkdir()
    with pytest.raises(DataError, match=r"net\.csv: this is a directory"):
        load_network(tmp_path / "net.csv")


def test_a_file_of_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.dot"
    with path.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(FormatError, match=r"large\.dot: this file has more than 64 MB"):
        read_graph(path)
    path.write_bytes(b"abc")
    assert read_text(path, most=3) == "abc"
    with pytest.raises(GraphError, match="more than"):
        read_text(path, most=2)


def test_a_packed_file_is_unpacked_no_further_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(3 * MOST_BYTES // 2**20):
            stream.write(b"A,B\n" * 2**18)
    tracemalloc.start()
    with pytest.raises(DataError, match="more than 64 MB"):
        load_network(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.6 * MOST_BYTES


@pytest.mark.parametrize("ending", ["csv", "txt", "dot", "json", "graphml", "tetrad", "dagitty"])
def test_binary_files_get_a_line(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph.{ending}"
    path.write_bytes(b"A --> B\n\x00\x01")
    with pytest.raises(FormatError) as caught:
        read_graph(path)
    assert str(caught.value) == f"{path}: this is not text (byte 8 is null): give a graph as text"
