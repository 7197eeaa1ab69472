"""What a run found, and how: :class:`Discovery`.

The trace is a list of small records, in the order in which things happened, on positions; :class:`Discovery`
speaks of them by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, arrow
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import explain_invalid


@dataclass(frozen=True, slots=True)
class Separated:
    """A separating set was found: x and y are not adjacent."""

    x: int
    y: int
    sepset: frozenset[int]
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Adjacent:
    """No set of the search separates x and y; ``strongest`` came closest, with this p-value."""

    x: int
    y: int
    strongest: frozenset[int] | None
    pvalue: float
    phase: str


@dataclass(frozen=True, slots=True)
class Kept:
    """x was found not removable, because ``sepset``, which holds x, separates y and z and no set without x does."""

    x: int
    y: int
    z: int
    sepset: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class Removed:
    """x was removed, with this boundary and these adjacent variables among those that remained."""

    x: int
    boundary: frozenset[int]
    adjacent: frozenset[int]


@dataclass(frozen=True, slots=True)
class LeftBoundary:
    """The removal of x took y and z out of each other's Markov boundary."""

    x: int
    y: int
    z: int
    given: frozenset[int]
    pvalue: float


@dataclass(frozen=True, slots=True)
class NoneRemovable:
    """No variable of the remaining set was removable; its undecided pairs were settled by plain search."""

    remaining: frozenset[int]


@dataclass(frozen=True, slots=True)
class Moved:
    """A move of a search by score: the edge between x and y before and after, and the BIC that it led to."""

    x: int
    y: int
    before: str
    after: str
    bic: float


@dataclass(frozen=True, slots=True)
class BudgetEnded:
    """A budget ended the run; the undecided pairs stayed as edges."""

    reason: str


Event = Separated | Adjacent | Kept | Removed | LeftBoundary | NoneRemovable | Moved | BudgetEnded | RuleApplication


@dataclass(frozen=True)
class Statistics:
    """Tests and seconds of a run.

    Attributes
    ----------
    tests : mapping
        Distinct tests by phase and size of the conditioning set: ``tests["adjacency"][2]``.
    seconds : mapping
        Wall-clock seconds by phase of the work.

    Examples
    --------
    >>> stats = Statistics({"adjacency": {0: 3, 1: 1}}, {"skeleton": 0.1})
    >>> stats.n_tests, stats.mean_conditioning_size
    (4, 0.25)
    """

    tests: Mapping[str, Mapping[int, int]]
    seconds: Mapping[str, float]

    @property
    def n_tests(self) -> int:
        """All distinct tests, boundary stage included."""
        return sum(sum(sizes.values()) for sizes in self.tests.values())

    def without(self, phase: str) -> Statistics:
        """Return the statistics without one phase, as the paper counts: without "boundary"."""
        return Statistics({p: sizes for p, sizes in self.tests.items() if p != phase}, self.seconds)

    def by_size(self) -> dict[int, int]:
        """Return the tests of all phases by size of the conditioning set."""
        total: dict[int, int] = {}
        for sizes in self.tests.values():
            for size, tests in sizes.items():
                total[size] = total.get(size, 0) + tests
        return dict(sorted(total.items()))

    @property
    def mean_conditioning_size(self) -> float:
        """The average size of the conditioning sets."""
        sizes = self.by_size()
        return sum(size * tests for size, tests in sizes.items()) / max(sum(sizes.values()), 1)


@dataclass(frozen=True)
class Discovery:
    """A learned PAG with everything that led to it.

    Attributes
    ----------
    pag : PAG
        The result.
    sepsets : mapping
        A separating set for each pair that was separated, by names; pairs that the Markov boundaries
        separate are answered too.
    boundaries : mapping
        The Markov boundary of each variable.
    stats : Statistics
        Tests and seconds.
    trace : tuple
        What happened, in order.
    settings : mapping
        The parameters of the run.
    undecided : sequence of pairs
        Pairs that a budget left open; they are edges of the PAG, but were not shown to be adjacent.
    mag, bic : MAG, float, optional
        The graph that a search by score chose, and its BIC.

    Examples
    --------
    >>> from lmarvel import DAG, LMarvel, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> found = LMarvel(test=MSeparation(truth)).fit().result_
    >>> print(found.describe("A", "C"))
    A o-> C: C is not a cause of A. A may be a cause of C, or they may share an unmeasured cause.
    """

    pag: PAG
    sepsets: Mapping[tuple[str, str], frozenset[str]]
    boundaries: Mapping[str, frozenset[str]]
    stats: Statistics
    trace: tuple[Event, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    undecided: Sequence[tuple[str, str]] = ()
    mag: MAG | None = None
    bic: float | None = None

    @property
    def removal_order(self) -> tuple[str, ...]:
        """The variables in the order in which they were removed."""
        return tuple(self.pag.names[e.x] for e in self.trace if isinstance(e, Removed))

    @property
    def rules(self) -> tuple[RuleApplication, ...]:
        """Every application of an orientation rule, in order."""
        return tuple(e for e in self.trace if isinstance(e, RuleApplication))

    @property
    def budget_ended(self) -> str | None:
        """Why a budget ended the run or left pairs undecided; None if none did."""
        ended = next((e.reason for e in self.trace if isinstance(e, BudgetEnded)), None)
        return ended or ("max_conditioning limited the search" if self.undecided else None)

    @property
    def nothing_learned(self) -> bool:
        """True if a budget ended the run before a single pair was decided."""
        return len(self.undecided) == self.pag.n_edges == len(self.pag) * (len(self.pag) - 1) // 2 > 0

    @property
    def none_removable(self) -> frozenset[str]:
        """The variables that remained when none of them tested as removable; empty if that never happened."""
        left = next((e.remaining for e in self.trace if isinstance(e, NoneRemovable)), frozenset())
        return frozenset(self.pag.names[v] for v in left)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON.

        Separating sets that the Markov boundaries imply are left out: they are the smaller boundary of the pair.
        """
        pag = self.pag
        found = (e for e in self.trace if isinstance(e, Separated))
        sepsets = {(min(e.x, e.y), max(e.x, e.y)): e for e in found}
        return {
            "format": "lmarvel-result",
            "version": 1,
            "nodes": list(pag.names),
            "edges": [str(edge) for edge in pag.edges()],
            "undecided": [list(pair) for pair in self.undecided],
            "illegal": None if self.undecided else self.why_illegal,
            "sepsets": [
                {
                    "pair": [pag.names[x], pag.names[y]],
                    "sepset": sorted(pag.names[v] for v in e.sepset),
                    "pvalue": e.pvalue,
                    "phase": e.phase,
                }
                for (x, y), e in sorted(sepsets.items())
            ],
            "boundaries": {name: sorted(mb) for name, mb in self.boundaries.items()},
            "removal_order": list(self.removal_order),
            "tests": {phase: {str(k): v for k, v in sizes.items()} for phase, sizes in self.stats.tests.items()},
            "seconds": dict(self.stats.seconds),
            "settings": {k: _plain(v) for k, v in self.settings.items() if isinstance(v, str | int | float | None)},
        }

    @property
    def why_illegal(self) -> str | None:
        """None if some MAG has exactly this PAG, else the reason why not; finite samples often give one."""
        return explain_invalid(self.pag)

    def describe(self, a: str, b: str) -> str:
        """Return what the edge between two variables (or its absence) says, in plain words."""
        edge = self.pag.edge(a, b)
        if a == b:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        if edge is None:
            given = self.sepsets.get((a, b))
            return f"{a}, {b}: not adjacent. " + (
                f"They are independent given {', '.join(sorted(given))}." if given else "They are independent."
            )
        if any({a, b} == set(pair) for pair in self.undecided):
            return f"{edge}: undecided, a budget ended the search: the edge was not shown to be there."
        return f"{edge}: {meaning(edge, settled=self._not_selected(edge))}"

    def _not_selected(self, edge: Edge) -> bool:
        """Tell whether the end with the tail has an arrowhead elsewhere: then it does not cause selection."""
        tail = edge.a if edge.at_a == TAIL else edge.b
        return any(at_tail == ARROW for _, at_tail, _ in self.pag.links[self.pag.index(tail)])

    def origin(self, a: str, b: str) -> str:
        """Return where the edge between two variables and its marks came from."""
        i, j = self.pag.index(a), self.pag.index(b)
        if i == j:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        return "; ".join(self._origin(i, j))

    def _origin(self, i: int, j: int) -> Iterator[str]:
        names = self.pag.names
        for e in self.trace:
            if isinstance(e, Adjacent) and {e.x, e.y} == {i, j}:
                yield f"no separating set in the {e.phase} search"
            elif isinstance(e, RuleApplication):
                for x, y, mark in e.written:
                    if {x, y} == {i, j}:
                        kind = {ARROW: "arrowhead", TAIL: "tail"}[mark]
                        where = ", ".join(names[v] for v in e.nodes)
                        yield f"{kind} at {names[y]} by {e.rule} on {where}"


def _plain(value: object) -> object:
    """Return a value that JSON can hold: infinity, a budget without a limit, becomes None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


_MEANING = {
    (TAIL, ARROW): "{a} is a cause of {b}, or of being in the sample; {b} is not a cause of {a}.",
    (ARROW, ARROW): "neither is a cause of the other: they share an unmeasured cause.",
    (TAIL, TAIL): "selection: both influence being in the sample.",
    (CIRCLE, ARROW): "{b} is not a cause of {a}. {a} may be a cause of {b}, or they may share an unmeasured cause.",
    (CIRCLE, CIRCLE): "they are dependent whatever else is known. The data do not tell why: either may cause the other,"
    " they may share an unmeasured cause, or both may influence being in the sample.",
    (CIRCLE, TAIL): "{b} is a cause of {a}, or of being in the sample; the data do not tell about {a}.",
}


def meaning(edge: Edge, settled: bool = False) -> str:
    """Return in a plain sentence what an edge of a PAG says.

    ``settled`` means that the end with the tail is known not to cause selection, so that it causes the other.

    Examples
    --------
    >>> from lmarvel.graph.marks import parse_edge
    >>> meaning(parse_edge("A <-> B"))
    'neither is a cause of the other: they share an unmeasured cause.'
    """
    if (edge.at_a, edge.at_b) not in _MEANING:
        edge = edge.reversed()
    text = _MEANING[edge.at_a, edge.at_b].format(a=edge.a, b=edge.b)
    return text.replace(", or of being in the sample;", ";") if settled else text


def edge_kinds() -> dict[str, str]:
    """Return each kind of edge of a PAG with what it means, for legends."""
    return {arrow(*marks): text.format(a="A", b="B") for marks, text in _MEANING.items()}
