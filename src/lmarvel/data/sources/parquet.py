"""Tables in Parquet and Feather files, read by a process of their own.

Both formats are full of offsets and lengths that a reader has to believe, and no reader checks all of them: one
changed byte makes Polars panic, or abort, and an abort takes the whole process along, whoever's notebook that is. Of
18,900 files of 21 shapes with one byte changed, Polars 2.1 refused half, read half, panicked over 142 and aborted over
3, two Parquet and one Feather: it believed lengths of 1e16 bytes and more, and an allocation that fails ends a process.
So these files are opened in a child process only (:mod:`lmarvel.data.sources.parquet_reader`), which sends rows
through a pipe as plain float64. What kills the child is one message here.

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

from lmarvel.data.levels import MIXED, OTHER, Column, How, Mixture, Wish, as_levels, column_of_codes
from lmarvel.data.sources.base import Rows, Source, rows_of, tell_marks
from lmarvel.errors import DataError, NotNumbers, UnusableError

_LEVELS = ("truth", "text", "ordered")  # what a reader calls columns whose values are levels
BINARY = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".ipc": "feather"}


def open_binary(path: Path, kind: str) -> Source:
    """Read the names and types of the columns of a Parquet or Feather file."""
    _check_magic(path, kind)
    with _reader() as reader:
        reader.ask(path, kind, "header")
        header = reader.answer()
    names: list[str] = header["names"]
    sorts: list[str] = header["types"]

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        other = [f"{names[i]!r} ({sorts[i]})" for i in columns if sorts[i] not in ("numbers", *_LEVELS)]
        if other and not wish.lenient:
            raise UnusableError(f"column {', '.join(other[:20])} holds neither numbers nor text: {OTHER}")
        chosen = [names[i] for i in columns]
        text = {names[i]: sorts[i] for i in columns if sorts[i] != "numbers"}

        def batches(rows: int) -> Iterator[NDArray[np.float64]]:
            if text:
                raise NotNumbers(f"{path} holds text")
            with _reader() as reader:
                reader.ask(path, kind, "rows", chosen, rows)
                yield from reader.batches(len(chosen))

        return Rows(batches, None, lambda: _load(path, kind, chosen, text, [wish.of(i) for i in columns]))

    return Source(names, choose, in_memory=False)


def _load(path: Path, kind: str, names: list[str], text: dict[str, str], how: list[How]) -> Rows:
    """Read columns into memory, those of text as codes of what they hold."""
    with _reader() as reader:
        reader.ask(path, kind, "load", names, 1 << 20, list(text))
        texts: dict[str, list[str]] = reader.answer()["values"]
        orders: dict[str, list[str] | None] = reader.answer()["orders"]
        parts = list(reader.batches(len(names)))
    whole = np.concatenate([np.empty((0, len(names))), *parts])
    found, strange = [], []
    for i, name in enumerate(names):
        column = whole[:, i]
        if name not in texts:
            found.append(Column(column))
            continue
        codes = np.where(np.isnan(column), -1, column).astype(np.intp)
        values = [value.capitalize() for value in texts[name]] if text[name] == "truth" else texts[name]
        try:
            made = column_of_codes(codes, values, how[i]._replace(text=how[i].text or text[name] != "text"))
        except Mixture as mixed:
            strange.append(f"column {name!r}, row {mixed.row + 1}: {mixed.value!r} is not a number")
            continue
        found.append(made if orders[name] is None else as_levels(name, made, orders[name]))
    if strange:
        raise UnusableError(f"{'; '.join(strange[:20])}. {MIXED}")
    tell_marks(names, found)
    return rows_of(found)


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
        script = Path(__file__).with_name("parquet_reader.py")
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
        """End the process; it has nothing that could be lost."""
        self.process.kill()
        self.answers.close()
        with suppress(OSError):  # what it did not take in
            self.requests.close()
        self.process.wait()

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it is gone, as the missing answer will show
            self.requests.write(json.dumps(message).encode() + b"\n")
            self.requests.flush()

    def ask(
        self,
        path: Path,
        kind: str,
        what: str,
        columns: Sequence[str] = (),
        rows: int = 0,
        text: Sequence[str] = (),
    ) -> None:
        """Ask for the header of a file, for rows of columns, or for rows and the different values of those of text."""
        self.path, self.sound = path, False
        request = {"path": str(path.absolute()), "format": kind, "ask": what, "columns": list(columns), "rows": rows}
        self._send(request | {"text": list(text)})

    def answer(self) -> dict[str, Any]:
        """Return what the process says, or raise what became of it."""
        line = self.answers.readline()
        said: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {"error": "the reader broke down over it"}
        if "error" in said:
            self.sound = "sound" in said
            raise _failure(self.path, said["error"])
        return said

    def batches(self, columns: int) -> Iterator[NDArray[np.float64]]:
        """Iterate over the rows that were asked for."""
        while rows := self.answer()["rows"]:
            yield self._numbers(rows, columns)

    def _numbers(self, rows: int, columns: int) -> NDArray[np.float64]:
        numbers = np.empty((rows, columns))
        if self.answers.readinto(numbers.reshape(-1).view(np.uint8).data) < numbers.nbytes:  # type: ignore[attr-defined]
            raise _failure(self.path, "the reader broke down over it")
        return numbers


@atexit.register
def _end_idle() -> None:
    reader = _Reader._idle.pop(os.getpid(), None)
    if reader is not None:
        reader.end()
