"""The moments of resamples of one table, at about the price of one product of the table with itself each.

A resample weights each row by how often it was drawn. With rows centred once on the means of the whole table, the
weighted means m are small, and nothing is lost by the textbook formula

    covariance = (sum of w x xᵀ) / (sum of w) - m mᵀ,

so that a resample needs one pass over the rows that were drawn (two thirds of them) and one product of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.rows import gram
from lmarvel.errors import DataError

SCHEMES = ("multinomial", "poisson")


class Resampling:
    """Resamples of a table, told by a seed and their number: no state, so threads may share it.

    Parameters
    ----------
    data : Dataset or anything that one can be made of
        The table, which is kept in memory once more, centred.
    clusters : sequence, optional
        What each row belongs to, where the table does not say: clusters are drawn whole.
    scheme : {"multinomial", "poisson"}
        Draw as many rows (or clusters) as there are, or each a number of times of its own, 1 on average.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> drawn = Resampling(rng.normal(size=(500, 3)))
    >>> int(drawn.weights(seed=1, replicate=7).sum()), drawn.moments(seed=1, replicate=7).n
    (500, 500)
    """

    def __init__(self, data: object, clusters: ArrayLike | None = None, scheme: str = "multinomial") -> None:
        if scheme not in SCHEMES:
            raise DataError(f"a scheme of resampling is one of {', '.join(SCHEMES)}, not {scheme!r}")
        dataset = Dataset.of(data)
        moments = dataset.moments
        self.names, self.n, self.scheme = dataset.names, moments.n, scheme  # n: the effective number, where weighted
        self._given: NDArray[np.float64] | None = None
        if dataset.weights is not None:
            self._given = np.asarray(dataset.weights / dataset.weights.mean(), dtype=np.float64)
        self._mean = moments.mean
        self._rows = np.ascontiguousarray(dataset.rows() - moments.mean)
        self._codes, self._groups = self._coded(dataset.clusters if clusters is None else clusters)

    def _coded(self, clusters: ArrayLike | None) -> tuple[NDArray[np.intp] | None, int]:
        if clusters is None:
            return None, len(self._rows)
        given = np.asarray(clusters)
        if given.shape != (len(self._rows),):
            rows = f"the {len(self._rows)} rows"
            raise DataError(f"must name one for each of {rows}, not be of shape {given.shape}", parameter="clusters")
        values, codes = np.unique(given, return_inverse=True)
        if len(values) < 2:
            raise DataError("all rows are of one cluster: at least 2 are needed to draw from")
        return codes.reshape(-1), len(values)

    def weights(self, seed: int, replicate: int) -> NDArray[np.int64]:
        """Return how often each row is drawn in a resample; the same for the same numbers."""
        rng = np.random.default_rng([seed, replicate])
        if self.scheme == "poisson":
            counts = rng.poisson(1.0, self._groups)
        else:
            counts = np.bincount(rng.integers(0, self._groups, self._groups), minlength=self._groups)
        return np.asarray(counts if self._codes is None else counts[self._codes], dtype=np.int64)

    def moments(self, seed: int, replicate: int) -> Moments:
        """Return the moments of a resample, as ``Dataset.of(table, weights=...).moments`` does from all rows."""
        weights = self.weights(seed, replicate)
        drawn = np.flatnonzero(weights)
        if not drawn.size:
            raise DataError(f"resample {replicate} of seed {seed} has no rows: the table is too small to resample")
        kept = weights[drawn].astype(np.float64)
        if self._given is not None:
            kept *= self._given[drawn]
        rows, total = self._rows.take(drawn, axis=0), float(kept.sum())
        here = kept @ rows / total
        rows *= np.sqrt(kept)[:, None]
        covariance = gram(rows)
        covariance /= total
        covariance -= here[:, None] * here
        effective = total**2 / float(kept @ kept)
        return Moments(self.names, self.n, self._mean + here, covariance, effective)


class FilledResampling(Resampling):
    """Resamples of a table with missing values: of each the moments that EM finds around the gaps.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(200, 2))
    >>> table[:40, 1] = np.nan
    >>> FilledResampling(Dataset.of(table)).moments(seed=1, replicate=7).n
    160
    """

    def __init__(self, data: Dataset) -> None:
        self.names, self._data = data.names, data

    def moments(self, seed: int, replicate: int) -> Moments:
        """Return the moments of a resample."""
        return self._data.resample([seed, replicate]).moments


class NormalResampling(Resampling):
    """Resamples behind which there are no rows: covariances of normal tables of as many rows (a parametric bootstrap).

    The scatter of n such rows is L A Aᵀ Lᵀ (Bartlett 1933): L is the Cholesky factor of the covariance, and A a lower
    triangle of normal numbers, with roots of chi-squared ones of n - 1, n - 2, ... degrees of freedom on its diagonal.

    Examples
    --------
    >>> drawn = NormalResampling(Dataset.of(Moments.of([[1.0, 0.5], [0.5, 1.0]], 400)))
    >>> drawn.moments(seed=1, replicate=7).n
    400
    """

    def __init__(self, data: Dataset) -> None:
        self._whole = data.moments
        self.names, self.n = self._whole.names, self._whole.n
        self._factor = np.linalg.cholesky(self._whole.covariance)

    def moments(self, seed: int, replicate: int) -> Moments:
        """Return the moments of a resample."""
        generator, p = np.random.default_rng([seed, replicate]), len(self.names)
        root = np.tril(generator.standard_normal((p, p)), -1)
        np.fill_diagonal(root, np.sqrt(generator.chisquare(self.n - 1 - np.arange(p))))
        root = self._factor @ root
        return Moments(self.names, self.n, self._whole.mean, root @ root.T / self.n)
