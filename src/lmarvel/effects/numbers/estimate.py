"""A number with how sure it is, how it is to be found, and how numbers of completed tables become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lmarvel.deferred import late
from lmarvel.effects.numbers.doubly_robust import Learner

special = late("scipy.special")  # a third of the time of scipy.stats to load

LEVEL = 0.95
REPLICATES = 200
FEWER, FEWEST = 10, 20  # with missing values each completed table has a tenth of the replicates, but so many at least


def t_quantile(share: float, freedom: float = math.inf) -> float:
    """Return the value below which this share of Student's t distribution lies; with endless freedom, of the normal.

    Examples
    --------
    >>> round(t_quantile(0.975, 10), 3), round(t_quantile(0.975), 3)
    (2.228, 1.96)
    """
    return float(special.ndtri(share) if freedom == math.inf else special.stdtrit(freedom, share))


@dataclass(frozen=True)
class Estimate:
    """A number with how sure it is.

    Attributes
    ----------
    contrast : str
        What changes by how much: what is set on the one hand, what is looked at on the other.
    value, error, low, high : float
        Estimate, standard error, and the ends of the 95 % interval.
    method : str
        How it was found.
    adjusted : tuple of str or None
        The variables adjusted for; None for a formula.
    ratio : tuple of float or None
        The risk ratio with the ends of its interval, for a cause and an outcome of categories.
    trimmed : float
        The share of the rows that could hardly have had some category of the cause, so that they count for less.
    fixed : tuple of float or None
        The interval that takes the graph as given, where ``low`` and ``high`` do not: they are of resamples, each with
        its own graph.

    Examples
    --------
    >>> print(Estimate("one unit more of X", 0.42, 0.056, 0.31, 0.53, "least squares, HC3", ("Z",)))
    0.42 (0.31 to 0.53)
    """

    contrast: str
    value: float
    error: float
    low: float
    high: float
    method: str
    adjusted: tuple[str, ...] | None
    ratio: tuple[float, float, float] | None = None
    trimmed: float = 0.0
    fixed: tuple[float, float] | None = None

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    @property
    def in_graph(self) -> tuple[float, float]:
        """The interval that takes the graph as given."""
        return (self.low, self.high) if self.fixed is None else self.fixed

    def widened(self, low: float, high: float) -> Estimate:
        """Return it with an interval that also includes two values, and that which takes the graph as given beside."""
        return replace(self, low=min(low, self.low), high=max(high, self.high), fixed=self.in_graph)

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        plain = {**self.__dict__}
        lists = {"adjusted": self.adjusted, "ratio": self.ratio, "fixed": self.fixed}
        return {**plain, **{name: None if values is None else list(values) for name, values in lists.items()}}


@dataclass(frozen=True)
class Estimation:
    """How numbers are estimated.

    Attributes
    ----------
    bootstrap : int or None
        Replicates for the interval; None for standard errors where there are some, else 200.
    seed : int
        For the bootstrap and for folds.
    learner : {"glm", "boosting"}
        What the doubly robust estimate of the effect of categories is made of.
    values : tuple or None
        Two values of the cause to compare: the second in place of the first. None for one unit more, and for each
        category in place of the first one.
    intervals : bool
        Whether to find intervals; without, an estimate has its value only where an interval takes a bootstrap.
    """

    bootstrap: int | None = None
    seed: int = 0
    learner: Learner = "glm"
    values: tuple[Any, Any] | None = None
    intervals: bool = True

    @property
    def fewer(self) -> Estimation:
        """The same with fewer replicates: for each of many completed tables."""
        return replace(self, bootstrap=max((self.bootstrap or REPLICATES) // FEWER, FEWEST))


DEFAULT = Estimation()


def pooled(tables: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """Return the estimates of completed tables as one each, by Rubin's rules (1987).

    The mean is the estimate. Its variance is the mean variance within a table and the variance between tables.

    Examples
    --------
    >>> one, other = (Estimate("one more of X", v, 0.1, v - 0.2, v + 0.2, "least squares, HC3", ()) for v in (1, 2))
    >>> both = pooled([[one], [other]])[0]
    >>> both.value, round(both.error, 3), both.method
    (1.5, 0.872, 'least squares, HC3; 2 imputations')
    """
    return [_pooled(same) for same in zip(*tables, strict=True)]


def _pooled(same: Sequence[Estimate]) -> Estimate:
    many = len(same)
    value = float(np.mean([one.value for one in same]))
    within = float(np.mean([one.error**2 for one in same]))
    between = (1 + 1 / many) * float(np.var([one.value for one in same], ddof=1))
    freedom = (many - 1) * (1 + within / between) ** 2 if between > 0 else np.inf
    error = float(np.sqrt(within + between))
    half = t_quantile((1 + LEVEL) / 2, freedom) * error
    first = same[0]
    how = f"{first.method}; {many} imputations"
    trimmed = max(one.trimmed for one in same)
    ends = value - half, value + half
    return Estimate(first.contrast, value, error, *ends, how, first.adjusted, _pooled_ratio(same), trimmed)


def _pooled_ratio(same: Sequence[Estimate]) -> tuple[float, float, float] | None:
    """Return the risk ratio of completed tables, pooled on the scale of logarithms."""
    ratios = [one.ratio for one in same if one.ratio is not None]
    if len(ratios) < len(same):
        return None
    logs = np.log(np.array(ratios))
    middle, many = float(logs[:, 0].mean()), len(logs)
    within = float(np.mean(((logs[:, 2] - logs[:, 1]) / 2) ** 2))
    between = (1 + 1 / many) * float(np.var(logs[:, 0], ddof=1)) * t_quantile((1 + LEVEL) / 2) ** 2
    half = float(np.sqrt(within + between))
    low, value, high = (float(np.exp(at)) for at in (middle - half, middle, middle + half))
    return value, low, high
