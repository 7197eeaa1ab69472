"""Names of columns in messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from lmarvel.errors import DataError


def check_known(role: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that no column has, with those that come close."""
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        close = difflib.get_close_matches(unknown[0], names, n=1, cutoff=0.6)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise DataError(f"{role} names {unknown[0]!r}, but the table has no such column: {listing(names)}{meant}")


def listing(names: Sequence[str], most: int = 20) -> str:
    """Return names with commas, and how many there are where they are many."""
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
