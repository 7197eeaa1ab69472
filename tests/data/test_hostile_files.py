"""Files that would block, burst, or take the process along: refused within known bounds."""

import gzip
import os
import socket
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lmarvel import DataError, Dataset, moments_of
from lmarvel.data.sources import csv_rows, parquet

SMALL = pl.DataFrame({"a": np.random.default_rng(0).normal(size=40), "b": [0, 1, 2, 1] * 10})
FORMATS = pytest.mark.parametrize("ending", ["parquet", "feather"])


def good_bytes(ending: str, folder: Path) -> bytes:
    path = folder / f"good.{ending}"
    SMALL.write_parquet(path) if ending == "parquet" else SMALL.write_ipc(path)
    return path.read_bytes()


# --- Parquet and Feather ----------------------------------------------------------------------------------


@FORMATS
def test_any_byte_may_change(ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    good = good_bytes(ending, tmp_path)
    path = tmp_path / f"data.{ending}"
    rng = np.random.default_rng(1)
    read = 0
    messages = []
    for at in rng.permutation(len(good))[:200]:
        changed = bytearray(good)
        changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            assert Dataset.of(path).rows().shape[1] == 2
            read += 1
        except DataError as error:
            messages.append(str(error))
    assert min(read, len(messages)) > 10
    assert not any("\n" in message for message in messages)
    assert capfd.readouterr() == ("", "")


@FORMATS
def test_a_reader_that_dies_is_a_message_and_the_next_file_is_read(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good_bytes(ending, tmp_path)
    path = tmp_path / f"good.{ending}"
    data = Dataset.of(path)
    ask = parquet._Reader.ask
    monkeypatch.setattr(parquet._Reader, "ask", lambda reader, *request: (reader.process.kill(), ask(reader, *request)))
    with pytest.raises(
        DataError, match=rf"cannot read .*good\.{ending}: the reader broke down over it\. Is it damaged"
    ):
        data.read()
    monkeypatch.undo()
    assert data.n == 40


def test_files_are_read_by_one_process_that_stays(tmp_path: Path) -> None:
    good_bytes("parquet", tmp_path)
    Dataset.of(tmp_path / "good.parquet").read()
    first = parquet._Reader._idle[os.getpid()].process.pid
    Dataset.of(tmp_path / "good.parquet").read()
    assert parquet._Reader._idle[os.getpid()].process.pid == first


def test_several_binary_files_can_be_read_at_once(tmp_path: Path) -> None:
    good_bytes("parquet", tmp_path)
    data = Dataset.of(tmp_path / "good.parquet")
    pairs = zip(data.batches(7), data.batches(7), strict=True)
    assert sum(bool((one == other).all()) for one, other in pairs) == 6


def test_a_script_that_reads_a_binary_file_ends_cleanly_without_loading_polars(tmp_path: Path) -> None:
    good_bytes("parquet", tmp_path)
    code = (
        f"import sys, lmarvel\nprint(lmarvel.Dataset.of({str(tmp_path / 'good.parquet')!r}).n, 'polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("40 False\n", "", 0)


@FORMATS
@pytest.mark.parametrize("name", ["data[1]", "da*ta", "what?", "x=1"])
def test_signs_of_patterns_in_names_of_files_mean_nothing(ending: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.{ending}"
    path.write_bytes(good_bytes(ending, tmp_path))
    assert Dataset.of(path).n == 40


@FORMATS
def test_signs_of_patterns_in_names_of_columns_mean_nothing(ending: str, tmp_path: Path) -> None:
    frame = SMALL.rename({"a": "*", "b": "^.*$"})
    path = tmp_path / f"data.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    np.testing.assert_array_equal(Dataset.of(path).rows(), SMALL.to_numpy())


# --- what is no file --------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_sockets_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.parquet")
    for name in ("pipe.csv", "pipe.parquet"):
        with pytest.raises(DataError, match=f"{name} is a pipe, not a regular file"):
            moments_of(tmp_path / name)
    with pytest.raises(DataError, match="/dev/zero is a device"):
        moments_of("/dev/zero", separator=",")
    with socket.socket(socket.AF_UNIX) as end:
        here = Path.cwd()
        os.chdir(tmp_path)  # addresses of sockets are short
        try:
            end.bind("s.csv")
        finally:
            os.chdir(here)
        with pytest.raises(DataError, match="is a socket"):
            moments_of(tmp_path / "s.csv")


# --- text without end -------------------------------------------------------------------------------------


def packed(path: Path, head: bytes, block: bytes, times: int) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(head)
        for _ in range(times):
            stream.write(block)
    return path


def test_an_archive_that_unpacks_without_end_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_rows, "UNPACKED", 8 << 20)
    monkeypatch.setattr(csv_rows, "BLOCK", 1 << 20)
    monkeypatch.setattr(csv_rows, "HELD", 1 << 20)
    monkeypatch.setattr(csv_rows, "RATIO", 20)
    path = packed(tmp_path / "bomb.csv.gz", b"a,b\n", b"1,2\n" * (1 << 18), 20)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"bomb\.csv\.gz unpacks to over 0\.\d GiB, more than 20 times its size"):
        for _ in Dataset.of(path).batches(100_000):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 << 20


def test_ordinary_archives_are_far_below_the_limit(tmp_path: Path) -> None:
    path = packed(tmp_path / "data.csv.gz", b"a,b\n", b"1,2\n2,1\n3,4\n" * 10_000, 1)
    assert moments_of(path).n == 30_000


@pytest.mark.parametrize("where", ["header", "row", "quotes"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_row_without_end_is_refused_in_bounded_memory(
    where: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_rows, "LONGEST_ROW", 1 << 20)
    monkeypatch.setattr(csv_rows, "BLOCK", 1 << 18)
    monkeypatch.setattr(csv_rows, "HELD", 1 << 20)
    head = {"header": b"", "row": b"a,b\n1,2\n", "quotes": b'a,b\n1,2\n"'}[where]
    block = (b"1\n" if where == "quotes" else b"00") * (1 << 19)
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        path.write_bytes(head + block * 20)
    else:
        packed(path, head, block, 20)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"cannot read .*data\.csv"):
        moments_of(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 << 20  # of 20 MiB


def test_rows_end_behind_the_last_line_end_outside_quotes() -> None:
    cases = {
        b"": 0,
        b"1,2": 0,
        b"1,2\n3": 4,
        b'1,"2\n3': 0,
        b'1,2\n3,"4\n': 4,
        b'1,2\n3,"4\n"\n5': 11,
        b'1\n"2\n3"\n"4\n5\n6': 8,
        b'"a""\n"\n"': 7,
    }
    for content, end in cases.items():
        assert csv_rows.end_of_rows(content) == end, content
    started = time.process_time()
    assert csv_rows.end_of_rows(b'1\n"' + b"\n" * 4_000_000) == 2
    assert csv_rows.end_of_rows(b"1\n" + b'"\n' * 1_000_001) == 2_000_002
    assert time.process_time() - started < 2  # linear; it would take hours otherwise


def test_a_header_of_a_million_names_is_refused_or_read_in_bounded_time(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"v{i}" for i in range(1_000_001)) + "\n")
    started = time.process_time()
    with pytest.raises(DataError, match="has 1000001 columns: at most 1000000 are read"):
        moments_of(path)
    path.write_text(",".join(f"v{i}" for i in range(100_001)) + "\n")
    with pytest.raises(DataError, match="100001 columns are too many: choose at most 100000"):
        moments_of(path)
    assert time.process_time() - started < 20


def test_choosing_among_20000_columns_is_linear(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(20_000)]
    rows = np.random.default_rng(2).integers(0, 9, size=(4, 20_000))
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows.tolist())]))
    started = time.process_time()
    data = Dataset.of(path, columns=names[::2], drop=names[::4])
    assert data.names == tuple(names[2::4])
    np.testing.assert_array_equal(data.rows(), rows[:, 2::4])
    with pytest.raises(DataError, match="duplicate column name 'v0', 'v1', "):
        Dataset.of(np.zeros((2, 20_000)), names=names[:10_000] * 2)
    assert time.process_time() - started < 5


def test_too_little_memory_for_the_covariance_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("lmarvel.data.scan.Running", full)
    with pytest.raises(DataError, match=r"the covariance of 2 columns needs 0\.0 GiB, more memory than there is"):
        moments_of(SMALL)


# --- blank lines, and bytes that are no text --------------------------------------------------------------

BODY = "1,2\n2,1\n3,5\n4,4\n"
BLANKS = {
    "behind the header": "a,b\n\n" + BODY,
    "many behind the header": "a,b\n\n\n\n" + BODY,
    "before and behind the header": "\n\na,b\n\n" + BODY,
    "a mark, then blank lines": "\ufeff\n\na,b\n\n" + BODY,
    "everywhere": "\n\na,b\n\n" + BODY.replace("\n", "\n\n\n"),
    "quotes in the rows": 'a,b\n\n"1",2\n\n2,"1"\n3,5\n\n4,4\n',
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("case", BLANKS)
@pytest.mark.parametrize("block", [3, 1 << 23])
def test_blank_lines_are_passed_over(
    case: str, line_end: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK", block)
    path = tmp_path / "data.csv"
    path.write_bytes(BLANKS[case].replace("\n", line_end).encode())
    assert Dataset.of(path).rows().tolist() == [[1, 2], [2, 1], [3, 5], [4, 4]]


def test_nul_bytes_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    for content, line in ((b"a\x00,b\n1,2\n", 1), (b"a,b\n1,2\n3,\x004\n", 3), ("a,b\n1,2\n".encode("utf-16-le"), 1)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"line {line}: a NUL byte"):
            moments_of(path)


def test_one_field_is_one_field(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(DataError, match="line 3: 1 field where"):
        moments_of(path)
