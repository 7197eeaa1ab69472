"""From a table as it was opened and what a user says of it to the rows that are worked on.

What is said: which columns are categories, and which of them are in an order; what becomes of rows with gaps; which
weights the rows have, and which of them belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget import memory
from lmarvel.data.checks import no_complete_row
from lmarvel.data.columns import check_known, not_one_a_row
from lmarvel.data.levels import Column, Levels, as_levels, number, written
from lmarvel.data.scan import Weights, batch_rows
from lmarvel.data.sources.base import Rows, rows_beside
from lmarvel.data.table import Table
from lmarvel.errors import DataError, ParameterError, UnusableError

TEST_WISE = "test-wise"
"""Every test uses the rows that have its variables; the default."""
MISSING = ("auto", TEST_WISE, "drop", "em", "refuse")
MOST_BYTES = 8 << 30  # of a table with levels, which is held in memory as float64

Ordinal = Mapping[str, Sequence[str] | None]
Clusters = NDArray[np.int64]


@dataclass(frozen=True)
class Asked:
    """What a user says of columns and gaps."""

    categorical: tuple[str, ...] = ()
    ordinal: Ordinal = field(default_factory=dict)
    missing: str = TEST_WISE

    @classmethod
    def of(cls, names: Sequence[str], categorical: Any, ordinal: Any, missing: str) -> Asked:
        """Check what was said against the names of the columns."""
        if missing not in MISSING:
            raise ParameterError(
                f"must be one of {', '.join(map(repr, MISSING))}, not {missing!r}", parameter="missing"
            )
        listed = (categorical,) if isinstance(categorical, str) else tuple(categorical or ())
        orders = _orders(ordinal)
        check_known("categorical", listed, names)
        check_known("ordinal", orders, names)
        both = [name for name in listed if name in orders]
        if both:
            raise DataError(f"{both[0]!r} is named in categorical and in ordinal: choose one of them")
        return cls(listed, orders, TEST_WISE if missing == "auto" else missing)

    def among(self, kept: Sequence[str]) -> Asked:
        """Return what is said of these columns: of those that are left out nothing has to be known."""
        chosen = set(kept)
        orders = {name: order for name, order in self.ordinal.items() if name in chosen}
        return Asked(tuple(name for name in self.categorical if name in chosen), orders, self.missing)

    @property
    def levels(self) -> bool:
        """Whether columns are said to have levels."""
        return bool(self.categorical or self.ordinal)


def _orders(ordinal: Any) -> dict[str, tuple[str, ...] | None]:
    if not ordinal:
        return {}
    if isinstance(ordinal, str):
        return {ordinal: None}
    if not isinstance(ordinal, Mapping):
        return {str(name): None for name in ordinal}
    return {str(name): None if order is None else tuple(map(_level, order)) for name, order in ordinal.items()}


def _level(value: Any) -> str:
    """Return a level of an order as text; numbers as those of a column are written."""
    return written(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


class View(NamedTuple):
    """The rows that are worked on: codes of levels that occur, without the rows that were dropped."""

    table: Table
    weights: Weights | None = None
    clusters: Clusters | None = None
    dropped: int = 0
    empty: int = 0  # rows without any value, which are left out

    def without_empty_rows(self) -> View:
        """Return the same without rows that hold no value; these need not be looked for where a column has no gap."""
        rows = all_rows(self.table)
        kept: NDArray[np.bool_] = np.asarray(~np.isnan(rows).all(axis=1))
        if kept.all():
            return self
        levels = self.table.levels or (None,) * len(self.table.names)
        weights = None if self.weights is None else self.weights[kept]
        clusters = None if self.clusters is None else self.clusters[kept]
        table = Table.of(self.table.names, rows_beside(rows[kept], levels), in_memory=True)
        return View(table, weights, clusters, self.dropped, int(len(kept) - kept.sum()))

    def part(self, needed: Sequence[int], columns: Sequence[int]) -> tuple[NDArray[np.bool_], View]:
        """Return which rows have all of the needed columns and a weight, and some columns of these rows."""
        rows, levels = all_rows(self.table), self.table.levels or (None,) * len(self.table.names)
        kept: NDArray[np.bool_] = np.asarray(~np.isnan(rows[:, list(needed)]).any(axis=1))
        if self.weights is not None:
            kept &= self.weights > 0
        names, chosen = tuple(self.table.names[v] for v in columns), list(columns)
        table = Table.of(names, rows_beside(rows[kept][:, chosen], [levels[v] for v in chosen]), in_memory=True)
        weights = None if self.weights is None else self.weights[kept]
        clusters = None if self.clusters is None else self.clusters[kept]
        return kept, View(table if table.levels is None else recoded(table, Asked()), weights, clusters)

    def completed(
        self, whole: NDArray[np.float64], sizes: Sequence[int], two_values: Callable[[int], Sequence[float]]
    ) -> Table:
        """Return the table with the values of another one in its gaps.

        The other has codes of categories, ``sizes`` of them; ``two_values`` tells what those of two numbers stand for.
        """
        rows, levels = all_rows(self.table).copy(), self.table.levels or (None,) * len(self.table.names)
        for v, size in enumerate(sizes):
            gaps = np.isnan(rows[:, v])
            found = whole[gaps, v]
            rows[gaps, v] = np.asarray(two_values(v))[found.astype(np.intp)] if size and levels[v] is None else found
        return Table.of(self.table.names, rows_beside(rows, levels), in_memory=True)


def view_of(
    table: Table,
    asked: Asked,
    weights: Weights | Callable[[], Weights] | None,
    clusters: Clusters | Callable[[], Clusters] | None,
) -> View:
    """Return the rows to work on; a pass is made only where something was asked that needs one."""
    if asked.levels:
        table = table.loaded()
    weighing = weights() if callable(weights) else weights
    belonging = clusters() if callable(clusters) else clusters
    dropped = 0
    if asked.missing == "drop":
        kept = complete_rows(table)
        dropped = int(len(kept) - kept.sum())
        for role, given in (("weights", weighing), ("clusters", belonging)):
            if given is not None and len(given) != len(kept):
                raise not_one_a_row(role, len(given), len(kept))
        if dropped == len(kept) > 0:
            fault = no_complete_row(all_rows(table), table.names)
            raise UnusableError(
                f'{fault.sentence}: drop such columns, or let each test use the rows it can (missing="test-wise")'
            )
        table = _without_gaps(table)
        weighing = None if weighing is None else weighing[kept]
        belonging = None if belonging is None else belonging[kept]
    if asked.levels or (dropped and table.levels is not None):
        table = recoded(table, asked)
    return View(table, weighing, belonging, dropped)


def complete_rows(table: Table) -> NDArray[np.bool_]:
    """Return which rows have no gaps."""
    return np.concatenate(
        [np.empty(0, dtype=bool), *(~np.isnan(b).any(axis=1) for b in table.batches(batch_rows(len(table.names))))]
    )


def _without_gaps(table: Table) -> Table:
    def batches(rows: int) -> Iterator[NDArray[np.float64]]:
        for batch in table.batches(rows):
            yield batch[~np.isnan(batch).any(axis=1)]

    load = None if table.load is None else lambda: _rows(_without_gaps(table.loaded()))
    return Table.of(table.names, Rows(batches, table.levels, load), table.in_memory)


def _rows(table: Table) -> Rows:
    return Rows(table.batches, table.levels, table.load)


def all_rows(table: Table) -> NDArray[np.float64]:
    """Return the rows of a table, refused where they take more memory than is sensible."""
    batches, taken = [], 0
    for batch in table.batches((1 << 62) if table.in_memory else batch_rows(len(table.names))):
        batches.append(batch)
        taken += batch.nbytes
        memory.watch(f"rows of {len(table.names):,} columns")
        if taken > MOST_BYTES:
            raise DataError(
                f"the table takes more than {MOST_BYTES >> 30} GiB, and one with categories, or with missing"
                " values to be filled, is held in memory: choose fewer columns"
            )
    return batches[0] if len(batches) == 1 else np.concatenate([np.empty((0, len(table.names))), *batches])


def recoded(table: Table, asked: Asked) -> Table:
    """Return the table with codes of the levels that occur, in the orders that were asked for."""
    whole = all_rows(table).copy()
    levels = list(table.levels or (None,) * len(table.names))
    said = {*asked.ordinal, *asked.categorical}
    _check_orders(asked, dict(zip(table.names, levels, strict=True)))
    at = [i for i, name in enumerate(table.names) if name in said or levels[i] is not None]
    for i, numbers in zip(at, np.ascontiguousarray(whole[:, at].T), strict=True):
        name, known = table.names[i], levels[i]
        column = Column(numbers, known)
        if name in asked.ordinal:
            column = as_levels(name, column, asked.ordinal[name], ordered=True)
        else:
            in_order = known is not None and known.ordered and name not in asked.categorical
            column = as_levels(name, column, ordered=in_order)
        levels[i] = column.levels
        if column.numbers is not numbers:
            whole[:, i] = column.numbers
    return Table.of(table.names, rows_beside(whole, levels), in_memory=True)


def _check_orders(asked: Asked, levels: Mapping[str, Levels | None]) -> None:
    """Refuse text that is said to be in an order that nobody gave, all columns at once."""
    bare = []
    for name, order in asked.ordinal.items():
        known = levels.get(name)
        if (
            order is None
            and known is not None
            and not known.ordered
            and any(number(v) != number(v) for v in known.names)
        ):
            bare.append(f"{name}={'<'.join(known.names[:4])}{'<...' if len(known.names) > 4 else ''}")
    if bare:
        columns = ", ".join(repr(text.partition("=")[0]) for text in bare[:20])
        many = len(bare) > 1
        raise DataError(
            f"the ordinal column{'s' if many else ''} {columns} hold{'' if many else 's'} text, which has no order of"
            f" its own: give the categories from the lowest to the highest, as in {', '.join(bare[:20])}, or name"
            f" {'them' if many else 'it'} in categorical"
        )


def design_effect(clusters: Clusters, shared: float) -> float:
    """Return how many rows of clusters tell as much as one independent row about how two columns are related.

    That is 1 + (m - 1) r, where m is the mean size of the cluster that a row is in, and r is :func:`shared_within`.

    Examples
    --------
    >>> once = np.random.default_rng(0).normal(size=(50, 3))
    >>> four, one = np.repeat(np.arange(50), 4), np.arange(50)
    >>> design_effect(four, shared_within(np.repeat(once, 4, axis=0), [False] * 3, four))
    4.0
    >>> design_effect(one, shared_within(once, [False] * 3, one))
    1.0
    """
    sizes = np.bincount(clusters).astype(np.float64)
    return float(1.0 + ((sizes**2).sum() / sizes.sum() - 1.0) * shared)


def shared_within(rows: NDArray[np.float64], levels: Sequence[bool], clusters: Clusters) -> float:
    """Return how much products of two unrelated columns have in common within clusters, as a mean over all pairs.

    With an intraclass correlation of r and s, such products have one of r s. Of categories, ``levels``, indicators are
    taken. Gaps are left out.
    """
    if rows.shape[1] < 2:
        return 0.0
    shared = np.array([_shared(rows[:, i], levels[i], clusters) for i in range(rows.shape[1])])
    pairs = (shared.sum() ** 2 - (shared**2).sum()) / (len(shared) * (len(shared) - 1))
    return float(min(max(pairs, 0.0), 1.0))


def _shared(column: NDArray[np.float64], levels: bool, clusters: Clusters) -> float:
    """Return the intraclass correlation of a column, by analysis of variance, between 0 and 1."""
    seen = ~np.isnan(column)
    values, which = column[seen], np.unique(clusters[seen], return_inverse=True)[1].reshape(-1)
    parts = [values == k for k in np.unique(values)] if levels else [values]
    sizes = np.bincount(which).astype(np.float64)
    n, groups = len(values), len(sizes)
    if groups in (0, 1, n):
        return 0.0
    between = within = 0.0
    for part in parts:
        centred = part - part.mean()
        means = np.bincount(which, centred) / sizes
        between += float(sizes @ means**2) / (groups - 1)
        within += float(((centred - means[which]) ** 2).sum()) / (n - groups)
    usual = (n - float(sizes @ sizes) / n) / (groups - 1)
    total = between + (usual - 1) * within
    return min(max((between - within) / total, 0.0), 1.0) if total > 0 else 0.0
