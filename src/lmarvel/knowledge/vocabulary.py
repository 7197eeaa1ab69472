"""The kinds of statements, and how each is written as text.

A :class:`Statement` is the least that all of this room shares. :class:`lmarvel.Knowledge` makes statements, their text
form is parsed into them (:mod:`lmarvel.knowledge.text`), and what follows from them is closed over the variables of a
table (:mod:`lmarvel.knowledge.closure`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lmarvel.graph.marks import quote

ANY = "*"  # the pattern of every variable


class Statement(NamedTuple):
    """One statement: its kind, a key of :class:`lmarvel.Knowledge`, and what it is about (names or patterns)."""

    kind: str
    about: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _WORDS[self.kind](*self.about)


def word(name: str) -> str:
    """Return a name as the text form has it: quoted where it holds a blank, a comma or ``<``."""
    plain = quote(name)
    return f'"{plain}"' if plain == name and "<" in name else plain


def _tiers(*tiers: Sequence[str]) -> str:
    return "tiers: " + " < ".join(", ".join(map(word, tier)) for tier in tiers)


_WORDS: Mapping[str, Callable[..., str]] = {
    "tiers": _tiers,
    "causes": lambda a, b: f"{word(a)} causes {word(b)}",
    "not_causes": lambda a, b: f"{word(a)} does not cause {word(b)}",
    "edges": lambda a, b: f"edge {word(a)} - {word(b)}",
    "no_edges": lambda a, b: f"no edge {word(a)} - {word(b)}",
    "exogenous": lambda a: f"{word(a)} is exogenous",
    "apart": lambda *names: f"{', '.join(map(word, names))} do not cause each other",
    "randomised": lambda a: f"{word(a)} is randomised",
    "unconfounded": lambda a, b: (
        f"no unmeasured causes of {word(a)}" if b == ANY else f"{word(a)} and {word(b)} share no unmeasured cause"
    ),
    "selection": lambda: "no selection",
    "latents": lambda: "no latents",
}
