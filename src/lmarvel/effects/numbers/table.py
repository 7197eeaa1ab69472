"""A table as estimates need it: columns by name, levels as codes with what they are called, weights, and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.data import Dataset, Kind
from lmarvel.data.missing.em import imputed
from lmarvel.data.resampling import NormalResampling
from lmarvel.errors import DataError, ParameterError
from lmarvel.text import listing, readable

Vector = NDArray[np.float64]
Clusters = NDArray[np.int64]
IMPUTATIONS = 20
"""How many completed tables an effect is estimated from where values are missing."""
IMPUTED = " Missing values were imputed: right if whether a value is missing depends on observed values only."
_KEPT = 1 << 23  # values of completed tables that are kept for the next estimate


class Columns:
    """The rows of a table by name of the column, with what each measures.

    Columns of two values, and nominal ones, hold the codes of their levels; all others their numbers. Weights count
    as they do in learning. Rows of one cluster are drawn together by a bootstrap.

    Parameters
    ----------
    data : Dataset
        Every variable of the graph is a column of it.
    nominal : sequence of str
        Columns whose numbers are labels of levels without an order, beside those that the dataset knows of.

    Examples
    --------
    >>> table = Columns(Dataset.of({"dose": [1.0, 2.0, 4.0, 3.0, 1.5], "ill": ["no", "yes", "yes", "no", "no"]}))
    >>> table.indicators("ill")[1], table.outcomes("ill")
    (['ill yes in place of no'], [(1.0, 'chance of ill yes')])
    """

    def __init__(self, data: Dataset, nominal: Sequence[str] = ()) -> None:
        data = _with_nominal(data, nominal)
        self.names = data.names
        self._data = data
        self._kinds = dict(zip(data.names, data.kinds, strict=True))
        self._levels = dict(zip(data.names, data.levels, strict=True))
        moments = data.moments  # refuses a table that nothing can be estimated from
        self._unit = self._units()
        self.covariance = self.in_units(moments.covariance)
        self.has_rows, self.n = data.has_rows, moments.n
        self._normal = None if data.has_rows else NormalResampling(data)
        self._read: tuple[Vector, Vector, Clusters | None] | None = None
        self._whole: dict[int, list[Columns]] = {}  # completed tables by seed

    def in_units(self, covariance: Vector) -> Vector:
        """Return a covariance of the columns as they are read here: two values are 0 and 1."""
        return np.asarray(covariance / np.outer(self._unit, self._unit))

    @property
    def fingerprint(self) -> str:
        """That of the table."""
        return self._data.fingerprint

    @property
    def rows(self) -> Vector:
        """The rows, without gaps; with gaps there are none, but completed tables."""
        return self._parts()[0]

    @property
    def weights(self) -> Vector:
        """A weight above zero for each row, 1 where none were given; where there are no rows, the covariance."""
        return self._parts()[1] if self.has_rows else self.covariance

    def _parts(self) -> tuple[Vector, Vector, Clusters | None]:
        """Return rows, weights and clusters, without rows of weight zero."""
        if self._read is None:
            assert not self.incomplete
            self._read = self._weighted(np.array(self._data.values()))
        return self._read

    def _weighted(self, rows: Vector) -> tuple[Vector, Vector, Clusters | None]:
        given, clusters = self._data.weights, self._data.clusters
        weights = np.ones(len(rows)) if given is None else np.asarray(given, dtype=np.float64)
        kept = weights > 0
        return rows[kept], weights[kept], None if clusters is None else clusters[kept]

    @property
    def incomplete(self) -> bool:
        """Whether values are missing: then an effect is estimated from completed tables."""
        return self._read is None and any(self._data.missing)

    @property
    def work(self) -> float:
        """How many rows an estimate goes through: of completed tables all."""
        return float(self._data.n * IMPUTATIONS) if self.incomplete else float(len(self.rows) if self.has_rows else 1)

    def completed(self, seed: int) -> Iterator[Columns]:
        """Iterate over tables in which every gap has a likely value, see :func:`lmarvel.data.missing.em.imputed`."""
        if seed in self._whole:
            yield from self._whole[seed]
            return
        values, kept = np.array(self._data.values()), list[Columns]()
        for rows in imputed(values, [len(self._levels[name] or ()) for name in self.names], IMPUTATIONS, seed):
            whole = copy(self)
            whole._read = self._weighted(rows)
            kept += [whole] if values.size * IMPUTATIONS <= _KEPT else []
            yield whole
        if kept:
            self._whole[seed] = kept

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters: then HC3, which takes them as independent, is wrong."""
        return self._data.clusters is not None

    @property
    def units(self) -> NDArray[np.intp]:
        """Which unit each row belongs to, from 0 on: its cluster, or itself."""
        clusters, n = self._parts()[2], len(self.rows)
        return np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1].astype(np.intp)

    def within(self, rows: NDArray[np.bool_]) -> Columns:
        """Return the same with some of the rows only."""
        some = copy(self)
        values, weights, clusters = self._parts()
        some._read = values[rows], weights[rows], None if clusters is None else clusters[rows]
        return some

    def drawn(self, rng: np.random.Generator) -> Vector:
        """Return the weights of as many rows, or clusters, as there are, drawn with replacement; or a covariance."""
        current().check()
        if self._normal is not None:
            return self._normal.moments(*rng.integers(0, 1 << 62, 2).tolist()).covariance
        _, weights, clusters = self._parts()
        n = len(weights) if clusters is None else int(clusters.max()) + 1
        counts = np.bincount(rng.integers(0, n, n), minlength=n)
        return np.asarray((counts if clusters is None else counts[clusters]) * weights)

    def scatter(self, at: Sequence[int]) -> Callable[[Vector], Vector]:
        """Return a function from weights of the rows, or from a covariance, to the covariance of some columns."""
        if not self.has_rows:
            return lambda matrix: np.asarray(matrix[np.ix_(at, at)])
        rows = self.rows[:, at]

        def weighted(weights: Vector) -> Vector:
            centred = rows - weights @ rows / weights.sum()
            return np.asarray((centred * weights[:, None]).T @ centred / weights.sum())

        return weighted

    def kind(self, name: str) -> Kind:
        """Return what a column measures."""
        return self._kinds[name]

    def column(self, name: str) -> Vector:
        """Return the values of a column."""
        return np.asarray(self.rows[:, self.names.index(name)])

    def is_level(self, name: str) -> bool:
        """Tell whether the values of a column are levels."""
        return self._kinds[name] in (Kind.BINARY, Kind.NOMINAL)

    def indicators(self, name: str) -> tuple[Vector, list[str]]:
        """Return a column as regressors: itself, or indicators of all levels but the first, with what each compares."""
        values = self.column(name)
        if not self.is_level(name):
            return values[:, None], [f"one unit more of {readable(name)}"]
        codes = np.arange(1, len(self._named(name)), dtype=np.float64)
        return (values[:, None] == codes).astype(np.float64), self.contrasts(name)

    def contrasts(self, name: str) -> list[str]:
        """Return what is compared when a column is set."""
        shown = readable(name)
        if not self.is_level(name):
            return [f"one unit more of {shown}"]
        first, *rest = self._named(name)
        return [f"{shown} {level} in place of {first}" for level in rest]

    def category(self, name: str, code: int) -> str:
        """Return a category in words, with its column.

        Examples
        --------
        >>> Columns(Dataset.of({"ill": ["no", "yes", "no"], "dose": [1.0, 2.0, 4.0]})).category("ill", 1)
        'ill yes'
        """
        return f"{readable(name)} {self._named(name)[code]}"

    def code(self, name: str, value: object) -> int:
        """Return the code of a category."""
        known = [str(level) for level in self._levels[name] or ()]
        for text in (str(value), _as_number(value)):
            if text in known:
                return known.index(text)
        raise ParameterError(
            f"name {str(value)!r}, which is not a category of {readable(name)}: it has {listing(known[:20])}",
            parameter="values",
        )

    def outcomes(self, name: str) -> list[tuple[float, str]]:
        """Return the levels whose chance is looked at, by code, with what that is called: of two the second."""
        labels = [f"chance of {readable(name)} {level}" for level in self._named(name)]
        first = 1 if self._kinds[name] == Kind.BINARY else 0
        return [(float(code), label) for code, label in enumerate(labels)][first:]

    def _named(self, name: str) -> list[str]:
        return [readable(level) for level in self._levels[name] or ()]

    def _units(self) -> Vector:
        """Return how far apart the two numbers of each binary column are: moments count them as numbers."""
        units = np.ones(len(self.names))
        binary = [i for i, name in enumerate(self.names) if self._kinds[name] == Kind.BINARY]
        if binary:
            values = self._data.rows()[:, binary]
            units[binary] = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
        return units


def _as_number(value: object) -> str:
    """Return a number as categories are called: 1 for 1.0."""
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    return str(int(number)) if number.is_integer() else str(number)


def _with_nominal(data: Dataset, nominal: Sequence[str]) -> Dataset:
    unknown = [name for name in nominal if name not in data.names]
    if unknown:
        raise DataError(
            f"names {unknown[0]!r}, but the table has no such column: {listing(sorted(data.names[:20]))}",
            parameter="nominal",
        )
    if not nominal:
        return data
    kinds = zip(data.names, data.kinds, strict=True)
    return Dataset.of(data, categorical=[name for name, kind in kinds if kind == Kind.NOMINAL or name in nominal])
