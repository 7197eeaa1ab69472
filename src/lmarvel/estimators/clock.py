"""How long each phase of a run took, and when its budget of seconds is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lmarvel.ci.meter import BudgetSpent

_BEGUN: ContextVar[float | None] = ContextVar("_BEGUN", default=None)


@contextmanager
def counting_from(moment: float) -> Iterator[None]:
    """Let the budget of seconds of a run count from a moment before it, of ``time.monotonic``.

    Examples
    --------
    >>> with counting_from(time.monotonic() - 2.0):
    ...     begun = Clock().started
    >>> Clock().started - begun >= 2.0
    True
    """
    token = _BEGUN.set(moment)
    try:
        yield
    finally:
        _BEGUN.reset(token)


class Clock:
    """Seconds by phase; ``started`` is where ``max_seconds`` counts from, reading the data included."""

    def __init__(self) -> None:
        begun = _BEGUN.get()
        self.started = time.monotonic() if begun is None else begun
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
