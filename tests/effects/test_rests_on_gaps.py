"""A claim is no firmer than the missing edges that the rules took its marks from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lmarvel import Discovery, Lift, LMarvel, causes
from lmarvel.deferred import Deferred
from lmarvel.effects.claims import Claims
from lmarvel.effects.pag_index import Prepared
from lmarvel.result.support.frequencies import Stability
from lmarvel.result.support.grounds import Grounds


def learned(method: type[Lift] | type[LMarvel]) -> Discovery:
    """Return a result with A o-> X, B o-> X and X --> Y: the arrow rests on the missing edges of A, B and Y."""
    rng = np.random.default_rng(0)
    a, b, e, f = rng.normal(size=(4, 2000))
    x = a + b + e
    found: Discovery = method().fit({"A": a, "B": b, "X": x, "Y": 0.8 * x + f}).result_
    assert [str(edge) for edge in found.pag.edges()] == ["A o-> X", "B o-> X", "X --> Y"]
    return found


def joined(found: Discovery, a: str, b: str, times: int) -> Discovery:
    """Return the result as if so many of 40 resamples had an edge more, and all of them the same marks."""
    stability = Stability.of([found.pag] * 40)
    adjacent, marks = stability.adjacent.copy(), stability.marks.copy()
    x, y = found.pag.index(a), found.pag.index(b)
    for at in ((x, y), (y, x)):
        adjacent[at] = marks[0][at] = times
    return replace(found, later_grounds=Deferred.of(Grounds(replace(stability, adjacent=adjacent, marks=marks))))


@pytest.mark.parametrize("method", [Lift, LMarvel])
def test_a_weak_missing_edge_behind_a_mark_makes_the_claim_weak(method: type[Lift] | type[LMarvel]) -> None:
    found = learned(method)
    sure = joined(found, "A", "B", 0)
    assert causes(sure, "Y")["X"].grade == "firm"
    weak = joined(found, "A", "B", 30)  # without that gap X is no collider, and its arrow to Y may be either way
    assert weak.grade("X", "Y") == "firm"  # the marks themselves are in all resamples
    told = causes(weak, "Y")["X"]
    assert told.grade == "open"
    assert told.sentence.startswith("X may cause Y (")
    assert "a missing edge that bears on it is not established (A and B, joined in 75 % of resamples)" in told.cautions


def test_marks_rest_on_what_the_rules_used() -> None:
    found = joined(learned(Lift), "A", "B", 0)
    claims = Claims(Prepared(found.pag), found)
    names = found.pag.names
    at = (found.pag.index("X"), found.pag.index("Y"))
    pairs = {frozenset(names[v] for v in pair) for pair in claims.rests_on[at]}
    assert frozenset("AB") in pairs
    assert pairs <= {frozenset("AB"), frozenset("AY"), frozenset("BY")}
    assert (claims.marks <= found.grades.marks).all()
