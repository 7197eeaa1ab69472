"""The results directory: ``settings.json``, and ``runs.csv`` with a line for each finished run.

A line is appended and forced to disk when its run is finished, so that an interruption loses only what was under way;
a line that makes no sense, half-written when the power went, is dropped when the directory is opened again. Runs of
other settings are not mixed in.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lmarvel.atomic import OutputError, write_text
from lmarvel.experiments.run import COLUMNS, CONFUSION, KEY, NUMBERS, Row

Key = tuple[str, ...]


class Store:
    """The finished runs in a directory; use it in a ``with`` block, which holds its lock."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.path = folder / "runs.csv"
        self.rows: dict[Key, Row] = {}
        self._make_folder()
        self._lock = _lock(folder)
        try:
            self._check_settings(dict(settings))
            self.rows = self._load()
            self._rewrite()
            self._stream = self.path.open("a", encoding="utf-8", newline="")
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stream.close()
        self._rewrite()
        self._lock.close()

    def add(self, row: Row) -> None:
        """Append a finished run, durably."""
        self.rows[key_of(row)] = row
        try:
            self._stream.write(_lines([row]))
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}") from None

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            ours = (self.folder / "settings.json").exists()
            others = [p.name for p in self.folder.iterdir() if not p.name.startswith(".")]
        except OSError as error:
            raise OutputError(f"cannot use the directory {self.folder}: {error.strerror or error}") from None
        if others and not ours:
            shown = ", ".join(sorted(others)[:3])
            raise OutputError(f"{self.folder} holds other files ({shown}): give --out a new or empty directory")

    def _check_settings(self, settings: dict[str, Any]) -> None:
        path = self.folder / "settings.json"
        if not path.exists():
            write_text(path, json.dumps(settings, indent=1) + "\n")
            return
        try:
            old = json.loads(path.read_text("utf-8"))
            structures = {**old["structures"], **settings["structures"]}
        except (OSError, ValueError, KeyError, TypeError):
            raise OutputError(f"{path} is damaged: give --out a new directory") from None
        differ = [name for name in settings if name != "structures" and old.get(name) != settings[name]]
        differ += [f"the structure {s}" for s, digest in old["structures"].items() if structures[s] != digest]
        if differ:
            raise OutputError(
                f"{self.folder} was written with other settings (not the same: {', '.join(differ)}):"
                " use those again, or give --out a new directory"
            )
        write_text(path, json.dumps({**settings, "structures": structures}, indent=1) + "\n")

    def _load(self) -> dict[Key, Row]:
        if not self.path.exists():
            return {}
        try:
            text = self.path.read_text("utf-8", errors="replace")
        except OSError as error:
            raise OutputError(f"cannot read {self.path}: {error.strerror or error}") from None
        header, *lines = text[: text.rfind("\n") + 1].splitlines() or [",".join(COLUMNS)]  # a rest was cut off
        if header != ",".join(COLUMNS):
            raise OutputError(f"{self.path} has other columns than this version writes: give --out a new directory")
        rows = filter(None, map(_row_of, lines))
        return {key_of(row): row for row in rows}

    def _rewrite(self) -> None:
        """Write all runs in the order of their keys, so that the file does not show which worker was faster."""
        ordered = sorted(self.rows.values(), key=lambda row: (*key_of(row)[:4], int(row["rep"])))
        write_text(self.path, ",".join(COLUMNS) + "\n" + _lines(ordered))


def key_of(row: Row) -> Key:
    """Return what tells a run from all others."""
    return tuple(row[name] for name in KEY)


def _row_of(line: str) -> Row | None:
    """Return the run of a line, None if the line makes no sense or the run failed: then it is done again."""
    try:
        cells = next(csv.reader([line], strict=True))
        row = dict(zip(COLUMNS, cells, strict=True))
        int(row["rep"])
        for name in (*NUMBERS, *CONFUSION):
            float(row[name] or 0)
    except (csv.Error, ValueError, StopIteration):
        return None
    finished = row["status"] == "limit" or (row["status"] == "ok" and all(row[name] for name in NUMBERS))
    return row if finished else None


def _lines(rows: Iterable[Row]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([row[name] for name in COLUMNS] for row in rows)
    return stream.getvalue()


def _lock(folder: Path) -> io.TextIOWrapper:
    """Hold the directory against a second command that would write into it at the same time."""
    try:
        stream = (folder / ".lock").open("w")
    except OSError as error:
        raise OutputError(f"cannot write into {folder}: {error.strerror or error}") from None
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such lock on this system: go on without
        pass
    except OSError:
        stream.close()
        raise OutputError(f"another command is writing into {folder}: wait for it, or give --out another") from None
    return stream
