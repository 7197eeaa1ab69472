"""The moments of a table (number of rows, means, covariance): all that Gaussian tests need of the data.

They are taken in one pass by :mod:`lmarvel.data.running`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.rows import correlation_of, lower_inverse, mirror
from lmarvel.errors import UnusableError

_COLLINEAR = 1e-10  # a column whose variance given the others is below this share of its own is determined by them
SMALL = 400  # variables: up to here NumPy is quick enough, SciPy need not be loaded, and nothing is overwritten


@dataclass(frozen=True)
class Moments:
    """Number of rows, means and covariance (divided by n) of named columns.

    Where rows have weights, ``mean`` and ``covariance`` are weighted, ``n`` is still the number of rows, and
    ``n_effective`` is Kish's (sum w)² / sum w², the number of rows of equal weight that tell as much; else it is n.

    Examples
    --------
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

    def precision(self, correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse of the correlation matrix; collinear columns are refused by name."""
        return inverse_of(self.check_collinear(correlation))

    def check_collinear(self, correlation: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the lower Cholesky factor; refuse columns that are combinations of others, and name them.

        Without a matrix the correlations are worked out here, and the factor takes their place in memory.
        """
        own = correlation is None
        correlation = self.correlation() if correlation is None else correlation
        factor, bad = _cholesky(correlation, overwrite=own)
        pivots = factor.diagonal() ** 2
        weak = np.flatnonzero(pivots[:bad] < _COLLINEAR)
        k = int(weak[0]) if weak.size else bad
        if k < len(self.names):
            self._refuse_collinear(self.correlation() if own else correlation, k)
        return factor

    def _refuse_collinear(self, correlation: NDArray[np.float64], k: int) -> None:
        weights = np.linalg.lstsq(correlation[:k, :k], correlation[:k, k], rcond=None)[0]
        used = np.flatnonzero(np.abs(weights) > 1e-6 * max(np.abs(weights).max(initial=0.0), 1e-300))
        others = ", ".join(repr(self.names[i]) for i in used)
        raise UnusableError(
            f"the column {self.names[k]!r} is determined by {others}: together they are collinear. Drop one of them"
        )


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
    from scipy.linalg import lapack

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
    from scipy.linalg import lapack

    # LAPACK works by columns: the upper factor of the transpose is our lower one, without a copy.
    factor, info = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=overwrite)
    return np.asarray(factor.T), p if info == 0 else int(info) - 1


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
    data : array, mapping, frame, path, Dataset or Moments
        See :meth:`lmarvel.Dataset.of`, as for the other parameters; this is ``Dataset.of(...).moments``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> m = moments_of(rng.normal(loc=1e9, size=(1000, 3)))
    >>> bool(abs(m.covariance[0, 0] - 1) < 0.2)
    True
    """
    from lmarvel.data.dataset import Dataset  # which rests on this module

    return Dataset.of(data, names, columns, drop, separator).moments
