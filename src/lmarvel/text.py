"""Words that every room needs: names as they can be shown, lists, counts, sentences, which name was meant, and
commands as they are typed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

_CLOSE = 0.6  # how alike two names are, between 0 and 1, of which one may stand for the other


def readable(name: str) -> str:
    """Return a name as it is, or quoted where it holds characters that would not show, or change what stands beside.

    Examples
    --------
    >>> print(readable("age"), readable("two\\nlines"))
    age "two\\nlines"
    """
    return name if name.isprintable() else json.dumps(name, ensure_ascii=True)


def printable(text: str) -> str:
    """Return a text of many lines, with what would not show in it, or act on a terminal, written as in JSON."""
    if all(line.isprintable() for line in text.split("\n")):
        return text
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with the word for what it counts, singular where there is one.

    Examples
    --------
    >>> counted(1, "node"), counted(2_000, "edge"), counted(0, "boundary", "boundaries")
    ('1 node', '2,000 edges', '0 boundaries')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def listing(names: Iterable[str], most: int | None = None, none: str = "nothing") -> str:
    """Return names with commas between them; of more than ``most`` the first, and how many there are.

    Examples
    --------
    >>> listing(["A", "B"]), listing([]), listing("ABCDE", most=2)
    ('A, B', 'nothing', 'A, B, ... (5 in all)')
    """
    every = list(names)
    shown = ", ".join(map(readable, every[:most])) or none
    return shown if most is None or len(every) <= most else f"{shown}, ... ({len(every):,} in all)"


def joined(parts: Iterable[str]) -> str:
    """Return parts of a sentence with commas, and with "and" before the last.

    Examples
    --------
    >>> joined(["A", "B", "C"]), joined(["A"])
    ('A, B and C', 'A')
    """
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


def sentence(words: str) -> str:
    """Return words that have neither as a sentence: with a capital letter and a full stop.

    Examples
    --------
    >>> sentence("no edge was found")
    'No edge was found.'
    """
    return f"{words[:1].upper()}{words[1:]}."


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


# --- commands ---------------------------------------------------------------------------------------------


def option_words(name: str, value: Any) -> list[str]:
    """Return an option as it is typed.

    Examples
    --------
    >>> option_words("drop", ["id", "day"]), option_words("numeric_only", True), option_words("header", False)
    (['--drop', 'id,day'], ['--numeric-only'], ['--no-header'])
    >>> option_words("ordinal", {"size": ["S", "M"], "rank": None}), option_words("na", {"age": [-9, 99]})
    (['--ordinal', 'size=S<M', '--ordinal', 'rank'], ['--na', 'age=-9,99'])
    """
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, Mapping):
        sign = "," if name == "na" else "<"
        several = {key: part if isinstance(part, list) or part is None else [part] for key, part in value.items()}
        parts = [f"{key}={sign.join(map(str, part))}" if part else key for key, part in several.items()]
        return [word for part in parts for word in (flag, part)]
    if not isinstance(value, list | tuple):
        return [flag, str(value)]
    parts = list(map(str, value))
    if any("," in part for part in parts):
        return [word for part in parts for word in (flag, part)]
    return [flag, ",".join(parts)]


def command_of(arguments: list[str]) -> str:
    """Return the words of a command as they are typed."""
    whole = ["lmarvel", *arguments]
    return subprocess.list2cmdline(whole) if os.name == "nt" else shlex.join(whole)
