"""Direct and indirect effects: how much of the effect of X on Y goes through M, and how much does not.

The *direct* effect is what one unit more of X does to Y while M is held fixed by setting it. It is an effect of setting
X and M together, so the adjustment criterion for sets decides (Perković, Textor, Kalisch & Maathuis 2018), with S the
set of X and M: every path of possible steps from S to Y that meets S at its start only begins with a visible arrow; the
adjustment set holds nothing that such a path may affect; and it blocks every other path from S to Y. In a linear model
the coefficient of X in the regression of Y on X, M and the set is then the direct effect, in every explanation. The
*indirect* effect, through M, is the total effect less the direct one, where the total effect is identified by
adjustment as well. With interactions between X and M there is no such split, and none is estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from lmarvel.data import Kind
from lmarvel.effects.adjustment import Pair, checked_pair, minimal_sets, not_amenable, pair_of
from lmarvel.effects.answer import Answering
from lmarvel.effects.caveats import Bearing, listed_statements, statements_of
from lmarvel.effects.claims import Claims
from lmarvel.effects.classify import classify, ready_for_effects
from lmarvel.effects.knowing.informed import open_walk
from lmarvel.effects.numbers.estimate import DEFAULT, Estimate, Estimation, pooled
from lmarvel.effects.numbers.estimating import bootstrapped
from lmarvel.effects.numbers.question import read_table
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.effects.pag_index import Askable, Prepared, Stated, node_set, selection_near
from lmarvel.errors import DataError, GraphError, ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import ADMG
from lmarvel.graph.marks import NONE, TAIL
from lmarvel.graph.mixed import MixedGraph, Node
from lmarvel.graph.separation import m_separated
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.grades import LIKELY
from lmarvel.text import ShownAsText, joined, listing, readable, sentence


@dataclass(frozen=True)
class Mediation(ShownAsText):
    """How an effect splits into a direct part and one through other variables; print it to read it.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    through : tuple of str
        The variables that are held fixed for the direct effect.
    adjusted : tuple of str
        What to adjust for to get the direct effect, beside these.
    total_adjusted : tuple of str or None
        What to adjust for to get the total effect; None where that is not identified by adjustment.
    because : str
        Why the total effect, and so the part through others, is not identified.
    direct, total, indirect : Estimate or None
        The numbers, with data.
    cautions : tuple of str
        What speaks against relying on the answer.
    statements : tuple of str
        What was stated beforehand.
    rests_on : str
        What has to be true for the answer to be.

    Examples
    --------
    >>> from lmarvel import DAG, mediation
    >>> print(mediation(DAG.from_edges("X --> M", "M --> Y", "X --> Y"), "X", "Y", "M").sentence)
    The direct effect of X on Y, with M held fixed, is identified, and so is the effect through M.
    """

    x: str
    y: str
    through: tuple[str, ...]
    adjusted: tuple[str, ...]
    total_adjusted: tuple[str, ...] | None
    because: str
    direct: Estimate | None
    total: Estimate | None
    indirect: Estimate | None
    cautions: tuple[str, ...]
    statements: tuple[str, ...]
    rests_on: str

    @property
    def sentence(self) -> str:
        """The answer in words."""
        x, y, held = readable(self.x), readable(self.y), joined(map(readable, self.through))
        rest = f"The effect through {held} is not identified, because {self.because}."
        if self.direct is None:
            found = f"The direct effect of {x} on {y}, with {held} held fixed, is identified"
            return f"{found}. {rest}" if self.because else f"{found}, and so is the effect through {held}."
        if self.total is None:
            return f"With {held} held fixed, {x} affects {y} by {self.direct}. {rest}"
        return f"{x} affects {y} by {self.direct} directly and by {self.indirect} through {held}: {self.total} in all."

    def __str__(self) -> str:
        lines = [f"Caution: {self.cautions[0]}.", *map(sentence, self.cautions[1:])] if self.cautions else []
        lines.append(self.sentence)
        by = f"adjusting for {listing(sorted(self.through + self.adjusted))}"
        lines.append(f"  direct: {by}" + (f" ({self.direct.method})" if self.direct else ""))
        if self.total_adjusted is not None:
            lines.append(f"  in all: adjusting for {listing(sorted(self.total_adjusted))}")
        if self.statements:
            lines.append(f"You stated: {listed_statements(self.statements)}.")
        return "\n".join([*lines, f"{self.rests_on} Effects are taken to be linear, without interactions."])

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        numbers = {"direct": self.direct, "total": self.total, "indirect": self.indirect}
        total = None if self.total_adjusted is None else list(self.total_adjusted)
        lists = {name: list(vars(self)[name]) for name in ("through", "adjusted", "cautions", "statements")}
        plain = {name: None if one is None else one.to_dict() for name, one in numbers.items()}
        return {**self.__dict__, **lists, **plain, "total_adjusted": total, "sentence": self.sentence}


def mediation(
    result: Discovery | Askable | Prepared,
    x: Node,
    y: Node,
    through: Node | Iterable[Node],
    data: Any = None,
    *,
    bootstrap: int | None = None,
    seed: int = 0,
) -> Mediation:
    """Return the direct effect of ``x`` on ``y`` with other variables held fixed, and the effect through these.

    Parameters
    ----------
    result : Discovery, PAG, MAG, DAG or ADMG
        What was learned, or a graph of your own.
    x, y : str
        Cause and outcome.
    through : str or sequence of str
        The variables between them.
    data : array, frame, mapping, path or Dataset, optional
        The table; without it the answer has no numbers.
    bootstrap : int, optional
        Number of replicates for the intervals; by default 200.
    seed : int
        For the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import DAG
    >>> x, e, f = np.random.default_rng(0).normal(size=(3, 2000))
    >>> m = 0.8 * x + e
    >>> table = {"X": x, "M": m, "Y": 0.3 * x + 0.5 * m + f}
    >>> print(mediation(DAG.from_edges("X --> M", "M --> Y", "X --> Y"), "X", "Y", "M", table).sentence)
    X affects Y by 0.308 (0.251 to 0.357) directly and by 0.377 (0.34 to 0.418) through M: 0.685 (0.641 to 0.727) \
in all.
    """
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    held = node_set(ready.graph, through)
    _check_held(ready, i, j, held)
    z = direct_set(ready, i, j, held)
    told = classify(ready, i, j)
    total = None
    if told.status == "adjustment":
        total = min(minimal_sets(ready, pair_of(ready, i, j)), key=int.bit_count)
    table = None if data is None else read_table(ready, data, result)
    names, how = ready.graph.names, Estimation(bootstrap, seed)
    direct = in_all = indirect = None
    if table is not None:
        sets = ready.named(z), None if total is None else ready.named(total)
        direct, in_all, indirect = _estimates(table, names[i], names[j], ready.named(held), *sets, how)
    bearing = Bearing(Claims.of(result, ready)).within(ready.possible_ancestors(1 << i | 1 << j | held))
    return Mediation(
        names[i],
        names[j],
        ready.named(held),
        ready.named(z),
        None if total is None else ready.named(total),
        "" if total is not None else told.because or "only a formula gives the effect in all",
        direct,
        in_all,
        indirect,
        bearing.cautions() if 0 < bearing.level < LIKELY else (),
        statements_of(result),
        Answering(ready, table, result).rests_on(table is not None),
    )


def _check_held(ready: Prepared, x: int, y: int, held: int) -> None:
    """Refuse variables that cannot stand between two others."""
    if not held or held & (1 << x | 1 << y):
        raise ParameterError("must name variables between the cause and the outcome", parameter="through")
    selected = selection_near(ready.graph, 1 << x | 1 << y | held)
    if selected is not None:
        raise GraphError(f"no direct effect is identified: {selected}")
    a, b = readable(ready.graph.names[x]), readable(ready.graph.names[y])
    for v in members(held & ~pair_of(ready, x, y).between):
        m = readable(ready.graph.names[v])
        raise GraphError(f"the effect of {a} on {b} does not go through {m}: {m} is on no path on which {a} may act")


# --- identification ---------------------------------------------------------------------------------------


def direct_set(ready: Prepared, x: int, y: int, held: int) -> int:
    """Return what to adjust for, beside ``held``, to get the direct effect; refuse where no set is valid."""
    both = 1 << x | held
    others = ready.everything & ~both
    above = ready.possible_ancestors(1 << y, others)
    first = {s: ready.out[s] & above for s in members(both)}
    a, b = readable(ready.graph.names[x]), readable(ready.graph.names[y])
    fixed = joined(map(readable, ready.named(held)))
    for s, after in first.items():
        if invisible := after & ~ready.visible[s]:
            path, why = not_amenable(ready, Pair(s, y, after, invisible, 0, 0))
            if isinstance(ready, Stated):
                why = f"an unmeasured cause affects both {readable(path[0])} and {readable(path[1])}"
            raise GraphError(f"the direct effect of {a} on {b}, {fixed} held fixed, is not identified, because {why}")
    between = ready.possible_descendants(reduce(or_, first.values()), others) & above
    forbidden = ready.possible_descendants(between)
    z = ready.possible_ancestors(both | 1 << y) & ~both & ~(1 << y) & ~forbidden
    blocks = _Blocking(ready, first, both, 1 << y)
    if not blocks(z):
        raise GraphError(
            f"the direct effect of {a} on {b}, {fixed} held fixed, is not identified by adjustment: no set of measured"
            " variables blocks every path that is not causal"
        )
    for v in members(z):
        if blocks(z & ~(1 << v)):
            z &= ~(1 << v)
    return z


class _Blocking:
    """Whether a set blocks all paths from some variables to another that do not start as causal ones do."""

    def __init__(self, ready: Prepared, first: dict[int, int], start: int, end: int) -> None:
        self._ready, self._start, self._end = ready, start, end
        gone = {(s, v) for s, after in first.items() for v in members(after)}
        gone |= {(v, s) for s, v in gone}
        self._cut: MixedGraph | None = None
        if isinstance(ready, Stated):
            names = {(ready.graph.names[a], ready.graph.names[b]) for a, b in gone}
            kept = [e for e in ready.stated.edges if TAIL not in (e.at_a, e.at_b) or (e.a, e.b) not in names]
            self._cut = Stated(ADMG(ready.stated.names, kept)).graph
        elif ready.exact:
            marks = ready.mag.marks.copy()
            for a, b in gone:
                marks[a, b] = NONE
            self._cut = MixedGraph._trusted(ready.graph.names, marks)
        self._links = [
            [link for link in around if (v, link[0]) not in gone] for v, around in enumerate(ready.graph.links)
        ]

    def __call__(self, z: int) -> bool:
        if self._cut is not None:
            return m_separated(self._cut, self._start, self._end, z)
        return open_walk(self._ready, self._links, self._start, self._end, z) is None


# --- numbers ----------------------------------------------------------------------------------------------


def _estimates(
    table: Columns,
    x: str,
    y: str,
    held: tuple[str, ...],
    z: tuple[str, ...],
    total: tuple[str, ...] | None,
    how: Estimation = DEFAULT,
) -> Sequence[Estimate | None]:
    """Return the direct effect, the total effect and their difference, as far as they are identified."""
    if table.incomplete:
        whole = [_estimates(one, x, y, held, z, total, how.fewer) for one in table.completed(how.seed)]
        found = pooled([[one for one in row if one is not None] for row in whole])
        return found if total is not None else [*found, None, None]
    names = list(dict.fromkeys((x, *held, *z, *(total or ()), y)))
    labels = [name for name in names if table.kind(name) == Kind.NOMINAL]
    if labels:
        raise DataError(
            f"direct effects are estimated from numbers, and {listing(sorted(labels))} has categories without an order"
        )
    scatter = table.scatter([table.names.index(name) for name in names])

    def coefficient(among: Vector, given: Sequence[str]) -> float:
        at = [names.index(name) for name in (x, *given)]
        return float(np.linalg.solve(among[np.ix_(at, at)], among[at, -1])[0])

    def parts(weights: Vector) -> Vector:
        among = scatter(weights)
        direct = coefficient(among, (*held, *z))
        if total is None:
            return np.array([direct])
        in_all = coefficient(among, total)
        return np.array([direct, in_all, in_all - direct])

    contrast = table.contrasts(x)[0]
    texts = [f"{contrast}: {part}" for part in ("direct", "in all", "through others")][: 1 if total is None else 3]
    found = bootstrapped(table, parts, texts, "least squares", None, how)
    return found if total is not None else [*found, None, None]
