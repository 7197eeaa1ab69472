"""Text files that hold more than numbers, read into memory: each column is numbers, or codes of levels.

What the text of a column says it is, is decided by :mod:`lmarvel.data.levels`. Blanks around a value do not count, and
neither do spellings of a missing value, of which a column of text has fewer than one of numbers: None is a level there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from lmarvel.budget import memory
from lmarvel.budget.clock import current
from lmarvel.data.levels import COMMA, MIXED, Column, How, Mixture, Wish, column_of_codes, number
from lmarvel.data.sources.base import Rows, rows_of, tell_marks
from lmarvel.data.sources.csv_rows import LATIN, MISSING, TextFile, check_text, damaged, pieces
from lmarvel.deferred import late
from lmarvel.errors import DataError, NotUnicode, UnusableError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = late("polars")


MISSING_TEXT = tuple(word for word in MISSING if word != "None")
MOST_BYTES = 4 << 30  # of text


_HELD = 45  # bytes in memory for a value: where its text is, with and without blanks, its code, and its number
_TEXTS = 3  # copies of the text itself


def load(file: TextFile, columns: Sequence[int], wish: Wish) -> Rows:
    """Read chosen columns of a text file, which may turn out to be in Latin-1."""
    try:
        frame = _frame(file, columns)
    except NotUnicode:
        file = replace(file, encoding=LATIN)
        frame = _frame(file, columns)
    found, strange = [], []
    decimal = "," if file.decimal is None and has_commas(file, columns) else file.decimal
    for i in columns:
        current().check()
        try:
            found.append(_column(frame[f"c{i}"], wish.of(i), decimal))
        except Mixture as mixed:
            line = _line_of(file, i, mixed.value)
            strange.append(f"column {file.names[i]!r}, line {line}: {mixed.value!r} is not a number")
    if strange:
        raise UnusableError(f"{'; '.join(strange[:20])}. {MIXED}")
    tell_marks([file.names[i] for i in columns], found)
    return rows_of(found)


def has_commas(file: TextFile, columns: Sequence[int]) -> bool:
    """Whether the first numbers of a file that is not separated by commas have decimal commas."""
    if file.separator == ",":
        return False
    rows = (fields for _, _, fields in islice(file.rows(), 100) if len(fields) == len(file.names))
    values = [fields[i].strip() for fields in rows for i in columns]
    return any(map(COMMA.fullmatch, values)) and not any("." in v and number(v) == number(v) for v in values)


def _frame(file: TextFile, columns: Sequence[int]) -> Any:
    """Return the text of chosen columns, None where there is none, without blank lines."""
    names = [f"c{i}" for i in range(len(file.names))]
    schema: dict[str, Any] = dict.fromkeys(names, pl.String)
    parts, taken, values = [pl.DataFrame(schema={names[i]: pl.String for i in columns})], 0, 0
    size, room = file.path.stat().st_size, memory.left()  # of the whole file, so that the first piece tells
    for piece in pieces(file):
        current().check()
        text = _unicode(file, piece)
        taken += len(text)
        values += text.count(file.separator.encode()) + text.count(b"\n")
        needed = (_HELD * values * len(columns) / len(names) + _TEXTS * taken) * max(size / taken, 1)
        memory.check(needed - (room - memory.left()), f"{file.path}: columns of text")
        if taken > MOST_BYTES:
            raise DataError(
                f"{file.path} has more than {MOST_BYTES >> 30} GiB of text, and a table with columns that are not"
                " numbers is held in memory: leave those columns out, or write it as Parquet"
            )
        try:
            part = pl.read_csv(text, has_header=False, separator=file.separator, schema=schema, columns=list(columns))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            check_text(file, columns)  # which names the line; if it finds none, Polars' own words do
            raise damaged(file.path, error) from None
        parts.append(
            part.select(pl.col(names[i]).str.strip_chars() for i in columns)
        )  # in order, which Polars may change
    frame = pl.concat(parts)
    gaps = frame.select(pl.all_horizontal(pl.all().is_null() | pl.all().is_in(MISSING))).to_series()
    if frame.select(pl.any_horizontal(pl.all().is_null())).to_series().any() or gaps.any():
        check_text(file, columns)
    return frame.filter(~gaps) if len(columns) > 1 and gaps.any() else frame


def _unicode(file: TextFile, piece: bytes) -> bytes:
    """Return a piece in UTF-8; a NUL byte is left for the plain look at the file to name."""
    if file.encoding == "utf-8":
        try:
            piece.decode()
        except UnicodeDecodeError:
            raise NotUnicode(f"{file.path} is not UTF-8 text") from None
        return piece
    return piece.decode(file.encoding, "replace").encode()


def _column(text: Any, how: How, decimal: str | None) -> Column:
    """Return what a column of text holds."""
    if not how.text:
        numbers = text.replace([*MISSING, *how.na], None)
        if decimal == ",":
            numbers = numbers.str.replace(",", ".", literal=True)
        parsed = numbers.cast(pl.Float64, strict=False)
        if parsed.null_count() == numbers.null_count():
            return Column(parsed.fill_null(float("nan")).to_numpy().astype(np.float64))
    kept = text.replace(list(MISSING_TEXT), None)
    distinct = kept.unique(maintain_order=True).drop_nulls()
    codes = kept.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy().astype(np.intp)
    return column_of_codes(codes, distinct.to_list(), how, decimal)


def _line_of(file: TextFile, column: int, value: str) -> int:
    for line, _, fields in file.rows():
        if len(fields) > column and fields[column].strip() == value:
            return line
    return 0
