"""Seconds by phase of a run."""

from __future__ import annotations

import time
from collections.abc import Callable

from lmarvel.ci.meter import BudgetSpent


class Clock:
    """Seconds by phase; ``started`` is where ``max_seconds`` counts from, reading the data included."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def within(self, max_seconds: float | None) -> Callable[[], None]:
        """Return a function that raises :class:`BudgetSpent` once so many seconds have passed."""

        def check() -> None:
            if max_seconds is not None and time.monotonic() > self.started + max_seconds:
                raise BudgetSpent("max_seconds is used up")

        return check

    def parts(self, **phases: float | None) -> None:
        """Enter the time since the last lap under several phases; the one without a number has what is left."""
        now = time.perf_counter()
        rest = now - self._last - sum(seconds or 0.0 for seconds in phases.values())
        self.seconds |= {phase: max(rest, 0.0) if seconds is None else seconds for phase, seconds in phases.items()}
        self._last = now

    def lap(self, phase: str) -> None:
        """Enter the time since the last lap under this phase."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._last
        self._last = now
