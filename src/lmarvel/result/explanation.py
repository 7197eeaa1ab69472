"""Why an edge is there or not, and why each of its ends has its mark.

A mark rests on the use of a rule, the rule on marks that stood before and on pairs that are not adjacent, those on
tests. Followed back, this is a tree of reasons (:class:`Reason`) whose leaves are separating sets.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterator, Set
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, arrow, positions
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.rule import End
from lmarvel.orient.rules import RULES
from lmarvel.orient.stated import K0, STATED
from lmarvel.result import evidence_wording, wording
from lmarvel.result.statistics import NamedPairs
from lmarvel.result.support.grades import LIKELY
from lmarvel.result.trace import (
    Adjacent,
    BudgetEnded,
    Doubtful,
    Event,
    Moved,
    Overruled,
    Separated,
    but_separated,
    separations_of,
)
from lmarvel.result.wording import p_is
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

_RULES = {**RULES, **STATED}
DEPTH = 20  # of reasons for reasons; in a long causal chain each mark rests on the one before


@dataclass(frozen=True)
class Reason:
    """A statement, what it rests on, and the record of the trace that it cites (None where it cites none).

    ``about`` are the variables that it is about, where these are what its text begins with.

    Examples
    --------
    >>> print(Reason("B is a collider", (Reason("A and C are independent"),)))
    B is a collider
      A and C are independent
    """

    text: str
    because: tuple[Reason, ...] = ()
    event: Event | None = None
    about: str = ""

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        yield indent + self.text
        for reason in self.because:
            yield from reason._lines(indent + "  ")

    def as_html(self) -> str:
        """Return the tree as a list in HTML, of lists."""
        deeper = "".join(reason.as_html() for reason in self.because)
        return f"<li>{escape(self.text)}{f'<ul>{deeper}</ul>' if deeper else ''}</li>"

    def walk(self) -> Iterator[Reason]:
        """Iterate over this reason and all that it rests on."""
        yield self
        yield from (deeper for reason in self.because for deeper in reason.walk())

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        return {"text": self.text, "because": [reason.to_dict() for reason in self.because]}


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a result says about a pair of variables, and why.

    Attributes
    ----------
    title : str
        The edge, or that there is none.
    meaning : str
        What it says, in a plain sentence.
    adjacency : Reason
        Why the edge is there, or not.
    marks : tuple of Reason
        Why each end has its mark; empty where there is no edge.
    reliability : tuple of str
        How often resamples have it, and which of the independences that it rests on the data reject.

    Examples
    --------
    >>> from lmarvel import DAG, LMarvel, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> found = LMarvel(test=MSeparation(truth)).fit().result_
    >>> print(found.explain("C", "D"))                                                       # doctest: +ELLIPSIS
    C --> D
    Meaning: C causes D; D does not cause C.
    Edge: no set that was tried separates them; the closest was given nothing with p < 1e-300, and more than ...
    At C a tail: R1, an arrowhead from A points at C, A and D are not adjacent, and C is not a collider between them
      arrowhead at C on A o-> C: R0, C is a collider between A and B: what separates these two leaves it out
        A and B are independent given nothing (p = 1, adjacency search)
      A and D are independent given C (p = 1, test of what the boundaries imply)
    At D an arrowhead: R1, as above
    """

    title: str
    meaning: str
    adjacency: Reason
    marks: tuple[Reason, ...] = ()
    reliability: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.title}\nMeaning: {self.meaning}"
        return "\n".join(map(str, (head, self.adjacency, *self.marks, *self.reliability)))

    __repr__ = __str__  # at a prompt and in a notebook it is there to be read

    def _repr_html_(self) -> str:
        why = "".join(reason.as_html() for reason in (self.adjacency, *self.marks))
        firm = "".join(f"<li>{escape(line)}</li>" for line in self.reliability)
        return f"<p><b>{escape(self.title)}</b>: {escape(self.meaning)}</p><ul>{why}{firm}</ul>"

    def reasons(self) -> Iterator[Reason]:
        """Iterate over all reasons, however deep."""
        yield from (reason for top in (self.adjacency, *self.marks) for reason in top.walk())

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return {
            "title": self.title,
            "meaning": self.meaning,
            "why": [reason.to_dict() for reason in (self.adjacency, *self.marks)],
            **({"firmness": list(self.reliability)} if self.reliability else {}),
        }


class Explainer:
    """Answers questions on one run; the trace is gone through once."""

    def __init__(self, result: Discovery) -> None:
        self.result, self.pag, self.settings, self.trace = result, result.pag, result.settings, result.trace
        self.known, self.sepsets, self.scored = result.known, result.sepsets, result.mag is not None
        self.names = [readable(name) for name in result.pag.names]
        self.undecided: Container[tuple[str, str]] | None = None  # all pairs, of which there can be millions
        if not result.nothing_learned:
            self.undecided = pairs if isinstance(pairs := result.undecided, NamedPairs) else frozenset(pairs)
        levels = (result.settings.get(name) for name in ("alpha", "boundary_alpha", "removal_threshold"))
        self.levels = [level for level in levels if isinstance(level, float)]
        others = list(but_separated(result.trace))
        self.ended = any(isinstance(e, BudgetEnded) for e in others)
        self.evidence = result.evidence
        self.overruled = {frozenset((e.x, e.y)): e for e in others if isinstance(e, Overruled)}
        self.rules = [e for e in others if isinstance(e, RuleApplication)]
        self.writers = {(x, y): k for k, e in enumerate(self.rules) for x, y, _ in e.written}
        self.refusals: dict[End, list[RuleApplication]] = {}
        for e in self.rules:
            for x, y, _ in e.refused:
                self.refusals.setdefault((x, y), []).append(e)
        self.kept: dict[frozenset[int], Adjacent] = {}
        self.doubtful: dict[frozenset[int], Doubtful] = {}
        self.moves: dict[frozenset[int], Moved] = {}
        for event in others:
            if isinstance(event, Adjacent):
                self.kept[frozenset((event.x, event.y))] = event
            elif isinstance(event, Doubtful):
                self.doubtful[frozenset((event.x, event.y))] = event
            elif isinstance(event, Moved):
                self.moves[frozenset((event.x, event.y))] = event

    # --- the pair ---------------------------------------------------------------------------------------

    def explain(self, x: int, y: int, meaning: str, depth: int = DEPTH) -> Explanation:
        """Explain the edge between two variables, or its absence, with reasons down to this depth."""
        edge = self.pag.edge(x, y)
        if edge is None:
            title = f"{self.names[x]} and {self.names[y]} are not adjacent"
            return Explanation(title, meaning, self._prefixed("No edge: ", self.gap(x, y)))
        cited: set[RuleApplication] = set()
        ends = tuple(self._end(a, b, cited, depth) for a, b in ((y, x), (x, y)))
        return Explanation(self._edge(x, y), meaning, self._prefixed("Edge: ", self.adjacency(x, y)), ends)

    @staticmethod
    def _prefixed(head: str, reason: Reason) -> Reason:
        return Reason(head + reason.text, reason.because, reason.event)

    def legal(self) -> bool:
        """Tell whether some MAG has the PAG; asked when needed, since it takes long for large graphs."""
        return not self.result.undecided and self.result.why_illegal is None

    def is_undecided(self, x: int, y: int) -> bool:
        """Tell whether the search left it open if two variables are adjacent."""
        a, b = self.pag.names[x], self.pag.names[y]
        return self.undecided is None or (a, b) in self.undecided or (b, a) in self.undecided

    def adjacency(self, x: int, y: int) -> Reason:
        """Return why two variables are adjacent: how close they came to being separated."""
        pair = frozenset((x, y))
        if self.known is not None and self.known.required[x, y]:
            return self._stated(x, y)
        if self.is_undecided(x, y):
            return Reason(wording.UNDECIDED)
        if pair in self.evidence.edges:
            weighed = self.evidence.edges[pair]
            given = self.given(weighed.given)
            return Reason(evidence_wording.kept(weighed.loss, given, weighed.pvalue, self.result.alpha), (), weighed)
        if pair in self.moves:
            move = self.moves[pair]
            return Reason(f"the search by score chose it, with a BIC of {move.bic:,.1f} at that move", (), move)
        event = self.kept.get(pair)
        if event is None and self.scored:
            return Reason("the graph that the search by score chose has it")
        if event is None or event.strongest is None:
            bounded = event is not None and self.settings.get("boundary") != "none"
            return Reason(wording.unseparated(bounded), (), event)
        return Reason(wording.closest(self.given(event.strongest), event.pvalue, self.result.alpha), (), event)

    def separation(self, x: int, y: int) -> tuple[frozenset[int] | None, Separated | None]:
        """Return the separating set of two variables, and the record of the test that found it.

        Without a record the set is all other variables, which total conditioning tested. None: no set can be named.
        """
        sepset = self.sepsets.get((self.pag.names[x], self.pag.names[y]))
        if sepset is None:
            return None, None
        members = frozenset(self.pag.index(v) for v in sepset)
        events = separations_of(self.trace, x, y)
        return members, next((e for e in reversed(events) if e.sepset == members), None)

    def _stated(self, x: int, y: int) -> Reason:
        """Return that a statement says whether two variables are adjacent, and what the tests say to that."""
        assert self.known is not None
        statement = self.known.why_pair(x, y)
        event = self.overruled.get(frozenset((x, y)))
        if event is None:
            return Reason(statement)
        separated = bool(self.known.required[x, y])
        said = evidence_wording.overruled(separated, self.given(event.strongest or ()), event.pvalue, self.result.alpha)
        return Reason(f"{statement}; {said}", (), event)

    def gap(self, x: int, y: int) -> Reason:
        """Return why two variables are not adjacent: the set that separates them, and the step that found it."""
        pair = f"{self.names[x]} and {self.names[y]}"
        members, event = self.separation(x, y)

        def about(why: str, event: Event | None = None) -> Reason:
            return Reason(pair + why, (), event, pair)

        if frozenset((x, y)) in self.overruled:
            return self._stated(x, y)
        doubt = self.doubtful.get(frozenset((x, y)))
        if doubt is not None and doubt.strongest is not None:
            return about(wording.in_doubt(self.given(doubt.strongest), doubt.pvalue, self.settings), doubt)
        left_out = self.evidence.gaps.get(frozenset((x, y)))
        if left_out is not None:
            given, p = self.given(left_out.given), left_out.pvalue
            return about(f": {evidence_wording.left_out(left_out.loss, given, p, self.result.alpha)}", left_out)
        if members is None and self.scored:
            return about(f": {wording.left_out(self.is_undecided(x, y))}")
        if members is None:
            return about(wording.outside(self.settings))
        if event is not None:
            test = f"{p_is(event.pvalue, *self.levels)}, {wording.step(event.phase)}"
            return about(f" are independent {self.given(members)} ({test})", event)
        return about(wording.outside(self.settings), Separated(x, y, members, math.nan, "boundary"))

    # --- an end -----------------------------------------------------------------------------------------

    def _end(self, x: int, y: int, cited: set[RuleApplication], depth: int) -> Reason:
        """Return why the end at y of the edge x-y has its mark."""
        mark = self.pag.marks[x, y]
        where = self.names[y]
        clash = "".join(self._clash(x, y))
        if mark == CIRCLE:
            undecided = self.is_undecided(x, y)
            legal = not undecided and not self.ended and self.legal()
            return Reason(f"At {where} a circle: {wording.circle(undecided, self.ended, legal, self.scored)}{clash}")
        k = self.writers.get((x, y))
        kind = "an arrowhead" if mark == ARROW else "a tail"
        if k is None:
            return Reason(f"At {where} {kind}: its origin is not in the trace{clash}")
        text, because = self._why(k, cited, depth)
        return Reason(f"At {where} {kind}: {text}{self._supported(x, y)}{clash}", because, self.rules[k])

    def _supported(self, x: int, y: int) -> str:
        """Return what the score says of the mark at y on x-y; nothing where there is none, or the mark was stated."""
        distance, chose = self.evidence.distance.get((x, y)), self.evidence.chose
        if self._is_stated(x, y) or chose is None or distance is None:
            return ""
        if distance < chose.price and self.result.grades.marks[x, y] >= LIKELY:  # resamples say more than one table
            return ""
        return f"; {evidence_wording.mark_is(distance, chose.price)}"

    def edges_from_selection(self) -> int:
        """Return how many edges speak of selection."""
        tails = {frozenset(pair) for pair in positions(self.pag.marks == TAIL).tolist()}
        return sum(self.from_selection(*pair) for pair in tails)

    def from_selection(self, x: int, y: int) -> bool:
        """Tell whether an edge speaks of selection: by its kind, or since R5, R6 or R7 wrote a tail of it."""
        if not wording.selected(self.settings):
            return False
        ends = ((x, y), (y, x))
        marks = [self.pag.marks[end] for end in ends]
        if marks.count(TAIL) == 2 or sorted(marks) == [CIRCLE, TAIL]:
            return True
        return any(end in self.writers and _RULES[self.rules[self.writers[end]].rule].needs_selection for end in ends)

    def _clash(self, x: int, y: int) -> Iterator[str]:
        for use in self.refusals.get((x, y), [])[:1]:
            other = "a tail" if self.pag.marks[x, y] == ARROW else "an arrowhead"
            denied = "that" if self._is_stated(x, y) else "each other"
            yield f" ({use.rule} wanted {other} here: the tests contradict {denied})"

    def _is_stated(self, x: int, y: int) -> bool:
        """Tell whether a statement gave the mark at y on x-y."""
        k = self.writers.get((x, y))
        return k is not None and self.rules[k].rule == K0.name

    def _why(self, k: int, cited: set[RuleApplication], depth: int) -> tuple[str, tuple[Reason, ...]]:
        """Return the statement of a use of a rule, and what it rests on; none is told twice."""
        use = self.rules[k]
        if use in cited:
            return f"{use.rule}, as above", ()
        if use.rule == K0.name and self.known is not None:
            x, y, _ = (*use.written, *use.refused)[0]
            return self.known.why_mark(x, y), ()
        statement = f"{use.rule}, {self._statement(use)}"
        if depth == 0:
            return f"{statement} (explained with its own edge)", ()
        cited.add(use)
        ends, gaps = _RULES[use.rule].premises(use, lambda end: self._mark_at(end, k))
        reasons = [self._mark_before(x, y, cited, depth - 1) for x, y in dict.fromkeys(ends)]
        reasons += [self.gap(x, y) for x, y in dict.fromkeys(gaps)]
        return statement, tuple(reasons)

    def resting_on(self, pairs: Set[frozenset[int]] | None = None) -> dict[End, frozenset[frozenset[int]]]:
        """Return, for each end with a mark, which pairs without an edge (of some) it rests on, however far back.

        A use of a rule rests on marks that stood before, so one pass in their order tells.
        """
        resting: list[frozenset[frozenset[int]]] = []
        for k, use in enumerate(self.rules):
            if use.rule == K0.name:
                resting.append(frozenset())
                continue
            ends, gaps = _RULES[use.rule].premises(use, lambda end, k=k: self._mark_at(end, k))  # type: ignore[misc]
            before = [resting[self.writers[end]] for end in ends if self.writers.get(end, k) < k]
            used = frozenset(map(frozenset, gaps))
            resting.append((used if pairs is None else used & pairs) | frozenset().union(*before))
        return {end: resting[k] for end, k in self.writers.items() if resting[k]}

    def _statement(self, use: RuleApplication) -> str:
        """Return in words what a use of a rule says; R0 may rest on many separating sets, or on one."""
        reading = self.settings.get("colliders", "standard")
        if use.rule == "R0" and reading != "standard" and not self.scored:
            a, b, c = use.nodes[:3]
            sepset, _ = self.separation(a, c)
            if not self.ended or sepset is None or b in sepset:  # else the end may have come before all were asked
                return wording.collider(self.names[a], self.names[b], self.names[c], reading)
        return _RULES[use.rule].statement(use, self.names, self.scored)

    def _mark_at(self, end: End, before: int) -> int:
        """Return the mark that stood at an end before a use of a rule, a circle where none was written."""
        k = self.writers.get(end, before)
        return CIRCLE if k >= before else next(m for x, y, m in self.rules[k].written if (x, y) == end)

    def _mark_before(self, x: int, y: int, cited: set[RuleApplication], depth: int) -> Reason:
        """Return the reason of a mark that a rule used."""
        k = self.writers.get((x, y))
        if k is None:
            return Reason(f"a mark at {self.names[y]} on {self._edge(x, y)}, whose origin is not in the trace")
        kind = "arrowhead" if self._mark_at((x, y), k + 1) == ARROW else "tail"
        text, because = self._why(k, cited, depth)
        return Reason(f"{kind} at {self.names[y]} on {self._edge(x, y)}: {text}", because, self.rules[k])

    def _edge(self, x: int, y: int) -> str:
        edge = self.pag.edge(x, y)  # None if it was deleted later on
        return f"{self.names[x]} {'-' if edge is None else arrow(edge.at_a, edge.at_b)} {self.names[y]}"

    def given(self, members: Collection[int]) -> str:
        """Return a conditioning set in words."""
        if len(members) == len(self.names) - 2 > 3:
            return "given all other variables"
        return "given " + (", ".join(sorted(self.names[v] for v in members)) or "nothing")
