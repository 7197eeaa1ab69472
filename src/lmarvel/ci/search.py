"""The search for a separating set, in readable Python, and the way to the compiled one.

Subsets of the pool are visited by size, then in pool order; the first whose p-value exceeds alpha is the
answer. The tests of this package have the same search compiled (``engine/independence/subsets.hpp``, a template over
the test), and a test may bring one of its own (see :mod:`lmarvel.ci.adapter`): it must return the same set, p-value and
counts, and a property test holds the two together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.test import CITest, SepsetAnswer, SepsetQuery, Tried, check_distinct, checked_pvalue
from lmarvel.engine.run import CANCEL


def readable_search(
    ci: CITest, query: SepsetQuery, affords: Callable[[int, int, Sequence[int]], bool] | None = None
) -> SepsetAnswer:
    """Visit the subsets of the pool by size, then in pool order, and stop at the first independence.

    ``affords`` tells whether a test has rows enough for a set. A set that it has not is passed over, and the search is
    not complete then.
    """
    always = query.always
    top = len(query.pool) if query.max_size is None else min(query.max_size, len(query.pool))
    counts = [0] * (len(always) + max(top, 0) + 1)
    best, strongest = 0.0, None
    done = visited = 0
    passed_over = False
    for size in range(query.min_size, top + 1):
        for chosen in combinations(query.pool, size):
            late = visited % 64 == 0 and time.monotonic() > query.deadline
            visited += 1
            given = tuple(sorted((*always, *chosen)))
            if not late and affords is not None and not affords(query.x, query.y, given):
                passed_over = True
                continue
            known = _known_level(query.tried, frozenset((*always, *chosen)))
            if not late and known is not None and known <= query.alpha:
                continue
            if late or (known is None and done == query.max_tests):
                return SepsetAnswer(None, best, tuple(counts), strongest, chosen, False)
            p = checked_pvalue(ci, query.x, query.y, given)
            done += known is None
            counts[len(given)] += known is None
            if p > query.alpha:
                found = frozenset(given)
                return SepsetAnswer(found, p, tuple(counts), found, chosen, True)
            if strongest is None or p > best:
                best, strongest = p, frozenset(given)
    return SepsetAnswer(None, best, tuple(counts), strongest, None, not passed_over)


def compiled_search(
    kernel: Any, names: Sequence[str], query: SepsetQuery, top: int, critical: NDArray[np.float64] | None = None
) -> SepsetAnswer:
    """Search with a compiled test, at most ``top`` members from the pool; Fisher's z needs its critical values."""
    seconds = math.inf if query.deadline == math.inf else query.deadline - time.monotonic()
    try:
        return SepsetAnswer._make(kernel.search(query, top, seconds, CANCEL.get(), critical))
    except _REFUSED:
        check_distinct(names, query.x, query.y, (*query.always, *query.pool))
        raise


def compiled_result(ask: Callable[..., Any], names: Sequence[str], x: int, y: int, given: Sequence[int]) -> Any:
    """Return p-value, statistic and degrees of freedom by a compiled test; None where rows are too few for the set."""
    try:
        return ask(x, y, given)
    except _REFUSED:
        check_distinct(names, x, y, given)
        raise


# Compiled code checks what it is given. It knows no names, so a question that it refuses is checked again.
_REFUSED = (IndexError, OverflowError, TypeError, ValueError)


def _known_level(tried: tuple[Tried, ...], full: frozenset[int]) -> float | None:
    """Return the lowest bound on the p-value of a set that was tried before, None if it was not."""
    levels = [family.level for family in tried if covers(family, full)]
    return min(levels, default=None)


def covers(family: Tried, full: frozenset[int]) -> bool:
    """Tell whether a conditioning set belongs to a family that was tried."""
    free = full.difference(family.always)
    if len(free) != len(full) - len(family.always) or len(free) < family.smallest:
        return False
    if not free.issubset(family.pool):
        return False
    if len(free) <= family.largest:
        return True
    # Beyond the sizes that were finished, the order of visits tells.
    return family.stop is not None and len(free) == len(family.stop) and tuple(sorted(free)) < family.stop
