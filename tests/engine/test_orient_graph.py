"""The compiled orientation of a maximal ancestral graph, and its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, Knowledge
from lmarvel.engine import run as engine
from lmarvel.engine.run import is_built, orient_graph
from lmarvel.knowledge.closure import Known
from lmarvel.orient.equivalence import orient_mag, uses_of_rules
from tests.generators import mags

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")


@given(mags(2, 12), st.booleans())
def test_the_pag_and_the_uses_of_rules_are_the_same(mag: MAG, selection: bool) -> None:
    readable = orient_mag(mag, selection)
    assert np.array_equal(orient_graph(np.asarray(mag.marks), selection), readable.marks)
    assert tuple(uses_of_rules(mag, selection)) == readable.log


def test_statements_are_left_to_the_readable_rules() -> None:
    mag = MAG.from_edges("A --> B", "B --> C")
    known = Known.of(Knowledge(tiers=[["A"], ["B", "C"]]).statements, mag.names)
    used = uses_of_rules(mag, True, known)
    assert used == orient_mag(mag, True, known).log
    assert len(used) > len(uses_of_rules(mag))


def test_there_may_be_no_node() -> None:
    assert orient_graph(np.zeros((0, 0), np.int8)).shape == (0, 0)
    assert [array.size for array in engine.uses_of_rules(np.zeros((0, 0), np.int8))] == [0, 0]


@pytest.mark.parametrize(
    "marks",
    [[[0, 2]], [[0, 2], [0, 0]], [[0, 4], [3, 0]], [[0, -1], [3, 0]], [[1]], [[0, 2, 0], [3, 0, 0]]],
)
def test_what_is_no_graph_is_refused(marks: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        orient_graph(np.array(marks, np.int8))
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        engine.uses_of_rules(np.array(marks, np.int8))
