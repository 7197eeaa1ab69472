"""Why an unmeasured common cause is excluded: the variable that makes an arrow visible, and how much that shows.

An arrow X --> V is *visible* if some C that is not adjacent to V has an arrowhead at X, or a path of such arrowheads
leads from it to X through causes of V (Zhang 2008). An unmeasured common cause of X and V would make C and V associated
once X is held fixed. So the claim rests on one missing edge, between C and V, and is as good as its test.

**What the test leaves room for.** Let X = a C + ..., and let an unmeasured common cause move the coefficient of X on V
by d. Then, given X, the coefficient of C is -a d. If partial correlations below m go unnoticed, so does a bias of

    d = m sd(V | X, S) / (|a| sd(C | X, S)),

which is large where C hardly affects X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.effects.adjustment import Pair
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import members
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.check import Implied, separation
from lmarvel.result.wording import p_is
from lmarvel.text import readable

Matrix = NDArray[np.float64]
MOST = 3  # arrows out of the cause whose witnesses are shown


@dataclass(frozen=True)
class Witness:
    """The variable that makes the arrow x --> v visible.

    Attributes
    ----------
    x, v : str
        The ends of the arrow.
    path : tuple of str
        From the witness to x: the two of them, or with causes of v between.
    tied : str
        How the witness and x are tied, in words.
    implied : Implied or None
        The independence of witness and v that this rests on, with its p-value; None where it was not tested.
    rejected : bool
        Whether the data reject it.
    missed : float or None
        Partial correlations of witness and v below this would be missed.
    bias : float or None
        A bias of the effect below this would be missed.
    """

    x: str
    v: str
    path: tuple[str, ...]
    tied: str
    implied: Implied | None = None
    rejected: bool = False
    missed: float | None = None
    bias: float | None = None

    def __str__(self) -> str:
        """Return the witness in words.

        Examples
        --------
        >>> one = Implied("C", "V", frozenset({"X"}), 0.28)
        >>> print(Witness("X", "V", ("C", "X"), "C affects X", one, missed=0.05))  # doctest: +NORMALIZE_WHITESPACE
        The learned graph excludes an unmeasured common cause of X and V, because C affects X and shows no association
        with V given X (p = 0.28). A partial correlation below 0.05 would be missed.
        """
        x, v, c = readable(self.x), readable(self.v), readable(self.path[0])
        p = "" if self.implied is None else f" ({p_is(self.implied.pvalue)})"
        given = "" if self.implied is None else " given" + separation(self.implied).partition(" given")[2]
        if self.rejected:
            return (
                f"An unmeasured common cause of {x} and {v} is not excluded: {self.tied}, and the data reject that {c}"
                f" and {v} are independent{given}{p}."
            )
        excluded = f"The learned graph excludes an unmeasured common cause of {x} and {v}, because {self.tied}"
        return f"{excluded} and shows no association with {v}{given}{p}.{self._missed}"

    @property
    def caution(self) -> str:
        """That much bias would be missed, as a clause."""
        both = f"{readable(self.x)} and {readable(self.v)}"
        moved = f"that moves the effect by up to {self.bias:.2g}"
        return f"an unmeasured common cause of {both} {moved} would have been missed"

    @property
    def _missed(self) -> str:
        if self.missed is None:
            return ""
        room = "" if self.bias is None else f", which leaves room for a bias of {self.bias:.2g}"
        return f" A partial correlation below {self.missed:.2g} would be missed{room}."

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        one = self.implied
        tested = None if one is None else {"given": sorted(one.given), "pvalue": one.pvalue}
        plain = {"x": self.x, "v": self.v, "path": list(self.path), "independence": tested}
        return {**plain, "rejected": self.rejected, "missed": self.missed, "bias": self.bias}


def witnesses(ready: Prepared, pair: Pair, result: object, covariance: Matrix | None = None) -> tuple[Witness, ...]:
    """Return for the arrows out of x on the way to y what makes them visible in a learned graph, y's own first.

    Of several witnesses the one is taken whose independence of the other end has the largest p-value.
    """
    if not isinstance(result, Discovery) or pair.invisible:
        return ()
    tested = {} if result.check is None else result.check.by_pair
    found = []
    for v in sorted(members(pair.first), key=lambda v: v != pair.y)[:MOST]:
        paths = _paths(ready, pair.x, v)
        if not paths:  # as was stated
            continue
        names = ready.graph.names
        pairs = [frozenset((names[path[0]], names[v])) for path in paths]
        values = [tested[both].pvalue if both in tested else -1.0 for both in pairs]
        best = int(np.argmax(values))
        found.append(
            _witness(ready, result, paths[best], v, tested.get(pairs[best]), covariance if v == pair.y else None)
        )
    return tuple(found)


def _paths(ready: Prepared, x: int, v: int) -> list[list[int]]:
    """Return the witnesses of x --> v: arrows into x from others, or paths through causes of v."""
    apart = ~ready.graph.masks.adjacent[v] & ~(1 << v)
    direct = [[c, x] for c in members(ready.arrow_into[x] & apart)]
    if direct:
        return direct
    inner = ready.graph.masks.parents[v]
    layer, seen = [[d, x] for d in members(ready.both_arrows[x] & inner)], 1 << x
    while layer:
        ends = [[c, *path] for path in layer for c in members(ready.arrow_into[path[0]] & apart & ~(1 << x))]
        if ends:
            return ends
        following = []
        for path in layer:
            seen |= 1 << path[0]
            following += [[d, *path] for d in members(ready.both_arrows[path[0]] & inner & ~seen)]
        layer = following
    return []


def _witness(
    ready: Prepared, result: Discovery, path: list[int], v: int, one: Implied | None, covariance: Matrix | None
) -> Witness:
    c, x = path[0], path[-1]
    names = ready.graph.names
    least = float(result.grades.noticed[c, v]) or None
    rejected = one is not None and result.check is not None and result.check.fails(one.x, one.y)
    bias = None
    if one is not None and least is not None and covariance is not None and len(path) == 2:
        given = [ready.graph.index(name) for name in one.given if ready.graph.index(name) != x]
        bias = _room(covariance, c, x, v, given, least)
    return Witness(
        names[x], names[v], ready.named(path), _tied(ready, path), one, rejected, None if rejected else least, bias
    )


def _tied(ready: Prepared, path: list[int]) -> str:
    c, x = (readable(ready.graph.names[v]) for v in (path[0], path[-1]))
    if len(path) > 2:
        return f"{c} is tied to {x} by {ready.path_text(path)}"
    at_c = int(ready.graph.marks[path[1], path[0]])
    if at_c == TAIL:
        return f"{c} affects {x}"
    return f"{c} shares a cause with {x}" if at_c == ARROW else f"{c} affects {x} or shares a cause with it"


def _room(covariance: Matrix, c: int, x: int, v: int, given: list[int], missed: float) -> float | None:
    """Return the bias that a partial correlation of c and v of this size goes with."""
    block = covariance[np.ix_([c, x, v], [c, x, v])]
    if given:
        across = covariance[np.ix_(given, [c, x, v])]
        block = block - across.T @ np.linalg.solve(covariance[np.ix_(given, given)], across)
    strength = block[0, 1] / block[0, 0]
    of_c, of_v = (block[k, k] - block[k, 1] ** 2 / block[1, 1] for k in (0, 2))
    if not strength or of_c <= 0:
        return None
    return float(missed * np.sqrt(of_v / of_c) / abs(strength))
