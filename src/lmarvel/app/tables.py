"""What the page shows of a table: each column with its values as bars, what is strange about it, and remedies.

A remedy is data, not words: which setting to change, and to what. The page makes a button of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.app.settings import TableSettings
from lmarvel.data.columns import Kind
from lmarvel.data.levels import Levels, written
from lmarvel.data.opening import Said, open_dataset
from lmarvel.data.profile import FEW_NUMBERS, GAPS, PANEL, ColumnProfile, Profile, profile
from lmarvel.data.sources.base import Layout
from lmarvel.data.view import all_rows
from lmarvel.estimators.auto import expected_seconds
from lmarvel.text import sentence

BINS, CATEGORIES, ROWS = 16, 8, 8  # of a histogram, of a bar chart, and first rows of the table
_CELL = 40  # letters of a cell
Vector = NDArray[np.float64]


def described(path: Path, said: TableSettings) -> dict[str, Any]:
    """Return what a table holds, as plain data.

    All columns are there, also those that are left out, so that every choice can be taken back. Of the settings only
    kinds and codes for missing values matter here; what else they say is put in by :func:`as_set`, which takes no time.

    Examples
    --------
    >>> from lmarvel.datasets import CARS
    >>> found = as_set(described(CARS, TableSettings()), TableSettings(drop=("Weight",)))
    >>> found["kept"]
    ['MilesPerGallon', 'Cylinders', 'Displacement', 'Horsepower', 'SecondsTo60']
    >>> found["rows"], [column["name"] for column in found["columns"]][:2], found["columns"][1]["remedies"][0]
    (392, ['MilesPerGallon', 'Cylinders'], {'label': 'Use as ordered categories', 'set': {'use': 'ordinal'}})
    """
    reading = _opened(path, said)
    found = profile(reading)
    table = reading.view().table
    rows, levels = all_rows(table), table.levels or (None,) * len(table.names)
    shapes = {name: _shape(rows[:, i], levels[i]) for i, name in enumerate(table.names)}
    way = found.way
    return {
        "rows": found.rows,
        "complete": found.complete,
        "columns": [_column(column, found, shapes[column.name]) for column in found.columns],
        "head": [[_cell(rows[k, i], levels[i]) for i in range(len(levels))] for k in range(min(ROWS, len(rows)))],
        "faults": [[list(fault.drop), sentence(fault.sentence)] for fault in found.faults],
        "way": None if way is None else [list(way.drop), way.missing, list(map(list, way.na)), way.cluster],
        "matrix": found.matrix or None,
    }


def as_set(found: Mapping[str, Any], said: TableSettings) -> dict[str, Any]:
    """Return what a table holds with what the settings say of it: what is learned from, and what is left to do."""
    kept = said.kept([column["name"] for column in found["columns"]])
    numbers = all(column["kind"] == Kind.CONTINUOUS.value for column in found["columns"] if column["name"] in set(kept))
    return {
        **found,
        "faults": [text for names, text in found["faults"] if not set(names) - set(kept)],
        "way": _way(found["way"], kept, said),
        "expected": expected_seconds(len(kept), numbers),
        "kept": kept,
    }


def _opened(path: Path, said: TableSettings) -> Any:
    na = {name: list(values) for name, values in said.na.items()} or None
    asked = Said(categorical=said.categorical, ordinal=said.options.get("ordinal", ()), na=na, lenient=True)
    return open_dataset(path, None, None, (), Layout(), asked)


def _column(column: ColumnProfile, found: Profile, shape: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind.value,
        "missing": column.missing,
        "distinct": column.distinct,
        "text": column.levels is not None,
        "findings": [sentence(one.what) for one in column.findings],
        "remedies": list(_remedies(column, found)),
        **shape,
    }


def _remedies(column: ColumnProfile, found: Profile) -> Iterator[dict[str, Any]]:
    """Give what one click can do about a column."""
    kinds = {one.kind for one in column.findings}
    for (name, value), _ in found.na.items():
        if name == column.name:
            yield {"label": f"Take {value} as missing", "set": {"na": value}}
    if PANEL in kinds and found.panel is not None and found.panel.unit == column.name:
        yield {"label": "Use as cluster", "set": {"use": "cluster"}}
    if FEW_NUMBERS in kinds:
        yield {"label": "Use as ordered categories", "set": {"use": "ordinal"}}
        yield {"label": "Use as categories", "set": {"use": "categorical"}}
    if GAPS in kinds:
        yield {"label": "Leave out incomplete rows", "set": {"missing": "drop"}}
        yield {"label": "Estimate by EM", "set": {"missing": "em"}}
    if any(one.drop or not one.kind for one in column.findings):
        yield {"label": "Leave out this column", "set": {"use": "drop"}}


def _way(way: Sequence[Any] | None, kept: Sequence[str], said: TableSettings) -> dict[str, Any] | None:
    """Return settings with which the table can be learned from; None where nothing has to change, or nothing helps."""
    if way is None:
        return None
    drop, missing, na, cluster = way
    changes = {
        "drop": [name for name in drop if name in kept],
        "na": [[name, value] for name, value in na if value not in said.na.get(name, ())],
        "cluster": cluster if cluster != said.cluster else None,
        "missing": missing if said.missing == "auto" else None,
    }
    return {name: value for name, value in changes.items() if value} or None


# --- values -----------------------------------------------------------------------------------------------------


def _shape(values: Vector, levels: Levels | None) -> dict[str, Any]:
    """Return how the values of a column are spread: bins of numbers, or counts of categories."""
    seen = values[np.isfinite(values)]
    if levels is not None:
        counts = np.bincount(seen.astype(np.intp), minlength=len(levels.names))
        return {"bars": _counts([(name, int(n)) for name, n in zip(levels.names, counts, strict=True) if n])}
    if not len(seen):
        return {"bars": []}
    distinct, counts = np.unique(seen, return_counts=True)
    if len(distinct) <= CATEGORIES:
        return {"bars": [[written(value), int(n)] for value, n in zip(distinct, counts, strict=True)]}
    with np.errstate(all="ignore"):
        low, high = float(distinct[0]), float(distinct[-1])
        if not np.isfinite(high - low):
            return {"bars": []}
        counts, edges = np.histogram(seen, bins=BINS, range=(low, high))
    return {"bins": [int(n) for n in counts], "low": f"{edges[0]:.4g}", "high": f"{edges[-1]:.4g}"}


def _counts(counts: list[tuple[str, int]]) -> list[list[Any]]:
    """Return the categories with the most rows, and all others as one."""
    if len(counts) <= CATEGORIES:
        return [[_cut(name), n] for name, n in counts]
    ordered = sorted(counts, key=lambda one: -one[1])
    first, rest = ordered[: CATEGORIES - 1], ordered[CATEGORIES - 1 :]
    return [*([_cut(name), n] for name, n in first), [f"{len(rest)} others", sum(n for _, n in rest)]]


def _cell(value: float, levels: Levels | None) -> str:
    if np.isnan(value):
        return ""
    return _cut(levels.names[int(value)] if levels is not None else written(value))


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
