"""Tables in Parquet and Feather files, read by a process of their own.

Both formats are full of offsets and lengths that a reader has to believe, and no reader checks all of them: one
changed byte makes Polars panic, or abort, and an abort takes the whole process along, whoever's notebook that is. So
these files are opened in a child process only (:mod:`lmarvel.data.reader`), which sends rows through a pipe as plain
float64. What kills the child is one message here.

This costs the start of a Python with Polars, once: the child stays for the next file, and ends with this process. In
one measurement on a loaded machine a table of 400,000 rows and 20 columns took two to three times as long as without.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Wish
from lmarvel.data.source import Rows, Source
from lmarvel.errors import DataError

BINARY = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".ipc": "feather"}


def open_binary(path: Path, kind: str) -> Source:
    """Read the names and types of the columns of a Parquet or Feather file."""
    _check_magic(path, kind)
    with _reader() as reader:
        reader.ask(path, kind)
        header = reader.answer()
    names: list[str] = header["names"]

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        for i in columns:
            if not header["usable"][i]:
                sort = header["types"][i]
                raise DataError(f"column {names[i]!r} is of type {sort}, not numeric: drop it, or turn it into numbers")
        return Rows(lambda rows: _batches(path, kind, [names[i] for i in columns], rows))

    return Source(names, choose, in_memory=False)


def _batches(path: Path, kind: str, names: list[str], rows: int) -> Iterator[NDArray[np.float64]]:
    with _reader() as reader:
        reader.ask(path, kind, names, rows)
        while count := reader.answer()["rows"]:
            yield reader.numbers(count, len(names))


def _check_magic(path: Path, kind: str) -> None:
    """Refuse a file that does not begin and end like one of its format, before a process is started for it."""
    word = {"parquet": b"PAR1", "feather": b"ARROW1"}[kind]
    try:
        with path.open("rb") as stream:
            first = stream.read(len(word))
            stream.seek(-min(len(word), path.stat().st_size), os.SEEK_END)
            last = stream.read()
    except OSError as error:
        raise _failure(path, str(error)) from None
    if first != word or last != word:
        raise _failure(path, f"it does not begin and end with {word.decode()}, as a {kind.capitalize()} file does")


def _failure(path: Path, said: str) -> DataError:
    return DataError(f"cannot read {path}: {said.rstrip('.')}. Is it damaged, or of another format?")


@contextmanager
def _reader() -> Iterator[_Reader]:
    """Lend a reader, and keep it for the next file if it is still sound."""
    reader = _Reader.ready()
    try:
        yield reader
        reader.sound = True
    finally:  # also where nobody wants the other rows
        if reader.sound:
            reader.keep()
        else:
            reader.end()


class _Reader:
    """A child process that reads files."""

    _idle: dict[int, _Reader] = {}  # noqa: RUF012  at most one, under this process's number: a fork must not share it

    def __init__(self) -> None:
        script = Path(__file__).with_name("reader.py")
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.path, self.sound = Path(), False
        self._send(sys.path)

    @classmethod
    def ready(cls) -> _Reader:
        """Return the idle process if there is one, else a new one."""
        reader = cls._idle.pop(os.getpid(), None)
        if reader is not None and reader.process.poll() is None:
            return reader
        try:
            return cls()
        except OSError as error:
            raise DataError(f"cannot start the process that reads Parquet and Feather files: {error}") from None

    def keep(self) -> None:
        """Keep the process for the next file."""
        other = self._idle.pop(os.getpid(), None)
        self._idle[os.getpid()] = self
        if other is not None:
            other.end()

    def end(self) -> None:
        """End the process; it holds nothing that could be lost."""
        self.process.kill()
        self.answers.close()
        with suppress(OSError):  # what it did not take in
            self.requests.close()
        self.process.wait()

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it is gone, as the missing answer will show
            self.requests.write(json.dumps(message).encode() + b"\n")
            self.requests.flush()

    def ask(self, path: Path, kind: str, columns: list[str] | None = None, rows: int = 0) -> None:
        """Ask for the header of a file, or for rows of columns."""
        self.path, self.sound = path, False
        self._send({"path": str(path.absolute()), "format": kind, "columns": columns, "rows": rows})

    def answer(self) -> dict[str, Any]:
        """Return what the process says, or raise what became of it."""
        line = self.answers.readline()
        said: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {"error": "the reader broke down over it"}
        if "error" in said:
            self.sound = "sound" in said
            raise _failure(self.path, said["error"])
        return said

    def numbers(self, rows: int, columns: int) -> NDArray[np.float64]:
        """Return the announced rows."""
        numbers = np.empty((rows, columns))
        if self.answers.readinto(numbers.reshape(-1).view(np.uint8).data) < numbers.nbytes:  # type: ignore[attr-defined]
            raise _failure(self.path, "the reader broke down over it")
        return numbers


@atexit.register
def _end_idle() -> None:
    reader = _Reader._idle.pop(os.getpid(), None)
    if reader is not None:
        reader.end()
