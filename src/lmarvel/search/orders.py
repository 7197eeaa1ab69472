"""The order search: a DAG of good score, from orders of the variables.

Each order has a score: that of the DAG in which every variable takes the best parents among its predecessors. A *sweep*
takes the variables in turn and moves each to its best place; sweeps are repeated until none moves (BOSS, see
:mod:`lmarvel.search.regressions`). It begins at five fixed orders, which needs no random numbers:

* smallest boundary last: take off, as last, the variable with the smallest Markov boundary among those left; its
  reverse;
* forward: append the variable that loses least by having only the earlier ones as parents;
* by the diagonal of the inverse covariance (how well a variable is predicted by all others), upwards and downwards.

A sweep cannot turn a whole family: for v with two parents or more, *families* puts v and then its parents in front and
sweeps again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.search.regressions import Families, Matrix
from lmarvel.search.sweeper import Order

NOISE = 1e-6  # differences of scores below this are rounding
EQUAL = 1e-9  # and shares of a precision below this
MAX_SWEEPS = 30
FAMILY_SWEEPS = 6
FAMILY_ROUNDS = 2

Check = Callable[[], None]


def nothing() -> None:
    """Check nothing."""


def settle(
    best: Families,
    order: Sequence[int],
    max_sweeps: int = MAX_SWEEPS,
    only: int = -1,
    noise: float = NOISE,
    check: Check = nothing,
) -> Order:
    """Move each variable (of the bit set ``only``) to its best place until none moves.

    Examples
    --------
    >>> from lmarvel.search.regressions import GaussianLocal, Regressions
    >>> R = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])     # 0 --> 2 <-- 1
    >>> settle(Regressions(GaussianLocal(R, 500, 12.4), 3), [2, 0, 1]).parents == [0, 0, 0b011]
    True
    """
    sweeper = best.sweeper(order)
    for _ in range(max_sweeps):
        moved = False
        for v in sweeper.result()[0]:
            if only >> v & 1:
                check()
                moved |= sweeper.move(v, noise)
        if not moved:
            break
    return Order(*sweeper.result())


def turn_families(
    best: Families, found: Order, rounds: int = FAMILY_ROUNDS, noise: float = NOISE, check: Check = nothing
) -> Order:
    """Put a variable and then its parents in front and settle again, for all variables, until that does not help."""
    for _ in range(rounds):
        start = found.score
        for v in list(found.order):
            parents = [u for u in found.order if found.parents[v] >> u & 1]
            if len(parents) < 2:
                continue
            family = {v, *parents}
            order = [v, *parents, *(u for u in found.order if u not in family)]
            turned = settle(best, order, FAMILY_SWEEPS, noise=noise, check=check)
            if turned.score < found.score - noise:
                found = turned
        if found.score > start - noise:
            break
    return found


def smallest_boundary_last(covariance: Matrix, n: float, price: float) -> list[int]:
    """Take off, as last, the variable with the smallest Markov boundary; of equals the best predicted one.

    Two variables predict each other equally well, so when two are left rounding must not decide, which differs from
    machine to machine: of equals the first is taken.
    """
    left = list(range(len(covariance)))
    order = []
    precision = np.linalg.inv(covariance)
    while left:
        diagonal = precision.diagonal()
        partial = precision * precision / np.outer(diagonal, diagonal)
        sizes = (-n * np.log(np.maximum(1 - partial, 1e-12)) > price).sum(axis=1)
        last = 0
        for i in range(1, len(left)):
            better = diagonal[i] > diagonal[last] * (1 + EQUAL)
            if sizes[i] < sizes[last] or (sizes[i] == sizes[last] and better):
                last = i
        order.append(left.pop(last))
        column = np.delete(precision[:, last], last)
        precision = np.delete(np.delete(precision, last, 0), last, 1) - np.outer(column, column) / diagonal[last]
    return order[::-1]


def forward(best: Families, check: Check = nothing) -> list[int]:
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


def search_orders(
    best: Families,
    covariance: Matrix,
    n: float,
    noise: float = NOISE,
    check: Check = nothing,
    report: Callable[[Order], None] | None = None,
    more: Iterable[Sequence[int]] = (),
) -> Order:
    """Return the best DAG that sweeps from the five fixed orders, and from ``more``, and then families, find."""
    price = best.price
    by_precision = np.argsort(np.linalg.inv(covariance).diagonal(), kind="stable").tolist()
    last = smallest_boundary_last(covariance, n, price)
    starts = (last, forward(best, check), by_precision, by_precision[::-1], last[::-1], *more)
    return from_orders(best, starts, noise, check, report)


def from_orders(
    best: Families,
    starts: Iterable[Sequence[int]],
    noise: float = NOISE,
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
