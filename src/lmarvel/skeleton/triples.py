"""Conservative and majority-rule colliders (Ramsey, Zhang & Spirtes 2006; Colombo & Maathuis 2014).

Whether the middle of an unshielded triple a, b, c is a collider is read from one separating set of a and c, and with
finite samples that is one test among many. These rules look at all sets of variables adjacent to a or to c that
separate the two: b is in none of them (collider), in all (no collider), or the triple is ambiguous. The majority rule
calls it by more or less than half.
"""

from __future__ import annotations

from itertools import combinations

from lmarvel.skeleton.state import SkeletonState, Triple

RULES = ("standard", "conservative", "majority")


def classify_triples(state: SkeletonState, rule: str) -> tuple[dict[Triple, bool], frozenset[Triple]]:
    """Return which unshielded triples (a, b, c), a < c, are colliders, and which are ambiguous."""
    colliders: dict[Triple, bool] = {}
    ambiguous = set()
    for b, around in enumerate(state.adjacent):
        for a, c in combinations(sorted(around), 2):
            if c in state.adjacent[a]:
                continue
            separating = separating_sets(state, a, c)
            share = sum(b in sepset for sepset in separating) / len(separating)
            certain = share in (0.0, 1.0) if rule == "conservative" else share != 0.5
            colliders[a, b, c] = certain and share < 0.5
            if not certain:
                ambiguous.add((a, b, c))
    return colliders, frozenset(ambiguous)


def separating_sets(state: SkeletonState, a: int, c: int) -> list[frozenset[int]]:
    """Return every set of variables adjacent to a, or to c, that separates them, at least the stored one."""
    ledger = state.ledger
    candidates = {
        frozenset(chosen)
        for pool in (state.adjacent[a], state.adjacent[c])
        for size in range(min(len(pool), ledger.largest_set) + 1)
        for chosen in combinations(sorted(pool), size)
    }
    ordered = sorted(candidates, key=lambda given: (len(given), sorted(given)))
    found = [given for given in ordered if ledger.pvalue("triples", a, c, given) > state.alpha]
    if found:
        return found
    stored = state.sepsets.lookup(a, c)
    assert stored is not None
    return [stored]
