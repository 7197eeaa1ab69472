"""Moments of a table with gaps: the maximum of the Gaussian likelihood of what was observed, by EM.

With o the observed and m the missing columns of a row, the E step fills x_m with its expectation given x_o and adds the
conditional covariance of x_m to the scatter; the M step takes mean and covariance of the filled rows (Dempster, Laird &
Rubin 1977; Little & Rubin 2019, section 11.2). In terms of the inverse covariance K the two are

    E(x_m | x_o) = mean_m - K_mm⁻¹ K_mo (x_o - mean_o),    cov(x_m | x_o) = K_mm⁻¹,

so that only blocks of missing columns are inverted, all patterns of as many gaps in one call. Values have to be missing
at random: whether one is missing may depend on what was observed, not on the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.errors import UnusableError
from lmarvel.text import listing

Matrix = NDArray[np.float64]
_ENOUGH = 1e-8  # change of a correlation, or of a mean in deviations, in one step
_MOST_STEPS = 2000
_ROWS_A_PATTERN = 2  # times the columns: with more rows per pattern, sums of these take less time than the rows
_RIDGE = 1e-12  # so that combinations of columns do not end the search; they are refused by name afterwards


class _Gaps(NamedTuple):
    """The rows with a number of gaps: their patterns (the missing columns of each), and which row has which."""

    rows: NDArray[np.intp]
    patterns: NDArray[np.intp]
    which: NDArray[np.intp]
    weight: Matrix  # of each pattern


def em_moments(
    rows: Matrix, names: tuple[str, ...], weights: NDArray[np.float64] | NDArray[np.int64] | None = None
) -> tuple[Matrix, Matrix]:
    """Return mean and covariance (divided by n) that make what was observed most likely.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan], [4.0, 6.0], [np.nan, 1.0]])
    >>> mean, covariance = em_moments(rows, ("a", "b"))
    >>> mean.round(2).tolist()
    [2.02, 3.57]
    """
    centre, scale = _standard(rows, names)
    weighing = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = (weighing > 0) & ~np.isnan(rows).all(axis=1)  # a row without values says nothing
    standard, share = (rows[kept] - centre) / scale, weighing[kept] / weighing[kept].sum()
    sums = _Sums.of(standard, share)
    gaps = _by_number(standard, share) if sums is None else []
    mean, covariance = np.zeros(rows.shape[1]), np.eye(rows.shape[1])  # as if columns were independent
    clock = current()
    for _ in range(_MOST_STEPS):
        clock.check()
        if sums is None:
            new_mean, new_covariance = _step(standard, share, gaps, mean, covariance)
        else:
            new_mean, new_covariance = sums.step(mean, covariance)
        change = max(np.abs(new_mean - mean).max(), np.abs(new_covariance - covariance).max())
        mean, covariance = new_mean, new_covariance
        if change < _ENOUGH:
            break
    return mean * scale + centre, covariance * np.outer(scale, scale)


class _Sums:
    """Weights, sums and products of the rows of each pattern of gaps: where patterns are few, all that a step needs."""

    def __init__(self, lacking: NDArray[np.bool_], weight: Matrix, sums: Matrix, products: Matrix) -> None:
        self.seen, self.weight, self.sums, self.products = ~lacking, weight, sums, products
        self.both = (self.seen[:, :, None] & self.seen[:, None, :]).astype(np.float64)

    @classmethod
    def of(cls, rows: Matrix, share: Matrix) -> _Sums | None:
        """Add up the rows of each pattern; None where patterns are too many to be worth it."""
        (n, p), gaps = rows.shape, np.isnan(rows)
        packed, which = np.unique(np.packbits(gaps, axis=1), axis=0, return_inverse=True)
        if len(packed) * p * _ROWS_A_PATTERN > n:
            return None
        order, ends = np.argsort(which.reshape(-1), kind="stable"), np.cumsum(np.bincount(which.reshape(-1)))
        groups = np.split(order, ends[:-1])
        filled = np.nan_to_num(rows)
        sums = np.array([share[at] @ filled[at] for at in groups])
        products = np.array([(filled[at] * share[at, None]).T @ filled[at] for at in groups])
        return cls(gaps[[at[0] for at in groups]], np.array([share[at].sum() for at in groups]), sums, products)

    def step(self, mean: Matrix, covariance: Matrix) -> tuple[Matrix, Matrix]:
        """Do what :func:`_step` does with the rows themselves."""
        p = len(mean)
        precision = np.linalg.inv(covariance + _RIDGE * np.eye(p))
        missing = ~self.seen
        inside = missing[:, :, None] & missing[:, None, :]
        blocks = np.linalg.inv(np.where(inside, precision, np.eye(p))) * inside  # of the missing columns
        fill = self.seen[:, :, None] * np.eye(p) - blocks @ precision * self.seen[:, None, :]
        at = self.seen * mean
        shifts = self.sums - self.weight[:, None] * at
        cross = self.sums[:, :, None] * at[:, None, :]
        centred = (
            self.products
            - cross
            - cross.transpose(0, 2, 1)
            + self.weight[:, None, None] * (at[:, :, None] * at[:, None, :])
        )
        shift = np.einsum("kij,kj->i", fill, shifts)
        scatter = (fill @ (centred * self.both) @ fill.transpose(0, 2, 1)).sum(axis=0)
        left = np.einsum("k,kij->ij", self.weight, blocks)
        return mean + shift, scatter + left - np.outer(shift, shift)


def observed_pairs(rows: Matrix) -> float:
    """Return the mean share of rows in which both columns of a pair were observed.

    Examples
    --------
    >>> observed_pairs(np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 1.0], [np.nan, 1.0]]))
    0.5
    """
    seen = (~np.isnan(rows)).astype(np.float64)
    p = rows.shape[1]
    both = seen.T @ seen
    return float((both.sum() - np.trace(both)) / (p * (p - 1) * len(rows)))


def _standard(rows: Matrix, names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """Return mean and deviation of what was observed of each column, so that steps are in comparable units."""
    seen = ~np.isnan(rows)
    empty = [name for i, name in enumerate(names) if not seen[:, i].any()]
    if empty:
        raise UnusableError(f"column {', '.join(map(repr, empty[:20]))} has no values at all: leave it out")
    if np.isinf(rows).any():
        culprit = names[int(np.argmax(np.isinf(rows).any(axis=0)))]
        raise UnusableError(f"infinite values in {culprit!r}: replace them or drop those rows")
    centre, scale = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    flat = [name for i, name in enumerate(names) if not scale[i] > 0]
    if flat:
        one = len(flat) == 1
        raise UnusableError(
            f"column{'s' * (not one)} {listing(map(repr, flat), 20)} {'is' if one else 'are'} constant: drop"
            f" {'it' if one else 'them'}"
        )
    return centre, scale


def _by_number(rows: Matrix, share: Matrix) -> list[_Gaps]:
    """Put rows with as many gaps together, and find the patterns among them."""
    gaps = np.isnan(rows)
    numbers = gaps.sum(axis=1)
    found = []
    for k in np.unique(numbers[numbers > 0]).tolist():
        at = np.flatnonzero(numbers == k)
        missing = np.nonzero(gaps[at])[1].reshape(-1, k)
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        weight = np.asarray(np.bincount(which.reshape(-1), share[at], minlength=len(patterns)), dtype=np.float64)
        found.append(_Gaps(at, patterns, which.reshape(-1), weight))
    return found


def _step(rows: Matrix, share: Matrix, gaps: list[_Gaps], mean: Matrix, covariance: Matrix) -> tuple[Matrix, Matrix]:
    """Fill the gaps as expected under the present moments, and take the moments of the filled rows."""
    precision = np.linalg.inv(covariance + _RIDGE * np.eye(len(mean)))
    filled = np.nan_to_num(rows - mean)
    left = np.zeros_like(covariance)
    for at, patterns, which, weight in gaps:
        blocks = np.linalg.inv(precision[patterns[:, :, None], patterns[:, None, :]])
        np.add.at(left, (patterns[:, :, None], patterns[:, None, :]), weight[:, None, None] * blocks)
        pull = np.take_along_axis(filled[at] @ precision, patterns[which], axis=1)
        filled[at[:, None], patterns[which]] = -np.einsum("rij,rj->ri", blocks[which], pull)
    shift = share @ filled
    centred = (filled - shift) * np.sqrt(share)[:, None]
    return mean + shift, centred.T @ centred + left


# --- completed tables ---------------------------------------------------------------------------------------


def imputed(values: Matrix, sizes: Sequence[int], number: int, seed: int) -> Iterator[Matrix]:
    """Iterate over so many completed tables: every gap gets a value that what was observed in its row makes likely.

    Moments are found by EM on a resample of the rows for each table, so that tables differ by what is not known of the
    moments, too (Honaker & King 2010). Numbers are drawn from their normal distribution given the rest of the row, and
    categories by their linear chances.

    Parameters
    ----------
    values : array
        Numbers, or codes 0, 1, ... of categories; NaN where a value is missing.
    sizes : sequence of int
        The number of categories of each column, 0 for numbers.
    number, seed : int
        How many tables, and what they are drawn from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> table = np.column_stack([a, a + 0.1 * rng.normal(size=200)])
    >>> table[:50, 1] = np.nan
    >>> [bool(np.corrcoef(whole.T)[0, 1] > 0.98) for whole in imputed(table, [0, 0], 2, seed=1)]
    [True, True]
    """
    blocks, columns = [], 0
    for size in sizes:
        blocks.append(list(range(columns, columns + max(size - 1, 1))))
        columns += len(blocks[-1])
    wide = np.column_stack([_indicators(column, size) for column, size in zip(values.T, sizes, strict=True)])
    varying = np.nanstd(wide, axis=0) > 0
    patterns, which = np.unique(np.isnan(values), axis=0, return_inverse=True)
    names, clock = tuple(map(str, range(columns))), current()
    for i in range(number):
        rng = np.random.default_rng([seed, i])
        drawn = np.bincount(rng.integers(0, len(wide), len(wide)), minlength=len(wide))
        if not _all_vary(wide[drawn > 0][:, varying]):
            drawn = np.ones(len(wide), dtype=np.int64)
        mean, covariance = np.nanmean(wide, axis=0), np.eye(columns)
        at = np.ix_(varying, varying)
        mean[varying], covariance[at] = em_moments(wide[:, varying], tuple(np.array(names)[varying].tolist()), drawn)
        whole = wide.copy()
        done = values.copy()
        for k, lacking in enumerate(patterns):
            clock.check()
            rows = np.flatnonzero(which.reshape(-1) == k)
            known = [c for v in np.flatnonzero(~lacking) for c in blocks[v]]
            for v in np.flatnonzero(lacking).tolist():
                done[rows, v] = _drawn(whole, rows, known, blocks[v], sizes[v], mean, covariance, rng)
                known += blocks[v]
        yield done


def _all_vary(rows: Matrix) -> bool:
    with np.errstate(all="ignore"):
        return bool((np.nanstd(rows, axis=0) > 0).all()) if len(rows) else False


def _indicators(column: Matrix, size: int) -> Matrix:
    """Return a column of numbers, or the indicators of all categories but the first, with gaps where it has them."""
    if not size:
        return column[:, None]
    return np.where(np.isnan(column)[:, None], np.nan, column[:, None] == np.arange(1, max(size, 2)))


def _drawn(
    whole: Matrix,
    rows: NDArray[np.intp],
    known: list[int],
    block: list[int],
    size: int,
    mean: Matrix,
    covariance: Matrix,
    rng: np.random.Generator,
) -> Matrix:
    """Draw the values of a variable in rows that lack it, given columns that are known; write them as columns, too."""
    expected = np.tile(mean[block], (len(rows), 1))
    left = covariance[np.ix_(block, block)]
    if known:
        ridge = _RIDGE * np.diag(np.diag(covariance)[known])
        slopes = np.linalg.lstsq(
            covariance[np.ix_(known, known)] + ridge, covariance[np.ix_(known, block)], rcond=None
        )[0]
        expected += (whole[rows[:, None], known] - mean[known]) @ slopes
        left = left - covariance[np.ix_(block, known)] @ slopes
    if not size:
        values = expected[:, 0] + np.sqrt(max(float(left[0, 0]), 0.0)) * rng.normal(size=len(rows))
        whole[rows, block[0]] = values
        return np.asarray(values)
    chances = np.column_stack([1 - expected.sum(axis=1), expected]).clip(1e-6, None)
    edges = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
    codes = (rng.random(len(rows))[:, None] > edges[:, :-1]).sum(axis=1).astype(np.float64)
    whole[rows[:, None], block] = codes[:, None] == np.arange(1, max(size, 2))
    return np.asarray(codes)
