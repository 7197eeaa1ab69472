"""Panels: units that were measured several times become rows with the columns of a time and of the times before.

A row of unit u at time t has the value of each column at t, and under ``x_lag1`` that of t - 1. Rows whose earlier time
is not in the table are left out, and counted. What never changes within a unit has one column, and no lag. Times are
numbers, whose smallest step is one time, or dates in an order that text has, such as 2024-01-31, each the next of the
one before. Rows may come in any order.

What this assumes: no effect reaches back further than the lags, effects are the same at all times, and rows of one unit
depend on each other, so that the unit is their cluster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.columns import check_known
from lmarvel.data.levels import Levels, Wish, written
from lmarvel.data.sources.base import Rows, Source, rows_beside
from lmarvel.data.table import Table
from lmarvel.data.view import all_rows
from lmarvel.errors import DataError
from lmarvel.text import counted, joined

Vector = NDArray[np.float64]
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?([ T].*)?|\d{4}-?[QWT]\d{1,2}", re.IGNORECASE)
_MOST_LAGS = 10


class Lagged(NamedTuple):
    """A panel as one row per unit and time: its columns, the unit of each row, the tiers, and what was left out."""

    source: Source
    units: NDArray[np.int64]
    tiers: tuple[tuple[str, ...], ...]
    said: str


def panel_parts(panel: Any) -> tuple[str, str, int]:
    """Return unit, time and number of lags of what a user says.

    Examples
    --------
    >>> panel_parts("firm,year"), panel_parts(["firm", "year", 2])
    (('firm', 'year', 1), ('firm', 'year', 2))
    """
    parts = [part.strip() for part in panel.split(",")] if isinstance(panel, str) else list(panel)
    try:
        unit, time = map(str, parts[:2])
        lags = int(parts[2]) if len(parts) == 3 else 1
    except (TypeError, ValueError):
        lags = 0
    if len(parts) not in (2, 3) or not 1 <= lags <= _MOST_LAGS or unit == time:
        asked = f"must be two columns, of units and of times, and perhaps the number of lags (1 to {_MOST_LAGS})"
        raise DataError(f"{asked}, such as 'id,year' or 'id,year,2', not {panel!r}", parameter="panel")
    return unit, time, lags


def lag_name(name: str, lag: int) -> str:
    """Return what a column is called at an earlier time.

    Examples
    --------
    >>> lag_name("pay", 1)
    'pay_lag1'
    """
    return f"{name}_lag{lag}" if lag else name


def with_lags(names: Sequence[str], lags: int) -> list[str]:
    """Return names, each with those of its lags."""
    return [lag_name(name, lag) for name in names for lag in range(lags + 1)]


def is_lag(name: str, names: Sequence[str], lags: int) -> bool:
    """Tell whether a name is that of a lag of one of these columns.

    Examples
    --------
    >>> is_lag("pay_lag1", ["pay"], 1), is_lag("pay_lag2", ["pay"], 1), is_lag("pay", ["pay"], 1)
    (True, False, False)
    """
    return any(name == lag_name(one, lag) for one in names for lag in range(1, lags + 1))


def lagged(source: Source, panel: Any, plain: Sequence[str], drop: Sequence[str], wish: Wish) -> Lagged:
    """Return a table of repeated measures with lagged columns.

    Parameters
    ----------
    source : Source
        One row per unit and time.
    panel : str or sequence
        The columns of units and of times, and the number of lags.
    plain : sequence of str
        Columns that get no lag, such as weights.
    drop : sequence of str
        Columns that are not needed.
    wish : Wish
        How text is to be taken, by position in the source.

    Examples
    --------
    >>> from lmarvel.data.table import open_source
    >>> table = {"firm": [1, 1, 1, 2, 2], "year": [1, 2, 3, 5, 6], "pay": [5.0, 6.0, 8.0, 1.0, 2.0]}
    >>> found = lagged(open_source(table, None), "firm,year", (), (), Wish())
    >>> found.source.names, found.units.tolist(), found.tiers
    (['pay', 'pay_lag1'], [0, 0, 1], (('pay_lag1',), ('pay',)))
    >>> found.said
    'firm, year: 1 step back, 2 of 5 rows without the earlier time left out'
    """
    unit, time, lags = panel_parts(panel)
    check_known("panel", [unit, time], source.names)
    wanted = [i for i, name in enumerate(source.names) if name not in drop or name in (unit, time)]
    wish = wish._replace(text=frozenset({*wish.text, source.names.index(unit)}))
    names = [source.names[i] for i in wanted]
    table = Table.of(tuple(names), source.choose(wanted, wish), source.in_memory).loaded()
    rows, levels = all_rows(table), list(table.levels or (None,) * len(names))
    at_unit, at_time = names.index(unit), names.index(time)
    _check_there(rows[:, [at_unit, at_time]], (unit, time))
    units = np.unique(rows[:, at_unit], return_inverse=True)[1].reshape(-1)
    steps = _steps(time, rows[:, at_time], levels[at_time])
    _check_once(units, steps, (unit, time), rows[:, [at_unit, at_time]], (levels[at_unit], levels[at_time]))
    before = _earlier(units, steps, lags)
    kept = np.flatnonzero((before >= 0).all(axis=0))
    if len(kept) < 2 or len(np.unique(units[kept])) < 2:
        raise DataError(
            f"{counted(len(kept), 'row')} of {len(rows):,} have the same {unit!r} at the time before, in steps of"
            f" {time!r}: nothing can be learned from a panel with so few",
            parameter="panel",
        )
    columns = [i for i in range(len(names)) if i not in (at_unit, at_time)]
    made: dict[str, Vector] = {}
    tiers: list[list[str]] = [[] for _ in range(lags + 1)]
    of_made: list[Levels | None] = []
    for i in columns:
        parts = [rows[kept if not lag else before[lag - 1, kept], i] for lag in range(lags + 1)]
        changes = names[i] not in plain and not all(_same(parts[0], part) for part in parts[1:])
        for lag, part in enumerate(parts if changes else parts[:1]):
            made[_new(names, lag_name(names[i], lag), lag)] = part
            of_made.append(levels[i])
            if names[i] not in plain:
                tiers[lags - lag if changes else 0].append(lag_name(names[i], lag))
    whole = np.column_stack([*made.values(), *([] if made else [np.empty(0)])])

    def choose(at: Sequence[int], _: Wish) -> Rows:
        return rows_beside(np.ascontiguousarray(whole[:, at]), [of_made[i] for i in at])

    left = f"{len(rows) - len(kept):,} of {len(rows):,} rows without the earlier time left out"
    said = f"{unit}, {time}: {counted(lags, 'step')} back, {left}"
    return Lagged(Source(list(made), choose, True), units[kept].astype(np.int64), tuple(map(tuple, tiers)), said)


def _new(names: Sequence[str], name: str, lag: int) -> str:
    if lag and name in names:
        raise DataError(f"the table has a column {name!r} already, which a lag is to be called: rename it")
    return name


def _same(one: Vector, other: Vector) -> bool:
    return bool(((one == other) | (np.isnan(one) & np.isnan(other))).all())


def _check_there(columns: Vector, names: tuple[str, str]) -> None:
    for name, gaps in zip(names, np.isnan(columns).sum(axis=0).tolist(), strict=True):
        if gaps:
            missing = counted(gaps, "missing value")
            raise DataError(f"the panel column {name!r} has {missing}: each row needs a unit and a time")


def _steps(name: str, times: Vector, levels: Levels | None) -> NDArray[np.int64]:
    """Return times as whole steps."""
    if levels is not None:
        strange = [] if levels.ordered else [text for text in levels.names if not _DATE.fullmatch(text)]
        if strange:
            raise DataError(
                f"the times in {name!r} are neither numbers nor dates such as 2024-01-31, but {strange[0]!r}: number"
                " them in their order",
                parameter="panel",
            )
        return times.astype(np.int64)
    distinct = np.unique(times)
    if len(distinct) < 2:
        raise DataError(f"all rows have the same time in {name!r}: a panel needs several", parameter="panel")
    return np.asarray(np.rint((times - distinct[0]) / np.diff(distinct).min()), dtype=np.int64)


def _check_once(
    units: NDArray[Any],
    steps: NDArray[np.int64],
    names: tuple[str, str],
    values: Vector,
    levels: tuple[Levels | None, Levels | None],
) -> None:
    """Refuse a unit with two rows at one time."""
    pairs, first, counts = np.unique(np.column_stack([units, steps]), axis=0, return_index=True, return_counts=True)
    if len(pairs) == len(units):
        return
    k = first[int(np.argmax(counts > 1))]
    shown = [written(v) if known is None else known.names[int(v)] for v, known in zip(values[k], levels, strict=True)]
    where = joined(f"{name} {value}" for name, value in zip(names, shown, strict=True))
    more = int((counts > 1).sum()) - 1
    others = f" (and {more:,} more such)" if more else ""
    raise DataError(
        f"{counts.max() if not more else 'several'} rows have {where}{others}: a panel has one row per unit and time",
        parameter="panel",
    )


def _earlier(units: NDArray[Any], steps: NDArray[np.int64], lags: int) -> NDArray[np.intp]:
    """Return for each lag and row the row of the same unit so many steps before, -1 where there is none."""
    span = int(steps.max()) - int(steps.min()) + lags + 2
    keys = units.astype(np.int64) * span + (steps - steps.min())
    order = np.argsort(keys, kind="stable")
    found = np.full((lags, len(keys)), -1, dtype=np.intp)
    for lag in range(1, lags + 1):
        sought = keys - lag
        place = np.minimum(np.searchsorted(keys, sought, sorter=order), len(keys) - 1)
        there = (keys[order[place]] == sought) & (steps - steps.min() >= lag)
        found[lag - 1, there] = order[place][there]
    return found


def among_lags(said: Mapping[str, Any], lags: int, known: Sequence[str]) -> dict[str, Any]:
    """Return what is said of columns, said of their lags, too."""
    columns = [said["categorical"]] if isinstance(said["categorical"], str) else list(said["categorical"] or ())
    ordinal = said["ordinal"]
    orders = dict.fromkeys([ordinal] if isinstance(ordinal, str) else ordinal or ())
    orders |= dict(ordinal) if isinstance(ordinal, Mapping) else {}
    return {
        "categorical": [name for name in with_lags(columns, lags) if name in known],
        "ordinal": {lag: o for name, o in orders.items() for lag in with_lags([name], lags) if lag in known},
    }
