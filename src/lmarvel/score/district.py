"""The Gaussian likelihood of one district given its parents: residual iterative conditional fitting, and Newton.

Let C be a district, D the district with its parents, and X_C = B X_D + eps, cov(eps) = Omega, with Omega_ij = 0
unless i = j or i <-> j. The graph has no directed cycle, so with A = I - B (rows C, columns D) minus two times the
log-likelihood per row of data is

    |C| log 2 pi + log det Omega + tr(Omega^-1 A S A'),

S the sample covariance of D. It is a sum over districts, each with parameters of its own, so districts can be
fitted one by one.

**One variable**: the regression on its parents, in closed form. Many larger districts fall apart into such
regressions, see :mod:`lmarvel.score.rewrite`.

**RICF** [1]_ goes through the variables of a district. With all else fixed, let Z = Omega_rr^-1 eps_r, r the
others; the equation of v becomes the regression of X_v on its parents and on the pseudo-variables Z_u, u a
spouse of v, whose coefficients are Omega_vu. Each such step raises the likelihood.

**Newton's method** finishes: RICF comes near the maximum in its first sweep, but then gains only a constant
factor a sweep, and on data that do not fit the graph it may need thousands. Where the Hessian is not positive
definite, its eigenvalues are replaced by their absolute values, which leads away from saddle points.

On data that are far from the graph and close to collinear the likelihood can have several maxima, and this finds
one of them (Drton & Richardson 2004, for two variables).

References
----------
.. [1] Drton, Eichler & Richardson, Computing maximum likelihood estimates in recursive linear models with
   correlated errors, Journal of Machine Learning Research 10 (2009).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import Degenerate
from lmarvel.graph.bitsets import members
from lmarvel.score.rewrite import Sets

Matrix = NDArray[np.float64]

LOG_2PI = math.log(2 * math.pi)
TOLERANCE = 1e-12  # how far from the maximum a fit may end, per row of data
MAX_ITERATIONS = 500
_DETERMINED = 1e-10  # a variable with less than this share of its variance left is determined by the others
_ROUNDING = 1e-8  # a step that promises less than this and gains nothing is lost in rounding


class Piece(NamedTuple):
    """The fit of a district that cannot be split: rows of A over ``order`` (members first), Omega, and the score."""

    order: list[int]
    A: Matrix
    Omega: Matrix
    score: float
    iterations: int
    converged: bool


def fit_piece(
    R: Matrix,
    district: list[int],
    parents: Sets,
    spouses: Sets,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Piece:
    """Fit a district by regression if it is a single variable, else by RICF and Newton's method.

    ``R`` is a correlation matrix: tolerances are in units of standard deviations.
    """
    if len(district) == 1:
        v = district[0]
        causes = list(members(parents[v]))
        coefficients, variance = regress(R, v, causes)
        A = np.concatenate([[1.0], -coefficients])[None, :]
        return Piece([v, *causes], A, np.array([[variance]]), LOG_2PI + math.log(variance) + 1.0, 0, True)
    problem = _Problem(R, district, parents, spouses)
    try:
        A, Omega = problem.start()
        problem.sweep(A, Omega)
        A, Omega, value, iterations, converged = problem.newton(A, Omega, tolerance, max_iterations)
    except Degenerate as error:
        raise Degenerate([problem.order[i] for i in error.variables]) from None
    except np.linalg.LinAlgError:
        raise Degenerate(problem.order) from None
    score = len(district) * LOG_2PI + value
    return Piece(problem.order, A, Omega, score, 1 + iterations, converged)


def regress(R: Matrix, v: int, causes: list[int]) -> tuple[Matrix, float]:
    """Return the coefficients of the regression of v on its causes, and the variance that is left.

    Examples
    --------
    >>> coefficients, variance = regress(np.array([[1.0, 0.6], [0.6, 1.0]]), 1, [0])
    >>> coefficients.round(12).tolist(), round(variance, 12)
    ([0.6], 0.64)
    """
    if not causes:
        return np.empty(0), float(R[v, v])
    factor, variance = _factor(R, v, causes)
    return np.asarray(np.linalg.solve(factor[:-1, :-1].T, factor[-1, :-1]), dtype=np.float64), variance


def residual_variance(R: Matrix, v: int, causes: list[int]) -> float:
    """Return the variance that is left of v by the regression on its causes.

    Examples
    --------
    >>> round(residual_variance(np.array([[1.0, 0.6], [0.6, 1.0]]), 1, [0]), 12)
    0.64
    """
    return _factor(R, v, causes)[1] if causes else float(R[v, v])


def _factor(R: Matrix, v: int, causes: list[int]) -> tuple[Matrix, float]:
    """Return the Cholesky factor of the causes and v, and the square of its last pivot: the variance left."""
    order = [*causes, v]
    try:
        factor: Matrix = np.asarray(np.linalg.cholesky(R[np.ix_(order, order)]), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise Degenerate(order) from None
    variance = float(factor[-1, -1]) ** 2
    if variance < _DETERMINED * R[v, v]:
        raise Degenerate(order)
    return factor, variance


class _Problem:
    """A district of several variables: its covariance, and where the free parameters stand in A and Omega."""

    def __init__(self, R: Matrix, district: list[int], parents: Sets, spouses: Sets) -> None:
        inside = 0
        above = 0
        for v in district:
            inside |= 1 << v
            above |= parents[v]
        self.order = [*district, *members(above & ~inside)]
        self.k = len(district)
        self.S: Matrix = R[np.ix_(self.order, self.order)]
        place = {v: i for i, v in enumerate(self.order)}
        self.parents = [[place[u] for u in members(parents[v])] for v in district]
        self.spouses = [[place[u] for u in members(spouses[v])] for v in district]
        # Coefficients stand at (heads, tails) of -A; covariances at (first, second) of Omega, diagonal first.
        self.heads = np.array([i for i, causes in enumerate(self.parents) for _ in causes], dtype=np.intp)
        self.tails = np.array([j for causes in self.parents for j in causes], dtype=np.intp)
        pairs = [(i, j) for i, others in enumerate(self.spouses) for j in others if i < j]
        diagonal = range(self.k)
        self.first = np.array([*diagonal, *(i for i, _ in pairs)], dtype=np.intp)
        self.second = np.array([*diagonal, *(j for _, j in pairs)], dtype=np.intp)
        self.weight = np.where(self.first == self.second, 0.5, 1.0)

    def start(self) -> tuple[Matrix, Matrix]:
        """Return separate regressions with uncorrelated residuals."""
        A = np.eye(self.k, len(self.order))
        Omega = np.zeros((self.k, self.k))
        for i, causes in enumerate(self.parents):
            coefficients, Omega[i, i] = regress(self.S, i, causes)
            A[i, causes] = -coefficients
        return A, Omega

    def sweep(self, A: Matrix, Omega: Matrix) -> None:
        """Update the equation of each variable once, as RICF does, in place."""
        S = self.S
        for v, (causes, spouses) in enumerate(zip(self.parents, self.spouses, strict=True)):
            rest = [u for u in range(self.k) if u != v]
            where = [u - (u > v) for u in spouses]
            inverse = np.linalg.inv(Omega[np.ix_(rest, rest)])[where]
            Z = inverse @ A[rest]  # the pseudo-variables of the spouses, as combinations of D
            ZS = Z @ S
            m = len(causes)
            gram = np.empty((m + len(spouses), m + len(spouses)))
            gram[:m, :m] = S[np.ix_(causes, causes)]
            gram[m:, :m] = ZS[:, causes]
            gram[:m, m:] = gram[m:, :m].T
            gram[m:, m:] = ZS @ Z.T
            moments = np.concatenate([S[causes, v], ZS[:, v]])
            solution = np.linalg.solve(gram, moments)
            omega = solution[m:]
            A[v, causes] = -solution[:m]
            Omega[v, spouses] = Omega[spouses, v] = omega
            # The variance of the residual, and what the other errors explain of eps_v: the block of the inverse.
            Omega[v, v] = S[v, v] - solution @ moments + omega @ inverse[:, where] @ omega

    def value(self, A: Matrix, Omega: Matrix) -> tuple[float, Matrix, Matrix]:
        """Return log det Omega + tr(Omega^-1 A S A'), Omega^-1 and A S; infinity if Omega is not a covariance."""
        try:
            root = np.linalg.cholesky(Omega)
        except np.linalg.LinAlgError:
            return math.inf, Omega, A
        inverse = np.linalg.inv(root)
        K = inverse.T @ inverse
        AS = A @ self.S
        return float(2 * np.log(root.diagonal()).sum() + np.vdot(K, AS @ A.T)), K, AS

    def newton(
        self, A: Matrix, Omega: Matrix, tolerance: float, max_iterations: int
    ) -> tuple[Matrix, Matrix, float, int, bool]:
        """Go down to the minimum by damped Newton steps; a step that promises less than the tolerance is the last."""
        value, K, AS = self.value(A, Omega)
        if not math.isfinite(value):
            raise np.linalg.LinAlgError
        for iteration in range(max_iterations):
            gradient, hessian = self.derivatives(A, K, AS)
            step = _downhill(gradient, hessian)
            promise = -float(gradient @ step)
            length = 1.0
            while True:
                there = self.moved(A, Omega, length * step)
                lower, K_there, AS_there = self.value(*there)
                if lower <= value - 1e-4 * length * promise:
                    break
                length /= 2
                if length < 1e-12 or (promise < _ROUNDING and length < 0.1):
                    return A, Omega, value, iteration, promise < _ROUNDING
            A, Omega = there
            value, K, AS = lower, K_there, AS_there
            if promise < tolerance:
                return A, Omega, value, iteration + 1, True
        return A, Omega, value, max_iterations, False

    def moved(self, A: Matrix, Omega: Matrix, step: Matrix) -> tuple[Matrix, Matrix]:
        """Return the parameters after a step."""
        m = len(self.heads)
        A, Omega = A.copy(), Omega.copy()
        A[self.heads, self.tails] -= step[:m]
        Omega[self.first, self.second] += step[m:]
        Omega[self.second, self.first] = Omega[self.first, self.second]
        return A, Omega

    def derivatives(self, A: Matrix, K: Matrix, AS: Matrix) -> tuple[Matrix, Matrix]:
        """Return gradient and Hessian in the coefficients and the covariances.

        With T = K A S and P = K A S A' K: d/dB = -2 T; d/dOmega = K - P along a symmetric direction E, that is
        tr((K - P) E); second derivatives 2 K (x) S, 2 K E T and tr(F K E (2 P - K)). A covariance moves along
        E = e_a e_b' + e_b e_a', a variance along half of that.
        """
        i, p, a, b, w = self.heads, self.tails, self.first, self.second, self.weight
        m = len(i)
        T = K @ AS
        P = T @ A.T @ K
        Y = 2 * P - K
        gradient = np.concatenate([-2 * T[i, p], 2 * w * (K - P)[a, b]])
        hessian = np.empty((len(gradient), len(gradient)))
        hessian[:m, :m] = 2 * K[i[:, None], i] * self.S[p[:, None], p]
        Ka, Kb, Ya, Yb = K[:, a], K[:, b], Y[:, a], Y[:, b]
        mixed = Ka[i] * T[b[None, :], p[:, None]] + Kb[i] * T[a[None, :], p[:, None]]
        hessian[:m, m:] = 2 * w * mixed
        hessian[m:, :m] = hessian[:m, m:].T
        curvature = Ka[b] * Yb[a] + Ka[a] * Yb[b] + Kb[b] * Ya[a] + Kb[a] * Ya[b]
        hessian[m:, m:] = w[:, None] * w * curvature
        return gradient, hessian


def _downhill(gradient: Matrix, hessian: Matrix) -> Matrix:
    """Return the Newton step, or where the function is not convex one with absolute curvatures."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(hessian))
        return np.asarray(-root.T @ (root @ gradient))
    except np.linalg.LinAlgError:
        curvature, axes = np.linalg.eigh(hessian)
        curvature = np.abs(curvature)
        curvature = np.maximum(curvature, 1e-10 * curvature.max())
        return np.asarray(-axes @ ((axes.T @ gradient) / curvature))
