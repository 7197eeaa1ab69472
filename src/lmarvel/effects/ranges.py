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
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import Masks, closure, members
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.equivalence import explain_unfit
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

    Examples
    --------
    >>> print(Range((0.0, 0.42), 3, 1, True))
    Of 3 explanations 2 put the effect between 0 and 0.42, and 1 does not identify it: it may lie outside.
    """

    values: tuple[float, ...]
    looked_at: int
    untold: int
    complete: bool

    def __str__(self) -> str:
        telling = self.looked_at - self.untold
        first = "" if self.complete else "the first "
        more = "" if self.complete else ", and there are more"
        explanations = f"{first}{counted(self.looked_at, 'explanation')}{more}"
        if telling == 0:
            return f"Of {explanations}, none identifies the effect."
        comma = "" if self.complete else ","
        if not self.untold:
            return f"Of {explanations}{comma} all {self._says('')}."
        outside = ": it may lie outside" if self.values else ""
        rest = f"{self.untold:,} {'does' if self.untold == 1 else 'do'} not{outside and ' identify it'}{outside}."
        return f"Of {explanations}{comma} {telling:,} {self._says('s' if telling == 1 else '')}, and {rest}"

    def _says(self, s: str) -> str:
        """Return what explanations say of the effect; ``s`` ends the verb where it is of one."""
        if not self.values:
            return f"identif{'ies' if s else 'y'} the effect"
        low, high = f"{self.values[0]:.3g}", f"{self.values[-1]:.3g}"
        return f"put{s} the effect {f'at {low}' if low == high else f'between {low} and {high}'}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {**self.__dict__, "values": list(self.values)}


def effect_range(ready: Prepared, x: int, y: int, covariance: NDArray[np.float64] | None, most: int = MOST) -> Range:
    """Return the values of the effect of x on y over the MAGs of the class, of the first ``most`` of them."""
    near = ready.possible_ancestors(1 << x | 1 << y)
    counts: Counter[Formula | int | None] = Counter()
    members = fitting_members(ready, near, most)
    for member in islice(members, most):
        counts[effect_formula(member, x, y)] += 1
    formulas = [formula for formula in counts if formula is not None]
    values: list[float] = []
    if covariance is not None:
        values = sorted({0.0 if isinstance(formula, int) else slope(formula, covariance, x, y) for formula in formulas})
    return Range(tuple(values), sum(counts.values()), counts[None], next(members, None) is None)


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
