"""Names of columns in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lmarvel.errors import DataError
from lmarvel.near import did_you_mean


def check_known(role: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that no column has, with those that come close."""
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        meant = did_you_mean(unknown[0], names)
        raise DataError(f"{role} names {unknown[0]!r}, but the table has no such column: {listing(names)}{meant}")


def listing(names: Sequence[str], most: int = 20) -> str:
    """Return names with commas, and how many there are where they are many."""
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
