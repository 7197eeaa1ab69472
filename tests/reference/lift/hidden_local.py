"""What is done to a model inside a region: changes, structural EM, and dropping what is not worth its price.

Models and changes have the numbers of the region (:mod:`tests.reference.lift.hidden_regions`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.score.district import Matrix
from lmarvel.search.constants import LIFT
from lmarvel.search.lift import Kind
from lmarvel.search.orders import Regressions, settle, turn_families
from lmarvel.search.record import Record
from tests.reference.lift.hidden_model import HiddenFits, HiddenModel
from tests.reference.lift.hidden_parts import is_idle, leading, near, parameters, weakest
from tests.reference.lift.stages import GaussianLocal


class Change(NamedTuple):
    """A new hidden node over a set of nodes; or, with ``which``, one more parent, ``node``, of a selection node."""

    kind: Kind
    nodes: int
    which: int = -1
    node: int = -1


def is_better(one: HiddenModel, other: HiddenModel) -> bool:
    """Tell whether a model is better than another by more than rounding."""
    return one.score < other.score - LIFT.tie


class Start(NamedTuple):
    """A structure, and the parameters that its fit begins with."""

    parents: list[int]
    selections: tuple[int, ...]
    order: tuple[int, ...]
    B: Matrix
    log_variance: Matrix
    V: Matrix


def starts(model: HiddenModel, change: Change) -> list[Start]:
    """Return the model with a change, before it is fitted: one more parent of a selection node may load either way."""
    if change.which < 0:
        return [_with_node(model, change.nodes, change.kind)]
    loadings = (LIFT.enlarged_loading, -LIFT.enlarged_loading)
    return [_with_member(model, change.which, change.node, loading) for loading in loadings]


def _with_node(model: HiddenModel, clique: int, kind: Kind) -> Start:
    """Return the model with one hidden node in place of the edges inside a clique."""
    nodes, m = list(members(clique)), model.m
    inner = np.ix_(nodes, nodes)
    parents = [mask & ~clique if clique >> v & 1 else mask for v, mask in enumerate(model.parents)]
    B, log_variance, V = model.B.copy(), model.log_variance, model.V
    B[inner] = 0.0
    if kind == "selection":
        K = model.precision[inner]
        V = np.hstack([V, np.zeros((m, 1))])
        V[nodes, -1] = leading(K - np.diag(K.diagonal()))
        return Start(parents, (*model.selections, clique), model.order, B, log_variance, V)
    A = np.eye(m) - B
    errors = (A @ model.covariance @ A.T)[inner]
    B, V, log_variance = np.pad(B, (0, 1)), np.pad(V, ((0, 1), (0, 0))), np.append(log_variance, 0.0)
    B[nodes, m] = leading(errors - np.diag(errors.diagonal()) / 2)
    log_variance[nodes] = np.maximum(log_variance[nodes], math.log(0.1))
    parents = [mask | 1 << m if clique >> v & 1 else mask for v, mask in enumerate(parents)]
    return Start([*parents, 0], model.selections, (m, *model.order), B, log_variance, V)


def _with_member(model: HiddenModel, index: int, v: int, loading: float) -> Start:
    """Return the model with v as one more parent of a selection node, in place of its edges to the others."""
    inside = model.selections[index]
    nodes = list(members(inside))
    parents = [
        mask & ~inside if u == v else mask & ~(1 << v) if inside >> u & 1 else mask
        for u, mask in enumerate(model.parents)
    ]
    B, V = model.B.copy(), model.V.copy()
    B[v, nodes] = B[nodes, v] = 0.0
    V[v, index] = loading
    selections = (*model.selections[:index], inside | 1 << v, *model.selections[index + 1 :])
    return Start(parents, selections, model.order, B, model.log_variance, V)


class LocalSearch:
    """The search inside a region, whose parents are allowed as the masks say."""

    def __init__(self, fits: HiddenFits, record: Record, allowed: Sequence[int]) -> None:
        self.fits = fits
        self.record = record
        self.allowed = allowed

    def changed(self, model: HiddenModel, change: Change) -> HiddenModel | None:
        """Return the model with a change, by a rough fit; None where it cannot be fitted."""
        with suppress(np.linalg.LinAlgError):
            found = [self.fits.fit(*start, moving=(1 << model.m) - 1) for start in starts(model, change)]
            return found[-1] if is_better(found[-1], found[0]) else found[0]
        return None

    def refreshed(self, model: HiddenModel, change: Change) -> HiddenModel | None:
        """Return the model with a change, and orders near it searched again."""
        made = self.changed(model, change)
        if made is None:
            return None
        around = near(made, change.nodes) | (1 << model.m if change.kind == "latent" else 0)
        fresh = self.refresh(made, around, sweeps=LIFT.local_sweeps)
        return made if is_better(made, fresh) else fresh

    def pruned(self, model: HiddenModel) -> HiddenModel:
        """Return the model without what is not worth its price."""
        return self.prune(model)

    def polished(self, model: HiddenModel, families: int) -> HiddenModel:
        """Return the model, refreshed and pruned while that helps."""
        return self.polish(model, families=families)

    def without(self, model: HiddenModel, hidden: int) -> HiddenModel:
        """Return the model without a hidden node, latent ones first, and adapted."""
        latents = model.m - model.p
        if hidden < latents:
            return self.prune(self.refresh(self.without_latent(model, model.p + hidden)))
        return self.prune(self.refresh(self.without_selection(model, hidden - latents)))

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
