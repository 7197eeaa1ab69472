"""The order search: a DAG of good score, from orders of the variables.

An order of the variables fixes a DAG once it is said which of its predecessors each variable takes as parents. They are
chosen greedily by score: add the best one while the score falls, then drop the worst one while it falls (the
grow-shrink of GRaSP and BOSS [1]_). A *sweep* takes the variables in turn and moves each to its best place; sweeps are
repeated until none moves. A sweep cannot turn a whole family: for v with two parents or more, *families* puts v
before its parents, where they stand and then in front of all, and moves those whose edges change, until none does. Only
where that ends near the score before, or below it, is everything swept again.

The search asks for parents with many sets of predecessors that differ by a variable, and nearly always the way is the
same, so each step is remembered: at a set of parents S the other variables in the order of what they would add. The
walk for predecessors A takes at each S the first one that is in A. It also tells when it would be another one, without
walking again:

* a variable *outside* A can change it only if it would have been taken somewhere: it stands in a list before the one
  that was taken (``tempting``);
* a variable *in* A can change it only if it was taken (``taken``).

So most questions of a sweep need not be asked. Let v stand at a place and w elsewhere: if v comes before w now, w
without v has the same parents unless v was taken on the way to them; if v comes after w, w with v has the same parents
unless v is tempting there.

Where a variable is one column, the compiled search does the same from correlations (``engine/lift/orders``).

References
----------
.. [1] Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld, Fast scalable and accurate discovery of DAGs using the
best order score search and grow-shrink trees, NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from lmarvel.graph.bitsets import bits, members
from lmarvel.search.constants import LIFT

Check = Callable[[], None]


def nothing() -> None:
    """Check nothing."""


class Local(Protocol):
    """What the order search needs to know of a table: local scores, minus two log-likelihood of all rows."""

    price: float

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents, without the price of edges."""

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent, best first, as single bits."""

    def removal(self, v: int, parents: int) -> int:
        """Return the parent, as a bit, that is best left out since it does not pay its price; 0 if all pay."""


class Family(NamedTuple):
    """The parents of a variable among its predecessors, and what could change the choice."""

    score: float
    parents: int
    taken: int
    tempting: int


class Order(NamedTuple):
    """An order of the variables, the parents of each (by variable), and the score of that DAG."""

    order: list[int]
    parents: list[int]
    score: float


class Regressions:
    """Grow-shrink regressions of every variable on any set of predecessors; no step is computed twice.

    Parameters
    ----------
    local : Local
        The local scores.
    n : int
        Variables.
    allowed : list of int
        For each of the first variables the bit set of those that may be its parents; all, where nothing is said.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel.search.kinds.grouped import GroupedLocal, Groups
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> best = Regressions(GroupedLocal(Groups(R, ((0,), (1,), (2,)), n=100, penalty=2.1)), 3)
    >>> best(0, 0b110).parents == 0b010, best(0, 0b100).parents == 0, best(0, 0).tempting == 0b010
    (True, True, True)
    """

    def __init__(self, local: Local, n: int, allowed: Sequence[int] = ()) -> None:
        self.local = local
        self.price = local.price
        self.n_variables = n
        self.allowed = [*allowed, *[-1] * (n - len(allowed))]
        self._families: list[dict[int, Family]] = [{} for _ in range(n)]
        self._additions: list[dict[int, tuple[float, list[int]]]] = [{} for _ in range(n)]
        self._shrunk: list[dict[int, tuple[int, float]]] = [{} for _ in range(n)]

    def __call__(self, v: int, predecessors: int) -> Family:
        """Return the parents of v among its predecessors."""
        memory = self._families[v]
        predecessors &= self.allowed[v]
        family = memory.get(predecessors)
        if family is None:
            family = memory[predecessors] = self._walk(v, predecessors)
        return family

    def _walk(self, v: int, predecessors: int) -> Family:
        lists = self._additions[v]
        grown = tempting = 0
        while True:
            known = lists.get(grown)
            if known is None:
                known = lists[grown] = self.local.additions(v, grown)
            value, steps = known
            for step in steps:
                if step & predecessors:
                    grown |= step
                    break
                tempting |= step
            else:
                break
        shrunk = self._shrunk[v].get(grown)
        if shrunk is None:
            shrunk = self._shrunk[v][grown] = self._shrink(v, grown, value)
        parents, score = shrunk
        return Family(score, parents, grown, tempting)

    def _shrink(self, v: int, grown: int, value: float) -> tuple[int, float]:
        parents = grown
        while parents:
            step = self.local.removal(v, parents)
            if not step:
                break
            parents ^= step
        if parents != grown:
            value = self.local.value(v, parents)
        return parents, value + self.local.price * parents.bit_count()


class Sweeper:
    """An order with the family of each variable, while variables are moved."""

    def __init__(self, best: Regressions, order: Iterable[int]) -> None:
        self.best = best
        self.order = list(order)
        self.family: dict[int, Family] = {}
        self.stirred = 0  # those with edges that came or went, until somebody takes them out
        self._refresh(0, len(self.order), 0)

    def _refresh(self, start: int, stop: int, before: int) -> None:
        """Choose the families again at some places; ``before`` are the predecessors of the first of them."""
        for v in self.order[start:stop]:
            had = self.family.get(v)
            self.family[v] = self.best(v, before)
            if had is not None:
                self.stir(v, had.parents, self.family[v].parents)
            before |= 1 << v

    def stir(self, v: int, before: int, after: int) -> None:
        """Stir v, if its parents have changed, and those that it took or left."""
        if before != after:
            self.stirred |= 1 << v | before ^ after

    def move(self, v: int, noise: float) -> bool:
        """Move v to its best place; tell whether it moved."""
        if v not in self.family:
            return False
        at = self.order.index(v)
        others = self.order[:at] + self.order[at + 1 :]
        totals = self._totals(v, at, others)
        least = min(totals)
        if not least < totals[at] - noise:
            return False
        # The first of equals, so that rounding does not decide: classes of DAGs have many orders of one score.
        place = next(i for i, value in enumerate(totals) if value <= least + noise)
        self.order = [*others[:place], v, *others[place:]]
        first, last = min(at, place), max(at, place)
        self._refresh(first, last + 1, bits(self.order[:first]))
        return True

    def _totals(self, v: int, at: int, others: list[int]) -> list[float]:
        """Return the score with v at each place, but for a constant: v passes the others one by one."""
        best, bit, own = self.best, 1 << v, self.best(v, 0)
        total, before = own.score, 0
        totals = [total]
        for place, w in enumerate(others):
            now = self.family[w]
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
        return totals

    def result(self) -> Order:
        """Return the order, the parents of each variable, and the score."""
        parents = [0] * self.best.n_variables
        for v, family in self.family.items():
            parents[v] = family.parents
        return Order(list(self.order), parents, sum(self.family[v].score for v in self.order))


def settle(
    best: Regressions,
    order: Sequence[int],
    max_sweeps: int = LIFT.max_sweeps,
    only: int = -1,
    noise: float = LIFT.noise,
    check: Check = nothing,
) -> Order:
    """Move each variable (of the bit set ``only``) to its best place until none moves.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel.search.kinds.grouped import GroupedLocal, Groups
    >>> R = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])     # 0 --> 2 <-- 1
    >>> local = GroupedLocal(Groups(R, ((0,), (1,), (2,)), n=500, penalty=2.0))
    >>> settle(Regressions(local, 3), [2, 0, 1]).parents == [0, 0, 0b011]
    True
    """
    sweeper = Sweeper(best, order)
    for _ in range(max_sweeps):
        moved = False
        for v in list(sweeper.order):
            if only >> v & 1:
                check()
                moved |= sweeper.move(v, noise)
        if not moved:
            break
    return sweeper.result()


def turn_families(
    best: Regressions,
    found: Order,
    rounds: int = LIFT.family_rounds,
    noise: float = LIFT.noise,
    check: Check = nothing,
) -> Order:
    """Put a variable before its parents, where they stand and then in front, and settle; until that does not help."""
    for _ in range(rounds):
        start = found.score
        for v in list(found.order):
            parents = [u for u in found.order if found.parents[v] >> u & 1]
            if len(parents) < 2:
                continue
            for first in (found.order.index(parents[0]), 0):
                turned = _turned(best, found, [v, *parents], first, noise, check)
                if turned.score < found.score + LIFT.family_hope * best.price:
                    turned = settle(best, turned.order, LIFT.family_sweeps, noise=noise, check=check)
                if turned.score < found.score - noise:
                    found = turned
                    break
        if found.score > start - noise:
            break
    return found


def _turned(best: Regressions, found: Order, family: list[int], first: int, noise: float, check: Check) -> Order:
    """Put a family at a place, in this order; move those whose edges change, by this or by each other."""
    rest = [u for u in found.order if u not in family]
    sweeper = Sweeper(best, [*rest[:first], *family, *rest[first:]])
    sweeper.stirred = bits(family)
    for u in found.order:
        sweeper.stir(u, found.parents[u], sweeper.family[u].parents)
    for _ in range(LIFT.family_sweeps):
        if not sweeper.stirred:
            break
        for u in list(sweeper.order):
            if sweeper.stirred >> u & 1:
                check()
                sweeper.move(u, noise)
                sweeper.stirred &= ~(1 << u)
    return sweeper.result()


def forward(best: Regressions, check: Check = nothing) -> list[int]:
    """Append the variable that loses least by having only the earlier ones as parents."""
    everything = (1 << best.n_variables) - 1
    final = []
    for v in range(best.n_variables):
        check()
        final.append(best(v, everything & ~(1 << v)).score)
    order: list[int] = []
    before = 0
    while len(order) < best.n_variables:
        check()
        left = members(everything & ~before)
        chosen = min(left, key=lambda u: (round(best(u, before).score - final[u], 6), u))  # equals by number
        order.append(chosen)
        before |= 1 << chosen
    return order


def from_orders(
    best: Regressions,
    starts: Iterable[Sequence[int]],
    noise: float = LIFT.noise,
    check: Check = nothing,
    report: Callable[[Order], None] | None = None,
) -> Order:
    """Return the best DAG that sweeps from some orders, and then families, find."""
    found: Order | None = None
    for order in starts:
        settled = settle(best, order, noise=noise, check=check)
        if report is not None:
            report(settled)
        if found is None or settled.score < found.score - noise:
            found = settled
    assert found is not None
    return turn_families(best, found, noise=noise, check=check)
