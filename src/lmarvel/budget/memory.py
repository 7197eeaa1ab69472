"""How much memory a run may take, so that it is refused, or done with less, before the system ends the process.

The budget is a share of what the process can still get (:mod:`lmarvel.budget.available`), or what was asked for
(:func:`limited`). Code that knows beforehand what it needs asks :func:`check`; caches take a part of :func:`allowed`.
Where the system has such a limit, a command also sets it while it learns and writes (:func:`enforced`), so that what
nobody foresaw is a :class:`MemoryError`. Not while it reads: Polars ends the process where the system refuses memory.
So readers ask :func:`watch` after each piece.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module

from lmarvel.budget.available import free, own_limits, reserved, taken
from lmarvel.errors import ParameterError, TooLarge

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_SHARE = 0.75  # of what is free, which a run may take
_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_UNITS |= {"ti": 2**40}
_LEAST = 256 * 2**20  # bytes: the program and its libraries alone take half of that
_MOST = 2**62  # bytes: more than any machine has, and less than what the system cannot count
_ROOM = 64 * 2**20  # bytes that are left in any case: with less not even a message can be written
_CLOSE = 10**9  # bytes: where less is left, it matters what libraries take
_WAY_OUT = "take fewer columns or rows, or allow more (lmarvel learn --max-memory)"
_LATE = "scipy.special"  # brings its linear algebra, with buffers for all processors
_READER = {"v": 1_500_000_000, "d": 250_000_000}  # bytes that Polars needs to start: of addresses, and of data
_ASKED: ContextVar[int | None] = ContextVar("_ASKED", default=None)
_MOST_TAKEN: ContextVar[float] = ContextVar("_MOST_TAKEN", default=math.inf)  # by the process, until it is refused more


def parse(text: str) -> int:
    """Return a number of bytes: "4GB", "500 MB", "2GiB".

    Examples
    --------
    >>> parse("4GB"), parse("1.5 GiB")
    (4000000000, 1610612736)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise ParameterError(f"must be a size such as 4GB or 500MB, not {text!r}", parameter="max_memory")
    found = int(min(float(match[1]) * _UNITS[match[2]], _MOST))
    if found < _LEAST:
        raise ParameterError(f"must be at least {shown(_LEAST)}, not {text!r}", parameter="max_memory")
    return found


def shown(size: float) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> shown(4_000_000_000), shown(268_435_456)
    ('4 GB', '268 MB')
    """
    unit, name = (10**9, "GB") if size >= 10**9 else (10**6, "MB")
    return f"{size / unit:.3g} {name}"


@contextmanager
def limited(size: int | None) -> Iterator[None]:
    """Let the runs inside take so many bytes; None leaves it as it is.

    Examples
    --------
    >>> with limited(10**9):
    ...     allowed()
    1000000000
    """
    if size is None:
        yield
        return
    asked, most = _ASKED.set(size), _MOST_TAKEN.set(max(size, taken() + _ROOM))
    try:
        yield
    finally:
        _ASKED.reset(asked)
        _MOST_TAKEN.reset(most)


def allowed() -> int:
    """Return how many bytes a run may take."""
    asked = _ASKED.get()
    return max(int(_SHARE * free()), _LEAST) if asked is None else asked


def left() -> int:
    """Return how many bytes a run may still take; what was asked for is the whole process's, which has some of it."""
    asked = _ASKED.get()
    return allowed() if asked is None else max(asked - taken(), _ROOM)


def share() -> int:
    """Return how many bytes a command may take that nobody limited, with what the process has taken already."""
    return allowed() + taken()


def check(needed: float, what: str) -> None:
    """Refuse what needs more memory than a run may still take.

    Examples
    --------
    >>> with limited(10**9):
    ...     check(5e9, "correlations of 20,000 columns")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    lmarvel.errors.TooLarge: correlations of 20,000 columns need about 5 GB of memory, but ... of 1 GB are left: ...
    """
    if needed > (rest := left()):
        of = "may be used" if _ASKED.get() is None else f"of {shown(allowed())} are left"
        raise TooLarge(f"{what} need about {shown(needed)} of memory, but {shown(rest)} {of}: {_WAY_OUT}")


def watch(what: str) -> None:
    """Refuse to go on where the process has taken more than was asked for; a reader asks this after each piece."""
    if taken() > _MOST_TAKEN.get():
        raise TooLarge(f"{what} need more than the {shown(allowed())} of memory that may be used: {_WAY_OUT}")


def check_reader() -> None:
    """Refuse to read a file where ``ulimit`` leaves less than Polars needs to start, which would abort or hang."""
    if "polars" in sys.modules:
        return
    for letter, left in own_limits().items():
        if left < _READER[letter]:
            raise TooLarge(
                f"'ulimit -{letter}' leaves {shown(max(left, 0))}, but files are read with at least"
                f" {shown(_READER[letter])}: raise the limit, and limit memory by --max-memory instead"
            )


@contextmanager
def enforced() -> Iterator[None]:
    """Have the system refuse memory beyond what was asked for; where it cannot, or nothing was asked for, do nothing.

    The limit holds for the whole process, threads and later children included, as long as this lasts. It counts what
    is reserved, and what was asked for is what is used: so it is set so far above what is reserved now. Where little is
    left, SciPy is loaded before: a library that the system refuses memory to ends the process, or says something else.
    """
    asked = _ASKED.get()
    if resource is None or asked is None:
        yield
        return
    if asked - taken() < _CLOSE:
        import_module(_LATE)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = reserved() + max(asked - taken(), _ROOM)
    limit = min([most, *(known for known in before if known != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
