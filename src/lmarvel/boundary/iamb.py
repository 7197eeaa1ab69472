"""Markov boundaries by IAMB and its variants (Tsamardinos, Aliferis & Statnikov, 2003; Yaramakala & Margaritis, 2005).

IAMB takes in the candidate that depends most on the target given the set, until none depends, and then shrinks.
Inter-IAMB shrinks after each step. Fast-IAMB takes in all dependent candidates at once and shrinks in between. They
need tests given small sets only, so there may be fewer rows than columns.
"""

from __future__ import annotations

import numpy as np

from lmarvel.boundary.growth import shrink
from lmarvel.ci.growth import Growth


def iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Grow by the strongest candidate, then shrink; tell whether growing came to its end."""
    complete = False
    while not complete and len(growth.members) < most:
        complete = _add_strongest(growth, alpha, set()) is None
    shrink(growth, alpha)
    return complete


def inter_iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Shrink after every addition; a set that was there before bans the variable that led back to it."""
    seen = {frozenset(growth.members)}
    banned: set[int] = set()
    while len(growth.members) < most:
        added = _add_strongest(growth, alpha, banned)
        if added is None:
            return True
        shrink(growth, alpha)
        now = frozenset(growth.members)
        if now in seen:
            banned.add(added)
        seen.add(now)
    return False


def fast_iamb(growth: Growth, alpha: float, most: int) -> bool:
    """Take in all dependent candidates at once, strongest first, and shrink, until nothing changes."""
    seen = {frozenset(growth.members)}
    while len(growth.members) < most:
        evidence, critical = growth.candidates(alpha)
        order = np.argsort(-evidence, kind="stable")
        new = [int(v) for v in order if evidence[v] > critical][: most - len(growth.members)]
        for v in new:
            growth.add(v)
        shrink(growth, alpha)
        now = frozenset(growth.members)
        if not new or now in seen:
            return True
        seen.add(now)
    return False


def _add_strongest(growth: Growth, alpha: float, banned: set[int]) -> int | None:
    evidence, critical = growth.candidates(alpha)
    for v in banned:
        evidence[v] = -np.inf
    strongest = int(np.argmax(evidence))
    if not evidence[strongest] > critical:
        return None
    growth.add(strongest)
    return strongest
