"""What a look at a table says of it: whether its numbers bend, whether its categories interact, or ranks fit better.

Each question is put to rough searches for the best DAG (:mod:`lmarvel.ci.glm.kinds`). The thresholds come from a study
of tables with known truth (``benchmarks/kinds.py``, docs/kinds.md). Whether anything bends at all is seen at a glance,
without a search, in most tables where nothing does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import SPENT, current
from lmarvel.ci.blocks import FAR_OUT, is_count, normal_scores
from lmarvel.ci.glm.basis import GlmTable, row_weights
from lmarvel.ci.glm.fits import GlmFits
from lmarvel.ci.glm.kinds import MOST_PRODUCTS, PRODUCT, KindTable, kind_table
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.engine import load
from lmarvel.errors import BudgetSpent

_engine = load()

_MORE = 0.08  # of what lines explain
_LEAST = 30.0
_CLOSER = 0.02  # by how much normal scores are more closely related: of Gaussian numbers either may be, by chance
_TOLD = (0.015, 0.15)  # by heavy tails beyond correlations, at least and at most
_STRAIGHT = 0.015  # by bends, at most, where nothing bends
_SKEWED = 0.5  # the third moment of most numbers or their residuals, where noise is skewed; Gaussian ones have 0
_SHAPED = 0.1  # by skewed noise beyond what normal scores and correlations explain, at least
_CHANCE = 8.0  # standard errors, by which the fourth moment of a Gaussian number is hardly ever off
MOST_NUMBERS = 60  # for the look: it is a search
FEWEST_ROWS, MOST_ROWS = 100, 3_000  # of more rows some are looked at
MOST_VALUES = 60_000  # rows times columns, where the shape of noise is looked at, which takes longest
_BY_CHANCE, _FEW = 3.0, 15.0  # what squares, cubes and products tell by chance, many times, and some units of the score
_DETERMINED = 1e6  # times the variance that the others leave
_NOISE, _SWEEPS = 1e-6, (1, 0, 0, 0.0)  # a rough search: one sweep, and families are not turned
_AS_THEY_ARE, _AS_RANKS = math.inf, 0.0  # the fourth moment from which on a number is taken as normal scores


class Curvature(NamedTuple):
    """What lines, and what bends and products beside them, explain of the numbers of a table, in units of the score."""

    lines: float
    bends: float

    @property
    def is_curved(self) -> bool:
        """Whether bends explain so much more that lines alone would mislead."""
        return self.bends > (1 + _MORE) * self.lines + _LEAST

    @property
    def share(self) -> float:
        """How much more bends explain, as a share."""
        return self.bends / self.lines - 1 if self.lines > 0 else math.inf


def curvature(data: Dataset) -> Curvature | None:
    """Return how much bends explain of the numbers of a table; None where that cannot be said.

    What is explained is the likelihood of the best DAG beyond that of no edges, less what its edges, bends and products
    cost. It is looked at for the numbers as they are and for their normal scores: where one of the two is straight,
    lines will do. Counts are left out, because those with a small mean bend by nature. Where a glance shows that
    nothing bends, bends explain no more than lines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> curvature(Dataset.of({"a": a, "b": a + rng.normal(size=500)})).is_curved
    False
    >>> curvature(Dataset.of({"a": a, "b": a**2 + rng.normal(size=500)})).is_curved
    True
    """
    numbers = _numbers(data)
    if not 2 <= len(numbers) <= MOST_NUMBERS:
        return None
    if data.kept(("straight",), lambda: _is_straight(data, numbers)):
        most = data.n * _related(data.values()[:, [data.names.index(name) for name in numbers]], None)
        return Curvature(most, most)
    least: Curvature | None = None
    for shapes in (False, True):
        for far_out in (_AS_THEY_ARE, _AS_RANKS):
            found = _bent(data, far_out, shapes)
            if not found.is_curved:
                return found
            least = found if least is None or found.share < least.share else least
    return least


def _is_straight(data: Dataset, numbers: list[str]) -> bool:
    """Tell at a glance that nothing bends.

    Of numbers that are straight and Gaussian, no square, no cube and no product of two others tells anything: neither
    of a number as it is nor of what all others leave of it along lines. What they tell beyond the price of a bend, or
    of a product, is added up and held against what that comes to by chance. Numbers with values far out are not judged.
    """
    every = _every(data)
    values = data.values()[::every][:, [data.names.index(name) for name in numbers]]
    n, p = values.shape
    if data.weights is not None or row_weights(data)[1] != data.n or n < 4 * p or _lies_far_out(values, None):
        return False
    lines = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-300)
    try:
        precision = np.linalg.inv(lines.T @ lines / n)
    except np.linalg.LinAlgError:
        return False
    inflation = precision.diagonal()
    if not (inflation > 0).all() or inflation.max() > _DETERMINED:
        return False
    told = np.hstack([lines, lines @ precision / np.sqrt(inflation)])
    more = by_chance = 0.0
    for looks, price, own in ((_of_bends, 1.0, 1), (_of_products, PRODUCT, 2)):
        price *= math.log(n)
        for share in looks(lines, told):
            more += float(np.maximum(-n * np.log1p(-np.minimum(share, 1 - 1e-12)) - price, 0.0).sum())
            by_chance += 2 * len(share) * (p - own) * _beyond(price)
    return more <= _BY_CHANCE * by_chance + _FEW


def _of_bends(lines: NDArray[np.float64], told: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Iterate over what squares and cubes explain of each column of ``told``, a row each; nothing of their own."""
    squares = lines * lines
    for columns in (squares - 1, squares * lines):
        bends = columns - columns.mean(axis=0)
        bends -= lines * (bends * lines).mean(axis=0)
        yield _without_own(_shares(bends, told, (bends * bends).mean(axis=0)), np.arange(lines.shape[1]))


def _of_products(lines: NDArray[np.float64], told: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Iterate over what products of two explain, those of one number at a time."""
    n, p = lines.shape
    if p > MOST_PRODUCTS:
        return
    squares = lines * lines
    spread = squares.T @ squares / n - (lines.T @ lines / n) ** 2
    for u in range(p - 1):
        share = _shares(lines[:, u + 1 :] * lines[:, [u]], told, spread[u, u + 1 :])
        yield _without_own(share, np.arange(u + 1, p), np.full(p - u - 1, u))


def _shares(
    columns: NDArray[np.float64], told: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the squared correlations of columns with others of mean 0 and variance 1."""
    found: NDArray[np.float64] = (columns.T @ told / len(told)) ** 2 / np.maximum(spread, 1e-300)[:, None]
    return found


def _without_own(share: NDArray[np.float64], *own: NDArray[np.intp]) -> NDArray[np.float64]:
    """Blank out what each row says of its own numbers, as they are and given the others."""
    rows, p = np.arange(len(share)), share.shape[1] // 2
    for numbers in own:
        share[rows, numbers] = share[rows, p + numbers] = 0.0
    return share


def _beyond(price: float) -> float:
    """Return by how much the square of a standard normal variable is beyond a price, on average."""
    tail = math.erfc(math.sqrt(price / 2))
    return tail + math.sqrt(2 * price / math.pi) * math.exp(-price / 2) - price * tail


def _numbers(data: Dataset) -> list[str]:
    """Return the numbers that can be looked at; beside categories without counts."""
    if _engine is None or any(data.missing) or data.n < FEWEST_ROWS:
        return []
    numbers = [name for name, kind in zip(data.names, data.kinds, strict=True) if kind is Kind.CONTINUOUS]
    if len(numbers) == len(data.names):
        return numbers
    values = data.values()
    return [name for name in numbers if not is_count(values[:, data.names.index(name)])]


def _bent(data: Dataset, far_out: float, shapes: bool) -> Curvature:
    """Return what lines and bends explain in one scale, with or without the shape of noise."""

    def look() -> Curvature:
        numbers = _numbers(data)
        every = _every(data, len(numbers) if shapes else 0)
        line = kind_table(data, numbers, 2.0, bends=0, products=False, far_out=far_out, every=every)
        current().check()
        bent = kind_table(data, numbers, 2.0, far_out=far_out, every=every)
        return Curvature(explained(line, shapes), explained(bent, shapes))

    return data.kept(("bent", far_out, shapes), look)


def _every(data: Dataset, columns: int = 0) -> int:
    """Return how many rows further each row stands that is looked at."""
    most = MOST_ROWS if columns == 0 else min(MOST_ROWS, MOST_VALUES // columns)
    return -(-data.n // most)


def explained(table: KindTable, shapes: bool = True) -> float:
    """Return by how much the best DAG is better than no edges."""
    prices = table.prices | ({} if shapes else {"shape": math.inf})
    scores = _engine.KindScores(
        table.basis, table.starts, table.categories, table.codes, table.weights, table.products, prices
    )
    late, met = scores.search(_NOISE, *_SWEEPS, seconds=current().left())
    if late:
        raise BudgetSpent(SPENT)
    return float(sum(scores.value(v, ())[0] for v in range(len(table))) - met[-1][0])


def interacts(data: Dataset) -> bool:
    """Tell whether categories depend on each other in ways that only counts see: one on a combination of others.

    The best DAG by counts is held against logistic regressions on the same parents, whose effects add up.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, chance = rng.integers(0, 3, (3, 1000))
    >>> words, by_chance = np.array(["low", "middle", "high"]), rng.random(1000) < 0.1
    >>> turned, larger = (np.where(by_chance, chance, c) for c in (np.where(b == 0, a, 2 - a), np.maximum(a, b)))
    >>> [interacts(Dataset.of({"a": words[a], "b": words[b], "c": words[c]})) for c in (turned, larger)]
    [True, False]
    """
    names = [name for name, kind in zip(data.names, data.kinds, strict=True) if kind is not Kind.CONTINUOUS]
    if _engine is None or any(data.missing) or data.n < FEWEST_ROWS or not 3 <= len(names) <= MOST_NUMBERS:
        return False
    return data.kept(("interacts",), lambda: _interacts(data, names))


def _interacts(data: Dataset, names: list[str]) -> bool:
    table = kind_table(data, names, 2.0, every=_every(data))
    scores = table.scores()
    late, met = scores.search(_NOISE, *_SWEEPS, seconds=current().left())
    if late:
        raise BudgetSpent(SPENT)
    score, dag = met[-1]
    explained = sum(scores.value(v, ())[0] for v in range(len(table))) - score
    parts = (table.basis, table.starts, table.categories, table.codes, table.weights, table.rows)
    glm = GlmTable(tuple(names), *parts, np.zeros(len(names)))
    fits, more = GlmFits(glm), 0.0
    for v, parents in enumerate(dag):
        columns = [c for u in parents for c in glm.columns(u)]
        if len(parents) > 1:
            added = -2 * fits.fit(v, columns)[0] + math.log(table.rows) * glm.responses(v) * (len(columns) + 1)
            more += max(added - scores.value(v, parents)[0], 0.0)
    return bool(more > _MORE * explained + _LEAST)


def has_skewed_noise(data: Dataset) -> bool:
    """Tell whether numbers depend on each other along lines, and their noise is skewed.

    Then lines under the density of such noise explain more than correlations do, and more than normal scores along
    curves. All of these are measured against numbers without edges in the same scale, so they can be compared. Bends
    add little once the noise has its shape, though without it they seem to explain a lot.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skewed, plain = rng.exponential(size=(3, 1000)), rng.normal(size=(3, 1000))
    >>> [has_skewed_noise(Dataset.of({"a": a, "b": a + b, "c": b - c})) for a, b, c in (skewed, plain)]
    [True, False]
    """
    if not 2 <= len(_numbers(data)) <= MOST_NUMBERS or not _are_skewed(data):
        return False
    shaped = _bent(data, _AS_THEY_ARE, True)
    if shaped.is_curved:
        return False
    others = max(_bent(data, _AS_THEY_ARE, False).lines, _bent(data, _AS_RANKS, False).bends)
    return shaped.lines > (1 + _SHAPED) * others


def _are_skewed(data: Dataset) -> bool:
    """Tell whether most numbers are skewed, or what is left of them given all others."""
    values = data.values()
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    left = values - np.average(values, axis=0, weights=weights)
    try:
        residuals = left @ np.linalg.inv(np.cov(left.T, aweights=weights))
    except np.linalg.LinAlgError:
        return False

    def skewness(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        squares = columns * columns  # powers of 3 take NumPy many times as long
        third, square = (np.average(powers, axis=0, weights=weights) for powers in (squares * columns, squares))
        return np.asarray(np.abs(third) / square**1.5)

    return bool(np.median(np.maximum(skewness(left), skewness(residuals))) > _SKEWED)


def has_heavy_tails(data: Dataset) -> bool:
    """Tell whether the noise of straight numbers has tails that tell more of them than correlations do.

    Then lines under the density of such noise explain more than under a Gaussian one, although nothing bends. With
    skewed noise lines look bent, and where the variance of noise changes its shape seems to tell far more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tails, plain = rng.standard_t(4, size=(3, 2000)), rng.normal(size=(3, 2000))
    >>> [has_heavy_tails(Dataset.of({"a": a, "b": a + b, "c": b + c})) for a, b, c in (tails, plain)]
    [True, False]
    """
    numbers, values = _numbers(data), data.values()
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    if not 2 <= len(numbers) <= MOST_NUMBERS or not _lies_far_out(values, weights):
        return False
    plain = _bent(data, _AS_THEY_ARE, False)
    if plain.share > _STRAIGHT:
        return False
    every = _every(data, len(numbers))
    line, shaped = (
        explained(kind_table(data, numbers, 2.0, bends=0, products=False, far_out=_AS_THEY_ARE, every=every), shapes)
        for shapes in (False, True)
    )
    return _TOLD[0] * line < shaped - line < _TOLD[1] * line


def prefers_ranks(data: Dataset) -> bool:
    """Tell whether normal scores fit a table of numbers better than the numbers as they are.

    They do where they are more closely related. Relatedness is minus the log determinant of the correlation matrix: the
    information that Gaussian variables of these correlations have of each other. A few values far out can raise it in
    the numbers as they are. So normal scores are also taken where values lie far out if a simpler graph explains them,
    and along straight lines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=5000)
    >>> b = a + 0.5 * rng.normal(size=5000)
    >>> prefers_ranks(Dataset.of({"a": a, "b": b})), prefers_ranks(Dataset.of({"a": np.exp(2 * a), "b": b**3}))
    (False, True)
    """
    values = data.values()
    n, p = values.shape
    if p < 2 or n < 2 * p:
        return False
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    columns = []
    for column in values.T:
        current().check()
        columns.append(normal_scores(column, weights))
    scores = np.column_stack(columns)
    as_they_are, as_ranks = _related(values, weights), _related(scores, weights)
    if as_ranks > (1 + _CLOSER) * as_they_are:
        return True
    if not 2 <= len(_numbers(data)) <= MOST_NUMBERS or not _lies_far_out(values, weights):
        return False
    every = slice(None, None, _every(data))
    some = None if weights is None else weights[every]
    rows = len(values[every])
    unexplained = [
        rows * _related(columns[every], some) - _bent(data, far_out, False).lines
        for columns, far_out in ((values, _AS_THEY_ARE), (scores, _AS_RANKS))
    ]
    return unexplained[1] < unexplained[0] and not _bent(data, _AS_RANKS, False).is_curved


def _related(columns: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return how closely columns are related."""
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = np.cov(columns.T, aweights=weights)
        spread = np.sqrt(covariance.diagonal())
        sign, log_det = np.linalg.slogdet(covariance / np.outer(spread, spread))
    return float(-log_det) if sign > 0 else math.inf


def _lies_far_out(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> bool:
    """Tell whether a column has values farther out than a Gaussian one has by chance."""
    squares = (values - np.average(values, axis=0, weights=weights)) ** 2
    fourth, square = (np.average(powers, axis=0, weights=weights) for powers in (squares**2, squares))
    return bool((fourth > max(FAR_OUT, 3 + _CHANCE * math.sqrt(24 / len(values))) * square**2).any())
