"""Names as labels: what a picture can hold of them, and how wide they get."""

from __future__ import annotations

import re
import unicodedata

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
