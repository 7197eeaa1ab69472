"""Tables in text files, a piece of whole rows at a time, in bounded memory.

The bytes come in blocks, unpacked if the file is compressed, and are cut into pieces behind the last line end that is
not inside quotes: where the number of quotes so far is even. Polars makes numbers of each piece. So of a large file
nothing but a block and a row is ever held, it is read once, and a row that never ends, an archive that unpacks without
end, or a quote that is never closed is noticed after a known number of bytes. A file that turns out to hold more than
numbers is given to :mod:`lmarvel.data.sources.csv_typed`. What Polars cannot read at all is looked at in plain Python,
slowly, to name the line that is at fault. For all of this a small file is opened once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import COMMA, Wish, number
from lmarvel.data.sources.base import Batches, Rows, Source
from lmarvel.data.sources.csv_rows import (
    LATIN,
    MISSING,
    SEPARATORS,
    WIDEST,
    Content,
    TextFile,
    check_text,
    damaged,
    pieces,
    rows_of_file,
)
from lmarvel.data.sources.csv_typed import load
from lmarvel.deferred import late
from lmarvel.errors import DataError, LMarvelWarning, NotNumbers, NotUnicode

if TYPE_CHECKING:
    import polars as pl
else:
    pl = late("polars")


_NAMELESS = "column 1"


def open_text(path: Path, separator: str, decimal: str | None = None, told: bool = True) -> Source:
    """Read the header of a text file; a separator that was not ``told`` gives way to one that makes columns."""
    if decimal not in (None, ".", ","):
        raise DataError(f"the decimal sign is '.' or ',', not {decimal!r}")
    content = Content(path)
    file = _header(content, separator, decimal)
    if len(file.names) == 1 and not told:
        others = (_header(content, sign, decimal) for sign in SEPARATORS if sign in file.names[0])
        file = max(others, key=lambda other: len(other.names), default=file)
    if len(file.names) > WIDEST:
        raise DataError(f"the header of {path} has {len(file.names)} columns: at most {WIDEST} are read")

    first = 0
    names = list(file.names)
    if len(names) > 2 and not names[0].strip():  # the row index of R's and pandas' files
        if _names_rows(file):
            warnings.warn(
                f"the first column of {path.name} has no name, and numbers or names the rows: it is left out",
                LMarvelWarning,
                stacklevel=2,
            )
            first, names = 1, names[1:]
        elif _NAMELESS not in names:
            names[0] = _NAMELESS

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        at = [first + i for i in columns]
        text = Wish(frozenset(first + i for i in wish.text), wish.lenient)
        return Rows(_batches_of(file, at), None, lambda: load(file, at, text))

    return Source(names, choose, in_memory=False)


def _names_rows(file: TextFile) -> bool:
    """Tell whether each row has a whole number or a name of its own in the first column, as the first thousand show.

    R writes the names of rows there, and pandas their index. Numbers with decimals may be a measurement.
    """
    cells = [row[0].strip() for _, _, row in islice(file.rows(), 1, 1001) if row]
    different = len(set(cells)) == len(cells) > 1 and not set(MISSING) & set(cells)
    return different and not any(is_fraction(cell) for cell in cells)


def is_fraction(cell: str) -> bool:
    """Tell whether a cell is a number, but not a whole one written as such."""
    value = number(cell)
    return value == value and not cell.lstrip("+-").isdecimal()


def _header(content: Content, separator: str, decimal: str | None) -> TextFile:
    for encoding in ("utf-8", LATIN):
        try:
            first = next(rows_of_file(content, separator, encoding), None)
        except NotUnicode:
            continue
        if first is None:
            raise DataError(f"{content.path} is empty")
        return TextFile(content, separator, first[2], first[1], decimal, encoding)
    raise AssertionError("every byte is a character of Latin-1")


# --- numbers ----------------------------------------------------------------------------------------------


def _batches_of(file: TextFile, columns: Sequence[int]) -> Batches:
    chosen = set(columns)

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        """Pass numbers on, and look into the text itself where Polars found gaps.

        Polars takes a blank line for a row of gaps, and a short row for one that ends in gaps.
        """
        schema = {f"c{i}": pl.Float64 if i in chosen else pl.String for i in range(len(file.names))}
        looked, comma = False, file.decimal == "," or (file.decimal is None and has_commas(file, columns))
        for piece in pieces(file):
            numbers = _parse(file, piece, schema, list(columns), comma)
            gaps = np.isnan(numbers)
            blank = gaps.all(axis=1)
            if not looked and gaps.any() and (blank.any() or not _is_whole(file, piece, len(numbers))):
                check_text(file, columns)
                looked = True
            yield numbers[~blank] if blank.any() else numbers

    return batches


def _is_whole(file: TextFile, piece: bytes, rows: int) -> bool:
    """Tell whether each of so many rows has a field for each column, by counting separators.

    Polars refuses a row that is too long, so that none can make up for another that is too short.
    """
    others = len(file.names) - 1
    return others > 0 and b'"' not in piece and piece.count(file.separator.encode()) == rows * others


def has_commas(file: TextFile, columns: Sequence[int]) -> bool:
    """Whether the first numbers of a file that is not separated by commas have decimal commas."""
    if file.separator == ",":
        return False
    rows = (fields for _, _, fields in islice(file.rows(), 1, 101) if len(fields) == len(file.names))
    values = [fields[i].strip() for fields in rows for i in columns]
    return any(map(COMMA.fullmatch, values)) and not any("." in v and number(v) == number(v) for v in values)


def _parse(
    file: TextFile, piece: bytes, schema: dict[str, Any], columns: list[int], comma: bool
) -> NDArray[np.float64]:
    try:
        frame = pl.read_csv(
            piece,
            has_header=False,
            separator=file.separator,
            schema=schema,
            columns=columns,
            null_values=list(MISSING),
            decimal_comma=comma,
        )
        return frame.select(pl.all().fill_null(math.nan)).to_numpy(order="c")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise NotNumbers(str(damaged(file.path, error))) from None
