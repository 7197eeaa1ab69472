"""A scene as SVG text.

Colours and dashes stand as attributes, and nothing has an id, so that many drawings can share one page.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import partial

from lmarvel.drawing.curve import Curve
from lmarvel.drawing.labels import FONT_SIZE, printable
from lmarvel.drawing.scene import (
    CAPTION_ROW,
    CAPTION_SIZE,
    MARGIN,
    OUTLINE,
    RADIUS,
    RAILS,
    ROW_HEIGHT,
    STROKE,
    Arrowhead,
    Box,
    Circle,
    HollowTail,
    Line,
    Scene,
    Shape,
    compose,
)
from lmarvel.graph.marks import Edge, arrow
from lmarvel.graph.mixed import MixedGraph
from lmarvel.text import counted

INK = "#1b1f24"
BOX_FILL = "#f4f7fb"
BOX_LINE = "#5d6b7c"
MUTED = "#545d68"
escape = partial(html.escape, quote=False)  # that of xml.sax loads half of the library, HTTP included
_BREAKS = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})  # which a reader of XML would make blanks
FONTS = "system-ui, 'Segoe UI', Helvetica, Arial, 'Liberation Sans', sans-serif"


def to_svg(graph: MixedGraph, *, layout: str = "auto", title: str | None = None) -> str:
    """Return a graph as SVG text.

    Examples
    --------
    >>> text = to_svg(MixedGraph.from_edges("A --> B"))
    >>> text.startswith("<svg"), "<title>A --&gt; B</title>" in text
    (True, True)
    """
    return write_svg(compose(graph, layout, title))


def write_svg(scene: Scene) -> str:
    """Return a scene as SVG text; edges come first, so that they never cover a label."""
    size = f"{counted(len(scene.boxes), 'node')}, {counted(len(scene.lines), 'edge')}"
    label = ". ".join([f"{scene.title or 'Graph'}: {size}", *filter(None, [" ".join(scene.caption)])])
    size = f'width="{scene.width:g}" height="{scene.height:g}" viewBox="0 0 {scene.width:g} {scene.height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={_quoted(label)}'
        f' font-family="{FONTS}" font-size="{FONT_SIZE:g}">',
        f"<title>{escape(label)}</title>",
        f'<rect class="ground" width="{scene.width:g}" height="{scene.height:g}" rx="10" fill="#ffffff"/>',
    ]
    if scene.title:
        parts.append(
            f'<text class="heading" x="{MARGIN:g}" y="{MARGIN + 14:g}" font-size="{FONT_SIZE * 1.25:g}"'
            f' font-weight="600" fill="{INK}">{escape(scene.title)}</text>'
        )
    for line in scene.lines:
        parts.extend(_edge(line))
    for box in scene.boxes:
        parts.extend(_node(box))
    for row, y in caption_rows(scene):
        parts.append(
            f'<text class="caption" x="{MARGIN:g}" y="{y:.1f}" font-size="{CAPTION_SIZE:g}" fill="{MUTED}">'
            f"{escape(row)}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


def caption_rows(scene: Scene) -> Iterator[tuple[str, float]]:
    """Give the rows of the caption, each with the height of its baseline."""
    first = scene.height - CAPTION_ROW * len(scene.caption) + 4.0
    yield from ((row, first + k * CAPTION_ROW) for k, row in enumerate(scene.caption))


def _attribute(name: str) -> str:
    return _quoted(printable(name))


def _edge(line: Line) -> Iterator[str]:
    edge, style = line.edge, line.style
    dash = f' stroke-dasharray="{" ".join(f"{d:g}" for d in style.dash)}"' if style.dash else ""
    yield (
        f'<g class="edge {style.family}" data-a={_attribute(edge.a)} data-b={_attribute(edge.b)}'
        f" data-kind={_quoted(arrow(edge.at_a, edge.at_b))}{_seen(line)}>"
    )
    yield f"<title>{escape(''.join(_tooltip(line)))}</title>"
    path, wide = _path(line.curve), line.width * (RAILS if style.double else 1.0)
    yield (f'<path class="line" d="{path}" fill="none" stroke="{style.colour}" stroke-width="{wide:.3g}"{dash}/>')
    if style.double:
        yield f'<path class="between" d="{path}" fill="none" stroke="#ffffff" stroke-width="{wide / RAILS:.3g}"/>'
    yield from _shape("at-a", line.at_a, style.colour)
    yield from _shape("at-b", line.at_b, style.colour)
    yield "</g>"


def _tooltip(line: Line) -> Iterator[str]:
    """Give the edge, its share of resamples, and which of its marks are not established."""
    yield _plain(line.edge)
    if line.share is not None:
        yield f"; {100 * line.share:.0f} % of resamples have the edge"
    for name, shape in ((line.edge.a, line.at_a), (line.edge.b, line.at_b)):
        if isinstance(shape, HollowTail) or (isinstance(shape, Arrowhead) and shape.hollow):
            yield f"; mark at {printable(name)} not established"


def _seen(line: Line) -> str:
    return "" if line.share is None else f' data-share="{line.share:.3g}" opacity="{line.opacity:.3g}"'


def _plain(edge: Edge) -> str:
    return printable(f"{edge.a} {arrow(edge.at_a, edge.at_b)} {edge.b}")


def _path(curve: Curve) -> str:
    (x, y), (u, v), (p, q) = curve
    if curve.straight:
        return f"M{x:.1f} {y:.1f}L{p:.1f} {q:.1f}"
    return f"M{x:.1f} {y:.1f}Q{u:.1f} {v:.1f} {p:.1f} {q:.1f}"


def _shape(where: str, shape: Shape, colour: str) -> Iterator[str]:
    if isinstance(shape, Circle):
        x, y = shape.centre
        yield (
            f'<circle class="mark {where} circle" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}" fill="#ffffff"'
            f' stroke="{colour}" stroke-width="{STROKE:g}"/>'
        )
    elif shape is not None:
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in shape.corners)
        kind = "tail" if isinstance(shape, HollowTail) else "arrow"
        if isinstance(shape, Arrowhead) and not shape.hollow:
            yield f'<path class="mark {where} arrow" d="M{corners}Z" fill="{colour}"/>'
        else:
            outline = f'fill="#ffffff" stroke="{colour}" stroke-width="{OUTLINE:g}" stroke-linejoin="round"'
            yield f'<path class="mark {where} {kind} hollow" d="M{corners}Z" {outline}/>'


def _node(box: Box) -> Iterator[str]:
    yield f'<g class="node" data-name={_attribute(box.name)}>'
    yield f"<title>{escape(printable(box.name))}</title>"
    yield (
        f'<rect x="{box.x - box.w / 2:.1f}" y="{box.y - box.h / 2:.1f}" width="{box.w:.1f}" height="{box.h:.1f}"'
        f' rx="7" fill="{BOX_FILL}" stroke="{BOX_LINE}" stroke-width="1.2"/>'
    )
    first = box.y + FONT_SIZE * 0.35 - ROW_HEIGHT * (len(box.rows) - 1) / 2
    for k, row in enumerate(box.rows):
        yield (
            f'<text x="{box.x:.1f}" y="{first + k * ROW_HEIGHT:.1f}" text-anchor="middle"'
            f' fill="{INK}">{escape(row)}</text>'
        )
    yield "</g>"


def _quoted(text: str) -> str:
    """Return a text as the value of an attribute, with its quotes."""
    return f'"{html.escape(text).translate(_BREAKS)}"'
