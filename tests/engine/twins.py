"""The same run twice: by the engine, and by the readable code on the same tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lmarvel import Discovery, FisherZ, LMarvel, Moments
from lmarvel.estimators.base import PagEstimator
from tests.generators import random_study


class Readable(FisherZ):
    """Fisher's z test that the engine leaves alone: the single tests are the same, the method is the readable one."""

    def reordered(self, order: Sequence[int]) -> Readable:
        return Readable(self.moments.take(order), compiled=self.compiled)


def population(rng: np.random.Generator, observed: int, latent: int, selection: int, degree: float, heavy: bool) -> Any:
    """Return the covariance of the observed variables of a random linear model, given the selection ones."""
    study = random_study(rng, observed, latent, selection, degree, heavy)
    names = study.dag.names
    q = len(names)
    weights = np.zeros((q, q))
    for y, x in zip(*np.nonzero((study.dag.marks == 2).T), strict=True):
        weights[y, x] = rng.uniform(0.3, 1.2) * rng.choice([-1, 1])
    inner = np.linalg.inv(np.eye(q) - weights)
    whole = inner @ np.diag(rng.uniform(0.5, 1.5, q)) @ inner.T
    hidden = {*study.latent, *study.selection}
    seen = [i for i, name in enumerate(names) if name not in hidden]
    given = [i for i, name in enumerate(names) if name in study.selection]
    if not given:
        return whole[np.ix_(seen, seen)]
    between = whole[np.ix_(seen, given)]
    return whole[np.ix_(seen, seen)] - between @ np.linalg.solve(whole[np.ix_(given, given)], between.T)


def moments(rng: np.random.Generator, covariance: Any, n: int, exact: bool) -> Moments:
    """Return the moments of n rows of such variables, or those of the population itself."""
    p = len(covariance)
    if not exact:
        rows = rng.multivariate_normal(np.zeros(p), covariance, size=n)
        covariance = np.cov(rows.T, bias=True).reshape(p, p)
    return Moments(tuple(f"V{i}" for i in range(p)), n, np.zeros(p), covariance)


@st.composite
def tables(draw: st.DrawFn, most: int) -> Moments:
    """Tables of random linear models with latent and selection variables, of few rows or many."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    observed = draw(st.integers(2, most))
    shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from([0.8, 1.5, 3.0, 5.0]), st.booleans()))
    n = draw(st.sampled_from([6, 12, 30, 100, 500, 3000, 10**6]))
    return moments(rng, population(rng, observed, *shape), n, exact=n == 10**6)


def assert_same(
    table: Moments, compiled: bool, method: Callable[..., PagEstimator] = LMarvel, **params: Any
) -> Discovery:
    """Hold the engine against the readable code; with the compiled search p-values are the same to the last bit."""
    quick = method(test=FisherZ(table), **params).fit().result_
    slow = method(test=Readable(table, compiled=compiled), **params).fit().result_
    assert quick.pag == slow.pag
    assert (quick.unaided, quick.knowledge) == (slow.unaided, slow.knowledge)
    assert quick.undecided == slow.undecided
    assert quick.budget_ended == slow.budget_ended
    assert quick.stats.tests == slow.stats.tests
    assert list(quick.stats.tests) == list(slow.stats.tests)
    assert quick.boundaries == slow.boundaries
    assert quick.sepsets == slow.sepsets
    assert {**quick.settings, "test": ""} == {**slow.settings, "test": ""}
    assert len(quick.trace) == len(slow.trace)
    for one, other in zip(quick.trace, slow.trace, strict=True):
        assert type(one) is type(other)
        for a, b in zip(astuple(one), astuple(other), strict=True):
            assert a == b or (
                not compiled and isinstance(a, float) and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-200)
            )
    return quick
