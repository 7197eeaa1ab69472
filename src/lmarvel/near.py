"""Which name was meant, where one is not known: for messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.6  # how alike two names are, between 0 and 1, of which one may stand for the other


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a name was most likely meant to be; None where none comes close.

    Examples
    --------
    >>> nearest("wieght", ["Height", "Weight", "Age"]), nearest("AGE", ["Age", "Stage"]), nearest("x", ["Age"])
    ('Weight', 'Age', None)
    """
    names = list(known)
    folded = {other.casefold(): other for other in reversed(names)}
    close = get_close_matches(name.casefold(), folded, 1, _CLOSE)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], quoted: bool = True) -> str:
    """Return the end of a message on an unknown name: a question where a known one comes close, else nothing.

    Examples
    --------
    >>> did_you_mean("lern", ["learn", "draw"]), did_you_mean("paint", ["learn", "draw"])
    ("; did you mean 'learn'?", '')
    """
    meant = nearest(name, known)
    if meant is None:
        return ""
    return f"; did you mean {repr(meant) if quoted else meant}?"
