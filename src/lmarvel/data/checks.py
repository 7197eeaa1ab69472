"""What is wrong with a table, all of it at once, and which columns and rows to leave out so that a test can be run.

A refusal that names one column makes its reader try again for each that is left. So where a table is refused, all that
stands in the way is looked for, and a way out is worked out and tried on the table before it is offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.columns import NAMED
from lmarvel.data.levels import Levels
from lmarvel.data.missing.gaps import FEWEST
from lmarvel.data.moments import determining
from lmarvel.data.table import Table
from lmarvel.errors import UnusableError
from lmarvel.text import joined as spoken
from lmarvel.text import listing

Matrix = NDArray[np.float64]
MOST_LEVELS = 100
MOST_COMPARED = 1_500  # columns: to compare more of them with each other takes many seconds and gigabytes
_COPY = 1 - 1e-12
_COLLINEAR = 1e-10
_ROUNDS = 50
_WORST = 5  # columns with gaps, in a message
MANY_LEVELS = "many levels"
DROP = "drop {it}{how}"


class Fault(NamedTuple):
    """Something that no test can be run on: the columns that would have to go, a sentence, and what to do.

    ``what`` says the same of one of the columns, without its name; in ``advice``, {it} stands for the columns, {how}
    for the option. ``na`` has the values of the column that may be taken for missing instead.
    """

    drop: tuple[str, ...]
    sentence: str
    what: str
    advice: str = DROP
    kind: str = ""
    na: tuple[str, ...] = ()


def _about(name: str, what: str) -> Fault:
    return Fault((name,), f"column {name!r} {what}", what)


class WayOut(NamedTuple):
    """Columns to leave out and what to do with gaps, with the number of rows that are left.

    ``na`` has columns with values to take for missing, and ``cluster`` the column of units with several rows; or
    ``panel`` that and the column of times.
    """

    drop: tuple[str, ...]
    missing: str | None
    rows: int
    na: tuple[tuple[str, str], ...] = ()
    cluster: str | None = None
    panel: tuple[str, str] | None = None


class UnusableTable(UnusableError):
    """A table that no test can be run on as it is: everything that stands in the way, and a way out."""

    def __init__(self, faults: Sequence[Fault], way: WayOut | None) -> None:
        self.faults, self.way = tuple(faults), way
        super().__init__(f"{joined(faults)}. {_in_python(way)}")


def joined(faults: Sequence[Fault]) -> str:
    """Return all sentences as one."""
    return "; ".join(fault.sentence for fault in faults)


def _in_python(way: WayOut | None) -> str:
    if way is None:
        return "Nothing is left that could be learned from"
    said = [f"drop={list(way.drop)!r}"] if way.drop else []
    said += [f'missing="{way.missing}"'] if way.missing else []
    said += [f"na={_by_column(way.na)!r}"] if way.na else []
    return f"This leaves {way.rows} rows that can be used: Dataset.of(data, {', '.join(said)})"


def _by_column(na: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in na:
        found.setdefault(name, []).append(value)
    return found


def check_levels(table: Table) -> None:
    """Refuse columns with levels that no test can be run on; those of numbers are not looked at.

    Levels that determine another column are left to the tests: G-square can live with them.
    """
    if table.levels is None:
        return
    at = [i for i, levels in enumerate(table.levels) if levels is not None]
    some = table.take(at)
    rows = np.asfortranarray(np.concatenate([np.empty((0, len(at))), *some.batches(1 << 20)]))
    assert some.levels is not None
    found = [*_levels(rows, some.levels, some.names)]
    if found:
        raise UnusableError(f"{joined(found)}. Drop {_it(found)}, merge categories, or take some for missing (na)")


def _it(faults: Sequence[Fault]) -> str:
    return "the column" if len({name for fault in faults for name in fault.drop}) == 1 else "such columns"


def faults_of(rows: Matrix, levels: Sequence[Levels | None], names: Sequence[str]) -> list[Fault]:
    """Return everything that is wrong with the values of a table, gaps not counted.

    Examples
    --------
    >>> rows = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [4.0, 5.0, 8.0], [3.0, 5.0, 6.0]])
    >>> [fault.sentence for fault in faults_of(rows, (None, None, None), ("a", "b", "c"))]
    ["column 'b' is constant", "column 'c' is a copy of 'a'"]
    """
    found = [*_flat(rows, names), *_levels(rows, levels, names)]
    gone = {name for fault in found for name in fault.drop}
    numbers = [i for i, name in enumerate(names) if levels[i] is None and name not in gone]
    if not any(_differs(rows[:, i]) for i in numbers):
        return found  # categories all of them, which may well determine each other
    return [*found, *_combined(rows[:, numbers], [names[i] for i in numbers])]


def missing_values(rows: Matrix, names: Sequence[str]) -> list[Fault]:
    """Return the gaps of all columns as one fault, none if there are none."""
    counts = np.isnan(rows).sum(axis=0)
    which = [f"{name!r} ({counts[i]})" for i, name in enumerate(names) if counts[i]]
    if not which:
        return []
    gaps = f"missing values in {len(which)} of {len(names)} columns: {listing(which, NAMED)}"
    return [Fault((), gaps, "missing values")]


def no_complete_row(rows: Matrix, names: Sequence[str]) -> Fault:
    """Return the fault of a table in which each row has a gap: which columns have the most."""
    gaps = np.isnan(rows).sum(axis=0)
    worst = sorted(np.flatnonzero(gaps).tolist(), key=lambda i: -gaps[i])
    which = spoken(f"{names[i]!r} ({gaps[i]:,})" for i in worst[:_WORST])
    return Fault(
        (), f"none of the {len(rows):,} rows is complete; most values are missing in {which}", "missing values"
    )


def _flat(rows: Matrix, names: Sequence[str]) -> Iterator[Fault]:
    """Find columns without values, with infinite ones, and with one value."""
    seen = ~np.isnan(rows)
    empty = [name for i, name in enumerate(names) if not seen[:, i].any()]
    infinite = [name for i, name in enumerate(names) if np.isinf(rows[:, i]).any()]
    constant = [
        name
        for i, name in enumerate(names)
        if name not in empty and np.nanmin(rows[:, i]) == np.nanmax(rows[:, i]) and name not in infinite
    ]
    for what, which in (("empty", empty), ("constant", constant)):
        if which:
            yield Fault(tuple(which), f"{columns_are(which)} {what}", what)
    if infinite:
        where = listing([repr(name) for name in infinite], NAMED)
        yield Fault(tuple(infinite), f"infinite values in {where}", "infinite values")


def columns_are(names: Sequence[str]) -> str:
    """Return the beginning of a sentence on columns, singular or plural.

    Examples
    --------
    >>> columns_are(["B"]), columns_are(["B", "C"])
    ("column 'B' is", "columns 'B' and 'C' are")
    """
    if len(names) == 1:
        return f"column {names[0]!r} is"
    quoted = [repr(name) for name in names]
    return f"columns {listing(quoted, NAMED) if len(quoted) > NAMED else spoken(quoted)} are"


def _levels(rows: Matrix, levels: Sequence[Levels | None], names: Sequence[str]) -> Iterator[Fault]:
    """Find columns with too many categories."""
    for i, (name, known) in enumerate(zip(names, levels, strict=True)):
        if known is None:
            continue
        column = rows[:, i]
        gaps = np.isnan(column)
        codes = (column[~gaps] if gaps.any() else column).astype(np.intp)
        counts = np.bincount(codes, minlength=len(known.names))
        present = int((counts > 0).sum())
        if present > 2 and present > min(MOST_LEVELS, len(codes) // 2):
            many = f"has {present} categories in {len(codes)} rows, as an id or free text has"
            yield Fault((name,), f"column {name!r} {many}", many, kind=MANY_LEVELS)


def can_be_named(name: str, values: Sequence[str]) -> bool:
    """Whether an option can name the values of a column: commas and equals signs part them there."""
    return not any("," in value or "=" in f"{name}{value}" for value in values)


def _differs(column: Matrix) -> bool:
    """Whether a column has more than two values."""
    seen = column[~np.isnan(column)]
    return bool(((seen != seen.min()) & (seen != seen.max())).any()) if seen.size else False


def _combined(rows: Matrix, names: Sequence[str]) -> Iterator[Fault]:
    """Find copies up to scale and sign, and columns that those before them determine, one after the other."""
    complete = rows[~np.isnan(rows).any(axis=1)]
    spread = complete.std(axis=0) if len(complete) else np.zeros(len(names))
    at = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if len(complete) < 3 or not 2 <= at.size <= MOST_COMPARED:
        return
    standard = (complete[:, at] - complete[:, at].mean(axis=0)) / spread[at]
    r = standard.T @ standard / len(complete)
    gone: set[int] = set()
    for i, j in np.argwhere(np.triu(np.abs(r) >= _COPY, 1)).tolist():
        if i not in gone and j not in gone:
            gone.add(j)
            yield _about(names[at[j]], f"is a copy of {names[at[i]]!r}")
    kept = [k for k in range(at.size) if k not in gone]
    if len(complete) > len(kept) + 1:
        among = r[np.ix_(kept, kept)]
        dependent = dependent_columns(among)
        free = [k for k in range(len(kept)) if k not in dependent]
        for k in dependent:
            before = [*(j for j in free if j < k), k]
            found = determining(among[np.ix_(before, before)], len(before) - 1)
            others = [repr(names[at[kept[before[i]]]]) for i in found]
            yield _about(names[at[kept[k]]], f"is determined by {spoken(others)}")


def dependent_columns(r: Matrix) -> list[int]:
    """Return the positions of columns that those before them determine, by elimination."""
    left, found = r.copy(), []
    for k in range(len(left)):
        pivot = left[k, k]
        if pivot < _COLLINEAR:
            found.append(k)
            continue
        left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k], left[k, k + 1 :]) / pivot
    return found


# --- a way out --------------------------------------------------------------------------------------------


def way_out(
    rows: Matrix,
    levels: Sequence[Levels | None],
    names: Sequence[str],
    drop: Sequence[str] = (),
    missing: str | None = None,
) -> WayOut | None:
    """Work out which columns to leave out, ``drop`` among them, and what to do with gaps, and try it.

    What a user says of gaps in ``missing`` is kept to, but that they are refused.
    """
    said = missing
    at = [i for i, name in enumerate(names) if name not in set(drop)]
    gone, missing, kept = [name for name in names if name in set(drop)], None, rows[:, at]
    for _ in range(_ROUNDS):
        left = [names[i] for i in at]
        if len(at) < 2:
            return None
        kept, missing = rows[:, at], None
        if np.isnan(kept).any():
            worst = _worst_gaps(kept) if said == "drop" else _hardly_seen(kept)
            if worst is not None:
                gone.append(left[worst])
                del at[worst]
                continue
            missing = {"em": "em", "drop": "drop", "refuse": "test-wise"}.get(said or "")
            kept = kept[~np.isnan(kept).any(axis=1)] if said == "drop" else kept
        faults = faults_of(kept, [levels[i] for i in at], left)
        if not faults:
            return WayOut(tuple(gone), missing, len(kept)) if len(kept) > 3 else None
        out = {name for fault in faults for name in fault.drop}
        gone += [name for name in left if name in out]
        at = [i for i in at if names[i] not in out]
    return None


def _hardly_seen(rows: Matrix) -> int | None:
    """Return a column that has too few values for any test, if the rows themselves are enough."""
    seen = (~np.isnan(rows)).sum(axis=0)
    return int(np.argmin(seen)) if 0 < seen.min() < FEWEST <= len(rows) else None


def _worst_gaps(rows: Matrix) -> int | None:
    """Return the column with the most gaps if rows without any are too few to learn from."""
    gaps = np.isnan(rows)
    enough = min(max(10, 2 * rows.shape[1], len(rows) // 4), max(len(rows) // 2, 4))
    if int((~gaps.any(axis=1)).sum()) >= enough:
        return None
    counts = gaps.sum(axis=0)
    return int(np.argmax(counts)) if counts.max() > len(rows) // 10 or len(rows) < 40 else None
