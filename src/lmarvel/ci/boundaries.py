"""Markov boundaries of all variables, where every method starts, and how total conditioning (TC) finds them.

X and Y are in each other's boundary exactly if they depend on each other given all other variables (Pellet &
Elisseeff, 2008). TC makes this one test per pair. Some tests can make all of them at once: the Gaussian one by
inverting the correlation matrix, the oracle by one search per variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lmarvel.ci.ledger import Ledger
from lmarvel.deferred import LazyTuple
from lmarvel.errors import BudgetSpent


@dataclass(frozen=True)
class Boundaries:
    """The Markov boundary of each variable, symmetric, and how it was found.

    Attributes
    ----------
    sets : sequence of frozensets
        The boundaries, on positions; all other variables are listed when somebody looks.
    method : str
        "tc", "gs", "iamb", "inter-iamb", "fast-iamb"; "own" if a user gave them; "none" for all other variables.
    level : float
        The level of the tests.
    truncated : mapping
        Variables whose search a limit on the size of sets cut short: the members it had, given which the others were
        tested, and all that were kept.

    Examples
    --------
    >>> found = Boundaries.of([{1}, {0, 2}, {1}], "own", 0.01)
    >>> found.smaller(0, 2), found.searched, Boundaries.complete(3, 0.01).sets[0]
    (frozenset({1}), False, frozenset({1, 2}))
    """

    sets: Sequence[frozenset[int]]
    method: str
    level: float
    truncated: Mapping[int, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sets: Iterable[Iterable[int]],
        method: str,
        level: float,
        truncated: Mapping[int, tuple[frozenset[int], frozenset[int]]] | None = None,
    ) -> Boundaries:
        """Freeze boundaries."""
        return cls(tuple(frozenset(mb) for mb in sets), method, level, dict(truncated or {}))

    @classmethod
    def complete(cls, n: int, level: float) -> Boundaries:
        """Return all other variables as the boundary of each: the complete graph to start from."""
        everything = frozenset(range(n))
        return cls(LazyTuple(lambda: tuple(everything - {v} for v in range(n))), "none", level)

    def moved(self, place: Sequence[int]) -> Boundaries:
        """Return the same boundaries where variable v stands at ``place[v]``."""
        if self.method == "none" or list(place) == list(range(len(self.sets))):
            return self
        sets: list[frozenset[int]] = [frozenset()] * len(self.sets)
        for v, mb in enumerate(self.sets):
            sets[place[v]] = frozenset(place[w] for w in mb)
        truncated = {
            place[v]: (frozenset(place[w] for w in had), frozenset(place[w] for w in kept))
            for v, (had, kept) in self.truncated.items()
        }
        return Boundaries(tuple(sets), self.method, self.level, truncated)

    @property
    def searched(self) -> bool:
        """Whether tests found them."""
        return self.method not in ("own", "none")

    def smaller(self, x: int, y: int) -> frozenset[int]:
        """Return the smaller boundary of two variables outside each other's, which separates them.

        It contains every common neighbour of the two, so no unshielded triple over such a gap is read as a collider.
        Where a search was cut short, what the other was tested given takes its place.
        """
        first, second = min(x, y), max(x, y)
        for v, other in ((first, second), (second, first)) if self.truncated else ():
            if v in self.truncated and other not in self.truncated[v][1]:
                return self.truncated[v][0]
        one, two = self.sets[first], self.sets[second]
        return one if len(one) <= len(two) else two

    def __len__(self) -> int:
        return len(self.sets)


def total_conditioning(ledger: Ledger, alpha: float) -> Boundaries:
    """Return the boundary of each variable; symmetric by construction.

    Parameters
    ----------
    ledger : Ledger
        The tests are counted there, in phase "boundary".
    alpha : float
        A pair is kept if its p-value is at most this.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> oracle = MSeparation(MAG.from_edges("A --> C", "B --> C", "C --> D"))
    >>> [sorted(mb) for mb in total_conditioning(Ledger(oracle), alpha=0.01).sets]
    [[1, 2], [0, 2, 3], [0, 1], [1]]
    """
    meter, n = ledger.meter, len(ledger.names)
    check_affordable(ledger)
    matrix = ledger.test.dependent_given_rest(alpha, meter.check_time)
    meter.count("boundary", max(n - 2, 0), n * (n - 1) // 2)
    ledger.memory.note_all_pairs(n)
    return Boundaries.of((np.flatnonzero(row).tolist() for row in matrix), "tc", alpha)


def check_affordable(ledger: Ledger) -> None:
    """Raise :class:`BudgetSpent` where the budgets do not allow a test of each pair given all other variables."""
    n, left = len(ledger.names), ledger.meter.left
    pairs = n * (n - 1) // 2
    over = ledger.max_conditioning is not None and n - 2 > ledger.max_conditioning
    if over or (left is not None and pairs > left):
        raise BudgetSpent(f"total conditioning needs {pairs} tests given {n - 2} variables, over budget")
    ledger.meter.check_time()
