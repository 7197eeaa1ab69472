"""How a result shows itself: as a page of text where it is printed, as a picture with its legend in a notebook.

Names of variables are a stranger's text: they reach a notebook escaped, and a terminal without what would act on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, cast

from lmarvel.drawing import MOST_EDGES, draw
from lmarvel.drawing.scene import style_of
from lmarvel.graph.marks import arrow, parse_edge
from lmarvel.result import wording
from lmarvel.text import counted, readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

MOST_LINES = 20  # edges that are printed; there may be thousands
_MOST_NOTES = 6
_WIDTH, _WIDEST = 120, 160  # characters of a line: of text, and of an edge, whose names may be long
_FRAME = "background:#ffffff;color:#1b1f24;padding:0.6em 0.8em;max-width:100%;box-sizing:border-box"
_PICTURE = "overflow:auto;max-height:40em"
_FITTED = "max-width:100%;height:auto"  # the picture is as wide as it needs to be, and never wider than the cell
_WARNED = "background:#fff4e5;border-left:4px solid #b45309;padding:0.4em 0.8em;margin:0.6em 0"


# --- lines of text ----------------------------------------------------------------------------------------


def headline(found: Discovery) -> str:
    """Return in a line what was learned from how much."""
    pag = found.pag
    if found.nothing_learned:
        why = f": {found.budget_ended}" if found.budget_ended else ""
        return f"Nothing learned about {counted(len(pag), 'variable')}{why}"
    rows = f" from {counted(found.settings['rows'], 'row')}" if "rows" in found.settings else ""
    return f"PAG over {counted(len(pag), 'variable')} with {counted(pag.n_edges, 'edge')}{rows}"


def edge_lines(found: Discovery, most: int | None = None) -> Iterator[str]:
    """Iterate over the edges, with how well their marks are supported where the method tells, and with doubts."""
    edges = list(islice(found.pag.edges(), most))
    width = max((len(readable(edge.a)) for edge in edges), default=0)
    far = max((len(readable(edge.b)) for edge in edges), default=0)
    supports = {edge: found.support_word(edge.a, edge.b) or "" for edge in edges}
    for edge in edges:
        doubt = found.doubts.get(frozenset((edge.a, edge.b)))
        beside = f"   ({doubt})" if doubt else ""
        words = (f"{supports[edge]:<6}" if any(supports.values()) else None, found.recurring(edge.a, edge.b))
        other = "   ".join(word for word in (f"{readable(edge.b):<{far}}", *words) if word).rstrip()
        yield f"  {readable(edge.a):>{width}} {arrow(edge.at_a, edge.at_b)} {other}{beside}"
    if not edges:
        yield f"  no edges: {wording.no_edges(found.settings, found.budget_ended is not None)}"


def legend(found: Discovery) -> dict[str, str]:
    """Return the kinds of edges that a result has, each with what it says; undecided edges say nothing."""
    left_open = set(map(frozenset, found.undecided))
    shown = (edge for edge in found.pag.edges() if frozenset((edge.a, edge.b)) not in left_open)
    kinds = set(map(wording.kind_of, shown))
    told = wording.edge_kinds(wording.selected(found.settings))
    return {kind: found.fitting(text) for kind, text in told.items() if kind in kinds}


def warnings_of(found: Discovery) -> list[str]:
    """Return what to know before believing a result: its notes, and what its data reject."""
    told = {wording.powerless(found.settings)} if not found.pag.n_edges else set()
    failed = found.check is not None and found.check.failed and not found.nothing_learned
    return [*(note for note in found.notes if note not in told), *([str(found.check)] if failed else [])]


def summary(found: Discovery) -> str:
    """Return a result on less than a page, however large it is."""
    return "\n".join(_summary(found))


def _summary(found: Discovery) -> Iterator[str]:
    yield headline(found)
    yield ""
    if not found.nothing_learned:
        yield from (shorten(line, _WIDEST) for line in edge_lines(found, MOST_LINES))
        if found.pag.n_edges > MOST_LINES:
            yield f"  and {counted(found.pag.n_edges - MOST_LINES, 'more edge')}, which print(result.pag) shows"
        yield ""
        for kind, text in legend(found).items():
            yield from _wrapped(f"  A {kind} B   ", text)
        yield ""
    notes = warnings_of(found)
    for note in notes[:_MOST_NOTES]:
        yield from _wrapped("Note: ", note)
    if len(notes) > _MOST_NOTES:
        yield f"and {counted(len(notes) - _MOST_NOTES, 'more note')}, in result.notes"
    yield "result.explain(a, b) tells why; result.draw(path) draws it"


def _wrapped(head: str, text: str) -> list[str]:
    return wrap(head + text, _WIDTH, subsequent_indent=" " * len(head), max_lines=3, placeholder=" ...")


def shorten(line: str, width: int) -> str:
    """Return a line without the end for which there is no room: a name may be long."""
    return line if len(line) <= width else f"{line[: width - 3]}..."


# --- a notebook -------------------------------------------------------------------------------------------


def as_html(found: Discovery) -> str:
    """Return a result for a notebook: a picture that fits its cell, what its edges say, and what to beware of."""
    parts = [f"<p><b>{escape(headline(found))}</b>{_method(found)}</p>"]
    if not found.nothing_learned:
        parts += [*_picture(found), *_legend(found)]
    parts += _warnings(found)
    parts.append("<p><code>result.explain(a, b)</code> tells why an edge is there, or not.</p>")
    return f'<div class="lmarvel" style="{_FRAME}">{"".join(parts)}</div>'


def _method(found: Discovery) -> str:
    told = found.settings.get("chosen") or found.settings.get("method")
    return f", by {escape(str(told))}" if told else ""


def _picture(found: Discovery) -> Iterator[str]:
    if found.pag.n_edges > MOST_EDGES:
        yield f"<p>A picture of more than {MOST_EDGES:,} edges would show nothing.</p>"
    elif len(found.pag):
        picture = found.draw().replace("<svg ", f'<svg style="{_FITTED}" ', 1)
        yield f'<div style="{_PICTURE}">{picture}</div>'


def _legend(found: Discovery) -> Iterator[str]:
    kinds = legend(found)
    if not kinds:
        yield "" if found.pag.n_edges else f"<p>{escape(next(edge_lines(found)).strip())}</p>"
        return
    yield '<table style="border:0"><tbody>'
    for kind, text in kinds.items():
        edge = parse_edge(f"A {kind} B")
        shown = f'<code style="color:{style_of(edge).colour};white-space:nowrap">{escape(str(edge))}</code>'
        yield f'<tr><td style="vertical-align:top">{shown}</td><td style="text-align:left">{escape(text)}</td></tr>'
    yield "</tbody></table>"
    if found.stability is not None:
        draws = counted(found.stability.replicates, "draw")
        yield f"<p>The thicker an edge, the more often it recurs in {draws} of the rows.</p>"


def _warnings(found: Discovery) -> Iterator[str]:
    notes = [escape(note) for note in warnings_of(found)]
    if notes:
        yield f'<div style="{_WARNED}"><b>Before you believe it</b>{bullets(notes)}</div>'


def bullets(items: Iterable[str]) -> str:
    """Return a list in HTML of items that are HTML already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


class Displayed:
    """What a result shows of itself."""

    def __str__(self) -> str:
        return summary(cast("Discovery", self))

    def __repr__(self) -> str:
        found = cast("Discovery", self)
        by = f" by {found.settings['method']}" if "method" in found.settings else ""
        return f"<{type(self).__name__}: {headline(found)}{by}>"

    def _repr_html_(self) -> str:
        return as_html(cast("Discovery", self))

    def draw(self, path: str | Path | None = None, *, layout: str = "auto", title: str | None = None) -> str:
        """Draw the PAG and return it as SVG; with a path, write it there: .svg, .png or .pdf.

        Where there was a bootstrap, edges that recur are thick, and others thin and faint.
        """
        found = cast("Discovery", self)
        return draw(found.pag, path, layout=layout, title=title, shares=found.edge_shares())
