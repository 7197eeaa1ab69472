"""The budget of memory: what is refused before it is asked for, and what the system refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lmarvel import LMarvel, LMarvelError
from lmarvel.budget import memory
from lmarvel.data.dataset import Dataset
from lmarvel.data.sources import csv_typed
from lmarvel.data.table import ReadOnce
from lmarvel.errors import ParameterError, TooLarge
from lmarvel.search.lift import usual_memory
from tests.cli.running import run_apart

KNOWN = pytest.mark.skipif(not memory.taken(), reason="the system does not say what the process has taken")


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "4 parsecs", "1e9", "10MB", "4i"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="max_memory"):
        memory.parse(text)


@pytest.mark.parametrize(("text", "size"), [("4GB", 4 * 10**9), ("0.5 gib", 2**29), ("300000000", 300_000_000)])
def test_sizes(text: str, size: int) -> None:
    assert memory.parse(text) == size


@pytest.mark.parametrize("text", ["99999999999999999999TB", "9" * 400, "8388608TiB"])
def test_more_than_the_system_can_count_is_no_limit(text: str) -> None:
    with memory.limited(memory.parse(text)), memory.enforced():
        assert memory.allowed() > 10**18


def test_what_the_machine_has_free_is_a_limit_by_itself() -> None:
    assert 2**26 < memory.allowed() <= memory.free()


def test_regressions_are_kept_in_a_quarter_of_it() -> None:
    with memory.limited(400_000_000):
        assert usual_memory() == 100_000_000
    with memory.limited(10**12):
        assert usual_memory() == 2**30


def test_correlations_that_do_not_fit_are_refused_before_they_are_made() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 4000)).astype(np.float64)
    with memory.limited(300_000_000), pytest.raises(TooLarge, match="correlations of 4,000 columns need about 512 MB"):
        LMarvel().fit(rows)


def test_a_look_at_a_table_is_refused_where_it_does_not_fit() -> None:
    wide = Dataset.of(np.random.default_rng(0).normal(size=(3, 8000)))
    with memory.limited(300_000_000), pytest.raises(TooLarge, match="correlations of 8,000 columns need about 512 MB"):
        wide.read()


def test_what_the_process_has_taken_already_counts() -> None:
    with memory.limited(memory.taken() + 200_000_000):
        memory.check(100_000_000, "some columns")
        with pytest.raises(TooLarge, match=r"some columns need about 250 MB of memory, but .* are left: take fewer"):
            memory.check(250_000_000, "some columns")


@KNOWN
def test_reading_ends_where_it_takes_too_much() -> None:
    with memory.limited(memory.taken() + 100_000_000):
        memory.watch("rows")
        taken = np.ones(25_000_000)
        with pytest.raises(TooLarge, match=r"rows need more than the .* of memory that may be used: take fewer"):
            memory.watch("rows")
    memory.watch("rows")
    assert taken.all()


def test_rows_are_not_kept_where_little_memory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, passes = np.arange(600.0).reshape(100, 6), []

    def batches(size: int) -> Iterator[np.ndarray]:
        passes.append(size)
        return (rows[start : start + 7] for start in range(0, len(rows), 7))

    plenty = iter([0.0, *[1e9] * 100])  # little at first: what comes later is not the whole table
    monkeypatch.setattr(memory, "left", lambda: next(plenty))
    once = ReadOnce(batches)
    for _ in range(3):
        assert np.array_equal(np.concatenate(list(once(30))), rows)
        assert [len(batch) for batch in once(30)] == [30, 30, 30, 10]
    assert passes == [30, 30]  # the second time there was room


@KNOWN
def test_wide_tables_that_do_not_fit_are_refused_before_their_numbers_are_read(tmp_path: Path) -> None:
    """The last value is no number: whoever had read it would have said so."""
    names, values = (",".join(f"{sign}{j}" for j in range(3000)) for sign in ("V", "0."))
    (tmp_path / "wide.csv").write_text("\n".join([names, *[values] * 20, values[:-1] + "x"]))
    done = run_apart("learn", tmp_path / "wide.csv", "--max-memory", "320MB")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "correlations of 3,000 columns need about 288 MB of memory, but" in done.err
    assert "of 320 MB are left" in done.err


def test_text_that_does_not_fit_is_refused(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.csv"
    path.write_text("a,b\n" + "x,1\ny,2\n" * 2000)
    monkeypatch.setattr(csv_typed, "_HELD", 10**6)
    with memory.limited(300_000_000), pytest.raises(LMarvelError, match="columns of text need about"):
        LMarvel().fit(path)


@pytest.mark.skipif(memory.resource is None or sys.platform != "linux", reason="the system has no such limit")
def test_the_system_refuses_what_nobody_foresaw_and_the_limit_is_taken_back() -> None:
    asked = """
import numpy as np
from lmarvel.budget import memory
with memory.limited(500_000_000), memory.enforced():
    try:
        np.ones(10**8)
    except MemoryError:
        print("refused")
print(np.ones(10**8).sum())
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused", "100000000.0"]


@pytest.mark.skipif(memory.resource is None or sys.platform != "linux", reason="the system has no such limit")
def test_a_limit_that_somebody_set_is_not_raised() -> None:
    asked = """
import resource
import numpy
from lmarvel.budget import memory
resource.setrlimit(resource.RLIMIT_DATA, (2 * 10**9, resource.getrlimit(resource.RLIMIT_DATA)[1]))
print(memory.reserved() - memory.taken())  # what is reserved and not used does not count
for most in (10**9, 4 * 10**9):
    with memory.limited(most), memory.enforced():
        print(resource.getrlimit(resource.RLIMIT_DATA)[0])
print(resource.getrlimit(resource.RLIMIT_DATA)[0])
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    unused, close, *others = map(int, done.stdout.split())
    assert close == pytest.approx(10**9 + unused, abs=10**8)  # SciPy is loaded in between
    assert others == [2 * 10**9] * 2


@pytest.mark.skipif(memory.resource is None or sys.platform != "linux", reason="the system has no such limit")
def test_what_is_reserved_and_not_used_does_not_count() -> None:
    """Libraries reserve stacks and buffers for each processor: with many of these, more than was allowed."""
    asked = """
import numpy as np
from lmarvel.budget import memory
never_used = np.empty(10**9 // 8)
with memory.limited(400_000_000), memory.enforced():
    print(np.ones(10**7).sum())
    try:
        np.ones(10**8)
    except MemoryError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["10000000.0", "refused"]


@pytest.mark.skipif(memory.resource is None or sys.platform != "linux", reason="the system has no such limit")
@pytest.mark.parametrize("categories", [0, 10, 20])
def test_a_command_works_with_the_least_memory_that_can_be_asked_for(tmp_path: Path, categories: int) -> None:
    """The process had reserved more than that before it began, and ended by a fault of memory, or broken libraries."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 20))
    rows[:, 1:] += 0.6 * rows[:, :-1]
    words = [
        [("abc"[int(x > 0) + int(x > 1)] if j < categories else f"{x:.4f}") for j, x in enumerate(r)] for r in rows
    ]
    lines = [",".join(f"V{j}" for j in range(20)), *map(",".join, words)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    written = ("-o", "result.json", "--report", "report.html", "-q", "--max-seconds", "10")
    command = [
        sys.executable,
        "-c",
        "from lmarvel.cli import main; main()",
        "learn",
        "table.csv",
        "--max-memory",
        "256MiB",
    ]
    done = subprocess.run([*command, *written], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert (tmp_path / "report.html").exists()
