"""Search over hidden nodes: a latent or a selection node in place of edges (structural EM).

An ancestral graph says with k (k - 1) / 2 edges that k variables share a latent cause, or are parents of a selection
node; the node itself has k parameters. And one selected pair makes all its ancestors undirected, so that more edges
join them. So a score that counts edges charges for hidden nodes too much, and drops some of those edges, which turns
others round. Here hidden nodes are put into the DAG (:mod:`tests.reference.lift.hidden_model`). A round of the search:

1. *Changes*: each edge, each triangle and each of the 20 largest maximal cliques loses its inner edges to a latent or
   to a selection node, whose loadings begin at the leading eigenvector of what is to be explained; or a selection
   node gets one more parent. They are ranked by a rough fit, which stays good while nothing near them changes.
2. The best 12 are *refreshed*: the covariance of observed and latent nodes, expected and with the selection undone, is
   searched for orders again, in the neighbourhood of the change.
3. The best 4 are *pruned* of what is not worth its price, refreshed as a whole, and the best kept if the score falls.

There are two ways, large cliques first or all changes from the start; the better end is taken.

The first fit tells little: the gain comes from edges that become superfluous. At the end idle hidden nodes go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from lmarvel.graph.bitsets import bits, members
from lmarvel.score.district import Matrix
from lmarvel.search.constants import LIFT
from lmarvel.search.lift import Kind
from lmarvel.search.orders import Regressions, settle, turn_families
from lmarvel.search.record import Record
from tests.reference.lift.hidden_model import HiddenFits, HiddenModel
from tests.reference.lift.hidden_parts import is_idle, joined_sets, leading, near, parameters, weakest
from tests.reference.lift.stages import GaussianLocal


class Change(NamedTuple):
    """A new hidden node over a set of nodes; or, with ``which``, one more parent, ``node``, of a selection node."""

    kind: Kind
    nodes: int
    which: int = -1
    node: int = -1


class Missed(NamedTuple):
    """A hidden node: its kind, the nodes that it is tied to, and by how much the score would be worse without it."""

    kind: Kind
    nodes: int
    by: float


def is_better(one: HiddenModel, other: HiddenModel) -> bool:
    """Tell whether a model is better than another by more than rounding."""
    return one.score < other.score - LIFT.tie


def best_of(scores: Sequence[float], most: int) -> list[int]:
    """Return where the best scores stand, best first; what only rounding tells apart stays in its order.

    Many models have equivalent ones with the same score. Which of them is taken must not hang on rounding, or on the
    order of the user's columns: the first one is, and the search puts variables into an order by content.
    """
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    ranked: list[int] = []
    while order:
        worst = scores[order[0]] + LIFT.tie
        equal = next((at for at, i in enumerate(order) if scores[i] > worst), len(order))
        ranked += sorted(order[:equal])
        order = order[equal:]
    return ranked[:most]


class HiddenSearch:
    """The search over DAGs with latent and selection nodes.

    Parameters
    ----------
    fits : HiddenFits
        Fits models to the data.
    record : Record
        The deadline.
    kinds : tuple
        Which hidden nodes are allowed.

    Examples
    --------
    >>> loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8])
    >>> R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    >>> search = HiddenSearch(HiddenFits(R, 1000, 13.8), Record(), ("latent", "selection"))
    >>> dag = search.of_dag([0, 0b00001, 0b00011, 0b00111, 0b01111], range(5))
    >>> found = search.run(dag)
    >>> found.m, found.selections, round(dag.score - found.score) > 40          # one latent node for ten edges
    (6, (), True)
    """

    def __init__(self, fits: HiddenFits, record: Record, kinds: tuple[Kind, ...]) -> None:
        self.fits = fits
        self.record = record
        self.kinds = kinds
        self.allowed: list[int] = []
        self.met: list[HiddenModel] = []
        self._gains: dict[tuple[object, ...], float] = {}

    def of_dag(self, parents: Sequence[int], order: Sequence[int]) -> HiddenModel:
        """Return the model without hidden nodes."""
        return self.fits.of_dag(parents, order)

    def run(self, model: HiddenModel) -> HiddenModel:
        """Put hidden nodes into a model while the score falls; return the model."""
        self._note(model)
        large = self._climb(model, smallest=4)
        if large is not model:
            self._climb(large)
        self._climb(model)
        return min(self.met, key=lambda met: met.score)

    def _climb(self, model: HiddenModel, smallest: int = 2) -> HiddenModel:
        for done in range(LIFT.hidden_rounds):
            self.record.report("hidden", done, LIFT.hidden_rounds)
            better = self._round(model, smallest)
            if better is None or better.score > model.score - LIFT.least_gain:
                break
            model = better
        return model

    def _round(self, model: HiddenModel, smallest: int) -> HiddenModel | None:
        changes = [change for change in self._changes(model) if change.nodes.bit_count() >= smallest]
        local = []
        for i in best_of([self._gain(model, change) for change in changes], LIFT.refreshed):
            self.record.check()
            change = changes[i]
            candidate = self._made(model, change)
            if candidate is not None:
                around = near(candidate, change.nodes) | (1 << model.m if change.kind == "latent" else 0)
                fresh = self.refresh(candidate, around, sweeps=LIFT.local_sweeps)
                local.append(candidate if is_better(candidate, fresh) else fresh)
        best: HiddenModel | None = None
        for i in best_of([found.score for found in local], LIFT.polished):
            polished = self._note(self.polish(self.prune(local[i]), families=0))
            if best is None or is_better(polished, best):
                best = polished
        return None if best is None else self._note(self.polish(best))

    def _note(self, model: HiddenModel) -> HiddenModel:
        self.met.append(model)
        return model

    def simplified(self, model: HiddenModel, limit: float = math.inf) -> tuple[HiddenModel, list[Missed]]:
        """Drop hidden nodes that the score does not miss, while it stays below a limit; return it and what it keeps."""
        self.record = Record(self.fits.n)  # a few fits more, also when the time is up
        while True:
            kept = []
            for kind, nodes, without in self.without_each(model):
                missed = without.score - model.score
                if missed < LIFT.missed * self.fits.price and without.score < limit:
                    model = without
                    break
                kept.append(Missed(kind, nodes, missed))
            else:
                return model, kept

    def without_each(self, model: HiddenModel) -> Iterator[tuple[Kind, int, HiddenModel]]:
        """Iterate over the hidden nodes: kind, what it is tied to, and the model without it, adapted."""
        for latent in range(model.p, model.m):
            children = bits(v for v, mask in enumerate(model.parents) if mask >> latent & 1)
            yield "latent", children, self.prune(self.refresh(self.without_latent(model, latent)))
        for index, parents in enumerate(model.selections):
            yield "selection", parents, self.prune(self.refresh(self.without_selection(model, index)))

    # --- changes ----------------------------------------------------------------------------------------

    def _changes(self, model: HiddenModel) -> Iterator[Change]:
        """Iterate over the changes that a round considers."""
        for nodes in joined_sets(model):
            yield from (Change(kind, nodes) for kind in self.kinds)
        for index, inside in enumerate(model.selections):
            for v in members(near(model, inside) & ~inside & (1 << model.p) - 1):
                yield Change("selection", inside | 1 << v, index, v)

    def _gain(self, model: HiddenModel, change: Change) -> float:
        """Return by how much a change alters the score, by a rough fit; known as long as nothing near changes."""
        around = near(model, change.nodes)
        beside = tuple(mask for mask in model.selections if mask & around)
        key = (change.kind, change.nodes, change.node, beside, *(model.parents[v] for v in members(around)))
        known = self._gains.get(key)
        if known is None:
            self.record.check()
            made = self._made(model, change)
            known = self._gains[key] = math.inf if made is None else made.score - model.score
        return known

    def _made(self, model: HiddenModel, change: Change) -> HiddenModel | None:
        """Return the changed model, None where it cannot be fitted."""
        with suppress(np.linalg.LinAlgError):
            return self._make(model, change)
        return None

    def _make(self, model: HiddenModel, change: Change) -> HiddenModel:
        if change.which >= 0:
            return self._enlarge(model, change.which, change.node)
        return self.replace(model, change.nodes, change.kind)

    def replace(self, model: HiddenModel, clique: int, kind: Kind) -> HiddenModel:
        """Return the model with one hidden node in place of the edges inside a clique."""
        nodes, m = list(members(clique)), model.m
        inner = np.ix_(nodes, nodes)
        parents = [mask & ~clique if clique >> v & 1 else mask for v, mask in enumerate(model.parents)]
        B, log_variance, V = model.B.copy(), model.log_variance, model.V
        B[inner] = 0.0
        if kind == "selection":
            K: Matrix = np.asarray(np.linalg.inv(model.covariance), dtype=np.float64)[inner]
            V = np.hstack([V, np.zeros((m, 1))])
            V[nodes, -1] = leading(K - np.diag(K.diagonal()))
            return self.fits.fit(parents, (*model.selections, clique), model.order, B, log_variance, V, rough=True)
        A = np.eye(m) - B
        errors = (A @ model.covariance @ A.T)[inner]
        B, V, log_variance = np.pad(B, (0, 1)), np.pad(V, ((0, 1), (0, 0))), np.append(log_variance, 0.0)
        B[nodes, m] = leading(errors - np.diag(errors.diagonal()) / 2)
        log_variance[nodes] = np.maximum(log_variance[nodes], math.log(0.1))
        parents = [mask | 1 << m if clique >> v & 1 else mask for v, mask in enumerate(parents)]
        return self.fits.fit([*parents, 0], model.selections, (m, *model.order), B, log_variance, V, rough=True)

    def _enlarge(self, model: HiddenModel, index: int, v: int) -> HiddenModel:
        """Return the model with v as one more parent of a selection node, in place of its edges to the others."""
        inside = model.selections[index]
        nodes = list(members(inside))
        parents = [
            mask & ~inside if u == v else mask & ~(1 << v) if inside >> u & 1 else mask
            for u, mask in enumerate(model.parents)
        ]
        B = model.B.copy()
        B[v, nodes] = B[nodes, v] = 0.0
        selections = list(model.selections)
        selections[index] |= 1 << v
        found = []
        for loading in (LIFT.enlarged_loading, -LIFT.enlarged_loading):
            V = model.V.copy()
            V[v, index] = loading
            found.append(self.fits.fit(parents, selections, model.order, B, model.log_variance, V, rough=True))
        return found[1] if is_better(found[1], found[0]) else found[0]

    # --- structural EM ----------------------------------------------------------------------------------

    def refresh(
        self, model: HiddenModel, only: int = -1, sweeps: int = LIFT.whole_sweeps, families: int = 0
    ) -> HiddenModel:
        """Search for orders again, given the hidden nodes, and fit what is found; a degenerate model stays as it is."""
        with suppress(np.linalg.LinAlgError):
            return self._refreshed(model, only, sweeps, families)
        return model

    def _refreshed(self, model: HiddenModel, only: int, sweeps: int, families: int) -> HiddenModel:
        S = self._completed(model)
        if S is None:
            return model
        fits = self.fits
        best = Regressions(GaussianLocal(S, fits.n, fits.price), len(S), self.allowed)
        found = settle(best, model.order, sweeps, only, self.record.noise, self.record.check)
        if families:
            found = turn_families(best, found, families, self.record.noise, self.record.check)
        B, log_variance, scale = parameters(S, found.parents, model.p)
        V = model.V * scale[:, None]
        return self._without_idle(fits.fit(found.parents, model.selections, found.order, B, log_variance, V))

    def _completed(self, model: HiddenModel) -> Matrix | None:
        """Return the expected covariance of observed and latent nodes, selection undone; None where there is none."""
        p, S = model.p, self.fits.correlation
        if model.m > p:
            Sigma = model.covariance
            on_seen = np.linalg.solve(Sigma[:p, :p], Sigma[:p, p:]).T
            cross = on_seen @ S
            latent = cross @ on_seen.T + Sigma[p:, p:] - on_seen @ Sigma[:p, p:]
            S = np.block([[S, cross.T], [cross, latent]])
        if model.selections:
            K, added, share = np.linalg.inv(S), model.V @ model.V.T, 1.0
            while np.linalg.eigvalsh(K - share * added)[0] < 1e-3:
                share *= 0.9
                if share < 0.3:
                    return None
            S = np.linalg.inv(K - share * added)
        return np.asarray(S)

    def polish(self, model: HiddenModel, rounds: int = LIFT.polish_rounds, families: int = 1) -> HiddenModel:
        """Refresh and prune the whole model while that helps."""
        for _ in range(rounds):
            fresh = self.prune(self.refresh(model, families=families))
            gain = model.score - fresh.score
            if gain > LIFT.step:
                model = fresh
            if gain < LIFT.resting:
                break
        return model

    # --- what is not worth its price --------------------------------------------------------------------

    def prune(self, model: HiddenModel, most: int = LIFT.prune_rounds) -> HiddenModel:
        """Drop edges and memberships that are not worth their price: a quadratic guess proposes, the fit decides."""
        for _ in range(most):
            self.record.check()
            for guess, index, v, is_selection in self._candidates_to_drop(model):
                if guess > LIFT.hopeless * self.fits.price:
                    return self._without_idle(model)
                parents, selections = list(model.parents), list(model.selections)
                sets = selections if is_selection else parents
                sets[index] &= ~(1 << v)
                fitted = self.fits.fit(parents, selections, model.order, model.B, model.log_variance, model.V)
                if fitted.score < model.score - LIFT.step:
                    model = fitted
                    break
            else:
                break
        return self._without_idle(model)

    def _candidates_to_drop(self, model: HiddenModel) -> list[tuple[float, int, int, bool]]:
        """Return the three weakest edges and memberships; none of a degenerate model."""
        with suppress(np.linalg.LinAlgError):
            return sorted(weakest(model, self.fits.n))[: LIFT.weakest]
        return []

    def _without_idle(self, model: HiddenModel) -> HiddenModel:
        """Drop hidden nodes that tie nothing together."""
        while True:
            idle = next((v for v in range(model.p, model.m) if is_idle(model, v)), None)
            if idle is not None:
                model = self.without_latent(model, idle)
            elif 0 in model.selections:
                model = self.without_selection(model, model.selections.index(0))
            else:
                return model

    def without_latent(self, model: HiddenModel, latent: int) -> HiddenModel:
        """Return the model without a latent node."""
        kept = [v for v in range(model.m) if v != latent]

        def cut(mask: int) -> int:
            return mask & (1 << latent) - 1 | mask >> latent + 1 << latent

        return self.fits.fit(
            [cut(model.parents[v]) for v in kept],
            [cut(mask) for mask in model.selections],
            [v - (v > latent) for v in model.order if v != latent],
            model.B[np.ix_(kept, kept)],
            model.log_variance[kept],
            model.V[kept],
        )

    def without_selection(self, model: HiddenModel, index: int) -> HiddenModel:
        """Return the model without a selection node."""
        selections = model.selections[:index] + model.selections[index + 1 :]
        V = np.delete(model.V, index, axis=1)
        return self.fits.fit(model.parents, selections, model.order, model.B, model.log_variance, V)
