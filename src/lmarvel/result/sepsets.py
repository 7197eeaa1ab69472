"""Separating sets of a run, and how very many of them are stored.

Pairs outside each other's Markov boundary are far too many to test each: in theory the smaller of the two boundaries
separates them, and while a method is at work that set stands for them (:meth:`Sepsets.lookup`). A result names only
sets that were tested (:class:`NamedSepsets`): those that a search found and, after total conditioning, all other
variables for a pair that was found independent given these.

A search that a budget of seconds ends may have separated a million pairs. One object per pair takes longer to write
than the search took to find it, so a result file holds pairs and sets as a few strings of numbers
(:func:`pack_separated`). Everything is checked when they are read back.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.boundaries import Boundaries
from lmarvel.deferred import Deferred
from lmarvel.result.trace import Separated, SeparatedRun

Pair = tuple[int, int]


class Sepsets:
    """A separating set for each pair that is not adjacent, tested or implied by the boundaries; symmetric in the pair.

    Parameters
    ----------
    boundaries : Boundaries
        The Markov boundaries with respect to all variables.

    Examples
    --------
    >>> sepsets = Sepsets(Boundaries.of([{1}, {0, 2}, {1}], "iamb", 0.01))
    >>> sepsets.lookup(2, 0), sepsets.tested(2, 0), sepsets.lookup(0, 1)
    (frozenset({1}), None, None)
    >>> sepsets.store(2, 0, frozenset())
    >>> sepsets.lookup(2, 0), sepsets.tested(2, 0)
    (frozenset(), frozenset())
    """

    def __init__(self, boundaries: Boundaries, found: Mapping[Pair, frozenset[int]] | None = None) -> None:
        self.boundaries = boundaries
        self._found = dict(found or {})

    def store(self, x: int, y: int, sepset: frozenset[int]) -> None:
        """Keep a set that was found to separate x and y."""
        self._found[min(x, y), max(x, y)] = sepset

    def copy(self) -> Sepsets:
        """Return the sets as they are now."""
        return Sepsets(self.boundaries, self._found)

    def moved(self, place: Sequence[int]) -> Sepsets:
        """Return the same sets where variable v stands at ``place[v]``."""
        found = {_pair(place[x], place[y]): frozenset(place[v] for v in s) for (x, y), s in self._found.items()}
        return Sepsets(self.boundaries.moved(place), found)

    @property
    def found(self) -> Mapping[Pair, frozenset[int]]:
        """The sets that searches found, by ascending pair."""
        return self._found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sepsets):
            return NotImplemented
        return (self.boundaries, self._found) == (other.boundaries, other._found)

    def lookup(self, x: int, y: int) -> frozenset[int] | None:
        """Return the separating set of a pair, tested or implied, or None where it has none."""
        found = self._found.get((x, y) if x < y else (y, x))
        if found is not None:
            return found
        return None if x == y or y in self.boundaries.sets[x] else self.boundaries.smaller(x, y)

    def tested(self, x: int, y: int) -> frozenset[int] | None:
        """Return a set given which a test found the pair independent, None where no set can be named."""
        found = self._found.get((x, y) if x < y else (y, x))
        if found is None and self.given_rest(x, y):
            return frozenset(range(len(self.boundaries))) - {x, y}
        return found

    def given_rest(self, x: int, y: int) -> bool:
        """Tell whether total conditioning found the pair independent given all other variables."""
        return self.boundaries.method == "tc" and x != y and y not in self.boundaries.sets[x]

    def is_collider(self, v: int, a: int, b: int, c: int) -> bool:
        """Read a collider off: b is one between a and c if it is outside Sep(v, c) (v is a, but for R4)."""
        sepset = self.lookup(v, c)
        return sepset is not None and b not in sepset

    def pairs(self) -> Iterator[Pair]:
        """Iterate over the pairs with a tested set, ascending."""
        n = len(self.boundaries)
        if self.boundaries.method != "tc":
            return iter(sorted(self._found))
        return ((x, y) for x in range(n) for y in range(x + 1, n) if self.tested(x, y) is not None)

    def __len__(self) -> int:
        if self.boundaries.method != "tc":
            return len(self._found)
        n, sets = len(self.boundaries), self.boundaries.sets
        outside = n * (n - 1) // 2 - sum(map(len, sets)) // 2
        return outside + sum(y in sets[x] for x, y in self._found)


def _pair(x: int, y: int) -> Pair:
    return (x, y) if x < y else (y, x)


class SetColumns(NamedTuple):
    """The sets that searches found as columns, by ascending pair; sets ascending, end to end."""

    x: NDArray[Any]
    y: NDArray[Any]
    sizes: NDArray[Any]
    members: NDArray[Any]
    method: str  # of the boundaries
    level: float
    truncated: Mapping[int, tuple[frozenset[int], frozenset[int]]]

    @classmethod
    def of(cls, sepsets: Sepsets) -> SetColumns:
        """Return sets as columns."""
        found, around = sorted(sepsets.found.items()), sepsets.boundaries
        pairs = np.array([pair for pair, _ in found], dtype=np.int64).reshape(-1, 2)
        sizes = np.fromiter((len(s) for _, s in found), np.int64, len(found))
        members = np.fromiter(chain.from_iterable(sorted(s) for _, s in found), np.int64, int(sizes.sum()))
        return cls(pairs[:, 0], pairs[:, 1], sizes, members, around.method, around.level, around.truncated)


class NamedSepsets(Mapping[tuple[str, str], frozenset[str]]):
    """The sets that were tested, by the names of the pair.

    ``sepsets`` may be made when read; then another may give them as columns, which is quicker.
    """

    def __init__(
        self,
        sepsets: Sepsets | Deferred[Sepsets],
        names: Sequence[str],
        columns: Deferred[SetColumns] | None = None,
    ) -> None:
        self._sepsets = sepsets if isinstance(sepsets, Deferred) else Deferred.of(sepsets)
        self._names = tuple(names)
        self._columns = columns or Deferred(lambda: SetColumns.of(self.by_position))

    @property
    def columns(self) -> SetColumns:
        """The sets that searches found as columns."""
        return self._columns.made

    @property
    def by_position(self) -> Sepsets:
        """The sets on positions."""
        return self._sepsets.made

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._names)}

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedSepsets, (self.by_position, self._names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NamedSepsets):
            return self._names == other._names and self.by_position == other.by_position
        return super().__eq__(other)

    def __getitem__(self, pair: tuple[str, str]) -> frozenset[str]:
        a, b = pair
        sepset = self.by_position.tested(self._index[a], self._index[b])
        if sepset is None:
            raise KeyError(pair)
        return frozenset(self._names[v] for v in sepset)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((self._names[x], self._names[y]) for x, y in self.by_position.pairs())

    def __len__(self) -> int:
        return len(self.by_position)


MANY = 10_000
"""Above so many pairs they are packed."""

RUN = 100
"""So many records of one kind in a row are packed, where there are many."""

_POSITION, _PVALUE = "<i4", "<f8"  # the same on every machine
Numbers = NDArray[Any]


def pack_sets(x: Numbers, y: Numbers, sizes: Numbers, members: Numbers) -> dict[str, Any]:
    """Return pairs of positions, and a set of positions for each, as plain data; the sets ascending, end to end.

    Examples
    --------
    >>> plain = pack_sets(np.array([0, 2]), np.array([3, 1]), np.array([2, 0]), np.array([1, 2]))
    >>> plain["pairs"], unpack_sets(plain, 4)
    (2, [((0, 3), frozenset({1, 2})), ((2, 1), frozenset())])
    """
    columns = {"x": x, "y": y, "sizes": sizes, "members": members}
    return {"pairs": len(x), **{name: _text(column.astype(_POSITION)) for name, column in columns.items()}}


def unpack_sets(plain: Mapping[str, Any], n_variables: int) -> list[tuple[Pair, frozenset[int]]]:
    """Return pairs and sets of plain data, or refuse (ValueError) what is none."""
    count = plain["pairs"]
    if type(count) is not int:
        raise ValueError(f"a number of pairs is needed, not {count!r}")
    x, y, sizes = (_numbers(plain[part], _POSITION, count) for part in ("x", "y", "sizes"))
    if (sizes < 0).any() or (x == y).any():
        raise ValueError("a pair needs two variables, and a set a size")
    members = _numbers(plain["members"], _POSITION, int(sizes.sum(dtype=np.int64)))
    for positions in (x, y, members):
        if positions.size and not 0 <= positions.min() <= positions.max() < n_variables:
            raise ValueError(f"there are {n_variables} variables, and a position is beyond them")
    ascending = np.diff(members) > 0
    begins = np.cumsum(sizes, dtype=np.int64)[:-1]
    ascending[begins[(begins > 0) & (begins < members.size)] - 1] = True  # where a set ends and another begins
    if not ascending.all():
        raise ValueError("the members of a set must be ascending")
    listed, starts = members.tolist(), accumulate(sizes.tolist(), initial=0)
    sets = [frozenset(listed[at:end]) for at, end in pairwise(starts)]
    return list(zip(zip(x.tolist(), y.tolist(), strict=True), sets, strict=True))


def pack_separated(run: SeparatedRun) -> dict[str, Any]:
    """Return records of separated pairs as plain data."""
    pvalues = _text(run.pvalues.astype(_PVALUE))
    return {"phase": run.phase, **pack_sets(run.x, run.y, run.sizes, run.members), "pvalues": pvalues}


def unpack_separated(plain: Mapping[str, Any], phase: str, n_variables: int) -> list[Separated]:
    """Return the records of plain data, or refuse what is none."""
    found = unpack_sets(plain, n_variables)
    pvalues = _numbers(plain["pvalues"], _PVALUE, len(found))
    if not ((pvalues >= 0) & (pvalues <= 1)).all():
        raise ValueError("a p-value lies between 0 and 1")
    return [Separated(x, y, s, p, phase) for ((x, y), s), p in zip(found, pvalues.tolist(), strict=True)]


def _text(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _numbers(plain: Any, kind: str, count: int) -> NDArray[Any]:
    if not isinstance(plain, str):
        raise ValueError(f"numbers as text are needed, not {plain!r}")
    found = np.frombuffer(base64.b64decode(plain, validate=True), dtype=kind)
    if len(found) != count:
        raise ValueError(f"{count} numbers are needed, and there are {len(found)}")
    return found
