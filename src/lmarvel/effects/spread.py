"""One effect read from many graphs: how much the answer depends on what was learned.

The graphs come from a bootstrap of the learning, from several methods, or from several levels of the tests; where
they come from does not matter here. An interval for one graph takes that graph as given. The spread over graphs shows
what that leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmarvel.ci.registry import TESTS
from lmarvel.data import Dataset, Kind
from lmarvel.effects.adjustment import pair_of
from lmarvel.effects.classify import Identified, classify
from lmarvel.effects.formula import Density, Formula, slope
from lmarvel.effects.knowing.informed import informed
from lmarvel.effects.numbers.best_set import smallest_variance
from lmarvel.effects.pag_index import Prepared, prepare
from lmarvel.errors import DataError, GraphError, ParameterError
from lmarvel.estimators import METHODS
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import bootstrap_graphs, check_can_be_drawn, check_settings
from lmarvel.graph.kinds import PAG
from lmarvel.knowledge import Knowledge
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before
from lmarvel.text import counted, readable

ILLEGAL = "illegal"


@dataclass(frozen=True)
class Spread:
    """What many graphs say about one effect.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    statuses : mapping
        How many graphs say 'none', 'adjustment', 'formula' or 'not identified'; 'illegal' are those that no MAG has.
    values : tuple of float
        The effect in each graph that tells it, zeros included, ascending; none where ``counted``.
    counted : bool
        Whether graphs were only counted, since columns with levels are no numbers to work with.
    """

    x: str
    y: str
    statuses: dict[str, int]
    values: tuple[float, ...]
    counted: bool = False

    @property
    def told(self) -> float:
        """The share of the graphs that tell the effect."""
        total = sum(self.statuses.values())
        return self._telling / total if total else 0.0

    @property
    def _telling(self) -> int:
        return sum(self.statuses.get(status, 0) for status in ("none", "adjustment", "formula"))

    def quantile(self, share: float) -> float:
        """Return a quantile of the values; NaN if no graph tells the effect."""
        return float(np.quantile(self.values, share)) if self.values else float("nan")

    def __str__(self) -> str:
        x, y = readable(self.x), readable(self.y)
        total = sum(self.statuses.values())
        if not self._telling:
            return f"none of {counted(total, 'graph')} identifies the effect of {x} on {y}"
        zero = self.statuses.get("none", 0)
        verb = "identifies" if self._telling == 1 else "identify"
        share_telling = f"{self._telling:,} of {counted(total, 'graph')} {verb} the effect"
        none = f"{zero:,} {'finds' if zero == 1 else 'find'} no effect"
        if self.counted:
            return f"{share_telling} of {x} on {y}; {none}"
        low, middle, high = (self.quantile(share) for share in (0.05, 0.5, 0.95))
        return f"{share_telling} of {x} on {y}: median {middle:.3g}, 90 % of them {low:.3g} to {high:.3g}; {none}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        quantiles = {f"{share}": self.quantile(share) for share in (0.05, 0.5, 0.95)} if self.values else None
        return {"statuses": dict(self.statuses), "told": self.told, "quantiles": quantiles}


def effect_spread(graphs: Iterable[PAG], x: str, y: str, data: Any = None, *, covariance: Any = None) -> Spread:
    """Return what many PAGs over the same variables say about the effect of ``x`` on ``y``.

    Parameters
    ----------
    graphs : iterable of PAG
        The graphs.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset
        The table; or instead of it
    covariance : array
        the covariance of the variables, in the order of the first graph.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> edges = ("nodes: A B X Y", "A o-> X", "B o-> X")
    >>> graphs = [PAG.from_edges(*edges, "X --> Y"), PAG.from_edges(*edges)]
    >>> loadings = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0.5, 0.5, 0.5, 1]])
    >>> print(effect_spread(graphs, "X", "Y", covariance=loadings @ loadings.T))
    2 of 2 graphs identify the effect of X on Y: median 0.25, 90 % of them 0.025 to 0.475; 1 finds no effect
    """
    known = list(graphs)
    if not known:
        raise ParameterError("there are no graphs to read the effect from")
    if (data is None) == (covariance is None):
        raise ParameterError("give either the data or their covariance")
    names = known[0].names
    matrix = (
        np.asarray(covariance, dtype=np.float64) if data is None else _ordered(Dataset.of(data, columns=names), names)
    )
    return spread_of(((graph.reordered(names), matrix) for graph in known), x, y)


def spread_of(
    learned: Iterable[tuple[PAG, Any]], x: str, y: str, counted: bool = False, knowledge: Knowledge | None = None
) -> Spread:
    """Return what graphs say about an effect, each with the covariance of the table that it was learned from.

    ``counted``: the covariances mean nothing, so that graphs are only counted by what they say. ``knowledge`` is what
    was stated; a graph that contradicts it counts as illegal.
    """
    statuses: Counter[str] = Counter()
    values = []
    for graph, covariance in learned:
        try:
            ready = prepare(graph) if knowledge is None else informed(graph, knowledge)
        except GraphError:
            statuses[ILLEGAL] += 1
            continue
        i, j = ready.graph.index(x), ready.graph.index(y)
        identified = classify(ready, i, j)
        statuses[identified.status] += 1
        if counted:
            continue
        if identified.status == "none":
            values.append(0.0)
        elif identified.formula is not None:
            values.append(slope(_best(ready, identified, i, j, covariance), covariance, i, j))
    return Spread(x, y, dict(statuses), tuple(sorted(values)), counted)


def _best(ready: Prepared, identified: Identified, x: int, y: int, covariance: Any) -> Formula:
    """Return the formula to evaluate: the regression of smallest variance where adjustment does."""
    assert identified.formula is not None
    z = smallest_variance(ready, pair_of(ready, x, y), covariance) if identified.status == "adjustment" else None
    return identified.formula if z is None else Density(1 << y, 1 << x | z)


def _ordered(data: Dataset, names: Sequence[str]) -> Any:
    at = [data.names.index(name) for name in names]
    return data.moments.covariance[np.ix_(at, at)]


def effect_learned_again(
    result: Discovery,
    x: str,
    y: str,
    data: Any,
    replicates: int = 200,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Spread:
    """Learn again from resamples of the rows as a result was learned, and return what these graphs say about an effect.

    The interval of :func:`lmarvel.effect` takes the graph as given. Here each resample has its own graph and its own
    numbers, so that the spread holds both. What was stated beforehand (:class:`lmarvel.Knowledge`) counts for each
    graph, as in ``effect``, but not for its search.

    Parameters
    ----------
    result : Discovery
        The result.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset
        The table that it was learned from.
    replicates, seed, n_jobs
        How many resamples, from which seed, by how many workers; ``fit(bootstrap=...)`` makes the same.
    progress : callable, optional
        Called with (done, of how many).

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import LMarvel
    >>> rng = np.random.default_rng(0)
    >>> A, B, e, f = rng.normal(size=(4, 2000))
    >>> X = A + B + e
    >>> table = {"A": A, "B": B, "X": X, "Y": 0.5 * X + f}
    >>> print(effect_learned_again(LMarvel().fit(table).result_, "X", "Y", table, 20, seed=1))
    20 of 20 graphs identify the effect of X on Y: median 0.508, 90 % of them 0.492 to 0.533; 0 find no effect
    """
    check_settings(replicates, seed, n_jobs)
    result.pag.index(x), result.pag.index(y)
    method, table = _same_method(result), _same_table(result, data)
    check_can_be_drawn(table, method)
    report = progress or (lambda done, of: None)

    def drawn() -> Iterator[tuple[PAG, Any]]:
        for done, graph in enumerate(bootstrap_graphs(table, method, replicates, seed, n_jobs), 1):
            report(done, replicates)
            yield graph

    return spread_of(drawn(), x, y, counted=Kind.NOMINAL in table.kinds, knowledge=result.knowledge)


def _same_method(result: Discovery) -> PagEstimator:
    """Return the method of a result with its settings, without what was said beforehand.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> _same_method(LMarvel(alpha=0.05).fit(CARS).result_).alpha
    0.05
    """
    known = {kind.__name__: kind for kind in METHODS.values()}
    kind = known.get(str(result.settings.get("method")))
    if kind is None:
        raise ParameterError("the result does not say by which method it was learned: learn again with 'lmarvel learn'")
    settings = {name: result.settings[name] for name in kind._defaults() if name in result.settings}
    if settings.get("test") not in TESTS:
        raise ParameterError("the result rests on a test of your own, which knows one table: it cannot be drawn again")
    method = kind(**settings)
    method.check_parameters()
    return method


def _same_table(result: Discovery, data: Any) -> Dataset:
    """Return the table that a result was learned from, or refuse another one.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> _same_table(LMarvel().fit(CARS).result_, CARS).n
    392
    """
    table = read_as_before(data, result.data, result.pag.names)
    if result.data is not None and result.data["fingerprint"] != table.fingerprint:
        raise DataError("the table is not the one that the result was learned from: pass that one, read as it was then")
    return table
