"""What changed between two runs, edge by edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmarvel.text import counted, readable

_SIGNS = {"o": "circle", ">": "arrowhead", "-": "tail"}
_LEFT = {">": "<"}


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what changed from one run to another: edges that are new, gone or have other marks.

    Examples
    --------
    >>> first = {"variables": ["A", "B", "C"], "edges": [["A", "B", "o", ">", "open", "firm"]], "statements": []}
    >>> second = {"variables": ["A", "B", "C"], "edges": [["B", "A", ">", "-", "firm", "stated"],
    ...     ["B", "C", "o", "o", None, None]], "statements": ["A causes B"]}
    >>> found = compared(first, second)
    >>> found["summary"], [row["text"] for row in found["edges"]]
    ('1 edge is new, 0 are gone, 1 has other marks, 0 are the same.', ['A --> B', 'B o-o C'])
    >>> found["edges"][0]["what"], found["added"]
    ('Mark at A: circle (open), now tail (stated)', ['A causes B'])
    """
    old, new = _edges(before), _edges(after)
    rows = []
    for pair in sorted(old.keys() | new.keys()):
        was, now = old.get(pair), new.get(pair)
        shown = now or was
        assert shown is not None
        kind = "new" if was is None else "gone" if now is None else "other" if was != now else "same"
        rows.append({"text": _arrow(pair, shown), "kind": kind, "what": _what(pair, was, now), "pair": list(pair)})
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in ("new", "gone", "other", "same")}
    only = [name for name in before["variables"] if name not in set(after["variables"])]
    more = [name for name in after["variables"] if name not in set(before["variables"])]
    return {
        "summary": _summary(**counts),
        "edges": [row for row in rows if row["kind"] != "same"],
        "added": [one for one in after["statements"] if one not in before["statements"]],
        "removed": [one for one in before["statements"] if one not in after["statements"]],
        "variables": [
            *(f"{readable(name)} is left out" for name in only),
            *(f"{readable(name)} is new" for name in more),
        ],
    }


def _summary(new: int, gone: int, other: int, same: int) -> str:
    first = f"{counted(new, 'edge')} {_be(new)} new, {gone} {_be(gone)} gone"
    return f"{first}, {other} {'has' if other == 1 else 'have'} other marks, {same} {_be(same)} the same."


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def _edges(run: Mapping[str, Any]) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Return marks and grades by pair of names in order."""
    found = {}
    for a, b, at_a, at_b, grade_a, grade_b in run["edges"]:
        found[min(a, b), max(a, b)] = (at_a, at_b, grade_a, grade_b) if a < b else (at_b, at_a, grade_b, grade_a)
    return found


def _arrow(pair: Sequence[str], edge: Sequence[Any]) -> str:
    return f"{readable(pair[0])} {_LEFT.get(edge[0], edge[0])}-{edge[1]} {readable(pair[1])}"


def _what(pair: Sequence[str], was: Sequence[Any] | None, now: Sequence[Any] | None) -> str:
    if was is None:
        return "New edge"
    if now is None:
        return "No longer an edge"
    ends = [k for k in (0, 1) if (was[k], was[k + 2]) != (now[k], now[k + 2])]
    return "; ".join(f"Mark at {readable(pair[k])}: {_mark(was, k)}, now {_mark(now, k)}" for k in ends)


def _mark(edge: Sequence[Any], k: int) -> str:
    grade = f" ({edge[k + 2]})" if edge[k + 2] else ""
    return f"{_SIGNS[edge[k]]}{grade}"
