"""Many correlation matrices, a PAG each: the replicates of a bootstrap, or of a simulation, in threads.

The engine runs without Python's lock, so that threads share one process and its memory. What is learned from each
matrix is what :class:`~lmarvel.LMarvel` learns from it, bit for bit; what is kept of it is small.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lmarvel.data.moments import Moments
from lmarvel.engine.run import CANCEL, Cancel
from lmarvel.errors import DataError, ParameterError
from lmarvel.estimators.discover import discover
from lmarvel.estimators.methods import LMarvel
from lmarvel.graph.kinds import PAG

_ROUNDING = 1e-9
_AHEAD = 16  # tables that wait for each thread
_MOST_THREADS = 256  # more would only wait for each other
_MOST_ROWS = 2**53  # up to here a float holds every count exactly


@dataclass(frozen=True, eq=False)
class Replicates:
    """What was learned from each of many matrices.

    Attributes
    ----------
    names : tuple of str
        The variables.
    marks : array of int8, shape (k, p, p)
        The marks of the PAGs: ``marks[i, x, y]`` is the mark at y on the edge x-y of the i-th, see
        :class:`~lmarvel.Mark`.
    tests : array of shape (k,)
        The number of tests of each.
    undecided : tuple of sequences
        The pairs, by name, that budgets left open.
    ended : tuple of (str or None)
        What ended a search early.

    Examples
    --------
    >>> found = learn_many(np.array([[[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]), n=200)
    >>> len(found), print(found.pag(0))
    nodes: X0 X1
    X0 o-o X1
    (2, None)
    """

    names: tuple[str, ...]
    marks: NDArray[np.int8]
    tests: NDArray[np.int64]
    undecided: tuple[Sequence[tuple[str, str]], ...]
    ended: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.marks)

    def pag(self, i: int) -> PAG:
        """Return the i-th PAG."""
        return PAG._trusted(self.names, self.marks[i])


def learn_many(
    correlations: ArrayLike | Iterable[ArrayLike],
    n: int,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.01,
    boundary: str = "auto",
    boundary_alpha: float | None = None,
    removal_threshold: float = 0.8,
    assume_chordal: bool = False,
    faithful: bool = False,
    selection: bool = True,
    max_conditioning: int | None = None,
    max_tests: int | None = None,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
) -> Replicates:
    """Learn a PAG from each of many correlation matrices with L-MARVEL, in threads.

    Parameters
    ----------
    correlations : array of shape (k, p, p), or k matrices
        The correlation matrices. Those of an iterator are taken as threads come free for them, and not kept.
    n : int
        The number of rows behind each.
    names : sequence of str, optional
        The variables; X0, X1 and so on by default.
    alpha, boundary, boundary_alpha, removal_threshold, assume_chordal, faithful, selection
        As for :class:`LMarvel`.
    max_conditioning, max_tests, max_seconds : optional
        Budgets, of each replicate.
    n_jobs : int, optional
        How many threads; as many as there are processors by default. The result does not depend on it.

    Returns
    -------
    Replicates
        Marks, tests, and what was left undecided, in the order of the matrices.

    Examples
    --------
    How sure is the arrowhead at C? Draw rows again and again:

    >>> import numpy as np
    >>> from lmarvel import Mark, learn_many
    >>> rng = np.random.default_rng(2)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> rows = np.column_stack([a, b, a + b + rng.normal(size=1000)])
    >>> drawn = (rows[rng.integers(0, 1000, 1000)] for _ in range(50))
    >>> found = learn_many([np.corrcoef(table.T) for table in drawn], n=1000, names=["A", "B", "C"])
    >>> float(np.mean(found.marks[:, 0, 2] == Mark.ARROW)) > 0.8
    True
    """
    method = LMarvel(
        alpha=alpha,
        boundary=boundary,
        boundary_alpha=boundary_alpha,
        removal_threshold=removal_threshold,
        assume_chordal=assume_chordal,
        faithful=faithful,
        selection=selection,
        max_conditioning=max_conditioning,
        max_tests=max_tests,
        max_seconds=max_seconds,
    )
    method.check_parameters()
    threads = _threads(n_jobs)
    tables = _tables(correlations, n, names)
    if not isinstance(correlations, Iterator):
        tables = iter(list(tables))  # they are there already: a wrong one is refused before any work
    first = next(tables, None)
    if first is None:
        raise DataError("there is no correlation matrix to learn from")
    found = _in_threads(method, chain([first], tables), threads)
    marks, tests, undecided, ended = zip(*found, strict=True)
    stacked = np.stack(marks)
    stacked.setflags(write=False)
    return Replicates(first.names, stacked, np.array(tests, dtype=np.int64), undecided, ended)


def _in_threads(method: LMarvel, tables: Iterator[Moments], threads: int) -> list[Learned]:
    """Learn from each table; an interruption or an error ends what is under way, too.

    Only a few tables wait for a thread at any time, so that those of an iterator need no memory together.
    """
    stop = Cancel()

    def learned(i: int, table: Moments) -> Learned:
        CANCEL.set(stop)
        return _learned(method, i, table)

    pool, waiting, found = ThreadPoolExecutor(threads), deque[Future[Learned]](), list[Learned]()
    try:
        for i, table in enumerate(tables):
            waiting.append(pool.submit(learned, i, table))
            if len(waiting) > _AHEAD * threads:
                found.append(waiting.popleft().result())
        return found + [each.result() for each in waiting]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


Learned = tuple[NDArray[np.int8], int, Sequence[tuple[str, str]], str | None]


def _learned(method: LMarvel, i: int, table: Moments) -> Learned:
    """Learn from one matrix; an error says which one it was."""
    try:
        found = discover(table, method)
    except DataError as error:
        raise DataError(f"correlation matrix number {i + 1}: {error}") from None
    early = found.budget_ended if found.undecided or _has_budget(method) else None
    return found.pag.marks, found.stats.n_tests, found.undecided, early


def _has_budget(method: LMarvel) -> bool:
    """Tell whether a budget can end a run: else its records need not be made to know that none did."""
    return any(limit is not None for limit in (method.max_tests, method.max_conditioning, method.max_seconds))


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return os.cpu_count() or 1
    if not _is_whole(n_jobs) or n_jobs < 1:
        raise ParameterError(f"must be a whole number of at least 1, not {_shown(n_jobs)}", parameter="n_jobs")
    return min(int(n_jobs), _MOST_THREADS)


def _is_whole(value: object) -> bool:
    """Tell whether a value is a whole number, Python's or NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """Return a value as a message shows it; Python does not write numbers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


def _tables(correlations: ArrayLike | Iterable[ArrayLike], n: int, names: Sequence[str] | None) -> Iterator[Moments]:
    """Return the matrices as moments, each checked, as they come."""
    if not _is_whole(n) or n < 4:
        raise DataError(
            f"must be a whole number of at least 4, the rows behind each matrix, not {_shown(n)}", parameter="n"
        )
    if n > _MOST_ROWS:
        raise DataError(f"n, the rows behind each matrix, must be at most {_MOST_ROWS:,}, not {_shown(n)}")
    return _moments(_iterated(correlations), int(n), names)


def _moments(matrices: Iterator[Any], n: int, names: Sequence[str] | None) -> Iterator[Moments]:
    called: tuple[str, ...] = ()
    for i, given in enumerate(matrices):
        matrix = _checked(i, given)
        called = called or _called(names, len(matrix))
        if len(matrix) != len(called):
            sizes = ", ".join(map(str, sorted({len(called), len(matrix)})))
            raise DataError(f"the correlation matrices differ in size: {sizes} variables")
        yield Moments(called, n, np.zeros(len(matrix)), matrix)


def _iterated(correlations: Any) -> Iterator[Any]:
    """Return the matrices one after another, or refuse what has none; errors in making one are left as they are."""
    try:
        return iter(correlations)
    except TypeError:
        kind = type(correlations).__name__
        raise DataError(
            f"must be an array of shape (k, p, p), or k matrices, not {kind}", parameter="correlations"
        ) from None


def _called(names: Sequence[str] | None, p: int) -> tuple[str, ...]:
    """Return the names of p variables, or refuse those that are none."""
    if names is None:
        return tuple(f"X{i}" for i in range(p))
    wanted = f"names must be {p} different strings, one for each variable"
    try:
        called = tuple(names)
    except TypeError:
        raise DataError(f"{wanted}, not {_shown(names)}") from None
    if not all(isinstance(v, str) and v for v in called) or not len(called) == len(set(called)) == p:
        raise DataError(wanted)
    return called


def _checked(i: int, given: ArrayLike) -> NDArray[np.float64]:
    """Return a correlation matrix, or refuse what is none."""
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"correlation matrix number {i + 1} does not consist of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        shape = " x ".join(map(str, matrix.shape))
        raise DataError(
            f"correlation matrix number {i + 1} must be square, of 2 variables or more, not {shape or 'one number'}"
        )
    # Comparisons with NaN are false, so that only numbers pass.
    within = (np.abs(matrix) <= 1 + _ROUNDING).all() and (np.abs(matrix.diagonal() - 1) <= _ROUNDING).all()
    if not (within and (np.abs(matrix - matrix.T) <= _ROUNDING).all()):
        raise DataError(
            f"matrix {i + 1} is not a correlation matrix: it must be symmetric, from -1 to 1, with a diagonal of ones"
        )
    return matrix
