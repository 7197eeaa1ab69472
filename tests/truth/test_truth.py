"""The brute-force fixtures are what a fresh enumeration of all small MAGs gives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.truth.make_truth import CIRCLE, build, load, marks_matrix, same


@pytest.mark.parametrize(
    ("n", "mags", "classes"), [(4, 3_045, 251), pytest.param(5, 379_052, 24_566, marks=pytest.mark.slow)]
)
def test_fixture_equals_a_fresh_enumeration(n: int, mags: int, classes: int) -> None:
    fresh, stored = build(n), load(n)
    assert same(fresh, stored)
    assert stored["size"].sum() == mags
    assert len(stored["pag"]) == len(stored["representative"]) == len(stored["size"]) == classes


def test_every_class_on_four_nodes_holds_its_representative_and_as_many_mags_as_it_says() -> None:
    truth = load(4)
    assert np.array_equal(np.bincount(truth["klass"]), truth["size"])
    for number, representative in enumerate(truth["representative"]):
        members = truth["mags"][truth["klass"] == number]
        assert (members == representative).all(axis=1).any()


def test_a_pag_shows_a_mark_exactly_where_all_members_have_it() -> None:
    truth = load(4)
    for number, row in enumerate(truth["pag"]):
        pag = marks_matrix(row, 4)
        members = [marks_matrix(mag, 4) for mag in truth["mags"][truth["klass"] == number]]
        for i, j in combinations(range(4), 2):
            for at in ((i, j), (j, i)):
                seen = {int(m[at]) for m in members}
                assert pag[at] == (seen.pop() if len(seen) == 1 else CIRCLE)


def test_relabelling_the_nodes_of_a_class_gives_a_class() -> None:
    truth = load(4)
    everything = {marks_matrix(row, 4).tobytes() for row in truth["pag"]}
    for row in truth["pag"]:
        turned = marks_matrix(row, 4)[np.ix_([1, 2, 3, 0], [1, 2, 3, 0])]
        assert turned.tobytes() in everything
