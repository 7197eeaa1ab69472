"""Statements that cannot all be true: which they are, and a smallest set of them that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from lmarvel.errors import KnowledgeError
from lmarvel.knowledge.closure import Known, reach
from lmarvel.knowledge.resolve import is_pattern
from lmarvel.knowledge.vocabulary import Statement
from lmarvel.text import joined

if TYPE_CHECKING:
    from lmarvel.knowledge.statements import Knowledge

_MOST = 3000  # sets of statements to look at for a smaller one
_OTHER = "\0another variable"  # what a table may hold besides


def check_as_written(knowledge: Knowledge) -> None:
    """Refuse statements that contradict each other whatever the table is; patterns are looked at with a table."""
    statements = [s for s in knowledge.statements if not _has_pattern(s)]
    names = dict.fromkeys(name for s in statements for name in _names(s))
    _checked(statements, [*names, _OTHER])


def known_of(knowledge: Knowledge, names: Sequence[str]) -> Known:
    """Return the statements on the variables of a table; refuse unknown names and statements that contradict.

    Examples
    --------
    >>> from lmarvel import Knowledge
    >>> known_of(Knowledge(causes=[("A", "B")], no_edges=[("A", "B")]), ["A", "B"])
    Traceback (most recent call last):
    ...
    lmarvel.errors.KnowledgeError: these statements contradict each other: 'A causes B' and \
'no edge A - B'
    """
    return _checked(list(knowledge.statements), names)


def contradictory(known: Known) -> bool:
    """Tell whether no graph fits.

    Looked at: cycles, causes that are none, pairs that are adjacent and not, and whether every cause has a way left to
    its effect. A contradiction that needs more than this is not seen.
    """
    causes, never = known.causes, known.never
    if (causes & never).any() or (known.required & known.forbidden).any():
        return True
    if (known.unconfounded & known.required & never & never.T).any():
        return True
    if not known.said_causes.any():
        return False
    possible = ~known.forbidden & ~never
    np.fill_diagonal(possible, False)
    return bool((known.said_causes & ~reach(possible)).any())


def smallest(statements: Sequence[Statement], names: Sequence[str]) -> list[Statement]:
    """Return a smallest set of contradictory statements that contradict each other."""
    left = list(statements)
    for statement in statements:  # what is left cannot lose any
        fewer = [s for s in left if s is not statement]
        if contradictory(Known.of(fewer, names)):
            left = fewer
    for size in range(1, len(left)):
        if comb(len(statements), size) > _MOST:
            break
        for chosen in combinations(statements, size):
            if contradictory(Known.of(chosen, names)):
                return list(chosen)
    return left


def _checked(statements: Sequence[Statement], names: Sequence[str]) -> Known:
    known = Known.of(statements, names)
    if not contradictory(known):
        return known
    listed = [f"'{s}'" for s in smallest(statements, names)]
    if len(listed) == 1:
        raise KnowledgeError(f"this statement contradicts itself: {listed[0]}")
    raise KnowledgeError(f"these statements contradict each other: {joined(listed)}")


def _names(statement: Statement) -> list[str]:
    return [name for tier in statement.about for name in tier] if statement.kind == "tiers" else list(statement.about)


def _has_pattern(statement: Statement) -> bool:
    return any(map(is_pattern, _names(statement)))
