"""What is made at the first look reads like what it stands for, and goes with it."""

import copy
import pickle
from operator import add

import pytest

from lmarvel.deferred import LazyMapping, LazyTuple


def pair():
    return LazyTuple(lambda: (1, 2))


def mapping():
    return LazyMapping(lambda: {"a": 1, ("b", "c"): 2})


def test_it_is_made_once_and_not_before():
    seen = []
    lazy = LazyTuple(lambda: seen.append(1) or (1, 2))
    assert not seen
    assert (lazy[0], len(lazy), list(lazy)) == (1, 2, [1, 2])
    assert seen == [1]


def test_tuples_are_added_on_both_sides():
    for left, right in ((pair(), (3,)), (pair(), LazyTuple(lambda: (3,))), ((1,), LazyTuple(lambda: (2, 3)))):
        found = add(left, right)
        assert found == (1, 2, 3)
        assert type(found) is tuple
    for left, right in ((pair(), [3]), ([3], pair()), (pair(), 3)):
        with pytest.raises(TypeError):
            add(left, right)


def test_mappings_are_joined_on_both_sides_and_the_right_one_wins():
    right, left = mapping() | {"a": 5}, {"a": 5, "d": 6} | mapping()
    assert right == {"a": 5, ("b", "c"): 2}
    assert left == {"a": 1, "d": 6, ("b", "c"): 2}
    both = mapping() | LazyMapping(lambda: {"a": 7})
    assert both == {"a": 7, ("b", "c"): 2}
    assert {type(found) for found in (right, left, both)} == {dict}
    with pytest.raises(TypeError):
        mapping() | [("a", 1)]


def test_a_copy_of_a_mapping_is_a_dict_of_its_own():
    lazy = mapping()
    found = lazy.copy()
    found["a"] = 9
    assert type(found) is dict
    assert lazy["a"] == 1


def test_equality_hash_text_and_storage_are_those_of_what_it_stands_for():
    assert (pair() == (1, 2), hash(pair()) == hash((1, 2)), repr(pair())) == (True, True, "(1, 2)")
    assert type(pickle.loads(pickle.dumps(pair()))) is type(copy.deepcopy(pair())) is tuple
    assert (mapping() == mapping().copy(), repr(mapping())) == (True, repr(mapping().copy()))
    assert type(pickle.loads(pickle.dumps(mapping()))) is dict


def test_its_type_is_not_hidden():
    assert not isinstance(pair(), tuple)
    assert not isinstance(mapping(), dict)
