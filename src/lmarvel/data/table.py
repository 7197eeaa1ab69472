"""A table: named columns that come in batches of rows as float64, whatever they were made of.

Arrays, lists, mappings of columns, pandas, Polars and PyArrow frames (through narwhals), and files by path.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget import memory
from lmarvel.data.columns import NAMED, check_known
from lmarvel.data.levels import Levels, Wish, written
from lmarvel.data.sources import open_file
from lmarvel.data.sources.base import Batches, Layout, Rows, Source, pieces, without_codes
from lmarvel.data.sources.frames import open_array, open_frame, open_mapping
from lmarvel.errors import DataError, NotNumbers
from lmarvel.text import listing

MOST_COLUMNS = 100_000  # their covariance alone would take 75 GiB
KEPT = 1 << 24  # values of a file, 128 MB: up to here its rows are kept as they were read
_SHARE = 0.5  # of the memory that is left, which kept rows may take
_AS_IT_IS = Wish()
_AS_LAID_OUT = Layout()


class Table(NamedTuple):
    """Named columns, and a function from a number of rows to batches of that many, as float64.

    Columns with ``levels`` come as codes of them. A file that is read in pieces may turn out to hold text, which is
    :class:`lmarvel.errors.NotNumbers`; ``loaded`` reads it into memory. Rows that come from a file are kept, up to a
    size.

    Examples
    --------
    >>> table = open_table({"a": [1, 2, 3], "b": [0.5, 0.1, 0.2]})
    >>> table.names, [batch.shape for batch in table.batches(2)]
    (('a', 'b'), [(2, 2), (1, 2)])
    """

    names: tuple[str, ...]
    batches: Batches
    in_memory: bool = True
    levels: tuple[Levels | None, ...] | None = None
    load: Callable[[], Rows] | None = None
    private: bool = False

    def loaded(self) -> Table:
        """Return the same table in memory, with the levels of its columns; one that is there is itself."""
        if self.load is None:
            return self
        return Table.of(self.names, self.load(), in_memory=True)

    @classmethod
    def of(cls, names: tuple[str, ...], rows: Rows, in_memory: bool) -> Table:
        """Return a table of rows that come in pieces of any size."""
        batches = _rechunk(rows.batches) if in_memory else ReadOnce.of(rows.batches)
        load = None if rows.load is None else cache(rows.load)
        return cls(names, batches, in_memory, rows.levels, load, rows.private)

    def take(self, at: Sequence[int]) -> Table:
        """Return the columns at these positions."""
        levels = None if self.levels is None else tuple(self.levels[i] for i in at)
        load = None if self.load is None else lambda: _some_rows(self.loaded(), at)
        return Table(tuple(self.names[i] for i in at), _some(self, at), self.in_memory, levels, load)


def open_table(
    data: Any,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
) -> Table:
    """Open anything that is a table, and choose its columns; of a file only the header is read.

    Parameters
    ----------
    data : array, mapping, frame, path or Table
        Rows are observations.
    names : sequence of str, optional
        Names for all columns, in place of those that they have. The columns of an array have none and are called X0,
        X1 and so on by default.
    columns, drop : sequence of str
        The columns to use (all by default), and those to leave out.
    separator : str, optional
        The separator of a text file, by default inferred from its ending.
    """
    source = open_source(data, names, Layout(separator))
    return table_of(source, chosen_columns(source.names, columns, drop))


def open_source(data: Any, names: Sequence[str] | None, layout: Layout = _AS_LAID_OUT, na: Any = None) -> Source:
    """Open anything that is a table, with all its columns under the names that they are to have.

    What ``na`` names is missing, wherever it stands.
    """
    source = _source_of(data, names, layout)
    if not source.names:
        raise DataError("the table has no columns")
    source = source if names is None else replace(source, names=renamed(source.names, names))
    codes = missing_codes(na, source.names)
    return without_codes(source, codes) if codes else source


def missing_codes(na: Any, names: Sequence[str]) -> dict[int, frozenset[str]]:
    """Return the values that stand for a missing one, by position; they are given for all columns, or by name.

    Examples
    --------
    >>> missing_codes(-9, ["a", "b"]), missing_codes({"b": ["Refused", 99.0]}, ["a", "b"]) == {1: {"Refused", "99"}}
    ({0: frozenset({'-9'}), 1: frozenset({'-9'})}, True)
    """
    if na is None:
        return {}
    by_name = na if isinstance(na, Mapping) else dict.fromkeys(names, na)
    check_known("na", by_name, names)
    found = {names.index(name): frozenset(map(_code, _several(values))) for name, values in by_name.items()}
    return {i: codes for i, codes in found.items() if codes}


def _several(values: Any) -> Iterable[Any]:
    return values if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [values]


def _code(value: Any) -> str:
    return value.strip() if isinstance(value, str) else written(float(value))


def table_of(source: Source, wanted: Sequence[int], wish: Wish = _AS_IT_IS) -> Table:
    """Return chosen columns of a source."""
    return Table.of(tuple(source.names[i] for i in wanted), source.choose(wanted, wish), source.in_memory)


@lru_cache(maxsize=16)
def _are_usable(names: tuple[str, ...]) -> bool:
    """Tell whether nothing is wrong with the names of all columns; a table is often fitted more than once."""
    return 2 <= len(set(names)) == len(names) <= MOST_COLUMNS and all(map(str.strip, names))


def chosen_columns(found: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str]) -> list[int]:
    """Return the positions of the columns to use; refuse a choice, or names, that nothing can be learned with."""
    if columns is None and not drop and _are_usable(tuple(found)):
        return list(range(len(found)))
    for role, given in (("columns", columns or ()), ("drop", drop)):
        check_known(role, given, found)
    keep = set(found if columns is None else columns) - set(drop)
    wanted = [i for i, name in enumerate(found) if name in keep]
    if len(wanted) < 2:
        few = "1 column is not enough" if wanted else "0 columns are not enough"
        hint = _one_column_hint(found[wanted[0]]) if wanted else ""
        raise DataError(f"{few}: at least 2 are needed to find edges between{hint}")
    if len(wanted) > MOST_COLUMNS:
        raise DataError(f"{len(wanted)} columns are too many: choose at most {MOST_COLUMNS}")
    for i in wanted:
        if not found[i].strip():
            raise DataError(
                f"column number {i + 1} has an empty name: give it one, or write the file without the row index"
            )
    twice = sorted(name for name, count in Counter(found[i] for i in wanted).items() if count > 1)
    if twice:
        raise DataError(f"duplicate column name {listing([repr(name) for name in twice], NAMED)}: names must differ")
    return wanted


def renamed(found: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the new names, if there is one for each column."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise DataError("column names must be strings, as many as there are columns")
    if len(names) != len(found):
        given = "1 name" if len(names) == 1 else f"{len(names)} names"
        raise DataError(f"{given} for {len(found)} column{'s' * (len(found) != 1)}")
    return list(names)


def _one_column_hint(name: str) -> str:
    for sign, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "commas")):
        if sign in name:
            return f". Its name {name!r} holds {word}: give the separator"
    return ""


def _rechunk(batches: Batches) -> Batches:
    """Give exactly the asked number of rows, so that results do not depend on how the source came in pieces."""

    def exact(rows: int) -> Iterator[NDArray[np.float64]]:
        kept: list[NDArray[np.float64]] = []
        have = 0
        for batch in batches(rows):
            while batch.shape[0]:
                part, batch = batch[: rows - have], batch[rows - have :]
                kept.append(part)
                have += part.shape[0]
                if have == rows:
                    yield _joined(kept)
                    have = 0
        if have:
            yield _joined(kept)

    return exact


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return parts as one array; they are taken from the list one by one, so that little is held twice."""
    if len(parts) == 1:
        return parts.pop()
    whole = np.empty((sum(map(len, parts)), parts[0].shape[1]))
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


class ReadOnce:
    """Batches of a file, which is read at the first pass; a later one gets the rows that were kept, unless many."""

    def __init__(self, batches: Batches) -> None:
        self._batches = _rechunk(batches)
        self._rows: NDArray[np.float64] | None = None
        self._text: NotNumbers | None = None

    @classmethod
    def of(cls, batches: Batches) -> ReadOnce:
        """Return batches that are read once, as they are if that is so already."""
        return batches if isinstance(batches, cls) else cls(batches)

    def __call__(self, rows: int) -> Iterator[NDArray[np.float64]]:
        """Iterate over all rows, so many at a time."""
        if self._text is not None:
            raise self._text
        if self._rows is None:
            yield from self._read(rows)
        else:
            yield from pieces(self._rows, rows)

    def _read(self, rows: int) -> Iterator[NDArray[np.float64]]:
        kept: list[NDArray[np.float64]] = []
        values, few = 0, True
        try:
            for batch in self._batches(rows):
                values += batch.size
                few = few and values <= KEPT and batch.nbytes <= _SHARE * memory.left()
                if few:
                    kept.append(batch)
                else:
                    kept.clear()
                yield batch
        except NotNumbers as text:
            self._text = text
            raise
        if kept:
            self._rows = _joined(kept)


def _source_of(data: Any, names: Sequence[str] | None, layout: Layout) -> Source:
    if layout.separator is not None and not _is_separator(layout.separator):
        raise DataError(f"the separator of a text file is one plain character, not {layout.separator!r}")
    if isinstance(data, Source):
        return data
    if isinstance(data, Table):
        return Source(list(data.names), lambda columns, wish: _some_rows(data, columns), data.in_memory)
    if isinstance(data, str | os.PathLike):
        memory.check_reader()
        return open_file(Path(data), layout)
    if isinstance(data, Mapping):
        return open_mapping(data)
    if isinstance(data, np.ndarray | list | tuple):
        return open_array(data, None if names is None else list(names))
    return open_frame(data)


def _some_rows(table: Table, columns: Sequence[int]) -> Rows:
    some = table.take(columns)
    return Rows(some.batches, some.levels, some.load)


def _some(table: Table, columns: Sequence[int]) -> Batches:
    if list(columns) == list(range(len(table.names))):
        return table.batches
    return lambda rows: (np.ascontiguousarray(batch[:, columns]) for batch in table.batches(rows))


def _is_separator(text: str) -> bool:
    return (
        len(text) == 1
        and text.isascii()
        and (text.isprintable() or text == "\t")
        and text not in '"'
        and not text.isalnum()
    )
