"""Which name was meant, where one is not known: for messages.

What an answer shows at the prompt of a notebook or of IPython: its words, and not the fields that hold them.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

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


class ShownAsText:
    """An object that shows, where it is the last line of a cell, what printing it shows.

    Examples
    --------
    >>> class Answer(ShownAsText):
    ...     def __str__(self) -> str:
    ...         return "yes"
    >>> Answer()._repr_mimebundle_()
    {'text/plain': 'yes'}
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the words; IPython looks here first, and for its other ways only beside a class's own ``__repr__``."""
        return {"text/plain": str(self)}
