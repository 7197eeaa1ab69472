"""A dataset: a table with all that is told of it, worked out when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.kinds import Kind, kinds_of
from lmarvel.data.moments import Moments
from lmarvel.data.scan import Scan, Tick, Weights, batch_rows
from lmarvel.data.table import Table, chosen_columns, open_table, renamed
from lmarvel.errors import DataError


class Codes(NamedTuple):
    """A column as small whole numbers: ``levels[codes]`` are its values, and levels are in ascending order."""

    codes: NDArray[Any]
    levels: NDArray[np.float64]


class Dataset:
    """Named columns of numbers, whatever they come in, and what tests and scores need to know of them.

    Make one with :meth:`Dataset.of`. It never changes, and it does nothing before it is asked: of a file only the
    header is read at first. One pass over the rows then gives their number, the moments, the kinds of the columns, and
    how many values are missing.

    Attributes
    ----------
    names : tuple of str
        The columns, in the order of the table.
    weights : array or None
        A weight for each row, none below zero, read-only.

    Examples
    --------
    >>> data = Dataset.of({"dose": [1.0, 2.0, 4.0, 3.0], "ill": [0, 1, 1, 0]})
    >>> data
    Dataset of dose, ill
    >>> data.n, data.moments.mean.tolist(), [str(kind) for kind in data.kinds]
    (4, [2.5, 0.5], ['continuous', 'binary'])
    >>> data.resample(seed=1).weights.tolist()
    [0, 1, 1, 2]
    """

    __slots__ = ("_codes", "_given", "_scan", "_table", "names", "weights")

    names: tuple[str, ...]
    weights: Weights | None
    _table: Table | None
    _given: Moments | None  # in place of rows
    _scan: Scan
    _codes: dict[str, Codes]

    def __init__(self, source: Table | Moments, weights: Weights | None = None) -> None:
        table = source if isinstance(source, Table) else Table(source.names, _no_rows)
        fields: dict[str, object] = {
            "names": source.names,
            "weights": weights,
            "_table": table if isinstance(source, Table) else None,
            "_given": source if isinstance(source, Moments) else None,
            "_scan": Scan(table, weights),
            "_codes": {},
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a dataset never changes: {name} cannot be set")

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:8]) + ", ..." * (len(self.names) > 8)
        return f"Dataset of {shown}" + (", weighted" if self.weights is not None else "")

    @classmethod
    def of(
        cls,
        data: Any,
        names: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        separator: str | None = None,
        *,
        weights: Any = None,
    ) -> Dataset:
        """Make a dataset of anything that is a table, and choose its columns.

        Parameters
        ----------
        data : array, mapping, frame, path, Moments or Dataset
            Rows are observations. Behind moments there are no rows: what needs them raises
            :class:`lmarvel.DataError`.
        names : sequence of str, optional
            Names for all columns, in place of those that they have. The columns of an array have none and are
            called X0, X1 and so on by default.
        columns, drop : sequence of str
            The columns to use (all by default), and those to leave out.
        separator : str, optional
            The separator of a text file, by default told from its ending.
        weights : array, optional
            A weight for each row, none below zero; a row of weight zero is as if it was not there.

        Examples
        --------
        >>> Dataset.of([[1, 2, 0], [2, 1, 1], [4, 4, 0]], names=["a", "b", "c"], drop=["b"])
        Dataset of a, c
        """
        if isinstance(data, Dataset):
            if names is None and columns is None and not drop and weights is None:
                return data
            weights = data.weights if weights is None else weights
            data = data._table or data._given
        if isinstance(data, Moments):
            if weights is not None:
                raise DataError("moments have no rows that weights could be given to: pass the table itself")
            return cls(_some_moments(data, names, columns, drop))
        table = open_table(data, names, columns, drop, separator)
        return cls(table, None if weights is None else _checked_weights(weights))

    # --- what a pass tells ------------------------------------------------------------------------------

    def read(self, tick: Tick | None = None) -> Moments:
        """Read the rows, unless that was done, and return the moments.

        ``tick`` is called after each batch of rows. What it raises ends the reading, and is passed on: this is how
        a limit of time, or a user who gives up, is kept to.
        """
        return self._given if self._given is not None else self._scan.moments(tick)

    @property
    def moments(self) -> Moments:
        """Number of rows, means and covariance; a table that no test can be run on is refused here."""
        return self.read()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._given.n if self._given is not None else self._scan.running().n

    @property
    def missing(self) -> tuple[int, ...]:
        """How many values of each column are missing; those are NaN in :meth:`rows` and :meth:`batches`."""
        if self._given is not None:
            return (0,) * len(self.names)
        return tuple(self._scan.running().missing.tolist())

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each column measures; see :func:`lmarvel.data.kinds.kinds_of`."""
        if self._given is not None:
            return kinds_of(np.zeros(len(self.names), dtype=bool))
        return kinds_of(self._scan.two_valued().told())

    @property
    def fingerprint(self) -> str:
        """A digest of the names and of every bit of the values in their order: 16 hexadecimal digits.

        It does not depend on what the table came in: an array and a file of the same numbers have the same.
        """
        return self._given.fingerprint() if self._given is not None else self._scan.fingerprint()

    def summary(self) -> dict[str, Any]:
        """Return rows, fingerprint, and name, mean, standard deviation and kind of each column, as plain data."""
        moments = self.moments
        deviation = np.sqrt(np.diag(moments.covariance))
        columns = [
            {"name": name, "mean": float(f"{mean:.8g}"), "sd": float(f"{sd:.8g}"), "kind": kind.value}
            for name, mean, sd, kind in zip(
                self.names, moments.mean.tolist(), deviation.tolist(), self.kinds, strict=True
            )
        ]
        return {"rows": moments.n, "fingerprint": self.fingerprint, "columns": columns}

    # --- rows -------------------------------------------------------------------------------------------

    def batches(self, size: int | None = None) -> Iterator[NDArray[np.float64]]:
        """Iterate over all rows again, ``size`` at a time, as float64; a file is read again."""
        size = batch_rows(len(self.names)) if size is None else size
        if size < 1:
            raise DataError(f"a batch has at least 1 row, not {size}")
        for batch in self._rows_behind().batches(size):
            shown = batch.view()
            shown.flags.writeable = False  # it may be the user's own array
            yield shown

    def rows(self) -> NDArray[np.float64]:
        """Return all rows at once, read-only, and without a copy if they are an array of float64."""
        batches = list(self.batches(_ALL if self._rows_behind().in_memory else None))
        whole = np.concatenate(batches or [np.empty((0, len(self.names)))]) if len(batches) != 1 else batches[0]
        whole.flags.writeable = False
        return whole

    def codes(self, column: str) -> Codes:
        """Return a column as small whole numbers, for tests on levels, and the levels in ascending order.

        Examples
        --------
        >>> codes, levels = Dataset.of({"a": [2.5, 1.0, 2.5], "b": [1, 2, 3]}).codes("a")
        >>> codes.tolist(), levels.tolist()
        ([1, 0, 1], [1.0, 2.5])
        """
        if column not in self.names:
            raise DataError(f"there is no column {column!r}: the columns are {', '.join(self.names[:20])}")
        if column not in self._codes:
            at = self.names.index(column)
            values = np.concatenate([np.empty(0), *(batch[:, at].copy() for batch in self.batches())])
            missing = int(np.isnan(values).sum())
            if missing:
                raise DataError(f"missing values in {column!r} ({missing}): drop those rows, or impute them, first")
            levels, inverse = np.unique(values, return_inverse=True)
            codes = inverse.reshape(-1).astype(np.min_scalar_type(max(len(levels) - 1, 0)))
            codes.flags.writeable = levels.flags.writeable = False
            self._codes[column] = Codes(codes, levels)
        return self._codes[column]

    def resample(self, seed: int) -> Dataset:
        """Draw n rows with replacement: the same table, with how often each row was drawn for a weight.

        No row is copied, and the same seed draws the same rows. ``moments.n`` of the result is the number of rows
        drawn, as a bootstrap wants it. Where the rows have weights, they are multiplied by the counts.
        """
        table, n = self._rows_behind(), self.n
        counts = np.bincount(np.random.default_rng(seed).integers(0, n, n), minlength=n)
        drawn: Weights = counts if self.weights is None else counts * self.weights
        drawn.flags.writeable = False
        return Dataset(table, drawn)

    def _rows_behind(self) -> Table:
        if self._table is None:
            raise DataError("there are no rows behind moments: pass the table itself")
        return self._table


_ALL = 1 << 62


def _no_rows(rows: int) -> Iterator[NDArray[np.float64]]:
    raise DataError("there are no rows behind moments: pass the table itself")


def _some_moments(
    moments: Moments, names: Sequence[str] | None, columns: Sequence[str] | None, drop: Sequence[str]
) -> Moments:
    if names is None and columns is None and not drop:
        return moments
    found = list(moments.names) if names is None else renamed(moments.names, names)
    at = chosen_columns(found, columns, drop)
    covariance = moments.covariance[np.ix_(at, at)]
    return Moments(tuple(found[i] for i in at), moments.n, moments.mean[at], covariance, moments.n_effective)


def _checked_weights(given: Any) -> Weights:
    """Return a read-only copy of weights that are numbers, not negative, and not all zero."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("weights must be numbers, one for each row") from None
    if weights.ndim != 1:
        raise DataError(f"weights must have one dimension, a number for each row, not {weights.ndim}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(f"the weight of row {bad[0] + 1} is {weights[bad[0]]}: weights must not be negative or missing")
    if not weights.any():
        raise DataError("all weights are zero: no row is left")
    weights.flags.writeable = False
    return weights
