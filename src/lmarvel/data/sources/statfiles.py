"""Tables of statistics programs and spreadsheets: Stata, SPSS, SAS and Excel.

They are read whole, by libraries of their own (``pip install 'lmarvel[files]'``). What a file says of a column is
honoured: a column all of whose values have labels has these for levels, in the order of their codes, unless the file
calls it a scale; where it calls it ordinal, the order means something. Values that are declared missing are missing.

Those libraries do not stop halfway, so what a file will take in memory is estimated from its head, and a file that is
too large is refused before it is read.
"""

from __future__ import annotations

import importlib
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmarvel.budget import memory
from lmarvel.data.levels import Column, Levels, Wish, as_levels
from lmarvel.data.sources.base import Layout, Rows, Source, rows_of
from lmarvel.data.sources.csv_rows import MISSING, damaged
from lmarvel.data.sources.frames import open_frame, open_mapping
from lmarvel.data.sources.heading import LOOKED_AT, heading
from lmarvel.deferred import late
from lmarvel.errors import DataError, LMarvelWarning

if TYPE_CHECKING:
    import polars as pl
else:
    pl = late("polars")


STATISTICS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_HELD = 52  # bytes in memory for a value of a statistics program, while it is read
_DENSE = 4  # bytes of a portable file of SPSS for a value, whose rows are not counted in its head: seldom fewer
_BINARY = {".xls": 9, ".xlsb": 9}  # bytes in memory for each byte of a binary sheet, where a cell takes 10 or more
_XML = 3  # bytes in memory for each byte of XML, where a cell takes 24 or more


def open_foreign(path: Path, layout: Layout) -> Source:
    """Open a file of a statistics program, or the first sheet of a spreadsheet."""
    if path.suffix.lower() in SHEETS:
        return _open_sheet(path, layout)
    read = _library("pyreadstat", path).__dict__[STATISTICS[path.suffix.lower()]]
    try:
        _, head = read(str(path), output_format="dict", metadataonly=True)
        memory.check(_HELD * _values_in(path, head), f"{path}: its rows")
        values, about = read(str(path), output_format="dict")
    except DataError:
        raise
    except Exception as error:  # of the reader, which has many kinds
        raise damaged(path, error) from None
    return _labelled(values, about.variable_value_labels, about.variable_measure)


def _values_in(path: Path, head: Any) -> float:
    """Return how many values a file has, or about how many where its head does not count its rows."""
    if head.number_rows is not None:
        return float(head.number_rows * head.number_columns)
    size = path.stat().st_size
    if path.suffix.lower() == ".xpt":  # rows of one width follow each other
        return float(head.number_columns * size / max(sum(head.variable_storage_width.values()), 1))
    return size / _DENSE


def _sheet_bytes(path: Path) -> float:
    """Return about how many bytes a spreadsheet takes in memory: most are packed, and their largest part counts."""
    each = _BINARY.get(path.suffix.lower(), _XML)
    if not zipfile.is_zipfile(path):
        return float(each * path.stat().st_size)
    with zipfile.ZipFile(path) as packed:
        return float(each * max((part.file_size for part in packed.infolist()), default=0))


def _open_sheet(path: Path, layout: Layout) -> Source:
    _library("fastexcel", path)
    skip = layout.skip_rows or 0
    try:
        memory.check(_sheet_bytes(path), f"{path}: its cells")
        first = pl.read_excel(
            path, has_header=False, read_options={"header_row": None, "n_rows": LOOKED_AT + skip, "dtypes": "string"}
        )
        rows = [["" if cell is None else cell for cell in row] for row in first.rows()][skip:]
        if not rows:
            raise DataError(f"{path} is empty" + (f" after the first {skip} rows: skip fewer" if skip else ""))
        found = heading(rows, layout.skip_rows is not None, layout.skip_rows != 0, layout.header)
        above = skip + found.titles
        options = {"header_row": above, "skip_rows": found.units} if found.named else {"skip_rows": above}
        frame = pl.read_excel(path, has_header=found.named, read_options=options)
    except DataError:
        raise
    except Exception as error:  # of the reader, which has many kinds
        raise damaged(path, error) from None
    if not found.named:
        frame.columns = found.names[: frame.width]
    for note in found.notes:
        warnings.warn(f"{path.name}: {note}", LMarvelWarning, stacklevel=2)
    text = [name for name, sort in frame.schema.items() if sort == pl.String]
    words = [word for word in MISSING if word != "None"]
    return open_frame(frame.with_columns(frame[name].replace(words, None) for name in text))


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise DataError(f"to read {path.name!r} {name} is needed: pip install 'lmarvel[files]'") from None


def _labelled(
    values: Mapping[str, Any], labels: Mapping[str, Mapping[Any, str]], measures: Mapping[str, str]
) -> Source:
    """Return a source whose labelled columns have levels."""
    plain = open_mapping(values)
    names = list(values)

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        found = []
        for i in columns:
            name = names[i]
            column = None
            if measures.get(name) != "scale" or i in wish.text:
                column = _levels_of(values[name], labels.get(name, {}), measures.get(name) == "ordinal")
            if column is None:
                rows = plain.choose([i], wish)
                numbers = np.concatenate([np.empty((0, 1)), *rows.batches(1 << 62)])[:, 0]
                column = Column(numbers, None if rows.levels is None else rows.levels[0])
            found.append(column)
        return rows_of(found)

    return Source(names, choose, in_memory=True)


def _levels_of(values: Any, labels: Mapping[Any, str], ordered: bool) -> Column | None:
    """Return a column with the labels of its values for levels; None where some value has none."""
    present = [value for value in values if value is not None and value == value]
    if not labels or not all(value in labels for value in present):
        return None
    order = sorted(labels)
    names = [labels[code] for code in order]
    if len(set(names)) < len(names):
        return None
    place = {code: float(k) for k, code in enumerate(order)}
    codes = np.array([np.nan if v is None or v != v else place[v] for v in values])
    return as_levels("", Column(codes, Levels(tuple(names))), ordered=ordered)
