"""From names and patterns in statements to the variables of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from lmarvel.errors import KnowledgeError
from lmarvel.knowledge.vocabulary import Statement
from lmarvel.text import nearest, readable

Facts = dict[str, list[tuple[int, int]]]


class Names:
    """The variables of a table, by name or pattern.

    Examples
    --------
    >>> Names(["age", "lab_a", "lab_b"]).find("lab_*", Statement("exogenous", ("lab_*",)))
    [1, 2]
    >>> Names(["age", "lab_a"]).find("agee", Statement("exogenous", ("agee",)))
    Traceback (most recent call last):
    ...
    lmarvel.errors.KnowledgeError: 'agee is exogenous' names agee, which is not a variable here; did you \
mean age?
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: i for i, name in enumerate(self.names)}

    def find(self, name: str, statement: Statement) -> list[int]:
        """Return the positions that a name or pattern stands for; refuse one that stands for none."""
        if name in self._index:
            return [self._index[name]]
        matches = [i for i, known in enumerate(self.names) if fnmatchcase(known, name)] if is_pattern(name) else []
        if matches:
            return matches
        shown = readable(name)
        if is_pattern(name):
            raise KnowledgeError(f"'{statement}' has the pattern {shown}, which no variable here matches")
        guess = nearest(name, self.names)
        hint = f"there are {_some(self.names)}" if guess is None else f"did you mean {readable(guess)}?"
        raise KnowledgeError(f"'{statement}' names {shown}, which is not a variable here; {hint}")

    def pairs(self, statement: Statement) -> list[tuple[int, int]]:
        """Return the pairs that a statement about two names or patterns speaks of."""
        left, right = (self.find(name, statement) for name in statement.about)
        pairs = [(a, b) for a in left for b in right if a != b]
        if not pairs:
            raise KnowledgeError(f"'{statement}' names one variable only: a pair needs two")
        return pairs

    def tiers(self, statement: Statement) -> list[int]:
        """Return the tier of each variable, counted from 1; 0 where it has none. A name goes before a pattern."""
        tier = [0] * len(self.names)
        by_name = {name: k for k, names in enumerate(statement.about, 1) for name in names if name in self._index}
        for k, names in enumerate(statement.about, 1):
            for name in names:
                for v in self.find(name, statement):
                    own = by_name.get(self.names[v], k)
                    if tier[v] not in (0, own):
                        raise KnowledgeError(
                            f"{readable(self.names[v])} matches patterns in the tiers {tier[v]} and {k}: name it in one"
                        )
                    tier[v] = own
        return tier


def check_names(statements: Iterable[Statement], names: Sequence[str]) -> None:
    """Refuse statements on what is no variable of a table, whose columns are named in their order.

    Examples
    --------
    >>> check_names([Statement("tiers", (("age",), ("dose", "x")))], ["dose", "age"])
    Traceback (most recent call last):
    ...
    lmarvel.errors.KnowledgeError: 'tiers: age < dose, x' names x, which is not a variable here; there \
are dose, age
    """
    known = Names(names)
    for statement in statements:
        for part in statement.about:
            for name in (part,) if isinstance(part, str) else part:
                known.find(name, statement)


def is_pattern(name: str) -> bool:
    """Tell whether a name can be a pattern."""
    return any(c in name for c in "*?[")


def _some(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(readable, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
