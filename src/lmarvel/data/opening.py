"""Tables opened with what a user says of them: kinds, gaps, weights, clusters."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.columns import NAMED, check_known
from lmarvel.data.levels import Wish, column_of
from lmarvel.data.moments import Moments
from lmarvel.data.reading import Reading
from lmarvel.data.scan import Weights
from lmarvel.data.sources.base import Layout, Source
from lmarvel.data.sources.panel import among_lags, is_lag, lagged, panel_parts, with_lags
from lmarvel.data.table import Table, chosen_columns, open_source, renamed, table_of
from lmarvel.data.view import TEST_WISE, Asked, Clusters, all_rows
from lmarvel.errors import DataError, LMarvelWarning
from lmarvel.text import listing


class Said(NamedTuple):
    """What a user says of a table beside its columns; see :meth:`lmarvel.Dataset.of`."""

    categorical: Any = ()
    ordinal: Any = ()
    missing: str | None = None
    weights: Any = None
    cluster: Any = None
    numeric_only: bool = False
    na: Any = None
    panel: Any = None
    lenient: bool = False  # text among numbers is read as levels: nothing is refused, or taken together


def plain_options(given: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of a function that are not its defaults as plain data, ready for JSON.

    Weights and clusters as arrays are left out.

    Examples
    --------
    >>> def read(data, drop=(), header=None, ordinal=(), weights=None): ...
    >>> plain_options({"drop": (), "header": False, "ordinal": {"size": ("S", "L")}, "weights": [1, 2]}, read)
    {'header': False, 'ordinal': {'size': ['S', 'L']}}
    """
    kept: dict[str, Any] = {}
    for name, default in _defaults(function).items():
        value = given[name]
        if value is default or (name in ("weights", "cluster") and not isinstance(value, str)):
            continue
        plain = _plain(list(value) if name in ("names", "columns", "drop") and isinstance(value, str) else value)
        if plain is not None and plain != _plain(default) and plain != [] and plain != {}:
            kept[name] = plain
    return kept


@lru_cache(maxsize=4)
def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a function that have defaults, with these."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if not isinstance(value, Iterable):
        return str(value)
    return [plain for plain in map(_plain, value) if plain is not None]


def open_dataset(
    data: Any,
    names: Sequence[str] | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    layout: Layout,
    said: Said,
) -> Reading:
    """Open a table, choose its columns, and check what was said against them.

    Of a table that something was said of before, that stands unless it is said anew.
    """
    before = data if isinstance(data, Reading) else None
    source = open_source(data if before is None else before.table, names, layout, said.na)
    if said.panel is not None:
        return _opened_panel(source, columns, drop, said)
    wanted = _variables(source.names, columns, drop, said)
    categorical, ordinal, missing = _merged(before, source.names, said)
    kept = [source.names[i] for i in wanted]
    asked = Asked.of(source.names, categorical, ordinal, missing).among(kept)
    named = {*asked.categorical, *asked.ordinal}
    wish = Wish(frozenset(i for i in wanted if source.names[i] in named), said.lenient)
    table = _numbers_only(table_of(source, wanted, wish._replace(lenient=True))) if said.numeric_only else None
    weights = _weights(source, said.weights) if said.weights is not None or before is None else before.weights
    clusters = _clusters(source, said.cluster) if said.cluster is not None or before is None else before.clusters
    roles = {"weights": said.weights, "cluster": said.cluster}
    holding = {} if before is None else dict(before.columns)
    holding |= {role: given for role, given in roles.items() if isinstance(given, str)}
    reading = Reading(table or table_of(source, wanted, wish), asked, weights, clusters, None, holding, said.lenient)
    reading.tiers = () if before is None else before.tiers
    return reading


def _opened_panel(source: Source, columns: Sequence[str] | None, drop: Sequence[str], said: Said) -> Reading:
    """Open a panel as a table with lagged columns, whose clusters are the units."""
    unit, _, lags = panel_parts(said.panel)
    if said.cluster is not None:
        raise DataError("the units of a panel are its clusters: leave cluster out", parameter="cluster")
    for role in ("weights", "drop", "categorical", "ordinal"):
        given = {"weights": said.weights, "drop": drop, "categorical": said.categorical, "ordinal": said.ordinal}[role]
        listed = [given] if isinstance(given, str) else given if role != "weights" else ()
        check_known(role, [name for name in listed or () if not is_lag(name, source.names, lags)], source.names)
    gone = set(drop)
    if columns is not None:
        gone |= {name for name in source.names if set(with_lags([name], lags)).isdisjoint(columns)}
    roles = [said.weights] if isinstance(said.weights, str) else []
    named = {*([said.categorical] if isinstance(said.categorical, str) else said.categorical), *said.ordinal}
    wish = Wish(frozenset(i for i, name in enumerate(source.names) if name in named), said.lenient)
    found = lagged(source, said.panel, roles, sorted(gone - set(roles)), wish)
    known = found.source.names
    said = said._replace(**among_lags(said._asdict(), lags, known), panel=None, na=None, cluster=found.units)
    left = [name for name in drop if name in known]
    reading = open_dataset(found.source, None, columns, left, Layout(), said)
    reading.columns = {**reading.columns, "cluster": unit, "panel": found.said}
    reading.tiers = found.tiers
    return reading


def _merged(before: Reading | None, names: Sequence[str], said: Said) -> tuple[Any, Any, str]:
    """Return what is said now, and where nothing is, what was said before, of columns that may have new names."""
    if before is None:
        return said.categorical, said.ordinal, said.missing or TEST_WISE
    now = dict(zip(before.table.names, names, strict=True))
    old = before.asked
    categorical = said.categorical or [now[name] for name in old.categorical]
    ordinal = said.ordinal or {now[name]: order for name, order in old.ordinal.items()}
    return categorical, ordinal, said.missing or old.missing


def _variables(names: list[str], columns: Sequence[str] | None, drop: Sequence[str], said: Said) -> list[int]:
    """Return the columns to learn from: not those that hold weights or clusters."""
    roles = {"weights": said.weights, "cluster": said.cluster}
    named = {role: given for role, given in roles.items() if isinstance(given, str)}
    for role, given in named.items():
        check_known(role, [given], names)
    return chosen_columns(names, columns, [*drop, *named.values()])


def _numbers_only(table: Table) -> Table:
    """Return the columns of a table that are numbers."""
    table = table.loaded()
    if table.levels is None:
        return table
    at = [i for i, levels in enumerate(table.levels) if levels is None]
    left_out = [name for i, name in enumerate(table.names) if i not in set(at)]
    if len(at) < 2:
        raise DataError(
            f"{len(at)} of {len(table.names)} columns {'is' if len(at) == 1 else 'are'} numbers, and at least 2 are"
            " needed to find edges between: without numeric_only text columns are categorical"
        )
    warnings.warn(f"left out, because they are not numbers: {listing(left_out, NAMED)}", LMarvelWarning, stacklevel=4)
    return table.take(at)


# --- weights and clusters ---------------------------------------------------------------------------------


def _weights(source: Source, given: Any) -> Weights | Callable[[], Weights] | None:
    if given is None:
        return None
    if not isinstance(given, str):
        return checked_weights(given)
    at = source.names.index(given)

    @cache
    def read() -> Weights:
        table = Table.of((given,), source.choose([at], Wish()), source.in_memory)
        values, levels = _whole(table)
        if levels is not None:
            raise DataError(f"the column of weights {given!r} holds text: weights are numbers")
        return _positive(given, values)

    return read


def _positive(column: str, values: NDArray[np.float64]) -> Weights:
    """Refuse a column of weights with a gap, or with a weight that is not above zero."""
    if values.size and not values.any():
        raise DataError(f"all weights in {column!r} are zero: no row is left")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if bad.size:
        value, more = values[bad[0]], f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        what = "is missing" if np.isnan(value) else f"is {value:g}"
        raise DataError(
            f"the weight of row {bad[0] + 1} in {column!r} {what}{more}: weights are numbers above zero; leave such"
            " rows out of the table, or take another column"
        )
    return checked_weights(values)


def checked_weights(given: Any) -> Weights:
    """Return a read-only copy of weights that are numbers, not negative, and not all zero."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("must be numbers, one for each row", parameter="weights") from None
    if weights.ndim != 1:
        raise DataError(f"must have one dimension, a number for each row, not {weights.ndim}", parameter="weights")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(f"the weight of row {bad[0] + 1} is {weights[bad[0]]}: weights must not be negative or missing")
    if not weights.any():
        raise DataError("all weights are zero: no row is left")
    weights.flags.writeable = False
    return weights


def _clusters(source: Source, given: Any) -> Callable[[], Clusters] | None:
    if given is None:
        return None
    if not isinstance(given, str):
        codes = column_of(None if v is None or v != v else v for v in given).numbers
        return lambda: _numbered("cluster", codes)
    at = source.names.index(given)

    @cache
    def read() -> Clusters:
        table = Table.of((given,), source.choose([at], Wish(lenient=True)), source.in_memory)
        return _numbered(given, _whole(table)[0])

    return read


def _numbered(column: str, values: NDArray[np.float64]) -> Clusters:
    gaps = np.flatnonzero(np.isnan(values))
    if gaps.size:
        raise DataError(
            f"the cluster column {column!r} has {gaps.size} missing value{'s' * (gaps.size > 1)}, the first in row"
            f" {gaps[0] + 1}: each row has to belong to a cluster; give those rows one of their own, or leave them out"
        )
    distinct, which = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        raise DataError(f"the cluster column {column!r} has 1 cluster: at least 2 are needed to draw from")
    numbers = which.reshape(-1).astype(np.int64)
    numbers.flags.writeable = False
    return numbers


def _whole(table: Table) -> tuple[NDArray[np.float64], object]:
    """Return the one column of a table, and its levels; text in a file of numbers is read as such."""
    table = table.loaded()
    return all_rows(table)[:, 0], table.levels


def some_moments(
    moments: Moments, names: Sequence[str] | None, columns: Sequence[str] | None, drop: Sequence[str]
) -> Moments:
    """Return the moments of chosen columns."""
    if names is None and columns is None and not drop:
        return moments
    found = list(moments.names) if names is None else renamed(moments.names, names)
    at = chosen_columns(found, columns, drop)
    covariance = moments.covariance[np.ix_(at, at)]
    return Moments(tuple(found[i] for i in at), moments.n, moments.mean[at], covariance, moments.n_effective)
