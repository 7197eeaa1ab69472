"""What an effect can be where it is not identified: its values over the MAGs of the class (Malinsky & Spirtes 2017
[1]_).

Each MAG of the class is an explanation of the data. In some of them the effect is identified (zero where x is no
ancestor of y, by adjustment, or by a formula), and each of these gives a number. In others a confounder may stand
behind an arrow, and no number can be given. How often that happens is reported, because the effect may then lie
anywhere.

**The members of a class.** Two MAGs without undirected edges are Markov equivalent exactly if a sequence of single
changes, A --> B into A <-> B or back, leads from one to the other with every graph on the way a MAG of the class (Zhang
& Spirtes 2005 [2]_). A change is allowed if

1. there is no directed path from A to B beside the edge,
2. whatever has C --> A has C --> B, and whatever has C <-> A has C --> B or C <-> B,
3. no discriminating path for A ends in B.

So a walk over allowed changes finds the class, and the first of very many members cost little.

**A bound.** In each member, the measured ancestors of x and y that x does not affect, together with all unmeasured
causes of x, are a valid adjustment set. So if these unmeasured causes explain at most a share of what is left of x and
of y, the effect is no further from the regression than the formula of Cinelli and Hazlett allows
(:mod:`lmarvel.effects.numbers.sensitivity`). The union over the class is a bound.

References
----------
.. [1] Estimating bounds on causal effects in high-dimensional and possibly confounded systems, International Journal
   of Approximate Reasoning 88 (2017).
.. [2] A transformational characterization of Markov equivalence for directed acyclic graphs with latent variables,
   UAI 2005.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lmarvel.effects.adjustment import canonical_set, pair_of
from lmarvel.effects.formula import Density, Formula, slope
from lmarvel.effects.identify import identify
from lmarvel.effects.knowing.informed import Informed
from lmarvel.effects.numbers.best_set import variance
from lmarvel.effects.numbers.estimate import LEVEL, t_quantile
from lmarvel.effects.numbers.sensitivity import moved
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import Masks, closure, members
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.equivalence import explain_unfit
from lmarvel.result.support.frequencies import percent
from lmarvel.text import counted

MOST = 500
WALKED = 10  # times as many MAGs of a class are looked at as may fit


@dataclass(frozen=True)
class Range:
    """The values of an effect over the explanations of the data.

    Attributes
    ----------
    values : tuple of float
        The different values, ascending; empty if no explanation that was looked at gives one, or without data.
    looked_at : int
        How many MAGs of the class were looked at.
    untold : int
        In how many of them the effect is not identified.
    complete : bool
        True if these are all.
    limit : float or None
        The share of what is left of x and of y that unmeasured causes of x explain at most, as was stated.
    bound : tuple of float or None
        Under that limit, the ends of the effect over all explanations, with their 95 % intervals.

    Examples
    --------
    >>> print(Range((0.0, 0.42), 3, 1, True))
    Nothing bounds this effect: 1 of 3 explanations does not identify it. The others put it between 0 and 0.42.
    """

    values: tuple[float, ...]
    looked_at: int
    untold: int
    complete: bool
    limit: float | None = None
    bound: tuple[float, float] | None = None

    def __str__(self) -> str:
        explanations = f"{'' if self.complete else 'the first '}{counted(self.looked_at, 'explanation')}"
        telling = self.looked_at - self.untold
        verb = "does" if self.untold == 1 else "do"
        nothing = f"Nothing bounds this effect: {self.untold:,} of {explanations} {verb} not identify it."
        if telling == 0:
            parts = [f"Nothing bounds this effect: none of {explanations} identifies it."]
        elif self.untold:
            parts = [nothing, *([f"The {self._others(telling)} it {self._between}."] if self.values else [])]
        elif self.values:
            parts = [f"All of {explanations} put the effect {self._between}."]
        else:
            parts = [f"All of {explanations} identify the effect."]
        return " ".join([*parts, *([] if self.complete else ["There are more explanations."]), *self._bounded])

    @staticmethod
    def _others(telling: int) -> str:
        return "other puts" if telling == 1 else "others put"

    @property
    def _between(self) -> str:
        low, high = f"{self.values[0]:.3g}", f"{self.values[-1]:.3g}"
        return f"at {low}" if low == high else f"between {low} and {high}"

    @property
    def _bounded(self) -> list[str]:
        if self.limit is None:
            return []
        if self.bound is None:
            return ["The limit gives no bound here, which takes a table of numbers."]
        most = f"at most {percent(self.limit)} of what is left of the cause and of the outcome"
        low, high = self.bound
        return [
            f"If unmeasured causes explain {most}, the effect lies between {low:.3g} and {high:.3g}"
            " (95 % intervals included)."
        ]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {**self.__dict__, "values": list(self.values), "bound": None if self.bound is None else [*self.bound]}


def effect_range(
    ready: Prepared,
    x: int,
    y: int,
    covariance: NDArray[np.float64] | None,
    most: int = MOST,
    limit: float | None = None,
    rows: int = 0,
) -> Range:
    """Return the values of the effect of x on y over the MAGs of the class, of the first ``most`` of them.

    With a ``limit`` on what unmeasured causes of x explain, also a bound, from a covariance of so many rows.
    """
    near = ready.possible_ancestors(1 << x | 1 << y)
    counts: Counter[Formula | int | None] = Counter()
    sets: set[tuple[int, bool]] = set()
    members = fitting_members(ready, near, most)
    for member in islice(members, most):
        formula = effect_formula(member, x, y)
        counts[formula] += 1
        if limit is not None and formula != 0:
            z = _non_descendants(member, x, y)
            sets.add((z, formula != Density(1 << y, 1 << x | z)))
    formulas = [formula for formula in counts if formula is not None]
    values: list[float] = []
    bound = None
    if covariance is not None:
        values = sorted({0.0 if isinstance(formula, int) else slope(formula, covariance, x, y) for formula in formulas})
        if limit is not None:
            ends = [_limited(covariance, x, y, z, rows, limit if hidden else 0.0) for z, hidden in sets]
            zero = [0.0] if 0 in counts else []
            bound = float(min([*zero, *(low for low, _ in ends)])), float(max([*zero, *(high for _, high in ends)]))
    return Range(tuple(values), sum(counts.values()), counts[None], next(members, None) is None, limit, bound)


def _non_descendants(ready: Prepared, x: int, y: int) -> int:
    """Return the ancestors of x and y that x does not affect; with all unmeasured causes of x they are a valid set.

    They include every measured cause of x. So adjusting for them and for what else causes x closes all other paths.
    """
    ends = 1 << x | 1 << y
    return ready.possible_ancestors(ends) & ~ends & ~pair_of(ready, x, y).forbidden


def _limited(covariance: NDArray[np.float64], x: int, y: int, z: int, rows: int, limit: float) -> tuple[float, float]:
    """Return the interval of a regression, widened by what unmeasured causes that explain up to a share can do."""
    at = slope(Density(1 << y, 1 << x | z), covariance, x, y)
    freedom = rows - z.bit_count() - 3
    if freedom < 1:
        return -np.inf, np.inf
    scale = float(np.sqrt(variance(covariance, x, y, z)))
    half = scale * (moved(limit) + t_quantile((1 + LEVEL) / 2, freedom) / np.sqrt(freedom))
    return at - half, at + half


def fitting_members(ready: Prepared, near: int = -1, most: int = MOST) -> Iterator[Prepared]:
    """Iterate over the MAGs of the class, ready for questions; with statements, over those that fit.

    Of a class in which few fit, about ``most`` times ``WALKED`` are looked at.
    """
    members = class_members(ready.mag, near)
    if not isinstance(ready, Informed):
        yield from map(Prepared, members)
        return
    for mag in islice(members, most * WALKED):
        if explain_unfit(mag, ready.known) is None:
            member = Prepared(mag)
            member.state_unconfounded(ready.known.unconfounded)
            yield member


def effect_formula(ready: Prepared, x: int, y: int) -> Formula | int | None:
    """Return how one graph tells the effect: 0 if there is none, a formula, or None where it does not."""
    if not ready.possible_ancestors(1 << y) >> x & 1:
        return 0
    pair = pair_of(ready, x, y)
    if pair.invisible:
        return None
    z = canonical_set(ready, pair)
    if z is not None:
        return Density(1 << y, 1 << x | z)  # its slope in x is the coefficient of the regression
    return identify(ready, 1 << x, 1 << y).formula


# --- the MAGs of a class ----------------------------------------------------------------------------------


def class_members(mag: MAG, near: int = -1) -> Iterator[MAG]:
    """Iterate over the MAGs without undirected edges that are Markov equivalent to this one, itself the first.

    Those that differ in an edge between nodes of ``near`` (a bit set) come before those that differ elsewhere only.

    Examples
    --------
    >>> for member in class_members(MAG.from_edges("A --> B")):
    ...     print(member.edge("A", "B"))
    A --> B
    A <-> B
    A <-- B
    """
    queue, later, seen = deque([mag]), deque[MAG](), {mag.marks.tobytes()}
    while queue or later:
        member = (queue or later).popleft()
        yield member
        for marks, a, b in _changes(member):
            key = marks.tobytes()
            if key not in seen:
                seen.add(key)
                (queue if near >> a & 1 and near >> b & 1 else later).append(MAG._trusted(mag.names, marks))


def _changes(mag: MAG) -> Iterator[tuple[NDArray[np.int8], int, int]]:
    """Iterate over the marks that an allowed change of one of them makes, with the edge."""
    for a in range(len(mag)):
        for b in members(mag.masks.children[a] | mag.masks.spouses[a]):
            if _allowed(mag.masks, a, b):
                marks = mag.marks.copy()
                marks[b, a] = ARROW if marks[b, a] == TAIL else TAIL
                yield marks, a, b


def _allowed(masks: Masks, a: int, b: int) -> bool:
    """Tell whether the mark at a on a --> b or a <-> b may change."""
    if closure(masks.children, masks.children[a] & ~(1 << b)) >> b & 1:
        return False
    if masks.parents[a] & ~masks.parents[b]:
        return False
    if masks.spouses[a] & ~(1 << b) & ~masks.parents[b] & ~masks.spouses[b]:
        return False
    return not _discriminated(masks, a, b)


def _discriminated(masks: Masks, a: int, b: int) -> bool:
    """Tell whether a path c *-> .. <-> v <-* a discriminates a.

    All between c and a are colliders and parents of b, and c is not adjacent to b.
    """
    inner = masks.parents[b] & ~(1 << a)
    steps = {v: masks.spouses[v] & inner for v in members(inner)}
    not_adjacent = ~masks.adjacent[b] & ~(1 << b)
    reached = closure(steps, (masks.spouses[a] | masks.children[a]) & inner)
    return any((masks.parents[v] | masks.spouses[v]) & not_adjacent & ~(1 << a) for v in members(reached))
