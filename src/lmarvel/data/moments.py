"""The moments of a table (number of rows, means, covariance), from one pass in bounded memory.

The first row is subtracted from all, batches are centred on their own means, and merged (Chan, Golub & LeVeque
1983), so a column with mean 1e9 and standard deviation 1 loses nothing, and a constant one has a variance of exactly
zero. All that Gaussian tests need of the data is here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.table import Table, open_table
from lmarvel.errors import DataError

_BATCH_BYTES = 64 << 20
_COLLINEAR = 1e-10  # a column whose variance given the others is below this share of its own is determined by them


@dataclass(frozen=True)
class Moments:
    """Number of rows, means and covariance (divided by n) of named columns.

    Examples
    --------
    >>> m = moments_of({"a": [1.0, 2.0, 3.0, 6.0], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> m.n, m.mean.tolist(), float(m.covariance[0, 0])
    (4, [3.0, 0.5], 3.5)
    """

    names: tuple[str, ...]
    n: int
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]

    def correlation(self) -> NDArray[np.float64]:
        """Return the correlation matrix."""
        scale = 1 / np.sqrt(np.diag(self.covariance))
        matrix = self.covariance * scale
        matrix *= scale[:, None]
        np.clip(matrix, -1.0, 1.0, out=matrix)
        np.fill_diagonal(matrix, 1.0)
        return matrix

    def take(self, order: Sequence[int]) -> Moments:
        """Return the moments with these columns, in this order."""
        chosen = np.asarray(order)
        covariance = np.ascontiguousarray(self.covariance[np.ix_(chosen, chosen)])
        return Moments(tuple(self.names[v] for v in order), self.n, self.mean[chosen], covariance)

    def summary(self) -> dict[str, Any]:
        """Return rows, mean and standard deviation of each column, and a fingerprint of the table, as plain data.

        The fingerprint rests on eight digits of these numbers, so it is the same on every machine.
        """
        deviation = np.sqrt(np.diag(self.covariance))
        columns = [
            {"name": name, "mean": float(f"{m:.8g}"), "sd": float(f"{s:.8g}")}
            for name, m, s in zip(self.names, self.mean.tolist(), deviation.tolist(), strict=True)
        ]
        text = json.dumps([self.n, [list(column.values()) for column in columns]], ensure_ascii=True)
        return {"rows": self.n, "fingerprint": hashlib.sha256(text.encode()).hexdigest()[:16], "columns": columns}

    def check_duplicates(self, correlation: NDArray[np.float64]) -> None:
        """Refuse columns that are copies of each other, up to scale and sign."""
        for start in range(0, len(self.names), 256):
            stripe = np.abs(correlation[start : start + 256]) >= 1 - 1e-12
            if np.count_nonzero(stripe) == len(stripe):
                continue  # the diagonal only
            for i, j in np.argwhere(stripe):
                if start + i < j:
                    pair = f"{self.names[start + i]!r} and {self.names[j]!r}"
                    raise DataError(f"the columns {pair} are copies of each other (correlation ±1): drop one of them")

    def precision(self, correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse of the correlation matrix; collinear columns are refused by name."""
        factor = self.check_collinear(correlation)
        if factor.shape[0] <= _SMALL:
            inverse = np.linalg.inv(factor)
            return np.asarray(inverse.T @ inverse)
        from scipy.linalg import lapack

        precision, _ = lapack.dpotri(factor.T, lower=0, overwrite_c=1)
        return np.asarray(_mirrored(precision).T)  # symmetric: the transpose only puts rows first in memory

    def check_collinear(self, correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the lower Cholesky factor; refuse columns that are combinations of others, and name them."""
        factor, bad = _cholesky(correlation)
        pivots = np.diag(factor) ** 2
        weak = np.flatnonzero(pivots[:bad] < _COLLINEAR)
        k = int(weak[0]) if weak.size else bad
        if k < len(self.names):
            self._refuse_collinear(correlation, k)
        return factor

    def _refuse_collinear(self, correlation: NDArray[np.float64], k: int) -> None:
        weights = np.linalg.lstsq(correlation[:k, :k], correlation[:k, k], rcond=None)[0]
        used = np.flatnonzero(np.abs(weights) > 1e-6 * max(np.abs(weights).max(initial=0.0), 1e-300))
        others = ", ".join(repr(self.names[i]) for i in used)
        raise DataError(
            f"the column {self.names[k]!r} is determined by {others}: together they are collinear. Drop one of them"
        )


_SMALL = 400  # up to here NumPy is quick enough, and SciPy need not be loaded


def _cholesky(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return the lower factor, and the first row at which the matrix is not positive definite (p if none)."""
    p = matrix.shape[0]
    if p <= _SMALL:
        try:
            return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64), p
        except np.linalg.LinAlgError:
            pass
    from scipy.linalg import lapack

    # LAPACK works by columns: the upper factor of the transpose is our lower one, without a copy.
    factor, info = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=0)
    return np.asarray(factor.T), p if info == 0 else int(info) - 1


def _mirrored(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy the upper triangle to the lower one, in stripes."""
    p = upper.shape[0]
    for start in range(0, p, 512):
        stop = min(start + 512, p)
        upper[stop:, start:stop] = upper[start:stop, stop:].T
        block = upper[start:stop, start:stop]
        below = np.tril_indices(stop - start, -1)
        block[below] = block.T[below]
    return upper


def moments_of(
    data: Any,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
) -> Moments:
    """Compute the moments of a table in one pass; refuse what no test can be run on, and say what it is.

    Parameters
    ----------
    data : array, mapping, frame, path or Table
        See :func:`lmarvel.data.table.open_table`, as for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> m = moments_of(rng.normal(loc=1e9, size=(1000, 3)))
    >>> bool(abs(m.covariance[0, 0] - 1) < 0.2)
    True
    """
    table = data if isinstance(data, Table) else open_table(data, names, columns, drop, separator)
    running = _Running(table.names)
    with np.errstate(all="ignore"):  # what overflows is looked at, and named
        for batch in table.batches(max(_BATCH_BYTES // (8 * len(table.names)), 16)):
            running.add(batch)
        return running.finish()


class _Running:
    """The moments of the rows so far."""

    def __init__(self, names: tuple[str, ...]) -> None:
        p = len(names)
        self.names = names
        self.n = 0
        self.origin, self.mean, self.scatter = np.zeros(p), np.zeros(p), np.zeros((p, p))
        self.missing, self.infinite = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
        self.varies = np.zeros(p, dtype=bool)

    def add(self, batch: NDArray[np.float64]) -> None:
        """Add a batch of rows; once one had gaps, only gaps are counted."""
        if self.n == 0:
            self.origin = np.where(np.isfinite(batch[0]), batch[0], 0.0)
        shifted = np.subtract(batch, self.origin, order="C")
        here = shifted.mean(axis=0)
        if not np.isfinite(here).all():
            self.missing += np.isnan(batch).sum(axis=0)
            self.infinite += np.isinf(batch).sum(axis=0)
            if not (self.missing.any() or self.infinite.any()):
                culprit = self.names[int(np.argmin(np.isfinite(here)))]
                raise DataError(f"the values of {culprit!r} are too large: rescale the column")
        if not (self.missing.any() or self.infinite.any()):
            shifted -= here
            product = shifted.T @ shifted
            flat = np.flatnonzero(np.diag(product) == 0)  # constant here, or too small to square
            self.varies |= np.diag(product) != 0
            self.varies[flat] |= (shifted[:, flat] != 0).any(axis=0)
            self.mean, self.scatter = _merge(self.n, self.mean, self.scatter, len(batch), here, product)
            self.varies |= np.diag(self.scatter) != 0  # batches may differ in their means only
        self.n += len(batch)

    def finish(self) -> Moments:
        """Return the moments, or refuse what no test can be run on."""
        _refuse_unusable(self.names, self.n, self.missing, self.infinite, ~self.varies)
        covariance = self.scatter / self.n
        variance = np.diag(covariance)
        unscaled = ~((variance > 1e-300) & (variance < 1e300))
        if unscaled.any():
            culprit = self.names[int(np.argmax(unscaled))]
            raise DataError(f"the variance of {culprit!r} is out of range: rescale the column")
        return Moments(self.names, self.n, self.origin + self.mean, covariance)


def _merge(
    n: int,
    mean: NDArray[np.float64],
    scatter: NDArray[np.float64],
    m: int,
    here: NDArray[np.float64],
    product: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add a batch of m rows with mean ``here`` and centred product to the n rows so far."""
    if n == 0:
        return here, product
    scatter += product
    shift = here - mean
    scatter += np.outer(shift * (n * m / (n + m)), shift)
    return mean + shift * (m / (n + m)), scatter


def _refuse_unusable(
    names: tuple[str, ...],
    n: int,
    missing: NDArray[np.int64],
    infinite: NDArray[np.int64],
    constant: NDArray[np.bool_],
) -> None:
    if n == 0:
        raise DataError("the table has no rows, only column names")
    if missing.any():
        which = ", ".join(f"{names[i]!r} ({missing[i]})" for i in np.flatnonzero(missing)[:20])
        raise DataError(
            f"missing values in {np.count_nonzero(missing)} of {len(names)} columns: {which}. Drop those rows or"
            " columns, or impute them, first"
        )
    if infinite.any():
        which = ", ".join(f"{names[i]!r} ({infinite[i]})" for i in np.flatnonzero(infinite)[:20])
        raise DataError(f"infinite values in {which}: replace them or drop those rows")
    if n == 1:
        raise DataError("the table has one row: independence cannot be tested on it")
    if constant.any():
        which = ", ".join(repr(names[i]) for i in np.flatnonzero(constant)[:20])
        raise DataError(f"constant column {which}: it can be neither cause nor effect here, drop it")
