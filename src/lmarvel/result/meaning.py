"""What an edge of a result, or its absence, says in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmarvel.errors import GraphError
from lmarvel.graph.marks import ARROW, CIRCLE, Edge, Mark
from lmarvel.result import evidence_wording, wording
from lmarvel.result.sources import by_statements
from lmarvel.result.support.grades import LIKELY, Grade, grade_named
from lmarvel.text import readable, sentence

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery


def can_err(result: Discovery) -> bool:
    """Tell whether single tests decided, and not an oracle's."""
    return result.mag is None and result.settings.get("test") != "MSeparation"


def allows_latents(result: Discovery) -> bool:
    """Tell whether there may be unmeasured common causes, as far as was said beforehand."""
    return result.knowledge is None or result.knowledge.latents


def of_edge(result: Discovery, a: str, b: str) -> str:
    """Return what the edge between two variables, or its absence, says: no more than the data support."""
    edge, explainer = result.pag.edge(a, b), result.explainer
    x, y = result.pag.index(a), result.pag.index(b)
    if edge is None:
        if frozenset((x, y)) in explainer.doubtful:
            return f"{wording.IN_DOUBT}."
        return wording.absence(explainer.separation(x, y)[0])
    if explainer.is_undecided(x, y):
        return f"{wording.UNDECIDED}."
    supported = _supported(result, edge)
    shown = Edge(readable(edge.a), readable(edge.b), supported.at_a, supported.at_b)
    selection = wording.selected(result.settings)
    settled = _not_selected(result, edge)
    strength = evidence_wording.strength(edge_grade(result, a, b), edge_follows(result, a, b))
    said = evidence_wording.edge_sentence(
        wording.statement(shown, settled, selection, allows_latents(result), **strength),
        supported == edge and explainer.from_selection(x, y),
        result.evidence.chose,
        can_err(result),
    )
    if supported == edge:
        return said
    unchecked = "unchecked" in (result.grade(a, b), result.grade(b, a))
    return f"{said} {sentence(evidence_wording.not_established(edge, unchecked, result.mag is not None))}"


def _supported(result: Discovery, edge: Edge) -> Edge:
    """Return an edge with circles where its marks are not established."""
    at_a, at_b = (
        mark if grade_level(result, near, far) >= LIKELY or mark == CIRCLE else CIRCLE
        for near, far, mark in ((edge.b, edge.a, edge.at_a), (edge.a, edge.b, edge.at_b))
    )
    return Edge(edge.a, edge.b, Mark(at_a), Mark(at_b))


def grade_level(result: Discovery, a: str, b: str) -> int:
    """Return the number of the grade of the mark at b on the edge a-b."""
    return int(result.grades.marks[result.pag.index(a), result.pag.index(b)])


def edge_grade(result: Discovery, a: str, b: str) -> Grade | None:
    """Return the weakest grade of the marks of an edge that are shown; None where none is."""
    levels = (grade_level(result, *ends) for ends in ((a, b), (b, a)))
    return grade_named(min((level for level in levels if level >= LIKELY), default=0))


def edge_follows(result: Discovery, a: str, b: str) -> bool:
    """Tell whether a mark of an edge that is shown holds only with what was stated."""
    shown = (ends for ends in ((a, b), (b, a)) if grade_level(result, *ends) >= LIKELY)
    return any(by_statements(result, *ends) == "follows" for ends in shown)


def of_pair(result: Discovery, a: str, b: str) -> str:
    """Return the same with the edge, or with the set that separates the two."""
    edge, explainer = result.pag.edge(a, b), result.explainer
    if a == b:
        raise GraphError(f"an edge joins two variables, and {a} was given twice")
    if edge is not None:
        return f"{wording.shown_edge(edge)}: {of_edge(result, a, b)}"
    x, y = result.pag.index(a), result.pag.index(b)
    given = explainer.separation(x, y)[0]
    if frozenset((x, y)) in explainer.doubtful:
        why = sentence(wording.IN_DOUBT)
    elif given is None and result.mag is not None:
        why = sentence(wording.left_out(explainer.is_undecided(x, y)))
    else:
        shown = None if given is None else explainer.given(given) if given else ""
        why = wording.separation(shown, result.settings.get("boundary") == "own")
    return f"{readable(a)}, {readable(b)}: not adjacent. {why}"


def _not_selected(result: Discovery, edge: Edge) -> bool:
    """Tell whether the end that may be a cause has an arrowhead elsewhere: then it does not cause selection."""
    end = wording.possible_cause(edge)
    return any(near == ARROW for _, near, _ in result.pag.links[result.pag.index(end)])
