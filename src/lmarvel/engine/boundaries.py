"""Markov boundaries by the engine: grow-shrink, IAMB and its kin with Fisher's z test, one target after the other.

The twin of :mod:`lmarvel.boundary.growth` and of the searches there on :mod:`lmarvel.ci.gaussian_growth`: the
same additions in the same order, so the same sets, tests and rounds. What it gives is in the form in which the engine
takes boundaries (:func:`lmarvel.engine.run.from_lists`), so that no set need become an object of Python on the way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine import names
from lmarvel.engine.run import CANCEL, Lists, _engine

SEARCHES = names("boundary_searches")
"""What it can search by; nothing where it was not built."""


@dataclass(frozen=True, eq=False)
class FlatBoundaries:
    """Markov boundaries, and what was asked for them.

    Attributes
    ----------
    sets : Lists
        The boundaries, symmetric; none where a budget ended the search.
    truncated : tuple
        Targets that a limit on the size of sets cut short; two lists: the members they had, and all that were kept.
    asked : tuple
        What was asked: x, y and a list of sets; y is -1 where all variables outside the set were tested with x.
    counts : list of (int, int)
        Tests: size of the conditioning set, number.
    reason, reached : str, int
        Which budget ended the search ("none", "tests", "seconds"), and how many targets were done by then.
    """

    sets: Lists
    truncated: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]
    asked: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]
    counts: list[tuple[int, int]]
    reason: str
    reached: int

    def each_truncated(self) -> Iterator[tuple[int, frozenset[int], frozenset[int]]]:
        """Iterate over targets that were cut short, with what they had, and what was kept."""
        targets, had_starts, had, kept_starts, kept = self.truncated
        return zip(targets.tolist(), each_set((had_starts, had)), each_set((kept_starts, kept)), strict=True)

    def each_asked(self) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Iterate over what was asked."""
        x, y, starts, members = self.asked
        return zip(x.tolist(), y.tolist(), each_set((starts, members)), strict=True)


def each_set(lists: Lists) -> Iterator[frozenset[int]]:
    """Iterate over sets that stand one after the other.

    Examples
    --------
    >>> [sorted(s) for s in each_set((np.array([0, 2, 2, 3]), np.array([0, 2, 1])))]
    [[0, 2], [], [1]]
    """
    starts, members = lists[0].tolist(), lists[1].tolist()
    return (frozenset(members[a:b]) for a, b in itertools.pairwise(starts))


def search_boundaries(
    correlation: NDArray[np.float64],
    n: int,
    quantile: float,
    search: str,
    most: int,
    max_tests: int | None,
    tests: int,
    seconds: float,
    either: bool = False,
) -> FlatBoundaries:
    """Find the Markov boundary of every variable.

    Parameters
    ----------
    correlation : array of shape (p, p)
        The correlation matrix, C-contiguous.
    n : int
        The number of rows behind it.
    quantile : float
        Of the normal distribution, two-sided, at the level of the tests.
    search : {"gs", "iamb", "inter-iamb", "fast-iamb"}
        How.
    most : int
        The largest conditioning set.
    max_tests : int or None
        The budget of tests; ``tests`` of them are spent.
    seconds : float
        Seconds left, infinite without a limit.
    either : bool
        Keep a pair that the search of one end found; else both must have.
    """
    found: tuple[Any, ...] = _engine.boundaries(
        correlation, n, quantile, search, most, max_tests, tests, seconds, either, CANCEL.get()
    )
    return FlatBoundaries(*found)
