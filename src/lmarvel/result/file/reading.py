"""A table that is read as an earlier one was: what was said of that one holds, unless something else is said now."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np

from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.data.sources.parquet import BINARY
from lmarvel.data.sources.statfiles import SHEETS, STATISTICS
from lmarvel.data.view import MISSING
from lmarvel.errors import DataError, LMarvelWarning
from lmarvel.text import readable

CHOICES = ("columns", "drop")  # of variables, in whose place those of the graph are read
KINDS = ("categorical", "ordinal")
ROLES = {"weights": "not weighted", "cluster": "not clustered"}  # and what a table without the column is


def read_as_before(data: Any, before: Mapping[str, Any] | None, columns: Sequence[str] | None = None) -> Dataset:
    """Open a table as an earlier one was read, in all that is not said of it anew.

    Parameters
    ----------
    data : array, mapping, frame, path, Dataset or Moments
        The table; what was said to :meth:`lmarvel.Dataset.of` comes before what is remembered.
    before : mapping or None
        What the earlier table was, as :attr:`lmarvel.Discovery.data` has it.
    columns : sequence of str, optional
        The variables that are needed; all by default.

    Examples
    --------
    >>> table = {"a": [1.5, 2.0, None, 0.5, 0.1], "b": [1.0, 3.0, 2.0, 0.5, 0.2], "w": [1, 1, 2, 1, 1]}
    >>> before = {"reading": {"missing": "drop", "weights": "w"}}
    >>> read_as_before(table, before, ["a", "b"]).n
    4
    >>> read_as_before(Dataset.of(table, missing="em"), before, ["a", "b"]).n
    5
    """
    said = data.was_said if isinstance(data, Dataset) else None if isinstance(data, Moments) else {}
    options = {} if said is None else still_to_say(before, said, data)
    while True:
        try:
            return Dataset.of(data, columns=columns, **options)
        except DataError as error:
            if error.parameter not in ROLES or error.parameter not in options:
                raise
            column, without = readable(options.pop(error.parameter)), ROLES[error.parameter]
            warnings.warn(
                f"the graph was learned with {error.parameter} from column {column}, which this table does not have: it"
                f" is {without}",
                LMarvelWarning,
                stacklevel=3,
            )


def still_to_say(before: Mapping[str, Any] | None, said: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """Return what was said of an earlier table, and holds for this one because nothing else is said of it.

    Examples
    --------
    >>> before = {"reading": {"missing": "drop", "drop": ["id"], "categorical": ["a", "b"], "separator": ";"}}
    >>> still_to_say(before, {"ordinal": {"a": None}}, "table.csv")
    {'missing': 'drop', 'categorical': ['b'], 'separator': ';'}
    >>> still_to_say(before, {"missing": "em"}, "table.parquet")
    {'categorical': ['a', 'b']}
    """
    known, reading = _annotations(), {} if before is None else before.get("reading", {})
    left = {
        name: value for name, value in reading.items() if name in known and name not in said and name not in CHOICES
    }
    if not isinstance(data, np.ndarray | list | tuple):
        left.pop("names", None)  # they have their own, and perhaps in another order
    if isinstance(data, str | os.PathLike) and Path(data).suffix.lower() in {*BINARY, *STATISTICS, *SHEETS}:
        left.pop("separator", None)  # which would make it a text file
    if isinstance(left.get("na"), Mapping) and before is not None and "columns" in before:
        needed = {column["name"] for column in before["columns"]} | {left.get(role) for role in ROLES}
        left["na"] = {name: values for name, values in left["na"].items() if name in needed}
    settled = {name for kind in KINDS for name in said.get(kind, ())}
    for kind in KINDS:
        if kind in left and not (rest := _without(left[kind], settled)):
            del left[kind]
        elif kind in left:
            left[kind] = rest
    return left


def _without(value: Any, names: Collection[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: order for name, order in value.items() if name not in names}
    return [name for name in ([value] if isinstance(value, str) else value) if name not in names]


@cache
def _annotations() -> dict[str, Any]:
    """Return the parameters of :meth:`Dataset.of` that say how a table is read, and of which type they are."""
    parameters = inspect.signature(Dataset.of, eval_str=True).parameters
    return {name: parameter.annotation for name, parameter in parameters.items() if name != "data"}


def checked_reading(plain: Any) -> dict[str, Any]:
    """Return what was said of a table, which a stranger may have written, if it can have been said.

    Examples
    --------
    >>> checked_reading({"missing": "drop", "ordinal": {"size": ["S", "L"]}})
    {'missing': 'drop', 'ordinal': {'size': ['S', 'L']}}
    >>> checked_reading({"categorical": 3})
    Traceback (most recent call last):
    ...
    ValueError: a table cannot be read with categorical = 3
    """
    if not isinstance(plain, Mapping):
        raise ValueError(f"options by name are needed, not {plain!r}")
    for name, value in plain.items():
        if not (isinstance(name, str) and _can_be_said(name, value)):
            raise ValueError(f"a table cannot be read with {name} = {value!r}")
    return dict(plain)


def _can_be_said(name: str, value: Any) -> bool:
    if name == "missing":
        return value in MISSING
    if name in ROLES:
        return _fits(value, str)
    if name == "ordinal" and isinstance(value, Mapping):
        return all(_fits(key, str) and _fits(order, list[str | float] | None) for key, order in value.items())
    if name in KINDS:
        return _fits(value, list[str] | str)
    return _fits(value, _annotations().get(name, Any))


def _fits(value: Any, annotation: Any) -> bool:
    """Tell whether plain data are of a type; of any type are texts, numbers, lists of these, and such by name."""
    if annotation is Any:
        parts = value.values() if isinstance(value, Mapping) else [value]
        return all(_fits(part, str | float | list[str | float] | None) for part in parts)
    if annotation is None or annotation is type(None):
        return value is None
    if get_origin(annotation) in (list, Sequence):
        return isinstance(value, list) and all(_fits(item, get_args(annotation)[0]) for item in value)
    if get_args(annotation):
        return any(_fits(value, part) for part in get_args(annotation))
    if isinstance(annotation, str):  # of a Literal
        return bool(value == annotation)
    if annotation is float:
        return isinstance(value, int | float) and math.isfinite(value)
    if annotation is str:
        return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)
    return isinstance(value, annotation)
