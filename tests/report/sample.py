"""The data of a page from a graph alone, for the tests."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lmarvel import MixedGraph
from lmarvel.drawing.edge_labels import LabelPlace, label_places
from lmarvel.drawing.scene import Line, compose
from lmarvel.graph.marks import arrow
from lmarvel.result.wording import UNDECIDED, edge_kinds, kind_of, meaning, p_value

SIGNS = {1: "o", 2: ">", 3: "-"}


def sample_page(graph: MixedGraph, **parts: Any) -> dict[str, Any]:
    """Return what a report of this graph could hold; ``parts`` replace parts of it."""
    scene = compose(graph, room=(980.0, 640.0))
    counts = Counter(map(kind_of, graph.edges()))
    page: dict[str, Any] = {
        "title": "Causal graph of a sample",
        "subtitle": f"{len(graph)} variables, 2,000 rows, L-MARVEL with Fisher's z at alpha = 0.01",
        "nodes": [
            {
                "name": box.name,
                "rows": list(box.rows),
                "x": box.x,
                "y": box.y,
                "w": box.w,
                "h": box.h,
                "facts": [
                    f"Removed as number {k + 1}.",
                    f"Markov boundary: {', '.join(sorted(graph.adjacent(box.name))) or 'empty'}.",
                ],
            }
            for k, box in enumerate(scene.boxes)
        ],
        "edges": [
            _edge(line, spot, k) for k, (line, spot) in enumerate(zip(scene.lines, label_places(scene), strict=True))
        ],
        "legend": [{"kind": k, "meaning": text, "count": counts[k]} for k, text in edge_kinds().items()],
        "signs": [{"sign": "?", "badge": "Undecided", "meaning": f"{UNDECIDED}."}] if graph.n_edges > 2 else [],
        "statistics": [["Tests", 1234], ["Mean size of the conditioning sets", 1.8725], ["Seconds", 0.0421]],
        "settings": [["alpha", 0.01], ["test", "FisherZ"], ["max_conditioning", None], ["time_limit", float("inf")]],
        "warnings": ["The PAG is not that of any MAG: a sample of this size often gives such a one."],
        "data": {
            "columns": ["variable", "mean", "sd", "min", "max", "missing"],
            "rows": [[name, 0.5 * k, 1.25, -3.0123456, 1e7 + k, 0] for k, name in enumerate(graph.names)],
        },
        "footer": "Written by lmarvel 1.0.0rc1.",
    }
    return {**page, **parts}


def _edge(line: Line, spot: LabelPlace, k: int) -> dict[str, Any]:
    edge = line.edge
    rule = {
        "text": f"Arrowhead at {edge.b} by R0 on {edge.a}, {edge.b}",
        "because": [
            {"text": f"{edge.a} and a third variable are independent given nothing (p = 0.41)", "because": []},
            {
                "text": f"{edge.b} is adjacent to both",
                "because": [{"text": "no set of the search separates them", "because": []}],
            },
        ],
    }
    return {
        "a": edge.a,
        "b": edge.b,
        "at_a": SIGNS[edge.at_a],
        "at_b": SIGNS[edge.at_b],
        "kind": kind_of(edge),
        "text": f"{edge.a} {arrow(edge.at_a, edge.at_b)} {edge.b}",
        "meaning": meaning(edge),
        "curve": [part for point in line.whole for part in point],
        "spot": spot.at,
        "roomy": spot.free,
        "signs": [{"sign": "?", "badge": "Undecided", "text": UNDECIDED}] if k == 2 else [],
        "strength": None if k % 5 == 4 else 0.009 / (k + 1),
        "p": None if k % 5 == 4 else p_value(0.009 / (k + 1), 0.01),
        "why": [{"text": "No set of the search separates them", "because": []}, rule],
    }
