"""What the commands print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lmarvel.ci.gaussian import kernel_name
from lmarvel.graph.marks import arrow, parse_edge
from lmarvel.result import Discovery, edge_kinds

if TYPE_CHECKING:
    from lmarvel.comparison import Comparison


def as_json(found: Discovery) -> str:
    """Return a result as JSON."""
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def as_text(found: Discovery) -> str:
    """Return a result for people."""
    return "\n".join(_lines(found))


def _lines(found: Discovery) -> Iterator[str]:
    pag = found.pag
    if found.nothing_learned:
        yield f"Nothing learned about {len(pag)} variables: {found.budget_ended}"
        yield ""
        yield from _numbers(found)
        return
    rows = f" from {found.settings['rows']:,} rows" if "rows" in found.settings else ""
    yield f"PAG over {len(pag)} variables with {pag.n_edges} edges{rows}"
    yield ""
    undecided = {frozenset(pair) for pair in found.undecided}
    width = max((len(e.a) for e in pag.edges()), default=0)
    kinds = {}
    for edge in pag.edges():
        kind = arrow(edge.at_a, edge.at_b)
        kinds[kind] = True
        mark = "   (undecided: a budget ended the search)" if {edge.a, edge.b} in undecided else ""
        yield f"  {edge.a:>{width}} {kind} {edge.b}{mark}"
    if not pag.n_edges:
        yield "  no edges: every pair of variables is independent, or separated by others"
    yield ""
    yield from _legend(set(kinds))
    yield from _notes(found)
    yield from _numbers(found)


def _legend(kinds: set[str]) -> Iterator[str]:
    if kinds:
        yield "What the edges say"
        for kind, text in edge_kinds().items():
            if kind in kinds or kind.translate(str.maketrans("<>", "><"))[::-1] in kinds:
                yield f"  A {kind} B   {text}"
        yield ""


def _notes(found: Discovery) -> Iterator[str]:
    notes = [note for note in found.notes if not note.startswith("a budget ran out")]  # that is told at the end
    if notes:
        yield "Notes"
        yield from (f"  {note}" for note in notes)
        yield ""


def _numbers(found: Discovery) -> Iterator[str]:
    stats = found.stats
    phases = ", ".join(f"{phase} {sum(sizes.values()):,}" for phase, sizes in stats.tests.items())
    yield f"Tests    {stats.n_tests:,} distinct ({phases}); mean conditioning set {stats.mean_conditioning_size:.1f}"
    yield f"Seconds  {sum(stats.seconds.values()):.3f} ({', '.join(f'{k} {v:.3f}' for k, v in stats.seconds.items())})"
    chosen = found.settings
    yield (
        f"Settings alpha {chosen['alpha']:g}, boundaries by {chosen['boundary']} at {chosen['boundary_alpha']:.2g},"
        f" {kernel_name()} search"
    )


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """Iterate over the lines of a comparison."""
    yield f"{'method':<8} {'edges':>6} {'tests':>12} {'mean set':>9} {'seconds':>9} {'BIC':>14}"
    for name, found in compared.results.items():
        score = compared.bic[name]
        shown = "illegal PAG" if score is None else f"{score:,.1f}"
        stats = found.stats
        late = f"   {found.budget_ended}" if found.budget_ended else ""
        yield (
            f"{name:<8} {found.pag.n_edges:>6} {stats.n_tests:>12,} {stats.mean_conditioning_size:>9.1f}"
            f" {sum(stats.seconds.values()):>9.3f} {shown:>14}{late}"
        )
    yield ""
    rows = [("pair", *compared.results), *((f"{a}, {b}", *edges) for (a, b), edges in compared.differences())]
    if len(rows) == 1:
        yield "All methods give the same PAG."
        return
    yield "Where they differ"
    arrows = [rows[0], *((row[0], *(_arrow_of(edge) for edge in row[1:])) for row in rows[1:])]
    widths = [max(len(row[i]) for row in arrows) for i in range(len(rows[0]))]
    for row in arrows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _arrow_of(edge: str) -> str:
    """Return the three characters of an edge between its names, which may hold anything."""
    return "." if edge == "no edge" else arrow(*parse_edge(edge)[2:])
