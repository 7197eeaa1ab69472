"""Separating sets of a run.

Pairs outside each other's Markov boundary are far too many to store: for these the smaller of the two
boundaries is the separating set, made when asked for. It contains every common neighbour of the pair, so no
unshielded triple over such a gap is read as a collider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


class Sepsets(Mapping[tuple[int, int], frozenset[int]]):
    """A separating set for each pair that is not adjacent; symmetric in the pair.

    Parameters
    ----------
    boundaries : sequence of sets
        The Markov boundaries with respect to all variables.
    truncated : mapping, optional
        Variables whose boundary search was cut short: what the others were tested given, and which were kept.

    Examples
    --------
    >>> sepsets = Sepsets([{1}, {0, 2}, {1}])
    >>> sepsets[2, 0]
    frozenset({1})
    >>> (0, 1) in sepsets
    False
    """

    def __init__(
        self,
        boundaries: Sequence[set[int]],
        truncated: Mapping[int, tuple[frozenset[int], frozenset[int]]] | None = None,
    ) -> None:
        self._boundaries = [frozenset(mb) for mb in boundaries]
        self._truncated = truncated or {}
        self._found: dict[tuple[int, int], frozenset[int]] = {}

    def store(self, x: int, y: int, sepset: frozenset[int]) -> None:
        """Keep a set that was found to separate x and y."""
        self._found[min(x, y), max(x, y)] = sepset

    @property
    def truncated(self) -> Mapping[int, tuple[frozenset[int], frozenset[int]]]:
        """The variables whose boundary search was cut short."""
        return self._truncated

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sepsets):
            return NotImplemented
        mine = (self._boundaries, self._truncated, self._found)
        return mine == (other._boundaries, other._truncated, other._found)

    def found(self) -> Mapping[tuple[int, int], frozenset[int]]:
        """Return the sets that tests found, without those that the boundaries imply."""
        return self._found

    def lookup(self, x: int, y: int) -> frozenset[int] | None:
        """Return the separating set of a pair, or None where it has none."""
        found = self._found.get((x, y) if x < y else (y, x))
        if found is not None:
            return found
        of_x, of_y = self._boundaries[x], self._boundaries[y]
        if x == y or y in of_x:
            return None
        first, second = min(x, y), max(x, y)
        for v, other in ((first, second), (second, first)) if self._truncated else ():
            if v in self._truncated and other not in self._truncated[v][1]:
                return self._truncated[v][0]
        return of_x if len(of_x) < len(of_y) or (len(of_x) == len(of_y) and x < y) else of_y

    def is_collider(self, v: int, a: int, b: int, c: int) -> bool:
        """Read a collider off: b is one between a and c if it is outside Sep(v, c) (v is a, but for R4)."""
        sepset = self.lookup(v, c)
        return sepset is not None and b not in sepset

    def __getitem__(self, pair: tuple[int, int]) -> frozenset[int]:
        sepset = self.lookup(*pair)
        if sepset is None:
            raise KeyError(pair)
        return sepset

    def __iter__(self) -> Iterator[tuple[int, int]]:
        n = len(self._boundaries)
        return ((x, y) for x in range(n) for y in range(x + 1, n) if (x, y) in self)

    def __len__(self) -> int:
        n = len(self._boundaries)
        inside = sum(map(len, self._boundaries)) // 2
        return n * (n - 1) // 2 - inside + sum(y in self._boundaries[x] for x, y in self._found)

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and self.lookup(*pair) is not None


class NamedSepsets(Mapping[tuple[str, str], frozenset[str]]):
    """The same by variable names."""

    def __init__(self, sepsets: Sepsets, names: Sequence[str]) -> None:
        self.by_position = sepsets
        self._names = names
        self._index = {name: i for i, name in enumerate(names)}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NamedSepsets):
            return tuple(self._names) == tuple(other._names) and self.by_position == other.by_position
        return super().__eq__(other)

    def __getitem__(self, pair: tuple[str, str]) -> frozenset[str]:
        a, b = pair
        return frozenset(self._names[v] for v in self.by_position[self._index[a], self._index[b]])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((self._names[x], self._names[y]) for x, y in self.by_position)

    def __len__(self) -> int:
        return len(self.by_position)
