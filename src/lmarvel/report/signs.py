"""The signs on edges of the picture: what is undecided, contradicted, doubtful, or known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from lmarvel.graph.bitsets import closure
from lmarvel.graph.marks import ARROW, TAIL, Edge
from lmarvel.report.grading import rejections
from lmarvel.result.discovery import Discovery
from lmarvel.result.evidence_wording import conflict
from lmarvel.result.wording import LEVEL, UNDECIDED, disagreement
from lmarvel.text import listing


class Sign(NamedTuple):
    """A sign on an edge: the character, the word for it, and why it stands there."""

    sign: str
    badge: str
    text: str


# In the order in which they stand on an edge, with what the legend says of them.
UNSHOWN = ("?", "Undecided", f"{UNDECIDED}.")
AGAINST = ("!", "Contradicted", "tests, rules or statements contradict each other on this edge.")
DOUBTFUL = ("×", "Doubtful", "a mark of this edge rests on an independence that the data reject.")
TOLD = ("K", "From statements", "the edge or a mark of it follows from what you stated.")
LEGEND = (UNSHOWN, AGAINST, DOUBTFUL, TOLD)


class Signs:
    """The signs on the edges of a result.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS).result_
    >>> [sign.badge for sign in Signs(found).on(found.pag.edge("Weight", "MilesPerGallon"))]
    ['Contradicted']
    """

    def __init__(self, found: Discovery) -> None:
        self.found = found
        self._undecided = set(map(frozenset, found.undecided))
        self._level = float(found.settings.get("alpha", LEVEL))
        self._contested = {frozenset((a, b)): disagreement(s, p, self._level) for a, b, s, p in found.contested}

    def on(self, edge: Edge) -> list[Sign]:
        """Return the signs on an edge; several reasons for one sign stand in one text."""
        told: dict[tuple[str, str, str], list[str]] = {}
        for kind, text in self._reasons(edge):
            told.setdefault(kind, []).append(text)
        return [Sign(kind[0], kind[1], "; ".join(told[kind])) for kind in LEGEND if kind in told]

    def _reasons(self, edge: Edge) -> Iterator[tuple[tuple[str, str, str], str]]:
        pair = frozenset((edge.a, edge.b))
        if pair in self._undecided:
            yield UNSHOWN, UNDECIDED
        if pair in self._contested:
            yield AGAINST, self._contested[pair]
        for use in self._refused.get(pair, ()):
            yield AGAINST, f"{use} wanted another mark here"
        if pair in self._circular:
            yield AGAINST, "the edge closes a directed or almost directed cycle, which no MAG has"
        for text in self._conflicts.get(pair, ()):
            yield AGAINST, text
        for text in rejections(self.found, edge):
            yield DOUBTFUL, text
        if told := self._from_knowledge(edge):
            yield TOLD, told

    @cached_property
    def _refused(self) -> dict[frozenset[str], list[str]]:
        """The rules that wanted another mark, by edge."""
        names = self.found.pag.names
        told: dict[frozenset[str], list[str]] = {}
        for event in self.found.rules:
            for x, y, _ in event.refused:
                rules = told.setdefault(frozenset((names[x], names[y])), [])
                if event.rule not in rules:
                    rules.append(event.rule)
        return told

    @cached_property
    def _circular(self) -> frozenset[frozenset[str]]:
        """The edges on a directed cycle, whose ends reach each other; and x <-> y where one reaches the other."""
        pag = self.found.pag
        forward = [0] * len(pag)
        for v in range(len(pag)):
            for w, at_v, at_w in pag.links[v]:
                forward[v] |= (at_v == TAIL and at_w == ARROW) << w
        reached = [closure(forward, 1 << v) for v in range(len(pag))]
        circular = set()
        for edge in pag.edges():
            x, y = pag.index(edge.a), pag.index(edge.b)
            there, back = reached[x] >> y & 1, reached[y] >> x & 1
            bidirected = edge.at_a == edge.at_b == ARROW
            directed = {edge.at_a, edge.at_b} == {TAIL, ARROW}
            if (directed and there and back) or (bidirected and (there or back)):
                circular.add(frozenset((edge.a, edge.b)))
        return frozenset(circular)

    @cached_property
    def _conflicts(self) -> dict[frozenset[str], list[str]]:
        """The statements that the tests deny, by pair, in words."""
        told: dict[frozenset[str], list[str]] = {}
        for one in self.found.conflicts:
            told.setdefault(frozenset((one.a, one.b)), []).append(conflict(*one, self._level))
        return told

    def _from_knowledge(self, edge: Edge) -> str:
        """Return what of an edge comes from what was known; nothing where the data give all of it."""
        found = self.found
        if found.known is None:
            return ""
        stated = bool(found.known.required[found.pag.index(edge.a), found.pag.index(edge.b)])
        both = ((edge.b, edge.a), (edge.a, edge.b))
        ends = [far for near, far in both if found.source(near, far) in ("knowledge", "together")]
        parts = ["you stated the edge"] if stated else []
        if ends:
            marks = f"the mark at {listing(sorted(ends))} follows" if len(ends) == 1 else "both marks follow"
            parts.append(f"{marks} from what you stated")
        return "; ".join(parts)
