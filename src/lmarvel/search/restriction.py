"""Which pairs the search may join: max-min parents and children (MMPC; Tsamardinos, Brown & Aliferis 2006).

For a target T a set of candidates grows by max-min: the association of V with T is measured by the largest p-value of
any test of the two given a subset of the set so far, and the variable whose largest p-value is smallest comes next.
One whose largest p-value exceeds alpha is separated from T and never comes back. After a variable has entered,
only subsets that hold it are new. At the end each member is tested again, given all subsets of the others. A
pair is kept if each of the two is found from the other.

With an oracle every pair that is adjacent in the MAG is kept, since no set separates it. Some others may be too: what
separates them need not lie among the candidates. The score decides on these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.ci.growth import squared_partial_correlation
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import BudgetSpent
from lmarvel.skeleton.state import Pair, Progress

PHASE = "restriction"


class Restriction(NamedTuple):
    """The pairs that may be joined, those among them that a budget left untested, and why a budget ended the tests."""

    pairs: list[Pair]
    undecided: list[Pair]
    ended: str | None


class _Weakest(NamedTuple):
    """The test of a pair with the largest p-value so far that did not separate it."""

    pvalue: float
    given: frozenset[int]


class Restrict:
    """MMPC for all targets, on one ledger.

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, in phase "restriction".
    correlation : array
        The correlations of the data: they rank pairs whose p-values are too small to tell apart.
    alpha : float
        Level of the tests.
    max_k : int
        The largest conditioning set.

    Examples
    --------
    >>> from lmarvel import DAG, MSeparation
    >>> ledger = Ledger(MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D")))
    >>> sorted(Restrict(ledger, np.eye(4), alpha=0.01, max_k=10).parents_and_children(1, {0, 2, 3}))
    [0, 2, 3]
    """

    def __init__(self, ledger: Ledger, correlation: NDArray[np.float64], alpha: float, max_k: int) -> None:
        self.ledger = ledger
        self.correlation = correlation
        self.alpha = alpha
        self.max_k = max_k
        self.incomplete: set[Pair] = set()
        # Of a pair, whichever of the two was the target: the ledger makes no test twice.
        self._weakest: dict[Pair, _Weakest] = {}

    def parents_and_children(self, target: int, candidates: Iterable[int]) -> set[int]:
        """Return the candidates that no subset of the chosen ones separates from the target."""
        chosen = self._grow(target, [v for v in sorted(candidates) if not self._separated(target, v)])
        return self._shrink(target, chosen)

    def _grow(self, target: int, waiting: list[int]) -> list[int]:
        chosen: list[int] = []
        while waiting:
            newest = self._strongest(target, waiting)
            waiting.remove(newest)
            if self.max_k > 0:
                waiting = [v for v in waiting if not self._separated(target, v, chosen, newest)]
            chosen.append(newest)
        return chosen

    def _shrink(self, target: int, chosen: list[int]) -> set[int]:
        kept = set(chosen)
        for v in sorted(chosen, key=lambda v: -self._evidence(target, v).pvalue):
            answer = self.ledger.find_sepset(PHASE, target, v, kept - {v}, self.alpha, max_size=self.max_k)
            if answer.sepset is not None:
                kept.discard(v)
            elif not answer.complete:
                self.incomplete.add((min(target, v), max(target, v)))
        return kept

    def _separated(self, target: int, v: int, pool: Iterable[int] = (), newest: int | None = None) -> bool:
        """Test v and the target given nothing, or given the newest member with subsets of the pool."""
        if newest is None:
            pvalue = self.ledger.pvalue(PHASE, target, v, ())
            given: frozenset[int] | None = frozenset()
        else:
            most = self.max_k - 1
            answer = self.ledger.find_sepset(PHASE, target, v, pool, self.alpha, always=(newest,), max_size=most)
            pvalue, given = answer.pvalue, answer.strongest
        if pvalue > self.alpha:
            return True
        if given is not None:  # None: all of these sets were tried before
            self._note(target, v, _Weakest(pvalue, given))
        return False

    # --- max-min ----------------------------------------------------------------------------------------

    def _evidence(self, target: int, v: int) -> _Weakest:
        return self._weakest[min(target, v), max(target, v)]

    def _note(self, target: int, v: int, new: _Weakest) -> None:
        pair = (min(target, v), max(target, v))
        old = self._weakest.get(pair)
        if old is None or self._rank(target, v, new) > self._rank(target, v, old):
            self._weakest[pair] = new

    def _rank(self, target: int, v: int, weakest: _Weakest) -> tuple[float, float]:
        """Order by p-value; where that underflows to 0, the smaller partial correlation is the weaker association."""
        if weakest.pvalue > 0:
            return weakest.pvalue, 0.0
        return 0.0, -squared_partial_correlation(self.correlation, target, v, sorted(weakest.given))

    def _strongest(self, target: int, waiting: list[int]) -> int:
        """Return the variable whose largest p-value is smallest, the first of several."""
        return min(waiting, key=lambda v: self._rank(target, v, self._evidence(target, v)))


def restrict(
    ledger: Ledger,
    boundaries: list[set[int]] | None,
    correlation: NDArray[np.float64],
    alpha: float,
    max_k: int,
    progress: Progress,
) -> Restriction:
    """Run MMPC on every variable, starting from its Markov boundary or from all others.

    Where a budget ends the tests, the pairs of the variables whose turn had not come stay in.
    """
    n = len(ledger.names)
    everything = set(range(n))
    kept = [set(mb) for mb in boundaries] if boundaries is not None else [everything - {v} for v in range(n)]
    search = Restrict(ledger, correlation, alpha, max_k)
    done, ended = 0, None
    try:
        for target in range(n):
            kept[target] = search.parents_and_children(target, kept[target])
            done += 1
            progress(PHASE, done, n)
    except BudgetSpent as spent:
        ended = str(spent)
    pairs = [(x, y) for x in range(n) for y in sorted(kept[x]) if x < y and x in kept[y]]
    undecided = [(x, y) for x, y in pairs if y >= done or (x, y) in search.incomplete]
    return Restriction(pairs, undecided, ended)
