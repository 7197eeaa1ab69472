"""The results directory: ``runs.sqlite`` holds the settings and every finished run, ``runs.csv`` shows them to people.

A run is a transaction, on disk when it is committed: a kill at any moment loses only what was under way. The database
is locked as long as it is open, so that a second command cannot write into the same directory; the lock ends with its
process. Runs of other settings are not mixed in. ``runs.csv`` is written when the store is closed, an interruption
included; it is never read.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import polars as pl

from lmarvel.errors import OutputError
from lmarvel.experiments.run import COLUMNS, CONFUSION, KEY, NUMBERS, Row
from lmarvel.files import check_writable, write_text

Key = tuple[str | int, ...]

_NAME = "runs.sqlite"
_OURS = 0x4C4D5256  # "LMRV": the application_id by which SQLite files are told apart
_FLOATS = frozenset((*NUMBERS, *CONFUSION))
_WHOLE = frozenset(("rep", "observed", "latent", "selection", "rows"))
SCHEMA = {c: pl.Float64 if c in _FLOATS else pl.Int64 if c in _WHOLE else pl.String for c in COLUMNS}
_SQL = {pl.Float64: "REAL", pl.Int64: "INTEGER NOT NULL", pl.String: "TEXT NOT NULL"}
_NEW = "give --out a new directory"


class Store:
    """The finished runs in a directory; use it in a ``with`` block, at whose end ``runs.csv`` is written.

    Attributes
    ----------
    path : Path
        Where ``runs.csv`` is.
    done : set
        The keys of the runs that are finished. Those that failed are not, and are done again.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Store(folder, {"seed": 1}) as store:
    ...     store.frame().height
    0
    >>> Store(folder, {"seed": 2})                                                           # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    lmarvel.errors.OutputError: ... was written with other settings (not the same: seed): use those again, or ...
    """

    def __init__(self, folder: Path, settings: Mapping[str, str | int | float]) -> None:
        self.folder = folder
        self.path = folder / "runs.csv"
        self._file = folder / _NAME
        self._make_folder()
        check_writable(self.path)
        with self._told():
            self._database = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        try:
            with self._told():
                self._open(settings)
                self.done: set[Key] = set(self._database.execute(f"SELECT {_quoted(KEY)} FROM runs"))
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._export()
        finally:
            self._database.close()

    def add(self, row: Row) -> None:
        """Keep a finished run, durably."""
        marks = ", ".join("?" * len(COLUMNS))
        with self._told():
            self._database.execute(f"INSERT OR REPLACE INTO runs VALUES ({marks})", [row[name] for name in COLUMNS])
        self.done.add(tuple(row[name] for name in KEY))  # type: ignore[misc]  # a key has no None

    def frame(self) -> pl.DataFrame:
        """Return all runs in the order of their keys, so that it does not show which worker was faster."""
        with self._told():
            rows = self._database.execute(f"SELECT * FROM runs ORDER BY {_quoted(KEY)}").fetchall()
        return pl.DataFrame(rows, schema=SCHEMA, orient="row")

    def _export(self) -> None:
        stream = io.StringIO()
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(COLUMNS)
        lines.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in self.frame().iter_rows())
        write_text(self.path, stream.getvalue())

    def _make_folder(self) -> None:
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise OutputError(f"cannot write into {self.folder}: it is a file; give --out a directory")
            self.folder.mkdir(parents=True, exist_ok=True)
            there = sorted(p.name for p in self.folder.iterdir() if not p.name.startswith("."))
        except OSError as error:
            raise OutputError(f"cannot use the directory {self.folder}: {error.strerror or error}") from None
        if _NAME in there or not there:
            return
        if {"settings.json", "runs.csv"} <= set(there):
            raise OutputError(f"{self.folder} was made by an earlier version: {_NEW}")
        raise OutputError(
            f"{self.folder} holds other files ({', '.join(there[:3])}): give --out a new or empty directory"
        )

    def _open(self, settings: Mapping[str, str | int | float]) -> None:
        """Lock the database, make it if it is new, and refuse one that is not this experiment's."""
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")  # the lock of the next line is kept when its transaction ends
        run("BEGIN EXCLUSIVE")
        if not run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._create()
        if run("PRAGMA application_id").fetchone()[0] != _OURS:
            raise OutputError(f"{self._file} is a database of another program: {_NEW}")
        if run("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("its content is inconsistent")
        if tuple(column[1] for column in run("PRAGMA table_info(runs)")) != COLUMNS:
            raise OutputError(f"{self._file} has other columns than this version writes: {_NEW}")
        self._check_settings(settings)
        run("DELETE FROM runs WHERE status NOT IN ('ok', 'limit')")
        run("COMMIT")

    def _create(self) -> None:
        run = self._database.execute
        run(f"PRAGMA application_id = {_OURS}")
        run("CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        columns = ", ".join(f'"{name}" {_SQL[kind]}' for name, kind in SCHEMA.items())
        run(f"CREATE TABLE runs ({columns}, PRIMARY KEY ({_quoted(KEY)})) WITHOUT ROWID")

    def _check_settings(self, settings: Mapping[str, str | int | float]) -> None:
        old = {name: json.loads(value) for name, value in self._database.execute("SELECT name, value FROM settings")}
        differ = [name for name, value in settings.items() if old.get(name, value) != value]
        if differ:
            raise OutputError(
                f"{self.folder} was written with other settings (not the same: {', '.join(differ)}):"
                f" use those again, or {_NEW}"
            )
        new = [(name, json.dumps(value)) for name, value in settings.items()]
        self._database.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", new)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in one line what SQLite complains about."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise OutputError(
                    f"another command is writing into {self.folder}: wait for it, or give --out another"
                ) from None
            raise OutputError(f"cannot write {self._file}: {error}") from None
        except (sqlite3.DatabaseError, ValueError) as error:  # ValueError: text that is no UTF-8, settings no JSON
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{self._file} is damaged or no database ({error}): {_NEW}") from None


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)
