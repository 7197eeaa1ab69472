"""Standard input and output in place of files: their name is ``-``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmarvel.errors import DataError, ParameterError
from lmarvel.text import printable

STANDARD = Path("-")
_MOST_BYTES = 4 << 30  # of standard input


def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for a while; where a file of it is still held open, as on Windows, the system cleans it up."""
    return tempfile.TemporaryDirectory(prefix="lmarvel-", ignore_cleanup_errors=True)


@contextmanager
def readable_file(path: Path, name: str) -> Iterator[Path]:
    """Keep standard input in a file of this name, for it may be read more than once; other paths stay as they are."""
    if path != STANDARD:
        yield path
        return
    with _folder() as folder:
        kept = Path(folder) / name
        size = 0
        with kept.open("wb") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                size += len(block)
                if size > _MOST_BYTES:
                    raise DataError(f"standard input has more than {_MOST_BYTES >> 30} GiB: write it to a file")
                file.write(block)
        yield kept


@contextmanager
def writable_file(path: Path, ending: str) -> Iterator[Path]:
    """Print what is written to a file with this ending, where the path is standard output."""
    if path != STANDARD:
        yield path
        return
    with _folder() as folder:
        kept = Path(folder) / f"output{ending}"
        yield kept
        text = kept.read_text("utf-8")
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def check_one_standard(*paths: Path | None) -> None:
    """Refuse to read two things from standard input, or to write two things to standard output."""
    if sum(path == STANDARD for path in paths) > 1:
        raise ParameterError("- stands for two files here: one of them needs a name")
