"""Correlation and covariance matrices in place of tables: read, checked, and told from tables of observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import Levels, Wish, number, written
from lmarvel.data.sources.base import Layout
from lmarvel.data.table import Table, chosen_columns, open_source, renamed
from lmarvel.errors import DataError
from lmarvel.text import joined

Matrix = NDArray[np.float64]
_UNEQUAL = 1e-6  # of the scale of an entry: what rounding does to the two halves of a symmetric matrix, and more
_BEYOND = 1e-8  # what rounding makes of a correlation of one
KEEP_LABELS = Layout(labels=True)


def named_matrix(
    given: Any, names: Sequence[str] | None = None, layout: Layout = KEEP_LABELS
) -> tuple[tuple[str, ...], Matrix]:
    """Return the names of the columns and the square of numbers, whatever it came in, its rows in the columns' order.

    Examples
    --------
    >>> named_matrix({"": ["b", "a"], "a": [0.5, 1.0], "b": [1.0, 0.5]})
    (('a', 'b'), array([[1. , 0.5],
           [0.5, 1. ]]))
    """
    index = getattr(given, "index", None)
    labels = None if index is None or callable(index) else [str(label) for label in index]
    source = open_source(given, None, layout)
    every = list(range(len(source.names)))
    table = Table.of(tuple(source.names), source.choose(every, Wish(lenient=True)), source.in_memory).loaded()
    rows = np.concatenate([np.empty((0, len(every))), *table.batches(1 << 62)])
    at = _label_column(rows, table.levels or (None,) * len(every))
    if at is not None:
        labels = _labels(rows[:, at], None if table.levels is None else table.levels[at])
        every.remove(at)
    text = [] if table.levels is None else [source.names[i] for i in every if table.levels[i] is not None]
    if text:
        raise DataError(f"the matrix has text in column {joined(map(repr, text[:3]))}: its entries must be numbers")
    if len(rows) != len(every):
        raise DataError(
            f"a matrix has as many rows as columns, and this has {len(rows):,} rows and {len(every):,} columns: leave"
            " --covariance or --correlation out if it is a table of observations"
        )
    called = [source.names[i] for i in every] if names is None else renamed([source.names[i] for i in every], names)
    chosen_columns(called, None, ())
    return tuple(called), np.ascontiguousarray(rows[_order(labels, called)][:, every])


def _label_column(rows: Matrix, levels: Sequence[Levels | None]) -> int | None:
    """Return the column with the names of the rows: of text, or the first where there is one column more than rows."""
    text = [i for i, known in enumerate(levels) if known is not None]
    if len(levels) != len(rows) + 1:
        return None
    return text[0] if len(text) == 1 else 0 if not text else None


def _labels(values: Matrix, levels: Levels | None) -> list[str]:
    if levels is None:
        return ["" if value != value else written(value) for value in values.tolist()]
    return ["" if value != value else levels.names[int(value)] for value in values.tolist()]


def _order(labels: list[str] | None, names: Sequence[str]) -> list[int]:
    """Return the rows in the order of the columns; rows that are only numbered, or have no names, are in it."""
    here = list(range(len(names)))
    if labels is None or labels == list(names):
        return here
    if labels in ([str(i) for i in here], [str(i + 1) for i in here]):
        return here
    strange = [label for label in labels if label not in set(names)]
    if strange or len(set(labels)) < len(labels):
        which = f"the row {strange[0]!r} has no column" if strange else "two rows have the same name"
        raise DataError(f"the names of rows and columns do not match: {which}. Give both the same names")
    return [labels.index(name) for name in names]


def checked_rows(n: Any, p: int) -> int:
    """Return the number of rows behind a matrix of p columns, or say what is wrong with it.

    Examples
    --------
    >>> checked_rows(12_000.0, 8)
    12000
    """
    value = number(n) if isinstance(n, str) else n
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not float(value).is_integer():
        said = "is missing" if n is None else f"must be a whole number, not {n!r}"
        raise DataError(f"{said}: give the number of rows that the matrix was computed from", parameter="n")
    if value <= p:
        raise DataError(
            f"must be above {p}, the number of columns, not {int(value)}: the matrix of so few rows is singular. Give"
            " the number of rows that it was computed from, or pass the table itself",
            parameter="n",
        )
    return int(value)


def checked_mean(mean: Any, p: int) -> Matrix:
    """Return the means of p columns, 0 where none are given."""
    if mean is None:
        return np.zeros(p)
    try:
        values = np.array(mean, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (p,) or not np.isfinite(values).all():
        raise DataError(f"must be {p} numbers, one for each column", parameter="mean")
    return values


def checked_matrix(names: Sequence[str], given: Matrix, correlation: bool = False) -> Matrix:
    """Return a matrix that is symmetric with a positive diagonal, or say which entry is wrong.

    Examples
    --------
    >>> checked_matrix(["a", "b"], np.array([[4.0, np.nan], [1.0, 1.0]])).tolist()
    [[4.0, 1.0], [1.0, 1.0]]
    """
    matrix: Matrix = np.where(np.isnan(given), given.T, given)
    diagonal = matrix.diagonal().copy()
    for i in np.flatnonzero(~(np.isfinite(diagonal) & (diagonal > 0)))[:1]:
        raise DataError(
            f"the diagonal of the matrix is {diagonal[i]:g} at {names[i]!r}: variances are above 0. Drop a constant"
            " column before the matrix is computed"
        )
    scale = np.sqrt(np.outer(diagonal, diagonal))
    with np.errstate(invalid="ignore"):
        unequal = ~(np.abs(matrix - matrix.T) <= _UNEQUAL * scale)
    for i, j in np.argwhere(unequal)[:1]:
        raise DataError(
            f"the matrix is not symmetric: {matrix[i, j]:g} in row {names[i]!r}, column {names[j]!r}, and"
            f" {matrix[j, i]:g} the other way round. Compute it again, or mend the entry"
        )
    matrix = np.asarray((matrix + matrix.T) / 2)
    for i, j in np.argwhere(np.abs(matrix) > scale * (1 + _BEYOND))[:1]:
        raise DataError(
            f"the correlation of {names[i]!r} and {names[j]!r} would be {matrix[i, j] / scale[i, j]:.3g}, and none is"
            " beyond 1 or -1: this is not a covariance matrix"
        )
    if correlation and not np.allclose(diagonal, 1, atol=1e-6):
        i = int(np.argmax(np.abs(diagonal - 1)))
        raise DataError(
            f"the diagonal of a correlation matrix is 1, and here it is {diagonal[i]:g} at {names[i]!r}: use"
            " --covariance, in Python leave correlation out"
        )
    return matrix


def indefinite(names: Sequence[str], correlation: Matrix, culprit: str) -> DataError | None:
    """Return what to say where no rows can have these correlations; None where a column is determined by others."""
    k = list(names).index(culprit)
    before = correlation[:k, :k]
    left = correlation[k, k] - correlation[:k, k] @ np.linalg.lstsq(before, correlation[:k, k], rcond=None)[0]
    if left > -_BEYOND:
        return None
    return DataError(
        f"the matrix is not positive definite: no rows can have these correlations of {culprit!r} with the columns"
        " before it. Compute all entries from the same rows, and keep all digits"
    )


def matrix_of(rows: Matrix, levels: Sequence[Levels | None], names: Sequence[str]) -> str:
    """Return "correlation" or "covariance" where a table is such a matrix, perhaps with its names, else "".

    Examples
    --------
    >>> r = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
    >>> matrix_of(r, (None,) * 3, ("a", "b", "c")), matrix_of(4 * r, (None,) * 3, ("a", "b", "c"))
    ('correlation', 'covariance')
    """
    at = [i for i, known in enumerate(levels) if known is None or len(known.names) < len(rows)]
    label = [known for i, known in enumerate(levels) if known is not None and i not in at]
    if len(rows) != len(at) or len(at) < 3 or any(levels[i] is not None for i in at):
        return ""
    if label and {name for known in label for name in known.names} != {names[i] for i in at}:
        return ""
    try:
        checked = checked_matrix([names[i] for i in at], rows[:, at])
    except DataError:
        return ""
    return "correlation" if np.allclose(checked.diagonal(), 1) else "covariance"


def about_matrix(kind: str) -> str:
    """Return what to say of a matrix that was passed in place of observations."""
    return (
        f"this is a {kind} matrix, not a table with one row per observation: give the number of rows that it was"
        f" computed from, on the command line with --{kind} --rows N, in Python with Moments.of(matrix, n)"
    )
