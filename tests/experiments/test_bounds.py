"""The bounds on the number of tests, as numbers; what they bound is tested beside the paper's claims."""

from math import comb

import pytest

from lmarvel import MAG, LMarvel, MSeparation
from lmarvel.errors import ParameterError
from lmarvel.experiments.bounds import lower_bound, upper_bound

SIZES = [(n, d) for n in range(1, 30) for d in range(n)]


def test_the_upper_bound_is_the_sum_of_the_proof():
    for n, d in SIZES:
        half = 2**d / 2
        assert upper_bound(n, d).total == n * (n - 1) / 2 + n * (d * half + d * d * half + d * (d - 1) / 2)


def test_the_lower_bound_is_below_the_upper_and_at_most_a_factor_of_the_degree_away():
    for n, d in SIZES:
        low, high = lower_bound(n, d).total, upper_bound(n, d).total
        assert low <= high
        assert high <= 4 * (d + 1) * max(low, 1)


def test_a_clique_needs_each_pair_given_each_subset():
    assert [lower_bound(k, k - 1).cliques for k in range(1, 6)] == [0, 1, 6, 24, 80]
    assert all(lower_bound(k, k - 1).total == comb(k, 2) * 2 ** (k - 2) for k in range(3, 20))
    assert lower_bound(11, 3).cliques == 2 * 24 + 6  # what is left over is a clique too


def test_both_grow_with_variables_and_degree():
    for n, d in SIZES:
        for bound in (lower_bound, upper_bound):
            assert bound(n, d).total <= bound(n + 1, d).total
            assert d == 0 or bound(n, d - 1).total <= bound(n, d).total or bound is lower_bound


@pytest.mark.parametrize("bound", [lower_bound, upper_bound])
@pytest.mark.parametrize(
    ("n", "degree", "message"),
    [
        (0, 0, "n, the number of variables, must be at least 1, not 0"),
        (4, 4, "degree must be from 0 to n - 1 = 3, not 4"),
        (4, -1, "degree must be from 0 to n - 1 = 3, not -1"),
        (4.0, 1, "n must be a whole number, not 4.0"),
        (4, True, "degree must be a whole number, not True"),
    ],
)
def test_what_makes_no_sense_is_refused(bound, n, degree, message):
    with pytest.raises(ParameterError, match=message):
        bound(n, degree)


def test_the_bound_is_for_boundaries_by_total_conditioning_and_says_so():
    mag = MAG.from_edges("A --> B", "C --> D", "E --> F")
    bound = upper_bound(len(mag), mag.delta_plus_in()).total
    tests = {name: LMarvel(test=MSeparation(mag), boundary=name).fit().n_ci_tests_ for name in ("tc", "iamb")}
    assert tests["tc"] <= bound < tests["iamb"]
    assert "total conditioning" in upper_bound.__doc__.splitlines()[0]
