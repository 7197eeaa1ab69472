"""An order of the variables, while single variables are moved to their best places in it.

**What a sweep need not ask.** Let v stand at a place and w elsewhere. Only the side of w on which v stands can
change. If v comes before w now, w without v has the same parents unless v was taken on the way to them; if v comes
after w, w with v has the same parents unless v is tempting there. So most scores are known without asking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from lmarvel.graph.bitsets import bits


class Family(NamedTuple):
    """The parents of a variable among its predecessors; what could change the choice: see the regressions."""

    score: float
    parents: int
    taken: int
    tempting: int


class Order(NamedTuple):
    """An order of the variables, the parents of each (by variable), and the score of that DAG."""

    order: list[int]
    parents: list[int]
    score: float


class Sweeper(Protocol):
    """An order in which variables can be moved."""

    def move(self, v: int, noise: float) -> bool:
        """Move v to its best place; tell whether it moved."""

    def result(self) -> tuple[list[int], list[int], float]:
        """Return the order, the parents of each variable, and the score."""


Best = Callable[[int, int], Family]  # of a variable and its predecessors


class ReadableSweeper:
    """An order with the family of each variable, while variables are moved."""

    def __init__(self, best: Best, n_variables: int, order: Iterable[int]) -> None:
        self.best = best
        self.n_variables = n_variables
        self.order = list(order)
        self.family: dict[int, Family] = {}
        self._refresh(0, len(self.order), 0)

    def _refresh(self, start: int, stop: int, before: int) -> None:
        """Choose the families again at some places; ``before`` are the predecessors of the first of them."""
        for v in self.order[start:stop]:
            self.family[v] = self.best(v, before)
            before |= 1 << v

    def move(self, v: int, noise: float) -> bool:
        """Move v to its best place; tell whether it moved."""
        if v not in self.family:
            return False
        best, family, at = self.best, self.family, self.order.index(v)
        bit = 1 << v
        others = self.order[:at] + self.order[at + 1 :]
        own = best(v, 0)
        # The change of the total against all others being after v; then v passes them one by one.
        total, before = own.score, 0
        totals = [total]
        for place, w in enumerate(others):
            now = family[w]
            if place < at:  # v comes after w now
                if now.tempting & bit:
                    total += now.score - best(w, before | bit).score
            elif now.taken & bit:
                total += best(w, before).score - now.score
            w_bit = 1 << w
            before |= w_bit
            if own.tempting & w_bit:
                after = best(v, before)
                total += after.score - own.score
                own = after
            totals.append(total)
        least = min(totals)
        if not least < totals[at] - noise:
            return False
        # The first of equals, so that rounding does not decide: classes of DAGs have many orders of one score.
        place = next(i for i, value in enumerate(totals) if value <= least + noise)
        self.order = [*others[:place], v, *others[place:]]
        first, last = min(at, place), max(at, place)
        self._refresh(first, last + 1, bits(self.order[:first]))
        return True

    def result(self) -> tuple[list[int], list[int], float]:
        """Return the order, the parents of each variable, and the score."""
        parents = [0] * self.n_variables
        for v, family in self.family.items():
            parents[v] = family.parents
        return list(self.order), parents, sum(self.family[v].score for v in self.order)
