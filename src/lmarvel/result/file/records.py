"""Records of a run as plain data, and back: what a result file is made of.

Variables stand by name. Every record of the trace is an object with its kind under "event"; sets are sorted lists,
marks are words. Whatever does not fit raises :class:`lmarvel.errors.ResultError`, which says what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from lmarvel.ci.boundaries import Boundaries
from lmarvel.deferred import without_collection
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.rules import RULES
from lmarvel.orient.stated import STATED
from lmarvel.result.sepsets import (
    MANY,
    RUN,
    NamedSepsets,
    Sepsets,
    SetColumns,
    pack_separated,
    pack_sets,
    unpack_separated,
    unpack_sets,
)
from lmarvel.result.trace import (
    Adjacent,
    Began,
    BudgetEnded,
    Chose,
    Doubtful,
    Event,
    HiddenNode,
    Kept,
    LeftBoundary,
    LeftOut,
    Moved,
    NoneRemovable,
    Overruled,
    RefusedNode,
    Removed,
    Separated,
    SeparatedRun,
    StatementCost,
    Supported,
    Trace,
    Weighed,
)

FORMAT = "lmarvel-result"
LARGEST = 2**53  # of a count: the largest that every reader of JSON holds exactly


# --- single values ----------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Return a value that must be text, and such as a file can hold."""
    if not isinstance(value, str):
        raise ValueError(f"text is needed, not {value!r}")
    value.encode()  # half a character is none
    return value


def number(value: Any) -> float:
    """Return a value that must be a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"a number is needed, not {value!r}")
    return float(value)


def probability(value: Any) -> float:
    """Return a value that must be a p-value."""
    if not 0 <= number(value) <= 1:
        raise ValueError(f"a p-value lies between 0 and 1, and {value!r} does not")
    return float(value)


def loss(value: Any) -> float:
    """Return a value that must be a difference of scores: a number that is not below 0."""
    if number(value) < 0:
        raise ValueError(f"a loss is not below 0, and {value!r} is")
    return float(value)


def whole(value: Any) -> int:
    """Return a value that must be a count."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise ValueError(f"a count is needed, not {value!r}")
    return value


def items(value: Any) -> list[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list):
        raise ValueError(f"a list is needed, not {value!r}")
    return value


def members(value: Any, index: Mapping[str, int]) -> frozenset[int]:
    """Return a value that must be a list of known variables, as their positions."""
    return frozenset(index[name] for name in items(value))


# --- the trace --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Coder:
    """How a kind of field becomes plain data, and comes back."""

    encode: Callable[[Any, Sequence[str]], Any]
    decode: Callable[[Any, Mapping[str, int]], Any]


_VARIABLE = _Coder(lambda v, names: names[v], lambda plain, index: index[plain])
_MEMBERS = _Coder(lambda vs, names: sorted(names[v] for v in vs), members)
_PERHAPS = _Coder(
    lambda vs, names: None if vs is None else sorted(names[v] for v in vs),
    lambda plain, index: None if plain is None else members(plain, index),
)
_PVALUE = _Coder(lambda p, names: p, lambda plain, index: probability(plain))
_NUMBER = _Coder(lambda value, names: value, lambda plain, index: number(plain))
_LOSS = _Coder(lambda value, names: value, lambda plain, index: loss(plain))
_PERHAPS_LOSS = _Coder(lambda value, names: value, lambda plain, index: None if plain is None else loss(plain))
_TEXT = _Coder(lambda value, names: value, lambda plain, index: text(plain))
_CODERS = {
    **dict.fromkeys(("x", "y", "z"), _VARIABLE),
    **dict.fromkeys(("sepset", "boundary", "adjacent", "given", "remaining", "members"), _MEMBERS),
    **dict.fromkeys(("before", "after", "phase", "reason", "graph", "kind", "stage", "statement"), _TEXT),
    "strongest": _PERHAPS,
    "pvalue": _PVALUE,
    **dict.fromkeys(("bic", "score"), _NUMBER),
    **dict.fromkeys(("distance", "selection_gain"), _PERHAPS_LOSS),
    **dict.fromkeys(("loss", "price"), _LOSS),
}
_KINDS: dict[str, type] = {
    "separated": Separated,
    "adjacent": Adjacent,
    "doubtful": Doubtful,
    "overruled": Overruled,
    "kept": Kept,
    "removed": Removed,
    "left boundary": LeftBoundary,
    "none removable": NoneRemovable,
    "began": Began,
    "moved": Moved,
    "budget ended": BudgetEnded,
    "chose": Chose,
    "hidden node": HiddenNode,
    "refused node": RefusedNode,
    "weighed": Weighed,
    "left out": LeftOut,
    "supported": Supported,
    "statement cost": StatementCost,
}
_PACKED = "separated pairs"
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {
    name: [(field.name, attrgetter(field.name), _CODERS[field.name]) for field in fields(kind)]
    for name, kind in _KINDS.items()
}
_MARKS = {ARROW: "arrowhead", TAIL: "tail"}
_CODES = {word: mark for mark, word in _MARKS.items()}


def encode_event(event: Event, names: Sequence[str]) -> dict[str, Any]:
    """Return a record as plain data."""
    if isinstance(event, RuleApplication):
        marks = {"written": event.written, "refused": event.refused}
        return {
            "event": "rule",
            "rule": event.rule,
            "nodes": [names[v] for v in event.nodes],
            **{part: [[names[x], names[y], _MARKS[m]] for x, y, m in ends] for part, ends in marks.items()},
        }
    name = _NAMES[type(event)]
    return {"event": name, **{part: coder.encode(read(event), names) for part, read, coder in _FIELDS[name]}}


@without_collection()
def encode_trace(trace: Trace, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return all records as plain data; there can be a million, and then those of separated pairs are packed."""
    runs = [part for part in trace.parts if isinstance(part, SeparatedRun)]
    if sum(len(run.x) for run in runs) <= MANY:
        return [encode_event(event, names) for event in trace]
    encoded: list[dict[str, Any]] = []
    for part in trace.parts:
        if isinstance(part, SeparatedRun) and len(part.x) >= RUN:
            encoded.append({"event": _PACKED, **pack_separated(part)})
        else:
            events = part.records() if isinstance(part, SeparatedRun) else [part]
            encoded += (encode_event(event, names) for event in events)
    return encoded


@without_collection()
def decode_trace(plain: Any, index: Mapping[str, int]) -> Trace:
    """Return the records of plain data."""
    return Trace.of(tuple(event for item in items(plain) for event in _decoded(item, index)))


def _decoded(plain: Mapping[str, Any], index: Mapping[str, int]) -> Sequence[Event]:
    if plain["event"] == _PACKED:
        return unpack_separated(plain, text(plain["phase"]), len(index))
    return (decode_event(plain, index),)


def decode_event(plain: Mapping[str, Any], index: Mapping[str, int]) -> Event:
    """Return the record of plain data."""
    name = plain["event"]
    if name == "rule":
        return _decode_rule(plain, index)
    event: Event = _KINDS[name](*(coder.decode(plain[part], index) for part, _, coder in _FIELDS[name]))
    if (
        isinstance(event, Separated | Adjacent | Overruled | Moved | Weighed | LeftOut | Supported)
        and event.x == event.y
    ):
        raise ValueError("a pair needs two variables")
    return event


def _decode_rule(plain: Mapping[str, Any], index: Mapping[str, int]) -> RuleApplication:
    written, refused = (
        tuple((index[x], index[y], int(_CODES[mark])) for x, y, mark in items(plain[part]))
        for part in ("written", "refused")
    )
    use = RuleApplication(text(plain["rule"]), tuple(index[v] for v in items(plain["nodes"])), written, refused)
    rule = RULES.get(use.rule) or STATED.get(use.rule)
    if rule is None or not rule.admits(use) or len(set(use.nodes[:3])) < min(rule.least, 3):
        raise ValueError(f"no use of the rule {use.rule!r} looks like this")
    if any(x == y for x, y, _ in (*written, *refused)):
        raise ValueError("a mark belongs to an edge between two variables")
    return use


# --- separating sets --------------------------------------------------------------------------------------


@without_collection()
def encode_sepsets(
    sepsets: Mapping[tuple[str, str], frozenset[str]], trace: Sequence[Event], names: Sequence[str]
) -> dict[str, Any]:
    """Return the separating sets that tests found, and how the boundaries that separate the others were found."""
    if isinstance(sepsets, NamedSepsets):
        columns = sepsets.columns
        if len(columns.x) > MANY:
            return {"found": pack_sets(*columns[:4]), **_around(columns, names)}
        found = sorted(sepsets.by_position.found.items())
    else:
        columns, index = None, {name: i for i, name in enumerate(names)}
        found = sorted(((index[a], index[b]), frozenset(index[v] for v in s)) for (a, b), s in sepsets.items())
    events = {(e.x, e.y) if e.x < e.y else (e.y, e.x): e for e in trace if isinstance(e, Separated)}
    listed = []
    for (x, y), sepset in found:
        event = events.get((x, y) if x < y else (y, x))  # the last of the pair, as the set is
        if event is not None and event.sepset != sepset:
            event = None
        listed.append(
            {
                "pair": [names[x], names[y]],
                "sepset": sorted([names[v] for v in sepset]),
                "pvalue": None if event is None else event.pvalue,
                "phase": None if event is None else event.phase,
            }
        )
    return {"found": listed, **_around(columns, names)}


def _around(columns: SetColumns | None, names: Sequence[str]) -> dict[str, Any]:
    """Return how the boundaries were found; a search by score has none."""
    if columns is None:
        return {"boundary": None}
    cut_short = {
        names[v]: [sorted(names[u] for u in part) for part in parts] for v, parts in sorted(columns.truncated.items())
    }
    return {"boundary": columns.method, "level": columns.level, "cut_short": cut_short}


def decode_sepsets(
    plain: Mapping[str, Any], names: Sequence[str], boundaries: Mapping[str, frozenset[str]]
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the separating sets of plain data."""
    index = {name: i for i, name in enumerate(names)}
    listed = plain["found"]
    if isinstance(listed, dict):
        found = dict(unpack_sets(listed, len(names)))
    else:
        found = dict(_found(item, index) for item in items(listed))
    if plain.get("boundary") is None:  # of a search by score
        return {(names[x], names[y]): frozenset(names[v] for v in sepset) for (x, y), sepset in found.items()}
    everything = set(range(len(names)))
    around = [{index[v] for v in boundaries[name]} if boundaries else everything - {i} for i, name in enumerate(names)]
    cut_short = {
        index[v]: (members(given, index), members(kept, index)) for v, (given, kept) in plain["cut_short"].items()
    }
    method, level = text(plain["boundary"]), probability(plain["level"])
    return NamedSepsets(Sepsets(Boundaries.of(around, method, level, cut_short), found), names)


def _found(item: Mapping[str, Any], index: Mapping[str, int]) -> tuple[tuple[int, int], frozenset[int]]:
    """Return a pair and the set that separates it; its test stands in the trace, and is only looked at."""
    x, y = (index[name] for name in items(item["pair"]))
    if x == y:
        raise ValueError("a pair needs two variables")
    if item["pvalue"] is not None:
        probability(item["pvalue"])
        text(item["phase"])
    return (x, y), members(item["sepset"], index)
