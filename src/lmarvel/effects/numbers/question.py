"""What a question about an effect says beside the two variables, checked; and the table of its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmarvel.data import Dataset
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.pag_index import Prepared, Stated
from lmarvel.errors import DataError, ParameterError
from lmarvel.graph.mixed import Node
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import read_as_before
from lmarvel.text import readable


def checked_group(ready: Prepared, by: Node | None, x: int, y: int) -> int | None:
    """Return the position of the variable that makes groups."""
    if by is None:
        return None
    group = ready.graph.index(by)
    if group in (x, y):
        raise ParameterError(
            f"{readable(ready.graph.names[group])} is asked about: it cannot make the groups", parameter="by"
        )
    return group


def checked_values(values: Any) -> tuple[Any, Any] | None:
    """Return two values of the cause to compare, if there are any."""
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != 2:
        raise ParameterError(f"must be two values of the cause, not {values!r}", parameter="values")
    return values[0], values[1]


def read_table(ready: Prepared, data: Any, result: object, nominal: Sequence[str] = ()) -> Columns:
    """Return the table that numbers are estimated from, read as the one that the result was learned from."""
    return Columns(_read(ready, data, result.data if isinstance(result, Discovery) else None), nominal)


def _read(ready: Prepared, data: Any, before: Mapping[str, Any] | None) -> Dataset:
    """Return the columns of a table that the graph is over."""
    try:
        return read_as_before(data, before, ready.graph.names)
    except DataError as error:
        if not (error.parameter == "columns" and isinstance(ready, Stated)):
            raise
    has = Dataset.of(data).names
    lacks = next(name for name in ready.graph.names if name not in has)
    raise DataError(
        f"the table has no column {lacks!r}, which the graph has: if it was not measured, take it out of the graph and"
        " write <-> between the variables that it affects"
    )


def check_counts(bootstrap: int | None, most: int, again: int | None) -> None:
    """Refuse numbers of replicates, graphs and resamples that make no sense."""
    for name, value, least in (("bootstrap", bootstrap, 2), ("most", most, 1), ("again", again, 1)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise ParameterError(f"must be a whole number of at least {least}, not {value!r}", parameter=name)
