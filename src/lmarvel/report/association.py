"""How two variables go together once what surrounds them is held fixed: sign and size, from the table itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.data import Dataset
from lmarvel.data.columns import Kind
from lmarvel.errors import BudgetSpent, LMarvelError
from lmarvel.graph.marks import Edge
from lmarvel.result.discovery import Discovery
from lmarvel.text import listing

EDGES_PER_SECOND = 1_000  # that are drawn straight, and listed
_LEAST_ROWS = 10  # more than variables: with fewer a partial correlation is noise
_PLUS, _MINUS = "+", "\N{MINUS SIGN}"
_STRONG, _TINY = 0.7, 1e-30  # a correlation, and a p-value, of which a line is as thick as lines get
_DETERMINED = 1e-8  # the share of a variance that the others must leave


class Association(NamedTuple):
    """A partial correlation, and given which variables."""

    value: float
    given: tuple[str, ...]
    others: bool  # whether these are all other variables

    @property
    def text(self) -> str:
        """The number with its sign, as people write it."""
        return f"{_PLUS if self.value >= 0 else _MINUS}{abs(self.value):.2f}"

    @property
    def sentence(self) -> str:
        """What the number is, without the number."""
        if self.others and len(self.given) > 3:
            return "Partial correlation given all other variables"
        return f"Partial correlation given {listing(sorted(self.given))}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page shows it."""
        return {"value": round(self.value, 4), "shown": self.text, "sentence": self.sentence}


def associations(found: Discovery, data: Dataset | None) -> dict[frozenset[str], Association]:
    """Return the partial correlation of each edge that has one; none without the table that was learned from.

    It is taken given the smaller of the two Markov boundaries, or given all other variables where there are no
    boundaries. Categories have no correlation: an edge of a categorical column has none, and neither has one with such
    a column among the given.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS).result_
    >>> told = associations(found, Dataset.of(CARS))
    >>> told[frozenset(("MilesPerGallon", "Weight"))].text
    '−0.50'
    >>> associations(found, None)
    {}
    """
    if data is None or not found.pag.n_edges or current().is_late():
        return {}
    try:
        table = Dataset.of(data, columns=found.pag.names)
        if found.data is not None and table.fingerprint != found.data["fingerprint"]:
            return {}
        moments, fit = table.moments, _numbers(table)
    except (LMarvelError, BudgetSpent):
        return {}
    told = _of_edges(found, moments.correlation(), fit, moments.n)
    return {frozenset((edge.a, edge.b)): one for edge, one in told if one is not None}


def _of_edges(
    found: Discovery, correlation: NDArray[np.float64], fit: NDArray[np.bool_], rows: int
) -> Iterator[tuple[Edge, Association | None]]:
    clock, everything = current(), cache(lambda: _inverse(correlation))
    drawing, crowded = found.pag.n_edges / EDGES_PER_SECOND, rows < len(found.pag) + _LEAST_ROWS
    for edge in found.pag.edges():
        if clock.left() <= drawing:
            return
        if crowded and not {edge.a, edge.b} <= found.boundaries.keys():
            continue  # too few rows for all other variables, which may be thousands
        given = _given(found, edge)
        at = [found.pag.index(name) for name in (edge.a, edge.b, *given)]
        if fit[at].all() and rows >= len(at) + _LEAST_ROWS:
            if len(at) == len(found.pag):
                value = _between(everything(), at[0], at[1])
            else:
                value = partial_correlation(correlation[np.ix_(at, at)])
            if value is not None:
                yield edge, Association(value, given, len(at) == len(found.pag))


def _numbers(table: Dataset) -> NDArray[np.bool_]:
    """Tell which columns are numbers; two values are, unless they are levels with names."""
    return np.array(
        [
            kind is Kind.CONTINUOUS or (kind is Kind.BINARY and levels is None)
            for kind, levels in zip(table.kinds, table.levels, strict=True)
        ]
    )


def _given(found: Discovery, edge: Edge) -> tuple[str, ...]:
    pair = {edge.a, edge.b}
    around = [sorted(found.boundaries[end] - pair) for end in (edge.a, edge.b) if end in found.boundaries]
    if len(around) < 2:
        return tuple(name for name in found.pag.names if name not in pair)
    smaller = min(around, key=lambda one: (len(one), one))
    return tuple(smaller)


def partial_correlation(correlation: NDArray[np.float64]) -> float | None:
    """Return the partial correlation of the first two variables given the rest; None where it is not defined.

    Examples
    --------
    >>> round(partial_correlation(np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])), 3)
    0.333
    """
    return _between(_inverse(correlation), 0, 1)


def _inverse(correlation: NDArray[np.float64]) -> NDArray[np.float64] | None:
    try:
        precision: NDArray[np.float64] = np.asarray(np.linalg.inv(correlation), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return precision if np.isfinite(precision).all() else None


def _between(precision: NDArray[np.float64] | None, x: int, y: int) -> float | None:
    """Return the partial correlation of two variables given all others, from the inverse of the correlations."""
    if precision is None:
        return None
    own = precision[x, x], precision[y, y]
    if min(own) <= 0 or max(own) > 1 / _DETERMINED:
        return None
    value = float(-precision[x, y] / np.sqrt(own[0] * own[1]))
    return value if abs(value) <= 1 else None


class Widths(NamedTuple):
    """How strong edges are, from 0 to 1, and what that is read from, for the legend."""

    strengths: dict[frozenset[str], float]
    meaning: str | None


def widths(
    found: Discovery,
    told: Mapping[frozenset[str], Association],
    losses: Mapping[frozenset[str], float],
    pvalues: Mapping[frozenset[str], float],
) -> Widths:
    """Return what the widths of lines follow: the first of correlations, losses and p-values that every edge has."""
    pairs = {frozenset((edge.a, edge.b)) for edge in found.pag.edges()}
    if pairs and pairs <= told.keys():
        strong = {pair: min(abs(told[pair].value) / _STRONG, 1.0) for pair in pairs}
        return Widths(strong, "The number on an edge is its partial correlation: the larger, the thicker the line.")
    if pairs and pairs <= losses.keys():
        most = max(max(losses.values()), 1.0)
        strong = {pair: math.sqrt(max(losses[pair], 0.0) / most) for pair in pairs}
        return Widths(strong, "The more the score worsens without an edge, the thicker its line.")
    if pairs and pairs <= pvalues.keys():
        strong = {pair: min(-math.log10(max(pvalues[pair], _TINY)) / -math.log10(_TINY), 1.0) for pair in pairs}
        return Widths(strong, "The smaller the largest p-value of an edge, the thicker its line.")
    recurs = "The more resamples have an edge, the thicker its line."
    return Widths({}, None if found.resamples is None or not pairs else recurs)
