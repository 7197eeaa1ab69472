"""What a table holds, column by column, with what is strange about it and what to do: ``lmarvel describe``.

Nothing is refused here that can be read. What a test could not be run on is a fault; what may well be right, but often
is not, is something to look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.checks import MANY_LEVELS, Fault, WayOut, faults_of, missing_values, way_out
from lmarvel.data.columns import FEW, Kind
from lmarvel.data.levels import Levels, number, written
from lmarvel.data.reading import Reading
from lmarvel.data.view import all_rows
from lmarvel.text import counted

Vector = NDArray[np.float64]
GAPS = "missing values"
SENTINELS = (-1, -8, -9, -88, -99, -999, -9999, 99, 999, 9999, 99999)
_NEAR = 0.999
_MEND = "mend the value, leave {it} out, or --categorical"
_DAYS = "leave {it} out, or turn it into a number of days"
DATES = "dates"
_GAPS = "--missing drop, --missing em, or leave {it} out"
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([ T].*)?")
_ID = re.compile(r"(^|[_. ])(id|key|uuid|index|rownum|row|rownames|nr|no)$|id$", re.IGNORECASE)


class Finding(NamedTuple):
    """Something about a column, what to do, and whether that is to leave it out; {it} stands for the column."""

    what: str
    remedy: str
    drop: bool = False
    kind: str = ""

    def advice(self, columns: int = 1) -> str:
        """Return what to do with so many columns of which the same is to be said."""
        return self.remedy.format(it="it" if columns == 1 else "them")


@dataclass(frozen=True)
class ColumnProfile:
    """What a column holds."""

    name: str
    kind: Kind
    missing: int
    distinct: int
    low: float | None
    high: float | None
    levels: tuple[tuple[str, int], ...] | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Profile:
    """What a table holds: rows, complete ones, columns, everything that no test can be run on, and a way out.

    Examples
    --------
    >>> from lmarvel.data.opening import Said, open_dataset
    >>> from lmarvel.data.sources.base import Layout
    >>> table = {"id": [1, 2, 3, 4, 5], "x": [0.5, 1.5, -99, 1.0, 2.0], "y": [2.0, None, 1.0, 0.5, 0.7]}
    >>> found = profile(open_dataset(table, None, None, (), Layout(), Said(lenient=True)))
    >>> [(column.name, column.findings[0].what) for column in found.columns]
    [('id', 'row numbers'), ('x', '-99 in 1 row looks like a code for a missing value'), ('y', 'missing values')]
    >>> found.way
    WayOut(drop=('id',), missing='drop', rows=4)
    """

    rows: int
    complete: int
    columns: tuple[ColumnProfile, ...]
    faults: tuple[Fault, ...]
    way: WayOut | None

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain data."""
        return {
            "rows": self.rows,
            "complete_rows": self.complete,
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind.value,
                    "missing": column.missing,
                    "distinct": column.distinct,
                    "low": column.low,
                    "high": column.high,
                    "levels": None if column.levels is None else dict(column.levels),
                    "findings": [{"what": found.what, "advice": found.advice()} for found in column.findings],
                }
                for column in self.columns
            ],
            "faults": [fault.sentence for fault in self.faults],
            "drop": None if self.way is None else list(self.way.drop),
            "missing": None if self.way is None else self.way.missing,
        }


def profile(reading: Reading) -> Profile:
    """Look through a table that was opened so that nothing in it is refused."""
    table, kinds = reading.view().table, reading.kinds()
    rows, levels = all_rows(table), table.levels or (None,) * len(table.names)
    with np.errstate(all="ignore"):
        strange = [*_mixtures(rows, levels, table.names)]
        mixed = {name for fault in strange for name in fault.drop}
        faults = [*strange, *(f for f in faults_of(rows, levels, table.names) if not mixed.issuperset(f.drop))]
        pairs = _near_copies(rows, table.names)
        columns = []
        for i, name in enumerate(table.names):
            faulty = [Finding(f.what, f.advice, True, f.kind) for f in faults if name in f.drop]
            column = _column(name, rows[:, i], kinds[i], levels[i])
            near = [Finding(f"nearly a copy of {other!r}", "one of them says it all") for other in pairs.get(name, ())]
            columns.append(_with(column, [*faulty, *column.findings, *near]))
        drop = [column.name for column in columns if any(found.drop for found in column.findings)]
        way = way_out(rows, levels, table.names, drop) or way_out(rows, levels, table.names, sorted(mixed))
    complete = int((~np.isnan(rows).any(axis=1)).sum())
    return Profile(len(rows), complete, tuple(columns), (*missing_values(rows, table.names), *faults), way)


def _with(column: ColumnProfile, findings: Sequence[Finding]) -> ColumnProfile:
    kept = [found for found in findings if not _said_better(found, findings)]
    return ColumnProfile(
        column.name,
        column.kind,
        column.missing,
        column.distinct,
        column.low,
        column.high,
        column.levels,
        tuple(dict.fromkeys(kept)),
    )


def _said_better(found: Finding, all_of_them: Sequence[Finding]) -> bool:
    """Whether a fault is named for what it is: levels without end that are dates."""
    return found.kind == MANY_LEVELS and any(other.kind == DATES for other in all_of_them)


def _mixtures(rows: Vector, levels: Sequence[Levels | None], names: Sequence[str]) -> Iterator[Fault]:
    """Find columns of text that hold more numbers than text."""
    for i, known in enumerate(levels):
        if known is None or known.ordered:
            continue
        strange = [number(level) != number(level) for level in known.names]
        if any(strange) and not all(strange):
            counts = np.bincount(rows[~np.isnan(rows[:, i]), i].astype(np.intp), minlength=len(strange))
            bad = int(counts[np.array(strange)].sum())
            if 2 * bad <= counts.sum():
                level = known.names[strange.index(True)]
                what = f"is numbers but for {counted(bad, 'value')} such as {level!r}"
                yield Fault((names[i],), f"column {names[i]!r} {what}", what, _MEND)


# --- one column -------------------------------------------------------------------------------------------


def _column(name: str, values: Vector, kind: Kind, levels: Levels | None) -> ColumnProfile:
    seen = values[~np.isnan(values)]
    missing = len(values) - len(seen)
    distinct, counts = np.unique(seen, return_counts=True)
    gaps = [Finding(GAPS, _GAPS, kind=GAPS)] if missing else []
    if levels is not None:
        held = tuple((levels.names[int(k)], int(n)) for k, n in zip(distinct, counts, strict=True))
        dates = [Finding("dates", _DAYS, True, DATES)] if _are_dates(held) else []
        return ColumnProfile(name, kind, missing, len(distinct), None, None, held, (*dates, *gaps))
    low, high = (float(distinct[0]), float(distinct[-1])) if len(distinct) else (None, None)
    pair = zip(distinct.tolist(), counts.tolist(), strict=True)
    named = tuple((written(v), n) for v, n in pair) if kind is Kind.BINARY else None
    found = (*_numbers(name, seen, distinct, counts, len(values)), *gaps)
    return ColumnProfile(name, kind, missing, len(distinct), low, high, named, found)


def _are_dates(levels: Sequence[tuple[str, int]]) -> bool:
    return bool(levels) and all(_DATE.fullmatch(level) for level, _ in levels)


def _numbers(name: str, seen: Vector, distinct: Vector, counts: NDArray[np.intp], n: int) -> Iterator[Finding]:
    """Find what is strange about a column of numbers."""
    if len(distinct) < 2 or not np.isfinite(distinct).all():
        return
    whole = bool((distinct == np.round(distinct)).all())
    steps = np.diff(seen)
    if whole and len(seen) == n and (steps == 1).all() and n > 3:
        yield Finding("row numbers", "they mean nothing: leave {it} out", True)
    elif whole and len(distinct) == len(seen) > 20 and _ID.search(name):
        yield Finding("every row has a number of its own, as an id has", "leave {it} out", True)
    elif whole and _are_packed_dates(distinct):
        yield Finding("dates as numbers, such as 20240131", _DAYS, True)
    elif whole and 2 < len(distinct) <= min(FEW, n // 5):
        yield Finding("few different whole numbers, taken as numbers", "--ordinal or --categorical if these are levels")
    for value in SENTINELS:
        if _is_sentinel(value, distinct):
            k = int(counts[np.searchsorted(distinct, value)])
            yield Finding(
                f"{value} in {counted(k, 'row')} looks like a code for a missing value", "leave those cells empty"
            )


def _are_packed_dates(distinct: Vector) -> bool:
    if len(distinct) < 5 or distinct[0] < 19000101 or distinct[-1] > 21001231:
        return False
    month, day = distinct // 100 % 100, distinct % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _is_sentinel(value: float, distinct: Vector) -> bool:
    """Whether a value stands at an end of the others, and far from them."""
    if value not in (distinct[0], distinct[-1]) or len(distinct) < 4:
        return False
    others = distinct[distinct != value]
    spread = others[-1] - others[0]
    if value == -1:
        return bool(others[0] >= 0 and spread > 20 and len(others) > FEW)
    away = others[0] - value if value < 0 else value - others[-1]
    return bool(away > max(spread, 1.0))


def _near_copies(rows: Vector, names: Sequence[str]) -> dict[str, list[str]]:
    """Return pairs of columns with a correlation near one, by the name of the later one."""
    complete = rows[~np.isnan(rows).any(axis=1)]
    if len(complete) <= 3:
        return {}
    spread = complete.std(axis=0)
    at = np.flatnonzero((spread > 0) & np.isfinite(spread))
    standard = (complete[:, at] - complete[:, at].mean(axis=0)) / spread[at]
    r = np.abs(standard.T @ standard) / len(complete)
    found: dict[str, list[str]] = {}
    for i, j in np.argwhere(np.triu((r > _NEAR) & (r < 1 - 1e-12), 1)).tolist():
        found.setdefault(names[at[j]], []).append(names[at[i]])
    return found
