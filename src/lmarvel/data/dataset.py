"""A dataset: a table with all that is told of it, worked out when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.columns import Kind
from lmarvel.data.missing.gaps import MOST_PATTERNS, Gaps
from lmarvel.data.moments import Moments
from lmarvel.data.opening import Said, open_dataset, plain_options, some_moments
from lmarvel.data.reading import Reading
from lmarvel.data.scan import Tick, Weights, batch_rows
from lmarvel.data.sources.base import Layout
from lmarvel.data.table import Table, chosen_columns, open_source, table_of
from lmarvel.data.view import Clusters
from lmarvel.errors import DataError

Made = TypeVar("Made")


class Dataset:
    """Named columns, whatever they come in, and what tests and scores need to know of them.

    Make one with :meth:`Dataset.of`. It never changes, and it does nothing before it is asked: of a file only the
    header is read at first. One pass over the rows then gives their number, the moments, the kinds of the columns, how
    many values are missing, and the fingerprint. A file of numbers is read in pieces; one with text, or with columns
    declared as categorical, is held in memory. Rows of a file are kept, up to 128 MB. A larger one is read once
    more whenever rows are asked for (a bootstrap, effects, missing values, weights, clusters). A panel is read at once.

    Attributes
    ----------
    names : tuple of str
        The columns, in the order of the table.
    read_as : mapping
        What was said to :meth:`Dataset.of`, by parameter, as far as a result file can keep it.

    Examples
    --------
    >>> data = Dataset.of({"dose": [1.0, 2.0, 4.0, 3.0], "ill": ["no", "yes", "yes", "no"]})
    >>> data
    Dataset of dose, ill
    >>> data.n, [str(kind) for kind in data.kinds], data.levels
    (4, ['continuous', 'binary'], (None, ('no', 'yes')))
    >>> data.codes().tolist()
    [[-1, 0], [-1, 1], [-1, 1], [-1, 0]]
    >>> data.resample(seed=1).weights.tolist()
    [0, 1, 1, 2]
    """

    __slots__ = ("_given", "_reading", "names", "read_as")

    names: tuple[str, ...]
    read_as: Mapping[str, Any]
    _given: Moments | None  # in place of rows
    _reading: Reading | None

    def __init__(self, source: Table | Reading | Moments, read_as: Mapping[str, Any] | None = None) -> None:
        reading = Reading(source) if isinstance(source, Table) else source if isinstance(source, Reading) else None
        fields: dict[str, object] = {
            "names": source.names if not isinstance(source, Reading) else source.table.names,
            "_given": source if isinstance(source, Moments) else None,
            "_reading": reading,
            "read_as": read_as or {},
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a dataset never changes: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process, or into a file, as the rows that are worked on; a file is read for that."""
        return Dataset, (self._given if self._reading is None else self._reading, dict(self.read_as))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:8]) + ", ..." * (len(self.names) > 8)
        weighted = self._reading is not None and self._reading.weights is not None
        return f"Dataset of {shown}" + (", weighted" if weighted else "")

    @classmethod
    def of(
        cls,
        data: Any,
        names: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        separator: str | None = None,
        *,
        categorical: Sequence[str] = (),
        ordinal: Any = (),
        missing: str | None = None,
        weights: Any = None,
        cluster: Any = None,
        decimal: str | None = None,
        numeric_only: bool = False,
        na: Any = None,
        skip_rows: int | None = None,
        header: bool | None = None,
        panel: Any = None,
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
            The separator of a text file, by default inferred from its ending.
        categorical : sequence of str
            Categorical columns; text columns are categorical automatically.
        ordinal : sequence of str, or mapping from names to categories
            Columns of ordered categories. The order is that of the numbers, or the one given, from the lowest to the
            highest.
        missing : {"auto", "test-wise", "drop", "em", "refuse"}
            By default ("auto", "test-wise") every test uses the rows that have its variables. Or rows with gaps are
            dropped, or moments are found by EM, or the table is refused.
        weights : array or str, optional
            A weight for each row, or the column with them; a row of weight zero is as if it was not there.
        cluster : array or str, optional
            Which rows belong together, or the column that shows it. A bootstrap resamples them together, and tests and
            scores count them as the equivalent number of independent rows.
        decimal : {".", ","}, optional
            The decimal sign of a text file, by default inferred from its numbers.
        numeric_only : bool
            Leave out the columns that are not numbers.
        na : value, sequence of values, or mapping from names to these, optional
            Values that mean a missing one, such as -9 or "Refused": in all columns, or by column.
        skip_rows : int, optional
            Lines above the header of a text file or spreadsheet; by default title rows and units are noticed, skipped
            and reported. With 0 nothing is skipped.
        header : bool, optional
            Whether a text file or spreadsheet has a row of names. By default inferred from the first row; columns
            without names are called column1, column2 and so on.
        panel : str or sequence, optional
            The columns of units and of times of repeated measures, as "id,year", perhaps with a number of lags. Each
            row then has the columns of its time and, as ``x_lag1``, of the time before.

        Examples
        --------
        >>> Dataset.of([[1, 2, 0], [2, 1, 1], [4, 4, 0]], names=["a", "b", "c"], drop=["b"])
        Dataset of a, c
        >>> sizes = {"size": ["S", "L", "M", "L"], "price": [1.0, 3.5, 2.0, 4.0]}
        >>> Dataset.of(sizes, ordinal={"size": ["S", "M", "L"]}).levels
        (('S', 'M', 'L'), None)
        """
        read_as = plain_options(locals(), Dataset.of)  # not listed here, so that a parameter that is added is kept too
        told = not (missing is None is weights is cluster) or numeric_only or len(categorical) or len(ordinal)
        told = told or na is not None or panel is not None
        if isinstance(data, Dataset):
            everything = columns is None or set(columns) == set(data.names)
            if names is None and everything and not (drop or told):
                return data
            read_as = {**data.read_as, **read_as}
            data = data._given if data._reading is None else data._reading
        if isinstance(data, Moments):
            if told:
                raise DataError(
                    "there are no rows behind moments, so that weights, clusters, kinds and gaps mean nothing: pass the"
                    " table itself"
                )
            return cls(some_moments(data, names, columns, drop), read_as)
        layout = Layout(separator, decimal, skip_rows, header)
        if isinstance(data, Reading) or told:
            said = Said(categorical, ordinal, missing, weights, cluster, numeric_only, na, panel)
            return cls(open_dataset(data, names, columns, drop, layout, said), read_as)
        source = open_source(data, names, layout)
        return cls(table_of(source, chosen_columns(source.names, columns, drop)), read_as)

    @property
    def was_said(self) -> dict[str, Any] | None:
        """What was said to :meth:`Dataset.of`, weights and clusters as arrays too; None where there are no rows."""
        if self._reading is None:
            return None
        arrays = {"weights": self._reading.weights, "cluster": self._reading.clusters}
        return {name: given for name, given in arrays.items() if given is not None} | dict(self.read_as)

    # --- what a pass tells ------------------------------------------------------------------------------

    def read(self, tick: Tick | None = None) -> Moments:
        """Read the rows, unless that was done, and return the moments; ``tick`` is called with each batch of rows.

        What it raises ends the reading, and is passed on: this is how limits of time are kept to.
        """
        return self._given if self._given is not None else self._rows_behind().moments(tick)

    @property
    def moments(self) -> Moments:
        """Number of rows, means and covariance; a table that no test can be run on is refused here.

        With weights, clusters or missing values ``n`` is :attr:`effective_rows`, rounded. Levels count by their codes.
        """
        return self.read()

    @property
    def has_rows(self) -> bool:
        """Whether there are rows; False behind moments, such as those of a covariance matrix."""
        return self._reading is not None

    @property
    def n(self) -> int:
        """The number of rows, without those that were dropped."""
        return self._given.n if self._given is not None else self._rows_behind().running().n

    @property
    def effective_rows(self) -> float:
        """The number of rows of equal weight, without gaps, that tell as much.

        With weights that is (sum w)² / sum w², with clusters divided by their design effect, with missing values times
        the mean share of observed pairs; a resample has that of its table.
        """
        return self._given.n_effective if self._given is not None else self._rows_behind().effective()

    @property
    def missing(self) -> tuple[int, ...]:
        """How many values of each column are missing; those are NaN in :meth:`rows` and :meth:`batches`."""
        if self._given is not None:
            return (0,) * len(self.names)
        return tuple(self._rows_behind().running().missing.tolist())

    @property
    def test_wise(self) -> bool:
        """Whether values are missing, and every test uses the rows that have its variables."""
        return self._reading is not None and self._reading.test_wise

    def gaps(self) -> Gaps:
        """Return how many rows lack which columns."""
        return self._rows_behind().gaps()

    def rows_told(self, kept: NDArray[np.bool_] | None = None) -> float:
        """Return the number of rows of equal weight that tell as much as some of the rows, whatever they lack."""
        return self._rows_behind().told(kept)

    def completed(self, seed: int = 0) -> Dataset:
        """Return the table with a likely value in every gap, see :func:`lmarvel.data.missing.em.imputed`."""
        return self.kept(("completed", seed), lambda: Dataset(self._rows_behind().completed(seed)))

    def part(self, needed: Sequence[int], columns: Sequence[int]) -> Dataset:
        """Return some columns of the rows that have all of the needed ones, both by position."""
        return Dataset(self._rows_behind().part(needed, columns))

    @property
    def dropped(self) -> int:
        """How many rows were dropped for a gap."""
        return 0 if self._reading is None else self._reading.view().dropped

    @property
    def weights(self) -> Weights | None:
        """A weight for each row, none below zero, read-only; None if all count the same."""
        return None if self._reading is None else self._reading.row_weights()

    @property
    def clusters(self) -> Clusters | None:
        """Which rows belong together: the number of its cluster, from 0, for each row; None if there are none."""
        return None if self._reading is None else self._reading.view().clusters

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The columns of a panel by time, the earliest first; empty where there is none."""
        known = () if self._reading is None else self._reading.tiers
        return tuple(tuple(name for name in tier if name in self.names) for tier in known)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each column measures; see :func:`lmarvel.data.columns.kinds_of`."""
        return (Kind.CONTINUOUS,) * len(self.names) if self._reading is None else self._reading.kinds()

    def numbers(self) -> tuple[str, ...]:
        """Return the columns that are numbers: also those of two values, unless all columns are categories."""
        levels = None if self._reading is None else self._reading.view().table.levels
        if Kind.CONTINUOUS not in self.kinds:
            return ()
        return self.names if levels is None else tuple(n for n, k in zip(self.names, levels, strict=True) if k is None)

    @property
    def levels(self) -> tuple[tuple[str, ...] | None, ...]:
        """The levels of each column in the order of their codes, sorted or in their order; None where continuous."""
        return (None,) * len(self.names) if self._reading is None else self._reading.levels()

    @property
    def fingerprint(self) -> str:
        """A digest of the names and of every bit of the values in their order, whatever they came in."""
        return self._given.fingerprint() if self._given is not None else self._rows_behind().fingerprint()

    def summary(self) -> dict[str, Any]:
        """Return rows, fingerprint, and name, mean, standard deviation and kind of each column, as plain data.

        A column with levels has their names too, and one of numbers ``few``, the number of different ones, where these
        may be codes. ``lone`` has the levels with one row that tests take together with others, ``determines`` and
        ``copy_of`` other columns. ``reading`` is :attr:`read_as`, where something was said.
        """
        moments = self.moments
        deviation = np.sqrt(np.diag(moments.covariance))
        plain: list[dict[str, Any]] = [{"kind": Kind.CONTINUOUS.value} for _ in self.names]
        about = plain if self._reading is None else self._reading.about()
        columns = [
            {"name": name, "mean": float(f"{mean:.8g}"), "sd": float(f"{sd:.8g}")} | more
            for name, mean, sd, more in zip(self.names, moments.mean.tolist(), deviation.tolist(), about, strict=True)
        ]
        reading: dict[str, Any] = {"reading": dict(self.read_as)} if self.read_as else {}
        if self.test_wise and len((gaps := self.gaps()).patterns) <= MOST_PATTERNS:
            reading["gaps"] = gaps.plain()
        return {"rows": self.n, "fingerprint": self.fingerprint, "columns": columns, **reading}

    def said(self) -> dict[str, str | int]:
        """Return what was said of the table, and the columns that have categories, as plain settings of a run.

        Examples
        --------
        >>> Dataset.of({"a": [1.5, 2.0, None, 0.5], "b": ["x", "y", "y", "x"]}, missing="drop").said()
        {'missing': 'drop', 'dropped_rows': 1, 'kinds': '1 continuous, 1 binary: b'}
        """
        return {} if self._reading is None else self._reading.said()

    # --- rows -------------------------------------------------------------------------------------------

    def batches(self, size: int | None = None) -> Iterator[NDArray[np.float64]]:
        """Iterate over all rows again, ``size`` at a time, as float64, categories as codes; a file is read again."""
        size = batch_rows(len(self.names)) if size is None else size
        if size < 1:
            raise DataError(f"a batch has at least 1 row, not {size}")
        for batch in self._rows_behind().view().table.batches(size):
            shown = batch.view()
            shown.flags.writeable = False  # it may be the user's own array
            yield shown

    def rows(self) -> NDArray[np.float64]:
        """Return all rows at once, read-only, and without a copy if they are an array of float64."""
        whole: NDArray[np.float64] = self._rows_behind().rows().view()
        whole.flags.writeable = False
        return whole

    def values(self) -> NDArray[np.float64]:
        """Return all rows with codes 0, 1, ... of levels, binary ones too, where not continuous; NaN where missing.

        Examples
        --------
        >>> Dataset.of({"a": [2.5, 1.0, 2.5, 0.1], "b": [1, 2, None, 2]}).values().tolist()
        [[2.5, 0.0], [1.0, 1.0], [2.5, nan], [0.1, 1.0]]
        """
        whole: NDArray[np.float64] = self._rows_behind().values().view()
        whole.flags.writeable = False
        return whole

    def codes(self) -> NDArray[np.int32]:
        """Return the codes of categories as an array of rows and all columns, by columns in memory.

        The code counts in :attr:`levels` of its column. It is -1 where a value is missing, or a column continuous.
        """
        whole = self._rows_behind().codes()
        whole.flags.writeable = False
        return whole

    def resample(self, seed: int | Sequence[int]) -> Dataset:
        """Draw n rows, or whole clusters, with replacement: the same table, weighted by how often each was drawn."""
        return Dataset(self._rows_behind().resampled(seed))

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was worked out of the rows under this key before, or work it out and keep it."""
        known: dict[Hashable, Made] = self._rows_behind().worked_out
        if key not in known:
            known[key] = make()
        return known[key]

    def _rows_behind(self) -> Reading:
        if self._reading is None:
            raise DataError("there are no rows behind moments: pass the table itself")
        return self._reading


def moments_of(
    data: Any,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
) -> Moments:
    """Compute the moments of a table in one pass; refuse what no test can be run on, and say what it is.

    Parameters
    ----------
    data : array, mapping, frame, path, Dataset or Moments
        See :meth:`lmarvel.Dataset.of`, as for the other parameters; this is ``Dataset.of(...).moments``.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(loc=1e9, size=(1000, 3))
    >>> bool(abs(moments_of(table).covariance[0, 0] - 1) < 0.2)
    True
    """
    return Dataset.of(data, names, columns, drop, separator).moments
