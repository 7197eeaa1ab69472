"""What an edge of a result, or its absence, says in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmarvel.errors import GraphError
from lmarvel.graph.marks import ARROW, Edge
from lmarvel.result import evidence_wording, wording
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
    """Return in one sentence what the edge between two variables, or its absence, says."""
    edge, explainer = result.pag.edge(a, b), result.explainer
    x, y = result.pag.index(a), result.pag.index(b)
    if edge is None:
        if frozenset((x, y)) in explainer.doubtful:
            return f"{wording.IN_DOUBT}."
        return wording.absence(explainer.separation(x, y)[0])
    if explainer.is_undecided(x, y):
        return f"{wording.UNDECIDED}."
    shown = Edge(readable(edge.a), readable(edge.b), edge.at_a, edge.at_b)
    selection = wording.selected(result.settings)
    return evidence_wording.edge_sentence(
        wording.statement(shown, _not_selected(result, edge), selection, allows_latents(result)),
        result.evidence.word(result.pag, x, y),
        explainer.from_selection(x, y),
        result.evidence.chose,
        can_err(result),
    )


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
