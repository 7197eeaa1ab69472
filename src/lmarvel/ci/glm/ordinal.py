"""Categories in an order: numbers by their normal scores, or cuts of normal variables that nobody measured.

Which of the two decides what is independent. Where a category itself acts (a grade that is paid for), its score is the
cause, and conditioning on it separates. Where it is a coarse reading of something that acts (an answer from 1 to 5),
conditioning on it leaves some of that over: with enough rows every pair upstream and downstream of it is joined. Then
the correlations of the variables behind the categories are needed, as polychoric correlations are. The wrong view of a
table needs more edges than the right one, so the view whose best DAG has fewer edges is taken.

A category cut from a normal variable z has the score E(z | category). With a_m the coefficients of the standardised
score in Hermite polynomials of z, the scores of two such columns correlate by the sum of a_m b_m rho^m, where rho is
the correlation behind them (Lancaster, 1957). That is solved for rho; a number has a_1 = 1 and nothing else. Cuts tell
less than numbers: around rho = 0 as much as a share (a_1 b_1)^2 of the rows, whose mean over all pairs counts.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import SPENT, current
from lmarvel.ci.blocks import blocks_of, scaled
from lmarvel.data.columns import Kind, few_whole
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.rows import correlation_of
from lmarvel.deferred import late
from lmarvel.engine import load
from lmarvel.errors import BudgetSpent

special = late("scipy.special")

_engine = load()
_TERMS, _STEPS = 40, 25  # of the expansion, and of Newton's method
_LARGEST = 0.98  # correlation: with few rows cuts may agree by chance
_LEAST = 0.01  # eigenvalue: estimates for pairs may contradict each other
_PENALTY, _NOISE = 2.0, 1e-6
_MORE, _BENT = 0.1, 30.0  # as a share of what scores explain, and in units of the score
MOST_VARIABLES = 60  # that a search is made for
FEWEST_ROWS = 100

Array = NDArray[np.float64]


def steps(data: Dataset) -> list[int]:
    """Return how many categories in an order each column has: declared ones, and few whole numbers; 0 for others.

    Examples
    --------
    >>> steps(Dataset.of({"a": [1, 2, 3, 2] * 30, "b": [0.1, 0.4, 0.2, 0.3] * 30, "c": [0, 1, 0, 0] * 30}))
    [3, 0, 2]
    """
    values = data.values()
    few = few_whole(values)
    return [
        few[v] if kind is Kind.CONTINUOUS else 0 if kind is Kind.NOMINAL else len(np.unique(values[:, v]))
        for v, kind in enumerate(data.kinds)
    ]


def has_order(data: Dataset) -> bool:
    """Tell whether a table has categories in an order, none without one, no gaps, and rows to judge them by.

    Examples
    --------
    >>> answers = {"a": [1, 2, 3, 2] * 30, "b": [0.1, 0.4, 0.2, 0.3] * 30}
    >>> has_order(Dataset.of(answers)), has_order(Dataset.of({"b": answers["b"], "c": answers["b"]}))
    (True, False)
    """
    usable = Kind.NOMINAL not in data.kinds and not any(data.missing) and data.n >= FEWEST_ROWS
    return usable and 2 <= len(data.names) <= MOST_VARIABLES and max(steps(data)) > 2


def fitting_moments(data: Dataset) -> tuple[Moments, bool]:
    """Return the moments of a table with categories in an order, and whether they are of normal variables behind them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = np.cumsum(rng.normal(size=(5, 4000)), axis=0)
    >>> table = {f"q{i}": np.digitize(x, np.quantile(x, [0.2, 0.5, 0.8])) for i, x in enumerate(z)}
    >>> moments, behind = fitting_moments(Dataset.of(table, ordinal=list(table)))
    >>> behind, bool(moments.correlation()[0, 1] > 0.68)  # 0.71 behind the categories, which correlate by 0.6
    (True, True)
    """
    return data.kept(("ordinal",), lambda: _fitting(data))


def _fitting(data: Dataset) -> tuple[Moments, bool]:
    scores = blocks_of(data, "ordered").moments
    if _engine is None or not has_order(data):
        return scores, False
    behind = latent_moments(data)
    return (behind, True) if _edges(behind) < _edges(scores) else (scores, False)


def latent_moments(data: Dataset) -> Moments:
    """Return the correlations of normal variables that the categories of a table are cut from, and of its numbers."""
    values = data.values()
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    columns, terms = [], []
    for v, size in enumerate(steps(data)):
        column, found = _cut(values[:, v], weights) if size else (scaled(values[:, v], weights), np.eye(_TERMS)[0])
        columns.append(column)
        terms.append(found)
    R = correlation_of(np.cov(columns, aweights=weights))
    expansion = np.array(terms)
    rho = _nearest(_solved(R, expansion))
    told = np.outer(expansion[:, 0], expansion[:, 0])[np.triu_indices(len(R), 1)] ** 2
    rows = max(round(data.moments.n * float(told.mean())), 4)
    return Moments(data.names, rows, np.zeros(len(R)), rho)


def _cut(values: Array, weights: Array | None) -> tuple[Array, Array]:
    """Return the standardised scores of a category, and their expansion in Hermite polynomials from the first on."""
    _, place = np.unique(values, return_inverse=True)
    share = np.bincount(place, weights)
    held = share > 0  # a resample may leave a category without rows
    share = share[held] / share.sum()
    limits = special.ndtri(np.clip(np.cumsum(share)[:-1], 1e-12, 1 - 1e-12))
    density = np.exp(-(limits**2) / 2) / math.sqrt(2 * math.pi)

    def between(at: Array) -> Array:
        return np.asarray(-np.diff(at, prepend=0.0, append=0.0))

    mean = between(density) / share
    score = mean / math.sqrt(float(share @ mean**2))
    before, now = np.zeros_like(limits), np.ones_like(limits)
    terms = []
    for m in range(1, _TERMS + 1):  # polynomials of variance one, which stay of one size
        terms.append(float(score @ between(now * density)) / math.sqrt(m))
        before, now = now, (limits * now - math.sqrt(m - 1) * before) / math.sqrt(m)
    of_all = np.zeros(len(held))
    of_all[held] = score
    return of_all[place], np.array(terms)


def _solved(R: Array, expansion: Array) -> Array:
    """Return the correlations behind those of scores, by Newton's method for all pairs at once."""
    terms = np.einsum("im,jm->mij", expansion, expansion)
    rho = np.clip(R / terms[0], -_LARGEST, _LARGEST)
    for _ in range(_STEPS):
        value, slope = np.zeros_like(R), np.zeros_like(R)
        for term in terms[::-1]:
            slope = slope * rho + value + term
            value = (value + term) * rho
        rho = np.clip(rho - (value - R) / np.maximum(slope, 0.05), -_LARGEST, _LARGEST)
    np.fill_diagonal(rho, 1.0)
    return np.asarray(rho)


def _nearest(R: Array) -> Array:
    """Return a correlation matrix near one that may be none."""
    values, vectors = np.linalg.eigh(R)
    if values[0] >= _LEAST:
        return R
    return correlation_of((vectors * np.maximum(values, _LEAST)) @ vectors.T)


def _edges(moments: Moments) -> int:
    """Return how many edges the best DAG has, as one sweep over orders finds it.

    The search asks for rows: these are the fewest that have just the correlations.
    """
    p = len(moments.names)
    m = 2 * p + 2
    free = np.linalg.qr(np.column_stack([np.ones(m), np.eye(m)[:, :p]]))[0][:, 1:]
    rows = np.linalg.cholesky(moments.never_singular()) @ free.T * math.sqrt(m)
    log = math.log(moments.n)
    prices = dict.fromkeys(("parameter", "bend", "product", "category"), log) | {"edge": _PENALTY * log}
    scores = _engine.KindScores(
        np.ascontiguousarray(rows),
        np.arange(p + 1, dtype=np.int32),
        np.zeros(p, dtype=np.int32),
        np.zeros((p, m), dtype=np.uint16),
        np.full(m, moments.n / m),
        (),
        prices | {"shape": math.inf},
    )
    late, met = scores.search(_NOISE, 1, 0, 0, 0.0, seconds=current().left())
    if late:
        raise BudgetSpent(SPENT)
    return sum(len(parents) for parents in met[-1][1])


def is_monotone(data: Dataset) -> bool:
    """Tell whether normal scores see what is between the columns of a table: nothing rises and falls again.

    For each pair with a category the likelihood of the counts (of a number: of its mean for each category) is held
    against that of the correlation of scores, less log n for each parameter that it has more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, noise = rng.integers(0, 5, 1000), rng.normal(size=1000)
    >>> [is_monotone(Dataset.of({"a": a, "b": b + noise}, ordinal=["a"])) for b in (a, (a - 2) ** 2)]
    [True, False]
    """
    values, n, sizes = data.values(), data.n, steps(data)
    blocks = blocks_of(data, "ordered")
    R, straight, more = blocks.moments.correlation(), 0.0, 0.0
    ordered = [v for v, kind in enumerate(data.kinds) if kind is not Kind.NOMINAL]
    for v, w in itertools.combinations(sorted(ordered, key=lambda v: -sizes[v]), 2):
        if sizes[v] < 3:
            continue
        line = -n * math.log1p(-min(R[blocks.starts[v], blocks.starts[w]] ** 2, 1 - 1e-12))
        free = max(sizes[w] - 1, 1) * (sizes[v] - 1) - 1
        straight += line
        more += max(_explained(values[:, v], values[:, w], sizes[w] > 0) - line - free * math.log(n), 0.0)
    return more <= _MORE * straight + _BENT


def _explained(category: Array, other: Array, counted: bool) -> float:
    """Return twice the log-likelihood that a category explains of another column: by counts, or by means."""
    _, code = np.unique(category, return_inverse=True)
    share = np.bincount(code)
    if not counted:
        left = other - (np.bincount(code, other) / share)[code]
        return float(len(other) * math.log(other.var() / max(left.var(), 1e-12 * other.var())))
    _, second = np.unique(other, return_inverse=True)
    table = np.bincount(code * (second.max() + 1) + second, minlength=len(share) * (second.max() + 1)).astype(float)
    table = table.reshape(len(share), -1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(other)
    return float(2 * special.xlogy(table, table / expected).sum())
