"""Tables in memory: arrays, lists of rows, mappings of columns, and frames of any make through narwhals.

A value is missing where it is NaN, None, pandas' NA, null in a frame, or masked in a masked array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.source import Batches, Source
from lmarvel.errors import DataError


def open_array(data: Any, names: list[str] | None) -> Source:
    """Open an array or a list of rows; without a name for each its columns are X0, X1 and so on."""
    try:
        array = _unmasked([_unmasked(row) for row in data] if isinstance(data, list | tuple) else data)
    except ValueError:
        raise DataError("the rows of a list must be equally long") from None
    if array.ndim != 2:
        raise DataError(f"an array of data has two dimensions, rows and columns, not {array.ndim}")
    width = array.shape[1]
    names = list(_numbered(width)) if names is None or len(names) != width else names
    if array.dtype.kind not in "fiub":
        array = _numeric(array, names)
    return Source(names, lambda columns: _slices(array, columns), in_memory=True)


@lru_cache(maxsize=8)
def _numbered(width: int) -> tuple[str, ...]:
    """Return the names of columns that have none."""
    return tuple(f"X{i}" for i in range(width))


def open_mapping(data: Mapping[Any, Any]) -> Source:
    """Open a mapping from names to columns."""
    columns = {str(name): _column(values) for name, values in data.items()}
    lengths = {name: column.shape for name, column in columns.items()}
    if any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise DataError(f"the columns of a mapping must be one-dimensional and equally long, not {lengths}")
    stacked = np.column_stack(list(columns.values())) if columns else np.empty((0, 0))
    return open_array(stacked, [str(name) for name in data])


def _column(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray | list | tuple | range):
        return _unmasked(values)
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64()).fill_null(float("nan")).to_numpy())
    return _unmasked(values)


def _unmasked(values: Any) -> NDArray[Any]:
    """Return an array in which masked values are NaN, or None among objects."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    numeric = values.dtype.kind in "fiub"
    plain = np.array(values.data, dtype=np.float64 if numeric else object)
    plain[np.ma.getmaskarray(values)] = np.nan if numeric else None
    return plain


def _numeric(array: NDArray[Any], names: list[str]) -> NDArray[np.float64]:
    if array.dtype.kind == "c":
        raise DataError("complex numbers cannot be used: split them into real columns")
    result = np.empty(array.shape)
    for (i, j), value in np.ndenumerate(array):
        try:
            result[i, j] = np.nan if _is_missing(value) else float(value)
        except (TypeError, ValueError):
            shown = str(value) if isinstance(value, str) else value
            raise DataError(f"column {names[j]!r}, row {i + 1}: {shown!r} is not a number") from None
    return result


def _is_missing(value: object) -> bool:
    """Tell None, a masked value, and pandas' NA, which is known by its looks alone where pandas is not loaded."""
    return value is None or value is np.ma.masked or (not isinstance(value, str | float | int) and str(value) == "<NA>")


def _slices(array: NDArray[Any], columns: Sequence[int]) -> Batches:
    everything = columns == range(array.shape[1]) or list(columns) == list(range(array.shape[1]))
    chosen = [] if everything else list(columns)

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        for start in range(0, array.shape[0], rows):
            part = array[start : start + rows]
            yield (part if everything else part[:, chosen]).astype(np.float64, copy=False)

    return batches


# --- frames -----------------------------------------------------------------------------------------------


def open_frame(data: Any) -> Source:
    """Open a pandas, Polars or PyArrow frame, or what else narwhals knows."""
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"cannot read data of type {type(data).__name__}: pass an array, a pandas, Polars or PyArrow frame (a lazy"
            f" one collected), a mapping of columns, or a path ({error})"
        ) from None
    names = [str(name) for name in frame.columns]

    def choose(columns: Sequence[int]) -> Batches:
        kept = [_numbers(frame[:, i], names[i]) for i in columns]

        def batches(rows: int) -> Iterator[NDArray[np.float64]]:
            for start in range(0, len(frame), rows):
                yield np.column_stack([column[start : start + rows] for column in kept])

        return batches

    return Source(names, choose, in_memory=True)


def _numbers(series: Any, name: str) -> NDArray[np.float64]:
    """Return a column as float64 with NaN where a value is missing; refuse what is not numbers."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64()).fill_null(float("nan")).to_numpy(), dtype=np.float64)
    values = [_number(value, name, row) for row, value in enumerate(series.to_list(), start=1)]
    if series.dtype not in (nw.Object, nw.Unknown):
        raise DataError(
            f"column {name!r} is of type {series.dtype}, not numeric: turn it into numbers, or leave it out"
        )
    return np.array(values)


def _number(value: Any, name: str, row: int) -> float:
    if _is_missing(value):
        return float("nan")
    if isinstance(value, int | float | np.number | np.bool_):
        return float(value)
    raise DataError(
        f"column {name!r}, row {row}: {value!r} is not a number. Leave the column out, or turn it into numbers"
    )
