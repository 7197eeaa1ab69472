"""The ledger: every test of a run goes through it.

It counts *distinct* tests by phase and by size of the conditioning set, keeps what is known of each pair so
that no test is counted twice (the bookkeeping that Proposition 3 needs), and holds the budgets.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

from lmarvel.ci.base import CITest, SepsetAnswer, SepsetQuery, Tried, checked_pvalue
from lmarvel.ci.search import covers, find_sepset
from lmarvel.errors import ParameterError

PHASES = (
    "boundary",
    "restriction",
    "adjacency",
    "removability",
    "update",
    "completion",
    "chordless",
    "possible-d-sep",
    "collider-set",
    "triples",
)


def check_budgets(max_conditioning: int | None, max_tests: int | None, max_seconds: float | None) -> None:
    """Refuse budgets that make no sense."""
    for name, value in (("max_conditioning", max_conditioning), ("max_tests", max_tests)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise ParameterError(f"{name} must be a whole number of at least 0, or None, not {value!r}")
    if isinstance(max_seconds, bool) or not (max_seconds is None or _positive(max_seconds)):
        raise ParameterError(f"max_seconds must be a positive number, or None, not {max_seconds!r}")


class BudgetSpent(Exception):
    """A budget ran out; what is known so far stands."""


class _Remembered:
    """A test without a search of its own, asked at most once for each question."""

    def __init__(self, ci: CITest) -> None:
        self.ci = ci
        self.names = ci.names
        self._known: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        key = (min(x, y), max(x, y), tuple(given))
        if key not in self._known:
            self._known[key] = checked_pvalue(self.ci, *key)
        return self._known[key]


class Ledger:
    """Ask a test through here to have it counted, remembered and kept within budget.

    Parameters
    ----------
    ci : CITest
        The test.
    max_conditioning, max_tests, max_seconds : optional
        The largest conditioning set, the number of tests, and the seconds.
    started : float, optional
        The :func:`time.monotonic` from which the seconds count; now by default.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> ledger = Ledger(MSeparation(MAG.from_edges("A --> B", "B --> C")))
    >>> ledger.find_sepset("adjacency", 0, 2, [1], alpha=0.01).sepset
    frozenset({1})
    >>> ledger.n_tests, ledger.tests_by_size("adjacency")
    (2, {0: 1, 1: 1})
    """

    def __init__(
        self,
        ci: CITest,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
        started: float | None = None,
    ) -> None:
        check_budgets(max_conditioning, max_tests, max_seconds)
        self.ci: CITest = ci if hasattr(ci, "find_sepset") else _Remembered(ci)
        self.max_conditioning = max_conditioning
        # What the budget allows, and what the number of rows does.
        limits = [v for v in (max_conditioning, getattr(ci, "largest_set", None)) if v is not None]
        self.largest_set = min(limits, default=len(ci.names))
        self.max_tests = max_tests
        begin = time.monotonic() if started is None else started
        self.deadline = math.inf if max_seconds is None else begin + max_seconds
        self.n_tests = 0
        self._counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._tried: dict[tuple[int, int], list[Tried]] = defaultdict(list)
        self._rest: Tried | None = None
        # The set that came closest to separating a pair, of those that were tested and did not.
        self._closest: dict[tuple[int, int], tuple[float, frozenset[int]]] = {}
        # Variables whose boundary a limit on the size of sets cut short: the members it had, and all that was kept.
        self.truncated: dict[int, tuple[frozenset[int], frozenset[int]]] = {}

    # --- counting ---------------------------------------------------------------------------------------

    def count(self, phase: str, size: int, tests: int) -> None:
        """Add tests that were run elsewhere, as total conditioning does for all pairs at once."""
        if tests:
            self._counts[phase][size] += tests
            self.n_tests += tests

    def count_all_pairs(self, phase: str) -> None:
        """Count one test a pair given all other variables, and remember that these were made."""
        n = len(self.ci.names)
        self.count(phase, max(n - 2, 0), n * (n - 1) // 2)
        everything = tuple(range(n))
        self._rest = Tried((), everything, n - 2, n, None, 1.0)

    def spend(self, phase: str, size: int, tests: int) -> None:
        """Count tests that are about to be made, if the budget allows all of them."""
        self._check_budget(tests)
        self.count(phase, size, tests)

    def tests_by_size(self, phase: str | None = None) -> dict[int, int]:
        """Return how many tests had conditioning sets of each size, in one phase or in all."""
        total: dict[int, int] = defaultdict(int)
        for name, sizes in self._counts.items():
            if phase in (None, name):
                for size, tests in sizes.items():
                    total[size] += tests
        return dict(sorted(total.items()))

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in which tests were made, in the order of the method."""
        return tuple(sorted(self._counts, key=lambda p: PHASES.index(p) if p in PHASES else len(PHASES)))

    # --- asking -----------------------------------------------------------------------------------------

    def pvalue(self, phase: str, x: int, y: int, given: Iterable[int], unrepeated: bool = False) -> float:
        """Run one test; raise :class:`BudgetSpent` where no budget is left for it.

        ``unrepeated`` asserts that the method asks each set of this pair once: then nothing needs to be remembered.
        """
        zs = tuple(sorted(given))
        x, y = min(x, y), max(x, y)
        if len(zs) > self.largest_set:
            raise BudgetSpent(f"a conditioning set of {len(zs)} is over the limit of {self.largest_set:g}")
        full = frozenset(zs)
        if any(covers(family, full) for family in self._known(x, y, len(zs), len(zs), unrepeated)):
            self.check_time()
            return checked_pvalue(self.ci, x, y, zs)  # counted before
        self._check_budget()
        p = checked_pvalue(self.ci, x, y, zs)
        self.count(phase, len(zs), 1)
        self._compare(x, y, p, full)
        if not unrepeated:
            self._tried[x, y].append(Tried((), zs, len(zs), len(zs), None, p))
        return p

    def find_sepset(
        self,
        phase: str,
        x: int,
        y: int,
        pool: Iterable[int],
        alpha: float,
        always: tuple[int, ...] = (),
        max_size: int | None = None,
        min_size: int = 0,
        unrepeated: bool = False,
    ) -> SepsetAnswer:
        """Search for a separating set; raise :class:`BudgetSpent` if tests or time run out on the way.

        ``max_size`` limits what is taken from the pool because larger sets need no look. A limit by
        ``max_conditioning`` is a budget: the answer says that it is not complete, and the run goes on.
        """
        query = self.prepare(x, y, pool, alpha, always, max_size, min_size, unrepeated)
        answer = self.enter(phase, query, find_sepset(self.ci, query), unrepeated)
        top = len(query.pool) if max_size is None else min(max_size, len(query.pool))
        limited = query.max_size is not None and query.max_size < top and answer.sepset is None
        return answer._replace(complete=False) if limited else answer

    def prepare(
        self,
        x: int,
        y: int,
        pool: Iterable[int],
        alpha: float,
        always: tuple[int, ...] = (),
        max_size: int | None = None,
        min_size: int = 0,
        unrepeated: bool = False,
    ) -> SepsetQuery:
        """Return the query for a search with what is known and what the budgets allow put in."""
        if x > y:
            x, y = y, x
        members = tuple(sorted(pool))
        top = len(members) if max_size is None else min(max_size, len(members))
        allowed = min(top, self.largest_set - len(always))
        left = None if self.max_tests is None else self.max_tests - self.n_tests
        known = tuple(self._known(x, y, len(always) + min_size, len(always) + top, unrepeated))
        return SepsetQuery(x, y, members, always, allowed, alpha, known, left, self.deadline, min_size)

    def enter(self, phase: str, query: SepsetQuery, answer: SepsetAnswer, unrepeated: bool = False) -> SepsetAnswer:
        """Count and remember what a prepared query was answered."""
        for size, tests in enumerate(answer.tests_by_size):
            if tests:
                self.count(phase, size, tests)
        if answer.sepset is None and answer.strongest is not None:
            self._compare(query.x, query.y, answer.pvalue, answer.strongest)
        if not unrepeated:
            self._remember(query, answer)
        if not answer.complete:
            self._check_budget()
        return answer

    def _known(self, x: int, y: int, smallest: int, largest: int, unrepeated: bool = False) -> list[Tried]:
        """Return the families tried for a pair that hold sets of these sizes."""
        families = [] if unrepeated else self._tried.get((x, y), [])
        if families and (smallest > 0 or len(families) > 8):
            families = [f for f in families if _overlaps(f, smallest, largest)]
        if self._rest is not None and largest >= self._rest.smallest:
            return [*families, self._rest]
        return families

    def _remember(self, query: SepsetQuery, answer: SepsetAnswer) -> None:
        """Keep the family of sets that did not separate the pair, and the set that did."""
        assert query.max_size is not None
        largest = query.max_size if answer.stopped is None else len(answer.stopped) - 1
        families = self._tried[query.x, query.y]
        if largest >= query.min_size or answer.stopped:
            level = query.alpha
            if answer.sepset is None:
                known = [family.level for family in query.tried if family.level <= level]
                level = max([answer.pvalue, *known])
            families.append(Tried(query.always, query.pool, query.min_size, largest, answer.stopped, level))
        if answer.sepset is not None:
            zs = tuple(sorted(answer.sepset))
            families.append(Tried((), zs, len(zs), len(zs), None, answer.pvalue))

    def closest(self, x: int, y: int) -> tuple[float, frozenset[int] | None]:
        """Return the largest p-value that a test of a pair had without separating it, and the set; else (0, None)."""
        return self._closest.get((x, y) if x < y else (y, x), (0.0, None))

    def _compare(self, x: int, y: int, p: float, given: frozenset[int]) -> None:
        best = self._closest.get((x, y))
        if best is None or p > best[0]:
            self._closest[x, y] = (p, given)

    def _check_budget(self, tests: int = 1) -> None:
        if self.max_tests is not None and self.n_tests + tests > self.max_tests:
            raise BudgetSpent(f"max_tests={self.max_tests} is used up")
        self.check_time()

    def check_time(self) -> None:
        """Raise :class:`BudgetSpent` if the time is used up."""
        if time.monotonic() > self.deadline:
            raise BudgetSpent("max_seconds is used up")


def _overlaps(family: Tried, smallest: int, largest: int) -> bool:
    base = len(family.always)
    top = family.largest + (family.stop is not None)
    return base + family.smallest <= largest and base + top >= smallest


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0
