"""Two repairs on data, before orientation: sets that are only implied are tested, and contested edges are cut.

Two variables outside each other's Markov boundary are separated, in theory, by the smaller of the two boundaries. On
data that set was never asked about, and often fails. Orientation rests on it wherever the two have a common neighbour
(R0 and R1 on the triple, and R4, whose discriminating paths begin with such a triple); elsewhere nothing does. So here
each unshielded pair without a tested set is tested given that boundary, and if that fails a small set is searched in
either boundary. A pair that no such set separates stays without an edge, but in doubt: no rule reads the triples over
it. (Joining it instead gives the better skeleton and the worse marks: on 48 data sets of the paper's kind skeleton
and mark F1 are .846/.459 with joining and .840/.467 with doubt, .840/.454 without this step.)

An edge is *contested* if some step of L-MARVEL found its ends independent (:func:`settle_contested`).
"""

from __future__ import annotations

from itertools import combinations

from lmarvel.skeleton.state import Pair, SkeletonState

PHASE = "gaps"
_FEW = 3


def unshielded_pairs(state: SkeletonState) -> list[Pair]:
    """Return the pairs that are not adjacent, have a common neighbour, and no tested separating set."""
    pairs = {
        (a, c) for around in state.adjacent for a, c in combinations(sorted(around), 2) if c not in state.adjacent[a]
    }
    return sorted(pair for pair in pairs if pair not in state.sepsets.found)


def settle_gaps(state: SkeletonState) -> None:
    """Find a tested separating set for each unshielded pair, or put the pair in doubt."""
    for x, y in unshielded_pairs(state):
        implied = state.boundaries.smaller(x, y) - {x, y} - state.useless(x, y)
        if len(implied) <= state.ledger.largest_set:
            p = state.ledger.pvalue(PHASE, x, y, implied)
            if p > state.alpha:
                state.separate(PHASE, x, y, implied, p)
                continue
        if not _separated_by_few(state, x, y):
            state.doubt(PHASE, x, y)


def _separated_by_few(state: SkeletonState, x: int, y: int) -> bool:
    """Search a set of at most three variables in the smaller boundary, then in the other."""
    for v, other in sorted(((x, y), (y, x)), key=lambda ends: len(state.boundaries.sets[ends[0]])):
        pool = state.boundaries.sets[v] - {other}
        if state.try_separate(PHASE, x, y, pool, max_size=_FEW).sepset is not None:
            return True
    return False


def settle_contested(state: SkeletonState) -> None:
    """Cut the edges of pairs that some step of the run found independent at the level alpha.

    The search for a pair and a removal test of a third variable can disagree: the latter asks about sets that hold that
    variable, and keeps them only above a much higher threshold. Left alone, such a pair would be an edge although a
    test at the level of the run separates it.
    """
    for x, y in state.edges():
        p, given = state.ledger.memory.closest(x, y)
        if given is not None and p > state.alpha:
            state.separate("contested", x, y, given, p)
