"""The results directory: durable, locked, and told in one line what is wrong with it."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from lmarvel.errors import OutputError
from lmarvel.experiments.plan import Job
from lmarvel.experiments.reproduce import EXPERIMENTS
from lmarvel.experiments.run import COLUMNS, KEY
from lmarvel.experiments.store import SCHEMA, Store

SETTINGS = {"seed": 1, "the structure mildew": "abc"}
MILDEW = EXPERIMENTS["table2"].settings[0]


def row(rep, status="ok"):
    values = {name: {"Float64": 0.5, "Int64": 7, "String": "x"}[str(kind)] for name, kind in SCHEMA.items()}
    return values | dict(zip(KEY, Job(MILDEW, "lmarvel", rep).key, strict=True)) | {"status": status}


def add_many(store, runs):
    for rep in range(runs):
        store.add(row(rep))


def fill(folder, runs):
    with Store(folder, SETTINGS) as store:
        add_many(store, runs)


def kept(folder):
    with Store(folder, SETTINGS) as store:
        return store.frame()["rep"].to_list()


def test_what_was_added_is_there_again_and_exported(tmp_path):
    fill(tmp_path, 12)
    assert kept(tmp_path) == list(range(12)), "in the order of numbers, not of text"
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 13
    with Store(tmp_path, SETTINGS) as store:
        assert Job(MILDEW, "lmarvel", 11).key in store.done
        assert Job(MILDEW, "lmarvel", 12).key not in store.done


def test_a_failed_run_is_exported_but_not_done(tmp_path):
    with Store(tmp_path, SETTINGS) as store:
        store.add(row(0, "error: it failed"))
        store.add(row(1, "limit"))
    assert "error: it failed" in (tmp_path / "runs.csv").read_text()
    assert kept(tmp_path) == [1]


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
from pathlib import Path
from tests.experiments.test_store import SETTINGS, row
from lmarvel.experiments.store import Store
store = Store(Path({folder!r}), SETTINGS)
for rep in range(5):
    store.add(row(rep))
if {inside}:
    store._database.execute("PRAGMA cache_size = 1")  # so that half of the transaction is on disk
    store._database.execute("BEGIN")
    for rep in range(5, 500):
        store.add(row(rep))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("inside", [False, True])
def test_a_kill_loses_only_what_was_under_way(tmp_path, inside):
    code = KILLED.format(path=sys.path, folder=str(tmp_path), inside=inside)
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "runs.csv").exists()
    if inside:
        assert (tmp_path / "runs.sqlite-journal").stat().st_size > 0, "the kill should leave a transaction half done"
    assert kept(tmp_path) == list(range(5))
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 6


@pytest.mark.parametrize("left", [2, 50, 100, 4096, 0.5, 0.99])
def test_a_truncated_database_is_told(tmp_path, left):
    fill(tmp_path, 200)
    file = tmp_path / "runs.sqlite"
    whole = file.read_bytes()
    half = whole[: left if isinstance(left, int) else int(left * len(whole))]
    file.write_bytes(half)
    with pytest.raises(OutputError, match=r"runs\.sqlite is damaged or no database \(.*\): give --out a new directory"):
        Store(tmp_path, SETTINGS)
    assert file.read_bytes() == half


def test_a_database_that_was_never_written_is_begun_anew(tmp_path):
    (tmp_path / "runs.sqlite").touch()
    assert kept(tmp_path) == []


@pytest.mark.parametrize("content", [b"precious", b"precious" * 1000])
def test_a_file_that_is_no_database_is_left_alone(tmp_path, content):
    (tmp_path / "runs.sqlite").write_bytes(content)
    with pytest.raises(OutputError, match=r"is damaged or no database \(file is not a database\)"):
        Store(tmp_path, SETTINGS)
    assert (tmp_path / "runs.sqlite").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["runs.sqlite"]


def test_a_database_of_another_program_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("CREATE TABLE runs (precious TEXT)")
    before = (tmp_path / "runs.sqlite").read_bytes()
    with pytest.raises(OutputError, match=r"runs\.sqlite is a database of another program"):
        Store(tmp_path, SETTINGS)
    assert (tmp_path / "runs.sqlite").read_bytes() == before


def test_other_columns_are_told(tmp_path):
    fill(tmp_path, 1)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("ALTER TABLE runs ADD COLUMN another REAL")
    with pytest.raises(OutputError, match="has other columns than this version writes: give --out a new directory"):
        Store(tmp_path, SETTINGS)


def test_other_settings_are_not_mixed_in_and_new_structures_are_added(tmp_path):
    fill(tmp_path, 1)
    with pytest.raises(OutputError, match=r"other settings \(not the same: seed\)"):
        Store(tmp_path, SETTINGS | {"seed": 2})
    with Store(tmp_path, SETTINGS | {"the structure water": "d"}):
        pass
    with pytest.raises(OutputError, match=r"not the same: the structure water"):
        Store(tmp_path, {"seed": 1, "the structure water": "e"})
    assert kept(tmp_path) == [0]


def test_two_commands_do_not_write_into_one_directory(tmp_path):
    with Store(tmp_path, SETTINGS) as store:
        for _ in range(2):
            with pytest.raises(
                OutputError, match=r"another command is writing into .*: wait for it, or give --out ano"
            ):
                Store(tmp_path, SETTINGS)
        store.add(row(0))
    assert kept(tmp_path) == [0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_another_process_is_kept_out_until_the_first_ends(tmp_path):
    code = KILLED.format(path=sys.path, folder=str(tmp_path), inside=False)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Store(tmp_path, SETTINGS):
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert "another command is writing into" in done.stderr.splitlines()[-1]
    assert kept(tmp_path) == []


def test_a_directory_of_an_earlier_version_is_told(tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "runs.csv").write_text("old")
    with pytest.raises(OutputError, match="was made by an earlier version: give --out a new directory"):
        Store(tmp_path, SETTINGS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.csv", "settings.json"]


@pytest.mark.parametrize("below", ["", "sub"])
def test_a_path_that_is_a_file_is_told(tmp_path, below):
    file = tmp_path / "out"
    file.write_text("precious")
    with pytest.raises(OutputError, match=r"it is a file; give --out a directory|Not a directory"):
        Store(file / below, SETTINGS)
    assert file.read_text() == "precious"


def test_a_database_that_is_a_directory_is_told(tmp_path):
    (tmp_path / "runs.sqlite").mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*runs\.sqlite: unable to open database file"):
        Store(tmp_path, SETTINGS)


@pytest.mark.parametrize("runs", [0, 1])
def test_a_directory_that_cannot_be_written_is_told(tmp_path, runs):
    if runs:
        fill(tmp_path, runs)
    tmp_path.chmod(0o555)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("root may write everywhere")
        with pytest.raises(OutputError, match=r"cannot write .*: Permission denied"):
            Store(tmp_path, SETTINGS)
    finally:
        tmp_path.chmod(0o755)


def test_a_database_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    fill(tmp_path, 1)
    connect = sqlite3.connect
    read_only = f"file:{tmp_path}/runs.sqlite?mode=ro"
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(read_only, uri=True, **options))
    with pytest.raises(OutputError, match=r"cannot write .*runs\.sqlite: attempt to write a readonly database"):
        Store(tmp_path, SETTINGS)


def test_a_full_disk_is_told_and_keeps_what_is_there(tmp_path):
    with Store(tmp_path, SETTINGS) as store:
        store._database.execute("PRAGMA max_page_count = 1")  # as small as it is
        with pytest.raises(OutputError, match=r"cannot write .*runs\.sqlite: database or disk is full"):
            add_many(store, 1000)
    reps = kept(tmp_path)
    assert 0 < len(reps) < 1000
    assert reps == list(range(len(reps)))
