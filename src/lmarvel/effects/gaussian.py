"""A formula evaluated for a Gaussian: the slope of E[y | do(x)] from a covariance matrix.

Each expression is exp(-v' K v / 2) up to a constant, over all variables, with as many zeros in K as it has variables
that it does not depend on. A product adds the matrices, a quotient subtracts them, an integral takes the Schur
complement. The mean of y as a function of x can be read off the K of the result. Means are not needed: a slope does
not depend on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmarvel.effects.formula import Density, Formula, Product, Quotient, Sum
from lmarvel.graph.paths import members

Matrix = NDArray[np.float64]


def slope(formula: Formula, covariance: Matrix, x: int, y: int) -> float:
    """Return how much the mean of y changes with x, for a formula that is a distribution of y.

    Examples
    --------
    >>> from lmarvel.effects.formula import Density
    >>> cov = np.array([[1.0, 0.5], [0.5, 2.0]])
    >>> slope(Density(0b10, 0b01), cov, 0, 1)
    0.5
    """
    scale = 1 / np.sqrt(np.diag(covariance))  # correlations are better conditioned
    form = _form(formula, covariance * np.outer(scale, scale))
    return float(-form[y, x] / form[y, y] * scale[x] / scale[y])


def _form(formula: Formula, covariance: Matrix) -> Matrix:
    if isinstance(formula, Density):
        return _density(list(members(formula.of)), list(members(formula.given)), covariance)
    if isinstance(formula, Product):
        return np.asarray(sum(_form(factor, covariance) for factor in formula.factors))
    if isinstance(formula, Quotient):
        return _form(formula.top, covariance) - _form(formula.bottom, covariance)
    assert isinstance(formula, Sum)
    return _integrated(_form(formula.body, covariance), list(members(formula.over)))


def _density(of: list[int], given: list[int], covariance: Matrix) -> Matrix:
    """Return the form of P(of | given): that of the residuals of the regression."""
    form = np.zeros_like(covariance)
    block = covariance[np.ix_(of, of)]
    if given:
        between = covariance[np.ix_(given, of)]
        coefficients = np.linalg.solve(covariance[np.ix_(given, given)], between)
        block = block - between.T @ coefficients
    precision = np.linalg.inv(block)
    form[np.ix_(of, of)] = precision
    if given:
        cross = coefficients @ precision
        form[np.ix_(given, of)] = -cross
        form[np.ix_(of, given)] = -cross.T
        form[np.ix_(given, given)] = cross @ coefficients.T
    return form


def _integrated(form: Matrix, over: list[int]) -> Matrix:
    rest = [v for v in range(len(form)) if v not in set(over)]
    result = np.zeros_like(form)
    across = form[np.ix_(over, rest)]
    result[np.ix_(rest, rest)] = form[np.ix_(rest, rest)] - across.T @ np.linalg.solve(form[np.ix_(over, over)], across)
    return result
