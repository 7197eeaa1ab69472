"""Numbers for an effect that is identified: estimate, standard error and 95 % interval from a table.

* By adjustment, with an outcome measured on a scale: least squares; standard errors HC3 [1]_, which need no equal
  variances.
* By adjustment, with an outcome of levels: logistic regression, standardised. The chance of the level is averaged
  over the rows with the cause set to each of its values (for a cause on a scale: the average slope). Intervals by
  bootstrap.
* Where values are missing: from 20 completed tables, pooled by Rubin's rules [3]_.
* By a formula: linear Gaussian evaluation (:mod:`lmarvel.effects.formula`). Intervals by bootstrap. From a covariance
  matrix it is parametric, and standard errors of least squares are those for equal variances.

A cause with levels is compared level by level with its first one. Nominal variables that are adjusted for become
indicators of their levels.

**Which adjustment set.** Of the valid sets that with the smallest variance is taken, for linear models. The variance of
the coefficient of x in the regression of y on x and Z is, for large n, Var(y | x, Z) / (n Var(x | Z)): what explains y
should be in Z, what explains x only should not. Without unmeasured variables a set that is best whatever the
coefficients can be read off the graph [2]_; with them there need not be one. So the variances themselves are compared,
with the covariance of the data or of a model: over all valid sets if these are few, else along single changes from the
best minimal set.

References
----------
.. [1] MacKinnon & White, Some heteroskedasticity-consistent covariance matrix estimators, Journal of Econometrics 29
   (1985).
.. [2] Henckel, Perković & Maathuis, Graphical criteria for efficient total effect estimation via adjustment in causal
   linear models, Journal of the Royal Statistical Society B 84 (2022).
.. [3] Rubin, Multiple imputation for nonresponse in surveys, Wiley (1987).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lmarvel.data import Kind
from lmarvel.deferred import late
from lmarvel.effects.adjustment import (
    Pair,
    adjustment_set,
    all_sets,
    blocks,
    canonical_set,
    checked_pair,
    minimal_sets,
    pair_of,
)
from lmarvel.effects.formula import Formula, slope, variables
from lmarvel.effects.pag_index import Prepared, prepare
from lmarvel.effects.table import Columns, Vector
from lmarvel.errors import DataError
from lmarvel.graph.bitsets import closure, members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.mixed import Node
from lmarvel.text import counted, listing

stats = late("scipy.stats")


LEVEL = 0.95
REPLICATES = 200
FEWER, FEWEST = 10, 20  # with missing values each completed table has a tenth of the replicates, but so many at least
FEW = 8  # allowed nodes: up to here all sets are looked at
STARTS = 16


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

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        plain = {**self.__dict__}
        return {**plain, "adjusted": None if self.adjusted is None else list(self.adjusted)}


def adjusted_estimates(
    table: Columns, x: str, y: str, z: Sequence[str], bootstrap: int | None = None, seed: int = 0
) -> list[Estimate]:
    """Estimate the effect of x on y by adjusting for z."""
    if table.incomplete:
        fewer = max((bootstrap or REPLICATES) // FEWER, FEWEST) if bootstrap or table.is_level(y) else bootstrap
        return pooled([adjusted_estimates(whole, x, y, z, fewer, seed) for whole in table.completed(seed)])
    if not table.has_rows:
        return _from_matrix(table, x, y, tuple(z), bootstrap, seed)
    causes, contrasts = table.indicators(x)
    design = np.column_stack([np.ones(len(table.rows)), causes, *(table.indicators(name)[0] for name in z)])
    _check_design(design, [x, *z])
    k = causes.shape[1]
    if table.is_level(y):
        return _standardised(
            table, design, contrasts, x, y, tuple(z), REPLICATES if bootstrap is None else bootstrap, seed
        )
    outcome = table.column(y)
    if not bootstrap and not table.clustered:
        value, error, freedom = least_squares(design, outcome, table.weights)
        return [_with_interval(contrasts[i], value[1 + i], error[1 + i], freedom, tuple(z)) for i in range(k)]

    many, slopes = bootstrap or REPLICATES, slice(1, 1 + k)
    return _bootstrapped(
        table,
        lambda weights: _solve(design, outcome, weights)[slopes],
        contrasts,
        "least squares",
        tuple(z),
        many,
        seed,
    )


def _from_matrix(table: Columns, x: str, y: str, z: tuple[str, ...], many: int | None, seed: int) -> list[Estimate]:
    """Estimate by least squares from a covariance alone, with the standard error for equal variances."""
    scatter, names = table.scatter([table.names.index(name) for name in (x, *z, y)]), table.contrasts(x)

    def coefficient(matrix: Vector) -> Vector:
        among = scatter(matrix)
        return np.asarray(np.linalg.solve(among[:-1, :-1], among[:-1, -1])[:1])

    if many:
        return _bootstrapped(table, coefficient, names, "least squares", z, many, seed)
    freedom, last = table.n - len(z) - 2, len(z) + 1
    error = np.sqrt(variance(scatter(table.weights), 0, last, (1 << last) - 2) / freedom)
    return [_with_interval(names[0], coefficient(table.weights)[0], error, freedom, z, "least squares")]


def least_squares(design: Vector, outcome: Vector, weights: Vector) -> tuple[Vector, Vector, int]:
    """Return coefficients, their HC3 standard errors, and the degrees of freedom."""
    root = np.sqrt(weights)
    scaled = design * root[:, None]
    inverse = np.linalg.inv(scaled.T @ scaled)
    coefficients = inverse @ (scaled.T @ (outcome * root))
    residuals = (outcome - design @ coefficients) * root
    leverage = ((scaled @ inverse) * scaled).sum(axis=1)
    spread = scaled * (residuals / np.maximum(1 - leverage, 1e-12))[:, None]
    sandwich = inverse @ (spread.T @ spread) @ inverse
    return coefficients, np.sqrt(np.diag(sandwich)), int(np.count_nonzero(weights)) - design.shape[1]


def formula_estimates(
    table: Columns, formula: Formula, names: Sequence[str], x: str, y: str, bootstrap: int | None = None, seed: int = 0
) -> list[Estimate]:
    """Estimate the slope of the mean of y in x by a formula over the positions of ``names``."""
    if table.incomplete:
        fewer = max((bootstrap or REPLICATES) // FEWER, FEWEST)
        return pooled([formula_estimates(whole, formula, names, x, y, fewer, seed) for whole in table.completed(seed)])
    used = list(members(variables(formula) | 1 << names.index(x)))
    levels = [names[v] for v in used if table.kind(names[v]) == Kind.NOMINAL]
    if levels:
        raise DataError(
            f"the formula for this effect is evaluated for numbers, and {listing(sorted(levels))} has levels without an"
            " order: turn it into numbers, or ask about another pair"
        )
    scatter = table.scatter([table.names.index(names[v]) for v in used])

    def evaluated(weights: Vector) -> Vector:
        covariance = np.zeros((len(names), len(names)))
        covariance[np.ix_(used, used)] = scatter(weights)
        np.fill_diagonal(covariance, np.where(np.diag(covariance) > 0, np.diag(covariance), 1.0))
        return np.array([slope(formula, covariance, names.index(x), names.index(y))])

    replicates = bootstrap or REPLICATES
    chance = f": {table.outcomes(y)[0][1]}" if table.is_level(y) else ""
    contrasts = [table.contrasts(x)[0] + chance]
    return _bootstrapped(table, evaluated, contrasts, "formula, linear", None, replicates, seed)


# --- missing values ---------------------------------------------------------------------------------------


def pooled(tables: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """Return the estimates of completed tables as one each, by Rubin's rules [3]_.

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
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    how = f"{same[0].method}; {many} imputations"
    return Estimate(same[0].contrast, value, error, value - half, value + half, how, same[0].adjusted)


# --- parts ------------------------------------------------------------------------------------------------


def _standardised(
    table: Columns, design: Vector, contrasts: list[str], x: str, y: str, z: tuple[str, ...], replicates: int, seed: int
) -> list[Estimate]:
    """Average the chance of each level of y over the rows, with x set to each of its values."""
    values, outcomes = table.column(y), table.outcomes(y)
    labels = [f"{contrast}: {chance}" for _, chance in outcomes for contrast in contrasts]
    on_scale = not table.is_level(x)

    def averaged(weights: Vector) -> Vector:
        by_level = [_chances(design, values == level, weights, len(contrasts), on_scale) for level, _ in outcomes]
        return np.concatenate(by_level)

    return _bootstrapped(table, averaged, labels, "logistic, standardised", z, max(replicates, 2), seed)


def _chances(design: Vector, hit: NDArray[np.bool_], weights: Vector, k: int, on_scale: bool) -> Vector:
    coefficients = _logistic(design, hit.astype(np.float64), weights)
    share = weights / weights.sum()
    if on_scale:
        chance = _expit(design @ coefficients)
        return np.array([share @ (chance * (1 - chance)) * coefficients[1]])
    rest = design.copy()
    rest[:, 1 : 1 + k] = 0
    base = rest @ coefficients
    at_first = share @ _expit(base)
    return np.array([share @ _expit(base + coefficients[1 + i]) - at_first for i in range(k)])


def _logistic(design: Vector, outcome: Vector, weights: Vector, rounds: int = 40) -> Vector:
    """Fit by Newton's method; a trace of a ridge keeps what separates perfectly finite."""
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    scaled = design / scale
    coefficients = np.zeros(design.shape[1])
    ridge = 1e-6 * weights.sum() / len(weights) * np.eye(len(coefficients))
    for _ in range(rounds):
        chance = _expit(scaled @ coefficients)
        gradient = scaled.T @ (weights * (outcome - chance)) - ridge @ coefficients
        curvature = (scaled * (weights * chance * (1 - chance))[:, None]).T @ scaled + ridge
        step = np.linalg.solve(curvature, gradient)
        coefficients = coefficients + step
        if np.abs(step).max() < 1e-10 * (1 + np.abs(coefficients).max()):
            break
    return np.asarray(coefficients / scale)


def _expit(values: Vector) -> Vector:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)))


def _bootstrapped(
    table: Columns,
    estimate: Callable[[Vector], Vector],
    contrasts: list[str],
    method: str,
    adjusted: tuple[str, ...] | None,
    replicates: int,
    seed: int,
) -> list[Estimate]:
    """Estimate again on rows drawn with replacement; standard error and percentiles of what comes out."""
    rng = np.random.default_rng(seed)
    value = estimate(table.weights)
    drawn = np.array([estimate(table.drawn(rng)) for _ in range(replicates)])
    error = drawn.std(axis=0, ddof=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    how = f"{method}; {'' if table.has_rows else 'parametric '}bootstrap of {counted(replicates, 'replicate')}"
    return [
        Estimate(text, float(value[i]), float(error[i]), float(low[i]), float(high[i]), how, adjusted)
        for i, text in enumerate(contrasts)
    ]


def _with_interval(
    contrast: str, value: float, error: float, freedom: int, z: tuple[str, ...], how: str = "least squares, HC3"
) -> Estimate:
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * float(error)
    value = float(value)
    return Estimate(contrast, value, float(error), value - half, value + half, how, z)


def _solve(design: Vector, outcome: Vector, weights: Vector) -> Vector:
    weighted = design * weights[:, None]
    return np.asarray(np.linalg.lstsq(weighted.T @ design, weighted.T @ outcome, rcond=None)[0])


def _check_design(design: Vector, names: Sequence[str]) -> None:
    n, k = design.shape
    if n < k + 2:
        raise DataError(
            f"{counted(n, 'row')} cannot tell the effect given {counted(k - 1, 'regressor')}: more rows are needed"
        )
    scale = np.sqrt((design**2).sum(axis=0))
    if np.linalg.matrix_rank(design / np.maximum(scale, 1e-300), tol=1e-9) < k:
        raise DataError(
            f"the columns {listing(sorted(names))} determine each other: leave one of them out of the table"
        )


# --- the adjustment set with the smallest variance --------------------------------------------------------


def optimal_adjustment(
    graph: PAG | MAG | Prepared, x: Node, y: Node, covariance: NDArray[np.float64]
) -> frozenset[str] | None:
    """Return the valid adjustment set with the smallest asymptotic variance in a linear model; None if none is valid.

    Parameters
    ----------
    graph : PAG
        The graph; the covariance has its variables, in its order.
    x, y : str
        Cause and outcome.
    covariance : array
        Of the data, or of a model.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "C o-> Y", nodes=["A", "B", "X", "C", "Y"])
    >>> loadings = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1.0]])
    >>> sorted(optimal_adjustment(pag, "X", "Y", loadings @ loadings.T))
    ['C']
    """
    ready = prepare(graph)
    i, j = checked_pair(ready, x, y)
    if adjustment_set(ready, i, j) is None:
        return None
    z = smallest_variance(ready, pair_of(ready, i, j), covariance)
    return None if z is None else frozenset(ready.named(z))


def smallest_variance(ready: Prepared, pair: Pair, covariance: NDArray[np.float64], climb: bool = True) -> int | None:
    """Return the best set as a bit set; without ``climb``, that of the minimal ones and the largest."""
    largest = canonical_set(ready, pair)
    if largest is None:
        return None
    near = closure(ready.graph.masks.adjacent, 1 << pair.y)  # what no path joins to y explains it by chance only
    allowed = near & ~pair.forbidden & ~(1 << pair.x | 1 << pair.y)
    if climb and allowed.bit_count() <= FEW:
        return min(all_sets(ready, pair, allowed), key=lambda z: variance(covariance, pair.x, pair.y, z))
    starts = [*islice(minimal_sets(ready, pair), STARTS), largest]
    best = min(starts, key=lambda z: variance(covariance, pair.x, pair.y, z))
    at = variance(covariance, pair.x, pair.y, best)
    while climb:
        tried = [(variance(covariance, pair.x, pair.y, z), z) for z in _changes(best, allowed)]
        better = next((item for item in sorted(tried) if item[0] < at and blocks(ready, pair, item[1])), None)
        if better is None:
            return best
        at, best = better
    return best


def _changes(z: int, allowed: int) -> Iterator[int]:
    return (z ^ 1 << v for v in members(allowed))


def variance(covariance: NDArray[np.float64], x: int, y: int, z: int) -> float:
    """Return Var(y | x, Z) / Var(x | Z): n times the asymptotic variance of the coefficient."""
    at = list(members(z))
    block = covariance[np.ix_([x, y], [x, y])]
    if at:
        across = covariance[np.ix_(at, [x, y])]
        block = block - across.T @ np.linalg.solve(covariance[np.ix_(at, at)], across)
    return float((block[1, 1] - block[0, 1] ** 2 / block[0, 0]) / block[0, 0])
