"""Where values are missing: which columns have gaps, and how many rows lack which of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PATTERNS = 2_000  # that a result keeps; of more it knows the rows of pairs only
FEWEST = 20  # rows that have two columns, below which nothing is said of the two


@dataclass(frozen=True)
class Gaps:
    """How many rows lack which columns.

    Attributes
    ----------
    names : tuple of str
        All columns.
    patterns : tuple of (tuple of int, int)
        The missing columns of a row, ascending, and how many rows lack just these; complete rows are one of them.
    pairs : array
        How many rows have two columns.

    Examples
    --------
    >>> nan = float("nan")
    >>> gaps = Gaps.of(("a", "b", "c"), np.array([[1.0, nan, 0.5], [2.0, 1.0, nan], [nan, 2.0, 1.0], [1.0, 2.0, 3.0]]))
    >>> gaps.rows_with(["a", "b"]), gaps.rows_with(["a", "b", "c"]), gaps.fewest, gaps.most
    (2, 1, 2, 2)
    >>> Gaps.of_plain(gaps.names, gaps.plain()) == gaps
    True
    """

    names: tuple[str, ...]
    patterns: tuple[tuple[tuple[int, ...], int], ...]

    @classmethod
    def of(cls, names: tuple[str, ...], rows: NDArray[np.float64]) -> Gaps:
        """Find the patterns of rows."""
        packed = np.packbits(np.isnan(rows), axis=1)
        found, counts = np.unique(packed, axis=0, return_counts=True)
        lacking = np.unpackbits(found, axis=1, count=len(names)).astype(bool)
        return cls(
            names,
            tuple((tuple(np.flatnonzero(one).tolist()), n) for one, n in zip(lacking, counts.tolist(), strict=True)),
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(n for _, n in self.patterns)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """How many rows have both of two columns."""
        have = np.ones((len(self.patterns), len(self.names)))
        for one, (lacking, _) in zip(have, self.patterns, strict=True):
            one[list(lacking)] = 0.0
        both = (have * np.array([[n] for _, n in self.patterns])).T @ have
        return np.asarray(np.rint(both), dtype=np.int64)

    @property
    def fewest(self) -> int:
        """The fewest rows that have two columns."""
        return int(self.pairs[np.triu_indices(len(self.names), 1)].min())

    @property
    def most(self) -> int:
        """The most rows that have two columns."""
        return int(self.pairs[np.triu_indices(len(self.names), 1)].max())

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that too few rows have for anything to be said of the two."""
        few = np.argwhere(np.triu(self.pairs < FEWEST, 1))
        return tuple((self.names[x], self.names[y]) for x, y in few.tolist())

    def rows_with(self, columns: Iterable[str]) -> int:
        """Return how many rows have all of some columns."""
        wanted = {self.names.index(name) for name in columns}
        return sum(n for lacking, n in self.patterns if wanted.isdisjoint(lacking))

    def plain(self) -> list[list[Any]]:
        """Return the patterns as plain data."""
        return [[list(lacking), n] for lacking, n in self.patterns]

    @classmethod
    def of_plain(cls, names: Sequence[str], plain: Any) -> Gaps:
        """Return what :meth:`plain` gave, which a stranger may have written, if it can be that."""
        patterns = []
        for lacking, n in plain:
            at = [int(v) for v in lacking]
            if at != sorted(set(at)) or not all(0 <= v < len(names) for v in at) or int(n) < 1:
                raise ValueError(f"no pattern of gaps: {lacking!r}, {n!r}")
            patterns.append((tuple(at), int(n)))
        return cls(tuple(names), tuple(patterns))


def gaps_of(data: Mapping[str, Any] | None) -> Gaps | None:
    """Return the gaps of the table behind a result, from what the result keeps of it; None where there are none.

    Examples
    --------
    >>> gaps_of({"columns": [{"name": "a"}, {"name": "b"}], "gaps": [[[], 3], [[1], 1]]}).rows_with(["b"])
    3
    """
    if data is None or "gaps" not in data:
        return None
    return Gaps.of_plain([column["name"] for column in data["columns"]], data["gaps"])
