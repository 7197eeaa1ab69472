"""Text files as bytes in pieces of whole rows, and as fields in plain Python, which names the line that is at fault."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from lmarvel.errors import DataError, LMarvelWarning, NotUnicode
from lmarvel.text import counted

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", ".", "-"),
    *("#N/A", "<NA>"),  # as spreadsheets and pandas write them
)
SEPARATORS = (",", ";", "\t", "|")
LATIN = "cp1252"  # Latin-1 as Windows writes it
BLOCK = 8 << 20
HELD = 16 << 20  # bytes; a file up to this size is opened once
LONGEST_ROW = 64 << 20  # bytes; a row of 100,000 columns has 2 million
WIDEST = 1_000_000  # columns in a header, chosen or not
UNPACKED = 1 << 30  # bytes; beyond this, text that shrank more than RATIO times is taken for a trap
RATIO = 200  # numbers shrink by 2 to 20 times, the worst trap by 1000


class Content:
    """The bytes of a text file, unpacked; those of a small one are held, so that it is opened once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: bytes | None = None
        self._large = path.stat().st_size > HELD

    @property
    def mark(self) -> int:
        """How many bytes the byte-order mark takes."""
        try:
            with self.open() as stream:
                return len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
        except (OSError, EOFError, zlib.error) as error:
            raise damaged(self.path, error) from None

    def open(self) -> IO[bytes]:
        """Return a stream that begins with the first byte."""
        if self._held is None and not self._large:
            with _open(self.path) as stream:
                start = stream.read(HELD + 1)
            self._held, self._large = (None, True) if len(start) > HELD else (start, False)
        return _open(self.path) if self._held is None else io.BytesIO(self._held)


@dataclass(frozen=True)
class TextFile:
    """A text file whose header was read: where the rows start, and what the columns are called.

    ``above`` counts the rows above the first row of data: titles, the header, units.
    """

    content: Content
    separator: str
    names: list[str]
    start: int  # bytes before the first row, unpacked
    decimal: str | None = None
    encoding: str = "utf-8"
    above: int = 1

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.content.path

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Iterate over (lines so far, bytes so far, fields) of all rows of data."""
        return islice(rows_of_file(self.content, self.separator, self.encoding), self.above, None)


# --- bytes ------------------------------------------------------------------------------------------------


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _blocks(content: Content) -> Iterator[bytes]:
    """Iterate over the bytes of a file, unpacked."""
    path, size = content.path, 0
    try:
        limit = max(UNPACKED, RATIO * path.stat().st_size)
        with content.open() as stream:
            while block := stream.read(BLOCK):
                size += len(block)
                if size > limit:
                    raise DataError(
                        f"{path} unpacks to over {size / 2**30:.1f} GiB, more than {RATIO} times its size, which no"
                        " table of numbers does. If it is one, unpack it and pass the text file"
                    )
                yield block
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from None


def pieces(file: TextFile) -> Iterator[bytes]:
    """Iterate over pieces of whole rows, without blank lines in front of a piece."""
    path, start, rest = file.path, file.start, b""
    for block in _blocks(file.content):
        skipped = min(start, len(block))
        start -= skipped
        rest += block[skipped:]
        end = end_of_rows(rest)
        piece, rest = rest[:end].lstrip(b"\r\n"), rest[end:]
        if len(rest) > LONGEST_ROW:
            raise _too_long(path)
        if piece:
            yield piece
    if rest.count(b'"') % 2:  # Polars would leave out all rows behind the quote that is not closed
        raise DataError(f"cannot read {path}: a quote is not closed. Is the file cut off?")
    if rest.strip(b"\r\n"):
        yield rest.lstrip(b"\r\n")


def end_of_rows(text: bytes) -> int:
    """Return the length of the whole rows in a text: up to behind the last line end that is not inside quotes.

    Where the last line end is inside quotes, the next candidate lies before the quote that opened them. Each byte
    is counted once, so the time is linear whatever the text.
    """
    end = text.rfind(b"\n")
    quotes = text.count(b'"', 0, max(end, 0))
    while end >= 0 and quotes % 2:
        before = text.rfind(b"\n", 0, text.rfind(b'"', 0, end))
        quotes -= text.count(b'"', max(before, 0), end)
        end = before
    return end + 1


# --- in plain Python --------------------------------------------------------------------------------------


def rows_of_file(content: Content, separator: str, encoding: str = "utf-8") -> Iterator[tuple[int, int, list[str]]]:
    """Iterate over (lines so far, bytes so far, fields), with every fault of the file turned into a message."""
    path, place = content.path, [0]
    try:
        with content.open() as stream:
            lines = _lines(path, stream, place, encoding)
            reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != " ", strict=True)
            for fields in reader:
                if fields:
                    yield reader.line_num, place[0], fields
    except csv.Error as error:
        raise DataError(f"cannot read {path} as text with the separator {separator!r}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from None


def _lines(path: Path, stream: IO[bytes], place: list[int], encoding: str) -> Iterator[str]:
    """Iterate over the lines as text, and keep in ``place`` how many bytes they took."""
    number = 0
    while line := stream.readline(LONGEST_ROW):
        number += 1
        if len(line) == LONGEST_ROW:
            raise _too_long(path)
        skip = 3 if place[0] == 0 and line.startswith(b"\xef\xbb\xbf") else 0  # the byte-order mark
        try:
            text = line[skip:].decode(encoding, "strict" if encoding == "utf-8" else "replace")
        except UnicodeDecodeError:
            if place[0] == 0 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError(f"{path} is UTF-16 text: save it as UTF-8") from None
            raise NotUnicode(f"{path} is not UTF-8 text: save it as UTF-8") from None
        if b"\0" in line:
            raise DataError(f"{path}, line {number}: a NUL byte. This is not a text file, or it has another encoding")
        place[0] += len(line)
        yield text


def check_text(file: TextFile, columns: Sequence[int]) -> None:
    """Raise the first row of a text file that is not as it should be.

    Rows that hold nothing but missing values are left out like blank lines, and a warning counts them; one that holds
    nothing at all but separators is a blank line.
    """
    path, names = file.path, file.names
    line, empty = 0, []
    for line, _, fields in file.rows():
        if len(fields) != len(names):
            found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
            raise DataError(
                f"{path}, line {line}: {found} where the header has {len(names)}; is the file cut off, or"
                " does a value hold the separator?"
            )
        if len(columns) > 1 and all(fields[i] in MISSING for i in columns) and any(map(str.strip, fields)):
            empty.append(line)
    if not line:
        raise DataError(f"{path}: the table has no rows, only column names")
    if empty:
        warnings.warn(left_out_empty(len(empty), f" (the first is line {empty[0]})"), LMarvelWarning, stacklevel=2)


def left_out_empty(rows: int, where: str = "") -> str:
    """Return that rows without any value are left out."""
    return f"left out {counted(rows, 'row')} in which every value is missing{where}"


def _too_long(path: Path) -> DataError:
    return DataError(
        f"cannot read {path}: a row does not end within {LONGEST_ROW >> 20} MiB. Is it a table, with all quotes closed?"
    )


def damaged(path: Path, error: BaseException) -> DataError:
    """Return the message for a file that cannot be read."""
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(f"cannot read {path}: {said}. Is it damaged?")
