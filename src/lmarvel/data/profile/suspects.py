"""A line on columns that were probably not measured, for those who learn from a table without describing it first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from lmarvel.data.columns import Kind
from lmarvel.data.levels import written
from lmarvel.data.profile import Vector, about_numbers
from lmarvel.data.profile.patterns import missing_codes_among
from lmarvel.text import listing, option_words

NAMED = 5  # columns that are named; describe names all


def suspects(names: Sequence[str], kinds: Sequence[Kind], rows: Vector) -> str:
    """Return a line on columns of numbers that are probably not measurements, and what to do; empty if none is.

    Examples
    --------
    >>> ages = [31.0, 44, -99, 52, 25, 67, 18]
    >>> suspects(["row", "age"], [Kind.CONTINUOUS] * 2, np.column_stack([range(1, 8), ages]))
    "'row' looks like row numbers, ids or dates (--drop row); -99 in 'age' looks like a missing value (--na age=-99)"
    """
    drop: list[str] = []
    codes: list[tuple[str, str]] = []
    for name, kind, values in zip(names, kinds, rows.T, strict=True):
        seen = values[~np.isnan(values)]
        distinct, counts = np.unique(seen, return_counts=True)
        if kind is not Kind.CONTINUOUS or len(distinct) <= 2 or not np.isfinite(distinct).all():
            continue
        if any(found.drop for found in about_numbers(name, seen, distinct, len(values))):
            drop.append(name)
        else:
            codes += [(name, written(value)) for value in missing_codes_among(distinct, counts)]
    said = []
    if drop:
        looks = "looks" if len(drop) == 1 else "look"
        option = shlex.join(option_words("drop", drop))
        said.append(f"{listing(map(repr, drop), NAMED)} {looks} like row numbers, ids or dates ({option})")
    if codes:
        looks = "looks like a missing value" if len(codes) == 1 else "look like missing values"
        options = shlex.join(word for name, value in codes for word in ("--na", f"{name}={value}"))
        said.append(f"{listing([f'{value} in {name!r}' for name, value in codes], NAMED)} {looks} ({options})")
    return "; ".join(said)
