"""Read tables from files, a batch of rows at a time, in bounded memory.

Polars does the reading. What it cannot read is looked at again in plain Python, slowly, to name the row, column
and value that are at fault.
"""

from __future__ import annotations

import csv
import math
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
    if not path.exists():
        raise DataError(f"there is no file {path}")
    if path.is_dir():
        raise DataError(f"{path} is a directory, not a file")
    suffix = path.suffixes[-2] if path.suffix in (".gz", ".zst") and len(path.suffixes) > 1 else path.suffix
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
        return lambda rows: _collect(path, chosen, rows, lambda error: None)

    return names, choose


def _collect(
    path: Path, frame: pl.LazyFrame, rows: int, explain: Callable[[Exception], DataError | None]
) -> Iterator[NDArray[np.float64]]:
    import polars as pl

    try:
        for batch in frame.collect_batches(chunk_size=rows, maintain_order=True):
            yield batch.select(pl.all().fill_null(math.nan)).to_numpy(order="c")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise explain(error) or DataError(f"cannot read {path}: {_first_line(error)}. Is it damaged?") from None


# --- text -------------------------------------------------------------------------------------------------


def _text_header(path: Path, separator: str) -> tuple[list[str], Callable[[list[int]], Batches]]:
    rows = _text_rows(path, separator)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path} is empty")
    skip, names = first

    def choose(columns: list[int]) -> Batches:
        import polars as pl

        width = len(names)
        frame = pl.scan_csv(
            path,
            has_header=False,
            skip_lines=skip,
            separator=separator,
            schema={f"c{i}": pl.Float64 if i in set(columns) else pl.String for i in range(width)},
            null_values=list(MISSING),
        ).select(f"c{i}" for i in columns)
        return lambda size: _collect(path, frame, size, lambda _: explain_text(path, separator, names, columns))

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
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {path}: {_first_line(error)}") from None


def _open_text(path: Path) -> Any:
    if path.suffix == ".gz":
        import gzip

        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def explain_text(path: Path, separator: str, names: list[str], columns: list[int]) -> DataError | None:
    """Look for the first thing in a text file that is not as it should be."""
    rows = _text_rows(path, separator)
    next(rows, None)
    try:
        for line, fields in rows:
            if len(fields) != len(names):
                return DataError(
                    f"{path}, line {line}: {len(fields)} fields where the header has {len(names)}; is the file cut off,"
                    " or does a value hold the separator?"
                )
            for i in columns:
                value = fields[i].strip()
                if value not in MISSING and not _is_number(value):
                    return DataError(
                        f"column {names[i]!r}, line {line}: {value!r} is not a number. Drop the column,"
                        " or turn it into numbers"
                    )
    except DataError as fault:
        return fault
    return None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
