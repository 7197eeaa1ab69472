"""From a result to the data of its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.drawing import MOST_EDGES, place_boxes
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Edge, Mark, arrow
from lmarvel.report.page import render_page
from lmarvel.result import Discovery, edge_kinds
from lmarvel.trace import Adjacent

_DEPTH = 8  # of reasons in the page, which holds those of all edges
_SIGNS = {Mark.CIRCLE: "o", Mark.ARROW: ">", Mark.TAIL: "-"}


def write_report(found: Discovery, path: str | Path, title: str | None = None) -> None:
    """Write a result as one HTML file that needs nothing else: graph, explanations, tables.

    Parameters
    ----------
    found : Discovery
        The result.
    path : str or Path
        Where to write; the name must end in ``.html``.
    title : str, optional
        The heading.

    Examples
    --------
    >>> import tempfile
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> path = Path(tempfile.mkdtemp()) / "cars.html"
    >>> write_report(LMarvel().fit(CARS).result_, path, title="Cars")
    >>> "<title>Cars</title>" in path.read_text()
    True
    """
    check_report(Path(path))
    write_text(Path(path), render_page(page_of(found, title)))


def check_report(path: Path) -> None:
    """Refuse before the work what cannot be written after it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"a report is an HTML file: {path} should end in .html")
    check_writable(path)


def page_of(found: Discovery, title: str | None = None) -> dict[str, Any]:
    """Return the data of the page; where nothing was learned, or far too much is open, its graph has no edges."""
    notes = found.notes
    if found.pag.n_edges > MOST_EDGES:
        notes = (*notes, f"{found.pag.n_edges:,} edges are too many to show here: the result file has them")
    if found.nothing_learned or found.pag.n_edges > MOST_EDGES:
        found = replace(found, pag=PAG.from_edges(nodes=found.pag.names), undecided=())
    pag, settings = found.pag, found.settings
    rows = f", {settings['rows']:,} rows" if "rows" in settings else ""
    counts = Counter(map(_kind, pag.edges()))
    version = found.versions.get("lmarvel", "")
    return {
        "title": title or "Causal graph",
        "subtitle": f"{len(pag)} variables, {pag.n_edges} edges{rows}, learned by {settings.get('method', 'lmarvel')}",
        "nodes": list(_nodes(found)),
        "edges": list(_edges(found)),
        "legend": [{"kind": k, "meaning": text, "count": counts[k]} for k, text in edge_kinds().items()],
        "statistics": list(_statistics(found)),
        "settings": [[name, _shown(value)] for name, value in settings.items()],
        "warnings": [note[0].upper() + note[1:] + "." for note in notes],
        "data": _data(found),
        "footer": f"Written by lmarvel {version}. This file needs no connection and sends nothing.".replace("  ", " "),
    }


def _nodes(found: Discovery) -> Iterator[dict[str, Any]]:
    removed = {name: k for k, name in enumerate(found.removal_order, 1)}
    for box in place_boxes(found.pag):
        facts = []
        if found.boundaries:
            members = ", ".join(sorted(found.boundaries.get(box.name, ())))
            facts.append(f"Markov boundary: {members or 'empty'}.")
        if box.name in removed:
            facts.append(f"Removed as number {removed[box.name]} of {len(found.pag)}.")
        if box.name in found.none_removable:
            facts.append("Not removed: none of the variables left tested as removable.")
        yield {"name": box.name, "label": box.label, "x": box.x, "y": box.y, "w": box.w, "h": box.h, "facts": facts}


def _edges(found: Discovery) -> Iterator[dict[str, Any]]:
    names = found.pag.names
    kept = {frozenset((names[e.x], names[e.y])): e for e in found.trace if isinstance(e, Adjacent)}
    undecided = {frozenset(pair) for pair in found.undecided}
    for edge in found.pag.edges():
        pair = frozenset((edge.a, edge.b))
        told = found.explain(edge.a, edge.b, depth=_DEPTH)
        closest = kept.get(pair)
        yield {
            "a": edge.a,
            "b": edge.b,
            "at_a": _SIGNS[edge.at_a],
            "at_b": _SIGNS[edge.at_b],
            "kind": _kind(edge),
            "text": f"{edge.a} {arrow(edge.at_a, edge.at_b)} {edge.b}",
            "meaning": told.meaning,
            "undecided": pair in undecided,
            "strength": None if closest is None or closest.strongest is None else closest.pvalue,
            "why": told.to_dict()["why"],
        }


def _kind(edge: Edge) -> str:
    """Return the kind of an edge, the same from either end."""
    kind = arrow(edge.at_a, edge.at_b)
    return kind if kind in edge_kinds() else arrow(edge.at_b, edge.at_a)


def _statistics(found: Discovery) -> Iterator[list[Any]]:
    stats = found.stats
    yield ["Distinct tests", f"{stats.n_tests:,}"]
    for phase, sizes in stats.tests.items():
        yield [f"of these: {phase}", f"{sum(sizes.values()):,}"]
    yield ["Mean size of the conditioning sets", f"{stats.mean_conditioning_size:.2f}"]
    yield ["Seconds", f"{sum(stats.seconds.values()):.3f}"]
    if found.bic is not None:
        yield ["BIC", f"{found.bic:,.1f}"]
    if found.data is not None:
        yield ["Fingerprint of the data", found.data["fingerprint"]]
    for name, version in found.versions.items():
        yield [{"search": "search for separating sets"}.get(name, name), version]


def _shown(value: Any) -> Any:
    if value is None:
        return "no limit or default"
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _data(found: Discovery) -> dict[str, Any] | None:
    if found.data is None:
        return None
    rows = [[column["name"], column["mean"], column["sd"]] for column in found.data["columns"]]
    return {"columns": ["variable", "mean", "standard deviation"], "rows": rows}
