"""Drawings of graphs: SVG by this package alone, PNG and PDF through Matplotlib."""

from __future__ import annotations

import os
from pathlib import Path

from lmarvel.drawing.layout import LAYOUTS
from lmarvel.drawing.raster import require_matplotlib, write_raster
from lmarvel.drawing.scene import MOST_EDGES, Ends, Shares, compose, place_boxes
from lmarvel.drawing.svg import to_svg, write_svg
from lmarvel.errors import OutputError, ParameterError
from lmarvel.files import check_writable, write_bytes, write_text
from lmarvel.graph.mixed import MixedGraph

__all__ = ["MOST_EDGES", "check_target", "draw", "place_boxes", "to_svg"]

ENDINGS = (".svg", ".png", ".pdf")

MixedGraph.picture = staticmethod(lambda graph: to_svg(graph) if graph.n_edges <= MOST_EDGES else None)


def draw(
    graph: MixedGraph,
    path: str | os.PathLike[str] | None = None,
    *,
    layout: str = "auto",
    title: str | None = None,
    shares: Shares | None = None,
    hollow: Ends = (),
    caption: str | None = None,
) -> str:
    """Draw a graph: return it as SVG text, and write it to a file where a path is given.

    Directed edges are blue, bidirected ones red and dashed, undirected ones violet and double, and edges with a
    circle grey. An arrowhead is filled, a circle is open, and a tail is a bare end.

    Parameters
    ----------
    graph : MixedGraph
        A DAG, MAG, PAG or any other graph of marks, of at most 10,000 edges.
    path : path, optional
        The file to write; its ending, ``.svg``, ``.png`` or ``.pdf``, says the format. An existing file is
        replaced whole or not at all.
    layout : {"auto", "layered", "spring"}
        Layers show causes above effects, springs show what is near what; ``"auto"`` chooses by the graph.
    title : str, optional
        A line above the drawing.
    shares : mapping from pairs to shares, optional
        The share of resamples that have each edge, see :class:`lmarvel.Stability`: edges that most have are thick,
        those that few have are thin and faint.
    hollow : collection of pairs, optional
        Marks that are not established, (a, b) for that at b on the edge a-b: they are outlined, not filled.
    caption : str, optional
        A line below the drawing. Results say there which marks are drawn, see :meth:`lmarvel.Discovery.draw`.

    Returns
    -------
    str
        The drawing as SVG text, whatever the format of the file.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> picture = draw(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), title="Four variables")
    >>> picture.count('class="node"'), picture.count('class="edge ')
    (4, 3)
    """
    target = None if path is None else Path(path)
    if layout not in LAYOUTS:
        raise ParameterError(f"must be one of {', '.join(LAYOUTS)}, not {layout!r}", parameter="layout")
    if target is not None:
        check_target(target)
    scene = compose(graph, layout, title, shares, hollow=hollow, caption=caption)
    text = write_svg(scene)
    if target is not None and target.suffix.lower() == ".svg":
        write_text(target, text)
    elif target is not None:
        write_bytes(target, write_raster(scene, target.suffix.lower().removeprefix(".")))
    return text


def check_target(path: Path) -> None:
    """Refuse, before any work, a file that cannot be written in the end."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"cannot draw to {path}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    check_writable(path)
    if path.suffix.lower() != ".svg":
        require_matplotlib()
