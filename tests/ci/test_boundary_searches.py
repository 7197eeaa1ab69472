"""Which boundaries are used: chosen by rows, asked for by name, or the user's own; and the budgets on finding them."""

import time

import numpy as np
import pytest

from lmarvel import FisherZ, FunctionTest, LMarvel, Moments, MSeparation, ParameterError
from lmarvel.ci.boundary_searches import METHODS, choose_boundary, markov_boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import BudgetSpent
from tests.data.simulated import sample
from tests.generators import random_study

SEARCHES = [method for method in METHODS if method != "auto"]


def rows_only(n: int, p: int) -> FisherZ:
    return FisherZ(Moments(tuple(f"X{i}" for i in range(p)), n, np.zeros(p), np.eye(p)))


# --- the choice -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p", "choice"), [(41, 10, "tc"), (40, 10, "iamb"), (101, 50, "tc"), (100, 50, "iamb")])
def test_total_conditioning_is_chosen_where_the_rows_allow(n: int, p: int, choice: str) -> None:
    assert choose_boundary(Ledger(rows_only(n, p))) == choice
    assert LMarvel().fit(rows_only(n, p).moments).result_.settings["boundary"] == choice


@pytest.mark.parametrize(("most", "choice"), [(8, "tc"), (7, "iamb"), (0, "iamb")])
def test_a_limit_on_conditioning_sets_rules_total_conditioning_out(most: int, choice: str) -> None:
    assert choose_boundary(Ledger(rows_only(1000, 10), max_conditioning=most)) == choice


def test_an_oracle_needs_no_rows() -> None:
    study = random_study(np.random.default_rng(0), 8)
    assert choose_boundary(Ledger(MSeparation(study.mag))) == "tc"


def test_a_test_of_ones_own_is_asked_about_small_sets() -> None:
    """It need not be able to condition on everything, and says nothing about its rows."""
    assert choose_boundary(Ledger(FunctionTest(lambda x, y, given: 0.5, "ABCD"))) == "iamb"


@pytest.mark.parametrize("method", SEARCHES)
def test_the_result_names_the_search_that_was_asked_for(method: str) -> None:
    rng = np.random.default_rng(1)
    result = LMarvel(boundary=method).fit(sample(rng, random_study(rng, 8), 500)).result_
    assert result.settings["boundary"] == method


@pytest.mark.parametrize(("p", "level"), [(8, 0.01), (14, 0.01), (15, 2 / 15**2), (50, 2 / 50**2)])
def test_the_level_of_boundaries_is_two_by_p_squared_and_at_most_alpha(p: int, level: float) -> None:
    assert LMarvel().fit(rows_only(200, p).moments).result_.settings["boundary_alpha"] == level


def test_the_level_of_boundaries_can_be_chosen() -> None:
    rng = np.random.default_rng(2)
    data = sample(rng, random_study(rng, 10, degree=4), 100)
    sizes = [sum(map(len, LMarvel(boundary_alpha=level).fit(data).boundaries_.values())) for level in (1e-9, 0.02, 0.9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]


def test_an_unknown_search_is_refused() -> None:
    with pytest.raises(ParameterError, match="boundary must be one of auto, tc, gs, iamb, inter-iamb, fast-iamb"):
        markov_boundaries(Ledger(rows_only(50, 3)), "pc", 0.01)


# --- own boundaries ---------------------------------------------------------------------------------------


def test_own_boundaries_are_used_as_they_are() -> None:
    mag = random_study(np.random.default_rng(3), 9).mag
    own = {v: sorted(mag.markov_boundary(v)) for v in mag.names}
    found, usual = (LMarvel(test=MSeparation(mag), boundary=b).fit() for b in (own, "auto"))
    assert found.pag_ == usual.pag_
    assert found.boundaries_ == {v: frozenset(mb) for v, mb in own.items()}
    assert found.result_.settings["boundary"] == "own"
    assert "boundary" not in found.result_.stats.tests


def test_a_variable_without_an_entry_has_an_empty_boundary() -> None:
    found = LMarvel(boundary={"X0": ["X1"], "X1": ["X0"]}).fit(rows_only(100, 3).moments)
    assert found.boundaries_["X2"] == frozenset()


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"X0": ["X9"]}, "unknown variable 'X9'"),
        ({"X9": []}, "unknown variable 'X9'"),
        ({"X0": ["X1"]}, "X1 is in the boundary of X0, but not the other way round"),
        ({"X0": ["X0"]}, "symmetric and without the variable itself"),
    ],
)
def test_own_boundaries_that_make_no_sense_are_refused(own: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        LMarvel(boundary=own).fit(rows_only(100, 3).moments)


# --- budgets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("source", ["data", "oracle"])
def test_boundaries_never_cost_more_tests_than_allowed(method: str, source: str) -> None:
    rng = np.random.default_rng(4)
    study = random_study(rng, 8)
    ci = FisherZ(sample(rng, study, 500)) if source == "data" else MSeparation(study.mag)
    full = Ledger(ci)
    markov_boundaries(full, method, 0.01)
    for most in range(0, full.meter.n_tests, 3):
        ledger = Ledger(ci, max_tests=most)
        with pytest.raises(BudgetSpent, match=r"tests"):
            markov_boundaries(ledger, method, 0.01)
        assert ledger.meter.n_tests <= most


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("source", ["data", "oracle"])
def test_as_many_tests_as_are_needed_are_enough(method: str, source: str) -> None:
    """A question that was asked before costs nothing."""
    rng = np.random.default_rng(4)
    study = random_study(rng, 8)
    ci = FisherZ(sample(rng, study, 500)) if source == "data" else MSeparation(study.mag)
    full = Ledger(ci)
    expected = markov_boundaries(full, method, 0.01)
    assert markov_boundaries(Ledger(ci, max_tests=full.meter.n_tests), method, 0.01) == expected


@pytest.mark.parametrize("method", SEARCHES)
def test_pairs_are_all_undecided_if_the_budget_ends_with_the_boundaries(method: str) -> None:
    rng = np.random.default_rng(5)
    result = LMarvel(boundary=method, max_tests=5).fit(sample(rng, random_study(rng, 6), 500)).result_
    assert len(result.undecided) == result.pag.n_edges == 15
    assert result.budget_ended is not None
    assert result.stats.n_tests <= 5


class Slow:
    """A test that takes its time."""

    def __init__(self, p: int) -> None:
        self.names = tuple(f"X{i}" for i in range(p))

    def pvalue(self, x: int, y: int, given: tuple[int, ...]) -> float:
        time.sleep(0.002)
        return 0.0 if abs(x - y) == 1 else 1.0


@pytest.mark.parametrize("method", SEARCHES)
def test_boundaries_take_no_longer_than_allowed(method: str) -> None:
    start = time.monotonic()
    result = LMarvel(test=Slow(60), boundary=method, max_seconds=0.1).fit().result_
    assert time.monotonic() - start < 1.5
    assert result.budget_ended is not None
    assert "max_seconds" in result.budget_ended
    assert len(result.undecided) == 60 * 59 // 2


@pytest.mark.parametrize("method", [method for method in SEARCHES if method != "tc"])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_limit_on_conditioning_sets_hides_no_edge(method: str, most: int) -> None:
    """Neighbours that no longer fit into a boundary are undecided, not absent."""
    for seed in range(10):
        mag = random_study(np.random.default_rng(seed), 7, degree=3).mag
        result = LMarvel(test=MSeparation(mag), boundary=method, max_conditioning=most).fit().result_
        assert max(result.stats.by_size(), default=0) <= most
        for edge in mag.edges():
            assert result.pag.has_edge(edge.a, edge.b)
