"""A MAG of a class that fits the statements, found by deciding one open edge after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.graph.mixed import MixedGraph
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import explain_unfit, mag_to_pag, orient_mag

MOST = 400  # orientations that are tried


def fitting_member(plain: PAG, known: Known) -> MAG | None:
    """Return a MAG with this PAG that fits what is known; None where the search finds none.

    Examples
    --------
    >>> from lmarvel import Knowledge
    >>> known = Known.of(Knowledge(tiers=[["B"], ["A"]]).statements, ["A", "B"])
    >>> print(fitting_member(PAG.from_edges("A o-o B"), known).edge("A", "B"))
    A <-- B
    """
    stack, tries = [known], 0
    while stack and tries < MOST:
        tries += 1
        trial = stack.pop()
        oriented = orient_mag(plain, known.selection, trial)
        if any(use.refused for use in oriented.log):
            continue
        circle = next(iter(np.argwhere(oriented.marks == CIRCLE).tolist()), None)
        if circle is None:
            mag = _checked(plain, oriented.marks, known)
            if mag is not None:
                return mag
        else:
            stack += [*_decided(trial, oriented.marks, *circle)][::-1]
    return None


def _decided(known: Known, marks: NDArray[np.int8], x: int, y: int) -> Iterator[Known]:
    """Decide the open mark at y on x-y: a directed edge first, then one with two arrowheads."""
    for a, b in ((x, y), (y, x)):
        if marks[b, a] != ARROW and marks[a, b] != TAIL:  # a --> b is possible
            causes = known.said_causes.copy()
            causes[a, b] = True
            yield replace(known, said_causes=causes)
    if TAIL not in (marks[x, y], marks[y, x]) and not known.unconfounded[x, y]:
        never = known.said_never.copy()
        never[x, y] = never[y, x] = True
        yield replace(known, said_never=never)


def _checked(plain: PAG, marks: NDArray[np.int8], known: Known) -> MAG | None:
    """Return the MAG with these marks if there is one, it has this PAG, and it fits."""
    try:
        mag = MAG.from_edges(*MixedGraph._trusted(plain.names, marks).edges(), nodes=plain.names)
    except GraphError:
        return None
    return mag if explain_unfit(mag, known) is None and mag_to_pag(mag) == plain else None
