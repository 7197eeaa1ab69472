"""L-MARVEL without the chordality assumption.

Theorem 2 holds if the undirected part of the MAG has no chordless cycle of four or more. Only one case of its proof
needs that: Y and Z both undirected neighbours of X and not adjacent, where no set inside Mb(X) + {X} separates them.
Such a pair looks adjacent, X is removed, and the MAG of the rest has a false edge Y-Z. So the learned skeleton holds
the true one, and every false edge is a pair that was taken for adjacent when some X was removed. These *suspects* are
checked at the end. In the true graph a suspect that is false has X, Y, Z and a whole undirected path from Y to Z
outside Adj(X) without a single arrowhead, and some set of neighbours of Y, X among them, separates Y and Z. Where
colliders show an arrowhead or there is no such path, the suspect is cleared without a test: that is nearly always so.
See docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lmarvel.result.trace import Kept
from lmarvel.skeleton.state import SkeletonState, pair_of


class Suspect(NamedTuple):
    """Y and Z were taken for adjacent when X was removed as number ``step``."""

    x: int
    y: int
    z: int
    step: int


def is_needed(state: SkeletonState, x: int, y: int, z: int, removed_at: Mapping[int, int], threshold: float) -> bool:
    """Tell whether a known separating set of Y and Z, which reaches outside Mb(X), needs X (Lemma 4): then X stays."""
    known = state.sepsets.lookup(y, z)
    if known is None:
        return False
    rest = frozenset(v for v in known if v not in removed_at)
    p = state.ledger.pvalue("removability", y, z, rest)
    if p <= threshold or state.ledger.pvalue("removability", y, z, rest - {x}) > state.alpha:
        return False
    state.trace.append(Kept(x, y, z, rest, p))
    return True


def clear_suspects(state: SkeletonState, listed: Sequence[Suspect], removed_at: Mapping[int, int]) -> None:
    """Find the false edges among the suspects, and delete them together."""
    suspects = [s for s in listed if s.z in state.adjacent[s.y]]
    doubtful = {frozenset((s.y, s.z)) for s in suspects} | {frozenset(pair) for pair in state.unfinished}
    headed: dict[int, bool] = {}
    false_edges = {}
    for s in suspects:
        pool = _candidates(state, s, removed_at, doubtful, headed)
        if pool is not None and (s.y, s.z) not in false_edges:
            answer = state.try_separate("chordless", s.y, s.z, pool, always=(s.x,), keep=False)
            if answer.sepset is not None:
                false_edges[s.y, s.z] = answer
            elif not answer.complete:
                state.unfinished.add(pair_of(s.y, s.z))
    for (y, z), answer in false_edges.items():
        assert answer.sepset is not None
        state.separate("chordless", y, z, answer.sepset, answer.pvalue)


def _candidates(
    state: SkeletonState,
    s: Suspect,
    removed_at: Mapping[int, int],
    doubtful: set[frozenset[int]],
    headed: dict[int, bool],
) -> set[int] | None:
    """Return where the separating set of a suspect would lie, or None if the suspect is cleared."""

    def tail_only(v: int) -> bool:
        if v not in headed:
            headed[v] = _has_arrowhead(state, v, doubtful)
        return not headed[v] and removed_at.get(v, s.step) >= s.step

    if not (tail_only(s.x) and tail_only(s.y) and tail_only(s.z)):
        return None
    outside = state.adjacent[s.x] | {s.x}
    seen, stack = set(outside), [s.y]
    while stack:
        v = stack.pop()
        if v != s.y and s.z in state.adjacent[v]:
            pools = [{u for u in state.adjacent[end] if tail_only(u)} - {s.x, s.y, s.z} for end in (s.y, s.z)]
            return min(pools, key=len)
        new = [u for u in state.adjacent[v] if u not in seen and tail_only(u)]
        seen.update(new)
        stack += new
    return None


def _has_arrowhead(state: SkeletonState, b: int, doubtful: set[frozenset[int]]) -> bool:
    """Tell whether an unshielded collider over edges beyond doubt puts an arrowhead at b."""
    sure = sorted(v for v in state.adjacent[b] if frozenset((v, b)) not in doubtful)
    for i, a in enumerate(sure):
        for c in sure[i + 1 :]:
            sepset = state.sepsets.lookup(a, c)
            if sepset is not None and b not in sepset and c not in state.adjacent[a]:
                return True
    return False
