"""The average effect of a cause with categories: what would happen on average if everybody had one or the other.

A regression coefficient is an average over rows that nobody asked for where the effect differs between people: it
counts most those whose cause is hardest to predict. What is asked for is the mean outcome if all had category a, less
that if all had the first one. It is estimated by augmented inverse probability weighting (Robins, Rotnitzky & Zhao 1994
[1]_): per row and category

    score_a = m_a(Z) + 1[X = a] (Y - m_a(Z)) / e_a(Z)

with m_a(Z) the expected outcome among rows with X = a, and e_a(Z) the chance of X = a. The mean of the scores is right
if either model is right. Both models are fitted on other rows than those that they are used for (cross-fitting,
Chernozhukov et al. 2018 [2]_), so that even flexible ones leave the intervals honest. Standard errors are those of the
scores, summed up within clusters.

By default the models are regressions (least squares, logistic) on the variables adjusted for, one regression per
category of the cause; numbers have the bends of a natural spline where BIC prefers them. ``learner="boosting"`` takes
gradient-boosted trees of scikit-learn.

References
----------
.. [1] Estimation of regression coefficients when some regressors are not always observed, JASA 89 (1994).
.. [2] Double/debiased machine learning for treatment and structural parameters, Econometrics Journal 21 (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.ci.glm.basis import BENDS, natural_spline
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.errors import DataError, ParameterError

Learner = Literal["glm", "boosting"]

FOLDS = 5
SPLITS = 3  # into folds, whose scores are averaged; how far they differ is part of the standard error
LEAST_CHANCE = 0.01  # of a category: rows that could hardly have had it would weigh too much
ROWS_PER_BEND = 20  # rows per regressor that bends need
_RIDGE = 0.01  # rows' worth of a pull towards 0: fits stay finite, and hardly lean (a whole row cost .15 of coverage)


@dataclass(frozen=True)
class Scores:
    """Scores of a table: their means are the mean outcomes if all rows had one category of the cause.

    Attributes
    ----------
    splits : array, shape (splits, n, categories)
        The scores by each split into folds.
    weights : array
        What each row counts for.
    units : array of int
        Which rows belong together.
    trimmed : float
        The share of the rows of which a chance was raised to the least that is allowed.
    """

    splits: Vector
    weights: Vector
    units: NDArray[np.intp]
    trimmed: float

    @property
    def rows(self) -> Vector:
        """The scores, averaged over splits."""
        return np.asarray(self.splits.mean(axis=0))

    @property
    def means(self) -> Vector:
        """The mean outcome if all rows had each category."""
        return np.asarray(self.weights @ self.rows / self.weights.sum())

    def spread(self, contrast: Vector) -> tuple[float, float]:
        """Return the standard error of a combination of the means, and its degrees of freedom.

        A variance that rests on few large scores is itself uncertain: its degrees of freedom (Satterthwaite 1946) are
        2 n / (k - 1) with k the fourth moment of the scores, which is 3 for normal ones.
        """
        whole, middle = self.weights.sum(), self.means @ contrast
        variances, fourths = [], []
        for rows in self.splits @ contrast:
            mean = self.weights @ rows / whole
            squares = np.bincount(self.units, (rows - mean) * self.weights) ** 2
            variances.append(squares.sum() / whole**2 + (mean - middle) ** 2)
            fourths.append((squares**2).mean() / max(squares.mean() ** 2, 1e-300))
        n = int(self.units.max()) + 1
        freedom = min(n - 1.0, 2 * n / max(float(np.mean(fourths)) - 1, 1e-9))
        return float(np.sqrt(np.mean(variances))), freedom


def scores(
    table: Columns,
    x: str,
    outcome: Vector,
    z: Sequence[str],
    chance: bool,
    learner: Learner = "glm",
    seed: int = 0,
    splits: int = SPLITS,
) -> Scores:
    """Return the scores of an outcome for each category of the cause x, adjusting for z.

    Parameters
    ----------
    table : Columns
        The table; x has categories.
    x : str
        The cause.
    outcome : array
        The outcome of each row.
    z : sequence of str
        The variables to adjust for.
    chance : bool
        Whether the outcome is 0 or 1, so that its mean is a chance.
    learner : {"glm", "boosting"}
        What models of outcome and cause are made of.
    seed : int
        For the folds.
    splits : int
        Into folds, whose scores are averaged.

    Examples
    --------
    >>> from lmarvel.data import Dataset
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=4000)
    >>> x = (rng.random(4000) < 1 / (1 + np.exp(-2 * z))).astype(int)
    >>> y = x * (1 + z) + z + rng.normal(size=4000)      # the effect is 1 + z: 1 on average
    >>> found = scores(Columns(Dataset.of({"x": x, "y": y, "z": z})), "x", y, ["z"], False)
    >>> round(float(found.means[1] - found.means[0]), 1)
    1.0
    """
    given = table.column(x).astype(np.intp)
    arms = int(given.max()) + 1
    counts = np.bincount(given, minlength=arms)
    if counts.min() < FOLDS:
        rare = int(np.argmin(counts))
        raise DataError(
            f"{table.category(x, rare)} has {counts[rare]} rows, too few to estimate its effect: take rare categories"
            " together"
        )
    fit = _models(learner)
    lines, bent = _design(table, z, 0), _design(table, z, counts.min())
    hits = [(given == a).astype(np.float64) for a in range(arms)]
    weights = table.weights
    among = [given == a for a in range(arms)]
    of_mean = _preferred(lines, bent, [(rows, outcome, chance) for rows in among], weights)
    of_chance = _preferred(lines, bent, [(slice(None), hit, True) for hit in hits], weights)
    units = table.units
    rng = np.random.default_rng(seed)
    found, low = np.empty((splits, len(given), arms)), np.zeros(len(given), dtype=bool)
    for split in range(splits):
        means, chances = np.empty((len(given), arms)), np.empty((len(given), arms))
        for held in _folds(given, units, table.clustered, rng):
            for a in range(arms):
                current().check()
                learn = ~held & among[a]
                means[held, a] = fit(of_mean[learn], outcome[learn], weights[learn], of_mean[held], chance)
                chances[held, a] = fit(of_chance[~held], hits[a][~held], weights[~held], of_chance[held], True)
        chances /= chances.sum(axis=1, keepdims=True)
        low |= (chances < LEAST_CHANCE).any(axis=1)
        chances = np.maximum(chances, LEAST_CHANCE)
        found[split] = means + np.column_stack(hits) * (outcome[:, None] - means) / chances
    return Scores(found, weights, units, float(low.mean()))


def check_learner(learner: str) -> None:
    """Refuse a learner that is not known, or not installed."""
    if learner not in get_args(Learner):
        raise ParameterError(f"must be 'glm' or 'boosting', not {learner!r}", parameter="learner")
    _models(learner)


def _folds(
    given: NDArray[np.intp], units: NDArray[np.intp], clustered: bool, rng: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Return which rows each fold holds: units whole, and without clusters the categories of the cause evenly."""
    n = int(units.max()) + 1
    shuffled = rng.permutation(n)
    if not clustered:
        shuffled = shuffled[np.argsort(given[shuffled], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[shuffled] = np.arange(n) % FOLDS
    return [fold[units] == k for k in range(FOLDS)]


def _preferred(lines: Vector, bent: Vector, models: Sequence[tuple[Any, Vector, bool]], weights: Vector) -> Vector:
    """Return the regressors by which models of some rows each have the smaller BIC together."""
    if lines.shape == bent.shape:
        return lines
    extra = (bent.shape[1] - lines.shape[1]) * np.log(len(weights)) * len(models)
    gain = sum(
        _lack(lines[rows], outcome[rows], weights[rows], chance)
        - _lack(bent[rows], outcome[rows], weights[rows], chance)
        for rows, outcome, chance in models
    )
    return bent if gain > extra else lines


def _lack(design: Vector, outcome: Vector, weights: Vector, chance: bool) -> float:
    """Return minus two log-likelihood of a regression."""
    fitted = _regression(design, outcome, weights, design, chance)
    share = weights / weights.mean()
    if chance:
        likely = np.where(outcome > 0, fitted, 1 - fitted)
        return float(-2 * share @ np.log(np.maximum(likely, 1e-300)))
    return float(len(outcome) * np.log(max(share @ (outcome - fitted) ** 2 / len(outcome), 1e-300)))


def _design(table: Columns, z: Sequence[str], rows: int) -> Vector:
    """Return a column of ones and the regressors, standardised; numbers bend where rows allow."""
    parts: list[Vector] = []
    plain = sum(table.indicators(name)[0].shape[1] for name in z)
    bends = BENDS if rows >= ROWS_PER_BEND * (1 + plain + BENDS * len(z)) else 0
    for name in z:
        if table.is_level(name):
            parts.append(table.indicators(name)[0])
        else:
            parts.append(np.column_stack(natural_spline(table.column(name), bends, table.weights, name)))
    return np.column_stack([np.ones(len(table.rows)), *parts])


def _models(learner: str) -> Any:
    """Return what fits a model to rows and predicts others: ``fit(design, outcome, weights, at, chance)``."""
    return _regression if learner == "glm" else _boosting()


def _regression(design: Vector, outcome: Vector, weights: Vector, at: Vector, chance: bool) -> Vector:
    if chance:
        return expit(at @ logistic(design, outcome, weights, _RIDGE))
    ridge = np.full(design.shape[1], _RIDGE * weights.mean())
    ridge[0] = 0.0
    weighted = design * weights[:, None]
    solved = np.linalg.lstsq(weighted.T @ design + np.diag(ridge), weighted.T @ outcome, rcond=None)[0]
    return np.asarray(at @ solved)


def _boosting() -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    except ImportError:
        raise ParameterError(
            "'boosting' needs scikit-learn: pip install scikit-learn, or leave it out", parameter="learner"
        ) from None

    def fit(design: Vector, outcome: Vector, weights: Vector, at: Vector, chance: bool) -> Vector:
        if chance and outcome.min() == outcome.max():
            return np.full(len(at), outcome[0])
        of = HistGradientBoostingClassifier if chance else HistGradientBoostingRegressor
        model = of(max_iter=100, learning_rate=0.05, max_leaf_nodes=15, random_state=0)
        model.fit(design[:, 1:] if design.shape[1] > 1 else design, outcome, sample_weight=weights)
        rows = at[:, 1:] if at.shape[1] > 1 else at
        return np.asarray(model.predict_proba(rows)[:, 1] if chance else model.predict(rows), dtype=np.float64)

    return fit


def logistic(design: Vector, outcome: Vector, weights: Vector, ridge: float = 1e-6, rounds: int = 40) -> Vector:
    """Fit by Newton's method; a ridge keeps what separates perfectly finite. The first column is the constant.

    Examples
    --------
    >>> design = np.column_stack([np.ones(4), [0.0, 0.0, 1.0, 1.0]])
    >>> bool(logistic(design, np.array([0.0, 1.0, 1.0, 1.0]), np.ones(4))[1] > 1)
    True
    """
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    scaled = design / scale
    coefficients = np.zeros(design.shape[1])
    pull = np.full(len(coefficients), ridge * weights.sum() / len(weights))
    pull[0] *= 1e-6 / max(ridge, 1e-6)
    clock = current()
    for _ in range(rounds):
        clock.check()
        at = expit(scaled @ coefficients)
        gradient = scaled.T @ (weights * (outcome - at)) - pull * coefficients
        curvature = (scaled * (weights * at * (1 - at))[:, None]).T @ scaled + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        coefficients = coefficients + step
        if np.abs(step).max() < 1e-10 * (1 + np.abs(coefficients).max()):
            break
    return np.asarray(coefficients / scale)


def expit(values: Vector) -> Vector:
    """Return the chance that a log-odds stands for."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)))
