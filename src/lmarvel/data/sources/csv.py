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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Wish, number
from lmarvel.data.sources.base import Batches, Layout, Rows, Source
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
from lmarvel.data.sources.csv_typed import has_commas, load
from lmarvel.data.sources.heading import LOOKED_AT, MOST_FIELDS, heading
from lmarvel.deferred import late
from lmarvel.errors import DataError, LMarvelWarning, NotNumbers, NotUnicode

if TYPE_CHECKING:
    import polars as pl
else:
    pl = late("polars")


_NAMELESS = "column 1"


def open_text(path: Path, layout: Layout, usual: str) -> Source:
    """Read the first rows of a text file; a separator that nobody named gives way to one that makes columns."""
    if layout.decimal not in (None, ".", ","):
        raise DataError(f"the decimal sign is '.' or ',', not {layout.decimal!r}")
    content = Content(path)
    file, notes, regular = _header(content, layout, layout.separator or usual)
    if layout.separator is None and (len(file.names) == 1 or not regular):
        others = (_header(content, layout, sign) for sign in SEPARATORS if sign != usual)
        better = [other for other in others if len(other.file.names) > 1 and other.regular]
        if better:
            file, notes, _ = max(better, key=lambda other: len(other.file.names))
    if len(file.names) > WIDEST:
        raise DataError(f"the header of {path} has {len(file.names)} columns: at most {WIDEST} are read")
    at = list(range(len(file.names)))
    names = list(file.names)
    if len(names) > 2 and not names[0].strip():  # the row index of R's and pandas' files
        if not layout.labels and _names_rows(file):
            notes += ("the first column has no name, and numbers or names the rows: it is left out",)
            at = at[1:]
        elif _NAMELESS not in names:
            names[0] = _NAMELESS
    empty = _empty_at_the_end(file)
    if empty:
        last = "the last column has" if empty == 1 else f"the last {empty} columns have"
        notes += (f"{last} neither names nor values: {'it is' if empty == 1 else 'they are'} left out",)
        at = at[:-empty]
    for note in notes:
        warnings.warn(f"{path.name}: {note}", LMarvelWarning, stacklevel=2)

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        places = [at[i] for i in columns]
        return Rows(_batches_of(file, places), None, lambda: load(file, places, wish.at(at)))

    return Source([names[i] for i in at], choose, in_memory=False)


def _empty_at_the_end(file: TextFile) -> int:
    """Return how many columns at the end have no name, and no value in the first thousand rows."""
    empty = 0
    while empty < len(file.names) - 2 and not file.names[-1 - empty].strip():
        empty += 1
    while empty and any(any(map(str.strip, row[-empty:])) for _, _, row in islice(file.rows(), 1000)):
        empty -= 1
    return empty


def _names_rows(file: TextFile) -> bool:
    """Tell whether each row has a whole number or a name of its own in the first column, as the first thousand show.

    R writes the names of rows there, and pandas their index. Numbers with decimals may be a measurement.
    """
    cells = [row[0].strip() for _, _, row in islice(file.rows(), 1000) if row]
    different = len(set(cells)) == len(cells) > 1 and not set(MISSING) & set(cells)
    return different and not any(is_fraction(cell) for cell in cells)


def is_fraction(cell: str) -> bool:
    """Tell whether a cell is a number, but not a whole one written as such."""
    value = number(cell)
    return value == value and not cell.lstrip("+-").isdecimal()


class _Opened(NamedTuple):
    """A text file with its header, what to say of it, and whether its first rows have a field for each name."""

    file: TextFile
    notes: tuple[str, ...]
    regular: bool


def _header(content: Content, layout: Layout, separator: str) -> _Opened:
    """Return a text file with what its first rows are."""
    for encoding in ("utf-8", LATIN):
        try:
            places, rows = _first_rows(content, separator, encoding, layout.skip_rows or 0)
        except NotUnicode:
            continue
        if not rows:
            after = f" after the first {layout.skip_rows} lines: skip fewer" if layout.skip_rows else ""
            raise DataError(f"{content.path} is empty{after}")
        found = heading(rows, layout.skip_rows is not None, layout.skip_rows != 0, layout.header)
        above, start = places[found.above]
        start = start or content.mark  # the data begin at once
        file = TextFile(content, separator, found.names, start, layout.decimal, encoding, above)
        regular = all(len(row) == len(found.names) for row in rows[found.above :])
        return _Opened(file, found.notes, regular)
    raise AssertionError("every byte is a character of Latin-1")


def _first_rows(
    content: Content, separator: str, encoding: str, skip: int = 0
) -> tuple[list[tuple[int, int]], list[list[str]]]:
    """Return the first rows behind so many lines, and how many rows and bytes of the file come before each, and behind.

    What is wrong with a row behind the first is found where the rows are read.
    """
    places, rows, fields = [(0, 0)], [], 0
    try:
        for line, place, row in rows_of_file(content, separator, encoding):
            if line <= skip:
                places[0] = (places[0][0] + 1, place)
                continue
            rows.append(row)
            places.append((places[-1][0] + 1, place))
            fields += len(row)
            if len(rows) == LOOKED_AT or fields > MOST_FIELDS:
                break
    except DataError:
        if not rows:
            raise
    return places, rows


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
        ordered = frame.select([f"c{i}" for i in columns])  # Polars 1.34 keeps the order of the file
        return ordered.with_columns(pl.all().fill_null(math.nan)).to_numpy(order="c")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise NotNumbers(str(damaged(file.path, error))) from None
