"""What missing values mean for a result: how they were handled, on how many rows it rests, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lmarvel.data.missing.gaps import FEWEST, gaps_of
from lmarvel.text import counted, joined, listing, readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery
    from lmarvel.result.trace import Event

_NAMED = 3  # pairs, in a sentence

ASSUMED = (
    "tests with missing values stay sound even if a value decides whether it is missing, but not if one missing value"
    " makes another missing"
)
ASSUMED_BY_SCORE = (
    "the score fills missing values from the rest of their row, which is right if whether a value is missing depends on"
    " observed values only"
)


def line(missing: int, fewest: int, most: int) -> str:
    """Return how missing values were handled, and how many rows claims rest on.

    Examples
    --------
    >>> line(1204, 1412, 2000)
    '1,204 values are missing: each test uses the rows that have its variables (1,412 to 2,000 rows per pair).'
    """
    rows = f"{counted(most, 'row')} per pair" if fewest == most else f"{fewest:,} to {counted(most, 'row')} per pair"
    are = "is" if missing == 1 else "are"
    return f"{counted(missing, 'value')} {are} missing: each test uses the rows that have its variables ({rows})."


def apart_line(pairs: tuple[tuple[str, str], ...]) -> str:
    """Return which pairs too few rows have both variables of.

    Examples
    --------
    >>> apart_line((("a", "b"),))
    '1 pair stays undecided: fewer than 20 rows have both variables (a and b).'
    """
    named = listing((joined(map(readable, pair)) for pair in pairs), _NAMED)
    stay = "stays" if len(pairs) == 1 else "stay"
    return f"{counted(len(pairs), 'pair')} {stay} undecided: fewer than {FEWEST} rows have both variables ({named})."


def note(by_score: bool) -> str:
    """Return what has to be true of missing values."""
    return ASSUMED_BY_SCORE if by_score else ASSUMED


def empty_rows_note(rows: int) -> str:
    """Return that rows without any value were left out.

    Examples
    --------
    >>> empty_rows_note(2)
    '2 rows hold no value and were left out'
    """
    hold, were = ("holds", "was") if rows == 1 else ("hold", "were")
    return f"{counted(rows, 'row')} {hold} no value and {were} left out"


def are_handled(settings: Mapping[str, Any]) -> bool:
    """Tell whether values were missing, and each test used the rows that have its variables."""
    return settings.get("missing") == "test-wise"


def apart(result: Discovery) -> tuple[tuple[str, str], ...]:
    """Return the pairs that stay undecided because too few rows have both variables."""
    gaps = gaps_of(result.data) if result.settings.get("unobserved_pairs") else None
    return () if gaps is None else gaps.apart


def only_apart(result: Discovery) -> bool:
    """Tell whether nothing but too few rows that have both variables left pairs undecided: no search ended early."""
    left = len(result.undecided)
    by_rows = 0 < left <= result.settings.get("unobserved_pairs", 0)
    return by_rows and (result.mag is None or result.budget_ended is None)


def rows_lines(result: Discovery, a: str, b: str, event: Event | None) -> Iterator[str]:
    """Iterate over on how many rows a test of two variables rests: that of a record of the trace, if there is one."""
    gaps = gaps_of(result.data) if are_handled(result.settings) else None
    if gaps is None:
        return
    names = result.pag.names
    given = next((s for s in (getattr(event, name, None) for name in ("given", "strongest", "sepset")) if s), ())
    used = [a, b, *sorted(names[v] for v in given)]
    rows, shown = gaps.rows_with(used), joined(map(readable, used)) if len(used) < 6 else "all variables of the test"
    yield f"Rows: {rows:,} of {counted(gaps.rows, 'row')} have {shown}"
