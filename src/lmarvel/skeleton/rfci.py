"""RFCI: really fast causal inference (Colombo, Maathuis, Kalisch & Richardson 2012).

RFCI leaves the Possible-D-Sep search out. Instead it tests, before an orientation rule uses a triple or a
discriminating path, whether the edges that it rests on survive given what separates its ends. That needs few tests,
and with an oracle every mark is right; but edges can be too many (an RFCI-PAG, not always the PAG).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.errors import BudgetSpent
from lmarvel.orient.worklist import Verdict
from lmarvel.result.trace import Separated
from lmarvel.skeleton.pc import Pruning, pc_stable, read_colliders
from lmarvel.skeleton.state import Learned, Progress, Triple, pair_of, silent

PHASE = "triples"
_EXHAUSTIVE = 12  # a set up to this size is searched for its smallest separating subset; a larger one is thinned out


def rfci(
    ledger: Ledger,
    boundaries: Boundaries,
    alpha: float = 0.01,
    n_jobs: int = 1,
    max_p: bool = False,
    colliders: str = "standard",
    progress: Progress = silent,
) -> Learned:
    """Learn the skeleton of RFCI, up to the tests that go with orientation (see :class:`PathCheck`).

    Parameters
    ----------
    ledger : Ledger
        Where tests are asked, counted and budgeted.
    boundaries : Boundaries
        The graph to start from: Markov boundaries, or for each variable all others.
    alpha : float
        The level.
    n_jobs : int
        Threads over pairs in the PC search.
    max_p : bool
        Take the separating set with the largest p-value of its size, not the first found.
    colliders : {"standard", "conservative", "majority"}
        How colliders are read, see :mod:`lmarvel.skeleton.pc`.
    progress : callable
        Called with (what, done, of how many).
    """
    pruning = Pruning(ledger, boundaries, alpha, n_jobs, max_p)
    try:
        pc_stable(pruning, progress=progress)
        check_triples(pruning, unshielded(pruning, range(len(boundaries))))
    except BudgetSpent as spent:
        pruning.spent(spent)
    is_collider, ambiguous = read_colliders(pruning, colliders)
    return pruning.learned(is_collider, ambiguous, PathCheck(pruning, is_collider))


def unshielded(pruning: Pruning, middles: Iterable[int]) -> list[Triple]:
    """Return the unshielded triples (x, y, z), x < z, with y among ``middles``."""
    return [
        (x, y, z)
        for y in middles
        for x, z in combinations(sorted(pruning.adjacent[y]), 2)
        if z not in pruning.adjacent[x]
    ]


def check_triples(pruning: Pruning, triples: Iterable[Triple]) -> list[Triple]:
    """Test both edges of each triple given Sep(x, z) without y, cut what does not survive, and check what that opens.

    Returns the triples that stand.
    """
    queue = deque(triples)
    accepted: list[Triple] = []
    while queue:
        x, y, z = queue.popleft()
        if not _stands(pruning, x, y, z):
            continue
        given = _separating(pruning, x, z) - {y}
        cuts = [end for end in (x, z) if given - {end} and _cut_if_separated(pruning, end, y, given)]
        for end in cuts:
            common = pruning.adjacent[end] & pruning.adjacent[y]
            queue.extend((min(end, y), w, max(end, y)) for w in sorted(common))
        if not cuts:
            accepted.append((x, y, z))
    return [triple for triple in accepted if _stands(pruning, *triple)]


def _separating(pruning: Pruning, x: int, z: int) -> frozenset[int]:
    """Return the separating set of two variables that are not adjacent."""
    sepset = pruning.sepsets.lookup(x, z)
    assert sepset is not None
    return sepset


def _stands(pruning: Pruning, x: int, y: int, z: int) -> bool:
    return x in pruning.adjacent[y] and z in pruning.adjacent[y] and z not in pruning.adjacent[x]


def _cut_if_separated(pruning: Pruning, x: int, y: int, given: frozenset[int]) -> bool:
    """Cut x-y if ``given`` separates it, and store a small subset that does."""
    ledger = pruning.ledger
    zs = given - {x, y}
    if len(zs) > ledger.largest_set:
        pruning.unfinished.add(pair_of(x, y))
        return False
    p = ledger.pvalue(PHASE, x, y, zs)
    if p <= pruning.alpha:
        return False
    if len(zs) <= _EXHAUSTIVE:
        answer = pruning.try_separate(PHASE, x, y, zs, keep=False)
        if answer.sepset is not None:
            zs, p = answer.sepset, answer.pvalue
    else:
        for z in sorted(zs):
            thinner = ledger.pvalue(PHASE, x, y, zs - {z})
            if thinner > pruning.alpha:
                zs, p = zs - {z}, thinner
    pruning.separate(PHASE, x, y, zs, p)
    return True


class PathCheck:
    """Test the edges of a discriminating path before R4 uses it; the engine's ``check_path``.

    An edge u-w of the path (v, .., a, b, c) goes if some non-empty subset of Sep(v, c) separates it. What a budget
    keeps from being tested is not to be used: its edges may be too many.
    """

    def __init__(self, pruning: Pruning, is_collider: Callable[[int, int, int, int], bool]) -> None:
        self.pruning = pruning
        self.is_collider = is_collider
        self._stands: dict[tuple[int, ...], bool] = {}
        self._spent = False

    def __call__(self, path: tuple[int, ...]) -> Verdict:
        """Tell whether all edges stand, else what was cut and which colliders follow."""
        if self._spent or path in self._stands:
            return Verdict(self._stands.get(path, False))
        done = len(self.pruning.trace)
        standing: list[Triple] = []
        try:
            cut = self._cut_first(path)
            if cut is None:
                return Verdict(self._stands[path])
            standing = check_triples(self.pruning, self._over(*cut))
        except BudgetSpent as spent:
            self._spent = True
            self.pruning.ended = self.pruning.ended or str(spent)  # the edges stand as RFCI's edges do
        cuts = [(e.x, e.y) for e in self.pruning.trace[done:] if isinstance(e, Separated)]
        unchecked = [triple for x, y in cuts for triple in self._over(x, y) if self._is_unchecked(*triple)]
        colliders = [(x, y, z) for x, y, z in standing if self.is_collider(x, x, y, z)]
        return Verdict(False, tuple(cuts), tuple(colliders), tuple(unchecked))

    def _over(self, u: int, w: int) -> list[Triple]:
        """Return the unshielded triples over the gap u, w."""
        return [(min(u, w), m, max(u, w)) for m in sorted(self.pruning.adjacent[u] & self.pruning.adjacent[w])]

    def _is_unchecked(self, x: int, y: int, z: int) -> bool:
        """Tell whether a budget kept the edges of a triple from being tested."""
        return self._spent or any(pair_of(end, y) in self.pruning.unfinished for end in (x, z))

    def _cut_first(self, path: tuple[int, ...]) -> tuple[int, int] | None:
        """Cut the first edge of the path that is none and return it; else keep whether the path stands."""
        between = _separating(self.pruning, path[0], path[-1])
        tested = True
        for u, w in pairwise(path):
            answer = self.pruning.try_separate(PHASE, u, w, between - {u, w}, min_size=1)
            if answer.sepset is not None:
                return u, w
            tested &= answer.complete
        self._stands[path] = tested
        return None
