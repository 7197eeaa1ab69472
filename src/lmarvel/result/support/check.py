"""What a graph says of the data, held against the data: :class:`ModelCheck`.

A graph without an edge between x and y says that a set separates them. A method tests some such sets while it learns,
a score none; after learning, one set for every pair without an edge is read off the graph and tested. Where the graph
is right, the p-values are uniform, and a share of them, the level, falls below the level by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Literal

from lmarvel.result.wording import p_is
from lmarvel.text import ShownAsText, counted, readable

Source = Literal["graph", "search"]


class Cut(Enum):
    """What ended a check before all pairs that have a set were tested."""

    NONE = "none"
    MANY = "many"
    TIME = "time"


FALSE_SHARE = 0.05  # of the independences in doubt, that may be so by chance
_NAMED = 6  # of the variables of a large set


@dataclass(frozen=True, slots=True)
class Implied:
    """Two variables without an edge, a set that separates them by the graph, and its p-value on the data."""

    x: str
    y: str
    given: frozenset[str]
    pvalue: float


@dataclass(frozen=True)
class ModelCheck(ShownAsText):
    """The separations that a graph implies, tested.

    Attributes
    ----------
    level : float
        A p-value at or below it is a failure: the data speak against what the graph implies.
    implied : tuple of Implied
        All that were tested, the smallest p-value first.
    pairs : int
        The pairs without an edge. Where they are too many to test all, those with a common neighbour come first.
    source : {"graph", "search"}
        Whether the sets were read off the graph. An illegal PAG has no MAG to read them off. Its sets are those that
        the search found, and pairs without one are not tested.
    untestable : int
        Pairs whose set is too large for the number of rows.
    cut : Cut
        Why pairs that have a set were left out, if any were: there are too many, or time was up.

    Examples
    --------
    >>> implied = Implied("A", "C", frozenset({"B"}), 0.004), Implied("A", "D", frozenset(), 0.61)
    >>> check = ModelCheck(0.01, implied, pairs=2, source="graph")
    >>> print(check)
    The data reject 1 of 2 implied independences at 0.01 (0.02 expected by chance).
    >>> check.failed[0].x, check.fails("C", "A"), check.fails("A", "D")
    ('A', True, False)
    """

    level: float
    implied: tuple[Implied, ...]
    pairs: int
    source: Source = "graph"
    untestable: int = 0
    cut: Cut = Cut.NONE

    @cached_property
    def failed(self) -> tuple[Implied, ...]:
        """The separations that the data reject, the worst first."""
        return tuple(one for one in self.implied if one.pvalue <= self.level)

    @cached_property
    def in_doubt(self) -> tuple[Implied, ...]:
        """The rejected independences that stay rejected when their number is allowed for, the worst first.

        By Benjamini and Hochberg (1995): of those in doubt at most a share of ``FALSE_SHARE`` is so by chance. With
        hundreds of independences some fall below the level although nothing is wrong.
        """
        tested = len(self.implied)
        passed = [k for k, one in enumerate(self.implied, 1) if one.pvalue * tested <= FALSE_SHARE * k]
        return self.failed[: passed[-1]] if passed else ()

    @cached_property
    def by_pair(self) -> dict[frozenset[str], Implied]:
        """What was tested of each pair."""
        return {frozenset((one.x, one.y)): one for one in self.implied}

    @property
    def fits(self) -> bool:
        """Whether the data reject no more than chance would."""
        return not self.in_doubt

    @property
    def expected(self) -> float:
        """How many would be rejected by chance if the graph were right."""
        return self.level * len(self.implied)

    @cached_property
    def _failed_pairs(self) -> frozenset[frozenset[str]]:
        return frozenset(frozenset((one.x, one.y)) for one in self.in_doubt)

    def fails(self, x: str, y: str) -> bool:
        """Tell whether the independence of x and y is in doubt."""
        return frozenset((x, y)) in self._failed_pairs

    def __str__(self) -> str:
        if not self.implied and self.cut is Cut.TIME:
            return f"None of the implied independences was tested.{self._left_out()}"
        if not self.implied:
            return "The graph implies no independence that could be tested."
        of = counted(len(self.implied), f"{'implied' if self.source == 'graph' else 'found'} independence")
        chance = f"{self.expected:.2g} expected by chance"
        return f"The data reject {len(self.failed):,} of {of} at {self.level:g} ({chance}).{self._left_out()}"

    def _left_out(self) -> str:
        parts = []
        if self.untestable:
            parts.append(f"{counted(self.untestable, 'pair')} could not be tested: too few rows")
        rest = self.pairs - len(self.implied) - self.untestable
        if rest:
            unknown = "no set is known, since the PAG is illegal" if self.source == "search" else "there are too many"
            why = {Cut.NONE: unknown, Cut.MANY: "there are too many", Cut.TIME: "time ran out"}[self.cut]
            parts.append(f"{counted(rest, 'pair')} without an edge {'was' if rest == 1 else 'were'} not tested: {why}")
        return f" ({'; '.join(parts)}.)" if parts else ""

    def worst(self, most: int = 5) -> list[str]:
        """Return the independences in doubt in words, the worst first.

        Examples
        --------
        >>> ModelCheck(0.01, (Implied("A", "C", frozenset({"B"}), 0.004),), 1).worst()
        ['A and C given B: p = 0.004']
        """
        return [f"{separation(one)}: {p_is(one.pvalue, self.level)}" for one in self.in_doubt[:most]]


def separation(one: Implied) -> str:
    """Return a separation in words; of a large set the first names, and how many there are beside.

    Examples
    --------
    >>> separation(Implied("A", "B", frozenset(f"X{k}" for k in range(30)), 0.5))
    'A and B given X0, X1, X10, X11, X12, X13 and 24 more'
    """
    names = [readable(name) for name in sorted(one.given)]
    shown = names if len(names) <= _NAMED + 2 else names[:_NAMED]
    rest = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"{readable(one.x)} and {readable(one.y)} given {', '.join(shown) or 'nothing'}{rest}"
