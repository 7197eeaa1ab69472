"""The engine as Python sees it: a task in, flat arrays out.

The engine is C++17 behind one thin Cython layer (``_engine.pyx``, in parts in ``door/``). It runs what
:mod:`lmarvel.skeleton` and :mod:`lmarvel.orient` run, with the same tests in the same order, and keeps what it finds in
flat arrays, from which records are made only when somebody asks. It knows nothing of names, tables or records; whoever
calls it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine import load

_engine = load()  # None where it is not built: the readable code does the same, slower

Lists = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Sets of positions, one after the other: where each begins, and the members, ascending within a set."""


class Cancel:
    """A flag that ends runs with KeyboardInterrupt; the engine looks at it without Python's lock.

    Examples
    --------
    >>> stop = Cancel()
    >>> stop.set()
    >>> stop.is_set()
    True
    """

    def __init__(self) -> None:
        self.flag = bytearray(1)

    def set(self) -> None:
        """End the runs."""
        self.flag[0] = 1

    def is_set(self) -> bool:
        """Tell whether they are to end."""
        return bool(self.flag[0])


CANCEL: ContextVar[Cancel | None] = ContextVar("cancel", default=None)
"""What ends the runs of the present context: threads hear no signals."""

EngineProgress = Callable[[int, int, int], None]
"""Called with the number of a phase, how much of it is done, and of how much."""

REST = -2
"""The length of a set that is all variables but the pair in question."""


def is_built() -> bool:
    """Tell whether the engine was compiled."""
    return _engine is not None


class Stated(NamedTuple):
    """What is known beforehand, as the engine reads it.

    Attributes
    ----------
    pairs : array of uint8, shape (p, p)
        Bits for each pair (a, b): 1, a causes b; 2, it does not; 4, some statement says that it does; 8, the two are
        adjacent; 16, they are not. The last two are symmetric.
    selection, latents : bool
        Whether the sample may be selected, and whether there may be latent causes.
    linked : bool
        Whether orientation needs the rule K1.
    """

    pairs: NDArray[np.uint8]
    selection: bool
    latents: bool
    linked: bool


class Task(NamedTuple):
    """What to learn from, and how; the engine's door reads it by name.

    Attributes
    ----------
    correlation : array of shape (p, p), or None
        The correlation matrix, C-contiguous: of the variables, or of the columns of their blocks.
    n : int
        The number of rows behind it.
    method : {"lmarvel", "fci", "rfci", "mbcs"}
        The method.
    alpha, boundary_alpha, threshold : float
        The levels of the tests, see :class:`lmarvel.skeleton.lmarvel.Levels`. FCI and RFCI with ``max_p`` search at the
        threshold, which has to be 1 then, so that a search goes on to its end.
    assume_chordal, faithful : bool
        The switches of L-MARVEL.
    max_p, possible_d_sep, colliders : bool, str, str
        Those of FCI and RFCI, see :class:`lmarvel.FCI`.
    selection : bool
        False asserts that the sample was not selected.
    critical_alpha, critical_threshold : array
        The squared partial correlations at which p is alpha, and the threshold, by size of the conditioning set.
    largest_set : int
        The largest conditioning set.
    max_tests : int or None
        The budget of tests; ``tests`` of them are spent.
    seconds, grace : float
        Seconds left, infinite without a limit; orientation has ``grace`` seconds in any case.
    blocks : array of int32, optional
        The test is the block Gaussian one; here the block of each variable begins, and the last ends.
    counts : tuple, optional
        The test is G-square, on these columns of levels; see :class:`lmarvel.ci.test.ColumnsInput`.
    glm : tuple, optional
        The test is that of products of residuals, on these basis columns.
    stated : Stated, optional
        What is known beforehand.
    """

    correlation: NDArray[np.float64] | None
    n: int
    method: str
    alpha: float
    boundary_alpha: float
    threshold: float
    assume_chordal: bool
    faithful: bool
    max_p: bool
    possible_d_sep: str
    colliders: str
    selection: bool
    critical_alpha: NDArray[np.float64] | None
    critical_threshold: NDArray[np.float64] | None
    largest_set: int
    max_tests: int | None
    tests: int
    seconds: float
    grace: float
    blocks: NDArray[np.int32] | None = None
    counts: tuple[Any, ...] | None = None
    stated: Stated | None = None
    glm: tuple[Any, ...] | None = None


def _when_read(name: str) -> Any:
    """Return an attribute that is asked from what the engine holds when it is read first."""
    return cached_property(lambda run: run.kept.array(name))


class RunArrays:
    """What the engine found, as arrays on positions; most of them are made when they are read first.

    Attributes
    ----------
    marks : array of int8, shape (p, p)
        The PAG.
    counts : list of (int, int, int)
        Tests: phase, size of the conditioning set, number.
    reason, size : str, int
        Which budget ended the skeleton ("none", "tests", "seconds", "too-large"), and the size of a set that was over
        the limit.
    late : bool
        Time ran out while edges were oriented.
    seconds : (float, float)
        What skeleton and orientation took.
    unaided : array of int8, shape (p, p), or None
        The marks that the tests alone give, where something is known beforehand.
    sets, uses : arrays of int32
        The members of all sets, one after the other; nodes and marks of the uses of rules.
    decided, undecided : arrays of shape (m, 2)
        The edges that were shown to be there, and the pairs that were left open, ascending.
    boundaries : array of shape (p, 2)
        Where the boundary of each variable begins in ``sets``, and its length.
    found : array of shape (m, 4)
        Separating sets: x, y, begin, length.
    events : array of shape (m, 9)
        Kind, x, y, z, phase, and begin and length of two sets; -1 is nothing.
    pvalues : array
        The p-value of each event.
    rules : array of shape (m, 7)
        Uses of rules: the rule, and begin and length in ``uses`` of its nodes, of what it wrote, of what was refused.
    """

    sets: NDArray[np.int32] = _when_read("sets")
    uses: NDArray[np.int32] = _when_read("uses")
    decided: NDArray[np.int32] = _when_read("decided")
    undecided: NDArray[np.int32] = _when_read("undecided")
    boundaries: NDArray[np.int64] = _when_read("boundaries")
    found: NDArray[np.int64] = _when_read("found")
    events: NDArray[np.int64] = _when_read("events")
    pvalues: NDArray[np.float64] = _when_read("pvalues")
    rules: NDArray[np.int64] = _when_read("rules")

    def __init__(
        self,
        marks: NDArray[np.int8],
        counts: list[tuple[int, int, int]],
        reason: str,
        size: int,
        late: bool,
        seconds: tuple[float, float],
        unaided: NDArray[np.int8] | None,
        kept: Any,
    ) -> None:
        self.marks, self.counts, self.reason, self.size = marks, counts, reason, size
        self.late, self.seconds, self.unaided, self.kept = late, seconds, unaided, kept


def lists_of(sets: Iterable[Iterable[int]]) -> Lists:
    """Return sets as the engine reads them.

    Examples
    --------
    >>> starts, members = lists_of([{2, 0}, set(), {1}])
    >>> starts.tolist(), members.tolist()
    ([0, 2, 2, 3], [0, 2, 1])
    """
    ordered = [sorted(s) for s in sets]
    starts = np.zeros(len(ordered) + 1, dtype=np.int64)
    np.cumsum([len(s) for s in ordered], out=starts[1:])
    return starts, np.fromiter(chain.from_iterable(ordered), dtype=np.int32, count=int(starts[-1]))


def from_precision(
    task: Task,
    precision: NDArray[np.float64],
    limit: float,
    keep: bool,
    progress: EngineProgress | None = None,
) -> RunArrays:
    """Learn with the boundaries of total conditioning.

    Parameters
    ----------
    task : Task
        What to learn from.
    precision : array of shape (p, p)
        The inverse of the correlation matrix.
    limit : float
        The squared partial correlation given all others from which on a pair is in each other's boundary.
    keep : bool
        Whether events may say how close a pair came in total conditioning.
    progress : callable, optional
        See :data:`EngineProgress`.
    """
    return _run(task, progress, precision=np.ascontiguousarray(precision), limit=limit, keep_precision=keep)


def from_sets(
    task: Task,
    sets: Sequence[Iterable[int]] | None,
    truncated: Sequence[tuple[int, Iterable[int], Iterable[int]]] = (),
    asked: Sequence[tuple[int, int, Iterable[int]]] = (),
    progress: EngineProgress | None = None,
    rest: NDArray[np.float64] | None = None,
) -> RunArrays:
    """Learn with boundaries that are given.

    Parameters
    ----------
    task : Task
        What to learn from.
    sets : sequence of sets or None
        The boundaries, symmetric; None is all other variables for each.
    truncated : sequence of (variable, members, kept)
        Searches that were cut short, see :class:`lmarvel.ci.boundaries.Boundaries`.
    asked : sequence of (x, y, set)
        Tests that were made before: of x and y given the set, or of x and all others where y is -1.
    progress : callable, optional
        See :data:`EngineProgress`.
    rest : array of shape (p, p), optional
        The boundaries come from tests of each pair given all other variables; these are their p-values.
    """
    cut = None
    if truncated:
        variables, had, kept = zip(*truncated, strict=True)
        cut = (np.array(variables, dtype=np.int32), *lists_of(had), *lists_of(kept))
    before = None
    if asked:
        x, y, given = zip(*asked, strict=True)
        before = (np.array(x, dtype=np.int32), np.array(y, dtype=np.int32), *lists_of(given))
    start: dict[str, Any] = {"complete": True} if sets is None else {"sets": lists_of(sets)}
    return _run(task, progress, **start, truncated=cut, asked=before, rest=rest)


def from_lists(
    task: Task,
    sets: Lists,
    truncated: tuple[NDArray[Any], ...],
    asked: tuple[NDArray[Any], ...],
    progress: EngineProgress | None = None,
) -> RunArrays:
    """Learn with boundaries that the engine found, see :class:`lmarvel.engine.boundaries.FlatBoundaries`."""
    return _run(task, progress, sets=sets, truncated=truncated if len(truncated[0]) else None, asked=asked)


def _run(task: Task, progress: EngineProgress | None, **boundaries: Any) -> RunArrays:
    parts = _engine.run(task, progress=progress, cancel=CANCEL.get(), **boundaries)
    return RunArrays(*parts)


def orient_graph(marks: NDArray[np.int8], selection: bool = True, stated: Stated | None = None) -> NDArray[np.int8]:
    """Return the marks that all graphs of the class of a maximal ancestral graph share, and that fit what is known.

    The twin of :func:`lmarvel.orient.equivalence.orient_mag`, without its record of the rules used.

    Examples
    --------
    >>> forth = np.array([[0, 2], [3, 0]], np.int8)
    >>> orient_graph(forth).tolist() if is_built() else [[0, 1], [1, 0]]
    [[0, 1], [1, 0]]
    """
    pag: NDArray[np.int8] = _engine.orient(marks, selection, stated)
    return pag


def uses_of_rules(marks: NDArray[np.int8], selection: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return by which rules the marks of :func:`orient_graph` follow, as the fields ``rules`` and ``uses`` of a run.

    Examples
    --------
    >>> collider = np.array([[0, 2, 0], [3, 0, 3], [0, 2, 0]], np.int8)
    >>> uses_of_rules(collider)[1].tolist() if is_built() else [0, 1, 2, 0, 1, 2, 2, 1, 2]    # nodes, and two marks
    [0, 1, 2, 0, 1, 2, 2, 1, 2]
    """
    rules, uses = _engine.uses_of_rules(marks, selection)
    return rules, uses
