"""Tables in text files, a piece of whole rows at a time, in bounded memory.

The bytes come in blocks, unpacked if the file is compressed, and are cut into pieces behind the last line end that is
not inside quotes: where the number of quotes so far is even. Polars makes numbers of each piece. So nothing but a block
and a row is ever held, a file is read once, and a row that never ends, an archive that unpacks without end, or a quote
that is never closed is noticed after a known number of bytes. What Polars cannot read is looked at again in plain
Python, slowly, to name the row, column and value that are at fault.
"""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.source import Batches, Rows, Source
from lmarvel.errors import DataError

MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", ".")
BLOCK = 8 << 20
LONGEST_ROW = 64 << 20  # bytes; a row of 100,000 columns has 2 million
WIDEST = 1_000_000  # columns in a header, chosen or not
UNPACKED = 1 << 30  # bytes; beyond this, text that shrank more than RATIO times is taken for a trap
RATIO = 200  # numbers shrink by 2 to 20 times, the worst trap by 1000


class NotNumbers(DataError):
    """A file that is read in pieces as numbers holds something else: it has to be read into memory, with levels."""


@dataclass(frozen=True)
class _TextFile:
    """A text file whose header was read: where the rows start, and what the columns are called."""

    path: Path
    separator: str
    names: list[str]
    start: int  # bytes before the first row, unpacked


def open_text(path: Path, separator: str, decimal: str | None = None) -> Source:
    """Read the header of a text file."""
    first = next(_rows(path, separator), None)
    if first is None:
        raise DataError(f"{path} is empty")
    _, start, names = first
    if len(names) > WIDEST:
        raise DataError(f"the header of {path} has {len(names)} columns: at most {WIDEST} are read")
    file = _TextFile(path, separator, names, start)
    return Source(names, lambda columns, wish: Rows(_batches_of(file, columns)), in_memory=False)


# --- bytes ------------------------------------------------------------------------------------------------


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _blocks(path: Path) -> Iterator[bytes]:
    """Iterate over the bytes of a file, unpacked."""
    size = 0
    try:
        limit = max(UNPACKED, RATIO * path.stat().st_size)
        with _open(path) as stream:
            while block := stream.read(BLOCK):
                size += len(block)
                if size > limit:
                    raise DataError(
                        f"{path} unpacks to over {size / 2**30:.1f} GiB, more than {RATIO} times its size, which no"
                        " table of numbers does. If it is one, unpack it and pass the text file"
                    )
                yield block
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from None


def _pieces(path: Path, start: int) -> Iterator[bytes]:
    """Iterate over pieces of whole rows, without blank lines in front of a piece."""
    rest = b""
    for block in _blocks(path):
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


# --- numbers ----------------------------------------------------------------------------------------------


def _batches_of(file: _TextFile, columns: Sequence[int]) -> Batches:
    chosen = set(columns)

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        """Pass numbers on, and look into the text itself where Polars failed or found gaps.

        Polars takes a blank line for a row of gaps, and a short row for one that ends in gaps.
        """
        import polars as pl

        schema = {f"c{i}": pl.Float64 if i in chosen else pl.String for i in range(len(file.names))}
        looked = False
        for piece in _pieces(file.path, file.start):
            try:
                numbers = _parse(file, piece, schema, list(columns))
            except DataError:
                check_text(file, columns)  # which names the fault; if it finds none, Polars' own words do
                raise
            gaps = np.isnan(numbers)
            if not looked and gaps.any():
                check_text(file, columns)
                looked = True
            blank = gaps.all(axis=1)
            yield numbers[~blank] if blank.any() else numbers

    return batches


def _parse(file: _TextFile, piece: bytes, schema: dict[str, Any], columns: list[int]) -> NDArray[np.float64]:
    import polars as pl

    try:
        frame = pl.read_csv(
            piece,
            has_header=False,
            separator=file.separator,
            schema=schema,
            columns=columns,
            null_values=list(MISSING),
        )
        return frame.select(pl.all().fill_null(math.nan)).to_numpy(order="c")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(file.path, error) from None


# --- in plain Python --------------------------------------------------------------------------------------


def _rows(path: Path, separator: str) -> Iterator[tuple[int, int, list[str]]]:
    """Iterate over (lines so far, bytes so far, fields), with every fault of the file turned into a message."""
    place = [0]
    try:
        with _open(path) as stream:
            reader = csv.reader(_lines(path, stream, place), delimiter=separator, strict=True)
            for fields in reader:
                if fields:
                    yield reader.line_num, place[0], fields
    except csv.Error as error:
        raise DataError(f"cannot read {path} as text with the separator {separator!r}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from None


def _lines(path: Path, stream: IO[bytes], place: list[int]) -> Iterator[str]:
    """Iterate over the lines as text, and keep in ``place`` how many bytes they took."""
    number = 0
    while line := stream.readline(LONGEST_ROW):
        number += 1
        if len(line) == LONGEST_ROW:
            raise _too_long(path)
        skip = 3 if place[0] == 0 and line.startswith(b"\xef\xbb\xbf") else 0  # the byte-order mark
        try:
            text = line[skip:].decode()
        except UnicodeDecodeError as error:
            where, byte = place[0] + skip + error.start, error.object[error.start]
            raise DataError(f"{path} is not UTF-8 text (byte {where} is {byte:#04x}): save it as UTF-8") from None
        if b"\0" in line:
            raise DataError(f"{path}, line {number}: a NUL byte. This is no text file, or one in another encoding")
        place[0] += len(line)
        yield text


def check_text(file: _TextFile, columns: Sequence[int]) -> None:
    """Raise the first thing in a text file that is not as it should be.

    A row that holds nothing but missing values is an error, so that afterwards blank lines may be left out.
    """
    path, names = file.path, file.names
    rows = _rows(path, file.separator)
    next(rows, None)
    line = 0
    for line, _, fields in rows:
        if len(fields) != len(names):
            found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
            raise DataError(
                f"{path}, line {line}: {found} where the header has {len(names)}; is the file cut off, or"
                " does a value hold the separator?"
            )
        values = [fields[i] for i in columns]
        if all(value in MISSING for value in values):
            raise DataError(f"{path}, line {line}: every value is missing; delete the row")
        for i, value in zip(columns, values, strict=True):
            if value not in MISSING and not _is_number(value):
                raise DataError(
                    f"column {names[i]!r}, line {line}: {value!r} is not a number. Drop the column, or turn it into"
                    " numbers"
                )
    if not line:
        raise DataError(f"{path}: the table has no rows, only column names")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value and value == value.strip()


def _too_long(path: Path) -> DataError:
    return DataError(
        f"cannot read {path}: a row does not end within {LONGEST_ROW >> 20} MiB. Is it a table, with all quotes closed?"
    )


def _damaged(path: Path, error: BaseException) -> DataError:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(f"cannot read {path}: {said}. Is it damaged?")
