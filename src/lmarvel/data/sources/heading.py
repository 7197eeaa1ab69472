"""Where the data of a text file or spreadsheet begin: below titles, the header, and rows of units, or at once.

People put a title above a table, units below its names, or leave the names out. The first rows show which of these it
is, and whatever is not taken for data is reported, with the option that says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lmarvel.data.levels import is_number
from lmarvel.text import readable

LOOKED_AT = 40  # rows
MOST_FIELDS = 200_000  # of the rows looked at: a table of many columns is not parsed twice
_MOST_TITLES = 12
_MOST_UNITS = 3  # survey programs write the question and a key below each name
_BELOW = 3  # rows of data that have to be seen before something above them is taken for something else
_SHOWN = 40

Fields = list[str]


class Heading(NamedTuple):
    """How many rows stand above the names, what the columns are called, how many rows of units follow.

    ``named`` tells whether the names are a row of their own, and ``notes`` what people are to know of this.
    """

    titles: int
    names: Fields
    units: int
    named: bool
    notes: tuple[str, ...] = ()

    @property
    def above(self) -> int:
        """How many rows stand above the first row of data."""
        return self.titles + self.named + self.units


def heading(rows: Sequence[Fields], skipped: bool, units: bool, header: bool | None) -> Heading:
    """Return what the first rows of a table are.

    ``skipped`` tells that a user said how many rows stand above the names, and ``units`` whether such rows may be
    looked for.

    Examples
    --------
    >>> rows = [["Survey 2024"], ["age", "pay"], ["years", "$"], *([str(i), "2.5"] for i in range(30, 34))]
    >>> found = heading(rows, False, True, None)
    >>> found.titles, found.names, found.units, found.notes[0]
    (1, ['age', 'pay'], 1, "1 title row was skipped ('Survey 2024'); --skip-rows 0 treats it as the header")
    >>> heading([["1.5", "2"], ["0.5", "3"], ["0.1", "7"]], False, True, None).names
    ['column1', 'column2']
    """
    titles = 0 if skipped or header is False else _titles(rows)
    first, below = rows[titles], rows[titles + 1 :]
    notes = [_about_titles(rows[:titles])] if titles else []
    if header is None:
        header, note = _has_names(first, below)
        notes += [note] if note else []
    if not header:
        width = max([first, *below], key=len) if titles else first
        return Heading(titles, [f"column{i + 1}" for i in range(len(width))], 0, False, tuple(notes))
    many = 0
    while units and many < _MOST_UNITS and _are_units(below[many:]):
        many += 1
    if many:
        rest = "it is" if many == 1 else "they are"
        notes.append(
            f"{many} row{'s' * (many > 1)} below the header {'was' if many == 1 else 'were'} skipped, since {rest} text"
            f" above numbers ({_shown(below[0])}); --skip-rows 0 takes {'it' if many == 1 else 'them'} for data"
        )
    return Heading(titles, list(first), many, True, tuple(notes))


def _about_titles(rows: Sequence[Fields]) -> str:
    one = len(rows) == 1
    what = "1 title row was" if one else f"{len(rows)} title rows were"
    takes = "treats it as the header" if one else "takes the first of them for the header"
    return f"{what} skipped ({_shown(rows[0])}); --skip-rows 0 {takes}"


def _shown(row: Fields) -> str:
    text = ", ".join(field.strip() for field in row if field.strip())
    return readable(repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."))


# --- titles -----------------------------------------------------------------------------------------------


def width_of(rows: Sequence[Fields]) -> int:
    """Return how many fields most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _titles(rows: Sequence[Fields]) -> int:
    """Return how many rows stand above the names: rows that are not filled, above one of names with numbers below."""
    width = width_of(rows)
    if width < 2:
        return 0
    for k, row in enumerate(rows[: _MOST_TITLES + 1]):
        filled = sum(map(bool, map(str.strip, row)))
        if len(row) == width and filled > width // 2 and filled >= 2:
            return k if k and _are_names(row, rows[k + 1 :]) else 0
        if len(row) == width - 1 and filled == len(row) and not _are_names(*_split(rows[k + 1 :])):
            return 0  # a header without a name for the index, as R writes it
    return 0


def _are_names(row: Fields, below: Sequence[Fields]) -> bool:
    """Whether a row is text throughout, and stands above numbers."""
    return not any(map(is_number, row)) and bool(_number_columns(below, len(row), share=0.5))


def _split(rows: Sequence[Fields]) -> tuple[Fields, Sequence[Fields]]:
    return (rows[0], rows[1:]) if rows else ([], [])


def _number_columns(rows: Sequence[Fields], width: int, share: float = 0.9) -> list[int]:
    """Return the columns in which nearly all cells that are not empty are numbers."""
    found = []
    for i in range(width):
        cells = [row[i] for row in rows if len(row) > i and row[i].strip()]
        if len(cells) >= min(_BELOW, len(rows)) and sum(map(is_number, cells)) >= share * len(cells) > 0:
            found.append(i)
    return found


# --- names ------------------------------------------------------------------------------------------------


def _has_names(first: Fields, below: Sequence[Fields]) -> tuple[bool, str]:
    """Return whether a first row has names, and what to say of that."""
    cells = [cell.strip() for cell in first]
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or not any(map(is_number, filled)):
        return True, ""
    if all(map(is_number, filled)):
        if _may_be_names(filled, below):
            return True, "the names of the columns are numbers; --no-header takes the first row for data"
        return False, "there is no header, since the first row is numbers: the columns are column1, column2, ..." + _SAY
    if _is_like_the_rest(cells, below):
        return False, "there is no header, since the first row is like the others: the columns are column1, ..." + _SAY
    return True, ""


_SAY = " (--header treats it as names)"


def _may_be_names(filled: Fields, below: Sequence[Fields]) -> bool:
    """Whether numbers may be names: whole and different, and in steps of one, or above fractions."""
    if len(set(filled)) < len(filled) or not all(map(str.isdecimal, filled)):
        return False
    steps = [int(b) - int(a) for a, b in pairwise(filled)]
    if set(steps) == {1}:
        return True
    cells = [cell.strip() for row in below for cell in row if is_number(cell)]
    return sum(not cell.lstrip("+-").isdecimal() for cell in cells) > len(cells) // 2


def _is_like_the_rest(cells: Fields, below: Sequence[Fields]) -> bool:
    """Whether a row of numbers and text is data: fractions above numbers, and text that occurs again."""
    numbers = set(_number_columns(below, len(cells)))
    held = [cells[i] for i in numbers]
    if len(below) < _BELOW or not held or not all(map(is_number, held)) or all(map(str.isdecimal, held)):
        return False
    others = [i for i in range(len(cells)) if i not in numbers]
    return all(any(len(row) > i and row[i].strip() == cells[i] for row in below) for i in others)


def _are_units(rows: Sequence[Fields]) -> bool:
    """Whether the first of these rows is text where those below are numbers, and occurs nowhere else."""
    if len(rows) <= _BELOW:
        return False
    first, below = [cell.strip() for cell in rows[0]], rows[_BELOW:]  # below up to three rows of units
    if sum(bool(cell) and not is_number(cell) for cell in first) < 2:
        return False
    numbers = [i for i in _number_columns(below, len(first)) if i < len(first)]
    text = [i for i in numbers if first[i] and not is_number(first[i])]
    if len(text) < 2 or 2 * len(text) < len(numbers) or any(first[i] and i not in text for i in numbers):
        return False
    return not any(row[i].strip() == first[i] for row in below for i in text if len(row) > i)
