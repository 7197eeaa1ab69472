"""Moments in one pass, in bounded memory and without loss of digits.

The textbook formula, the mean of the squares less the square of the mean, loses every digit where the mean is large: at
a mean of 1e9 and a deviation of 1 nothing is left of 16 digits. So the first row is subtracted from all, each
batch of m rows is centred on its own mean, and its scatter S (the sum of outer products of centred rows) is merged with
that of the n rows so far by the rule of Chan, Golub & LeVeque (1983, Algorithms for computing the sample variance)

    S = S_n + S_m + (nm / (n + m)) d dᵀ,    mean = mean_n + (m / (n + m)) d,    d = mean_m - mean_n,

in which only small numbers meet. A constant column has a variance of exactly zero. With weights n and m are sums of
weights, and rows are multiplied by the roots of theirs before products are taken; a row of weight zero is left out.

The last term of S is the product of one more row, d times the root of nm / (n + m). Where there are many columns, a
batch and that row are added to the lower triangle of S as they are multiplied, and the upper one is filled in the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.moments import SMALL, Moments
from lmarvel.data.rows import add_scatter, means, merge, mirror, scatter_of, within
from lmarvel.errors import DataError, UnusableError

Vector = NDArray[np.float64]


class Running:
    """The moments of the rows so far."""

    def __init__(self, names: tuple[str, ...]) -> None:
        p = len(names)
        self.names = names
        self.n = 0
        self.total: float = 0  # of the weights, the number of rows where there are none
        self.squares = 0.0  # of the weights
        self.origin, self.mean = np.zeros(p), np.zeros(p)
        self.scatter: NDArray[np.float64] = np.zeros((0, 0))  # of the rows so far, once there are any
        self.missing, self.infinite = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
        self.gaps = False  # whether any value is missing or infinite
        self.all_vary = False  # whether all columns are known to vary; else see which
        self.varies: NDArray[np.bool_] = np.zeros(p, dtype=bool)

    def add(self, batch: NDArray[np.float64], weights: Vector | None = None) -> None:
        """Add a batch of rows; once one had gaps, only gaps are counted."""
        self.n += len(batch)
        if weights is not None:
            batch, weights = batch[weights > 0], weights[weights > 0]
            if not len(batch):
                return
        if self.total == 0:
            self.origin = batch[0].copy() if _finite(batch[0]) else np.where(np.isfinite(batch[0]), batch[0], 0.0)
        here = means(batch, self.origin) if weights is None else weights @ (batch - self.origin) / weights.sum()
        if not _finite(here):
            self._count_gaps(batch, here)
        if not self.gaps:
            self._merge(batch, here, weights)
        self.total += len(batch) if weights is None else float(weights.sum())
        self.squares += len(batch) if weights is None else float(weights @ weights)

    def _count_gaps(self, batch: NDArray[np.float64], here: Vector) -> None:
        self.missing += np.isnan(batch).sum(axis=0)
        self.infinite += np.isinf(batch).sum(axis=0)
        self.gaps = bool(self.missing.any() or self.infinite.any())
        if not self.gaps:
            culprit = self.names[int(np.argmin(np.isfinite(here)))]
            raise DataError(f"the values of {culprit!r} are too large: rescale the column")

    def _merge(self, batch: NDArray[np.float64], here: Vector, weights: Vector | None) -> None:
        n, m = float(self.total), len(batch) if weights is None else float(weights.sum())
        if weights is None and len(here) > SMALL:
            self._add_many_columns(batch, here)
        else:
            product = self._scatter(batch, here, weights)
            self._note_variation(batch, here, product.diagonal())
            self.scatter = _merged(n, self.scatter, m, here - self.mean, product)
        self._note_variation(batch, here, self.scatter.diagonal())  # batches may differ in their means only
        self.mean = self.mean + (here - self.mean) * (m / (n + m)) if n else here

    def _scatter(self, batch: NDArray[np.float64], here: Vector, weights: Vector | None) -> NDArray[np.float64]:
        if weights is None:
            return scatter_of(batch, self.origin, here)
        rows = (batch - self.origin) - here
        rows *= np.sqrt(weights)[:, None]
        return np.asarray(rows.T @ rows)

    def _add_many_columns(self, batch: NDArray[np.float64], here: Vector) -> None:
        n, m = float(self.total), len(batch)
        if not len(self.scatter):
            self.scatter = np.zeros((len(here), len(here)))
        shift = (here - self.mean) * math.sqrt(n * m / (n + m))  # nothing at the first batch
        add_scatter(self.scatter, batch, self.origin, here, shift)

    def _note_variation(self, batch: NDArray[np.float64], here: Vector, squares: Vector) -> None:
        """Note which columns vary: those whose squares do not vanish, or that are too small to square."""
        if self.all_vary or within(squares, 0.0, np.inf):
            self.all_vary = True
            return
        flat = np.flatnonzero(squares == 0)
        self.varies |= squares != 0
        self.varies[flat] |= ((batch[:, flat] - self.origin[flat]) - here[flat] != 0).any(axis=0)

    def finish(self) -> Moments:
        """Return the moments, or refuse what no test can be run on; the scatter is overwritten by the covariance."""
        self._refuse_unusable()
        variance = self.scatter.diagonal() / self.total
        if not within(variance, 1e-300, 1e300):
            culprit = self.names[int(np.argmin((variance > 1e-300) & (variance < 1e300)))]
            raise DataError(f"the variance of {culprit!r} is out of range: rescale the column")
        covariance, self.scatter = self.scatter, np.zeros((0, 0))
        if len(self.names) > SMALL:
            mirror(covariance, self.total)
        else:
            covariance /= self.total
        effective = float(self.total) ** 2 / self.squares
        return Moments(self.names, self.n, self.origin + self.mean, covariance, effective)

    def _refuse_unusable(self) -> None:
        if self.n == 0:
            raise DataError("the table has no rows, only column names")
        if self.gaps and self.missing.any():
            gaps = np.flatnonzero(self.missing)
            raise UnusableError(
                f"missing values in {len(gaps)} of {len(self.names)} columns: {self._counts(gaps, self.missing)}. Drop"
                ' those rows (missing="drop"), let EM find the moments (missing="em"), or leave those columns out'
            )
        if self.gaps:
            which = self._counts(np.flatnonzero(self.infinite), self.infinite)
            raise UnusableError(f"infinite values in {which}: replace them or drop those rows")
        if self.n == 1:
            raise DataError("the table has one row: independence cannot be tested on it")
        if not (self.all_vary or self.varies.all()):
            constant = np.flatnonzero(~self.varies)
            which = _listed([repr(self.names[i]) for i in constant[: _NAMED + 1]])
            raise UnusableError(f"constant column {which}: it can be neither cause nor effect here, drop it")

    def _counts(self, columns: NDArray[np.intp], counts: NDArray[np.int64]) -> str:
        return _listed([f"{self.names[i]!r} ({counts[i]})" for i in columns[: _NAMED + 1]])


def _finite(numbers: Vector) -> bool:
    return within(numbers, -np.inf, np.inf)


_NAMED = 20  # columns, in a message


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_NAMED]) + ", ..." * (len(words) > _NAMED)


def _merged(
    n: float, scatter: NDArray[np.float64], m: float, shift: Vector, product: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add the scatter of a batch of weight m to that of the rows so far, of weight n, whose means differ by a shift."""
    if n == 0:
        return product
    merge(scatter, product, shift * (n * m / (n + m)), shift)
    return scatter
