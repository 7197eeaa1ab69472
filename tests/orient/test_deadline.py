"""A deadline ends every stage of an orientation, leaves marks that are right, and a record that it did."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from lmarvel import MAG, LMarvel, MSeparation, mag_to_pag
from lmarvel.errors import OutOfTime
from lmarvel.estimators import discover
from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.orient.draft import Draft
from lmarvel.orient.paths import uncovered_path
from lmarvel.orient.worklist import orient
from tests.generators import random_mag
from tests.orient.naive import skeleton_of, truth_of


def test_an_orientation_that_had_the_time_is_complete() -> None:
    for deadline in (math.inf, time.monotonic() + 60):
        found = orient(3, [(0, 2), (1, 2)], lambda *_: True, deadline=deadline)
        assert found.complete
        assert found.ended is None
        assert found.marks[0, 2] == ARROW


def test_an_orientation_without_time_says_so() -> None:
    late = orient(3, [(0, 2), (1, 2)], lambda *_: True, deadline=time.monotonic() - 1)
    assert not late.complete
    assert late.ended == "time ran out before all edges were oriented"
    assert late.log == ()
    assert late.marks[0, 2] == CIRCLE


def test_colliders_of_a_dense_graph_keep_to_the_deadline() -> None:
    """Leaves of a star: 12 million triples over one node."""
    started = time.monotonic()
    found = orient(5000, [(0, y) for y in range(1, 5000)], lambda *_: False, deadline=started + 0.1)
    assert not found.complete
    assert time.monotonic() - started < 3


def squares(draft_from: int, count: int) -> list[tuple[int, int]]:
    """A chain of squares: two ways through each, so the number of paths doubles with every square."""
    edges = []
    for k in range(count):
        start = draft_from + 3 * k
        edges += [(start, start + 1), (start, start + 2), (start + 1, start + 3), (start + 2, start + 3)]
    return edges


def test_a_search_for_paths_keeps_to_the_deadline() -> None:
    """The only walk from A to G turns in a ring, so all simple paths are tried, and there are too many of them."""
    a, f, x, y, z, g, w = range(7)
    ring = [(a, f), (f, x), (x, y), (y, w), (w, z), (z, x), (x, g), (f, g)]
    edges = [*ring, *squares(w, 60)]
    draft = Draft(w + 3 * 60 + 1, edges, deadline=time.monotonic() + 0.1)
    started = time.monotonic()
    with pytest.raises(OutOfTime):
        uncovered_path(draft, a, f, g, lambda q: [r for r in draft.mark[q] if (q, r) != (f, g)], avoid=a)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("steps", [3, 30, 60, 120, 250])
def test_marks_that_were_written_in_time_are_right(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock runs out after so many looks at it, wherever the work stands then."""
    mag = random_mag(np.random.default_rng(5), 40, latent=10, selection=2, degree=4.0)
    looks = iter(range(10**9))
    monkeypatch.setattr("lmarvel.orient.draft._TICKS", 1)
    monkeypatch.setattr("lmarvel.orient.draft.time.monotonic", lambda: float(next(looks)))
    found = orient(len(mag), skeleton_of(mag), truth_of(mag), deadline=float(steps))
    assert not found.complete
    settled = found.marks > CIRCLE
    right = mag_to_pag(mag).marks
    assert np.array_equal(found.marks[settled], right[settled])
    assert settled.sum() < (right > CIRCLE).sum()


def test_a_result_says_that_marks_are_missing_for_want_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*args, **options):
        return orient(*args[:6], time.monotonic() - 1, **options)

    monkeypatch.setattr(discover, "orient", late)
    mag = MAG.from_edges("A --> C", "B --> C")
    found = LMarvel(test=MSeparation(mag)).fit().result_
    assert found.budget_ended == "time ran out before all edges were oriented"
    assert "before the search ended" in str(found.explain("A", "C"))
