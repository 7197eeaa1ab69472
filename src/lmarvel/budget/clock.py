"""One clock for a run: reading, search, check, grades, evidence, explanations and writing share its seconds.

A result is looked at after the search, perhaps much later, and some of what it shows is worked out only then. So a
clock runs while somebody works and stands still otherwise: :meth:`Clock.running`. A clock that is made while another
one runs ends no later than that one, so that a command, the run that it asks for and each part of it keep one budget.
Code far from the budget asks the innermost clock that runs, :func:`current`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lmarvel.errors import BudgetSpent

SPENT = "max_seconds is used up"
_INSTANT = 1e-6  # seconds: a limit of 0 would be none
Held = Callable[[float], float]


class Clock:
    """Seconds that may pass, and the seconds that each phase took.

    Parameters
    ----------
    seconds : float, optional
        How many; no limit by default.
    began : float, optional
        From which moment of ``time.monotonic`` on; from now by default.

    Attributes
    ----------
    held : callable, optional
        How many of the seconds that are left when a search begins are held back, for what comes after it.

    Examples
    --------
    >>> Clock().left(), Clock(60.0).is_late(), Clock(60.0, began=time.monotonic() - 61).is_late()
    (inf, False, True)
    >>> with Clock(0.5).running():
    ...     current().left() <= 0.5, Clock(60.0).left() <= 0.5
    (True, True)
    """

    def __init__(self, seconds: float | None = None, began: float | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()
        now = time.monotonic()
        limit = math.inf if seconds is None else (now if began is None else began) + seconds
        self.deadline: float = min(limit, current().deadline)
        self._left: float | None = None  # where the clock stands still
        self._holders = 0
        self._outer: Clock | None = current()
        self.held: Held | None = None

    @contextmanager
    def running(self) -> Iterator[Clock]:
        """Let the clock run, and be the current one; afterwards it stands still, unless it ran before."""
        if self._left is not None:
            self.deadline = min(time.monotonic() + self._left, current().deadline)
            self._left = None
        self._holders += 1
        token = _CURRENT.set(self)
        try:
            yield self
        finally:
            _CURRENT.reset(token)
            self._holders -= 1
            if not self._holders:
                self._left = max(self.deadline - time.monotonic(), 0.0)

    def left(self) -> float:
        """Return the seconds that are left, infinitely many without a limit."""
        return max(self.deadline - time.monotonic(), 0.0) if self._left is None else self._left

    def part(self, seconds: float | None, whole: float | None) -> float | None:
        """Return as large a part of the seconds that are left as ``seconds`` are of the ``whole``.

        Examples
        --------
        >>> half_over = Clock(60.0, began=time.monotonic() - 30)
        >>> round(half_over.part(20.0, 60.0)), half_over.part(60.0, 60.0), half_over.part(20.0, None)
        (10, 60.0, 20.0)
        """
        if seconds is None or whole is None or seconds >= whole:
            return seconds
        return max(seconds * min(self.left() / whole, 1.0), _INSTANT)

    def is_late(self) -> bool:
        """Tell whether no time is left."""
        return self.deadline < math.inf and not self.left() > 0

    def begin_search(self) -> None:
        """End earlier, by what this clock, or one around it, holds back; once."""
        inner: list[Clock] = []
        clock: Clock | None = self
        while clock is not None:
            inner.append(clock)
            if clock.held is not None and clock.deadline < math.inf:
                deadline = clock.deadline - clock.held(clock.left())
                clock.held = None
                for one in inner:
                    one.deadline = min(one.deadline, deadline)
            clock = clock._outer

    def check(self) -> None:
        """Raise :class:`BudgetSpent` once no time is left."""
        if self.is_late():
            raise BudgetSpent(SPENT)

    # --- phases -----------------------------------------------------------------------------------------

    def parts(self, **phases: float | None) -> None:
        """Enter the time since the last lap under several phases; the one without a number has what is left."""
        now = time.perf_counter()
        rest = now - self._last - sum(seconds or 0.0 for seconds in phases.values())
        for phase, seconds in phases.items():
            self._enter(phase, max(rest, 0.0) if seconds is None else seconds)
        self._last = now

    def lap(self, phase: str) -> None:
        """Enter the time since the last lap under this phase."""
        now = time.perf_counter()
        self._enter(phase, now - self._last)
        self._last = now

    def _enter(self, phase: str, seconds: float) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds  # a second method has the same phases


class _Never(Clock):
    """The clock where none runs: it is never late."""

    def __init__(self) -> None:
        self.seconds, self.deadline, self._last, self._left, self._holders = {}, math.inf, 0.0, None, 0
        self._outer = self.held = None


_CURRENT: ContextVar[Clock | None] = ContextVar("_CURRENT", default=None)
_NEVER = _Never()


def current() -> Clock:
    """Return the innermost clock that runs; one that is never late where none does."""
    return _CURRENT.get() or _NEVER
