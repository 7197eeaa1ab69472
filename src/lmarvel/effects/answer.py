"""Does X affect Y, and by how much? The answer, with the numbers and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from lmarvel.data import Dataset, Kind
from lmarvel.effects.adjustment import Pair, canonical_set, checked_pair, minimal_sets, pair_of
from lmarvel.effects.caveats import Recurring, caution, edges_among, says_selection, what_it_rests_on
from lmarvel.effects.classify import Identified, classify, classify_given, ready_for_effects
from lmarvel.effects.effect import Effect
from lmarvel.effects.estimate import Estimate, adjusted_estimates, formula_estimates, smallest_variance
from lmarvel.effects.formula import Density
from lmarvel.effects.pag_index import Askable, Prepared, Stated, node_set, selection_near
from lmarvel.effects.ranges import MOST, Range, effect_range
from lmarvel.effects.table import Columns
from lmarvel.errors import DataError, GraphError, ParameterError
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import Edge
from lmarvel.graph.mixed import Node
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before
from lmarvel.text import readable

SIDE_BY_SIDE = 12  # other valid sets that are shown


def effect(
    result: Discovery | Askable | Prepared,
    x: Node,
    y: Node,
    data: Any = None,
    *,
    given: Node | Iterable[Node] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    nominal: Sequence[str] = (),
    most: int = MOST,
) -> Effect:
    """Return whether ``x`` affects ``y``, and by how much, under every explanation of the data that a PAG stands for.

    Parameters
    ----------
    result : Discovery, PAG, MAG, DAG or ADMG
        What was learned; or a DAG or ADMG of your own, in which each arrow is an effect, each ``<->`` an unmeasured
        common cause, and no other unmeasured common cause exists.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset, optional
        The table; without it the answer has no numbers. It is read as the one that the result was learned from, in all
        that is not said of it (:meth:`lmarvel.Dataset.of`).
    given : str or sequence of str
        Variables to condition on: the effect among those with the same values of them.
    bootstrap : int, optional
        Number of replicates for the interval. By default, HC3 standard errors where least squares does, else 200.
    seed : int
        For the bootstrap.
    nominal : sequence of str
        Columns whose numbers are labels.
    most : int
        How many MAGs of the class to look at where the effect is not identified.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.normal(size=(2, 2000))
    >>> x = a + b + rng.normal(size=2000)
    >>> table = {"A": a, "B": b, "X": x, "Y": 0.4 * x + a + rng.normal(size=2000)}
    >>> print(effect(pag, "X", "Y", table).sentence)
    X affects Y by 0.388 (0.357 to 0.42) under every explanation of these data.
    """
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    z = node_set(ready.graph, given)
    if z & (1 << i | 1 << j):
        raise GraphError(
            f"{readable(ready.graph.names[i if z >> i & 1 else j])} is asked about: it cannot be given as well"
        )
    _check_counts(bootstrap, most)
    identified = classify_given(ready, i, j, z) if z else classify(ready, i, j)
    before = result.data if isinstance(result, Discovery) else None
    table = None if data is None else Columns(_read(ready, data, before), nominal)
    answered = Answering(ready, table, result, bootstrap, seed)
    span = None
    one_graph = isinstance(ready, Stated)  # and no class of graphs
    if identified.status == "not identified" and identified.path and not z and not one_graph:
        span = effect_range(ready, i, j, None if table is None else _comparable(ready, table, i, j), most)
    return answered.answer(identified, z, span)


@dataclass(frozen=True)
class Answering:
    """What answers to questions about one graph have in common.

    Attributes
    ----------
    ready : Prepared
        The graph.
    table : Columns or None
        The table; without it answers have no numbers.
    result : object
        What the graph comes from, which may tell how firm it is.
    bootstrap, seed
        See :func:`effect`.
    beside : int
        How many other valid adjustment sets to estimate with.
    climb : bool
        Whether to look further for a set of small variance than among minimal sets and the largest.
    """

    ready: Prepared
    table: Columns | None = None
    result: object = None
    bootstrap: int | None = None
    seed: int = 0
    beside: int = SIDE_BY_SIDE
    climb: bool = True

    def answer(self, identified: Identified, given: int = 0, span: Range | None = None) -> Effect:
        """Return the answer for a pair, with numbers if there is a table and the effect is identified."""
        ready = self.ready
        i, j = ready.graph.index(identified.x), ready.graph.index(identified.y)
        estimates: list[Estimate] = []
        others: list[Estimate] = []
        if self.table is not None and identified.status == "adjustment":
            estimates, others = self._by_adjustment(pair_of(ready, i, j), self.table)
        elif self.table is not None and identified.status == "formula":
            estimates = _by_formula(ready, identified, self.table, self.bootstrap, self.seed)
        stated = isinstance(ready, Stated)
        learned = bool(estimates) and not stated
        chance = " The interval does not hold the chance of learning another graph." if learned else ""
        near = ready.possible_ancestors(1 << i | 1 << j | given)
        selected = selection_near(ready.graph, 1 << i | 1 << j) is not None
        edges = edges_among(self.result, ready.named(near), border=identified.status == "none")
        if selected:  # which is why nothing can be told
            edges = [edge for edge in edges_among(self.result, ready.graph.names) if says_selection(edge)]
        often = None
        if identified.cause != "possible":
            often = Recurring.of(
                self.result, identified.path, identified.x, identified.y, identified.cause == "definite"
            )
        return Effect(
            identified,
            ready.named(given),
            tuple(estimates),
            tuple(others),
            span,
            ready.named(ready.possible_descendants(1 << i) & given),
            self.rests_on(edges, selected) + _recurs(identified, often) + chance + self._elsewhere(bool(estimates)),
            ready.graph.names,
            caution(self.result, edges, f"it recurs in {often.words}" if often and often.too_rare else ""),
            stated,
        )

    def rests_on(self, edges: Sequence[Edge], selected: bool = False) -> str:
        """Say what answers rest on, and how firm the edges are that bear on them.

        ``selected`` means that the answer is that the sample was selected.
        """
        if isinstance(self.ready, Stated):
            return self.ready.assumes
        if isinstance(self.ready.graph, MAG):  # which nothing learns
            unselected = "" if selected else ", and on a sample that was not selected"
            return f"This rests on the graph you gave being right{unselected}."
        whole = not isinstance(self.result, Discovery) or self.ready.graph is self.result.pag
        left_out = "" if whole else " What was said beforehand is left out: the graph is that of the data alone."
        return what_it_rests_on(self.result, edges, selected) + left_out

    def _elsewhere(self, numbers: bool) -> str:
        """Say so where the numbers are of another table than the graph."""
        learned = self.result.data if isinstance(self.result, Discovery) else None
        if not numbers or learned is None or self.table is None or self.table.fingerprint == learned["fingerprint"]:
            return ""
        return " The graph was learned from another table than these numbers: that it is right for both is assumed."

    def _by_adjustment(self, pair: Pair, table: Columns) -> tuple[list[Estimate], list[Estimate]]:
        """Estimate with the set of smallest variance, and with the minimal ones and the largest beside it."""
        ready = self.ready
        best = smallest_variance(ready, pair, _covariance(ready, table), self.climb)
        largest = canonical_set(ready, pair)
        assert best is not None
        assert largest is not None
        beside = dict.fromkeys(
            z for z in (*islice(minimal_sets(ready, pair), self.beside), largest) if z != best and self.beside
        )
        x, y = ready.graph.names[pair.x], ready.graph.names[pair.y]
        estimates = [
            adjusted_estimates(table, x, y, ready.named(z), self.bootstrap, self.seed) for z in (best, *beside)
        ]
        return estimates[0], [estimate for part in estimates[1:] for estimate in part]


def _read(ready: Prepared, data: Any, before: Mapping[str, Any] | None) -> Dataset:
    """Return the columns of a table that the graph is over."""
    try:
        return read_as_before(data, before, ready.graph.names)
    except DataError as error:
        if not (error.parameter == "columns" and isinstance(ready, Stated)):
            raise
    has = Dataset.of(data).names
    lacks = next(name for name in ready.graph.names if name not in has)
    raise DataError(
        f"the table has no column {lacks!r}, which the graph has: if it was not measured, take it out of the graph and"
        " write <-> between the variables that it affects"
    )


def _recurs(identified: Identified, often: Recurring | None) -> str:
    """Say how often what is claimed of a pair recurs, where a bootstrap tells."""
    if often is None:
        return ""
    verb = "causes" if identified.cause == "definite" else "does not cause"
    return f" How often it recurs that {readable(identified.x)} {verb} {readable(identified.y)}: {often.words}."


def _by_formula(
    ready: Prepared, identified: Identified, table: Columns, bootstrap: int | None, seed: int
) -> list[Estimate]:
    formula = identified.formula
    if isinstance(formula, Density):  # P(y | x, z): a regression
        z = ready.named(formula.given & ~(1 << ready.graph.index(identified.x)))
        return adjusted_estimates(table, identified.x, identified.y, z, bootstrap, seed)
    assert formula is not None
    return formula_estimates(table, formula, ready.graph.names, identified.x, identified.y, bootstrap, seed)


def _covariance(ready: Prepared, table: Columns) -> Any:
    at = [table.names.index(name) for name in ready.graph.names]
    return table.covariance[np.ix_(at, at)]


def _comparable(ready: Prepared, table: Columns, x: int, y: int) -> Any:
    """Return the covariance, unless what bears on the pair has levels without an order, of which it says nothing."""
    near = ready.named(ready.possible_ancestors(1 << x | 1 << y))
    return None if any(table.kind(name) == Kind.NOMINAL for name in near) else _covariance(ready, table)


def _check_counts(bootstrap: int | None, most: int) -> None:
    for name, value, least in (("bootstrap", bootstrap, 2), ("most", most, 1)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise ParameterError(f"must be a whole number of at least {least}, not {value!r}", parameter=name)
