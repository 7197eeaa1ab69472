"""A project: a folder of plain files, and everything that is read from it or written to it.

::

    cars.lmarvel/
      settings.toml        what is said of the table, and how to learn
      statements.txt       what is known, one statement per line
      log.txt              what was decided, and when
      tables/001.csv       tables, under names of our own
      runs/001/            a run: settings.toml and statements.txt as they were, result.json, page.json, run.json

Every file is written whole or not at all, and a run appears when all of it is there. So a kill at any moment loses at
most what was being typed. A write names the revision that it is based on, a digest of the file: where another window,
or an editor, changed the file since, it is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from lmarvel.app.settings import LearnSettings, Settings, TableSettings
from lmarvel.data.sources import SEPARATORS
from lmarvel.data.sources.parquet import BINARY
from lmarvel.data.sources.statfiles import SHEETS, STATISTICS
from lmarvel.errors import OutputError, SettingsError
from lmarvel.files import write_text
from lmarvel.text import readable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

ENDINGS = (*SEPARATORS, *BINARY, *STATISTICS, *SHEETS, *(f"{text}.gz" for text in SEPARATORS))
SETTINGS, STATEMENTS, LOG = "settings.toml", "statements.txt", "log.txt"
TEMPORARY = ".lmarvel-"
RUN_FILES = ("result.json", "page.json", "run.json")
_NUMBERED = re.compile(r"[0-9]+(?=\.|$)")  # files and folders that have a number for a name
_SHOWN = 500  # lines of the log
_MOST_BYTES = 1 << 24  # of a text file of the project


class Stale(SettingsError):
    """A file was changed since it was read; ``name`` is the file."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} was changed in another window or program since this page read it: nothing was overwritten."
            " The newer version is shown now"
        )
        self.name = name


class Project:
    """A folder with the files of a project; see the module for what they are.

    Examples
    --------
    >>> project = Project(Path(tempfile.mkdtemp()) / "new")
    >>> project.statements
    ('', 'e3b0c44298fc1c14')
    >>> project.write_statements("age causes bp", project.statements[1])
    'a0ece3dde30e7eda'
    >>> project.write_statements("bp causes age", "e3b0c44298fc1c14")
    Traceback (most recent call last):
    ...
    lmarvel.app.project.Stale: statements.txt was changed in another window or program since this page read it: \
nothing was overwritten. The newer version is shown now
    >>> project.close()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._lock = RLock()
        try:
            self._make()
        except OSError as error:
            raise OutputError(f"cannot open the project {readable(str(folder))}: {error.strerror or error}") from None
        try:
            self.settings  # noqa: B018  # refuses now what cannot be read
        except SettingsError:
            self.close()
            raise

    def _make(self) -> None:
        if self.folder.is_dir() and not self._file(SETTINGS).is_file() and any(self.folder.iterdir()):
            raise SettingsError(
                f"{readable(str(self.folder))} has files but no {SETTINGS}, so it is no project: choose another folder"
            )
        for folder in (self.folder, self._file("tables"), self._file("runs")):
            folder.mkdir(parents=True, exist_ok=True)
        self._held = open(self._file(".lock"), "ab")  # noqa: SIM115  # as long as the project is open
        if not _locked(self._held.fileno()):
            self._held.close()
            raise SettingsError(f"{readable(str(self.folder))} is open in another 'lmarvel app': close that one first")
        self._clear()
        if not self._file(SETTINGS).is_file():
            self.note("Project made")
            write_text(self._file(SETTINGS), Settings().to_toml())

    def _clear(self) -> None:
        """Remove what a kill left half done; nothing of it was ever shown as saved."""
        for folder in (self.folder, self._file("tables"), self._file("runs")):
            for path in folder.glob(f"{TEMPORARY}*"):
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others open it."""
        self._held.close()

    @property
    def name(self) -> str:
        """The name of the folder, without its ending."""
        return self.folder.name.removesuffix(".lmarvel") or self.folder.name

    def _file(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    # --- settings and statements ------------------------------------------------------------------------------

    @property
    def settings(self) -> tuple[Settings, str]:
        """The settings, and their revision."""
        text, revision = self._read(SETTINGS)
        return Settings.from_toml(text), revision

    def write_settings(
        self, revision: str, table: TableSettings | None = None, learn: LearnSettings | None = None
    ) -> str:
        """Write what is said of the table, or how to learn; return the new revision."""
        with self._lock:
            now, _ = self.settings
            new = replace(now, table=table or now.table, learn=learn or now.learn)
            written = self._write(SETTINGS, new.to_toml(), revision)
            for line in _changes(now, new):
                self.note(line)
            return written

    @property
    def statements(self) -> tuple[str, str]:
        """What is known, and its revision."""
        return self._read(STATEMENTS)

    def write_statements(self, text: str, revision: str) -> str:
        """Write what is known; return the new revision."""
        with self._lock:
            return self._write(STATEMENTS, text, revision)

    def _read(self, name: str) -> tuple[str, str]:
        try:
            with self._file(name).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            content = b""
        except OSError as error:
            raise SettingsError(f"cannot read {name}: {error.strerror or error}") from None
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{name} has more than {_MOST_BYTES >> 20} MiB, and is not the file of a project")
        try:
            return content.decode("utf-8-sig").replace("\r\n", "\n"), _digest(content)
        except UnicodeDecodeError:
            raise SettingsError(f"{name} is not UTF-8 text: save it as such") from None

    def _write(self, name: str, text: str, revision: str) -> str:
        if self._read(name)[1] != revision:
            raise Stale(name)
        write_text(self._file(name), text)
        return _digest(text.encode("utf-8"))

    # --- tables -----------------------------------------------------------------------------------------------

    def new_table(self) -> Path:
        """Return where to write a table that is coming in; :meth:`take_table` makes it the project's."""
        handle, path = tempfile.mkstemp(prefix=TEMPORARY, dir=self._file("tables"))
        os.close(handle)
        return Path(path)

    def take_table(self, came: Path, name: str) -> None:
        """Make a file the table of the project, with nothing said of it; ``name`` is what it is called."""
        with self._lock:
            found = map(_NUMBERED.match, os.listdir(self._file("tables")))
            numbers = [int(one[0]) for one in found if one is not None]
            file = f"{max(numbers, default=0) + 1:03}{ending_of(name)}"
            os.replace(came, self._file("tables", file))
            now, revision = self.settings
            new = replace(now, file=file, name=name, table=TableSettings())
            self._write(SETTINGS, new.to_toml(), revision)
            self.note(f"Table: {readable(name)}, kept as tables/{file}")
            used = {*(run.settings.file for run in self.runs()), *self._going_on()}
            if now.file is not None and now.file not in used:
                self._file("tables", now.file).unlink(missing_ok=True)  # nothing else here is this program's to delete

    def _going_on(self) -> Iterator[str | None]:
        """Give the tables of runs that are not done."""
        for path in self._file("runs").glob(f"{TEMPORARY}*/{SETTINGS}"):
            with suppress(SettingsError, OSError):
                yield Settings.from_toml(path.read_text(encoding="utf-8")).file

    def table(self, settings: Settings) -> Path:
        """Return the table of these settings."""
        if settings.file is None:
            raise SettingsError("there is no table yet: choose one first")
        path = self._file("tables", settings.file)
        if not path.is_file():
            raise SettingsError(f"the table tables/{settings.file} is gone: choose it again")
        return path

    # --- runs -------------------------------------------------------------------------------------------------

    def new_run(self) -> Path:
        """Return a folder for the files of a run, with the settings and statements as they are now."""
        with self._lock:
            settings, statements = self.settings[0], self.statements[0]
            self.table(settings)
            folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=self._file("runs")))
            write_text(folder / SETTINGS, settings.to_toml())
            write_text(folder / STATEMENTS, statements)
            return folder

    def take_run(self, folder: Path) -> int:
        """Make a folder with the files of a run the newest run; return its number."""
        with self._lock:
            for name in RUN_FILES:
                if not (folder / name).is_file():
                    raise SettingsError(f"the run has no {name}")
            numbers = [int(path.name) for path in self._file("runs").iterdir() if _NUMBERED.fullmatch(path.name)]
            number = max(numbers, default=0) + 1  # runs that cannot be read keep theirs
            folder.chmod(0o755)
            os.replace(folder, self._file("runs", f"{number:03}"))
            run = self.run(number)
            self.note(f"Run {number}: {run.about.get('method', '')}; {' '.join(run.about.get('verdict', [])[:1])}")
            return number

    def runs(self) -> list[Run]:
        """Return the runs, the oldest first; a folder that is not one is passed over."""
        found = []
        for path in self._file("runs").iterdir():
            if path.name.isdecimal() and path.name.isascii():
                with suppress(SettingsError, OSError):
                    found.append(Run(path))
        return sorted(found, key=lambda run: run.number)

    def run(self, number: int) -> Run:
        """Return a run by its number."""
        for run in self.runs():
            if run.number == number:
                return run
        raise SettingsError(f"there is no run {number}")

    # --- log --------------------------------------------------------------------------------------------------

    def note(self, line: str) -> None:
        """Add a line to the log of decisions."""
        text = f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {' '.join(line.split())}\n"
        with suppress(OSError):  # a log that cannot be written is no reason to refuse a decision
            handle = os.open(self._file(LOG), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(handle, text.encode("utf-8", "replace"))
            finally:
                os.close(handle)

    def log(self) -> list[str]:
        """Return the last lines of the log."""
        try:
            text = self._file(LOG).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return text.splitlines()[-_SHOWN:]


class Run:
    """The files of a run; what it was learned with, and what it found."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, int(folder.name)
        for name in RUN_FILES:
            if not (folder / name).is_file():
                raise SettingsError(f"runs/{folder.name} has no {name}")
        self.settings = Settings.from_toml((folder / SETTINGS).read_text(encoding="utf-8"))
        self.statements = (folder / STATEMENTS).read_text(encoding="utf-8")

    @cached_property
    def about(self) -> dict[str, Any]:
        """What is shown of a run in a list, and compared with others."""
        try:
            plain = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            plain = None
        if not isinstance(plain, dict):
            raise SettingsError(f"runs/{self.folder.name}/run.json is damaged")
        return plain

    def file(self, name: str) -> Path:
        """Return one of its files."""
        return self.folder / name


def ending_of(name: str) -> str:
    """Return the ending of a table's name, from those that are read; another is refused.

    Examples
    --------
    >>> ending_of("Survey.CSV"), ending_of("a.b.tsv.gz")
    ('.csv', '.tsv.gz')
    """
    low = name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if low.endswith(ending):
            return ending
    raise SettingsError(f"{readable(name)} is not a table that can be read: {', '.join(ENDINGS)}")


def _changes(old: Settings, new: Settings) -> Iterator[str]:
    """Give what changed between two settings, a line each."""
    parts: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
        ("Table", old.table.to_dict(), new.table.to_dict()),
        ("Learning", old.learn.to_dict(), new.learn.to_dict()),
    ]
    for what, before, after in parts:
        for name, value in after.items():
            if value != before[name]:
                yield f"{what}: {name} is now {json.dumps(value, ensure_ascii=False)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _locked(handle: int) -> bool:
    """Lock a file for this process; the system lets go of it however the process ends."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
