"""How strong an unmeasured cause would have to be to explain a number away.

**Robustness value** (Cinelli & Hazlett 2020 [1]_). An unmeasured cause U that explains the share a of what is left of
the cause X (given what is adjusted for, Z), and the share b of what is left of the outcome Y (given X and Z), moves the
coefficient of X by at most

    S sqrt(a b / (1 - a)),   S = sd(Y | X, Z) / sd(X | Z) = standard error x sqrt(degrees of freedom).

With a = b it leaves the standard error as it is. So the share that brings an estimate to 0 solves r / sqrt(1 - r) = f
with f = |estimate| / S, and for the nearer end of the interval with the distance of that end from 0.

**E-value** (VanderWeele & Ding 2017 [2]_): an unmeasured cause that is associated with X and with Y by a risk ratio
below it cannot explain a risk ratio away.

References
----------
.. [1] Making sense of sensitivity: extending omitted variable bias, Journal of the Royal Statistical Society B 82
   (2020).
.. [2] Sensitivity analysis in observational research: introducing the E-value, Annals of Internal Medicine 167 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmarvel.effects.numbers.best_set import variance
from lmarvel.effects.numbers.estimate import DEFAULT, Estimate, Estimation, t_quantile
from lmarvel.effects.numbers.estimating import compared, outcomes, step_of
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.result.support.frequencies import percent
from lmarvel.text import readable

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the bias curve."""


def robustness_value(t: float, freedom: float, level: float | None = None) -> float:
    """Return the share of X and of Y that an unmeasured cause has to explain to bring a coefficient to 0.

    Parameters
    ----------
    t, freedom : float
        The t value of the coefficient and its degrees of freedom.
    level : float, optional
        With it, to bring the coefficient to where a test at this level does not reject 0.

    Examples
    --------
    >>> round(robustness_value(4.18445, 783), 3), round(robustness_value(4.18445, 783, 0.05), 3)
    (0.139, 0.076)
    """
    strength = abs(t) / np.sqrt(freedom)
    least = 0.0 if level is None else t_quantile(1 - level / 2, freedom - 1) / np.sqrt(freedom - 1)
    if strength > least > 0 and strength * least > 1:  # then explaining more of Y than of X is no worse
        return float((strength**2 - least**2) / (1 + strength**2))
    return share_that_moves(max(strength - least, 0.0))


def share_that_moves(by: float) -> float:
    """Return the share r of X and of Y that moves an estimate by ``by`` times S: r / sqrt(1 - r) = by.

    Examples
    --------
    >>> round(share_that_moves(moved(0.2)), 12)
    0.2
    """
    return 2 / (1 + math.sqrt(1 + 4 / by**2)) if by > 1e-150 else 0.0


def moved(share: float) -> float:
    """Return by how many S an unmeasured cause moves an estimate that explains a share of X and of Y."""
    return float(share / np.sqrt(1 - share))


def e_value(ratio: float) -> float:
    """Return the risk ratio with cause and outcome that an unmeasured cause needs to explain a risk ratio away.

    Examples
    --------
    >>> round(e_value(3.9), 2), round(e_value(1 / 3.9), 2)
    (7.26, 7.26)
    """
    above = max(ratio, 1 / ratio)
    return float(above + np.sqrt(above * (above - 1)))


@dataclass(frozen=True)
class Strongest:
    """A measured variable for scale: the shares of what is left of cause and outcome that it explains."""

    name: str
    of_x: float
    of_y: float


@dataclass(frozen=True)
class Sensitivity:
    """What an unmeasured common cause would do to one estimate.

    Attributes
    ----------
    x, y, contrast : str
        Cause, outcome, and what the estimate compares.
    value, low, high : float
        The estimate and its interval.
    scale : float
        S: an unmeasured cause that explains a share r of X and of Y moves the estimate by S r / sqrt(1 - r) at most.
    strongest : Strongest or None
        The variable adjusted for that matters most; None where nothing is adjusted for.
    ratio : tuple of float or None
        The risk ratio and its interval.
    limit : float or None
        The share that unmeasured causes explain at most, where one was stated.
    """

    x: str
    y: str
    contrast: str
    value: float
    low: float
    high: float
    scale: float
    strongest: Strongest | None = None
    ratio: tuple[float, float, float] | None = None
    limit: float | None = None

    @property
    def to_zero(self) -> float:
        """The share of X and of Y that brings the estimate to 0: the robustness value."""
        return self._share_for(abs(self.value))

    @property
    def to_include_zero(self) -> float:
        """The share that makes the interval include 0; 0 where it does."""
        if self.low <= 0 <= self.high:
            return 0.0
        return self._share_for(min(abs(self.low), abs(self.high)))

    def _share_for(self, distance: float) -> float:
        return share_that_moves(distance / self.scale) if self.scale > 0 else float(distance > 0)

    def within(self, share: float) -> tuple[float, float]:
        """Return the interval if an unmeasured cause explains at most a share of X and of Y."""
        bias = self.scale * moved(share)
        return self.low - bias, self.high + bias

    @property
    def e_values(self) -> tuple[float, float] | None:
        """The E-values of the risk ratio and of the end of its interval nearest to 1; None without a risk ratio."""
        if self.ratio is None:
            return None
        value, low, high = self.ratio
        nearest = 1.0 if low <= 1 <= high else low if low > 1 else high
        return e_value(value), e_value(nearest)

    def __str__(self) -> str:
        x, y = readable(self.x), readable(self.y)
        include = self.to_include_zero
        interval = f"{_share(include)} would make the interval include 0" if include else self.interval
        hidden = f"An unmeasured cause that explains {_share(self.to_zero)} of what is left of {x} and of {y}"
        return " ".join(
            [f"{hidden} would bring this to 0; {interval}.", *self._for_scale, *self._ratios, *self._limited]
        )

    @property
    def _limited(self) -> list[str]:
        if self.limit is None:
            return []
        low, high = self.within(self.limit)
        most = f"If unmeasured causes explain at most {_share(self.limit)} of both"
        return [f"{most}, it is between {low:.3g} and {high:.3g}."]

    @property
    def interval(self) -> str:
        """What makes the interval include 0, in words."""
        include = self.to_include_zero
        return f"{_share(include)} to make the interval include 0" if include else "the interval includes 0"

    @property
    def _for_scale(self) -> list[str]:
        one = self.strongest
        if one is None:
            return []
        shares = f"{_share(one.of_x)} and {_share(one.of_y)}"
        return [f"For scale: {readable(one.name)}, the strongest variable adjusted for, explains {shares}."]

    @property
    def _ratios(self) -> list[str]:
        if self.e_values is None:
            return []
        value, end = self.e_values
        interval = f"; {end:.3g} would make its interval include 1" if end > 1 else ""
        return [
            f"Risk ratios of {value:.3g} with both {readable(self.x)} and {readable(self.y)} would bring the risk ratio"
            f" to 1 (E-value){interval}."
        ]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        one = self.strongest
        return {
            "contrast": self.contrast,
            "robustness": self.to_zero,
            "robustness_interval": self.to_include_zero,
            "scale": self.scale,
            "strongest": None if one is None else {**one.__dict__},
            "curve": [[share, *self.within(share)] for share in SHARES],
            "limit": self.limit,
            "e_values": None if self.e_values is None else list(self.e_values),
        }


def in_sentences(several: Sequence[Sensitivity]) -> list[str]:
    """Return what an unmeasured cause would do to estimates: to one in full, to several in a line each.

    Examples
    --------
    >>> one = Sensitivity("X", "Y", "X b in place of a", 0.5, 0.2, 0.8, 1.0)
    >>> for line in in_sentences([one, Sensitivity("X", "Y", "X c in place of a", 0.1, -0.2, 0.4, 1.0)]):
    ...     print(line)
    What an unmeasured cause has to explain of what is left of X and of Y to bring an effect to 0:
      X b in place of a: 39 % (18 % to make the interval include 0)
      X c in place of a: 10 % (the interval includes 0)
    """
    if len(several) < 2:
        return [str(one) for one in several]
    x, y = readable(several[0].x), readable(several[0].y)
    return [
        f"What an unmeasured cause has to explain of what is left of {x} and of {y} to bring an effect to 0:",
        *(f"  {one.contrast}: {_share(one.to_zero)} ({one.interval})" for one in several),
    ]


def sensitivity(
    table: Columns, x: str, y: str, estimates: Sequence[Estimate], how: Estimation = DEFAULT
) -> tuple[Sensitivity, ...]:
    """Return for each estimate by adjustment what an unmeasured common cause would do to it.

    Parameters
    ----------
    table : Columns
        The table.
    x, y : str
        Cause and outcome.
    estimates : sequence of Estimate
        What :func:`~lmarvel.effects.numbers.estimating.adjusted_estimates` gives.
    how : Estimation
        How they were found.

    Examples
    --------
    >>> from lmarvel.data import Dataset
    >>> from lmarvel.effects.numbers.estimating import adjusted_estimates
    >>> rng = np.random.default_rng(0)
    >>> z, e, f = rng.normal(size=(3, 1000))
    >>> table = Columns(Dataset.of({"z": z, "x": z + e, "y": 0.2 * (z + e) + z + f}))
    >>> print(sensitivity(table, "x", "y", adjusted_estimates(table, "x", "y", ["z"]))[0])  # doctest: +ELLIPSIS
    An unmeasured cause that explains 19 % of what is left of x and of y would bring this to 0; ...
    """
    if not estimates or estimates[0].adjusted is None:
        return ()
    z = estimates[0].adjusted
    whole = next(table.completed(how.seed)) if table.incomplete else table
    regressions = _regressions(whole, x, y, z, how)
    return tuple(_of_one(x, y, estimate, *parts, z) for estimate, parts in zip(estimates, regressions, strict=True))


def _of_one(
    x: str, y: str, estimate: Estimate, step: float, covariance: Vector, owners: list[str], z: Sequence[str]
) -> Sensitivity:
    """Return the sensitivity of an estimate; the first regressor is the cause, and the last column the outcome."""
    last = len(owners) - 1
    everything = (1 << last) - 2
    scale = abs(step) * math.sqrt(max(variance(covariance, 0, last, everything), 0.0))
    found = []
    for name in z:
        without = everything & ~sum(1 << i for i, owner in enumerate(owners) if owner == name)
        of_x = 1 - _left(covariance, 0, everything) / _left(covariance, 0, without)
        of_y = 1 - _left(covariance, last, everything | 1) / _left(covariance, last, without | 1)
        found.append(Strongest(name, max(of_x, 0.0), max(of_y, 0.0)))
    strongest = max(found, key=lambda one: one.of_x * one.of_y / max(1 - one.of_x, 1e-12), default=None)
    ends = estimate.value, estimate.low, estimate.high
    return Sensitivity(x, y, estimate.contrast, *ends, scale, strongest, estimate.ratio)


def _regressions(
    table: Columns, x: str, y: str, z: Sequence[str], how: Estimation
) -> list[tuple[float, Vector, list[str]]]:
    """Return for each estimate by how much the cause changes, the covariance of a linear regression, and whose it is.

    Of a cause with categories, one indicator is the cause, and the other categories are adjusted for.
    """
    if not table.has_rows:
        at = [table.names.index(name) for name in (x, *z, y)]
        return [(step_of(x, how)[0], table.covariance[np.ix_(at, at)], [x, *z, y])]
    shared = [(name, table.indicators(name)[0]) for name in z]
    parts, owners = [part for _, part in shared], [name for name, part in shared for _ in range(part.shape[1])]
    found = []
    for outcome, _ in outcomes(table, y):
        for step, causes in _causes(table, x, how):
            rows = np.column_stack([causes, *parts, outcome])
            weights = table.weights / table.weights.sum()
            centred = rows - weights @ rows
            found.append((step, (centred * weights[:, None]).T @ centred, [x] * causes.shape[1] + owners + [y]))
    return found


def _causes(table: Columns, x: str, how: Estimation) -> list[tuple[float, Vector]]:
    """Return for each comparison the step and the regressors of the cause, the one that is compared first."""
    if not table.is_level(x):
        return [(step_of(x, how)[0], table.column(x)[:, None])]
    values = table.column(x)
    found = []
    for before, after in compared(table, x, how):
        others = [code for code in range(int(values.max()) + 1) if code not in (before, after)]
        found.append((1.0, np.column_stack([values == code for code in (after, *others)]).astype(np.float64)))
    return found


def _left(covariance: Vector, of: int, given: int) -> float:
    """Return the variance that is left of a column given others."""
    at = [i for i in range(len(covariance)) if given >> i & 1]
    if not at:
        return float(covariance[of, of])
    across = covariance[at, of]
    return float(covariance[of, of] - across @ np.linalg.solve(covariance[np.ix_(at, at)], across))


def _share(share: float) -> str:
    return "less than 0.1 %" if 0 < share < 0.0005 else percent(share)
