"""One effect read from many graphs: how much the answer depends on what was learned.

The graphs come from a bootstrap of the learning, from several methods, or from several levels of the tests; where
they come from does not matter here. An interval for one graph takes that graph as given. The spread over graphs shows
what that leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmarvel.data import Dataset
from lmarvel.effects.classify import classify
from lmarvel.effects.formula import slope
from lmarvel.effects.numbers.resampled import best_formula
from lmarvel.effects.pag_index import prepare
from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.text import counted, readable

ILLEGAL = "illegal"
QUANTILES = (0.025, 0.5, 0.975)
FEWEST = 20  # graphs that an interval needs


@dataclass(frozen=True)
class Spread:
    """What many graphs say about one effect.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    statuses : mapping
        How many graphs say 'none', 'adjustment', 'formula' or 'not identified'; 'illegal' are those that no MAG has,
        'not estimated' those whose rows do not allow it.
    contrasts : mapping
        For each comparison the effect in each graph that tells it, zeros included, ascending.
    maybe_none : int
        How many graphs do not identify the effect and leave open whether there is one.
    """

    x: str
    y: str
    statuses: dict[str, int]
    contrasts: dict[str, tuple[float, ...]]
    maybe_none: int = 0

    @property
    def values(self) -> tuple[float, ...]:
        """The effect in each graph that tells it, ascending; of several comparisons the first."""
        return next(iter(self.contrasts.values()), ())

    @property
    def told(self) -> float:
        """The share of the graphs that tell the effect."""
        total = sum(self.statuses.values())
        return self.telling / total if total else 0.0

    @property
    def telling(self) -> int:
        """How many graphs tell the effect."""
        return sum(self.statuses.get(status, 0) for status in ("none", "adjustment", "formula"))

    def quantile(self, share: float, contrast: str | None = None) -> float:
        """Return a quantile of the values; NaN if no graph tells the effect."""
        values = self.values if contrast is None else self.contrasts.get(contrast, ())
        return float(np.quantile(values, share)) if values else float("nan")

    def interval(self, contrast: str | None = None) -> tuple[float, float] | None:
        """Return the middle 95 % of the values; None where there are too few graphs, or none tells the effect.

        A graph that does not identify the effect stands for members of its class, in some of which nothing bounds it.
        Such graphs are counted beside the interval (:attr:`unbounded`), and are a caution. Where one leaves open
        whether there is an effect, members without one tell its value: 0, which counts.
        """
        values = self.values if contrast is None else self.contrasts.get(contrast, ())
        if not values or sum(self.statuses.values()) < FEWEST:
            return None
        low, high = np.quantile([*values, *[0.0] * self.maybe_none], (QUANTILES[0], QUANTILES[-1]))
        return float(low), float(high)

    @property
    def unbounded(self) -> int:
        """How many graphs do not identify the effect, so that nothing bounds it in them."""
        return self.statuses.get("not identified", 0)

    @property
    def caution(self) -> str | None:
        """How many graphs do not identify the effect, or find none, as a clause; None where these are few."""
        total, zero = sum(self.statuses.values()), self.statuses.get("none", 0)
        without = self.unbounded
        failed = total - self.telling - without
        if without + zero + failed <= QUANTILES[0] * total or total < FEWEST:
            return None
        found = [f"{without:,} {'does' if without == 1 else 'do'} not identify the effect"] * bool(without)
        found += [f"{failed:,} {'gives' if failed == 1 else 'give'} no number"] * bool(failed)
        found += [f"{zero:,} {'finds' if zero == 1 else 'find'} no effect"] * bool(zero)
        return f"of {counted(total, 'graph')} learned again from resamples, {' and '.join(found)}"

    @property
    def counts(self) -> str:
        """How many graphs identify the effect, and find none, in words."""
        zero, total = self.statuses.get("none", 0), sum(self.statuses.values())
        verb = "identifies" if self.telling == 1 else "identify"
        none = f", and {zero:,} of them {'finds' if zero == 1 else 'find'} no effect" if zero else ""
        return f"{self.telling:,} of {counted(total, 'graph')} {verb} the effect{none}"

    def __str__(self) -> str:
        x, y = readable(self.x), readable(self.y)
        if not self.telling:
            return f"none of {counted(sum(self.statuses.values()), 'graph')} identifies the effect of {x} on {y}"
        zero = self.statuses.get("none", 0)
        verb = "identifies" if self.telling == 1 else "identify"
        telling = f"{self.telling:,} of {counted(sum(self.statuses.values()), 'graph')} {verb} the effect of {x} on {y}"
        several = len(self.contrasts) > 1
        found = "; ".join(f"{key}: {self._middle(key)}" if several else self._middle(key) for key in self.contrasts)
        return f"{telling}: {found}; {zero:,} {'finds' if zero == 1 else 'find'} no effect"

    def _middle(self, contrast: str) -> str:
        low, middle, high = (self.quantile(share, contrast) for share in QUANTILES)
        return f"median {middle:.3g}, 95 % of them {low:.3g} to {high:.3g}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        each = {key: {f"{share}": self.quantile(share, key) for share in QUANTILES} for key in self.contrasts}
        first = next(iter(each.values()), None)
        counts = {"statuses": dict(self.statuses), "told": self.told, "maybe_none": self.maybe_none}
        return {**counts, "quantiles": first, "contrasts": each}


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
    2 of 2 graphs identify the effect of X on Y: median 0.25, 95 % of them 0.0125 to 0.488; 1 finds no effect
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


def spread_of(learned: Iterable[tuple[PAG, Any]], x: str, y: str) -> Spread:
    """Return what graphs say about an effect, each with a covariance of numbers."""
    statuses: Counter[str] = Counter()
    values, maybe_none = [], 0
    for graph, covariance in learned:
        try:
            ready = prepare(graph)
        except GraphError:
            statuses[ILLEGAL] += 1
            continue
        i, j = ready.graph.index(x), ready.graph.index(y)
        identified = classify(ready, i, j)
        statuses[identified.status] += 1
        maybe_none += identified.status == "not identified" and identified.cause != "definite"
        if identified.status == "none":
            values.append(0.0)
        elif identified.formula is not None:
            values.append(slope(best_formula(ready, identified, covariance), covariance, i, j))
    return Spread(x, y, dict(statuses), {"": tuple(sorted(values))} if values else {}, maybe_none)


def _ordered(data: Dataset, names: Sequence[str]) -> Any:
    at = [data.names.index(name) for name in names]
    return data.moments.covariance[np.ix_(at, at)]
