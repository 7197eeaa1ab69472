"""Names as labels: what a picture can hold of them, and how wide they get."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

FONT_SIZE = 14.0
MOST_EMS = 13.0  # a longer label is cut

# Characters that XML 1.0 cannot hold, lone surrogates among them.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Direction overrides would reorder what stands beside the name as well.
_LAYOUT = re.compile("[\u202a-\u202e\u2066-\u2069\x7f-\x9f]")

_EMS = {
    **dict.fromkeys("ijlI|!.,:;'`", 0.34),
    **dict.fromkeys('ftr()[]{}/\\ -"°', 0.42),
    **dict.fromkeys("<>=+~^#", 0.86),
    **dict.fromkeys("mMwWQO@%&\ufffd…", 1.0),
}


def printable(text: str) -> str:
    """Return the text with each character that no picture can hold replaced by U+FFFD.

    Examples
    --------
    >>> printable("a\\x00b") == "a\\ufffdb"
    True
    """
    return _LAYOUT.sub("\ufffd", _ILLEGAL.sub("\ufffd", text))


def one_line(text: str) -> str:
    """Return the text in one line: runs of blanks and line ends become one blank."""
    return " ".join(printable(text).split()) or "\N{OPEN BOX}"


def ems(text: str) -> float:
    """Return about how wide a text is, in font sizes; rather too wide than too narrow for common fonts."""
    return sum(map(_em, text))


@lru_cache(maxsize=4096)  # names are written in few letters
def _em(char: str) -> float:
    if char in _EMS:
        return _EMS[char]
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.74 if char.isupper() else 0.64


def shortened(text: str, most: float = MOST_EMS) -> str:
    """Return the text, its middle replaced by an ellipsis where it is too wide.

    The end stays because long names often differ only there.

    Examples
    --------
    >>> shortened("systolic_blood_pressure_visit_2", 10)
    'systolic…visit_2'
    """
    if ems(text) <= most:
        return text
    room = (most - 1.0) / 2
    head, tail = _fitting(text, room), _fitting(text[::-1], room)[::-1]
    return f"{head.rstrip(' _')}…{tail.lstrip(' _')}"


def _fitting(text: str, room: float) -> str:
    """Return as much of the beginning as fits."""
    for k, char in enumerate(text):
        room -= _em(char)
        if room < 0:
            return text[:k]
    return text


# --- lines ------------------------------------------------------------------------------------------------

MOST_ROWS = 3
_WIDEST_ROW = 20.0  # of a name that has no place to break at
# A row may end after a blank or a sign, and between a small letter and a capital.
_BREAKS = re.compile(r"(?<=[ _.\-/:,;|])|(?<=[a-z])(?=[A-Z])")


def rows(text: str) -> tuple[str, ...]:
    """Return a name in rows: one where it is short, up to three where it is not; cut only beyond that.

    Examples
    --------
    >>> rows("age"), rows("systolic_blood_pressure_visit_2")
    (('age',), ('systolic_blood_', 'pressure_visit_2'))
    """
    if ems(text) <= MOST_EMS:
        return (text,)
    if ems(text) > MOST_ROWS * MOST_EMS:
        text = shortened(text, MOST_ROWS * MOST_EMS)
    pieces = [piece for piece in _BREAKS.split(text) if piece]
    for count in range(2, MOST_ROWS + 1):
        found = _narrowest(pieces, count)
        if max(map(ems, found)) <= (MOST_EMS if count < MOST_ROWS else _WIDEST_ROW):
            return found
    return (shortened(text, _WIDEST_ROW),)


def _narrowest(pieces: list[str], count: int) -> tuple[str, ...]:
    """Return the pieces in at most so many rows, which are nearly as narrow as they can be."""
    width = max(ems(piece.strip()) for piece in pieces)
    while len(found := _filling(pieces, width)) > count:
        width += 0.5
    return found


def _filling(pieces: list[str], width: float) -> tuple[str, ...]:
    found = [""]
    for piece in pieces:
        if found[-1] and ems((found[-1] + piece).strip()) > width:
            found.append("")
        found[-1] += piece
    return tuple(row.strip() for row in found)


def wrapped(text: str, width: float) -> tuple[str, ...]:
    """Return a sentence in rows of at most this width, in font sizes; only a wider word makes a wider row.

    Examples
    --------
    >>> wrapped("All learned marks; hollow ones are not established", 20)
    ('All learned marks; hollow ones are', 'not established')
    """
    return _filling([f"{word} " for word in one_line(text).split()], width)
