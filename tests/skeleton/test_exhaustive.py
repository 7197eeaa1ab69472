"""Every Markov equivalence class on four and five variables, against brute force.

The fixtures of ``tests/truth`` come from the definitions alone: they judge the orientation rules, the way back from a
PAG to a MAG, and the whole of L-MARVEL with an oracle.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from tests.truth.make_truth import NONE, TAIL, load, marks_matrix

from lmarvel import MAG, PAG, LMarvel, MSeparation, mag_to_pag, pag_to_mag

NAMES = ("A", "B", "C", "D", "E")
CHUNKS = 8
CLASSES_WITH_A_CHORDLESS_CYCLE = 307  # of the 24,566 classes on five nodes
WRONG_IF_CHORDAL_IS_ASSUMED = 80

Class = tuple[MAG, PAG]


def graphs(n: int, mags: np.ndarray, pags: np.ndarray) -> list[Class]:
    pairs = zip(mags, pags, strict=True)
    return [(MAG(NAMES[:n], marks_matrix(mag, n)), PAG(NAMES[:n], marks_matrix(pag, n))) for mag, pag in pairs]


def chosen_classes(n: int, which: slice | np.ndarray) -> list[Class]:
    """Return classes as a representative and its PAG."""
    truth = load(n)
    return graphs(n, truth["representative"][which], truth["pag"][which])


@cache
def classes(chunk: int) -> list[Class]:
    """Return one class in ``CHUNKS`` of those on five nodes."""
    return chosen_classes(5, slice(chunk, None, CHUNKS))


def has_chordless_cycle(marks: np.ndarray) -> bool:
    """Look for four or five nodes whose edges among themselves are undirected, two at each: an induced cycle."""
    adjacent = marks != NONE
    undirected = (marks == TAIL) & (marks.T == TAIL)
    if undirected.sum() < 2 * 4:
        return False
    for length in (4, 5):
        for nodes in combinations(range(len(marks)), length):
            inside = np.ix_(nodes, nodes)
            if (adjacent[inside].sum(axis=0) == 2).all() and (undirected[inside].sum(axis=0) == 2).all():
                return True
    return False


def learn(mag: MAG, **options: bool) -> PAG:
    return LMarvel(test=MSeparation(mag), **options).fit().pag_


parts = pytest.mark.parametrize("chunk", range(CHUNKS))
# make check-all runs all of these, make test the first
first_parts = pytest.mark.parametrize(
    "chunk", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, CHUNKS))]
)


# --- five variables ---------------------------------------------------------------------------------------


@parts
def test_rules_find_exactly_the_marks_that_the_class_shares(chunk: int) -> None:
    assert all(mag_to_pag(mag) == pag for mag, pag in classes(chunk))


@first_parts
@pytest.mark.slow
def test_pag_to_mag_returns_a_member_of_the_class(chunk: int) -> None:
    for _, pag in classes(chunk):
        member = pag_to_mag(pag)
        assert MAG(member.names, member.marks) == member  # it passes the checks of its kind
        assert mag_to_pag(member) == pag


@parts
def test_lmarvel_learns_the_pag(chunk: int) -> None:
    assert all(learn(mag) == pag for mag, pag in classes(chunk))


@pytest.mark.slow
@first_parts
def test_assuming_chordality_goes_wrong_only_where_there_is_a_chordless_cycle(chunk: int) -> None:
    for mag, pag in classes(chunk):
        assert learn(mag, assume_chordal=True) == pag or has_chordless_cycle(mag.marks)


def test_assuming_chordality_goes_wrong_on_eighty_classes() -> None:
    cyclic = np.array([has_chordless_cycle(marks_matrix(row, 5)) for row in load(5)["representative"]])
    assert cyclic.sum() == CLASSES_WITH_A_CHORDLESS_CYCLE
    learned = [(learn(mag, assume_chordal=True), pag) for mag, pag in chosen_classes(5, cyclic)]
    wrong = [(found, pag) for found, pag in learned if found != pag]
    assert len(wrong) == WRONG_IF_CHORDAL_IS_ASSUMED
    assert all(found.skeleton() != pag.skeleton() for found, pag in wrong)


@pytest.mark.slow
def test_relabelled_variables_of_a_sample_of_classes_give_the_relabelled_pag() -> None:
    rng = np.random.default_rng(20211)
    for mag, pag in chosen_classes(5, rng.choice(len(load(5)["pag"]), 1_000, replace=False)):
        order = [str(v) for v in rng.permutation(NAMES)]
        found = learn(mag.reordered(order))
        assert found.names == tuple(order)
        assert found == pag


# --- four variables: every MAG, not only a representative of each class -----------------------------------


@cache
def four() -> list[Class]:
    truth = load(4)
    return graphs(4, truth["mags"], truth["pag"][truth["klass"]])


def test_all_3045_mags_on_four_nodes_have_the_pag_of_their_class() -> None:
    assert len(four()) == 3_045
    assert all(mag_to_pag(mag) == pag for mag, pag in four())


def test_lmarvel_learns_the_pag_of_each_mag_on_four_nodes() -> None:
    assert all(learn(mag) == pag for mag, pag in four())


@pytest.mark.slow
def test_assuming_chordality_is_harmless_on_four_nodes() -> None:
    assert all(learn(mag, assume_chordal=True) == pag for mag, pag in four())


def test_pag_to_mag_returns_a_member_of_each_class_on_four_nodes() -> None:
    for _, pag in chosen_classes(4, slice(None)):
        assert (pag_to_mag(pag), pag) in four()


@first_parts
@pytest.mark.slow
def test_stored_separating_sets_of_every_fourth_class_separate(chunk: int) -> None:
    for mag, pag in classes(chunk)[::4]:
        model = LMarvel(test=MSeparation(mag)).fit()
        assert set(model.sepsets_) == {
            (a, b) for i, a in enumerate(mag.names) for b in mag.names[i + 1 :] if not pag.has_edge(a, b)
        }
        assert all(mag.m_separated(a, b, model.sepsets_[a, b]) for a, b in model.sepsets_)
