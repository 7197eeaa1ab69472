"""The words on what was known beforehand: where marks come from, and what the tests say against statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmarvel.wording import count, listing, p_is

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
    told = f"{listing((a, b))}: {statement}"
    if given is None or p is None:
        return f"{told}; the tests contradict it, though no single one does"
    return f"{told}; the test that speaks against it is given {listing(given)} ({p_is(p, level)})"


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
    return ", ".join(f"{count(sources[key], 'mark')} {said}" for key, said in SOURCES.items() if sources.get(key))


def without_latents(meaning: str) -> str:
    """Return what an edge says, without unmeasured causes: for results where it is known that there are none.

    Examples
    --------
    >>> without_latents("either may be a cause of the other, or they may share an unmeasured cause.")
    'either may be a cause of the other.'
    """
    for told, left in _LATENT:
        meaning = meaning.replace(told, left)
    return meaning


_LATENT = (
    (", they may share an unmeasured cause, or selection", ", or selection"),
    (", or they may share an unmeasured cause", ""),
    (", or an unmeasured cause (or several, tied together by selection) may make them dependent", ""),
)
