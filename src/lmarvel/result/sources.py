"""What a result says of what was known beforehand: where its marks come from, and which statements the tests deny."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge import Knowledge, Known
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.stated import K0
from lmarvel.result.evidence import Evidenced
from lmarvel.result.evidence_wording import weakest, without_latents
from lmarvel.result.trace import Adjacent, Event, Overruled, Separated
from lmarvel.text import readable


class Conflict(NamedTuple):
    """A statement that was kept though the tests contradict it.

    Attributes
    ----------
    a, b : str
        The two variables.
    statement : str
        What was said of them, in words.
    given : tuple of str, optional
        The set of the test that speaks against it: given it the two are independent though said to be adjacent; or it
        came closest to separating them though they were said not to be; or it separates two variables with a third, at
        which the statement puts a tail, between them. None where no single test does.
    pvalue : float, optional
        Its p-value.
    """

    a: str
    b: str
    statement: str
    given: tuple[str, ...] | None
    pvalue: float | None


class Informed(Evidenced):
    """What a result says of what was known beforehand; it has a PAG, a trace, and the graph without knowledge."""

    pag: PAG
    trace: Sequence[Event]
    knowledge: Knowledge | None
    unaided: PAG | None

    @cached_property
    def known(self) -> Known | None:
        """The statements on the positions of the variables; None where nothing was known."""
        return None if self.knowledge is None else Known.of(self.knowledge.statements, self.pag.names)

    def fitting(self, meaning: str) -> str:
        """Return what an edge says, as far as it fits what was known."""
        return meaning if self.knowledge is None or self.knowledge.latents else without_latents(meaning)

    def source(self, a: str, b: str) -> str | None:
        """Return where the mark at b on the edge a-b comes from; None at a circle, or where nothing was known.

        "data": the tests (or the score) give it, and no statement does. "knowledge": a statement gives it, and the data
        do not. "both": each gives it. "together": it follows from the two, and from neither alone.

        Examples
        --------
        >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
        >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
        >>> found = LMarvel(test=truth, knowledge=Knowledge(tiers=[["A"], ["B", "C"]])).fit().result_
        >>> print(found.pag, found.source("A", "B"), found.source("B", "C"), sep="\\n")
        nodes: A B C
        A o-> B
        B --> C
        knowledge
        together
        """
        x, y = self.pag.index(a), self.pag.index(b)
        mark = self.pag.marks[x, y]
        if self.known is None or self.unaided is None or mark <= CIRCLE:
            return None
        stated = self.known.mark(x, y) == mark
        if self.unaided.marks[x, y] == mark:
            return "both" if stated else "data"
        return "knowledge" if stated else "together"

    def support_word(self, a: str, b: str) -> str | None:
        """Return "firm", "likely" or "open" for the weaker mark of an edge that the data give; None without one."""
        if self.known is None:
            return super().support_word(a, b)
        x, y = self.pag.index(a), self.pag.index(b)
        ends = [end for end, pair in (((x, y), (a, b)), ((y, x), (b, a))) if self.source(*pair) == "data"]
        return weakest(word for end in ends if (word := self.evidence.mark_word(*end)) is not None)

    @property
    def sources(self) -> dict[str, int]:
        """How many marks come from where, see :meth:`source`; empty where nothing was known."""
        counts: dict[str, int] = {}
        for edge in self.pag.edges() if self.known is not None else ():
            for a, b in ((edge.b, edge.a), (edge.a, edge.b)):
                where = self.source(a, b)
                if where is not None:
                    counts[where] = counts.get(where, 0) + 1
        return counts

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Statements that the tests contradict; they were kept.

        Examples
        --------
        >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
        >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
        >>> LMarvel(test=truth, knowledge=Knowledge(edges=[("A", "C")])).fit().result_.conflicts[0]
        Conflict(a='A', b='C', statement='you said that A and C are adjacent', given=('B',), pvalue=1.0)
        """
        if self.known is None:
            return ()
        found: dict[tuple[int, int, str], Conflict] = {}
        for x, y, said, given, p in chain(*(look(self.known) for look in (self._overruled, self._refused, self._lost))):
            names = self.pag.names
            sepset = None if given is None else tuple(sorted(names[v] for v in given))
            key = min(x, y), max(x, y), said
            found.setdefault(key, Conflict(names[key[0]], names[key[1]], said, sepset, p))
        return tuple(found.values())

    def _overruled(self, known: Known) -> Iterator[tuple[int, int, str, frozenset[int] | None, float | None]]:
        for e in self.trace:
            if isinstance(e, Overruled):
                yield e.x, e.y, known.why_pair(e.x, e.y), e.strongest, e.pvalue

    def _refused(self, known: Known) -> Iterator[tuple[int, int, str, frozenset[int] | None, float | None]]:
        """Iterate over the marks that a rule wanted where a statement had put another."""
        rules = [e for e in self.trace if isinstance(e, RuleApplication)]
        stated = {(x, y) for e in rules if e.rule == K0.name for x, y, _ in e.written}
        tests = {frozenset((e.x, e.y)): e for e in self.trace if isinstance(e, Separated)}
        for use in rules:
            for x, y, _ in use.refused:
                if (x, y) in stated:
                    test = tests.get(frozenset((use.nodes[0], use.nodes[-1]))) if use.rule == "R0" else None
                    speaks = (None, None) if test is None else (test.sepset, test.pvalue)
                    yield x, y, known.why_mark(x, y), *speaks

    def _lost(self, known: Known) -> Iterator[tuple[int, int, str, frozenset[int] | None, float | None]]:
        """Iterate over the marks that the data alone give otherwise than a statement."""
        for x, y in np.argwhere(self.pag.marks > CIRCLE).tolist():
            alone = CIRCLE if self.unaided is None else self.unaided.marks[x, y]
            if known.mark(x, y) != CIRCLE and alone > CIRCLE and alone != self.pag.marks[x, y]:
                yield x, y, known.why_mark(x, y), None, None

    def _encode_knowledge(self) -> dict[str, Any]:
        """Return the parts of a result file that only a result with knowledge has."""
        if self.knowledge is None or self.unaided is None:
            return {}
        conflicts = [
            {"pair": [c.a, c.b], "statement": c.statement, "given": c.given and list(c.given), "pvalue": c.pvalue}
            for c in self.conflicts
        ]

        return {
            "knowledge": self.knowledge.to_dict(),
            "unaided": [str(edge) for edge in self.unaided.edges()],
            "sources": [[e.a, e.b, self.source(e.b, e.a), self.source(e.a, e.b)] for e in self.pag.edges()],
            "conflicts": conflicts,
        }

    def origin(self, a: str, b: str) -> str:
        """Return where the edge between two variables and its marks came from."""
        i, j = self.pag.index(a), self.pag.index(b)
        if i == j:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        return "; ".join(self._origin(i, j))

    def _origin(self, i: int, j: int) -> Iterator[str]:
        names = [readable(name) for name in self.pag.names]
        for e in self.trace:
            if isinstance(e, Adjacent) and {e.x, e.y} == {i, j}:
                yield f"no separating set in the {e.phase} search"
            elif isinstance(e, RuleApplication):
                for x, y, mark in e.written:
                    if {x, y} == {i, j}:
                        kind = {ARROW: "arrowhead", TAIL: "tail"}[mark]
                        where = ", ".join(names[v] for v in e.nodes)
                        yield f"{kind} at {names[y]} by {e.rule} on {where}"
