"""Where a method starts: Markov boundaries that are searched, all pairs, or what a user passes, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.boundary.choose import METHODS, markov_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import ParameterError
from lmarvel.graph.checks import listing
from lmarvel.near import did_you_mean

Boundary = str | Mapping[str, Sequence[str]]


def check_boundary_name(boundary: object, complete: bool) -> None:
    """Refuse a boundary method that is not one; "none", the complete graph, is one where ``complete`` says so."""
    allowed = (*METHODS, "none") if complete else METHODS
    if not isinstance(boundary, Mapping) and boundary not in allowed:
        meant = did_you_mean(str(boundary), allowed)
        raise ParameterError(f"boundary must be one of {', '.join(allowed)}, or a mapping, not {boundary!r}{meant}")


def boundaries_for(boundary: Boundary, ledger: Ledger, level: float) -> Boundaries:
    """Return the graph to start from, with pairs in it that are known to be adjacent."""
    found = _boundaries_for(boundary, ledger, level)
    if ledger.known is None or not ledger.known.required.any():
        return found
    near = [set(np.flatnonzero(row).tolist()) for row in ledger.known.required]
    joined = [set(mb) | more for mb, more in zip(found.sets, near, strict=True)]
    return Boundaries.of(joined, found.method, found.level, found.truncated)


def _boundaries_for(boundary: Boundary, ledger: Ledger, level: float) -> Boundaries:
    """Return the graph to start from: Markov boundaries, or all pairs for "none"."""
    if isinstance(boundary, Mapping):
        return Boundaries.of(_own_boundaries(boundary, ledger.names), "own", level)
    if boundary == "none":
        return Boundaries.complete(len(ledger.names), level)
    return markov_boundaries(ledger, boundary, level)


def _own_boundaries(given: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[set[int]]:
    """Check boundaries that a user passes: known names, symmetric, no variable in its own."""
    where = {name: i for i, name in enumerate(names)}
    for name in (*given, *(v for mb in given.values() for v in mb)):
        if name not in where:
            meant = did_you_mean(name, names)
            raise ParameterError(f"boundary names the unknown variable {name!r}: the test has {listing(names)}{meant}")
    boundaries = [{where[v] for v in given.get(name, ())} for name in names]
    for x, mb in enumerate(boundaries):
        for y in mb:
            if x == y or x not in boundaries[y]:
                raise ParameterError(
                    f"boundary must be symmetric and without the variable itself: {names[y]} is in the boundary of"
                    f" {names[x]}, but not the other way round"
                )
    return boundaries
