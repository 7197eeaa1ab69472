"""What a PAG says about the effect of each variable on each other one: none, identified (how), or not (why).

For one pair this takes microseconds where adjustment decides, so that all pairs of fifty variables take less than a
second. An effect that is not amenable is not identified by anything (:mod:`lmarvel.effects.identify` says why), so the
full algorithm is asked in rare cases only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lmarvel.effects.adjustment import canonical_set, not_amenable, pair_of
from lmarvel.effects.claims import Claims
from lmarvel.effects.claims import Status as CauseStatus
from lmarvel.effects.formula import Density, Formula, marginal, product
from lmarvel.effects.identify import Hedge, identify, identify_given
from lmarvel.effects.knowing.informed import as_informed
from lmarvel.effects.pag_index import Askable, Prepared, Stated, prepare, selection_near
from lmarvel.errors import GraphError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE
from lmarvel.knowledge import Knowledge, Known
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.result.discovery import Discovery
from lmarvel.result.missing import only_apart
from lmarvel.text import counted, listing, readable

ASSUME = ", or assume "  # what begins the part of a remedy that is a statement, and may not be enough alone
FOLLOWS = "it follows from what you stated"
Status = Literal["none", "adjustment", "formula", "not identified"]


@dataclass(frozen=True)
class Identified:
    """Whether and how an effect is identified.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    cause : 'definite', 'possible' or 'impossible'
        Whether x causes y at all: under every explanation, under some, or under none.
    status : 'none', 'adjustment', 'formula' or 'not identified'
        No effect under any explanation; the same effect under all of them, by adjustment or by a formula only; or
        neither.
    adjustment : tuple of str or None
        A valid adjustment set, the largest of its kind.
    formula : Formula or None
        The formula; over the positions of the graph.
    steps : tuple of str
        How it was found.
    because, unless : str
        Where it is not identified: why not, and what would help.
    path : tuple of str
        The path that stands in the way.
    """

    x: str
    y: str
    cause: CauseStatus
    status: Status
    adjustment: tuple[str, ...] | None = None
    formula: Formula | None = None
    steps: tuple[str, ...] = ()
    because: str = ""
    unless: str = ""
    path: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, without the formula and its steps."""
        return {
            "x": self.x,
            "y": self.y,
            "cause": self.cause,
            "status": self.status,
            "adjustment": None if self.adjustment is None else list(self.adjustment),
            "because": self.because,
            "unless": self.unless,
            "path": list(self.path),
        }


def ready_for_effects(result: Discovery | Askable | Prepared) -> Prepared:
    """Return the graph of a result, ready for questions; refuse one that a search left open or that no MAG has."""
    if isinstance(result, Discovery):
        if result.undecided:
            pairs = f"{counted(len(result.undecided), 'pair')} of variables"
            if only_apart(result):
                raise GraphError(
                    f"too few rows have both variables of {pairs}, so no effect can be read: leave one of each out"
                )
            raise GraphError(
                f"the search ended before {pairs} could be decided, so no effect can be read: give it more time"
            )
        return _of_result(result)
    return prepare(result)


def _of_result(result: Discovery) -> Prepared:
    """Return the graph that was learned, or what the graphs of its class share that fit what was stated."""
    if result.known is None or result.knowledge is None or result.unaided is None:
        return prepare(result.pag)
    return ready_as_stated(result.pag, result.unaided, result.known, result.knowledge)


def ready_as_stated(pag: PAG, unaided: PAG, known: Known, knowledge: Knowledge) -> Prepared:
    """Return what was learned with statements, ready for questions; refuse it where the two contradict each other."""
    ready = as_informed(pag, unaided, known)
    against = None if ready.exact else explain_invalid(pag, knowledge)
    if against is not None:
        raise GraphError(
            f"no effect can be read, because what you stated contradicts what was learned ({against}): leave a"
            " statement out"
        )
    return ready


def all_effects(result: Discovery | Askable | Prepared) -> list[Identified]:
    """Return for every ordered pair whether and how its effect is identified.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> for pair in all_effects(PAG.from_edges("A o-> C", "B o-> C", "C --> D"))[:3]:
    ...     print(pair.x, pair.y, pair.status)
    A C not identified
    A B none
    A D not identified
    """
    ready = ready_for_effects(result)
    n = len(ready.graph)
    selected = [selection_near(ready.graph, 1 << v) for v in range(n)]
    claims = Claims(ready)
    return [
        _classify(ready, x, y, claims.on(y)[x].status, selected[x] or selected[y])
        for x in range(n)
        for y in range(n)
        if x != y
    ]


def classify(ready: Prepared, x: int, y: int) -> Identified:
    """Return whether and how the effect of x on y is identified."""
    selected = selection_near(ready.graph, 1 << x | 1 << y)
    return _classify(ready, x, y, Claims(ready).on(y)[x].status, selected)


def _classify(ready: Prepared, x: int, y: int, cause: CauseStatus, selected: str | None) -> Identified:
    names = ready.graph.names
    if selected is not None:
        return _of_selection(names[x], names[y], cause, selected)
    pair = pair_of(ready, x, y)
    if not pair.first:
        return Identified(names[x], names[y], cause, "none", because=points_back(names[x], names[y]))
    if ready.said_never(x, y):  # which marks need not show
        return Identified(names[x], names[y], cause, "none", because=FOLLOWS)
    if pair.invisible:
        path, because = not_amenable(ready, pair)
        if isinstance(ready, Stated):
            both = f"both {readable(path[0])} and {readable(path[1])}"
            because, unless = f"an unmeasured cause affects {both}", f"you measure what affects {both}"
            return Identified(names[x], names[y], cause, "not identified", because=because, unless=unless, path=path)
        return Identified(
            names[x], names[y], cause, "not identified", because=because, unless=_remedy(ready, x, path[1]), path=path
        )
    z = canonical_set(ready, pair)
    if z is not None:
        formula = adjustment_formula(x, y, z)
        return Identified(names[x], names[y], cause, "adjustment", adjustment=ready.named(z), formula=formula)
    identification = identify(ready, 1 << x, 1 << y)
    steps = tuple(step.words for step in identification.steps)
    if identification.formula is not None:
        return Identified(names[x], names[y], cause, "formula", formula=identification.formula, steps=steps)
    assert identification.hedge is not None
    return _hedged(ready, x, y, cause, identification.hedge, steps)


def points_back(x: str, y: str) -> str:
    """Say why there is no effect of one variable on another, in a graph that is taken at its word."""
    return f"no path leads from {readable(x)} to {readable(y)} without an edge that points back"


def classify_given(ready: Prepared, x: int, y: int, z: int) -> Identified:
    """Return whether and how the effect of x on y given z is identified."""
    names = ready.graph.names
    selected = selection_near(ready.graph, 1 << x | 1 << y | z)
    cause = Claims(ready).on(y)[x].status
    if selected is not None:
        return _of_selection(names[x], names[y], cause, selected)
    identification = identify_given(ready, 1 << x, 1 << y, z)
    steps = tuple(step.words for step in identification.steps)
    if identification.formula is None:
        assert identification.hedge is not None
        return _hedged(ready, x, y, cause, identification.hedge, steps)
    if not identification.formula.given >> x & 1:
        conditions = listing(sorted(ready.named(z)))
        why = f"given {conditions}, what {readable(names[y])} is does not depend on what {readable(names[x])} is set to"
        return Identified(names[x], names[y], cause, "none", formula=identification.formula, steps=steps, because=why)
    return Identified(names[x], names[y], cause, "formula", formula=identification.formula, steps=steps)


def adjustment_formula(x: int, y: int, z: int) -> Formula:
    """Return the sum over z of P(y | x, z) P(z)."""
    return marginal(product([Density(1 << y, 1 << x | z), Density(z, 0)]), 1 << y)


def _of_selection(x: str, y: str, cause: CauseStatus, selected: str) -> Identified:
    unless = "you have a sample that nobody was selected into by these variables or what they affect"
    return Identified(x, y, cause, "not identified", because=selected, unless=unless)


def _remedy(ready: Prepared, x: int, neighbour: str) -> str:
    """Say what would make the edge between x and another one visible."""
    graph = ready.graph
    a, b = readable(graph.names[x]), readable(neighbour)
    v = graph.index(neighbour)
    measure = (
        f"you measure what affects both {a} and {b}, or something that affects {a} and affects {b} through {a} only"
    )
    if ready.told_apart(x, v):
        return f"you state which of {a} and {b} comes first"
    at_x, at_v = int(graph.marks[v, x]), int(graph.marks[x, v])
    if at_x == at_v == CIRCLE:
        return f"{measure}{ASSUME}which of the two comes first, and that nothing unmeasured affects both"
    return f"{measure}{ASSUME}that nothing unmeasured affects both"


def _hedged(ready: Prepared, x: int, y: int, cause: CauseStatus, hedge: Hedge, steps: tuple[str, ...]) -> Identified:
    names = ready.graph.names
    a, b = readable(names[hedge.stuck]), readable(names[hedge.partner])
    if isinstance(ready, Stated):
        because = f"{a} affects {b}, and unmeasured causes, one or a chain of them, tie both together"
    elif ready.bucket(hedge.stuck) >> hedge.partner & 1:
        because = f"the data do not show which of {a} and {b} comes first"
    elif ready.told_apart(hedge.stuck, hedge.partner):
        because = f"{a} may affect {b}, and the data do not exclude a chain of unmeasured causes through others"
        unless = f"you measure what ties {a} and {b} to others, or state more of what comes first"
        return Identified(names[x], names[y], cause, "not identified", steps=steps, because=because, unless=unless)
    else:
        hidden = "unmeasured causes, one or a chain of them, that tie both together"
        because = f"{a} may affect {b}, and the data do not exclude {hidden}"
    unless = f"you measure what ties {a} and {b} together{ASSUME}that nothing unmeasured does"
    path = (names[hedge.stuck], names[hedge.partner])
    return Identified(
        names[x], names[y], cause, "not identified", steps=steps, because=because, unless=unless, path=path
    )
