"""The words for what a result rests on: how much speaks for a mark, how the table was taken, and what was stated.

How much worse is the best graph that was met and has another mark at an end? Three words stand for that distance; what
they are worth was measured on simulated data (docs/methods.md has the table).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lmarvel.result.trace import Chose
from lmarvel.result.wording import p_is
from lmarvel.text import counted, joined, listing, readable, sentence

FIRM, LIKELY = 3.0, 0.9  # in units of the price of an edge
WORDS = ("open", "likely", "firm")
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def support_word(distance: float | None, price: float, hidden: bool = False) -> str:
    """Return the word for the distance to the best graph with another mark; None if it was not measured.

    A graph with one superfluous edge more is never worse by more than the price of an edge. So what is likely takes
    such an edge to undo, what is firm takes several, and what is open less than one. Where hidden nodes gave the graph
    (``hidden``) the word is one step weaker: other hidden nodes would change many marks at once, and graphs that differ
    in one edge do not show that.

    Examples
    --------
    >>> [support_word(distance, price=15.0) for distance in (0.0, 14.9, 95.5, float("inf"), None)]
    ['open', 'likely', 'firm', 'firm', 'open']
    >>> [support_word(distance, price=15.0, hidden=True) for distance in (14.9, 95.5)]
    ['open', 'likely']
    """
    if distance is None or distance < LIKELY * price:
        return "open"
    word = 1 if distance < FIRM * price else 2
    return WORDS[word - hidden]


def weakest(words: Iterable[str]) -> str | None:
    """Return the weakest of some words; None if there are none.

    Examples
    --------
    >>> weakest(["firm", "likely"]), weakest([])
    ('likely', None)
    """
    return min(words, key=WORDS.index, default=None)


def kept(loss: float, given: str, p: float, level: float) -> str:
    """Return why an edge is there: what the score loses without it, and the test.

    Examples
    --------
    >>> kept(34.16, "given C, D", 3e-12, 0.01)
    'without it the score worsens by 34.2, refitted; p = 3e-12 given C, D'
    """
    against = f"; a test at {level:g} alone would not show the edge" if p > level else ""
    return f"without it the score worsens by {loss:,.1f}, refitted; {p_is(p, level)} {given}{against}"


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


def mark_is(distance: float | None, word: str) -> str:
    """Return how well a mark is supported.

    Examples
    --------
    >>> mark_is(12.04, "likely"), mark_is(math.inf, "firm")
    ('with another mark here the score worsens by 12.0 (likely)', 'no graph that was met has another mark here (firm)')
    """
    if distance is None:
        return f"the time did not suffice to look at other marks ({word})"
    if math.isinf(distance):
        return f"no graph that was met has another mark here ({word})"
    if distance == 0:
        return f"graphs with another mark here fit as well ({word})"
    return f"with another mark here the score worsens by {distance:,.1f} ({word})"


_CAUTION: dict[str | None, str] = {
    "likely": "likely, not firm: ",
    "open": "open, for other marks fit nearly as well or were not ruled out: ",
}


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
    statement: str, word: str | None, from_selection: bool = False, chose: Chose | None = None, can_err: bool = False
) -> str:
    """Return what an edge says, no stronger than the weakest of its marks.

    Where it speaks of selection, what speaks for selection is added; or that a test may have erred.

    Examples
    --------
    >>> edge_sentence("selection: both influence being in the sample", None, from_selection=True, can_err=True)
    'selection: both influence being in the sample, or a test erred.'
    >>> edge_sentence("A is a cause of B", "likely")
    'likely, not firm: A is a cause of B.'
    """
    before = _CAUTION.get(word, "")
    if not from_selection:
        return f"{before}{statement}."
    if chose is not None:
        return f"{before}{statement}. {sentence(without_selection(chose.selection_gain))}"
    return f"{before}{statement}{f', {OR_ERRED}' if can_err else ''}."


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


SCALE = {
    "firm": "no graph with another mark there comes within the price of three edges, and no hidden node is at work",
    "likely": "a graph with another mark there costs about as much as one superfluous edge, or more",
    "open": "graphs with another mark there fit nearly as well, or other hidden nodes might",
}
HIDDEN = "Hidden nodes of the model that fits best; the class of the graph may hold others"
OR_ERRED = "or a test erred"


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
    >>> few_values_note(["grade"])
    'grade has few different whole numbers and is taken as a number: if it has levels, say so (ordinal, categorical)'
    """
    shown = listing(sorted(columns[:_NAMED])) + (f", ... ({len(columns)} in all)" if len(columns) > _NAMED else "")
    if len(columns) == 1:
        taken = "has few different whole numbers and is taken as a number: if it has levels"
    else:
        taken = "have few different whole numbers and are taken as numbers: if they have levels"
    return f"{shown} {taken}, say so (ordinal, categorical)"


def table_said(settings: Mapping[str, Any]) -> str:
    """Return how a table was taken, from the settings of a result; nothing where that is nothing special.

    Examples
    --------
    >>> table_said({"missing": "drop", "dropped_rows": 3, "weights": "w"})
    '3 rows dropped for missing values; weights in w'
    """
    gaps = {
        "em": "moments by EM around missing values",
        "drop": f"{counted(settings.get('dropped_rows', 0), 'row')} dropped for missing values",
    }
    taken = (settings.get("kinds"), gaps.get(settings.get("missing", "")))
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


def conflict(a: str, b: str, statement: str, given: Sequence[str] | None, p: float | None, level: float) -> str:
    """Return a statement that the tests contradict, with the test that does.

    Examples
    --------
    >>> conflict("A", "C", "you said that A and C are adjacent", ("B",), 0.4, 0.01)
    'A, C: you said that A and C are adjacent; the test that speaks against it is given B (p = 0.4)'
    """
    contradicted = f"{listing(sorted((a, b)))}: {statement}"
    if given is None or p is None:
        return f"{contradicted}; the tests contradict it, though no single one does"
    return f"{contradicted}; the test that speaks against it is given {listing(sorted(given))} ({p_is(p, level)})"


def conflicts_note(conflicts: int) -> str:
    """Return what is to be known of statements that the tests contradict."""
    if conflicts == 1:
        return "the tests contradict 1 statement; it was kept"
    return f"the tests contradict {conflicts} statements; they were kept"


def sources_line(sources: Mapping[str, int]) -> str:
    """Return how many marks come from where.

    Examples
    --------
    >>> sources_line({"knowledge": 1, "data": 4})
    '4 marks from the data, 1 mark from what was known'
    """
    return ", ".join(f"{counted(sources[key], 'mark')} {words}" for key, words in SOURCES.items() if sources.get(key))
