"""Counts of a run, and pairs that are too many to list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Statistics:
    """Tests and seconds of a run.

    Attributes
    ----------
    tests : mapping
        Distinct tests by phase and size of the conditioning set: ``tests["adjacency"][2]``.
    seconds : mapping
        Wall-clock seconds by phase of the work.

    Examples
    --------
    >>> stats = Statistics({"adjacency": {0: 3, 1: 1}}, {"skeleton": 0.1})
    >>> stats.n_tests, stats.mean_conditioning_size
    (4, 0.25)
    """

    tests: Mapping[str, Mapping[int, int]]
    seconds: Mapping[str, float]

    @property
    def n_tests(self) -> int:
        """All distinct tests, boundary stage included."""
        return sum(sum(sizes.values()) for sizes in self.tests.values())

    def without(self, phase: str) -> Statistics:
        """Return the statistics without one phase, as the paper counts: without "boundary"."""
        return Statistics({p: sizes for p, sizes in self.tests.items() if p != phase}, self.seconds)

    def by_size(self) -> dict[int, int]:
        """Return the tests of all phases by size of the conditioning set."""
        total: dict[int, int] = {}
        for sizes in self.tests.values():
            for size, tests in sizes.items():
                total[size] = total.get(size, 0) + tests
        return dict(sorted(total.items()))

    @property
    def mean_conditioning_size(self) -> float:
        """The average size of the conditioning sets."""
        sizes = self.by_size()
        return sum(size * tests for size, tests in sizes.items()) / max(sum(sizes.values()), 1)


class NamedPairs(Sequence[tuple[str, str]]):
    """Pairs of names, kept as positions and named when asked for: there can be a million.

    Examples
    --------
    >>> pairs = NamedPairs(["A", "B", "C"], np.array([[0, 2], [1, 2]]))
    >>> pairs[1], len(pairs), pairs == (("A", "C"), ("B", "C"))
    (('B', 'C'), 2, True)
    """

    def __init__(self, names: Sequence[str], positions: NDArray[np.intp]) -> None:
        self.names = tuple(names)
        self.positions = positions

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def _listed(self) -> tuple[dict[str, int], NDArray[np.bool_]]:
        """Where each name stands, and a matrix that is True at the pairs."""
        matrix = np.zeros((len(self.names), len(self.names)), dtype=bool)
        matrix[self.positions[:, 0], self.positions[:, 1]] = True
        return {name: i for i, name in enumerate(self.names)}, matrix

    def __contains__(self, pair: object) -> bool:
        where, matrix = self._listed
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(name in where for name in pair):
            return False
        return bool(matrix[where[pair[0]], where[pair[1]]])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        called = np.array(self.names, dtype=object)
        return zip(called[self.positions[:, 0]].tolist(), called[self.positions[:, 1]].tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NamedPairs):
            return self.names == other.names and np.array_equal(self.positions, other.positions)
        if isinstance(other, tuple):
            return len(other) == len(self) and all(map(eq, other, self))
        return NotImplemented

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return NamedPairs(self.names, self.positions[index])
        x, y = self.positions[index]
        return self.names[x], self.names[y]


def positions_of(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> NDArray[np.intp]:
    """Return pairs as an array of two columns.

    Examples
    --------
    >>> positions_of(["A", "B", "C"], [("A", "C")]).tolist()
    [[0, 2]]
    """
    if isinstance(pairs, NamedPairs) and pairs.names == tuple(names):
        return pairs.positions
    where = {name: i for i, name in enumerate(names)}
    flat = np.fromiter(map(where.__getitem__, chain.from_iterable(pairs)), dtype=np.intp, count=2 * len(pairs))
    return flat.reshape(-1, 2)


class AllPairs(Sequence[tuple[str, str]]):
    """Every pair of names, made when asked for: with thousands of variables there are millions.

    Examples
    --------
    >>> AllPairs(["A", "B", "C"]) == (("A", "B"), ("A", "C"), ("B", "C"))
    True
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self.names, 2)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AllPairs):
            return self.names == other.names
        if isinstance(other, tuple):  # the same pairs, listed
            return len(other) == len(self) and all(map(eq, other, self))
        return NotImplemented

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index] if isinstance(index, slice) else next(islice(self, range(len(self))[index], None))
