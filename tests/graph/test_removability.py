"""Removable variables, and witnesses that others are not."""

from itertools import combinations

import pytest
from hypothesis import given

from lmarvel import MAG, PAG, GraphError, removable, why_not_removable
from tests.generators import mags
from tests.paper import literal
from tests.paper.census import all_mags, sample_of_mags


def check(mag):
    assert removable(mag) == tuple(v for v in mag.names if mag.is_removable(v))
    for x in mag.names:
        witness = why_not_removable(mag, x)
        assert (witness is None) == mag.is_removable(x)
        if witness is not None:
            check_witness(mag, witness)


def check_witness(mag, witness):
    """Hold a witness against the words of Theorem 1."""
    x, y, z, path = witness.x, witness.y, witness.z, witness.path
    assert not mag.has_edge(y, z)
    assert (path[0], path[1], path[-1]) == (z, x, y)
    assert len(set(path)) == len(path)
    if witness.condition == 1:
        assert z in mag.children(x) | mag.neighbors(x)
        assert y in mag.adjacent(x)
    else:
        assert path[1:] in set(mag.collider_paths(x, y))
        assert set(path[1:-1]) <= mag.parents(z)
    assert x in str(witness)


def test_a_witness_is_there_exactly_where_a_variable_is_not_removable():
    for mag in (*all_mags().mags, *sample_of_mags().mags[::5]):
        check(mag)


@given(mags())
def test_on_larger_mags(mag):
    check(mag)


def test_only_sets_with_x_separate_the_pair_of_a_witness():
    for mag in sample_of_mags().mags[::100]:
        for witness in filter(None, (why_not_removable(mag, v) for v in mag.names)):
            rest = [v for v in mag.names if v not in (witness.x, witness.y, witness.z)]
            sets = [w for size in range(len(rest) + 1) for w in combinations(rest, size)]
            assert not any(literal.m_separated(mag, witness.y, witness.z, w) for w in sets)


def test_positions_will_do_and_the_first_condition_is_named_in_words():
    witness = why_not_removable(MAG.from_edges("A --> B", "B --> C"), 1)
    assert str(witness) == (
        "B is not removable: A and C are not adjacent, but A is adjacent to B, and C is a child or neighbour of B,"
        " so without B nothing separates them"
    )


def test_circles_and_unknown_names_are_refused():
    with pytest.raises(GraphError, match="circle"):
        why_not_removable(PAG.from_edges("A o-o B"), "A")
    with pytest.raises(GraphError, match="nobody"):
        why_not_removable(MAG.from_edges("A --> B"), "nobody")
