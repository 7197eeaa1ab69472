"""Who causes Y: surely, possibly, or not at all, under every explanation of the data that a PAG represents.

X is an ancestor of Y

* in *no* MAG of the class if no walk of possible steps leads from X to Y;
* in *every* MAG if directed edges lead from X to Y, or if two unshielded paths of possible steps do whose first nodes
  U and W are not adjacent: X is no collider between U and W, so one of the two leaves X in each MAG, and an
  unshielded path of possible steps that is once directed stays so (the reasoning of Zhang's rules R9 and R10;
  Roumpelaki et al. 2016). Paths may end in any node of which it is known that it causes Y;
* in *some* MAGs otherwise.

Where ``---`` or ``--o`` shows that the sample was selected, a tail at X says no more than that X causes the other end
or being in the sample. X is then a definite cause only if it has an arrowhead, which excludes the second, and steps
along ``---`` are possible.

A graph that was learned from a table may be wrong. What it says is then claimed only as far as the grades of its parts
go (:mod:`lmarvel.effects.claims`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from lmarvel.effects.caveats import ILLEGAL, Bearing, missed_below, rejection, what_it_rests_on
from lmarvel.effects.claims import Claim, Claims, Status
from lmarvel.effects.classify import points_back
from lmarvel.effects.knowing.informed import as_informed
from lmarvel.effects.pag_index import MOST_STEPS, Prepared, selection_near
from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.mixed import Node
from lmarvel.result.discovery import Discovery
from lmarvel.result.evidence_wording import GIVEN, learned_graph
from lmarvel.result.support.check import Implied
from lmarvel.result.support.grades import GRADES, MARKS_SHOWN, Grade, Shown
from lmarvel.result.wording import p_is
from lmarvel.text import ShownAsText, counted, listing, readable, sentence

_PLAIN: dict[Status, str] = {
    "definite": "{x} causes {y}",
    "possible": "{x} may cause {y}",
    "impossible": "{x} does not cause {y}",
}
_GRADED: dict[tuple[Status, Grade], str] = {
    ("definite", "stated"): "{x} causes {y}, as you stated",
    ("definite", "firm"): "{x} causes {y}",
    ("definite", "likely"): "{x} probably causes {y}",
    ("impossible", "stated"): "{x} does not cause {y}, as you stated",
    ("impossible", "firm"): "{x} does not cause {y}",
    ("impossible", "likely"): "{x} probably does not cause {y}",
}
NOT_ESTABLISHED = "parts of the learned graph that this needs are not established"
ON_A_SCREEN = 20  # variables that are listed unasked


@dataclass(frozen=True)
class Cause:
    """What is known about one variable as a cause of another.

    Attributes
    ----------
    name : str
        The variable.
    status : 'definite', 'possible' or 'impossible'
        Whether it is an ancestor under every explanation, under some, or under none. It is possible, too, where the
        learned graph says more than the data support.
    reason : str
        Why.
    path : tuple of str
        A path that shows it; empty where the graph has none.
    grade : 'firm', 'likely', 'open', 'unchecked', 'stated' or None
        How firm it is what the learned graph says; None where it says nothing, or where nothing is graded.
    cautions : tuple of str
        What speaks against relying on it.
    learned : 'definite', 'possible' or 'impossible'
        What the learned graph says, supported or not.
    sentence : str
        All of it in words.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> cause = causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "D")["A"]
    >>> cause.status, cause.path, cause.sentence
    ('possible', ('A', 'C', 'D'), 'A may cause D: no edge of A o-> C --> D points back')
    """

    name: str
    status: Status
    reason: str
    path: tuple[str, ...] = ()
    grade: Grade | None = None
    cautions: tuple[str, ...] = ()
    learned: Status = "possible"
    sentence: str = ""


@dataclass(frozen=True)
class Causes(ShownAsText):
    """The causes of a variable; iterate over them, look one up by name, or print them.

    Attributes
    ----------
    of : str
        The variable.
    all : tuple of Cause
        All other variables, in the order of the graph.
    selected : str or None
        What shows that the sample was selected, if anything does; definite causes are fewer then.
    rests_on : str
        What has to be true for the answer to be.
    cautions : tuple of str
        What speaks against relying on any of it.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> answer = causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "D")
    >>> answer.definite, answer.possible, answer.impossible
    (('C',), ('A', 'B'), ())
    """

    of: str
    all: tuple[Cause, ...]
    selected: str | None
    rests_on: str
    cautions: tuple[str, ...] = ()

    @property
    def definite(self) -> tuple[str, ...]:
        """The variables that cause it under every explanation."""
        return self._with("definite")

    @property
    def possible(self) -> tuple[str, ...]:
        """The variables that cause it under some explanations and not under others, or of which it is not known."""
        return self._with("possible")

    @property
    def impossible(self) -> tuple[str, ...]:
        """The variables that cause it under no explanation."""
        return self._with("impossible")

    def _with(self, status: Status) -> tuple[str, ...]:
        return tuple(cause.name for cause in self.all if cause.status == status)

    def __iter__(self) -> Iterator[Cause]:
        return iter(self.all)

    def __getitem__(self, name: str) -> Cause:
        for cause in self.all:
            if cause.name == name:
                return cause
        raise GraphError(
            f"{name!r} is not among the other variables: {listing(sorted(cause.name for cause in self.all))}"
        )

    def __str__(self) -> str:
        return self.listed()

    def listed(self, all: bool = False, how: str = "listed(all=True)") -> str:
        """Return the answer in lines: what causes it, what may, and a count of the rest.

        Parameters
        ----------
        all : bool
            Whether to list every variable.
        how : str
            What to name as the way to list every variable.

        Examples
        --------
        >>> from lmarvel import PAG
        >>> print(causes(PAG.from_edges("C --> D"), "C").listed(all=True))
        D does not cause C: no path leads from D to C without an edge that points back
        This rests on the learned graph being right, and on a sample that was not selected.
        """
        for_or_maybe = sorted((one for one in self.all if one.learned != "impossible"), key=_order)
        against = sorted((one for one in self.all if one.learned == "impossible"), key=_order)
        graded = any(one.grade is not None for one in against)
        first = for_or_maybe if all else for_or_maybe[:ON_A_SCREEN]
        lines = [_line(one) for one in first]
        rest, verb = len(for_or_maybe) - len(first), _verb(for_or_maybe[len(first) :])
        if rest:
            lines.append(f"{counted(rest, 'more variable')} {verb} {readable(self.of)}; list them with {how}")
        if all or (not graded and len(against) <= ON_A_SCREEN - len(first)):
            lines += [_line(one) for one in against]
        elif against:
            lines.append(f"{self._counted(against)}; list {'it' if len(against) == 1 else 'them'} with {how}")
        lines += [f"{self.selected}."] if self.selected else []
        return "\n".join([*lines, *(sentence(f"caution: {one}") for one in self.cautions), self.rests_on])

    def _counted(self, against: list[Cause]) -> str:
        """Count the variables without a path, by grade."""
        grades = Counter(one.grade for one in against)
        parts = [f"{grades[grade]:,} {grade}" for grade in reversed(GRADES) if grades[grade]]
        by_grade = f" ({', '.join(parts)})" if parts else ""
        return f"{counted(len(against), 'variable')}: no path to {readable(self.of)} in the learned graph{by_grade}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data; every variable is in it."""
        plain = [{**c.__dict__, "path": list(c.path), "cautions": list(c.cautions)} for c in self.all]
        general = {"selected": self.selected, "rests_on": self.rests_on, "cautions": list(self.cautions)}
        return {"of": self.of, "causes": plain, **general}


def _order(cause: Cause) -> tuple[int, int, int, int]:
    """Put claims first, of these the firmest; then what the learned graph says causes it; and near causes first."""
    level = 0 if cause.grade is None else GRADES.index(cause.grade) + 1
    return cause.status == "possible", -level, cause.learned == "possible", len(cause.path)


def _line(cause: Cause) -> str:
    own = [one for one in cause.cautions if one != ILLEGAL]
    return f"{cause.sentence}. Caution: {'; '.join(own)}" if own and cause.status != "possible" else cause.sentence


def _verb(causes: list[Cause]) -> str:
    return "may cause" if any(one.status == "possible" for one in causes) else "cause"


def causes(result: Discovery | PAG | MAG | Prepared, y: Node, marks: Shown = "supported") -> Causes:
    """Return which variables cause ``y`` under every explanation of the data, under some, and under none.

    Parameters
    ----------
    result : Discovery, PAG or MAG
        What was learned. Only a result that was learned from a table has grades.
    y : str
        The variable whose causes to list.
    marks : {"supported", "firm", "all"}
        Which claims to make: those that are at least likely, firm ones, or all that the learned graph makes.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> print(causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "C"))
    A may cause C: no edge of A o-> C points back
    B may cause C: no edge of B o-> C points back
    D does not cause C: no path leads from D to C without an edge that points back
    This rests on the learned graph being right, and on a sample that was not selected.
    """
    if marks not in MARKS_SHOWN:
        raise ParameterError(f"must be one of {', '.join(MARKS_SHOWN)}, not {marks!r}", parameter="marks")
    ready = result if isinstance(result, Prepared) else _ready(result)
    claims, j = Claims.of(result, ready), ready.graph.index(y)
    selected = selection_near(ready.graph, 1 << j)
    wording = _Wording(claims, j, marks)
    described = tuple(wording.describe(v, claim) for v, claim in enumerate(claims.on(j)) if v != j)
    general = (ILLEGAL,) if claims.illegal else ()
    return Causes(ready.graph.names[j], described, selected, what_it_rests_on(result, selected is not None), general)


def _ready(result: Discovery | PAG | MAG) -> Prepared:
    """Return a graph ready for questions, with what was stated; one that a search left open is taken as it is."""
    if not isinstance(result, Discovery):
        return Prepared(result)
    if result.known is not None and result.unaided is not None and not result.undecided:
        with suppress(GraphError):  # of a PAG that no MAG has nothing more is known
            return as_informed(result.pag, result.unaided, result.known)
    return Prepared(result.pag)


class _Wording:
    """The words for what is claimed of the causes of one variable."""

    def __init__(self, claims: Claims, y: int, marks: Shown) -> None:
        self._claims, self._y, self._marks = claims, y, marks
        self._names = claims.ready.graph.names
        result = claims.result
        self._shown_graph = None if result is None else result.shown(marks)
        self._graph = learned_graph(result is not None and result.mag is not None)
        plain = None if result is None else result.unaided
        self._alone = None if plain is None else Claims(Prepared(plain)).on(y)  # what the data alone say

    def describe(self, x: int, claim: Claim) -> Cause:
        """Return what is said of one variable."""
        path = self._claims.path(x, self._y)
        named = self._claims.ready.named(path)
        reason = self._reason(x, claim, path)
        if claim.level == 0:
            claimed = _PLAIN[claim.status].format(**self._pair(x))
            return Cause(self._names[x], claim.status, reason, named, None, (), claim.status, f"{claimed}: {reason}")
        shown = claim.level >= MARKS_SHOWN[self._marks]
        words = self._shown(x, claim, reason) if shown else self._hedged(x, claim, reason, path)
        status = claim.status if shown else "possible"
        return Cause(
            self._names[x], status, reason, named, claim.grade, self._cautions(x, claim, path), claim.status, words
        )

    def _pair(self, x: int) -> dict[str, str]:
        return {"x": readable(self._names[x]), "y": readable(self._names[self._y])}

    def _reason(self, x: int, claim: Claim, path: list[int]) -> str:
        pair = self._pair(x)
        if claim.status == "possible":
            return f"no edge of {self._text(path, self._shown_graph)} points back"
        if claim.status == "definite":
            if self._directed(path):
                return self._text(path)
            return f"{pair['x']} has two unshielded ways to {pair['y']}, and at least one of them is causal"
        if self._claims.result is None:
            return points_back(pair["x"], pair["y"])
        return no_path(pair["x"], pair["y"], missed_below(self._claims.result, x, self._y))

    def _directed(self, path: list[int]) -> bool:
        return all(self._claims.learned.parents[w] >> v & 1 for v, w in pairwise(path))

    def _text(self, path: list[int], shown: PAG | None = None) -> str:
        return self._claims.ready.path_text(path, shown, MOST_STEPS)

    def _shown(self, x: int, claim: Claim, reason: str) -> str:
        """Return a claim that is made, with the grade beside it where all are."""
        assert claim.grade is not None
        weak = f"{_PLAIN[claim.status]} in the learned graph"
        claimed = _GRADED.get((claim.status, claim.grade), weak).format(**self._pair(x))
        if claim.grade != "stated" and self._alone is not None and self._alone[x].status != claim.status:
            claimed += f", {GIVEN}"
        return f"{claimed}: {reason}" + (f" ({claim.grade})" if self._marks == "all" else "")

    def _hedged(self, x: int, claim: Claim, reason: str, path: list[int]) -> str:
        """Return what is said in place of a claim that the data do not support."""
        pair = self._pair(x)
        if claim.status == "definite":
            unchecked = "not checked; " * (claim.grade == "unchecked")
            shows = f"{self._graph} has {reason}" if self._directed(path) else f"in {self._graph} {reason}"
            return f"{pair['x']} may cause {pair['y']} ({unchecked}{shows})"
        one = self._claims.rejected(x, self._y)
        if one is not None:
            return do_not_conclude(one, pair["x"], pair["y"])
        doubt = "was not checked" if claim.grade == "unchecked" else "is not established"
        return f"no path from {pair['x']} to {pair['y']} in the learned graph, but this {doubt}"

    def _cautions(self, x: int, claim: Claim, path: list[int]) -> tuple[str, ...]:
        if claim.grade == "stated":
            return ()
        one = self._claims.rejected(x, self._y)
        own = [] if one is None else [rejection(one)]
        if claim.status == "definite":
            found = Bearing(self._claims).along(path).cautions()
        else:
            weak = claim.grade in ("open", "unchecked") and not self._claims.illegal
            found = (*([ILLEGAL] if self._claims.illegal else []), *([NOT_ESTABLISHED] if weak else []))
        return tuple(dict.fromkeys((*found, *own)))


def no_path(x: str, y: str, missed: str | None = None) -> str:
    """Say why there is no effect in a learned graph, and what would have been missed."""
    return f"no path from {x} to {y} in the learned graph" + (f"; {missed}" if missed else "")


def do_not_conclude(one: Implied, x: str, y: str) -> str:
    """Say that two variables are associated although the learned graph has no path from one to the other."""
    given = f" given {listing(sorted(one.given), most=6)}" if one.given else ""
    associated = f"{x} and {y} are associated{given} ({p_is(one.pvalue)})"
    return f"{associated}, but the learned graph has no path from {x} to {y}: do not conclude"
