"""The likelihood of one block of a DAG with latent and selection nodes, and its maximum.

The model is that of :mod:`tests.reference.lift.hidden_model`. With a block C given its outside parents E, a graph
over C and E in which E has no edges, the inverse covariance is K = (I - B)' D^-1 (I - B) + V V', where E has the
covariance that the data have, selection or not: K_EE = S_EE^-1 + K_EC K_CC^-1 K_CE, after latent nodes are summed out.
What is left of the likelihood is that of C given E; its derivatives are those of K with K_EE held.

**Fit.** With T = (I, -K_ol K_ll^-1)' (observed o, latent l) and Sigma the covariance of the observed nodes, a change
dK = u w' + w u' changes f = log det Sigma + tr(Sigma^-1 S) by -2 u' Q w, Q = T (Sigma - S) T'; and two such changes
have the expected second derivative 2 (u'Gu~ w'Gw~ + u'Gw~ w'Gu~), G = T Sigma T'. Every parameter is of this form.
Fisher scoring with these is damped after Levenberg and Marquardt. It is slow along valleys, where the true second
derivatives are much smaller than the expected ones. So nearer to a maximum the expected ones are kept, and what steps
show of the true ones is added to them (:class:`Curvature`). Where the slope along a step hardly changes, the step is
made longer.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from scipy.linalg import cho_solve

from lmarvel.graph.bitsets import members
from lmarvel.score.district import Matrix
from lmarvel.search.constants import LIFT

_LEAST_LOG_VARIANCE = math.log(1e-6)
_MOST_LOG_VARIANCE = 20.0  # of standardised data: beyond it a fit has run away
_FIRST_DAMPING, _MOST_DAMPING = 1e-3, 1e8
_FAR = 1e-3  # per row: after such a gain second derivatives are no longer what they were
_STRAIGHT, _LONGEST = 0.5, 16.0  # a slope that stays so much is followed; for so many steps
_SHORTER, _MOST_CUTS = 0.25, 2  # of a step by second derivatives that were kept, before they are made anew
_MOST_PAIRS = 12
_LEAST_SHARE = 0.1  # of the curvature that was expected


class BlockProblem:
    """One block given its outside parents: where its parameters stand, its likelihood and derivatives.

    Parameters are one vector: coefficients, logarithms of error variances, loadings.

    Examples
    --------
    >>> R = np.array([[1.0, 0.42, 0.35], [0.42, 1.0, 0.3], [0.35, 0.3, 1.0]])
    >>> factor = BlockProblem(R, 0b1111, [0b1000, 0b1000, 0b1000, 0], [], p=3)
    >>> best = factor.fit(np.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0]))
    >>> np.round(best[:3], 3).tolist()                     # 0.7 * 0.6 = 0.42, 0.7 * 0.5 = 0.35, 0.6 * 0.5 = 0.3
    [0.7, 0.6, 0.5]
    """

    def __init__(self, R: Matrix, block: int, parents: Sequence[int], selections: Sequence[int], p: int) -> None:
        observed = (1 << p) - 1
        outside = 0
        for v in members(block):
            outside |= parents[v] & ~block
        own = list(members(block & observed))
        self.order = [*own, *members(outside), *members(block & ~observed)]
        self.n_seen = len(own) + outside.bit_count()
        self.n_outside = outside.bit_count()
        self.S = R[np.ix_(self.order[: self.n_seen], self.order[: self.n_seen])]
        place = {v: i for i, v in enumerate(self.order)}
        edges = [(place[v], place[u]) for v in members(block) for u in members(parents[v])]
        chosen = [i for i, mask in enumerate(selections) if mask & block]
        loadings = [(place[v], i) for i, s in enumerate(chosen) for v in members(selections[s])]
        self.selections = chosen
        self.heads, self.tails = _columns(edges)
        self.loaded, self.loads_on = _columns(loadings)
        self.n_own = len(own)
        self.beside: Matrix = np.linalg.inv(self.S[self.n_own :, self.n_own :])
        self.without = self.n_outside - float(np.linalg.slogdet(self.beside)[1])

    def moving(self, nodes: int) -> np.ndarray:
        """Return which parameters are those of some nodes: coefficients of their parents, variances, loadings."""
        heads = np.concatenate([self.heads, np.arange(self.n_own), self.loaded])
        return np.array([i for i, head in enumerate(heads) if nodes >> self.order[head] & 1], dtype=np.intp)

    def gather(self, B: Matrix, log_variance: Matrix, V: Matrix) -> Matrix:
        """Return the parameters of this block out of those of the whole model."""
        where = np.array(self.order, dtype=np.intp)
        chosen = np.array(self.selections, dtype=np.intp)
        return np.concatenate(
            [
                B[where[self.heads], where[self.tails]],
                log_variance[where[: self.n_own]],
                V[where[self.loaded], chosen[self.loads_on]],
            ]
        )

    def scatter(self, x: Matrix, B: Matrix, log_variance: Matrix, V: Matrix) -> None:
        """Write the parameters of this block into those of the whole model."""
        where = np.array(self.order, dtype=np.intp)
        chosen = np.array(self.selections, dtype=np.intp)
        edges, own = len(self.heads), self.n_own
        B[where[self.heads], where[self.tails]] = x[:edges]
        log_variance[where[:own]] = x[edges : edges + own]
        V[where[self.loaded], chosen[self.loads_on]] = x[edges + own :]

    def _matrices(self, x: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        k, edges, own = len(self.order), len(self.heads), self.n_own
        A = np.eye(k)
        A[self.heads, self.tails] -= x[:edges]
        weight = np.ones(k)
        weight[:own] = np.exp(-x[edges : edges + own])
        V = np.zeros((k, len(self.selections)))
        V[self.loaded, self.loads_on] = x[edges + own :]
        return A, A * weight[:, None], V

    def _observed(self, A: Matrix, scaled: Matrix, V: Matrix) -> tuple[Matrix, Matrix]:
        """Return the inverse covariance of what is observed, and T."""
        K, d = A.T @ scaled + V @ V.T, self.n_seen
        T = np.eye(len(K), d)
        if len(K) > d:
            T[d:] = -np.linalg.solve(K[d:, d:], K[d:, :d])
        inverse, own, outside = K[:d] @ T, slice(0, self.n_own), slice(self.n_own, d)
        inverse[outside, outside] = self.beside + inverse[outside, own] @ np.linalg.solve(
            inverse[own, own], inverse[own, outside]
        )
        return inverse, T

    def value(self, x: Matrix) -> float:
        """Return minus two log-likelihood per row of the block given its outside parents, without log 2 pi."""
        try:
            inverse, _ = self._observed(*self._matrices(x))
            root = np.linalg.cholesky(inverse)
        except np.linalg.LinAlgError:
            return math.inf
        return float(np.vdot(inverse, self.S) - 2 * np.log(root.diagonal()).sum()) - self.without

    def derivatives(self, x: Matrix) -> tuple[Matrix, Matrix]:
        """Return the gradient of the value, and its expected second derivatives."""
        A, scaled, V = self._matrices(x)
        inverse, T = self._observed(A, scaled, V)
        Sigma = np.linalg.inv(inverse)
        Q, G = T @ (Sigma - self.S) @ T.T, T @ Sigma @ T.T
        one = np.eye(len(self.order))
        own = slice(0, self.n_own)
        U = np.concatenate([one[self.tails], A[own], one[self.loaded]]).T
        W = np.concatenate([-scaled[self.heads], -0.5 * scaled[own], V.T[self.loads_on]]).T
        gradient = -2 * np.einsum("ij,ij->j", U, Q @ W)
        GU, GW = G @ U, G @ W
        mixed = U.T @ GW
        return gradient, 2 * ((U.T @ GU) * (W.T @ GW) + mixed * mixed.T)

    def fit(
        self, x: Matrix, tolerance: float = 1e-8, max_steps: int = LIFT.fit_steps, moving: np.ndarray | None = None
    ) -> Matrix:
        """Return the parameters of a maximum of the likelihood; only some may move."""
        moving = np.arange(len(x)) if moving is None else moving
        value, damping, steps = self.value(x), _FIRST_DAMPING, 0
        if not math.isfinite(value):  # at the border, where a variance is next to nothing: no way on from here
            return x
        gradient, information = self._derivatives(x, moving)
        solve: Callable[[Matrix], Matrix] | None = None
        curvature, is_fresh = Curvature(), False
        while steps < max_steps:
            if solve is None:
                if not is_fresh:
                    _, information = self._derivatives(x, moving)
                damping, solve = _damped(information, damping)
                if solve is None:
                    return x
                curvature, is_fresh = Curvature(), True
            step = -curvature.solve(gradient, solve)
            share, trial = 1.0, self._moved(x, step, moving)
            new = self.value(trial)
            if not new < value and -gradient @ (trial - x)[moving] < tolerance:
                return x
            cuts = 0
            while not new < value and not is_fresh and cuts < _MOST_CUTS:
                share, cuts = share * _SHORTER, cuts + 1
                trial = self._moved(x, share * step, moving)
                new = self.value(trial)
            if not new < value:
                damping, solve = damping * 8.0 if is_fresh else damping, None
                continue
            before, (gradient, _) = gradient, self._derivatives(trial, moving)
            left = gradient @ (trial - x)[moving] / (before @ (trial - x)[moving])
            if left > _STRAIGHT:
                more = share * (min(1 / (1 - left), _LONGEST) if left < 1 else _LONGEST)
                beyond = self._moved(x, more * step, moving)
                if (there := self.value(beyond)) < new:
                    share, trial, new = more, beyond, there
                    gradient, _ = self._derivatives(trial, moving)
            curvature.learn((trial - x)[moving], gradient - before, -share * before)
            gained, x, value = value - new, trial, new
            steps, is_fresh = steps + 1, False
            if gained < tolerance:
                return x
            if gained > _FAR:
                damping, solve = max(damping / 8.0, 1e-9), None
        return x

    def _derivatives(self, x: Matrix, moving: np.ndarray) -> tuple[Matrix, Matrix]:
        gradient, information = self.derivatives(x)
        return gradient[moving], information[np.ix_(moving, moving)]

    def _moved(self, x: Matrix, step: Matrix, moving: np.ndarray) -> Matrix:
        trial = x.copy()
        trial[moving] += step
        variances = trial[len(self.heads) : len(self.heads) + self.n_own]
        np.clip(variances, _LEAST_LOG_VARIANCE, _MOST_LOG_VARIANCE, out=variances)
        return trial


class Curvature:
    """What steps have shown of second derivatives, beyond a matrix to begin with.

    The update of Broyden, Fletcher, Goldfarb and Shanno, as a few pairs of vectors (Nocedal 1980). Each is damped after
    Powell (1978), so that the matrix stays positive definite.

    Examples
    --------
    >>> steps = Curvature()
    >>> steps.learn(np.array([1.0, 0.0]), np.array([4.0, 0.0]), np.array([1.0, 0.0]))
    >>> steps.solve(np.array([4.0, 3.0]), lambda b: b).tolist()      # was taken for 1 along the first axis, and is 4
    [1.0, 3.0]
    """

    def __init__(self) -> None:
        self._pairs: deque[tuple[Matrix, Matrix]] = deque(maxlen=_MOST_PAIRS)

    def learn(self, step: Matrix, change: Matrix, foreseen: Matrix) -> None:
        """Learn from a step, by how much the gradient changed along it, and by how much the matrix had it change."""
        expected, seen = step @ foreseen, step @ change
        if not expected > 0:
            return
        if seen < _LEAST_SHARE * expected:
            share = (1 - _LEAST_SHARE) * expected / (expected - seen)
            change = share * change + (1 - share) * foreseen
        if step @ change > 0:
            self._pairs.append((step, change))

    def solve(self, b: Matrix, begin: Callable[[Matrix], Matrix]) -> Matrix:
        """Return the inverse of the matrix times b, where ``begin`` does so with the matrix to begin with."""
        shares = []
        for step, change in reversed(self._pairs):
            shares.append(step @ b / (step @ change))
            b = b - shares[-1] * change
        b = begin(b)
        for (step, change), share in zip(self._pairs, reversed(shares), strict=True):
            b = b + (share - change @ b / (step @ change)) * step
        return b


def _damped(information: Matrix, damping: float) -> tuple[float, Callable[[Matrix], Matrix] | None]:
    """Return as much damping as second derivatives need, and what solves systems of them."""
    scale = np.maximum(information.diagonal(), 1e-8)
    while damping < _MOST_DAMPING:
        try:
            root = np.linalg.cholesky(information + damping * np.diag(scale))
            return damping, partial(cho_solve, (root, True))
        except np.linalg.LinAlgError:
            damping *= 8.0
    return damping, None


def _columns(pairs: Sequence[tuple[int, int]]) -> Iterator[np.ndarray]:
    return (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
