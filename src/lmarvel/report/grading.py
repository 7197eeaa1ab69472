"""What the page says of an edge, each claim with the strength that its grade allows, and how many resamples have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge
from lmarvel.result.discovery import Discovery
from lmarvel.result.evidence_wording import learned_graph, not_established, of_statements, strength
from lmarvel.result.meaning import allows_latents
from lmarvel.result.sources import by_statements
from lmarvel.result.support.check import Implied
from lmarvel.result.support.frequencies import percent
from lmarvel.result.support.grades import (
    FIRM_SHARE,
    GRADES,
    LIKELY,
    LIKELY_SHARE,
    LIKELY_TAIL_WORSE,
    LIKELY_WORSE,
    OPEN,
    STATED,
    grade_named,
)
from lmarvel.result.wording import canonical, p_is, selected, shown_edge
from lmarvel.text import counted, joined, listing, readable

_SHAPES = {ARROW: "arrowhead", TAIL: "tail"}
_MOST_NAMED = 6  # of a large set


class End(NamedTuple):
    """One end of an edge: the variable there, the other one, the mark, its grade, its place, what statements gave."""

    near: str
    far: str
    mark: int
    level: int
    at: tuple[int, int]  # in matrices of marks
    source: str | None  # "stated", "follows" from statements, or None

    @property
    def established(self) -> bool:
        """Whether the mark is likely, firm or stated."""
        return self.level >= LIKELY

    @property
    def follows(self) -> bool:
        """Whether the mark holds only with what was stated, and is established given that."""
        return self.source == "follows" and self.established


class Grading:
    """How firm the edges of a result are, in words.

    Examples
    --------
    >>> from lmarvel import Lift
    >>> from lmarvel.datasets import CARS
    >>> found = Lift(test="fisher-z").fit(CARS).result_
    >>> grading = Grading(found)
    >>> grading.meaning(found.pag.edge("MilesPerGallon", "Horsepower"))
    'direction not established (the best-scoring graph has MilesPerGallon --> Horsepower).'
    """

    def __init__(self, found: Discovery) -> None:
        self.found = found
        self._levels = found.grades.marks
        self._supported = found.shown("supported")
        self._resamples = found.resamples
        self._conditional = None if self._resamples is None else self._resamples.of_marks(found.pag.marks)

    def ends(self, edge: Edge) -> tuple[End, End]:
        """Return the two ends of an edge, a's first."""
        x, y = self.found.pag.index(edge.a), self.found.pag.index(edge.b)
        a, b = readable(edge.a), readable(edge.b)
        of_a, of_b = (by_statements(self.found, *ends) for ends in ((edge.b, edge.a), (edge.a, edge.b)))
        at_a = End(a, b, edge.at_a, int(self._levels[y, x]), (y, x), of_a)
        return at_a, End(b, a, edge.at_b, int(self._levels[x, y]), (x, y), of_b)

    @property
    def shares(self) -> dict[frozenset[str], float]:
        """The share of the resamples that have each edge, by pair; empty without resamples."""
        pairs = [(edge.a, edge.b) for edge in self.found.pag.edges()]
        return {} if self._resamples is None else {frozenset(pair): self._resamples.edge(*pair) for pair in pairs}

    def to_dict(self, edge: Edge) -> dict[str, Any]:
        """Return what the page shows of an edge."""
        ends = self.ends(edge)
        follow = {f"follows_{end}": True for end, one in zip("ab", ends, strict=True) if one.follows}
        return {
            "grade_a": grade_named(ends[0].level),
            "grade_b": grade_named(ends[1].level),
            **follow,
            "meaning": self.meaning(edge),
            "share": None if self._resamples is None else self._resamples.edge(edge.a, edge.b),
            "resamples": self.share_text(edge),
            "firmness": list(self.lines(edge)),
        }

    # --- what an edge says ----------------------------------------------------------------------------------

    def meaning(self, edge: Edge) -> str:
        """Return what an edge says, but for the first letter, which may be that of a name."""
        ends = self.ends(edge)
        if self.found.explainer.is_undecided(*ends[0].at):
            return self.found.describe_edge(edge.a, edge.b)
        if not any(end.level for end in ends):
            return "associated; the data do not determine the direction."
        scored, learned = self.found.mag is not None, canonical(edge)
        if not any(end.established for end in ends):
            unchecked = not any(end.level == OPEN for end in ends)
            return f"{not_established(learned, unchecked, scored)}."
        has = f"{learned_graph(scored)} has {shown_edge(learned)}"
        sentences = [*self._claims(ends), *_not_established(ends, has)]
        return " ".join(f"{words}." for words in sentences)

    def _claims(self, ends: tuple[End, End]) -> Iterator[str]:
        """Give what the established marks say, what causes first; where both say the same, in one sentence."""
        at_a, at_b = ends
        if at_a.mark == at_b.mark and at_a.established and at_b.established:
            level, follows = min(at_a.level, at_b.level), at_a.follows or at_b.follows
            if at_a.mark == ARROW:
                linked = " (or several, linked by sample selection)" if selected(self.found.settings) else ""
                shared = f"causes the other: they share an unmeasured common cause{linked}"
                yield _graded(level, "neither", shared, follows)
            else:
                yield _graded(level, "both", "affect who is in the sample", follows)
            return
        for end in sorted(ends, key=lambda end: end.mark == ARROW):
            if end.established and end.mark == TAIL:
                sample = ", or affects who is in the sample" if self._may_select(end) else ""
                yield _graded(end.level, end.near, f"causes {end.far}{sample}", end.follows)
            elif end.established:
                yield _graded(end.level, end.near, f"does not cause {end.far}", end.follows)
        for end, other in ((at_a, at_b), (at_b, at_a)):
            if end.mark == CIRCLE and other.mark == ARROW:
                shared = ", or they may share an unmeasured common cause" if allows_latents(self.found) else ""
                sample = " or affect who is in the sample" if self._may_select(end) else ""
                yield f"{end.near} may cause {end.far}{sample}{shared}"

    def _may_select(self, end: End) -> bool:
        """Tell whether a variable may affect who is in the sample: an established arrowhead at it excludes that."""
        pointed = bool((self._supported.marks[:, end.at[1]] == ARROW).any())
        return selected(self.found.settings) and not pointed

    # --- how firm it is -------------------------------------------------------------------------------------

    def share_text(self, edge: Edge) -> str | None:
        """Return the shares of the resamples for a cell of the table; None without resamples."""
        if self._resamples is None or self._conditional is None:
            return None
        words = {"stated": "stated", "follows": "from statements"}
        shares = [percent(float(self._conditional[end.at])) for end in self.ends(edge)]
        marks = " / ".join(
            words.get(str(end.source), share) for end, share in zip(self.ends(edge), shares, strict=True)
        )
        return f"edge {percent(self._resamples.edge(edge.a, edge.b))}; marks {marks}"

    def lines(self, edge: Edge) -> Iterator[str]:
        """Say of the edge and of each mark how firm it is, with the figure that this rests on."""
        counts = self._resamples
        if counts is not None:
            share = percent(counts.edge(edge.a, edge.b))
            yield f"{share} of {counted(counts.replicates, 'resample')} have an edge here."
        for end in self.ends(edge):
            if end.level:
                basis = self._basis(end)
                grade = of_statements(grade_named(end.level)) if end.follows else _WORDS[end.level]
                yield f"Mark at {end.near} ({_SHAPES[end.mark]}): {grade}{basis and f'; {basis}'}."
        if any(OPEN <= end.level < STATED for end in self.ends(edge)) and (why := list(self._stricter(edge))):
            yield f"Grades are stricter here, because {joined(why)}."

    def _stricter(self, edge: Edge) -> Iterator[str]:
        """Give what speaks against taking for true what most resamples have."""
        bends = [bend for bend in self.found.grounds.bends if {bend.x, bend.y} & {edge.a, edge.b}]
        if bends:
            yield f"the relation of {readable(bends[0].x)} and {readable(bends[0].y)} is not a straight line"
        if self.found.check is not None and not self.found.check.fits:
            yield "the data reject independences that the graph implies"

    def _basis(self, end: End) -> str:
        """Return the figure that a grade rests on."""
        if end.source is not None:  # resamples learned with the statements have it for that reason, too
            return ""
        if self._resamples is not None:
            return f"{percent(float(self.found.grades.shares[end.at]))} of resamples have the edge with this mark"
        chose, worse = self.found.evidence.chose, self.found.evidence.distance.get(end.at)
        if chose is None or worse is None:
            return ""
        return f"another mark worsens the score by at least {worse:,.1f} (an edge costs {chose.price:,.1f})"

    def legend(self) -> Iterator[dict[str, str]]:
        """Give the grades that marks of the result have, each with what it stands for, the firmest first."""
        used = {grade_named(level) for level in range(len(_WORDS)) if (self._levels == level).any()}
        meanings = _legend(self.found)
        yield from ({"word": word, "meaning": meanings[word]} for word in reversed(GRADES) if word in used)


_WORDS = (None, "not checked (time limit)", "open", "likely", "firm", "as you stated")


def _graded(level: int, subject: str, claim: str, follows: bool = False) -> str:
    """Return a claim with the words for its grade."""
    words = strength(grade_named(level), follows)
    return f"{subject} {words['hedge']}{claim}{words['by']}"


def _not_established(ends: tuple[End, End], has: str) -> Iterator[str]:
    for end in ends:
        if end.mark != CIRCLE and not end.established:
            why = "is not established" if end.level == OPEN else "was not checked (time limit)"
            yield f"Whether {end.near} causes {end.far} {why} ({has})"


def _legend(found: Discovery) -> dict[str, str]:
    """Return what each grade stands for, by what the grades of a result rest on."""
    likely, firm = "", "the mark follows from the answers of the test."
    if found.resamples is not None:
        count = counted(found.resamples.replicates, "resample")
        share = f"at least {100 * FIRM_SHARE:g} % of {count}"
        firm = f"{share} have the edge with this mark, and nothing speaks against it."
        likely = f"at least {percent(LIKELY_SHARE)} of {count} have it; more where the graph fits badly."
    elif found.evidence.chose is not None:
        price = found.evidence.chose.price
        needed = f"{LIKELY_WORSE * price:,.1f} or more (a tail {LIKELY_TAIL_WORSE * price:,.1f})"
        likely = f"another mark worsens the score by {needed}; an edge costs {price:,.1f}."
    return {
        "stated": "the mark is as you stated.",
        "firm": firm,
        "likely": likely,
        "open": "not established: other marks fit about as well, or the data contradict what the mark rests on.",
        "unchecked": "not checked (time limit): ask for a bootstrap.",
    }


# --- marks that rest on what the data reject --------------------------------------------------------------


def rejections(found: Discovery, edge: Edge) -> Iterator[str]:
    """Say which marks of an edge rest on an independence that the data reject, and on which."""
    at_a, at_b = found.rests_on_rejected(edge.b, edge.a), found.rests_on_rejected(edge.a, edge.b)
    if at_a and at_a == at_b:
        yield f"both marks rest on an independence that the data reject: {_first(at_a)}"
        return
    for name, rejected in ((edge.a, at_a), (edge.b, at_b)):
        if rejected:
            yield f"the mark at {readable(name)} rests on an independence that the data reject: {_first(rejected)}"


def _first(rejected: tuple[Implied, ...]) -> str:
    """Return the worst of some rejected independences in words, and how many others there are."""
    one, more = rejected[0], f" and {len(rejected) - 1:,} more" if len(rejected) > 1 else ""
    given = listing(sorted(one.given), _MOST_NAMED)
    return f"{readable(one.x)} and {readable(one.y)} given {given} ({p_is(one.pvalue)}){more}"
