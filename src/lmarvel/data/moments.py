"""The moments of a table (number of rows, means, covariance): all that Gaussian tests need of the data.

:class:`Running` takes them in one pass, in bounded memory and without loss of digits. The textbook formula, the mean of
the squares less the square of the mean, loses every digit where the mean is large: at a mean of 1e9 and a deviation of
1 nothing is left of 16 digits. So the first row is subtracted from all, each batch of m rows is centred on its own
mean, and its scatter S (the sum of outer products of centred rows) is merged with that of the n rows so far by the rule
of Chan, Golub & LeVeque (1983, Algorithms for computing the sample variance)

    S = S_n + S_m + (nm / (n + m)) d dᵀ,    mean = mean_n + (m / (n + m)) d,    d = mean_m - mean_n,

in which only small numbers meet. A constant column has a variance of exactly zero. With weights n and m are sums of
weights, and rows are multiplied by the roots of theirs before products are taken; a row of weight zero is left out.

The last term of S is the product of one more row, d times the root of nm / (n + m). Where there are many columns, a
batch and that row are added to the lower triangle of S as they are multiplied, and the upper one is filled in the end.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.matrix import checked_matrix, checked_mean, checked_rows, indefinite, named_matrix
from lmarvel.data.rows import add_scatter, correlation_of, lower_inverse, means, merge, mirror, scatter_of, within
from lmarvel.deferred import late
from lmarvel.errors import DataError, Determined, UnusableError

lapack = late("scipy.linalg.lapack")


_COLLINEAR = 1e-10  # a column whose variance given the others is below this share of its own is determined by them
SMALL = 400  # variables: up to here NumPy is quick enough, SciPy need not be loaded, and nothing is overwritten


@dataclass(frozen=True)
class Moments:
    """Number of rows, means and covariance (divided by n) of named columns.

    Where rows have weights, ``mean`` and ``covariance`` are weighted, and ``n`` is still the number of rows.
    ``n_effective`` is then Kish's (sum w)² / sum w², the number of rows of equal weight with as much information; else
    it is n.

    Examples
    --------
    >>> from lmarvel import moments_of
    >>> m = moments_of({"a": [1.0, 2.0, 3.0, 6.0], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> m.n, m.n_effective, m.mean.tolist(), float(m.covariance[0, 0])
    (4, 4.0, [3.0, 0.5], 3.5)
    """

    names: tuple[str, ...]
    n: int
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    n_effective: float = 0.0

    def __post_init__(self) -> None:
        if not self.n_effective:
            object.__setattr__(self, "n_effective", float(self.n))

    @classmethod
    def of(
        cls, matrix: Any, n: Any, names: Sequence[str] | None = None, *, mean: Any = None, correlation: bool = False
    ) -> Moments:
        """Return the moments that a covariance or correlation matrix and the number of rows behind it are.

        Parameters
        ----------
        matrix : array, frame, mapping or path
            The covariance or correlation matrix of all columns. One triangle is enough where the other is empty. A
            covariance may be divided by n or by n - 1: nothing that is learned depends on it.
        n : int
            The number of rows that it was computed from, above the number of columns.
        names : sequence of str, optional
            The names of the columns, where the matrix has none.
        mean : sequence of float, optional
            The means of the columns. Graphs and effects do not depend on them; by default they are 0.
        correlation : bool
            Refuse a matrix whose diagonal is not 1.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> r = [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
        >>> print(LMarvel().fit(Moments.of(r, 12_000, ["A", "B", "C"])).pag_)
        nodes: A B C
        A o-> B
        C o-> B
        """
        called, found = named_matrix(matrix, names)
        rows = checked_rows(n, len(called))
        covariance = checked_matrix(called, found, correlation)
        made = cls(called, rows, checked_mean(mean, len(called)), covariance)
        try:
            made.check_usable(made.correlation())
        except Determined as error:
            raise indefinite(called, made.correlation(), error.culprit) or error from None
        return made

    def fingerprint(self) -> str:
        """Return a digest of the names and of all bits of the numbers."""
        digest = hashlib.blake2b(json.dumps([self.names, self.n, self.n_effective]).encode(), digest_size=8)
        for array in (self.mean, self.covariance):
            digest.update(np.ascontiguousarray(array, dtype="<f8").data)
        return digest.hexdigest()

    def correlation(self) -> NDArray[np.float64]:
        """Return the correlation matrix."""
        return correlation_of(self.covariance)

    def take(self, order: Sequence[int]) -> Moments:
        """Return the moments with these columns, in this order."""
        chosen = np.asarray(order, dtype=np.intp)
        covariance = np.ascontiguousarray(self.covariance[chosen[:, None], chosen])
        names = tuple(map(self.names.__getitem__, order))
        return Moments(names, self.n, self.mean[chosen], covariance, self.n_effective)

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

    def check_usable(self, correlation: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Refuse columns that are copies of each other, and those that others determine, by name.

        With no more rows than columns some columns always determine the others, in the sample only; so then copies
        alone are looked for. (Rows of a resample repeat: their rank is at most the number of different ones, which is
        never below ``n_effective``.) Where that was looked for, the Cholesky factor is returned.
        """
        self.check_duplicates(correlation)
        return self.check_collinear(correlation) if self.n_effective > len(self.names) else None

    def check_duplicates(self, correlation: NDArray[np.float64]) -> None:
        """Refuse columns that are copies of each other, up to scale and sign."""
        for start in range(0, len(self.names), 256):
            stripe = np.abs(correlation[start : start + 256]) >= 1 - 1e-12
            for i, j in np.argwhere(stripe):
                if start + i < j:
                    pair = f"{self.names[start + i]!r} and {self.names[j]!r}"
                    raise UnusableError(
                        f"the columns {pair} are copies of each other (correlation ±1): drop one of them"
                    )

    def never_singular(self) -> NDArray[np.float64]:
        """Return the correlation matrix; where columns determine others, as if one row more had them uncorrelated.

        A score then finds that such columns belong together, and does not have to refuse them.
        """
        correlation = self.correlation()
        factor, bad = _cholesky(correlation)
        if bad == len(correlation) and factor.diagonal().min() ** 2 > _COLLINEAR:
            return correlation
        correlation *= self.n / (self.n + 1)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    def precision(self, correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse of the correlation matrix; collinear columns are refused by name."""
        return inverse_of(self.check_collinear(correlation))

    def check_collinear(
        self, correlation: NDArray[np.float64] | None = None, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the lower Cholesky factor; refuse columns that are combinations of others, and name them.

        Without a matrix the correlations are worked out here, and the factor takes their place in memory. ``names``
        has what people call the columns, where several belong to one variable.
        """
        own = correlation is None
        correlation = self.correlation() if correlation is None else correlation
        factor, bad = _cholesky(correlation, overwrite=own)
        pivots = factor.diagonal() ** 2
        weak = np.flatnonzero(pivots[:bad] < _COLLINEAR)
        k = int(weak[0]) if weak.size else bad
        if k < len(self.names):
            shown = self.names if names is None else names
            others = determining(self.correlation() if own else correlation, k)
            raise Determined(shown[k], [shown[i] for i in others])
        return factor


def determining(correlation: NDArray[np.float64], k: int) -> list[int]:
    """Return the columns before column k of which it is a combination.

    Examples
    --------
    >>> determining(np.corrcoef([[1.0, 2, 3, 4], [2, 1, 1, 3], [0, 3, 1, 1], [3, 3, 4, 7]]), 3)
    [0, 1]
    """
    weights = np.abs(np.linalg.lstsq(correlation[:k, :k], correlation[:k, k], rcond=None)[0])
    return [int(i) for i in np.flatnonzero(weights > 1e-6 * max(weights.max(initial=0.0), 1e-300))]


def inverse_of(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a matrix from its lower Cholesky factor; a large one is overwritten.

    Examples
    --------
    >>> inverse_of(np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
    [[0.5, -0.5], [-0.5, 1.0]]
    """
    if factor.shape[0] <= SMALL:
        inverse = lower_inverse(factor)
        return np.asarray(inverse.T @ inverse)
    precision, _ = lapack.dpotri(factor.T, lower=0, overwrite_c=1)
    return mirror(precision.T)


def _cholesky(matrix: NDArray[np.float64], overwrite: bool = False) -> tuple[NDArray[np.float64], int]:
    """Return the lower factor, and the first row at which the matrix is not positive definite (p if none)."""
    p = matrix.shape[0]
    if p <= SMALL:
        try:
            return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64), p
        except np.linalg.LinAlgError:
            pass
    # LAPACK works by columns: the upper factor of the transpose is our lower one, without a copy.
    factor, info = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=overwrite)
    return np.asarray(factor.T), p if info == 0 else int(info) - 1


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
                f"missing values in {len(gaps)} of {len(self.names)} columns: {self._counts(gaps, self.missing)}. Let"
                ' each test use the rows that it can (missing="test-wise"), drop rows (missing="drop"), let EM find the'
                ' moments (missing="em"), or leave those columns out'
            )
        if self.gaps:
            which = self._counts(np.flatnonzero(self.infinite), self.infinite)
            raise UnusableError(f"infinite values in {which}: replace them or drop those rows")
        if self.n == 1:
            raise DataError("the table has one row: independence cannot be tested on it")
        if not (self.all_vary or self.varies.all()):
            constant = np.flatnonzero(~self.varies)
            which = _listed([repr(self.names[i]) for i in constant[: _NAMED + 1]], " and ")
            one = len(constant) == 1
            raise UnusableError(
                f"column{'s' * (not one)} {which} {'is' if one else 'are'} constant: drop {'it' if one else 'them'}"
            )

    def _counts(self, columns: NDArray[np.intp], counts: NDArray[np.int64]) -> str:
        return _listed([f"{self.names[i]!r} ({counts[i]})" for i in columns[: _NAMED + 1]])


def _finite(numbers: Vector) -> bool:
    return within(numbers, -np.inf, np.inf)


_NAMED = 20  # columns, in a message


def _listed(words: Sequence[str], last: str = ", ") -> str:
    """Return words with commas between them, of many the first; ``last`` stands before the last of few."""
    if len(words) > _NAMED:
        return ", ".join(words[:_NAMED]) + ", ..."
    return last.join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _merged(
    n: float, scatter: NDArray[np.float64], m: float, shift: Vector, product: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add the scatter of a batch of weight m to that of the rows so far, of weight n, whose means differ by a shift."""
    if n == 0:
        return product
    merge(scatter, product, shift * (n * m / (n + m)), shift)
    return scatter
