"""Proposition 2: the Markov boundary of a removable variable has at most Delta+_in members, the largest size of Pa+."""

from __future__ import annotations

from hypothesis import given

from lmarvel import MAG, LMarvel, MSeparation, is_chordal_undirected
from lmarvel.result.trace import Removed
from tests.generators import Study, mags, studies
from tests.paper.census import all_classes, all_mags, sample_of_mags


def check(mag: MAG) -> None:
    assert mag.delta_plus_in() == max(len(mag.pa_plus(v)) for v in mag.names)
    for x in mag.names:
        assert x not in mag.pa_plus(x)
        assert len(mag.markov_boundary(x)) <= mag.delta_plus_in() or not mag.is_removable(x)


def test_on_small_mags() -> None:
    for mag in (*all_mags().mags, *all_classes().mags[::4], *sample_of_mags().mags[::4]):
        check(mag)


@given(mags())
def test_on_larger_mags(mag: MAG) -> None:
    check(mag)


def test_the_bound_is_attained() -> None:
    complete = MAG.from_edges("A --> B", "A --> C", "B --> C")
    assert complete.is_removable("C")
    assert len(complete.markov_boundary("C")) == complete.delta_plus_in() == 2


@given(studies())
def test_lmarvel_removes_small_boundaries_only(study: Study) -> None:
    """... and the sets on which FindAdjacent and IsRemovable condition are as small."""
    mag, most = study.mag, study.mag.delta_plus_in()
    if is_chordal_undirected(mag):
        found = LMarvel(test=MSeparation(mag), assume_chordal=True).fit().result_
        assert all(len(e.boundary) <= most for e in found.trace if isinstance(e, Removed))
        assert all(size <= most for phase in ("adjacency", "removability") for size in found.stats.tests.get(phase, {}))


# The paper bounds the conditioning sets of FindAdjacent and IsRemovable, and says nothing of UpdateMb.
BEYOND = MAG.from_edges(
    "V3 --> V0", "V4 --> V0", "V5 --> V0", "V2 --> V3", "V2 --- V4", "V3 --> V8", "V3 --> V9", "V4 --> V8", "V9 --> V8"
)


def test_boundaries_are_updated_given_sets_larger_than_the_bound() -> None:
    """UpdateMb conditions on the boundary of another variable than the removable one, which can be larger."""
    assert is_chordal_undirected(BEYOND)
    assert BEYOND.delta_plus_in() == 3
    tests = LMarvel(test=MSeparation(BEYOND), assume_chordal=True, faithful=True).fit().result_.stats.tests
    assert max(tests["update"]) == 4
    assert max(*tests["adjacency"], *tests["removability"]) <= 3
