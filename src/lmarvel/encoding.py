"""Records of a run as plain data, and back: what a result file is made of.

Variables stand by name. Every record of the trace is an object with its kind under "event"; sets are sorted lists,
marks are words. Whatever does not fit raises :class:`ResultError`, which says what is wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.errors import LMarvelError
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.rules import RULES
from lmarvel.sepsets import NamedSepsets, Sepsets
from lmarvel.trace import (
    Adjacent,
    BudgetEnded,
    Doubtful,
    Event,
    Kept,
    LeftBoundary,
    Moved,
    NoneRemovable,
    Removed,
    Separated,
)

FORMAT = "lmarvel-result"
VERSION = 2

_KINDS: dict[str, type] = {
    "separated": Separated,
    "adjacent": Adjacent,
    "doubtful": Doubtful,
    "kept": Kept,
    "removed": Removed,
    "left boundary": LeftBoundary,
    "none removable": NoneRemovable,
    "moved": Moved,
    "budget ended": BudgetEnded,
    "rule": RuleApplication,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_VARIABLES = {"x", "y", "z"}
_SETS = {"sepset", "strongest", "boundary", "adjacent", "given", "remaining"}
_MARKS = {ARROW: "arrowhead", TAIL: "tail"}
_CODES = {word: mark for mark, word in _MARKS.items()}
T = TypeVar("T")


class ResultError(LMarvelError):
    """A result file cannot be used: damaged, of a newer version, or something else altogether."""


def checksum(content: Mapping[str, Any]) -> str:
    """Return a digest of plain data that does not depend on how its JSON is laid out."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_part(content: Mapping[str, Any], name: str, make: Callable[[Any], T]) -> T:
    """Return a part of a result file, or say which part is missing or makes no sense."""
    if name not in content:
        raise ResultError(f"the result file is damaged: it lacks {name!r}")
    try:
        return make(content[name])
    except ResultError:
        raise
    except (LMarvelError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ResultError(f"the result file is damaged: {name!r} makes no sense ({error})") from None


def checked_settings(plain: Any) -> dict[str, Any]:
    """Return settings: plain values, and numbers where numbers are used."""
    settings = {str(name): value for name, value in plain.items()}
    for name, value in settings.items():
        if not isinstance(value, str | int | float | None):
            raise ValueError(f"{name} is {value!r}")
    for name in ("alpha", "boundary_alpha"):
        if name in settings and not isinstance(settings[name], int | float):
            raise ValueError(f"{name} is {settings[name]!r}")
    if "rows" in settings and not isinstance(settings["rows"], int):
        raise ValueError(f"rows is {settings['rows']!r}")
    return settings


def checked_data(plain: Any) -> dict[str, Any] | None:
    """Return the summary of a table, with all that a report shows of it."""
    if plain is None:
        return None
    columns = [
        {"name": str(column["name"]), "mean": float(column["mean"]), "sd": float(column["sd"])}
        for column in plain["columns"]
    ]
    return {"rows": int(plain["rows"]), "fingerprint": str(plain["fingerprint"]), "columns": columns}


# --- the trace --------------------------------------------------------------------------------------------


def encode_event(event: Event, names: Sequence[str]) -> dict[str, Any]:
    """Return a record as plain data."""
    if isinstance(event, RuleApplication):
        parts: dict[str, Any] = {"rule": event.rule, "nodes": [names[v] for v in event.nodes]}
        for part in ("written", "refused"):
            parts[part] = [[names[x], names[y], _MARKS[m]] for x, y, m in getattr(event, part)]
        return {"event": "rule", **parts}
    values = {field.name: _encode(field.name, getattr(event, field.name), names) for field in fields(event)}
    return {"event": _NAMES[type(event)], **values}


def _encode(name: str, value: Any, names: Sequence[str]) -> Any:
    if name in _VARIABLES:
        return names[value]
    if name in _SETS:
        return None if value is None else sorted(names[v] for v in value)
    return value


def decode_event(plain: Mapping[str, Any], index: Mapping[str, int]) -> Event:
    """Return the record of plain data."""
    kind = _KINDS[plain["event"]]
    if kind is RuleApplication:
        marks = (
            tuple((index[x], index[y], int(_CODES[mark])) for x, y, mark in plain[part])
            for part in ("written", "refused")
        )
        return _checked_rule(RuleApplication(plain["rule"], tuple(index[v] for v in plain["nodes"]), *marks))
    values = {field.name: _decode(field.name, plain[field.name], index) for field in fields(kind)}
    event: Event = kind(**values)
    return event


def _checked_rule(use: RuleApplication) -> RuleApplication:
    """Refuse a use of a rule that cannot be one."""
    rule = RULES.get(use.rule)
    if rule is None or not rule.admits(use):
        raise ValueError(f"no use of the rule {use.rule!r} looks like this")
    return use


def _decode(name: str, value: Any, index: Mapping[str, int]) -> Any:
    if name in _VARIABLES:
        return index[value]
    if name in _SETS:
        return None if value is None else frozenset(index[v] for v in value)
    if name in ("pvalue", "bic"):
        return float(value)
    if not isinstance(value, str):
        raise ValueError(f"{name} should be text, not {value!r}")
    return value


# --- separating sets --------------------------------------------------------------------------------------


def encode_sepsets(
    sepsets: Mapping[tuple[str, str], frozenset[str]], trace: Sequence[Event], names: Sequence[str]
) -> dict[str, Any]:
    """Return the separating sets that tests found, and how the boundaries that separate the others were found."""
    events = {(min(e.x, e.y), max(e.x, e.y), e.sepset): e for e in trace if isinstance(e, Separated)}
    if isinstance(sepsets, NamedSepsets):
        found = sorted(sepsets.by_position.found.items())
        truncated = sepsets.by_position.boundaries.truncated
    else:
        index = {name: i for i, name in enumerate(names)}
        found = sorted(((index[a], index[b]), frozenset(index[v] for v in s)) for (a, b), s in sepsets.items())
        truncated = {}
    listed = []
    for (x, y), sepset in found:
        event = events.get((min(x, y), max(x, y), sepset))
        listed.append(
            {
                "pair": [names[x], names[y]],
                "sepset": sorted(names[v] for v in sepset),
                "pvalue": None if event is None else event.pvalue,
                "phase": None if event is None else event.phase,
            }
        )
    if not isinstance(sepsets, NamedSepsets):
        return {"found": listed, "boundary": None}
    tested = sepsets.by_position
    cut_short = {names[v]: [sorted(names[u] for u in part) for part in parts] for v, parts in sorted(truncated.items())}
    return {
        "found": listed,
        "joined": [[names[x], names[y]] for x, y in sorted(tested.joined)],
        "boundary": tested.boundaries.method,
        "level": tested.boundaries.level,
        "cut_short": cut_short,
    }


def decode_sepsets(
    plain: Mapping[str, Any], names: Sequence[str], boundaries: Mapping[str, frozenset[str]]
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the separating sets of plain data."""
    index = {name: i for i, name in enumerate(names)}
    found = {(item["pair"][0], item["pair"][1]): frozenset(map(str, item["sepset"])) for item in plain["found"]}
    for pair, sepset in found.items():
        unknown = {*pair, *sepset} - index.keys()
        if unknown:
            raise ValueError(f"unknown variable {sorted(unknown)[0]!r}")
    if plain["boundary"] is None:
        return found
    everything = set(range(len(names)))
    around = [{index[v] for v in boundaries[name]} if boundaries else everything - {i} for i, name in enumerate(names)]
    cut_short = {
        index[v]: (frozenset(index[u] for u in given), frozenset(index[u] for u in kept))
        for v, (given, kept) in plain["cut_short"].items()
    }
    joined = [(min(index[a], index[b]), max(index[a], index[b])) for a, b in plain["joined"]]
    sepsets = Sepsets(Boundaries.of(around, str(plain["boundary"]), float(plain["level"]), cut_short), joined=joined)
    for (a, b), sepset in found.items():
        sepsets.store(index[a], index[b], frozenset(index[v] for v in sepset))
    return NamedSepsets(sepsets, names)
