"""A scene as PNG or PDF, through Matplotlib.

Figures are made by hand, without pyplot: no window system is asked for, and nothing of the user's is changed.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

from lmarvel.drawing.labels import FONT_SIZE
from lmarvel.drawing.scene import (
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
    Line,
    Scene,
    Shape,
)
from lmarvel.drawing.svg import BOX_FILL, BOX_LINE, INK, MUTED, caption_rows
from lmarvel.errors import LMarvelError

_DPI = 192.0
_MOST_PIXELS = 12_000.0  # per side; beyond it Agg takes gigabytes
_POINTS = 0.75  # points per pixel


def require_matplotlib() -> None:
    """Raise unless Matplotlib can be imported, and say how to get it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise LMarvelError(
            "PNG and PDF need Matplotlib: pip install 'lmarvel[plot]'; an .svg file needs nothing more"
        ) from None


def write_raster(scene: Scene, kind: str) -> bytes:
    """Return a scene as the bytes of a file of this kind, ``"png"`` or ``"pdf"``."""
    require_matplotlib()
    from matplotlib import rc_context

    largest = max(scene.width, scene.height)
    dpi = min(_DPI, _MOST_PIXELS / largest * 96.0)
    metadata = {"CreationDate": None} if kind == "pdf" else {}
    stream = io.BytesIO()
    settings: Any = {"pdf.fonttype": 42, "text.usetex": False, "svg.fonttype": "none", "font.family": "DejaVu Sans"}
    with rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that the font lacks is drawn as an empty box
        _figure(scene).savefig(stream, format=kind, dpi=dpi, metadata=metadata)
    return stream.getvalue()


def _figure(scene: Scene) -> Any:
    """Return a figure of the scene's size, with an axis whose units are the scene's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(scene.width / 96.0, scene.height / 96.0), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0.0, scene.width)
    axes.set_ylim(scene.height, 0.0)
    if scene.title:
        style: dict[str, Any] = {
            "fontsize": FONT_SIZE * 1.25 * _POINTS,
            "fontweight": "bold",
            "color": INK,
            "parse_math": False,
        }
        axes.text(MARGIN, MARGIN + 14, scene.title, va="baseline", **style)
    for line in scene.lines:
        _edge(axes, line)
    for box in scene.boxes:
        _node(axes, box)
    for row, y in caption_rows(scene):
        axes.text(MARGIN, y, row, va="baseline", fontsize=CAPTION_SIZE * _POINTS, color=MUTED, parse_math=False)
    return figure


def _edge(axes: Any, line: Line) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    path = Path(list(line.curve), [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    dashes = (0.0, tuple(d / line.width for d in line.style.dash)) if line.style.dash else "-"
    wide = line.width * (RAILS if line.style.double else 1.0) * _POINTS
    ends: dict[str, Any] = {"linewidth": wide, "edgecolor": line.style.colour, "capstyle": "butt"}
    ends["alpha"] = line.opacity
    axes.add_patch(PathPatch(path, facecolor="none", linestyle=dashes, zorder=1, **ends))
    if line.style.double:
        between = {"linewidth": wide / RAILS, "edgecolor": "white", "capstyle": "butt"}
        axes.add_patch(PathPatch(path, facecolor="none", zorder=1.5, **between))
    for shape in (line.at_a, line.at_b):
        _shape(axes, shape, line.style.colour, line.opacity)


def _shape(axes: Any, shape: Shape, colour: str, opacity: float) -> None:
    from matplotlib import patches

    if shape is None:
        return
    look: dict[str, Any] = {"facecolor": "white", "edgecolor": colour, "zorder": 2, "alpha": opacity}
    if isinstance(shape, Circle):
        axes.add_patch(patches.Circle(shape.centre, RADIUS, linewidth=STROKE * _POINTS, **look))
        return
    look |= {"linewidth": OUTLINE * _POINTS, "joinstyle": "round"}
    if isinstance(shape, Arrowhead) and not shape.hollow:
        look |= {"facecolor": colour, "edgecolor": "none"}
    axes.add_patch(patches.Polygon(shape.corners, closed=True, **look))


def _node(axes: Any, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - box.w / 2, box.y - box.h / 2)
    look: dict[str, Any] = {"facecolor": BOX_FILL, "edgecolor": BOX_LINE, "linewidth": 1.2 * _POINTS, "zorder": 3}
    axes.add_patch(FancyBboxPatch(corner, box.w, box.h, boxstyle="round,pad=0,rounding_size=7", **look))
    style: dict[str, Any] = {
        "ha": "center",
        "va": "center_baseline",
        "fontsize": FONT_SIZE * _POINTS,
        "color": INK,
        "zorder": 4,
    }
    for k, row in enumerate(box.rows):
        y = box.y + ROW_HEIGHT * (k - (len(box.rows) - 1) / 2)
        axes.text(box.x, y, row, parse_math=False, **style)
