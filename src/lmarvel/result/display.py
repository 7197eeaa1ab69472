"""How a result shows itself: as a page of text where it is printed, as a picture with its legend in a notebook.

Names of variables are a stranger's text: they reach a notebook escaped, and a terminal without what would act on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from lmarvel.drawing import MOST_EDGES, draw
from lmarvel.drawing.scene import style_of
from lmarvel.graph.marks import CIRCLE, Edge, arrow, parse_edge
from lmarvel.graph.mixed import MixedGraph
from lmarvel.result import power, wording
from lmarvel.result.evidence_wording import of_statements
from lmarvel.result.meaning import allows_latents, edge_follows, edge_grade
from lmarvel.result.notes import POWERLESS, Finding
from lmarvel.result.sources import by_statements
from lmarvel.result.statistics import positions_of
from lmarvel.result.support.frequencies import percent
from lmarvel.result.support.grades import LIKELY, Shown
from lmarvel.result.support.reliability import doubts_about
from lmarvel.result.wording import method_name
from lmarvel.text import counted, readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

MOST_OPEN = 1000  # pairs left undecided that a command prints; there may be a million
MOST_LINES = 20  # edges that are printed; there may be thousands
_MOST_NOTES = 6
_WIDTH, _WIDEST = 120, 160  # characters of a line: of text, and of an edge, whose names may be long
_FRAME = "background:#ffffff;color:#1b1f24;padding:0.6em 0.8em;max-width:100%;box-sizing:border-box"
_PICTURE = "overflow:auto;max-height:40em"
_FITTED = "max-width:100%;height:auto"  # the picture is as wide as it needs to be, and never wider than the cell
_WARNED = "background:#fff4e5;border-left:4px solid #b45309;padding:0.4em 0.8em;margin:0.6em 0"


# --- lines of text ----------------------------------------------------------------------------------------


def headline(result: Discovery) -> str:
    """Return in a line what was learned from how much."""
    return result.verdict.lines[0].rstrip(".")


def edge_lines(result: Discovery, marks: Shown = "supported", most: int | None = None) -> Iterator[str]:
    """Iterate over the edges as they are shown, with how firm their marks are and how often the edges appear.

    Of the pairs that a search left undecided, which can be a million, those beyond the first thousand are counted.
    """
    graph, left_out = _without_undecided(result, marks, MOST_OPEN)
    edges = list(islice(graph.edges(), most))
    width = max((len(readable(edge.a)) for edge in edges), default=0)
    far = max((len(readable(edge.b)) for edge in edges), default=0)
    for edge in edges:
        shown = f"{readable(edge.a):>{width}} {arrow(edge.at_a, edge.at_b)} {readable(edge.b):<{far}}"
        yield f"  {shown}   {'; '.join(_beside(result, edge, marks))}".rstrip()
    if left_out and most is None:
        yield f"  and {counted(left_out, 'more undecided pair')}, which --format edges prints"
    if not edges:
        why = power.no_edges(result.settings, result.budget_ended is not None)
        yield "  no edges" if power.powerless(result.settings) else f"  no edges: {why}"  # the verdict said so


def _beside(result: Discovery, edge: Edge, marks: Shown) -> Iterator[str]:
    """Iterate over what stands beside an edge: how firm its marks are, how often it appears, and doubts about it."""
    graded = result.grades.basis != "exact"
    if graded and marks == "all":
        yield from dict.fromkeys(
            filter(None, (_grade_of(result, *ends) for ends in ((edge.b, edge.a), (edge.a, edge.b))))
        )
    elif graded and (grade := edge_grade(result, edge.a, edge.b)) is not None:
        yield of_statements(grade) if edge_follows(result, edge.a, edge.b) else grade
    if result.stability is not None:
        yield result.recurring(edge.a, edge.b) or ""
    elif result.resamples is not None:
        yield f"edge {percent(result.resamples.edge(edge.a, edge.b))}"
    yield from (doubt.text for doubt in doubts_about(result, edge.a, edge.b) if doubt.kind != "rejected")


def _grade_of(result: Discovery, a: str, b: str) -> str | None:
    """Return how firm the mark at b on the edge a-b is, in words; None at a circle."""
    grade = result.grade(a, b)
    return of_statements(grade) if by_statements(result, a, b) == "follows" else grade


CAPTIONS: dict[Shown, str] = {
    "all": "All learned marks; hollow ones are not established",
    "supported": "Supported marks: a circle replaces each mark that the data do not establish",
    "firm": "Firm marks only: a circle replaces every other mark",
}
"""What a drawing of a result says of the marks it shows."""


def caption(result: Discovery, marks: Shown = "supported") -> str:
    """Return which marks of a result a list of its edges shows."""
    if result.grades.basis == "exact":
        return "Marks that follow from the answers of the test"
    return "All learned marks, with their grades" if marks == "all" else CAPTIONS[marks]


def legend(result: Discovery, shown: Shown = "supported") -> dict[str, str]:
    """Return the kinds of edges that are shown, each with what it says; undecided edges say nothing."""
    graph, _ = _without_undecided(result, shown)
    decided = np.triu(graph.marks)
    # Of the edges with the same two marks one is enough.
    _, first = np.unique(decided * 4 + np.triu(graph.marks.T), return_index=True)
    pairs = (divmod(at, len(decided)) for at in first.tolist() if decided.flat[at])
    kinds = {wording.kind_of(edge) for pair in pairs if (edge := graph.edge(*pair)) is not None}
    meanings = wording.edge_kinds(wording.selected(result.settings), allows_latents(result))
    return {kind: text for kind, text in meanings.items() if kind in kinds}


def _without_undecided(result: Discovery, shown: Shown, but: int = 0) -> tuple[MixedGraph, int]:
    """Return the graph to show without the undecided pairs, but for the first so many; and how many these are."""
    graph = result.shown(shown)
    x, y = positions_of(result.pag.names, result.undecided[but:]).T
    marks = graph.marks.copy()
    left_out = int(np.count_nonzero(marks[x, y]))
    marks[x, y] = marks[y, x] = 0
    return (MixedGraph._trusted(graph.names, marks) if left_out else graph), left_out


def notes_beside(result: Discovery) -> list[Finding]:
    """Return the findings of a result, but for what its list of edges says where there are none."""
    return [finding for finding in result.findings if finding.kind != POWERLESS or result.pag.n_edges]


def warnings_of(result: Discovery) -> list[str]:
    """Return what to know before believing a result, beside its verdict."""
    return [*map(str, notes_beside(result)), *filter(None, [unsampled(result)])]


def unsampled(result: Discovery) -> str | None:
    """Say why nothing was learned again from resamples, and what grades rest on then; None where something was."""
    why = result.grounds.why_skipped
    if result.resamples is not None or not why:
        return None
    rest = "grades rest on the score alone" if result.grades.basis == "score" else "marks are not graded"
    if result.grounds.skipped == "unusable":  # by a bootstrap, either
        return f"no resample could be used, because {why}, so {rest}"
    return f"no resamples were drawn, because {why}, so {rest}; ask for a bootstrap (--bootstrap 100)"


def summary(result: Discovery) -> str:
    """Return a result on less than a page, however large it is."""
    return "\n".join(_summary(result))


def _summary(result: Discovery) -> Iterator[str]:
    yield from result.verdict.lines
    yield ""
    if not result.nothing_learned:
        yield caption(result)
        yield from (shorten(line, _WIDEST) for line in edge_lines(result, most=MOST_LINES))
        if result.pag.n_edges > MOST_LINES:
            yield f"  and {counted(result.pag.n_edges - MOST_LINES, 'more edge')}, which print(result.shown()) shows"
        yield ""
        for kind, text in legend(result).items():
            yield from _wrapped(f"  A {kind} B   ", text)
        yield ""
    notes = warnings_of(result)
    for note in notes[:_MOST_NOTES]:
        yield from _wrapped("Note: ", note)
    if len(notes) > _MOST_NOTES:
        yield f"and {counted(len(notes) - _MOST_NOTES, 'more note')}, in result.notes"
    yield "result.explain(a, b) explains an edge; result.shown('all') has all learned marks; result.draw(path) draws it"


def _wrapped(head: str, text: str) -> list[str]:
    return wrap(head + text, _WIDTH, subsequent_indent=" " * len(head), max_lines=3, placeholder=" ...")


def shorten(line: str, width: int) -> str:
    """Return a line without the end for which there is no room: a name may be long."""
    return line if len(line) <= width else f"{line[: width - 3]}..."


# --- a picture --------------------------------------------------------------------------------------------


def draw_shown(result: Discovery, path: str | Path | None, layout: str, title: str | None, marks: Shown) -> str:
    """Draw the graph to show, with a caption that says which it is; of all marks those not established are hollow."""
    graph, levels = result.shown(marks), result.grades.marks
    weak = np.argwhere((graph.marks > CIRCLE) & (levels < LIKELY)).tolist()
    hollow = [(graph.names[x], graph.names[y]) for x, y in weak]
    below = None if result.grades.basis == "exact" else CAPTIONS[marks]
    shares = result.edge_shares()
    return draw(graph, path, layout=layout, title=title, shares=shares, hollow=hollow, caption=below)


# --- a notebook -------------------------------------------------------------------------------------------


def as_html(result: Discovery) -> str:
    """Return a result for a notebook: the verdict, a picture of what is supported, what it says, what to beware of."""
    first, *rest = map(escape, result.verdict.lines)
    parts = [f"<p>{'<br>'.join([f'<b>{first}</b>', *rest])}</p>"]
    if not result.nothing_learned:
        parts += [*_picture(result), *_legend(result)]
    parts += _warnings(result)
    parts.append(
        f"<p>Method: {escape(method_name(result.settings))}. <code>result.explain(a, b)</code> explains an edge.</p>"
    )
    return f'<div class="lmarvel" style="{_FRAME}">{"".join(parts)}</div>'


def _picture(result: Discovery) -> Iterator[str]:
    if result.pag.n_edges > MOST_EDGES:
        yield f"<p>A picture of more than {MOST_EDGES:,} edges would show nothing.</p>"
    elif len(result.pag):
        picture = result.draw().replace("<svg ", f'<svg style="{_FITTED}" ', 1)
        yield f'<div style="{_PICTURE}">{picture}</div>'


def _legend(result: Discovery) -> Iterator[str]:
    kinds = legend(result)
    if not kinds:
        yield "" if result.pag.n_edges else f"<p>{escape(next(edge_lines(result)).strip())}</p>"
        return
    yield '<table style="border:0"><tbody>'
    for kind, text in kinds.items():
        edge = parse_edge(f"A {kind} B")
        shown = f'<code style="color:{style_of(edge).colour};white-space:nowrap">{escape(str(edge))}</code>'
        yield f'<tr><td style="vertical-align:top">{shown}</td><td style="text-align:left">{escape(text)}</td></tr>'
    yield "</tbody></table>"
    if result.stability is not None:
        yield f"<p>The thicker an edge, the more of {counted(result.stability.replicates, 'resample')} have it.</p>"


def _warnings(result: Discovery) -> Iterator[str]:
    notes = [escape(note) for note in warnings_of(result)]
    if notes:
        yield f'<div style="{_WARNED}"><b>Before you believe it</b>{bullets(notes)}</div>'


def bullets(items: Iterable[str]) -> str:
    """Return a list in HTML of items that are HTML already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
