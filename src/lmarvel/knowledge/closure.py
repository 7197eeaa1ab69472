"""Statements on the variables of a table: what follows from them, pair by pair, and why.

From "A causes B" and "B causes C" follows "A causes C"; from "A causes B" that B does not cause A; from "A does not
cause C" and "B causes C" that A does not cause B, and from "A causes B" and "A does not cause C" that B does not cause
C. All of this is closed here once, in boolean matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge.resolve import Names
from lmarvel.knowledge.vocabulary import Statement
from lmarvel.text import readable

Matrix = NDArray[np.bool_]
_PART = {
    "causes": "causes",
    "not_causes": "never",
    "edges": "edges",
    "no_edges": "no_edges",
    "unconfounded": "unconfounded",
}
_BOTH_WAYS = ("edges", "no_edges", "unconfounded")
_SAID = {
    "causes": "{0} causes {1}",
    "not_causes": "{0} does not cause {1}",
    "edges": "{0} and {1} are adjacent",
    "no_edges": "{0} and {1} are not adjacent",
    "unconfounded": "{0} and {1} share no unmeasured cause",
}


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the variables of a table, on their positions.

    Attributes
    ----------
    names : tuple of str
        The variables.
    tier : tuple of int
        The tier of each, counted from 1; 0 where it has none.
    said_causes, said_never : array
        [a, b]: some statement says that a causes b, or that it does not.
    required, forbidden : array
        Pairs that are adjacent, and that are not.
    said_unconfounded : array
        Pairs that some statement says share no unmeasured cause.
    selection, latents : bool
        Whether the sample may be selected, and whether there may be latent causes.
    sources : tuple of (Statement, array)
        The statements, each with the pairs that it speaks of.

    Examples
    --------
    >>> from lmarvel import Knowledge
    >>> said = Knowledge(tiers=[["age"], ["bp", "drug"]], causes=[("drug", "bp")])
    >>> known = Known.of(said.statements, ["bp", "age", "drug"])
    >>> known.mark(1, 0), known.mark(0, 2), known.why_never(0, 1)          # an arrowhead at bp, a tail at drug
    (2, 3, 'you stated that nothing in tier 2 causes tier 1')
    >>> known.useless(1, 2)                                               # bp causes neither age nor drug
    frozenset({0})
    """

    names: tuple[str, ...]
    tier: tuple[int, ...]
    said_causes: Matrix
    said_never: Matrix
    required: Matrix
    forbidden: Matrix
    said_unconfounded: Matrix
    selection: bool
    latents: bool
    sources: tuple[tuple[Statement, Matrix], ...]

    @classmethod
    def of(cls, statements: Iterable[Statement], names: Sequence[str]) -> Known:
        """Return the statements on these variables; names and patterns that fit none are refused."""
        listed = list(statements)
        n, where = len(names), Names(names)
        parts = {part: np.zeros((n, n), dtype=bool) for part in _PART.values()}
        tier = [0] * n
        sources = []
        for statement in listed:
            about = np.zeros((n, n), dtype=bool)
            if statement.kind == "tiers":
                own = where.tiers(statement)
                tier = tier if any(tier) else own
                row = np.array(own)
                about = (row[:, None] > row[None, :]) & (row[None, :] > 0)
                parts["never"] |= about
            elif statement.kind in ("exogenous", "randomised"):
                about[:, where.find(statement.about[0], statement)] = True
                np.fill_diagonal(about, False)
                parts["never"] |= about
                if statement.kind == "randomised":
                    parts["unconfounded"] |= about | about.T
            elif statement.kind == "apart":
                group = [v for name in statement.about for v in where.find(name, statement)]
                about[np.ix_(group, group)] = True
                np.fill_diagonal(about, False)
                parts["never"] |= about
            elif statement.kind in _PART:
                for a, b in where.pairs(statement):
                    about[a, b] = True
                    about[b, a] |= statement.kind in _BOTH_WAYS
                parts[_PART[statement.kind]] |= about
            sources.append((statement, about))
        kinds = {statement.kind for statement in listed}
        return cls(
            tuple(names),
            tuple(tier),
            parts["causes"],
            parts["never"],
            parts["edges"],
            parts["no_edges"],
            parts["unconfounded"],
            "selection" not in kinds,
            "latents" not in kinds,
            tuple(sources),
        )

    # --- what follows -----------------------------------------------------------------------------------

    @cached_property
    def causes(self) -> Matrix:
        """[a, b]: a is a cause of b; closed under what follows from the other statements."""
        return self._closed[0]

    @cached_property
    def never(self) -> Matrix:
        """[a, b]: a is not a cause of b."""
        return self._closed[1]

    @cached_property
    def _closed(self) -> tuple[Matrix, Matrix]:
        direct = self.said_causes.copy()
        while True:
            causes = reach(direct)
            never = self.said_never | causes.T
            if causes.any():
                own = causes | np.eye(len(self.names), dtype=bool)
                never = _product(_product(own.T, never), own.T)
            # Without an unmeasured cause an edge with an arrowhead at a has a tail at b.
            more = self.unconfounded & self.required & never.T & ~causes
            if not more.any():
                return causes, never
            direct |= more

    @cached_property
    def unconfounded(self) -> Matrix:
        """Pairs that share no unmeasured cause: all of them without latents."""
        return self.said_unconfounded if self.latents else ~np.eye(len(self.names), dtype=bool)

    def mark(self, x: int, y: int) -> int:
        """Return the mark that an edge x-y has at y, if there is one; a circle where nothing is known."""
        if self.never[y, x]:
            return ARROW
        return TAIL if self.causes[y, x] or self._pointed(x, y) else CIRCLE

    def _pointed(self, x: int, y: int) -> bool:
        """Tell whether an edge x-y has an arrowhead at x and, without an unmeasured cause, not another one at y."""
        return bool(self.never[x, y] and self.unconfounded[x, y])

    def useless(self, x: int, y: int) -> frozenset[int]:
        """Return the variables that cause neither x nor y: no set that separates the two needs them.

        If W separates x and y, then so do its members that are anterior to x or y: a path that these leave open has
        only such nodes on it, and would be open given W.
        """
        return self._no_causes[x] & self._no_causes[y]

    @cached_property
    def _no_causes(self) -> list[frozenset[int]]:
        """For each variable those that do not cause it."""
        return [frozenset(np.flatnonzero(column).tolist()) for column in self.never.T]

    def moved(self, order: Sequence[int]) -> Known:
        """Return the same for variables in another order: ``order[i]`` is the one that comes i-th."""
        at = np.ix_(order, order)
        return Known(
            tuple(self.names[v] for v in order),
            tuple(self.tier[v] for v in order),
            self.said_causes[at],
            self.said_never[at],
            self.required[at],
            self.forbidden[at],
            self.said_unconfounded[at],
            self.selection,
            self.latents,
            tuple((statement, about[at]) for statement, about in self.sources),
        )

    # --- why --------------------------------------------------------------------------------------------

    def why_never(self, a: int, b: int) -> str:
        """Return which statements say that a is not a cause of b."""
        return _in_words(self._saying_never(a, b))

    def why_causes(self, a: int, b: int) -> str:
        """Return which statements say that a is a cause of b."""
        return _in_words(self._saying_causes(a, b))

    def why_mark(self, x: int, y: int) -> str:
        """Return why the edge x-y has its known mark at y."""
        if self.never[y, x]:
            return self.why_never(y, x)
        return self.why_causes(y, x) if self.causes[y, x] else _in_words(self._saying_pointed(x, y))

    def why_pair(self, x: int, y: int) -> str:
        """Return why two variables are adjacent, or are not."""
        return _in_words([self._statement(x, y, "edges" if self.required[x, y] else "no_edges")])

    def _saying_never(self, a: int, b: int) -> list[str | None]:
        """Return the statements that together say that a is not a cause of b, None for one that follows from others."""
        if self.causes[b, a] and not self.said_never[a, b]:
            return self._saying_causes(b, a)
        own = self.causes | np.eye(len(self.names), dtype=bool)
        for u, w in [(a, b), *np.argwhere(self.said_never).tolist()]:
            if self.said_never[u, w] and own[u, a] and own[b, w]:
                above = self._saying_causes(u, a) if u != a else []
                below = self._saying_causes(b, w) if w != b else []
                return [self._statement(u, w, "never"), *above, *below]
        return [None]

    def _saying_pointed(self, x: int, y: int) -> list[str | None]:
        """Return the statements that together say that the edge x-y points at x, and at x only."""
        without = self._statement(x, y, "unconfounded") or ("there are no latent causes" * (not self.latents) or None)
        return [*dict.fromkeys((*self._saying_never(x, y), without))]

    def _saying_causes(self, a: int, b: int) -> list[str | None]:
        """Return the statements that together say that a is a cause of b."""
        if self.said_causes[a, b]:
            return [self._statement(a, b, "causes")]
        for v in np.flatnonzero(self.said_causes[a] & self.causes[:, b]).tolist():
            return [self._statement(a, v, "causes"), *self._saying_causes(v, b)]
        return [None]

    def _statement(self, a: int, b: int, part: str) -> str | None:
        """Return what a statement says of two variables; None where it is none of the user's own."""
        for statement, about in self.sources:
            if statement.kind == "randomised" and part == "unconfounded" and (about | about.T)[a, b]:
                return f"{readable(self.names[b if about[a, b] else a])} is randomised"
            if about[a, b] and _PART.get(statement.kind, "never") == part:
                if statement.kind == "tiers" and self.tier[a] > self.tier[b] > 0:
                    return f"nothing in tier {self.tier[a]} causes tier {self.tier[b]}"
                if statement.kind == "tiers":
                    return f"{readable(self.names[a])} comes after {readable(self.names[b])}"
                if statement.kind == "exogenous":
                    return f"nothing measured causes {readable(self.names[b])}"
                if statement.kind == "randomised":
                    return f"{readable(self.names[b])} is randomised"
                if statement.kind == "apart":
                    return f"{readable(self.names[a])} and {readable(self.names[b])} do not cause each other"
                return _SAID[statement.kind].format(readable(self.names[a]), readable(self.names[b]))
        return None


def _in_words(statements: Sequence[str | None]) -> str:
    """Return statements as what the user stated."""
    follows = "it follows from what you stated"
    first, *others = (follows if one is None else f"that {one}" for one in statements)
    return " and ".join([first if statements[0] is None else f"you stated {first}", *others])


def reach(direct: Matrix) -> Matrix:
    """Return the transitive closure of a relation.

    Examples
    --------
    >>> reach(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    closed = direct
    while closed.any():
        further: Matrix = closed | _product(closed, closed)
        if (further == closed).all():
            return further
        closed = further
    return np.array(closed)


def _product(first: Matrix, second: Matrix) -> Matrix:
    """Return the composition of two relations."""
    return np.asarray((first.astype(np.float32) @ second.astype(np.float32)) > 0)
