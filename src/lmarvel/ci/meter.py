"""The meter: how many tests were made, and what the budgets still allow."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

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
    "gaps",
    "evidence",
)


def check_budgets(max_conditioning: int | None, max_tests: int | None, max_seconds: float | None) -> None:
    """Refuse budgets that make no sense."""
    for name, value in (("max_conditioning", max_conditioning), ("max_tests", max_tests)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise ParameterError(f"{name} must be a whole number of at least 0, or None, not {value!r}")
    if isinstance(max_seconds, bool) or not (max_seconds is None or _positive(max_seconds)):
        raise ParameterError(f"max_seconds must be a positive number, or None, not {max_seconds!r}")


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


class BudgetSpent(Exception):
    """A budget ran out; what is known so far stands."""


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
    lmarvel.ci.meter.BudgetSpent: max_tests=3 is used up
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
            raise BudgetSpent("max_seconds is used up")

    @contextmanager
    def part(self, tests: int, share: float) -> Iterator[None]:
        """Allow no more than so many tests, and this share of the time that is left, for a part of the work."""
        before = self.max_tests, self.deadline
        most = self.n_tests + tests
        now = time.monotonic()
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
