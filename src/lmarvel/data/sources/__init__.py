"""Where a table comes from: arrays and frames, text files, Parquet and Feather, files of statistics programs.

A folder, or a pattern such as ``data/*.parquet``, is one table in several files.

Only regular files are opened. A pipe, a socket or a terminal would block for as long as nobody writes to it, and what
was read from it is gone, while rows may be asked for more than once (a bootstrap does).
"""

from __future__ import annotations

import stat
from pathlib import Path

from lmarvel.data.sources.base import Layout, Source
from lmarvel.data.sources.csv import open_text
from lmarvel.data.sources.parquet import BINARY, open_binary
from lmarvel.data.sources.parts import open_parts, parts_of
from lmarvel.data.sources.statfiles import SHEETS, STATISTICS, open_foreign
from lmarvel.errors import DataError

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}


def open_file(path: Path, layout: Layout) -> Source:
    """Open a file, a folder of files, or those that a pattern names; only the first rows are read."""
    parts = parts_of(path, (*SEPARATORS, *BINARY))
    return _open_one(path, layout) if parts is None else open_parts(parts, lambda file: _open_one(file, layout))


def _open_one(path: Path, layout: Layout) -> Source:
    """Open a file by its ending, or as text with the given separator."""
    _check_regular(path)
    suffix = path.suffixes[-2] if path.suffix.lower() == ".gz" and len(path.suffixes) > 1 else path.suffix
    usual = SEPARATORS.get(suffix.lower())
    if layout.skip_rows is not None and layout.skip_rows < 0:
        raise DataError(f"must not be negative, not {layout.skip_rows}", parameter="skip_rows")
    if layout.separator is not None or usual is not None:
        return open_text(path, layout, usual or ",")
    if path.suffix.lower() in BINARY:
        return open_binary(path, BINARY[path.suffix.lower()])
    if path.suffix.lower() in (*STATISTICS, *SHEETS):
        return open_foreign(path, layout)
    raise DataError(
        f"cannot infer the format of {path.name!r} by its ending: .csv, .tsv, .parquet, .feather, .dta, .sav, .sas7bdat"
        " and .xlsx are read; for other text files give the separator"
    )


def _check_regular(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    if not stat.S_ISREG(mode):
        raise DataError(
            f"{path} is {_sort_of_file(mode)}, not a regular file: write the table to a file, and pass that"
        )


def _sort_of_file(mode: int) -> str:
    sorts = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return sorts.get(stat.S_IFMT(mode), "a device")
