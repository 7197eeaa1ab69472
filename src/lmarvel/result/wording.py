"""The words of a result: what an edge says, what its absence says, how sure either is.

Every statement is worded here, once; results, explanations, the command line and the report say it in these words.
``selection=False`` is the user's word that the sample was not selected: then nothing speaks of selection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, Mark, arrow
from lmarvel.text import counted, listing, readable

LEVEL = 0.01  # of the tests, where a result does not say
_UNDERFLOW = 1e-300
_BELOW_ALL = "< 1e-300"


# --- numbers ------------------------------------------------------------------------------------


def rounded(value: float, *levels: float) -> str:
    """Return a number with two digits, or with as many as show on which side of the levels it lies.

    Examples
    --------
    >>> rounded(0.0123), rounded(0.00996, 0.01)
    ('0.012', '0.00996')
    """
    for digits in range(2, 17):
        text = f"{value:.{digits}g}"
        shown = float(text)
        if all((shown > level) == (value > level) and (shown < level) == (value < level) for level in levels):
            return text
    return repr(value)


def p_is(value: float, *levels: float) -> str:
    """Return what a p-value is, on the right side of the levels; one that no number holds is below the smallest.

    Examples
    --------
    >>> p_is(0.0099999, 0.01), p_is(0.0)
    ('p = 0.0099999', 'p < 1e-300')
    """
    return f"p {_BELOW_ALL}" if value < _UNDERFLOW else f"p = {rounded(value, *levels)}"


def p_value(value: float, *levels: float) -> str:
    """Return the same without the letter, for tables."""
    return _BELOW_ALL if value < _UNDERFLOW else rounded(value, *levels)


# --- what an edge says ------------------------------------------------------------------------------------


KINDS = tuple(
    (Mark(at_a), Mark(at_b))
    for at_a, at_b in ((TAIL, ARROW), (ARROW, ARROW), (TAIL, TAIL), (CIRCLE, ARROW), (CIRCLE, CIRCLE), (CIRCLE, TAIL))
)
"""The marks of an edge at either end, read from the end from which its kind is named."""


def selected(settings: Mapping[str, Any]) -> bool:
    """Tell whether the sample may have been selected, as the settings of a run have it."""
    return settings.get("selection") is not False


METHODS = {
    "lift": "Lift (score search)",
    "lmarvel": "L-MARVEL (tests)",
    "fci": "FCI (tests)",
    "rfci": "RFCI (tests)",
    "mbcs": "MBCS* (tests)",
    "m3hc": "M3HC (score search)",
}


def method_name(settings: Mapping[str, Any]) -> str:
    """Return what to call the method of a run.

    Examples
    --------
    >>> method_name({"method": "Lift"}), method_name({"method": "Mine"})
    ('Lift (score search)', 'Mine')
    """
    name = str(settings.get("method", "unknown"))
    return METHODS.get(name.lower(), name)


def statement(
    edge: Edge, settled: bool = False, selection: bool = True, latents: bool = True, hedge: str = "", by: str = ""
) -> str:
    """Return in plain words what an edge of a PAG says, without a full stop.

    ``settled`` means that the end which may be a cause is known not to affect who is in the sample: it has an arrowhead
    elsewhere. ``selection=False`` that nothing does, ``latents=False`` that all causes are measured. ``hedge`` is how
    firm that is: "probably ", or nothing. ``by`` stands after what the marks say: ", as you stated", or nothing.

    Examples
    --------
    >>> from lmarvel.graph.marks import parse_edge
    >>> statement(parse_edge("A --> B"))
    'A causes B, or affects who is in the sample; B does not cause A'
    >>> statement(parse_edge("A --> B"), settled=True, hedge="probably ")
    'A probably causes B; B probably does not cause A'
    """
    edge = canonical(edge)
    a, b = edge.a, edge.b
    sample = "or affects who is in the sample" if selection and not settled else ""
    surely, perhaps = (f", {sample}", f" {sample.replace('affects', 'affect')}") if sample else ("", "")
    neither = "probably neither" if hedge else "neither"
    shared = "an unmeasured common cause (or several, linked by sample selection)"
    marks = edge.at_a, edge.at_b
    if marks == (TAIL, ARROW):
        return f"{a} {hedge}causes {b}{surely}; {b} {hedge}does not cause {a}{by}"
    if marks == (ARROW, ARROW):
        if not selection:
            return f"{neither} causes the other: they share an unmeasured common cause{by}"
        return f"{neither} causes the other or affects who is in the sample; {shared} makes them associated{by}"
    if marks == (TAIL, TAIL):
        if not selection:
            return "only sample selection explains it, and you ruled that out: the data contradict you"
        return f"sample selection: both {hedge}affect who is in the sample{by}"
    if marks == (CIRCLE, TAIL):
        too = f"; the data do not show whether {a} does, too" if selection else ""
        return f"{b} {hedge}causes {a}{surely}{by}{too}"
    if marks == (CIRCLE, ARROW):
        hidden = f", or {shared} may make them associated" if selection else ", or they may share an unmeasured cause"
        return f"{b} {hedge}does not cause {a}{by}. {a} may cause {b}{perhaps}{hidden if latents else ''}"
    ways = ["either may cause the other"]
    ways += ["they may share an unmeasured common cause"] if latents else []
    ways += ["sample selection may link them"] if selection else []
    why = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]
    return f"associated whichever measured variables are held fixed. The data do not show why: {why}"


def meaning(edge: Edge, settled: bool = False, selection: bool = True, latents: bool = True) -> str:
    """Return what an edge says as a sentence, but for its first letter, which may be that of a name."""
    return f"{statement(edge, settled, selection, latents)}."


def canonical(edge: Edge) -> Edge:
    """Return an edge read from the end from which its kind is named."""
    return edge if (edge.at_a, edge.at_b) in KINDS else edge.reversed()


def possible_cause(edge: Edge) -> str:
    """Return the end of an edge of which it is said, if of any, that it may cause selection."""
    edge = canonical(edge)
    return edge.b if edge.at_b == TAIL else edge.a


def edge_kinds(selection: bool = True, latents: bool = True) -> dict[str, str]:
    """Return each kind of edge of a PAG with what it means, for legends."""
    return {arrow(*marks): meaning(Edge("A", "B", *marks), False, selection, latents) for marks in KINDS}


def shown_edge(edge: Edge) -> str:
    """Return an edge as it stands in a sentence."""
    return f"{readable(edge.a)} {arrow(edge.at_a, edge.at_b)} {readable(edge.b)}"


def kind_of(edge: Edge) -> str:
    """Return the kind of an edge, the same from either end."""
    edge = canonical(edge)
    return arrow(edge.at_a, edge.at_b)


UNDECIDED = "undecided: the search ended before the edge was shown to be there"
CONTESTED = "contested: the search kept the edge, though another step found the two variables independent"


def unseparated(bounded: bool) -> str:
    """Return why two variables are adjacent of which no test is on record; ``bounded``: the search had boundaries."""
    return ("each is in the other's Markov boundary, and " if bounded else "") + "no separating set was found"


def left_out(undecided: bool) -> str:
    """Return why two variables are not adjacent in a graph that a search by score chose."""
    return "the search by score left the edge out" + (", but ended before the pair was settled" if undecided else "")


def closest(given: str, p: float, level: float) -> str:
    """Return why two variables are adjacent: how close they came to being separated, and whether the tests disagree."""
    if p <= level:
        near = f"the closest was {given} with {p_is(p, level)}, and more than {level:g} would be needed"
        return f"no set that was tried separates them; {near}"
    other = f"another step found them independent {given} ({p_is(p, level)})"
    return f"the search for them found no separating set; yet {other}: the tests disagree"


def disagreement(given: Collection[str], p: float, level: float) -> str:
    """Return the same in short, to stand beside an edge."""
    return f"the tests disagree: independent given {listing(sorted(given))}, {p_is(p, level)}"


# --- what an absence says ---------------------------------------------------------------------------------


def absence(given: Collection[object] | None) -> str:
    """Return what a missing edge says; ``given`` was found to separate the pair, None if no set can be named."""
    if given is None:
        return "the data show no direct association."
    return "other measured variables explain their association." if given else "no association was found."


def separation(given: str | None, own_boundaries: bool = False) -> str:
    """Return in a sentence what separates two variables; None if no set can be named."""
    if given is None:
        whose = "as these were given" if own_boundaries else "and no single set was tested"
        return f"They are not in each other's Markov boundary, {whose}."
    return f"They are independent{given and f' {given}'}."


def outside(settings: Mapping[str, Any]) -> str:
    """Return why two variables are not adjacent that were never asked about by themselves, to stand behind them."""
    boundary, level = settings.get("boundary"), settings.get("boundary_alpha")
    if boundary in (None, "none"):
        return ": no test separated them"
    if boundary == "own":
        return " are not in each other's boundary, as these were given; no set was tested"
    above = f", p above {rounded(level)}" if isinstance(level, float) else ""
    if boundary == "tc":
        return f" are independent given all other variables (search for Markov boundaries{above})"
    return f" are not in each other's Markov boundary (search by {boundary}{above}); no set was tested alone"


IN_DOUBT = "the tests disagree on whether anything measured explains their dependence away"


def in_doubt(given: str, p: float, settings: Mapping[str, Any]) -> str:
    """Return why two variables are not adjacent although no small set that was tried separates them."""
    level = settings.get("alpha", LEVEL)
    near = f"the closest was {given} with {p_is(p, level)}, and more than {level:g} would be needed"
    return f"{outside(settings)}; yet no smaller set that was tried separates them: {near}. No mark rests on it"


_STEPS = {
    "adjacency": "adjacency search",
    "removability": "removal test",
    "update": "boundary update",
    "completion": "search among variables of which none could be removed",
    "chordless": "search around chordless cycles",
    "possible-d-sep": "Possible-D-Sep search",
    "collider-set": "collider-set search",
    "triples": "check of triples",
    "gaps": "test of what the boundaries imply",
    "contested": "removal test",
}


def step(phase: str) -> str:
    """Return what to call the step of a method that made a test."""
    return _STEPS.get(phase, phase)


# --- why an end has its mark ------------------------------------------------------------------------------


def circle(undecided: bool, ended: bool, legal: bool, scored: bool) -> str:
    """Return why an end has a circle."""
    if undecided:
        return "not examined, since the edge itself is undecided"
    if ended:
        return "no rule that was used before the search ended decides this end"
    if not legal:
        return "no rule decides this end"
    if scored:
        return "no rule decides this end: graphs with a tail here and with an arrowhead fit equally well"
    return "no rule decides this end: a tail and an arrowhead both agree with the tests"


def collider(a: str, b: str, c: str, rule: str) -> str:
    """Return why b is a collider between a and c, where many separating sets were asked ("majority" and so on)."""
    most = "most" if rule == "majority" else "all"
    return (
        f"{b} is a collider between {a} and {c}: of the sets of neighbours that separate these two, {most} leave it out"
    )


# --- notes ------------------------------------------------------------------------------------------------


def undecided_note(reason: str | None, undecided: int, nothing_learned: bool, are_edges: bool = True) -> str:
    """Return what is to be known of a search that ended early."""
    why = "the search ended early" + (f" ({reason})" if reason else "")
    if nothing_learned:
        return f"{why}: nothing was learned"
    if not undecided:
        return f"{why}: going on might have changed the graph"
    if not are_edges:
        return f"{why}: {open_pairs(undecided)}"
    stay = "it stays as an edge that was" if undecided == 1 else "they stay as edges that were"
    return f"{why}: {open_pairs(undecided)}, and {stay} not shown to be there"


def open_pairs(undecided: int) -> str:
    """Return how many pairs are undecided."""
    return (
        f"{counted(undecided, 'pair')} {'is' if undecided == 1 else 'are'} undecided"
        if undecided
        else "no pair is undecided"
    )


def illegal_note(reason: str) -> str:
    """Return what is to be known of a PAG that no MAG has."""
    return f"no MAG has exactly this PAG ({reason}): some tests contradict each other, as finite samples do"


def contested_note(contested: int) -> str:
    """Return what is to be known of edges on which the tests disagree."""
    one = contested == 1
    return (
        f"the tests disagree on {counted(contested, 'edge')}: a search found no separating set for"
        f" {'it' if one else 'them'}, though another step found the {'pair' if one else 'pairs'} independent"
    )


def doubtful_note(doubtful: int) -> str:
    """Return what is to be known of pairs without an edge that no set separates."""
    one = doubtful == 1
    return (
        f"{counted(doubtful, 'pair')} without an edge {'is' if one else 'are'} in doubt: outside each other's Markov"
        f" {'boundary' if one else 'boundaries'}, but no set that was tried separates {'it' if one else 'them'}; no"
        " mark rests on that"
    )


def none_removable_note(remaining: int) -> str:
    """Return what is to be known of a recursion that got stuck."""
    return f"no variable tested as removable among {remaining}; these were settled by search"
