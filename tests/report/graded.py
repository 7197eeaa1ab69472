"""A result whose marks have every grade, made without learning."""

from __future__ import annotations

from functools import cache

from lmarvel import PAG, Discovery, Knowledge
from lmarvel.result.support.check import Implied
from tests.effects import graded as effects_graded

GRAPH = PAG.from_edges("A o-> C", "B o-> C", "C --> D", "C --> E", "E --> F", nodes=[*"ABCDEF"])
_OTHER = PAG.from_edges("A o-> C", "B o-> C", "C --> D", "C o-> E", "E o-o F", nodes=[*"ABCDEF"])
IMPLIED = tuple(Implied(x, y, frozenset(z), 0.5) for x, y, z in (("A", "B", ""), ("A", "D", "C"), ("D", "E", "C")))


@cache
def graded() -> Discovery:
    """C --> D is firm; on C --> E the tail is open and the arrowhead firm; E --> F is open, both ends."""
    resamples = [GRAPH] * 10 + [_OTHER] * 10
    return effects_graded.graded(GRAPH, resamples, IMPLIED, settings={"method": "LMarvel", "selection": False})


@cache
def likely() -> Discovery:
    """The same, but 92 % of resamples have all marks, so that they are likely."""
    rest = PAG.from_edges(nodes=[*"ABCDEF"])
    return effects_graded.graded(GRAPH, [GRAPH] * 92 + [rest] * 8, IMPLIED, settings={"selection": False})


@cache
def stated() -> Discovery:
    """C comes first, as its user stated, which makes the mark at D on C o-> D an arrowhead."""
    bare = PAG.from_edges("C o-o D", "E o-o F", nodes=[*"CDEF"])
    told = PAG.from_edges("C o-> D", "E o-o F", nodes=[*"CDEF"])
    known = Knowledge(tiers=[["C"], ["D", "E", "F"]])
    return effects_graded.graded(told, [told], knowledge=known, unaided=bare)


def unchecked() -> Discovery:
    """The first one without resamples."""
    found = graded()
    return Discovery(found.pag, {}, {}, found.stats, settings=found.settings)
