"""The words for what a result rests on: how firm a mark is, how the table was taken, and what was stated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmarvel.graph.marks import Edge
from lmarvel.result.trace import Chose
from lmarvel.result.wording import p_is, shown_edge
from lmarvel.text import counted, joined, listing, readable, sentence

_DETERMINED = 3  # columns, in a note
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def kept(loss: float, given: str, p: float, level: float) -> str:
    """Return why an edge is there: what the score loses without it, and the test.

    Examples
    --------
    >>> kept(34.16, "given C, D", 3e-12, 0.01)
    'removing it worsens the score by 34.2; p = 3e-12 given C, D'
    """
    against = f"; a test at {level:g} alone would not show the edge" if p > level else ""
    return f"removing it worsens the score by {loss:,.1f}; {p_is(p, level)} {given}{against}"


def left_out(loss: float, given: str, p: float, level: float) -> str:
    """Return why an edge is not there: what the graph implies, the test, and what the score loses with an edge.

    Examples
    --------
    >>> left_out(9.41, "given C", 0.31, 0.01)
    'the graph implies independence given C (p = 0.31); the best graph with the edge is worse by 9.4'
    """
    against = f", though a test at {level:g} alone would say dependent" if p <= level else ""
    worse = f"worse by {loss:,.1f}" if loss > 0 else "as good"
    return (
        f"the graph implies independence {given} ({p_is(p, level)}{against}); the best graph with the edge is {worse}"
    )


def mark_is(distance: float, price: float) -> str:
    """Return what a search by score says of a mark.

    Examples
    --------
    >>> mark_is(12.04, 11.9), mark_is(math.inf, 11.9)
    ('another mark here worsens the score by 12.0 (an edge costs 11.9)', 'no graph that was met has another mark here')
    """
    if math.isinf(distance):
        return "no graph that was met has another mark here"
    if distance == 0:
        return "graphs with another mark here fit as well"
    return f"another mark here worsens the score by {distance:,.1f} (an edge costs {price:.1f})"


GIVEN = "given your statements"
"""What is said of a claim that holds only with what the user stated."""


def strength(grade: str | None, follows: bool = False) -> dict[str, str]:
    """Return the words of a claim that say how firm it is, or that the user made it; what is firm needs none.

    Examples
    --------
    >>> strength("likely", follows=True)
    {'hedge': 'probably ', 'by': ', given your statements'}
    """
    by = ", as you stated" if grade == "stated" else f", {GIVEN}" if follows else ""
    return {"hedge": "probably " if grade == "likely" else "", "by": by}


def of_statements(grade: str | None) -> str:
    """Return what stands in place of the grade of a mark that holds only with what was stated.

    Examples
    --------
    >>> of_statements("firm"), of_statements("likely"), of_statements("open")
    ('follows from your statements', 'probably follows from your statements', 'open')
    """
    follows = "follows from your statements"
    return {"firm": follows, "likely": f"probably {follows}"}.get(str(grade), str(grade))


def learned_graph(scored: bool) -> str:
    """Return what to call the graph that was learned, by score or by tests."""
    return "the best-scoring graph" if scored else "the learned graph"


def not_established(edge: Edge, unchecked: bool, scored: bool = False) -> str:
    """Return that the direction of an edge is not established, and what was learned nevertheless.

    Examples
    --------
    >>> from lmarvel.graph.marks import parse_edge
    >>> not_established(parse_edge("A --> B"), unchecked=False)
    'direction not established (the learned graph has A --> B)'
    """
    has = f"{learned_graph(scored)} has {shown_edge(edge)}"
    return f"direction not checked (time limit); {has}" if unchecked else f"direction not established ({has})"


def without_selection(gain: float | None) -> str:
    """Return what the score says against doing without selection.

    Examples
    --------
    >>> without_selection(34.1)
    'the best graph without selection is worse by 34.1'
    """
    return (
        "no graph without selection was met"
        if gain is None
        else f"the best graph without selection is worse by {gain:,.1f}"
    )


def edge_sentence(
    statement: str, from_selection: bool = False, chose: Chose | None = None, can_err: bool = False
) -> str:
    """Return what an edge says; where that is sample selection, what speaks for it, or that a test may have erred.

    Examples
    --------
    >>> edge_sentence("sample selection: both affect who is in the sample", from_selection=True, can_err=True)
    'sample selection: both affect who is in the sample, or a test erred.'
    """
    if not from_selection:
        return f"{statement}."
    if chose is not None:
        return f"{statement}. {sentence(without_selection(chose.selection_gain))}"
    return f"{statement}{f', {OR_ERRED}' if can_err else ''}."


def hidden_node(kind: str, names: Sequence[str], loss: float) -> str:
    """Return what a hidden node says, and what it is worth.

    Examples
    --------
    >>> hidden_node("latent", ["A", "B", "C"], 34.1)
    'A, B and C: one unmeasured cause of these three fits (without it the score worsens by 34.1)'
    >>> hidden_node("selection", ["A", "B"], 12.0)
    'A and B: a sample selected on these two fits (without it the score worsens by 12.0)'
    """
    shown = list(map(readable, names))
    listed = joined(shown)
    these = "this one" if len(shown) == 1 else f"these {_NUMBERS.get(len(shown), str(len(shown)))}"
    worth = "without it the score is as good" if loss < 0.05 else f"without it the score worsens by {loss:,.1f}"
    if kind == "selection":
        return f"{listed}: a sample selected on {these} fits ({worth})"
    return f"{listed}: one unmeasured cause of {these} fits ({worth})"


def refused_node(kind: str, names: Sequence[str]) -> str:
    """Return why a hidden node is not part of the answer.

    Examples
    --------
    >>> refused_node("latent", ["A", "B", "C"])
    'A, B and C: an unmeasured cause is not claimed, because unequal noise, curves or interactions can explain it'
    """
    what = "sample selection" if kind == "selection" else "an unmeasured cause"
    listed = joined(list(map(readable, names)))
    return f"{listed}: {what} is not claimed, because unequal noise, curves or interactions can explain it"


def one_finding(edges: int, names: Sequence[str]) -> str:
    """Return that edges among variables that affect selection are to be read together.

    Examples
    --------
    >>> one_finding(3, ["A", "B", "C"])
    '3 edges among A, B and C may exist only because the sample was selected: read them as one finding'
    """
    among = joined(list(map(readable, names)))
    return f"{edges:,} edges among {among} may exist only because the sample was selected: read them as one finding"


SCALE = {
    "firm": "the same mark in at least 97.5 % of resamples, and nothing speaks against it",
    "likely": "the same mark in at least 90 % of resamples (100 % where the graph fits badly or relations are curved)",
    "open": "not established: shown as a circle",
    "unchecked": "not checked within the time limit: shown as a circle",
    "stated": "as you stated",
}
_BY_SCORE = "another mark worsens the score by three penalties per edge (a tail by five), and nothing speaks against it"
HIDDEN = "Hidden nodes of the model that fits best; the class of the graph may hold others"
OR_ERRED = "or a test erred"


def scale(basis: str) -> dict[str, str]:
    """Return what the grades mean, by what they rest on; those that cannot occur are left out.

    Examples
    --------
    >>> list(scale("score")), list(scale("none"))
    (['likely', 'open', 'unchecked', 'stated'], ['unchecked', 'stated'])
    """
    if basis == "resamples":
        return SCALE
    if basis == "score":
        return {grade: _BY_SCORE if grade == "likely" else text for grade, text in SCALE.items() if grade != "firm"}
    return {grade: SCALE[grade] for grade in ("unchecked", "stated")}


def erred_note(edges: int) -> str:
    """Return what is to be known of edges that speak of selection where tests gave them."""
    one = edges == 1
    return (
        f"{edges:,} edge{'' if one else 's'} {'speaks' if one else 'speak'} of selection, {OR_ERRED}: one false"
        f" decision is enough for such {'an edge' if one else 'edges'}"
    )


_NAMED = 20  # columns, in a note


def few_values_note(columns: Sequence[str]) -> str:
    """Return what is to be known of columns with few whole numbers: they may be codes.

    Examples
    --------
    >>> print(few_values_note(["age"]))
    age has few different whole numbers and is taken as a number: if these are categories, say so (ordinal, categorical)
    """
    shown = listing(sorted(columns[:_NAMED])) + (f", ... ({len(columns)} in all)" if len(columns) > _NAMED else "")
    if len(columns) == 1:
        taken = "has few different whole numbers and is taken as a number"
    else:
        taken = "have few different whole numbers and are taken as numbers"
    return f"{shown} {taken}: if these are categories, say so (ordinal, categorical)"


def determined_note(columns: Sequence[tuple[str, str | None, Sequence[str]]]) -> str:
    """Return what is to be known of columns of categories that determine others, or are copies.

    Examples
    --------
    >>> print(determined_note([("city", None, ["country", "zone"]), ("town", "city", [])]))
    city determines country and zone, and town is a copy of city: edges at these may belong to the other column
    """
    said = [f"{readable(name)} is a copy of {readable(copied)}" for name, copied, _ in columns if copied]
    said = [f"{readable(name)} determines {_some(others)}" for name, copied, others in columns if others] + said
    more = f" and {len(said) - _DETERMINED:,} more such" if len(said) > _DETERMINED else ""
    shown = ", and ".join(said[:_DETERMINED])
    return f"{shown}{more}: edges at these may belong to the other column"


def _some(names: Sequence[str]) -> str:
    shown = list(map(readable, names[:_NAMED]))
    return joined([*shown, f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else shown)


def grouped_note(column: str, counts: Sequence[int]) -> str:
    """Return what is to be known of a column with very many categories.

    Examples
    --------
    >>> print(grouped_note("town", [1000, 20, 1620]))
    town has 1,000 categories: the 19 with most rows are kept, and 981 rare ones are one category (1,620 rows)
    >>> print(grouped_note("score", [300, 20, 0]))
    score has 300 categories in an order: they are cut into 20 classes
    """
    before, left, rows = counts
    if not rows:
        return f"{readable(column)} has {before:,} categories in an order: they are cut into {left:,} classes"
    kept = f"the {left - 1:,} with most rows are kept" if left > 2 else "the one with most rows is kept"
    rare = f"{before - left + 1:,} rare ones are one category ({counted(rows, 'row')})"
    return f"{readable(column)} has {before:,} categories: {kept}, and {rare}"


def lone_note(categories: Mapping[str, Sequence[str]]) -> str:
    """Return what is to be known of categories with one row.

    Examples
    --------
    >>> print(lone_note({"make": ["Lada"]}))
    the category 'Lada' of make has 1 row: tests take it together with the commonest one
    >>> print(lone_note({"make": ["Lada", "Saab"], "town": ["Ulm"]}))
    3 categories of make and town have 1 row each: tests take them together, or with the commonest one
    """
    many = sum(map(len, categories.values()))
    if many == 1:
        [(name, [lone])] = categories.items()
        return f"the category {lone!r} of {readable(name)} has 1 row: tests take it together with the commonest one"
    columns = _some(list(categories))
    return f"{many:,} categories of {columns} have 1 row each: tests take them together, or with the commonest one"


def table_said(settings: Mapping[str, Any]) -> str:
    """Return how a table was taken, from the settings of a result; nothing where that is nothing special.

    Examples
    --------
    >>> table_said({"missing": "drop", "dropped_rows": 3, "weights": "w"})
    '3 rows dropped for missing values; weights in w'
    """
    gaps = {
        "test-wise": "each test uses the rows that have its variables",
        "em": "moments by EM around missing values",
        "drop": f"{counted(settings.get('dropped_rows', 0), 'row')} dropped for missing values",
    }
    panel = f"panel of {settings['panel']}" if "panel" in settings else None
    taken = (settings.get("kinds"), panel, gaps.get(settings.get("missing", "")))
    roles = (f"{role} in {settings[role]}" for role in ("weights", "cluster") if role in settings)
    return "; ".join(filter(None, (*taken, *roles)))


# --- what was known beforehand -----------------------------------------------------------------------------

SOURCES = {
    "data": "from the data",
    "knowledge": "from what was known",
    "both": "from what was known, and the data say the same",
    "together": "from what was known and the data together",
}


def overruled(separated: bool, given: str, p: float, level: float) -> str:
    """Return what the tests say to a statement on whether two variables are adjacent that they contradict."""
    if separated:
        return f"yet the tests find them independent {given} ({p_is(p, level)})"
    return f"yet no set that was tried separates them; the closest was {given} with {p_is(p, level)}"


def conflict(
    a: str, b: str, statement: str, given: Sequence[str] | None, p: float | None, loss: float | None, level: float
) -> str:
    """Return a statement that the tests or the score contradict, with the test that does.

    Examples
    --------
    >>> conflict("A", "C", "you stated that A and C are adjacent", ("B",), 0.4, None, 0.01)
    'A, C: you stated that A and C are adjacent; the test that speaks against it is given B (p = 0.4)'
    >>> conflict("A", "C", "you stated 'no edge A - C'", ("B",), 1e-9, 40.0, 0.01)
    "A, C: you stated 'no edge A - C'; it worsens the score by 40.0 (given B p = 1e-09)"
    """
    contradicted = f"{listing(sorted((a, b)))}: {statement}" if a else statement
    if loss is not None:
        test = "" if given is None or p is None else f" (given {listing(sorted(given))} {p_is(p, level)})"
        return f"{contradicted}; it worsens the score by {loss:,.1f}{test}"
    if given is None or p is None:
        return f"{contradicted}; the tests contradict it, though no single one does"
    return f"{contradicted}; the test that speaks against it is given {listing(sorted(given))} ({p_is(p, level)})"


def conflicts_note(conflicts: int) -> str:
    """Return what is to be known of statements that the data contradict."""
    if conflicts == 1:
        return "the data contradict 1 statement; it was kept"
    return f"the data contradict {conflicts} statements; they were kept"


def stated_line(statement: object, costs: Mapping[str, float]) -> str:
    """Return a statement, and what it costs if it does.

    Examples
    --------
    >>> stated_line("no edge A - B", {"no edge A - B": 40.0})
    'no edge A - B: worsens the score by 40.0'
    """
    loss = costs.get(str(statement), 0.0)
    return f"{statement}: worsens the score by {loss:,.1f}" if loss >= 0.05 else str(statement)


def cost_line(score: float, price: float, costs: Mapping[str, float]) -> str:
    """Return what the statements cost together.

    Examples
    --------
    >>> cost_line(100.0, 12.0, {"": 40.0})
    '100.0 with your statements, 60.0 without them: they worsen it by 40.0 (an edge costs 12.0)'
    """
    with_them, worse = f"{score:,.1f} with your statements", costs[""]
    if worse < 0.05:
        return f"{with_them}, and no better without them"
    return (
        f"{with_them}, {score - worse:,.1f} without them: they worsen it by {worse:,.1f} (an edge costs {price:,.1f})"
    )


def sources_line(sources: Mapping[str, int]) -> str:
    """Return how many marks come from where.

    Examples
    --------
    >>> sources_line({"knowledge": 1, "data": 4})
    '4 marks from the data, 1 mark from what was known'
    """
    return ", ".join(f"{counted(sources[key], 'mark')} {words}" for key, words in SOURCES.items() if sources.get(key))
