"""A table: named numeric columns that come in batches of rows, whatever they were made of.

Arrays, lists, mappings of columns, pandas, Polars and PyArrow frames (through narwhals), and files by path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.files import Batches, read_header
from lmarvel.errors import DataError


@dataclass(frozen=True)
class Table:
    """Named columns, and a function from a number of rows to batches of that many, as float64.

    Examples
    --------
    >>> table = open_table({"a": [1, 2, 3], "b": [0.5, 0.1, 0.2]})
    >>> table.names, [batch.shape for batch in table.batches(2)]
    (('a', 'b'), [(2, 2), (1, 2)])
    """

    names: tuple[str, ...]
    batches: Batches


def column_names(data: Any, separator: str | None = None) -> list[str]:
    """Return the names of all columns of a table, as they stand there."""
    if separator is not None and not _is_separator(separator):
        raise DataError(f"the separator of a text file is one plain character, not {separator!r}")
    return _columns_of(data, None, separator)[0]


def open_table(
    data: Any,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
) -> Table:
    """Open anything that is a table, and choose its columns.

    Parameters
    ----------
    data : array, mapping, frame or path
        Rows are observations.
    names : sequence of str, optional
        Names for the columns of an array.
    columns, drop : sequence of str
        The columns to use (all by default), and those to leave out.
    separator : str, optional
        The separator of a text file, by default told from its ending.
    """
    if separator is not None and not _is_separator(separator):
        raise DataError(f"the separator of a text file is one plain character, not {separator!r}")
    found, choose = _columns_of(data, names, separator)
    if not found:
        raise DataError("the table has no columns")
    wanted = _choose(found, columns, drop)
    if len(wanted) < 2:
        hint = _one_column_hint(found[wanted[0]]) if wanted else ""
        raise DataError(f"{len(wanted)} column is not enough: at least 2 are needed to find edges between{hint}")
    for i in wanted:
        if not found[i].strip():
            raise DataError(
                f"column number {i + 1} has an empty name: give it one, or write the file without the row index"
            )
    chosen = tuple(found[i] for i in wanted)
    if len(set(chosen)) < len(chosen):
        twice = sorted({name for name in chosen if chosen.count(name) > 1})
        raise DataError(f"duplicate column name {', '.join(map(repr, twice))}: names must differ")
    return Table(chosen, _rechunk(choose(wanted)))


def _is_separator(text: str) -> bool:
    return (
        len(text) == 1
        and text.isascii()
        and (text.isprintable() or text == "\t")
        and text not in '"'
        and not text.isalnum()
    )


def _choose(found: list[str], columns: Sequence[str] | None, drop: Sequence[str]) -> list[int]:
    for role, given in (("columns", columns or ()), ("drop", drop)):
        for name in given:
            if name not in found:
                raise DataError(f"{role} names {name!r}, but the table has no such column: {_listing(found)}")
    keep = set(found if columns is None else columns) - set(drop)
    return [i for i, name in enumerate(found) if name in keep]


def _listing(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


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
                    yield kept[0] if len(kept) == 1 else np.concatenate(kept)
                    kept, have = [], 0
        if have:
            yield kept[0] if len(kept) == 1 else np.concatenate(kept)

    return exact


Columns = tuple[list[str], Callable[[list[int]], Batches]]


def _columns_of(data: Any, names: Sequence[str] | None, separator: str | None) -> Columns:
    if isinstance(data, str | os.PathLike):
        return read_header(Path(data), separator)
    if isinstance(data, Mapping):
        return _from_array(_stack(data), [str(name) for name in data])
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, None if names is None else list(names))
    return _from_frame(data)


def _stack(data: Mapping[Any, Any]) -> NDArray[Any]:
    columns = {name: np.asarray(values) for name, values in data.items()}
    lengths = {name: column.shape for name, column in columns.items()}
    if any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise DataError(f"the columns of a mapping must be one-dimensional and equally long, not {lengths}")
    return np.column_stack(list(columns.values())) if columns else np.empty((0, 0))


def _from_array(data: Any, names: list[str] | None) -> Columns:
    try:
        array = np.asarray(data)
    except ValueError:
        raise DataError("the rows of a list must be equally long") from None
    if array.ndim != 2:
        raise DataError(f"an array of data has two dimensions, rows and columns, not {array.ndim}")
    names = [f"X{i}" for i in range(array.shape[1])] if names is None else names
    if len(names) != array.shape[1]:
        raise DataError(f"{len(names)} names for {array.shape[1]} columns")
    if not all(isinstance(name, str) for name in names):
        raise DataError("column names must be strings")
    if array.dtype.kind not in "fiub":
        array = _numeric(array, names)
    return names, lambda columns: _slices(array, columns)


def _numeric(array: NDArray[Any], names: list[str]) -> NDArray[np.float64]:
    if array.dtype.kind == "c":
        raise DataError("complex numbers cannot be used: split them into real columns")
    result = np.empty(array.shape)
    for (i, j), value in np.ndenumerate(array):
        try:
            result[i, j] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            shown = str(value) if isinstance(value, str) else value
            raise DataError(f"column {names[j]!r}, row {i + 1}: {shown!r} is not a number") from None
    return result


def _slices(array: NDArray[Any], columns: list[int]) -> Batches:
    everything = columns == list(range(array.shape[1]))

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        for start in range(0, array.shape[0], rows):
            part = array[start : start + rows]
            yield (part if everything else part[:, columns]).astype(np.float64, copy=False)

    return batches


def _from_frame(data: Any) -> Columns:
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"cannot read data of type {type(data).__name__}: pass an array, a pandas, Polars or PyArrow frame (a lazy"
            f" one collected), a mapping of columns, or a path ({error})"
        ) from None
    names = [str(name) for name in frame.columns]

    def choose(columns: list[int]) -> Batches:
        for i in columns:
            _check_dtype(frame[:, i], names[i])
        kept = [frame.columns[i] for i in columns]
        numbers = frame.select(nw.col(*kept).cast(nw.Float64()).fill_null(float("nan")))

        def batches(rows: int) -> Iterator[NDArray[np.float64]]:
            for start in range(0, len(numbers), rows):
                yield np.ascontiguousarray(numbers[start : start + rows].to_numpy(), dtype=np.float64)

        return batches

    return names, choose


def _check_dtype(series: Any, name: str) -> None:
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return
    for row, value in enumerate(series.to_list(), start=1):
        if isinstance(value, int | float | None):
            continue
        raise DataError(
            f"column {name!r}, row {row}: {value!r} is not a number. Leave the column out, or turn it into numbers"
        )
    raise DataError(f"column {name!r} is of type {series.dtype}, not numeric: turn it into numbers, or leave it out")
