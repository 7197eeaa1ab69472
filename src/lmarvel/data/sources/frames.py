"""Tables in memory: arrays, lists of rows, mappings of columns, and frames of any make through narwhals.

A value is missing where it is NaN, None, pandas' NA, null in a frame, or masked in a masked array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import (
    MIXED,
    OTHER,
    PLAIN,
    Column,
    How,
    Levels,
    Mixture,
    Wish,
    as_levels,
    column_of,
    column_of_text,
)
from lmarvel.data.sources.base import Rows, Source, rows_of, tell_marks
from lmarvel.deferred import late
from lmarvel.errors import DataError, UnusableError

if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = late("narwhals")


NOTHING = Wish()
_TRUTH = Levels(("False", "True"))


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
    if array.dtype.kind == "c":
        raise DataError("complex numbers cannot be used: split them into real columns")
    if array.dtype.kind in "fiub":
        return Source(names, lambda columns, wish: _slices(array, columns), in_memory=True)
    return _open_columns(names, lambda i, how: _objects(array[:, i].tolist(), how))


@lru_cache(maxsize=8)
def _numbered(width: int) -> tuple[str, ...]:
    """Return the names of columns that have none."""
    return tuple(f"X{i}" for i in range(width))


def open_mapping(data: Mapping[Any, Any]) -> Source:
    """Open a mapping from names to columns."""
    text = {str(name) for name, values in data.items() if isinstance(values, list) and _is_text(values)}
    columns = {
        str(name): np.empty(len(values), dtype=object) if str(name) in text else _column(values)
        for name, values in data.items()
    }
    lengths = {name: column.shape for name, column in columns.items()}
    if any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise DataError(f"the columns of a mapping must be one-dimensional and equally long, not {lengths}")
    if all(column.dtype.kind in "fiub" for column in columns.values()):
        stacked = np.column_stack(list(columns.values())) if columns else np.empty((0, 0))
        return open_array(stacked, list(columns))
    named = [(str(name) in text, values) for name, values in data.items()]

    def column(i: int, how: How) -> Column:
        known, values = named[i]
        return column_of_text(values, how) if known else _any_column(values, how)

    return _open_columns(list(columns), column)


def _is_text(values: list[Any]) -> bool:
    """Tell whether all values are text, at the speed of C."""
    return set(map(type, values)) == {str}


def _column(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray | list | tuple | range):
        return _unmasked(values)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64()).fill_null(float("nan")).to_numpy())
    return np.array(list(values), dtype=object) if isinstance(series, nw.Series) else _unmasked(values)


def _any_column(values: Any, how: How) -> Column:
    """Return a column of a mapping, which may be a series of any make."""
    if not isinstance(values, np.ndarray | list | tuple | range):
        series = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return _of_series(series, how)
    array = _unmasked(values)
    if array.dtype.kind in "fiu":
        return Column(array.astype(np.float64))
    if isinstance(values, list | tuple):  # NumPy makes text of numbers that stand beside text
        return _objects([None if value is np.ma.masked else value for value in values], how)
    return _objects(array.tolist(), how)


def _unmasked(values: Any) -> NDArray[Any]:
    """Return an array in which masked values are NaN, or None among objects."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    numeric = values.dtype.kind in "fiub"
    plain = np.array(values.data, dtype=np.float64 if numeric else object)
    plain[np.ma.getmaskarray(values)] = np.nan if numeric else None
    return plain


def _objects(values: list[Any], how: How = PLAIN) -> Column:
    """Return a column of Python's own values: numbers if all are, truth values, or text."""
    if _is_text(values):
        return column_of_text(values, how)
    plain = [None if _is_missing(value) else value for value in values]
    present = [value for value in plain if value is not None]
    if any(isinstance(value, complex | np.complexfloating) for value in present):
        raise DataError("complex numbers cannot be used: split them into real columns")
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        return _truth(np.array([np.nan if value is None else float(value) for value in plain]))
    if not how.text and all(isinstance(value, int | float | np.number | np.bool_) for value in present):
        return Column(np.array([np.nan if value is None else float(value) for value in plain], dtype=np.float64))
    return column_of(plain, how)


def _truth(numbers: NDArray[np.float64]) -> Column:
    return as_levels("", Column(numbers, _TRUTH))


def _is_missing(value: object) -> bool:
    """Tell None, NaN, a masked value, and pandas' NA, known by its looks alone where pandas is not loaded."""
    if isinstance(value, str | int):
        return False
    if isinstance(value, float):
        return value != value
    return value is None or value is np.ma.masked or str(value) in ("<NA>", "NaT", "nan")


def _slices(array: NDArray[Any], columns: Sequence[int]) -> Rows:
    everything = columns == range(array.shape[1]) or list(columns) == list(range(array.shape[1]))
    chosen = [] if everything else list(columns)

    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        for start in range(0, array.shape[0], rows):
            part = array[start : start + rows]
            yield (part if everything else part[:, chosen]).astype(np.float64, copy=False)

    return Rows(batches)


def _open_columns(names: list[str], column: Callable[[int, How], Column]) -> Source:
    """Return a source whose columns are looked at one by one; all that hold something strange are named at once."""

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        found, strange, other = [], [], []
        for i in columns:
            try:
                found.append(column(i, wish.of(i)))
            except Mixture as mixed:
                strange.append(f"column {names[i]!r}, row {mixed.row + 1}: {mixed.value!r} is not a number")
            except TypeError as sort:
                other.append(f"{names[i]!r} ({sort})")
        if other:
            raise UnusableError(f"column {', '.join(other[:20])} holds neither numbers nor text: {OTHER}")
        if strange:
            raise UnusableError(f"{'; '.join(strange[:20])}. {MIXED}")
        tell_marks([names[i] for i in columns], found)
        return rows_of(found)

    return Source(names, choose, in_memory=True)


# --- frames -----------------------------------------------------------------------------------------------


def open_frame(data: Any) -> Source:
    """Open a pandas, Polars or PyArrow frame, or what else narwhals knows."""
    try:
        frame = nw.from_native(data, eager_only=True)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"cannot read data of type {type(data).__name__}: pass an array, a pandas, Polars or PyArrow frame (a lazy"
            f" one collected), a mapping of columns, or a path ({error})"
        ) from None
    names = [str(name) for name in frame.columns]
    return _open_columns(names, lambda i, how: _of_series(frame[:, i], how))


def _of_series(series: Any, how: How) -> Column:
    """Return a column of a frame by its type; one that can be neither numbers nor levels is a TypeError."""
    sort = series.dtype
    if sort == nw.Boolean:
        return _truth(_floats(series))
    if sort.is_numeric():
        return Column(_floats(series))
    if sort in (nw.Categorical, nw.Enum):
        return _categories(series)
    if sort in (nw.Object, nw.Unknown):
        return _objects(series.to_list(), how)
    if sort == nw.String or how.lenient:
        return column_of(_listed(series), how)
    raise TypeError(sort)


def _listed(series: Any) -> list[Any]:
    """Return the values of a series, None where one is missing."""
    values = series.to_list()
    return values if _is_text(values) else [None if _is_missing(value) else value for value in values]


def _floats(series: Any) -> NDArray[np.float64]:
    return np.asarray(series.cast(nw.Float64()).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _categories(series: Any) -> Column:
    """Return categories as codes: in their own order where it means something, else as text."""
    column = column_of(_listed(series), How(text=True))
    order = _order_of(series.to_native())
    return column if order is None else as_levels("", column, [str(level) for level in order])


def _order_of(native: Any) -> list[Any] | None:
    """Return categories in their order, if pandas, Polars or PyArrow say that they have one."""
    make = type(native).__module__.partition(".")[0]
    if make == "pandas":
        return list(native.cat.categories) if native.dtype.ordered else None
    if make == "polars":
        return native.dtype.categories.to_list() if str(native.dtype).startswith("Enum") else None
    if make == "pyarrow" and native.type.ordered:
        return list(native.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return None
