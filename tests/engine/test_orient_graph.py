"""The compiled orientation of a maximal ancestral graph, and its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, mag_to_pag
from lmarvel.engine.run import is_built, orient_graph
from tests.generators import mags

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")


@given(mags(2, 12), st.booleans())
def test_the_pag_is_the_same(mag: MAG, selection: bool) -> None:
    assert np.array_equal(orient_graph(np.asarray(mag.marks), selection), mag_to_pag(mag, selection).marks)


def test_there_may_be_no_node() -> None:
    assert orient_graph(np.zeros((0, 0), np.int8)).shape == (0, 0)


@pytest.mark.parametrize(
    "marks",
    [[[0, 2]], [[0, 2], [0, 0]], [[0, 4], [3, 0]], [[0, -1], [3, 0]], [[1]], [[0, 2, 0], [3, 0, 0]]],
)
def test_what_is_no_graph_is_refused(marks: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"matrix|joined to itself|two marks"):
        orient_graph(np.array(marks, np.int8))
