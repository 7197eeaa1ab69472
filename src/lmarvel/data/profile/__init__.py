"""What a table holds, column by column, with what is strange about it and what to do: ``lmarvel describe``.

Nothing is refused here that can be read. What a test could not be run on is a fault; what may well be right, but often
is not, is something to look at.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.categories import peculiar
from lmarvel.data.checks import (
    DROP,
    MANY_LEVELS,
    MOST_COMPARED,
    Fault,
    WayOut,
    can_be_named,
    faults_of,
    missing_values,
    no_complete_row,
    way_out,
)
from lmarvel.data.columns import FEW, Kind
from lmarvel.data.levels import Levels, is_number, number, numbers_of, written
from lmarvel.data.matrix import matrix_of
from lmarvel.data.profile.patterns import Panel, is_word_for_missing, missing_codes_among, panel_of
from lmarvel.data.reading import Reading
from lmarvel.data.view import all_rows
from lmarvel.text import counted, listing, option_words

Vector = NDArray[np.float64]
GAPS = "missing values"
_NEAR = 0.999
_FEW_WORDS, _FEW_BAD = 5, 0.05  # different texts among numbers, and their share, that may be taken for missing
_NAMED = 12  # columns that an option to drop them is spelled out for
_DAYS = "drop {it}{how}, or turn it into a number of days"
DATES, PANEL, FEW_NUMBERS = "dates", "panel", "few different whole numbers, taken as numbers"
_KINDS = "--ordinal or --categorical if these are categories"
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([ T].*)?")
_ID = re.compile(r"(^|[_. ])(id|key|uuid|index|rownum|row|rownames|nr|no)$|id$", re.IGNORECASE)


class Finding(NamedTuple):
    """Something about a column, what to do, and whether that is to leave it out.

    In ``remedy``, {it} stands for the column, and {how} for the option that drops it.
    """

    what: str
    remedy: str
    drop: bool = False
    kind: str = ""

    def advice(self, names: Sequence[str]) -> str:
        """Return what to do with columns of which the same is to be said."""
        how = f" with {shlex.join(option_words('drop', list(names)))}" if len(names) <= _NAMED else ""
        return self.remedy.format(it="it" if len(names) == 1 else "them", how=how)


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
    >>> found.way.drop, found.way.missing, found.way.rows, found.na
    (('id',), None, 5, {('x', '-99'): '-99'})
    """

    rows: int
    complete: int
    columns: tuple[ColumnProfile, ...]
    faults: tuple[Fault, ...]
    way: WayOut | None
    na: Mapping[tuple[str, str], str] = field(default_factory=dict)  # values that may be codes, as an option says it
    matrix: str = ""  # of correlations or covariances, in place of observations
    panel: Panel | None = None
    note: str = ""  # why more has to be left out than what is wrong with single columns
    unexamined: str = ""  # what was not looked at, because columns are many

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
                    "findings": [
                        {"what": found.what, "advice": found.advice([column.name])} for found in column.findings
                    ],
                }
                for column in self.columns
            ],
            "faults": [fault.sentence for fault in self.faults],
            "matrix": self.matrix or None,
            "note": self.note or None,
            "unexamined": self.unexamined or None,
        }


def profile(reading: Reading, missing: str | None = None) -> Profile:
    """Look through a table that was opened so that nothing in it is refused; ``missing`` is what becomes of gaps."""
    table, kinds = reading.view().table, reading.kinds()
    names, rows, levels = table.names, all_rows(table), table.levels or (None,) * len(table.names)
    complete = ~np.isnan(rows).any(axis=1)
    with np.errstate(all="ignore"):
        strange = [*_mixtures(rows, levels, names)]
        mixed = {name for fault in strange for name in fault.drop}
        used = rows[complete] if missing == "drop" and complete.any() else rows
        faults = [*strange, *(f for f in faults_of(used, levels, names) if not mixed.issuperset(f.drop))]
        codes = _codes(rows, levels, names, faults)
        about = peculiar(names, rows, [None if known is None else known.names for known in levels])
        panel, pairs = panel_of(rows, levels, names), _near_copies(rows, names)
        columns = []
        for i, name in enumerate(names):
            faulty = [_finding(fault, codes) for fault in faults if name in fault.drop]
            column = _column(name, rows[:, i], kinds[i], levels[i], int(complete.sum()))
            near = [Finding(f"nearly a copy of {other!r}", "keep one of the two") for other in pairs.get(name, ())]
            coded = [_about_code(rows[:, i], levels[i], value, word) for (n, value), word in codes.items() if n == name]
            said = [found for found in coded if found is not None]
            odd = [] if faulty else [*_peculiar(about[i])]
            columns.append(_with(column, [*_in_panel(name, panel), *faulty, *odd, *column.findings, *said, *near]))
        drop = [column.name for column in columns if any(found.drop for found in column.findings)]
        way = way_out(rows, levels, names, drop, missing) or way_out(rows, levels, names, sorted(mixed), missing)
    if way is not None and panel is not None and panel.unit in way.drop:
        way = way._replace(drop=tuple(name for name in way.drop if name != panel.unit), cluster=panel.unit)
    gaps = missing_values(rows, names) if missing == "refuse" else []
    if missing == "drop" and not complete.any():
        gaps = [no_complete_row(rows, names)]
    na = {pair: word for pair, word in codes.items() if pair[0] not in drop or pair[0] in _mended(faults)}
    matrix = matrix_of(rows, levels, names)
    found = Profile(len(rows), int(complete.sum()), tuple(columns), (*gaps, *faults), way, na, matrix, panel)
    return found if len(names) <= MOST_COMPARED else replace(found, unexamined=_UNEXAMINED.format(len(names)))


def _mended(faults: Sequence[Fault]) -> set[str]:
    """Return columns that are no fault any more once some of their values are missing."""
    return {fault.drop[0] for fault in faults if fault.na}


def _finding(fault: Fault, codes: Mapping[tuple[str, str], str]) -> Finding:
    """Return what to say of a column at fault; it need not be dropped where some values may be taken for missing."""
    if not fault.na:
        return Finding(fault.what, fault.advice, True, fault.kind)
    words = shlex.join(word for value in fault.na for word in ("--na", codes[fault.drop[0], value]))
    mend = "" if all(map(is_word_for_missing, fault.na)) else "mend the text, or "
    return Finding(fault.what, f"{mend}{_braced(words)} {_TAKES[len(fault.na) > 1]}", True, fault.kind)


_UNEXAMINED = "{:,} columns are too many to compare here: copies, and columns that others determine, are not named"
_TAKES = ("treats it as missing", "treats them as missing")


def _braced(text: str) -> str:
    """Return a text that stays as it is when it is formatted."""
    return text.replace("{", "{{").replace("}", "}}")


def _peculiar(about: Mapping[str, Any]) -> Iterator[Finding]:
    """Find what is peculiar about a column of categories, though nothing is refused."""
    if "copy_of" in about:
        yield Finding(f"a copy of {about['copy_of']!r}, category by category", "keep one of the two")
    if "determines" in about:
        which = listing(map(repr, about["determines"]), _NAMED)
        yield Finding(f"determines {which}", "edges at these may belong to the other column")
    if lone := about.get("lone", ()):
        which = f"the {'category' if len(lone) == 1 else 'categories'} {listing(map(repr, lone), 5)}"
        has, them = ("has 1 row", "it") if len(lone) == 1 else ("have 1 row each", "them")
        yield Finding(f"{which} {has}", f"tests take {them} together with others")


def _in_panel(name: str, panel: Panel | None) -> Iterator[Finding]:
    if panel is not None and name == panel.unit:
        units = f"{panel.units:,} units with several rows each, ordered by {panel.time!r}"
        lags = f"{_braced(shlex.join(['--panel', f'{panel.unit},{panel.time}']))} adds the columns of the time before"
        yield Finding(f"a panel: {units}. Rows are not independent", lags, True, PANEL)
    elif panel is not None and name == panel.time:
        taken = f"{_braced(shlex.join(['--panel', f'{panel.unit},{panel.time}']))} takes them"
        yield Finding(f"the times of the panel of {panel.unit!r}", taken, True, PANEL)


# --- codes for missing values -----------------------------------------------------------------------------


def _codes(
    rows: Vector, levels: Sequence[Levels | None], names: Sequence[str], faults: Sequence[Fault]
) -> dict[tuple[str, str], str]:
    """Return columns and values that may well stand for a missing one, each with how an option names it.

    An option names the column, too, where others hold the same value and it may be an ordinary one there.
    """
    found = [(fault.drop[0], value) for fault in faults for value in fault.na]
    for i, name in enumerate(names):
        if levels[i] is None:
            distinct, counts = np.unique(rows[~np.isnan(rows[:, i]), i], return_counts=True)
            if len(distinct) > 2 and np.isfinite(distinct).all():
                found += [(name, written(value)) for value in missing_codes_among(distinct, counts)]
    suspects: dict[str, set[str]] = {}
    for name, value in found:
        suspects.setdefault(value, set()).add(name)
    held = {value: {n for i, n in enumerate(names) if _holds(rows[:, i], levels[i], value)} for value in suspects}
    usable = [(name, value) for name, value in found if can_be_named(name, [value])]
    return {(name, v): v if held[v] == suspects[v] else f"{name}={v}" for name, v in usable}


def _holds(values: Vector, levels: Levels | None, value: str) -> bool:
    if levels is not None:
        return value in levels.names
    return bool((values == number(value)).any())


def _about_code(values: Vector, levels: Levels | None, value: str, word: str) -> Finding | None:
    if levels is not None:  # that is said where the column is at fault
        return None
    many = counted(int((values == number(value)).sum()), "row")
    words = _braced(shlex.join(["--na", word]))
    return Finding(f"{value} in {many} looks like a code for a missing value", f"{words} {_TAKES[0]}")


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
    """Whether a column is named for what it is: categories without end that are dates, whole numbers that are times."""
    kinds = {other.kind for other in all_of_them}
    return (found.kind == MANY_LEVELS and DATES in kinds) or (found.kind in (FEW_NUMBERS, DATES) and PANEL in kinds)


def _mixtures(rows: Vector, levels: Sequence[Levels | None], names: Sequence[str]) -> Iterator[Fault]:
    """Find columns of text that hold more numbers than text."""
    for i, known in enumerate(levels):
        if known is None or known.ordered:
            continue
        strange = np.isnan(numbers_of(known.names)[0])
        if strange.any() and not strange.all():
            counts = np.bincount(rows[~np.isnan(rows[:, i]), i].astype(np.intp), minlength=len(strange))
            bad = int(counts[strange].sum())
            if 2 * bad <= counts.sum():
                words = tuple(word for word, odd in zip(known.names, strange, strict=True) if odd)
                such = (
                    f" such as {words[0]!r}" if len(words) > 1 else f" {words[0]!r}" if bad == 1 else f": {words[0]!r}"
                )
                what = f"is numbers but for {counted(bad, 'value')}{such}"
                few = len(words) <= _FEW_WORDS and bad <= max(1, _FEW_BAD * counts.sum())
                told = few or all(map(is_word_for_missing, words))
                na = words if told and can_be_named(names[i], words) else ()
                mend = "mend {value}, treat {it} as missing with --na, drop the column, or name it in --categorical"
                mend = mend.format(value="the value" if bad == 1 else "the values", it="it" if bad == 1 else "them")
                yield Fault((names[i],), f"column {names[i]!r} {what}", what, mend, na=na)


# --- one column -------------------------------------------------------------------------------------------


def _column(name: str, values: Vector, kind: Kind, levels: Levels | None, complete: int) -> ColumnProfile:
    seen = values[~np.isnan(values)]
    missing = len(values) - len(seen)
    distinct, counts = np.unique(seen, return_counts=True)
    gaps = [_about_gaps(missing, len(values), complete)] if missing else []
    if levels is not None:
        held = tuple((levels.names[int(k)], int(n)) for k, n in zip(distinct, counts, strict=True))
        dates = [Finding("dates", _DAYS, True, DATES)] if _are_dates(held) else []
        words = [] if levels.ordered else [*_words(name, held)]
        return ColumnProfile(name, kind, missing, len(distinct), None, None, held, (*dates, *words, *gaps))
    low, high = (float(distinct[0]), float(distinct[-1])) if len(distinct) else (None, None)
    pair = zip(distinct.tolist(), counts.tolist(), strict=True)
    named = tuple((written(v), n) for v, n in pair) if kind is Kind.BINARY else None
    found = (*about_numbers(name, seen, distinct, len(values)), *gaps)
    return ColumnProfile(name, kind, missing, len(distinct), low, high, named, found)


def _about_gaps(missing: int, rows: int, complete: int) -> Finding:
    """Return what happens to missing values, and the options that make sense with their number."""
    ways = [f"--missing drop for the {complete:,} complete rows"] if 2 * complete >= rows else []
    ways += ["--missing em for estimated moments"] if missing < rows else []
    ways += ["drop {it}{how}"] if 2 * missing > rows else []
    used = "each test uses the rows that have its variables; or " if missing < rows else ""
    return Finding(GAPS, used + ", or ".join(ways), kind=GAPS)


def _words(name: str, levels: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    """Find categories that say that there is no value."""
    for level, many in levels:
        if is_word_for_missing(level) and 2 * sum(is_number(other) for other, _ in levels) < len(levels):
            words = _braced(shlex.join(["--na", f"{name}={level}"]))
            yield Finding(f"{level!r} in {counted(many, 'row')} may mean a missing value", f"{words} if it does")


def _are_dates(levels: Sequence[tuple[str, int]]) -> bool:
    return bool(levels) and all(_DATE.fullmatch(level) for level, _ in levels)


def about_numbers(name: str, seen: Vector, distinct: Vector, n: int) -> Iterator[Finding]:
    """Find what is strange about a column of numbers."""
    if len(distinct) < 2 or not np.isfinite(distinct).all():
        return
    whole = bool((distinct == np.round(distinct)).all())
    steps = np.diff(seen)
    if whole and len(seen) == n and (steps == 1).all() and n > 3:
        yield Finding("row numbers", "they mean nothing: " + DROP, True)
    elif whole and len(distinct) == len(seen) > 20 and _ID.search(name):
        yield Finding("every row has a number of its own, as an id has", DROP, True)
    elif whole and _are_packed_dates(distinct):
        yield Finding("dates as numbers, such as 20240131", _DAYS, True)
    elif whole and 2 < len(distinct) <= min(FEW, n // 5):
        yield Finding(FEW_NUMBERS, _KINDS, kind=FEW_NUMBERS)


def _are_packed_dates(distinct: Vector) -> bool:
    if len(distinct) < 5 or distinct[0] < 19000101 or distinct[-1] > 21001231:
        return False
    month, day = distinct // 100 % 100, distinct % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _near_copies(rows: Vector, names: Sequence[str]) -> dict[str, list[str]]:
    """Return pairs of columns with a correlation near one, by the name of the later one."""
    complete = rows[~np.isnan(rows).any(axis=1)]
    if len(complete) <= 3 or len(names) > MOST_COMPARED:
        return {}
    spread = complete.std(axis=0)
    at = np.flatnonzero((spread > 0) & np.isfinite(spread))
    standard = (complete[:, at] - complete[:, at].mean(axis=0)) / spread[at]
    r = np.abs(standard.T @ standard) / len(complete)
    found: dict[str, list[str]] = {}
    for i, j in np.argwhere(np.triu((r > _NEAR) & (r < 1 - 1e-12), 1)).tolist():
        found.setdefault(names[at[j]], []).append(names[at[i]])
    return found
