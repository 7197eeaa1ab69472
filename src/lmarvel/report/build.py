"""From a result to the data of its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmarvel.budget.clock import current
from lmarvel.data import Dataset
from lmarvel.drawing import MOST_EDGES
from lmarvel.drawing.edge_labels import label_places
from lmarvel.drawing.scene import Line, Scene, compose
from lmarvel.errors import OutputError, ParameterError
from lmarvel.files import check_writable, write_text
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Edge, Mark, arrow
from lmarvel.report.association import EDGES_PER_SECOND, Widths, associations, widths
from lmarvel.report.compressed import gaps_of, result_of
from lmarvel.report.effects import effects_of
from lmarvel.report.grading import Grading
from lmarvel.report.page import render_page
from lmarvel.report.signs import LEGEND, Sign, Signs
from lmarvel.result.discovery import Discovery
from lmarvel.result.display import CAPTIONS, unsampled
from lmarvel.result.evidence_wording import SOURCES, conflict, hidden_node, refused_node, sources_line, stated_line
from lmarvel.result.file.reading import read_as_before
from lmarvel.result.meaning import allows_latents
from lmarvel.result.sources import costs_of
from lmarvel.result.support.evidence import refused_nodes, selected_edges
from lmarvel.result.support.grades import MARKS_SHOWN, Shown
from lmarvel.result.trace import Adjacent, but_separated
from lmarvel.result.wording import LEVEL, edge_kinds, kind_of, method_name, p_value, selected
from lmarvel.text import counted, listing, sentence

_MOST_CATEGORIES = 12  # that are listed
_DEPTH = 8  # of reasons in the page, which holds those of all edges
ROOM, NARROW = (980.0, 640.0), (420.0, 520.0)  # of the graph on a common screen, and on that of a telephone
_AT_ONCE = 300  # edges that are drawn when no time is left; more where some is
MOST_NARROW = 60  # variables that are laid out for the latter as well
_UNEXPLAINED = [{"text": "Not explained here: time ran out (max_seconds). 'lmarvel explain' does.", "because": []}]
_ENDS = {Mark.CIRCLE: "o", Mark.ARROW: ">", Mark.TAIL: "-"}


def write_report(
    found: Discovery, path: str | Path, title: str | None = None, data: Any = None, marks: Shown = "supported"
) -> None:
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
        The table, for partial correlations beside the edges and for estimates of effects. It is read as the one that
        the result was learned from, in all that is not said of it.
    marks : {"supported", "all", "firm"}
        The marks that the page shows when it is opened; a switch on it changes that.

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
    write_text(Path(path), render_page(page_of(found, title, data, marks)))


def check_report(path: Path) -> None:
    """Refuse before the work what cannot be written after it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"a report is an HTML file: {path} should end in .html")
    check_writable(path)


def page_of(
    found: Discovery,
    title: str | None = None,
    data: Any = None,
    marks: Shown = "supported",
    *,
    effects: bool = True,
) -> dict[str, Any]:
    """Return the data of the page; where nothing was learned, or far too much undecided, its graph has no edges.

    Without ``effects`` the answers for all pairs are left out: the page is then shown where they can be asked for.
    """
    if marks not in MARKS_SHOWN:
        raise ParameterError(f"must be one of {', '.join(MARKS_SHOWN)}, not {marks!r}", parameter="marks")
    notes, verdict = (*found.notes, *filter(None, [unsampled(found)])), found.verdict.lines
    table = None if data is None else read_as_before(data, found.data)
    answers, result = effects_of(found, table) if effects else None, result_of(found)
    too_many = found.pag.n_edges > _most_edges()
    if too_many:
        late = "could not be drawn in time (max_seconds)"
        why = "are too many to show here" if found.pag.n_edges > MOST_EDGES else late
        notes = (*notes, f"{counted(found.pag.n_edges, 'edge')} {why}: the result file has them")
    gaps = gaps_of(found)
    if found.nothing_learned or too_many:
        found = replace(found, pag=PAG.from_edges(nodes=found.pag.names), undecided=())
    settings = found.settings
    written = " ".join(filter(None, ("Written by lmarvel", found.versions.get("lmarvel"))))
    shown = _Shown(found, table)
    edges = list(shown.edges())
    if shown.unexplained:
        notes = (
            *notes,
            f"time ran out (max_seconds) before {counted(shown.unexplained, 'edge')} could be explained here",
        )
    return {
        "title": title or "Causal graph",
        "subtitle": f"Method: {method_name(settings)}",
        "verdict": list(verdict),
        "marks": marks,
        "captions": CAPTIONS,
        "nodes": list(_nodes(found, shown.scene)),
        "edges": edges,
        "narrow": shown.narrow(),
        "legend": list(_legend(found)),
        "signs": [{"sign": sign, "badge": badge, "meaning": text} for sign, badge, text in shown.legend()],
        "widths": shown.widths.meaning,
        "grades": list(shown.grading.legend()),
        "resamples": None if found.resamples is None else found.resamples.replicates,
        "penalty": None if found.evidence.chose is None else found.evidence.chose.price,
        "statistics": list(_statistics(found)),
        "settings": [[name, _shown(value)] for name, value in settings.items()],
        "hidden": list(_hidden(found)),
        "knowledge": _knowledge(found),
        "warnings": [sentence(note) for note in notes],
        "data": _data(found),
        "effects": answers,
        "gaps": gaps,
        "result": result,
        "footer": f"{written}. This file needs no connection and sends nothing.",
    }


def _most_edges() -> float:
    """Return how many edges a page has room for, and time."""
    return min(MOST_EDGES, _AT_ONCE + EDGES_PER_SECOND * current().left())


def _nodes(found: Discovery, scene: Scene) -> Iterator[dict[str, Any]]:
    removed = {name: k for k, name in enumerate(found.removal_order, 1)}
    for box in scene.boxes:
        facts = []
        if found.boundaries:
            facts.append(f"Markov boundary: {listing(sorted(found.boundaries.get(box.name, ())), none='empty')}.")
        if box.name in removed:
            facts.append(f"Removed as number {removed[box.name]} of {len(found.pag)}.")
        if box.name in found.none_removable:
            facts.append("Not removed: none of the variables left tested as removable.")
        yield {"name": box.name, "rows": list(box.rows), "x": box.x, "y": box.y, "w": box.w, "h": box.h, "facts": facts}


def _legend(found: Discovery) -> Iterator[dict[str, str]]:
    """Give the kinds of edges; where selection was ruled out, those that only it makes are left out unless shown."""
    selection = selected(found.settings)
    used = {kind_of(edge) for marks in MARKS_SHOWN for edge in found.shown(marks).edges()}
    for kind, meaning in edge_kinds(selection, allows_latents(found)).items():
        if selection or kind in used or kind not in ("---", "o--"):
            yield {"kind": kind, "meaning": meaning}


class _Shown:
    """The edges of a result as the page shows them: where they run, how strong they are, what stands on them."""

    def __init__(self, found: Discovery, table: Dataset | None) -> None:
        self.found, self.grading, self.unexplained = found, Grading(found), 0
        names = found.pag.names
        self._kept = {
            frozenset((names[e.x], names[e.y])): e for e in but_separated(found.trace) if isinstance(e, Adjacent)
        }
        self._told = associations(found, table)
        signs = Signs(found)
        self._signs = {frozenset((edge.a, edge.b)): signs.on(edge) for edge in found.pag.edges()}
        self._losses = {frozenset((edge.a, edge.b)): _loss(found, edge) for edge in found.pag.edges()}
        self.widths = self._widths()
        self.scene = compose(found.pag, shares=self.grading.shares, strengths=self.widths.strengths, room=ROOM)

    def _widths(self) -> Widths:
        losses = {pair: loss for pair, loss in self._losses.items() if loss is not None}
        tested = {pair: p for pair in self._losses if (p := self._closest(pair)) is not None}
        if self.found.data is None:  # an oracle is always sure
            tested = {}
        return widths(self.found, self._told, losses, tested)

    def _closest(self, pair: frozenset[str]) -> float | None:
        """Return the largest p-value of an edge among the sets tried; None where none is known."""
        closest = self._kept.get(pair)
        return None if closest is None or closest.strongest is None else closest.pvalue

    def legend(self) -> Iterator[tuple[str, str, str]]:
        """Give the signs that stand on edges, and what they say."""
        used = {sign.sign for signs in self._signs.values() for sign in signs}
        yield from (kind for kind in LEGEND if kind[0] in used)

    def edges(self) -> Iterator[dict[str, Any]]:
        """Give the edges in the order of the graph."""
        for line, spot in zip(self.scene.lines, label_places(self.scene), strict=True):
            pair = frozenset((line.edge.a, line.edge.b))
            yield {
                **self._said(line.edge),
                "curve": _curve(line),
                "width": round(line.width, 2),
                "spot": spot.at,
                "roomy": spot.free,
                "signs": [_sign(sign) for sign in self._signs[pair]],
                "association": None if (told := self._told.get(pair)) is None else told.to_dict(),
            }

    def narrow(self) -> dict[str, Any] | None:
        """Return where boxes and edges stand on a narrow screen; None for many variables, which are zoomed anyway."""
        if len(self.found.pag) > MOST_NARROW or current().is_late():
            return None
        scene = compose(self.found.pag, room=NARROW)
        lines = zip(scene.lines, label_places(scene), strict=True)
        return {
            "nodes": [[box.x, box.y] for box in scene.boxes],
            "edges": [{"curve": _curve(line), "spot": spot.at, "roomy": spot.free} for line, spot in lines],
        }

    def _late(self) -> bool:
        """Tell whether no time is left to explain another edge."""
        late = current().is_late()
        self.unexplained += late
        return late

    def _said(self, edge: Edge) -> dict[str, Any]:
        found, pair = self.found, frozenset((edge.a, edge.b))
        strength = self._closest(pair)
        return {
            "a": edge.a,
            "b": edge.b,
            "at_a": _ENDS[edge.at_a],
            "at_b": _ENDS[edge.at_b],
            "kind": kind_of(edge),
            "text": f"{edge.a} {arrow(edge.at_a, edge.at_b)} {edge.b}",
            **self.grading.to_dict(edge),
            "strength": strength,
            "p": None if strength is None else p_value(strength, found.settings.get("alpha", LEVEL)),
            "loss": self._losses[pair],
            "why": _UNEXPLAINED if self._late() else found.explain(edge.a, edge.b, depth=_DEPTH).to_dict()["why"],
            "sources": _sources(found, edge),
        }


def _curve(line: Line) -> list[float]:
    return [round(part, 1) for point in line.whole for part in point]


def _sign(sign: Sign) -> dict[str, str]:
    return {"sign": sign.sign, "badge": sign.badge, "text": sign.text}


def _sources(found: Discovery, edge: Edge) -> list[str] | None:
    """Return in words where the marks at a and at b come from; None where nothing was known beforehand."""
    if found.known is None:
        return None
    ends = found.source(edge.b, edge.a), found.source(edge.a, edge.b)
    return [SOURCES[where] if where else "not determined" for where in ends]


def _knowledge(found: Discovery) -> dict[str, Any] | None:
    """Return what was known beforehand, where the marks come from, and which statements the tests contradict."""
    if found.knowledge is None:
        return None
    level, costs = found.settings.get("alpha", LEVEL), costs_of(found)
    return {
        "statements": [stated_line(statement, costs) for statement in found.knowledge.statements],
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
    yield from (refused_node(*node) for node in refused_nodes(found))
    if (together := selected_edges(found)) is not None:
        yield sentence(together)
    if found.selection_gain is not None:
        yield f"Sample selection: {found.selection_gain}"


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
        yield ["Penalty per edge", f"{found.evidence.chose.price:,.1f}"]
        yield ["Stage of the search that gave the graph", found.evidence.chose.stage]
    if found.check is not None and found.check.implied:
        check = found.check
        rejected = f"{len(check.failed):,} of {len(check.implied):,} rejected at {check.level:g}"
        yield ["Independences that the graph implies", f"{rejected}; {check.expected:.2g} expected by chance"]
        yield ["In doubt, with their number allowed for", counted(len(check.in_doubt), "independence")]
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
    heads = {"name": "variable", "kind": "kind", "mean": "mean", "sd": "standard deviation", "categories": "categories"}
    columns = [_column(one) for one in found.data["columns"]]
    known = [key for key in heads if any(one.get(key) is not None for one in columns)]
    rows = [[one.get(key) for key in known] for one in columns]
    return {"columns": [heads[key] for key in known], "rows": rows}


def _column(one: dict[str, Any]) -> dict[str, Any]:
    """Return a column as it is shown; categories are listed, and their codes have no mean."""
    categories = one.get("levels")
    if not categories:
        return one
    return one | {"mean": None, "sd": None, "categories": listing(categories, _MOST_CATEGORIES)}
