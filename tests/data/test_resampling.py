"""Moments of resamples are those of the rows drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmarvel import Dataset
from lmarvel.data.resampling import Resampling
from lmarvel.errors import DataError


def table(n: int = 60, p: int = 4) -> Any:
    rng = np.random.default_rng(3)
    return rng.normal(loc=1e6, size=(n, p)) @ rng.normal(size=(p, p))


@pytest.mark.parametrize("scheme", ["multinomial", "poisson"])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_the_moments_of_the_weighted_table(scheme: str, clustered: bool, weighted: bool) -> None:
    rows = table()
    own = np.random.default_rng(1).uniform(0.2, 3.0, size=60) if weighted else None
    clusters = np.arange(60) // 4 if clustered else None
    drawn = Resampling(Dataset.of(rows, weights=own), clusters, scheme)
    for replicate in range(5):
        weights = drawn.weights(9, replicate)
        found = drawn.moments(9, replicate)
        plain = Dataset.of(rows, weights=weights if own is None else weights * own).moments
        # A resample counts for as many rows as the table, however uneven its weights are.
        assert found.n == (60 if own is None else Dataset.of(rows, weights=own).moments.n)
        assert found.n_effective == pytest.approx(plain.n_effective)
        assert np.allclose(found.mean, plain.mean, rtol=1e-14)
        assert np.allclose(found.covariance, plain.covariance, rtol=1e-9, atol=1e-9)
        if clusters is not None:
            assert all(len(set(weights[clusters == c])) == 1 for c in range(15))


def test_the_rows_drawn_do_not_depend_on_the_order_of_replicates() -> None:
    drawn = Resampling(table())
    later = drawn.weights(0, 5)
    assert (drawn.weights(0, 4) != later).any()
    assert (drawn.weights(1, 5) != later).any()
    assert (Resampling(table()).weights(0, 5) == later).all()
    assert later.sum() == 60


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(DataError, match="one of multinomial, poisson, not 'jackknife'"):
        Resampling(table(), scheme="jackknife")
    with pytest.raises(DataError, match="one for each of the 60 rows"):
        Resampling(table(), clusters=[1, 2])
    with pytest.raises(DataError, match="all rows are of one cluster"):
        Resampling(table(), clusters=["a"] * 60)
    with pytest.raises(DataError, match="no rows behind moments"):
        Resampling(Dataset.of(table()).moments)
