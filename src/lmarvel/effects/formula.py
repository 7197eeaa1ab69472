"""Formulas for effects: an expression tree over the distribution of the data, as text, as LaTeX, and as a number.

The leaves are conditional distributions P(a | b) of the data; the rest are products, quotients and sums (integrals,
for what is measured on a scale). Variables are positions, in bit sets; names come in when a formula is written.

For a Gaussian, :func:`slope` evaluates a formula: how E[y | do(x)] changes with x, from a covariance matrix. Each
expression is exp(-v' K v / 2) up to a constant, over all variables, with as many zeros in K as it has variables that it
does not depend on. A product adds the matrices, a quotient subtracts them, an integral takes the Schur complement. The
mean of y as a function of x can be read off the K of the result. Means are not needed: a slope does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.graph.bitsets import members

Independent = Callable[[int, int, int], bool]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Formula:
    """What all expressions share: the variables that they are a distribution of, and those that they depend on.

    Attributes
    ----------
    of : int
        The variables whose distribution it is.
    given : int
        The variables that it is a function of beside them.
    """

    of: int
    given: int

    def text(self, names: Sequence[str]) -> str:
        """Return the formula as plain text."""
        return _write(self, names, _TEXT)

    def latex(self, names: Sequence[str]) -> str:
        """Return the formula as LaTeX, without dollar signs."""
        return _write(self, names, _LATEX)


@dataclass(frozen=True)
class Density(Formula):
    """P(of | given), read off the data."""


@dataclass(frozen=True)
class Product(Formula):
    """The product of its factors."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True)
class Quotient(Formula):
    """One expression over another."""

    top: Formula
    bottom: Formula


@dataclass(frozen=True)
class Sum(Formula):
    """The sum (or integral) of an expression over the values of ``over``."""

    over: int
    body: Formula


# --- building ---------------------------------------------------------------------------------------------


def product(factors: Sequence[Formula]) -> Formula:
    """Multiply; factors that are products themselves are flattened, and those of nothing left out."""
    flat: list[Formula] = []
    for factor in factors:
        flat += factor.factors if isinstance(factor, Product) else [factor] * (factor.of != 0)
    if len(flat) < 2:
        return flat[0] if flat else Density(0, 0)
    of = _union(f.of for f in flat)
    return Product(of, _union(f.given for f in flat) & ~of, tuple(flat))


def quotient(top: Formula, bottom: Formula, of: int) -> Formula:
    """Divide, and cancel what stands above and below; what results is a distribution of ``of``."""
    above, below = _factors(top), _factors(bottom)
    for factor in list(below):
        if factor in above:
            above.remove(factor)
            below.remove(factor)
    if not below:
        return product(above)
    top, bottom = product(above), product(below)
    return Quotient(of, (top.given | bottom.given | top.of | bottom.of) & ~of, top, bottom)


def _factors(formula: Formula) -> list[Formula]:
    if isinstance(formula, Product):
        return list(formula.factors)
    return [formula] if formula.of else []


def marginal(formula: Formula, of: int) -> Formula:
    """Return the distribution of ``of`` alone: everything else that the formula is a distribution of is summed out."""
    over = formula.of & ~of
    if not over:
        return formula
    if isinstance(formula, Density):
        return Density(of, formula.given)
    if isinstance(formula, Product):
        return _marginal_product(formula, over)
    if isinstance(formula, Sum):
        return Sum(of, formula.given, formula.over | over, formula.body)
    return Sum(of, formula.given, over, formula)


def conditional(formula: Formula, of: int, given: int) -> Formula:
    """Return the distribution of ``of`` given the values of ``given``, in the distribution that the formula is."""
    if isinstance(formula, Density):
        return Density(of, formula.given | given)
    return quotient(marginal(formula, of | given), marginal(formula, given), of) if given else marginal(formula, of)


def _marginal_product(formula: Product, over: int) -> Formula:
    """Sum over a product: a factor that alone holds a summed variable, and as what it is of, loses it without a sum."""
    factors = list(formula.factors)
    changed = True
    while changed:
        changed = False
        for i, factor in enumerate(factors):
            elsewhere = _union(f.of | f.given for j, f in enumerate(factors) if j != i)
            free = over & factor.of & ~elsewhere
            if free and isinstance(factor, Density):
                over &= ~free
                left = Density(factor.of & ~free, factor.given)
                factors[i : i + 1] = [left] if left.of else []
                changed = True
                break
    body = product(factors)
    return Sum(formula.of & ~over & body.of, body.given, over, body) if over else body


def simplified(formula: Formula, independent: Independent) -> Formula:
    """Leave out of each conditional distribution what makes no difference, and sum out what then stands alone.

    ``independent(a, b, c)`` tells whether a and b are independent given c, in every distribution that is asked about.
    """
    if isinstance(formula, Density):
        conditions = formula.given
        for v in members(conditions):
            if independent(formula.of, 1 << v, conditions & ~(1 << v)):
                conditions &= ~(1 << v)
        return Density(formula.of, conditions)
    if isinstance(formula, Product):
        return product([simplified(factor, independent) for factor in formula.factors])
    if isinstance(formula, Quotient):
        return quotient(simplified(formula.top, independent), simplified(formula.bottom, independent), formula.of)
    assert isinstance(formula, Sum)
    body = simplified(formula.body, independent)
    return marginal(body, body.of & ~formula.over)


def _union(sets: Iterable[int]) -> int:
    result = 0
    for nodes in sets:
        result |= nodes
    return result


# --- writing ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Style:
    """How the parts of a formula are written."""

    bar: str
    sum_of: str
    over: str
    times: str
    name: str


_TEXT = _Style(" | ", "sum_{{{0}}} ", "[{0}] / [{1}]", " ", "{0}")
_LATEX = _Style(r" \mid ", r"\sum_{{{0}}} ", r"\frac{{{0}}}{{{1}}}", r"\, ", r"\text{{{0}}}")


def _write(formula: Formula, names: Sequence[str], style: _Style) -> str:
    """Write a formula. A variable that is summed over where it also has a value from outside gets a prime."""

    def listed(nodes: int, primes: Mapping[int, int]) -> str:
        return ", ".join(style.name.format(_escaped(names[v], style)) + "'" * primes.get(v, 0) for v in members(nodes))

    def write(f: Formula, scope: int, primes: Mapping[int, int]) -> str:
        if isinstance(f, Density):
            condition = style.bar + listed(f.given, primes) if f.given else ""
            return f"P({listed(f.of, primes)}{condition})" if f.of else "1"
        if isinstance(f, Product):
            parts = [(g, write(g, scope, primes)) for g in f.factors]
            return style.times.join(f"({text})" if isinstance(g, Sum) else text for g, text in parts)
        if isinstance(f, Quotient):
            return style.over.format(write(f.top, scope, primes), write(f.bottom, scope, primes))
        assert isinstance(f, Sum)
        inside = {**primes, **{v: primes.get(v, 0) + 1 for v in members(f.over & scope)}}
        return style.sum_of.format(listed(f.over, inside)) + write(f.body, scope | f.over, inside)

    return write(formula, formula.of | formula.given, {})


_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}


def _escaped(name: str, style: _Style) -> str:
    return "".join(_SPECIAL.get(c, c) for c in name) if style is _LATEX else name


# --- the value for a Gaussian -----------------------------------------------------------------------------


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


def variables(formula: Formula) -> int:
    """Return all variables that stand anywhere in a formula."""
    if isinstance(formula, Density):
        return formula.of | formula.given
    if isinstance(formula, Quotient):
        return variables(formula.top) | variables(formula.bottom)
    if isinstance(formula, Sum):
        return variables(formula.body)
    assert isinstance(formula, Product)
    result = 0
    for factor in formula.factors:
        result |= variables(factor)
    return result
