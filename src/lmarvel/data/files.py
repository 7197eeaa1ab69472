"""Read tables from files, a batch of rows at a time, in bounded memory.

Polars does the reading. What it cannot read is looked at again in plain Python, slowly, to name the row, column
and value that are at fault.
"""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import DataError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", ".")
Batches = Callable[[int], Iterator[NDArray[np.float64]]]


def read_header(path: Path, separator: str | None) -> tuple[list[str], Callable[[list[int]], Batches]]:
    """Return the column names of a file, and a function from chosen columns to its batches of rows."""
    try:
        there = path.exists()
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}") from None
    if not there:
        raise DataError(f"there is no file {path}")
    if path.is_dir():
        raise DataError(f"{path} is a directory, not a file")
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if separator is None:
        separator = SEPARATORS.get(suffix.lower())
    if separator is not None:
        return _text_header(path, separator)
    if suffix.lower() in (".parquet", ".pq", ".feather", ".arrow", ".ipc"):
        return _binary_header(path, suffix.lower())
    raise DataError(
        f"cannot tell the format of {path.name!r} by its ending: .csv, .tsv, .parquet and .feather are read;"
        " for other text files give the separator"
    )


# --- Parquet and Feather ----------------------------------------------------------------------------------


def _binary_header(path: Path, suffix: str) -> tuple[list[str], Callable[[list[int]], Batches]]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path) if suffix in (".parquet", ".pq") else pl.scan_ipc(path)
        schema = frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}. Is it damaged, or of another format?") from None
    names = schema.names()

    def choose(columns: list[int]) -> Batches:
        for i in columns:
            dtype = schema[names[i]]
            if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
                raise DataError(
                    f"column {names[i]!r} is of type {dtype}, not numeric: drop it, or turn it into numbers"
                )
        chosen = frame.select(pl.col(names[i]).cast(pl.Float64) for i in columns)
        return lambda rows: _collect(path, chosen, rows)

    return names, choose


def _collect(path: Path, frame: pl.LazyFrame, rows: int) -> Iterator[NDArray[np.float64]]:
    """Read batches; whatever goes wrong in the reader becomes a message."""
    import polars as pl

    try:
        for batch in frame.collect_batches(chunk_size=rows, maintain_order=True):
            yield batch.select(pl.all().fill_null(math.nan)).to_numpy(order="c")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}. Is it damaged?") from None


# --- text -------------------------------------------------------------------------------------------------


def _text_header(path: Path, separator: str) -> tuple[list[str], Callable[[list[int]], Batches]]:
    rows = _text_rows(path, separator)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path} is empty")
    skip, names = first

    def choose(columns: list[int]) -> Batches:
        import polars as pl

        if _quotes(path) % 2:  # the reader would leave out all rows behind the quote that is not closed
            raise DataError(f"cannot read {path}: a quote is not closed. Is the file cut off?")
        width = len(names)
        frame = pl.scan_csv(
            path,
            has_header=False,
            skip_lines=skip,
            separator=separator,
            schema={f"c{i}": pl.Float64 if i in set(columns) else pl.String for i in range(width)},
            null_values=list(MISSING),
        ).select(f"c{i}" for i in columns)
        return lambda size: _text_batches(path, separator, names, columns, _collect(path, frame, size))

    return names, choose


def _text_rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Iterate over (lines read so far, fields), with every fault of the file turned into a message."""
    try:
        with _open_text(path) as stream:
            reader = csv.reader(stream, delimiter=separator, strict=True)
            for fields in reader:
                if fields:
                    yield reader.line_num, fields
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}): save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise DataError(f"cannot read {path} as text with the separator {separator!r}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}. Is it damaged?") from None


def _open_text(path: Path) -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _quotes(path: Path) -> int:
    """Count the double quotes in a text file."""
    count = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                count += chunk.count(b'"')
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}. Is it damaged?") from None
    return count


def _text_batches(
    path: Path, separator: str, names: list[str], columns: list[int], batches: Iterator[NDArray[np.float64]]
) -> Iterator[NDArray[np.float64]]:
    """Pass batches on, and look into the text itself where the reader failed or found gaps.

    The reader takes a blank line for a row of gaps, and a short row for one that ends in gaps.
    """
    looked = False
    try:
        for batch in batches:
            gaps = np.isnan(batch)
            if not looked and gaps.any():
                check_text(path, separator, names, columns)
                looked = True
            blank = gaps.all(axis=1)
            yield batch[~blank] if blank.any() else batch
    except DataError as fault:
        if not looked:
            check_text(path, separator, names, columns)
        raise fault from None


def check_text(path: Path, separator: str, names: list[str], columns: list[int]) -> None:
    """Raise the first thing in a text file that is not as it should be.

    A row that holds nothing but missing values is an error, so that afterwards blank lines may be left out.
    """
    rows = _text_rows(path, separator)
    next(rows, None)
    line = 0
    for line, fields in rows:
        if len(fields) != len(names):
            raise DataError(
                f"{path}, line {line}: {len(fields)} fields where the header has {len(names)}; is the file cut off, or"
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


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
