"""What a result reports of its run: settings, numbers of tests, seconds per phase, and versions of what computed it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import Clock
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.data.dataset import Dataset
from lmarvel.data.scan import SMALL
from lmarvel.deferred import LazyMapping
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Mark, positions
from lmarvel.result.discovery import Discovery
from lmarvel.result.statistics import AllPairs, NamedPairs, Statistics
from lmarvel.result.trace import BudgetEnded
from lmarvel.version import __version__

_FEW = 10_000  # pairs, that are listed by name at once


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


def later_summary(test: IndependenceTest) -> Mapping[str, Any] | None:
    """Return what the table was, worked out when somebody asks if the table is small.

    The digest of all values takes longer than to learn from them. Of a large table it is a small part of the work, and
    a result should not keep such a table in memory until somebody asks.
    """
    small = test.rows is not None and test.rows * len(test.names) <= SMALL
    return LazyMapping(lambda: test.summary() or {}) if small else test.summary()


def moved_pairs(pairs: NDArray[Any], place: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return pairs where variable v stands at ``place[v]``, ascending by position; there may be millions."""
    ends = place.astype(np.int32)[pairs.reshape(-1, 2)]
    matrix = np.zeros((len(place), len(place)), dtype=bool)
    matrix[ends.min(axis=1), ends.max(axis=1)] = True  # faster than to sort
    return positions(matrix)


def named_pairs(names: tuple[str, ...], pairs: NDArray[np.intp]) -> Sequence[tuple[str, str]]:
    """Return pairs by name, ascending by position; all of them, of which there can be millions, are not listed."""
    if len(pairs) == len(names) * (len(names) - 1) // 2 > 0:
        return AllPairs(names)
    if not len(pairs):
        return ()
    place = pairs[:, 0] * len(names) + pairs[:, 1]  # which tells the pair: no other order has to be kept
    if (place[1:] < place[:-1]).any():
        pairs = np.column_stack(np.divmod(np.sort(place), len(names)))
    listed = NamedPairs(names, pairs)
    return tuple(listed) if len(listed) < _FEW else listed


def named_sets(names: Sequence[str], boundaries: Boundaries) -> dict[str, frozenset[str]]:
    """Return the Markov boundaries by name; none where the method started from the complete graph."""
    sets = () if boundaries.method == "none" else zip(names, boundaries.sets, strict=True)
    return {name: frozenset(names[v] for v in mb) for name, mb in sets}


def nothing_learned(
    names: tuple[str, ...],
    reason: str,
    clock: Clock,
    settings: Mapping[str, Any],
    test: IndependenceTest | None = None,
    ledger: Ledger | None = None,
) -> Discovery:
    """Return the result of a run whose budget did not reach for the boundaries: every pair is undecided."""
    marks = np.full((len(names), len(names)), Mark.CIRCLE, dtype=np.int8)
    np.fill_diagonal(marks, Mark.NONE)
    return Discovery(
        pag=PAG._trusted(names, marks),
        sepsets={},
        boundaries={},
        stats=Statistics({}, dict(clock.seconds)) if ledger is None else statistics(ledger, clock),
        trace=(BudgetEnded(reason),),
        settings=settings,
        undecided=AllPairs(names),
        data=None if test is None else test.summary(),
        versions=dict(versions("none" if test is None else test.search_name)),
    )
