"""The skeleton search of the PC algorithm, in its order-independent form (PC-stable).

For k = 0, 1, 2, ... each edge x-y is tested given the sets of k variables adjacent to x, then to y, with the
adjacencies as they stood when k began (Colombo & Maathuis 2014). With latent variables the result can hold
extra edges; FCI and RFCI go on from it.
"""

from __future__ import annotations

from itertools import islice

from lmarvel.skeleton.pruning import Pruning
from lmarvel.skeleton.state import Progress, silent

_PART = 4096  # pairs


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
        degree = [len(around) for around in before]
        if max(degree, default=0) <= k:
            return
        if k > pruning.ledger.largest_set:
            pruning.unfinished.update((x, y) for x, y in pruning.each_edge() if max(degree[x], degree[y]) > k)
            return
        progress(f"{phase}, sets of {k}", k, max(degree))
        edges = ((x, y) for x, around in enumerate(before) for y in sorted(around) if x < y)
        left = (pair for pair in edges if max(degree[pair[0]], degree[pair[1]]) > k)
        # In parts, so that a graph of a million edges is not listed before the clock is looked at.
        while pairs := list(islice(left, _PART)):
            pruning.ledger.meter.check_time()
            kept = pruning.wave(phase, pairs, [before[x] for x, _ in pairs], k, k)
            pruning.wave(phase, kept, [before[y] for _, y in kept], k, k)
        k += 1
