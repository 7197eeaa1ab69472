"""What speaks for each part of a graph that a score chose, found in the trace; and the hidden nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE, TAIL
from lmarvel.result.evidence_wording import one_finding, without_selection
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, RefusedNode, Supported, Weighed, but_separated

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

Pair = frozenset[int]


class Evidence:
    """The records of a trace that weigh the parts of a graph, by what they weigh.

    Attributes
    ----------
    edges : dict
        For each pair with an edge its :class:`~lmarvel.result.trace.Weighed`.
    gaps : dict
        For pairs without an edge their :class:`~lmarvel.result.trace.LeftOut`.
    distance : dict
        For (x, y), the mark at y on x-y, how much worse the best graph with another mark there is; infinite if none
        was met.
    hidden : tuple of HiddenNode
        The hidden nodes that the graph rests on.
    refused : tuple of RefusedNode
        Those that unequal noise, bends or interactions can explain.
    chose : Chose or None
        Which stage of the search gave the graph.

    Examples
    --------
    >>> Evidence([Supported(0, 1, 12.5), Supported(1, 0, None)]).distance
    {(0, 1): 12.5, (1, 0): inf}
    """

    def __init__(self, trace: Sequence[Event]) -> None:
        self.edges: dict[Pair, Weighed] = {}
        self.gaps: dict[Pair, LeftOut] = {}
        self.distance: dict[tuple[int, int], float] = {}
        others = list(but_separated(trace))
        self.hidden = tuple(e for e in others if isinstance(e, HiddenNode))
        self.refused = tuple(e for e in others if isinstance(e, RefusedNode))
        self.chose = next((e for e in others if isinstance(e, Chose)), None)
        for e in others:
            if isinstance(e, Weighed):
                self.edges[frozenset((e.x, e.y))] = e
            elif isinstance(e, LeftOut):
                self.gaps[frozenset((e.x, e.y))] = e
            elif isinstance(e, Supported):
                self.distance[e.x, e.y] = math.inf if e.distance is None else e.distance


def support_of(result: Discovery, a: str, b: str) -> dict[str, float | None]:
    """Return for each end of an edge how much worse the best graph is that was met and has another mark there.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import Lift
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> found = Lift().fit({"A": a, "B": b, "C": a + b + rng.normal(size=1000)}).result_
    >>> {end: distance and round(distance, 1) for end, distance in found.support("A", "C").items()}
    {'A': None, 'C': 10.4}
    """
    x, y = result.pag.index(a), result.pag.index(b)
    if not result.pag.marks[x, y]:
        raise GraphError(f"{a} and {b} are not adjacent, so there is no mark to support")
    return {a: result.evidence.distance.get((y, x)), b: result.evidence.distance.get((x, y))}


def hidden_nodes(result: Discovery) -> tuple[tuple[str, tuple[str, ...], float], ...]:
    """Return the hidden nodes that the graph rests on: the kind, the variables, what the score would lose."""
    names = result.pag.names
    return tuple((e.kind, tuple(names[v] for v in sorted(e.members)), e.loss) for e in result.evidence.hidden)


def refused_nodes(result: Discovery) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the hidden nodes that were not accepted, because unequal noise, bends or interactions can explain them.

    Sample selection by two variables alone is left out: all that it explains is the edge between them.
    """
    names = result.pag.names
    kept = (e for e in result.evidence.refused if e.kind == "latent" or len(e.members) > 2)
    return tuple((e.kind, tuple(names[v] for v in sorted(e.members))) for e in kept)


def selected_edges(result: Discovery) -> str | None:
    """Return which edges a selection node of the model may have made, in words; None where there are none.

    A sample that is selected on some variables joins any two that affect these, so such edges are one finding.
    """
    if result.mag is None or all(kind != "selection" for kind, _, _ in result.hidden):
        return None
    tails = result.mag.marks == TAIL
    joined = tails & tails.T
    names = [name for name, row in zip(result.mag.names, joined, strict=True) if row.any()]
    return one_finding(int(joined.sum()) // 2, names) if len(names) > 2 else None


def selection_gain(result: Discovery) -> str | None:
    """Return how much worse the best graph without selection is, in words; None where selection is not claimed."""
    chose = result.evidence.chose
    return None if chose is None or not claims_selection(result.pag) else without_selection(chose.selection_gain)


def claims_selection(pag: PAG) -> bool:
    """Tell whether a PAG has an edge that only selection explains: ``---`` or ``o--``."""
    marks = pag.marks
    return bool(((marks == TAIL) & ((marks.T == TAIL) | (marks.T == CIRCLE))).any())
