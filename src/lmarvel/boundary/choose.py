"""Which boundary search to use, and running it."""

from __future__ import annotations

from collections.abc import Callable

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.boundary.compiled import as_boundaries, flat_boundaries
from lmarvel.boundary.grow_shrink import grow_shrink
from lmarvel.boundary.growth import every_boundary
from lmarvel.boundary.iamb import fast_iamb, iamb, inter_iamb
from lmarvel.boundary.total_conditioning import total_conditioning
from lmarvel.ci.growth import Growth
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import ParameterError

_SEARCHES: dict[str, Callable[[Growth, float, int], bool]] = {
    "gs": grow_shrink,
    "iamb": iamb,
    "inter-iamb": inter_iamb,
    "fast-iamb": fast_iamb,
}
METHODS = ("auto", "tc", *_SEARCHES)


def choose_boundary(ledger: Ledger) -> str:
    """Return "tc" where all pairs can be tested given everything else, else "iamb".

    On a table total conditioning leaves n - p - 1 degrees of freedom; it is taken if these are at least as many as
    there are variables (and 30). A limit on the conditioning size below p - 2 rules it out. A test of one's own that
    says nothing about its rows is asked about small sets only, unless it offers to test all pairs at once.
    """
    p, test = len(ledger.names), ledger.test
    columns = test.columns  # more than variables, where some are blocks
    enough = test.tests_all_pairs if test.rows is None else test.rows - columns - 1 >= max(columns, 30)
    return "tc" if enough and ledger.largest_set >= p - 2 else "iamb"


def markov_boundaries(ledger: Ledger, method: str, alpha: float, union: bool = False) -> Boundaries:
    """Find the Markov boundary of every variable.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked and counted, in phase "boundary".
    method : {"auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"}
        "auto" chooses between "tc" and "iamb".
    alpha : float
        The level.
    union : bool
        Boundaries found one target at a time need not agree: keep a pair that either found (True) or both (False).

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> oracle = MSeparation(MAG.from_edges("A --> C", "B --> C", "C --> D"))
    >>> found = markov_boundaries(Ledger(oracle), "iamb", alpha=0.01)
    >>> found.method, [sorted(mb) for mb in found.sets]
    ('iamb', [[1, 2], [0, 2, 3], [0, 1], [1]])
    """
    if method not in METHODS:
        raise ParameterError(f"boundary must be one of {', '.join(METHODS)}, not {method!r}")
    if method == "auto":
        method = choose_boundary(ledger)
    if method == "tc":
        return total_conditioning(ledger, alpha)
    compiled = flat_boundaries(ledger, method, alpha, union, remember=True)
    if compiled is not None:
        return as_boundaries(compiled, method, alpha)
    search, most = _SEARCHES[method], ledger.largest_set
    sets, truncated = every_boundary(ledger, lambda growth: search(growth, alpha, most), alpha, union)
    return Boundaries.of(sets, method, alpha, truncated)
