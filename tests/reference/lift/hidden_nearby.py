"""What a change gains in the whole model where only what is next to it moves: enough to rank many changes.

The nodes that a new hidden node ties have other coefficients and variances; as selection reaches ancestors, so have
their parents. The loadings of the hidden node move, those of others stay. All nodes are one block here. The compiled
search works with the few nodes that the change touches, whose moments are all that the likelihood needs.
"""

from __future__ import annotations

import math

import numpy as np

from lmarvel.graph.bitsets import members
from lmarvel.search.constants import LIFT
from tests.reference.lift.hidden_block import BlockProblem
from tests.reference.lift.hidden_local import Change, Start, starts
from tests.reference.lift.hidden_model import HiddenFits, HiddenModel, n_parameters, surplus


def nearby_gain(fits: HiddenFits, model: HiddenModel, change: Change) -> float:
    """Return by how much a change alters the score; infinite where it cannot be fitted.

    Examples
    --------
    >>> loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8])
    >>> R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    >>> fits = HiddenFits(R, 1000, 13.8)
    >>> full = fits.of_dag([0, 0b00001, 0b00011, 0b00111, 0b01111], range(5))
    >>> round(nearby_gain(fits, full, Change("latent", 0b11111)))     # five loadings in place of ten edges
    -69
    """
    moving = change.nodes
    if change.kind == "selection":
        for v in members(change.nodes):
            moving |= model.parents[v]
    try:
        return min(_gain(fits, model, start, change.which, moving) for start in starts(model, change))
    except np.linalg.LinAlgError:
        return math.inf


def _gain(fits: HiddenFits, model: HiddenModel, start: Start, which: int, moving: int) -> float:
    everything = (1 << len(start.parents)) - 1
    now = BlockProblem(fits.correlation, everything, start.parents, start.selections, model.p)
    x = now.gather(start.B, start.log_variance, start.V)
    fixed = len(now.heads) + now.n_own
    chosen = which if which >= 0 else len(start.selections) - 1 if len(start.selections) > len(model.selections) else -1
    moves = [i for i in now.moving(moving) if i < fixed or now.loads_on[i - fixed] == chosen]
    x = now.fit(x, LIFT.rough_tolerance / fits.n, LIFT.rough_steps, np.array(moves, dtype=np.intp))
    was = BlockProblem(fits.correlation, (1 << model.m) - 1, model.parents, model.selections, model.p)
    before = was.value(was.gather(model.B, model.log_variance, model.V))
    more = n_parameters(start.parents, start.selections, model.p) - n_parameters(
        model.parents, model.selections, model.p
    )
    inflated = surplus(start.parents, start.selections, model.p, fits.inflation)
    inflated -= surplus(model.parents, model.selections, model.p, fits.inflation)
    return float(fits.n * (now.value(x) - before) + fits.price * (more + inflated))
