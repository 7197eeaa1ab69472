"""What a reader should know before believing a result: findings with a kind and data, put into words at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lmarvel.result import evidence_wording, missing, power, wording
from lmarvel.result.meaning import can_err

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

ENDED_EARLY, FEW_VALUES, POWERLESS, ILLEGAL = "ended early", "few values", "powerless", "illegal"
LONE, DETERMINED, GROUPED = "categories with one row", "determined categories", "many categories"
MISSING, EMPTY_ROWS = "missing values", "empty rows"
CONFLICTS, CONTESTED, DOUBTFUL, SELECTION, STUCK = "conflicts", "contested", "doubtful", "selection", "none removable"

_WORDS: dict[str, Callable[..., str]] = {
    ENDED_EARLY: wording.undecided_note,
    MISSING: missing.note,
    EMPTY_ROWS: missing.empty_rows_note,
    FEW_VALUES: evidence_wording.few_values_note,
    GROUPED: evidence_wording.grouped_note,
    LONE: evidence_wording.lone_note,
    DETERMINED: evidence_wording.determined_note,
    POWERLESS: power.powerless_note,
    ILLEGAL: wording.illegal_note,
    CONFLICTS: evidence_wording.conflicts_note,
    CONTESTED: wording.contested_note,
    DOUBTFUL: wording.doubtful_note,
    SELECTION: evidence_wording.erred_note,
    STUCK: wording.none_removable_note,
}


@dataclass(frozen=True)
class Finding:
    """Something to know of a result: what kind it is of, and what belongs to it; its text is its words.

    Examples
    --------
    >>> str(Finding(CONFLICTS, {"conflicts": 2}))
    'the data contradict 2 statements; they were kept'
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return _WORDS[self.kind](**self.data)


def findings_of(result: Discovery) -> Iterator[Finding]:
    """Iterate over what to know of a result, the gravest first."""
    if (early := ended_early(result)) is not None:
        yield early
    if missing.are_handled(result.settings):
        yield Finding(MISSING, {"by_score": result.mag is not None})
    if "empty_rows" in result.settings:
        yield Finding(EMPTY_ROWS, {"rows": result.settings["empty_rows"]})
    columns = (result.data or {}).get("columns", ())
    few = [column["name"] for column in columns if "few" in column]
    if few and result.settings.get("test") != "scores":  # which has looked at what their values are
        yield Finding(FEW_VALUES, {"columns": few})
    for column in columns:
        if "grouped" in column:
            yield Finding(GROUPED, {"column": column["name"], "counts": column["grouped"]})
    if said := [(c["name"], c.get("copy_of"), c.get("determines", ())) for c in columns if _decides(c)]:
        yield Finding(DETERMINED, {"columns": said})
    if result.settings.get("test") != "g-square" and (lone := {c["name"]: c["lone"] for c in columns if "lone" in c}):
        yield Finding(LONE, {"categories": lone})
    if (noticed := power.powerless(result.settings)) is not None:
        yield Finding(POWERLESS, noticed)
    if not result.undecided and result.why_illegal:
        yield Finding(ILLEGAL, {"reason": result.why_illegal})
    for kind, pairs in ((CONFLICTS, result.conflicts), (CONTESTED, result.contested), (DOUBTFUL, result.doubtful)):
        if pairs:
            yield Finding(kind, {kind: len(pairs)})
    if can_err(result) and (edges := result.explainer.edges_from_selection()):
        yield Finding(SELECTION, {"edges": edges})
    if result.none_removable:
        yield Finding(STUCK, {"remaining": len(result.none_removable)})


def _decides(column: Mapping[str, Any]) -> bool:
    return "copy_of" in column or "determines" in column


def ended_early(result: Discovery) -> Finding | None:
    """Return what is to be known of a search that ended early; None if it did not."""
    if missing.only_apart(result) or (not result.undecided and result.budget_ended is None):
        return None
    data = {
        "reason": result.budget_ended,
        "undecided": len(result.undecided),
        "nothing_learned": result.nothing_learned,
        "are_edges": result.mag is None,
    }
    return Finding(ENDED_EARLY, data)
