"""From a result to the data of its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.data import Dataset
from lmarvel.drawing import MOST_EDGES, place_boxes
from lmarvel.evidence_wording import SCALE, hidden_node
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Edge, Mark, arrow
from lmarvel.knowledge.wording import SOURCES, conflict, sources_line
from lmarvel.report.effects import effects_of
from lmarvel.report.page import render_page
from lmarvel.result import Discovery
from lmarvel.trace import Adjacent
from lmarvel.wording import CONTESTED, LEVEL, UNDECIDED, count, edge_kinds, kind_of, listing, p_value, selected

_DEPTH = 8  # of reasons in the page, which holds those of all edges
_SIGNS = {Mark.CIRCLE: "o", Mark.ARROW: ">", Mark.TAIL: "-"}


def write_report(found: Discovery, path: str | Path, title: str | None = None, data: Any = None) -> None:
    """Write a result as one HTML file that needs nothing else: graph, explanations, tables.

    Parameters
    ----------
    found : Discovery
        The result.
    path : str or Path
        Where to write; the name must end in ``.html``.
    title : str, optional
        The heading.
    data : array, frame, mapping, path or Dataset, optional
        The table, for estimates of effects.

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
    write_text(Path(path), render_page(page_of(found, title, data)))


def check_report(path: Path) -> None:
    """Refuse before the work what cannot be written after it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"a report is an HTML file: {path} should end in .html")
    check_writable(path)


def page_of(found: Discovery, title: str | None = None, data: Any = None) -> dict[str, Any]:
    """Return the data of the page; where nothing was learned, or far too much is open, its graph has no edges."""
    notes = found.notes
    effects = effects_of(found, None if data is None else Dataset.of(data))
    if found.pag.n_edges > MOST_EDGES:
        notes = (*notes, f"{count(found.pag.n_edges, 'edge')} are too many to show here: the result file has them")
    if found.nothing_learned or found.pag.n_edges > MOST_EDGES:
        found = replace(found, pag=PAG.from_edges(nodes=found.pag.names), undecided=())
    pag, settings = found.pag, found.settings
    rows = f", {count(settings['rows'], 'row')}" if "rows" in settings else ""
    size = f"{count(len(pag), 'variable')}, {count(pag.n_edges, 'edge')}{rows}"
    counts = Counter(map(kind_of, pag.edges()))
    version = found.versions.get("lmarvel", "")
    return {
        "title": title or "Causal graph",
        "subtitle": f"{size}, learned by {settings.get('method', 'lmarvel')}",
        "nodes": list(_nodes(found)),
        "edges": list(_edges(found)),
        "legend": [{**kind, "meaning": found.fitting(kind["meaning"])} for kind in _legend(counts, selected(settings))],
        "doubts": [{"sign": sign, "meaning": text} for sign, text in _signs(found)],
        "supports": list(_supports(found)),
        "draws": None if found.stability is None else found.stability.replicates,
        "statistics": list(_statistics(found)),
        "settings": [[name, _shown(value)] for name, value in settings.items()],
        "hidden": list(_hidden(found)),
        "knowledge": _knowledge(found),
        "warnings": [note[0].upper() + note[1:] + "." for note in notes],
        "data": _data(found),
        "effects": effects,
        "footer": f"Written by lmarvel {version}. This file needs no connection and sends nothing.".replace("  ", " "),
    }


def _nodes(found: Discovery) -> Iterator[dict[str, Any]]:
    removed = {name: k for k, name in enumerate(found.removal_order, 1)}
    for box in place_boxes(found.pag):
        facts = []
        if found.boundaries:
            facts.append(f"Markov boundary: {listing(found.boundaries.get(box.name, ()), none='empty')}.")
        if box.name in removed:
            facts.append(f"Removed as number {removed[box.name]} of {len(found.pag)}.")
        if box.name in found.none_removable:
            facts.append("Not removed: none of the variables left tested as removable.")
        yield {"name": box.name, "label": box.label, "x": box.x, "y": box.y, "w": box.w, "h": box.h, "facts": facts}


def _legend(counts: Mapping[str, int], selection: bool) -> Iterator[dict[str, Any]]:
    """Give the kinds of edges; those that only selection makes are left out where it was ruled out."""
    for kind, meaning in edge_kinds(selection).items():
        if selection or counts[kind] or kind not in ("---", "o--"):
            yield {"kind": kind, "meaning": meaning, "count": counts[kind]}


def _signs(found: Discovery) -> Iterator[tuple[str, str]]:
    """Give the signs that stand on edges, and what they say."""
    if found.undecided:
        yield "?", f"{UNDECIDED}."
    if found.contested:
        yield "!", f"{CONTESTED}."
    elif any(pair not in map(frozenset, found.undecided) for pair in found.doubts):
        yield "!", "a mark rests on a separation that the data reject."


def _supports(found: Discovery) -> Iterator[dict[str, str]]:
    """Give the words for how well marks are supported, where some are judged."""
    if found.evidence.distance:
        yield from ({"word": word, "meaning": f"{meaning}."} for word, meaning in SCALE.items())


def _doubt(found: Discovery, pair: frozenset[str]) -> dict[str, str] | None:
    """Return the sign and the word on an edge that is less sure than others, and why."""
    text = found.doubts.get(pair)
    if text is None:
        return None
    if text.startswith(UNDECIDED):
        return {"sign": "?", "badge": "Undecided", "text": text}
    disagree = any(pair == {a, b} for a, b, *_ in found.contested)
    return {"sign": "!", "badge": "Contested" if disagree else "Doubtful", "text": text}


def _edges(found: Discovery) -> Iterator[dict[str, Any]]:
    names = found.pag.names
    kept = {frozenset((names[e.x], names[e.y])): e for e in found.trace if isinstance(e, Adjacent)}
    level, shares = found.settings.get("alpha", LEVEL), found.edge_shares() or {}
    for edge in found.pag.edges():
        pair = frozenset((edge.a, edge.b))
        told = found.explain(edge.a, edge.b, depth=_DEPTH)
        closest = kept.get(pair)
        strength = None if closest is None or closest.strongest is None else closest.pvalue
        yield {
            "a": edge.a,
            "b": edge.b,
            "at_a": _SIGNS[edge.at_a],
            "at_b": _SIGNS[edge.at_b],
            "kind": kind_of(edge),
            "text": f"{edge.a} {arrow(edge.at_a, edge.at_b)} {edge.b}",
            "meaning": told.meaning,
            "doubt": _doubt(found, pair),
            "strength": strength,
            "p": None if strength is None else p_value(strength, level),
            "support": found.support_word(edge.a, edge.b),
            "share": shares.get(pair),
            "recurs": found.recurring(edge.a, edge.b),
            "firmness": list(told.firmness),
            "loss": _loss(found, edge),
            "why": told.to_dict()["why"],
            "sources": _sources(found, edge),
        }


def _sources(found: Discovery, edge: Edge) -> list[str] | None:
    """Return in words where the marks at a and at b come from; None where nothing was known beforehand."""
    if found.known is None:
        return None
    ends = found.source(edge.b, edge.a), found.source(edge.a, edge.b)
    return [SOURCES[where] if where else "open" for where in ends]


def _knowledge(found: Discovery) -> dict[str, Any] | None:
    """Return what was known beforehand, where the marks come from, and which statements the tests contradict."""
    if found.knowledge is None:
        return None
    level = found.settings.get("alpha", LEVEL)
    return {
        "statements": [str(statement) for statement in found.knowledge.statements],
        "sources": sources_line(found.sources),
        "conflicts": [conflict(*c, level) for c in found.conflicts],
    }


def _loss(found: Discovery, edge: Edge) -> float | None:
    """Return by how much the score worsens without an edge; None where the method does not tell."""
    weighed = found.evidence.edges.get(frozenset((found.pag.index(edge.a), found.pag.index(edge.b))))
    return None if weighed is None else round(weighed.loss, 1)


def _hidden(found: Discovery) -> Iterator[str]:
    """Give the hidden nodes in words, and what speaks for selection."""
    yield from (hidden_node(*node) for node in found.hidden)
    if found.selection_gain is not None:
        yield f"Selection: {found.selection_gain}"


def _statistics(found: Discovery) -> Iterator[list[Any]]:
    stats = found.stats
    yield ["Distinct tests", f"{stats.n_tests:,}"]
    for phase, sizes in stats.tests.items():
        yield [f"of these: {phase}", f"{sum(sizes.values()):,}"]
    yield ["Mean size of the conditioning sets", f"{stats.mean_conditioning_size:.2f}"]
    yield ["Seconds", f"{sum(stats.seconds.values()):.3f}"]
    if found.bic is not None:
        yield ["BIC" if found.evidence.chose is None else "Score", f"{found.bic:,.1f}"]
    if found.evidence.chose is not None:
        yield ["Price of an edge", f"{found.evidence.chose.price:,.1f}"]
        yield ["Stage of the search that gave the graph", found.evidence.chose.stage]
    if found.check is not None:
        yield ["Separations of the graph that the data reject", f"{len(found.check.failed):,}"]
        yield [f"of {len(found.check.implied):,} tested; by chance about", f"{found.check.expected:.2g}"]
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
