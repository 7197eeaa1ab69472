"""The ledger: a test, a meter and a memory. Every test of a run goes through it.

The meter counts and holds the budgets; the memory keeps what is known of each pair, so that no test is counted twice
(the bookkeeping that Proposition 3 needs).
"""

from __future__ import annotations

from collections.abc import Iterable

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.base import CITest, SepsetAnswer, SepsetQuery
from lmarvel.ci.memory import Memory
from lmarvel.ci.meter import BudgetSpent, Meter, check_budgets
from lmarvel.knowledge.known import Known


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
