"""The skeleton search of the PC algorithm, in its order-independent form (PC-stable).

For k = 0, 1, 2, ... each edge x-y is tested given the sets of k variables adjacent to x, then to y, with the
adjacencies as they stood when k began (Colombo & Maathuis 2014). With latent variables the result can hold
extra edges; FCI and RFCI go on from it.
"""

from __future__ import annotations

from lmarvel.skeleton.pruning import Pruning
from lmarvel.skeleton.state import Progress, silent


def pc_stable(pruning: Pruning, phase: str = "adjacency", progress: Progress = silent) -> None:
    """Cut every edge that a set of variables adjacent to one of its ends separates.

    Parameters
    ----------
    pruning : Pruning
        The graph, which is changed.
    phase : str
        Under which the tests are counted.
    progress : callable
        Called with (what, k, largest possible k) as each size begins.
    """
    k = 0
    while True:
        before = [frozenset(around) for around in pruning.adjacent]
        pairs = [(x, y) for x, y in pruning.edges() if max(len(before[x]), len(before[y])) > k]
        if not pairs:
            return
        if k > pruning.ledger.largest_set:
            pruning.unfinished.update(pairs)
            return
        progress(f"{phase}, sets of {k}", k, max(map(len, before)))
        left = pruning.wave(phase, pairs, [before[x] for x, _ in pairs], k, k)
        pruning.wave(phase, left, [before[y] for _, y in left], k, k)
        k += 1
