"""What the paper takes from others and builds upon: projections, Markov boundaries, and the facts about them.

* A projection shows the separations of its DAG: Z m-separates X and Y in the MAG exactly if Z and the selection
  variables d-separate them in the DAG.
* The Markov boundary of X is the one smallest set that separates X from the rest, and holds the variables that a
  collider path joins to X. Total conditioning finds it: it holds what depends on X given all others.
* X and a member of its boundary that is not adjacent to it are separated by some set inside the boundary.
* When a removable X is removed, boundaries only shrink, and one test a pair given the smaller boundary updates them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import MAG, MSeparation
from tests.generators import Study, mags, random_study, studies
from tests.paper import literal
from tests.paper.census import Census, all_classes, all_mags, sample_of_mags, subsets

censuses = pytest.mark.parametrize(
    "census", [all_mags, pytest.param(all_classes, marks=pytest.mark.slow), sample_of_mags]
)


# --- m-separation in the projection is d-separation in the DAG --------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_projection_shows_the_separations_of_its_dag_by_path_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = random_study(rng, observed=4, latent=2, selection=seed % 3, degree=2.2)
    for x, y in combinations(study.mag.names, 2):
        for z in subsets(v for v in study.mag.names if v not in (x, y)):
            in_dag = literal.m_separated(study.dag, x, y, {*z, *study.selection})
            assert literal.m_separated(study.mag, x, y, z) == in_dag


@given(studies(), st.data())
def test_projection_shows_the_separations_of_larger_dags(study: Study, data: st.DataObject) -> None:
    mag = study.mag
    for x, y in combinations(mag.names, 2):
        z = data.draw(st.sets(st.sampled_from(mag.names))) - {x, y}
        assert mag.m_separated(x, y, z) == study.dag.m_separated(x, y, z | set(study.selection))


@given(studies())
def test_marks_of_the_projection_tell_ancestors(study: Study) -> None:
    for edge in study.mag.edges():
        for a, b, at_a, _ in (edge, edge.reversed()):
            assert (at_a == literal.TAIL) == (a in literal.ancestors(study.dag, [b, *study.selection]))


# --- Markov boundaries ------------------------------------------------------------------------------------


def test_boundary_is_the_one_smallest_set_that_separates_from_the_rest() -> None:
    for mag in (*all_mags().mags, *sample_of_mags().mags[::40]):
        for x in mag.names:
            rest = [v for v in mag.names if v != x]
            blankets = [set(z) for z in subsets(rest) if all(mag.m_separated(x, y, z) for y in set(rest) - set(z))]
            smallest = [z for z in blankets if not any(other < z for other in blankets)]
            assert smallest == [mag.markov_boundary(x)]


@censuses
def test_boundary_holds_what_depends_given_all_others(census: Callable[[], Census]) -> None:
    graphs = census()
    for x in graphs.nodes:
        boundaries = [mag.markov_boundary(x) for mag in graphs.mags]
        for y in set(graphs.nodes) - {x}:
            name = graphs.mags[0].names[y]
            assert np.array_equal([name in mb for mb in boundaries], graphs.in_boundary(x, y))


@given(mags(max_nodes=9))
def test_boundary_holds_what_a_collider_path_joins(mag: MAG) -> None:
    for x in mag.names:
        joined = {y for y in mag.names if any(True for _ in mag.collider_paths(x, y))}
        assert mag.markov_boundary(x) == joined
        assert all(mag.m_separated(x, y, joined) for y in set(mag.names) - joined - {x})


@given(studies())
def test_oracle_tests_all_pairs_given_the_rest_as_it_tests_each(study: Study) -> None:
    oracle = MSeparation(study.dag, study.latent, study.selection)
    everything = range(len(oracle.names))
    matrix = oracle.dependent_given_rest(0.01)
    assert not matrix.diagonal().any()
    for x, y in permutations(everything, 2):
        assert matrix[x, y] == (oracle.pvalue(x, y, [z for z in everything if z not in (x, y)]) == 0.0)


@given(studies())
def test_oracle_given_the_rest_finds_the_boundaries_of_the_projection(study: Study) -> None:
    matrix = MSeparation(study.dag, study.latent, study.selection).dependent_given_rest()
    names = study.mag.names
    for x, row in zip(names, matrix, strict=True):
        assert {y for y, near in zip(names, row, strict=True) if near} == study.mag.markov_boundary(x)


# --- inside the boundary ----------------------------------------------------------------------------------


@censuses
def test_non_adjacent_members_of_a_boundary_are_separated_inside_it(census: Callable[[], Census]) -> None:
    graphs = census()
    for x, y in permutations(graphs.nodes, 2):
        settled = graphs.adjacent(x, y) | ~graphs.in_boundary(x, y)
        for w in subsets(set(graphs.nodes) - {x, y}):
            inside = np.logical_and.reduce([graphs.in_boundary(x, v) for v in w], initial=True)
            settled |= inside & graphs.separated(x, y, w)
        assert settled.all()


def check_update(mag: MAG) -> None:
    before = {v: mag.markov_boundary(v) for v in mag.names}
    for x in (v for v in mag.names if mag.is_removable(v)):
        rest = mag.subgraph(v for v in mag.names if v != x)
        for y in rest.names:
            assert rest.markov_boundary(y) <= before[y] - {x}
        for y, z in combinations(before[x], 2):
            together = z in rest.markov_boundary(y)
            assert together == (not mag.m_separated(y, z, before[y] - {x, z}))
            assert together == (not mag.m_separated(y, z, before[z] - {x, y}))
        for y in set(rest.names) - before[x]:
            assert rest.markov_boundary(y) == before[y]


def test_one_test_a_pair_updates_the_boundaries() -> None:
    for mag in (*all_mags().mags, *all_classes().mags[::20]):
        check_update(mag)


@given(mags())
def test_one_test_a_pair_updates_the_boundaries_of_larger_mags(mag: MAG) -> None:
    check_update(mag)
