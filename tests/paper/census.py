"""Many small MAGs at once, with every notion taken from its definition and nothing from the package.

A :class:`Census` holds MAGs on the same few nodes as one array, and answers in arrays with an entry a graph:
``census.separated(x, y, z)`` says for each graph whether ``z`` separates ``x`` from ``y``, by enumeration of all paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from lmarvel import MAG
from tests.truth.make_truth import (
    ARROW,
    EDGE_CODES,
    NONE,
    TAIL,
    ancestors,
    is_ancestral,
    load,
    marks_matrix,
    separations,
)

NAMES = ("A", "B", "C", "D", "E")
Array = np.ndarray


def subsets(items: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Iterate over all subsets, the small ones first."""
    pool = tuple(items)
    return (chosen for size in range(len(pool) + 1) for chosen in combinations(pool, size))


class Census:
    """MAGs on the same nodes; ``marks[i, j, g]`` is the mark at j on the edge i-j of graph g."""

    def __init__(self, marks: Array) -> None:
        self.marks = marks
        self.n, self.size = marks.shape[1:]
        self.nodes = range(self.n)

    def only(self, which: Array) -> Census:
        """Return the graphs for which an array of bools says so."""
        return Census(self.marks[:, :, which])

    def without(self, x: int) -> Census:
        """Return the induced subgraphs without x; later nodes move up by one."""
        rest = [v for v in self.nodes if v != x]
        return Census(self.marks[np.ix_(rest, rest)])

    @cached_property
    def mags(self) -> list[MAG]:
        """The same graphs as objects of the package, which checks that they are MAGs."""
        return [MAG(NAMES[: self.n], self.marks[:, :, g]) for g in range(self.size)]

    @property
    def cyclic(self) -> list[MAG]:
        """Those of the MAGs with a chordless undirected cycle of four or more nodes."""
        return [mag for mag, found in zip(self.mags, self.has_chordless_cycle, strict=True) if found]

    @property
    def chordal(self) -> list[MAG]:
        """The other MAGs."""
        return [mag for mag, found in zip(self.mags, self.has_chordless_cycle, strict=True) if not found]

    # --- definitions ------------------------------------------------------------------------------------

    def adjacent(self, x: int, y: int) -> Array:
        return self.marks[x, y] != NONE

    def undirected(self, x: int, y: int) -> Array:
        return (self.marks[x, y] == TAIL) & (self.marks[y, x] == TAIL)

    def parent(self, x: int, y: int) -> Array:
        """Say where x --> y."""
        return (self.marks[x, y] == ARROW) & (self.marks[y, x] == TAIL)

    def ancestor(self, x: int, y: int) -> Array:
        """Say where x is an ancestor of y; every node is one of itself."""
        return self._ancestors[x, y]

    def separated(self, x: int, y: int, given: Iterable[int]) -> Array:
        """Say where no path from x to y is m-connecting given these nodes."""
        return self._separated[min(x, y), max(x, y), frozenset(given)]

    def in_boundary(self, x: int, y: int) -> Array:
        """Say where x and y depend on each other given all other nodes."""
        return ~self.separated(x, y, set(self.nodes) - {x, y})

    def removable(self, x: int) -> Array:
        """Say where the m-separations among the other nodes are those of the induced subgraph (Definition 4)."""
        rest = [v for v in self.nodes if v != x]
        inner = self.without(x)
        same = np.ones(self.size, dtype=bool)
        for i, j in combinations(inner.nodes, 2):
            for z in subsets(set(inner.nodes) - {i, j}):
                same &= inner.separated(i, j, z) == self.separated(rest[i], rest[j], [rest[k] for k in z])
        return same

    @cached_property
    def has_chordless_cycle(self) -> Array:
        """Say where four or more nodes have undirected edges among themselves, two at each, and no others."""
        found = np.zeros(self.size, dtype=bool)
        for length in (4, 5):  # four or five nodes with two edges each form a single cycle
            for cycle in combinations(self.nodes, length):
                around = [[sum(kind(v, w) for w in cycle) for v in cycle] for kind in (self.adjacent, self.undirected)]
                found |= (np.array(around) == 2).all(axis=(0, 1))
        return found

    @cached_property
    def _ancestors(self) -> Array:
        return ancestors(self.marks)

    @cached_property
    def _separated(self) -> dict[tuple[int, int, frozenset[int]], Array]:
        table = {}
        for (x, y), row in zip(combinations(self.nodes, 2), separations(self.marks), strict=True):
            for z, cell in zip(subsets(v for v in self.nodes if v not in (x, y)), row, strict=True):
                table[x, y, frozenset(z)] = cell
        return table


@cache
def all_mags() -> Census:
    """Return all 3,045 MAGs on four nodes."""
    return Census(marks_matrix(load(4)["mags"].T, 4))


@cache
def all_classes() -> Census:
    """Return one MAG of each of the 24,566 classes on five nodes."""
    return Census(marks_matrix(load(5)["representative"].T, 5))


@cache
def sample_of_mags(tries: int = 250_000, seed: int = 1) -> Census:
    """Return the MAGs, some ten thousand, among random mixed graphs on five nodes."""
    rng = np.random.default_rng(seed)
    marks = marks_matrix(rng.choice(EDGE_CODES, (10, tries)), 5)
    ancestral = Census(marks[:, :, is_ancestral(marks)])
    maximal = np.ones(ancestral.size, dtype=bool)
    for x, y in combinations(range(5), 2):
        separable = [ancestral.separated(x, y, z) for z in subsets(set(range(5)) - {x, y})]
        maximal &= ancestral.adjacent(x, y) | np.any(separable, axis=0)
    return ancestral.only(maximal)
