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
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.moments import SMALL, Moments
from lmarvel.data.rows import add_scatter, centred, means, merge, mirror, within
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
        rows: NDArray[np.float64] | None = None  # where they are few enough to be centred at once
        if weights is None and len(self.names) > SMALL:
            here = means(batch, self.origin)
        elif weights is None:
            rows, here = centred(batch, self.origin, passing=True)
        else:
            rows = np.subtract(batch, self.origin, order="C")
            here = weights @ rows / weights.sum()
            rows -= here
        if not _finite(here):
            self._count_gaps(batch, here)
        if not self.gaps and rows is None:
            self._add_many_columns(batch, here)
        elif not self.gaps and rows is not None:
            self._merge(rows, here, weights)
        self.total += len(batch) if weights is None else float(weights.sum())
        self.squares += len(batch) if weights is None else float(weights @ weights)

    def _count_gaps(self, batch: NDArray[np.float64], here: Vector) -> None:
        self.missing += np.isnan(batch).sum(axis=0)
        self.infinite += np.isinf(batch).sum(axis=0)
        self.gaps = bool(self.missing.any() or self.infinite.any())
        if not self.gaps:
            culprit = self.names[int(np.argmin(np.isfinite(here)))]
            raise DataError(f"the values of {culprit!r} are too large: rescale the column")

    def _merge(self, centred: NDArray[np.float64], here: Vector, weights: Vector | None) -> None:
        if weights is not None:
            centred *= np.sqrt(weights)[:, None]
        product = centred.T @ centred
        self._note_variation(product.diagonal(), lambda flat: centred[:, flat])
        more = len(centred) if weights is None else float(weights.sum())
        self.mean, self.scatter = _merged(self.total, self.mean, self.scatter, more, here, product)
        if not self.all_vary:
            self.varies |= self.scatter.diagonal() != 0  # batches may differ in their means only

    def _add_many_columns(self, batch: NDArray[np.float64], here: Vector) -> None:
        n, m = float(self.total), len(batch)
        if not len(self.scatter):
            self.scatter = np.zeros((len(here), len(here)))
        shift = here - self.mean if n else np.zeros(len(here))
        add_scatter(self.scatter, batch, self.origin, here, shift * math.sqrt(n * m / (n + m)))
        self._note_variation(self.scatter.diagonal(), lambda flat: (batch[:, flat] - self.origin[flat]) - here[flat])
        self.mean = self.mean + shift * (m / (n + m)) if n else here

    def _note_variation(self, squares: Vector, centred: Callable[[NDArray[np.intp]], NDArray[np.float64]]) -> None:
        """Note which columns vary; what is constant may be too small to square."""
        if within(squares, 0.0, np.inf):
            self.all_vary = True
            return
        flat = np.flatnonzero(squares == 0)
        self.varies |= squares != 0
        self.varies[flat] |= (centred(flat) != 0).any(axis=0)

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
    n: float,
    mean: Vector,
    scatter: NDArray[np.float64],
    m: float,
    here: Vector,
    product: NDArray[np.float64],
) -> tuple[Vector, NDArray[np.float64]]:
    """Add a batch of weight m with mean ``here`` and centred product to the rows so far, of weight n."""
    if n == 0:
        return here, product
    shift = here - mean
    merge(scatter, product, shift * (n * m / (n + m)), shift)
    return mean + shift * (m / (n + m)), scatter
