"""Boundary searches by the compiled engine, for tests that it can make itself: the same sets, counts and records."""

from __future__ import annotations

import math
import time

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.ci.base import ColumnsInput
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.meter import BudgetSpent
from lmarvel.engine.boundaries import SEARCHES, FlatBoundaries, each_set, search_boundaries
from lmarvel.engine.run import is_built


def flat_boundaries(
    ledger: Ledger, method: str, alpha: float, union: bool = False, remember: bool = False
) -> FlatBoundaries | None:
    """Find boundaries and count the tests; None where the engine cannot, and :class:`BudgetSpent` as the readable code.

    ``remember`` enters what was asked in the ledger's memory, for a method that goes on in Python.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> flat_boundaries(Ledger(MSeparation(MAG.from_edges("A --> B"))), "iamb", 0.01) is None  # an oracle
    True
    """
    known = ledger.test.for_engine()
    if known is None or isinstance(known, ColumnsInput) or method not in SEARCHES or not is_built():
        return None
    meter, n = ledger.meter, len(ledger.names)
    seconds = math.inf if meter.deadline == math.inf else meter.deadline - time.monotonic()
    budget = (ledger.largest_set, meter.max_tests, meter.n_tests, seconds)
    found = search_boundaries(known.correlation, known.n, known.quantile(alpha), method, *budget, union)
    for size, tests in found.counts:
        meter.count("boundary", size, tests)
    if remember:
        ledger.memory.note_asked(found.each_asked())
    if found.reason != "none":
        spent = f"max_tests={meter.max_tests} is used up" if found.reason == "tests" else "max_seconds is used up"
        raise BudgetSpent(f"{spent}, with the boundaries of {found.reached} of {n} variables found")
    return found


def as_boundaries(found: FlatBoundaries, method: str, level: float) -> Boundaries:
    """Return boundaries that the engine found as sets."""
    truncated = {target: (had, kept) for target, had, kept in found.each_truncated()}
    return Boundaries.of(each_set(found.sets), method, level, truncated)
