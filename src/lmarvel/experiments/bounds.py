"""How many tests: at most so many for L-MARVEL (Proposition 3), and at least so many for any method (Theorem 4).

Both bounds are functions of the number n of variables and of the degree D = Delta+_in of the MAG, the largest number of
parents, district members, their parents, and neighbours of any variable (:meth:`lmarvel.MixedGraph.delta_plus_in`).
They are about runs whose tests are never wrong, and count distinct tests. Wrong answers can push a run on data beyond
the upper bound, because boundaries can then be larger than D allows.

**The upper bound** is the sum of the paper's proof, phase by phase; the order of it is n^2 + n D^2 2^D. It holds with
boundaries by total conditioning, which takes one test per pair; searches such as IAMB make more tests.

**The lower bound** is for the worst case: some MAG with n variables and a degree of at most D needs so many tests, not
each of them. The proof has two such MAGs. In the graph without edges each pair has to be asked about, for it could be
the only edge. In a graph of cliques with k = D + 1 members each pair of a clique has to be asked about given each
of the 2^(k-2) subsets W of the others: the clique in which just this pair is not adjacent, with W as the common parents
of the two, answers every other question alike. That is C(k, 2) 2^(k-2) tests per clique. The two counts come from two
graphs, so the larger of them is the bound, not their sum: between cliques one test per pair is not needed (two tests,
given nothing and given the rest of the clique, settle a variable against all members of a clique).
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import MAG


class UpperBound(NamedTuple):
    """The most tests that L-MARVEL makes in each phase, if tests are never wrong.

    Attributes
    ----------
    boundary : int
        One test per pair: total conditioning. (Searches of one variable at a time take of the order of n tests for each
        of the n variables, which is as many up to a factor.)
    adjacency : int
        For each variable X, at most D others in its boundary, and 2^(D-1) sets of the rest for each.
    removability : int
        For each variable X, at most D times D pairs, and 2^(D-1) sets of X and the rest of the boundary for each.
    update : int
        For each variable, one test per pair of its boundary.
    """

    boundary: int
    adjacency: int
    removability: int
    update: int

    @property
    def total(self) -> int:
        """All phases together."""
        return sum(self)


class LowerBound(NamedTuple):
    """The fewest tests with which any method can do in the worst case, for each of the two worst graphs.

    Attributes
    ----------
    pairs : int
        The graph without edges: one test per pair.
    cliques : int
        As many cliques of D + 1 as there is room for, and one of the rest.
    """

    pairs: int
    cliques: int

    @property
    def total(self) -> int:
        """The larger of the two: they are about different graphs."""
        return max(self)


def upper_bound(n: int, degree: int) -> UpperBound:
    """Return the most tests of L-MARVEL with boundaries by total conditioning, by phase (Proposition 3).

    Searches of boundaries such as IAMB make more tests, so that a run that starts from one can exceed it.

    Parameters
    ----------
    n : int
        The number of variables.
    degree : int
        Delta+_in of the MAG, from 0 to n - 1.

    Examples
    --------
    >>> from lmarvel import MAG, LMarvel, MSeparation
    >>> mag = MAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> upper_bound(len(mag), mag.delta_plus_in())
    UpperBound(boundary=6, adjacency=16, removability=32, update=4)
    >>> upper_bound(4, 2).total, LMarvel(test=MSeparation(mag)).fit().n_ci_tests_
    (58, 14)
    """
    _check(n, degree)
    subsets = 2**degree // 2
    return UpperBound(
        boundary=comb(n, 2),
        adjacency=n * degree * subsets,
        removability=n * degree * degree * subsets,
        update=n * comb(degree, 2),
    )


def lower_bound(n: int, degree: int) -> LowerBound:
    """Return the fewest tests with which any constraint-based method can do in the worst case (Theorem 4).

    Parameters
    ----------
    n : int
        The number of variables.
    degree : int
        Delta+_in of the MAG, from 0 to n - 1.

    Examples
    --------
    >>> lower_bound(12, 3)                                # three cliques of four: 3 * 6 * 4
    LowerBound(pairs=66, cliques=72)
    >>> lower_bound(12, 3).total <= upper_bound(12, 3).total
    True
    """
    _check(n, degree)
    many, rest = divmod(n, degree + 1)
    return LowerBound(pairs=comb(n, 2), cliques=many * _clique(degree + 1) + _clique(rest))


def bounds_of(mag: MAG) -> tuple[LowerBound, UpperBound]:
    """Return both bounds for the size and degree of a MAG.

    Examples
    --------
    >>> low, high = bounds_of(MAG.from_edges("A --> B", "A --> C", "B --> C"))
    >>> low.total, high.total
    (6, 42)
    """
    n, degree = len(mag), mag.delta_plus_in()
    return lower_bound(n, degree), upper_bound(n, degree)


def _clique(k: int) -> int:
    """Return how many tests a clique of k needs: a test for each pair and each subset of the others."""
    return comb(k, 2) * 2 ** (k - 2) if k > 1 else 0


def _check(n: int, degree: int) -> None:
    for name, value in (("n", n), ("degree", degree)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ParameterError(f"must be a whole number, not {value!r}", parameter=name)
    if n < 1:
        raise ParameterError(f"n, the number of variables, must be at least 1, not {n}")
    if not 0 <= degree < n:
        raise ParameterError(f"must be from 0 to n - 1 = {n - 1}, not {degree}", parameter="degree")
