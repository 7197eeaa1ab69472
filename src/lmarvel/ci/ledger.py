"""The ledger: a test, a meter and a memory. Every test of a run goes through it.

The :class:`Meter` counts tests by phase and size, and ends the run when a budget of tests or seconds is spent. The
memory keeps what is known of each pair, so that no test is counted twice (the bookkeeping that Proposition 3 needs).
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lmarvel.budget.clock import SPENT
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.memory import Memory
from lmarvel.ci.test import CITest, SepsetAnswer, SepsetQuery
from lmarvel.errors import BudgetSpent, ParameterError
from lmarvel.knowledge.closure import Known


class Ledger:
    """Ask a test through here to have it counted, remembered and kept within budget.

    Parameters
    ----------
    test : CITest
        The test.
    max_conditioning, max_tests, max_seconds : optional
        The largest conditioning set, the number of tests, and the seconds.
    started : float, optional
        The :func:`time.monotonic` from which the seconds count; now by default.
    known : Known, optional
        What is known of the variables beforehand; the methods that ask here read it.

    Examples
    --------
    >>> from lmarvel import MAG, MSeparation
    >>> ledger = Ledger(MSeparation(MAG.from_edges("A --> B", "B --> C")))
    >>> ledger.find_sepset("adjacency", 0, 2, [1], alpha=0.01).sepset
    frozenset({1})
    >>> ledger.meter.n_tests, ledger.meter.tests_by_size("adjacency")
    (2, {0: 1, 1: 1})
    """

    def __init__(
        self,
        test: CITest,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
        started: float | None = None,
        known: Known | None = None,
    ) -> None:
        self.known = known
        check_budgets(max_conditioning, max_tests, max_seconds)
        self.test = test if isinstance(test, IndependenceTest) else IndependenceTest(test)
        self.meter = Meter(max_tests, max_seconds, started)
        self.memory = Memory()
        self.max_conditioning = max_conditioning
        # What the budget allows, and what the number of rows does.
        self.largest_set = min(
            self.test.largest_set, len(self.test.names) if max_conditioning is None else max_conditioning
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.test.names

    @property
    def limit(self) -> str:
        """What limits the size of conditioning sets, in words."""
        if self.max_conditioning is not None and self.max_conditioning <= self.test.largest_set:
            return f"max_conditioning={self.max_conditioning} limited the search"
        if self.test.shortage is not None:
            return self.test.shortage
        rows = "" if self.test.rows is None else f": {self.test.rows} rows are too few for larger ones"
        return f"conditioning sets hold at most {self.test.largest_set} variables{rows}"

    def pvalue(self, phase: str, x: int, y: int, given: Iterable[int], once: bool = False) -> float:
        """Run one test; raise :class:`BudgetSpent` where no budget is left for it.

        ``once`` asserts that the method asks each set of this pair once: then nothing needs to be remembered.
        """
        zs = tuple(sorted(given))
        x, y = min(x, y), max(x, y)
        if len(zs) > self.largest_set:
            raise BudgetSpent(f"a conditioning set of {len(zs)} is over the limit of {self.largest_set:g}")
        if self.memory.was_tried(x, y, zs, once):
            self.meter.check_time()
            return self.test.pvalue(x, y, zs)  # counted before
        self.meter.check()
        p = self.test.pvalue(x, y, zs)
        self.meter.count(phase, len(zs), 1)
        self.memory.note(x, y, zs, p, keep=not once)
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
        once: bool = False,
    ) -> SepsetAnswer:
        """Search for a separating set; raise :class:`BudgetSpent` if tests or time run out on the way.

        ``max_size`` limits what is taken from the pool because larger sets need no look. A limit by
        ``max_conditioning`` is a budget: the answer says that it is not complete, and the run goes on.
        """
        query = self.prepare(x, y, pool, alpha, always, max_size, min_size, once)
        answer = self.enter(phase, query, self.test.find_sepset(query), once)
        limited = answer.sepset is None and self.cuts_short(query, max_size)
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
        once: bool = False,
    ) -> SepsetQuery:
        """Return the query for a search with what is known and what the budgets allow put in."""
        if x > y:
            x, y = y, x
        members = tuple(sorted(pool))
        top = len(members) if max_size is None else min(max_size, len(members))
        allowed = min(top, self.largest_set - len(always))
        known = tuple(self.memory.families(x, y, len(always) + min_size, len(always) + top, once))
        return SepsetQuery(x, y, members, always, allowed, alpha, known, self.meter.left, self.meter.deadline, min_size)

    def enter(self, phase: str, query: SepsetQuery, answer: SepsetAnswer, once: bool = False) -> SepsetAnswer:
        """Count and remember what a prepared query was answered."""
        for size, tests in enumerate(answer.tests_by_size):
            if tests:
                self.meter.count(phase, size, tests)
        self.memory.note_search(query, answer, keep=not once)
        if not answer.complete:
            self.meter.check()
        return answer

    @staticmethod
    def cuts_short(query: SepsetQuery, max_size: int | None) -> bool:
        """Tell whether a limit on the size of sets kept a prepared query from looking at all that was asked for."""
        top = len(query.pool) if max_size is None else min(max_size, len(query.pool))
        return query.max_size is not None and query.max_size < top


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
    "gaps",
    "evidence",
)


def check_budgets(max_conditioning: int | None, max_tests: int | None, max_seconds: float | None) -> None:
    """Refuse budgets that make no sense."""
    for name, value in (("max_conditioning", max_conditioning), ("max_tests", max_tests)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise ParameterError(f"must be a whole number of at least 0, or None, not {value!r}", parameter=name)
    if isinstance(max_seconds, bool) or not (max_seconds is None or _positive(max_seconds)):
        raise ParameterError(f"must be a positive number, or None, not {max_seconds!r}", parameter="max_seconds")


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


class Meter:
    """Counts tests by phase and by size of the conditioning set, and raises when a budget is used up.

    Parameters
    ----------
    max_tests, max_seconds : optional
        The budgets.
    started : float, optional
        The :func:`time.monotonic` from which the seconds count; now by default.

    Examples
    --------
    >>> meter = Meter(max_tests=3)
    >>> meter.spend("adjacency", size=2, tests=2)
    >>> meter.n_tests, meter.left, meter.tests_by_size()
    (2, 1, {2: 2})
    >>> meter.spend("adjacency", size=2, tests=2)
    Traceback (most recent call last):
    ...
    lmarvel.errors.BudgetSpent: max_tests=3 is used up
    """

    def __init__(
        self, max_tests: int | None = None, max_seconds: float | None = None, started: float | None = None
    ) -> None:
        check_budgets(None, max_tests, max_seconds)
        self.max_tests = max_tests
        begin = time.monotonic() if started is None else started
        self.deadline = math.inf if max_seconds is None else begin + max_seconds
        self.n_tests = 0
        self._counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))

    @property
    def left(self) -> int | None:
        """How many tests the budget still allows; None where there is no limit."""
        return None if self.max_tests is None else self.max_tests - self.n_tests

    def count(self, phase: str, size: int, tests: int) -> None:
        """Add tests that were made."""
        if tests:
            self._counts[phase][size] += tests
            self.n_tests += tests

    def spend(self, phase: str, size: int, tests: int) -> None:
        """Count tests that are about to be made, if the budget allows all of them."""
        self.check(tests) if tests else self.check_time()
        self.count(phase, size, tests)

    def check(self, tests: int = 1) -> None:
        """Raise :class:`BudgetSpent` where so many tests, or any, are over budget."""
        if self.max_tests is not None and self.n_tests + tests > self.max_tests:
            raise BudgetSpent(f"max_tests={self.max_tests} is used up")
        self.check_time()

    def check_time(self) -> None:
        """Raise :class:`BudgetSpent` if the time is used up."""
        if time.monotonic() > self.deadline:
            raise BudgetSpent(SPENT)

    @contextmanager
    def part(self, tests: int | None, share: float) -> Iterator[None]:
        """Allow so many tests at most (None: any number), and a share of the time left, for a part of the work."""
        before = self.max_tests, self.deadline
        now = time.monotonic()
        if tests is not None:
            most = self.n_tests + tests
            self.max_tests = most if self.max_tests is None else min(self.max_tests, most)
        self.deadline = now + share * max(self.deadline - now, 0.0)
        try:
            yield
        finally:
            self.max_tests, self.deadline = before

    def tests_by_size(self, phase: str | None = None) -> dict[int, int]:
        """Return how many tests had conditioning sets of each size, in one phase or in all."""
        if phase is not None:
            return dict(sorted(self._counts[phase].items())) if phase in self._counts else {}
        total: dict[int, int] = defaultdict(int)
        for sizes in self._counts.values():
            for size, tests in sizes.items():
                total[size] += tests
        return dict(sorted(total.items()))

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in which tests were made, in the order of the method."""
        return tuple(sorted(self._counts, key=lambda p: PHASES.index(p) if p in PHASES else len(PHASES)))
