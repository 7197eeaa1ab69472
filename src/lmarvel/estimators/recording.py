"""What a result reports of its run: settings, numbers of tests, seconds per phase, and versions of what computed it.

The :class:`Clock` measures the seconds of each phase, and knows when the budget of seconds is spent.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol

import numpy as np

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.ledger import Ledger
from lmarvel.data.dataset import Dataset
from lmarvel.errors import BudgetSpent
from lmarvel.result.statistics import Statistics
from lmarvel.version import __version__


class Parameters(Protocol):
    """Whatever has parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def settings_of(
    settings: Parameters,
    table: Dataset | None,
    test: IndependenceTest | None,
    level: float,
    boundary: str,
    why: str | None = None,
) -> dict[str, Any]:
    """Return the settings as a result keeps them: plain values, with what "auto" became."""
    plain = {"method": type(settings).__name__, **settings.get_params()}
    del plain["knowledge"]  # which a result keeps by itself
    plain |= {"boundary": boundary, "boundary_alpha": level}
    if why is not None:
        plain["chosen"] = why
    if test is not None:
        plain |= {"test": test.name} | ({} if test.why is None else {"test_chosen": test.why})
        if test.rows is not None:
            plain["rows"] = test.rows
    if table is not None:
        plain |= table.said()
    return {name: _plain(value) for name, value in plain.items()}


def _plain(value: Any) -> Any:
    """Return a setting as JSON can hold it: no limit is None, and what is no plain value is named."""
    if type(value) in (str, int, bool, type(None)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else type(value).__name__


def statistics(ledger: Ledger, clock: Clock) -> Statistics:
    """Return the tests by phase and size and the seconds by phase."""
    meter = ledger.meter
    return Statistics({p: meter.tests_by_size(p) for p in meter.phases}, dict(clock.seconds))


@cache
def versions(search: str) -> dict[str, str]:
    """Return the versions of what computes."""
    return {"lmarvel": __version__, "python": platform.python_version(), "numpy": np.__version__, "search": search}


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
