"""What is said of a table in a result: how its columns were taken, and what a reader should know of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lmarvel.wording import count, listing

_NAMED = 20  # columns, in a note


def data_notes(data: Mapping[str, Any] | None) -> Iterator[str]:
    """Iterate over what is to be known of the columns of a table: few whole numbers may be codes.

    Examples
    --------
    >>> list(data_notes({"columns": [{"name": "grade", "few": 5}, {"name": "age"}]}))
    ['grade has few different whole numbers and is taken as a number: if it has levels, say so (ordinal, categorical)']
    """
    few = [column["name"] for column in (data or {}).get("columns", ()) if "few" in column]
    if not few:
        return
    shown = listing(few[:_NAMED]) + (f", ... ({len(few)} in all)" if len(few) > _NAMED else "")
    if len(few) == 1:
        taken = "has few different whole numbers and is taken as a number: if it has levels"
    else:
        taken = "have few different whole numbers and are taken as numbers: if they have levels"
    yield f"{shown} {taken}, say so (ordinal, categorical)"


def table_said(settings: Mapping[str, Any]) -> str:
    """Return how a table was taken, from the settings of a result; nothing where that is nothing special.

    Examples
    --------
    >>> table_said({"missing": "drop", "dropped_rows": 3, "weights": "w"})
    '3 rows dropped for missing values; weights in w'
    """
    gaps = {
        "em": "moments by EM around missing values",
        "drop": f"{count(settings.get('dropped_rows', 0), 'row')} dropped for missing values",
    }
    told = (settings.get("kinds"), gaps.get(settings.get("missing", "")))
    roles = (f"{role} in {settings[role]}" for role in ("weights", "cluster") if role in settings)
    return "; ".join(filter(None, (*told, *roles)))
