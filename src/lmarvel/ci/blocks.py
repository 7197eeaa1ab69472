"""Columns of numbers for columns of any kind: each variable becomes a block, and one product serves every test.

======================  ==============================================================================================
a column                as a block
======================  ==============================================================================================
continuous              itself; its normal scores (``rank``; else of counts, and where values lie far out)
ordinal                 indicators; its normal scores (``ordered``, ``rank``)
binary                  one indicator
nominal                 an indicator for each level but the most frequent one
======================  ==============================================================================================

A level with one row has no indicator of its own, because one row would decide its tests. Such levels share one, and a
single one is taken together with the most frequent level. A column without two other levels is left as it is.

Indicators span the same space whichever level is left out, so no result depends on the codes of levels; the most
frequent one is left out because that keeps the numbers farthest from a singular matrix.

Around gaps the moments of the columns are found by EM, as those of numbers are: a missing level is missing in each of
its indicators.

The block Gaussian test on indicators is the degenerate Gaussian test of Andrews, Ramsey & Cooper (2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.categories import lone_levels
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.missing.em import em_moments
from lmarvel.data.moments import Moments
from lmarvel.deferred import late
from lmarvel.errors import DataError

special = late("scipy.special")


Form = Literal["plain", "scaled", "ordered", "rank"]
"""How columns are taken: as they are, on scales that suit them, also with scores of levels in an order, as ranks."""

FAR_OUT = 4.0
"""The fourth moment of a standardised column from which on values lie far out; a normal one has 3."""
LEAST_RELIABLE = 0.75
"""The share of the variance that ties must leave of a normal number, so that what is behind them can be told."""
_PIECE = 1024  # rows
_SKEWED = 0.5  # the third moment of a standardised column: that of a Poisson variable with a mean of 4


@dataclass(frozen=True)
class Blocks:
    """The blocks of all variables, with the moments of their columns.

    Attributes
    ----------
    names : tuple of str
        The variables.
    starts : array of int32
        Where the block of each variable begins, and the number of columns.
    moments : Moments
        Number of rows, means and covariance of the columns.
    """

    names: tuple[str, ...]
    starts: NDArray[np.int32]
    moments: Moments

    @property
    def single(self) -> bool:
        """Whether each variable is one column."""
        return len(self.moments.names) == len(self.names)

    def columns(self, v: int) -> range:
        """Return the columns of a variable."""
        return range(int(self.starts[v]), int(self.starts[v + 1]))

    def take(self, order: Sequence[int]) -> Blocks:
        """Return the same with the variables in another order."""
        columns = [c for v in order for c in self.columns(v)]
        widths = np.diff(self.starts)[list(order)]
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int32)
        return Blocks(tuple(self.names[v] for v in order), starts, self.moments.take(columns))


def blocks_of(data: Dataset, form: Form = "plain") -> Blocks:
    """Make the blocks of a table.

    Parameters
    ----------
    data : Dataset
        The table.
    form : {"plain", "scaled", "ordered", "rank"}
        What becomes of numbers, and with "ordered" and "rank" of levels in an order: their normal scores.

    Examples
    --------
    >>> data = Dataset.of({"a": [1.0, 5.0, 2.0, 4.0, 3.0, 0.0], "b": ["x", "y", "z", "x", "z", "y"]})
    >>> blocks_of(data).starts.tolist()
    [0, 1, 3]
    """
    return data.kept(("blocks", form), lambda: _expanded(data, form))


def _expanded(data: Dataset, form: Form) -> Blocks:
    values = data.values()
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    made: list[NDArray[np.float64]] = []  # columns that the table has not, and where they and the others stand
    at: list[int] = []
    own: list[int] = []
    starts, names = [0], list[str]()
    expanded = [v for v, kind in enumerate(data.kinds) if kind is not Kind.CONTINUOUS or form != "plain"]
    sources = dict(zip(expanded, np.ascontiguousarray(values[:, expanded].T), strict=True))
    for v, (name, kind) in enumerate(zip(data.names, data.kinds, strict=True)):
        if v not in sources:
            own.append(v)
            width = 1
        else:
            block = _block(sources[v], kind, form, weights, name)
            width = len(block)
            at.extend(range(starts[-1], starts[-1] + width))
            made.extend(block)
        starts.append(starts[-1] + width)
        names.extend([name] if width == 1 else [f"{name} ({i + 1})" for i in range(width)])
    first = np.array(starts, dtype=np.int32)
    if any(data.missing):
        called = tuple(names[c] for c in (*first[own].tolist(), *at))
        mean, covariance = em_moments(np.column_stack([values[:, own], *made]), called, weights)
    else:
        mean, covariance = _joint(data.moments, own, values, made, weights)
    order = np.argsort([*first[own].tolist(), *at], kind="stable")
    moments = Moments(tuple(names), data.moments.n, mean, covariance, data.moments.n_effective)
    return Blocks(data.names, first, replace(moments.take(order.tolist()), names=tuple(names)))


def _joint(
    known: Moments,
    own: list[int],
    values: NDArray[np.float64],
    made: list[NDArray[np.float64]],
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and covariance of columns of the table, known already, and of others that were made."""
    k, n = len(own), len(values)
    rows = np.array(made).reshape(len(made), n)
    total = float(n) if weights is None else float(weights.sum())
    mean = np.concatenate([known.mean[own], (rows.sum(axis=1) if weights is None else rows @ weights) / total])
    roots = None if weights is None else np.sqrt(weights)[:, None]
    if roots is not None:
        rows *= roots.T
    across, buffer = np.zeros((len(made), values.shape[1])), np.empty((min(_PIECE, n), values.shape[1]))
    for start in range(0, n, _PIECE):  # so that what is centred is still at hand when it is multiplied
        piece = slice(start, start + _PIECE)
        centred = np.subtract(values[piece], known.mean, out=buffer[: n - start])
        if roots is not None:
            centred *= roots[piece]
        across += rows[:, piece] @ centred
    across = across[:, own] / total
    inside = rows @ rows.T / total - np.outer(mean[k:], mean[k:])  # of columns near 0 and 1: nothing is lost
    return mean, np.block([[known.covariance[np.ix_(own, own)], across.T], [across, inside]])


def _block(
    values: NDArray[np.float64],
    kind: Kind,
    form: Form,
    weights: NDArray[np.float64] | None,
    name: str,
) -> list[NDArray[np.float64]]:
    there = ~np.isnan(values)
    if not there.all():  # scores and levels of what is there; a gap is one in each column of the block
        seen = None if weights is None else weights[there]
        made = np.full((len(block := _block(values[there], kind, form, seen, name)), len(values)), np.nan)
        made[:, there] = block
        return list(made)
    if kind is Kind.CONTINUOUS and form != "rank":
        return [scaled(values, weights)]
    if kind is Kind.CONTINUOUS or (kind is Kind.ORDINAL and form != "scaled" and form != "plain"):
        return [normal_scores(values, weights)]
    return indicators(values.astype(np.intp), weights, name)


def indicators(
    codes: NDArray[Any], weights: NDArray[np.float64] | None = None, name: str = "a column"
) -> list[NDArray[np.float64]]:
    """Return an indicator for each level that has rows, but the most frequent one, and one for those with one row.

    Examples
    --------
    >>> [column.tolist() for column in indicators(np.array([2, 0, 2, 0, 2, 1]))]
    [[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]
    """
    counts = np.bincount(codes, weights)
    held = np.flatnonzero(counts > 0)
    if len(held) < 2:
        raise DataError(f"the column {name!r} has one category in all rows: drop it")
    lone = lone_levels(np.bincount(codes))  # also in a resample, which counts rows by their weights
    left_out = held[np.argmax(np.where(np.isin(held, lone), 0.0, counts[held]))]
    made = [(codes == level).astype(np.float64) for level in held if level != left_out and level not in lone]
    together = [level for level in lone if counts[level] > 0]
    shared = len(lone) > 1 and together
    return [*made, np.isin(codes, together).astype(np.float64)] if shared or not made else made


def normal_scores(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the normal quantiles of the ranks: the same for every monotone scale of a column.

    The rank of a value is the weight of what is smaller plus half the weight of what is equal, so that ties have one
    score, and the scores of two values stand for any two values.

    Examples
    --------
    >>> normal_scores(np.array([10.0, 1000.0, 20.0])).round(2).tolist()
    [-0.97, 0.97, 0.0]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    mass = counts.astype(np.float64) if weights is None else np.bincount(place, weights, minlength=len(counts))
    below = np.cumsum(mass) - mass
    share = (below + mass / 2) / mass.sum()
    scores: NDArray[np.float64] = special.ndtri(np.clip(share, 1e-12, 1 - 1e-12))[place]
    return scores


def reliability(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Return the share of the variance of a normal number that is left if only its ties are seen; 1 without any.

    Examples
    --------
    >>> round(reliability(np.repeat([0.0, 1.0], 500)), 3), round(reliability(np.arange(1000.0)), 3)
    (0.637, 1.0)
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    mass = counts.astype(np.float64) if weights is None else np.bincount(place, weights, minlength=len(counts))
    if len(counts) == len(values):
        return 1.0
    share = mass[mass > 0] / mass.sum()
    cuts = special.ndtri(np.clip(np.cumsum(share)[:-1], 1e-12, 1 - 1e-12))
    density = np.concatenate([[0.0], np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi), [0.0]])
    return min(float((np.diff(density) ** 2 / share).sum()), 1.0)


def behind_ties(data: Dataset) -> Moments | None:
    """Return the moments of the normal numbers that columns with ties are coarse readings of; None without ties.

    A count that is the rounded reading of a number does not separate what that number separates. In the first order the
    correlation of two readings is that of the numbers times the roots of their reliabilities. Columns with few values
    (a reliability below ``LEAST_RELIABLE``) are left as they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=5000)
    >>> data = Dataset.of({"a": np.round(a), "b": a + rng.normal(size=5000)})
    >>> [round(float(m.correlation()[0, 1]), 2) for m in (blocks_of(data, "rank").moments, behind_ties(data))]
    [0.68, 0.71]
    """
    weights = None if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    shares = np.array([reliability(column, weights) for column in data.values().T])
    shares[shares < LEAST_RELIABLE] = 1.0
    if (shares > 1 - 1e-3).all():
        return None
    seen = blocks_of(data, "rank").moments
    covariance = np.asarray(seen.correlation()) / np.sqrt(np.outer(shares, shares))
    np.fill_diagonal(covariance, 1.0)
    usable = float(np.linalg.eigvalsh(covariance)[0]) > 1e-3
    return replace(seen, covariance=covariance) if usable else None


def scaled(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None = None, far_out: float = FAR_OUT
) -> NDArray[np.float64]:
    """Return numbers as they are, or their normal scores where some of them lie far out, or they are skewed counts.

    Examples
    --------
    >>> scaled(np.array([0.0, 1.0, 2.0])).tolist(), scaled(np.arange(9.0) ** 9).round(1).tolist()
    ([0.0, 1.0, 2.0], [-1.6, -1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0, 1.6])
    """
    share = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    left = values - share @ values
    fourth, square = float(share @ left**4), float(share @ left**2)
    far = fourth > far_out * square**2 or is_skewed_count(values, weights)
    return normal_scores(values, weights) if far else values


def is_skewed_count(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> bool:
    """Tell whether whole numbers that begin at 0 or 1 are skewed to the right, and many rows share theirs with others.

    Examples
    --------
    >>> visits = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 5.0, 1.0, 0.0, 0.0])
    >>> is_skewed_count(visits), is_skewed_count(5 - visits), is_skewed_count(visits + 0.5)
    (True, False, False)
    """
    if values.min() > 1 or not is_count(values) or 3 * len(np.unique(values)) > len(values):
        return False
    left = values - np.average(values, weights=weights)
    square, third = (float(np.average(left**power, weights=weights)) for power in (2, 3))
    return bool(third > _SKEWED * square**1.5)


def is_count(values: NDArray[np.float64]) -> bool:
    """Tell whether all numbers are whole, and none is negative.

    Examples
    --------
    >>> is_count(np.array([0.0, 3.0, 1.0])), is_count(np.array([0.5, 3.0])), is_count(np.array([-1.0, 3.0]))
    (True, False, False)
    """
    return bool(values.min() >= 0 and (values == np.floor(values)).all())
