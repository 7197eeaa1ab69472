"""Very many pairs with their separating sets as a few strings of numbers, and back, everything checked.

A search that a budget of seconds ends may have separated a million pairs. An object a pair takes longer to write than
the search took to find it; strings of numbers take a fraction of that.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.trace import Separated, SeparatedRun

MANY = 10_000
"""Above so many pairs they are packed."""

RUN = 100
"""So many records of one kind in a row are packed, where there are many."""

_POSITION, _PVALUE = "<i4", "<f8"  # the same on every machine
Pair = tuple[int, int]
Numbers = NDArray[Any]


def pack_sets(x: Numbers, y: Numbers, sizes: Numbers, members: Numbers) -> dict[str, Any]:
    """Return pairs of positions, and a set of positions for each, as plain data; the sets ascending, end to end.

    Examples
    --------
    >>> plain = pack_sets(np.array([0, 2]), np.array([3, 1]), np.array([2, 0]), np.array([1, 2]))
    >>> plain["pairs"], unpack_sets(plain, 4)
    (2, [((0, 3), frozenset({1, 2})), ((2, 1), frozenset())])
    """
    columns = {"x": x, "y": y, "sizes": sizes, "members": members}
    return {"pairs": len(x), **{name: _text(column.astype(_POSITION)) for name, column in columns.items()}}


def unpack_sets(plain: Mapping[str, Any], n_variables: int) -> list[tuple[Pair, frozenset[int]]]:
    """Return pairs and sets of plain data, or refuse (ValueError) what is none."""
    count = plain["pairs"]
    if type(count) is not int:
        raise ValueError(f"a number of pairs is needed, not {count!r}")
    x, y, sizes = (_numbers(plain[part], _POSITION, count) for part in ("x", "y", "sizes"))
    if (sizes < 0).any() or (x == y).any():
        raise ValueError("a pair needs two variables, and a set a size")
    members = _numbers(plain["members"], _POSITION, int(sizes.sum(dtype=np.int64)))
    for positions in (x, y, members):
        if positions.size and not 0 <= positions.min() <= positions.max() < n_variables:
            raise ValueError(f"there are {n_variables} variables, and a position is beyond them")
    ascending = np.diff(members) > 0
    begins = np.cumsum(sizes, dtype=np.int64)[:-1]
    ascending[begins[(begins > 0) & (begins < members.size)] - 1] = True  # where a set ends and another begins
    if not ascending.all():
        raise ValueError("the members of a set must be ascending")
    listed, starts = members.tolist(), accumulate(sizes.tolist(), initial=0)
    sets = [frozenset(listed[at:end]) for at, end in pairwise(starts)]
    return list(zip(zip(x.tolist(), y.tolist(), strict=True), sets, strict=True))


def pack_separated(run: SeparatedRun) -> dict[str, Any]:
    """Return records of separated pairs as plain data."""
    pvalues = _text(run.pvalues.astype(_PVALUE))
    return {"phase": run.phase, **pack_sets(run.x, run.y, run.sizes, run.members), "pvalues": pvalues}


def unpack_separated(plain: Mapping[str, Any], phase: str, n_variables: int) -> list[Separated]:
    """Return the records of plain data, or refuse what is none."""
    found = unpack_sets(plain, n_variables)
    pvalues = _numbers(plain["pvalues"], _PVALUE, len(found))
    if not ((pvalues >= 0) & (pvalues <= 1)).all():
        raise ValueError("a p-value lies between 0 and 1")
    return [Separated(x, y, s, p, phase) for ((x, y), s), p in zip(found, pvalues.tolist(), strict=True)]


def _text(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _numbers(plain: Any, kind: str, count: int) -> NDArray[Any]:
    if not isinstance(plain, str):
        raise ValueError(f"numbers as text are needed, not {plain!r}")
    found = np.frombuffer(base64.b64decode(plain, validate=True), dtype=kind)
    if len(found) != count:
        raise ValueError(f"{count} numbers are needed, and there are {len(found)}")
    return found
