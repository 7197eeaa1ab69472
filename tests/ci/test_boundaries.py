"""With a perfect test every boundary search is exact: m-separation is a graphoid with composition."""

import pytest
from hypothesis import given, settings

from lmarvel import MAG, MSeparation
from lmarvel.ci.boundary_searches import markov_boundaries
from lmarvel.ci.ledger import Ledger
from tests.generators import Study, studies

METHODS = ("tc", "gs", "iamb", "inter-iamb", "fast-iamb")
every_method = pytest.mark.parametrize("method", METHODS)


class Alone:
    """An oracle that answers one question at a time."""

    def __init__(self, oracle: MSeparation) -> None:
        self.names = oracle.names
        self.pvalue = oracle.pvalue


def true_boundaries(mag: MAG) -> list[set[int]]:
    return [{mag.index(v) for v in mag.markov_boundary(name)} for name in mag.names]


@every_method
@settings(max_examples=40)
@given(study=studies())
def test_every_search_finds_the_markov_boundaries_of_the_mag(method: str, study: Study) -> None:
    oracle = MSeparation(study.dag, study.latent, study.selection)
    assert oracle.names == study.mag.names
    found = markov_boundaries(Ledger(oracle), method, alpha=0.01)
    assert found.method == method
    assert list(found.sets) == true_boundaries(study.mag)


@every_method
@settings(max_examples=20)
@given(study=studies(max_nodes=9))
def test_union_and_intersection_agree_where_tests_do_not_err(method: str, study: Study) -> None:
    oracle = MSeparation(study.mag)
    assert markov_boundaries(Ledger(oracle), method, 0.01, union=True) == markov_boundaries(
        Ledger(oracle), method, 0.01, union=False
    )


@given(study=studies(max_nodes=9))
def test_total_conditioning_one_test_at_a_time_is_the_same(study: Study) -> None:
    oracle = MSeparation(study.mag)
    at_once, singly = Ledger(oracle), Ledger(Alone(oracle))
    assert markov_boundaries(at_once, "tc", 0.01) == markov_boundaries(singly, "tc", 0.01)
    p = len(study.mag)
    assert at_once.meter.tests_by_size() == singly.meter.tests_by_size() == {p - 2: p * (p - 1) // 2}


@every_method
@settings(max_examples=20)
@given(study=studies(max_nodes=9))
def test_tests_are_counted_as_boundary_tests(method: str, study: Study) -> None:
    ledger = Ledger(Alone(MSeparation(study.mag)))
    markov_boundaries(ledger, method, 0.01)
    assert ledger.meter.phases == ("boundary",)
    assert ledger.meter.n_tests == sum(ledger.meter.tests_by_size("boundary").values())
    assert ledger.meter.n_tests >= len(study.mag) * (len(study.mag) - 1) // 2


@every_method
def test_a_set_that_grew_to_all_variables_is_not_cut_short(method: str) -> None:
    """The boundary of each variable is all the others; no limit had a part in that."""
    ledger = Ledger(MSeparation(MAG.from_edges("A --> C", "B --> C")))
    found = markov_boundaries(ledger, method, 0.01)
    assert list(found.sets) == [{1, 2}, {0, 2}, {0, 1}]
    assert found.truncated == {}
