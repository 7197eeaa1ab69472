"""Numbers for an effect that is identified: estimate, standard error and 95 % interval from a table.

* By adjustment, with a cause of categories: the average effect, doubly robust
  (:mod:`~lmarvel.effects.numbers.doubly_robust`), of the outcome or of the chance of its categories.
* By adjustment, with two numbers: least squares; standard errors HC3 [1]_, which need no equal variances.
* By adjustment, with a number as the cause of categories: logistic regression, standardised. The chance of the category
  is averaged over the rows (the average slope, or the difference between two values). Intervals by bootstrap.
* Where values are missing: from 20 completed tables, pooled by Rubin's rules [2]_.
* By a formula: linear Gaussian evaluation (:mod:`lmarvel.effects.formula`). Intervals by bootstrap. From a covariance
  matrix it is parametric, and standard errors of least squares are those for equal variances.

A cause with categories is compared category by category with its first one, or as was asked for. Nominal variables that
are adjusted for become indicators of their categories.

References
----------
.. [1] MacKinnon & White, Some heteroskedasticity-consistent covariance matrix estimators, Journal of Econometrics 29
   (1985).
.. [2] Rubin, Multiple imputation for nonresponse in surveys, Wiley (1987).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data import Kind
from lmarvel.effects.formula import Formula, slope, variables
from lmarvel.effects.numbers.best_set import variance
from lmarvel.effects.numbers.doubly_robust import SPLITS, Scores, expit, logistic, scores
from lmarvel.effects.numbers.estimate import DEFAULT, LEVEL, REPLICATES, Estimate, Estimation, pooled, t_quantile
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.errors import DataError, ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.text import counted, listing, readable


def adjusted_estimates(table: Columns, x: str, y: str, z: Sequence[str], how: Estimation = DEFAULT) -> list[Estimate]:
    """Estimate the effect of x on y by adjusting for z."""
    if table.incomplete:
        slow = how.bootstrap or (table.is_level(y) and not table.is_level(x))
        each = how.fewer if slow else how
        return pooled([adjusted_estimates(whole, x, y, z, each) for whole in table.completed(how.seed)])
    if not table.has_rows:
        return _from_matrix(table, x, y, tuple(z), how)
    causes, contrasts = table.indicators(x)
    design = np.column_stack([np.ones(len(table.rows)), causes, *(table.indicators(name)[0] for name in z)])
    _check_design(design, [x, *z])
    if table.is_level(x):
        return _average_effects(table, x, y, tuple(z), how)
    step, contrast = step_of(x, how, contrasts[0])
    if table.is_level(y):
        return _standardised(table, design, contrast, x, y, tuple(z), how)
    outcome = table.column(y)
    if not how.bootstrap and not table.clustered:
        value, error, freedom = least_squares(design, outcome, table.weights)
        return [_with_interval(contrast, step * value[1], abs(step) * error[1], freedom, tuple(z))]

    def coefficients(weights: Vector) -> Vector:
        return step * _solve(design, outcome, weights)[1:2]

    return bootstrapped(table, coefficients, [contrast], "least squares", tuple(z), how)


def _from_matrix(table: Columns, x: str, y: str, z: tuple[str, ...], how: Estimation) -> list[Estimate]:
    """Estimate by least squares from a covariance alone, with the standard error for equal variances."""
    scatter = table.scatter([table.names.index(name) for name in (x, *z, y)])
    step, contrast = step_of(x, how, table.contrasts(x)[0])

    def coefficient(matrix: Vector) -> Vector:
        among = scatter(matrix)
        return np.asarray(step * np.linalg.solve(among[:-1, :-1], among[:-1, -1])[:1])

    if how.bootstrap:
        return bootstrapped(table, coefficient, [contrast], "least squares", z, how)
    freedom, last = table.n - len(z) - 2, len(z) + 1
    error = abs(step) * np.sqrt(variance(scatter(table.weights), 0, last, (1 << last) - 2) / freedom)
    return [_with_interval(contrast, coefficient(table.weights)[0], error, freedom, z, "least squares")]


def effects_by_group(
    table: Columns, x: str, y: str, z: Sequence[str], group: str, how: Estimation = DEFAULT
) -> list[Estimate]:
    """Estimate the effect of x on y within each group: each category of a column, or below and above its median.

    Within a category there is nothing left to adjust for; below and above a median there is.
    """
    if table.incomplete:
        each = how.fewer if how.bootstrap or table.is_level(y) else how
        return pooled([effects_by_group(whole, x, y, z, group, each) for whole in table.completed(how.seed)])
    others = [name for name in z if name != group or not table.is_level(group)]
    found = []
    for label, rows in _groups(table, group):
        for estimate in adjusted_estimates(table.within(rows), x, y, others, how):
            found.append(replace(estimate, contrast=f"{label}: {estimate.contrast}"))
    return found


def _groups(table: Columns, group: str) -> list[tuple[str, NDArray[np.bool_]]]:
    values = table.column(group)
    if table.is_level(group):
        return [(table.category(group, int(code)), values == code) for code in np.unique(values)]
    middle = float(np.median(values))
    if not (values > middle).any():
        raise DataError(f"more than half of the rows have the largest {readable(group)}: it makes no groups")
    return [
        (f"{readable(group)} up to {middle:.3g}", values <= middle),
        (f"{readable(group)} above {middle:.3g}", values > middle),
    ]


def step_of(x: str, how: Estimation, unit: str = "") -> tuple[float, str]:
    """Return by how much a number is changed, and that in words."""
    if how.values is None:
        return 1.0, unit
    before, after = how.values
    try:
        low, high = float(before), float(after)
    except (TypeError, ValueError):
        raise ParameterError(
            f"must be numbers, since {readable(x)} is one, not {before!r} and {after!r}", parameter="values"
        ) from None
    if not np.isfinite([low, high]).all() or low == high:
        raise ParameterError(f"must be two different numbers, not {before!r} and {after!r}", parameter="values")
    return high - low, f"{readable(x)} {high:g} in place of {low:g}"


def _average_effects(table: Columns, x: str, y: str, z: tuple[str, ...], how: Estimation) -> list[Estimate]:
    """Compare the mean outcomes if all rows had one category of x or another."""
    pairs = compared(table, x, how)
    found = []
    for outcome, label in outcomes(table, y):
        scored = scores(table, x, outcome, z, bool(label), how.learner, how.seed, SPLITS if how.intervals else 1)
        found += [_difference(table, scored, x, pair, label, z, how) for pair in pairs]
    return found


def compared(table: Columns, x: str, how: Estimation) -> list[tuple[int, int]]:
    """Return the codes of the categories to compare."""
    if how.values is None:
        return [(0, code) for code in range(1, int(table.column(x).max()) + 1)]
    first, second = (table.code(x, value) for value in how.values)
    if first == second:
        raise ParameterError(f"must be two different categories, not {how.values[0]!r} twice", parameter="values")
    return [(first, second)]


def outcomes(table: Columns, y: str) -> list[tuple[Vector, str]]:
    """Return a number as it is, or whether each row has each category, with what that is the chance of."""
    values = table.column(y)
    if not table.is_level(y):
        return [(values, "")]
    return [((values == code).astype(np.float64), label) for code, label in table.outcomes(y)]


def _difference(
    table: Columns, scored: Scores, x: str, pair: tuple[int, int], label: str, z: tuple[str, ...], how: Estimation
) -> Estimate:
    """Return the difference between two means of scores, and their ratio where they are chances."""
    before, after = pair
    unit = np.eye(len(scored.means))
    means = scored.means
    value = float(means[after] - means[before])
    contrast = f"{table.category(x, after)} in place of {table.category(x, before).removeprefix(f'{readable(x)} ')}"
    text = f"{contrast}: {label}" if label else contrast
    if not how.intervals:
        return Estimate(text, value, np.nan, np.nan, np.nan, "doubly robust", z)
    error, half = _half(scored, unit[after] - unit[before])
    ratio = None
    if label and means[after] > 0 and means[before] > 0:
        _, off = _half(scored, unit[after] / means[after] - unit[before] / means[before])
        middle = float(np.log(means[after] / means[before]))
        low, high = np.exp([middle - off, middle + off])
        ratio = float(np.exp(middle)), float(low), float(high)
    if how.bootstrap:
        resampled = _resampled_error(table, scored, unit[after] - unit[before], how)
        error, half = resampled, half * resampled / error
    method = "doubly robust" if how.learner == "glm" else f"doubly robust, {how.learner}"
    return Estimate(text, value, error, value - half, value + half, method, z, ratio, scored.trimmed)


def _half(scored: Scores, contrast: Vector) -> tuple[float, float]:
    """Return the standard error of a combination of means, and half the length of its interval."""
    error, freedom = scored.spread(contrast)
    return error, t_quantile((1 + LEVEL) / 2, freedom) * error


def _resampled_error(table: Columns, scored: Scores, contrast: Vector, how: Estimation) -> float:
    """Return the spread of a difference over resamples of the scores."""
    rng = np.random.default_rng(how.seed)
    differences = scored.rows @ contrast
    drawn = [table.drawn(rng) for _ in range(how.bootstrap or REPLICATES)]
    return float(np.std([weights @ differences / weights.sum() for weights in drawn], ddof=1))


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
    table: Columns, formula: Formula, names: Sequence[str], x: str, y: str, how: Estimation = DEFAULT
) -> list[Estimate]:
    """Estimate the slope of the mean of y in x by a formula over the positions of ``names``."""
    if table.incomplete:
        return pooled([formula_estimates(t, formula, names, x, y, how.fewer) for t in table.completed(how.seed)])
    used = list(members(variables(formula) | 1 << names.index(x)))
    levels = [names[v] for v in used if table.kind(names[v]) == Kind.NOMINAL]
    if levels:
        raise DataError(
            f"the formula for this effect is evaluated for numbers, and {listing(sorted(levels))} has categories"
            " without an order: turn it into numbers, or ask about another pair"
        )
    scatter = table.scatter([table.names.index(names[v]) for v in used])

    def evaluated(weights: Vector) -> Vector:
        covariance = np.zeros((len(names), len(names)))
        covariance[np.ix_(used, used)] = scatter(weights)
        np.fill_diagonal(covariance, np.where(np.diag(covariance) > 0, np.diag(covariance), 1.0))
        return np.array([slope(formula, covariance, names.index(x), names.index(y))])

    chance = f": {table.outcomes(y)[0][1]}" if table.is_level(y) else ""
    contrasts = [table.contrasts(x)[0] + chance]
    return bootstrapped(table, evaluated, contrasts, "formula, linear", None, how)


# --- parts ------------------------------------------------------------------------------------------------


def _standardised(
    table: Columns, design: Vector, contrast: str, x: str, y: str, z: tuple[str, ...], how: Estimation
) -> list[Estimate]:
    """Average the chance of each category of y over the rows, as the number x changes."""
    values, outcomes = table.column(y), table.outcomes(y)

    def averaged(weights: Vector) -> Vector:
        return np.array([_change(design, values == code, weights, how.values) for code, _ in outcomes])

    labels = [f"{contrast}: {chance}" for _, chance in outcomes]
    return bootstrapped(table, averaged, labels, "logistic, standardised", z, how)


def _change(design: Vector, hit: NDArray[np.bool_], weights: Vector, values: tuple[Any, Any] | None) -> float:
    """Return the average slope of a chance in the first regressor, or its difference between two values."""
    coefficients = logistic(design, hit.astype(np.float64), weights)
    share = weights / weights.sum()
    chance = expit(design @ coefficients)
    if values is None:
        return float(share @ (chance * (1 - chance)) * coefficients[1])
    rest = design @ coefficients - design[:, 1] * coefficients[1]
    before, after = (share @ expit(rest + float(value) * coefficients[1]) for value in values)
    return float(after - before)


def bootstrapped(
    table: Columns,
    estimate: Callable[[Vector], Vector],
    contrasts: list[str],
    method: str,
    adjusted: tuple[str, ...] | None,
    how: Estimation,
) -> list[Estimate]:
    """Estimate again on rows drawn with replacement; standard error and percentiles of what comes out."""
    rng = np.random.default_rng(how.seed)
    replicates = how.bootstrap or REPLICATES
    value = estimate(table.weights)
    if not how.intervals:
        return [
            Estimate(text, float(value[i]), np.nan, np.nan, np.nan, method, adjusted)
            for i, text in enumerate(contrasts)
        ]
    drawn = np.array([estimate(table.drawn(rng)) for _ in range(replicates)])
    error = drawn.std(axis=0, ddof=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    by = f"{method}; {'' if table.has_rows else 'parametric '}bootstrap of {counted(replicates, 'replicate')}"
    return [
        Estimate(text, float(value[i]), float(error[i]), float(low[i]), float(high[i]), by, adjusted)
        for i, text in enumerate(contrasts)
    ]


def _with_interval(
    contrast: str, value: float, error: float, freedom: int, z: tuple[str, ...], method: str = "least squares, HC3"
) -> Estimate:
    half = t_quantile((1 + LEVEL) / 2, freedom) * float(error)
    value = float(value)
    return Estimate(contrast, value, float(error), value - half, value + half, method, z)


def _solve(design: Vector, outcome: Vector, weights: Vector) -> Vector:
    weighted = design * weights[:, None]
    return np.asarray(np.linalg.lstsq(weighted.T @ design, weighted.T @ outcome, rcond=None)[0])


def _check_design(design: Vector, names: Sequence[str]) -> None:
    n, k = design.shape
    if n < k + 2:
        raise DataError(
            f"{counted(n, 'row')} cannot determine the effect given {counted(k - 1, 'regressor')}: more rows are needed"
        )
    scale = np.sqrt((design**2).sum(axis=0))
    if np.linalg.matrix_rank(design / np.maximum(scale, 1e-300), tol=1e-9) < k:
        raise DataError(
            f"the columns {listing(sorted(names))} determine each other: leave one of them out of the table"
        )
