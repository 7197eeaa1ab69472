"""Names of columns in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lmarvel.errors import DataError
from lmarvel.graph.marks import counted
from lmarvel.near import did_you_mean


def check_known(role: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that no column has, with those that come close."""
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        meant = did_you_mean(unknown[0], names)
        raise DataError(f"{role} names {unknown[0]!r}, but the table has no such column: {listing(names)}{meant}")


def not_one_a_row(role: str, given: int, rows: int) -> DataError:
    """Return what to raise where weights, or names of clusters, are not as many as rows.

    Examples
    --------
    >>> print(not_one_a_row("weights", 1, 3))
    there is 1 weight for 3 rows: give one a row
    """
    there = f"is {counted(given, role[:-1])}" if given == 1 else f"are {counted(given, role[:-1])}"
    return DataError(f"there {there} for {counted(rows, 'row')}: give one a row")


def listing(names: Sequence[str], most: int = 20) -> str:
    """Return names with commas, and how many there are where they are many."""
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
