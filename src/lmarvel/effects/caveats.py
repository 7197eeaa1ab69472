"""What an answer about causes and effects rests on, and what to be cautious about.

A caution is a clause without a capital letter and a full stop. It names a part of the learned graph that bears on the
answer and is not established, or an independence that bears on it and that the data reject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lmarvel.effects.claims import Claims, Flags
from lmarvel.effects.knowing.informed import Informed
from lmarvel.graph.bitsets import members
from lmarvel.graph.marks import CIRCLE, NONE
from lmarvel.result import wording
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.check import Implied, separation
from lmarvel.result.support.frequencies import percent
from lmarvel.result.support.grades import LIKELY, STATED
from lmarvel.text import readable

ILLEGAL = "the tests contradict each other, and no causal graph has exactly these marks"

MOST_STATED = 6  # statements that are repeated beside an answer


def what_it_rests_on(result: object, known: bool = False) -> str:
    """Say once what an answer rests on; ``known`` means that selection has been reckoned with."""
    doubtful = not known and (not isinstance(result, Discovery) or wording.selected(result.settings))
    doubtful = doubtful and not (isinstance(result, Informed) and not result.known.selection)
    stated = " and on what you stated" * bool(statements_of(result))
    return f"This rests on the learned graph being right{stated}{', and on a sample that was not selected' * doubtful}."


def _unchecked(result: Discovery) -> str:
    """Say that no resamples check the graph, and why."""
    why = result.grounds.why_skipped
    because = f", because {why}" if why else ""
    way_out = " (learning with a bootstrap checks it)" if result.grounds.skipped != "unusable" else ""
    return f"the learned graph was not checked by resamples{because}{way_out}"


def statements_of(result: object) -> tuple[str, ...]:
    """Return what was stated beforehand, as text."""
    if isinstance(result, Informed):
        return tuple(str(statement) for statement, _ in result.known.sources)
    if isinstance(result, Discovery) and result.knowledge is not None:
        return tuple(map(str, result.knowledge.statements))
    return ()


def listed_statements(statements: Sequence[str]) -> str:
    """Return statements in one line; of many the first."""
    shown = "; ".join(statements[:MOST_STATED])
    rest = len(statements) - MOST_STATED
    return f"{shown}; and {rest:,} more" if rest > 0 else shown


def missed_below(result: Discovery, x: int, y: int) -> str | None:
    """Return which effects between two variables without an edge would have been missed; None where it is not known.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> missed_below(LMarvel().fit(CARS).result_, 0, 1)
    'an effect below a partial correlation of about 0.13 would have been missed'
    """
    least = float(result.grades.noticed[x, y])
    if not least or result.pag.marks[x, y] != NONE:
        return None
    size = f"{least:.2f}" if least >= 0.01 else f"{least:.1g}"
    return f"an effect below a partial correlation of about {size} would have been missed"


def rejection(one: Implied) -> str:
    """Return in words that the data reject an independence."""
    x, y = readable(one.x), readable(one.y)
    given = separation(one).removeprefix(f"{x} and {y} ") if one.given else ""
    return f"the data reject that {x} and {y} are independent{f' {given}' * bool(given)} ({wording.p_is(one.pvalue)})"


class Bearing:
    """The parts of a learned graph that bear on an answer.

    Attributes
    ----------
    ends : array of shape (p, p)
        [x, y]: the mark at y on x-y bears on it.
    pairs : array of shape (p, p)
        [x, y]: the missing edge bears on it.
    """

    def __init__(self, claims: Claims) -> None:
        n = len(claims.ready.graph)
        self._claims = claims
        self.ends: Flags = np.zeros((n, n), dtype=bool)
        self.pairs: Flags = np.zeros((n, n), dtype=bool)

    def within(self, nodes: int) -> Bearing:
        """Add all marks and missing edges among some nodes."""
        at = np.ix_(*2 * [list(members(nodes))])
        self.ends[at] = self.pairs[at] = True
        return self

    def across(self, one: int, other: int) -> Bearing:
        """Add what keeps a set of nodes from causing another: missing edges, and marks at nodes of the first."""
        at, to = list(members(one)), list(members(other))
        self.pairs[np.ix_(at, to)] = self.pairs[np.ix_(to, at)] = True
        self.ends[np.ix_(to, at)] = True
        return self

    def along(self, path: list[int]) -> Bearing:
        """Add the marks of a path, and the missing edges that these rest on."""
        self.ends[path[:-1], path[1:]] = self.ends[path[1:], path[:-1]] = True
        if self._claims.result is not None:
            for end, pairs in self._claims.rests_on.items():
                for x, y in map(tuple, pairs if self.ends[end] else ()):
                    self.pairs[x, y] = self.pairs[y, x] = True
        return self

    @property
    def level(self) -> int:
        """The number of the weakest grade among the parts; that of a statement where nothing bears on the answer."""
        result = self._claims.result
        if result is None:
            return 0
        parts = np.concatenate([result.grades.marks[self.ends], self._claims.gaps[self.pairs]])
        return int(np.min(parts[parts > 0], initial=STATED))

    def cautions(self) -> tuple[str, ...]:
        """Return what to be cautious about: rejected independences first, then what is not established."""
        result = self._claims.result
        if result is None:
            return ()
        found = [ILLEGAL] if self._claims.illegal else []
        doubted = self._doubted(result)
        if doubted:
            rest = len(doubted) - 1
            more = f", and {rest:,} more such independence{'s' * (rest > 1)}" if rest else ""
            found.append(f"{rejection(doubted[0])}{more}")
        if result.grades.basis == "none":
            return (*found, *([_unchecked(result)] if self.level else []))
        if not doubted:
            found += self._misfit(result)
        return (*found, *self._bends(result), *self._weak_edges(result), *self._weak_gaps(result))

    def _doubted(self, result: Discovery) -> list[Implied]:
        """Return the rejected independences of missing edges that bear on it, and of marks that do, the worst first."""
        resting = {pair for end, pairs in result.rejected.items() if self.ends[end] for pair in pairs}
        return [one for pair, one in self._claims.doubted if self.pairs[pair] or frozenset(pair) in resting]

    def _stricter(self, result: Discovery) -> Flags:
        """Return which parts are not established and would be easier to establish if nothing else were wrong."""
        gaps = self._claims.gaps
        weak = self.weak_ends(result) | (self.pairs & (gaps > 0) & (gaps < LIKELY))
        return weak & (result.grades.doubts > 0)

    def _misfit(self, result: Discovery) -> list[str]:
        check = result.check
        if check is None or check.fits or not self._stricter(result).any():
            return []
        of = f"{len(check.failed):,} of {len(check.implied):,} implied independences"
        return [f"the graph does not fit (the data reject {of}, {check.expected:.2g} expected by chance)"]

    def _bends(self, result: Discovery) -> Iterator[str]:
        """Name the strongest relation that is not a straight line and makes a part that bears on it less firm."""
        stricter, at = self._stricter(result), result.pag.index
        touched = (stricter | stricter.T).any(axis=0)
        for bend in result.grounds.bends:
            if np.any(touched[[at(bend.x), at(bend.y)]]):
                yield f"relations are not straight lines (such as that of {readable(bend.x)} and {readable(bend.y)})"
                return

    def weak_ends(self, result: Discovery) -> Flags:
        """Return which marks among those that bear on it are not established."""
        levels = result.grades.marks
        return self.ends & (levels > 0) & (levels < LIKELY)

    def _weak_edges(self, result: Discovery) -> Iterator[str]:
        weak = self.weak_ends(result)
        edges = np.argwhere(np.triu(weak | weak.T)).tolist()
        marked = self.ends & (result.pag.marks > CIRCLE)
        total = int(np.triu(marked | marked.T).sum())
        if len(edges) == 1:
            x, y = edges[0]
            both = min(result.grades.shares[end] for end in ((x, y), (y, x)) if weak[end])
            share = f" (the same in {percent(both)} of resamples)" if result.grades.basis == "resamples" else ""
            yield f"the direction of {self._claims.ready.path_text((x, y))} is not established{share}"
        elif edges:
            directions = f"{total:,} arrow directions that bear on it"
            all_of = len(edges) == total
            some = f"{len(edges):,} of {directions} are not established"
            yield f"none of the {directions} is established" if all_of else some

    def _weak_gaps(self, result: Discovery) -> Iterator[str]:
        gaps, counts = self._claims.gaps, result.resamples
        weak = np.argwhere(np.triu((self.pairs | self.pairs.T) & (gaps > 0) & (gaps < LIKELY))).tolist()
        if not weak:
            return
        names = result.pag.names
        x, y = max(weak, key=lambda pair: 0 if counts is None else int(counts.adjacent[tuple(pair)]))
        pair = f"{readable(names[x])} and {readable(names[y])}"
        if counts is not None and counts.adjacent[x, y]:
            pair += f", joined in {percent(counts.adjacent[x, y] / counts.replicates)} of resamples"
        if len(weak) == 1:
            yield f"a missing edge that bears on it is not established ({pair})"
        else:
            yield f"{len(weak):,} missing edges that bear on it are not established (such as {pair})"


def why_not_impossible(claims: Claims, x: int, y: int) -> tuple[str, ...]:
    """Return the cautions where it is not established that x does not cause y."""
    bearing = Bearing(claims).across(*claims.between(x, y))
    return bearing.along(claims.weak_path(x, y)).cautions()
